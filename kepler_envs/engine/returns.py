"""Scores, ranks, returns and shaping: rules about one seat become verbs for all seats.

A game gives compiled rules about one seat, ``rule(s, t, seat)``. The functions here turn them into verbs (see
:class:`kepler_envs.engine.game.Verbs`).
"""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.game import Option
from kepler_envs.engine.kernel import helper

WIN, RANK = "win", "rank"
"""What the final rewards can depend on."""

WIN_OR_RANK, RANK_OR_WIN = (WIN, RANK), (RANK, WIN)
"""The names of the values of a state's ``reward_mode``. Value 0, the first, is the game's default."""


def reward_mode_option(modes: tuple[str, ...]) -> Option:
    """The option ``reward_mode`` of a game whose state keeps the index of the chosen one in ``modes``."""
    spoken = {WIN: "on winning", RANK: "on the rank"}
    return Option("reward_mode", modes[0], f"final rewards depend {' or '.join(spoken[mode] for mode in modes)}", modes)


# ---------------------------------------------------------------- scores and ranks


def scores_of(score: Any) -> Any:
    """Make the verb ``scores`` from the score of a seat."""

    @helper
    def scores(s, t, out):
        for seat in range(int(s.num_players)):
            out[seat] = score(s, t, seat)

    return scores


def ranks_by(standing: Any) -> Any:
    """Make the verb ``ranks`` from a number that seats are compared by.

    More is better, and equal seats share the better rank.
    """

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
    """Give each of w winners (n - w) / (w (n - 1)), and all others -1 / (n - 1)."""
    winners = 0
    for seat in range(n):
        if ranks[seat] == 1:
            winners += 1
    for seat in range(n):
        out[seat] = (n - winners) / (winners * (n - 1)) if ranks[seat] == 1 else -1 / (n - 1)


@helper
def rank_returns(ranks, n, out):
    """Give each seat 1 - 2 (rank - 1) / (n - 1). Tied seats average their ranks.

    This is the mean over all other seats of +1 (behind this one), 0 (tied) and -1 (ahead).
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
    """The verb ``returns`` of a game that always pays by rank."""
    rank_returns(ranks, int(s.num_players), out)


def returns_by(modes: tuple[str, ...]) -> Any:
    """Make the verb ``returns`` of a game whose state says how it pays: ``reward_mode`` is an index into ``modes``."""
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
    """Make the verb ``potential``: coefficient x (own progress - mean of all)."""

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
    """Make the verb ``potential``: coefficient x (own progress - mean of the others') / ``scale(s, t)``."""

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
