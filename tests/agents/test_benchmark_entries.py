"""Entries that others hand in: the check reports what is wrong, each thing alone and all together."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agents.benchmark import tables
from agents.benchmark.__main__ import INTERRUPTED, Check, Measure, main
from agents.benchmark.entry import MOST_BYTES, agent_version, check, read_curve, read_entry, write_entry
from agents.benchmark.methods import METHODS
from agents.benchmark.protocol import FORMAT, POOL, SEARCH, TASKS, most_decisions, task_of
from agents.benchmark.records import CurvePoint, Result
from kepler_envs.bots.protocol import BotError
from kepler_envs.records import read_lines, write_lines
from kepler_envs.terminal import make_console
from tests.agents.endings import ends
from tests.effort import only_deep, slow

BUDGET, SEEDS = 50_000, 2

AGENT = '''
import time

import numpy as np


class First:
    """The first legal id."""

    def __init__(self, config):
        self.calls = 0

    def start(self, rows, seeds):
        pass

    def act(self, decisions):
        return decisions.action_mask.argmax(1)


class Illegal(First):
    def act(self, decisions):
        return decisions.action_mask.argmin(1)


class Restless(First):
    def act(self, decisions):
        return np.array([np.random.choice(legal) for legal in decisions.legal_actions])


class Broken(First):
    def act(self, decisions):
        raise RuntimeError("out of order")


class Lacks(First):
    def __init__(self, config):
        self.weights = np.load("weights.npz")


class Hangs(First):
    def act(self, decisions):
        time.sleep(600)


class HangsWhenMade(First):
    def __init__(self, config):
        time.sleep(600)
'''


def valid(seeds: Sequence[int] = range(SEEDS)) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "game": "kitten_adventurers-v1",
        "players": 4,
        "method": "first",
        "kind": "other",
        "about": "always the first legal action",
        "command": "none",
        "code": "here",
        "budget": BUDGET,
        "known": ["greedy"],
        "hardware": "a pencil",
        "runs": [
            {
                "seed": seed,
                "decisions": BUDGET,
                "hours": 1,
                "agent": f"python:seed-{seed}/agent.py:First",
                "curve": f"seed-{seed}/curve.csv",
            }
            for seed in seeds
        ],
    }


def add_run(folder: Path, seed: int) -> None:
    """Add the files of a training run."""
    home = folder / f"seed-{seed}"
    home.mkdir(exist_ok=True)
    (home / "agent.py").write_text(AGENT)
    (home / "weights.txt").write_text(f"what seed {seed} learned")
    (home / "curve.csv").write_text(
        f"decisions,hours,returns,games\n0,0,-0.3,100\n25000,0.5,0.1,100\n{BUDGET},1,0.2,100\n"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An entry in which nothing is wrong."""
    for seed in range(SEEDS):
        add_run(tmp_path, seed)
    write(tmp_path, valid())
    return tmp_path


@pytest.fixture
def unplayed(monkeypatch) -> None:
    """Loads no agent, for tests that need none."""
    monkeypatch.setattr("agents.benchmark.entry._about_play", lambda *_: iter(()))


def write(folder: Path, saved: Any) -> None:
    (folder / "entry.json").write_text(json.dumps(saved))


def only_problem(folder: Path) -> str:
    problems = check(folder, BUDGET, SEEDS)
    assert len(problems) == 1, problems
    return problems[0]


def test_nothing_is_wrong_with_a_valid_entry(folder):
    assert check(folder, BUDGET, SEEDS) == []
    entry = read_entry(folder)
    assert entry.task == task_of("kitten_adventurers") and entry.runs[1].hours == 1.0
    write_entry(folder, entry)
    assert read_entry(folder) == entry


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_name_that_an_entry_may_have(folder, unplayed, method):
    write(folder, {**valid(), "method": method})
    assert check(folder, BUDGET, SEEDS) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other-1"}, f"format is 'other-1'; it must be '{FORMAT}'"),
        ({"game": "kitten_adventurers-v0"}, "game and players are 'kitten_adventurers-v0' with 4; allowed: kitten_adv"),
        ({"players": 3}, "with 3; allowed: kitten_adventurers-v1 with 4, "),
        ({"players": "4"}, "players is '4'; it must be of type int"),
        (
            {"method": "My Method"},
            "method is 'My Method'; write lower-case letters and digits, with single hyphens or points",
        ),
        ({"method": "lr-0..2"}, "method is 'lr-0..2'; write lower-case letters and digits, "),
        ({"method": "../flat"}, "method is '../flat'; write lower-case letters and digits, "),
        ({"method": "flat."}, "method is 'flat.'; write lower-case letters and digits, "),
        ({"method": "greedy"}, "and no name of a bot"),
        ({"kind": "magic"}, "kind is 'magic'; allowed: network, residual, search, other"),
        ({"budget": 7}, "budget is 7 decisions; it must be 50,000"),
        ({"known": ["alphago"]}, "known names 'alphago'; the pool has uniform, greedy, bc-v1"),
        ({"known": [3]}, "known holds something other than names of bots"),
        ({"hardware": " "}, "hardware is empty"),
        ({"score": 2.0}, "score is unknown; there are game, "),
    ],
)
def test_what_an_entry_must_say(folder, unplayed, changes, message):
    write(folder, {**valid(), **changes})
    if "budget" in changes:  # then its runs are too long as well
        assert any(message in problem for problem in check(folder, BUDGET, SEEDS))
    else:
        assert message in only_problem(folder)


def test_a_missing_column_is_named(folder):
    saved = valid()
    del saved["hardware"], saved["runs"][1]["hours"]
    write(folder, saved)
    assert check(folder, BUDGET, SEEDS) == ["entry.json: hardware is missing", "entry.json: runs[1].hours is missing"]
    with pytest.raises(BotError, match="hardware is missing"):
        read_entry(folder)


def test_a_folder_without_an_entry(folder):
    (folder / "entry.json").write_text("{")
    assert "entry.json is not JSON" in only_problem(folder)
    (folder / "entry.json").write_text("[" * 100_000)
    assert "entry.json is not JSON: maximum recursion depth exceeded" in only_problem(folder)
    (folder / "entry.json").unlink()
    (folder / "entry.json").mkdir()
    assert only_problem(folder).startswith("entry.json cannot be read: [Errno 21]")
    (folder / "entry.json").rmdir()
    assert only_problem(folder) == f"there is no {folder / 'entry.json'}"


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "a" * 300])
def test_no_curve_can_have_such_a_name(name, tmp_path):
    with pytest.raises(BotError, match="^it cannot be read: "):
        read_curve(tmp_path / name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decisions": 10**6}, "runs[0].decisions is 1,000,000; allowed: 1..66,384"),
        ({"hours": 0}, "runs[0].hours is 0.0; it must be above 0"),
        ({"hours": 10**400}, "runs[0].hours is inf; it must be above 0"),
        ({"curve": "seed-0/\0.csv"}, r"runs[0].curve is 'seed-0/\x00.csv'; no file has such a name"),
        ({"seed": 1}, "runs have seeds [1, 1]; each may appear once"),
        ({"seed": -1}, "runs[0].seed is -1"),
        ({"seed": True}, "runs[0].seed is True; it must be of type int"),
        ({"agent": "python:seed-0/other.py:First"}, "runs[0].agent is seed-0/other.py; there is no such file"),
        ({"agent": "python:../agent.py:First"}, "runs[0].agent is ../agent.py; it must lie in the folder of the entry"),
        (
            {"agent": "python:seed-0/agent.py"},
            "runs[0].agent is 'python:seed-0/agent.py'; write python:FOLDER/FILE.py:NAME",
        ),
        ({"curve": "/etc/passwd"}, "runs[0].curve is /etc/passwd; it must lie in the folder of the entry"),
        ({"agent": "agent.zip"}, "runs[0].agent is 'agent.zip'; it must lie in a folder of its own, such as seed-0"),
        *(
            ({name: f"{before}{bad}{after}"}, f"runs[0].{name} is {f'seed-0/{bad}{end}'!r}; no file has such a name")
            for name, before, after, end in (
                ("agent", "seed-0/", ".zip", ".zip"),
                ("agent", "python:seed-0/", ".py:First", ".py"),
                ("curve", "seed-0/", ".csv", ".csv"),
            )
            for bad in ("\0", "\ud800", "a" * 300)
        ),
    ],
)
def test_what_a_run_must_say(folder, unplayed, changes, message):
    saved = valid()
    saved["runs"][0].update(changes)
    write(folder, saved)
    problems = check(folder, BUDGET, SEEDS)
    assert any(message in problem for problem in problems), problems


@pytest.mark.parametrize("name", ["agent", "curve"])
@pytest.mark.parametrize("path", ["/etc/passwd", "../beside/file.txt"])
def test_files_elsewhere_are_not_looked_at(folder, unplayed, name, path):
    """The words of a file are no business of an entry, and the folder of its agent may be the whole disk."""
    (folder.parent / "beside").mkdir(exist_ok=True)
    (folder.parent / "beside" / "file.txt").write_text("secret")
    saved = valid()
    saved["runs"][0][name] = path
    write(folder, saved)
    assert only_problem(folder) == f"entry.json: runs[0].{name} is {path}; it must lie in the folder of the entry"


@pytest.mark.parametrize("name", ["about", "command", "code", "hardware"])
@pytest.mark.parametrize("text", ["two\nlines", "\ud800", "\x1b[2J"])
def test_texts_of_an_entry_can_be_printed(folder, unplayed, name, text):
    write(folder, {**valid(), name: text})
    assert only_problem(folder) == (
        f"entry.json: {name} is {text!r}; it must be one line of characters that can be printed"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agent": "seed-0/curve.csv"}, "it cannot play: "),
        ({"agent": "python:seed-0/agent.py:Second"}, "it cannot play: "),
        ({"agent": "python:seed-0/agent.py:Illegal"}, "it cannot play: "),
        ({"agent": "python:seed-0/agent.py:Broken"}, "it cannot play: "),
        ({"agent": "python:seed-0/agent.py:Restless"}, "equal seeds give different games"),
    ],
)
def test_how_an_agent_must_play(folder, changes, message):
    saved = valid()
    saved["runs"][0].update(changes)
    write(folder, saved)
    problems = check(folder, BUDGET, SEEDS)
    assert len(problems) == 1 and message in problems[0], problems


@pytest.mark.parametrize(
    ("agent", "lines", "reason"),
    [
        ("Broken", "raise RuntimeError", "RuntimeError: out of order"),
        ("Lacks", 'np.load("weights.npz")', "FileNotFoundError: [Errno 2] No such file or directory: 'weights.npz'"),
    ],
)
def test_why_an_agent_cannot_play(folder, agent, lines, reason):
    saved = valid()
    saved["runs"][0]["agent"] = f"python:seed-0/agent.py:{agent}"
    write(folder, saved)
    number = next(number for number, line in enumerate(AGENT.splitlines(), 1) if lines in line)
    assert only_problem(folder) == f"python:seed-0/agent.py:{agent}: it cannot play: agent.py, line {number}: {reason}"


def test_an_agent_that_never_answers_ends_no_check(folder, monkeypatch):
    monkeypatch.setattr("agents.benchmark.entry.TRIAL_SECONDS", 0.5)
    saved = valid()
    saved["runs"][0]["agent"] = "python:seed-0/agent.py:Hangs"
    write(folder, saved)
    found = re.sub(r"after 0\.\d+ s", "after a while", only_problem(folder))
    assert found.startswith("python:seed-0/agent.py:Hangs: it cannot play: ")
    assert found.endswith("cut off after a while; 0.5 s were allowed")


def test_an_agent_that_is_never_made_ends_no_check(folder, monkeypatch):
    monkeypatch.setattr("agents.benchmark.entry.START_SECONDS", 0.5)
    saved = valid()
    saved["runs"][0]["agent"] = "python:seed-0/agent.py:HangsWhenMade"
    write(folder, saved)
    found = check(folder, BUDGET, SEEDS)[0]  # half a second is too little for the other agent, too
    assert found.startswith("python:seed-0/agent.py:HangsWhenMade: it cannot play: ")
    assert found.endswith("cut off while it was made; 0.5 s were allowed")


def test_each_run_has_an_agent_of_its_own(folder, unplayed):
    """Copies of one agent would look like a method whose runs never differ."""
    message = "entry.json: runs[1].agent has the same files as that of runs[0]; each run trains its own"
    saved = valid()
    saved["runs"][1]["agent"] = saved["runs"][0]["agent"]
    write(folder, saved)
    assert only_problem(folder) == message
    write(folder, valid())
    shutil.copy(folder / "seed-0" / "weights.txt", folder / "seed-1")
    assert only_problem(folder) == message


def test_each_run_has_a_network_of_its_own(folder, unplayed):
    """A checkpoint is the whole agent, whatever lies beside it."""
    saved = valid()
    for run in saved["runs"]:
        run["agent"] = f"seed-{run['seed']}/agent.zip"
        (folder / run["agent"]).write_bytes(b"weights")
    write(folder, saved)
    assert only_problem(folder).startswith("entry.json: runs[1].agent has the same files as that of runs[0]")


def test_each_run_has_a_curve_of_its_own(folder, unplayed):
    saved = valid()
    saved["runs"][1]["curve"] = "seed-1/../seed-0/curve.csv"
    write(folder, saved)
    assert only_problem(folder) == "entry.json: runs[1].curve is the file of runs[0]; each run has its own"


def test_a_check_says_how_much_of_its_budget_a_run_used(folder, unplayed):
    """It may end sooner, as a run whose next generation would exceed the budget. But it may also be a slip."""
    saved = valid()
    saved["runs"][0]["decisions"] = 25_000
    (folder / "seed-0" / "curve.csv").write_text("decisions,hours,returns,games\n0,0,-0.3,100\n25000,0.5,0.1,100\n")
    write(folder, saved)
    told: list[str] = []
    assert check(folder, BUDGET, SEEDS, told.append) == []
    assert told == [
        "runs[0]: seed 0, 25,000 of 50,000 decisions, python:seed-0/agent.py:First",
        "runs[1]: seed 1, 50,000 of 50,000 decisions, python:seed-1/agent.py:First",
    ]


def test_an_agent_that_is_no_python(folder):
    (folder / "seed-1" / "agent.py").write_text("x = 1\ny = (\n")
    found = only_problem(folder)
    assert found == "python:seed-1/agent.py:First: it cannot play: agent.py, line 2: SyntaxError: '(' was never closed"


def test_an_agent_may_have_modules_beside_it(folder):
    """Each agent its own, also of the same name, also where it imports them late. They belong to its version."""
    for seed, action in enumerate(("argmax", "argmin")):
        home = folder / f"seed-{seed}"
        (home / "agent.py").write_text(AGENT.replace("decisions.action_mask.argmax(1)", "helper().pick(decisions)"))
        with (home / "agent.py").open("a") as file:
            file.write("\n\ndef helper():\n    import picking\n\n    return picking\n")
        (home / "picking.py").write_text(f"def pick(decisions):\n    return decisions.action_mask.{action}(1)\n")
    found = only_problem(folder)
    assert (
        found.startswith("python:seed-1/agent.py:First: it cannot play: ") and "returned the id 0; legal were " in found
    )
    entry = read_entry(folder)
    first, second = (agent_version(folder, run) for run in entry.runs)
    assert first != second
    for name in ("picking.py", "weights.txt"):
        shutil.copy(folder / "seed-0" / name, folder / "seed-1")
    assert agent_version(folder, entry.runs[1]) == first


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps,returns\n1,2\n", "its columns are ['steps', 'returns']; they must be decisions,hours,returns,games"),
        (f"decisions,hours,returns,games\n0,0,x,1\n{BUDGET},1,0,1\n", "line 2 holds something other than numbers"),
        (
            f"decisions,hours,returns,games\n0,0,0,1\n{BUDGET},1,0,1,7\n",
            "line 3 has more or fewer values than decisions,",
        ),
        (f"decisions,hours,returns,games\n0,0,0\n{BUDGET},1,0,1\n", "line 2 has more or fewer values than decisions,"),
        (f"decisions,hours,returns,games\n0,0,0,{'1' * 200_000}\n{BUDGET},1,0,1\n", "it cannot be read: field larger"),
        (f"decisions,hours,returns,games\n{BUDGET},1,0,1\n", "it has 1 point; at least 2 are needed"),
        (f"decisions,hours,returns,games\n9,0,0,1\n9,0,0,1\n{BUDGET},1,0,1\n", "decisions do not ascend"),
        ("decisions,hours,returns,games\n0,0,0,1\n9,1,0,1\n", "it ends after 9 decisions; the run made 50,000"),
        (f"decisions,hours,returns,games\n0,0,1.5,1\n{BUDGET},1,0,1\n", "line 2: returns is 1.5; allowed: -1..1"),
        (
            f"decisions,hours,returns,games\n0,0,0,0\n{BUDGET},1,0,1\n",
            "line 2: games is 0.0; it must be a whole number",
        ),
        (
            f"decisions,hours,returns,games\n0,0,0,nan\n{BUDGET},1,0,1\n",
            "line 2: games is nan; it must be a whole number",
        ),
        (
            f"decisions,hours,returns,games\n0,0,0,1\n9,0,0,inf\n{BUDGET},1,0,1\n",
            "line 3: games is inf",
        ),
        (f"decisions,hours,returns,games\n0.2,0,0,1\n{BUDGET},1,0,1\n", "line 2: decisions is 0.2; it must be a whole"),
        (f"decisions,hours,returns,games\n0,nan,0,1\n{BUDGET},1,0,1\n", "line 2: hours is nan; it must be 0 or more"),
        (f"decisions,hours,returns,games\nnan,0,0,1\n{BUDGET},1,0,1\n", "line 2: decisions is nan; it must be a whole"),
    ],
)
def test_what_a_curve_must_be(folder, unplayed, text, message):
    (folder / "seed-1" / "curve.csv").write_text(text)
    found = only_problem(folder)
    assert found.startswith("seed-1/curve.csv: ") and message in found


def test_too_few_runs_and_too_large_files(folder, unplayed):
    assert check(folder, BUDGET, 5) == ["entry.json: runs has 2 training runs; at least 5 are needed"]
    with (folder / "seed-0" / "much").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert "runs[0].agent has a folder of 64," in only_problem(folder)


def test_an_agent_has_a_folder_of_its_own(folder, unplayed):
    shutil.copy(folder / "seed-0" / "agent.py", folder / "agent.py")
    saved = valid()
    saved["runs"][0]["agent"] = "python:agent.py:First"
    write(folder, saved)
    assert "it must lie in a folder of its own, such as seed-0" in only_problem(folder)


def test_an_agent_behind_a_link_is_not_in_the_folder(folder, unplayed, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "agent.py"
    outside.write_text(AGENT)
    (folder / "seed-0" / "agent.py").unlink()
    (folder / "seed-0" / "agent.py").symlink_to(outside)
    assert "it must lie in the folder of the entry" in only_problem(folder)


@slow
def test_an_entry_is_measured_and_keeps_its_name(folder, tmp_path_factory, capsys):
    out = tmp_path_factory.mktemp("records")
    command = [
        "measure", str(folder), "--decisions", str(BUDGET), "--seeds", str(SEEDS), "--games", "4", "--search-games",
        "0",
        "--record", str(out / "results.csv"), "--curves", str(out / "curves.csv"),
    ]  # fmt: skip
    assert main(command) == 0
    own = [line for line in read_lines(out / "results.csv", Result) if line.method == "first"]
    assert [(line.seed, line.opponent, line.known) for line in own] == [
        (seed, bot, "greedy") for seed in range(SEEDS) for bot in ("bc-v1", "greedy", "uniform")
    ]
    assert {line.hardware for line in own} == {"a pencil"} and len(read_lines(out / "curves.csv", CurvePoint)) == 6
    titles, rows = tables.results(out / "results.csv")
    assert rows[-1][0] == "`first`†" and rows[-1][1] == "other"
    (folder / "seed-0" / "more").write_text("another agent")
    (folder / "seed-0" / "curve.csv").write_text(f"decisions,hours,returns,games\n7,0,0,1\n{BUDGET},1,0,1\n")
    with ends(capsys, "the record has another agent of first in kitten_adventurers-v1-4p, seed 0"):
        main(command)
    assert main([*command, "--replace"]) == 0
    decisions = [point.decisions for point in read_lines(out / "curves.csv", CurvePoint) if point.seed == 0]
    assert decisions == [7, BUDGET], "nothing of the other curve is left"
    write(folder, valid() | {"kind": "magic"})
    capsys.readouterr()
    assert main(command) == 1 and "kind is 'magic'" in capsys.readouterr().out


@pytest.fixture
def measured(folder, unplayed, monkeypatch, tmp_path_factory) -> Measured:
    """An entry that was measured, without the fixed bots. Lines against the search are made up: it is slow."""
    monkeypatch.setattr("agents.benchmark.__main__.fixed_players", lambda task: [])
    found = Measured(folder, tmp_path_factory.mktemp("records"))
    assert found.measure() == 0
    searched = [replace(line, opponent=SEARCH) for line in found.lines() if line.opponent == "greedy"]
    write_lines(found.out / "results.csv", searched, Result)
    return found


@dataclass(frozen=True)
class Measured:
    """An entry and records."""

    folder: Path
    out: Path

    def measure(self, *more: str) -> int:
        amounts = ["--decisions", str(BUDGET), "--seeds", "1", "--games", "4", "--search-games", "0"]
        records = ["--record", str(self.out / "results.csv"), "--curves", str(self.out / "curves.csv")]
        return main(["measure", str(self.folder), *amounts, *records, *more])

    def hand_in(self, seeds: list[int]) -> None:
        """Make it an entry of these seeds. Those that it had not play like the first."""
        for seed in seeds:
            add_run(self.folder, seed)
        write(self.folder, valid(seeds))

    def lines(self) -> list[Result]:
        return [line for line in read_lines(self.out / "results.csv", Result) if line.method == "first"]

    def points(self) -> list[CurvePoint]:
        return read_lines(self.out / "curves.csv", CurvePoint)


@slow
def test_an_entry_may_be_measured_again_with_more_games_and_more_seeds(measured):
    before = measured.lines()
    assert len(before) == SEEDS * 4 and measured.measure() == 0 and measured.lines() == before
    measured.hand_in([0, 1, 10])
    assert measured.measure("--games", "8") == 0
    games = {(line.seed, line.opponent): line.games for line in measured.lines()}
    pool = {(seed, bot): 8 for seed in (0, 1, 10) for bot in POOL}
    assert games == pool | {(seed, SEARCH): 4 for seed in (0, 1)}
    assert {point.seed for point in measured.points()} == {0, 1, 10}


@slow
@pytest.mark.parametrize("seeds", [pytest.param([0], marks=only_deep), pytest.param([10], marks=only_deep), [1, 10]])
def test_no_two_methods_share_a_row_whatever_their_seeds(measured, seeds, capsys):
    """An agent of another seed in the same row is another agent, too."""
    before = measured.lines(), measured.points()
    measured.hand_in(seeds)
    (measured.folder / f"seed-{seeds[0]}" / "more").write_text("another agent")
    with ends(capsys, "the record has another agent of first in kitten_adventurers-v1-4p, seed"):
        measured.measure()
    assert (measured.lines(), measured.points()) == before
    assert measured.measure("--replace") == 0
    assert [(line.seed, line.opponent) for line in measured.lines()] == [
        (seed, bot) for seed in seeds for bot in ("bc-v1", "greedy", "uniform")
    ], "nothing of the other agents is left, not even what they did against the search"
    assert {line.agent for line in measured.lines()} == {
        agent_version(measured.folder, run) for run in read_entry(measured.folder).runs
    }
    assert {point.seed for point in measured.points()} == set(seeds)
    assert measured.measure() == 0, "it is the same entry again"


@slow
@pytest.mark.parametrize("more", [[], pytest.param(["--replace"], marks=only_deep)])
def test_a_corrected_entry_reaches_the_record(measured, more, capsys):
    """What nobody measures follows the entry, also in lines that are not played again. Nothing else changes."""
    before = measured.lines()
    other = replace(before[0], method="second")
    write_lines(measured.out / "results.csv", [other], Result)
    saved = valid() | {"kind": "search", "known": [], "hardware": "two pencils"}
    saved["runs"][1] |= {"decisions": BUDGET + 1, "hours": 2}
    write(measured.folder, saved)
    (measured.folder / "seed-1" / "curve.csv").write_text(
        f"decisions,hours,returns,games\n0,0,0,9\n{BUDGET + 1},2,0,9\n"
    )
    capsys.readouterr()
    assert measured.measure(*more) == 0
    assert measured.lines() == [
        replace(
            line, kind="search", known="", hardware="two pencils", decisions=BUDGET + line.seed, hours=1.0 + line.seed
        )
        for line in before
    ]
    assert other in read_lines(measured.out / "results.csv", Result)
    said = capsys.readouterr().out
    assert "first, seed 0: the record had other values of kind, known, hardware; they are" in said
    assert "first, seed 1: the record had other values of kind, decisions, known, hours, hardware; they are" in said
    assert measured.measure() == 0 and "other values" not in capsys.readouterr().out


@slow
def test_other_rows_are_not_replaced(measured):
    others = [
        replace(measured.lines()[0], **changes)
        for changes in ({"method": "second"}, {"budget": 7}, {"game": "ad_astra-v1"}, {"players": 3})
    ]
    points = [
        replace(measured.points()[0], method=one.method, budget=one.budget, game=one.game, players=one.players)
        for one in others
    ]
    write_lines(measured.out / "results.csv", others, Result)
    write_lines(measured.out / "curves.csv", points, CurvePoint)
    measured.hand_in([10])
    assert measured.measure("--replace") == 0
    left = read_lines(measured.out / "results.csv", Result)
    assert set(others) <= set(left) and set(points) <= set(measured.points())
    assert {line.seed for line in measured.lines() if line not in others} == {10}


def test_the_version_of_an_agent_is_that_of_its_files(folder):
    entry = read_entry(folder)
    shutil.copy(folder / "seed-0" / "weights.txt", folder / "seed-1")
    first, second = (agent_version(folder, run) for run in entry.runs)
    assert first == second, "the same files"
    (folder / "seed-1" / "curve.csv").write_text("another curve")
    assert agent_version(folder, entry.runs[1]) == second
    (folder / "seed-1" / "weights.npz").write_bytes(b"1")
    assert agent_version(folder, entry.runs[1]) != second


def test_the_command_says_everything_that_is_wrong(folder, capsys):
    saved = valid() | {"kind": "magic", "known": ["x"]}
    write(folder, saved)
    assert main(["check", str(folder), "--decisions", str(BUDGET), "--seeds", str(SEEDS)]) == 1
    said = capsys.readouterr().out
    assert "kind is 'magic'" in said and "known names 'x'" in said
    write(folder, valid())
    assert main(["check", str(folder), "--decisions", str(BUDGET), "--seeds", str(SEEDS)]) == 0
    assert "nothing is wrong" in capsys.readouterr().out


@pytest.mark.parametrize("command", [Check, Measure])
def test_a_check_stops_between_runs(folder, tmp_path_factory, monkeypatch, capsys, command):
    """It says nothing about an entry of which it tried a part."""
    tried, stop, out = [], threading.Event(), tmp_path_factory.mktemp("records")

    def stopping(folder, entry, run):
        tried.append(run.seed)
        stop.set()
        return iter(())

    monkeypatch.setattr("agents.benchmark.entry._about_play", stopping)
    records = {"record": out / "results.csv", "curves": out / "curves.csv"} if command is Measure else {}
    asked = command((folder, folder), decisions=BUDGET, seeds=SEEDS, **records)
    assert asked.run(make_console(), stop) == INTERRUPTED
    assert tried == [0] and "nothing is wrong" not in capsys.readouterr().out and not list(out.iterdir())


def test_the_budget_and_the_games():
    assert most_decisions(10_000_000) == 10_100_000 and most_decisions(100_000) == 116_384
    assert [task.config.game.id for task in TASKS] == [task.game for task in TASKS]
    with pytest.raises(BotError, match="no game 'chess'; it has: kitten_adventurers-v1, "):
        task_of("chess")
