"""The hand-written C engine as a library in this process: the limit for the compiled Python engine."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parent / "c_limit" / "kitten_limit.c"
FLAGS = ("-O3", "-march=native", "-std=gnu11", "-pthread", "-DKITTEN_NO_MAIN", "-shared", "-fPIC")


def compiler() -> str | None:
    """Path of a C compiler, or None."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


class CAnchor:
    """A batch of the C engine. It plays uniformly random legal actions and writes masks and observations at every
    step."""

    def __init__(self, games: int, players: int) -> None:
        command = compiler()
        if command is None:
            raise RuntimeError("no C compiler (cc, gcc or clang) on this machine")
        self._folder = tempfile.TemporaryDirectory(prefix="kepler_envs_c_")
        library = Path(self._folder.name) / "libkitten.so"
        subprocess.run([command, *FLAGS, str(SOURCE), "-o", str(library)], check=True)
        self._library = ctypes.CDLL(str(library))
        self._library.kl_new.restype = ctypes.c_void_p
        self._library.kl_new.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_uint64]
        self._library.kl_steps.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self._library.kl_free.argtypes = [ctypes.c_void_p]
        threads = seed = 1
        self._batch = self._library.kl_new(games, players, threads, seed)

    def steps(self, count: int) -> None:
        """Make ``count`` decisions in every game."""
        self._library.kl_steps(self._batch, count)

    def close(self) -> None:
        """Free the batch and delete the library."""
        self._library.kl_free(self._batch)
        self._folder.cleanup()
