"""The contents of wheel and sdist. `make dist` also plays every game from them."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile

import pytest

pytest.importorskip("build", reason="the distributions are built with the package build (extra dev)")

import kepler_envs
from tests.distribution.compiled import FOLDER, PLATFORM, Code, add_files, check_compiled, find_python
from tests.distribution.contents import ROOT, ContentError, build, check_sdist, check_wheel
from tests.effort import slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist"), isolated=False)


@slow
@pytest.mark.xdist_group("distribution")
def test_wheel_and_sdist_hold_the_package_and_nothing_else(built):
    names = check_wheel(built.wheel)
    assert "kepler_envs/py.typed" in names
    assert sum(name.endswith("components.toml") for name in names) == 5
    assert "constraints.txt" not in check_sdist(built.sdist)


@pytest.mark.xdist_group("distribution")
def test_a_missing_and_a_stray_file_are_found(built, tmp_path):
    missing, stray = tmp_path / "missing.whl", tmp_path / "stray.whl"
    shutil.copy(built.wheel, stray)
    with zipfile.ZipFile(stray, "a") as archive:
        archive.writestr("agents/__init__.py", "")
    with pytest.raises(ContentError, match="should not hold .*agents"):
        check_wheel(stray)
    with zipfile.ZipFile(built.wheel) as whole, zipfile.ZipFile(missing, "w") as part:
        for name in whole.namelist():
            if not name.endswith("kepler_run/components.toml"):
                part.writestr(name, whole.read(name))
    with pytest.raises(ContentError, match="lacks .*kepler_run/components.toml"):
        check_wheel(missing)


# ---------------------------------------------------------------- wheels with compiled code


@pytest.fixture(scope="module")
def code():
    """The files of a compiled wheel, without content."""
    scopes = [f"{game}{of}-0123" for game in kepler_envs.list_games() for of in ("", "-greedy", "-mcts")] + [
        "network-0123"
    ]
    made_with = {"Python": "3.11", "numba": "0.68.1", "llvmlite": "0.50.0"}
    kernels = {f"{FOLDER}/{scope}/{scope}-step.py311.1.nbc": b"code" for scope in scopes}
    return {f"{FOLDER}/made_with.json": json.dumps(made_with).encode(), **kernels}


@pytest.mark.xdist_group("distribution")
def test_the_page_on_clusters_names_a_wheel_that_is_built():
    assert f"kepler_envs-{kepler_envs.__version__}-cp311-cp311-{PLATFORM}.whl" in (ROOT / "docs/scaling.md").read_text()


@slow
def test_a_wheel_with_code_is_the_pure_one_and_more(built, code):
    wheel = add_files(built.wheel, "cp311-cp311-manylinux_2_27_x86_64", code)
    assert wheel.name.endswith("-cp311-cp311-manylinux_2_27_x86_64.whl")
    assert check_compiled(wheel) == Code(16, 16, 64)
    with zipfile.ZipFile(built.wheel) as pure, zipfile.ZipFile(wheel) as more:
        assert {*more.namelist()} == {*pure.namelist(), *code}


@slow
@pytest.mark.xdist_group("distribution")
@pytest.mark.parametrize(
    "change, problem",
    [
        ({f"{FOLDER}/made_with.json": b'{"Python": "3.12"}'}, "code of another Python"),
        ({f"{FOLDER}/stray.txt": b""}, "should not hold"),
        ({f"{FOLDER}/network-4567/network.nbc": b""}, "several sources"),
        ({f"{FOLDER}/network-0123/network-0123-step.py311.1.nbc": None}, "lacks the code of network"),
    ],
)
def test_wrong_code_is_found(built, code, change, problem):
    files = {name: data for name, data in {**code, **change}.items() if data is not None}
    with pytest.raises(ContentError, match=problem):
        check_compiled(add_files(built.wheel, "cp311-cp311-manylinux_2_27_x86_64", files))


@pytest.mark.xdist_group("distribution")
def test_files_that_were_changed_afterwards_are_found(built, code, tmp_path):
    whole = add_files(built.wheel, "cp311-cp311-manylinux_2_27_x86_64", code)
    changed = tmp_path / whole.name
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(changed, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, b"other" if name.endswith("network-0123-step.py311.1.nbc") else archive.read(name))
    with pytest.raises(ContentError, match="RECORD does not agree"):
        check_compiled(changed)


def test_interpreters_that_are_missing(tmp_path):
    launcher = tmp_path / "python3.99"
    launcher.write_text("#!/bin/sh\necho 'python3.99: command not found' >&2\nexit 127\n")
    launcher.chmod(0o755)
    assert find_python(str(launcher)) is None and find_python("no-such-python") is None
    assert find_python(sys.executable).tag == "cp{}{}".format(*sys.version_info)
