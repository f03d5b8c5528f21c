"""Whose choices win: mixtures of two bots, node by node."""

from __future__ import annotations

import io
import threading
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import kepler_envs
from benchmarks import ablation
from benchmarks.ablation import Ablation, Compared, Mixed, ablate, main, run
from kepler_envs import bots
from kepler_envs.bots.protocol import TrustedDecisions
from kepler_envs.engine.seeds import stream_seed
from kepler_envs.tournament.pairing import Results, parts_of, play_against
from tests.agents.endings import ends

GAME, PLAYERS = "kitten_adventurers", 3
CONFIG = kepler_envs.load_game(GAME).configure(PLAYERS)
PLAY = int(CONFIG.game.nodes["PLAY"])
ASKED = Ablation(GAME, "uniform", players=PLAYERS, games=60, side_by_side=24)
GOES_ON = threading.Event()
PARTS = (24, 24, 12)


def wins(learner: bots.Bot) -> list[float]:
    """Of the same games, played without the benchmark."""
    won: list[float] = []
    for games in PARTS:
        won += play_against(learner, bots.load("greedy", CONFIG), CONFIG, games, stream_seed(7, len(won))).wins.tolist()
    return won


class GreedyAtPlays:
    """Made up by hand: uniform, but plays of cards by greedy."""

    name = "made up"

    def __init__(self) -> None:
        self.bots = {False: bots.load("uniform", CONFIG), True: bots.load("greedy", CONFIG)}

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        for bot in self.bots.values():
            bot.start(rows, seeds)

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        actions = []
        for row in decisions.rows:
            bot = self.bots[bool(decisions.batch.states["node"][row] == PLAY)]
            actions.append(bot.act(TrustedDecisions(decisions.batch, np.array([row])))[0])
        return np.array(actions)


def test_rows_are_the_games_of_mixtures():
    rows = {row.name: row for row in ablate(ASKED, GOES_ON)}
    assert list(rows)[0] == "nothing" and list(rows)[-1] == "everything"
    assert rows["nothing"].wins.tolist() == wins(bots.load("uniform", CONFIG))
    assert rows["everything"].wins.tolist() == wins(bots.load("greedy", CONFIG))
    assert rows["play"].wins.tolist() == wins(GreedyAtPlays())
    assert rows["nothing"].share().mean < 0.1 < rows["play"].share().mean
    kinds = list(rows.values())[1:-1]
    assert sum(row.decisions for row in kinds) == rows["everything"].decisions > 0
    assert sum(row.otherwise for row in kinds) == rows["everything"].otherwise


def test_a_kind_of_node_that_comes_up_late_has_a_row():
    """With one deal at a time: its row is that of all its games, played as if it had been known from the start."""
    asked = Ablation("race_to_kepler", "uniform", players=2, games=40, side_by_side=2)
    rows = {row.name: row for row in ablate(asked, GOES_ON)}
    kinds = list(rows.values())[1:-1]
    assert sum(row.decisions for row in kinds) == rows["everything"].decisions
    assert all(len(row.wins) == 40 for row in kinds)
    config = asked.configuration()
    replay = rows["replay"]
    assert 0 < replay.decisions < 40  # seldom, and not in the first deal
    agent, other = bots.load("uniform", config), bots.load("greedy", config)
    won = [
        play_against(Mixed(agent, other, replay.nodes), other, config, part.games, part.seed).wins
        for part in parts_of(40, 2, 2, asked.seed)
    ]
    assert replay.wins.tolist() == np.concatenate(won).tolist()


def test_a_bot_in_its_own_place_changes_nothing():
    rows = ablate(Ablation(GAME, "greedy", players=PLAYERS, games=30), GOES_ON)
    for row in rows:
        gain = row.gain(rows[0])
        assert (row.wins == rows[0].wins).all() and row.otherwise == 0
        assert (gain.mean, gain.low, gain.high) == (0.0, 0.0, 0.0)


def test_choices_are_counted_by_node():
    """By hand: all decisions of a uniform seat, and those in which greedy would choose otherwise."""
    uniform, greedy = bots.load("uniform", CONFIG), bots.load("greedy", CONFIG)
    compared = Compared(uniform, greedy)
    seen: list[tuple[int, bool]] = []

    class Watched:
        name = "watched"
        start = compared.start

        def act(self, decisions: TrustedDecisions) -> np.ndarray:
            actions = compared.act(decisions)
            nodes = decisions.batch.states["node"][decisions.rows].tolist()
            seen.extend(zip(nodes, (actions != greedy.act(decisions)).tolist(), strict=True))
            return actions

    play_against(Watched(), bots.load("uniform", CONFIG), CONFIG, 9, 5)
    for node in {node for node, _ in seen}:
        assert compared.decisions[node] == sum(at == node for at, _ in seen)
        assert compared.otherwise[node] == sum(other for at, other in seen if at == node)
    assert compared.decisions.sum() == len(seen) > compared.otherwise.sum() > 0


@pytest.mark.parametrize("nodes", [(), tuple(range(len(CONFIG.game.nodes)))])
def test_one_of_two_bots_is_not_asked_in_vain(nodes):
    class Silent:
        name = "silent"

        def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
            pass

        def act(self, decisions: TrustedDecisions) -> np.ndarray:
            pytest.fail("asked")

    greedy = bots.load("greedy", CONFIG)
    mixed = Mixed(Silent(), greedy, nodes) if nodes else Mixed(greedy, Silent(), nodes)
    assert len(play_against(mixed, bots.load("uniform", CONFIG), CONFIG, 3, 1).wins) == 3


def test_stopped_all_rows_have_the_same_deals():
    stop = threading.Event()
    stop.set()
    told: list[tuple[int, int]] = []
    rows = ablate(ASKED, stop, lambda games, number: told.append((games, number)))
    assert {len(row.wins) for row in rows} == {24} and told == [(24, len(rows))] * len(rows)


@pytest.mark.parametrize(("part", "code"), [(1, 130), (2, 130), (3, 0)])
def test_stopped_in_the_last_deals_all_is_played(part, code, monkeypatch):
    """60 games, 24 at a time."""
    stop, seeds = threading.Event(), []

    def play(*asked: Any) -> Results:
        seeds.append(asked[-1])
        if len(set(seeds)) == part:
            stop.set()
        return play_against(*asked)

    monkeypatch.setattr(ablation, "play_against", play)
    monkeypatch.setattr(ablation, "stop_on_signals", lambda console, message: nullcontext(stop))
    assert run(ASKED, Console(file=io.StringIO(), width=220)) == code


def test_the_command_prints_a_table():
    output = io.StringIO()
    assert run(ASKED, Console(file=output, width=220)) == 0
    printed = output.getvalue()
    assert (
        "kitten_adventurers-v1, 3 players: uniform, with choices by greedy, against greedy; 60 games per row, seed 7"
        in printed
    )
    assert "an equal share is 33.3%" in printed
    assert [word in printed for word in ("nothing", "play", "everything", "more than alone")] == [True] * 4


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["--agent", "gredy"], "^no bot 'gredy'"),
        (["--agent", "uniform", "--games", "0"], "^--games 0 is not allowed; allowed: an integer from 1 on"),
        (["--agent", "uniform", "--side-by-side", "0"], "^--side-by-side 0 is not allowed"),
        (["--agent", "uniform", "--seed", "-1"], r"^--seed -1 is not allowed; allowed: 0 to 2\*\*64 - 1"),
    ],
)
def test_what_cannot_be_played_is_said(asked, says, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["ablation", GAME, *asked])
    with ends(capsys, says):
        main()
