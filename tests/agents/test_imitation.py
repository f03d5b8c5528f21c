"""A network learns what a teacher chooses, and what its games pay all seats."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
import torch as th

import kepler_envs
from agents.imitation import FINAL_RATE, Imitation, _play, gather, imitate, rate_at
from agents.positions import NOBODY, Positions
from kepler_envs import bots
from kepler_envs.adapters.pytorch import PieceNetwork, learner_of
from kepler_envs.bots.protocol import TrustedDecisions, play_games
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.network import NetworkShape
from kepler_envs.engine.seeds import opponent_seeds
from tests.agents.comparing import equal

CONFIG = kepler_envs.load_game("kitten_adventurers").configure(3, quest_size=3)
SHAPE = NetworkShape(24, (24,), 8)


class LowestId:
    """Always takes the lowest legal id; notes the rows in which it was started."""

    name = "lowest id"

    def __init__(self) -> None:
        self.started = 0

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        assert seeds.dtype == np.uint64 and len(seeds) == len(rows)
        self.started += len(rows)

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        return decisions.action_mask.argmax(1)


@pytest.fixture(scope="module")
def positions() -> Positions:
    return gather(CONFIG, LowestId(), 4000, seed=1, envs=128)


def network(seed: int = 0) -> PieceNetwork:
    th.manual_seed(seed)
    return PieceNetwork(SHAPE.inputs(CONFIG))


# ---------------------------------------------------------------- positions


def test_decisions_are_those_of_whole_games_and_returns_those_they_ended_with():
    """All of them, without noise: the games are played again beside it."""
    found, length = _play(CONFIG, LowestId(), 20, 9, 0.0, 1.0, np.random.default_rng(0))
    ended = play_games(LowestId(), CONFIG, 20, 9)
    assert length == pytest.approx(ended.final_length.mean())
    batch, rows, place = Batch(CONFIG, 20, 9), np.arange(20), 0
    while rows.size:
        for row in rows[batch.legal_count[rows] > 1]:
            seat = int(batch.seat[row])
            assert (found.observation[place] == batch.observation[row]).all()
            assert (found.masks(np.array([place]))[0] == batch.action_mask[row].astype(bool)).all()
            assert found.action[place] == batch.action_mask[row].argmax() and found.game[place] == row
            assert found.returns[place].tolist() == np.roll(ended.final_return[row], -seat).tolist()
            place += 1
        actions = np.full(20, SKIP)
        actions[rows] = batch.action_mask[rows].argmax(1)
        batch.step(actions)
        rows = np.flatnonzero(batch.episodes == 0)
    assert place == len(found) > 200


def test_as_many_as_asked_from_as_many_games_as_it_takes(positions):
    assert len(positions) == 4000 and positions.mask.dtype == np.uint8
    assert {positions.observation.dtype, positions.actions.dtype, positions.below.dtype} == {np.dtype(np.int16)}
    masks = positions.masks(np.arange(4000))
    assert masks.shape == (4000, len(CONFIG.actions)) and masks.sum(1).min() > 1
    assert (positions.action == masks.argmax(1)).all(), "the teacher's choice, also where another was played"
    assert np.abs(positions.returns.sum(1)).max() < 1e-5 and (positions.returns.max(1) > 0).all()
    assert len(np.unique(positions.game)) > 100
    teacher = LowestId()
    several = gather(CONFIG, teacher, 3000, seed=1, envs=16)
    assert len(several) == 3000 and len(np.unique(several.game)) > 16
    assert teacher.started % 16 == 0 and teacher.started >= 16 + len(np.unique(several.game)), (
        "told of every game, those of the pilot first"
    )


def test_runs_of_neighbouring_seeds_share_no_games(monkeypatch):
    """However many rounds each of them takes."""
    dealt: list[tuple[int, int]] = []

    class Noted(Batch):
        def __init__(self, config, games: int, seed: int) -> None:
            dealt.append((run, seed))
            super().__init__(config, games, seed)

    monkeypatch.setattr("agents.imitation.Batch", Noted)
    for run in (1, 2, 3):
        gather(CONFIG, LowestId(), 6000, seed=run, envs=16)
    seeds = [{seed for its, seed in dealt if its == run} for run in (1, 2, 3)]
    assert min(len(its) for its in seeds) > 2 and len(set.union(*seeds)) == sum(len(its) for its in seeds)


def test_few_positions_take_few_games():
    """A teacher that searches takes its time for each decision."""
    teacher = LowestId()
    few = gather(CONFIG, teacher, 200, seed=1)
    assert len(few) == 200 and len(np.unique(few.game)) > 20
    assert teacher.started < 300, "of 1024 games"


def test_the_bot_below_says_what_it_would_do_wherever_the_teacher_decides():
    """All of it, without noise, by the generators that training gives it: the games are played again beside it."""
    teacher, greedy = LowestId(), bots.load("greedy", CONFIG)
    found, _ = _play(CONFIG, teacher, 20, 9, 0.0, 1.0, np.random.default_rng(0), greedy)
    batch, rows, told = Batch(CONFIG, 20, 9), np.arange(20), []
    greedy.start(rows, ~opponent_seeds(batch.seed))
    while rows.size:
        its, actions = greedy.act(TrustedDecisions(batch, rows)), np.full(20, SKIP)
        told += its[batch.legal_count[rows] > 1].tolist()
        actions[rows] = batch.action_mask[rows].argmax(1)
        batch.step(actions)
        rows = np.flatnonzero(batch.episodes == 0)
    assert found.below.tolist() == told
    assert 0 < (found.below == found.action).mean() < 1


def test_a_teacher_that_is_the_bot_below_is_asked_once():
    """Asked twice, it could draw another choice."""
    greedy = bots.load("greedy", CONFIG)
    one, alone = gather(CONFIG, greedy, 500, below=greedy), gather(CONFIG, greedy, 500)
    assert (one.below == one.action).all() and (one.action == alone.action).all() and (alone.below == NOBODY).all()


def test_the_same_seed_gathers_the_same(positions):
    again, other = (gather(CONFIG, LowestId(), 4000, seed=seed, envs=128) for seed in (1, 500))
    for name in ("observation", "mask", "actions", "shares", "returns", "game"):
        assert (getattr(again, name) == getattr(positions, name)).all()
    assert not (other.observation == positions.observation).all()


def test_noise_leads_elsewhere():
    """Without it every game ends as the teacher alone ends it; with nothing else, few do."""
    alone = play_games(LowestId(), CONFIG, 64, 4)
    for noise in (0.0, 1.0):
        found, length = _play(CONFIG, LowestId(), 64, 4, noise, 1.0, np.random.default_rng(0))
        ends = [np.sort(found.returns[found.game == game][0]) for game in range(64)]
        same = (np.array(ends) == np.sort(alone.final_return, 1)).all()
        assert (same and length == alone.final_length.mean()) == (noise == 0)


# ---------------------------------------------------------------- learning


def test_a_network_takes_over_its_teachers_choices(positions):
    told = []
    learner = network()
    report = imitate(learner, positions, epochs=12, learning_rate=5e-3, watch=lambda *one: told.append(one))
    assert report.accuracy > 0.9 and report.epochs == pytest.approx(12, abs=0.01)
    assert report.positions + report.held_out == 4000 and 100 < report.held_out < 320
    assert report.value_error < np.var(positions.returns), "the values have learned something, too"
    assert told[-1][0] == 1 and told[-1][1] < told[0][1] / 3
    again = network()
    assert imitate(again, positions, epochs=12, learning_rate=5e-3) == replace(
        report, seconds=pytest.approx(0, abs=600)
    )
    assert equal(learner, again)
    assert imitate(network(), positions, epochs=10**6, minutes=0.01).epochs < 100, "the time was up"


def test_what_is_learned_is_known_of_absent_seats_by_none():
    """Values are learned where they are known, choices everywhere."""
    known = gather(CONFIG, LowestId(), 600)
    unknown = replace(known, returns=np.where(np.arange(3) == 2, np.nan, known.returns).astype(np.float32))
    learner = network()
    before = {name: weights.clone() for name, weights in learner.state_dict().items()}
    assert np.isfinite(Imitation(learner, unknown).learn(600, 1e-3)).all()
    changed = (learner.state_dict()["values.bias"] != before["values.bias"]).tolist()
    assert changed == [seat < 2 for seat in range(len(changed))]


def test_positions_count_as_much_as_their_shares(positions):
    """What has no share is not learned, whatever it says; twice the share moves a choice as two positions do."""
    some = positions.take(np.flatnonzero(positions.game % 20 != 19)[:400])
    half = np.arange(400) < 200
    only = replace(some, shares=np.where(half[:, None], 1, 0).astype(np.float32))
    nonsense = replace(only, actions=np.where(half[:, None], some.actions, 0).astype(np.int16))
    for one, other in ((only, nonsense), (some, replace(some, shares=2 * some.shares))):
        learned = []
        for known in (one, other):
            learner = Imitation(network(), known, value_weight=0)
            learner.learn(400, 1e-3)
            learned.append(learner.network)
        assert equal(*learned)


def test_what_learning_says_is_of_the_network_before_it(positions):
    """At a rate of 0 that network stays as it is."""
    some, every, learner = positions.take(np.flatnonzero(~positions.held_out)[:400]), np.arange(400), network()
    surprise, error = Imitation(learner, some).learn(400, 0.0)
    assert equal(learner, network())
    priors, values = learner_of(learner).answer(some.seen(every, ""), some.masks(every))
    assert surprise == pytest.approx(-np.log(priors[every, some.action]).mean(), rel=1e-4)
    assert error == pytest.approx(np.square(values[:, :3] - some.returns).mean(), rel=1e-4)


def test_what_is_held_out_is_measured(positions):
    its, learner = np.flatnonzero(positions.held_out), network()
    priors, values = learner_of(learner).answer(positions.seen(its, ""), positions.masks(its))
    accuracy, error = Imitation(learner, positions).measure()
    assert accuracy == pytest.approx((priors.argmax(1) == positions.action[its]).mean())
    assert error == pytest.approx(np.square(values[:, :3] - positions.returns[its]).mean(), rel=1e-5)


@pytest.mark.filterwarnings("error")
def test_where_no_choice_is_known_only_returns_are_measured(positions):
    """As after games in which nothing was searched."""
    unasked = Imitation(network(), replace(positions, shares=np.zeros_like(positions.shares)))
    accuracy, error = unasked.measure()
    assert len(unasked.held_out) and np.isnan(accuracy) and error > 0
    unknown = Imitation(network(), replace(positions, returns=np.full_like(positions.returns, np.nan)))
    assert np.isnan(unknown.learn(100, 1e-3)[1]) and np.isnan(unknown.measure()[1])


def test_an_interrupted_imitation_ends_like_an_uninterrupted_one(positions):
    whole = Imitation(network(), positions, seed=3)
    for _ in range(6):
        whole.learn(1500, 1e-3)
    part = Imitation(network(), positions, seed=3)
    for _ in range(2):
        part.learn(1500, 1e-3)
    rest = Imitation(part.network, positions, seed=3)
    rest.load_state(part.state())
    for _ in range(4):
        rest.learn(1500, 1e-3)
    assert equal(whole.network, rest.network) and whole.epochs == rest.epochs > 2
    assert whole.measure() == rest.measure()


def test_every_position_is_shown_once_an_epoch_and_those_held_out_never(positions):
    learner = Imitation(network(), positions)
    shown = learner._next(2 * len(learner.learned_from) + 10)
    counts = np.bincount(shown, minlength=4000)
    assert (counts[learner.held_out] == 0).all() and counts[learner.learned_from].min() == 2
    assert counts.max() == 3 and (counts == 3).sum() == 10
    assert not set(positions.game[learner.held_out]) & set(positions.game[learner.learned_from])


def test_the_rate_falls_evenly():
    assert rate_at(0, 2.0) == 2 and rate_at(1, 2.0) == rate_at(7, 2.0) == pytest.approx(2 * FINAL_RATE)
    assert rate_at(0.5, 2.0) == pytest.approx(1 + FINAL_RATE)


def test_minutes_have_sixty_seconds(positions, monkeypatch):
    """A clock that goes on by 20 s a look."""
    clock, shares = count(0, 20), []
    monkeypatch.setattr("agents.imitation.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    imitate(network(), positions, epochs=10**6, minutes=1, watch=lambda share, *_: shares.append(share))
    assert shares == pytest.approx([1 / 3, 2 / 3, 1])


@pytest.mark.parametrize("asked", [{"epochs": 0}, {"epochs": float("nan")}, {"epochs": float("inf")}, {"minutes": 0}])
def test_nothing_can_be_learned_in_no_time(asked, positions):
    with pytest.raises(ValueError, match=r"is not allowed; allowed: numbers above 0"):
        imitate(network(), positions, **asked)


@pytest.mark.parametrize("asked", [{"positions": 0}, {"positions": 10, "noise": 1.5}])
def test_what_cannot_be_gathered_is_refused(asked):
    with pytest.raises(ValueError, match=r"allowed: positions from 1 on, noise in 0\.\.1"):
        gather(CONFIG, LowestId(), **asked)
