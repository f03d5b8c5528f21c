"""Positions to learn from: joining, selecting, files."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

import kepler_envs
from agents.imitation import gather
from agents.positions import HELD_OUT, NOBODY, Positions, join
from kepler_envs import bots

GAME = kepler_envs.load_game("kitten_adventurers")


def positions_of(players: int, count: int) -> Positions:
    config = GAME.configure(players, quest_size=3)
    return gather(config, bots.load("greedy", config), count)


@pytest.fixture(scope="module")
def three() -> Positions:
    return positions_of(3, 50)


def equal(one: Positions, other: Positions) -> bool:
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name), equal_nan=field.name == "returns")
        for field in fields(Positions)
    )


def test_those_of_several_player_counts_are_joined(three):
    two = positions_of(2, 100)
    both = join([two, three])
    assert len(both) == 150 and both.returns.shape == (150, 3)
    assert np.isnan(both.returns[:100, 2]).all() and not np.isnan(both.returns[:, :2]).any()
    assert (both.action[100:] == three.action).all() and both.played == two.played + three.played > 0
    assert not set(both.game[:100]) & set(both.game[100:]), "games keep numbers of their own"
    assert len(np.unique(both.game)) == len(np.unique(two.game)) + len(np.unique(three.game))


def test_a_game_that_is_held_out_stays_so_wherever_it_is_joined(three):
    """One in twenty of each set, by its number there."""
    sets = [replace(three, game=np.arange(50) + first) for first in (0, 7, 93)]
    alone = [its.held_out for its in sets]
    assert [np.count_nonzero(its) for its in alone] == [2, 2, 3] and np.flatnonzero(alone[0]).tolist() == [19, 39]
    for chosen in ([0, 1], [1, 2], [2, 1, 0]):
        joined = join([sets[one] for one in chosen])
        assert (joined.held_out == np.concatenate([alone[one] for one in chosen])).all()
        assert len(np.unique(joined.game)) == 50 * len(chosen)
    assert join([three.take(np.arange(0)), three]).held_out.sum() == three.held_out.sum()
    assert HELD_OUT == 20


def test_those_with_several_actions_are_joined_with_those_of_one(three):
    wide = replace(three, actions=np.repeat(three.actions, 3, 1), shares=np.full((50, 3), 1 / 3, np.float32))
    both = join([three, wide])
    assert both.actions.shape == both.shares.shape == (100, 3)
    assert both.shares.sum(1) == pytest.approx(np.ones(100)) and (both.shares[:50, 1:] == 0).all()


def test_a_network_over_a_bot_sees_its_choice(three):
    chosen = np.array([3, 1])
    assert (three.below == NOBODY).all()
    told = replace(three, below=three.action)
    assert (told.seen(chosen, "") == three.observation[chosen]).all()
    seen = told.seen(chosen, "greedy")
    assert seen.dtype == np.int16 and (seen[:, :-1] == three.observation[chosen]).all()
    assert seen[:, -1].tolist() == three.action[chosen].tolist()


def test_a_file_gives_back_what_was_written(three, tmp_path):
    three.save(tmp_path / "some.npz")
    assert equal(Positions.load(tmp_path / "some.npz"), three)
    assert [path.name for path in tmp_path.iterdir()] == ["some.npz"]


def test_a_file_without_positions_says_what_is_missing(tmp_path):
    np.savez(tmp_path / "other.npz", observation=np.zeros(3))
    with pytest.raises(ValueError, match="other.npz has no positions: mask, actions, shares"):
        Positions.load(tmp_path / "other.npz")


def test_a_file_is_no_place_for_objects(three, tmp_path):
    """To unpickle them would run what they say."""
    columns = {field.name: getattr(three, field.name) for field in fields(Positions)}
    np.savez(tmp_path / "objects.npz", **{**columns, "game": np.array([{}], object)})
    with pytest.raises(ValueError, match="allow_pickle"):
        Positions.load(tmp_path / "objects.npz")
