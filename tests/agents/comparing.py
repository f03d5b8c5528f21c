"""Whether two runs have learned the same."""

from __future__ import annotations

import torch as th


def equal(one: th.nn.Module, other: th.nn.Module) -> bool:
    """Whether two policies, or two networks, have the same weights to the last bit."""
    return all(th.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
