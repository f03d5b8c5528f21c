"""Positions of Race to Kepler in words: ``Seat("Tokyo", hand="Astronomer, 2 Iron", top="Gold")`` instead of counts by
kind.

:func:`scenario` builds a position from what a test is about; every other zone is empty. :func:`after` applies decisions
by their texts, and :func:`cards` reads a zone back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.race_to_kepler.components import card_names, city_names
from kepler_envs.games.race_to_kepler.state import FIRST_TITAN, NUM_KINDS, NUM_TITANS, NUM_TOKENS, Node
from kepler_envs.registry import load_game

GAME = load_game("race_to_kepler")
NAMES = card_names(GAME.default_tables[0])
CITIES = city_names(GAME.default_tables[0])
END = "end the turn"
DONE = "no more"
OP_1, OP_2, OP_3, OP_4 = (f"use operation {number}" for number in (1, 2, 3, 4))
OPT_1, OPT_2 = "choose alternative 1", "choose alternative 2"


def listed(words: str) -> list[str]:
    """``"2 Iron, Gold"`` -> the names one by one."""
    names = []
    for word in filter(None, (part.strip() for part in words.split(","))):
        count, _, rest = word.partition(" ")
        names += [rest] * int(count) if count.isdigit() else [word]
    return names


def counts(words: str, config: Configuration | None = None) -> np.ndarray:
    """``"2 Iron, Gold"`` -> a zone."""
    names = NAMES if config is None else card_names(config.tables[0])
    zone = np.zeros(NUM_KINDS, np.int8)
    for name in listed(words):
        zone[names.index(name)] += 1
    return zone


@dataclass
class Seat:
    """The cards of a player; ``top`` are the known top cards of the deck, the first one on top."""

    city: str = "Istanbul"
    hand: str = ""
    deck: str = ""
    top: str = ""
    discard: str = ""
    play: str = ""
    parsecs: int = 0
    turns: int = 0


def scenario(
    *seats: Seat, supply: str = "", airlock: str = "", crew_deck: str = "", titans: str | None = None,
    gold_pile: int = 20,
    config: Configuration | None = None, **fields: Any,
) -> Snapshot:  # fmt: skip
    """Node ACTION of the active player (0 unless told) in the Race phase, with one market action.

    One seat given: a second one without cards is added. ``titans`` is their deck, all of them unless told.
    """
    players = list(seats) if len(seats) > 1 else [*seats, Seat()]
    config = config or GAME.configure(len(players))
    states, cities = config.game.new_states(1), city_names(config.tables[0])
    state = states[0]
    for name in ("num_players", "max_rounds", "reward_mode", "shaping"):
        state[name] = config.options[0][name]
    state["node"], state["race"], state["market"], state["rng"] = Node.ACTION, 1, 1, 1
    state["token"] = 1
    state["supply"], state["airlock"] = counts(supply, config), counts(airlock, config)
    state["crew_deck"] = counts(crew_deck, config)
    state["supply_size"], state["crew_deck_size"] = state["supply"].sum(), state["crew_deck"].sum()
    state["titan_deck"] = counts(titans, config)[FIRST_TITAN:] if titans is not None else np.ones(NUM_TITANS)
    state["titan_deck_size"] = state["titan_deck"].sum()
    state["gold_pile"], state["chosen"] = gold_pile, len(players)
    for number, seat in enumerate(players):
        _write_seat(state["player"][number], seat, cities.index(seat.city), config)
    for name, value in fields.items():
        state[name] = value
    state["seat"] = state["active"]
    return Snapshot(config, states)


def _write_seat(player: Any, seat: Seat, city: int, config: Configuration) -> None:
    top = listed(seat.top)
    for name, words in (("hand", seat.hand), ("discard", seat.discard), ("play", seat.play)):
        player[name] = counts(words, config)
    player["deck"] = counts(seat.deck, config) + counts(seat.top, config)
    player["concealed"] = player["hand"] + player["deck"]
    for name in ("hand", "deck", "discard", "play"):
        player[f"{name}_size"] = player[name].sum()
    names = card_names(config.tables[0])
    for place, name in enumerate(reversed(top)):
        player["known_kind"][place] = names.index(name) + 1
    player["known_size"] = len(top)
    player["present"], player["city"] = 1, city + 1
    player["open_city"] = city + 1
    player["parsecs"], player["turns"] = seat.parsecs, seat.turns
    owned = counts("", config) + player["concealed"] + player["discard"] + player["play"]
    cards = config.tables[0]
    player["worth"], player["cards"] = owned @ cards["card"]["worth"].astype(int), owned.sum()
    player["average"] = player["worth"] // max(1, player["cards"])
    ahead = [int(space) - seat.parsecs for space in cards["token_space"] if space > seat.parsecs]
    player["to_kepler"], player["to_token"] = cards["track_length"] - seat.parsecs, min(ahead, default=0)


# ---------------------------------------------------------------- playing and reading


def after(position: Snapshot, *texts: str) -> Snapshot:
    """The position after these decisions."""
    for text in texts:
        position = position.apply(position.config.actions.id_of(text))
    return position


def legal(position: Snapshot) -> set[str]:
    """The texts of the legal ids."""
    return {position.config.actions.text(action) for action in position.legal_actions()}


def cards(position: Snapshot, zone: str, seat: int | None = 0) -> str:
    """A zone of a seat, or of the table if None, in the order of kinds: ``"2 Iron, Gold"``."""
    names = card_names(position.config.tables[0])
    holder = position.state if seat is None else position.state["player"][seat]
    return in_words(Counter({names[kind]: int(count) for kind, count in enumerate(holder[zone]) if count}))


def in_words(held: Counter[str]) -> str:
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in held.items())


def top_cards(position: Snapshot, seat: int = 0) -> str:
    """The known top cards of a deck, the first one on top."""
    player = position.state["player"][seat]
    known = player["known_kind"][: int(player["known_size"])][::-1]
    return ", ".join(card_names(position.config.tables[0])[int(kind) - 1] for kind in known)


def tokens(position: Snapshot) -> list[int]:
    """The spaces that still have an encounter token."""
    spaces = position.config.tables[0]["token_space"]
    return [int(spaces[token]) for token in range(NUM_TOKENS) if position.state["token"][token]]


def numbers(position: Snapshot, *names: str) -> tuple[int, ...]:
    """Fields of the state."""
    return tuple(int(position.state[name]) for name in names)


def parsecs(position: Snapshot) -> list[int]:
    return position.state["player"]["parsecs"][: int(position.state["num_players"])].tolist()
