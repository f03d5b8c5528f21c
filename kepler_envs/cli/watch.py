"""``kepler-envs watch``: agents against each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.console import Console
from tyro.conf import arg

from kepler_envs.bots import UNIFORM
from kepler_envs.cli.common import GameArguments, check_target, choose_seed
from kepler_envs.cli.match import Match, agents_by_seat
from kepler_envs.cli.stage import Stage, picture_folder, print_result, write_picture
from kepler_envs.engine.replay import write_replay
from kepler_envs.terminal import say


@dataclass(frozen=True)
class Watch(GameArguments):
    """Watch agents play against each other."""

    agents: Annotated[tuple[str, ...], arg(metavar="AGENT")] = (UNIFORM,)
    """One agent for all seats, or one for each in their order."""
    seed: Annotated[int | None, arg(metavar="S")] = None
    """Seed of the deal and of the agents; the same seed gives the same game."""
    delay: Annotated[float, arg(metavar="SECONDS")] = 0.5
    """Time for each move on a terminal; 0 prints the moves as lines."""
    quiet: bool = False
    """Print the result only."""
    svg: Annotated[Path | None, arg(metavar="FOLDER")] = None
    """Write a picture of every position into this folder."""
    save: Annotated[Path | None, arg(metavar="FILE")] = None
    """Write a replay of the game."""

    def run(self, console: Console) -> int:
        config = self.configure()
        check_target(self.save)
        stage = Stage(console, self.delay)
        specs = agents_by_seat(self.agents, list(range(config.num_players)))
        with console.status("setting up (compiling, the first time) ..."):
            match = Match(config, choose_seed(self.seed), specs)
        try:
            self._play(match, stage)
        finally:  # an interrupted game is kept too
            if self.save is not None:
                write_replay(self.save, match.replay())
        print_result(console, match.position, match.names)
        if self.save is not None:
            say(console, f"Replay written: {self.save}")
        return 0

    def _play(self, match: Match, stage: Stage) -> None:
        if not self.quiet:
            game = match.config.game
            stage.open(f"{game.title}, {match.config.num_players} players, seed {match.seed}", match.position)
        self._draw(match)
        while not match.over:
            match.let_bot_decide()
            if not self.quiet:
                number = len(match.actions)
                stage.show(f"{number:5}  {match.sentence(number - 1)}", match.position)
            self._draw(match)
        if not self.quiet:
            stage.close(match.position)

    def _draw(self, match: Match) -> None:
        if self.svg is not None:
            write_picture(picture_folder(self.svg) / f"{len(match.actions):04}.svg", match.position)
