"""What the scenarios of all games share: a game that goes on from a position, games of which every decision is checked,
and checks of any position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar

import numpy as np

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.engine.snapshot import Snapshot
from tests.choosing import Chooser

PositionT = TypeVar("PositionT")


class Play(Generic[PositionT]):
    """A game that goes on from a scenario; a game's own class names its ``Position``, by which it is read."""

    POSITION: Any

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def legal(self) -> set[int]:
        """The legal ids of the current node."""
        return set(self.snapshot.legal_actions())

    def play(self, *actions: int) -> Self:
        """Take these decisions, which must be legal."""
        for action in actions:
            legal = self.legal()
            assert action in legal, f"{action} is not legal at {self.snapshot.node.name}; legal: {sorted(legal)}"
            self.snapshot = self.snapshot.apply(action)
        return self

    def play_first(self) -> Self:
        """Take the lowest legal id, mostly: pass, done."""
        self.snapshot = self.snapshot.apply(min(self.snapshot.legal_actions()))
        return self

    def pass_to(self, node: Any) -> Self:
        """Take lowest ids up to a node or the end of the game."""
        while not self.over and self.node != node:
            self.play_first()
        return self

    @property
    def position(self) -> PositionT:
        return self.POSITION.read(self.snapshot.state)

    @property
    def seat(self) -> int:
        return self.snapshot.seat

    @property
    def node(self) -> Any:
        return self.snapshot.node

    @property
    def over(self) -> bool:
        return self.snapshot.over

    def ranks(self) -> list[int]:
        return self.snapshot.results()[0].tolist()

    def scores(self) -> list[int]:
        return self.snapshot.results()[1].tolist()

    def returns(self) -> list[float]:
        return self.snapshot.results()[2].tolist()


def after(position: Snapshot, *actions: int) -> Snapshot:
    """The position after these decisions."""
    for action in actions:
        position = position.apply(action)
    return position


def checked_game(
    config: Configuration, seed: int, choose: Chooser, check_invariants: Callable[[Any, Configuration], None],
    check_decision: Callable[[Any, int, Any, Configuration], None],
) -> Iterator[tuple[Snapshot, int, Snapshot]]:  # fmt: skip
    """A whole game: each decision as the position before, the id and the position after, all of them checked."""
    position = Snapshot.deal(config, seed)
    check_invariants(position.state, config)
    while not position.over:
        before, action = position, choose(position.legal_actions())
        position = before.apply(action)
        check_decision(before.state, action, position.state, config)
        check_invariants(position.state, config)
        yield before, action, position


def take(action: int, position: Any, legal: Callable[[], set[int]], apply: Callable[[int], None]) -> None:
    """What a referee makes of a choice: the choice, and then every node with a single legal id."""
    position.decisions += 1
    apply(action)
    while position.end == RUNNING:
        ids = legal()
        assert ids, f"no legal id at {position.node.name}"
        if len(ids) > 1:
            return
        apply(ids.pop())


def check_fields(state: Any, expected: Any) -> None:
    """Every field of a state is what it is if all are written anew from a position; unused places are 0.

    Records in records are compared field by field where their bytes differ: what lies between fields is nobody's, and
    a copy need not keep it.
    """
    for name in state.dtype.names:
        own, other = state[name], expected[name]
        if own.tobytes() == other.tobytes():
            continue
        assert own.dtype.names, f"{name} is {own}, the position says {other}"
        for place in np.ndindex(own.shape):
            check_fields(own[place], other[place])


def check_in_bounds(position: Snapshot) -> None:
    """Every entry that any seat sees is in its declared bounds."""
    layout = position.config.observation
    for seat in range(position.config.num_players):
        seen = position.observe(seat)
        wrong = np.flatnonzero((seen < layout.low) | (seen > layout.high))
        assert not wrong.size, f"seat {seat}: {layout.entry(wrong[0])} is {seen[wrong[0]]}, out of its bounds"


def members(word: Any) -> set[int]:
    """The places of the bits that are set in an unsigned integer."""
    left, found = int(word), set()
    while left:
        lowest = left & -left
        found.add(lowest.bit_length() - 1)
        left ^= lowest
    return found
