"""The search tree, which is a preallocated array of nodes, and the settings of a search.

A node stands for a sequence of decisions from the root on, whatever cards the sampled deals held and whatever chance
brought. Its statistics are means over all of these (open loop). Only children that are legal in the deal at hand take
part in a choice, and each child counts how often it could have been chosen.
"""

from __future__ import annotations

import numpy as np

MOST_SEATS = 8  # a node has room for as many values
NONE = -1
ROOT = 0

NODE = np.dtype(
    [
        ("parent", "<i4"),  # NONE for the root
        ("first_child", "<i4"),  # the newest child, or NONE
        ("next_sibling", "<i4"),  # the child that the parent got just before this one, or NONE
        ("action", "<i4"),  # the decision that leads here from the parent
        ("visits", "<i4"),  # iterations that went through
        ("available", "<i4"),  # iterations that reached the parent with this decision legal
        ("prior", "<f8"),  # what the network gave the decision, or how often the playout policy chose it
        ("value", "<f8", (MOST_SEATS,)),  # sum of the returns of those iterations, by seat
    ],
    align=True,  # the sizes leave no padding
)

UCB, PUCT = 0, 1
"""Values of ``selection``."""

IN_TREE, BY_POLICY = 0, 1
"""Values of ``opponents``: their decisions are nodes like the searching seat's own, or the playout policy makes
them."""

SETTINGS = np.dtype(
    [
        ("selection", "<i8"),
        ("opponents", "<i8"),
        ("exploration", "<f8"),  # weight of what is little known
        ("trust", "<f8"),  # PUCT: share of the prior for the playout policy's choice, or the network; the rest is even
        ("caution", "<f8"),  # PUCT: how much worse than its parent an untried decision is assumed to be
        ("paired", "<i8"),  # whether the n-th visits of all decisions at the root see the same deal
        ("noise", "<f8"),  # share of playout decisions that are uniform
        ("mix", "<f8"),  # with a network: share of a leaf's value that a playout makes up
        ("depth", "<i8"),  # decisions after which a playout stops and is judged by the ranks as they stand
    ],
    align=True,
)
