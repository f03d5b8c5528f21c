"""Copies of the engine with a toy package, for the tests of the compile cache."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.engine.toy_package import VALUE, Copy


@pytest.fixture
def copied(tmp_path: Path) -> Copy:
    """A copy with an empty cache."""
    return Copy(tmp_path)


@pytest.fixture(scope="session")
def filled_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache after one run. It knows no absolute path, so every copy can have it."""
    copied = Copy(tmp_path_factory.mktemp("filled"))
    assert copied.run() == [VALUE, 0]
    return copied.cache


@pytest.fixture
def warm(tmp_path: Path, filled_cache: Path) -> Copy:
    """A copy with a filled cache."""
    copied = Copy(tmp_path)
    shutil.copytree(filled_cache, copied.cache)
    return copied
