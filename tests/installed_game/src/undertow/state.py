"""The whole state of a game of Undertow, field by field.

Row 0 of everything that counts cards stands for cards worth 1, row 4 for cards worth 5.
"""

from enum import IntEnum

import numpy as np

from kepler_envs.engine.returns import WIN_OR_RANK

MIN_PLAYERS, MAX_PLAYERS = 2, 4
WORTHS = 5
REWARD_MODES = WIN_OR_RANK  # names of the values of reward_mode


class Node(IntEnum):
    """What the deciding seat is asked for."""

    PLAY = 0  # a card from the hand
    SPOILS = 1  # what to do with the card it pulled under
    OVER = 2


PLAYER = np.dtype(
    [
        ("present", "i1"),  # 1 for seats in the game; everything else of an absent seat is 0
        ("score", "<i2"),
        ("hand_size", "i1"),
        ("hand", "i1", (WORTHS,)),  # hidden: cards of each worth
    ],
    align=True,
)

STATE = np.dtype(
    [
        # every game has these
        ("node", "i1"),  # Node
        ("seat", "i1"),  # who decides
        ("num_players", "i1"),
        ("end", "i1"),  # RUNNING or TERMINATED
        ("decisions", "<i4"),
        ("rng", "<u8"),  # the generator
        # options that the rules need
        ("reward_mode", "i1"),  # place in REWARD_MODES
        ("shaping", "<f4"),
        # the table
        ("open_worth", "i1"),  # worth of the card on the table, 0 for none
        ("open_owner", "i1"),  # 1 + seat whose card that is, 0 for none
        ("played", "i1", (WORTHS,)),  # cards played so far
        ("deck_size", "i1"),
        ("deck", "i1", (WORTHS,)),  # hidden: cards of each worth; a draw takes a random one
        ("player", PLAYER, (MAX_PLAYERS,)),
    ],
    align=True,
)

OPTIONS = np.dtype([("num_players", "i1"), ("random_first", "i1"), ("reward_mode", "i1"), ("shaping", "<f4")])
