"""The published notebooks: run in order from their current sources, small, without errors or paths of a machine."""

from __future__ import annotations

import re
from copy import deepcopy

import pytest

pytest.importorskip("jupytext", reason="notebooks are read with jupytext (extra dev)")

import nbformat

from notebooks import build


def published(name: str) -> nbformat.NotebookNode:
    return nbformat.read(build.FOLDER / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", build.names())
def test_a_notebook_can_be_published(name):
    assert list(build.problems(published(name), name)) == []


def test_there_are_six_and_nothing_else():
    assert len(build.names()) == 6
    assert sorted(path.stem for path in build.FOLDER.glob("*.ipynb")) == build.names()


@pytest.mark.parametrize("name", build.names())
def test_the_outputs_are_kept(name):
    notebook = published(name)
    assert sum(bool(cell.get("outputs")) for cell in notebook.cells) >= 5
    kinds = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", ())]
    assert any(kind.startswith("image/") for kind in kinds), "a notebook without a picture"


def test_what_must_not_be_published_is_found():
    name = build.names()[0]
    good = published(name)
    code = next(number for number, cell in enumerate(good.cells) if cell.get("outputs"))

    def found(change) -> str:
        notebook = deepcopy(good)
        change(notebook.cells[code])
        return "\n".join(build.problems(notebook, name))

    def out_of_order(cell):
        cell.execution_count = 7

    def path(cell):
        cell.outputs.append(nbformat.v4.new_output("stream", text="written: /home/somebody/cup/results.md"))

    def warning(cell):
        cell.outputs.append(nbformat.v4.new_output("stream", name="stderr", text="careful"))

    def colour(cell):
        cell.outputs.append(nbformat.v4.new_output("stream", text="\x1b[1mLeaderboard\x1b[0m"))

    def large(cell):
        cell.outputs.append(nbformat.v4.new_output("stream", text="x" * build.MOST_BYTES))

    def stale(cell):
        cell.source += "\nprint(1)"

    assert "not from first to last" in found(out_of_order)
    assert "shows a path: /home/somebody" in found(path)
    assert "error or warning" in found(warning)
    assert "control codes" in found(colour)
    assert "allowed: 1,000,000" in found(large)
    assert "the source has changed" in found(stale)


def test_a_check_writes_nothing(monkeypatch, tmp_path, capsys):
    """It finds what a run finds."""
    name = build.names()[0]
    monkeypatch.setattr(build, "FOLDER", tmp_path)
    monkeypatch.setattr(build, "execute", lambda notebook, name: count_cells(notebook))
    assert build.main(["--check", name]) == 0
    assert f"{name}.ipynb: " in capsys.readouterr().out and list(tmp_path.iterdir()) == []
    assert build.main([name]) == 0 and [path.name for path in tmp_path.iterdir()] == [f"{name}.ipynb"]
    monkeypatch.setattr(build, "execute", lambda notebook, name: None)
    assert build.main(["--check", name]) == 1 and "not from first to last" in capsys.readouterr().err


def count_cells(notebook: nbformat.NotebookNode) -> None:
    """As if they had been run."""
    for number, cell in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
        cell.execution_count = number + 1


def test_the_site_shows_every_notebook():
    page = (build.ROOT / "docs" / "notebooks.md").read_text()
    assert re.findall(r"\]\(\.\./notebooks/(\w+)\.ipynb\)", page) == build.names()
    assert re.findall(r"^notebooks/(\w+)$", page, re.MULTILINE) == build.names()
    for name in build.names():
        title = build.read_source(name).cells[0].source.splitlines()[0].partition(". ")[2]
        assert f"[{title}](" in page
        assert (build.ROOT / "docs" / "notebooks" / f"{name}.ipynb").resolve() == build.FOLDER / f"{name}.ipynb"
