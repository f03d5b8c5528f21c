"""Whose code is loaded, and who compiles when several processes need the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kepler_envs.engine.kernel import JIT_ENABLED
from tests.effort import slow
from tests.engine.toy_package import MAIN, VALUE, Copy

pytestmark = [
    pytest.mark.skipif(not JIT_ENABLED or not hasattr(os, "getuid"), reason="nothing is compiled, or no owners"),
    slow,
]

HOLD = (
    "import fcntl, sys, time\n"
    "file = open(sys.argv[1], 'wb'); fcntl.flock(file, fcntl.LOCK_EX); print('held', flush=True); time.sleep(600)\n"
)


# ---------------------------------------------------------------- folders


@pytest.mark.parametrize("which", ["base", "scope", "file"])
def test_what_anybody_may_write_is_not_loaded(warm: Copy, which: str) -> None:
    (file,) = warm.cached_files()
    path = {"base": file.parents[1], "scope": file.parent, "file": file}[which]
    path.chmod(0o777)
    out, told = warm.start().communicate()
    assert out.split() == [str(VALUE), "0"]
    assert len(told.splitlines()) == 1 and told.count(f"{path} may be written to by anybody") == 1
    assert "set KEPLER_ENVS_CACHE_DIR to a folder of your own" in told
    path.chmod(0o755)
    assert warm.run() == [VALUE, 1]


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="gives files to others")
@pytest.mark.parametrize(
    "user, group, mode, reason",
    [(12345, 0, 0o755, "belongs to user 12345"), (0, 12345, 0o775, "may be written to by group 12345")],
)
def test_what_somebody_else_may_write_is_not_loaded(warm: Copy, user: int, group: int, mode: int, reason: str) -> None:
    (file,) = warm.cached_files()
    os.chown(file.parent, user, group)
    file.parent.chmod(mode)
    out, told = warm.start().communicate()
    assert out.split() == [str(VALUE), "0"] and told.count(f"{file.parent} {reason}") == 1


def test_what_a_colleague_keeps_beside_the_package_is_passed_over(copied: Copy) -> None:
    """In a shared installation nothing is wrong with that, so nothing is said. The user's cache folder is used."""
    theirs = copied.folder / "kepler_envs" / "__pycache__" / "compiled"
    theirs.mkdir(parents=True)
    if os.getuid() != 0:
        pytest.skip("gives files to others")
    os.chown(theirs, 12345, 12345)
    home = {"KEPLER_ENVS_CACHE_DIR": None, "HOME": str(copied.folder / "home")}
    for loaded in (0, 1):
        out, told = copied.start(**home).communicate()
        assert out.split() == [str(VALUE), str(loaded)] and told == ""
    assert list((copied.folder / "home").rglob("*.nbc")) and not list(theirs.iterdir())


def test_the_home_folder_may_be_written_with_a_tilde(copied: Copy) -> None:
    """Quotes keep the shell from seeing it."""
    home = {"KEPLER_ENVS_CACHE_DIR": "~/kept", "HOME": str(copied.folder / "home")}
    assert copied.run(**home) == [VALUE, 0]
    assert list((copied.folder / "home" / "kept").rglob("*.nbc"))


def test_another_folder_is_tried(copied: Copy) -> None:
    """One that others write to, beside the package, is told of; the user's cache folder takes its place."""
    shared = copied.folder / "kepler_envs" / "__pycache__" / "compiled"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    home = {"KEPLER_ENVS_CACHE_DIR": None, "HOME": str(copied.folder / "home")}
    out, told = copied.start(**home).communicate()
    assert out.split() == [str(VALUE), "0"] and told.count("may be written to by anybody") == 1
    assert list((copied.folder / "home").rglob("*.nbc")) and not list(shared.iterdir())
    assert copied.run(**home) == [VALUE, 1]


def test_files_are_closed_to_others_whatever_the_umask(copied: Copy) -> None:
    assert copied.run("import os; os.umask(0)\n" + MAIN.format(at=0)) == [VALUE, 0]
    assert copied.run() == [VALUE, 1]
    (file,) = copied.cached_files()
    assert not any(path.stat().st_mode & 0o022 for path in (file, file.parent, file.parents[1]))


# ---------------------------------------------------------------- locks


def hold(lock: Path) -> subprocess.Popen[str]:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, lock], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    return holder


def test_a_killed_process_frees_its_lock(warm: Copy) -> None:
    (file,) = warm.cached_files()
    file.unlink()
    holder = hold(file.with_suffix(".lock"))
    waiting = warm.start(KEPLER_ENVS_QUIET=None)
    assert waiting.stderr is not None
    assert waiting.stderr.readline() == "waiting for another process that compiles toy (run)\n"
    holder.kill()
    holder.wait()
    out, told = waiting.communicate(timeout=300)
    assert out.split() == [str(VALUE), "0"]
    assert told == "compiling toy, once for this version: 1 of 1 kernels\n"
    assert [path.name for path in file.parent.iterdir()] == [file.name], "the lock is gone"


def test_a_lock_left_behind_holds_nobody_up(warm: Copy) -> None:
    (file,) = warm.cached_files()
    file.unlink()
    file.with_suffix(".lock").touch()
    out, told = warm.start(KEPLER_ENVS_QUIET=None).communicate(timeout=300)
    assert out.split() == [str(VALUE), "0"] and "waiting" not in told


def test_systems_without_locks(copied: Copy) -> None:
    assert copied.run("import sys; sys.modules['fcntl'] = None\n" + MAIN.format(at=0)) == [VALUE, 0]
    assert copied.run() == [VALUE, 1]
    refused = "import errno, fcntl\ndef flock(*_):\n    raise OSError(errno.ENOLCK, 'no locks')\nfcntl.flock = flock\n"
    copied.cached_files()[0].unlink()
    assert copied.run(refused + MAIN.format(at=0)) == [VALUE, 0]
