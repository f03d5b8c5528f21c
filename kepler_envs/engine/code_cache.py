"""The cache of compiled code, which never serves a stale function.

numba's own cache looks only at the file that defines the cached function, so an edited helper, constant or
option would go on running in its old form (numba#1833). Here every kernel belongs to a :class:`Scope`: a name and
the sources its machine code was made from. The digest of those sources, of the compiler's version and of its options
names the cache folder, so another source can never find the old code. A kernel that calls a function of other sources
is refused. A file of the cache begins with a checksum, and nothing of it is loaded before the checksum was compared.
Damaged code could crash the process, or worse, run.

Code comes from two places only: folders that nobody but their user writes to, and the package itself
(:mod:`kepler_envs.engine.shipped`). What the user's processes compiled for this very processor goes first.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import IO, Any

import llvmlite.binding as llvm
from numba.core import config as numba_config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from kepler_envs.engine import progress, shipped
from kepler_envs.files import who_else_writes

try:
    import fcntl
except ImportError:  # no such locks on this system: processes may compile the same thing twice
    fcntl = None  # type: ignore[assignment]

BOUNDSCHECK = bool(numba_config.BOUNDSCHECK)  # type: ignore[attr-defined]
OPTIMISATION = tuple(
    int(getattr(numba_config, name)) for name in ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")
)
"""Settings of numba that its compiler follows, from variables such as NUMBA_OPT."""

ENGINE_FOLDER = Path(__file__).parent
BESIDE_PACKAGE = ENGINE_FOLDER.parent / "__pycache__" / "compiled"
SOURCE_SUFFIXES = (".py", ".toml")
CACHE_VARIABLE = "KEPLER_ENVS_CACHE_DIR"
KEEP_UNUSED_DAYS = 30
CHECKSUM_BYTES = hashlib.sha256().digest_size

_loaded: dict[Path, bytes] = {}


def digest_when_loaded(folder: Path) -> bytes:
    """The digest of a folder's sources, or of a file, when this process first asked for it.

    Ask while they are loaded: the process goes on running what it loaded, whatever is edited later.
    """
    if folder not in _loaded:
        _loaded[folder] = _digest_of(folder)
    return _loaded[folder]


def _digest_of(folder: Path) -> bytes:
    digest = hashlib.sha256(folder.read_bytes() if folder.is_file() else b"")
    for path in sorted(folder.rglob("*")):
        if path.suffix in SOURCE_SUFFIXES and not path.name.startswith("."):  # an editor's, and no module
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.digest()


digest_when_loaded(ENGINE_FOLDER)


class SourceError(Exception):
    """A kernel calls a function that is not among its scope's sources."""


_at_work: ContextVar[Scope | None] = ContextVar("at_work", default=None)


def check_source(function: Callable[..., Any]) -> None:
    """Raise SourceError if the kernel that is being compiled calls a function whose edits it would not follow."""
    scope, file = _at_work.get(), Path(function.__code__.co_filename)
    if scope is not None and file.is_file() and not scope.covers(file):
        raise SourceError(
            f"{scope.name} calls {function.__qualname__} of {file}, which is not among its sources, so compiled code "
            "would not follow edits of it; give make_game its folder: sources=(FOLDER,)"
        )


class Scope:
    """What a set of kernels is compiled from: a name and sources, as they were when they were loaded.

    Sources are folders, of which the Python and TOML files count, or single files.

    Make it in the module that defines the kernels (a game's ``__init__``), or call :func:`digest_when_loaded` there.
    ``is_current`` reads the sources again: code is stored only while they still agree.
    """

    def __init__(self, name: str, *folders: Path) -> None:
        self.name = name
        self.folders = (ENGINE_FOLDER, *folders)
        self.digest = self._digest(digest_when_loaded)

    def covers(self, file: Path) -> bool:
        """Whether a file is among the sources."""
        return any(file.resolve().is_relative_to(folder.resolve()) for folder in self.folders)

    def _digest(self, of_folder: Callable[[Path], bytes]) -> str:
        digest = hashlib.sha256()
        digest.update(repr(sorted(shipped.versions().items())).encode())
        digest.update(repr((BOUNDSCHECK, *OPTIMISATION)).encode())  # the other options stand in the engine's sources
        for folder in self.folders:
            digest.update(of_folder(folder))
        return digest.hexdigest()[:16]

    def is_current(self) -> bool:
        """Whether the sources on disk are still those that were loaded."""
        try:
            return self._digest(_digest_of) == self.digest
        except OSError:
            return False

    @property
    def _folder_name(self) -> str:
        return f"{self.name}-{self.digest}" + ("-boundscheck" if BOUNDSCHECK else "")

    def kept_in(self) -> Iterator[Path]:
        """The user's own folders that have compiled code of this scope."""
        for base in cache_bases():
            folder = base / self._folder_name
            try:
                is_usable = folder.is_dir() and _is_own(base) and _is_own(folder)
            except OSError:  # somebody else's home, or another process has just removed it
                continue
            if is_usable:
                yield folder

    def came_with_package(self) -> Path | None:
        """The folder of the package that has this scope's code; None where there is none, or none that may run here."""
        return shipped.folder_of(self.name, self.digest) if _uses_shipped and not BOUNDSCHECK else None

    def cache_folder(self) -> Path | None:
        """The folder that takes this scope's compiled code, created on demand; None where nothing is writable."""
        is_refused = False
        for base in cache_bases():
            folder = base / self._folder_name
            try:
                is_new = not folder.is_dir()
                if not (_make_own(base) and _make_own(folder)):
                    is_refused = True
                    continue
                tempfile.TemporaryFile(dir=folder).close()
            except OSError:
                continue
            if is_new:
                _remove_unused(base, self.name, keep=folder)
            return folder
        if is_refused:
            return None  # that was said
        _warn(
            f"compiled code is not kept, so every process compiles again: none of {', '.join(map(str, cache_bases()))} "
            f"can be used; set {CACHE_VARIABLE} to a folder that can"
        )
        return None


def cache_bases() -> list[Path]:
    """The folders in which compiled code may be kept, in the order in which they are tried."""
    for variable in (CACHE_VARIABLE, "NUMBA_CACHE_DIR"):
        if os.environ.get(variable):
            return [Path(os.path.expanduser(os.environ[variable])) / "kepler_envs"]  # no shell has seen a quoted ~
    bases = [BESIDE_PACKAGE]
    user_cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(user_cache):
        bases.append(Path(user_cache) / "kepler_envs")
    return bases


def _make_own(folder: Path) -> bool:
    """Make a folder, closed to others whatever the umask, or see whether the one there is."""
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    return _is_own(folder)


def _is_own(path: Path, found: os.stat_result | None = None) -> bool:
    """Whether nobody else may put code there, with a warning if somebody may.

    PermissionError where another user of a shared installation keeps code beside the package: nothing is wrong there.
    """
    found = found or path.stat()
    # The administrator and the owner of the package may do anything anyway.
    reason = who_else_writes(found, (0, ENGINE_FOLDER.stat().st_uid))
    if reason and path.is_relative_to(BESIDE_PACKAGE) and found.st_uid != os.getuid():
        raise PermissionError(f"{path} {reason}")
    if reason:
        _warn(
            f"{path} {reason}, and whoever writes there could have you run any code: compiled code is not kept there. "
            f"Mend that, or set {CACHE_VARIABLE} to a folder of your own"
        )
    return not reason


def _remove_unused(base: Path, name: str, keep: Path) -> None:
    """Delete this scope's folders of other sources that nobody opened for a month."""
    oldest = time.time() - KEEP_UNUSED_DAYS * 86400
    for folder in base.glob(f"{name}-*"):
        try:
            if folder != keep and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)
        except OSError:
            continue  # somebody else's, or already gone


@cache
def _note_use(folder: Path) -> None:
    """Touch the folder, so that :func:`_remove_unused` keeps it."""
    with suppress(OSError):  # read-only
        os.utime(folder)


class KernelCache(NullCache):
    """What numba asks for a kernel's code, and gives what it compiled.

    The scope's folder already stands for all sources, so the key has the kernel's name where numba's has a hash of the
    closure, which changes from process to process (a closure over compiled functions holds their random identifiers).
    """

    def __init__(self, scope: Scope, name: str) -> None:
        self._scope, self._name = scope, name
        python = shipped.versions()["Python"].replace(".", "")
        self._file_name = f"{scope.name}-{name}.py{python}"
        self._held = ExitStack()

    @property
    def cache_path(self) -> str | None:
        return next(map(str, self._scope.kept_in()), None)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Around numba's compilation: frees the lock that :meth:`load_overload` took when it found nothing."""
        before = _at_work.set(self._scope)
        try:
            with ExitStack() as self._held, progress.one_kernel():
                yield
        finally:
            _at_work.reset(before)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel from one of the places it may come from. None means that this process alone is to compile it."""
        rtsys.initialize(target_context)  # arrays; numba would import all it can compile, a quarter of a second
        codegen = target_context.codegen()
        found = self._find_own(sig, codegen) or self._find_shipped(sig, codegen)
        if found is None:
            progress.check_may_compile()
            folder = self._scope.cache_folder()
            if folder is not None:
                lock = _KernelFile(folder, self._file_name, self._scope.digest).lock_path(self._key(sig, codegen))
                self._held.enter_context(_locked(lock, lambda: progress.say_waiting(self._scope.name, self._name)))
                found = self._find_own(sig, codegen)  # another process may have made it meanwhile
        if found is None:
            progress.say_compiling(self._scope.name)
            return None
        return _rebuild(target_context, found)

    def _find_own(self, sig: Any, codegen: Any) -> Any:
        for folder in self._scope.kept_in():
            found = _KernelFile(folder, self._file_name, self._scope.digest).load(self._key(sig, codegen))
            if found is not None:
                _note_use(folder)
                return found
        return None

    def _find_shipped(self, sig: Any, codegen: Any) -> Any:
        folder = self._scope.came_with_package()
        if folder is None:
            return None
        triple = codegen.magic_tuple()[0]
        key = (str(sig), (triple, shipped.CPU, shipped.FLAGS), self._name)
        return _KernelFile(folder, self._file_name, self._scope.digest, is_shipped=True).load(key)

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (str(sig), codegen.magic_tuple(), self._name)

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._scope.is_current():
            return  # the sources changed since they were loaded: what was compiled is not what is on disk
        if data.lifted or data.library.has_dynamic_globals:
            _warn(f"{self._scope.name}: {self._name} holds an address or a large array and is not kept")
            return
        folder = self._scope.cache_folder()
        if folder is None:
            return
        try:
            file = _KernelFile(folder, self._file_name, self._scope.digest)
            file.save(self._key(sig, data.codegen), _reduced(data))
        except OSError as problem:  # disk full or folder gone: the function runs all the same
            _warn(f"compiled code cannot be kept in {folder}: {problem.strerror}")


def _reduced(compiled: Any) -> Any:
    """What is kept of what numba compiled: neither its annotated source nor LLVM's bitcode, which is four times as
    large as the code."""
    (name, kind, (code, _bitcode)), *described, _annotated, last, environments = compiled._reduce()
    return (name, kind, (code, b"")), *described, "", last, environments


def _rebuild(target_context: Any, found: Any) -> Any:
    """Rebuild a compiled function from what was kept of it."""
    (name, kind, (code, _)), described, *others = found
    named = (described.llvm_func_name, described.llvm_cpython_wrapper_name)
    target_context.codegen()._engine._defined_symbols.update(named)  # numba would take them from the bitcode
    result = CompileResult._rebuild(target_context, (name, kind, (code, _no_bitcode())), described, *others)

    def refuse() -> Any:
        raise TypeError(
            f"{described.qualname} is called by another kernel: it has to be shared (kepler_envs.engine.linking)"
        )

    result.library._get_module_for_linking = refuse
    return result


@cache
def _no_bitcode() -> bytes:
    return llvm.parse_assembly("").as_bitcode()


class _KernelFile:
    """The code of one kernel, one file for each kind of processor: a checksum, then numba's pickle.

    A kernel has one signature, so numba's index of signatures is not needed. The checksum covers what the file stands
    for, too: a whole file of another kernel in its place is a damaged one. Files are replaced whole, so processes may
    write and be killed as they like.
    """

    def __init__(self, folder: Path, name: str, stamp: str, is_shipped: bool = False) -> None:
        self._folder, self._name, self._stamp, self._is_shipped = folder, name, stamp, is_shipped

    def save(self, key: Any, data: Any) -> None:
        content = dumps(data)
        with self._open_for_write(self._path(key)) as file:
            file.write(self._checksum(key, content))
            file.write(content)

    def load(self, key: Any) -> Any:
        """What was saved under ``key``. None means that there is nothing, or nothing intact."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                if not self._is_shipped and not _is_own(path, os.fstat(file.fileno())):
                    return None
                stored = memoryview(file.read())
        except OSError:
            return None
        checksum, content = stored[:CHECKSUM_BYTES], stored[CHECKSUM_BYTES:]
        if checksum != self._checksum(key, content):
            _warn(f"{path} is damaged; it is not loaded but compiled again")
            return None
        return pickle.loads(content)

    def lock_path(self, key: Any) -> Path:
        """What a process that compiles it holds locked."""
        return self._path(key).with_suffix(".lock")

    def _path(self, key: Any) -> Path:
        number = int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:4])
        return self._folder / f"{self._name}.{number}.nbc"

    def _checksum(self, key: Any, content: Any) -> bytes:
        digest = hashlib.sha256(repr((self._stamp, key)).encode())
        digest.update(content)
        return digest.digest()

    @contextmanager
    def _open_for_write(self, path: Path) -> Iterator[IO[bytes]]:
        """A file that takes the place of ``path`` when it is whole; closed to others, whatever the umask."""
        unfinished = path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex[:16]}")
        try:
            with open(unfinished, "wb", opener=lambda name, flags: os.open(name, flags | os.O_EXCL, 0o644)) as file:
                yield file
            os.replace(unfinished, path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


@contextmanager
def _locked(path: Path, say_waiting: Callable[[], None]) -> Iterator[None]:
    """Hold what one process at a time can hold; the end of a process frees it.

    Where the system has no such locks nothing is held.
    """
    try:
        file = _take(path, say_waiting)
    except OSError:
        file = None
    try:
        yield
    finally:
        if file is not None:
            path.unlink(missing_ok=True)
            file.close()


def _take(path: Path, say_waiting: Callable[[], None]) -> IO[bytes] | None:
    while fcntl is not None:
        file = path.open("wb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say_waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except FileNotFoundError:
            pass
        file.close()  # its holder was done and removed it: whoever comes now makes another one
    return None


_uses_shipped = True


@contextmanager
def without_shipped() -> Iterator[None]:
    """Ignore the code that came with the package and compile for this very processor. Processes then load that code."""
    global _uses_shipped
    _uses_shipped = False
    try:
        yield
    finally:
        _uses_shipped = True


@cache
def _warn(message: str) -> None:
    """Give a warning once per process, on one line, without the source line that caused it."""
    warnings.warn_explicit(message, RuntimeWarning, "kepler_envs", 0)
