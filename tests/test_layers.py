"""Who may import whom: read from the imports themselves, those inside functions too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ("files", "machine", "printable", "processes", "records", "revision", "terminal")
"""Modules without games: anybody may use them, and they use nobody but one another."""

MAY_IMPORT = {
    "tools": (),
    "engine": ("tools",),
    "games": ("tools", "engine"),
    "registry": ("tools", "engine", "games"),
    "describe": ("tools", "engine"),
    "rules": ("engine",),
    "networks": ("tools", "engine"),
    "bots": ("tools", "engine", "networks", "games", "registry"),
    "tournament": ("tools", "engine", "games", "registry", "bots"),
    "adapters": ("tools", "engine", "networks", "games", "registry", "bots", "front"),
    "front": ("tools", "engine", "games", "registry"),
    "web": ("tools", "engine", "networks", "games", "registry", "describe", "rules", "bots", "tournament"),
    "cli": ("tools", "engine", "games", "registry", "describe", "rules", "bots", "tournament", "web", "front"),
    "agents": (
        "tools",
        "engine",
        "networks",
        "games",
        "registry",
        "describe",
        "bots",
        "tournament",
        "web",
        "adapters",
        "cli",
        "front",
    ),
}
"""By layer, those below it. ``front`` is ``kepler_envs/__init__.py``: make, make_batch, the names that users import."""

PROTOCOL = ("kepler_envs.bots", "kepler_envs.bots.protocol")
"""All that adapters know of bots: what a bot is, and how it is loaded by its spec."""


def modules() -> dict[str, Path]:
    """All modules of the package and of agents/, by their names."""
    found = {}
    for path in [*(ROOT / "kepler_envs").rglob("*.py"), *(ROOT / "agents").rglob("*.py")]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def layer_of(module: str) -> str:
    package, _, rest = module.partition(".")
    if package == "agents":
        return "agents"
    room = rest.partition(".")[0]
    if room in ("", "__main__"):
        return "front" if room == "" else "cli"
    return "tools" if room in TOOLS else room


def imports(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports, wherever in it; not those for type checkers alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full here"
            for name in node.names:
                full = f"{node.module}.{name.name}"
                if full in MODULES:
                    yield full
                elif node.module in MODULES:
                    yield str(node.module)


@cache
def imports_of(module: str) -> list[str]:
    return sorted(set(imports(MODULES[module])) - {module})


def test_the_rooms_are_those_of_the_house():
    assert {layer_of(module) for module in MODULES} == set(MAY_IMPORT)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module):
    own = layer_of(module)
    for imported in imports_of(module):
        layer = layer_of(imported)
        assert layer == own or layer in MAY_IMPORT[own], f"{module} ({own}) must not import {imported} ({layer})"
        if own == "adapters" and layer == "bots":
            assert imported in PROTOCOL, f"{module} must not know {imported}, only {' and '.join(PROTOCOL)}"
        if own == "games" and layer == "games":
            game = module.split(".")[2:3]
            assert imported.split(".")[2:3] == game, f"{module} must not know another game: {imported}"


def test_no_module_imports_itself_through_others():
    """Depth first: an import of a module that is being followed already closes a circle."""
    done: set[str] = set()

    def follow(module: str, way: tuple[str, ...]) -> None:
        if module in way:
            pytest.fail(" -> ".join([*way[way.index(module) :], module]))
        if module not in done:
            for imported in imports_of(module):
                follow(imported, (*way, module))
            done.add(module)

    for module in MODULES:
        follow(module, ())


def test_playing_needs_no_library_of_training():
    """Torch and what stands on it are imported only by the adapters that are named after it, and where a training run
    is read."""
    allowed = {
        "kepler_envs.adapters.pytorch",
        "kepler_envs.adapters.sb3",
        "kepler_envs.adapters.rllib",
        "kepler_envs.adapters.torchrl",
    }
    heavy = ("torch", "stable_baselines3", "sb3_contrib", "ray", "torchrl", "pyspiel", "tensorboard")
    for module, path in MODULES.items():
        if layer_of(module) == "agents" or any(module == one or module.startswith(f"{one}.") for one in allowed):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.partition(".")[0] not in heavy or module == "kepler_envs.adapters.openspiel", (
                    f"{module} imports {name}"
                )
