"""The three ways to compile.

``@leaf``    a few lines, or a function with one call site: inlined into its callers.
``@helper``  everything else that only compiled code calls.
``kernel``   the few functions Python calls: one explicit signature each, kept on disk.

Kernels come from, and go to, the cache of :mod:`kepler_envs.engine.code_cache`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

# Idle OpenMP threads spin before they sleep; numba's default spins so long that a busy machine stalls (PERFORMANCE
# measurements: 0.01 of the single-thread speed). It has to be set before numba starts its first parallel region.
os.environ.setdefault("GOMP_SPINCOUNT", "20000")

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core import config as numba_config
from numba.core import types as numba_types
from numba.core.compiler import Compiler
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from kepler_envs.engine.code_cache import BOUNDSCHECK, KernelCache, Scope, SourceError
from kepler_envs.engine.compiler import HelperDispatcher, KernelCompiler, without_collector

JIT_ENABLED = not numba_config.DISABLE_JIT  # type: ignore[attr-defined]
COMPILE_OPTIONS: dict[str, Any] = {
    "boundscheck": BOUNDSCHECK,
    "error_model": "numpy",
    "nogil": True,
    "no_cfunc_wrapper": True,  # nobody calls these from C; a tenth of the compile time
}


NOT_COMPILED = (
    "{} could not be compiled. A KeyError names a field that a record does not have. Run the same with "
    "NUMBA_DISABLE_JIT=1: the rules are plain Python then, and errors name the line."
)


def _uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The plain Python function, with NumPy's overflow warnings off: the generator wraps on purpose."""
    return np.errstate(over="ignore")(function)


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function that only other compiled functions call."""
    if not JIT_ENABLED:
        return _uncompiled(function)
    # said aloud: a helper first compiled on behalf of a leaf would inherit its option, and be copied everywhere
    return HelperDispatcher(function, {"nopython": True, "forceinline": False, **COMPILE_OPTIONS})


def leaf(function: Callable[..., Any]) -> Any:
    """Compile a short function, or one with a single call site, into each of its callers."""
    if not JIT_ENABLED:
        return _uncompiled(function)
    return HelperDispatcher(function, {"nopython": True, "forceinline": True, **COMPILE_OPTIONS})


ALIGNMENT = 64
"""Bytes; more than any vector instruction asks for."""
MOST_IN_FRAME = 4096
"""Bytes. A policy with an array of 20,000 bytes in its stack frame was 3 % slower, one with 2,500 bytes 8 % faster."""


def room_for(dtype: np.dtype | type, count: int) -> Any:
    """A compiled function without arguments that gives an array of ``count`` items with undefined contents.

    The array lives as long as the call of the function that asks for it: pass it on, but never return it. A small one
    lies in that function's stack frame. A large one is allocated, and freed with its records after the last use of the
    array: pass on the array, not a record of it.
    """
    if not JIT_ENABLED:
        return lambda: np.zeros(count, dtype).view(np.recarray if np.dtype(dtype).names else np.ndarray)
    if np.dtype(dtype).itemsize * count > MOST_IN_FRAME:

        @helper
        def allocated():
            return np.empty(count, dtype)

        return allocated
    kind = array_of(dtype)

    @intrinsic
    def in_frame(typingctx):
        def codegen(context, builder, signature, args):
            item, number = context.get_data_type(kind.dtype), context.get_value_type(numba_types.intp)
            size = context.get_abi_sizeof(item)
            frame = cgutils.alloca_once(builder, ir.ArrayType(item, count))
            frame.align = ALIGNMENT
            array = context.make_array(kind)(context, builder)
            data = builder.bitcast(frame, item.as_pointer())
            populate_array(array, data, shape=(number(count),), strides=(number(size),), itemsize=size, meminfo=None)
            return array._getvalue()

        return kind(), codegen

    return in_frame


if not JIT_ENABLED:

    def borrowed(array: Any) -> Any:
        return array
else:

    @intrinsic
    def borrowed(typingctx, array):
        """The same array for a call during which somebody else holds it: compiled code does not count it as used.

        Counting takes atomic operations (about 5 ns each), and what branches cannot be rid of them.
        """

        def codegen(context, builder, signature, args):
            value = context.make_array(signature.args[0])(context, builder, args[0])
            value.meminfo = cgutils.get_null_value(value.meminfo.type)
            return value._getvalue()

        return array(array), codegen


def array_of(dtype: np.dtype | type, dimensions: int = 1, readonly: bool = False) -> Any:
    """The signature type of a C-contiguous array argument."""
    if not JIT_ENABLED:
        return None
    return numba_types.Array(numba.from_dtype(np.dtype(dtype)), dimensions, "C", readonly=readonly)


INT = numba_types.int64


def kernel(
    scope: Scope, name: str, signature: Sequence[Any], *, parallel: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function Python calls, for exactly one signature, and keep it in the scope's cache.

    ``name`` must be unique in the scope. An argument of another type or layout is a ``TypeError`` rather than a silent
    second compilation. Other kernels call it only if it is shared (:mod:`kepler_envs.engine.linking`).
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if not JIT_ENABLED:
            return _uncompiled(function)
        function.__qualname__ = f"{scope.name}.{name}"  # names symbols and profiles by game
        compiler = Compiler if parallel else KernelCompiler
        dispatcher = numba.njit(parallel=parallel, pipeline_class=compiler, **COMPILE_OPTIONS)(function)
        dispatcher._cache = kept = KernelCache(scope, name)
        with kept.at_work(), without_collector():
            try:
                dispatcher.compile(tuple(signature))
            except SourceError:
                raise
            except Exception as problem:
                problem.add_note(NOT_COMPILED.format(function.__qualname__))
                raise
        dispatcher.disable_compile()
        return dispatcher

    return decorate
