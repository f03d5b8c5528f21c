"""Bots by their specs, with the files that these name, for machines that do not have the files."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kepler_envs.bots.from_file import split
from kepler_envs.bots.networks import find_checkpoint
from kepler_envs.files import who_else_writes, write_atomically


@dataclass(frozen=True)
class File:
    """A file that a spec names: the path as it is written there, where the file lies, and what is in it."""

    named: str
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
        of the user's own.
        """
        return tuple(self._here(spec, files) for spec, files in zip(self.specs, self.files, strict=True))

    def _here(self, spec: str, files: Sequence[File]) -> str:
        for number, file in enumerate(files):
            if file.path.is_file() and file.path.read_bytes() == file.content:
                spec = spec.replace(file.named, str(file.path))
                continue
            own = _own_folder() / self.key / str(number) / file.path.name
            own.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(own, file.content)
            spec = spec.replace(file.named, str(own))
        return spec


def _own_folder() -> Path:
    """A folder in which nobody else writes: bots from files are code."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"kepler_envs-bots-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    reason = who_else_writes(folder.stat())
    if reason:
        raise PermissionError(f"{folder} {reason}: remove it")
    return folder


def _files_of(spec: str) -> list[File]:
    """The files of ``net:PATH``, ``python:FILE.py:NAME``, and of searches with a network."""
    kind, _, argument = spec.partition(":")
    if kind == "mcts":
        networks = [pair.partition("=")[2] for pair in argument.split(",") if pair.startswith("network=net:")]
        return [file for network in networks for file in _files_of(network)]
    if kind not in ("net", "python"):
        return []
    named = str(argument.rpartition(":")[0] if kind == "python" else argument)
    path = split(argument)[0] if kind == "python" else Path(named)
    path = (find_checkpoint(path) if path.is_dir() else path).resolve()
    return [File(named, path, path.read_bytes())]
