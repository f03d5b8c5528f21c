"""A position as a drawing and as text."""


def draw(state, config, seat=None): ...
def text(state, config, seat=None):
    return ""
