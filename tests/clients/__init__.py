"""Other libraries on our games, as a stranger would use them:

`make test-clients` gives them an environment of their own.
"""

from __future__ import annotations

import os

import pytest

VARIABLE = "KEPLER_ENVS_CLIENTS"


def needs(*libraries: str) -> None:
    """Skip a test module, before it imports anything heavy, where it was not asked for or a library is missing."""
    if not os.environ.get(VARIABLE):
        pytest.skip("make test-clients runs it, in an environment of its own", allow_module_level=True)
    for library in libraries:
        pytest.importorskip(library, reason=f"{library} is not installed")
