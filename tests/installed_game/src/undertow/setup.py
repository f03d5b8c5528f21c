"""The deal. ``o`` is the options record."""

from kepler_envs.engine.kernel import helper
from kepler_envs.engine.rng import below
from undertow.rules import draw
from undertow.state import WORTHS


@helper
def setup(s, t, o):
    """Fill the deck, deal the hands and choose the first player. ``s`` is all zero before, except ``s.rng``."""
    s.num_players = o.num_players
    s.reward_mode = o.reward_mode
    s.shaping = o.shaping
    for row in range(WORTHS):
        s.deck[row] = t.copies[row]
        s.deck_size += t.copies[row]
    for seat in range(int(o.num_players)):
        s.player[seat].present = 1
        for _ in range(int(t.hand_size)):
            draw(s, seat)
    if o.random_first:
        s.seat = below(s, int(o.num_players))
