"""A position as a drawing and as text."""

from __future__ import annotations


def draw(state, config, seat=None):
    raise NotImplementedError


def text(state, config, seat=None):
    raise NotImplementedError
