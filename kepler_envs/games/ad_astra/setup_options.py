"""Options that give parts of the setup instead of drawing them, for tests, puzzles and scenarios."""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kepler_envs.engine.components import names
from kepler_envs.engine.game import Option, OptionError
from kepler_envs.games.ad_astra.state import ALIEN, FIRST_START, NUM_STARS, RANDOM, SLOTS

RANDOM_WORD = "random"


@dataclass(frozen=True)
class FactionsOption(Option):
    """An option that is ``random`` or names the factions by seat.

    The names come as a list, or as one text with commas. The option is kept as a text.
    """

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return "'random' or one name a seat, as a list or with commas: 'blue,red,yellow,green'"

    def check(self, value: Any, game: str) -> str:
        """``value`` as one text, or an :class:`OptionError`. The names are checked against the component file later."""
        words = value.split(",") if isinstance(value, str) else value
        if not isinstance(words, Sequence) or not all(isinstance(word, str) and word.strip() for word in words):
            raise OptionError(f"{game}: option {self.name} = {value!r:.200} is not allowed; allowed: {self.allowed}")
        return ",".join(word.strip() for word in words)


@dataclass(frozen=True)
class SetupOption(Option):
    """An option that is ``random`` or a mapping (or its JSON text) with any of these parts. The others are drawn.

    The option is kept as a JSON text.

    - ``start_planets`` and ``systems``, together: the keys of the planets, as ``"XFWE"`` by seat and as
      ``{"SR": "EFYZW", ...}`` for each of the eight systems. Keys of more than one letter are separated by spaces;
      a text that is itself a key is one planet.
    - ``artifact_deck``: the ids of all artifacts in the game, the top of the deck first.
    - ``first_player``: a seat.
    """

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return "'random' or a mapping with start_planets and systems, artifact_deck, first_player"

    def check(self, value: Any, game: str) -> str:
        """``random`` or a JSON text, or an :class:`OptionError`.

        What the parts hold is checked with the component file later.
        """
        given = value
        if isinstance(value, str) and value != RANDOM_WORD:
            try:
                given = json.loads(value)
            except (ValueError, RecursionError):  # no JSON, or more digits or brackets than are read
                given = None
        if isinstance(given, str) and given == RANDOM_WORD:  # an array would compare entry by entry
            return RANDOM_WORD
        if not isinstance(given, Mapping):
            raise OptionError(f"{game}: option {self.name} = {value!r:.200} is not allowed; allowed: {self.allowed}")
        unknown = sorted(set(given) - {"start_planets", "systems", "artifact_deck", "first_player"}, key=str)
        if unknown:
            raise _wrong(f"has unknown parts {', '.join(map(str, unknown))}; allowed: {self.allowed}")
        if ("start_planets" in given) != ("systems" in given):
            raise _wrong("must have start_planets and systems together")
        plain: dict[str, Any] = {name: given[name] for name in sorted(given)}
        if "artifact_deck" in plain:
            if not isinstance(plain["artifact_deck"], Sequence) or isinstance(plain["artifact_deck"], str):
                raise _wrong(f"artifact_deck is {plain['artifact_deck']!r}; it must be a list of artifact ids")
            plain["artifact_deck"] = list(plain["artifact_deck"])
        if "systems" in plain:
            if not isinstance(plain["systems"], Mapping):
                raise _wrong(f"systems is {plain['systems']!r}; it must be a mapping from system keys to planet keys")
            plain["systems"] = dict(plain["systems"])
        try:
            return json.dumps(plain, sort_keys=True, default=operator.index)  # integers of NumPy are integers, too
        except (TypeError, ValueError):
            raise _wrong(f"is {value!r}; it must hold numbers, texts, lists and mappings alone") from None


def _wrong(rule: str) -> OptionError:
    return OptionError(f"ad_astra: option setup {rule}")


# ---------------------------------------------------------------- into the options record


def fix_factions(record: Any, value: str, factions: Sequence[str]) -> None:
    """Write the given factions, or RANDOM for all."""
    record["faction"] = RANDOM
    if value == RANDOM_WORD:
        return
    chosen, players = value.split(","), int(record["num_players"])
    strangers = [name for name in chosen if name not in factions]
    if strangers or len(set(chosen)) != len(chosen) or len(chosen) != players:
        raise OptionError(
            f"ad_astra: option factions = {value!r} is not allowed; allowed: 'random' or {players} different ones of "
            f"{', '.join(factions)}"
        )
    record["faction"][:players] = [factions.index(name) for name in chosen]


def fix_setup(record: Any, value: str, tables: Any) -> None:
    """Write the given parts of the setup, or RANDOM for each that is drawn."""
    record["first"] = record["planet"] = record["deck"] = RANDOM
    parts = {} if value == RANDOM_WORD else json.loads(value)
    if "first_player" in parts:
        first, players = parts["first_player"], int(record["num_players"])
        if type(first) is not int or not 0 <= first < players:
            raise _wrong(f"first_player is {first!r}; allowed: 0..{players - 1}")
        record["first"] = first
    if "artifact_deck" in parts:
        deck, count = parts["artifact_deck"], int(record["artifacts"])
        if sorted(map(repr, deck)) != sorted(map(repr, range(count))):
            raise _wrong(f"artifact_deck is {deck}; it must hold each of the {count} artifacts 0..{count - 1} once")
        record["deck"][:count] = deck
    if "systems" in parts:
        _fix_planets(record, parts["start_planets"], parts["systems"], tables)


def _fix_planets(record: Any, start_planets: Any, systems: Mapping[str, Any], tables: Any) -> None:
    types, keys = names(tables["type_key"]), names(tables["system_key"])[:NUM_STARS]
    players = int(record["num_players"])
    starts = _planet_types("start_planets", start_planets, types)
    if len(starts) != players or ALIEN in starts:
        raise _wrong(f"start_planets is {start_planets!r}; it must name {players} planets, none of them {types[ALIEN]}")
    if set(systems) != set(keys):
        raise _wrong(f"systems has the keys {', '.join(map(str, systems))}; they must be {', '.join(keys)}")
    record["planet"][FIRST_START : FIRST_START + players] = starts
    placed = list(starts)
    low, high = int(tables["smallest_system"]), int(tables["largest_system"])
    for system, key in enumerate(keys):
        planets = _planet_types(f"system {key}", systems[key], types)
        if not low <= len(planets) <= high:
            raise _wrong(f"system {key} has {len(planets)} planets; allowed: {low}..{high}")
        record["planet"][SLOTS * system : SLOTS * system + len(planets)] = planets
        placed += planets
    counts, wanted = Counter(placed), tables["planet_count"].tolist()
    for kind, key in enumerate(types):
        if counts[kind] != wanted[kind]:
            raise _wrong(f"places {counts[kind]} planets {key}; there are {wanted[kind]}")


def _planet_types(where: str, value: Any, types: Sequence[str]) -> list[int]:
    """``"XFWE"`` or ``"X F W E"`` -> the numbers of the planet types. A text that is a key is one planet."""
    if not isinstance(value, str):
        raise _wrong(f"{where} is {value!r}; it must be a text of planet keys")
    words = value.split()
    if len(words) == 1 and words[0] not in types:
        words = list(words[0])
    strangers = [word for word in words if word not in types]
    if strangers:
        raise _wrong(f"{where} is {value!r}; {strangers[0]!r} is none of the planet keys {', '.join(types)}")
    return [types.index(word) for word in words]
