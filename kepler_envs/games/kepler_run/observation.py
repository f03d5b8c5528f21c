"""What a seat sees, and redrawing what it cannot know."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.bits import lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.observation import CATEGORY, COUNT, FLAG, Layout, piece, table
from kepler_envs.engine.rng import below, fork
from kepler_envs.engine.simd import write_row
from kepler_envs.games.kepler_run.setup import shuffle_deck
from kepler_envs.games.kepler_run.state import (
    DELIVERY_SLOTS,
    GLOBALS_SIZE,
    MAX_CARDS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_SPECIALS,
    NUM_TRAITS,
    NUM_TYPES,
    PART_SLOTS,
    PLAYER,
    ROW_CARD_SIZE,
    ROW_SLOTS,
    RUN_SLOTS,
    SECTOR,
    SECTOR_SIZE,
    SLING_PART,
    STATE,
    Node,
)

PLAYER_SIZE = PLAYER["public_row"].shape[0]
RUN_START = GLOBALS_SIZE
ROW_START = RUN_START + SECTOR_SIZE * RUN_SLOTS
PLAYERS_START = ROW_START + ROW_CARD_SIZE * ROW_SLOTS
UNSEEN_START = PLAYERS_START + PLAYER_SIZE * MAX_PLAYERS


def _offset(record: np.dtype, name: str) -> int:
    """Where a field of single bytes lies: its entry in a row that starts with the record."""
    assert record.fields is not None
    return int(record.fields[name][1])


# entries that differ between observers
ORDER = _offset(STATE, "order")
DECIDER = _offset(STATE, "decider_distance")
COMPLETED_BY = _offset(STATE, "completed_by")
OWN_CONTRACT = _offset(STATE, "own_contract")
FIRST_DISK = RUN_START + _offset(SECTOR, "disk")


def make_observation(tables: Any) -> Layout:
    """The 610 entries; seats are relative, 0 is the observer, then clockwise."""
    cards = tables["row_card"]
    most = {name: max(1, int(cards[name].max())) for name in cards.dtype.names}
    boxes, fuel = int(tables["boxes"]), int(tables["fuel_cap"])
    cost = max(most["cost"], int(tables["port_cost"]), 1)
    type_field, contract = "0 none, else 1 + sector type", "0 none, else 1 + contract"
    seat = "0 none, else 1 + relative seat"
    icons = [
        piece("asteroids", COUNT, most["asteroids"], "icons"),
        piece("comets", COUNT, most["comets"], "icons"),
        piece("stations", COUNT, most["stations"], "icons; at least one makes it a place for a disk"),
    ]
    return Layout(
        [
            piece("phase", CATEGORY, max(Node), "node: 0 DRAFT, 1 TARGET, 2 CONTRACT, 3 LOAD, 4 FLY, 5 OVER"),
            piece("round", CATEGORY, 2, "round from 0 on"),
            piece("num_players", COUNT, MAX_PLAYERS, "players in the game", low=MIN_PLAYERS),
            piece("draft_pos", COUNT, 2 * MAX_PLAYERS, "picks made this round"),
            piece("run_length", COUNT, RUN_SLOTS, "sectors in the run"),
            piece("deck_count", COUNT, int(tables["cards_total"]), "cards in the deck"),
            piece("pending_action", CATEGORY, NUM_SPECIALS, "at TARGET: 2 REROUTE, 3 OUTPOST"),
            piece("order", CATEGORY, MAX_PLAYERS - 1, "relative seats in turn order, -1 beyond the players", shape=MAX_PLAYERS, low=-1),
            piece("decider", CATEGORY, MAX_PLAYERS - 1, "relative seat that decides"),
            piece("completed_by", CATEGORY, MAX_PLAYERS, f"who completed each contract: {seat}", shape=NUM_TRAITS),
            piece("own_contract", CATEGORY, NUM_TRAITS, f"own contract of this round: {contract}"),
            piece("arrivals", COUNT, MAX_PLAYERS, "arrivals at Kepler this round"),
            piece("leaving_cost", COUNT, cost, "fuel with which the flying player can leave its place"),
            piece("committed_count", COUNT, MAX_PLAYERS, "contracts chosen this round"),
            table(
                "run",
                RUN_SLOTS,
                [
                    piece("type", CATEGORY, NUM_TYPES, type_field),
                    piece("cost", COUNT, cost, "fuel to leave"),
                    *icons,
                    piece("disk", CATEGORY, MAX_PLAYERS, f"owner of the disk: {seat}"),
                ],
            ),
            table(
                "row",
                ROW_SLOTS,
                [
                    piece("type", CATEGORY, NUM_TYPES, type_field),
                    piece("cost", COUNT, cost, "fuel to leave it as a sector"),
                    piece("wrenches", COUNT, most["wrenches"], "modules to install it"),
                    piece("part", CATEGORY, SLING_PART, "as a part: 0 empty slot, 1-5 bypass that type field, 6 JUMP, 7 SLING"),
                    piece("dots", COUNT, most["dots"], "fuel to use the part"),
                    *icons,
                    piece("action", CATEGORY, NUM_SPECIALS, "special action: 0 none, 1 REFUEL, 2 REROUTE, 3 OUTPOST"),
                    piece("vp", COUNT, most["vp"], "points for installing it"),
                ],
            ),
            table(
                "players",
                MAX_PLAYERS,
                [
                    piece("present", FLAG, 1, "1 for seats in the game"),
                    piece("order_position", COUNT, MAX_PLAYERS - 1, "position in the turn order"),
                    piece("vp", COUNT, 127, "victory points", scale=40),
                    piece("modules", COUNT, boxes, "fuel modules"),
                    piece("fuel", COUNT, fuel, "fuel on the ship"),
                    piece("disks", COUNT, int(tables["disks"]), "disks in supply"),
                    piece("built_in", CATEGORY, NUM_TYPES, "type field that the ship leaves free"),
                    piece("hand", FLAG, 1, "1 for each contract in hand", shape=NUM_TRAITS),
                    piece("place", COUNT, RUN_SLOTS + 1, "place of the pawn: 0 Port, then sectors, then Kepler"),
                    piece("tank", COUNT, boxes + fuel, "fuel in the tank"),
                    piece("flown", FLAG, 1, "1 once the flight of the round is over"),
                    piece("committed", FLAG, 1, "1 once the contract of the round is chosen"),
                    piece("revealed", CATEGORY, NUM_TRAITS, f"contract of the last scoring: {contract}"),
                    piece("booster_used", FLAG, 1, "1 once the booster is used"),
                    *[
                        part
                        for slot in range(1, PART_SLOTS + 1)
                        for part in (
                            piece(f"part_{slot}", CATEGORY, SLING_PART, f"part {slot}: 0 none, 1-5 bypass, 6 JUMP, 7 SLING"),
                            piece(f"part_{slot}_dots", COUNT, most["dots"], "fuel to use it"),
                            piece(f"part_{slot}_used", FLAG, 1, "1 once used in this flight"),
                        )
                    ],
                    *[
                        part
                        for slot in range(1, DELIVERY_SLOTS + 1)
                        for part in (
                            piece(f"delivery_{slot}", CATEGORY, NUM_TYPES, f"delivery {slot}: {type_field}"),
                            piece(f"delivery_{slot}_used", FLAG, 1, "1 once delivered in this flight"),
                        )
                    ],
                ],
            ),
            piece("unseen", FLAG, 1, "1 for each card id still in the deck", shape=MAX_CARDS),
        ]
    )  # fmt: skip


# ---------------------------------------------------------------- observe


@leaf
def observe(s, t, seat, out):
    """Write the observation of ``seat``: rows of the state, with the seats turned to the observer."""
    n = int(s.num_players)
    write_row(out, 0, s.table_row)
    for position in range(n):
        out[ORDER + position] = _distance(seat, int(s.order[position]), n)
    out[DECIDER] = _distance(seat, int(s.seat), n)
    for contract in range(NUM_TRAITS):
        if s.completed_by[contract] > 0:
            out[COMPLETED_BY + contract] = 1 + _distance(seat, int(s.completed_by[contract]) - 1, n)
    out[OWN_CONTRACT] = s.player[seat].contract
    disks = s.disk_set
    while disks:
        index = lowest(disks)
        disks = without_lowest(disks)
        out[FIRST_DISK + SECTOR_SIZE * index] = 1 + _distance(seat, int(s.run[index].disk) - 1, n)
    other = seat
    place = PLAYERS_START
    for _ in range(n):
        write_row(out, place, s.player[other].public_row)
        place += PLAYER_SIZE
        other += 1
        if other == n:
            other = 0
    for i in range(place, UNSEEN_START):
        out[i] = 0
    write_row(out, UNSEEN_START, s.unseen)


@leaf
def _distance(seat, other, n):
    """How many seats clockwise from ``seat`` the other one sits."""
    distance = other - seat
    return distance if distance >= 0 else distance + n


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Reshuffle the deck, and redraw the contracts others have chosen from their hands.

    Everything else lies open. Nothing after setup is random, but the generator is replaced all the same.
    """
    count = 0
    for card in range(MAX_CARDS):
        if s.unseen[card]:
            s.deck[count] = card
            count += 1
    shuffle_deck(s, count, generator)
    for other in range(int(s.num_players)):
        if other != seat and s.player[other].committed:
            s.player[other].contract = _draw_contract(s.player[other], generator) + 1
    s.rng = fork(generator)


@leaf
def _draw_contract(player, generator):
    """A uniform one of the contracts in hand."""
    in_hand = 0
    for contract in range(NUM_TRAITS):
        in_hand += int(player.hand[contract])
    skip = below(generator, in_hand)
    for contract in range(NUM_TRAITS):
        if player.hand[contract]:
            if skip == 0:
                return contract
            skip -= 1
    return 0
