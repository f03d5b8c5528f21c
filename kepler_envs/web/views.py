"""What a seat is told: JSON made from the position as the seat knows it, and from what it has heard."""

from __future__ import annotations

import sys
from typing import Any

from kepler_envs.bots.greedy import greedy_games
from kepler_envs.bots.published import BEST, best_names, published_names
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.printable import printable_name

KNOWING = 0
"""Seed of the redraw behind every view. Redraws do not depend on what is hidden, so any seed will do."""


def known(position: Snapshot, seat: int) -> Snapshot:
    """The position with everything that ``seat`` cannot know drawn anew: equal for all positions it cannot tell apart.

    Hidden things are open in a finished game; then it is the position itself.
    """
    return position if position.over else position.resample(seat, KNOWING)


def picture(position: Snapshot, seat: int | None, before: Snapshot | None = None) -> dict[str, Any]:
    """A position as a page shows it.

    Args:
        seat: who looks; it sees its own hidden cards only, None sees all.
        before: what the reader has seen last, of the same game.

    Returns:
        ``picture``: SVG. ``news``: the numbers of its groups that show what was not to be seen ``before``.
    """
    drawing = position.drawing(seat)
    news = [] if before is None else drawing.changed_groups(before.drawing(seat))
    return {"picture": drawing.svg(), "news": news}


def choices(position: Snapshot) -> list[dict[str, Any]]:
    """The legal actions of the seat to move in their order: id, words, what they mean here, and the block of ids they
    belong to."""
    actions, more = position.config.actions, explanations(position)
    return [
        {
            "id": action, "words": actions.text(action), "more": more.get(action, ""),
            "block": actions.block_of(action).name,
        }
        for action in position.legal_actions()
    ]  # fmt: skip


def explanations(position: Snapshot) -> dict[int, str]:
    """What the words of legal actions leave open, as the seat to move knows it: which card, which planet, whom.

    A game's picture.py tells it in ``explain(state, config, actions)``; one without has nothing to add.
    """
    explain = getattr(sys.modules[position.game.draw.__module__], "explain", None)
    if explain is None or position.over:
        return {}
    return {
        action: printable_name(words)
        for action, words in explain(position.state, position.config, position.legal_actions()).items()
    }


def results(position: Snapshot, names: list[str]) -> list[dict[str, Any]]:
    """Rank, score and reward of every seat of a finished game, best first."""
    ranks, scores, returns = position.results()
    rows = [
        {
            "seat": seat,
            "name": name,
            "rank": int(ranks[seat]),
            "score": int(scores[seat]),
            "reward": round(float(returns[seat]), 3),
        }
        for seat, name in enumerate(names)
    ]
    return sorted(rows, key=lambda row: (row["rank"], row["seat"]))


def game_words(config: Configuration) -> dict[str, Any]:
    """What a page is headed with: the game, and the options that are not as usual."""
    defaults = {option.name: option.default for option in config.game.option_list}
    options = {name: value for name, value in config.values.items() if value != defaults[name]}
    return {
        "game": config.game.name,
        "title": config.game.title,
        "players": config.num_players,
        "options": [f"{name} = {value}" for name, value in options.items()],
        "bots": bots_to_ask(config.game.name),
    }


def bots_to_ask(game: str) -> list[str]:
    """What a page proposes to ask: rules of thumb, published networks, searches."""
    published = [full.split("/")[1] for full in published_names() if full.split("/")[0] == game]
    best = [BEST] if any(full.split("/")[0] == game for full in best_names()) else []
    greedy = ["greedy"] if game in greedy_games() else []
    return [*greedy, *best, *published, "mcts:300", "mcts:1000"]


def shown_name(name: str) -> str:
    """A bot's spec as a page may show it: of a file only its name, not where it lies."""
    kind, colon, argument = name.partition(":")
    if kind in ("net", "python"):
        argument = argument.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return printable_name(kind + colon + argument)[:80]
