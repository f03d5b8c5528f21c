"""Card by card against a second engine: benchmarks/c_limit/kitten_limit.c, written in C from the same specification.

Both draw their cards from the same generator, so whole games must agree: masks, observations, ends, winners.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs.engine.snapshot import Snapshot
from tests.effort import games_to_play, slow
from tests.games.kitten_adventurers.invariants import EAGER
from tests.games.kitten_adventurers.scenario import GAME, PLAYER_COUNTS

SOURCE = Path(__file__).parents[3] / "benchmarks" / "c_limit" / "kitten_limit.c"
OBSERVATION_SIZE, NUM_ACTIONS = 352, 51
GAMES = 128
WORD = 2**64

pytestmark = pytest.mark.xdist_group("against_c")  # built once


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The C engine as a shared library."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no C compiler (cc, gcc, clang or $CC): the comparison with the C engine needs one")
    target = tmp_path_factory.mktemp("c_limit") / "libkitten.so"
    flags = ["-O2", "-std=gnu11", "-DKITTEN_NO_MAIN", "-shared", "-fPIC", "-pthread"]
    subprocess.run([*compiler.split(), *flags, str(SOURCE), "-o", str(target)], check=True)
    library = ctypes.CDLL(str(target))
    library.kl_new.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_uint64]
    library.kl_new.restype = ctypes.c_void_p
    library.kl_free.argtypes = [ctypes.c_void_p]
    library.kl_act.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    for name in ("kl_obs", "kl_mask", "kl_done", "kl_winners"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
        getattr(library, name).restype = ctypes.c_void_p
    return library


class Games:
    """A batch of the C engine, its outputs as arrays."""

    def __init__(self, library: ctypes.CDLL, players: int, seed: int) -> None:
        self._library = library
        self._batch = library.kl_new(GAMES, players, 1, seed)
        self.observation = self._view("kl_obs", ctypes.c_int16, (GAMES, OBSERVATION_SIZE))
        self.action_mask = self._view("kl_mask", ctypes.c_uint8, (GAMES, NUM_ACTIONS))
        self.done = self._view("kl_done", ctypes.c_uint8, (GAMES,))
        self.winners = self._view("kl_winners", ctypes.c_uint8, (GAMES,))

    def _view(self, name: str, item: Any, shape: tuple[int, ...]) -> np.ndarray:
        address = getattr(self._library, name)(self._batch)
        return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(item)), shape)

    def step(self, actions: np.ndarray) -> None:
        ids = np.ascontiguousarray(actions, np.int32)
        self._library.kl_act(self._batch, ids.ctypes.data)

    def close(self) -> None:
        self._library.kl_free(self._batch)


def seed_with_generator(state: int) -> int:
    """The seed whose game starts with this generator state: the inverse of rng.mix."""

    def undo_shift(word: int, shift: int) -> int:
        result = word
        for _ in range(64 // shift):
            result = word ^ (result >> shift)
        return result

    word = undo_shift(state, 31) * pow(0x94D049BB133111EB, -1, WORD) % WORD
    word = undo_shift(word, 27) * pow(0xBF58476D1CE4E5B9, -1, WORD) % WORD
    return (undo_shift(word, 30) - 0x9E3779B97F4A7C15) % WORD


def choose(mask: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A random legal id per game; in half of the games plays are liked better, so that those get somewhere."""
    weights = random.random(mask.shape)
    weights[::2, sorted(EAGER)] += random.random((mask[::2].shape[0], 1)) < 0.85
    return np.where(mask, weights, -1).argmax(axis=1)


def assert_same(batch: kepler_envs.Batch, games: Games, step: int) -> None:
    own, other = batch.action_mask, games.action_mask
    if not np.array_equal(own, other):
        row, entry = np.argwhere(own != other)[0]
        what = batch.config.actions.text(entry)
        pytest.fail(f"step {step}, game {row}: the mask of {what!r} is {own[row, entry]}, in C {other[row, entry]}")
    for (name, entry), own in as_in_c(batch).items():
        other = games.observation[:, entry : entry + own.shape[1]]
        if not np.array_equal(own, other):
            row = np.argwhere(own != other)[0][0]
            pytest.fail(f"step {step}, game {row}: {name} is {own[row].tolist()}, in C {other[row].tolist()}")


def as_in_c(batch: kepler_envs.Batch) -> dict[tuple[str, int], np.ndarray]:
    """What both engines show: by name and the first entry in the observation of the C engine, (games, entries)."""
    seen, rows = batch.config.observation.names(batch.observation), len(batch.observation)
    game = ("phase", "num_players", "hand_size", "deck_count", "discard_count", "turns", "plays", "dead_turns",
            "pending_source", "pending_card", "active_seat", "played_this_turn")  # fmt: skip
    heights = seen["ladders.height"]
    columns = [("game", 0, np.concatenate([seen[f"game.{name}"] for name in game], axis=1))]
    columns.append(("ladders", 12, np.stack([(heights == height).sum(axis=1) for height in range(1, 13)], axis=1)))
    columns += [
        (name, entry, seen[f"cards.{name}"])
        for name, entry in (("discard", 24), ("on_ladders", 38), ("hand", 52), ("unseen", 338))
    ]
    shown = batch.config.observation.pieces
    players = [seen[name] for name, piece in shown.items() if piece.table == "players" and not piece.derived]
    table = np.stack(players, axis=2)
    columns += [(f"seat {seat}", 66 + 34 * seat, table[:, seat]) for seat in range(table.shape[1])]
    assert all(len(values) == rows for _, _, values in columns)
    return {(name, entry): values for name, entry, values in columns}


@slow
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_same_games_as_the_c_engine(library: ctypes.CDLL, players: int) -> None:
    config = GAME.configure(players)
    random = np.random.default_rng(players)
    first_seed = 1000 * players
    games = Games(library, players, first_seed)
    starts = [((first_seed + row) * 0x9E3779B97F4A7C15 + 1) % WORD for row in range(GAMES)]
    batch = kepler_envs.Batch(config, GAMES, seed=0)
    batch.reset(np.array([seed_with_generator(start) for start in starts], np.uint64))
    ended = np.zeros(3, int)
    try:
        assert_same(batch, games, 0)
        for step in range(1, games_to_play(2500) + 1):
            actions = choose(games.action_mask, random)
            games.step(actions)
            batch.step(actions)
            assert np.array_equal(batch.terminated + 2 * batch.truncated, games.done), f"step {step}"
            for row in np.flatnonzero(games.done):
                places = batch.final_rank[row]
                winners = sum(1 << seat for seat in range(players) if places[seat] == 1)
                assert winners == games.winners[row], f"step {step}, game {row}"
                ended[0 if 0 in batch.final_state["player"]["quest_count"][row, :players] else games.done[row]] += 1
                # the C engine deals its next game with the generator of the finished one
                generator = int(batch.final_state["rng"][row])
                batch.restore(row, Snapshot.deal(config, seed_with_generator(generator)))
            assert_same(batch, games, step)
    finally:
        games.close()
    assert ended[0] > 50, "too few games were won to say much"
    assert ended[1] > 50 or players > 5, "too few games came to a stalemate to say much"
