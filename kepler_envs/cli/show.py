"""``kepler-envs list`` and ``kepler-envs show``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.console import Console

from kepler_envs import describe, registry
from kepler_envs.cli.common import GameName, optional
from kepler_envs.terminal import grid


@dataclass(frozen=True)
class ListGames:
    """List all games."""

    def run(self, console: Console) -> int:
        rows = []
        for game in registry.load_games():
            players = describe.span(game.min_players, game.max_players)
            rows.append((game.id, players, len(game.actions), game.observation.size, game.title))
        columns = ("id", "players", "actions", "observation", "title")
        console.print(grid("Games", columns, rows, right=("players", "actions", "observation")))
        return 0


@dataclass(frozen=True)
class Show:
    """Describe a game in tables: sizes, options, nodes, actions, observation, components."""

    game: GameName
    """Name of the game; `kepler-envs list` prints them all."""
    players: Annotated[int | None, optional(metavar="N")] = None
    """Show only what applies to this number of players."""
    components: Annotated[Path | None, optional(metavar="FILE")] = None
    """Show the game with your own component file."""

    def run(self, console: Console) -> int:
        game = registry.load_game(self.game)
        config = game.configure(self.players, self.components)
        console.print(grid(game.title, ("what", "value"), describe.game_sizes(game)))
        console.print(grid("Options", ("name", "default", "allowed", "meaning"), describe.option_rows(game)))
        console.print(grid("Nodes", ("value", "name", "a seat is asked"), describe.node_rows(game), right=("value",)))
        action_columns = ("ids", "name", "argument", "text")
        console.print(grid("Actions", action_columns, describe.action_rows(config.actions), right=("ids",)))
        piece_columns = ("piece", "entry", "shape", "values", "kind", "meaning")
        console.print(grid("Observation", piece_columns, describe.piece_rows(config.observation)))
        fixed_columns = ("field", "column", *piece_columns[2:])
        if config.observation.fixed:
            console.print(grid("Fixed tables", fixed_columns, describe.fixed_rows(config.observation)))
        for table in describe.component_tables(game, self.components):
            shown = table if self.players is None else table.for_players(self.players)
            console.print(grid(f"Components: {shown.section}", shown.columns, shown.rows))
        console.print(grid("Provenance", ("tag", "meaning"), describe.provenance_rows(game, self.components)))
        return 0
