"""Games with the largest and the smallest component file that a game's loader admits.

A game with such files has them in ``tests/games/<game>/extremes.py``:

    largest(players), smallest(players)     the rows of the file for so many players
    options(kind, players)                  options to play it with; the kind is "largest" or "smallest"
    INVARIANTS_HOLD                         names of the files that the game's ``check_invariants`` can judge
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs import Snapshot
from tests.component_file import write_rows
from tests.contract.subjects import check_sum, checks_name, checks_of, hooks_of, play
from tests.effort import games_to_play
from tests.scenario import check_in_bounds

EVERY = 37
"""Invariants and resampling are slow; every so many decisions they are looked at."""


def _cases() -> Iterator[Any]:
    for name in kepler_envs.list_games():
        game = kepler_envs.load_game(name)
        if importlib.util.find_spec(checks_name(game, "extremes")) is None:
            continue
        for kind in ("largest", "smallest"):
            for players in (game.min_players, game.max_players):
                yield pytest.param(name, kind, players, id=f"{name}-{kind}-{players}")


@pytest.mark.parametrize("name, kind, players", list(_cases()))
def test_extreme_file(name: str, kind: str, players: int, tmp_path: Path) -> None:
    """Eager and uniform games to their end, with every observation in its bounds; a build with bounds checks runs this,
    too."""
    extremes = checks_of(kepler_envs.load_game(name), "extremes")
    path = write_rows(tmp_path / "extreme.toml", getattr(extremes, kind)(players))
    config = kepler_envs.load_game(name).configure(players, path, **extremes.options(kind, players))
    check_invariants = hooks_of(config.game).check_invariants
    for seed in range(games_to_play(8)):
        for number, (position, _) in enumerate(play(config, seed)):
            check_in_bounds(position)
            if number % EVERY == 0:
                if kind in extremes.INVARIANTS_HOLD:
                    check_invariants(position.state, config)
                check_resampled(position, number)
        check_sum(config, position.results()[2])


def check_resampled(position: Snapshot, seed: int) -> None:
    for seat in range(position.config.num_players):
        drawn = position.resample(seat, seed)
        assert np.array_equal(drawn.observe(seat), position.observe(seat))
        assert drawn.legal_actions() == position.legal_actions() or seat != position.seat
