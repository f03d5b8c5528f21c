"""Build sdist and pure wheel, and check their contents."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path, PurePosixPath

import kepler_envs

ROOT = Path(__file__).parents[2]
CORE = {"gymnasium", "numba", "numpy", "pettingzoo"}
"""The only requirements of an installation without extras."""
SHIPPED_SUFFIXES = (".py", ".toml", ".txt", ".typed", ".zip", ".html", ".js", ".css", ".svg", ".md")


class ContentError(AssertionError):
    """A distribution lacks something or holds something it should not."""


@dataclass(frozen=True)
class Distributions:
    """The two files of one version."""

    sdist: Path
    wheel: Path


def build(out: Path, isolated: bool = True) -> Distributions:
    """Build the sdist, and the wheel from the sdist, into ``out``. Older ones there are deleted.

    ``isolated=False`` builds with the setuptools of this environment and needs no network.
    """
    for old in [*out.glob("kepler_envs-*.tar.gz"), *out.glob("kepler_envs-*.whl")]:
        old.unlink()
    switches = [] if isolated else ["--no-isolation"]
    command = [sys.executable, "-m", "build", "--outdir", str(out), *switches, str(ROOT)]
    with (ROOT / "pyproject.toml").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # setuptools gathers files in the checkout, one build at a time
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    need(done.returncode == 0, f"the build failed:\n{done.stdout}")
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return Distributions(sdist, wheel)


def check_wheel(wheel: Path) -> list[str]:
    """The files of a wheel. ContentError unless they are exactly the sources of the package and the metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = message_from_string(archive.read(_only(names, "METADATA")).decode())
    shipped = {name for name in names if ".dist-info/" not in name}
    expected = sources()
    need(not expected - shipped, f"{wheel.name} lacks {sorted(expected - shipped)}")
    need(not shipped - expected, f"{wheel.name} should not hold {sorted(shipped - expected)}")
    need("kepler_envs/py.typed" in shipped, f"{wheel.name} has no marker for type checkers")
    for game in kepler_envs.list_games():
        need(f"kepler_envs/games/{game}/components.toml" in shipped, f"{wheel.name} has no components of {game}")
    required = [line for line in metadata.get_all("Requires-Dist") or [] if "extra ==" not in line]
    found = {line.split(">")[0].split("<")[0].split("=")[0].strip() for line in required}
    need(found == CORE, f"{wheel.name} requires {sorted(found)}, not {sorted(CORE)}")
    need(metadata["Version"] == kepler_envs.__version__, f"{wheel.name} and kepler_envs.__version__ differ")
    need(bool(_only(names, "LICENSE")), f"{wheel.name} has no licence")
    return names


def check_sdist(sdist: Path) -> list[str]:
    """The files of an sdist. ContentError unless a wheel can be made of them."""
    with tarfile.open(sdist) as archive:
        names = [PurePosixPath(*PurePosixPath(member.name).parts[1:]) for member in archive.getmembers()]
    held = {str(name) for name in names}
    expected = sources() | {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"}
    need(not expected - held, f"{sdist.name} lacks {sorted(expected - held)}")
    stray = [name for name in held if name.split("/")[0] in ("tests", "agents", "benchmarks", "docs", "notebooks")]
    need(not stray, f"{sdist.name} should not hold {sorted(stray)}")
    return sorted(held)


def sources() -> set[str]:
    """The files of the package in the checkout."""
    paths = (ROOT / "kepler_envs").rglob("*")
    found = (path.relative_to(ROOT) for path in paths if path.name.endswith(SHIPPED_SUFFIXES) and path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def _only(names: list[str], name: str) -> str:
    found = [path for path in names if PurePosixPath(path).name == name and ".dist-info/" in path]
    need(len(found) == 1, f"{len(found)} files named {name} in the wheel's metadata, not one")
    return found[0]


def need(fine: bool, message: str) -> None:
    """Raise ContentError with the message unless something is fine."""
    if not fine:
        raise ContentError(message)
