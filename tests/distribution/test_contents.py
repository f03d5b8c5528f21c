"""What the wheel and the sdist hold; `make dist` also plays every game from them."""

from __future__ import annotations

import shutil
import zipfile

import pytest

pytest.importorskip("build", reason="the distributions are built with the package build (extra dev)")

from tests.distribution.contents import ContentError, build, check_sdist, check_wheel


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist"), isolated=False)


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
