"""What a seat is shown, as JSON made from the position as that seat knows it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kepler_envs.bots.greedy import greedy_games
from kepler_envs.bots.loading import places_of_paths
from kepler_envs.bots.networks.checkpoint import networks_that_play
from kepler_envs.bots.published import BEST, best_names, names_in
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.snapshot import IllegalAction, Snapshot
from kepler_envs.printable import printable_name

KNOWING = 0
"""Seed of the redraw behind every view. Redraws do not depend on hidden things, so any seed will do."""
REDRAWS = range(16)
"""Seeds of the redraws that say whether something could be foreseen. What has two equally likely outcomes agrees in all
of them once in 65,536 times."""


def known(position: Snapshot, seat: int) -> Snapshot:
    """Redraw everything that ``seat`` cannot know: positions it cannot tell apart become equal.

    In a finished game nothing is hidden; then it returns the position itself.
    """
    return position if position.over else position.resample(seat, KNOWING)


def foreseen(before: Snapshot, actions: Sequence[int], after: Snapshot, seat: int) -> bool:
    """Whether what ``seat`` sees after these actions follows from what it knew before them.

    It does not if a card was drawn, or something hidden turned up. Nor does it if a decision of others shows what they
    hold: on some redraws they could not have taken it.
    """
    seen = after.observe(seat)
    for redraw in REDRAWS:
        position = before.resample(seat, redraw)
        try:
            for action in actions:
                position = position.apply(action)
        except IllegalAction:
            return False
        if not np.array_equal(position.observe(seat), seen):
            return False
    return True


def picture(position: Snapshot, seat: int | None, before: Snapshot | None = None) -> dict[str, Any]:
    """Draw a position for a page.

    Args:
        seat: whose view. It shows only this seat's hidden cards; None shows all.
        before: the position that the reader saw last.

    Returns:
        ``picture``: SVG. ``text``: the same in words. ``news``: the numbers of the groups that show something new since
        ``before``.
    """
    drawing = position.drawing(seat)
    news = [] if before is None else drawing.changed_groups(before.drawing(seat))
    return {"picture": drawing.svg(), "text": position.text(seat), "news": news}


def choices(position: Snapshot) -> list[dict[str, Any]]:
    """List the legal actions in order: id, words, what they mean here, and the block of ids they belong to."""
    actions, more = position.config.actions, explanations(position)
    return [
        {
            "id": action, "words": actions.text(action), "more": more.get(action, ""),
            "block": actions.block_of(action).name,
        }
        for action in position.legal_actions()
    ]  # fmt: skip


def question(position: Snapshot) -> str:
    """Say what the seat to move is asked, which the five games do in the second line of their text, after the seat's
    name; "" for a game that does not."""
    _, second, *_ = [*position.text(position.seat).split("\n"), ""]
    seat, _, asked = second.partition(": ")
    return asked if seat == agent_name(position.seat) else ""


def _of_picture(position: Snapshot, name: str) -> Callable[..., Any] | None:
    """What a game's picture.py may have, and need not have."""
    return getattr(sys.modules[position.game.draw.__module__], name, None)


def explanations(position: Snapshot) -> dict[int, str]:
    """Say what the words of legal actions leave open: which card, which planet, which player.

    A game says it in ``explain(state, config, actions)`` of its picture.py. Without that there is nothing to add.
    """
    explain = _of_picture(position, "explain")
    if explain is None or position.over:
        return {}
    return {
        action: printable_name(words)
        for action, words in explain(position.state, position.config, position.legal_actions()).items()
    }


def seat_colours(position: Snapshot) -> list[str]:
    """Return the colour that each seat has in the pictures.

    A game says it in ``seat_colours(state)`` of its picture.py. Without that the list is empty, and the page takes its
    own colours, which are like those of :mod:`kepler_envs.engine.panels`.
    """
    found = _of_picture(position, "seat_colours")
    return [] if found is None else found(position.state)


Outcome = tuple[Sequence[int], Sequence[float]]
"""Ranks and returns by seat."""


def results(position: Snapshot, names: list[str], outcome: Outcome | None = None) -> list[dict[str, Any]]:
    """List rank, score and reward of every seat of a finished game, best first.

    Ranks and rewards are those of the position unless ``outcome`` has others.
    """
    ranks, scores, returns = position.results()
    if outcome is not None:
        ranks, returns = (np.asarray(values) for values in outcome)
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
    """Return the heading of a page: the game, the options that differ from the defaults, and a component file of one's
    own."""
    defaults = {option.name: option.default for option in config.game.option_list}
    options = {name: value for name, value in config.values.items() if value != defaults[name]}
    if config.components is not None:
        options["components"] = printable_name(config.components.name)
    return {
        "game": config.game.name,
        "title": config.game.title,
        "players": config.num_players,
        "options": [f"{name} = {value}" for name, value in options.items()],
        "bots": bots_to_ask(config.game.name, config),
    }


def bots_to_ask(game: str, config: Configuration | None = None) -> list[str]:
    """List the bots that a page offers to ask: greedy, published networks, searches. With a configuration, networks
    that do not play it are left out."""
    names = names_in(game) if config is None else networks_that_play(config)
    best = [BEST] if any(f"{game}/{name}" in best_names() for name in names) else []
    greedy = ["greedy"] if game in greedy_games() else []
    return [*greedy, *best, *names, "mcts:300", "mcts:1000"]


def shown_name(name: str) -> str:
    """Shorten a bot's spec for a page: the names of its files are shown, their folders are not."""
    for first, end in reversed(places_of_paths(name)):
        path = name[first:end].replace("\\", "/").rstrip("/")
        name = name[:first] + path.rpartition("/")[2] + name[end:]
    return printable_name(name)[:80]
