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


def statements(path: Path) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The imports of a file, wherever in it, each with whether it is made by a function, and so not before that is
    called; not those for type checkers alone."""
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text(encoding="utf-8")), False)]
    while waiting:
        node, later = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, later
        later |= isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        waiting += [(child, later) for child in ast.iter_child_nodes(node)]


def imports(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports."""
    for node, _ in statements(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in MODULES)
            continue
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


OF_TRAINING = ("torch", "stable_baselines3", "sb3_contrib", "torchrl", "tensorboard")
OF_TRAINING_OR_CLUSTERS = (*OF_TRAINING, "ray", "pyspiel")
FOR_LIBRARIES = tuple(f"kepler_envs.adapters.{name}" for name in ("pytorch", "sb3", "rllib", "torchrl", "openspiel"))
READS_RUNS = "kepler_envs.bots.networks.checkpoint"


def test_playing_needs_no_library_of_training():
    """Torch and what stands on it are imported only by the adapters that are named after it, and where a training run
    is read. No other module brings a large library along: functions import it when it is needed."""
    for module, path in MODULES.items():
        if layer_of(module) == "agents" or f"{module}.".startswith(tuple(f"{one}." for one in FOR_LIBRARIES)):
            continue
        for node, later in statements(path):
            if later and module == READS_RUNS:
                continue
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else [str(node.module)]
            refused = OF_TRAINING if later else OF_TRAINING_OR_CLUSTERS
            assert not {name.partition(".")[0] for name in names} & set(refused), f"{module} imports {names}"


@pytest.mark.parametrize(
    "text, found",
    [
        ("try:\n    import torch\nexcept ImportError:\n    pass\n", [("import torch", False)]),
        ("class A:\n    from torch import nn\n", [("from torch import nn", False)]),
        ("def f():\n    if f:\n        import torch\n", [("import torch", True)]),
        ("if TYPE_CHECKING:\n    import torch\n", []),
    ],
)
def test_imports_are_seen_wherever_they_stand(text, found, tmp_path):
    (tmp_path / "a.py").write_text(text)
    assert [(ast.unparse(node), later) for node, later in statements(tmp_path / "a.py")] == found
