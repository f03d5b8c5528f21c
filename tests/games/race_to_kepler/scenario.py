"""Positions of Race to Kepler in words: ``Seat("Tokyo", hand="Astronomer, 2 Iron", top="Gold")`` instead of counts by
kind.

:func:`scenario` builds a position from what a test is about; every other zone is empty. :func:`after` applies decisions
by their texts, holding each against the referee, and :func:`cards` reads a zone back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.race_to_kepler.components import card_names, city_names
from kepler_envs.games.race_to_kepler.state import FIRST_TITAN, NUM_KINDS, NUM_TOKENS
from kepler_envs.registry import load_game
from tests.games.race_to_kepler.position import Player, Position, counted
from tests.games.race_to_kepler.referee import check_decision

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


def kinds(words: str, config: Configuration) -> list[int]:
    """``"2 Iron, Gold"`` -> the kind of each card."""
    names = card_names(config.tables[0])
    return [names.index(name) for name in listed(words)]


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
    config = config or GAME.configure(max(2, len(seats)))
    players = [_player(seat, config) for seat in (seats if len(seats) > 1 else (*seats, Seat()))]
    position = Position(
        players, *(counted(kinds(words, config)) for words in (supply, airlock, crew_deck)),
        titan_deck=set(range(FIRST_TITAN, NUM_KINDS)) if titans is None else set(kinds(titans, config)),
        tokens=set(range(NUM_TOKENS)), race=1, market=1, gold_pile=gold_pile, chosen=len(players),
    )  # fmt: skip
    snapshot = Snapshot(config, position.write(config))
    for name, value in fields.items():
        snapshot.state[name] = value
    snapshot.state["seat"] = snapshot.state["active"]
    return snapshot


def _player(seat: Seat, config: Configuration) -> Player:
    zones = (counted(kinds(words, config)) for words in (seat.hand, seat.deck, seat.discard, seat.play))
    known, city = kinds(seat.top, config)[::-1], city_names(config.tables[0]).index(seat.city)
    return Player(
        *zones, known=known, open=[False] * len(known), city=city, parsecs=seat.parsecs, turns=seat.turns
    )  # fmt: skip


# ---------------------------------------------------------------- playing and reading


def after(position: Snapshot, *texts: str) -> Snapshot:
    """The position after these decisions, each of which comes out as the rules say."""
    for text in texts:
        before, action = position, position.config.actions.id_of(text)
        position = before.apply(action)
        check_decision(before.state, action, position.state, position.config)
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
