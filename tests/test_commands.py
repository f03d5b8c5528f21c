"""Commands of the pages: how they are found, and the quick ones run. `make docs-check` runs them all."""

from __future__ import annotations

import pytest

from kepler_envs.engine.kernel import JIT_ENABLED
from tests import commands
from tests.commands import Command, PageError

QUICK_PAGES = ("docs/concepts.md",)


def found(tmp_path, monkeypatch, text: str) -> list[Command]:
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text)
    return list(commands.commands(page))


def test_every_page_can_be_read_and_has_its_commands():
    by_page = {page: list(commands.commands(page)) for page in commands.pages()}
    names = {str(page.relative_to(commands.ROOT)) for page, there in by_page.items() if there}
    assert {"README.md", "docs/index.md", "docs/bots.md", "docs/concepts.md", "docs/adapters.md"} <= names
    assert all(command.text.strip() for there in by_page.values() for command in there)


def test_lines_are_commands_without_their_comments(tmp_path, monkeypatch):
    text = "```\none --a    # first\n\ntwo \\\n    --b\n# nothing\n```\n\n```{include} x\n```\n\n```toml\na = 1\n```\n"
    assert [(one.line, one.text) for one in found(tmp_path, monkeypatch, text)] == [(2, "one --a"), (4, "two     --b")]


def test_marks_change_what_is_run(tmp_path, monkeypatch):
    text = (
        "<!-- check: short: quick -->\n```\nslow\n```\n"
        "<!-- check: long: an hour -->\n```\nslower\n```\n"
        "<!-- check: less: 1000 -> 10 -->\n```python\nlearn(1000)\n```\n"
        "<!-- check: after: import x -->\n```python\nx.y()\n```\n"
        "<!-- check: output: a message -->\n```\nnot a command\n```\n"
    )
    assert [(one.language, one.text, one.skipped) for one in found(tmp_path, monkeypatch, text)] == [
        ("", "quick", ""),
        ("", "slower", "an hour"),
        ("python", "learn(10)\n", ""),
        ("python", "import x\nx.y()\n", ""),
    ]


def test_an_unknown_mark_and_a_change_of_nothing_are_errors(tmp_path, monkeypatch):
    with pytest.raises(PageError, match="page.md:3: check: never is not known"):
        found(tmp_path, monkeypatch, "<!-- check: never: x -->\n```\nrun\n```\n")
    with pytest.raises(PageError, match="there is no '5' in the block"):
        found(tmp_path, monkeypatch, "<!-- check: less: 5 -> 1 -->\n```python\nlearn(10)\n```\n")


def test_a_failing_command_fails():
    assert commands.run(Command("page", 1, "", "false | true")).returncode != 0
    failed = commands.run(Command("page", 1, "python", "raise SystemExit('no')"))
    assert failed.returncode == 1 and "no" in failed.stdout


def test_a_command_that_fails_in_silence_is_reported(tmp_path, monkeypatch, capsys):
    found(tmp_path, monkeypatch, "```\ntrue\nfalse\n```\n")
    assert commands.main([str(tmp_path / "page.md")]) == 1
    printed = capsys.readouterr().out
    assert "ok   page.md:2" in printed and "FAIL page.md:3" in printed and "2 run, 1 failed" in printed


@pytest.mark.skipif(not JIT_ENABLED, reason="runs programs of their own")
@pytest.mark.parametrize("page", QUICK_PAGES)
def test_programs_of_a_page_run(page):
    for command in commands.commands(commands.ROOT / page):
        done = commands.run(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
