"""Games to look at from outside: positions, decisions in words, scores over time, what a network expects."""

from __future__ import annotations

import threading
from typing import Any

from kepler_envs import registry
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.replay import Replay, configuration_of, verify
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.printable import printable_name
from kepler_envs.web import UnknownError, WebError
from kepler_envs.web.expectations import Expectations
from kepler_envs.web.views import Outcome, choices, game_words, picture, results, seat_colours, shown_name


class Film:
    """A game to look at. It may still be growing.

    Attributes:
        label: its name in a list.
        number: name of its folder, "" if it has none.
        growing: whether bots are still playing it.
        problem: why they stopped, or "".
        positions: the position before each decision, then the last one.
        expected: per position, the return by seat that the game's best network expects; None without such a network.
        expects: name of that network, or "".
    """

    def __init__(self, config: Configuration, seed: int, names: list[str], label: str) -> None:
        self.config = config
        self.label = printable_name(label)  # a file's name may hold anything
        self.number = ""
        self.growing = False
        self.problem = ""
        self.lock = threading.RLock()
        self.replay = Replay(config.game.id, config.describe(), seed, config.components_digest, names)
        self.positions = [Snapshot.deal(config, seed)]
        self._heading = game_words(config)  # reads the published networks, so not at every view
        self.scores: list[list[int]] = []
        self._expectations = Expectations.of(config)
        self.expected: list[list[float]] | None = [] if self._expectations else None
        self.expects = self._expectations.name if self._expectations else ""
        self._note(self.positions[0])

    @classmethod
    def of(cls, replay: Replay, label: str) -> Film:
        """Play a recorded game again; ReplayError if it does not come out as recorded."""
        config = configuration_of(replay, registry.load_game)
        verify(replay, config)
        film = cls(config, replay.seed, [shown_name(name) for name in replay.agents], label)
        for action in replay.actions:
            film.add(action)
        return film

    def add(self, action: int) -> None:
        """Take the next decision."""
        with self.lock:
            after = self.replay.add(self.positions[-1], action)
            self._note(after)
            self.positions.append(after)

    def _note(self, position: Snapshot) -> None:
        self.scores.append(position.results()[1].tolist())
        if self._expectations and self.expected is not None:
            self.expected.append(self._expectations(position))
        if position.over:
            self._expectations = None  # it takes more memory than all positions

    # ------------------------------------------------------------ what a page is told

    def story(self, start: int = 0, outcome: Outcome | None = None) -> dict[str, Any]:
        """Tell the game and its decisions from ``start`` on.

        ``told[n]`` leads from position n to n + 1, with its words for everybody and, where they differ, for the seat
        itself; ``scores[n]`` and ``expected[n]`` are by seat, of position n. ``outcome``: see ``results`` of views.py.
        """
        with self.lock:
            start = max(0, min(start, len(self.positions) - 1))
            last = self.positions[-1]
            return {
                **self._heading,
                "label": self.label,
                "seats": list(self.replay.agents),
                "colours": seat_colours(last),
                "start": start,
                "decisions": len(self.replay.actions),
                "told": [self._decision(number) for number in range(start, len(self.replay.actions))],
                "scores": self.scores[start:],
                "expected": None if self.expected is None else self.expected[start:],
                "expects": self.expects,
                "growing": self.growing,
                "problem": self.problem,
                "results": results(last, self.replay.agents, outcome) if last.over else [],
            }

    def _decision(self, number: int) -> dict[str, Any]:
        position, action = self.positions[number], self.replay.actions[number]
        words, public = position.full_text(action), position.public_text(action)
        told = {"seat": self.replay.seats[number], "words": words}
        return told if public == words else {**told, "public": public}

    def frame(self, at: int, seat: int | None) -> dict[str, Any]:
        """Show position ``at`` as ``seat`` sees it (None sees all), what the last decision changed, and what can be
        done."""
        position = self.position(at)
        before = None if at == 0 else self.position(at - 1)
        shown = position.over or seat in (None, position.seat)
        return {
            "at": at,
            **picture(position, self.check_seat(seat), before),
            "turn": None if position.over else position.seat,
            "actions": choices(position) if shown else [],
            "taken": self.replay.actions[at] if shown and at < len(self.replay.actions) else None,
        }

    def position(self, at: int) -> Snapshot:
        """Return the position after ``at`` decisions; UnknownError if there is none."""
        with self.lock:
            if not 0 <= at < len(self.positions):
                raise UnknownError(f"position {at} is not there; there are 0..{len(self.positions) - 1}")
            return self.positions[at]

    def check_seat(self, seat: int | None) -> int | None:
        """Return a seat of this game, or None; WebError for anything else."""
        if seat is not None and not 0 <= seat < self.config.num_players:
            raise WebError(f"seat {seat} is not there; there are 0..{self.config.num_players - 1}")
        return seat
