"""The three ways to compile, and the cache that never serves a stale function.

``@leaf``    a few lines, or a function with one call site: inlined into its callers.
``@helper``  everything else that only compiled code calls.
``kernel``   the few functions Python calls: one explicit signature each, kept on disk.

numba's own cache looks only at the file that defines the cached function, so an edited helper, constant or
option would go on running in its old form (numba#1833). Here every kernel belongs to a :class:`Scope`: a name and
the source folders its machine code was made from. The digest of those sources, of the compiler's version
and of its options names the cache folder, so another source can never find the old code. A file of the cache begins with a checksum, and
nothing of it is loaded before that was compared: a damaged one would end the process, or run.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

# Idle OpenMP threads spin before they sleep; numba's default spins so long that a busy machine stalls (PERFORMANCE
# measurements: 0.01 of the single-thread speed). It has to be set before numba starts its first parallel region.
os.environ.setdefault("GOMP_SPINCOUNT", "20000")

import llvmlite
import numba
import numpy as np
from numba.core import cgutils
from numba.core import config as numba_config
from numba.core import types as numba_types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.compiler import Compiler
from numba.extending import intrinsic

from kepler_envs.engine.compiler import HelperDispatcher, KernelCompiler, without_collector

JIT_ENABLED = not numba_config.DISABLE_JIT  # type: ignore[attr-defined]
BOUNDSCHECK = bool(numba_config.BOUNDSCHECK)  # type: ignore[attr-defined]
COMPILE_OPTIONS: dict[str, Any] = {
    "boundscheck": BOUNDSCHECK,
    "error_model": "numpy",
    "nogil": True,
    "no_cfunc_wrapper": True,  # nobody calls these from C; a tenth of the compile time
}

ENGINE_FOLDER = Path(__file__).parent
SOURCE_SUFFIXES = (".py", ".toml")
CACHE_VARIABLE = "KEPLER_ENVS_CACHE_DIR"
KEEP_UNUSED_DAYS = 30


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


def room_for(dtype: np.dtype) -> Any:
    """A compiled function of a count: an array of so many records without contents, for copies on which rules are tried out."""
    if not JIT_ENABLED:
        return lambda count: np.zeros(count, dtype).view(np.recarray)

    @helper
    def room(count):
        return np.empty(count, dtype)

    return room


if not JIT_ENABLED:

    def borrowed(array: Any) -> Any:
        return array
else:

    @intrinsic
    def borrowed(typingctx, array):  # type: ignore[no-untyped-def]
        """The same array for a call during which somebody else holds it: compiled code does not count it as used.

        Counting takes atomic operations (about 5 ns each), and what branches cannot be rid of them.
        """

        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            value = context.make_array(signature.args[0])(context, builder, args[0])
            value.meminfo = cgutils.get_null_value(value.meminfo.type)
            return value._getvalue()

        return array(array), codegen


class Scope:
    """What a set of kernels is compiled from: a name and source folders, read once, when it is made.

    Make it in the module that defines the kernels (a game's ``__init__``), so that the digest is taken
    when the sources are loaded. ``is_current`` reads the sources again: code is stored only while they still agree.
    """

    def __init__(self, name: str, *folders: Path) -> None:
        self.name = name
        self.folders = (ENGINE_FOLDER, *folders)
        self.digest = self._read_digest()

    def _read_digest(self) -> str:
        digest = hashlib.sha256()
        digest.update(repr((numba.__version__, llvmlite.__version__, sys.version_info[:3])).encode())
        digest.update(repr(sorted(COMPILE_OPTIONS.items())).encode())
        for folder in self.folders:
            for path in sorted(folder.rglob("*")):
                if path.suffix in SOURCE_SUFFIXES:
                    digest.update(str(path.relative_to(folder)).encode())
                    digest.update(path.read_bytes())
        return digest.hexdigest()[:16]

    def is_current(self) -> bool:
        """Whether the sources on disk are still those that were loaded."""
        try:
            return self._read_digest() == self.digest
        except OSError:
            return False

    def cache_folder(self) -> Path | None:
        """The folder of this scope's compiled code, created on demand; None where nothing is writable."""
        name = f"{self.name}-{self.digest}" + ("-boundscheck" if BOUNDSCHECK else "")
        for base in cache_bases():
            folder = base / name
            try:
                folder.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=folder).close()
                os.utime(folder)
            except OSError:
                continue
            _remove_unused(base, self.name, keep=folder)
            return folder
        _warn(
            f"compiled code is not kept, every process compiles anew: none of {', '.join(map(str, cache_bases()))} "
            f"can be written; set {CACHE_VARIABLE} to a folder that can"
        )
        return None


def cache_bases() -> list[Path]:
    """Folders in which compiled code may be kept, in the order they are tried."""
    for variable in (CACHE_VARIABLE, "NUMBA_CACHE_DIR"):
        if os.environ.get(variable):
            return [Path(os.environ[variable]) / "kepler_envs"]
    bases = [ENGINE_FOLDER.parent / "__pycache__" / "compiled"]
    user_cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(user_cache):
        bases.append(Path(user_cache) / "kepler_envs")
    return bases


def _remove_unused(base: Path, name: str, keep: Path) -> None:
    """Delete this scope's folders of other sources that nobody opened for a month."""
    oldest = time.time() - KEEP_UNUSED_DAYS * 86400
    for folder in base.glob(f"{name}-*"):
        try:
            if folder != keep and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)
        except OSError:
            continue  # somebody else's, or already gone


class _ScopeLocator:
    """numba's protocol of a cache location: a folder, a stamp and a file name part."""

    def __init__(self, scope: Scope, folder: Path, name: str) -> None:
        self._scope, self._folder, self._name = scope, folder, name
        self._py_file = name  # numba names it in its warnings

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._scope.digest

    def get_disambiguator(self) -> str:
        return self._name


class _ScopeCacheImpl(CompileResultCacheImpl):
    def __init__(self, locator: _ScopeLocator, lineno: int, name: str) -> None:
        self._locator, self._lineno = locator, lineno
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _KernelFile(IndexDataCacheFile):
    """The code of one kernel, one file for each kind of processor: a checksum, then numba's pickle.

    A kernel has one signature, so numba's index of signatures is not needed. The checksum covers what the file stands for, too: a whole
    file of another kernel in its place is a damaged one. Files are replaced whole, so processes may write and be killed as they like.
    """

    def save(self, key: Any, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._path(key)) as file:
            file.write(self._checksum(key, content))
            file.write(content)

    def load(self, key: Any) -> Any:
        """What was saved under ``key``; None where there is nothing, or nothing that is whole."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                stored = memoryview(file.read())
        except OSError:
            return None
        checksum, content = stored[:CHECKSUM_BYTES], stored[CHECKSUM_BYTES:]
        if checksum != self._checksum(key, content):
            _warn(f"{path} is damaged: not loaded, compiled anew")
            return None
        return pickle.loads(content)

    def flush(self) -> None:
        """Nothing is indexed."""

    def _path(self, key: Any) -> str:
        return self._data_path(self._data_name(int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:4])))

    def _checksum(self, key: Any, content: Any) -> bytes:
        digest = hashlib.sha256(repr((self._source_stamp, key)).encode())
        digest.update(content)
        return digest.digest()


CHECKSUM_BYTES = hashlib.sha256().digest_size


@cache
def _warn(message: str) -> None:
    """A warning, once in a process, and one line: without the line of the source that gives it."""
    warnings.warn_explicit(message, RuntimeWarning, "kepler_envs", 0)


class _ScopeCache(FunctionCache):
    """numba's function cache, kept in a scope's folder and keyed by name.

    The folder already stands for all sources, so the key leaves out numba's hash of the closure, which
    changes from process to process (a closure over compiled functions holds their random identifiers).
    """

    def __init__(self, function: Callable[..., Any], scope: Scope, folder: Path, name: str) -> None:
        locator = _ScopeLocator(scope, folder, name)

        def impl(py_func: Callable[..., Any]) -> _ScopeCacheImpl:
            return _ScopeCacheImpl(locator, py_func.__code__.co_firstlineno, scope.name)

        self._scope, self._kernel_name = scope, name
        self._impl_class = impl  # type: ignore[assignment]
        super().__init__(function)
        self._cache_file = _KernelFile(self._cache_path, self._impl.filename_base, scope.digest)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (str(sig), codegen.magic_tuple(), self._kernel_name)

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._scope.is_current():
            return  # the sources changed since they were loaded: what was compiled is not what is on disk
        try:
            super().save_overload(sig, data)
        except OSError as problem:  # disk full or folder gone: the function runs all the same
            _warn(f"compiled code cannot be kept in {self.cache_path}: {problem.strerror}")


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

    ``name`` must be unique in the scope. An argument of another type or layout is a ``TypeError`` rather
    than a silent second compilation.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if not JIT_ENABLED:
            return _uncompiled(function)
        function.__qualname__ = f"{scope.name}.{name}"  # names symbols and profiles by game
        compiler = Compiler if parallel else KernelCompiler
        dispatcher = numba.njit(parallel=parallel, pipeline_class=compiler, **COMPILE_OPTIONS)(function)
        folder = scope.cache_folder()
        if folder is not None:
            dispatcher._cache = _ScopeCache(function, scope, folder, name)
        with without_collector():
            dispatcher.compile(tuple(signature))
        dispatcher.disable_compile()
        return dispatcher

    return decorate
