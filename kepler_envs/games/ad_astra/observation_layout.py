"""The tables of an observation: what each entry means, and where compiled code finds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.observation import (
    COUNT,
    FLAG,
    LABEL,
    NUMBER,
    FixedTable,
    Layout,
    fixed_table,
    piece,
    reference,
    table,
)
from kepler_envs.games.ad_astra.actions import SUBSETS
from kepler_envs.games.ad_astra.components import COUPLE
from kepler_envs.games.ad_astra.state import (
    CARDS_OF_A_KIND,
    MAX_PAWNS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_ARTIFACTS,
    NUM_CARDS,
    NUM_ELEMENTS,
    NUM_ITEMS,
    NUM_POSITIONS,
    NUM_RESOURCES,
    NUM_SPACES,
    NUM_STARS,
    NUM_TYPES,
    PLAYER,
    STATE,
    EndReason,
    Node,
)

MOST_POINTS = 32_767
MOST_CARDS = 25  # of one resource
MOST_OUTPUT = 48
MOST_WORTH = 4_000
ENOUGH = 4  # cards of a resource, from which on more are all the same


def _subsets() -> FixedTable:
    """The discards of different resources that ids stand for."""
    held = [[mask >> resource & 1 for resource in range(NUM_RESOURCES)] for mask in SUBSETS.tolist()]
    fields = [
        piece("contains", FLAG, 1, "the resource is in it", shape=NUM_RESOURCES),
        piece("size", COUNT, NUM_RESOURCES, "its resources"),
    ]
    return fixed_table("subsets", fields, np.array([[*row, sum(row)] for row in held]))


def _column(name: str, rows: int, field: Any, derived: bool = False) -> Any:
    """A field whose entries lie side by side, as they do in the state."""
    return table(name, rows, [field], derived=derived)


SYSTEM_ROWS = NUM_STARS + 1  # deep space is the last one
STAR_BITS = (1 << NUM_STARS) - 1
LOOKED_AT_AND_CAME_BACK = NUM_STARS + CARDS_OF_A_KIND  # flags of a player that are written at once

FACTS = [
    table(
        "game",
        1,
        [
            piece("num_players", LABEL, MAX_PLAYERS, "players", low=MIN_PLAYERS),
            piece("max_rounds", COUNT, 20, "number of rounds after which the game ends"),
            piece("max_offers", COUNT, 20, "offers to other players that one trade card allows", scale=4),
            piece("max_bank_trades", COUNT, 40, "trades with the bank that one trade card allows", scale=12),
            piece("round", COUNT, 20, "current round", low=1),
            piece("end_reason", LABEL, max(EndReason),
                  "why the game ended: 1 points, 2 planets, 3 rounds; 0 while it runs"),
            piece("artifact_deck", COUNT, NUM_ARTIFACTS, "artifacts in the deck"),
            piece("card", LABEL, NUM_CARDS,
                  "card being resolved: production 1-3, movement 1-3, build, trade, scoring 1-3"),
            piece("step", COUNT, MAX_PLAYERS, "players who have done their part of the card"),
            piece("gate", FLAG, 1, "the next move enters any system for free"),
            piece("free", LABEL, 2, "the next item is free: 1 a colony or factory, 2 a terraformer"),
            piece("thesaurus", FLAG, 1, "the next discard counts for more cards"),
            reference("chosen_system", "systems", "at LAND: where the starship lands"),
            reference("give", "resources", "resource that is given, or chosen for an identical discard"),
            piece("give_count", COUNT, 2, "cards given"),
            reference("want", "resources", "resource that is wanted"),
            piece("want_count", COUNT, 2, "cards wanted"),
            piece("offers", COUNT, 20, "offers made on this card", scale=4),
            piece("bank_trades", COUNT, 40, "trades with the bank on this card", scale=12),
            piece("node", LABEL, len(Node) - 1, "1 + what the seat to move is asked for; 0 once the game is over"),
            reference("turn", "players", "player who decides"),
            reference("first_player", "players", "the first player"),
            reference("space", "spaces", "space of the card being resolved"),
            reference("card_owner", "players", "owner of the card being resolved"),
            reference("partner", "players", "player to whom an offer is made"),
            reference("chosen_starship", "starships", "at LAND: the own starship that lands"),
            reference("moving_from", "positions", "at LAND: where the starship comes from"),
            piece("moving_from_deep_space", FLAG, 1, "at LAND: it comes from deep space"),
            reference("moved_to", "positions",
                      "where those starships of the card's owner are that have already moved on it",
                      shape=MAX_PAWNS),
            piece("moved_to_deep_space", COUNT, MAX_PAWNS, "how many of these starships are in deep space"),
        ],
    ),
    table(
        "players",
        MAX_PLAYERS,
        [
            piece("present", FLAG, 1, "1 for seats in the game"),
            piece("points", COUNT, MOST_POINTS, "victory points", scale=50),
            piece("hand", COUNT, MOST_CARDS, "resource cards of each type", shape=NUM_RESOURCES, scale=5),
            piece("hand_total", COUNT, MOST_CARDS * NUM_RESOURCES, "resource cards", scale=15),
            piece("colonies_left", COUNT, MAX_PAWNS, "colonies in reserve"),
            piece("factories_left", COUNT, MAX_PAWNS, "factories in reserve"),
            piece("terraformers_left", COUNT, MAX_PAWNS, "terraformers in reserve"),
            piece("starships_left", COUNT, MAX_PAWNS, "starships in reserve"),
            piece("in_deep_space", COUNT, MAX_PAWNS, "starships in deep space"),
            piece("systems", COUNT, NUM_STARS + 1, "systems with a pawn of its own, the Sun included"),
            piece("artifact_count", COUNT, NUM_ARTIFACTS, "artifacts held"),
            piece("to_place", COUNT, 9, "cards still to place this round", scale=4),
            piece("set_aside", FLAG, 1, "scoring cards set aside", shape=CARDS_OF_A_KIND),
            piece("discarded", COUNT, 50, "number of cards that the discard on this card counts for", scale=5),
            piece("faction", LABEL, 5, "1 + the faction, which determines what is on the cards"),
            piece("looked_at", FLAG, 1, "systems whose face-down planets the seat has looked at", shape=NUM_STARS),
            piece("came_back", FLAG, 1,
                  "scoring cards that an artifact brought back this round, after some spaces had been filled",
                  shape=CARDS_OF_A_KIND),
        ],
    ),
    _column("resources", NUM_RESOURCES, piece("bank", COUNT, MOST_CARDS, "cards in the bank")),
    _column("cards", NUM_CARDS, piece("in_hand", FLAG, 1, "the observer has this action card in hand")),
    _column("spaces", NUM_SPACES,
            piece("content", LABEL, 3, "1 empty, 2 a card face down, 3 a card face up; 0 for a space not in use")),
    _column("spaces", NUM_SPACES,
            piece("filled_before", FLAG, 1,
                  "it was already filled when an artifact brought back scoring cards of its owner")),
    _column("spaces", NUM_SPACES, reference("owner", "players", "player who placed the card")),
    _column("spaces", NUM_SPACES,
            piece("card", LABEL, NUM_CARDS, "which card it is, if it is face up or the observer's")),
    _column("starships", MAX_PAWNS,
            piece("place", LABEL, 2, "where the observer's starship is: 0 in reserve, 1 in deep space, 2 on a planet")),
    _column("starships", MAX_PAWNS, reference("position", "positions", "the planet it is on")),
    _column("starships", MAX_PAWNS, piece("moved", FLAG, 1,
                                          "it has already moved on the observer's card being resolved")),
    _column("systems", SYSTEM_ROWS,
            piece("on_card", FLAG, 1, "the movement card shows it; the last row is deep space")),
    _column("positions", NUM_POSITIONS, piece("planet", LABEL, 2,
                                              "1 a planet face down, 2 a planet face up; 0 for none")),
    _column("positions", NUM_POSITIONS, piece("starships", COUNT, MAX_PAWNS, "starships there")),
    _column("positions", NUM_POSITIONS, piece("building", LABEL, 2, "1 a colony, 2 a factory; 0 for neither")),
    _column("positions", NUM_POSITIONS, piece("terraformer", FLAG, 1, "there is a terraformer")),
    _column("positions", NUM_POSITIONS, reference("owner", "players", "player whose pawns are there")),
    _column("positions", NUM_POSITIONS,
            piece("type", LABEL, NUM_TYPES,
                  "1 water, 2 food, 3 energy, 4-6 the ores, 7 alien; 0 if it is neither face up nor looked at")),
    _column("elements", NUM_ELEMENTS, piece("scored", FLAG, 1, "it is the element chosen for scoring")),
    _column("choices", 2, reference("element", "elements", "the first or the second element of the scoring card")),
    _column("items", NUM_ITEMS, piece("chosen", FLAG, 1, "at BUILD_POS: the item that is built")),
    _column("artifacts", NUM_ARTIFACTS, piece("held", FLAG, 1, "the observer holds it")),
    _column("artifacts", NUM_ARTIFACTS, piece("used", FLAG, 1, "it is out of the game")),
]  # fmt: skip

ANY_TIME = [
    table(
        "game",
        1,
        [
            piece("end_points", COUNT, 1000, "number of points that ends the game", scale=50),
            piece("face_down", COUNT, NUM_POSITIONS, "face-down planets left", scale=40),
            piece("unseen_aliens", COUNT, NUM_POSITIONS, "alien planets the observer has not seen", scale=5),
            piece("can_travel", FLAG, 1, "the observer can pay for a move between systems"),
            piece("identical", LABEL, ENOUGH,
                  "most cards of one resource in the observer's hand; 0 for fewer than two, 4 for four or more"),
            piece("different", LABEL, NUM_RESOURCES, "kinds of resources in the observer's hand; 0 for fewer than two"),
        ],
        derived=True,
    ),
    table(
        "players",
        MAX_PLAYERS,
        [
            piece("output", COUNT, MOST_OUTPUT, "cards it gets when a resource is produced and the bank has enough",
                  shape=NUM_RESOURCES, scale=5),
            piece("elements", COUNT, MOST_POINTS,
                  "points that each element would bring, without the bonus; for discards the number of cards",
                  shape=NUM_ELEMENTS, scale=8),
            piece("present_in", FLAG, 1, "systems with a pawn of its own", shape=NUM_STARS),
        ],
        derived=True,
    ),
    _column("resources", NUM_RESOURCES, piece("hand", COUNT, MOST_CARDS,
                                              "cards in the observer's hand", scale=5), True),
    _column("resources", NUM_RESOURCES,
            piece("unseen", COUNT, NUM_POSITIONS, "planets of this type the observer has not seen", scale=8),
            True),
    _column("resources", NUM_RESOURCES, piece("held", LABEL, ENOUGH,
                                              "cards in the observer's hand; 4 for four or more"), True),
    _column("resources", NUM_RESOURCES, piece("on_card", FLAG, 1, "the production card shows it"), True),
    _column("cards", NUM_CARDS, reference("space", "spaces", "where it lies on the board"), True),
    _column("cards", NUM_CARDS, reference("resources", "resources", "what a production card offers", shape=COUPLE),
            True),
    _column("cards", NUM_CARDS, reference("systems", "systems", "where a movement card leads", shape=COUPLE), True),
    _column("starships", MAX_PAWNS, reference("system", "systems", "the system it is in"), True),
    _column("starships", MAX_PAWNS,
            piece("held", FLAG, 1, "its planet stays held without it, by a colony, factory or terraformer"), True),
    _column("systems", SYSTEM_ROWS, piece("present", FLAG, 1, "the observer has a pawn there"), True),
    _column("systems", SYSTEM_ROWS, piece("known", FLAG, 1, "the observer has looked at its face-down planets"), True),
    _column("systems", SYSTEM_ROWS, piece("face_down", COUNT, 7, "face-down planets"), True),
]  # fmt: skip

AT_SOME_NODES = [
    table(
        "game",
        1,
        [
            piece("empty_spaces", COUNT, NUM_SPACES, "spaces without a card"),
            reference("first_empty", "spaces", "the first empty space"),
            reference("late_empty", "spaces",
                      "the first empty space with at most as many empty ones behind it as there are players"),
            reference("last_empty", "spaces", "the last empty space"),
            reference("best_card", "cards", "at PLAN, if the observer decides: the first of those worth most"),
            reference("best_starship", "starships",
                      "at MOVE, if the observer decides: the starship of the first of the best moves, if it is worth "
                      "anything"),
            reference("best_system", "systems", "at MOVE: where that starship goes"),
            reference("best_position", "positions",
                      "at LAND and BUILD_POS, if the observer decides: the first of those worth most"),
            reference("most_held", "resources",
                      "at IDENT and DISCARD, if the observer decides: the first of those it holds most of"),
            reference("least_held", "resources",
                      "at BANK_GET and ART_RES, if the observer decides: the first available one of those it holds "
                      "least of"),
            piece("missing", COUNT, NUM_RESOURCES,
                  "at TRADE, if the observer decides: resources that the bank has and the observer lacks"),
            reference("spare", "resources",
                      "at TRADE, if the observer decides: the first one it holds four or more of"),
            piece("offer_gain", NUMBER, 2, "at REPLY: number of cards that the partner gains", low=-2),
            piece("offer_balance", NUMBER, MOST_CARDS,
                  "at REPLY: cards the partner holds of what it gives, less those of what it gets",
                  low=-MOST_CARDS, scale=5),
        ],
        derived=True,
    ),
    _column("resources", NUM_RESOURCES,
            piece("partner_hand", COUNT, MOST_CARDS, "cards in the partner's hand", scale=5), True),
    _column("resources", NUM_RESOURCES,
            piece("output", COUNT, MOST_CARDS,
                  "at PLAN and PRODUCE, if the observer decides: cards it gets when this is produced", scale=5), True),
    _column("resources", NUM_RESOURCES,
            piece("worth", NUMBER, MOST_WORTH,
                  "at these nodes: five per card of output, less one per card that others get",
                  low=-MOST_WORTH, scale=20),
            True),
    _column("resources", NUM_RESOURCES,
            piece("scarce_worth", NUMBER, MOST_WORTH,
                  "at these nodes: worth less the cards in the observer's hand", low=-MOST_WORTH,
                  scale=20), True),
    _column("cards", NUM_CARDS,
            piece("placed", COUNT, CARDS_OF_A_KIND,
                  "at PLAN, if the observer decides: its cards of the same kind on the board"), True),
    _column("cards", NUM_CARDS, piece("new_systems", COUNT, COUPLE,
                                      "at PLAN: systems on the card where the observer has no pawn"), True),
    _column("cards", NUM_CARDS,
            piece("worth", NUMBER, MOST_WORTH,
                  "at PLAN: what the card in hand promises to bring", low=-MOST_WORTH, scale=20), True),
    _column("starships", MAX_PAWNS,
            piece("worth", NUMBER, 100,
                  "at MOVE, if the observer decides: worth of its best move into a system", low=-100, scale=10), True),
    _column("systems", SYSTEM_ROWS,
            piece("worth", COUNT, 100,
                  "at MOVE, if the observer decides: three for a new system, and one per face-down planet",
                  scale=8), True),
    _column("positions", NUM_POSITIONS,
            piece("worth", NUMBER, 1000,
                  "at LAND and BUILD_POS, if the observer decides: worth of each open position", low=-1000,
                  scale=10), True),
    _column("items", NUM_ITEMS, piece("places", COUNT, NUM_POSITIONS,
                                      "at BUILD, if the observer decides: positions where it can be built", scale=4),
            True),
    _column("items", NUM_ITEMS,
            piece("worth", COUNT, 200,
                  "at BUILD: points now and later, and the cards held of its ore", scale=50), True),
    _column("elements", NUM_ELEMENTS, piece("on_card", FLAG, 1, "the scoring card shows it"), True),
    _column("elements", NUM_ELEMENTS,
            piece("lead", NUMBER, MOST_WORTH,
                  "at PLAN and ELEMENT, if the observer decides: points ahead of the best other seat",
                  low=-MOST_WORTH, scale=8),
            True),
    _column("elements", NUM_ELEMENTS,
            piece("worth", NUMBER, MOST_WORTH,
                  "at these nodes: points ahead of the best and of the average seat, the bonus included",
                  low=-MOST_WORTH, scale=8),
            True),
    _column("choices", 2,
            piece("worth", NUMBER, MOST_WORTH,
                  "at ELEMENT, if the observer decides: worth of the element", low=-MOST_WORTH, scale=8), True),
]  # fmt: skip

LAYOUT = Layout([*FACTS, *ANY_TIME, *AT_SOME_NODES], [_subsets()])
FACTS_SIZE, SIZE = LAYOUT.facts.size, LAYOUT.size


def make_observation(tables: Any) -> Layout:
    """The layout, the same for every component file."""
    return LAYOUT


def _at(name: str) -> int:
    """The entry where a piece, or its row 0, begins."""
    return LAYOUT[name].offset


def _row(dtype: np.dtype, name: str) -> int:
    """The entries of a row of the state."""
    return int(dtype[name].shape[0])


(NODE, TURN, FIRST_PLAYER, SPACE, CARD_OWNER, PARTNER, CHOSEN_STARSHIP, MOVING_FROM, FROM_DEEP_SPACE, MOVED_TO,
 MOVED_TO_DEEP) = (
    _at(f"game.{field}")
    for field in (
        "node", "turn", "first_player", "space", "card_owner", "partner", "chosen_starship", "moving_from",
        "moving_from_deep_space", "moved_to", "moved_to_deep_space",
    )
)  # fmt: skip
PLAYERS, PLAYER_SIZE = LAYOUT.begin("players")
FACTION, LOOKED_AT = (_at(f"players.{field}") - PLAYERS for field in ("faction", "looked_at"))
BANK, IN_HAND, ELEMENT_SCORED, CHOICES, ITEM_CHOSEN = (
    _at(name) for name in ("resources.bank", "cards.in_hand", "elements.scored", "choices.element", "items.chosen")
)
ON_SPACE, FILLED_BEFORE, OWNER_ON = (_at(f"spaces.{field}") for field in ("content", "filled_before", "owner"))
PLACE, POSITION, MOVED = (_at(f"starships.{field}") for field in ("place", "position", "moved"))
SYSTEM_ON_CARD, POSITIONS, TERRAFORMERS_AT = (
    _at("systems.on_card"),
    _at("positions.planet"),
    _at("positions.terraformer"),
)
OWNER_AT, HELD_ARTIFACTS, USED_ARTIFACTS = _at("positions.owner"), _at("artifacts.held"), _at("artifacts.used")
KEPT, KEPT_SIZE = LAYOUT.begin("players", derived=True)
PRESENT_IN = _at("players.present_in") - KEPT
(END_POINTS, FACE_DOWN_LEFT, UNSEEN_ALIENS, CAN_TRAVEL, MOST_IDENTICAL, MOST_DIFFERENT, EMPTY_SPACES, FIRST_EMPTY,
 LATE_EMPTY,
 LAST_EMPTY, BEST_CARD, BEST_STARSHIP, BEST_SYSTEM, BEST_POSITION, MOST_HELD, LEAST_HELD, MISSING, SPARE, OFFER_GAIN,
 OFFER_BALANCE) = (field.offset for field in LAYOUT.tables["game"].fields if field.derived)  # fmt: skip
HAND, UNSEEN, HELD, RESOURCE_ON_CARD, PARTNER_HAND, OUTPUT, RESOURCE_WORTH, SCARCE_WORTH = (
    field.offset for field in LAYOUT.tables["resources"].fields if field.derived
)
SPACE_OF, COUPLES, PLACED, NEW_SYSTEMS, CARD_WORTH = (
    _at(f"cards.{field}") for field in ("space", "resources", "placed", "new_systems", "worth")
)
SYSTEM_OF_STARSHIP, HELD_WITHOUT, STARSHIP_MOVE = (_at(f"starships.{field}") for field in ("system", "held", "worth"))
PRESENT, KNOWN, FACE_DOWN_IN, SYSTEM_WORTH = (
    _at(f"systems.{field}") for field in ("present", "known", "face_down", "worth")
)
POSITION_WORTH, PLACES, ITEM_WORTH = _at("positions.worth"), _at("items.places"), _at("items.worth")
ELEMENT_ON_CARD, LEAD, ELEMENT_WORTH = (_at(f"elements.{field}") for field in ("on_card", "lead", "worth"))
CHOICE_WORTH = _at("choices.worth")
RARE = EMPTY_SPACES
"""From here on an entry is 0 but at some nodes."""

assert _at("game.num_players") == 0 and _row(STATE, "game_row") == NODE, "the state's rows are those of the layout"
assert _row(PLAYER, "public_row") == FACTION and _row(PLAYER, "kept_row") == PRESENT_IN
assert _at("players.came_back") - PLAYERS == LOOKED_AT + NUM_STARS
assert _row(STATE, "positions_row") == OWNER_AT - POSITIONS
