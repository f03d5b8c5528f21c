"""Run the notebooks from their sources: ``make notebooks``, or ``python -m notebooks.build 1_meet_the_games ...``.

A source is a Python file in ``sources/`` whose cells begin with ``# %%`` (jupytext's percent format). Each notebook
runs from its first to its last cell, in a new kernel and an empty folder. It is written to ``notebooks/`` with its
outputs, which must be small and must not reveal the machine. With ``--check`` nothing is written.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
SOURCES = FOLDER / "sources"
MOST_BYTES = 1_000_000
CELL_SECONDS = 170
METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
OF_A_MACHINE = re.compile(r"/(?:tmp|root|home|usr|var|opt|work|Users)/\S*")
"""Paths that must not appear in outputs."""


class NotebookError(Exception):
    """A notebook that cannot be published. The message says which and why."""


def names() -> list[str]:
    """The names of the notebooks, in reading order."""
    return sorted(path.stem for path in SOURCES.glob("*.py"))


def read_source(name: str) -> NotebookNode:
    """The notebook of a source, not yet run, with cell ids that never change."""
    notebook = jupytext.read(SOURCES / f"{name}.py", fmt="py:percent")
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = nbformat.from_dict({})
    return notebook


def execute(notebook: NotebookNode, name: str) -> None:
    """Run every cell in order. NotebookError with the error of the cell."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    packages = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PATH": path, "PYTHONPATH": packages, "COLUMNS": "110", "KEPLER_ENVS_QUIET": "1"}
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=CELL_SECONDS, kernel_name="python3", record_timing=False, coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )  # fmt: skip
        try:
            client.execute(env=environment)
        except (CellExecutionError, CellTimeoutError) as problem:
            raise NotebookError(f"{name}: {problem}") from problem
    notebook.metadata = nbformat.from_dict(METADATA)


def problems(notebook: NotebookNode, name: str) -> Iterator[str]:
    """What is wrong with a notebook: size, errors, order of cells, paths of a machine, a source that has changed."""
    size = len(nbformat.writes(notebook).encode())
    if size > MOST_BYTES:
        yield f"{name}: {size:,} bytes; allowed: {MOST_BYTES:,}"
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    if counts != list(range(1, len(counts) + 1)):
        yield f"{name}: cells were run as {counts}, not from first to last"
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error" or output.get("name") == "stderr":
                yield f"{name}: {cell.id} has an error or warning in its output"
            if "\x1b[" in text_of(output):
                yield f"{name}: {cell.id} has the control codes of a terminal in its output"
            found = OF_A_MACHINE.search(text_of(output))
            if found:
                yield f"{name}: {cell.id} shows a path: {found[0]}"
    if [cell.source for cell in read_source(name).cells] != [cell.source for cell in notebook.cells]:
        yield f"{name}: the source has changed since it was run: run make notebooks"


def text_of(output: NotebookNode) -> str:
    """All readable text of an output."""
    data = output.get("data", {})
    readable = [str(part) for kind, part in data.items() if kind.startswith("text/") or kind == "image/svg+xml"]
    return "\n".join([output.get("text", ""), *readable])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m notebooks.build", description="Run notebooks from their sources and keep the outputs."
    )
    parser.add_argument("names", nargs="*", help=f"{', '.join(names())}, all by default")
    parser.add_argument("--check", action="store_true", help="run them and look for problems, but write nothing")
    arguments = parser.parse_args(argv)
    asked = arguments.names or names()
    unknown = sorted(set(asked) - set(names()))
    if unknown:
        print(f"no notebook {', '.join(unknown)}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    for name in asked:
        began, notebook = time.perf_counter(), read_source(name)
        try:
            execute(notebook, name)
            found = list(problems(notebook, name))
            if found:
                raise NotebookError("\n".join(found))
        except NotebookError as problem:
            print(problem, file=sys.stderr)
            return 1
        if not arguments.check:
            nbformat.write(notebook, FOLDER / f"{name}.ipynb")
        size = len(nbformat.writes(notebook).encode())
        print(f"{name}.ipynb: {time.perf_counter() - began:.0f} s, {size / 1000:.0f} kB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
