"""Evaluation during training: games against fixed opponents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from agents.games import distinct
from agents.seeds import EVALUATION_SEED
from kepler_envs import bots
from kepler_envs.bots.protocol import Bot
from kepler_envs.engine.game import Configuration
from kepler_envs.tournament.pairing import Results, play_against
from kepler_envs.tournament.standings import Share, half_width, share

ALONE = "alone"
"""What stands in the opponent's place in games for one player."""


def against(opponent: str) -> str:
    """Whom games were won against, in words."""
    return ALONE if opponent == ALONE else f"against {opponent}"


@dataclass(frozen=True)
class Evaluation:
    """Results of the learner against one opponent on all other seats.

    Attributes:
        opponent: its spec, with the number of players if the network learns several counts; ALONE if nobody else plays.
        wins: share of wins (a win shared by w seats counts 1 / w); alone, share of games that pay more than 0.
        returns: mean return with its 95 % interval.
        points: mean score with its 95 % interval, of games for one player.
        version: that of the opponent (:func:`kepler_envs.bots.fingerprint`). None if it was not noted.
    """

    opponent: str
    wins: Share
    mean_length: float
    returns: Share
    points: Share | None = None
    version: str | None = None

    @property
    def against(self) -> str:
        """Whom it was won against, in words."""
        return against(self.opponent)

    @property
    def in_words(self) -> str:
        """The share of wins with its interval in per cent, and alone the points: ``greedy  26.0% (20-33)``."""
        points = f", {self.points.mean:.1f} points" if self.points is not None else ""
        return f"{self.opponent} {self.wins.mean:6.1%} ({100 * self.wins.low:.0f}-{100 * self.wins.high:.0f}){points}"

    @property
    def summary(self) -> dict[str, float]:
        """What a checkpoint says about it."""
        return asdict(self.wins) | ({"points": self.points.mean} if self.points is not None else {})

    @property
    def columns(self) -> dict[str, float]:
        """The columns of a learning curve about this opponent."""
        name, wins = self.opponent, self.wins
        return {
            f"win_rate_{name}": round(wins.mean, 4), f"low_{name}": round(wins.low, 4),
            f"high_{name}": round(wins.high, 4),
            f"games_{name}": wins.games,
        } | ({f"points_{name}": round(self.points.mean, 2)} if self.points is not None else {})  # fmt: skip

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Evaluation:
        """An evaluation from what ``dataclasses.asdict`` made of it."""
        points = Share(**saved["points"]) if saved.get("points") else None
        return cls(
            saved["opponent"], Share(**saved["wins"]), saved["mean_length"], Share(**saved["returns"]), points,
            saved.get("version"),
        )  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """What a learner is evaluated in: one number of players, one opponent.

    Attributes:
        name: the opponent's spec, with the number of players if the network learns several counts, or ALONE.
        version: that of the opponent.
        games: every configuration with that number of players, and the opponent loaded for it.
    """

    name: str
    version: str
    games: tuple[tuple[Configuration, Bot], ...]

    def evaluate(self, learner: Bot, games: int, seed: int = EVALUATION_SEED) -> Evaluation:
        """Play at least ``games`` games, spread evenly over the configurations and seats."""
        each = -(-games // len(self.games))
        played = [play_against(learner, bot, config, each, seed) for config, bot in self.games]
        return replace(_evaluation(self.name, played), version=self.version)


def trials_of(specs: Sequence[str], all_games: Sequence[Configuration]) -> list[Trial]:
    """The trials against each opponent in order, each for all player counts.

    The last ones are those against the last opponent. In games for one player nobody plays against the learner, so
    they have one trial, which counts as one of these.
    """
    counts = distinct(games.num_players for games in all_games)
    found = []
    for spec in specs:
        for players in counts:
            name = ALONE if players == 1 else f"{spec}_{players}p" if len(counts) > 1 else spec
            if players > 1 or spec == specs[-1]:
                its = [games for games in all_games if games.num_players == players]
                version = bots.fingerprint(spec, its[0].game.name) if players > 1 else ""
                found.append(Trial(name, version, tuple((games, bots.load(spec, games)) for games in its)))
    return found


def judged_alike(before: Sequence[Evaluation], now: Sequence[Evaluation]) -> bool:
    """Whether evaluations were against the same opponents, and in as many games.

    Few games that were lucky say nothing about what many would. A version that was not noted may be any.
    """

    def alike(one: Evaluation, other: Evaluation) -> bool:
        same_version = one.version == other.version or None in (one.version, other.version)
        return same_version and (one.opponent, one.wins.games) == (other.opponent, other.wins.games)

    return len(before) == len(now) and all(map(alike, before, now))


def evaluate(learner: Bot, opponent: Bot, config: Configuration, games: int, seed: int = EVALUATION_SEED) -> Evaluation:
    """Play ``games`` games in parallel, rounded up so that every seat is used equally often."""
    name = opponent.name if config.num_players > 1 else ALONE
    return _evaluation(name, [play_against(learner, opponent, config, games, seed)])


def _evaluation(name: str, parts: Sequence[Results]) -> Evaluation:
    wins, returns, lengths, points = (
        np.concatenate([getattr(part, column) for part in parts]) for column in ("wins", "returns", "lengths", "points")
    )
    return Evaluation(
        name, share(wins), float(lengths.mean()), mean_return(returns),
        mean_with_interval(points) if name == ALONE else None,
    )  # fmt: skip


def mean_return(returns: np.ndarray) -> Share:
    """Mean of independent returns in [-1, 1] with its 95 % interval: Student's in that range, unless all are the same.

    Then by the rule of three (Hanley and Lippman-Hand 1983): if more than 1 - 0.05^(1 / N) of all games paid something
    else, N games would have shown it in 95 of 100 cases.
    """
    least, most = float(returns.min()), float(returns.max())
    if least < most:
        found = mean_with_interval(returns)
        return replace(found, low=max(-1.0, found.low), high=min(1.0, found.high))
    unseen = 1 - 0.05 ** (1 / len(returns))
    return Share(least, least - unseen * (least + 1), least + unseen * (1 - least), len(returns))


def mean_with_interval(values: np.ndarray) -> Share:
    """Mean of independent values with its 95 % interval (Student's)."""
    mean, half = float(values.mean()), half_width(values)
    return Share(mean, mean - half, mean + half, len(values))
