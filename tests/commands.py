"""Run every command of README and pages as it stands there: ``make docs-check``, or ``python -m tests.commands
README.md ...``.

A block without a language is for a shell, one command per line. ``python`` blocks are programs, each run on its own.
Everything runs in the root of the checkout, without input, with the running interpreter first on PATH. A comment above
a block changes that:

    <!-- check: short: COMMAND -->    runs COMMAND instead, because the block takes too long
    <!-- check: long: WHY -->         not run; WHY says what tests it
    <!-- check: elsewhere: WHY -->    not run, because it needs another environment
    <!-- check: output: WHAT -->      not a command
    <!-- check: after: CODE -->       part of a program: CODE (python) comes before it
    <!-- check: less: A -> B; C -> D -->   runs the block with B for A and D for C
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"(?:<!-- check: (?P<mark>[a-z]+): (?P<note>.*?) -->\n)?^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S
)
MARKS = ("short", "long", "elsewhere", "after", "less", "output")
SKIPPED = ("long", "elsewhere")
SECONDS = 300
OWN_RUNS = "runs/check-*"
"""Folders of short forms, deleted first: otherwise their runs would only be continued."""


class PageError(ValueError):
    """A block that cannot be understood. The message says where and why."""


@dataclass(frozen=True)
class Command:
    """A command to run: where it stands, its language, and the reason if it is skipped."""

    page: str
    line: int
    language: str
    text: str
    skipped: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """README and all pages of the site."""
    return [
        ROOT / "README.md",
        *sorted(ROOT.glob("docs/**/*.md")),
        ROOT / "CONTRIBUTING.md",
        ROOT / "benchmarks" / "README.md",
    ]


def commands(page: Path) -> Iterator[Command]:
    """The commands of a page, in order. PageError for a comment that is not understood."""
    text, name = page.read_text(encoding="utf-8"), str(page.relative_to(ROOT))
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("text")) + 1
        mark, note = match["mark"], match["note"] or ""
        if mark is not None and mark not in MARKS:
            raise PageError(f"{name}:{line}: check: {mark} is not known; there are {', '.join(MARKS)}")
        if match["language"] not in ("", "python") or mark == "output":
            continue
        skipped = note if mark in SKIPPED else ""
        if mark == "short":
            yield Command(name, line, "", note)
        elif match["language"] == "python":
            program = f"{note}\n{match['text']}" if mark == "after" else match["text"]
            if mark == "less":
                for pair in note.split("; "):
                    more, _, less = pair.partition(" -> ")
                    if more not in program:
                        raise PageError(f"{name}:{line}: check: there is no {more!r} in the block")
                    program = program.replace(more, less)
            yield Command(name, line, "python", program, skipped)
        else:
            for number, command in shell_lines(match["text"]):
                yield Command(name, line + number, "", command, skipped)


def shell_lines(text: str) -> Iterator[tuple[int, str]]:
    """The commands of a block with the numbers of their first lines. A backslash at the end joins lines."""
    joined, first = "", 0
    for number, line in enumerate(text.splitlines()):
        first = first if joined else number
        joined += re.sub(r"(^|\s)#.*", "", line).rstrip()
        if joined.endswith("\\"):
            joined = joined[:-1]
        elif joined.strip():
            yield first, joined.strip()
            joined = ""


def run(command: Command) -> subprocess.CompletedProcess[str]:
    """Run a command without input. TimeoutExpired after five minutes."""
    words = (
        [sys.executable, "-"] if command.language == "python" else ["bash", "-e", "-o", "pipefail", "-c", command.text]
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return subprocess.run(
        words,
        input=command.text if command.language == "python" else "",
        cwd=ROOT,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.commands", description="Run the commands of the pages.")
    parser.add_argument("pages", nargs="*", type=Path, help="pages to check; README and all pages by default")
    asked = [page.resolve() for page in parser.parse_args(argv).pages] or pages()
    for left in ROOT.glob(OWN_RUNS):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    failed, number = [], 0
    for command in (command for page in asked for command in commands(page)):
        title = command.text.strip().splitlines()[0][:90]
        if command.skipped:
            print(f"skip {command}  {title}  ({command.skipped})", flush=True)
            continue
        number += 1
        began = time.perf_counter()
        try:
            done = run(command)
            problem = f"{done.stdout}\nexit code {done.returncode}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            problem = f"not done after {SECONDS} s"
        print(f"{'FAIL' if problem else 'ok  '} {command}  {title}  {time.perf_counter() - began:.0f} s", flush=True)
        if problem:
            failed.append(command)
            print("\n".join(problem.splitlines()[-25:]), flush=True)
    print(f"{number} run, {len(failed)} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
