"""The batch plays the games of the environment, whatever its size and its threads."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
import pytest

import kepler_envs
from kepler_envs import Batch, Configuration, Game, IllegalAction, OptionError
from tests.contract.subjects import (
    check_sum,
    every_game,
    every_option,
    every_player_count,
    few_player_counts,
    hooks_of,
    make,
)
from tests.effort import games_to_play

OUTPUTS = (
    "observation", "action_mask", "seat", "reward", "terminated", "truncated", "final_return", "final_rank",
    "final_score",
    "final_length", "episodes", "seed", "legal_bits", "legal_count",
)  # fmt: skip


def batch_of(config: Configuration, num_envs: int, **arguments: Any) -> Batch:
    """A batch of a configuration, through the public door."""
    return kepler_envs.make_batch(config.game.id, num_envs, **config.describe(), **arguments)


def choose(batch: Batch, random: np.random.Generator, eager_ids: list[int]) -> np.ndarray:
    """A legal id per game; half of the games like some ids better."""
    weights = random.random(batch.action_mask.shape)
    weights[::2, eager_ids] += 0.5
    return np.where(batch.action_mask, weights, -1).argmax(axis=1)


def compare_with_environments(config: Configuration, rows: int, steps: int, games: int = 0) -> None:
    """Play rows of a batch beside environments with the same seeds, at least so many steps and games."""
    batch = batch_of(config, rows, seed=11)
    envs = [make(config, copy=False) for _ in range(rows)]
    for row, env in enumerate(envs):
        env.reset(seed=int(batch.seed[row]))
    random, eager_ids = np.random.default_rng(3), sorted(hooks_of(config.game).eager_ids)
    finished = played = 0
    while played < steps or finished < games:
        played += 1
        for row, env in enumerate(envs):
            seen = env.last()[0]
            assert env.possible_agents[batch.seat[row]] == env.agent_selection
            assert np.array_equal(batch.observation[row], seen["observation"])
            assert np.array_equal(batch.action_mask[row], seen["action_mask"])
        actions = choose(batch, random, eager_ids)
        batch.step(actions)
        for row, env in enumerate(envs):
            env.step(int(actions[row]))
            assert [env.rewards[agent] for agent in env.possible_agents] == batch.reward[row].tolist()
            assert batch.terminated[row] == any(env.terminations.values())
            assert batch.truncated[row] == any(env.truncations.values())
            if batch.terminated[row] or batch.truncated[row]:
                finished += 1
                check_final(batch, row, env)
                env.reset(seed=int(batch.seed[row]))
    assert batch.episodes.sum() == finished


def check_final(batch: Batch, row: int, env: kepler_envs.KeplerEnv) -> None:
    last = env.snapshot()
    assert batch.final_snapshot(row) == last
    assert batch.final_length[row] == last.state["decisions"]
    for seat, agent in enumerate(env.possible_agents):
        info = env.infos[agent]
        assert batch.final_return[row, seat] == np.float32(info["returns"])
        assert (batch.final_rank[row, seat], batch.final_score[row, seat]) == (info["rank"], info["score"])
        assert np.array_equal(batch.observe_final(seat)[row], env.observe(agent)["observation"])
    env.reset()
    assert env.game_seed == batch.seed[row], "an unseeded reset deals the game that the batch deals next"


@every_player_count
def test_batch_equals_environment(config: Configuration) -> None:
    compare_with_environments(config, rows=8, steps=games_to_play(400), games=4)


@every_option
def test_batch_equals_environment_with_every_option(config: Configuration) -> None:
    compare_with_environments(config, rows=6, steps=games_to_play(150))


@every_game
def test_shaping_is_zero_sum(game: Game) -> None:
    if "shaping" not in {option.name for option in game.option_list}:
        pytest.skip("a game without shaping")
    batch = batch_of(game.configure(shaping=0.5), 32, seed=5)
    random, eager_ids = np.random.default_rng(1), sorted(hooks_of(game).eager_ids)
    shaped_steps = 0
    for _ in range(games_to_play(200)):
        batch.step(choose(batch, random, eager_ids))
        check_sum(batch.config, batch.reward)
        shaped_steps += int((batch.reward[~(batch.terminated | batch.truncated)] != 0).any(axis=1).sum())
    assert shaped_steps > 10


# ---------------------------------------------------------------- sizes and threads


def run(batch: Batch, steps: int) -> Batch:
    for _ in range(steps):
        batch.step(batch.uniform())
    return batch


def assert_same_rows(one: Batch, other: Batch, rows: int) -> None:
    for row in range(rows):
        assert one.snapshot(row) == other.snapshot(row)
        assert one.episodes[row] == 0 or one.final_snapshot(row) == other.final_snapshot(row)
    for name in OUTPUTS:
        assert np.array_equal(getattr(one, name)[:rows], getattr(other, name)[:rows]), name


@few_player_counts
def test_rows_do_not_depend_on_the_size(config: Configuration) -> None:
    """Row g plays the same games in a batch of 1, 5 and 64."""
    steps = 300  # or more, so that some games end
    large = run(batch_of(config, 64, seed=9), steps)
    while large.episodes.sum() == 0:
        steps += 100
        run(large, 100)
    for size in (1, 5):
        assert_same_rows(run(batch_of(config, size, seed=9), steps), large, size)
    other = run(batch_of(config, 5, seed=10), steps)
    assert other.states.tobytes() != large.states[:5].tobytes()


@few_player_counts
@pytest.mark.parametrize("rows", [1, 37])
def test_rows_do_not_depend_on_the_threads(config: Configuration, rows: int) -> None:
    one, two = batch_of(config, rows, seed=9), batch_of(config, rows, seed=9, threads=2)
    assert_same_rows(run(one, 300), run(two, 300), rows)


def test_threads_are_those_of_the_machine_and_of_the_batch_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch may go on where there are fewer of them, and the caller's own code keeps its number."""
    batch = kepler_envs.make_batch("kitten_adventurers", 5, seed=3, threads=2)
    twin = copy.deepcopy(batch)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        run(batch, 10)
        assert numba.get_num_threads() == 1
    finally:
        numba.set_num_threads(before)
    saved = pickle.dumps(twin)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    elsewhere = pickle.loads(saved)
    assert elsewhere.threads == 1
    assert_same_rows(run(elsewhere, 10), batch, 5)


@every_game
def test_rows_differ(game: Game) -> None:
    batch = kepler_envs.make_batch(game.id, 100, seed=0)
    assert len(set(batch.seed.tolist())) == 100
    assert len({state.tobytes() for state in batch.states}) == 100


@every_game
def test_reset(game: Game) -> None:
    """With a seed the same games again; without one each row goes on with its next; with an array any games."""
    batch = kepler_envs.make_batch(game.id, 6, seed=4)
    first = batch.states.tobytes()
    run(batch, 50)
    ended = batch.final_length.copy(), batch.final_return.copy()
    batch.reset(4)
    assert batch.states.tobytes() == first and not batch.episodes.any() and not batch.reward.any()
    assert all(map(np.array_equal, (batch.final_length, batch.final_return), ended)), "until a game ends"
    env = kepler_envs.make(game.id)
    env.reset(seed=int(batch.seed[2]))
    batch.reset()
    env.reset()
    assert batch.snapshot(2) == env.snapshot() and env.game_seed == batch.seed[2]
    seeds = np.array([7, 0, 2**64 - 1, 2**63, 1, 7], np.uint64)
    batch.reset(seeds)
    assert batch.seed.tolist() == seeds.tolist()
    assert [batch.snapshot(row).digest() for row in range(6)] == [
        kepler_envs.Snapshot.deal(batch.config, int(seed)).digest() for seed in seeds
    ]
    for wrong in (np.array([1, 2]), np.zeros(6)):
        with pytest.raises(ValueError, match=r"seed must be an integer array \(6,\), not one of"):
            batch.reset(wrong)
    with pytest.raises(ValueError, match=r"seed\[4\] = -5 is not allowed; allowed: an integer from 0 on"):
        batch.reset(np.array([1, 2, 3, 4, -5, 6]))
    with pytest.raises(ValueError, match="seed"):
        batch.reset(-3)


# ---------------------------------------------------------------- steps


@every_game
def test_skipped_games_stay(game: Game) -> None:
    batch = kepler_envs.make_batch(game.id, 4, seed=4)
    run(batch, 5)
    before = [batch.snapshot(row) for row in range(4)]
    actions = batch.uniform()
    actions[[0, 3]] = Batch.SKIP
    batch.step(actions)
    moved = [batch.snapshot(row) != before[row] for row in range(4)]
    assert moved == [False, True, True, False]
    assert not batch.reward[[0, 3]].any() and not (batch.terminated | batch.truncated)[[0, 3]].any()


@every_game
def test_a_step_returns_what_it_wrote(game: Game) -> None:
    """The same arrays each time, in the order of gymnasium's vector environments, and of the types that are
    promised."""
    batch = kepler_envs.make_batch(game.id, 4, seed=4)
    first, second = batch.step(batch.uniform()), batch.step(batch.uniform())
    assert all(one is other for one, other in zip(first, second, strict=True))
    observation, reward, terminated, truncated, infos = first
    assert observation is batch.observation and observation.flags.c_contiguous and reward is batch.reward
    assert reward.dtype == np.float32 and reward.shape == (4, batch.num_players)
    assert terminated is batch.terminated and truncated is batch.truncated
    assert terminated.dtype == truncated.dtype == np.bool_ and terminated.shape == truncated.shape == (4,)
    assert set(infos) == {
        "final_return",
        "final_rank",
        "final_score",
        "final_length",
        "episodes",
        "seat",
        "action_mask",
    }
    assert all(array is getattr(batch, name) for name, array in infos.items())
    while not batch.episodes.any():
        batch.step(batch.uniform())
    assert ((terminated | truncated) == (batch.episodes > 0)).all() and not (terminated & truncated).any()


@every_game
def test_spaces_of_one_row(game: Game) -> None:
    batch = kepler_envs.make_batch(game.id, 2, seed=4)
    env = kepler_envs.make(game.id)
    assert batch.single_observation_space == env.observation_space("player_0")["observation"]
    assert batch.single_action_space == env.action_space("player_0")
    assert batch.single_observation_space.contains(batch.observation[1])


@every_game
def test_an_illegal_action_changes_nothing(game: Game) -> None:
    batch = kepler_envs.make_batch(game.id, 5, seed=4)
    run(batch, 12)
    kept = {name: getattr(batch, name).copy() for name in OUTPUTS}
    states = batch.states.tobytes()
    for wrong in (int(np.flatnonzero(batch.action_mask[3] == 0)[0]), -2, len(game.actions), 10**9, -(2**62)):
        actions = batch.uniform()
        actions[3] = wrong
        with pytest.raises(IllegalAction) as caught:
            batch.step(actions)
        assert "game 3 of the batch" in str(caught.value) and str(wrong) in str(caught.value)
        assert f"player_{batch.seat[3]}" in str(caught.value) and batch.snapshot(3).node.name in str(caught.value)
    assert batch.states.tobytes() == states
    assert all(np.array_equal(getattr(batch, name), value) for name, value in kept.items())


@every_game
@pytest.mark.parametrize("illegal", [(5,), (2, 5), (0, 4)])
def test_one_thread_does_nothing_if_another_one_finds_an_illegal_action(game: Game, illegal: tuple[int, ...]) -> None:
    """The first such row is named, whoever finds it; each thread checks three rows."""
    batch = run(kepler_envs.make_batch(game.id, 6, seed=3, threads=2), 20)
    actions = batch.uniform()
    states, rows = batch.states.tobytes(), batch.rows.tobytes()
    actions[list(illegal)] = len(game.actions)
    with pytest.raises(IllegalAction, match=f"game {illegal[0]} of the batch"):
        batch.step(actions)
    assert batch.states.tobytes() == states and batch.rows.tobytes() == rows


@every_game
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
def test_integers_of_any_kind(game: Game, kind: type) -> None:
    if np.iinfo(kind).max < len(game.actions):
        pytest.skip("the ids do not fit this type")
    one, two = kepler_envs.make_batch(game.id, 3, seed=4), kepler_envs.make_batch(game.id, 3, seed=4)
    actions = one.uniform()
    one.step(actions)
    two.step(actions.astype(kind))
    assert_same_rows(one, two, 3)
    one.step(np.repeat(one.uniform(), 2)[::2])  # not contiguous


@every_game
@pytest.mark.parametrize(
    "actions",
    [
        [0, 0, 0],
        np.zeros(2, int),
        np.zeros((3, 1), int),
        np.zeros(3),
        np.zeros(3, bool),
        np.zeros(3, np.uint64),
        None,
        0,
    ],
)
def test_arrays_that_are_no_actions(game: Game, actions: Any) -> None:
    batch = kepler_envs.make_batch(game.id, 3, seed=4)
    states = batch.states.tobytes()
    with pytest.raises(ValueError, match=r"actions must be an integer array of shape \(3,\), at most int64, not "):
        batch.step(actions)
    assert batch.states.tobytes() == states


@every_game
def test_more_threads_than_are_allowed(game: Game) -> None:
    with pytest.raises(OptionError, match="threads = 1000000 is not allowed; allowed: an integer 1"):
        kepler_envs.make_batch(game.id, 2, threads=10**6)


@every_player_count
def test_uniform_is_uniform(config: Configuration) -> None:
    """Chi-square of the choices at the first node over many generators."""
    batch = batch_of(config, 1, seed=2)
    check_uniform([batch.uniform()[0] for _ in range(games_to_play(2000))], batch.action_mask[0])


@every_game
def test_rows_draw_apart(game: Game) -> None:
    """The same of the first choices of as many rows at one position, each with the generator of its own game."""
    batch = kepler_envs.make_batch(game.id, games_to_play(2000), seed=2)
    position = batch.snapshot(0)
    for row in range(batch.num_envs):
        batch.restore(row, position)
    check_uniform(batch.uniform(), batch.action_mask[0])


def check_uniform(chosen: Sequence[int] | np.ndarray, mask: np.ndarray) -> None:
    legal, counts = np.flatnonzero(mask), np.bincount(chosen, minlength=len(mask))
    assert counts.sum() == counts[legal].sum() == len(chosen)
    expected = len(chosen) / len(legal)
    chi_square = ((counts[legal] - expected) ** 2 / expected).sum()
    assert chi_square < len(legal) + 6 * np.sqrt(2 * len(legal)) + 10


# ---------------------------------------------------------------- positions


@every_player_count
def test_observe_of_any_seat(config: Configuration) -> None:
    batch = run(batch_of(config, 6, seed=3), 40)
    for seat in range(config.num_players):
        assert np.array_equal(batch.observe(seat), [batch.snapshot(row).observe(seat) for row in range(6)])
    seats = np.arange(6) % config.num_players
    mixed = batch.observe(seats)
    assert np.array_equal(mixed, [batch.snapshot(row).observe(int(seats[row])) for row in range(6)])
    assert np.array_equal(batch.observe(batch.seat), batch.observation)


@every_game
def test_of_games_that_have_not_finished_there_is_nothing_to_see(game: Game) -> None:
    """Not what an empty state would show."""
    batch = Batch(game.configure(), 6, seed=3)
    assert not batch.observe_final(0).any()
    while not 0 < (batch.episodes > 0).sum() < 6:
        batch.step(batch.uniform())
    seats = np.arange(6) % batch.num_players
    seen, finished = batch.observe_final(seats), batch.episodes > 0
    assert not seen[~finished].any()
    for row in np.flatnonzero(finished):
        assert np.array_equal(seen[row], batch.final_snapshot(row).observe(int(seats[row])))


@every_game
def test_restore(game: Game) -> None:
    batch, other = kepler_envs.make_batch(game.id, 3, seed=3), kepler_envs.make_batch(game.id, 4, seed=8)
    run(batch, 30)
    snapshot = batch.snapshot(1)
    untouched = [other.snapshot(row) for row in (0, 1, 3)]
    other.restore(2, snapshot)
    assert other.snapshot(2) == snapshot and [other.snapshot(row) for row in (0, 1, 3)] == untouched
    for name in ("observation", "action_mask", "seat", "legal_bits", "legal_count"):
        assert np.array_equal(getattr(other, name)[2], getattr(batch, name)[1]), name
    action = snapshot.legal_actions()[-1]
    actions = np.full(4, Batch.SKIP)
    actions[2] = action
    other.step(actions)
    assert other.terminated[2] or other.truncated[2] or other.snapshot(2) == snapshot.apply(action)
    more = game.max_players if game.default_players < game.max_players else game.min_players
    with pytest.raises(ValueError, match="another game, number of players"):
        other.restore(0, kepler_envs.Snapshot.deal(game.configure(more), 1))
    with pytest.raises(ValueError, match="has not finished a game"):
        kepler_envs.make_batch(game.id, 1, seed=3).final_snapshot(0)


@every_game
def test_a_finished_position_is_not_restored(game: Game) -> None:
    batch = kepler_envs.make_batch(game.id, 1, seed=3)
    while not batch.episodes[0]:
        batch.step(batch.uniform())
    with pytest.raises(ValueError, match="finished"):
        batch.restore(0, batch.final_snapshot(0))


@every_game
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "duplicate",
    [lambda batch: pickle.loads(pickle.dumps(batch)), copy.deepcopy, copy.copy],
    ids=["pickle", "deepcopy", "copy"],
)
def test_copies(game: Game, threads: int, duplicate: Callable[[Batch], Batch]) -> None:
    batch = run(kepler_envs.make_batch(game.id, 5, seed=3, threads=threads), 40)
    used = [np.full(batch.states.nbytes, 255, np.uint8) for _ in range(20)]
    del used  # new arrays now lie in memory full of ones: bytes that a copy leaves out would show
    twin = duplicate(batch)
    kept = [batch.snapshot(row) for row in range(5)]
    assert [twin.snapshot(row) for row in range(5)] == kept
    run(twin, 100)
    assert [batch.snapshot(row) for row in range(5)] == kept
    run(batch, 100)
    assert [batch.snapshot(row) for row in range(5)] == [twin.snapshot(row) for row in range(5)]
    assert_same_rows(batch, twin, 5)
