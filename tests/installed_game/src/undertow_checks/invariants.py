"""What holds in every position of Undertow."""

from typing import Any

from undertow.actions import PLAY_CARD, SCORE
from undertow.state import Node

from kepler_envs.engine.game import RUNNING, Configuration

EAGER = frozenset(range(PLAY_CARD, SCORE))
"""Ids that move the game on: half of the random games prefer them."""

REVEALS = ("cards.hand",)
"""Pieces of the observation in which hidden things come to light: here the card a seat draws."""


def check_invariants(state: Any, config: Configuration) -> None:
    """Raise AssertionError if the state breaks a rule."""
    tables, players = config.tables[0], state["player"][: config.num_players]
    cards = state["deck"] + state["played"] + players["hand"].sum(axis=0)
    assert (cards == tables["copies"]).all(), "every card is in the deck, in a hand or played"
    assert state["deck_size"] == state["deck"].sum()
    assert (players["hand_size"] == players["hand"].sum(axis=1)).all()
    assert players["hand_size"].max() <= tables["hand_size"], "nobody holds more cards than dealt"
    assert (state["open_worth"] > 0) == (state["open_owner"] > 0)
    if state["node"] == Node.SPOILS:
        assert state["open_owner"] not in (0, state["seat"] + 1), "a card of somebody else was pulled under"
    if state["end"] != RUNNING:
        assert (state["played"] == tables["copies"]).all(), "the game ends when every card is played"
