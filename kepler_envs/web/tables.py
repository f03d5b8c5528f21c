"""A game that people and bots play: who sits where, decisions, undo, and continuing after a crash."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.replay import Replay
from kepler_envs.engine.snapshot import IllegalAction, Snapshot
from kepler_envs.web import NotNowError, UnknownError, WebError
from kepler_envs.web.views import (
    choices,
    foreseen,
    game_words,
    known,
    picture,
    question,
    results,
    seat_colours,
    shown_name,
)

PERSON = "person"
TOKEN_BYTES = 24
MOST_HEARD = 60
"""Least number of past decisions that a seat is shown; it always sees all since its own last one."""


def new_token() -> str:
    """Make a secret for a link: 192 random bits."""
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass
class Seat:
    """Who plays a seat: a person, whose link holds ``token``, or the bot of ``spec``."""

    spec: str = PERSON
    token: str = field(default_factory=new_token)

    @property
    def is_person(self) -> bool:
        return self.spec == PERSON


@dataclass(frozen=True)
class Heard:
    """One decision in words: as the seat that took it reads it, and as the others do."""

    seat: int
    own: str
    public: str


@dataclass(frozen=True)
class Last:
    """A seat's last decision: the positions before and after it. Both are the deal as long as there is none."""

    before: Snapshot
    after: Snapshot


def _refuse(replay: Replay) -> None:
    raise UnknownError("the table was closed")


class Table:
    """One game in progress. All methods may be called from any thread.

    Args:
        number: name of its folder.
        config, seed: the deal.
        seats: who plays, by seat.
        advice: whether people may ask bots about their decisions.

    Attributes:
        keep: called with the replay before a change counts. If it raises, the table stays as it was.
        version: grows with every change, for pages that wait for the next one. It begins with the clock, in
            microseconds, so it grows from one server to the next, too.
        problem: why a bot cannot continue, or "".
        film_token: secret of the link to the whole game, valid when the game is over.
    """

    def __init__(self, number: str, config: Configuration, seed: int, seats: list[Seat], advice: bool) -> None:
        self.number = number
        self.config = config
        self.seats = seats
        self.advice = advice
        self.version = time.time_ns() // 1000
        self.problem = ""
        self.film_token = new_token()
        self.lock = threading.RLock()
        self.keep: Callable[[Replay], None] = lambda replay: None
        self.replay = Replay(config.game.id, config.describe(), seed, config.components_digest, self.names)
        self.position = Snapshot.deal(config, seed)
        self._heading = game_words(config)  # reads the published networks, so not at every view
        self.heard: list[Heard] = []
        self._last = dict.fromkeys(range(config.num_players), Last(self.position, self.position))

    @property
    def names(self) -> list[str]:
        return [shown_name(seat.spec) for seat in self.seats]

    @property
    def to_move(self) -> Seat | None:
        """Who decides next; None once the game is over."""
        return None if self.position.over else self.seats[self.position.seat]

    def take_up(self, actions: list[int]) -> None:
        """Play from the deal to where a replay ended; WebError if it does not fit."""
        for action in actions:
            self._apply(action)

    def save(self) -> None:
        """Save the game as it is."""
        with self.lock:
            self.keep(self.replay)

    # ------------------------------------------------------------ decisions

    def decide(self, seat: int, action: int, version: int | None = None) -> None:
        """Take a person's decision.

        Args:
            version: version of the view that the person saw. A decision on an older view is refused.

        Raises:
            NotNowError: it is not this seat's turn, or the table has changed since.
            WebError: the action is not legal.
        """
        with self.lock:
            if self.position.over:
                raise NotNowError("the game is over")
            if self.position.seat != seat:
                raise NotNowError(f"it is the turn of {agent_name(self.position.seat)}")
            if version is not None and version != self.version:
                raise NotNowError("the table has changed meanwhile: look again")
            self._write_and_apply(action)

    def decide_for_bot(self, action: int, version: int) -> None:
        """Take a bot's decision on the position of that version, unless the table has changed meanwhile."""
        with self.lock:
            if version == self.version and not self.position.over:
                self._write_and_apply(action)

    def _write_and_apply(self, action: int) -> None:
        """Save before the decision counts, so that nothing answered is ever lost."""
        before, last, heard = self.position, dict(self._last), len(self.heard)
        try:
            self._apply(action)
            self.keep(self.replay)
        except BaseException:
            self.position, self._last = before, last
            self._cut(heard)
            raise
        self.version += 1
        self.problem = ""

    def _apply(self, action: int) -> None:
        position = self.position
        try:
            self.position = self.replay.add(position, action)
        except IllegalAction as problem:
            raise WebError(str(problem)) from problem
        self._last[position.seat] = Last(position, self.position)
        self.heard.append(Heard(position.seat, position.full_text(action), position.public_text(action)))

    def _cut(self, length: int) -> None:
        """Forget the decisions from ``length`` on."""
        del self.heard[length:]
        self.replay.cut(length)

    def _undo_to(self, seat: int) -> int | None:
        """Return the number of the decision that ``seat`` may undo: its last one, if only bots have decided since.

        Where other people play, it must not have shown the seat anything that it could not foresee, either.
        """
        if self.position.over:
            return None
        for number in reversed(range(len(self.heard))):
            decided = self.heard[number].seat
            if decided == seat:
                return number if self._alone(seat) or self._foreseen(seat, number) else None
            if self.seats[decided].is_person:
                return None
        return None

    def _alone(self, seat: int) -> bool:
        return not any(at.is_person for other, at in enumerate(self.seats) if other != seat)

    def _foreseen(self, seat: int, number: int) -> bool:
        """Whether nothing since then was new to ``seat``. What others decided in secret counts as new whatever it was:
        to say otherwise would tell something of it."""
        if any(heard.own != heard.public for heard in self.heard[number + 1 :]):
            return False
        return foreseen(self._last[seat].before, self.replay.actions[number:], self.position, seat)

    def undo(self, seat: int) -> None:
        """Undo the last decision of ``seat`` and the bots' answers.

        Raises:
            NotNowError: another person has decided since, or would be cheated: the seat has seen something new.
        """
        with self.lock:
            number = self._undo_to(seat)
            if number is None:
                raise NotNowError(
                    "nothing can be taken back: another person has decided since, you have seen something new while "
                    "others play, or the game is over"
                )
            replay = self.replay
            kept = replace(
                replay,
                seats=replay.seats[:number],
                actions=replay.actions[:number],
                texts=replay.texts[:number],
                final=None,
            )
            position = Snapshot.deal(self.config, kept.seed)
            last = dict.fromkeys(range(self.config.num_players), Last(position, position))
            for action in kept.actions:
                before, position = position, position.apply(action)
                last[before.seat] = Last(before, position)
            self.keep(kept)
            self.position, self.replay, self.heard, self._last = position, kept, self.heard[:number], last
            self.version += 1
            self.problem = ""

    def stop(self, version: int, problem: str) -> bool:
        """Tell everybody at the table that a bot cannot decide; False if the table has changed meanwhile."""
        with self.lock:
            if version != self.version:
                return False
            self.problem = problem
            self.version += 1
            return True

    def close(self) -> None:
        """Let nothing change any more. A bot that is still thinking comes too late."""
        with self.lock:  # what is being written is finished first
            self.version += 1
            self.keep = _refuse

    # ------------------------------------------------------------ what a seat is told

    def view(self, seat: int) -> dict[str, Any]:
        """Return everything that the page of ``seat`` shows."""
        with self.lock:
            seen = known(self.position, seat)
            yours = not seen.over and seen.seat == seat
            return {
                **self._heading,
                "version": self.version,
                "seat": seat,
                "seats": [
                    {"seat": number, "name": name, "person": at.is_person}
                    for number, (at, name) in enumerate(zip(self.seats, self.names, strict=True))
                ],
                "colours": seat_colours(seen),
                "turn": None if seen.over else seen.seat,
                "yours": yours,
                "over": seen.over,
                "results": results(seen, self.names) if seen.over else [],
                **picture(seen, seat, None if seen.over else known(self._last[seat].after, seat)),
                "question": question(seen) if yours else "",
                "actions": choices(seen) if yours else [],
                "heard": list(self._told(seat)),
                "undo": self._undo_to(seat) is not None,
                "advice": self.advice,
                "problem": self.problem,
                "film": self.film_token if seen.over else "",
            }

    def _told(self, seat: int) -> Iterator[dict[str, Any]]:
        """Tell the last decisions as ``seat`` hears them. ``news``: others took it since the seat's own last one."""
        own = max((number for number, heard in enumerate(self.heard) if heard.seat == seat), default=-1)
        for number in range(max(0, min(own, len(self.heard) - MOST_HEARD)), len(self.heard)):
            heard = self.heard[number]
            words = heard.own if heard.seat == seat or self.position.over else heard.public
            yield {"number": number + 1, "seat": heard.seat, "words": words, "news": number > own}

    def asked_about(self, seat: int) -> Snapshot:
        """Return the position as the deciding seat knows it, to ask bots about; NotNowError for other seats."""
        with self.lock:
            if not self.advice:
                raise NotNowError("this table was set up without advice")
            if self.position.over or self.position.seat != seat:
                raise NotNowError("bots are asked about your own decisions, when it is your turn")
            return known(self.position, seat)
