"""All seats of a game in RLlib: what they see and are paid, and PPO that never chooses what the mask forbids."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib is not installed here; make test-rllib gives it an environment")

import ray
import torch as th
from ray.rllib.core.columns import Columns

import kepler_envs
from kepler_envs.adapters.rllib import SHARED, SeatsEnv, masked_ppo

SETTINGS = {"num_players": 3, "quest_size": 1}


@pytest.fixture(autouse=True)
def _no_cluster_is_left():
    """RLlib starts Ray in this process when it needs it. The next test starts its own, or joins another."""
    yield
    ray.shutdown()


def test_every_seat_is_paid_its_return_once():
    env, rng, ends = SeatsEnv({"game": "kitten_adventurers", **SETTINGS}), np.random.default_rng(0), set()
    for seed in range(20):
        observations, _ = env.reset(seed=seed)
        paid, over = dict.fromkeys(env.possible_agents, 0.0), False
        while not over:
            ((agent, seen),) = observations.items()
            assert env.observation_spaces[agent].contains(seen)
            action = int(rng.choice(np.flatnonzero(seen["action_mask"])))
            observations, rewards, terminateds, truncateds, infos = env.step({agent: action})
            over = terminateds["__all__"]
            assert not truncateds["__all__"] and set(rewards) <= set(observations) == set(infos)
            for name, reward in rewards.items():
                paid[name] += reward
        for seat, name in enumerate(env.possible_agents):
            if name in observations:
                assert paid[name] == pytest.approx(env.game.infos[name]["returns"], abs=1e-6), seat
        ends |= set(paid.values())
    assert {1.0, -0.5} <= {round(end, 3) for end in ends}, "wins and losses arrive"


def test_what_is_paid_before_a_seat_decides_comes_with_its_first_step():
    options = {"num_players": 4, "first_player": "seat0", "shaping": 1.0}
    env, early = SeatsEnv({"game": "kitten_adventurers", **options}), 0
    for seed in range(10):
        batch = kepler_envs.make_batch("kitten_adventurers", 1, **options)
        batch.reset(np.array([seed], np.uint64))
        total, decided = np.zeros(4), set()
        while not batch.episodes[0]:
            decided.add(int(batch.seat[0]))
            batch.step(batch.action_mask.argmax(axis=1))
            total += batch.reward[0]
            early += any(batch.reward[0, seat] != 0 for seat in set(range(4)) - decided)
        observations, _ = env.reset(seed=seed)
        paid, over = dict.fromkeys(env.possible_agents, 0.0), False
        while not over:
            ((agent, seen),) = observations.items()
            observations, rewards, terminateds, _, _ = env.step({agent: int(seen["action_mask"].argmax())})
            over = terminateds["__all__"]
            for name, reward in rewards.items():
                paid[name] += reward
        for name in observations:
            assert paid[name] == pytest.approx(total[int(name.removeprefix("player_"))], abs=1e-5)
    assert early > 0


def test_the_network_gives_forbidden_actions_no_chance():
    config = masked_ppo("kitten_adventurers", **SETTINGS)
    module = config.rl_module_spec.rl_module_specs[SHARED].build()
    env = SeatsEnv({"game": "kitten_adventurers", **SETTINGS})
    seen = next(iter(env.reset(seed=1)[0].values()))
    batch = {Columns.OBS: {name: th.as_tensor(part)[None] for name, part in seen.items()}}
    for forward in (module.forward_inference, module.forward_exploration, module.forward_train):
        chances = forward(batch)[Columns.ACTION_DIST_INPUTS].softmax(-1)[0].detach().numpy()
        assert (chances[seen["action_mask"] == 0] == 0).all() and (chances[seen["action_mask"] == 1] > 0).all()
    assert module.compute_values(batch).shape == (1,)


def test_ppo_trains_on_whole_games():
    config = masked_ppo("kitten_adventurers", **SETTINGS).env_runners(num_env_runners=0)
    config.training(train_batch_size_per_learner=600, minibatch_size=200, num_epochs=1)
    algorithm = config.build_algo()
    try:
        result = algorithm.train()
    finally:
        algorithm.stop()
    runners, learner = result["env_runners"], result["learners"][SHARED]
    assert runners["num_episodes"] > 0
    returns = runners["agent_episode_returns_mean"]
    assert set(returns) == {f"player_{seat}" for seat in range(3)} and all(
        abs(value) <= 1 for value in returns.values()
    )
    assert learner["num_module_steps_trained"] >= 600 and np.isfinite(learner["total_loss"])
    assert 0 < learner["entropy"] < np.log(len(kepler_envs.load_game("kitten_adventurers").actions))


def test_environments_run_on_several_nodes():
    """Two nodes of one core each, and a head that has none: PPO's two runners have to be on both of them."""
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        nodes.add_node(num_cpus=1)
        nodes.add_node(num_cpus=1)
        ray.init(address=nodes.address, log_to_driver=False)
        config = masked_ppo("kitten_adventurers", **SETTINGS).env_runners(num_env_runners=2)
        config.training(train_batch_size_per_learner=600, minibatch_size=200, num_epochs=1)
        algorithm = config.build_algo()
        try:
            places = algorithm.env_runner_group.foreach_env_runner(
                lambda runner: ray.get_runtime_context().get_node_id(), local_env_runner=False
            )
            result = algorithm.train()
        finally:
            algorithm.stop()
    finally:
        ray.shutdown()
        nodes.shutdown()
    assert len(set(places)) == 2, "a runner on each node"
    assert result["env_runners"]["num_episodes"] > 0
    assert result["learners"][SHARED]["num_module_steps_trained"] >= 600


@pytest.mark.parametrize("place", ["info", "both"])
def test_masks_elsewhere_are_refused(place):
    message = f"mask_in = '{place}' is not allowed for RLlib; allowed: observation"
    with pytest.raises(kepler_envs.OptionError, match=message):
        SeatsEnv({"game": "kitten_adventurers", "mask_in": place, **SETTINGS})
    with pytest.raises(kepler_envs.OptionError, match=message):
        masked_ppo("kitten_adventurers", mask_in=place, **SETTINGS)


def test_what_is_missing_is_named():
    with pytest.raises(kepler_envs.OptionError, match="needs the name of a game: .*; there are: kitten_adventurers, "):
        SeatsEnv()
    env = SeatsEnv({"game": "kitten_adventurers", "num_players": 2, "first_player": "seat0"})
    env.reset(seed=1)
    with pytest.raises(ValueError, match="player_0 is to move; got decisions of: player_1"):
        env.step({"player_1": 0})


def test_actions_are_integers_and_belong_to_a_running_game():
    env = SeatsEnv({"game": "kitten_adventurers", **SETTINGS, "render_mode": "ansi"})
    (mover,) = env.reset(seed=1)[0]
    assert f"{mover}: play a card" in env.render()
    with pytest.raises(ValueError, match=f"{mover} must decide with an integer action id, not 3.7"):
        env.step({mover: 3.7})
    assert env.step({mover: 999})[2]["__all__"], "an illegal action loses"
    with pytest.raises(RuntimeError, match="no game is running: call reset"):
        env.step({mover: 0})
    env.close()
