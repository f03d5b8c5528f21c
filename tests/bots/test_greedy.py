"""The greedy policies: strong, honest, the same compiled and uncompiled."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import kepler_envs
from kepler_envs import bots
from kepler_envs.bots.greedy import greedy_games, greedy_version
from kepler_envs.bots.protocol import TrustedDecisions
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.tournament.play import Players
from kepler_envs.tournament.schedule import ScheduledGame
from kepler_envs.tournament.standings import share
from tests.effort import games_to_play, slow

GAMES = greedy_games()

LEAST_WINS = {
    ("kitten_adventurers", 2): 0.97, ("kitten_adventurers", 4): 0.93, ("kitten_adventurers", 8): 0.70,
    ("kepler_run", 2): 0.97, ("kepler_run", 4): 0.97, ("ad_astra", 3): 0.94, ("ad_astra", 4): 0.89,
    ("race_to_kepler", 2): 0.97, ("race_to_kepler", 3): 0.97, ("race_to_kepler", 4): 0.97,
    ("kepler_3042", 2): 0.97, ("kepler_3042", 4): 0.97,
}  # fmt: skip
"""Share of wins of one greedy against uniform players that is far below what was measured: 0.9999, 0.983, 0.845 over
20,160 games of Kitten Adventurers, 1.000 and 1.000 over 2,000 games of Kepler Run, 0.982 and 0.950 over 3,000 games of
Ad Astra, 0.999, 0.998 and 0.996 over 2,000 games of Race to Kepler, 1.000 and 1.000 over 4,000 games of Kepler-3042."""

LEAST_SCORES = {("kepler_3042", 2): 25, ("kepler_3042", 4): 25}
"""Mean score that is far below what was measured where a strength in points is asked for: 29.4 and 29.2 in the same
games, by version 1."""


def one_against_uniform(game: str, num_players: int, games: int) -> tuple[np.ndarray, np.ndarray]:
    """Wins (a shared one in part) and scores of one greedy player, its seat going round."""
    config = kepler_envs.load_game(game).configure(num_players)
    players = Players(("greedy", "uniform"), config, whole_games=False)  # compiling whole games takes longer than these
    scheduled = []
    for number in range(games):
        seated = tuple(0 if seat == number % num_players else 1 for seat in range(num_players))
        own = tuple(1000 + 2 * number + agent for agent in seated)
        scheduled.append(ScheduledGame(number, seated, number // num_players, own))
    wins, scores = [], []
    for result in players.play(scheduled):
        seat = result.number % num_players
        wins.append((result.ranks[seat] == 1) / result.ranks.count(1))
        scores.append(result.scores[seat])
    return np.array(wins), np.array(scores)


@pytest.mark.parametrize(("game", "num_players"), LEAST_WINS)
def test_greedy_beats_uniform(game, num_players):
    wins, scores = one_against_uniform(game, num_players, games_to_play(800))
    assert share(wins).low > LEAST_WINS[game, num_players]
    assert scores.mean() > LEAST_SCORES.get((game, num_players), 0)


def test_every_greedy_policy_is_measured():
    assert {game for game, _ in LEAST_WINS} == set(GAMES)


PLAYED = {
    "kitten_adventurers": (1, "a68d1f52b405ac9a"), "kepler_run": (1, "d2737162f0cc3b8b"),
    "ad_astra": (1, "08aaa2755235d847"), "race_to_kepler": (1, "103f95660e4c7678"),
    "kepler_3042": (2, "dba09395c7319b79"),
}  # fmt: skip
"""The version of each greedy, and a digest of the games it plays."""


@pytest.mark.parametrize("game", GAMES)
def test_the_version_of_greedy_says_how_it_plays(game):
    """Records compare results by its version. Whoever changes a choice has to raise it."""
    registered, digest = kepler_envs.load_game(game), hashlib.sha256()
    for num_players in range(registered.min_players, registered.max_players + 1):
        players = Players(("greedy",), registered.configure(num_players), whole_games=False)
        everyone = (0,) * num_players
        own = tuple(range(num_players))
        games = [ScheduledGame(number, everyone, number, own) for number in range(50)]
        for result in sorted(players.play(games), key=lambda result: result.number):
            digest.update(f"{result.number} {result.scores} {result.ranks}\n".encode())
    assert (greedy_version(game), digest.hexdigest()[:16]) == PLAYED[game]


@pytest.mark.parametrize("game", GAMES)
def test_a_choice_does_not_depend_on_what_the_seat_cannot_know(game):
    registered = kepler_envs.load_game(game)
    for num_players in (registered.min_players, registered.default_players, registered.max_players):
        config = registered.configure(num_players)
        versions = 8
        greedy, batch = bots.load("greedy", config), Batch(config, versions, 0)
        rows = np.arange(versions)
        for seed in range(games_to_play(2)):
            position, decision = Snapshot.deal(config, seed), 0
            while not position.over:
                batch.restore(0, position)
                for row in range(1, versions):
                    batch.restore(row, position.resample(position.seat, 1000 * decision + row))
                greedy.start(rows, np.full(versions, decision, np.uint64))
                actions = greedy.act(TrustedDecisions(batch, rows))
                assert set(actions) == {actions[0]}, f"{game}, {num_players} players, seed {seed}, decision {decision}"
                position, decision = position.apply(int(actions[0])), decision + 1


PLAY_ONE = """
import json
import numpy as np
import kepler_envs
from kepler_envs import bots
from kepler_envs.engine.batch import Batch
config = kepler_envs.load_game({game!r}).configure()
greedy, batch, row, actions = bots.load("greedy", config), Batch(config, 1, 5), np.array([0]), []
greedy.start(row, np.array([6], np.uint64))
while not batch.episodes[0]:
    actions.append(int(greedy.act(bots.TrustedDecisions(batch, row))[0]))
    batch.step(np.array(actions[-1:]))
print(json.dumps([actions, batch.final_rank[0].tolist()]))
"""


@slow
@pytest.mark.parametrize("game", GAMES)
def test_uncompiled_equals_compiled(game):
    def play(**environment: str) -> list:
        ran = subprocess.run(
            [sys.executable, "-c", PLAY_ONE.format(game=game)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    assert play(NUMBA_DISABLE_JIT="1") == play(NUMBA_DISABLE_JIT="0")
