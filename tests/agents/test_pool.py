"""Self-play with a pool: who plays whom, ratings, several player counts, and runs that continue exactly."""

from __future__ import annotations

import csv
import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch as th

import kepler_envs
from agents import checkpoint
from agents.games import game_configurations
from agents.joined_batch import JoinedBatch, JoinedBot, check_alike
from agents.pool import (
    DECAY,
    LEARNER,
    LEARNER_DRIFT,
    Member,
    Pool,
    PoolVecEnv,
    most_crowded,
    pfsp_weights,
    rate_game,
)
from agents.run import Run, train
from agents.settings import PoolConfig, TrainConfig, player_range
from agents.torch_network import TorchNetwork
from kepler_envs import bots
from kepler_envs.bots.networks.checkpoint import read_description
from kepler_envs.bots.protocol import BotError
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.network import NetworkShape
from kepler_envs.engine.seeds import following_seed
from kepler_envs.networks import with_choices
from tests.agents.comparing import equal
from tests.agents.test_training import SIZE

GAME = kepler_envs.load_game("kitten_adventurers")
STEPS = 2000
TINY = TrainConfig(
    players="2-4", option=("quest_size=2",), seat="pool", steps=STEPS, num_envs=6, n_steps=32, batch_size=64, epochs=1,
    width=16,
    hidden=(16,), rows=8, eval_every=1500, eval_games=12, eval_opponents=("uniform",), teacher="greedy",
    pool=PoolConfig(latest=0.3, sparring=("uniform", "greedy"), snapshot_every=300, snapshots=3, lineup=2),
)  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Run:
    return train(replace(TINY, out=tmp_path_factory.mktemp("whole")))


# ---------------------------------------------------------------- ratings


def test_a_win_between_equals_moves_both_by_the_formula():
    """Weng and Lin 2011, algorithm 1: mu +- sigma^2 / c * (1 - 1/2) with c^2 = 2 sigma^2 + 2 beta^2."""
    winner, loser = Member("winner"), Member("loser")
    rate_game([loser, winner], [2, 1])
    sigma, beta = 25 / 3, 25 / 6
    step = sigma**2 / (2 * sigma**2 + 2 * beta**2) ** 0.5 / 2
    assert winner.mu == pytest.approx(25 + step) and loser.mu == pytest.approx(25 - step)
    assert winner.sigma == loser.sigma == pytest.approx(8.0655065)
    assert winner.games == loser.games == 1


def test_ties_keep_equals_equal():
    members = [Member(name) for name in "abcd"]
    rate_game(members, [1, 1, 3, 4])
    first, second, third, last = (member.mu for member in members)
    assert first == pytest.approx(second) and second > third > last
    assert first + second + third + last == pytest.approx(100)


def test_who_sits_twice_gets_the_mean_of_both_seats():
    twice, once = Member("twice"), Member("once")
    rate_game([twice, once, twice], [1, 2, 3])
    assert twice.mu == pytest.approx(25) and once.mu == pytest.approx(25)
    assert twice.games == 1 and twice.sigma < 25 / 3


# ---------------------------------------------------------------- who plays


def test_pfsp_weights_are_squares_of_the_chance_to_lose():
    assert pfsp_weights([0.0, 0.5, 1.0]) == pytest.approx([0.8, 0.2, 0.0])
    assert pfsp_weights([0.9, 0.7]) == pytest.approx([0.1, 0.9])
    assert pfsp_weights([1.0, 1.0]) == pytest.approx([0.5, 0.5])


def test_the_snapshot_closest_to_its_neighbours_goes():
    assert most_crowded([0, 10, 20, 30, 40]) == 1
    assert most_crowded([0, 20, 30, 40, 50]) == 2
    assert most_crowded([0, 20, 40, 50]) == 2
    kept = [0, 1, 2, 3]
    for new in range(4, 40):
        kept.append(new)
        del kept[most_crowded(kept)]
    assert kept[0] == 0 and kept[-1] == 39 and np.diff(kept).min() >= 5


def hand_made_pool(**changes) -> Pool:
    """Two partners, and three snapshots that the learner beats with probability 0, 1/2 and 1."""
    pool = Pool(PoolConfig(sparring=("greedy", "uniform"), **changes), 3)
    for steps, beaten in ((10, 0.0), (20, 5.0), (30, 10.0)):
        pool.snapshots.append(len(pool.members))
        pool.members.append(Member(f"step {steps}", b"network", steps, faced=10.0, beaten=beaten))
    return pool


def drawn(pool: Pool, times: int = 4000) -> dict[str, float]:
    counts = Counter(pool.members[pool._draw_member()].name for _ in range(times))
    return {name: count / times for name, count in counts.items()}


def test_members_are_drawn_by_their_shares():
    shares = drawn(hand_made_pool(past=0.3, pfsp=0.5, sparring_share=0.2))
    wanted = {"greedy": 0.1, "uniform": 0.1, "step 10": 0.1 + 0.4, "step 20": 0.1 + 0.1, "step 30": 0.1}
    assert shares == pytest.approx(wanted, abs=0.03)
    assert drawn(hand_made_pool(past=0, pfsp=1, sparring_share=0)).keys() == {"step 10", "step 20"}


def test_what_cannot_be_drawn_yet_is_played_by_the_learner():
    pool = Pool(PoolConfig(latest=4, past=2, pfsp=3, sparring_share=1, sparring=("greedy",)), 0)
    pool.change_lineup()
    assert {pool.members[number].name for number in pool.lineup} == {"greedy"}
    seats = np.array([pool.seat_game(4, 2) for _ in range(2000)])
    assert (seats[:, 2] == LEARNER).all()
    assert (seats[:, [0, 1, 3]] == LEARNER).mean() == pytest.approx(0.9, abs=0.02)
    alone = Pool(PoolConfig(sparring=()), 0)
    alone.change_lineup()
    assert alone.lineup == [] and (alone.seat_game(4, 0) == LEARNER).all()


def test_a_lineup_changes_one_by_one():
    pool = hand_made_pool(lineup=4)
    pool.change_lineup()
    first = list(pool.lineup)
    pool.change_lineup()
    assert len(first) == len(pool.lineup) == 4 and pool.lineup[:3] == first[1:]


def test_results_are_booked_between_the_learner_and_each_member():
    pool = hand_made_pool()
    pool.book(np.array([LEARNER, 0, 1, LEARNER]), np.array([1, 2, 3, 3]))
    greedy, uniform = pool.members[:2]
    assert (greedy.faced, greedy.beaten) == (1, 0.5), "one seat of the learner before it, one behind"
    assert (uniform.faced, uniform.beaten) == (1, 0.75), "one seat before it, one beside it"
    before = (greedy.mu, pool.learner.mu)
    pool.book(np.array([0, LEARNER]), np.array([2, 1]))
    assert (greedy.faced, greedy.beaten) == pytest.approx((DECAY + 1, DECAY * 0.5 + 1))
    assert greedy.games == 2 and uniform.games == 1 and pool.learner.games == 2
    assert greedy.mu < before[0] and pool.learner.mu > before[1]
    rating = pool.learner.mu
    pool.book(np.array([LEARNER, LEARNER]), np.array([1, 2]))
    assert pool.learner.mu == rating and pool.learner.games == 2, "nothing is learned about it from itself"


def test_the_learner_s_rating_becomes_less_sure_before_each_game_and_no_other():
    """It changes from game to game; members stay what they are."""
    pool = hand_made_pool()
    learner, greedy = replace(pool.learner), replace(pool.members[0])
    learner.sigma = float(np.hypot(learner.sigma, LEARNER_DRIFT))
    pool.book(np.array([LEARNER, 0]), np.array([1, 2]))
    rate_game([learner, greedy], [1, 2])
    assert (pool.learner.mu, pool.learner.sigma) == (learner.mu, learner.sigma)
    assert (pool.members[0].mu, pool.members[0].sigma) == (greedy.mu, greedy.sigma)


def test_a_snapshot_begins_with_the_learner_s_rating(monkeypatch):
    monkeypatch.setattr("agents.pool.half_precision", lambda policy: b"network")
    pool = hand_made_pool()
    pool.learner.mu, pool.learner.sigma = 31.0, 2.0
    pool.add_snapshot(None, 10**9)
    assert (pool.members[-1].mu, pool.members[-1].sigma, pool.members[-1].steps) == (31.0, 2.0, 10**9)


def test_networks_nobody_needs_are_dropped_and_ratings_kept():
    pool = hand_made_pool()
    del pool.snapshots[0]
    pool.forget(np.array([[LEARNER, 2]]))
    assert pool.members[2].weights == b"network", "it still plays"
    pool.forget(np.array([[LEARNER, 3]]))
    assert pool.members[2].weights == b"" and pool.members[3].weights == b"network"
    assert {line["member"]: line["drawn"] for line in pool.table()}["step 10"] is False


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"latest": -0.1}, "--pool.latest -0.1 is not allowed; allowed: a number from 0 on"),
        ({"latest": 0, "past": 0, "pfsp": 0, "sparring_share": 0}, "all 0"),
        ({"snapshots": 1}, "--pool.snapshots 1 is not allowed; allowed: an integer from 2 on"),
        ({"lineup": 0}, "--pool.lineup 0"),
        ({"sparring": ("greedy", "greedy")}, "--pool.sparring greedy greedy is not allowed; allowed: each bot once"),
    ],
)
def test_settings_of_the_pool_are_checked(wrong, message):
    with pytest.raises(BotError, match=message):
        PoolConfig(**wrong)


# ---------------------------------------------------------------- games of several player counts


def test_a_joined_batch_is_its_parts():
    configs = [GAME.configure(players, quest_size=2) for players in (2, 3, 4)]
    joined = JoinedBatch.deal(configs, 10, 7)
    assert [part.num_envs for part in joined.parts] == [4, 3, 3] and joined.num_players == 4
    assert joined.players.tolist() == [2] * 4 + [3] * 3 + [4] * 3
    alone = [
        Batch(config, size, 7 + number) for number, (config, size) in enumerate(zip(configs, (4, 3, 3), strict=True))
    ]
    for _ in range(200):
        actions = [batch.uniform() for batch in alone]
        joined.step(np.concatenate(actions))
        for batch, own in zip(alone, actions, strict=True):
            batch.step(own)
        for name in (
            "observation",
            "action_mask",
            "seat",
            "terminated",
            "truncated",
            "episodes",
            "seed",
            "final_length",
        ):
            assert (getattr(joined, name) == np.concatenate([getattr(batch, name) for batch in alone])).all()
        for name in ("reward", "final_return", "final_rank", "final_score"):
            by_part = np.split(getattr(joined, name), [4, 7])
            for batch, its in zip(alone, by_part, strict=True):
                assert (its[:, : batch.num_players] == getattr(batch, name)).all(), name
                assert not its[:, batch.num_players :].any(), "nothing for seats that do not play"
    seats = joined.seat
    assert (joined.observe_final(seats)[4:7] == alone[1].observe_final(seats[4:7])).all()
    assert all(batch.episodes.any() for batch in alone) and joined.final_score.any()


def test_a_joined_batch_is_dealt_anew_as_it_was_made():
    """Each part from a seed of its own, also where the parts are alike; without a seed each row goes on."""
    configs = [GAME.configure(3, quest_size=2)] * 2
    joined, made = JoinedBatch.deal(configs, 8, 7), JoinedBatch.deal(configs, 8, 12)
    joined.reset(12)
    assert joined.seed.tolist() == made.seed.tolist() and len(set(joined.seed.tolist())) == 8
    following = [following_seed(int(seed)) for seed in joined.seed]
    joined.reset()
    assert joined.seed.tolist() == following


def test_an_agent_plays_all_parts():
    joined = JoinedBatch.deal([GAME.configure(players, quest_size=2) for players in (2, 3)], 6, 1)
    agent = JoinedBot("greedy", joined)
    agent.start(np.arange(6), joined.seed)
    actions = agent(joined, np.array([1, 3, 5]))
    assert joined.action_mask[[1, 3, 5], actions].all()
    joined.step(agent(joined, np.arange(6)))


def test_games_that_one_network_cannot_play_are_refused():
    two, three = GAME.configure(2), GAME.configure(3)
    three.observation = three.observation.facts
    with pytest.raises(BotError, match="differ between 3 and 2 players, so one network cannot play both"):
        check_alike([two, three])
    with pytest.raises(BotError, match="--num-envs 2 is not allowed; allowed: an integer from 3 on, a game for each"):
        JoinedBatch.deal([GAME.configure(players) for players in (2, 3, 4)], 2, 0)


def test_ranges_of_players():
    assert player_range(None) is None and player_range(4) == (4, 4)
    assert player_range("3-5") == (3, 5) and player_range("4") == (4, 4)
    with pytest.raises(kepler_envs.OptionError, match="num_players = 6 is not allowed; allowed: an integer 3..5"):
        game_configurations(TrainConfig("ad_astra", players="3-99999999999", seat="pool"))
    for wrong in ("5-3", "3-", "-3", "many", "3-4-5"):
        with pytest.raises(BotError, match="write a number, or a range such as 3-5"):
            player_range(wrong)
    with pytest.raises(BotError, match="--players 2-4 needs --seat pool"):
        train(replace(TINY, seat="shared", pool=PoolConfig()))


# ---------------------------------------------------------------- the environment


def test_only_the_learner_s_decisions_are_learned_from(finished):
    env, buffer = finished.env, finished.model.rollout_buffer
    assert isinstance(env, PoolVecEnv)
    assert 0.3 < buffer.learning.mean() < 0.9
    samples = list(buffer.get(64))
    assert sum(len(sample.actions) for sample in samples) == buffer.learning.sum()
    assert min(len(sample.actions) for sample in samples) > 32, "no small rest"
    its = buffer.learning[:, :, None] & ~np.isnan(buffer.returns)  # of seats that play
    assert buffer.learning.sum() < its.sum() < buffer.num_players * buffer.learning.sum()
    learned = sorted(buffer.values[its].tolist())
    assert sorted(value for sample in samples for value in sample.old_values.tolist()) == pytest.approx(learned)


def test_every_game_has_a_learner_and_seats_of_absent_players_stay_empty(finished):
    env = finished.env
    assert (env.learning == (env.seated[np.arange(6), env.batch.seat] == LEARNER)).all()
    for row, players in enumerate(env.batch.players):
        assert (env.seated[row, :players] == LEARNER).any() and (env.seated[row, players:] == LEARNER).all()
    masks = env.action_masks()
    own = np.array([int(np.flatnonzero(mask)[0]) for mask in masks])
    chosen = env.others_choose(own)
    assert masks[np.arange(6), chosen].all() and (chosen[env.learning] == own[env.learning]).all()


def test_seats_of_the_learner_take_turns():
    pool = Pool(PoolConfig(latest=0, past=0, pfsp=0, sparring_share=1, sparring=("greedy",)), 0)
    config = GAME.configure(3, quest_size=2)
    env = PoolVecEnv(JoinedBatch.deal([config], 6, 5), pool, NetworkShape(8, (8,), 4))
    env.begin_rollout()
    env.reset()
    assert np.argmax(env.seated == LEARNER, 1).tolist() == [0, 1, 2, 0, 1, 2]
    assert ((env.seated == LEARNER).sum(1) == 1).all(), "no seat of the network as it is: its share is 0"
    while (env.batch.episodes == 0).any():
        mask = env.action_masks()
        env.step(env.others_choose(mask.argmax(1)))
    expected = (np.arange(6) + env.batch.episodes) % 3
    assert np.argmax(env.seated == LEARNER, 1).tolist() == expected.tolist()
    assert pool.members[0].games == env.batch.episodes.sum() and pool.members[0].mu > pool.learner.mu


def test_a_snapshot_draws_from_what_the_learner_found_when_it_was_taken():
    """At one position in 600 games, each action as often as its probability says, within five standard errors."""
    config, shape = GAME.configure(3, quest_size=2), NetworkShape(8, (8,), 4)
    pool = Pool(PoolConfig(latest=0, past=1, pfsp=0, sparring_share=0, sparring=()), 0)
    env = PoolVecEnv(JoinedBatch.deal([config], 600, 5), pool, shape)
    (batch,), policy, then = env.batch.parts, checkpoint.build(shape, config), []
    for steps in (1, 2):
        with th.no_grad():
            for number, weights in enumerate(policy.parameters()):
                weights.normal_(0, 0.5, generator=th.Generator().manual_seed(100 * steps + number))
        then.append(checkpoint.network_of(policy))
        pool.add_snapshot(policy, steps)
    pool.lineup = [0]
    env.reset()
    position = next(row for row in range(600) if batch.legal_count[row] > 3)
    for row in range(600):
        batch.restore(row, batch.snapshot(position))
    env.seated[:] = 0
    masks = env.action_masks()
    first, second = (network(env._observe(), masks.view(np.int8))[0][0] for network in then)
    drawn = np.bincount(env.others_choose(np.full(600, -5)), minlength=len(first)) / 600
    error = 5 * np.sqrt(first * (1 - first) / 600) + 0.01  # it is kept in half precision
    assert (abs(drawn - first) < error).all() and (abs(drawn - second) > error).any()
    assert np.count_nonzero(drawn) > 1


def test_partners_begin_each_rollout_with_other_seeds(monkeypatch):
    started = []
    monkeypatch.setattr(JoinedBot, "start", lambda bot, rows, seeds: started.append(tuple(seeds.tolist())))
    pool = Pool(PoolConfig(latest=0, past=0, pfsp=0, sparring_share=1, sparring=("greedy",)), 0)
    config = GAME.configure(3, quest_size=2)
    env = PoolVecEnv(JoinedBatch.deal([config], 6, 5), pool, NetworkShape(8, (8,), 4))
    env.begin_rollout()
    env.reset()
    for _ in range(2):
        env.begin_rollout()
    assert len(started) == len(set(started)) >= 3


def test_members_over_a_bot_see_what_it_would_do_though_it_is_asked_once_a_step(tmp_path, monkeypatch):
    pool = PoolConfig(latest=0.1, past=1, pfsp=0, sparring=(), snapshot_every=100)
    env = train(replace(TINY, over="greedy", teacher=None, pool=pool, steps=500, out=tmp_path)).env
    asked, seen = [], []
    below = JoinedBot.__call__
    monkeypatch.setattr(JoinedBot, "__call__", lambda bot, batch, rows: asked.append(bot) or below(bot, batch, rows))
    monkeypatch.setattr(env, "_sample", lambda network, its, masks: seen.extend(its) or masks.argmax(1))
    for step in range(40):
        expected = with_choices(env.batch.observation, below(env.below, env.batch, np.arange(6)))[~env.learning]
        seen.clear()
        env.step(env.others_choose(env.action_masks().argmax(1)))
        assert sorted(map(tuple, seen)) == sorted(map(tuple, expected)) and asked == [env.below] * (step + 1)


# ---------------------------------------------------------------- runs


def test_a_run_rates_everybody_who_played(finished):
    with (finished.out / "ratings.csv").open(newline="") as lines:
        table = list(csv.DictReader(lines))
    names = {line["member"] for line in table}
    assert {"learner", "uniform", "greedy"} < names and len(names) >= 6
    assert [float(line["rating"]) for line in table] == sorted((float(line["rating"]) for line in table), reverse=True)
    pool = finished.pool
    assert pool is not None and len(pool.snapshots) == 3 and pool.learner.games >= 5
    assert sum(int(line["games"]) for line in table if line["member"] not in ("learner", "uniform", "greedy")) > 0
    assert finished.status().ratings.startswith("ratings: learner ")
    assert finished.curve[-1]["rating"] == round(pool.learner.mu, 3)


def test_a_snapshot_joins_at_every_so_many_decisions(finished):
    """At the end of the update in which there are 300, 600, ... of the learner's; updates are smaller than that."""
    joined = [member.steps // 300 for member in finished.pool.members if member.steps]
    assert joined == list(range(1, finished.steps // 300 + 1))


def test_an_interrupted_run_ends_like_an_uninterrupted_one(finished, tmp_path):
    """The same seed gives the same run, in one piece or in many."""
    config = replace(TINY, out=tmp_path)
    steps = []
    while not steps or steps[-1] < STEPS:
        stop, after = threading.Event(), len(steps) * 300 + 200

        def interrupt(status, stop=stop, after=after) -> None:
            if status.steps >= after:
                stop.set()

        run = train(config, stop, interrupt)
        steps.append(run.steps)
    assert len(set(steps)) >= 5 and run.steps == finished.steps
    assert equal(finished.policy, run.policy)
    assert run.pool.table() == finished.pool.table() and run.pool.lineup == finished.pool.lineup
    assert (run.env.seated == finished.env.seated).all()


def test_a_network_of_several_player_counts_plays_them_all(finished):
    description = read_description(finished.out / "best.zip")
    assert description["num_players"] == [2, 3, 4]
    for players in (2, 3, 4):
        config = GAME.configure(players, quest_size=2)
        batch, agent, rows = Batch(config, 6, 1), bots.load(f"net:{finished.out}", config), np.arange(6)
        agent.start(rows, batch.seed)
        for _ in range(30):
            batch.step(agent.act(bots.TrustedDecisions(batch, rows)))
    with pytest.raises(BotError, match=r"num_players is \[2, 3, 4\], here 5"):
        bots.load(f"net:{finished.out}", GAME.configure(5, quest_size=2))
    with pytest.raises(BotError, match="option quest_size is 2, here 4"):
        bots.load(f"net:{finished.out}", GAME.configure(3, quest_size=4))
    assert [one.opponent for one in finished.evaluations] == ["uniform_2p", "uniform_3p", "uniform_4p"]


@pytest.mark.parametrize("seat", ["shared", "single", "pool"])
def test_a_run_begins_with_a_given_network(finished, tmp_path, seat):
    spec = f"net:{finished.out}"
    pool = TINY.pool if seat == "pool" else PoolConfig()
    run = Run(replace(TINY, players=3, seat=seat, pool=pool, start=spec, out=tmp_path, **SIZE, teacher=None))
    best = checkpoint.load_policy(finished.out / "best.zip", run.games)
    assert equal(run.policy, best)
    run.advance()
    assert run.steps > 0 and not equal(run.policy, best)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": "greedy", **SIZE}, "--start greedy is not a trained network"),
        ({"start": "gredy", **SIZE}, "no bot 'gredy'"),
        ({"pool": PoolConfig(sparring=("gredy",))}, "no bot 'gredy'"),
        ({"players": "2-9"}, "num_players = 9 is not allowed"),
    ],
)
def test_what_cannot_be_trained_is_said(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        train(replace(TINY, **{**changes, "out": tmp_path}))


def test_a_run_with_another_pool_is_not_taken_up(finished):
    with pytest.raises(BotError, match="begun with other settings: pool is"):
        train(replace(TINY, out=finished.out, pool=replace(TINY.pool, lineup=3)))


@pytest.mark.parametrize("players", [2, 5, "3-5"])
def test_a_run_goes_on_with_a_network_for_other_numbers_of_players(finished, tmp_path, players):
    """A network for 2-4 players continues with other numbers, and plays as before where it was trained."""
    seat = "pool" if isinstance(players, str) else "shared"
    asked = replace(TINY, pool=PoolConfig(), teacher=None, **SIZE)
    run = Run(replace(asked, players=players, seat=seat, start=f"net:{finished.out}", out=tmp_path))
    games = GAME.configure(4, quest_size=2)
    batch = Batch(games, 50, 3)
    for _ in range(30):
        batch.step(batch.uniform())
    expected, values = TorchNetwork(checkpoint.load_policy(finished.out / "best.zip", games))(
        batch.observation, batch.action_mask
    )
    found, found_values = TorchNetwork(run.model.policy)(batch.observation, batch.action_mask)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(found_values, values, atol=1e-6)
    run.advance()
    run.save()
    assert checkpoint.load_policy(run.last, run.games)
