"""One game between people and agents, for ``play`` and ``watch``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from kepler_envs.checkout import UNIFORM, NoCheckoutError, find_agents
from kepler_envs.cli.common import UsageError
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.replay import Replay, record
from kepler_envs.engine.seeds import following_seed
from kepler_envs.engine.snapshot import Snapshot

PERSON = "person"


class Player(Protocol):
    """Decides for a seat of the one game in a batch of one row."""

    def choose(self, batch: Batch) -> int: ...


class UniformPlayer:
    """Any legal id with the same probability: the one agent that the package has by itself."""

    def choose(self, batch: Batch) -> int:
        return int(batch.uniform()[0])


class CheckoutPlayer:
    """An agent of the folder ``agents/`` of the source checkout."""

    def __init__(self, agent: Any, agents: Any, seed: int) -> None:
        self._agent = agent
        self._agents = agents  # the module
        self._rows = np.zeros(1, np.int64)
        agent.start(self._rows, np.array([seed], np.uint64))

    def choose(self, batch: Batch) -> int:
        try:
            return int(self._agent.act(self._agents.TrustedDecisions(batch, self._rows))[0])
        except self._agents.AgentError as problem:
            raise UsageError(f"agent {self._agent.name}: {problem}") from problem


def load_player(spec: str, config: Configuration, seed: int) -> Player:
    """The agent that ``spec`` stands for; UsageError if there is none or if it cannot play this game."""
    if spec == UNIFORM:
        return UniformPlayer()
    try:
        agents = find_agents()
    except NoCheckoutError as problem:
        raise UsageError(str(problem)) from problem
    try:
        return CheckoutPlayer(agents.load(spec, config), agents, seed)
    except agents.AgentError as problem:
        raise UsageError(str(problem)) from problem
    except ModuleNotFoundError as problem:
        raise UsageError(
            f"agent {spec!r} needs {problem.name}, which is not installed: pip install 'kepler_envs[agents]'"
        ) from problem


def agents_by_seat(specs: tuple[str, ...], seats: list[int]) -> dict[int, str]:
    """One name for all these seats, or one for each in their order."""
    if len(specs) == 1:
        return dict.fromkeys(seats, specs[0])
    if len(specs) != len(seats):
        raise UsageError(
            f"--agents names {len(specs)} agents ({' '.join(specs)}); name one for all or {len(seats)}, "
            f"for the seats {', '.join(map(str, seats))}"
        )
    return dict(zip(seats, specs, strict=True))


class Match:
    """A game in progress.

    Args:
        config: what is played.
        seed: of the deal, and of what the agents draw.
        specs: agent by seat; the seats that are missing are people's.

    Attributes:
        names: who sits where. actions, seats: what was decided so far, and by which seat.
    """

    def __init__(self, config: Configuration, seed: int, specs: Mapping[int, str]) -> None:
        self.config = config
        self.seed = seed
        self.names = [specs.get(seat, PERSON) for seat in range(config.num_players)]
        self.actions: list[int] = []
        self.seats: list[int] = []
        self._public_texts: list[str] = []  # of the same decisions
        self._batch = Batch(config, 1, seed)
        self._batch.reset(np.array([seed], np.uint64))
        players = {}
        for spec in dict.fromkeys(specs.values()):  # each agent once, however many seats it plays
            seed = following_seed(seed)
            players[spec] = load_player(spec, config, seed)
        self._players = {seat: players[spec] for seat, spec in specs.items()}

    @property
    def over(self) -> bool:
        return bool(self._batch.episodes[0])

    @property
    def seat(self) -> int:
        """The seat that decides."""
        return int(self._batch.seat[0])

    @property
    def position(self) -> Snapshot:
        return self._batch.final_snapshot(0) if self.over else self._batch.snapshot(0)

    def legal_ids(self) -> list[int]:
        return self.config.legal_ids(self._batch.action_mask[0])

    def decide(self, action: int) -> None:
        """The seat to move decides."""
        self._public_texts.append(self.position.public_text(action))
        self.seats.append(self.seat)
        self.actions.append(action)
        self._batch.step(np.array([action]))

    def let_agent_decide(self) -> None:
        """The agent at the seat to move decides."""
        self.decide(self._players[self.seat].choose(self._batch))

    def sentence(self, number: int, listener: int | None = None) -> str:
        """Decision ``number`` (from 0) in words: as the seat ``listener`` hears it, None hears everything."""
        told = listener in (None, self.seats[number])
        words = self.config.actions.text(self.actions[number]) if told else self._public_texts[number]
        return f"player_{self.seats[number]}: {words}"

    def replay(self) -> Replay:
        """The game up to here."""
        return record(self.config, self.seed, self.actions, self.names)
