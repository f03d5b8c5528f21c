"""Wheels with compiled code: the pure wheel plus every kernel, for a baseline processor and one minor version of
CPython."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import kepler_envs
from kepler_envs.engine import shipped
from tests.distribution.compile_all import NETWORKS
from tests.distribution.contents import ROOT, need, sources

PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
"""The interpreters that wheels are built for."""
PLATFORM = "manylinux_2_27_x86_64"
"""The platform tag of numba's own wheels. The code needs nothing of the system that numba does not load."""
FOLDER = "kepler_envs/_compiled"
COMPILE_ALL = Path(__file__).with_name("compile_all.py")
OLDEST = (3, 11)


@dataclass(frozen=True)
class Python:
    """An interpreter: its command, and its minor version as tags have it (``cp311``)."""

    command: str
    tag: str


def find_python(command: str) -> Python | None:
    """The interpreter of that name. None if it is missing or wheels are not built for it."""
    code = "import sys; print(sys.implementation.name, *sys.version_info[:2], sys.abiflags or '-')"
    path = shutil.which(command)
    if path is None:
        return None
    done = subprocess.run([path, "-c", code], capture_output=True, text=True)
    if done.returncode != 0:  # a launcher without the interpreter it stands for
        return None
    name, major, minor, flags = done.stdout.split()
    fits = name == "cpython" and (int(major), int(minor)) >= OLDEST and flags == "-"
    return Python(path, f"cp{major}{minor}") if fits else None


def can_build() -> bool:
    """Whether compiled wheels can be made and tried on this machine."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def make_environment(folder: Path, python: str, wanted: Iterable[object], pins: Path) -> Path:
    """Make a fresh environment with these requirements. Returns its interpreter."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    inside = folder / "bin" / "python"
    pip = [inside, "-I", "-m", "pip"]  # isolated: a checkout on PYTHONPATH would pass for an installation
    for one in wanted:
        subprocess.run([*pip, "install", "--quiet", "--no-warn-script-location", "-c", pins, one], check=True)
    subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)
    return inside


def build_compiled(wheel: Path, python: Python) -> Path:
    """Make a copy of the pure ``wheel`` with the code that this interpreter's numba compiles, beside it."""
    cache = ROOT / "build" / "compiled" / python.tag
    begun = time.time() - 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inside = make_environment(folder / "venv", python.command, [wheel.resolve()], ROOT / "constraints.txt")
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "KEPLER_"))}
        environment = {**clean, **shipped.COMPILE_FOR, "KEPLER_ENVS_CACHE_DIR": str(cache)}

        def compile_part(part: str) -> None:
            subprocess.run(
                [inside, "-I", COMPILE_ALL, part], env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL
            )

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_part, [NETWORKS, *reversed(kepler_envs.list_games())]))  # the largest games first
        made_with = subprocess.run(
            [inside, "-I", "-c",
             "import json; from kepler_envs.engine import shipped; print(json.dumps(shipped.versions()))"],
            env=environment, cwd=folder, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    scopes = [path for path in (cache / "kepler_envs").iterdir() if path.stat().st_mtime >= begun]
    files = {f"{FOLDER}/{shipped.MADE_WITH}": made_with.encode()}
    for scope in sorted(scopes):
        files |= {f"{FOLDER}/{scope.name}/{path.name}": path.read_bytes() for path in sorted(scope.glob("*.nbc"))}
    return add_files(wheel, f"{python.tag}-{python.tag}-{PLATFORM}", files)


def add_files(wheel: Path, tag: str, files: dict[str, bytes]) -> Path:
    """Copy a wheel for another tag and with more files, beside it."""
    made = wheel.with_name(wheel.name.replace("py3-none-any", tag))
    with zipfile.ZipFile(wheel) as pure, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        record: list[tuple[str, str, str]] = []
        date = pure.infolist()[0].date_time

        def write(name: str, data: bytes) -> None:
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
            record.append((name, f"sha256={_checksum(data)}", str(len(data))))

        where = next(name for name in pure.namelist() if name.endswith(".dist-info/RECORD"))
        for name in pure.namelist():
            if name.endswith(".dist-info/WHEEL"):
                write(name, _retagged(pure.read(name).decode(), tag).encode())
            elif name != where and not name.endswith("/"):
                write(name, pure.read(name))
        for name, data in files.items():
            write(name, data)
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows([*record, (where, "", "")])
        write(where, lines.getvalue().encode())
    return made


def _retagged(text: str, tag: str) -> str:
    kept = [line for line in text.splitlines() if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    return "\n".join([*kept, "Root-Is-Purelib: false", f"Tag: {tag}"]) + "\n"


def _checksum(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@dataclass(frozen=True)
class Code:
    """Contents of a compiled wheel: number of kernels and scopes, bytes once installed."""

    kernels: int
    scopes: int
    size: int


def check_compiled(wheel: Path) -> Code:
    """Check a compiled wheel. ContentError unless it holds the sources of the package, code for each game, and a
    matching record."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    code = {PurePosixPath(name): data for name, data in files.items() if name.startswith(f"{FOLDER}/")}
    rest = {name for name in files if PurePosixPath(name) not in code and ".dist-info/" not in name}
    made_with = code.pop(PurePosixPath(FOLDER, shipped.MADE_WITH), None)
    need(rest == sources(), f"{wheel.name} differs from the sources in {sorted(rest ^ sources())}")
    need(made_with is not None, f"{wheel.name} does not say what its code was made with")
    tag = wheel.name.removesuffix(".whl").split("-", 2)[2]
    need(
        f"cp{json.loads(made_with or b'{}')['Python'].replace('.', '')}" == tag[:5],
        f"{wheel.name} holds code of another Python",
    )
    stray = [str(path) for path in code if path.suffix != ".nbc" or len(path.parts) != 4]
    need(not stray, f"{wheel.name} should not hold {stray}")
    scopes = {path.parts[2].rpartition("-")[0] for path in code}
    lacking = [
        f"{game}{of}"
        for game in kepler_envs.list_games()
        for of in ("", "-greedy", "-mcts")
        if f"{game}{of}" not in scopes
    ]
    need(not lacking and "network" in scopes, f"{wheel.name} lacks the code of {lacking or 'network'}")
    need(len(scopes) == len({path.parts[2] for path in code}), f"{wheel.name} holds code of several sources")
    where = next(name for name in files if name.endswith(".dist-info/RECORD"))
    told = {name: (digest, size) for name, digest, size in csv.reader(files[where].decode().splitlines())}
    real = {name: (f"sha256={_checksum(data)}", str(len(data))) for name, data in files.items() if name != where}
    need({**real, where: ("", "")} == told, f"{wheel.name}: RECORD does not agree with the files")
    kind = next(data for name, data in files.items() if name.endswith(".dist-info/WHEEL")).decode()
    need("Root-Is-Purelib: false" in kind and f"Tag: {tag}" in kind, f"{wheel.name} and its metadata differ in the tag")
    return Code(len(code), len(scopes), sum(map(len, code.values())))
