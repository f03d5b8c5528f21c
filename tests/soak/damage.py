"""Damaged files of every kind that the library reads: refused in one of its own errors, or read as they were.

A file is made once a process, then damaged in ways that disks, editors and people have: cut off, bytes changed, a part
written twice or left out, a number made huge, a value of another type.
"""

from __future__ import annotations

import operator
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import kepler_envs
from kepler_envs import ComponentError, Game, OptionError, Snapshot, bots
from kepler_envs.bots.protocol import BotError, play_games
from kepler_envs.bots.published import find_published
from kepler_envs.engine.replay import ReplayError, configuration_of, read_replay, record, verify, write_replay
from kepler_envs.tournament.ledger import Ledger, LedgerError
from kepler_envs.tournament.play import GameResult

DAMAGES_OF_EACH = 20


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        make: (game, folder) -> a good file.
        read: (game, file) -> what the library makes of it, comparable.
        errors: what it may raise instead.
        may_be: (what a damaged file is read as, what the good one is) -> whether that is all right.
    """

    name: str
    make: Callable[[Game, Path], Path]
    read: Callable[[Game, Path], Any]
    errors: tuple[type[Exception], ...]
    may_be: Callable[[Any, Any], bool] = operator.eq


def damage_files(game: Game, seed: int, folder: Path) -> Counter[str]:
    """One trial: damages to a file of each kind; how they were answered, by name."""
    random, tried = Random(seed), Counter[str]()
    for kind in KINDS:
        good = _good_file(kind, game)
        content = good.read_bytes()
        told = _told(kind, game)
        for _ in range(DAMAGES_OF_EACH):
            damaged = folder / good.name
            damaged.write_bytes(damage(content, random))
            try:
                read = kind.read(game, damaged)
            except kind.errors as problem:
                assert str(problem).strip(), f"{kind.name}: an error without a word"
                tried[f"damaged {kind.name} files refused"] += 1
            else:
                assert kind.may_be(read, told), f"a damaged {kind.name} file is read as another one"
                tried[f"damaged {kind.name} files read"] += 1
            for left in folder.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    return tried


def damage(content: bytes, random: Random) -> bytes:
    """``content`` with one thing wrong."""
    at = random.randrange(len(content))
    size = random.choice((1, 2, 8, 100, 1000))
    piece = content[at : at + size]
    return random.choice(
        (
            lambda: b"",
            lambda: content[:at],
            lambda: content[:at] + content[at + size :],
            lambda: content[:at] + piece + content[at:],
            lambda: content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :],
            lambda: content[:at] + random.randbytes(len(piece)) + content[at + size :],
            lambda: content[:at] + bytes(len(piece)) + content[at + size :],
            lambda: _another_number(content, random),
            lambda: content[:at] + b"[" * 100_000 + content[at:],
        )
    )()


def _another_number(content: bytes, random: Random) -> bytes:
    """One digit of the file is replaced: by others, thousands of them, or by something that is no digit."""
    digits = [place for place, byte in enumerate(content) if chr(byte).isdigit()]
    if not digits:
        return content + b"\0"
    at = random.choice(digits)
    return (
        content[:at] + random.choice((b"7", b"-1", b"9" * 5000, b"1e999", b"null", b'"x"', b"true")) + content[at + 1 :]
    )


@cache
def _folder() -> TemporaryDirectory[str]:
    """Where the good files of this process are, until it ends."""
    return TemporaryDirectory()


@cache
def _good_file(kind: Kind, game: Game) -> Path:
    """A file of that kind, made once a process."""
    folder = Path(_folder().name) / game.name / kind.name
    folder.mkdir(parents=True)
    return kind.make(game, folder)


@cache
def _told(kind: Kind, game: Game) -> Any:
    """What the good file is read as."""
    return kind.read(game, _good_file(kind, game))


# ---------------------------------------------------------------- the kinds


def _make_components(game: Game, folder: Path) -> Path:
    return Path(shutil.copy(game.scope.folders[-1] / "components.toml", folder / "mine.toml"))


def _read_components(game: Game, path: Path) -> str:
    return game.configure(components=path).components_digest


def _anything(read: Any, told: Any) -> bool:
    """Nothing in a component file says what it was before."""
    return True


def _make_replay(game: Game, folder: Path) -> Path:
    config, actions, random = game.configure(), [], Random(1)
    position = Snapshot.deal(config, 1)
    while not position.over:
        actions.append(random.choice(position.legal_actions()))
        position = position.apply(actions[-1])
    path = folder / "game.jsonl"
    write_replay(path, record(config, 1, actions))
    return path


def _read_replay(game: Game, path: Path) -> tuple[Any, ...]:
    replay = read_replay(path)
    config = configuration_of(replay, kepler_envs.load_game)
    verify(replay, config)
    return config.digest, replay.seed, replay.actions, replay.seats


def _begins_like(read: tuple[Any, ...], told: tuple[Any, ...]) -> bool:
    """A replay cut off at the end of a line is that of an unfinished game."""
    return read[:2] == told[:2] and all(
        part == whole[: len(part)] for part, whole in zip(read[2:], told[2:], strict=True)
    )


def _results(count: int) -> list[GameResult]:
    return [
        GameResult(number, 7 * number, ("greedy", "uniform"), (1, 2), (9, 4), (1.0, -1.0), 50, "terminated")
        for number in range(count)
    ]


def _make_ledger(game: Game, folder: Path) -> Path:
    path = folder / "games.sqlite"
    with Ledger(path, {"game": game.id}) as ledger:
        ledger.add(_results(40), "digest", "commit")
    return path


def _read_ledger(game: Game, path: Path) -> list[GameResult]:
    with Ledger(path, {"game": game.id}) as ledger:
        return ledger.results(40)


def _make_checkpoint(game: Game, folder: Path) -> Path:
    published = find_published("bc-v1", game.name)
    assert published is not None
    return Path(shutil.copy(published, folder / "network.zip"))


def _read_checkpoint(game: Game, path: Path) -> bytes:
    """The end of a game that the network plays with itself."""
    config = game.configure()
    return play_games(bots.load(f"net:{path}", config), config, games=1, seed=3).final_state.tobytes()


KINDS = (
    Kind("component", _make_components, _read_components, (ComponentError, OptionError), _anything),
    Kind("replay", _make_replay, _read_replay, (ReplayError,), _begins_like),
    Kind("ledger", _make_ledger, _read_ledger, (LedgerError,)),
    Kind("checkpoint", _make_checkpoint, _read_checkpoint, (BotError,)),
)
