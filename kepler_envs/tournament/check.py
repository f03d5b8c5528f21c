"""Replaying games from seed and decisions before they count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.printable import counted
from kepler_envs.tournament import CheckError
from kepler_envs.tournament.play import ENDS, Course, GameResult, ranks_and_returns


def check(results: Sequence[GameResult], config: Configuration) -> None:
    """Replay the games whose course is known. Raises CheckError for the first one with another outcome.

    Agents from files can only reach a game by their decisions, so this is no agent's forfeit. The state was changed in
    memory, by a bug or by code that was loaded into the process.
    """
    played = [(game, game.course) for game in results if game.course is not None]
    if not played:
        return
    batch = _play_again(played, config)
    for row, (game, course) in enumerate(played):
        for name, recorded, again in _facts(batch, row, game, course):
            if recorded != again:
                _fail(played, row, f"its {name} is {recorded}, played again {again}")


def _play_again(played: Sequence[tuple[GameResult, Course]], config: Configuration) -> Batch:
    """A batch whose rows have played these games to their ends."""
    batch = Batch(config, len(played), 0)
    batch.reset(np.array([game.seed for game, _ in played], np.uint64))
    rows = np.arange(len(played))
    courses = np.full((max(len(course.actions) for _, course in played), len(played)), SKIP, np.int64)
    for row, (_, course) in enumerate(played):
        courses[: len(course.actions), row] = course.actions
    for decision, actions in enumerate(courses, 1):
        goes_on = actions != SKIP
        over = goes_on & (batch.episodes > 0)
        if over.any():
            _fail(played, int(over.argmax()), f"it is over before decision {decision}")
        known = goes_on & (actions >= 0) & (actions < batch.action_mask.shape[1])
        illegal = goes_on & ~(known & (batch.action_mask[rows, np.where(known, actions, 0)] == 1))
        if illegal.any():
            row = int(illegal.argmax())
            _fail(played, row, f"decision {decision}, id {actions[row]}, is not legal")
        batch.step(actions)
    if not batch.episodes.all():
        _fail(played, int(batch.episodes.argmin()), "it is not over")
    return batch


def _fail(played: Sequence[tuple[GameResult, Course]], row: int, words: str) -> NoReturn:
    game, course = played[row]
    raise CheckError(
        f"game {game.number} (seed {game.seed}) does not follow from its seed and its "
        f"{counted(len(course.actions), 'decision')}: {words}"
    )


def _facts(batch: Batch, row: int, game: GameResult, course: Course) -> list[tuple[str, object, object]]:
    """(name, as recorded, as played again) of all that a result says."""
    ranks, returns = ranks_and_returns(batch, row, game.agents, game.forfeits)
    return [
        ("ranks", list(game.ranks), ranks),
        ("scores", list(game.scores), batch.final_score[row].tolist()),
        ("returns", list(game.returns), returns),
        ("length", game.length, int(batch.final_length[row])),
        ("end", game.end, ENDS[int(batch.final_state["end"][row])]),
        ("final state", course.digest[:16], batch.final_snapshot(row).digest()[:16]),
    ]
