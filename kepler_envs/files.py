"""Writing files so that a crash, a full disk or another process loses nothing, and checking who owns them."""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

try:
    import fcntl
    import grp
    import pwd
except ImportError:  # no such locks and owners on this system: nothing keeps two processes apart
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
"""The file in a folder that is taken."""
TURN = ".turn"
"""The file in a folder in which somebody is, and others wait."""
UNFINISHED = ".unfinished"
"""How the name of a file ends that is still being written."""
ABANDONED = 3600.0
"""Seconds after which an unfinished file is taken for that of a process that was killed."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of a disk that is full or fails: what was written before is there, and the same command may go on later."""


def without_links(path: Path) -> Path:
    """What a path stands for. Links that go in circles stay, where ``Path.resolve`` may raise RuntimeError.

    Raises OSError for a path that no file can have.
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), str(path)) from None


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file by one with this content, or leave it as it is. A missing folder is made. A link stays one.

    What is no file, such as a pipe or ``/dev/null``, stays what it is, and is written to.
    """
    if _takes_bytes(path):
        path.write_bytes(content)
        return
    target = without_links(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{secrets.token_urlsafe(6)}{UNFINISHED}")  # short, however long the other name is
    try:
        with new.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, target)
    except OSError as error:  # of a full disk it does not say which file it was
        new.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _takes_bytes(path: Path) -> bool:
    """Whether a path stands for a pipe or a device, links followed. A file that replaced it would end it for all."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # there is no such file, or none can have that name
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def prepare_streams() -> None:
    """Make standard input, output and error ones that can be used, whatever they are.

    What was closed (``>&-``) is opened, with nothing behind it. Otherwise the next files would get its number, and with
    it what compiled code and other processes print. Letters that an encoding lacks, such as those of a file's name, are
    printed as escapes, and bytes that are no letters are read as question marks.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nothing, True)
            setattr(sys, name, os.fdopen(nothing, mode, encoding="utf-8"))
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace" if mode == "w" else "replace")


def drop_output(stream: TextIO | None = None) -> None:
    """Print nowhere from now on: Python would complain when it closes a pipe that nobody reads."""
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), (stream or sys.stdout).fileno())


def drop_unprinted() -> None:
    """Print what still waits in the buffer, or drop it where it cannot be printed. Python would complain at its end."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        drop_output()


def check_writable(path: Path) -> None:
    """Raise OSError unless a file could be written there, before long work rather than after it. Nothing is left."""
    if _takes_bytes(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    folder = next(parent for parent in without_links(path).parents if parent.exists())
    try:
        with suppress(FileNotFoundError):
            path.lstat()  # fails if the name is too long
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def alone_in(folder: Path, refusal: Exception) -> Iterator[None]:
    """Take a folder, so that no other process (or other part of this one) that asks can take it, too.

    A missing folder is made, and removed at the end if it stayed empty. A process that is killed has left its folder,
    and what it did not finish writing there is removed.

    Raises:
        refusal: the folder is taken.
        OSError: it cannot be made or written.
    """
    without_links(folder)  # raises for a path that no folder can have
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _held(folder / LOCK, refusal):
            _remove_abandoned(folder)
            yield
    finally:
        with suppress(OSError):  # something is in it
            for path in made:
                path.rmdir()


def _remove_abandoned(folder: Path) -> None:
    """Remove files that were never finished. Young ones may be another's, where a file system has no locks."""
    for path in folder.glob(f".*{UNFINISHED}"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED:
                path.unlink()


@contextmanager
def alone_with(file: Path, refusal: Exception) -> Iterator[None]:
    """Take a file, which need not be there yet, as :func:`alone_in` takes a folder.

    Raises:
        refusal: the file is taken.
    """
    with _held(file.with_name(f".{file.name}{LOCK}"), refusal):
        yield


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Wait for other processes, and other parts of this one, that are in a folder by this function.

    A missing folder is made. Where the file system has no locks, nobody waits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _held(folder / TURN):
        yield


@contextmanager
def _held(lock: Path, refusal: Exception | None = None) -> Iterator[None]:
    """Hold a lock, which is a file that is there meanwhile."""
    handle = _locked(lock, refusal) if fcntl is not None else None
    try:
        yield
    finally:
        if handle is not None:
            lock.unlink(missing_ok=True)
            os.close(handle)


def _locked(path: Path, refusal: Exception | None = None) -> int:
    """The handle of a locked file at this path. It stays locked until it is closed.

    A file, as the lock of a folder would not be seen on other machines with the same network file system. Without a
    ``refusal`` whoever comes later waits.
    """
    while True:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (fcntl.LOCK_NB if refusal else 0))
        except BlockingIOError:
            os.close(handle)
            assert refusal is not None  # without one it waits
            raise refusal from None
        except OSError:  # this file system has no locks
            return handle
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(handle)):
                return handle
        os.close(handle)  # whoever had the folder has deleted this file in the meantime


def who_else_writes(found: os.stat_result, also_trusted: Collection[int] = ()) -> str:
    """Why a file or folder is not the user's own, for a message. The text is empty if nobody else writes there.

    Args:
        found: what ``Path.stat`` says about it.
        also_trusted: ids of users who may own it, too.
    """
    if not hasattr(os, "getuid"):
        return ""
    if found.st_uid != os.getuid() and found.st_uid not in also_trusted:
        return f"belongs to user {found.st_uid}, and you are {os.getuid()}"
    if found.st_mode & stat.S_IWOTH:
        return "may be written to by anybody"
    if found.st_mode & stat.S_IWGRP and not _is_alone_in_group(found.st_gid):
        return f"may be written to by group {found.st_gid}"
    return ""


def _is_alone_in_group(group: int) -> bool:
    """Whether a group is the one that many systems make for each user, with the user's name and nobody else in it.

    A user's group need not be that: on a cluster it is often that of all users, or of a project.
    """
    try:
        user, found = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == user and set(found.gr_mem) <= {user}
