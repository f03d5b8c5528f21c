"""Many games as a Gymnasium vector environment: by Gymnasium's own one over single environments, and with its
wrappers."""

from __future__ import annotations

import copy
import warnings

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.wrappers.vector import DictInfoToList, NumpyToTorch, RecordEpisodeStatistics

import kepler_envs
from kepler_envs.adapters.gym_vector import SeatVectorEnv, make_seats

GAME = "kepler/kitten_adventurers-v1"
QUICK = {"num_players": 2, "quest_size": 1}


def draw(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def side_by_side(name: str, num_envs: int, **options) -> tuple[VectorEnv, VectorEnv]:
    """Ours, and Gymnasium's own over single environments."""
    kwargs = {"autoreset_mode": AutoresetMode.SAME_STEP}
    sync = gymnasium.make_vec(name, num_envs, vectorization_mode="sync", vector_kwargs=kwargs, **options)
    return gymnasium.make_vec(name, num_envs, **options), sync


def compare(one: VectorEnv, other: VectorEnv, seed, steps: int, wrong: float = 0.0) -> int:
    """Play both with the same actions, a part of them illegal; the number of games that ended."""
    rng, ended = np.random.default_rng(5), 0
    seen = one.reset(seed=seed)
    assert data_equivalence(seen, other.reset(seed=seed), exact=True)
    for _ in range(steps):
        masks = seen[-1]["action_mask"]
        assert masks.any(axis=1).all()
        actions = draw(masks, rng)
        illegal = rng.random(len(actions)) < wrong
        actions[illegal] = masks[illegal].argmin(axis=1)
        seen = one.step(actions)
        assert data_equivalence(seen, other.step(actions), exact=True)
        assert one.observation_space.contains(seen[0])
        ended += int((seen[2] | seen[3]).sum())
    return ended


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_it_is_gymnasium_s_own_over_single_environments(name):
    """Observations, rewards, ends and infos of every step, to the bit; the same spaces."""
    ours, sync = side_by_side(f"kepler/{kepler_envs.load_game(name).id}", 3)
    assert isinstance(ours.unwrapped, SeatVectorEnv)
    for space in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(ours, space) == getattr(sync, space)
    compare(ours, sync, 8, 150)


@pytest.mark.parametrize(
    "options",
    [
        QUICK,
        {"num_players": 3, "quest_size": 1, "opponents": ["greedy", None], "seat": 1},
        {"num_players": 4, "quest_size": 1, "opponents": "greedy"},
        {"num_players": 2, "opponents": "bc-v1"},
    ],
)
def test_games_follow_each_other_as_there(options):
    ours, sync = side_by_side(GAME, 5, **options)
    assert compare(ours, sync, [4, 2**64 - 1, 0, 4, 77], 200) > 5


@pytest.mark.parametrize("turns", [2, 7])
def test_limits_and_games_that_end_before_the_learner_decides(turns):
    """Some games are over before the learner's first decision: they are passed over, and what they paid with them."""
    ours, sync = side_by_side(GAME, 4, num_players=4, max_turns=turns, shaping=0.5)
    assert compare(ours, sync, 1, 100, wrong=0.1) > 20


def test_what_is_paid_before_the_learner_decides_is_kept_while_other_rows_are_reset():
    """With its first step it comes, once."""
    options = {"num_players": 4, "seat": 3, "first_player": "seat0", "shaping": 1.0, "opponents": "greedy"}
    plain, masked = gymnasium.make_vec(GAME, 6, **options), gymnasium.make_vec(GAME, 6, **options)
    seen, _ = plain.reset(seed=4), masked.reset(seed=4)
    masked.reset(seed=4, options={"reset_mask": np.arange(6) < 3})
    actions = seen[1]["action_mask"].argmax(axis=1)
    paid = plain.step(actions)[1]
    assert np.array_equal(masked.step(actions)[1], paid) and (paid[3:] != 0).any()


def test_a_reset_without_a_seed_goes_on():
    ours, sync = side_by_side(GAME, 3, **QUICK)
    ours.reset(seed=1), sync.reset(seed=1)
    assert compare(ours, sync, None, 150) > 2
    compare(ours, sync, [None, 5, None], 10)


def test_illegal_actions_lose_as_there():
    ours, sync = side_by_side(GAME, 4, **QUICK)
    assert compare(ours, sync, 2, 60, wrong=0.3) > 40


def test_an_illegal_action_is_told_of():
    envs = make_seats("kitten_adventurers", 3, seat=0)
    _, infos = envs.reset(seed=1)
    actions = infos["action_mask"].argmax(axis=1)
    actions[1] = infos["action_mask"][1].argmin()
    _, rewards, terminated, truncated, infos = envs.step(actions)
    assert (rewards[1], terminated[1], truncated[1]) == (-1.0, True, False) and not terminated[[0, 2]].any()
    assert infos["_final_info"].tolist() == [False, True, False]
    assert "legal:" in infos["final_info"]["illegal"][1] and infos["final_info"]["rank"][1] == 4
    assert infos["action_mask"].any(axis=1).all(), "the next game is dealt"


def test_illegal_actions_raise_and_nothing_changes():
    envs = make_seats("kitten_adventurers", 3, illegal="raise")
    _, infos = envs.reset(seed=1)
    before = [envs.snapshot(row) for row in range(3)]
    actions = infos["action_mask"].argmax(axis=1)
    actions[2] = infos["action_mask"][2].argmin()
    with pytest.raises(kepler_envs.IllegalAction, match=f"row 2: illegal action {actions[2]} "):
        envs.step(actions)
    assert [envs.snapshot(row) for row in range(3)] == before
    envs.step(infos["action_mask"].argmax(axis=1))


@pytest.mark.parametrize(
    "actions", [None, 3, [0, 1], [0.0, 1.0, 2.0], [True, False, True], [[0], [1], [2]], ["0", "1", "2"]]
)
def test_actions_that_are_no_ids(actions):
    envs = make_seats("kitten_adventurers", 3)
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        envs.step(np.zeros(3, np.int64))
    envs.reset(seed=1)
    with pytest.raises(ValueError, match="3 integer action ids"):
        envs.step(actions)


def test_rows_are_reset_alone():
    ours, sync = side_by_side(GAME, 3, **QUICK)
    mask = np.array([True, False, True])
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        ours.reset(options={"reset_mask": mask})
    for seed in ([9, None, 7], None):
        compare(ours, sync, 6, 3)
        seen = [envs.reset(seed=seed, options={"reset_mask": mask}) for envs in (ours, sync)]
        assert data_equivalence(*seen, exact=True)
        rng = np.random.default_rng(1)
        for _ in range(20):
            masks = np.array([one.action_mask() for one in map(ours.unwrapped.snapshot, range(3))])
            actions = draw(masks, rng)
            assert data_equivalence(ours.step(actions), sync.step(actions), exact=True)
    for wrong in ([True, False, True], np.array([True]), np.array([1, 0, 1]), np.zeros(3, bool)):
        with pytest.raises(ValueError, match="reset_mask"):
            ours.reset(options={"reset_mask": wrong})
    for options in ([True], mask, "reset_mask"):
        with pytest.raises(TypeError, match="^options must be a dict or None, not "):
            ours.reset(options=options)


def test_a_copy_plays_in_arrays_of_its_own():
    envs = make_seats("kitten_adventurers", 3, opponents="greedy")
    _, infos = envs.reset(seed=4)
    twin, actions = copy.copy(envs), infos["action_mask"].argmax(axis=1)
    one, other = envs.step(actions), twin.step(actions)
    assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


@pytest.mark.parametrize("seed", [-1, [1, 2], [1, 2, -3], [1, 2, 2.5], 2**64 - 2, "7"])
def test_seeds_that_are_not_allowed(seed):
    envs = make_seats("kitten_adventurers", 3)
    envs.reset(seed=4)
    before = [envs.snapshot(row) for row in range(3)]
    with pytest.raises(ValueError, match="seed = .* is not allowed; allowed: an integer"):
        envs.reset(seed=seed)
    assert [envs.snapshot(row) for row in range(3)] == before


def test_the_seed_that_is_refused_is_the_one_that_was_given():
    with pytest.raises(ValueError, match=f"seed = {2**64 - 2} is not allowed; allowed: an integer 0..{2**64 - 3}"):
        make_seats("kitten_adventurers", 3).reset(seed=2**64 - 2)


def test_gymnasium_s_wrappers():
    """Returns by Gymnasium's count are those of the games."""
    plain = gymnasium.make_vec(GAME, 4, **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = RecordEpisodeStatistics(plain)
    _, infos = envs.reset(seed=3)
    rng, ended = np.random.default_rng(2), 0
    for _ in range(200):
        _, _, terminated, truncated, infos = envs.step(draw(infos["action_mask"], rng))
        for row in np.flatnonzero(terminated | truncated):
            ended += 1
            assert infos["episode"]["r"][row] == pytest.approx(infos["final_info"]["returns"][row])
            assert infos["final_obs"][row].shape == plain.single_observation_space.shape
    assert ended > 4 and envs.episode_count == ended
    listed = DictInfoToList(gymnasium.make_vec(GAME, 2, **QUICK))
    _, infos = listed.reset(seed=3)
    assert [info["action_mask"].any() for info in infos] == [True, True]


class NumbersAlone(VectorWrapper):
    """Leaves out infos of objects, such as the reason of an end, of which Gymnasium can make no tensors."""

    def reset(self, **more):
        observations, infos = self.env.reset(**more)
        return observations, numbers_in(infos)

    def step(self, actions):
        *found, infos = self.env.step(actions)
        return *found, numbers_in(infos)


def numbers_in(infos):
    return {name: value for name, value in infos.items() if value.dtype != object}


def test_tensors_come_and_go():
    envs = NumpyToTorch(NumbersAlone(gymnasium.make_vec(GAME, 2, **QUICK)))
    observations, infos = envs.reset(seed=3)
    assert isinstance(observations, torch.Tensor) and isinstance(infos["action_mask"], torch.Tensor)
    _, rewards, terminated, _, _ = envs.step(infos["action_mask"].long().argmax(1))
    assert isinstance(rewards, torch.Tensor) and terminated.dtype == torch.bool


def test_what_is_handed_out_is_kept():
    """Arrays of earlier steps do not change with later ones."""
    envs = gymnasium.make_vec(GAME, 3, **QUICK)
    kept = [envs.reset(seed=0)]
    copies = [(kept[0][0].copy(), kept[0][1]["action_mask"].copy())]
    rng = np.random.default_rng(0)
    for _ in range(8):
        kept.append(envs.step(draw(kept[-1][-1]["action_mask"], rng)))
        copies.append((kept[-1][0].copy(), kept[-1][-1]["action_mask"].copy()))
    for seen, (observation, mask) in zip(kept, copies, strict=True):
        assert np.array_equal(seen[0], observation) and np.array_equal(seen[-1]["action_mask"], mask)


@pytest.mark.parametrize("mode", ["ansi", "svg", "rgb_array"])
def test_pictures_of_every_row(mode):
    ours, sync = side_by_side(GAME, 2, render_mode=mode)
    ours.reset(seed=3), sync.reset(seed=3)
    assert data_equivalence(ours.render(), sync.render(), exact=True)


def test_a_game_of_one_seat():
    """Nobody else plays there."""
    ours, sync = side_by_side("kepler/kepler_3042-v1", 2, num_players=1)
    compare(ours, sync, 1, 20)


def test_it_says_what_it_is():
    envs = gymnasium.make_vec(GAME, 2)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.spec is not None and gymnasium.make_vec(envs.spec).num_envs == 2
    assert len(envs.np_random) == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seat": 4}, r"seat = 4 is not allowed"),
        ({"illegal": "ignore"}, "allowed: lose, raise"),
        ({"render_mode": "human"}, "allowed: None, ansi, svg, rgb_array"),
        ({"opponents": [None]}, "1 opponents for 3 other seats"),
        ({"num_envs": 0}, "num_envs = 0 is not allowed"),
        ({"frameskip": 3}, "unexpected keyword argument 'frameskip'.*unknown option frameskip.* render_mode, threads"),
    ],
)
def test_wrong_arguments_are_explained(wrong, message):
    with pytest.raises(kepler_envs.OptionError, match=message):
        make_seats("kitten_adventurers", **{"num_envs": 2, **wrong})
