"""Links of README and pages that lead nowhere: files that are missing, and headings that a page lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"]+)\"")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
INCLUDE = re.compile(r'^```\{include\} (\S+)\n:start-after: "(.*)"\n:end-before: "(.*)"$', re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z]+:")
"""Links to other sites. They are not followed: tests need no network."""


def pages(root: Path) -> list[Path]:
    """All pages of a checkout that people read: README and its neighbours, docs/, benchmarks/, .github/."""
    folders = [f"{folder}/**/*.md" for folder in ("docs", "benchmarks", ".github")]
    return sorted(page for pattern in ("*.md", *folders) for page in root.glob(pattern))


def broken(page: Path) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    for found in LINK.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
        target = found[1] or found[2]
        if ELSEWHERE.match(target):
            continue
        file, _, heading = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if not path.exists() or (heading and path.suffix == ".md" and heading not in headings(path)):
            yield target


def included(page: Path) -> Iterator[Path]:
    """The files that parts of other pages link to which this page includes."""
    for name, start, end in INCLUDE.findall(page.read_text(encoding="utf-8")):
        source = (page.parent / name).resolve()
        part = source.read_text(encoding="utf-8").partition(start)[2].partition(end)[0]
        for found in LINK.finditer(CODE.sub("", part)):
            target = (found[1] or found[2]).partition("#")[0]
            if target and not ELSEWHERE.match(target):
                yield (source.parent / target).resolve()


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}
