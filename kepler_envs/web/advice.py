"""What a bot would do at a position: probabilities, or visits and values, of the legal actions."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from kepler_envs.bots import KINDS, BotError
from kepler_envs.bots.published import FOLDER, find_published
from kepler_envs.bots.search import MctsConfig, search
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.printable import counted
from kepler_envs.web import WebError
from kepler_envs.web.expectations import Expectations
from kepler_envs.web.players import Players

MOST_ITERATIONS = 20_000
"""Limit of a search that a page asks for."""

PLAIN = re.compile(r"[a-z0-9_-]+(?:/[a-z0-9_-]+)?|mcts:\d{1,6}(?:,network=[a-z0-9_/-]+)?")
"""Specs that anybody with a link may ask for: they name no files."""

LONGEST_SPEC = 100
SEED = 0


def advise(position: Snapshot, spec: str) -> dict[str, Any]:
    """Ask the bot of ``spec`` what it would do for the seat to move.

    The position must hold nothing that seat does not know (:func:`kepler_envs.web.views.known`); equal ones give equal
    answers.

    Returns:
        ``kind`` (``choice``, ``probabilities`` or ``visits``), ``rows``: per legal action its id, words, ``share``
        (0..1) and, of a search, ``value``; ``note`` says more in words.

    Raises:
        WebError: there is no such bot, it cannot play this game, or it would think too long.
    """
    if len(spec) > LONGEST_SPEC or not PLAIN.fullmatch(spec):
        raise WebError(f"bots to ask are greedy, best, names of published ones and mcts:N, not {spec[:60]!r}")
    name, _, argument = spec.partition(":")
    try:
        if name == "mcts":
            return _by_search(position, spec, MctsConfig.parse(argument))
        if name not in KINDS and find_published(spec, position.config.game.name):
            return _by_network(position, spec)
        return _by_choice(position, spec)
    except BotError as problem:
        raise WebError(str(problem).replace(f"{FOLDER}{os.sep}", "")) from problem  # where it lies is nobody's business


def _by_search(position: Snapshot, spec: str, asked: MctsConfig) -> dict[str, Any]:
    if asked.iterations > MOST_ITERATIONS:
        raise WebError(f"{asked.iterations} iterations are not allowed; allowed: up to {MOST_ITERATIONS}")
    found = search(position, asked, SEED)
    shares = found.visits / max(1, int(found.visits.sum()))
    searched = counted(found.iterations, "iteration")
    note = f"{searched}; values are the mean return of the seat that decides, from -1 to 1"
    return _answer(position, spec, "visits", shares, note, found.values)


def _by_network(position: Snapshot, spec: str) -> dict[str, Any]:
    network = Expectations(spec, position.config)
    probabilities, values = network.ask(position)
    expected = f"it expects a return of {values[0]:+z.2f}, from -1 to 1"
    if network.shaped:
        expected = f"it expects {values[0]:+z.2f}: the return, from -1 to 1, and rewards for progress it learned from"
    return _answer(position, spec, "probabilities", probabilities, expected)


def _by_choice(position: Snapshot, spec: str) -> dict[str, Any]:
    shares = np.zeros(len(position.config.actions))
    shares[Players(position.config, [spec], SEED).decide(spec, position)] = 1.0
    return _answer(position, spec, "choice", shares, "its one choice")


def _answer(
    position: Snapshot, spec: str, kind: str, shares: np.ndarray, note: str, values: np.ndarray | None = None
) -> dict[str, Any]:
    """Make the answer: a row for each legal action, the largest share first."""
    rows = []
    for action in position.legal_actions():
        row: dict[str, Any] = {"id": action, "words": position.config.actions.text(action)}
        row["share"] = round(float(shares[action]), 4)
        if values is not None:
            row["value"] = None if np.isnan(values[action]) else round(float(values[action]), 3)
        rows.append(row)
    rows.sort(key=lambda row: (-row["share"], row["id"]))
    return {"spec": spec, "kind": kind, "note": note, "rows": rows}
