"""Scores, ranks, returns and shaping: what a game says of one seat becomes a verb for all seats.

A game gives compiled rules of one seat, ``rule(s, t, seat)``; the functions here make verbs (see
:class:`kepler_envs.engine.game.Verbs`) of them.
"""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.game import Option
from kepler_envs.engine.kernel import helper

WIN, RANK = "win", "rank"
"""What final rewards can depend on."""

WIN_OR_RANK, RANK_OR_WIN = (WIN, RANK), (RANK, WIN)
"""The names of the values of a state's ``reward_mode``; the first, value 0, is the game's default."""


def reward_mode_option(modes: tuple[str, ...]) -> Option:
    """The option ``reward_mode`` of a game whose state keeps the place of the chosen one in ``modes``."""
    spoken = {WIN: "by winning", RANK: "by rank"}
    return Option("reward_mode", modes[0], f"final rewards {' or '.join(spoken[mode] for mode in modes)}", modes)


# ---------------------------------------------------------------- scores and ranks


def scores_of(score: Any) -> Any:
    """The verb ``scores``, from the score of a seat."""

    @helper
    def scores(s, t, out):
        for seat in range(int(s.num_players)):
            out[seat] = score(s, t, seat)

    return scores


def ranks_by(standing: Any) -> Any:
    """The verb ``ranks``, from a number to compare seats by: more is better, and equal ones share the better rank."""

    @helper
    def ranks(s, t, out):
        n = int(s.num_players)
        for seat in range(n):
            own = standing(s, t, seat)
            rank = 1
            for other in range(n):
                if standing(s, t, other) > own:
                    rank += 1
            out[seat] = rank

    return ranks


# ---------------------------------------------------------------- returns


@helper
def win_returns(ranks, n, out):
    """w winners get (n - w) / (w (n - 1)) each, all others -1 / (n - 1)."""
    winners = 0
    for seat in range(n):
        if ranks[seat] == 1:
            winners += 1
    for seat in range(n):
        out[seat] = (n - winners) / (winners * (n - 1)) if ranks[seat] == 1 else -1 / (n - 1)


@helper
def rank_returns(ranks, n, out):
    """1 - 2 (rank - 1) / (n - 1), tied seats averaging their ranks.

    Computed as the mean over all others of +1 (behind this seat), 0 (tied), -1 (ahead), which is the same.
    """
    for seat in range(n):
        balance = 0
        for other in range(n):
            if ranks[seat] < ranks[other]:
                balance += 1
            elif ranks[seat] > ranks[other]:
                balance -= 1
        out[seat] = balance / (n - 1)


@helper
def returns_by_rank(s, t, ranks, out):
    """The verb ``returns`` of a game that is always paid by rank."""
    rank_returns(ranks, int(s.num_players), out)


def returns_by(modes: tuple[str, ...]) -> Any:
    """The verb ``returns`` of a game that is paid as its state's ``reward_mode``, a place in ``modes``, says."""
    win = modes.index(WIN)

    @helper
    def returns(s, t, ranks, out):
        if s.reward_mode == win:
            win_returns(ranks, int(s.num_players), out)
        else:
            rank_returns(ranks, int(s.num_players), out)

    return returns


# ---------------------------------------------------------------- shaping


def ahead_of_mean(progress: Any) -> Any:
    """The verb ``potential``: coefficient x (own progress - mean of all)."""

    @helper
    def potential(s, t, out):
        n = int(s.num_players)
        total = 0
        for seat in range(n):
            total += progress(s, t, seat)
        for seat in range(n):
            out[seat] = s.shaping * (progress(s, t, seat) - total / n)

    return potential


def ahead_of_others(progress: Any, scale: Any) -> Any:
    """The verb ``potential``: coefficient x (own progress - mean of the others') / ``scale(s, t)``."""

    @helper
    def potential(s, t, out):
        n = int(s.num_players)
        total = 0
        for seat in range(n):
            total += progress(s, t, seat)
        for seat in range(n):
            own = progress(s, t, seat)
            out[seat] = s.shaping * (own - (total - own) / (n - 1)) / scale(s, t)

    return potential
