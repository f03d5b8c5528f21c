"""A compiled function that only its own file uses begins with an underscore; one that another file imports does not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from kepler_envs.engine.game import Verbs

pytestmark = pytest.mark.xdist_group("underscores")  # all sources are read once

ROOT = Path(__file__).parents[1]
ROOMS = ("engine", "games", "bots")
USERS = ("kepler_envs", "agents", "benchmarks", "tests")
FOUND_BY_NAME = {"policy", *(field.name for field in fields(Verbs))}
"""What the library asks a module for that it loads by its name: greedy's policy of a game, and the verbs of a game."""


def module_of(path: Path) -> str:
    """The dotted name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {
    module_of(path): path.read_text(encoding="utf-8")
    for folder in USERS
    for path in sorted((ROOT / folder).rglob("*.py"))
}
HELD = [
    module
    for module, source in SOURCES.items()
    if module.startswith(tuple(f"kepler_envs.{room}" for room in ROOMS))
    and re.search(r"^@(helper|leaf)$", source, re.MULTILINE)
]


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(SOURCES[module])


def compiled_functions(module: str) -> list[str]:
    """The functions at the top of a module that ``@helper`` or ``@leaf`` compiles."""
    return [
        node.name
        for node in tree_of(module).body
        if isinstance(node, ast.FunctionDef) and {ast.unparse(one) for one in node.decorator_list} & {"helper", "leaf"}
    ]


def dotted(node: ast.expr) -> str:
    """A name, or names with points between them; nothing for any other expression."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return owner and f"{owner}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def uses_of_others(module: str) -> Iterator[tuple[str, str]]:
    """(module, name) of everything that a module takes from other ones of the repository."""
    modules: dict[str, str] = {}
    nodes = list(ast.walk(tree_of(module)))
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {name.asname: name.name for name in node.names if name.asname}
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                if f"{node.module}.{name.name}" in SOURCES:
                    modules[name.asname or name.name] = f"{node.module}.{name.name}"
                else:
                    yield str(node.module), name.name
    for node in nodes:
        if isinstance(node, ast.Attribute):
            owner = dotted(node.value)
            yield modules.get(owner, owner), node.attr


@cache
def used_elsewhere() -> set[tuple[str, str]]:
    return {use for module in SOURCES for use in uses_of_others(module) if use[0] != module}


@pytest.mark.parametrize("module", HELD)
def test_underscores_say_who_uses_a_compiled_function(module: str) -> None:
    names = compiled_functions(module)
    shared = [name for name in names if (module, name) in used_elsewhere() or name in FOUND_BY_NAME]
    assert [name for name in names if name.startswith("_") and name in shared] == [], "imported elsewhere"
    assert [name for name in names if not name.startswith("_") and name not in shared] == [], "used in this file alone"


def test_the_rule_sees_what_it_should() -> None:
    assert "below" in compiled_functions("kepler_envs.engine.rng")
    assert ("kepler_envs.engine.rng", "below") in used_elsewhere()
