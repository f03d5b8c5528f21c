"""The figures of whole games beside those of a specification."""

from __future__ import annotations

import sys

import pytest

from benchmarks.calibration import main
from tests.agents.endings import ends


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--games", "5"], "^--games 5 is not allowed; allowed: an integer from 6 on\n$"),
        (["--seed", "-1"], "^--seed -1 is not allowed; allowed: 0 to 2\\*\\*64 - 1\n$"),
    ],
)
def test_numbers_that_are_not_allowed_are_one_line(arguments, says, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["calibration", *arguments])
    with ends(capsys, says):
        main()
