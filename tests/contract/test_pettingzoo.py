"""PettingZoo's own tests, and what they leave out about order, seeds and spaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test

import kepler_envs
from kepler_envs import Configuration, Game, KeplerEnv, OptionError
from kepler_envs.engine import render_window
from kepler_envs.engine.snapshot import IllegalAction
from tests.contract.subjects import chooser, every_game, every_player_count, few_player_counts, hooks_of, make, play


def by_registry(config: Configuration, **arguments: Any) -> KeplerEnv:
    return pettingzoo.make("aec", f"kepler/{config.game.id}", num_players=config.num_players, **arguments)


@every_player_count
@pytest.mark.parametrize("maker", [make, by_registry])
def test_api(config: Configuration, maker: Callable[..., KeplerEnv]) -> None:
    api_test(maker(config), num_cycles=60)


@few_player_counts
def test_api_without_copies(config: Configuration) -> None:
    api_test(make(config, copy=False), num_cycles=60)


@few_player_counts
def test_seeds(config: Configuration) -> None:
    seed_test(lambda: make(config), num_cycles=200)


@every_game
def test_render(game: Game) -> None:
    def build(render_mode: str) -> KeplerEnv:
        return kepler_envs.make(game.id, render_mode=render_mode)

    render_test(build, custom_tests={"svg": lambda picture: picture.startswith("<svg") and "</svg>" in picture})


def test_a_window_follows_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to call ``render``, as in Gymnasium's and PettingZoo's own environments."""
    shown: list[np.ndarray] = []
    monkeypatch.setattr(render_window, "show", lambda rgb, title: shown.append(rgb) or True)
    env = kepler_envs.make("kitten_adventurers", render_mode="human", render_seat=1, illegal="lose")
    env.reset(seed=1)
    expected = [env.snapshot()]
    for _ in range(3):
        env.step(env.legal_actions()[0])
        expected.append(env.snapshot())
    env.restore(expected[1])
    expected.append(expected[1])
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0]))
    expected.append(env.snapshot())
    env.step(None)  # an agent leaves: nothing changes on the table
    assert len(shown) == len(expected)
    for picture, position in zip(shown, expected, strict=True):
        assert np.array_equal(picture, position.drawing(1).rgb())


def test_without_a_display_each_position_is_printed_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(render_window, "show", lambda rgb, title: False)
    env = kepler_envs.make("kitten_adventurers", render_mode="human")
    env.reset(seed=1)
    env.render()
    first = env.snapshot().text()
    env.step(env.legal_actions()[0])
    env.render()
    assert capsys.readouterr().out == f"{first}\n{env.snapshot().text()}\n"


@every_game
def test_render_modes(game: Game) -> None:
    assert KeplerEnv.metadata["render_modes"] == ["ansi", "svg", "rgb_array", "human"]
    with pytest.raises(OptionError, match="'png' is not allowed; allowed: None, ansi, svg, rgb_array, human"):
        kepler_envs.make(game.id, render_mode="png")
    with pytest.raises(OptionError, match="render_seat"):
        kepler_envs.make(game.id, render_mode="ansi", render_seat=99)
    env = kepler_envs.make(game.id)
    env.metadata["render_modes"].append("of a wrapper")
    assert "of a wrapper" not in kepler_envs.make(game.id).metadata["render_modes"]
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode is None"):
        assert env.render() is None


@every_game
def test_pictures_of_a_seat_show_what_it_knows(game: Game) -> None:
    """Text and picture for a seat stay the same when everything it cannot know is redrawn; the full ones do not."""
    positions = [position for position, _ in play(game.configure(), 1)]
    hidden = (at for at in positions if len({at.resample(0, seed).text() for seed in range(3)}) > 1)
    position = next(hidden, positions[0])
    others = [position.resample(0, seed) for seed in range(3)]
    for draw in (lambda at, seat: at.text(seat), lambda at, seat: at.drawing(seat).svg()):
        assert {draw(other, 0) for other in others} == {draw(position, 0)}
        assert len({draw(other, None) for other in others}) > 1 or not hooks_of(game).hides


@every_game
def test_games_lists_names(game: Game) -> None:
    """Also after a game was loaded: the folder of the games has the same name as the function."""
    kepler_envs.make(game.id)
    assert game.name in kepler_envs.list_games()


@every_game
def test_registry(game: Game) -> None:
    env = pettingzoo.make("aec", f"kepler/{game.id}")
    assert env.unwrapped.config.game is game
    assert env.unwrapped.config.num_players == game.default_players
    assert env.metadata["name"] == f"{game.name}_v{game.version}"
    assert kepler_envs.load_game(game.name) is kepler_envs.load_game(game.id) is game
    with pytest.raises(KeyError, match=f"no game 'chess'; there are: .*{game.name}"):
        kepler_envs.make("chess")
    with pytest.raises(KeyError, match=f"no version '999' of {game.name}; there is: {game.id}"):
        kepler_envs.make(f"{game.name}-v999")


# ---------------------------------------------------------------- seeds


def trace(env: KeplerEnv, seed: int | None, chooser_seed: int = 0) -> list[Any]:
    """Everything an agent can see of a whole game."""
    env.reset(seed=seed)
    choose = chooser(env.config, chooser_seed)
    seen: list[Any] = []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        seen.append(
            (agent, observation["observation"].tobytes(), observation["action_mask"].tobytes(), reward, str(info))
        )
        env.step(None if terminated or truncated else choose(env.legal_actions()))
    return seen


@few_player_counts
@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_same_seed_same_game(config: Configuration, seed: int) -> None:
    one, two = make(config), make(config)
    first, second = trace(one, seed), trace(one, None)
    assert first != second
    assert trace(two, seed) == first
    assert trace(two, None) == second, "the second episode of a seeded environment"
    assert trace(two, seed) == first, "after other games"
    assert trace(two, seed ^ 1) != first


@every_game
def test_numpy_seeds_are_integers(game: Game) -> None:
    env = kepler_envs.make(game.id)
    assert trace(env, np.int64(7)) == trace(env, np.uint64(7)) == trace(env, 7)  # type: ignore[arg-type]


@every_game
def test_unseeded_games_differ(game: Game) -> None:
    assert trace(kepler_envs.make(game.id), None) != trace(kepler_envs.make(game.id), None)


@every_game
@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", True])
def test_bad_seeds(game: Game, seed: Any) -> None:
    with pytest.raises(ValueError, match=r"allowed: an integer 0\.\.2\*\*64 - 1"):
        kepler_envs.make(game.id).reset(seed=seed)


@few_player_counts
def test_interleaved_games_do_not_disturb_each_other(config: Configuration) -> None:
    expected = [trace(make(config), seed, seed) for seed in range(3)]
    envs = [make(config) for _ in range(3)]
    choosers = [chooser(config, seed) for seed in range(3)]
    seen: list[list[Any]] = [[], [], []]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
    while any(env.agents for env in envs):
        for env, choose, record in zip(envs, choosers, seen, strict=True):
            if env.agents:
                observation, reward, terminated, truncated, info = env.last()
                looks = observation["observation"].tobytes(), observation["action_mask"].tobytes()
                record.append((env.agent_selection, *looks, reward, str(info)))
                env.step(None if terminated or truncated else choose(env.legal_actions()))
    assert seen == expected


# ---------------------------------------------------------------- the life of a game


@every_player_count
def test_spaces(config: Configuration) -> None:
    env = make(config)
    env.reset(seed=1)
    assert env.possible_agents == [f"player_{seat}" for seat in range(config.num_players)]
    for agent in env.possible_agents:
        space = env.observation_space(agent)
        assert space is env.observation_space(agent) and env.action_space(agent) is env.action_space(agent)
        assert env.action_space(agent) == gymnasium.spaces.Discrete(len(config.actions))
        assert space["observation"].shape == (config.observation.size,) and space["observation"].dtype == np.int16
        observation = env.observe(agent)
        assert space.contains(observation)
        assert observation["action_mask"].any() == (agent == env.agent_selection)
    assert env.state_space.contains(env.state())
    parts = [env.observe(agent)["observation"] for agent in env.possible_agents]
    assert np.array_equal(env.state(), np.concatenate(parts))


@every_player_count
def test_the_end_of_a_game(config: Configuration) -> None:
    """Nobody is paid or ended before the end; then all are, and leave one after the other."""
    env = make(config)
    env.reset(seed=5)
    choose = chooser(config, 5)
    seats, blank = set(), {"returns": 0.0, "rank": 0, "score": 0, **config.blank_info()}
    assert not np.any([np.any(value) for value in blank.values()])
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        assert env.agents == env.possible_agents
        assert set(env.rewards.values()) == {0.0} == set(env._cumulative_rewards.values())
        assert env.infos == {agent: {**blank, "seat": seat} for seat, agent in enumerate(env.possible_agents)}
        seats.add(env.agent_selection)
        env.step(choose(env.legal_actions()))
    ranks, scores, returns = env.snapshot().results()
    assert seats == set(env.possible_agents)
    for seat, agent in enumerate(env.possible_agents):
        info = env.infos[agent]
        assert env.terminations[agent] != env.truncations[agent]
        assert type(env.terminations[agent]) is bool and type(env.rewards[agent]) is float
        assert env.rewards[agent] == env._cumulative_rewards[agent] == pytest.approx(float(returns[seat]))
        assert (info["seat"], info["rank"], info["score"]) == (seat, ranks[seat], scores[seat])
        assert info["returns"] == env.rewards[agent]
        assert {name: type(value) for name, value in info.items()} == {
            "seat": int,
            **{name: type(value) for name, value in blank.items()},
        }
        assert set(config.game.info(env.snapshot().state, config.tables[0], seat)) <= set(info)
        assert not env.observe(agent)["action_mask"].any()
    last_states = env.state()
    for left in range(config.num_players, 0, -1):
        assert env.num_agents == left and np.array_equal(env.state(), last_states)
        with pytest.raises(ValueError):
            env.step(0)
        env.step(None)
    assert env.agents == []
    for gone in (lambda: env.step(None), env.last):
        with pytest.raises(RuntimeError, match="reset"):
            gone()


@every_player_count
def test_at_the_end_everybody_sees_with_their_own_eyes(config: Configuration) -> None:
    """Also while the agents that are over leave, one after the other."""
    env = make(config)
    env.reset(seed=2)
    choose = chooser(config, 3)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        if over:
            for other in env.agents:
                own = env.snapshot().observe(env.possible_agents.index(other))
                assert np.array_equal(env.observe(other)["observation"], own)
            assert np.array_equal(observation["observation"], env.snapshot().observe(env.possible_agents.index(agent)))
            assert not observation["action_mask"].any()
        env.step(None if over else choose(env.legal_actions()))


@every_game
def test_nothing_before_reset(game: Game) -> None:
    """Every way in says what is missing; what only a game has is not there yet."""
    env = kepler_envs.make(game.id, render_mode="ansi")
    asked = (
        lambda: env.step(0), lambda: env.observe("player_0"), lambda: env.info("player_0"),
        lambda: env.resample("player_0", 1),
        lambda: list(env.agent_iter()), env.last, env.snapshot, env.state, env.legal_actions, env.render,
        lambda: env.agent_selection,
    )  # fmt: skip
    for ask in asked:
        with pytest.raises(RuntimeError, match=r"no game is running: call reset\(\) first"):
            ask()
    assert env.game_seed is None and not hasattr(env, "agent_selection") and not hasattr(env, "no_such_thing")
    assert repr(env) == f"<KeplerEnv {env.config.label}, no game yet>"
    env.reset(seed=4)
    assert env.game_seed == 4 and f"seed 4, after 0 decisions, {env.agent_selection} to move" in repr(env)


@every_game
def test_libraries_may_ask_for_a_method_seed(game: Game) -> None:
    """Old wrappers call `seed` where there is one: nothing of that name may be in their way."""
    assert not hasattr(kepler_envs.make(game.id), "seed")


@few_player_counts
@pytest.mark.parametrize("place", ["info", "both"])
def test_masks_in_infos(config: Configuration, place: str) -> None:
    """The same game with the masks in the infos; with `info` the observation is the vector alone."""
    plain, env = make(config), make(config, mask_in=place)
    api_test(env, num_cycles=20)
    plain.reset(seed=3)
    env.reset(seed=3)
    choose = chooser(config, 3)
    kept = []
    for agent in plain.agent_iter():
        expected, (seen, *_, info) = plain.last()[0], env.last()
        kept.append((info, info["action_mask"].copy()))
        vector = seen if place == "info" else seen["observation"]
        assert env.agent_selection == agent and np.array_equal(vector, expected["observation"])
        assert env.observation_space(agent).contains(seen)
        for other, info in env.infos.items():
            assert np.array_equal(info["action_mask"], plain.observe(other)["action_mask"])
        over = not plain.legal_actions()
        action = None if over else choose(plain.legal_actions())
        plain.step(action)
        env.step(action)
    assert all(np.array_equal(info["action_mask"], then) for info, then in kept)  # a buffer may keep what it was told
    with pytest.raises(OptionError, match="mask_in = 'nowhere' is not allowed; allowed: observation, info, both"):
        make(config, mask_in="nowhere")


@every_game
def test_copies_and_views(game: Game) -> None:
    """With copies an old observation stays; without, it is the environment's own buffer."""
    env = kepler_envs.make(game.id)
    env.reset(seed=1)
    old = env.last()[0]
    kept = {name: value.copy() for name, value in old.items()}
    for _ in range(10):
        env.step(env.legal_actions()[0])
    assert all(np.array_equal(old[name], kept[name]) for name in kept)
    env = kepler_envs.make(game.id, copy=False)
    env.reset(seed=1)
    first = env.last()[0]["observation"]
    env.step(env.legal_actions()[0])
    assert env.last()[0]["observation"] is first
    mask = env.last()[0]["action_mask"]
    illegal = int(mask.argmin())
    before = env.snapshot()
    mask[:] = 1
    with pytest.raises(IllegalAction):
        env.step(illegal)
    assert env.snapshot().digest() == before.digest()


@every_game
def test_unknown_agent(game: Game) -> None:
    env = kepler_envs.make(game.id)
    env.reset(seed=1)
    with pytest.raises(KeyError, match="there are: player_0"):
        env.observe("player_99")
    with pytest.raises(KeyError, match="there are: player_0"):
        env.resample("player_99", 1)
    for space in (env.observation_space, env.action_space):
        with pytest.raises(KeyError, match="no agent 'player_99'; there are: player_0"):
            space("player_99")
