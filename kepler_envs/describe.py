"""A game as rows of data. The command line prints them, and the pages in docs/ are generated from them.

Nothing here is laid out: every function gives a list of rows with named fields.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.game import Game
from kepler_envs.engine.observation import Layout, Piece

OVER = "OVER"
"""The name that every game gives the node of a finished game."""


class FactRow(NamedTuple):
    what: str
    value: str


class OptionRow(NamedTuple):
    name: str
    default: str
    allowed: str
    meaning: str


class NodeRow(NamedTuple):
    value: int
    name: str
    asked: str


class ActionRow(NamedTuple):
    """A block of ids; ``text`` has ``{}`` where the argument's label stands."""

    ids: str
    name: str
    argument: str
    text: str


class PieceRow(NamedTuple):
    """A piece of the observation.

    ``where`` is its first entry, with ``+stride i`` for a column of a table. The entries of a row lie side by side, or
    are ``+stride j`` apart.
    """

    name: str
    where: str
    shape: str
    values: str
    kind: str
    meaning: str


@dataclass(frozen=True)
class ComponentTable:
    """One list of a component file: cards of one kind, rows of the setup, ..."""

    section: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def for_players(self, players: int) -> ComponentTable:
        """Only the rows for this number of players, if the table has a row for each."""
        if "players" not in self.columns:
            return self
        column = self.columns.index("players")
        return replace(self, rows=tuple(row for row in self.rows if row[column] == players))


def game_sizes(game: Game) -> list[FactRow]:
    """The numbers that describe a game."""
    return [
        FactRow("id", game.id),
        FactRow("players", f"{span(game.min_players, game.max_players)}, {game.default_players} by default"),
        FactRow("actions", str(len(game.actions))),
        FactRow("observation", f"{game.observation.size} x {game.observation.dtype}"),
        FactRow("longest game", f"{game.max_decisions:,} decisions with the default limits"),
        FactRow("state", f"{game.state.itemsize:,} bytes"),
    ]


def option_rows(game: Game) -> list[OptionRow]:
    """What :meth:`Game.configure` takes: the number of players, the game's options in its order, the component file."""
    players = OptionRow(
        "num_players", str(game.default_players), f"an integer {span(game.min_players, game.max_players)}", "seats"
    )
    components = OptionRow("components", "None", "a path", "a component file of your own instead of the game's")
    listed = [
        OptionRow(option.name, repr(option.default), option.allowed, option.meaning) for option in game.option_list
    ]
    return [players, *listed, components]


def node_rows(game: Game) -> list[NodeRow]:
    """The nodes at which seats decide, and when they are asked."""
    rows = []
    for node in game.nodes:
        asked = "always" if node in game.always_offered else "with two or more legal ids"
        rows.append(NodeRow(int(node), node.name, "never: the game is over" if node.name == OVER else asked))
    return rows


def action_rows(actions: ActionSet) -> list[ActionRow]:
    """The blocks of the action space."""
    return [
        ActionRow(span(block.ids[0], block.ids[-1]), block.name, block.argument, block.text) for block in actions.blocks
    ]


def piece_rows(layout: Layout) -> list[PieceRow]:
    """The pieces of an observation in the order of the vector."""
    return [_piece_row(piece, _place(piece), piece.shape) for piece in layout]


def _place(piece: Piece) -> str:
    """Where the entries of a piece lie: its first axis is the row of the table."""
    row = "" if piece.shape[0] == 1 else f"+{piece.strides[0]}i"
    apart = "" if len(piece.shape) == 1 or piece.strides[-1] == 1 else f"+{piece.strides[-1]}j"
    return f"{piece.offset}{row}{apart}"


def fixed_rows(layout: Layout) -> list[PieceRow]:
    """The fields of the tables outside the vector. ``where`` is the first column of a field in the table's values."""
    return [
        _piece_row(piece, str(piece.offset), (table.rows, *piece.shape))
        for table in layout.fixed.values()
        for piece in table.fields
    ]


def _piece_row(piece: Piece, where: str, shape: Sequence[int]) -> PieceRow:
    kind = f"{piece.kind} to {piece.of}" if piece.of else piece.kind
    meaning = f"{piece.meaning} (derived)" if piece.derived else piece.meaning
    return PieceRow(piece.name, where, " x ".join(map(str, shape)), span(piece.low, piece.high), kind, meaning)


def component_file(game: Game) -> Path:
    """The game's own component file."""
    return Path(str(files(game.module) / "components.toml"))


def component_tables(game: Game, path: Path | None = None) -> list[ComponentTable]:
    """Every list of equal rows in a component file, with the provenance of each row.

    Without a path it is the game's own file.
    """
    tables = []
    for section, rows in _parsed(game, path).items():
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            columns = tuple(dict.fromkeys(name for row in rows for name in row))
            tables.append(
                ComponentTable(section, columns, tuple(tuple(row.get(name, "") for name in columns) for row in rows))
            )
    return tables


def provenance_rows(game: Game, path: Path | None = None) -> list[FactRow]:
    """The provenance tags of a component file (the game's own by default) and what each stands for."""
    return [FactRow(tag, meaning) for tag, meaning in _parsed(game, path).get("provenance", {}).items()]


def _parsed(game: Game, path: Path | None) -> dict[str, Any]:
    """What is in a component file, which may begin with a byte order mark as in ``ComponentFile``."""
    return tomllib.loads((path or component_file(game)).read_text(encoding="utf-8-sig"))


def span(low: int, high: int) -> str:
    """``low..high``, or the number where there is only one."""
    return f"{low}..{high}" if high > low else str(low)
