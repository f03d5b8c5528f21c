"""Every decision of random games: legal ids, texts, invariants, lengths, returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kepler_envs
from kepler_envs import Configuration, Game, IllegalAction, OptionError, Snapshot
from kepler_envs.engine import one_game
from kepler_envs.engine.snapshot import empty_sets
from tests.choosing import eager, scripted
from tests.contract.subjects import (
    check_sum,
    every_game,
    every_option,
    every_player_count,
    few_player_counts,
    hooks_of,
    make,
    play,
)
from tests.effort import DEEP, games_to_play, slow
from tests.scenario import check_in_bounds


@every_player_count
@settings(max_examples=60 if DEEP else 2)
@given(
    seed=st.integers(0, 2**64 - 1),
    choices=st.lists(st.integers(0, 2000), max_size=40),
    eagerness=st.sampled_from([0.0, 0.6, 0.95]),
)
def test_invariants_after_every_decision(
    config: Configuration, seed: int, choices: list[int], eagerness: float
) -> None:
    hooks = hooks_of(config.game)
    choose = scripted(choices, eager(seed, hooks.eager_ids, eagerness))
    env = make(config)
    env.reset(seed=seed)
    position = env.snapshot()
    hooks.check_invariants(position.state, config)
    while not position.over:
        before, action = position, choose(env.legal_actions())
        env.step(action)
        position = env.snapshot()
        hooks.check_decision(before.state, action, position.state, config)
        hooks.check_invariants(position.state, config)
    check_end(position)


def check_end(position: Snapshot) -> None:
    """Returns sum to zero (unless one plays alone) and lie in [-1, 1], the better place never gets less, and the game
    was not too long."""
    config = position.config
    ranks, scores, returns = position.results()
    check_sum(config, returns)
    assert np.abs(returns).max() <= 1
    assert sorted(ranks)[0] == 1
    for one in range(config.num_players):
        assert ranks[one] == 1 + sum(1 for other in range(config.num_players) if ranks[other] < ranks[one])
        for other in range(config.num_players):
            if ranks[one] < ranks[other]:
                assert returns[one] >= returns[other]
            if ranks[one] == ranks[other]:
                assert returns[one] == returns[other]
    assert 0 < position.state["decisions"] <= config.game.max_decisions
    assert position.legal_actions() == []


@slow
@every_option
def test_games_with_every_option(config: Configuration) -> None:
    hooks = hooks_of(config.game)
    for seed in range(games_to_play(2)):
        for position, _ in play(config, seed):
            hooks.check_invariants(position.state, config)
        assert position.over
        check_end(position)


# ---------------------------------------------------------------- legal ids


@every_player_count
def test_exactly_the_mask_is_accepted(config: Configuration) -> None:
    """Every id tried on a clone at many nodes: those in the mask are applied, others raise and change nothing."""
    env = make(config)
    for seed in range(games_to_play(2)):
        for number, (position, _) in enumerate(play(config, seed)):
            if number % (17 if DEEP else 51) or position.over:
                continue
            env.restore(position)
            mask = env.last()[0]["action_mask"]
            for action in range(len(config.actions)):
                twin = env.clone()
                if mask[action]:
                    twin.step(action)
                    assert twin.snapshot().state["decisions"] == position.state["decisions"] + 1
                    assert twin.snapshot() == position.apply(action)
                else:
                    with pytest.raises(IllegalAction):
                        twin.step(action)
                    assert_unchanged(twin, env)


def assert_unchanged(twin: kepler_envs.KeplerEnv, env: kepler_envs.KeplerEnv) -> None:
    assert twin.snapshot() == env.snapshot()
    assert twin.agent_selection == env.agent_selection and twin.agents == env.agents
    assert twin.rewards == env.rewards and twin._cumulative_rewards == env._cumulative_rewards
    assert (twin.terminations, twin.truncations, twin.infos) == (env.terminations, env.truncations, env.infos)
    for own, other in zip(twin.last()[0].values(), env.last()[0].values(), strict=True):
        assert np.array_equal(own, other)


MOST_GAMES_FOR_A_NODE = 60
"""Some nodes are rare: an artifact must be found and played."""


def set_bits(position: Snapshot) -> list[int]:
    """The numbers of all bits in the position's legal set, ids or not."""
    legal, mask = empty_sets(position.config)
    one_game.legal_kernel(position.game)(position.states, position.config.constants, legal, mask)
    return np.flatnonzero(np.unpackbits(legal.view(np.uint8), bitorder="little")).tolist()


@few_player_counts
def test_at_least_two_legal_ids(config: Configuration) -> None:
    """A node with one legal id is not offered, but for those the game always offers."""
    seen, nodes = set(), hooks_of(config.game).possible_nodes(config)
    for seed in range(games_to_play(6) + MOST_GAMES_FOR_A_NODE):
        if seed >= games_to_play(6) and seen >= nodes:
            break
        for position, _ in play(config, seed):
            if position.over:
                continue
            seen.add(position.node)
            legal = position.legal_actions()
            assert legal == sorted(set(legal))
            beyond = [number for number in set_bits(position) if number >= len(config.actions)]
            assert not beyond, f"legal sets {beyond} at {position.node.name}; ids are 0..{len(config.actions) - 1}"
            assert len(legal) >= (1 if position.node in config.game.always_offered else 2), position.node.name
    assert seen >= nodes, "some nodes were never reached"


@every_game
def test_message_of_an_illegal_action(game: Game) -> None:
    env = kepler_envs.make(game.id)
    env.reset(seed=3)
    legal = env.legal_actions()
    illegal = next(action for action in range(len(game.actions)) if action not in legal)
    with pytest.raises(IllegalAction) as caught:
        env.step(illegal)
    message = str(caught.value)
    assert f"{illegal} ({game.actions.text(illegal)!r})" in message
    assert env.agent_selection in message and env.snapshot().node.name in message
    assert all(f"{action} ({game.actions.text(action)!r})" in message for action in legal)
    with pytest.raises(IllegalAction, match="legal: "):
        env.snapshot().apply(illegal)


@every_game
@pytest.mark.parametrize("action", [-1, 10**6, 2**70, -(2**70)])
def test_ids_outside_the_space_are_illegal(game: Game, action: int) -> None:
    env = kepler_envs.make(game.id)
    env.reset(seed=3)
    before = env.snapshot()
    with pytest.raises(IllegalAction, match=f"{action} .*no action id"):
        env.step(action)
    assert env.snapshot() == before


@every_game
@pytest.mark.parametrize("action", [None, "0", 1.0, True, [1], np.float32(1)])
def test_ids_that_are_no_integers(game: Game, action: Any) -> None:
    env = kepler_envs.make(game.id)
    env.reset(seed=3)
    before = env.snapshot()
    with pytest.raises(ValueError, match="integer action id"):
        env.step(action)
    assert env.snapshot() == before


@every_player_count
def test_illegal_actions_lose_on_request(config: Configuration) -> None:
    env = make(config, illegal="lose")
    env.reset(seed=3)
    for _ in range(7):
        env.step(env.legal_actions()[0])
    loser = env.agent_selection
    illegal = next(action for action in range(len(config.actions)) if action not in env.legal_actions())
    env.step(illegal)
    share = 1 / max(1, config.num_players - 1)
    assert env.rewards == pytest.approx({agent: -1.0 if agent == loser else share for agent in env.possible_agents})
    assert env._cumulative_rewards == env.rewards
    assert all(env.terminations.values()) and not any(env.truncations.values())
    assert not env.last()[0]["action_mask"].any()
    assert env.infos[loser]["rank"] == config.num_players and env.infos[loser]["returns"] == -1
    assert "illegal action" in env.infos[loser]["illegal"] and loser in env.infos[loser]["illegal"]
    always = {"seat", "returns", "rank", "score", "illegal", *config.blank_info()}
    assert all(set(info) == always for info in env.infos.values())
    for _ in env.agent_iter():
        env.step(None)
    env.reset(seed=3)
    assert env.agents and not any(env.terminations.values())
    assert env.observe(env.agent_selection)["action_mask"].any()


@every_game
def test_unknown_way_with_illegal_actions(game: Game) -> None:
    with pytest.raises(OptionError, match="'replace' is not allowed; allowed: raise, lose"):
        kepler_envs.make(game.id, illegal="replace")


# ---------------------------------------------------------------- texts and bounds


@every_game
def test_action_texts(game: Game) -> None:
    """Every id has a text of its own, and it leads back."""
    texts = [game.actions.text(action) for action in range(len(game.actions))]
    assert len(set(texts)) == len(texts)
    assert [game.actions.id_of(text) for text in texts] == list(range(len(texts)))
    assert all(text == text.strip() and text for text in texts)
    covered = [action for block in game.actions.blocks for action in block.ids]
    assert covered == list(range(len(texts)))


@every_game
def test_observation_pieces_cover_the_vector(game: Game) -> None:
    """Every entry belongs to exactly one piece."""
    entries = np.concatenate([piece.indices().ravel() for piece in game.observation])
    assert sorted(entries) == list(range(game.observation.size))
    assert len({piece.name for piece in game.observation}) == len(game.observation)
    assert all(piece.meaning for piece in game.observation)


@every_player_count
def test_observations_stay_in_their_bounds(config: Configuration) -> None:
    for seed in range(games_to_play(3)):
        for position, _ in play(config, seed):
            check_in_bounds(position)


@every_player_count
def test_states_are_small(config: Configuration) -> None:
    """Clones stay cheap: two kilobytes is the measured limit."""
    assert config.game.state.itemsize <= 2048
