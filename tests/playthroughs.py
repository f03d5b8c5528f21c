"""Golden playthroughs: whole games as readable text, which must never change within a version.

    python -m tests.playthroughs            compare all files with the games played now
    python -m tests.playthroughs --write    write them anew (with a change of version, and an entry in CHANGELOG.md)
    python -m tests.playthroughs --print PATH...   play the games of these files and print them

A file starts with a header: game, options, seed, digest of the component data, and how its decisions are chosen. Then
follows each decision: its number, seat, node, legal ids and choice, fingerprints of observation and mask, and what the
decision changed in the chooser's own observation. The last lines are the result.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

import kepler_envs
from kepler_envs import Configuration, Game, Snapshot
from kepler_envs.registry import OWN_IDS

if TYPE_CHECKING:
    from tests.contract.subjects import Hooks

FOLDER = Path(__file__).parent / "games"

RECIPES: dict[str, dict[str, Any]] = {
    # file name: players (-1 most), how eagerly ids of the game's EAGER set are chosen, options
    "few_eager": {"players": 0, "eagerness": 0.9},
    "most_eager": {"players": -1, "eagerness": 0.9},
    "default_uniform": {"players": None, "eagerness": 0.0},
}


def files() -> list[Path]:
    """The playthrough files of all games of this repository."""
    names = (game_id.partition("-v")[0] for game_id in OWN_IDS)
    return [FOLDER / name / "playthroughs" / f"{recipe}.txt" for name in names for recipe in RECIPES]


def configuration(path: Path) -> tuple[Configuration, float, int]:
    """(configuration, eagerness, seed) of a file, by its place and name."""
    game, recipe = kepler_envs.load_game(path.parts[-3]), RECIPES[path.stem]
    players = {None: game.default_players, 0: game.min_players, -1: game.max_players}[recipe["players"]]
    return (
        game.configure(players, **hooks(game).playthrough_options),
        recipe["eagerness"],
        list(RECIPES).index(path.stem) + 1,
    )


def hooks(game: Game) -> Hooks:
    from tests.contract.subjects import hooks_of

    return hooks_of(game)


def playthrough(path: Path) -> str:
    """The text of a file, played now."""
    config, eagerness, seed = configuration(path)
    return "\n".join(_lines(config, eagerness, seed)) + "\n"


def _lines(config: Configuration, eagerness: float, seed: int) -> Iterator[str]:
    yield f"game        {config.game.id}"
    yield f"options     {config.describe()}"
    yield f"components  {config.components_digest}"
    yield f"seed        {seed}"
    yield f"choices     random ids, with probability {eagerness} from the eager ones (random.Random({seed}).random)"
    random, wanted = Random(seed), hooks(config.game).eager_ids
    position = Snapshot.deal(config, seed)
    number = 0
    while not position.over:
        number += 1
        legal = position.legal_actions()
        action = _choose(legal, wanted, eagerness, random)
        seat, before = position.seat, position.observe(position.seat)
        mask = position.action_mask()
        yield ""
        prints = f"[{_fingerprint(before)} {_fingerprint(mask)}]"
        yield f"{number}. player_{seat} at {position.node.name}: {_ranges(legal)}  {prints}"
        yield f"  -> {action} {config.actions.text(action)}"
        position = position.apply(action)
        yield from _changes(config, before, position.observe(seat))
    yield ""
    yield from _result(position)


def _choose(legal: list[int], wanted: frozenset[int], eagerness: float, random: Random) -> int:
    """Only ``Random.random`` is used: it gives the same numbers in every Python."""
    liked = [action for action in legal if action in wanted]
    among = liked if liked and random.random() < eagerness else legal
    return among[int(random.random() * len(among))]


def _fingerprint(values: np.ndarray) -> str:
    return hashlib.sha256(values.astype("<i2").tobytes()).hexdigest()[:8]


def _ranges(ids: list[int]) -> str:
    """``0-3 7 9-10``."""
    parts = []
    for _, run in groupby(enumerate(ids), lambda pair: pair[1] - pair[0]):
        members = [action for _, action in run]
        parts.append(f"{members[0]}-{members[-1]}" if len(members) > 1 else f"{members[0]}")
    return " ".join(parts)


def _changes(config: Configuration, before: np.ndarray, after: np.ndarray) -> Iterator[str]:
    """Which facts changed for an observer, a line per piece; what follows from them is in the fingerprint."""
    for piece in config.observation.facts:
        old, new = piece.view(before), piece.view(after)
        if not np.array_equal(old, new):
            changed = [
                f"{''.join(f'[{index}]' for index in where)} {old[tuple(where)]}>{new[tuple(where)]}".strip()
                for where in np.argwhere(old != new)
            ]
            yield f"     {piece.name}: {', '.join(changed)}"


def _result(position: Snapshot) -> Iterator[str]:
    places, scores, returns = position.results()
    yield f"end         {int(position.state['end'])} after {int(position.state['decisions'])} decisions"
    yield f"places      {places.tolist()}"
    yield f"scores      {scores.tolist()}"
    yield f"returns     {[round(float(value), 6) for value in returns]}"
    yield f"state       {position.digest()}"


def first_difference(old: str, new: str) -> str:
    """Where two texts part, in words; empty if nowhere."""
    old_lines, new_lines = old.splitlines(), new.splitlines()
    for number, (left, right) in enumerate(zip(old_lines, new_lines, strict=False), 1):
        if left != right:
            return f"line {number}: {left!r} was, {right!r} is"
    if len(old_lines) != len(new_lines):
        return f"{len(old_lines)} lines were, {len(new_lines)} are"
    return "" if old == new else "line ends differ"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.playthroughs", description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the files anew")
    parser.add_argument(
        "--print", nargs="+", type=Path, default=[], metavar="PATH", help="play and print these files' games"
    )
    arguments = parser.parse_args()
    if arguments.print:
        for path in arguments.print:
            sys.stdout.write(playthrough(path))
        return 0
    different = 0
    for path in files():
        text = playthrough(path)
        if arguments.write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            continue
        found = first_difference(path.read_text(encoding="utf-8") if path.exists() else "", text)
        different += bool(found)
        print(f"{path.relative_to(FOLDER)}: {found or 'unchanged'}")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
