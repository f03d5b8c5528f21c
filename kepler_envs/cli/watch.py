"""``kepler-envs watch``: agents against each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.console import Console
from tyro.conf import arg

from kepler_envs.bots import UNIFORM
from kepler_envs.cli.codes import INTERRUPTED
from kepler_envs.cli.common import Flag, GameArguments, check_folder, check_target, choose_seed, optional
from kepler_envs.cli.match import Match, agents_by_seat, keeping_replay
from kepler_envs.cli.stage import Frame, Stage, picture_folder, print_result, write_picture
from kepler_envs.printable import counted
from kepler_envs.terminal import say


@dataclass(frozen=True)
class Watch(GameArguments):
    """Watch agents play against each other. Keys: space pauses, arrows step, Tab turns to the next screen, q quits."""

    agents: Annotated[tuple[str, ...], arg(metavar="AGENT ...")] = (UNIFORM,)
    """One agent for all seats, or one for each in seat order."""
    seed: Annotated[int | None, optional(metavar="SEED")] = None
    """Seed of the deal and of the agents. The same seed gives the same game. Drawn if left out."""
    delay: Annotated[float, arg(metavar="SECONDS")] = 0.5
    """Time for each move on a terminal; 0 prints the moves as lines."""
    quiet: Flag = False
    """Print only the result."""
    svg: Annotated[Path | None, optional(metavar="FOLDER")] = None
    """Write a picture of every position into this folder."""
    save: Annotated[Path | None, optional(metavar="FILE")] = None
    """Write a replay of the game, as far as it was played."""

    def run(self, console: Console) -> int:
        config = self.configure()
        check_target(self.save)
        if self.svg is not None:
            check_folder("--svg", self.svg)
        stage = Stage(console, self.delay)
        specs = agents_by_seat(self.agents, list(range(config.num_players)))
        with console.status("setting up (compiling, the first time) ..."):
            match = Match(config, choose_seed(self.seed), specs)
        with keeping_replay(match, self.save, console):
            interrupted = self._show(match, stage)
            if match.over:
                print_result(console, match.position, match.names)
            else:
                say(console, f"\nYou stopped watching after {counted(len(match.actions), 'decision')}.")
        return INTERRUPTED if interrupted else 0

    def _show(self, match: Match, stage: Stage) -> bool:
        """Play the match and show it. Returns whether Ctrl-C ended it."""
        frames = self._frames(match)
        try:
            if self.quiet:
                for _ in frames:
                    pass
            else:
                stage.show(frames)
        except KeyboardInterrupt:
            return True
        return False

    def _frames(self, match: Match) -> Iterator[Frame]:
        """The game, decided as it is looked at."""
        self._draw(match)
        title = f"{match.config.game.title}, {counted(match.config.num_players, 'player')}, seed {match.seed}"
        yield Frame(title, match.position)
        while not match.over:
            match.let_bot_decide()
            self._draw(match)
            number = len(match.actions)
            yield Frame(f"{number:5}  {match.sentence(number - 1)}", match.position)

    def _draw(self, match: Match) -> None:
        if self.svg is not None:
            write_picture(picture_folder(self.svg) / f"{len(match.actions):04}.svg", match.position)
