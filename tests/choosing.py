"""How random games of the tests choose: uniformly, or eagerly, so that games get somewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

Chooser = Callable[[list[int]], int]


def uniform(seed: int) -> Chooser:
    """Every legal id with the same probability."""
    return Random(seed).choice


def eager(seed: int, preferred: Iterable[int], probability: float = 0.85) -> Chooser:
    """One of the preferred ids with that probability, where there is one; any id else."""
    random, wanted = Random(seed), frozenset(preferred)

    def choose(legal: list[int]) -> int:
        liked = [action for action in legal if action in wanted]
        return random.choice(liked) if liked and random.random() < probability else random.choice(legal)

    return choose


def scripted(choices: Iterable[int], afterwards: Chooser) -> Chooser:
    """The given choices first (each modulo the number of legal ids), then another chooser."""
    script = iter(choices)

    def choose(legal: list[int]) -> int:
        choice = next(script, None)
        return afterwards(legal) if choice is None else legal[choice % len(legal)]

    return choose
