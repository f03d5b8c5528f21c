"""The seven action ids."""

from typing import Any

from kepler_envs.engine.actions import ActionSet, Block, axes
from undertow.state import WORTHS

PLAY_CARD = 0  # + worth - 1
SCORE = PLAY_CARD + WORTHS
SINK = SCORE + 1


def make_actions(tables: Any) -> ActionSet:
    """The same ids for every component file."""
    worths = tuple(str(worth) for worth in range(1, WORTHS + 1))
    return ActionSet(
        [
            Block("PLAY", PLAY_CARD, WORTHS, "play a {}", worths, axes(("card", "cards", WORTHS))),
            Block("SCORE", SCORE, 1, "score the card you pulled under"),
            Block("SINK", SINK, 1, "sink it: its owner loses its worth"),
        ]
    )
