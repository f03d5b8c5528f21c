"""Undertow is imported from its sources here; test_walkthrough.py installs it as a user would."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).with_name("src")


@pytest.fixture(scope="session", autouse=True)
def sources_on_the_path():
    sys.path.insert(0, str(SOURCES))
    yield
    sys.path.remove(str(SOURCES))
