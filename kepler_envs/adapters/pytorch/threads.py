"""How many threads PyTorch computes with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch as th


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Set the number of PyTorch's threads for a while.

    Small arrays want one: to wake others takes longer than the work. Sums over one thread also keep their order.
    """
    before = th.get_num_threads()
    th.set_num_threads(count)
    try:
        yield
    finally:
        th.set_num_threads(before)
