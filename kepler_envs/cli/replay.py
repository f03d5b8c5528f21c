"""``kepler-envs replay``: verify recorded games, then show or draw them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated

from rich.console import Console
from tyro.conf import Positional, arg

from kepler_envs import registry
from kepler_envs.cli.common import UsageError, check_folder, check_source, check_target, optional
from kepler_envs.cli.motion import write_gif
from kepler_envs.cli.stage import Frame, Stage, picture_folder, print_position, print_result, write_picture
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.replay import Replay, ReplayError, configuration_of, read_replay, verify
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.files import write_atomically
from kepler_envs.printable import counted, printable, printable_name
from kepler_envs.terminal import say


@dataclass(frozen=True)
class ShowReplay:
    """Verify a recorded game by playing it again, then show or draw it. The exit code is 1 if the game differs.

    Keys while it is shown: space pauses, arrows step, Tab turns to the next screen, q quits.
    """

    file: Annotated[Positional[Path], arg(metavar="FILE")]
    """A replay, as `play --save` and `watch --save` write it."""
    components: Annotated[Path | None, optional(metavar="FILE")] = None
    """Where the component file of the game is now, if it had one of its own."""
    at: Annotated[int | None, optional(metavar="N")] = None
    """Show only the position after N decisions."""
    seat: Annotated[int | None, optional(metavar="SEAT")] = None
    """Show what this seat saw. Everything is open if left out."""
    delay: Annotated[float, arg(metavar="SECONDS")] = 0.5
    """Time for each move on a terminal; 0 prints the moves as lines."""
    svg: Annotated[Path | None, optional(metavar="PATH")] = None
    """Draw it as SVG. A name ending in .svg gets one position (the last, or that of --at), a folder gets them all."""
    png: Annotated[Path | None, optional(metavar="PATH")] = None
    """Draw it as PNG, otherwise like --svg."""
    html: Annotated[Path | None, optional(metavar="OUT")] = None
    """Write the whole game, nothing hidden, as one page that a browser opens from disk."""
    gif: Annotated[Path | None, optional(metavar="OUT")] = None
    """Write a moving picture of at most 60 positions, as --seat sees them."""
    start: Annotated[int | None, optional(metavar="N")] = None
    """First position of the moving picture; the deal if left out."""
    stop: Annotated[int | None, optional(metavar="N")] = None
    """Last position of the moving picture; the last of the game if left out."""

    def run(self, console: Console) -> int:
        replay = self._read()
        try:
            config = configuration_of(replay, registry.load_game)
            last = verify(replay, config)
        except ReplayError as problem:
            say(console, printable(f"DIFFERS  {self.file}: {problem}"))
            return 1
        self._check(replay, config)
        self._check_targets()
        for path, suffix in ((self.svg, ".svg"), (self.png, ".png")):
            if path is not None:
                count = self._draw(replay, config, path, suffix)
                say(console, f"{counted(count, 'picture')} written: {path}")
        if self.html is not None:
            from kepler_envs.web.page import replay_page  # with networks, which other commands need not wait for

            check_target(self.html)
            write_atomically(self.html, replay_page(replay, self.file.name).encode())
            say(console, f"page written: {self.html}")
        if self.gif is not None:
            check_target(self.gif)
            last_shown = len(replay.actions) if self.stop is None else self.stop
            frames = write_gif(self.gif, list(replay.positions(config))[self.start or 0 : last_shown + 1], self.seat)
            say(console, f"{counted(frames, 'frame')} written: {self.gif}")
        if all(path is None for path in (self.svg, self.png, self.html, self.gif)):
            self._show(console, replay, config)
        if self.at is None:
            self._say_verified(console, replay, last)
        return 0

    def _read(self) -> Replay:
        replay = read_replay(self.file)
        if self.components is not None:
            check_source("--components", self.components)
            with suppress(registry.UnknownGame, registry.BrokenGame):  # that such a game is not to be had is told later
                registry.load_game(replay.game).load_components(self.components)
            return replace(replay, options={**replay.options, "components": str(self.components)})
        cards = replay.options.get("components")
        if cards is not None and not Path(str(cards)).exists():
            raise UsageError(
                f"{self.file}: it was played with the cards of {printable(str(cards))}, which is not there; "
                "--components FILE says where they are"
            )
        return replay

    def _say_verified(self, console: Console, replay: Replay, last: Snapshot) -> None:
        finished = "finished" if last.over else "unfinished"
        decisions = counted(len(replay.actions), "decision")
        say(console, printable(f"OK  {self.file}: {replay.game}, {decisions}, {finished}, state {last.digest()[:16]}"))

    def _check(self, replay: Replay, config: Configuration) -> None:
        if self.at is not None and not 0 <= self.at <= len(replay.actions):
            raise UsageError(f"--at {self.at} is not allowed; allowed: 0..{len(replay.actions)}")
        last = len(replay.actions)
        for name, number, first in (("start", self.start, 0), ("stop", self.stop, self.start or 0)):
            if number is not None and not first <= number <= last:
                raise UsageError(f"--{name} {number} is not allowed; allowed: positions of the game, {first}..{last}")
            if number is not None and self.gif is None:
                raise UsageError(f"--{name} is for --gif")
        if self.html is not None and self.seat is not None and self.gif is self.svg is self.png is None:
            raise UsageError("--html writes the whole game with every view, and nothing is hidden: leave out --seat")
        if self.at is not None and (self.html or self.gif) and self.svg is self.png is None:
            raise UsageError("--at is one position: for --svg, --png or the terminal, not for --html and --gif")
        if self.seat is not None and not 0 <= self.seat < config.num_players:
            raise UsageError(f"--seat {self.seat} is not allowed; allowed: 0..{config.num_players - 1}")

    def _check_targets(self) -> None:
        for path, suffix in ((self.html, ".html"), (self.gif, ".gif")):
            if path is not None and path.suffix.lower() != suffix:
                raise UsageError(f"--{suffix[1:]} {path}: name a file that ends in {suffix}")
        for path in (self.svg, self.png, self.html, self.gif):
            if path is not None and path.exists() and path.samefile(self.file):
                raise UsageError(f"{path} is the replay itself; name another file")

    def _show(self, console: Console, replay: Replay, config: Configuration) -> None:
        if self.at is not None:
            print_position(console, self._position(replay, config, self.at), self.seat)
            return
        Stage(console, self.delay, self.seat).show(self._frames(replay, config))
        position = self._position(replay, config, len(replay.actions))
        if position.over:
            print_result(console, position, [printable_name(name) for name in replay.agents])
        else:
            console.print(f"The game was left after {counted(len(replay.actions), 'decision')}.")

    def _frames(self, replay: Replay, config: Configuration) -> Iterator[Frame]:
        positions = replay.positions(config)
        position = next(positions)
        yield Frame(f"{config.game.title}, {counted(config.num_players, 'player')}, seed {replay.seed}", position)
        for number, after in enumerate(positions, 1):
            mover, action = replay.seats[number - 1], replay.actions[number - 1]
            told = self.seat in (None, mover)
            words = position.full_text(action) if told else position.public_text(action)
            yield Frame(f"{number:5}  {agent_name(mover)}: {words}", after)
            position = after

    def _draw(self, replay: Replay, config: Configuration, path: Path, suffix: str) -> int:
        """Write the pictures; their number."""
        if path.suffix.lower() == suffix:
            check_target(path)
            at = len(replay.actions) if self.at is None else self.at
            write_picture(path, self._position(replay, config, at), self.seat)
            return 1
        if path.suffix and not path.is_dir():
            raise UsageError(f"{path}: name a file that ends in {suffix}, or a folder")
        check_folder(f"--{suffix[1:]}", path)
        count = 0
        for number, position in enumerate(replay.positions(config)):
            if self.at in (None, number):
                write_picture(picture_folder(path) / f"{number:04}{suffix}", position, self.seat)
                count += 1
        return count

    def _position(self, replay: Replay, config: Configuration, at: int) -> Snapshot:
        """The position after ``at`` decisions."""
        return next(islice(replay.positions(config), at, None))
