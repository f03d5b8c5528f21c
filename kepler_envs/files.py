"""Writing files so that a crash or a full disk loses nothing, and checking who owns them."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Collection
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file by one with this content, or leave it as it is. A missing folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:  # of a full disk it does not say which file it was
        Path(name).unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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
    if found.st_mode & stat.S_IWGRP and found.st_gid != os.getgid():
        return f"may be written to by group {found.st_gid}"
    return ""


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
