"""Clones, snapshots, pickles and replays: the same game, and nothing shared."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs import Batch, Configuration, Game, KeplerEnv, Snapshot
from kepler_envs.engine import render_window
from kepler_envs.engine import replay as replays
from kepler_envs.engine.replay import ReplayError
from tests.contract.subjects import chooser, every_game, every_player_count, few_player_counts, make, play
from tests.contract.test_pettingzoo import trace
from tests.contract.test_streams import potential

COPIES: dict[str, Callable[[Any], Any]] = {
    "clone": lambda thing: thing.clone(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
}
every_copy = pytest.mark.parametrize("duplicate", list(COPIES.values()), ids=list(COPIES))


def midgame(config: Configuration, seed: int, decisions: int, **arguments: Any) -> KeplerEnv:
    """An environment some decisions into a game, at most half of them."""
    env = make(config, **arguments)
    env.reset(seed=seed)
    choose, length = chooser(config, seed), sum(1 for _ in play(config, seed)) - 1
    for _ in range(min(decisions, length // 2)):
        env.step(choose(env.legal_actions()))
    return env


def rest_of_game(env: KeplerEnv, seed: int) -> list[Any]:
    """Play on to the end and through the next game; all that can be seen of it."""
    choose = chooser(env.config, seed)
    seen: list[Any] = []
    for _ in range(2):
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            seen.append(
                (agent, observation["observation"].tobytes(), observation["action_mask"].tobytes(), reward, str(info))
            )
            env.step(None if terminated or truncated else choose(env.legal_actions()))
        env.reset()
    return seen


# ---------------------------------------------------------------- environments


@every_player_count
@every_copy
def test_copy_goes_on_as_the_original(config: Configuration, duplicate: Callable[[KeplerEnv], KeplerEnv]) -> None:
    env = midgame(config, 3, 20)
    twin = duplicate(env)
    kept = env.snapshot()
    assert twin.snapshot() == kept and twin is not env
    expected = rest_of_game(twin, 1)
    assert env.snapshot() == kept, "playing the copy moved the original"
    assert rest_of_game(env, 1) == expected


@every_game
@every_copy
def test_copy_among_the_dead(game: Game, duplicate: Callable[[KeplerEnv], KeplerEnv]) -> None:
    """A copy made while agents leave a finished game keeps their rewards."""
    config = game.configure()
    env = make(config)
    env.reset(seed=1)
    choose = chooser(config, 1)
    while not (any(env.terminations.values()) or any(env.truncations.values())):
        env.step(choose(env.legal_actions()))
    env.step(None)
    twin = duplicate(env)
    assert twin.agents == env.agents and len(twin.agents) == config.num_players - 1
    assert twin._cumulative_rewards == env._cumulative_rewards and twin.infos == env.infos
    assert rest_of_game(twin, 2) == rest_of_game(env, 2)


@every_game
@every_copy
def test_copy_before_reset(game: Game, duplicate: Callable[[KeplerEnv], KeplerEnv]) -> None:
    assert trace(duplicate(kepler_envs.make(game.id)), 4) == trace(kepler_envs.make(game.id), 4)


@every_game
@every_copy
def test_copy_keeps_spaces_and_arguments(game: Game, duplicate: Callable[[KeplerEnv], KeplerEnv]) -> None:
    env = kepler_envs.make(game.id, render_mode="ansi", illegal="lose", copy=False, render_seat=1)
    env.reset(seed=1)
    twin = duplicate(env)
    assert (twin.render_mode, twin.illegal, twin.copy, twin.render_seat) == ("ansi", "lose", False, 1)
    for agent in env.possible_agents:
        assert twin.observation_space(agent) == env.observation_space(agent)
        assert twin.action_space(agent) is twin.action_space(agent) == env.action_space(agent)
    assert twin.render() == env.render()
    before = {name: value.copy() for name, value in env.last()[0].items()}
    twin.step(twin.legal_actions()[0])
    for name, value in env.last()[0].items():
        assert np.array_equal(value, before[name]), "the copy writes into the original's buffers"


@every_copy
@pytest.mark.parametrize(
    "space_of",
    [
        lambda env: env.observation_space("player_0"),
        lambda env: env.action_space("player_0"),
        lambda env: env.state_space,
    ],
    ids=["observation", "action", "state"],
)
def test_what_is_sampled_in_a_copy_changes_nothing_in_the_original(
    duplicate: Callable[[KeplerEnv], KeplerEnv], space_of: Callable[[KeplerEnv], Any]
) -> None:
    env, undisturbed = (kepler_envs.make("kitten_adventurers") for _ in range(2))
    env.reset(seed=1)
    for one in (env, undisturbed):
        space_of(one).seed(5)
    twin = duplicate(env)
    assert space_of(twin) is space_of(twin) == space_of(env)
    space_of(twin).seed(7)
    space_of(twin).sample()
    for _ in range(3):
        assert str(space_of(env).sample()) == str(space_of(undisturbed).sample())


@every_copy
def test_every_environment_has_a_window_of_its_own(
    duplicate: Callable[[KeplerEnv], KeplerEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that takes the place in memory of another."""
    titles: list[str] = []
    monkeypatch.setattr(render_window, "show", lambda rgb, title: titles.append(title) or True)
    env = kepler_envs.make("kitten_adventurers", render_mode="human")
    env.reset(seed=1)
    for one in (env, duplicate(env)):
        one.render()
    for _ in range(5):
        another = kepler_envs.make("kitten_adventurers", render_mode="human")
        another.reset(seed=1)
        del another
    assert titles[0] == titles[1] and len(set(titles)) == len(titles) - 1


def test_a_copy_has_its_class() -> None:
    class Own(KeplerEnv):
        pass

    env = Own(kepler_envs.load_game("kitten_adventurers").configure(2))
    env.reset(seed=1)
    assert type(copy.deepcopy(env)) is type(env.clone()) is Own

    class OwnBatch(Batch):
        pass

    assert type(copy.deepcopy(OwnBatch(env.config, 2, 1))) is OwnBatch


@every_game
def test_a_resampled_environment_does_not_know_the_deal(game: Game) -> None:
    env = kepler_envs.make(game.id)
    env.reset(seed=12345)
    twin = env.resample("player_0", 7)
    assert (env.game_seed, twin.game_seed) == (12345, 7)
    env.reset()
    twin.reset()
    assert twin.game_seed != env.game_seed


@every_player_count
def test_old_copies_never_change(config: Configuration) -> None:
    """Clones and snapshots of every earlier position still have the bytes they had, whatever was played since."""
    env = make(config)
    env.reset(seed=8)
    choose = chooser(config, 8)
    kept: list[tuple[KeplerEnv, Snapshot, str]] = []
    while not env.snapshot().over:
        kept.append((env.clone(), env.snapshot(), env.snapshot().digest()))
        env.step(choose(env.legal_actions()))
    digests = [digest for _, _, digest in kept]
    assert len(set(digests)) == len(digests)
    assert [twin.snapshot().digest() for twin, _, _ in kept] == digests
    assert [snapshot.digest() for _, snapshot, _ in kept] == digests
    assert all(twin.agents == env.possible_agents for twin, _, _ in kept)


@few_player_counts
def test_restore(config: Configuration) -> None:
    """Going back to a position, in any environment, continues it exactly; rewards do not come along."""
    env, other, lost = midgame(config, 2, 15), make(config), midgame(config, 3, 5, illegal="lose")
    lost.step(int(lost.observe(lost.agent_selection)["action_mask"].argmin()))
    assert -1 in lost.rewards.values() and -1 in lost._cumulative_rewards.values() and all(lost.terminations.values())
    snapshot = env.snapshot()
    expected = rest_of_game(env, 6)
    for target in (env, other, lost):
        target.restore(snapshot)
        assert target.agents == target.possible_agents
        assert set(target._cumulative_rewards.values()) == {0.0} == set(target.rewards.values())
        assert not any(target.terminations.values()) and not any(target.truncations.values())
        ended = next(number for number, entry in enumerate(expected) if "returns" in entry[4])
        assert rest_of_game(target, 6)[:ended] == expected[:ended]


@every_game
def test_shaping_goes_on_from_the_position_that_was_put_in(game: Game) -> None:
    """What seats are paid next is the change from there, not from the position that was there before."""
    if "shaping" not in {option.name for option in game.option_list}:
        pytest.skip("a game without shaping")
    config = game.configure(shaping=0.5)
    env, batch = make(config), Batch(config, 2, 3)
    env.reset(seed=8)
    course, before, moved = list(play(config, 1))[:-2], np.zeros(config.num_players), 0
    for number in np.random.default_rng(2).permutation(len(course)):
        position, action = course[number]
        moved += not np.array_equal(potential(position), before)
        env.restore(position)
        batch.restore(1, position)
        batch.step(np.array([Batch.SKIP, action]))
        env.step(action)
        paid = potential(position.apply(action)) - potential(position)
        assert [env.rewards[agent] for agent in env.possible_agents] == batch.reward[1].tolist() == paid.tolist()
        before = potential(position.apply(action))
    assert moved, "what the position before promised would be paid for otherwise"


@every_game
def test_restore_another_configuration(game: Game) -> None:
    few, many = game.configure(game.min_players), game.configure(game.max_players)
    env = make(few)
    env.reset(seed=1)
    before = env.snapshot()
    with pytest.raises(ValueError, match="the snapshot belongs to"):
        env.restore(Snapshot.deal(many, 1))
    assert env.snapshot() == before


@every_game
def test_restore_the_end(game: Game) -> None:
    """A finished game can be restored: all agents are ended and paid."""
    config = game.configure()
    *_, (last, _) = play(config, 1)
    env = make(config)
    env.restore(last)
    returns = last.results()[2]
    assert [env.rewards[agent] for agent in env.possible_agents] == pytest.approx(returns.tolist())
    assert all(env.terminations[agent] or env.truncations[agent] for agent in env.agents)


# ---------------------------------------------------------------- snapshots


@every_player_count
@every_copy
def test_copy_of_a_snapshot(config: Configuration, duplicate: Callable[[Snapshot], Snapshot]) -> None:
    for number, (position, action) in enumerate(play(config, 4)):
        if number % 20 == 0 and not position.over:
            twin = duplicate(position)
            assert twin == position and hash(twin) == hash(position) and twin.digest() == position.digest()
            assert twin.apply(action) == position.apply(action) != position
            assert position.digest() == twin.digest()


@every_player_count
def test_snapshot_and_environment_say_the_same(config: Configuration) -> None:
    env = make(config)
    env.reset(seed=9)
    choose = chooser(config, 9)
    position = Snapshot.deal(config, 9)
    while True:
        assert env.snapshot() == position
        assert env.possible_agents.index(env.agent_selection) == position.seat
        for seat, agent in enumerate(env.possible_agents):
            assert np.array_equal(env.observe(agent)["observation"], position.observe(seat))
        assert np.array_equal(env.last()[0]["action_mask"], position.action_mask())
        assert env.legal_actions() == position.legal_actions()
        if position.over:
            break
        action = choose(position.legal_actions())
        env.step(action)
        position = position.apply(action)


@every_game
def test_pickles_cross_processes(game: Game, tmp_path: Path) -> None:
    """A pickled environment goes on in another process as it would have here."""
    env = midgame(game.configure(), 5, 12)
    path = tmp_path / "env.pickle"
    path.write_bytes(pickle.dumps(env))
    code = (
        "import pickle, sys, hashlib\n"
        "from tests.contract.test_copies import rest_of_game\n"
        f"env = pickle.load(open({str(path)!r}, 'rb'))\n"
        "print(hashlib.sha256(repr(rest_of_game(env, 7)).encode()).hexdigest())\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert result.stdout.strip() == hashlib.sha256(repr(rest_of_game(env, 7)).encode()).hexdigest()


@every_game
def test_configurations(game: Game) -> None:
    """A configuration is rebuilt by its description and by pickling; other options have another digest."""
    config = game.configure()
    again = game.configure(**json.loads(json.dumps(config.describe())))
    assert again.digest == config.digest and again.values == config.values
    assert pickle.loads(pickle.dumps(config)).digest == config.digest
    assert pickle.loads(pickle.dumps(game)) is game
    digests = {game.configure(players).digest for players in range(game.min_players, game.max_players + 1)}
    assert len(digests) == game.max_players - game.min_players + 1


# ---------------------------------------------------------------- replays


def recorded(config: Configuration, seed: int) -> replays.Replay:
    actions = [action for _, action in play(config, seed) if action >= 0]
    return replays.record(config, seed, actions, [f"agent {seat}" for seat in range(config.num_players)])


@every_player_count
def test_replay_reproduces_the_game(config: Configuration, tmp_path: Path) -> None:
    *_, (last, _) = play(config, 6)
    replay = recorded(config, 6)
    path = tmp_path / "game.jsonl"
    replays.write_replay(path, replay)
    assert replays.read_replay(path) == replay
    found = replays.configuration_of(replays.read_replay(path), kepler_envs.load_game)
    assert found.digest == config.digest
    assert replays.verify(replays.read_replay(path), found) == last
    assert replay.final == {
        "hash": last.digest(), "returns": last.results()[2].tolist(), "rank": last.results()[0].tolist(),
        "length": int(last.state["decisions"]),
    }  # fmt: skip
    positions = list(replay.positions(config))
    assert len(positions) == len(replay.actions) + 1 and positions[-1] == last


@every_game
def test_replay_file_is_readable(game: Game, tmp_path: Path) -> None:
    config = game.configure()
    path = tmp_path / "game.jsonl"
    replay = recorded(config, 2)
    replays.write_replay(path, replay)
    header, *decisions, end = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert header["format"] == "kepler-replay-1" and header["game"] == game.id and header["seed"] == 2
    assert header["components"] == config.components_digest and len(header["agents"]) == config.num_players
    assert all(entry["text"] == config.actions.text(entry["action"]) for entry in decisions)
    assert end["end"] is True and end["length"] == len(decisions)
    assert list(tmp_path.iterdir()) == [path]


def damage_lines(lines: list[str], damage: str) -> list[str]:
    """A replay file with one thing wrong."""
    if damage == "empty":
        return []
    if damage == "no header":
        return lines[1:]
    if damage == "header without seed":
        header = json.loads(lines[0])
        del header["seed"]
        return [json.dumps(header), *lines[1:]]
    if damage == "not JSON":
        return [*lines[:3], "{", *lines[4:]]
    if damage == "a line that is no object":
        return [*lines[:3], "[1]", *lines[4:]]
    if damage == "action is text":
        return [*lines[:3], lines[3].replace('"action": ', '"action": "x", "was": '), *lines[4:]]
    if damage == "line after the end":
        return [*lines, lines[1]]
    raise AssertionError(damage)


@every_game
@pytest.mark.parametrize(
    "damage, message",
    [
        ("empty", "line 1 must be a header"),
        ("no header", "line 1 must be a header"),
        ("header without seed", "line 1 .*seed"),
        ("not JSON", "line 4 is not JSON"),
        ("a line that is no object", "line 4"),
        ("action is text", "line 4 must have an integer seat and action"),
        ("line after the end", "comes after the end"),
    ],
)
def test_replay_that_cannot_be_read(game: Game, damage: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    replays.write_replay(path, recorded(game.configure(), 2))
    path.write_text("\n".join(damage_lines(path.read_text().splitlines(), damage)))
    with pytest.raises(ReplayError, match=message) as caught:
        replays.read_replay(path)
    assert str(path) in str(caught.value)


@every_game
def test_replay_of_another_game_is_refused(game: Game) -> None:
    """Every part of a replay is held against the game played again."""
    config = game.configure()
    good = recorded(config, 2)
    assert replays.verify(good, config).over

    def changed(**fields: Any) -> replays.Replay:
        return replays.Replay(**{**vars(copy.deepcopy(good)), **fields})

    half = len(good.actions) // 2
    texts = good.texts[:half] + ["something else"] + good.texts[half + 1 :]
    seats = [(seat + 1) % config.num_players for seat in good.seats]
    each = config.num_players
    ends = {"hash": "0" * 64, "length": 1, "returns": [0.0] * each, "rank": [each] * each}
    assert good.final is not None and good.final.keys() == ends.keys()
    for wrong, words in (
        (changed(seed=3), r"^decision \d+: "),
        (changed(texts=texts), f"^decision {half + 1}: 'something else' is recorded, but id"),
        (changed(seats=seats), f"^decision 1: seat {seats[0]} is recorded, but seat {good.seats[0]} decides"),
        (
            changed(actions=good.actions[:-1], seats=good.seats[:-1], texts=good.texts[:-1]),
            f"after {len(good.actions) - 1} decisions, but the game is not over",
        ),
        (
            changed(actions=good.actions + [0], seats=good.seats + [0], texts=good.texts + [good.texts[0]]),
            f"^decision {len(good.actions) + 1}: the game is already over",
        ),
        *(
            (changed(final={**good.final, name: value}), f"^the closing line has {name} = ")
            for name, value in ends.items()
        ),
    ):
        with pytest.raises(ReplayError, match=words):
            replays.verify(wrong, config)
    with pytest.raises(ReplayError, match="component data"):
        replays.configuration_of(changed(components="0" * 16), kepler_envs.load_game)
    with pytest.raises(ReplayError, match="cannot be set up"):
        replays.configuration_of(changed(game="chess-v0"), kepler_envs.load_game)
    with pytest.raises(ReplayError, match="cannot be set up"):
        replays.configuration_of(changed(options={"num_players": 99}), kepler_envs.load_game)


@every_game
def test_replay_of_half_a_game(game: Game, tmp_path: Path) -> None:
    config = game.configure()
    actions = recorded(config, 2).actions[:9]
    replay = replays.record(config, 2, actions)
    assert replay.final is None and len(replay.texts) == 9
    replays.write_replay(tmp_path / "half.jsonl", replay)
    last = replays.verify(replays.read_replay(tmp_path / "half.jsonl"), config)
    assert not last.over and last.state["decisions"] == 9
