"""What a batch keeps of each row besides its state, its observation and its mask: one record."""

from __future__ import annotations

from functools import cache

import numpy as np

from kepler_envs.engine.game import Game
from kepler_envs.engine.rng import GENERATOR


@cache
def row_dtype(game: Game) -> np.dtype:
    """The record of one row. Arrays have an entry for each seat that the game can have."""
    seats = (game.max_players,)
    return np.dtype(
        [
            ("seed", "<u8"),  # of the game now running
            ("policy_rng", GENERATOR),  # of Batch.uniform
            ("legal_bits", "<u8", (game.mask_words,)),  # the legal set
            ("legal_count", "<i4"),  # its size
            ("seat", "i1"),  # the seat to move
            ("terminated", "?"),  # how the last step ended a game, if it did
            ("truncated", "?"),
            ("episodes", "<i8"),  # games finished
            ("final_length", "<i4"),  # of the last finished game, as the next three
            ("final_rank", "<i4", seats),
            ("final_score", "<i4", seats),
            ("final_return", "<f4", seats),
            ("reward", "<f4", seats),  # of the last step
            ("potential", "<f4", seats),  # of the present position
        ],
        align=True,
    )
