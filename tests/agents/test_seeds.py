"""The seeds that are reserved."""

from __future__ import annotations

import re
from pathlib import Path

from agents import seeds
from agents.allowed import MOST_SEED

AGENTS = Path(seeds.__file__).parent


def test_no_two_reserved_seeds_are_the_same_whatever_the_seed_of_a_run():
    reserved = {name: value for name, value in vars(seeds).items() if name.endswith("_SEED")}
    assert len(reserved) == 9 and min(reserved.values()) > 2 * MOST_SEED
    followed = ("EXPERT_SEED", "TEACHER_SEED", "BEST_SEED")
    following = {name: MOST_SEED if name in followed else 0 for name in reserved}
    ranges = sorted((first, first + following[name]) for name, first in reserved.items())
    assert all(one[1] < other[0] for one, other in zip(ranges, ranges[1:], strict=False))


def test_no_other_module_reserves_any():
    found = {
        path.name
        for path in AGENTS.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"SEED\b.*(= *2\*\*|\+ *\d)", line)
    }
    assert found == {"seeds.py", "allowed.py"}, "allowed.py has the largest seed of a run"
