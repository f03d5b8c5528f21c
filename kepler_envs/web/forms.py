"""Check what the pages send: JSON objects, field by field."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from kepler_envs import registry
from kepler_envs.describe import option_rows
from kepler_envs.engine.game import ComponentError, Configuration, Game, Option, OptionError, read_value
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.replay import Replay
from kepler_envs.engine.seeds import check_seed
from kepler_envs.web import UnknownError, WebError
from kepler_envs.web.cards import NO_CARDS, Cards
from kepler_envs.web.tables import PERSON
from kepler_envs.web.views import bots_to_ask

MOST_LETTERS = 200
"""Longest bot spec or option value."""
HIDDEN_OPTIONS = ("shaping", "reward_mode", "derived")
"""Options that matter to learners, not to players."""


def parse(body: bytes, **kinds: Any) -> dict[str, Any]:
    """Read a JSON object with exactly these fields, each of its kind (or of one of a tuple of kinds).

    Raises:
        WebError: it is anything else.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise WebError(f"the body is not JSON: {problem}") from None
    if not isinstance(found, dict):
        raise WebError("the body is not a JSON object")
    unknown = sorted(set(found) - set(kinds))
    if unknown:
        raise WebError(f"unknown fields: {', '.join(unknown)[:200]}; there are {', '.join(kinds)}")
    for name, kind in kinds.items():
        allowed = kind if isinstance(kind, tuple) else (kind,)
        if type(found.get(name)) not in allowed:
            wanted = " or ".join("null" if one is type(None) else one.__name__ for one in allowed)
            raise WebError(f"{name} must be {wanted}")
    return {name: found.get(name) for name in kinds}


def find_game(name: str) -> Game:
    """Return a game by its name; UnknownError if there is none, or it cannot be loaded."""
    try:
        return registry.load_game(name)
    except (registry.UnknownGame, registry.BrokenGame) as problem:
        raise UnknownError(str(problem)) from None


def configuration(
    game: str, players: int | None, options: dict[str, Any], components: str | None = None,
    cards: Mapping[str, Cards] = NO_CARDS,
) -> Configuration:  # fmt: skip
    """Configure a game with its own components, or with the file of that name; WebError if that is not allowed."""
    found = find_game(game)
    by_name = {option.name: option for option in found.option_list}
    path = None if components is None else _cards_named(components, found, cards).path
    if unknown := sorted(set(options) - set(by_name)):
        names = ", ".join(unknown)[:MOST_LETTERS]
        raise WebError(f"{found.name}: unknown options {names}; there are {', '.join(by_name)}")
    try:
        values = {name: _value(by_name[name], value) for name, value in options.items()}
        return found.configure(players, path, **values)
    except ComponentError as problem:
        raise WebError(str(problem).replace(str(path), str(components))) from problem
    except (OptionError, TypeError, ValueError) as problem:
        raise WebError(str(problem)) from problem


def _cards_named(name: str, game: Game, cards: Mapping[str, Cards]) -> Cards:
    allowed = [other for other, one in cards.items() if one.game == game.name]
    if name not in allowed:
        there = ", ".join(map(repr, allowed)) or "none"
        raise WebError(f"there is no component file {name[:MOST_LETTERS]!r} of {game.name}; there are: {there}")
    return cards[name]


def _value(option: Option, value: Any) -> Any:
    """Read a field of a form: one of the choices as they are written, or a number."""
    if not isinstance(value, str):
        return value
    if len(value) > MOST_LETTERS:
        raise WebError(f"a value has at most {MOST_LETTERS} letters")
    return read_value(value, option.choices)


def with_cards_of_the_server(replay: Replay, cards: Mapping[str, Cards]) -> Replay:
    """A replay that was sent, with the file that has its cards here. No other file of this machine is read for it.

    Raises:
        WebError: there is none.
    """
    found = with_known_cards(replay, cards)
    if found is replay and "components" in replay.options:
        raise WebError(
            "this game has a component file of its own: `kepler-envs serve --components FILE` knows it, or "
            "`kepler-envs serve REPLAY` opens it"
        )
    return found


def with_known_cards(replay: Replay, cards: Mapping[str, Cards]) -> Replay:
    """A replay with the file that has its cards here, if the server was told of one; else the replay itself."""
    if "components" in replay.options:
        for one in cards.values():
            if one.config.game.id == replay.game and one.present_digest == replay.components:
                return dataclasses.replace(replay, options={**replay.options, "components": str(one.path)})
    return replay


def specs_of(seats: list[Any], config: Configuration, people: bool) -> list[str]:
    """Check who sits where; WebError unless each seat has a spec, and a person plays where one must."""
    if len(seats) != config.num_players or not all(isinstance(spec, str) for spec in seats):
        raise WebError(f"seats must be {config.num_players} texts: {PERSON!r}, or what a bot is called")
    for seat, spec in enumerate(seats):
        if not spec:
            raise WebError(f"{agent_name(seat)} has no bot: write what it is called, for example mcts:500")
        if len(spec) > MOST_LETTERS:
            raise WebError(f"what the bot of {agent_name(seat)} is called has more than {MOST_LETTERS} letters")
    if people and PERSON not in seats:
        raise WebError("nobody plays: watch the bots instead")
    if not people and PERSON in seats:
        raise WebError("bots alone are watched")
    return seats


def seed_of(seed: str | None) -> int | None:
    """Read a seed from text, as JavaScript's numbers are too short; WebError if it is none."""
    if seed is None:
        return None
    if not seed.isascii() or not seed.isdecimal() or len(seed) > 20:
        raise WebError("a seed is a whole number from 0 to 2**64 - 1")
    try:
        return check_seed(int(seed))
    except ValueError as problem:
        raise WebError(str(problem)) from problem


def seat_of(text: str) -> int | None:
    """Read the name of a view: ``open`` (None) or the number of a seat."""
    if text == "open":
        return None
    if not text.isdecimal() or len(text) > 2:
        raise WebError(f"a view is 'open' or a seat, not {text[:20]!r}")
    return int(text)


def menu(cards: Mapping[str, Cards]) -> list[dict[str, Any]]:
    """List the games with what a form offers: players, options, bots, component files of one's own."""
    games = []
    for game in registry.load_games():
        rows = {row.name: row for row in option_rows(game)}
        games.append({
            "name": game.name,
            "title": game.title,
            "players": list(range(game.min_players, game.max_players + 1)),
            "usual": game.default_players,
            "options": [
                {"name": option.name, "usual": str(option.default),
                 "choices": [str(choice) for choice in option.choices],
                 "free": option.number is not None, "allowed": rows[option.name].allowed, "meaning": option.meaning}
                for option in game.option_list if option.name not in HIDDEN_OPTIONS
            ],
            "bots": [*bots_to_ask(game.name), "uniform"],
            "components": [{"name": name, "bots": one.bots} for name, one in cards.items() if one.game == game.name],
        })  # fmt: skip
    return games
