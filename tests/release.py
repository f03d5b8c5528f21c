"""Go through the release checklist: ``make release-check``.

Each check prints one line: ``ok``, or what is wrong. The exit code is 1 if anything is. RELEASING.md says what to do
about it.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from docs.markdown import short
from kepler_envs.records import minor
from tests import links as page_links
from tests.distribution.compiled import PYTHONS

ROOT = Path(__file__).parents[1]
SHOWN_LINES = 15
"""Last lines of a failed command that are shown."""

Check = Callable[[Path], Iterator[str]]
"""What is wrong with a checkout, a line each."""


# ---------------------------------------------------------------- what files say


def version_of(root: Path) -> str:
    """The package's own version, read from its source."""
    source = (root / "kepler_envs" / "revision.py").read_text(encoding="utf-8")
    found = re.search(r'^VERSION = "([^"]+)"$', source, re.MULTILINE)
    if found is None:
        raise ValueError("kepler_envs/revision.py has no VERSION")
    return found[1]


def citation(root: Path) -> dict[str, object]:
    """CITATION.cff."""
    return yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))


def dated_sections(root: Path) -> dict[str, str]:
    """The changelog's released versions with their dates: ``## 0.1.0 - 2026-11-23``."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^## \[?(\d+\.\d+\.\d+)\]? - (\d{4}-\d{2}-\d{2})$", text, re.MULTILINE))


# ---------------------------------------------------------------- the checks


def versions(root: Path) -> Iterator[str]:
    """pyproject.toml, CITATION.cff and README's citation have the package's version"""
    version = version_of(root)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if project != version:
        yield f"pyproject.toml has version {project}, kepler_envs {version}"
    if citation(root).get("version") != version:
        yield f"CITATION.cff has version {citation(root).get('version')}, kepler_envs {version}"
    wanted = {"version": version, "year": str(citation(root).get("date-released") or "")[:4]}
    readme = (root / "README.md").read_text(encoding="utf-8")
    for field, found in re.findall(r"^ +(version|year) += \{(.*)\}", readme, re.MULTILINE):
        if wanted[field] and found != wanted[field]:
            yield f"README.md cites {field} {found}, it is {wanted[field]}"


def changelog(root: Path) -> Iterator[str]:
    """the changelog has a dated section for the version, and nothing waits under Unreleased"""
    version, sections = version_of(root), dated_sections(root)
    date = sections.get(version)
    if date is None:
        yield f"CHANGELOG.md has no section '## {version} - YYYY-MM-DD'"
    elif str(citation(root).get("date-released")) != date:
        yield f"CITATION.cff was released on {citation(root).get('date-released')}, CHANGELOG.md says {date}"
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    waiting = re.search(r"^## \[?Unreleased\]?$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if waiting is not None and waiting[1].strip():
        yield "CHANGELOG.md has entries under Unreleased"


def links(root: Path) -> Iterator[str]:
    """links of README and pages lead somewhere"""
    for page in page_links.pages(root):
        for target in page_links.broken(page):
            yield f"{page.relative_to(root)}: {target}"


def figures(root: Path) -> Iterator[str]:
    """published figures were measured with this version, up to its last number"""
    version = version_of(root)
    for name, rows in tables_of_lines(root):
        releases = [row.get("release") or "" for row in rows]
        old = [release for release in releases if minor(release) < minor(version)]
        if old:
            named = ", ".join(sorted({release or "an unnamed version" for release in old}))
            yield f"{name}: {len(old)} of {len(rows)} lines were measured with {named}"
    content = record_of_figures(root)
    if content and minor(content["release"]) < minor(version):
        yield f"docs/figures.json was measured with {content['release']}; measure again, as RELEASING.md says"


def commits(root: Path) -> Iterator[str]:
    """published figures were measured without changed files, so that their commit says what was measured"""
    for name, rows in tables_of_lines(root):
        if changed := sum((row.get("commit") or "").endswith("+") for row in rows):
            yield f"{name}: {changed} of {len(rows)} lines were measured with changed files"
    if content := record_of_figures(root):
        named = [one["commit"] for one in (content, *content.get("again", ()))]
        if changed_files := ", ".join(short(commit) for commit in named if commit.endswith("+")):
            yield f"docs/figures.json was measured with changed files ({changed_files}); commit first, then measure"


def tables_of_lines(root: Path) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The records that are CSV files, with their lines."""
    for path in sorted(root.glob("docs/*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            yield str(path.relative_to(root)), list(csv.DictReader(file))


def record_of_figures(root: Path) -> dict[str, Any]:
    """The record of the benchmarks, empty if there is none."""
    path = root / "docs" / "figures.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def addresses(root: Path) -> Iterator[str]:
    """pyproject.toml and CITATION.cff say where the repository is"""
    if not tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls"):
        yield "pyproject.toml has no [project.urls]"
    if not citation(root).get("repository-code"):
        yield "CITATION.cff has no repository-code"


def tree(root: Path) -> Iterator[str]:
    """everything is committed"""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True)
    if done.returncode:
        yield done.stderr.strip()
    yield from (f"not committed: {line[3:]}" for line in done.stdout.splitlines())


def tables(root: Path) -> Iterator[str]:
    """generated tables and pictures are up to date"""
    yield from run(root, "docs.build", "--check")


def golden(root: Path) -> Iterator[str]:
    """every golden game plays as recorded"""
    yield from run(root, "tests.playthroughs")


def wheels(root: Path) -> Iterator[str]:
    """sdist and wheels are built and tried, one wheel for each Python"""
    yield from run(root, "tests.distribution", "--python", *PYTHONS)
    yield from missing_files(root)


def missing_files(root: Path) -> Iterator[str]:
    """What dist/ lacks or has of another version."""
    version = version_of(root)
    names = sorted(path.name for path in root.glob("dist/kepler_envs-*"))
    yield from (f"dist/{name} is of another version" for name in names if f"-{version}" not in name)
    tags = [f"-{python.replace('python', 'cp').replace('.', '')}-" for python in PYTHONS]
    for part in (f"-{version}.tar.gz", "-py3-none-any.whl", *tags):
        if not any(part in name for name in names):
            yield f"dist/ has no kepler_envs{part if part.endswith(('.gz', '.whl')) else f'-{version}{part}*.whl'}"


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (versions, changelog, links, figures, commits, addresses, tree, tables, golden, wheels)
}
"""The checklist, quick checks first."""


# ---------------------------------------------------------------- running them


def run(root: Path, module: str, *arguments: str) -> Iterator[str]:
    """Run ``python -m module``. What is wrong is the end of its output, if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        yield f"python -m {' '.join([module, *arguments])} failed:"
        yield from done.stdout.splitlines()[-SHOWN_LINES:]


def go_through(root: Path, names: Sequence[str], console: Console) -> list[str]:
    """Make the checks with these names and print a line for each. Returns the names of those that failed."""
    failed = []
    for number, name in enumerate(names, 1):
        what, began = (CHECKS[name].__doc__ or "").strip(), time.perf_counter()
        with console.status(f"{number}/{len(names)} {name}: {what}"):
            problems = list(CHECKS[name](root))
        seconds = f"{time.perf_counter() - began:.0f} s"
        line = f"{'WRONG' if problems else 'ok   '} {name}: {what} ({seconds})"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
        for problem in problems:
            console.print(f"      {problem}", highlight=False, markup=False, soft_wrap=True)
        failed += [name] if problems else []
    return failed


def main(argv: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    some = {"nargs": "+", "choices": CHECKS, "metavar": "CHECK"}
    parser.add_argument("--only", default=list(CHECKS), help=f"make these checks alone: {', '.join(CHECKS)}", **some)
    parser.add_argument("--skip", default=[], help="leave these checks out", **some)
    asked = parser.parse_args(argv)
    console = Console()
    names = [name for name in CHECKS if name in asked.only and name not in asked.skip]
    failed = go_through(ROOT, names, console)
    verdict = f"not ready: {', '.join(failed)}" if failed else f"{version_of(ROOT)} is ready to be released"
    console.print(verdict if len(names) == len(CHECKS) or failed else "these checks pass", highlight=False)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
