"""Component files with the largest and the smallest values that the loader admits."""

from __future__ import annotations

from typing import Any

from kepler_envs.games.race_to_kepler.components import CLASS_IDS, MOST_COPIES, NUMBERS
from kepler_envs.games.race_to_kepler.effects import MAX_AMOUNT, MAX_COST, PARAMETER_HOOKS, Hook
from kepler_envs.games.race_to_kepler.state import (
    FIRST_CREW,
    FIRST_TITAN,
    MOST_UNITS,
    NUM_CITIES,
    NUM_CREW,
    NUM_TITANS,
    NUM_TOKENS,
)
from tests.games.race_to_kepler.card_file import card, default_data

INVARIANTS_HOLD = ("largest", "smallest")

MOST_OF = {resource: ["gain", resource, MAX_AMOUNT] for resource in ("energy", "money", "market", "draw")}
FULL_TURN = [
    *([*MOST_OF[resource], counter, MOST_UNITS] for resource, counter in (
        ("energy", "discarded"), ("money", "ejected"), ("market", "crew_played"), ("draw", "gold_in_hand"))),
    *[["discount", MAX_AMOUNT]] * 6,
]  # fmt: skip
PROGRAMS: list[list[Any]] = [
    [["move", "deck", "any", 0, "must", 99, "discard"]] * 6,  # a reshuffled pile comes round again
    FULL_TURN,
    [["move", "hand_discard", "any", 0, "upto", 99, "eject"], ["gain", "energy", MAX_AMOUNT, "value", MOST_UNITS]],
    [["move", "hand", "any", 0, "upto", 99, "decktop"], ["look", 5], ["move", "look", "any", 0, "may", 2, "hand"]],
    [["move", "airlock", "any", 0, "all", 99, "hand"], ["move", "goldpile", "any", 0, "must", 99, "hand"]],
    [["move", "titandeck", "any", 0, "must", 99, "hand"], ["replay", "supply"]],
    [["replay", "play"], ["choice", [[MOST_OF["draw"]], [MOST_OF["energy"]], [["look", 5]], []]]],
    [["move", "supply", "any", 0, "all", 99, "airlock"], ["if", "moved", 5, [MOST_OF["money"]]]],
]
TRIGGER = [MOST_OF["energy"], ["gain", "draw", 2]]


def options(kind: str, players: int) -> dict[str, Any]:
    return {"max_rounds": 3} if kind == "largest" else {}


def largest(players: int) -> dict[str, Any]:
    """As many cards as there can be, each as dear as it can be; programs that do as much as they can."""
    data = _with_numbers(1, {"cities_dealt": min(NUMBERS["cities_dealt"][1], NUM_CITIES // players)})
    data["cards"] = [
        *({**row, "copies": MOST_COPIES, "cost": MAX_COST,
           "bid_bonus": MAX_COST} for row in data["cards"][:FIRST_CREW]),
        *(_crew(number, 2, MAX_COST) for number in range(NUM_CREW)),
        *(_titan(number) for number in range(NUM_TITANS)),
    ]  # fmt: skip
    data["cities"] = [_city(number, hook) for number, hook in enumerate([*Hook, Hook.PLAY, Hook.EJECT])]
    return data


def smallest(players: int) -> dict[str, Any]:
    """No cards to begin with, one on offer, a round that is over as soon as each has decided once, a city that is out
    of reach."""
    data = _with_numbers(0, {"track_length": 1 + NUM_TOKENS})
    for token in data["encounter_tokens"]:
        token["space"] = 1 + token["id"]
    data["cards"] = [
        *({**row, "copies": 1, "cost": 0, "on_play": []} for row in data["cards"][:FIRST_CREW]),
        *(_crew(number, 1, 0) | {"on_play": [], "on_eject": [], "on_discard": []} for number in range(1 + players)),
    ]
    needed = players * NUMBERS["cities_dealt"][0]
    data["cities"] = [_city(number, Hook.NONE) | {"ops": [{"cost": 99, "effect": []}]} for number in range(needed)]
    return data


def _with_numbers(end: int, values: dict[str, int]) -> dict[str, Any]:
    """The game's own file with each number at the lower (0) or upper (1) end of what it may be, or as given."""
    data = default_data()
    del data["provenance"]
    for row in data["numbers"]:
        row["value"] = values.get(row["name"], NUMBERS[row["name"]][end])
    return data


def _crew(number: int, copies: int, cost: int) -> dict[str, Any]:
    program = PROGRAMS[number % len(PROGRAMS)]
    row = card(FIRST_CREW + number, f"Crew {number}", program, copies=copies, cost=cost, bid_bonus=cost)
    return row | {"on_eject": TRIGGER, "on_discard": TRIGGER}


def _titan(number: int) -> dict[str, Any]:
    assert FIRST_TITAN + number in CLASS_IDS["titan"]
    row = card(FIRST_TITAN + number, f"Titan {number}", FULL_TURN, cost=0)
    return row | {"class": "titan", "bid_bonus": MAX_COST}


def _city(number: int, hook: Hook) -> dict[str, Any]:
    takes_program = hook not in (Hook.NONE, Hook.REPEAT_OPS, *PARAMETER_HOOKS)
    trait = {
        "hook": hook.name.lower(), "filter": "any", "param": PARAMETER_HOOKS.get(hook, (0, 0))[1],
        "effect": TRIGGER if takes_program else [],
    }  # fmt: skip
    jump = [["gain", "jump", MAX_AMOUNT, "ops_used", MOST_UNITS]]
    ops = [{"cost": cost, "effect": effect} for cost, effect in ((1, FULL_TURN), (1, PROGRAMS[3]), (99, jump), (1, []))]
    return {
        "id": number,
        "key": f"city_{number}",
        "name": f"City {number}",
        "difficulty": 1,
        "trait": trait,
        "ops": ops,
        "prov": "D",
    }
