"""The search tree: a preallocated array of nodes, and what a search is told.

A node stands for a sequence of decisions behind the root, whatever cards the sampled deals held and whatever chance
brought: the statistics of a node are means over all of them (open loop). Only children that are legal in the deal at
hand take part in a choice, and each counts how often it could have been chosen.
"""

from __future__ import annotations

import numpy as np

MOST_SEATS = 8  # room for the values of a node
NONE = -1
ROOT = 0

NODE = np.dtype(
    [
        ("parent", "<i4"),  # NONE for the root
        ("first_child", "<i4"),  # newest child, NONE
        ("next_sibling", "<i4"),  # the child of the same parent made before this one, NONE
        ("action", "<i4"),  # the decision that leads here from the parent
        ("visits", "<i4"),  # iterations that went through
        ("available", "<i4"),  # iterations that reached the parent with this decision legal
        ("prior", "<f4"),  # what the network gave the decision, 0 in searches without one
        ("value", "<f4", (MOST_SEATS,)),  # sum of the returns of those iterations, by seat
    ],
    align=True,
)

UCB, PUCT = 0, 1
"""Values of ``selection``."""

IN_TREE, BY_POLICY = 0, 1
"""Values of ``opponents``: their decisions are nodes like the searching seat's own, or the playout policy takes
them."""

SETTINGS = np.dtype(
    [
        ("selection", "<i8"),
        ("opponents", "<i8"),
        ("exploration", "<f8"),  # weight of what is little known
        ("trust", "<f8"),  # prior probability, PUCT: of what the playout policy would do; the rest is spread evenly
        ("caution", "<f8"),  # PUCT: how much worse than its parent an untried decision is taken to be
        ("paired", "<i8"),  # whether the n-th visits of all decisions at the root see the same deal
        ("noise", "<f8"),  # share of playout decisions that are uniform
        ("depth", "<i8"),  # decisions after which a playout is stopped and judged by the ranks as they stand
    ],
    align=True,
)
