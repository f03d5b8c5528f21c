"""Bots by their specs, with the files that these name, for machines that do not have the files."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kepler_envs.bots.loading import places_of_paths
from kepler_envs.bots.networks import checkpoint_at
from kepler_envs.files import who_else_writes, without_links, write_atomically


@dataclass(frozen=True)
class File:
    """A file that a spec names.

    Attributes:
        first, end: where its path stands in the spec, as a slice.
        path: where the file lies.
        content: what is in it.
    """

    first: int
    end: int
    path: Path
    content: bytes


@dataclass(frozen=True)
class Shipment:
    """Specs and their files, ready to be pickled."""

    specs: tuple[str, ...]
    files: tuple[tuple[File, ...], ...]
    """Of each spec."""

    @classmethod
    def pack(cls, specs: Sequence[str]) -> Shipment:
        """Read the files. Raises OSError and BotError."""
        return cls(tuple(specs), tuple(tuple(_files_of(spec)) for spec in specs))

    @cached_property
    def key(self) -> str:
        """A key that is the same for the same specs and files."""
        return hashlib.sha256(repr((self.specs, self.files)).encode()).hexdigest()[:16]

    def unpack(self) -> tuple[str, ...]:
        """The specs as they have to be written on this machine.

        A file that lies here under the same path with the same content is used as it is. Others are written to a folder
        of the user's own, and so are those of a spec that would otherwise be the same as another one.
        """
        specs: list[str] = []
        for place in range(len(self.specs)):
            spec = self._here(place, self._where_it_lies)
            specs.append(self._here(place, self._written) if spec in specs else spec)
        return tuple(specs)

    def _here(self, place: int, path_here: Callable[[File, str], Path]) -> str:
        """The spec at this place. The last path is replaced first, so that the places of the others stay right."""
        spec = self.specs[place]
        for number, file in reversed(list(enumerate(self.files[place]))):
            path = path_here(file, f"{place}-{number}")
            spec = f"{spec[: file.first]}{path}{spec[file.end :]}"
        return spec

    def _where_it_lies(self, file: File, folder: str) -> Path:
        """The file's own path if it is here, or that of a copy."""
        if file.path.is_file() and file.path.read_bytes() == file.content:
            return file.path
        return self._written(file, folder)

    def _written(self, file: File, folder: str) -> Path:
        """The path of a copy, in a folder of its own, as files of other specs may have its name."""
        own = _own_folder() / self.key / folder / file.path.name
        own.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(own, file.content)
        return own


def _own_folder() -> Path:
    """A folder in which nobody else writes: bots from files are code."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"kepler_envs-bots-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    reason = who_else_writes(folder.stat())
    if reason:
        raise PermissionError(f"{folder} {reason}: remove it")
    return folder


def _files_of(spec: str) -> Iterator[File]:
    for first, end in places_of_paths(spec):
        path = without_links(checkpoint_at(Path(spec[first:end])))
        yield File(first, end, path, path.read_bytes())
