"""The tables of an observation: what each entry means, and where compiled code finds it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kepler_envs.engine.observation import (
    COUNT,
    FLAG,
    LABEL,
    NUMBER,
    FixedTable,
    Layout,
    Piece,
    fixed_table,
    numbered,
    piece,
    reference,
    table,
)
from kepler_envs.games.race_to_kepler.effects import (
    EFFECTS,
    MAX_COST,
    NO_PROGRAM,
    PROGRAM_SIZE,
    Destination,
    Filter,
    Hook,
    Mode,
    Source,
)
from kepler_envs.games.race_to_kepler.estimates import AT_ONCE, MOST_WORTH, NEVER, program_worth
from kepler_envs.games.race_to_kepler.state import (
    CLASSES,
    KNOWN_SLOTS,
    LOOK_ZONE,
    MAX_PLAYERS,
    MOST_COUNTED,
    MOST_UNITS,
    NEXT_CARDS,
    NUM_CITIES,
    NUM_DEPARTMENTS,
    NUM_KINDS,
    NUM_OPERATIONS,
    NUM_OPTIONS,
    NUM_ORIGINS,
    NUM_TITANS,
    NUM_TOKENS,
    PLAYER,
    STACK,
    STATE,
    Node,
)

CITY, ACTION, MOVE, CHOICE, REPLAY, BID = (
    int(node) for node in (Node.CITY, Node.ACTION, Node.MOVE, Node.CHOICE, Node.REPLAY, Node.BID)
)
MOST_CARDS = 400  # in the game; 142 with the default cards
MOST_SHOWN = 127  # of a kind in one zone
MOST_PARSECS = 200  # just below the end of the longest track, and the longest jump
MOST_MOVED = 10  # "any number" is shown as this
MOST_DECISIONS = 150 + MOST_CARDS  # of a turn, as shown; an effect may ask for more
MOST_VALUE = 5000
DEEPER = KNOWN_SLOTS - NEXT_CARDS
OTHERS = MAX_PLAYERS - 1
SUMMED = "energy, money, market actions, parsecs, cards drawn, gained, ejected, discarded"


def _units(name: str, meaning: str, scale: int, high: int = MOST_UNITS) -> Piece:
    return piece(name, NUMBER, high, meaning, scale=scale)


GAME_FACTS = [
    # as they stand in the state
    piece("energy", COUNT, MOST_UNITS, "energy of the active player", scale=20),
    piece("money", COUNT, MOST_UNITS, "money of the active player", scale=10),
    piece("market", COUNT, MOST_UNITS, "market actions left", scale=3),
    _units("discount", "money that each card costs less this turn", 3),
    _units("ejected", "cards ejected this turn", 5, MOST_COUNTED),
    _units("discarded", "cards discarded by effects this turn", 5, MOST_COUNTED),
    _units("market_taken", "market actions spent this turn", 3, MOST_COUNTED),
    _units("gold_played", "Gold cards played this turn", 5, MOST_COUNTED),
    _units("resource_played", "Iron and Gold cards played this turn", 5, MOST_COUNTED),
    _units("crew_played", "crew cards played this turn", 5, MOST_COUNTED),
    _units("titan_played", "titans played this turn", 3, MOST_COUNTED),
    _units("ops_used", "operations used this turn", 4, MOST_COUNTED),
    piece("departments", FLAG, 1,
          "departments played this turn: scientist, engineer, miner, smuggler", shape=NUM_DEPARTMENTS),
    piece("all_ops", FLAG, 1, "the trait for using all operations has worked this turn"),
    _units("look_size", "cards that the active player looks at", 3, LOOK_ZONE),
    _units("depth", "programs that wait for one another, including the one that asks", 3, STACK),
    piece("race", FLAG, 1, "the Race phase has begun"),
    _units("round", "rounds completed", 40, 1000),
    _units("chosen", "players who have chosen a city", 4, MAX_PLAYERS),
    _units("gold_pile", "Gold in the pile", 26, 64),
    _units("crew_deck_size", "cards in the crew deck", 64, 64),
    _units("titan_deck_size", "titans in the titan deck", 16, NUM_TITANS),
    piece("tokens", FLAG, 1, "encounter tokens still on the track", shape=NUM_TOKENS),
    piece("crossed", FLAG, 1, "encounter tokens that the active player has entered or passed this turn",
          shape=NUM_TOKENS),
    # who and what
    reference("active", "players", "player whose turn it is; none while cities are chosen"),
    reference("first", "players", "the first player; none while cities are chosen"),
    reference("decides", "players", "player who decides; none once the game is over"),
    piece("node", LABEL, len(Node) - 1,
          "what is asked: 1 city, 2 action, 3 move, 4 choice, 5 replay, 6 bid, 7 titan; 0 once the game is over"),
    piece("decisions", NUMBER, MOST_DECISIONS,
          "decisions made in the observer's own turn, or while cities are chosen; else 0", scale=150),
    _units("max_rounds", "number of rounds after which the game ends without a winner", 40, 1000),
    # the program that asks
    reference("asking", "cards", "the card whose program asks; none for a city's"),
    piece("origin", LABEL, NUM_ORIGINS,
          "where the program stands: 1 when played, 2 discarded, 3 ejected, 4 trait, 5 to 8 operations"),
    piece("source", LABEL, len(Source), f"at MOVE: where cards come from: {numbered(Source)}"),
    piece("destination", LABEL, len(Destination), f"at MOVE: where they go: {numbered(Destination)}"),
    piece("mode", LABEL, len(Mode), f"at MOVE: {numbered(Mode)}"),
    piece("filter", LABEL, len(Filter), f"at MOVE: which cards: {numbered(Filter)}"),
    piece("parameter", NUMBER, MAX_COST, "at MOVE: the number that belongs to the filter", scale=5),
    piece("picks_left", NUMBER, MOST_MOVED, "at MOVE: n of the move, at most 10, less the cards moved so far",
          low=-MOST_SHOWN, scale=10),
    _units("moved", "cards moved by the last move of the program that asks", 5, MOST_SHOWN),
    _units("value", "the sum of their costs, if everybody has seen them", 10, MOST_VALUE),
    piece("offers", FLAG, 1, "while cities are chosen: the cities dealt to the observer", shape=NUM_CITIES),
    piece("deeper", NUMBER, NUM_KINDS,
          "1 + kind of the known cards of the observer's deck below those in the table top, from the top down",
          shape=DEEPER),
]  # fmt: skip
PLAYER_FACTS = [
    reference("city", "cities", "its city; while cities are chosen, only the observer's"),
    piece("present", FLAG, 1, "1 for seats in the game"),
    _units("parsecs", "position on the track", 20, MOST_PARSECS),
    _units("hand_size", "cards in hand", 5, MOST_CARDS),
    _units("deck_size", "cards in the deck", 20, MOST_CARDS),
    _units("discard_size", "cards in the discard pile", 20, MOST_CARDS),
    _units("play_size", "cards in the play area", 10, MOST_CARDS),
    _units("turns", "turns it has taken", 40, 1000),
    piece("bid_size", COUNT, MOST_CARDS, "cards in its bid", scale=5),
    piece("bid_closed", FLAG, 1, "its bid is complete"),
    _units("bid_place", "place in the order of bidding, counted from 1; 0 before the player bids", 4, MAX_PLAYERS),
    _units("known_size", "cards on top of the deck that its owner knows", 4, KNOWN_SLOTS),
    piece("next", NUMBER, NUM_KINDS, "1 + kind of the next cards of the deck, where everybody saw them put there",
          shape=NEXT_CARDS),
]  # fmt: skip
CARD_FACTS = [
    piece("hand", COUNT, MOST_SHOWN, "cards in the observer's hand", scale=5),
    piece("deck", NUMBER, MOST_SHOWN, "cards in the observer's deck", scale=5),
    piece("discard", NUMBER, MOST_SHOWN, "cards in the observer's discard pile", scale=5),
    piece("laid", COUNT, MOST_SHOWN,
          "cards in the play area of the active player; during bidding, those of the observer's bid", scale=5),
    piece("offer", NUMBER, 10, "crew in the supply, or titans revealed", scale=1),
    piece("airlock", NUMBER, MOST_SHOWN, "cards in the airlock", scale=5),
    piece("concealed", NUMBER, MOST_SHOWN,
          "cards of each opponent in hand, deck, bid and look zone together", shape=OTHERS,
          scale=5),
    piece("other_discard", NUMBER, MOST_SHOWN, "cards in the discard pile of each opponent", shape=OTHERS, scale=5),
    piece("shown", LABEL, (1 << OTHERS) - 1,
          "opponents who have one in hand, or have bid it, as everybody knows: the sum of 1, 2, 4 for each of them"),
]  # fmt: skip
FRAME_FACTS = [
    piece("at", NUMBER, PROGRAM_SIZE, "address of the instruction under way in the component file's programs"),
    _units("moved", "cards moved by the program's last move", 5, MOST_SHOWN),
    _units("value", "the sum of their costs, if everybody has seen them", 10, MOST_VALUE),
    _units("value_before", "the same for the move before", 10, MOST_VALUE),
    reference("card", "cards", "card whose program it is; none for a city's"),
    piece("own", FLAG, 1, "a trigger's card left its owner's hand or discard pile"),
    piece("in_move", FLAG, 1, "a move is under way"),
    piece("looking", FLAG, 1, "the program opened the look zone"),
    piece(
        "origin",
        LABEL,
        NUM_ORIGINS - 1,
        "where the program stands: 0 when played, 1 discarded, 2 ejected, 3 trait, 4 to 7 operations",
    ),
]
TABLES = [
    table("game", 1, GAME_FACTS),
    table("players", MAX_PLAYERS, PLAYER_FACTS),
    table("operations", NUM_OPERATIONS, [
        reference("what", "city_operations", "operation of the observer's city; none until that city is chosen"),
        piece("used", FLAG, 1, "the active player has used its city's operation of this number this turn"),
    ], by_field=True),
    table("cards", NUM_KINDS, CARD_FACTS, by_field=True),
    table("top", NEXT_CARDS, [reference("card", "cards",
                                        "the next cards of the observer's deck, as far as it knows them")]),
    table("look", LOOK_ZONE, [reference("card", "cards", "the cards the observer looks at, the former top first")]),
    table("frames", STACK, FRAME_FACTS),
    table("options", NUM_OPTIONS, [piece("there", FLAG, 1, "at CHOICE: the alternative exists")]),
    table("game", 1, [
        piece("lead", NUMBER, MOST_PARSECS,
              "parsecs of the observer less those of the best other", low=-MOST_PARSECS, scale=5),
        _units("to_play", "in the observer's turn: kinds of cards in hand to play before resources and operations", 5,
               NUM_KINDS),
    ], derived=True),
    table("players", MAX_PLAYERS, [
        _units("average", "average worth of the player's cards, in tenths of an energy", 20, MOST_WORTH),
        piece("to_kepler", NUMBER, MOST_PARSECS, "parsecs still missing to Kepler", low=-MOST_PARSECS, scale=20),
        piece("to_token", NUMBER, MOST_PARSECS, "parsecs to the next encounter token; 0 if there is none", scale=5),
        _units("strength",
               "in an encounter: value that hand and bid could reach; for the others, what can be expected", 15,
               MOST_VALUE),
    ], derived=True),
    table("cards", NUM_KINDS, [
        piece("acquirable", FLAG, 1,
              "in the observer's turn: it is on offer, and there are money and a market action for it"),
        piece("counts", NUMBER, MOST_WORTH,
              "in the observer's turn, for a card in hand: what it gains from the turn's counters if it is played "
              "now, in tenths of an energy", scale=20),
    ], derived=True, by_field=True),
    table("operations", NUM_OPERATIONS, [
        piece("worth", NUMBER, MOST_WORTH,
            "at ACTION in the observer's turn: what it gains now, in tenths of an energy; 0 if it cannot be used",
            scale=100),
        piece("best", FLAG, 1, "it belongs to the set that gains most for the energy at hand"),
    ], derived=True, by_field=True),
    table("frames", STACK, [
        piece("rest", NUMBER, MOST_UNITS, f"estimate of what it will still do: {SUMMED}", shape=len(EFFECTS), scale=3),
    ], derived=True),
    table("options", NUM_OPTIONS, [
        piece("worth", NUMBER, MOST_WORTH,
              "in the observer's turn: what it gains now, in tenths of an energy", scale=30),
        piece("does", NUMBER, MOST_UNITS,
              f"estimate of what it and everything after it do: {SUMMED}", shape=len(EFFECTS),
              scale=3),
    ], derived=True),
]  # fmt: skip


def make_observation(tables: Any) -> Layout:
    """The tables of the observation, the same for every component file. Seats are relative: 0 is the observer, then
    clockwise.

    What is printed on cards and cities stands in fixed tables.
    """
    return Layout(TABLES, [_kinds(tables), _cities(tables), _city_operations(tables)])


def _effects(tables: Any, addresses: Any) -> np.ndarray:
    """A summary of what programs do, (..., len(EFFECTS)). It is 0 where there is none."""
    found = tables["program"]["rest"][addresses]
    return np.where(np.asarray(addresses)[..., None] == NO_PROGRAM, 0, found)


def _kinds(tables: Any) -> FixedTable:
    cards = tables["card"]
    worth, discard, eject = (cards[name].astype(int) for name in ("worth", "discard_worth", "eject_worth"))
    kinds = np.arange(NUM_KINDS, dtype=np.uint64)
    columns = {
        piece("group", LABEL, len(CLASSES) - 1, "0 none, 1 resource, 2 Mafia, 3 crew, 4 titan"): cards["group"],
        piece("department", LABEL, NUM_DEPARTMENTS,
              "0 none, 1 scientist, 2 engineer, 3 miner, 4 smuggler"): cards["department"],
        piece("cost", NUMBER, MAX_COST, "money it costs", scale=6): cards["cost"],
        piece("bid_value", NUMBER, 2 * MAX_COST, "what it adds to a bid", scale=6): cards["bid_value"],
        piece("copies", NUMBER, 64, "most copies in the game", scale=4): cards["copies"],
        piece("worth", NUMBER, MOST_WORTH, "estimated worth in the deck, in tenths of an energy", scale=30): worth,
        _loss("lost_by_eject", "worth that is lost when it is ejected"): worth - eject,
        _loss("lost_by_discard", "worth that is lost when it is discarded, but not from hand"): worth - discard,
        _loss("lost_from_hand",
              "worth that is lost when it is discarded from hand"): cards["play_worth"].astype(int) - discard,
        piece("order", NUMBER, AT_ONCE, "cards with a higher number are better played earlier", low=NEVER,
              scale=10): cards["order"],
        piece("early", FLAG, 1,
              "it is better played before resources and operations"): tables["played_early"] >> kinds & np.uint64(1),
        piece("counting", FLAG, 1,
              "it gains from what has happened in the turn"): tables["counting"] >> kinds & np.uint64(1),
        **{
            piece(name, NUMBER, MOST_UNITS, f"what it does when it is {when}: {SUMMED}", shape=len(EFFECTS),
                  scale=3): _effects(
                tables, cards[name]
            )
            for name, when in (("on_play", "played"), ("on_discard", "discarded"), ("on_eject", "ejected"))
        },
    }  # fmt: skip
    return _fixed("kinds", columns)


def _cities(tables: Any) -> FixedTable:
    cities = tables["city"]
    numbers = np.arange(NUM_CITIES)
    first = 1 + NUM_OPERATIONS * numbers[:, None] + np.arange(NUM_OPERATIONS)
    columns = {
        piece("there", FLAG, 1, "it is in the game"): tables["cities"] >> numbers & 1,
        piece("difficulty", NUMBER, 3, "difficulty printed on it"): cities["difficulty"],
        piece("hook", LABEL, len(Hook) - 1,
              f"when its trait works: {numbered(Hook, first=0)}"): cities["hook"],
        piece("parameter", NUMBER, MAX_COST, "number that belongs to its trait", scale=3): cities["parameter"],
        piece("kinds", NUMBER, NUM_KINDS,
              "how many kinds its trait works on"): [int(one).bit_count() for one in cities["kinds"]],
        piece("trait_worth", NUMBER, MOST_WORTH, "worth of its trait each time it works, in tenths of an energy",
              scale=30): cities["trait_worth"],
        piece("trait", NUMBER, MOST_UNITS, f"what its trait does: {SUMMED}", shape=len(EFFECTS), scale=3): _effects(
            tables, np.where(cities["operations"] > 0, cities["trait"], NO_PROGRAM)
        ),
        replace(reference("operations", "city_operations", "its operations", shape=NUM_OPERATIONS),
                high=NUM_CITIES * NUM_OPERATIONS): np.where(
            np.arange(NUM_OPERATIONS) < cities["operations"][:, None], first, 0
        ),
    }  # fmt: skip
    return _fixed("cities", columns)


def _city_operations(tables: Any) -> FixedTable:
    cities = tables["city"]
    there = np.arange(NUM_OPERATIONS) < cities["operations"][:, None]
    programs = np.where(there, cities["operation"], NO_PROGRAM).ravel()
    columns = {
        piece("there", FLAG, 1, "the city has this operation"): there.ravel(),
        piece("cost", NUMBER, MOST_UNITS, "energy it costs", scale=10): cities["operation_cost"].ravel(),
        piece("worth", NUMBER, MOST_WORTH, "estimate of what it gains, in tenths of an energy", scale=100): [
            program_worth(tables["program"], int(address)) for address in programs
        ],
        piece("needs_hand", FLAG, 1, "it needs a card from hand to gain anything"): cities["needs_hand"].ravel(),
        piece("does", NUMBER, MOST_UNITS, f"what it does: {SUMMED}", shape=len(EFFECTS), scale=3): _effects(tables,
                                                                                                            programs),
    }  # fmt: skip
    return _fixed("city_operations", columns)


def _loss(name: str, meaning: str) -> Piece:
    return piece(name, NUMBER, MOST_WORTH, meaning, low=-MOST_WORTH, scale=30)


def _fixed(name: str, columns: dict[Piece, Any]) -> FixedTable:
    values = [np.asarray(column).astype(np.int64).reshape(len(column), -1) for column in columns.values()]
    return fixed_table(name, list(columns), np.concatenate(values, axis=1))


LAYOUT = Layout(TABLES, [
    fixed_table(name, [piece("none", FLAG, 1, "")], np.zeros((rows, 1)))
    for name, rows in (("kinds", NUM_KINDS), ("cities", NUM_CITIES), ("city_operations", NUM_CITIES * NUM_OPERATIONS))
])  # fmt: skip
"""Where everything stands in the vector; its fixed tables are stand-ins."""


def _first(name: str) -> int:
    """The entry where a piece, or its row 0, begins."""
    return LAYOUT[name].offset


SIZE, FACTS_SIZE = LAYOUT.size, LAYOUT.facts.size
GAME_ROW = _first("game.energy")
ACTIVE, FIRST, DECIDES, NODE, DECISIONS, MAX_ROUNDS = (
    _first(f"game.{p}") for p in ("active", "first", "decides", "node", "decisions", "max_rounds")
)
ASKING, ORIGIN, SOURCE, DESTINATION, MODE, FILTER, PARAMETER, PICKS_LEFT, MOVED, VALUE, OFFERS, DEEPER_KNOWN = (
    _first(f"game.{p}") for p in ("asking", "origin", "source", "destination", "mode", "filter", "parameter",
                                  "picks_left", "moved",
                                  "value", "offers", "deeper")
)  # fmt: skip
PLAYERS, PLAYER_SIZE = LAYOUT.begin("players")
NEXT = _first("players.next") - PLAYERS
WHAT, USED = _first("operations.what"), _first("operations.used")
HAND, LAID, OFFER, CONCEALED, OTHER_DISCARD, SHOWN = (
    _first(f"cards.{p}") for p in ("hand", "laid", "offer", "concealed", "other_discard", "shown")
)
TOP, LOOK, FRAMES, THERE = (_first(p) for p in ("top.card", "look.card", "frames.at", "options.there"))
LEAD, TO_PLAY = _first("game.lead"), _first("game.to_play")
DERIVED_PLAYERS, DERIVED_PLAYER_SIZE = LAYOUT.begin("players", derived=True)
ACQUIRABLE, COUNTS = _first("cards.acquirable"), _first("cards.counts")
WORTH, BEST = _first("operations.worth"), _first("operations.best")
REST, REST_SIZE = LAYOUT.begin("frames", derived=True)
OPTIONS, OPTION_SIZE = LAYOUT.begin("options", derived=True)
assert PLAYER["own_row"].shape[0] == LAID - HAND and STATE["table_row"].shape[0] == CONCEALED - OFFER
assert STATE["game_row"].shape[0] == ACTIVE - GAME_ROW and PLAYER["seat_row"].shape[0] == NEXT
assert STATE["frame_row"].shape[0] == THERE - FRAMES and PLAYERS == DEEPER_KNOWN + DEEPER and TOP == SHOWN + NUM_KINDS
