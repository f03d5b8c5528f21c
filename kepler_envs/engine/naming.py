"""The names of those who play."""

from __future__ import annotations


def agent_name(seat: int) -> str:
    """The name of a seat: ``player_0`` and so on."""
    return f"player_{seat}"
