"""Compiling a game before it is needed. It covers everything the package itself ever compiles for the game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kepler_envs.engine import batch, one_game, playout, shared
from kepler_envs.engine.game import Game

KERNEL_BUILDERS: tuple[Callable[[Game], Any], ...] = (
    shared.turn_kernel,
    one_game.begin_kernel,
    one_game.apply_kernel,
    one_game.step_kernel,
    one_game.legal_kernel,
    one_game.observe_kernel,
    one_game.resample_kernel,
    shared.finish_kernel,
    one_game.result_kernel,
    shared.value_kernel,
    one_game.potential_kernel,
    batch.begin_rows_kernel,
    batch.step_rows_kernel,
    batch.step_rows_parallel_kernel,
    batch.observe_rows_kernel,
    batch.sample_rows_kernel,
    batch.refresh_row_kernel,
)
POLICY_KERNEL_BUILDERS: tuple[Callable[[playout.CompiledPolicy], Any], ...] = (
    playout.choose_kernel,
    playout.playout_kernel,
)


Kernels = Sequence[tuple[str, Callable[[], Any]]]
"""(name, what compiles it or loads it from the cache) of each."""

Report = Callable[[str, int, int], None]


def kernels(game: Game) -> Kernels:
    """Every kernel of a game, those that ask a policy for uniform play."""
    uniform = playout.uniform_policy(game)
    return [
        *((_name(build), partial(build, game)) for build in KERNEL_BUILDERS),
        *((_name(build), partial(build, uniform)) for build in POLICY_KERNEL_BUILDERS),
    ]


def _name(build: Callable[..., Any]) -> str:
    return build.__name__.removesuffix("_kernel")


def compile_kernels(listed: Kernels, report: Report | None = None) -> int:
    """Compile kernels, or load them where the cache has them. Returns their number.

    Args:
        listed: the kernels, as :func:`kernels` gives them.
        report: called with (name, number of kernels done, number of kernels) before each kernel.
    """
    for done, (name, build) in enumerate(listed):
        if report is not None:
            report(name, done, len(listed))
        build()
    return len(listed)
