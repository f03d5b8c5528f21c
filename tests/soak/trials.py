"""One trial: what a process of an endurance run does at a time."""

from __future__ import annotations

import argparse
import faulthandler
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import kepler_envs
from kepler_envs.registry import list_games
from tests.soak.damage import damage_files
from tests.soak.games import play_games
from tests.soak.streams import compare_streams

KINDS = ("games", "streams", "damage")
CYCLE = ("games", "games", "games", "games", "streams", "damage")
"""In which order trials of a game follow."""
SECONDS_FOR_A_TRIAL = 900
"""A trial that takes longer hangs: its process ends with the traceback of where it was."""


@dataclass(frozen=True)
class Trial:
    """What one process does at a time; the same trial is the same work everywhere."""

    kind: str
    game: str
    seed: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.game}:{self.seed}"

    @classmethod
    def parse(cls, text: str) -> Trial:
        """``games:ad_astra:17``; ArgumentTypeError."""
        kind, _, rest = text.partition(":")
        game, _, seed = rest.partition(":")
        if kind not in KINDS or game not in list_games() or not seed.isdigit():
            raise argparse.ArgumentTypeError(f"{text!r} must read KIND:GAME:SEED, KIND one of {', '.join(KINDS)}")
        return cls(kind, game, int(seed))


def run(trial: Trial) -> tuple[Counter[str], str]:
    """What a trial tried, and the traceback of what it found, empty if nothing."""
    faulthandler.dump_traceback_later(SECONDS_FOR_A_TRIAL, exit=True)
    game = kepler_envs.load_game(trial.game)
    try:
        with tempfile.TemporaryDirectory() as folder:
            if trial.kind == "games":
                return play_games(game, trial.seed, Path(folder)), ""
            if trial.kind == "streams":
                return compare_streams(game, trial.seed, Path(folder)), ""
            return damage_files(game, trial.seed, Path(folder)), ""
    except Exception:
        return Counter(), traceback.format_exc()
    finally:
        faulthandler.cancel_dump_traceback_later()
