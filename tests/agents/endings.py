"""How commands end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

IMPOSSIBLE, BROKEN_OFF = 2, 1
"""Exit codes of what cannot be done as asked, and of what breaks off on its way."""


@contextmanager
def ends(capsys: pytest.CaptureFixture[str], says: str, code: int = IMPOSSIBLE) -> Iterator[None]:
    """The command run in here ends with this code, says something like ``says`` on stderr, and shows no traceback."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        yield
    said = capsys.readouterr().err
    assert ended.value.code == code and re.search(says, said), said
    assert "Traceback" not in said
