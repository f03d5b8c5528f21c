"""Compiling a game before it is needed: everything the package itself ever compiles for it, kept in the cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from kepler_envs.engine import batch, playout, single
from kepler_envs.engine.game import Game

KERNEL_BUILDERS: tuple[Callable[[Game], Any], ...] = (
    single.begin_kernel,
    single.step_kernel,
    single.look_kernel,
    single.resample_kernel,
    single.result_kernel,
    single.potential_kernel,
    batch.begin_rows_kernel,
    batch.step_rows_kernel,
    batch.step_rows_parallel_kernel,
    batch.find_illegal_kernel,
    batch.observe_rows_kernel,
    batch.sample_rows_kernel,
    batch.refresh_row_kernel,
)
POLICY_KERNEL_BUILDERS: tuple[Callable[[playout.CompiledPolicy], Any], ...] = (
    playout.choose_kernel,
    playout.playout_kernel,
)


def kernels(game: Game) -> list[tuple[str, Callable[[], Any]]]:
    """(name, what compiles it or loads it from the cache) of every kernel of a game; policies: uniform."""
    uniform = playout.uniform_policy(game)
    return [
        *((_name(build), partial(build, game)) for build in KERNEL_BUILDERS),
        *((_name(build), partial(build, uniform)) for build in POLICY_KERNEL_BUILDERS),
    ]


def _name(build: Callable[..., Any]) -> str:
    return build.__name__.removesuffix("_kernel")


def compile_game(game: Game, progress: Callable[[str, int, int], None] | None = None) -> int:
    """Compile all kernels of a game, or load them where the cache has them; the number of kernels.

    Args:
        game: the game.
        progress: called as (name, number of kernels done, number of kernels) before each kernel.
    """
    listed = kernels(game)
    for done, (name, build) in enumerate(listed):
        if progress is not None:
            progress(name, done, len(listed))
        build()
    return len(listed)
