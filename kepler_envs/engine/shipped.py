"""Compiled code that came with the package. A Linux wheel brings every kernel, made for :data:`CPU`.

It is used where sources, numba, llvmlite and Python are those it was made with and the processor has what it was made
for. Anywhere else everything is compiled as if there were none, and the reason is logged once, at level info.
"""

from __future__ import annotations

import json
import logging
import sys
from functools import cache
from pathlib import Path

import llvmlite
import llvmlite.binding
import numba

FOLDER = Path(__file__).parents[1] / "_compiled"
"""One folder for each scope, named as in a cache, and :data:`MADE_WITH`."""

MADE_WITH = "made_with.json"

CPU = "x86-64-v3"
"""Processors from about 2013 on: AVX2 and FMA, no AVX-512."""

CPU_FEATURES = (
    "64bit", "avx", "avx2", "bmi", "bmi2", "cmov", "crc32", "cx16", "cx8", "f16c", "fma", "fxsr", "lzcnt", "mmx",
    "movbe", "popcnt",
    "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave",
)  # fmt: skip
"""What LLVM may use for :data:`CPU`, by LLVM's names.

They are said aloud: numba would add all that the building machine has.
"""

FLAGS = ",".join(f"+{name}" for name in CPU_FEATURES)
COMPILE_FOR = {"NUMBA_CPU_NAME": CPU, "NUMBA_CPU_FEATURES": FLAGS}
"""The environment of a process that compiles what is shipped."""

_log = logging.getLogger("kepler_envs")


def versions() -> dict[str, str]:
    """What compiled code depends on besides its sources. Within a minor version of Python its ABI stays the same."""
    python = f"{sys.version_info[0]}.{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
    return {"Python": python, "numba": numba.__version__, "llvmlite": llvmlite.__version__}


def folder_of(name: str, digest: str) -> Path | None:
    """Where the kernels of a scope with these sources are; None where nothing was shipped for it, or nothing that may
    run here."""
    made_with = _made_with()
    if made_with is None:
        return None
    folder = FOLDER / f"{name}-{digest}"
    reason = _difference(made_with)
    if not reason and not folder.is_dir():
        if name not in _scopes():
            return None  # a game, or a combination of bots, that the package does not bring
        reason = f"the sources of {name} are not those it was made from"
    if reason:
        _say_once(reason)
        return None
    return folder


def _difference(made_with: dict[str, str]) -> str:
    here = versions()
    other = [
        f"it was made with {name} {made_with[name]}, and here is {here[name]}"
        for name in here
        if made_with[name] != here[name]
    ]
    if other:
        return other[0]
    lacking = _lacking()
    return f"this processor lacks {', '.join(lacking)}" if lacking else ""


@cache
def _lacking() -> tuple[str, ...]:
    """The features of :data:`CPU` that this processor does not have."""
    try:
        has = llvmlite.binding.get_host_cpu_features()
    except RuntimeError:  # LLVM does not know this kind of processor
        has = {}
    return tuple(name for name in CPU_FEATURES if not has.get(name))


@cache
def _made_with() -> dict[str, str] | None:
    """What the compiled code depends on; None without the file, or if it is damaged."""
    try:
        found = json.loads((FOLDER / MADE_WITH).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and versions().keys() <= found.keys() else None


@cache
def _scopes() -> frozenset[str]:
    return frozenset(path.name.rpartition("-")[0] for path in FOLDER.iterdir() if path.is_dir())


_said: set[str] = set()


def _say_once(reason: str) -> None:
    if not _said:
        _said.add(reason)
        _log.info(
            "the compiled code that came with kepler_envs is not used: %s; what is needed is compiled here", reason
        )
