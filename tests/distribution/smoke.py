"""Play every game once, with the installed package alone. Runs as a script in an environment with nothing but the
wheel.

    python -I smoke.py FOLDER      FOLDER: for the replays
"""

from __future__ import annotations

import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo

import kepler_envs
from kepler_envs import bots
from kepler_envs.engine.replay import configuration_of, read_replay, record, verify, write_replay

SEED = 5
ABSENT = ("torch", "stable_baselines3", "agents", "rich", "tyro")


def play(name: str, folder: Path) -> str:
    """Play a random game through PettingZoo, then its replay. Returns a line about it."""
    env = pettingzoo.make("aec", f"kepler/{kepler_envs.load_game(name).id}")
    env.reset(seed=SEED)
    for agent in env.possible_agents:
        env.action_space(agent).seed(SEED)
    actions: list[int] = []
    for agent in env.agent_iter():
        seen, _, terminated, truncated, info = env.last()
        assert env.observation_space(agent).contains(seen), f"{name}: an observation outside its space"
        if terminated or truncated:
            env.step(None)
            continue
        assert seen["action_mask"].any(), f"{name}: nothing to decide"
        action = int(env.action_space(agent).sample(seen["action_mask"]))
        actions.append(action)
        env.step(action)
    played = env.unwrapped
    assert set(info) >= {"returns", "rank", "score"}, f"{name}: infos without results"
    path = folder / f"{name}.jsonl"
    write_replay(path, record(played.config, SEED, actions))
    replay = read_replay(path)
    final = verify(replay, configuration_of(replay, kepler_envs.load_game))
    assert final == played.snapshot(), f"{name}: the replay ends in another position"
    assert np.array_equal(final.observe(0), played.observe("player_0")["observation"])
    entries, ids = len(played.config.observation.low), len(played.config.actions)
    return f"{name:20} {len(actions):4} decisions, observation {entries:4}, ids {ids:3}, replay verified"


def sit_down(name: str) -> None:
    """Make a few decisions of one seat, through Gymnasium."""
    env = gymnasium.make(f"kepler/{kepler_envs.load_game(name).id}")
    observation, info = env.reset(seed=SEED)
    for _ in range(5):
        assert env.observation_space.contains(observation)
        observation, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        if terminated or truncated:
            break


def ask_bots(name: str) -> None:
    """Let a network and a search decide, with NumPy alone."""
    game = kepler_envs.load_game(name)
    config = game.configure(4 if game.max_players >= 4 else game.max_players)
    for spec in ("uniform", "greedy", "mcts:5", "bc-v1"):
        bot, batch, rows = bots.load(spec, config), kepler_envs.Batch(config, 2, SEED), np.arange(2)
        bot.start(rows, batch.seed)
        batch.step(bot.act(bots.TrustedDecisions(batch, rows)))


def main(folder: Path) -> None:
    here = Path(kepler_envs.__file__).parent
    assert "site-packages" in here.parts, f"kepler_envs comes from {here}, not from the wheel"
    present = [name for name in ABSENT if find_spec(name) is not None]
    assert not present, f"not a clean environment: {present} are installed"
    assert files("kepler_envs").joinpath("py.typed").is_file(), "no py.typed"
    print(f"Python {sys.version.split()[0]}, kepler_envs {kepler_envs.__version__}")
    for name in kepler_envs.list_games():
        print(play(name, folder), flush=True)
        sit_down(name)
    ask_bots("kitten_adventurers")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
