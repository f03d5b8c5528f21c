"""Playouts inside compiled code are games like any other."""

from __future__ import annotations

import numpy as np
import pytest

import kepler_envs
from kepler_envs import Configuration, Game, Snapshot, playouts
from kepler_envs.engine.kernel import JIT_ENABLED
from tests.contract.subjects import check_sum, every_game, every_player_count, play
from tests.effort import games_to_play
from tests.games.kitten_adventurers.scenario import scenario
from tests.interrupts import seconds_until_ctrl_c_counts


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
    results = [playouts(Snapshot.deal(config, seed), 1, seed) for seed in range(count)]
    from_playouts = np.array([[result.lengths[0], *result.returns[0]] for result in results])
    batch = kepler_envs.make_batch(game.id, 200, seed=77)
    games: list[np.ndarray] = []
    while len(games) < count:
        batch.step(batch.uniform())
        first = (batch.terminated | batch.truncated) & (
            batch.episodes <= count // 200
        )  # the first games of every row: no bias to short ones
        games += list(np.column_stack([batch.final_length, batch.final_return])[first])
    from_batch = np.array(games)
    error = np.sqrt(from_batch.var(axis=0) / len(from_batch) + from_playouts.var(axis=0) / len(from_playouts))
    assert (error > 0).all()
    assert (np.abs(from_batch.mean(axis=0) - from_playouts.mean(axis=0)) < 5 * error).all()


@every_game
def test_playouts_of_the_last_decisions(game: Game) -> None:
    """From the end a playout takes no decision. From the position before, it takes one or more."""
    positions = [position for position, _ in play(game.configure(), 2)]
    before = playouts(positions[-2], 200, seed=1)
    assert before.lengths.min() == 1
    last = playouts(positions[-1], 3, seed=1)
    assert last.lengths.tolist() == [0, 0, 0]
    assert np.allclose(last.returns, positions[-1].results()[2])


def test_chance_differs_from_playout_to_playout() -> None:
    """Whatever the real game draws next, a class 9 planet or the wormhole, playouts draw either: only with the wormhole
    there is a card that can be played before the second and last turn ends."""
    config = kepler_envs.load_game("kitten_adventurers").configure(3, max_turns=2)
    drawn = set()
    for rng in (1, 2**58):
        start = scenario(config=config, hands=[[9], [9] * 6], quests=[[1, 11], [1, 11]], deck=[9, 0], rng=rng).snapshot
        drawn.add(int(start.apply(19 + 9).state["player"]["hand"][1][0]))
        lengths = playouts(start, 100, seed=1).lengths.tolist()
        assert set(lengths) == {2, 3} and 10 < lengths.count(3) < 50
    assert drawn == {0, 1}


@every_game
def test_limit(game: Game) -> None:
    start = Snapshot.deal(game.configure(), 1)
    result = playouts(start, 10, seed=1, limit=4)
    assert result.lengths.tolist() == [4] * 10 and not result.returns.any()


@every_game
def test_calls_of_compiled_code_change_nothing(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many short calls play the games that one long call plays."""
    start = Snapshot.deal(game.configure(), 1)
    at_once = playouts(start, 100, seed=3)
    monkeypatch.setattr("kepler_envs.engine.playout.PLAYOUTS_OF_A_CALL", 7)
    in_parts = playouts(start, 100, seed=3)
    assert np.array_equal(at_once.returns, in_parts.returns) and np.array_equal(at_once.lengths, in_parts.lengths)
    assert len(set(at_once.lengths[-50:].tolist())) > 1, "equal games would say nothing of their order"


@pytest.mark.skipif(not JIT_ENABLED, reason="Ctrl-C waits for nothing")
def test_ctrl_c_ends_many_playouts() -> None:
    start = Snapshot.deal(kepler_envs.load_game("kitten_adventurers").configure(), 1)
    assert seconds_until_ctrl_c_counts(lambda: playouts(start, 3_000_000, seed=1)) < 3  # of 30


@every_game
def test_a_seed_that_is_not_allowed(game: Game) -> None:
    start = Snapshot.deal(game.configure(), 1)
    with pytest.raises(ValueError, match="seed = -1 is not allowed"):
        playouts(start, 1, seed=-1)
