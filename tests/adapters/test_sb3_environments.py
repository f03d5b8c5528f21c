"""The VecEnvs: what a learner sees, may do and is paid, on a batch and with Stable-Baselines3's own code."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
import torch as th
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnvWrapper, VecMonitor, VecNormalize

import kepler_envs
from kepler_envs import bots
from kepler_envs.adapters.sb3 import (
    PiecePolicy,
    SeatVecEnv,
    SharedMaskablePPO,
    SharedSeatVecEnv,
    observation_space,
    piece_policy,
)
from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.observation import COUNT, Layout, piece, table
from kepler_envs.networks import DivergedError
from tests.effort import slow

GAME = "kitten_adventurers"


def batch_of(num_envs: int, players: int, **options) -> kepler_envs.Batch:
    return kepler_envs.make_batch(GAME, num_envs, num_players=players, seed=3, quest_size=2, **options)


def uniform_choice(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(masks, rng.random(masks.shape), -1).argmax(1)


@pytest.mark.parametrize("kind", [SeatVecEnv, SharedSeatVecEnv])
def test_a_learner_cannot_pass_its_turn(kind):
    """A batch takes -1 for a game that is to stay as it is. A learner has to decide."""
    env = kind(batch_of(2, 2))
    env.reset()
    before = [env.batch.snapshot(row) for row in range(2)]
    actions = env.action_masks().argmax(1)
    actions[1] = -1
    with pytest.raises(kepler_envs.IllegalAction, match=r"row 1: -1 is no action id; legal: \[\d+"):
        env.step(actions)
    assert [env.batch.snapshot(row) for row in range(2)] == before


@pytest.mark.parametrize("over", [None, "greedy"])
@pytest.mark.parametrize("kind", [SeatVecEnv, SharedSeatVecEnv])
def test_no_game_runs_before_the_first_reset(kind, over):
    env = kind(batch_of(3, 2), over=over)
    before = [env.batch.snapshot(row) for row in range(3)]
    legal = env.batch.action_mask.argmax(1)
    for ask in (lambda: env.step(legal), env.action_masks, lambda: env.env_method("action_masks")):
        with pytest.raises(RuntimeError, match=r"^no game is running: call reset\(\) first$"):
            ask()
    assert [env.batch.snapshot(row) for row in range(3)] == before
    env.reset()
    env.step(env.action_masks().argmax(1))


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("seat", [None, 0, 1])
def test_a_learner_is_paid_all_of_its_game_losses_included(players, seat):
    batch = batch_of(16, players)
    env, rng = SeatVecEnv(batch, learner_seat=seat), np.random.default_rng(0)
    env.reset()
    paid, final = np.zeros(16), []
    for _ in range(800):
        assert (batch.seat == env.learner).all()
        assert seat is None or (env.learner == seat).all()
        _, rewards, dones, infos = env.step(uniform_choice(env.action_masks(), rng))
        paid += rewards
        for row in np.flatnonzero(dones):
            own = infos[row]["seat"]
            assert paid[row] == pytest.approx(infos[row]["episode"]["r"])
            assert infos[row]["rank"] >= 1
            assert infos[row]["terminal_observation"].shape == batch.config.observation.low.shape
            final.append((own, round(float(paid[row]), 4)))
            paid[row] = 0
    outcomes = {value for _, value in final}
    assert len(final) > 100
    assert 1.0 in outcomes, "a win pays 1"
    assert round(-1 / (players - 1), 4) in outcomes, "and a loss reaches the learner"
    if seat is None:
        assert {own for own, _ in final} == set(range(players)), "the learner takes every seat"


@pytest.mark.parametrize("kind", [SeatVecEnv, SharedSeatVecEnv])
def test_a_game_that_reaches_a_limit_leaves_nothing_to_bootstrap(kind):
    """It has paid its final result. Stable-Baselines3 would add the value of its final state to that."""
    batch = batch_of(8, 2, max_turns=4)
    env, rng = kind(batch), np.random.default_rng(0)
    env.reset()
    ended = []
    for _ in range(200):
        _, _, dones, infos = env.step(uniform_choice(env.action_masks(), rng))
        ended += [(infos[row]["truncated"], infos[row]["TimeLimit.truncated"]) for row in np.flatnonzero(dones)]
    assert sum(truncated for truncated, _ in ended) > 20 and not any(limit for _, limit in ended)


@pytest.mark.parametrize("kind", [SeatVecEnv, SharedSeatVecEnv])
def test_the_first_reset_deals_new_games_if_the_batch_was_played(kind):
    batch = batch_of(16, 2)
    for played in (False, True):
        before = batch.seed.copy()
        kind(batch).reset()
        assert ((batch.seed != before) == played).all()
        batch.step(batch.uniform())


def random_steps(batch, steps, seed):
    """Play at random. Yields who learned before each step, what it gave, and the rows in which one game ended.

    Where a second game went by before the learner could decide in it, the batch has only that one's results.
    """
    env, rng = SeatVecEnv(batch), np.random.default_rng(seed)
    env.reset()
    for _ in range(steps):
        learners, games = env.learner.copy(), batch.episodes.copy()
        given = env.step(uniform_choice(env.action_masks(), rng))
        yield learners, given, np.flatnonzero(given[2] & (batch.episodes == games + 1))


def test_rewards_of_two_players_are_those_the_batch_paid():
    batch, compared = batch_of(8, 2), 0
    for learners, (_, rewards, dones, _), ended in random_steps(batch, 400, 1):
        assert (rewards[~dones] == 0).all(), "without shaping only the end pays"
        for row in ended:
            assert rewards[row] == pytest.approx(batch.final_return[row, learners[row]])
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("turns", [3, 500])
def test_a_learner_is_paid_for_its_progress_too(turns):
    """All that a game pays its seat, step by step, counted beside it: also what comes before its first decision. Games
    of three turns are often over before that, and pay nothing here."""
    batch = batch_of(16, 4, shaping=1.0, max_turns=turns)
    env, rng, step = SeatVecEnv(batch), np.random.default_rng(4), batch.step
    rows, paid, ended = np.arange(16), np.zeros((16, 4)), {}

    def counted(actions):
        games, learners = batch.episodes.copy(), env.learner.copy()
        told = step(actions)
        np.add(paid, batch.reward, out=paid)
        for row in np.flatnonzero(batch.episodes > games):
            ended[row, learners[row], games[row]] = paid[row, learners[row]]
            paid[row] = 0
        return told

    batch.step = counted
    env.reset()
    owed, early, games = np.zeros(16), 0, 0
    for _ in range(250):
        early += np.count_nonzero(paid[rows, env.learner] - owed)
        learners, running, before = env.learner.copy(), batch.episodes.copy(), owed
        _, rewards, dones, infos = env.step(uniform_choice(env.action_masks(), rng))
        owed = before + rewards
        for row in np.flatnonzero(dones):
            games += 1
            expected = ended[row, learners[row], running[row]]
            assert owed[row] == pytest.approx(expected, abs=1e-5)
            assert infos[row]["episode"]["r"] == pytest.approx(expected, abs=1e-5)
        owed[dones] = 0
    assert games > 30 and early > 5


def test_a_game_ends_as_the_learner_s_seat_sees_it():
    batch, compared = batch_of(16, 3), 0
    for learners, (_, _, _, infos), ended in random_steps(batch, 300, 0):
        seen = batch.observe_final(learners)
        for row in ended:
            assert infos[row]["seat"] == learners[row]
            assert infos[row]["rank"] == batch.final_rank[row, learners[row]]
            assert (infos[row]["terminal_observation"] == seen[row]).all()
            compared += 1
    assert compared > 20


def test_shared_play_ends_as_the_seat_sees_it_that_ended_it():
    batch, rng = batch_of(16, 3), np.random.default_rng(0)
    env, compared = SharedSeatVecEnv(batch), 0
    env.reset()
    for _ in range(300):
        movers = batch.seat.copy()
        _, _, dones, infos = env.step(uniform_choice(env.action_masks(), rng))
        seen = batch.observe_final(movers)
        for row in np.flatnonzero(dones):
            assert (infos[row]["terminal_observation"] == seen[row]).all()
            compared += 1
    assert compared > 20


def test_masks_reach_sb3_contrib_as_the_batch_has_them():
    batch = batch_of(6, 4)
    env = SeatVecEnv(batch)
    observation = env.reset()
    masks = get_action_masks(env)
    assert masks.dtype == bool and (masks == batch.action_mask.astype(bool)).all()
    assert (observation == batch.observation).all()
    assert observation.dtype == np.int16


@pytest.mark.parametrize("kind", ["seat", "shared"])
def test_ppo_learns_saves_and_loads(kind, tmp_path):
    batch = batch_of(8, 3)
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8)
    sizes = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "seed": 0}
    if kind == "seat":
        model = MaskablePPO(PiecePolicy, SeatVecEnv(batch), policy_kwargs=network, **sizes)
    else:
        model = SharedMaskablePPO(PiecePolicy, SharedSeatVecEnv(batch), policy_kwargs=network, **sizes)
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(2 * 32 * 8)
    assert model.num_timesteps == 2 * 32 * 8
    assert any(not th.equal(old, new) for old, new in zip(before, model.policy.parameters(), strict=True))
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    masks = batch.action_mask.astype(bool)
    first, _ = model.predict(batch.observation, action_masks=masks, deterministic=True)
    second, _ = loaded.predict(batch.observation, action_masks=masks, deterministic=True)
    assert (first == second).all()
    assert masks[np.arange(8), first].all(), "every choice is legal"


def test_the_shared_environment_shows_whoever_is_to_move():
    batch = batch_of(5, 4)
    env, rng = SharedSeatVecEnv(batch), np.random.default_rng(2)
    observation = env.reset()
    for _ in range(200):
        active = batch.config.observation["game.active_seat"].view(observation)
        assert (active == 0).all(), "the observer is the one to move"
        observation, rewards, dones, infos = env.step(uniform_choice(env.action_masks(), rng))
        assert rewards == pytest.approx(batch.reward[:, 0])
        for row in np.flatnonzero(dones):
            assert infos[row]["returns"] == pytest.approx(batch.final_return[row])
            told = infos[row]["episode"]
            assert (told["r"], told["l"]) == (batch.final_return[row, 0], batch.final_length[row])


@pytest.mark.parametrize("kind", [SeatVecEnv, SharedSeatVecEnv])
def test_what_a_step_returned_is_not_written_to_by_the_next_one(kind):
    """A learner keeps it until it has seen the next one."""
    env = kind(batch_of(4, 2))
    told = [env.reset(), env.action_masks()]
    told += env.step(told[1].argmax(1))[:3]
    kept, over = copy.deepcopy(told), False
    while not over:
        over = env.step(env.action_masks().argmax(1))[2].any()
    assert all(np.array_equal(one, other) for one, other in zip(told, kept, strict=True))


@pytest.mark.parametrize("kind", ["one seat", "all seats"])
def test_an_environment_over_a_bot_tells_its_choice(kind):
    """As the last entry, within the space; the same games are played as without it."""
    batch, rng = batch_of(8, 3), np.random.default_rng(0)
    greedy = bots.BotOpponent(bots.load("greedy", batch.config))
    make = SeatVecEnv if kind == "one seat" else SharedSeatVecEnv
    env, without = make(batch, over="greedy"), make(batch_of(8, 3))
    seen, rows, ended = env.reset(), np.arange(8), 0
    same = without.reset()
    assert (env.observation_space.low[-1], env.observation_space.high[-1]) == (0, len(batch.config.actions) - 1)
    greedy.start(rows, rows.astype(np.uint64))
    for _ in range(200):
        assert seen.shape == (8, batch.config.observation.size + 1) and seen.dtype == np.int16
        assert (seen[:, :-1] == batch.observation).all() and (seen[:, -1] == greedy(batch, rows)).all()
        assert (seen[:, :-1] == same).all()
        assert all(env.observation_space.contains(row) for row in seen)
        assert batch.action_mask[rows, seen[:, -1]].all()
        actions = uniform_choice(env.action_masks(), rng)
        seen, _, dones, infos = env.step(actions)
        same, *_ = without.step(actions)
        for row in np.flatnonzero(dones):
            ended += 1
            assert env.observation_space.contains(infos[row]["terminal_observation"])
    assert ended >= 5


@pytest.mark.parametrize("salts", [(0, 1, 2), (100, 200)])
def test_who_takes_over_running_games_draws_otherwise_with_each_salt(salts):
    """Neither as before nor as the bot below, and the same with the same salt."""

    class Noted:
        def __init__(self) -> None:
            self.started: list[tuple[int, ...]] = []

        def start(self, rows, seeds):
            self.started.append(tuple(seeds.tolist()))

        def __call__(self, batch, rows):
            return batch.action_mask[rows].argmax(1)

    env, taking_over, below = SeatVecEnv(batch_of(4, 3), "uniform"), Noted(), Noted()
    env.reset()
    env.seat_below(below)
    for salt in (*salts, salts[0]):
        env.seat_opponent(taking_over, salt)
    *others, again = taking_over.started
    assert again == others[0] and len({seed for seeds in others for seed in seeds}) == 4 * len(salts)
    assert not {seed for seeds in others for seed in seeds} & set(below.started[0])


def test_every_way_to_ask_a_policy_agrees():
    batch = batch_of(64, 4)
    th.manual_seed(0)
    spaces = observation_space(batch.config.observation), batch.single_action_space
    policy = PiecePolicy(*spaces, lambda _: 1e-3, **piece_policy(batch.config, width=16, hidden=(16,), rows=8))
    with th.no_grad():
        for weights in policy.parameters():
            weights.normal_(0, 0.3)
    for _ in range(50):
        batch.step(batch.uniform())
    seen, masks = th.as_tensor(batch.observation), batch.action_mask.astype(bool)
    for seats in (1, 4):
        policy.valued_seats = seats
        with th.no_grad():
            actions, values, log_probs = policy(seen, deterministic=True, action_masks=masks)
            again, log_probs_again, entropy = policy.evaluate_actions(seen, actions, th.as_tensor(masks))
            plain = policy.get_distribution(seen, masks)
        assert values.shape == (64, seats)
        assert th.allclose(values, again) and th.allclose(log_probs, log_probs_again, atol=1e-6)
        assert th.allclose(values, policy.predict_values(seen), atol=1e-5)
    assert masks[np.arange(64), actions].all()
    assert th.allclose(plain.log_prob(actions), log_probs, atol=1e-5)
    assert th.allclose(plain.entropy(), entropy, atol=1e-4)
    assert (policy.predict(batch.observation, action_masks=masks, deterministic=True)[0] == actions.numpy()).all()
    learned = {id(weights) for group in policy.optimizer.param_groups for weights in group["params"]}
    assert learned == {id(weights) for weights in policy.parameters()}


@pytest.mark.parametrize("compiled", [True, False])
def test_a_policy_draws_as_often_as_its_distribution_says(compiled):
    """And tells how probable what it drew was."""
    batch, draws = batch_of(1, 3), 5000
    spaces = observation_space(batch.config.observation), batch.single_action_space
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8, compiled=compiled)
    th.manual_seed(0)
    policy = PiecePolicy(*spaces, lambda _: 1e-3, **network)
    seen, masks = (np.repeat(one, draws, 0) for one in (batch.observation, batch.action_mask.astype(bool)))
    with th.no_grad():
        actions, _, log_probs = policy(th.as_tensor(seen), action_masks=masks)
        probable = policy.get_distribution(th.as_tensor(seen[:1]), masks[:1]).distribution.probs[0].numpy()
    often = np.bincount(actions, minlength=len(probable)) / draws
    assert (np.abs(often - probable) <= 5 * np.sqrt(probable * (1 - probable) / draws) + 1e-6).all()
    assert np.count_nonzero(often) > 2
    assert np.exp(log_probs.numpy()) == pytest.approx(probable[actions], rel=1e-3)


def test_what_no_game_shows_is_refused():
    """Compiled code would look for the places of labels and references far outside its arrays."""
    batch = batch_of(2, 4)
    spaces = observation_space(batch.config.observation), batch.single_action_space
    policy = PiecePolicy(*spaces, lambda _: 1e-3, **piece_policy(batch.config, width=16, hidden=(16,), rows=8))
    wrong, masks = th.full((2, batch.config.observation.size), 32767, dtype=th.int16), batch.action_mask.astype(bool)
    words = r"observation 0: .* is 32767; allowed: "
    with th.no_grad():
        with pytest.raises(ValueError, match=words):
            policy.forward(wrong, action_masks=masks)
        with pytest.raises(ValueError, match=words):
            policy.evaluate_actions(wrong, th.as_tensor(masks.argmax(1)), th.as_tensor(masks))
        with pytest.raises(ValueError, match=words):
            policy.predict_values(wrong)


def test_a_policy_says_what_its_weights_say_however_they_were_loaded():
    """Also from a vector, as strategies that evolve do, which leaves no trace in the weights."""
    batch = batch_of(1, 2)
    spaces = observation_space(batch.config.observation), batch.single_action_space
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8)
    policy, other = (PiecePolicy(*spaces, lambda _: 1e-3, **network) for _ in range(2))
    policy.set_training_mode(False)
    with th.no_grad():
        for weights in other.parameters():
            weights.normal_(0, 0.3)
    seen, masks = th.as_tensor(batch.observation), batch.action_mask.astype(bool)
    (_, before, _), (_, expected, _) = (one(seen, True, masks) for one in (policy, other))
    policy.load_from_vector(other.parameters_to_vector())
    _, found, _ = policy(seen, True, masks)
    assert th.equal(found, expected) and not th.equal(found, before)


def test_a_policy_is_saved_and_loaded(tmp_path):
    batch = batch_of(8, 3)
    spaces = observation_space(batch.config.observation), batch.single_action_space
    policy = PiecePolicy(*spaces, lambda _: 1e-3, **piece_policy(batch.config, width=16, hidden=(12, 8), rows=0))
    policy.save(tmp_path / "policy")
    loaded = PiecePolicy.load(tmp_path / "policy")
    seen = th.as_tensor(batch.observation)
    for one, other in zip(
        policy.log_probs_and_values(seen, None), loaded.log_probs_and_values(seen, None), strict=True
    ):
        assert th.equal(one, other)


def test_a_network_of_another_game_is_refused():
    config = kepler_envs.load_game(GAME).configure(3)
    spaces = observation_space(config.observation), batch_of(1, 3).single_action_space
    network = piece_policy((Layout([table("game", 1, [piece("turn", COUNT, 9, "")])]), config.actions, 4))
    with pytest.raises(ValueError, match="the layout has 1 entries, the observation space"):
        PiecePolicy(*spaces, lambda _: 1e-3, **network)
    network = piece_policy((config.observation, ActionSet(config.actions.blocks[:1]), 4))
    with pytest.raises(ValueError, match="actions, in the action space"):
        PiecePolicy(*spaces, lambda _: 1e-3, **network)
    with pytest.raises(TypeError, match=r"needs layout, actions and seats of the game: policy_kwargs=piece_policy\("):
        PiecePolicy(*spaces, lambda _: 1e-3)


@pytest.mark.parametrize(
    ("over", "below", "hint"),
    [
        ("greedy", None, "; the network is over greedy, so make the environment with over='greedy', which tells its"),
        ("", "greedy", "; the environment tells the choice of a bot, so name that in piece_policy"),
    ],
)
def test_a_network_over_a_bot_needs_an_environment_that_tells_its_choice(over, below, hint):
    batch = batch_of(1, 3)
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8, over=over)
    with pytest.raises(ValueError, match=hint):
        SharedMaskablePPO(PiecePolicy, SharedSeatVecEnv(batch, below), policy_kwargs=network)


def test_shared_play_learns_the_returns_of_all_seats():
    batch = batch_of(16, 3)
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8)
    model = SharedMaskablePPO(
        PiecePolicy, SharedSeatVecEnv(batch), policy_kwargs=network, n_steps=64, batch_size=256, seed=0
    )
    before = model.policy.state_dict()["values.bias"].tolist()
    model.learn(64 * 16)
    after = model.policy.state_dict()["values.bias"].tolist()
    assert [one != other for one, other in zip(before, after, strict=True)] == [True] * 3 + [False] * (len(after) - 3)
    buffer = model.rollout_buffer
    assert buffer.values.shape == buffer.returns.shape == (64, 16, 3) and buffer.advantages.shape == (64, 16)
    assert buffer.returns[..., 0] == pytest.approx(buffer.advantages + buffer.values[..., 0])
    sample = next(buffer.get(256))
    assert sample.returns.shape == sample.old_values.shape == (3 * len(sample.advantages),)


@pytest.mark.parametrize("make", [SeatVecEnv, SharedSeatVecEnv])
def test_what_is_no_batch_is_refused(make):
    with pytest.raises(TypeError, match="'kitten_adventurers-v1' is not a batch of games; kepler_envs.make_batch"):
        make("kitten_adventurers-v1")


def test_a_network_is_for_a_configuration():
    with pytest.raises(TypeError, match="game = 3 is not allowed; allowed: the configuration of a game, as"):
        piece_policy(3)


def test_shared_play_needs_values_of_all_seats():
    with pytest.raises(TypeError, match="learns with a PiecePolicy, not with MaskableActorCriticPolicy"):
        SharedMaskablePPO("MlpPolicy", SharedSeatVecEnv(batch_of(2, 3)))


@pytest.mark.parametrize("target_kl", [None, 1e-5])
def test_learning_in_one_pass_is_what_maskable_ppo_does(target_kl):
    """The same rollout, minibatches and seed: the same weights to rounding, and the same figures in the log, but for
    the explained variance, which is that of the decisions learned from."""
    after = []
    for train in (SharedMaskablePPO.train, MaskablePPO.train):
        batch = batch_of(16, 3)
        model = SharedMaskablePPO(
            PiecePolicy, SharedSeatVecEnv(batch), n_steps=32, batch_size=128, n_epochs=2, seed=4, target_kl=target_kl,
            ent_coef=0.01, policy_kwargs=piece_policy(batch.config, width=24, hidden=(24,), rows=16),
        )  # fmt: skip
        _, callback = model._setup_learn(512)
        before = {name: one.detach().clone() for name, one in model.policy.network.named_parameters()}
        model.collect_rollouts(model.env, callback, model.rollout_buffer, 32)
        np.random.seed(1)
        train(model)
        after.append((dict(model.policy.network.named_parameters()), dict(model.logger.name_to_value)))
        buffer = model.rollout_buffer
    (weights, figures), (right, expected) = after
    its = buffer.learning
    expected["train/explained_variance"] = explained_variance(buffer.values[its].ravel(), buffer.returns[its].ravel())
    assert not its.all(), "some decisions are not learned from, and nothing is said about them"
    for name, one in right.items():
        moved = float((one.detach() - before[name]).abs().max())
        np.testing.assert_allclose(weights[name].detach(), one.detach(), atol=0.03 * moved + 1e-7, err_msg=name)
    assert sum(float((one.detach() - before[name]).abs().max()) for name, one in right.items()) > 0.01, "it has learned"
    assert figures.keys() == expected.keys()
    for name in figures:
        assert figures[name] == pytest.approx(expected[name], rel=2e-3, abs=1e-4), name
    assert figures["train/n_updates"] == (2 if target_kl is None else 1)


def test_a_clipped_value_is_learned_by_maskable_ppo():
    batch = batch_of(8, 2)
    model = SharedMaskablePPO(
        PiecePolicy, SharedSeatVecEnv(batch), n_steps=16, batch_size=64, clip_range_vf=0.1,
        policy_kwargs=piece_policy(batch.config, width=16, hidden=(16,), rows=8),
    )  # fmt: skip
    assert model.learn(256).logger.name_to_value["train/clip_range_vf"] == pytest.approx(0.1)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_have_the_bots_of_the_original(duplicate):
    env = SeatVecEnv(batch_of(4, 3), "greedy", over="greedy")
    seen, again = env.reset(), duplicate(env)
    assert again.observation_space == env.observation_space
    for _ in range(30):
        choices = seen[:, -1].astype(np.int64)  # what greedy would do
        seen, rewards, dones, _ = env.step(choices)
        same, *outcome, _ = again.step(choices)
        assert np.array_equal(seen, same) and np.array_equal([rewards, dones], outcome)
    bare = pickle.loads(pickle.dumps(env.without_bots()))
    assert bare.below is None and not hasattr(bare, "opponent") and env.below is not None


@slow
def test_a_network_against_itself_is_not_said_to_win():
    """The rewards of an episode sum to one seat's return, and that is 0 on average."""
    batch = batch_of(40, 2)
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8)
    model = SharedMaskablePPO(PiecePolicy, SharedSeatVecEnv(batch), policy_kwargs=network, n_steps=16, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of episodes that nobody counts
        returns, _ = evaluate_policy(model, SharedSeatVecEnv(batch_of(40, 2)), 200, return_episode_rewards=True)
    assert {-1.0, 1.0} <= set(returns) and abs(np.mean(returns)) < 0.25


@pytest.mark.parametrize("kind", [SeatVecEnv, SharedSeatVecEnv])
def test_a_seed_with_a_fraction_is_refused(kind):
    env = kind(batch_of(2, 2))
    env.seed(1.5)
    with pytest.raises(ValueError, match=r"^seed = 1\.5 is not allowed; allowed: an integer 0\.\."):
        env.reset()
    assert env.reset().shape[0] == 2, "the seed was refused once"
    env.seed(np.int64(3))
    assert env.reset().shape[0] == 2


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("kind, learner", [(SeatVecEnv, MaskablePPO), (SharedSeatVecEnv, SharedMaskablePPO)])
def test_observations_that_a_wrapper_changed_are_refused(kind, learner, compiled):
    batch = batch_of(2, 2)
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8, compiled=compiled)
    model = learner(PiecePolicy, VecNormalize(kind(batch), norm_reward=False), policy_kwargs=network, n_steps=16)
    with pytest.raises(ValueError, match="allowed: 0..|and a wrapper has changed them; VecNormalize is allowed with"):
        model.learn(32)


def test_settings_of_a_network_that_would_change_nothing_are_refused():
    batch = batch_of(2, 2)
    settings = {**piece_policy(batch.config), "net_arch": [256], "activation_fn": th.nn.ReLU}
    with pytest.raises(
        TypeError, match=r"^PiecePolicy does not use activation_fn, net_arch; .* piece_policy\(config, "
    ):
        MaskablePPO(PiecePolicy, SeatVecEnv(batch), policy_kwargs=settings)


def test_rewards_that_would_not_be_learned_from_are_refused():
    batch = batch_of(2, 2)
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8)
    scaled = VecMonitor(VecNormalize(SharedSeatVecEnv(batch), norm_obs=False))
    with pytest.raises(ValueError, match=r"would change nothing; allowed: VecNormalize\(..., norm_reward=False\)"):
        SharedMaskablePPO(PiecePolicy, scaled, policy_kwargs=network)
    bare = VecMonitor(VecNormalize(SharedSeatVecEnv(batch), norm_obs=False, norm_reward=False))
    SharedMaskablePPO(PiecePolicy, bare, policy_kwargs=network, n_steps=16, batch_size=32).learn(32)

    class Bonus(VecEnvWrapper):
        def reset(self):
            return self.venv.reset()

        def step_wait(self):
            seen, rewards, *others = self.venv.step_wait()
            return seen, rewards + 1, *others

    model = SharedMaskablePPO(PiecePolicy, Bonus(SharedSeatVecEnv(batch)), policy_kwargs=network, n_steps=16)
    with pytest.raises(
        ValueError, match=r"wrapper has changed rewards.* write rewards of your own into batch.reward, in"
    ):
        model.learn(32)


def test_rewards_of_ones_own_are_learned_from():
    class Bonus(SharedSeatVecEnv):
        def step_wait(self):
            seen, _, done, infos = super().step_wait()
            self.batch.reward[:, 1] += 1
            return seen, self.batch.reward[:, 0].copy(), done, infos

    batch = batch_of(2, 2)
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8)
    model = SharedMaskablePPO(PiecePolicy, Bonus(batch), policy_kwargs=network, n_steps=16, batch_size=32).learn(32)
    assert (model.rollout_buffer.rewards.sum(2) == 1).all()  # the game's own sum to zero


def test_a_model_goes_on_with_another_number_of_players(tmp_path):
    two, three = (SharedSeatVecEnv(batch_of(4, players)) for players in (2, 3))
    policy = piece_policy(two.batch.config, width=16, hidden=(16,), rows=8)
    model = SharedMaskablePPO(PiecePolicy, two, policy_kwargs=policy, n_steps=16, batch_size=32, seed=0)
    model.learn(64)
    model.save(tmp_path / "two.zip")
    loaded = SharedMaskablePPO.load(tmp_path / "two.zip", env=three)
    model.set_env(three)
    for each in (model, loaded):
        each.learn(64)
        assert each.rollout_buffer.values.shape == (16, 4, 3) and each.policy.valued_seats == 3


def test_a_network_that_diverged_is_told_of():
    batch = batch_of(4, 3)
    spaces = observation_space(batch.config.observation), batch.single_action_space
    policy = PiecePolicy(*spaces, lambda _: 1e-3, **piece_policy(batch.config, width=16, hidden=(16,), rows=8))
    with th.no_grad():
        for weights in policy.network.parameters():
            weights.fill_(float("nan"))
        with pytest.raises(
            DivergedError, match="^the network's answers are no finite numbers any more; use a lower lea"
        ):
            policy.forward(th.as_tensor(batch.observation), action_masks=batch.action_mask.astype(bool))


@pytest.mark.parametrize(("compiled", "clip_range_vf"), [(False, None), (True, 0.1)])
def test_gradients_without_a_norm_are_told_of_in_maskable_ppo_s_own_method(compiled, clip_range_vf):
    """It clips them to a share of infinity: they are 0, and it says nothing."""
    batch = batch_of(4, 2)
    network = piece_policy(batch.config, width=16, hidden=(16,), rows=8, compiled=compiled)
    model = SharedMaskablePPO(
        PiecePolicy, SharedSeatVecEnv(batch), n_steps=16, batch_size=32, vf_coef=1e30, clip_range_vf=clip_range_vf,
        policy_kwargs=network,
    )  # fmt: skip
    with pytest.raises(DivergedError, match="^the gradients are too large for float32"):
        model.learn(64)
    model.vf_coef = 0.5
    assert model.learn(64).num_timesteps == 64, "nothing is left of the check"
