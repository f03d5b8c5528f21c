"""Version 0 beside this one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import learner, observation, v0
from benchmarks.sampling import Settings

ONE_MORE = """
import sys
from pathlib import Path
def one_round():
    with Path(sys.argv[1]).open("a") as file:
        file.write("I")
"""


def test_a_clone_without_v0_is_known(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert not v0.has_v0(tmp_path)


def test_a_side_plays_the_rounds_it_is_asked_for(tmp_path):
    with v0.Side(ONE_MORE, [tmp_path / "rounds"], tmp_path) as side:
        assert side.seconds(3) > 0 and side.seconds(2) > 0
    assert (tmp_path / "rounds").read_text() == "IIIII"


def test_a_side_that_ends_is_told(tmp_path):
    with v0.Side("import sys; sys.exit()", [], tmp_path) as side, pytest.raises(ChildProcessError, match="ended"):
        side.seconds(1)


class Scripted:
    """A side whose rounds take so long, which writes down what it is asked for."""

    def __init__(self, name: str, seconds: float, asked: list[tuple[str, int]]) -> None:
        self.name, self._seconds, self._asked = name, seconds, asked

    def seconds(self, rounds: int) -> float:
        self._asked.append((self.name, rounds))
        return rounds * self._seconds

    def __enter__(self) -> Scripted:
        return self

    def __exit__(self, *_: object) -> None:
        self._asked.append((self.name, 0))


def test_sides_are_measured_in_turn_for_as_long_as_the_first_says():
    asked: list[tuple[str, int]] = []
    sides = [Scripted("old", 0.25, asked), Scripted("new", 0.125, asked)]
    rounds, seconds = v0.in_turn(sides, Settings(seconds=2.0), 2, warm_up=4)  # type: ignore[arg-type]
    assert rounds == 8 and seconds == [(2.0, 1.0)] * 2
    warm, calibrate, sample, end = [("old", 4), ("new", 4)], [("old", 4)], [("old", 8), ("new", 8)], 0
    assert asked == [*warm, *calibrate, *sample, *sample, ("new", end), ("old", end)]


def in_turn_of(*seconds: float):
    """In place of :func:`v0.in_turn`: two rounds, which take these seconds."""
    return lambda sides, settings, repetitions, warm_up=1: (2, [seconds] * repetitions)


@pytest.fixture
def no_processes(monkeypatch):
    for module in (learner, observation):
        monkeypatch.setattr(module, "Side", lambda script, arguments, root: (script, *arguments, root))


@pytest.mark.usefixtures("no_processes")
def test_learners_are_compared_with_v0(monkeypatch):
    monkeypatch.setattr(learner, "in_turn", in_turn_of(4.0, 1.0, 4.0))
    flat, rows = learner._against_v0(Settings(), "ad_astra", 4, Path("checkout"))
    k = 2 * learner.NUM_ENVS * learner.N_STEPS / 1000
    assert flat.what == "ad_astra, MaskablePPO, 4 players, against v0, flat" and rows.what.endswith(", rows")
    assert flat.value == f"{k:.1f} k decisions/s against {k / 4:.1f} k decisions/s = 4.00"
    assert (flat.target, flat.met, flat.ratio) == (">= 3", True, 4.0)
    assert (rows.target, rows.met, rows.ratio) == (">= 2", False, 1.0)


@pytest.mark.usefixtures("no_processes")
def test_batches_are_compared_with_v0(monkeypatch):
    monkeypatch.setattr(observation, "in_turn", in_turn_of(1e-3, 5e-4))
    (row,) = observation.against_v0(Settings(), "race_to_kepler", 2, Path("checkout"))
    assert row.value == "1.02 M/s against 0.51 M/s = 2.00" and row.met and row.ratio == 2.0


def test_without_v0_rows_say_so():
    for row in [
        *learner._against_v0(Settings(), "ad_astra", 4, None),
        *observation.against_v0(Settings(), "ad_astra", 4, None),
    ]:
        assert row.value == f"commit {v0.V0_COMMIT} is not in this checkout" and row.met is None


def test_no_rows_without_decisions():
    assert learner.learner_against_v0(Settings(ppo_steps=0)) == []
