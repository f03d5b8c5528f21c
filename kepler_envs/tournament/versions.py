"""The versions of a tournament's bots: one for all games of a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kepler_envs import bots
from kepler_envs.bots.loading import places_of_paths
from kepler_envs.bots.networks import checkpoint_at
from kepler_envs.bots.protocol import BotError
from kepler_envs.tournament import VersionError

Stamp = tuple[Path, int, int, int]
"""What changes when a file is written or replaced: its path, its time, its size and its number in the file system."""


class Versions:
    """The versions of bots as they were at first, and whether their files still have them.

    Bots are loaded whenever a process starts that plays. So make this before the first one is loaded, and check before
    games count.

    Attributes:
        fingerprints: that of each bot.
    """

    def __init__(self, specs: Sequence[str], game: str) -> None:
        self._specs, self._game = tuple(specs), game
        self._stamps = [_stamps(spec) for spec in specs]  # before the files are read
        self.fingerprints = [bots.fingerprint(spec, game) for spec in specs]

    def check(self) -> None:
        """Raise VersionError if a bot has changed. Files are read again only if they were written."""
        for place, spec in enumerate(self._specs):
            stamps = _stamps(spec)
            if stamps == self._stamps[place]:
                continue
            if bots.fingerprint(spec, self._game) != self.fingerprints[place]:
                raise VersionError(
                    f"{spec} has changed since the tournament began; all games in the ledger are of the version "
                    "before: put that back and the same command goes on, or begin anew with --fresh or another --out"
                )
            self._stamps[place] = stamps


def _stamps(spec: str) -> list[Stamp | None]:
    """Those of the files that a spec names."""
    return [_stamp(Path(spec[first:end])) for first, end in places_of_paths(spec)]


def _stamp(path: Path) -> Stamp | None:
    """That of a file, or of the checkpoint in the folder of a run. It is None if there is none."""
    try:
        file = checkpoint_at(path)
        found = file.stat()
    except (BotError, OSError, ValueError):
        return None
    return file, found.st_mtime_ns, found.st_size, found.st_ino
