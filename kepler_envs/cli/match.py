"""One game between people and bots, for ``play`` and ``watch``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from rich.console import Console

from kepler_envs import bots
from kepler_envs.bots.protocol import legal_ids
from kepler_envs.cli.common import AgentFailed, UsageError
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.replay import Replay, record, write_replay
from kepler_envs.engine.seeds import following_seed
from kepler_envs.engine.snapshot import IllegalAction, Snapshot
from kepler_envs.terminal import say, termination_interrupts
from kepler_envs.web.tables import PERSON


def agents_by_seat(specs: tuple[str, ...], seats: list[int]) -> dict[int, str]:
    """Assign one agent to all these seats, or one to each in seat order. UsageError if the numbers do not fit."""
    if not seats:
        raise UsageError(f"--agents {' '.join(specs)}: people play all seats; leave it out")
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
        self._full_texts: list[str] = []  # of the same decisions
        self._public_texts: list[str] = []
        self._batch = Batch(config, 1, seed)
        self._batch.reset(np.array([seed], np.uint64))
        self._row = np.zeros(1, np.int64)
        self._bots: dict[str, bots.Bot] = {}
        for spec in dict.fromkeys(specs.values()):  # each bot once, however many seats it plays
            seed = following_seed(seed)
            self._bots[spec] = bots.load(spec, config)
            self._bots[spec].start(self._row, np.array([seed], np.uint64))

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

    def legal_actions(self) -> list[int]:
        return self.config.legal_actions(self._batch.action_mask[0])

    def decide(self, action: int) -> None:
        """The seat to move decides."""
        position = self.position
        self._full_texts.append(position.full_text(action))
        self._public_texts.append(position.public_text(action))
        self.seats.append(self.seat)
        self.actions.append(action)
        self._batch.step(np.array([action]))

    def let_bot_decide(self) -> None:
        """The bot at the seat to move decides."""
        bot = self._bots[self.names[self.seat]]
        try:
            answer = bot.act(bots.TrustedDecisions(self._batch, self._row))
            (action,) = legal_ids(self._batch, self._row, answer)
        except (bots.BotError, IllegalAction) as problem:
            what = str(problem).removeprefix(f"{bot.name}: ")  # bots from files name themselves
            raise AgentFailed(f"agent {bot.name}, {agent_name(self.seat)}: {what}") from problem
        self.decide(int(action))

    def sentence(self, number: int, listener: int | None = None) -> str:
        """Decision ``number`` (from 0) in words: as the seat ``listener`` hears it, None hears everything."""
        told = listener in (None, self.seats[number])
        texts = self._full_texts if told else self._public_texts
        return f"{agent_name(self.seats[number])}: {texts[number]}"

    def replay(self) -> Replay:
        """The game up to here."""
        return record(self.config, self.seed, self.actions, self.names)


@contextmanager
def keeping_replay(match: Match, file: Path | None, console: Console) -> Iterator[None]:
    """A block that plays a match. However it ends, the game is written to ``file``, if there is one."""
    with termination_interrupts() as spare_what_is_saved:
        try:
            yield
        finally:
            spare_what_is_saved()
            if file is not None:
                write_replay(file, match.replay())
                say(console, f"Replay{'' if match.over else ' of the unfinished game'} written: {file}")
