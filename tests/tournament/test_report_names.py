"""Agents and component files whose names, paths and messages hold what a terminal, a page or a table would obey."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from kepler_envs.cli.tournament import PlayTournament
from kepler_envs.printable import printable, printable_name
from kepler_envs.tournament.html import PAGE
from kepler_envs.tournament.run import replay_paths
from tests.component_file import kittens_with
from tests.effort import slow

GAME = "kitten_adventurers"

pytestmark = pytest.mark.xdist_group("report_names")  # their tournament is played once
BAD = "\x1b[2J\x07 a|b `c` <i>$x$\u202e"
AGENT = """
class Agent:
    def __init__(self, config): ...
    def start(self, rows, seeds): raise ValueError("no \\x1b[2J <b> | idea \\x00 \\u202e")
    def act(self, decisions): ...
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> tuple[Path, str]:
    """The folder of a tournament and what it printed: two agents of the same name, so that their whole paths are
    shown."""
    out = tmp_path_factory.mktemp("out")
    specs = []
    for number in range(2):
        folder = tmp_path_factory.mktemp("agent") / BAD.replace("/", "") / str(number)
        folder.mkdir(parents=True)
        (folder / "mine.py").write_text(AGENT)
        specs.append(f"python:{folder / 'mine.py'}:Agent")
    paper = io.StringIO()
    cards = kittens_with(7, tmp_path_factory.mktemp("cards") / os.fsdecode(BAD.encode() + b"\xff\n.toml"))
    settings = {
        "players": 2,
        "components": cards,
        "option": ("max_turns=20",),
        "processes": 1,
        "bootstrap": 40,
        "games": 6,
    }
    assert (
        PlayTournament(game=GAME, agents=("uniform", *specs), out=out, **settings).run(Console(file=paper, width=250))
        == 0
    )
    return out, paper.getvalue()


def obeyed(text: str) -> set[str]:
    """Characters that are no words."""
    return {letter for letter in text if not letter.isprintable()} - {"\n"}


@slow
def test_a_terminal_is_not_commanded(shown):
    assert "Leaderboard" in shown[1] and "?[2J? a|b" in shown[1] and not obeyed(shown[1])


def test_the_page_is_well_formed(shown):
    page = (shown[0] / PAGE).read_text(encoding="utf-8")
    tree = ElementTree.fromstring(page.partition("\n")[2])
    words = "".join(tree.itertext())
    assert "components = " in words and "'c' <i>$x$???.toml." in words
    assert "?[2J? a|b" in words and "<i>$x$?" in words and "no ?[2J <b> | idea ? ?" in words
    assert not obeyed(page.replace("\t", " ")) and not list(tree.iter("i"))


def test_the_tables_of_the_text_stay_tables(shown):
    text = (shown[0] / "results.md").read_text(encoding="utf-8")
    assert not obeyed(text) and "?[2J? a\\|b" in text and "&lt;i>" in text and "<" not in re.sub("`[^`]*`", "", text)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    head = next(row for row in rows if row.startswith("| agent | rating"))
    lines = rows[rows.index(head) + 1 :][:4]
    assert {line.replace("\\|", "").count("|") for line in lines} == {head.count("|")}


def test_every_replay_has_a_file_of_its_own_and_a_page(shown):
    files = [path.name for path in (shown[0] / "replays").iterdir()]
    assert sorted(Path(name).suffix for name in files) == [".html"] * 3 + [".jsonl"] * 3
    assert all(name.isascii() or name.isprintable() for name in files)
    names = ["x.1", "x-1", "y" * 400, "z"]
    paths = replay_paths(Path(), names)
    assert len(set(paths.values())) == 6 and max(len(path.name) for path in paths.values()) < 200


def test_printable():
    assert printable("a\x1b\n\tb\u202e\ud800\x85é漢🚀") == "a?\n\tb???é漢🚀"
    assert printable_name("a\n\tb c") == "a??b c"
