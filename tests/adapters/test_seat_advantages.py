"""Advantages of shared-network self-play against a slow, obvious calculation per episode and seat."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from gymnasium import spaces

from kepler_envs.adapters.sb3 import SharedRolloutBuffer, TooFewDecisions, seat_advantages

GAMMA, LAMBDA = 0.97, 0.9


def random_rollout(steps: int, games: int, players: int, seed: int) -> dict[str, np.ndarray]:
    """A rollout in which seats move in any order, often twice in a row, and games end at any time."""
    rng = np.random.default_rng(seed)
    return {
        "rewards": rng.normal(size=(steps, games, players)).astype(np.float32),
        "seats": rng.integers(players, size=(steps, games)),
        "dones": rng.random((steps, games)) < 0.1,
        "values": rng.normal(size=(steps, games, players)).astype(np.float32),
        "last_seats": rng.integers(players, size=games),
        "last_values": rng.normal(size=(games, players)).astype(np.float32),
    }


def slow_advantages(
    rollout: dict[str, np.ndarray], gamma: float, gae_lambda: float, seats_of: np.ndarray | None = None
) -> np.ndarray:
    """Cut every game's column into episodes, every episode into seats, and sum each seat's TD errors forwards.

    ``[..., k]`` is about the k-th seat clockwise from the one that decides.
    """
    rewards, seats, values = rollout["rewards"], rollout["seats"], rollout["values"]
    steps, games, most = rewards.shape
    result = np.zeros((steps, games, most))
    for game, further in itertools.product(range(games), range(most)):
        players = most if seats_of is None else int(seats_of[game])
        ends = [step + 1 for step in range(steps) if rollout["dones"][step, game]]
        starts = [0, *ends]
        for start, stop in zip(starts, [*ends, steps], strict=True):
            over = stop in ends
            for seat in range(players):
                about = (seat + further) % players if further < players else further
                own = [step for step in range(start, stop) if seats[step, game] == seat]
                errors = []
                for number, step in enumerate(own):
                    following = own[number + 1] if number + 1 < len(own) else stop
                    paid = rewards[step:following, game, about].sum()
                    if number + 1 < len(own):
                        bootstrap = values[following, game, further]
                    elif over:
                        bootstrap = 0.0
                    elif seat == rollout["last_seats"][game]:
                        bootstrap = rollout["last_values"][game, further]
                    else:
                        errors.append(0.0)
                        continue
                    errors.append(paid + gamma * bootstrap - values[step, game, further])
                for number, step in enumerate(own):
                    result[step, game, further] = sum(
                        (gamma * gae_lambda) ** (later - number) * errors[later] for later in range(number, len(own))
                    )
    return result


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_slow_calculation(players: int, seed: int) -> None:
    rollout = random_rollout(60, 7, players, seed)
    assert rollout["dones"].sum(0).max() > 2, "several games in a row are wanted"
    got, _ = seat_advantages(**rollout, gamma=GAMMA, gae_lambda=LAMBDA)
    np.testing.assert_allclose(got, slow_advantages(rollout, GAMMA, LAMBDA), rtol=1e-4, atol=1e-5)
    assert got.dtype == np.float32
    own = {**rollout, "values": rollout["values"][..., :1], "last_values": rollout["last_values"][..., :1]}
    alone, _ = seat_advantages(**own, gamma=GAMMA, gae_lambda=LAMBDA)
    assert (alone[..., 0] == got[..., 0]).all(), "whatever is asked about others"


def test_games_of_fewer_seats_go_around_their_own() -> None:
    rollout = random_rollout(60, 6, 5, 0)
    players = np.array([2, 3, 4, 5, 2, 3])
    rollout["seats"] %= players
    rollout["last_seats"] %= players
    rollout["rewards"] *= np.arange(5) < players[:, None]
    got, _ = seat_advantages(**rollout, gamma=GAMMA, gae_lambda=LAMBDA, players=players)
    np.testing.assert_allclose(got, slow_advantages(rollout, GAMMA, LAMBDA, players), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("decisions", "batch_size"), [(3, 2), (5, 2), (64, 63), (9, 4), (2, 100)])
def test_minibatches_can_be_normalised(decisions: int, batch_size: int) -> None:
    """A decision alone has no deviation."""
    space, actions = spaces.Box(0, 1, (1,), np.int16), spaces.Discrete(2)
    buffer = SharedRolloutBuffer(decisions, space, actions, device="cpu", n_envs=1, num_players=2)
    buffer.reset()
    for _ in range(decisions):
        buffer.add_outcome(np.zeros((1, 2)), np.zeros(1, bool))
    parts = buffer.minibatches(batch_size)
    assert all(min(decisions, batch_size / 1.5) <= len(part) <= 1.5 * batch_size for part in parts)
    assert min(map(len, parts)) >= 2 and sorted(np.concatenate(parts)) == list(range(decisions))


@pytest.mark.parametrize(("learned", "words"), [(0, "0 decisions"), (1, "1 decision")])
def test_too_few_decisions_are_counted(learned: int, words: str) -> None:
    buffer = SharedRolloutBuffer(4, spaces.Box(0, 1, (1,), np.int16), spaces.Discrete(2), n_envs=1, num_players=2)
    buffer.reset()
    buffer.learning[learned:] = False
    for _ in range(4):
        buffer.add_outcome(np.zeros((1, 2)), np.zeros(1, bool))
    with pytest.raises(TooFewDecisions, match=f"^{words} to learn from; play more games"):
        buffer.minibatches()


def test_without_a_critic_it_is_the_return_of_the_rest_of_the_game() -> None:
    """With V = 0, gamma = lambda = 1: what the seat was still paid until its game ended."""
    rollout = random_rollout(40, 3, 3, 0)
    rollout["values"][:] = 0
    rollout["dones"][-1] = True
    got, _ = seat_advantages(**rollout, gamma=1.0, gae_lambda=1.0)
    for game in range(3):
        end = 39
        for step in range(39, -1, -1):
            end = step if rollout["dones"][step, game] else end
            seats = (rollout["seats"][step, game] + np.arange(3)) % 3
            expected = rollout["rewards"][step : end + 1, game].sum(0)[seats]
            assert got[step, game] == pytest.approx(expected, abs=1e-4)


def test_a_loss_that_another_seat_brings_about_reaches_the_last_decision() -> None:
    """Seat 0 decides, seat 1 wins at once: seat 0's only decision is worth -1."""
    rewards = np.zeros((2, 1, 2), np.float32)
    rewards[1, 0] = [-1, 1]
    got, known = seat_advantages(
        rewards, np.array([[0], [1]]), np.array([[False], [True]]), np.zeros((2, 1, 1), np.float32), np.array([0]),
        np.array([[9.0]], np.float32), 1.0, 0.95,
    )  # fmt: skip
    assert got.ravel().tolist() == [-1, 1] and known.all()


def test_decisions_whose_follow_up_is_unknown_count_nothing() -> None:
    rewards = np.ones((2, 1, 3), np.float32)
    got, known = seat_advantages(
        rewards, np.array([[0], [1]]), np.zeros((2, 1), bool), np.full((2, 1, 1), 0.5, np.float32), np.array([1]),
        np.array([[2.0]], np.float32), 1.0, 0.95,
    )  # fmt: skip
    assert got.ravel().tolist() == [0, 1 + 2 - 0.5], "seat 0 never moves again; seat 1 is to move and has a value"
    assert known.ravel().tolist() == [False, True]


def test_nothing_is_learned_from_decisions_whose_follow_up_is_unknown() -> None:
    """Normalised, an advantage of 0 would not stay one, and the value would be pulled back to an older guess."""
    rollout = random_rollout(20, 6, 3, 5)
    space, actions = spaces.Box(0, 1, (1,), np.int16), spaces.Discrete(2)
    buffer = SharedRolloutBuffer(20, space, actions, device="cpu", n_envs=6, num_players=3)
    buffer.reset()
    learning = np.arange(6) != 4  # in game 4 somebody else decides
    for step in range(20):
        seats, values = rollout["seats"][step], rollout["values"][step]
        buffer.add_decisions(0, True, seats, learning, 0, values, 0)
        buffer.add_outcome(rollout["rewards"][step], rollout["dones"][step])
    buffer.compute_seat_advantages(rollout["last_seats"], rollout["last_values"])
    of_all, _ = seat_advantages(**rollout, gamma=buffer.gamma, gae_lambda=buffer.gae_lambda)
    assert (buffer.advantages == of_all[..., 0]).all() and (buffer.returns == of_all + rollout["values"]).all()
    expected = []
    for step, game in itertools.product(range(20), range(6)):
        seat, end = rollout["seats"][step, game], rollout["dones"][step:, game].any()
        again = seat in [*rollout["seats"][step + 1 :, game], rollout["last_seats"][game]]
        expected += [step * 6 + game] if learning[game] and (end or again) else []
    assert len(expected) < 5 * 20 - 3
    assert sorted(np.concatenate(buffer.minibatches(16))) == expected
