"""What a checkpoint says about itself, checked before anything is made from it.

A description may have been edited, or damaged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from kepler_envs.bots.protocol import BotError
from kepler_envs.printable import one_line, shorten

MOST_OUTPUTS = 16_384
"""The most outputs of a layer, so that an edited number cannot take all memory."""
MOST_LAYERS = 16

Check = Callable[[Any], bool]


def _integer(low: int, high: int = 2**63) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def _list_of(check: Check, most: int = 1000) -> Check:
    return lambda value: isinstance(value, (list, tuple)) and len(value) <= most and all(map(check, value))


def _maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 1000


def _number(value: Any) -> bool:
    return type(value) in (int, float)


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float)) or _text(value)


def _dict_of(check: Check) -> Check:
    return lambda value: isinstance(value, Mapping) and all(map(check, value.values()))


OUTPUTS = _integer(1, MOST_OUTPUTS)
COUNT = _integer(1, 100)

FACTS: Mapping[str, tuple[Check, str]] = {
    "game": (_text, "a text"),
    "num_players": (
        lambda value: COUNT(value) or (_list_of(COUNT)(value) and len(value) > 0),
        "a number of players, or a list of some",
    ),
    "options": (
        _dict_of(lambda value: _scalar(value) or (_list_of(_scalar)(value) and len(value) > 0)),
        "options by name, each a value or a list of some",
    ),
    "components_digest": (_text, "a text"),
    "observation_size": (_integer(1), "an integer from 1 on"),
    "num_actions": (_integer(1), "an integer from 1 on"),
}
"""The facts that go into the digest, with a check and what it allows."""

PARTS: Mapping[str, Mapping[str, tuple[Check, str]]] = {
    "": {
        **FACTS,
        "digest": (_text, "a text"),
        "network": (_dict_of(lambda _: True), "an object"),
        "training": (_dict_of(lambda _: True), "an object"),
        "results": (_dict_of(lambda _: True), "an object"),
        "commit": (_maybe(_text), "a text or null"),
        "versions": (_dict_of(_text), "versions by name"),
    },
    "network": {
        "width": (OUTPUTS, f"an integer 1..{MOST_OUTPUTS}"),
        "hidden": (_list_of(OUTPUTS, MOST_LAYERS), f"at most {MOST_LAYERS} integers 1..{MOST_OUTPUTS}"),
        "rows": (_integer(0, MOST_OUTPUTS), f"an integer 0..{MOST_OUTPUTS}"),
    },
    "training": {
        "game": (_text, "a text"),
        "seed": (_integer(0, 2**64 - 1), "a seed"),
    },
    "results": {
        "steps": (_integer(0), "an integer from 0 on"),
        "seconds": (_number, "a number"),
        "parameters": (_integer(0), "an integer from 0 on"),
        "evaluations": (
            _dict_of(lambda one: _dict_of(_number)(one) and {"mean", "low", "high", "games"} <= set(one)),
            "results by opponent",
        ),
    },
}
"""What a description must have, by part and name: a check, and what it allows."""

MAY_BE_THERE: Mapping[str, Mapping[str, tuple[Check, str]]] = {
    "": {"learned_with": (_dict_of(lambda _: True), "an object")},
    "network": {"over": (lambda value: value in ("", "greedy"), "greedy, or an empty text")},
    "training": {
        "pool": (_dict_of(lambda _: True), "an object"),
        "module": (lambda value: value in ("agents.train", "agents.expert"), "agents.train, agents.expert"),
        "bots": (_dict_of(_text), "versions of bots by spec"),
        "option": (_list_of(_text), "texts"),
    },
}


def parse_description(content: bytes, form: str, where: str) -> dict[str, Any]:
    """The description in ``content``, of the format ``form``.

    Raises BotError naming ``where`` and what is wrong.
    """
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise BotError(f"{where}: its description is not JSON: {one_line(problem)}") from None
    if not isinstance(found, dict):
        raise BotError(f"{where}: its description is not an object")
    if found.get("format") != form:
        raise BotError(f"{where} has format {_quote(found.get('format'))}; this version reads {form!r}")
    for part, entries in PARTS.items():
        values = found[part] if part else found
        _check(values, entries, where, part, needed=True)
        _check(values, MAY_BE_THERE.get(part, {}), where, part, needed=False)
    for name in found["network"]:
        if name not in PARTS["network"] and name not in MAY_BE_THERE["network"]:
            raise BotError(f"{where}: its description has network.{_quote(name)}, which this version does not know")
    if found["digest"] != digest_of({name: found[name] for name in FACTS}):
        raise BotError(f"{where}: its description does not match its digest; was it edited?")
    return found


def digest_of(facts: Mapping[str, Any]) -> str:
    """SHA-256 (16 hex digits) of the facts of a game. If there are several player counts, the largest counts."""
    players = facts["num_players"]
    most = max(players) if isinstance(players, (list, tuple)) else players
    return hashlib.sha256(json.dumps({**facts, "num_players": most}, sort_keys=True).encode()).hexdigest()[:16]


def _check(
    values: Mapping[str, Any], entries: Mapping[str, tuple[Check, str]], where: str, part: str, needed: bool
) -> None:
    for name, (fits, allowed) in entries.items():
        full = f"{part}.{name}" if part else name
        if name not in values:
            if needed:
                raise BotError(f"{where}: its description lacks {full}")
        elif not fits(values[name]):
            raise BotError(f"{where}: its description has {full} = {_quote(values[name])}; allowed: {allowed}")


def _quote(value: Any) -> str:
    try:
        text = json.dumps(value)
    except (ValueError, RecursionError):
        text = f"<{type(value).__name__}>"
    return shorten(text, 80)
