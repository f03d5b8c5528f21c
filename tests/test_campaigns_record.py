"""The record of the solo campaigns, and the ladder made of it."""

from __future__ import annotations

import io
import threading
from dataclasses import replace

import pytest
from rich.console import Console

from benchmarks import campaigns
from benchmarks.campaigns import GAME, Asked, Line, columns, ladder, measure_all, read, write
from kepler_envs import bots
from kepler_envs.bots.protocol import BotError
from kepler_envs.games.kepler_3042.state import NUM_CAMPAIGNS, NUM_LEVELS
from tests.agents.endings import ends

LINE = Line("greedy", "greedy-2", 0, 1, 50, 30.0, 29.0, 31.0, 0.5, 0.4, 0.6, 77, "abc")
GOES_ON = threading.Event()


def quiet() -> Console:
    return Console(file=io.StringIO(), width=200)


def test_a_level_is_what_the_campaign_plays(tmp_path):
    asked = Asked(("uniform",), games=4, seed=5, out=tmp_path / "record.csv")
    measure_all(asked, GOES_ON, quiet())
    lines = read(asked.out)
    assert [line.key for line in lines] == [
        (level, "uniform", campaign) for level in range(1, 5) for campaign in range(5)
    ]
    (line,) = [line for line in lines if (line.campaign, line.level) == (2, 3)]
    config = GAME.configure(1, campaign=2, level=3)
    played = bots.play_games(bots.load("uniform", config), config, 4, seed=5)
    assert (
        line.points == round(float(played.final_score.mean()), 4) and line.points_low < line.points < line.points_high
    )
    assert line.won == (played.final_return > 0).mean() == 0 and 0 < line.won_high < 1
    assert (line.games, line.seed, line.version) == (4, 5, "")


def test_what_is_known_is_not_played_again_but_other_versions_are(tmp_path, monkeypatch):
    out = tmp_path / "record.csv"
    played: list[tuple[int, int]] = []

    def measured(agent: str, campaign: int, level: int, games: int, seed: int) -> Line:
        played.append((level, campaign))
        return replace(LINE, agent=agent, campaign=campaign, level=level, games=games)

    monkeypatch.setattr(campaigns, "measure", measured)
    write(replace(LINE, version="greedy-1", level=2, campaign=3), out)
    write(replace(LINE, level=2, campaign=4), out)
    write(replace(LINE, level=3, campaign=4, games=49), out)
    measure_all(Asked(("greedy",), games=50, out=out), GOES_ON, quiet())
    assert len(played) == len(set(played)) == 19 and (2, 4) not in played
    measure_all(Asked(("greedy",), games=50, out=out), GOES_ON, quiet())
    assert len(played) == 19
    assert {line.version for line in read(out)} == {"greedy-2"}


def test_fewer_games_do_not_replace_those_that_another_process_played_meanwhile(tmp_path):
    out, more = tmp_path / "record.csv", replace(LINE, games=60)
    for line, kept in (
        (more, more),
        (LINE, more),
        (replace(LINE, version="greedy-3"), replace(LINE, version="greedy-3")),
    ):
        write(line, out)
        assert read(out) == [kept]


def test_stopped_nothing_more_is_played(tmp_path, monkeypatch):
    stop, out = threading.Event(), tmp_path / "record.csv"

    def measured(agent: str, campaign: int, level: int, games: int, seed: int) -> Line:
        stop.set()
        return replace(LINE, campaign=campaign, level=level)

    monkeypatch.setattr(campaigns, "measure", measured)
    assert not measure_all(Asked(("greedy",), games=50, out=out), stop, quiet())
    assert read(out) == [LINE]


def test_stopped_in_the_last_level_all_is_played(tmp_path, monkeypatch):
    stop, out = threading.Event(), tmp_path / "record.csv"

    def measured(agent: str, campaign: int, level: int, games: int, seed: int) -> Line:
        if (level, campaign) == (NUM_LEVELS, NUM_CAMPAIGNS - 1):
            stop.set()
        return replace(LINE, campaign=campaign, level=level)

    monkeypatch.setattr(campaigns, "measure", measured)
    assert measure_all(Asked(("greedy",), games=50, out=out), stop, quiet())
    assert len(read(out)) == NUM_LEVELS * NUM_CAMPAIGNS


def test_a_line_that_is_not_recorded_is_told(tmp_path, monkeypatch):
    """Another process played more games of the level meanwhile."""
    out, printed = tmp_path / "record.csv", quiet()

    def measured(agent: str, campaign: int, level: int, games: int, seed: int) -> Line:
        played = replace(LINE, campaign=campaign, level=level)
        if (level, campaign) == (2, 3):
            write(replace(played, games=60), out)
        return played

    monkeypatch.setattr(campaigns, "measure", measured)
    measure_all(Asked(("greedy",), games=50, out=out), GOES_ON, printed)
    told = printed.file.getvalue()
    assert "greedy, level 2, campaign 3\n  not recorded: the record keeps its line of 60 games, these are 50\n" in told
    assert told.count("not recorded") == 1


def test_the_ladder_is_the_mean_over_the_campaigns():
    points = (20.0, 30.0, 40.0, 50.0, 60.0)
    better = [
        replace(LINE, campaign=campaign, points=value, points_low=value - 2, points_high=value + 2)
        for campaign, value in enumerate(points)
    ]
    worse = [replace(line, agent="uniform", points=line.points - 10, won=0.0) for line in better]
    alone = replace(LINE, agent="mcts:5")  # has not played the other campaigns
    mixed = [replace(line, agent="mcts:9", version=f"greedy-{1 + line.campaign // 3}") for line in better]
    high, low = ladder([*better, *worse, alone, *mixed])[::-1]
    assert low == ("1", "30", "uniform", "30.0 (28.0 .. 32.0)", *["0 %"] * 5, "50")
    assert high == ("1", "30", "greedy", "40.0 (38.0 .. 42.0)", *["50 %"] * 5, "50")
    assert len(columns()) == len(low)


@pytest.mark.parametrize(
    ("agents", "out", "error"), [(("greedy", "gredy"), "record.csv", BotError), (("greedy",), "a" * 300, OSError)]
)
def test_nothing_is_played_if_something_is_wrong(agents, out, error, tmp_path, monkeypatch):
    monkeypatch.setattr(campaigns, "measure", lambda *asked: pytest.fail("played"))
    with pytest.raises(error):
        measure_all(Asked(agents, out=tmp_path / out), GOES_ON, quiet())


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["--agents", "gredy"], "^no bot 'gredy'"),
        (["--games", "0"], "^--games 0 is not allowed; allowed: an integer from 1 on"),
        (["--seed", "-1"], r"^--seed -1 is not allowed; allowed: 0 to 2\*\*64 - 1"),
    ],
)
def test_what_cannot_be_played_is_said(asked, says, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.argv", ["campaigns", *asked, "--out", str(tmp_path / "record.csv")])
    with ends(capsys, says):
        campaigns.main()
    assert not list(tmp_path.iterdir())
