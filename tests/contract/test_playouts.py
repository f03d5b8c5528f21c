"""Playouts inside compiled code are games like any other."""

from __future__ import annotations

import numpy as np
import pytest

import kepler_envs
from kepler_envs import Configuration, Game, Snapshot, playouts
from tests.contract.subjects import check_sum, every_game, every_player_count, play
from tests.effort import games_to_play


@every_player_count
def test_playouts_end(config: Configuration) -> None:
    """Returns of finished games, zero-sum unless one plays alone; the same seed gives the same playouts, another one
    others."""
    start = Snapshot.deal(config, 1)
    before = start.digest()
    result = playouts(start, games_to_play(200), seed=5)
    assert result.returns.shape == (games_to_play(200), config.num_players)
    check_sum(config, result.returns)
    assert (np.abs(result.returns).max(axis=1) > 0).mean() > 0.1 and np.abs(result.returns).max() <= 1
    assert result.lengths.min() > 0 and result.lengths.max() <= config.game.max_decisions
    assert len(set(result.lengths.tolist())) > 5
    again = playouts(start, games_to_play(200), seed=5)
    assert np.array_equal(again.returns, result.returns) and np.array_equal(again.lengths, result.lengths)
    assert not np.array_equal(playouts(start, games_to_play(200), seed=6).lengths, result.lengths)
    assert start.digest() == before


@every_game
def test_playouts_play_as_the_batch_does(game: Game) -> None:
    """Mean length and mean returns agree with uniformly random games of the batch (within five standard errors)."""
    config = game.configure()
    count = games_to_play(600)
    from_playouts = np.concatenate(
        [playouts(Snapshot.deal(config, seed), 3, seed).lengths for seed in range(count // 3)]
    )
    batch = kepler_envs.make_batch(game.id, 200, seed=77)
    lengths: list[int] = []
    while len(lengths) < count:
        batch.step(batch.uniform())
        first = (batch.terminated | batch.truncated) & (
            batch.episodes <= count // 200
        )  # the first games of every row: no bias to short ones
        lengths += batch.final_length[first].tolist()
    both = np.array(lengths, float)
    error = np.sqrt(both.var() / len(both) + from_playouts.var() / len(from_playouts))
    assert abs(both.mean() - from_playouts.mean()) < 5 * error


@every_game
def test_playouts_of_the_last_decisions(game: Game) -> None:
    """From a position near the end a playout takes few decisions; from the end none."""
    positions = [position for position, _ in play(game.configure(), 2)]
    last = playouts(positions[-1], 3, seed=1)
    assert last.lengths.tolist() == [0, 0, 0]
    assert np.allclose(last.returns, positions[-1].results()[2])


@every_game
def test_limit(game: Game) -> None:
    start = Snapshot.deal(game.configure(), 1)
    result = playouts(start, 10, seed=1, limit=4)
    assert result.lengths.tolist() == [4] * 10 and not result.returns.any()


@every_game
def test_arguments_that_are_not_allowed(game: Game) -> None:
    start = Snapshot.deal(game.configure(), 1)
    with pytest.raises(ValueError, match="count = 0 is not allowed"):
        playouts(start, 0, seed=1)
    with pytest.raises(ValueError, match="seed"):
        playouts(start, 1, seed=-1)
