"""Try what an extra brings, with the installed package alone. Runs as a script in an environment with the wheel and
that extra.

    python -I smoke_extras.py EXTRA FOLDER      FOLDER: the working directory, outside the checkout
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

GAME, SEED = "kitten_adventurers", 5
AGENTS = ("greedy", "mcts:100", "bc-v1")


def absent(*names: str) -> None:
    """Check that the extra does not bring these modules."""
    present = [name for name in names if find_spec(name) is not None]
    assert not present, f"{present} came along"


def command(*arguments: str) -> str:
    """The output of a command."""
    program = Path(sys.executable).with_name("kepler-envs")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"kepler-envs {' '.join(arguments)}: {done.stdout}{done.stderr}"
    return done.stdout


def try_cli(folder: Path) -> str:
    """Try every command that plays, with searches and networks, and check that PyTorch is not needed."""
    absent("torch", "stable_baselines3", "agents", "openskill")
    assert GAME in command("list")
    command(
        "watch", GAME, "--players", "3", "--agents", *AGENTS, "--quiet", "--seed", str(SEED), "--save", "watched.jsonl"
    )
    assert "OK" in command("replay", "watched.jsonl", "--delay", "0")
    played = subprocess.run(
        [Path(sys.executable).with_name("kepler-envs"), "play", GAME, "--players", "4", "--agents", *AGENTS],
        input="1\n1\nq\n", capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert played.returncode == 0 and "You leave after" in played.stdout, played.stdout + played.stderr
    command(
        "tournament", GAME, "--players", "3", "--agents", *AGENTS, "--games", "36", "--bootstrap", "40", "--out", "cup"
    )
    assert (
        len(json.loads((folder / "cup" / "leaderboard.json").read_text())["lines"]) == 3
        and (folder / "cup" / "report.html").is_file()
    )
    command("strength", GAME, "--players", "3", "--agents", *AGENTS, "--games", "9", "--out", "strength.csv")
    assert len((folder / "strength.csv").read_text().splitlines()) == 1 + len(AGENTS)
    refused = subprocess.run(
        [Path(sys.executable).with_name("kepler-envs"), "watch", GAME, "--agents", "net:run.zip"],
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 2 and "there is no checkpoint run.zip" in refused.stderr, refused.stderr
    return "play, watch, replay, tournament, strength"


def try_tournament(folder: Path) -> str:
    absent("torch", "tyro", "agents")
    import kepler_envs
    from kepler_envs.terminal import make_console
    from kepler_envs.tournament.run import Tournament

    config = kepler_envs.load_game(GAME).configure(3)
    assert (
        Tournament(config, ("uniform", "greedy"), games=36, bootstrap=40, out=folder / "cup").run(make_console()) == 0
    )
    return f"{len(list((folder / 'cup' / 'replays').iterdir()))} replay of a tournament in Python"


def try_sb3(folder: Path) -> str:
    absent("agents", "tyro", "tensorboard")
    import kepler_envs
    from kepler_envs.adapters.sb3 import PiecePolicy, SharedMaskablePPO, SharedSeatVecEnv, piece_policy

    batch = kepler_envs.make_batch(GAME, num_envs=8, num_players=2, seed=SEED)
    settings = piece_policy(batch.config, width=16, hidden=(16,))
    model = SharedMaskablePPO(PiecePolicy, SharedSeatVecEnv(batch), n_steps=32, batch_size=64, policy_kwargs=settings)
    model.learn(512)
    return f"{model.num_timesteps} decisions learned from"


def try_torchrl(folder: Path) -> str:
    absent("agents", "tyro", "stable_baselines3")
    from kepler_envs.adapters.torchrl import make_torchrl

    return f"a rollout of {len(make_torchrl(GAME, num_players=2).rollout(5))} decisions"


def try_openspiel(folder: Path) -> str:
    absent("agents", "tyro", "torch")
    import pyspiel

    from kepler_envs.adapters.openspiel import KeplerGame  # registers the games

    game = pyspiel.load_game(f"kepler_{GAME}", {"players": 2})
    assert isinstance(game, KeplerGame)
    state = game.new_initial_state()
    dice, decisions = np.random.default_rng(SEED), 0
    while not state.is_terminal():
        known = state.chance_outcomes() if state.is_chance_node() else None
        state.apply_action(int(known[0][0] if known else dice.choice(state.legal_actions())))
        decisions += 1
    assert abs(sum(state.returns())) < 1e-5
    return f"a game of {decisions} actions"


def try_analysis(folder: Path) -> str:
    absent("agents", "torch", "tyro")
    import kepler_envs
    from kepler_envs.terminal import make_console
    from kepler_envs.tournament.run import Tournament

    config, agents = kepler_envs.load_game(GAME).configure(4), ("uniform", "greedy", "bc-v1")
    assert Tournament(config, agents, games=36, bootstrap=40, out=folder / "cup").run(make_console()) == 0
    metagame = json.loads((folder / "cup" / "leaderboard.json").read_text())["metagame"]
    assert len(metagame) == 3, metagame
    return "alpha-rank and Nash averaging of three bots"


def try_web(folder: Path) -> str:
    """Check that the server answers with its pages, and that a replay becomes a page."""
    absent("torch", "httpx2", "playwright", "agents")
    from urllib.request import urlopen

    command("watch", GAME, "--agents", "greedy", "--quiet", "--save", "game.jsonl")
    command("replay", "game.jsonl", "--html", "game.html")
    program = Path(sys.executable).with_name("kepler-envs")
    words = [program, "serve", "game.jsonl", "--port", "0", "--folder", "tables"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        link = server.stdout.readline().split()[1]
        server.stdout.readline()
        for page in (link, link.replace("/host/", "/api/host/"), link.partition("/host/")[0] + "/static/host.js"):
            with urlopen(page, timeout=60) as answer:
                assert answer.status == 200
    finally:
        server.terminate()
        server.wait(60)
    return f"a page of {(folder / 'game.html').stat().st_size:,} bytes, and a server"


def try_ray(folder: Path) -> str:
    """Play a tournament on a cluster that it starts."""
    absent("agents", "torch")
    command(
        "tournament",
        GAME,
        "--agents",
        "uniform",
        "greedy",
        "--games",
        "24",
        "--bootstrap",
        "40",
        "--processes",
        "1",
        "--out",
        "rays",
        "--ray",
    )
    lines = json.loads((folder / "rays" / "leaderboard.json").read_text())["lines"]
    return f"a tournament of {len(lines)} bots"


def try_rllib(folder: Path) -> str:
    absent("agents", "tyro", "stable_baselines3")
    from kepler_envs.adapters.rllib import SHARED, SeatsEnv, masked_ppo

    env = SeatsEnv({"game": GAME, "num_players": 2})
    ((_, seen),) = env.reset(seed=SEED)[0].items()
    module = masked_ppo(GAME, num_players=2).rl_module_spec.rl_module_specs[SHARED].build()
    return f"a network for {module.action_space.n} actions and {len(seen['observations'])} inputs"


def main(extra: str, folder: Path) -> None:
    import kepler_envs

    here = Path(kepler_envs.__file__).parent
    assert "site-packages" in here.parts, f"kepler_envs comes from {here}, not from the wheel"
    print(f"[{extra}] {globals()[f'try_{extra}'](folder)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
