"""What a seat sees, and redrawing what it cannot know.

Most of an observation lies ready in the state (views.py) in the order of the layout, and is copied row by row; what is worth something only
to a seat that decides is worked out at its node.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.bits import bit, bit_count, has, lowest, without_lowest
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
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
from kepler_envs.engine.rng import below, fork
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.ad_astra.actions import DESTINATIONS, SUBSETS, TO_DEEP
from kepler_envs.games.ad_astra.components import BETWEEN_SYSTEMS, COUPLE
from kepler_envs.games.ad_astra.rules_artifacts import playable_artifacts
from kepler_envs.games.ad_astra.rules_building import building_places, legal_items
from kepler_envs.games.ad_astra.rules_movement import landing_places, legal_moves
from kepler_envs.games.ad_astra.rules_scoring import discard_choices
from kepler_envs.games.ad_astra.state import (
    ALIEN,
    ALL_CARDS,
    BUILD_CARD,
    CARDS_OF_A_KIND,
    DEEP_SPACE,
    DIFFERENT,
    FIRST_MOVEMENT,
    FIRST_ORE,
    FIRST_SCORING,
    FIRST_START,
    IDENTICAL,
    ITEM_FACTORY,
    ITEM_STARSHIP,
    ITEM_TERRAFORMER,
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
    RESERVE,
    SCORING_CARDS,
    SLOTS,
    STATE,
    TRADE_CARD,
    EndReason,
    Node,
)
from kepler_envs.games.ad_astra.views import (
    NOTHING,
    distance_to,
    face_down,
    position_of,
    rows_of,
    seat_after,
    show_own_card,
    show_redrawn_types,
)

PLAN, PRODUCE, MOVE, LAND = int(Node.PLAN), int(Node.PRODUCE), int(Node.MOVE), int(Node.LAND)
BUILD, BUILD_POS, TRADE, BANK_GET = int(Node.BUILD), int(Node.BUILD_POS), int(Node.TRADE), int(Node.BANK_GET)
REPLY, ELEMENT, IDENT, DIFF = int(Node.REPLY), int(Node.ELEMENT), int(Node.IDENT), int(Node.DIFF)
DISCARD, ART_RES = int(Node.DISCARD), int(Node.ART_RES)

MOST_POINTS = 32_767
MOST_CARDS = 25  # of one resource
MOST_OUTPUT = 48
MOST_WORTH = 4_000
ENOUGH = 4  # cards of a resource, from which on more are all the same
NEVER = -MOST_WORTH

# What a card, a move, a planet and an item are worth at a glance, in points or so.
PART_BITS = 16
PART_OF_OTHERS = np.array([0, 0, 0, *(-(-(1 << PART_BITS) // others) for others in range(2, MAX_PLAYERS))], np.int64)
"""For each number of players: ``total * this >> PART_BITS`` is the total of the others by their number."""

OWN_OUTPUT = 5  # against each card of the others
SAME_KIND = 8  # less for each own card of the kind that is placed already
SAME_SCORING = 14
SCORING, BUILDING_HAND, TRADING_HAND = 12, 2, 5
STARSHIP_IN_DEEP_SPACE, STARSHIP_WITH_FUEL = 7, 4
OUT_OF_DEEP_SPACE, NEW_SYSTEM = 10, 3
ALIEN_UP, ALIEN_DOWN, PLANET, PER_OUTPUT, TERRAFORMABLE, FUEL, OWN_PAWNS = 9, 14, 10, 3, 2, 3, 8
TERRAFORMER_WORTH, FACTORY_ON_ALIEN, FACTORY_WORTH, COLONY_ON_ALIEN, COLONY_WORTH, STARSHIP_WORTH = (
    100,
    90,
    30,
    80,
    50,
    60,
)


# ---------------------------------------------------------------- layout


def _subsets() -> FixedTable:
    """What the ids of a discard of different resources hold."""
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
            piece("max_rounds", COUNT, 20, "rounds until the game ends"),
            piece("max_offers", COUNT, 20, "offers to other players on one trade card", scale=4),
            piece("max_bank_trades", COUNT, 40, "trades with the bank on one trade card", scale=12),
            piece("round", COUNT, 20, "round", low=1),
            piece("end_reason", LABEL, max(EndReason), "why the game ended: points, planets, rounds; 0 while it runs"),
            piece("artifact_deck", COUNT, NUM_ARTIFACTS, "artifacts in the deck"),
            piece("card", LABEL, NUM_CARDS, "card being resolved: production 1-3, movement 1-3, build, trade, scoring 1-3"),
            piece("step", COUNT, MAX_PLAYERS, "players who had their part of the card"),
            piece("gate", FLAG, 1, "the next move enters any system for free"),
            piece("free", LABEL, 2, "the next item is free: 1 a colony or factory, 2 a terraformer"),
            piece("thesaurus", FLAG, 1, "the next discard counts more"),
            reference("chosen_system", "systems", "at LAND: where the starship lands"),
            reference("give", "resources", "resource given, or chosen for an identical discard"),
            piece("give_count", COUNT, 2, "cards given"),
            reference("want", "resources", "resource wanted"),
            piece("want_count", COUNT, 2, "cards wanted"),
            piece("offers", COUNT, 20, "offers made on this card", scale=4),
            piece("bank_trades", COUNT, 40, "trades with the bank on this card", scale=12),
            piece("node", LABEL, len(Node) - 1, "1 + what the seat to move is asked for; 0 once the game is over"),
            reference("turn", "players", "who decides"),
            reference("first_player", "players", "the first player"),
            reference("space", "spaces", "space of the card being resolved"),
            reference("card_owner", "players", "whose card it is"),
            reference("partner", "players", "to whom an offer is made"),
            reference("chosen_starship", "starships", "at LAND: the own starship that lands"),
            reference("moving_from", "positions", "at LAND: where the starship comes from"),
            piece("moving_from_deep_space", FLAG, 1, "at LAND: it comes from deep space"),
            reference("moved_to", "positions", "where starships of the card's owner are that have moved on it", shape=MAX_PAWNS),
            piece("moved_to_deep_space", COUNT, MAX_PAWNS, "of these starships, those in deep space"),
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
            piece("systems", COUNT, NUM_STARS + 1, "systems with an own pawn, the Sun included"),
            piece("artifact_count", COUNT, NUM_ARTIFACTS, "artifacts held"),
            piece("to_place", COUNT, 9, "cards still to place this round", scale=4),
            piece("set_aside", FLAG, 1, "scoring cards set aside", shape=CARDS_OF_A_KIND),
            piece("discarded", COUNT, 50, "what the discard on this card counts", scale=5),
            piece("faction", LABEL, 5, "1 + the faction: it says what is on the cards"),
            piece("looked_at", FLAG, 1, "systems whose face-down planets the seat has looked at", shape=NUM_STARS),
            piece("came_back", FLAG, 1, "scoring cards an artifact brought back this round, after some spaces were filled",
                  shape=CARDS_OF_A_KIND),
        ],
    ),
    _column("resources", NUM_RESOURCES, piece("bank", COUNT, MOST_CARDS, "cards in the bank")),
    _column("cards", NUM_CARDS, piece("in_hand", FLAG, 1, "the own action card is in hand")),
    _column("spaces", NUM_SPACES, piece("content", LABEL, 3, "1 empty, 2 a card face down, 3 face up; 0 for spaces not in use")),
    _column("spaces", NUM_SPACES,
            piece("filled_before", FLAG, 1, "filled when an artifact brought back scoring cards of its owner")),
    _column("spaces", NUM_SPACES, reference("owner", "players", "who placed the card")),
    _column("spaces", NUM_SPACES, piece("card", LABEL, NUM_CARDS, "which card it is, if it is face up or the observer's")),
    _column("starships", MAX_PAWNS, piece("place", LABEL, 2, "own starship: 0 in reserve, 1 in deep space, 2 on a planet")),
    _column("starships", MAX_PAWNS, reference("position", "positions", "the planet it is on")),
    _column("starships", MAX_PAWNS, piece("moved", FLAG, 1, "it has moved on the own card being resolved")),
    _column("systems", SYSTEM_ROWS, piece("on_card", FLAG, 1, "it is on the movement card; the last row is deep space")),
    _column("positions", NUM_POSITIONS, piece("planet", LABEL, 2, "1 a planet face down, 2 face up; 0 for none")),
    _column("positions", NUM_POSITIONS, piece("starships", COUNT, MAX_PAWNS, "starships there")),
    _column("positions", NUM_POSITIONS, piece("building", LABEL, 2, "1 a colony, 2 a factory")),
    _column("positions", NUM_POSITIONS, piece("terraformer", FLAG, 1, "a terraformer")),
    _column("positions", NUM_POSITIONS, reference("owner", "players", "whose pawns are there")),
    _column("positions", NUM_POSITIONS,
            piece("type", LABEL, NUM_TYPES, "water, food, energy, three ores, alien; 0 for planets neither face up nor looked at")),
    _column("elements", NUM_ELEMENTS, piece("scored", FLAG, 1, "it was chosen")),
    _column("choices", 2, reference("element", "elements", "the first, the second element of the scoring card")),
    _column("items", NUM_ITEMS, piece("chosen", FLAG, 1, "at BUILD_POS: the item that is built")),
    _column("artifacts", NUM_ARTIFACTS, piece("held", FLAG, 1, "the observer holds it")),
    _column("artifacts", NUM_ARTIFACTS, piece("used", FLAG, 1, "it is out of the game")),
]  # fmt: skip

ANY_TIME = [
    table(
        "game",
        1,
        [
            piece("end_points", COUNT, 1000, "points that end the game", scale=50),
            piece("face_down", COUNT, NUM_POSITIONS, "face-down planets left", scale=40),
            piece("unseen_aliens", COUNT, NUM_POSITIONS, "alien planets the observer has not seen", scale=5),
            piece("can_travel", FLAG, 1, "the observer can pay for a move between systems"),
            piece("identical", LABEL, ENOUGH, "most own cards of one resource, 0 for less than two, 4 for more"),
            piece("different", LABEL, NUM_RESOURCES, "own kinds of resources, 0 for less than two"),
        ],
        derived=True,
    ),
    table(
        "players",
        MAX_PLAYERS,
        [
            piece("output", COUNT, MOST_OUTPUT, "cards it gets when a resource is produced and the bank has enough",
                  shape=NUM_RESOURCES, scale=5),
            piece("elements", COUNT, MOST_POINTS, "points an element would bring, without the bonus; cards, where they are discarded",
                  shape=NUM_ELEMENTS, scale=8),
            piece("present_in", FLAG, 1, "systems with a pawn", shape=NUM_STARS),
        ],
        derived=True,
    ),
    _column("resources", NUM_RESOURCES, piece("hand", COUNT, MOST_CARDS, "cards in the own hand", scale=5), True),
    _column("resources", NUM_RESOURCES, piece("unseen", COUNT, NUM_POSITIONS, "planets of this type the observer has not seen", scale=8),
            True),
    _column("resources", NUM_RESOURCES, piece("held", LABEL, ENOUGH, "cards in the own hand, 4 for more"), True),
    _column("resources", NUM_RESOURCES, piece("on_card", FLAG, 1, "on the production card"), True),
    _column("cards", NUM_CARDS, reference("space", "spaces", "where it lies on the board"), True),
    _column("cards", NUM_CARDS, reference("resources", "resources", "what a production card offers", shape=COUPLE), True),
    _column("cards", NUM_CARDS, reference("systems", "systems", "where a movement card leads", shape=COUPLE), True),
    _column("starships", MAX_PAWNS, reference("system", "systems", "the system it is in"), True),
    _column("starships", MAX_PAWNS, piece("held", FLAG, 1, "its planet is held without it: by a colony, factory or terraformer"), True),
    _column("systems", SYSTEM_ROWS, piece("present", FLAG, 1, "an own pawn is there"), True),
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
            reference("late_empty", "spaces", "the first one with no more empty ones behind it than there are players"),
            reference("last_empty", "spaces", "the last empty space"),
            reference("best_card", "cards", "at an own PLAN: the first of those worth most"),
            reference("best_starship", "starships", "at an own MOVE: the first of the moves worth most that is worth something"),
            reference("best_system", "systems", "where it goes"),
            reference("best_position", "positions", "at an own LAND and BUILD_POS: the first of those worth most"),
            reference("most_held", "resources", "at an own IDENT and DISCARD: the first of those held most"),
            reference("least_held", "resources", "at an own BANK_GET and ART_RES: the first of those held least that can be had"),
            piece("missing", COUNT, NUM_RESOURCES, "at an own TRADE: resources in the bank, but not in the own hand"),
            reference("spare", "resources", "then: the first one held four times or more"),
            piece("offer_gain", NUMBER, 2, "at REPLY: cards that the partner gains", low=-2),
            piece("offer_balance", NUMBER, MOST_CARDS, "at REPLY: cards it holds of what it gives, less of what it gets",
                  low=-MOST_CARDS, scale=5),
        ],
        derived=True,
    ),
    _column("resources", NUM_RESOURCES, piece("partner_hand", COUNT, MOST_CARDS, "cards in the partner's hand", scale=5), True),
    _column("resources", NUM_RESOURCES,
            piece("output", COUNT, MOST_CARDS, "at an own PLAN and PRODUCE: cards that the observer gets when it is produced", scale=5), True),
    _column("resources", NUM_RESOURCES,
            piece("worth", NUMBER, MOST_WORTH, "then: five for each of these, less one for each card of others", low=-MOST_WORTH, scale=20),
            True),
    _column("resources", NUM_RESOURCES,
            piece("scarce_worth", NUMBER, MOST_WORTH, "then: this, less the cards in the own hand", low=-MOST_WORTH, scale=20), True),
    _column("cards", NUM_CARDS, piece("placed", COUNT, CARDS_OF_A_KIND, "at an own PLAN: own cards of its kind on the board"), True),
    _column("cards", NUM_CARDS, piece("new_systems", COUNT, COUPLE, "then: its systems without an own pawn"), True),
    _column("cards", NUM_CARDS, piece("worth", NUMBER, MOST_WORTH, "then: what a card in hand promises", low=-MOST_WORTH, scale=20), True),
    _column("starships", MAX_PAWNS,
            piece("worth", NUMBER, 100, "at an own MOVE: of its best move into a system", low=-100, scale=10), True),
    _column("systems", SYSTEM_ROWS,
            piece("worth", COUNT, 100, "at an own MOVE: three for a new system, and one for each face-down planet", scale=8), True),
    _column("positions", NUM_POSITIONS,
            piece("worth", NUMBER, 1000, "at an own LAND and BUILD_POS: of the positions that are open", low=-1000, scale=10), True),
    _column("items", NUM_ITEMS, piece("places", COUNT, NUM_POSITIONS, "at an own BUILD: positions for it", scale=4), True),
    _column("items", NUM_ITEMS, piece("worth", COUNT, 200, "then: points at once and later, and cards of its ore", scale=50), True),
    _column("elements", NUM_ELEMENTS, piece("on_card", FLAG, 1, "on the scoring card"), True),
    _column("elements", NUM_ELEMENTS,
            piece("lead", NUMBER, MOST_WORTH, "at an own PLAN and ELEMENT: points ahead of the best other seat", low=-MOST_WORTH, scale=8),
            True),
    _column("elements", NUM_ELEMENTS,
            piece("worth", NUMBER, MOST_WORTH, "then: of the best and of the average seat, the bonus included", low=-MOST_WORTH, scale=8),
            True),
    _column("choices", 2, piece("worth", NUMBER, MOST_WORTH, "at an own ELEMENT: the element's", low=-MOST_WORTH, scale=8), True),
]  # fmt: skip

LAYOUT = Layout([*FACTS, *ANY_TIME, *AT_SOME_NODES], [_subsets()])
FACTS_SIZE, SIZE = LAYOUT.facts.size, LAYOUT.size


def make_observation(tables: Any) -> Layout:
    """The same for every component file."""
    return LAYOUT


def _at(name: str) -> int:
    """Where a piece (or its row 0) begins."""
    return LAYOUT[name].offset


def _row(dtype: np.dtype, name: str) -> int:
    """The entries of a row of the state."""
    return int(dtype[name].shape[0])


(NODE, TURN, FIRST_PLAYER, SPACE, CARD_OWNER, PARTNER, CHOSEN_STARSHIP, MOVING_FROM, FROM_DEEP_SPACE, MOVED_TO, MOVED_TO_DEEP) = (
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
(END_POINTS, FACE_DOWN_LEFT, UNSEEN_ALIENS, CAN_TRAVEL, MOST_IDENTICAL, MOST_DIFFERENT, EMPTY_SPACES, FIRST_EMPTY, LATE_EMPTY,
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

# ---------------------------------------------------------------- facts


@helper
def observe(s, t, seat, out):
    """Write the observation of ``seat``: facts, and what is derived where there is room for it."""
    _write_game(s, seat, out)
    _write_players(s, seat, out)
    _write_own_things(s, t, seat, out)
    _write_board(s, seat, out)
    if out.size > FACTS_SIZE:
        _derive(s, t, seat, out)
        for i in range(RARE, SIZE):
            out[i] = 0
        _derive_card_in_play(s, t, out)
        if s.end == RUNNING and s.seat == seat:
            _derive_for_decision(s, t, seat, out)


@leaf
def _write_game(s, seat, out):
    """The game, the card being resolved, and the choices already made on it."""
    write_row(out, 0, s.game_row)
    running = s.end == RUNNING
    out[NODE] = s.node + 1 if running else 0
    out[TURN] = distance_to(s, seat, int(s.seat)) + 1 if running else 0
    out[FIRST_PLAYER] = distance_to(s, seat, int(s.first)) + 1
    card = s.slot > 0
    out[SPACE] = s.revealed if card else 0
    out[CARD_OWNER] = distance_to(s, seat, int(s.owner)) + 1 if card else 0
    out[PARTNER] = distance_to(s, seat, int(s.partner) - 1) + 1 if s.partner > 0 else 0
    _write_movement(s, seat, out)


@leaf
def _write_movement(s, seat, out):
    """The starship on its way, and those of the card's owner that have moved."""
    for i in range(CHOSEN_STARSHIP, MOVED_TO_DEEP + 1):
        out[i] = 0
    if s.chosen_ship > 0:
        place = int(s.player[s.seat].ship[int(s.chosen_ship) - 1])
        out[CHOSEN_STARSHIP] = s.chosen_ship if seat == s.seat else 0
        out[MOVING_FROM] = place if place != DEEP_SPACE else 0
        out[FROM_DEEP_SPACE] = place == DEEP_SPACE
    left = np.uint64(int(s.moved) | int(s.owner_moved))
    entry = MOVED_TO
    while left != NOTHING:
        place = int(s.player[s.owner].ship[lowest(left)])
        left = without_lowest(left)
        if place == DEEP_SPACE:
            out[MOVED_TO_DEEP] += 1
        else:
            out[entry] = place
            entry += 1


@leaf
def _seat_in_row(s, seat, distance):
    """The seat so many places clockwise; where nobody sits there, an absent one."""
    n = int(s.num_players)
    other = seat + distance
    return other - n if n <= other < seat + n else other if distance < n else distance


@leaf
def _write_players(s, seat, out):
    filled = 0
    for distance in range(MAX_PLAYERS):  # absent seats, too: their records are 0
        first = PLAYERS + PLAYER_SIZE * distance
        player = s.player[_seat_in_row(s, seat, distance)]
        write_row(out, first, player.public_row)
        out[first + FACTION] = player.faction + player.present
        seen = int(player.looked_at) | int(player.came_back) << NUM_STARS
        expand_bits(out, first + LOOKED_AT, np.uint64(seen), LOOKED_AT_AND_CAME_BACK)
        filled |= int(player.filled_before)
    expand_bits(out, FILLED_BEFORE, np.uint64(filled), NUM_SPACES)


@leaf
def _write_own_things(s, t, seat, out):
    """Cards, starships and artifacts of the observer, and what the card being resolved is about."""
    player = s.player[seat]
    write_row(out, BANK, s.bank)
    expand_bits(out, IN_HAND, np.uint64(player.cards), NUM_CARDS)
    expand_bits(out, HELD_ARTIFACTS, np.uint64(player.artifacts), NUM_ARTIFACTS)
    expand_bits(out, USED_ARTIFACTS, np.uint64(s.artifacts_used), NUM_ARTIFACTS)
    for ship in range(MAX_PAWNS):
        place = int(player.ship[ship])
        on_planet = place != RESERVE and place != DEEP_SPACE
        out[PLACE + ship] = (place == DEEP_SPACE) + 2 * on_planet
        out[POSITION + ship] = place if on_planet else 0
    moved = int(s.moved) | int(s.owner_moved) if s.owner == seat else 0
    expand_bits(out, MOVED, np.uint64(moved), MAX_PAWNS)
    expand_bits(out, ITEM_CHOSEN, np.uint64(1 << int(s.chosen_item) >> 1), NUM_ITEMS)
    expand_bits(out, ELEMENT_SCORED, np.uint64(1 << int(s.element) >> 1), NUM_ELEMENTS)
    slot = int(s.slot) - 1
    systems = 0
    if FIRST_MOVEMENT <= slot < BUILD_CARD:
        systems = int(t.faction[s.player[s.owner].faction].movement[slot - FIRST_MOVEMENT])
    expand_bits(out, SYSTEM_ON_CARD, np.uint64(systems), SYSTEM_ROWS)
    for choice in range(2):
        out[CHOICES + choice] = t.element[slot - FIRST_SCORING, choice] + 1 if slot >= FIRST_SCORING else 0


@leaf
def _write_board(s, seat, out):
    """Spaces and positions; of start planets the own one comes first."""
    player = s.player[seat]
    write_row(out, ON_SPACE, s.on_space)
    write_row(out, OWNER_ON, player.spaces_row)
    write_row(out, POSITIONS, s.positions_row)
    for distance in range(int(s.num_players)):
        position = FIRST_START + seat_after(s, seat, distance)
        out[TERRAFORMERS_AT + FIRST_START + distance] = s.terraformer_at[position]
    write_row(out, OWNER_AT, player.positions_row)


# ---------------------------------------------------------------- what follows from them, at any time


@leaf
def _derive(s, t, seat, out):
    """What the whole table shows."""
    player = s.player[seat]
    out[END_POINTS] = t.end_points
    out[FACE_DOWN_LEFT] = bit_count(face_down(s))
    out[UNSEEN_ALIENS] = player.unseen[ALIEN]
    out[CAN_TRAVEL] = player.hand[t.fuel] >= t.move_cost[BETWEEN_SYSTEMS]
    out[MOST_IDENTICAL] = min(int(player.elements[IDENTICAL]), ENOUGH)
    out[MOST_DIFFERENT] = player.elements[DIFFERENT]
    _derive_players(s, seat, out)
    write_row(out, HAND, player.hand)
    write_row(out, UNSEEN, player.unseen)  # one entry more, which the next lines write
    for resource in range(NUM_RESOURCES):
        out[HELD + resource] = min(int(player.hand[resource]), ENOUGH)
    write_row(out, SPACE_OF, player.space_of)
    write_row(out, COUPLES, t.faction[player.faction].couples)
    _derive_starships(player, out)
    expand_bits(out, PRESENT, np.uint64(int(player.present_in) & STAR_BITS), SYSTEM_ROWS)
    expand_bits(out, KNOWN, np.uint64(player.looked_at), SYSTEM_ROWS)
    write_row(out, FACE_DOWN_IN, s.face_down_in)


@leaf
def _derive_players(s, seat, out):
    for distance in range(MAX_PLAYERS):
        first = KEPT + KEPT_SIZE * distance
        player = s.player[_seat_in_row(s, seat, distance)]
        write_row(out, first, player.kept_row)
        expand_bits(out, first + PRESENT_IN, np.uint64(player.present_in), NUM_STARS)


@leaf
def _derive_starships(player, out):
    held = player.colonies | player.factories | player.terraformers
    for ship in range(MAX_PAWNS):
        place = int(player.ship[ship])
        on_planet = place != RESERVE and place != DEEP_SPACE
        out[SYSTEM_OF_STARSHIP + ship] = (place - 1) // SLOTS + 1 if on_planet else 0
        out[HELD_WITHOUT + ship] = has(held, (place - 1) & 63) if on_planet else 0


@leaf
def _derive_card_in_play(s, t, out):
    """What the card being resolved is about, and what the next one may be put on; the entries that are written are 0 before."""
    slot = int(s.slot) - 1
    offered = 0
    if 0 <= slot < FIRST_MOVEMENT:
        offered = int(t.faction[s.player[s.owner].faction].production[slot])
    expand_bits(out, RESOURCE_ON_CARD, np.uint64(offered), NUM_RESOURCES)
    if slot >= FIRST_SCORING:
        for choice in range(2):
            out[ELEMENT_ON_CARD + int(t.element[slot - FIRST_SCORING, choice])] = 1
    elif s.partner > 0:
        write_row(out, PARTNER_HAND, s.player[s.partner - 1].hand)
        if s.get_count > 0:
            _derive_offer(s, out)
    elif s.empty_spaces != 0:
        _derive_empty_spaces(s, out)


@leaf
def _derive_empty_spaces(s, out):
    left = int(s.empty_spaces)
    out[EMPTY_SPACES] = bit_count(np.uint64(left))
    out[FIRST_EMPTY] = lowest(np.uint64(left)) + 1
    out[LAST_EMPTY] = _highest(left) + 1
    for _ in range(int(s.num_players)):
        without = left & ~(1 << _highest(left))
        left = without if without != 0 else left
    out[LATE_EMPTY] = _highest(left) + 1


@leaf
def _highest(spaces):
    """The last space of a set that is not empty."""
    spaces |= spaces >> 1
    spaces |= spaces >> 2
    spaces |= spaces >> 4
    spaces |= spaces >> 8
    return bit_count(np.uint64(spaces)) - 1


@leaf
def _derive_offer(s, out):
    """What the partner gains by the offer on the table."""
    hand = s.player[s.partner - 1].hand
    out[OFFER_GAIN] = int(s.give_count) - int(s.get_count)
    out[OFFER_BALANCE] = int(hand[int(s.get_type) - 1]) - int(hand[int(s.give_type) - 1])


# ---------------------------------------------------------------- what counts for the decision of the observer


@helper
def _derive_for_decision(s, t, seat, out):
    node = int(s.node)
    if node == PLAN:
        _derive_production(s, seat, out)
        _derive_elements(s, t, out)
        _derive_cards(s, t, seat, out)
    elif node == PRODUCE:
        _derive_production(s, seat, out)
    elif node == MOVE:
        _derive_moves(s, t, seat, out)
    elif node in (LAND, BUILD_POS):
        _derive_positions(s, t, seat, out)
    elif node == BUILD:
        _derive_items(s, t, seat, out)
    elif node == TRADE:
        _derive_bank_trade(s, seat, out)
    elif node in (BANK_GET, ART_RES):
        _derive_least_held(s, seat, out)
    elif node == ELEMENT:
        _derive_elements(s, t, out)
        for choice in range(2):
            out[CHOICE_WORTH + choice] = out[ELEMENT_WORTH + int(out[CHOICES + choice]) - 1]
    elif node in (IDENT, DISCARD):
        _derive_most_held(s, seat, out)


@helper
def _derive_production(s, seat, out):
    """What everybody would get of each resource; the outputs of all are written before, 0 for absent seats."""
    for resource in range(NUM_RESOURCES):
        stock = int(s.bank[resource])
        own = min(int(out[KEPT + resource]), stock)
        worth = OWN_OUTPUT * own
        for other in range(1, MAX_PLAYERS):
            worth -= min(int(out[KEPT + KEPT_SIZE * other + resource]), stock)
        out[OUTPUT + resource] = own
        out[RESOURCE_WORTH + resource] = worth
        out[SCARCE_WORTH + resource] = worth - int(out[HAND + resource])


@helper
def _derive_elements(s, t, out):
    """How far ahead the observer is by each element; the points of all are written before, 0 for absent seats."""
    bonus, share = int(t.bonus), PART_OF_OTHERS[s.num_players]
    first = KEPT + NUM_RESOURCES
    for element in range(NUM_ELEMENTS):
        own = int(out[first + element])
        most, total = 0, 0
        for other in range(1, MAX_PLAYERS):
            points = int(out[first + KEPT_SIZE * other + element])
            total += points
            most = max(most, points)
        worth = 2 * own - most - (total * share >> PART_BITS) + 2 * bonus * (own > most) - bonus * (own < most)
        out[LEAD + element] = own - most
        out[ELEMENT_WORTH + element] = worth >> 1


@leaf
def _derive_cards(s, t, seat, out):
    """What each card in hand promises this round, in points; production and elements are written before."""
    player = s.player[seat]
    cards = int(player.cards)
    aside = 0
    for card in range(CARDS_OF_A_KIND):
        aside |= int(player.set_aside[card]) << FIRST_SCORING + card
    placed = ALL_CARDS & ~cards & ~aside
    starships = 0
    with_fuel = STARSHIP_WITH_FUEL * int(out[CAN_TRAVEL])
    for ship in range(MAX_PAWNS):
        place = int(player.ship[ship])
        starships += STARSHIP_IN_DEEP_SPACE if place == DEEP_SPACE else with_fuel if place != RESERVE else 0
    producing = bit_count(np.uint64(placed & (1 << FIRST_MOVEMENT) - 1))
    moving = bit_count(np.uint64(placed >> FIRST_MOVEMENT & (1 << CARDS_OF_A_KIND) - 1))
    scoring = bit_count(np.uint64(placed & SCORING_CARDS))
    for card in range(CARDS_OF_A_KIND):
        worth = 0
        for place in range(COUPLE):
            worth = max(worth, int(out[RESOURCE_WORTH + int(out[COUPLES + COUPLE * card + place]) - 1]))
        out[PLACED + card] = producing
        out[CARD_WORTH + card] = worth - SAME_KIND * producing
        systems = int(t.faction[player.faction].movement[card]) & ~int(player.present_in)
        new = bit_count(np.uint64(systems))
        out[PLACED + FIRST_MOVEMENT + card] = moving
        out[NEW_SYSTEMS + FIRST_MOVEMENT + card] = new
        out[CARD_WORTH + FIRST_MOVEMENT + card] = starships + new - SAME_KIND * moving
        worth = NEVER
        for choice in range(2):
            worth = max(worth, int(out[ELEMENT_WORTH + int(t.element[card, choice])]))
        out[PLACED + FIRST_SCORING + card] = scoring
        out[CARD_WORTH + FIRST_SCORING + card] = SCORING + 2 * worth - SAME_SCORING * scoring
    out[CARD_WORTH + BUILD_CARD] = BUILDING_HAND * int(player.hand_total)
    out[CARD_WORTH + TRADE_CARD] = int(player.hand_total) - TRADING_HAND
    best, best_worth = 0, NEVER
    for card in range(NUM_CARDS):
        held = cards >> card & 1
        worth = int(out[CARD_WORTH + card]) * held
        out[CARD_WORTH + card] = worth
        better = held != 0 and worth > best_worth
        best = card + 1 if better else best
        best_worth = worth if better else best_worth
    out[BEST_CARD] = best


@leaf
def _derive_moves(s, t, seat, out):
    """Leaving deep space is free and good; a planet is left for a new system when something else holds it."""
    for system in range(NUM_STARS):
        out[SYSTEM_WORTH + system] = NEW_SYSTEM * (1 - int(out[PRESENT + system])) + int(out[FACE_DOWN_IN + system])
    moves = legal_moves(s, t, s.gate != 0)
    best_worth = NEVER if s.gate else 0
    for ship in range(MAX_PAWNS):
        left = moves >> np.uint64(DESTINATIONS * ship) & np.uint64((1 << TO_DEEP) - 1)
        most = NEVER if left != NOTHING else 0
        while left != NOTHING:
            system = lowest(left)
            left = without_lowest(left)
            worth = _move_worth(ship, system, out)
            most = max(most, worth)
            if worth > best_worth:
                best_worth = worth
                out[BEST_STARSHIP] = ship + 1
                out[BEST_SYSTEM] = system + 1
        out[STARSHIP_MOVE + ship] = most


@leaf
def _move_worth(ship, system, out):
    start = int(out[SYSTEM_OF_STARSHIP + ship])
    if start == 0:
        return OUT_OF_DEEP_SPACE + int(out[SYSTEM_WORTH + system])
    if start == system + 1 or out[HELD_WITHOUT + ship] == 0:
        return -1
    return NEW_SYSTEM * int(out[PRESENT + system] == 0)


@leaf
def _derive_positions(s, t, seat, out):
    """An alien planet, else the type produced least so far; unknown ones in between."""
    if s.node == LAND:
        place = int(s.player[seat].ship[int(s.chosen_ship) - 1])
        left = landing_places(s, seat, place, int(s.chosen_system) - 1)
    else:
        left = rows_of(s, seat, building_places(s, t, seat, int(s.chosen_item) - 1))
    best_worth = NEVER
    while left != NOTHING:
        row = lowest(left)
        left = without_lowest(left)
        worth = _position_worth(s, t, seat, row)
        out[POSITION_WORTH + row] = worth
        if worth > best_worth:
            best_worth = worth
            out[BEST_POSITION] = row + 1


@leaf
def _position_worth(s, t, seat, row):
    player = s.player[seat]
    position = position_of(s, seat, row)
    kind = int(player.type_at[row]) - 1
    worth = 0
    if kind == ALIEN:
        worth = ALIEN_UP if has(s.face_up, position) else ALIEN_DOWN
    elif kind >= 0:
        worth = PLANET - PER_OUTPUT * int(player.output[kind]) + TERRAFORMABLE * int(t.terraformable[kind])
        worth -= FUEL * (kind == t.fuel)
    if has(player.pawns, position):
        worth -= OWN_PAWNS
    return worth


@leaf
def _derive_items(s, t, seat, out):
    """Points at once and in later scoring; the ore of choice is the one held most."""
    player = s.player[seat]
    alien = s.of_type[ALIEN] & s.face_up
    for item in range(NUM_ITEMS):
        if item >= ITEM_STARSHIP:
            out[PLACES + item] = player.starships_left
            out[ITEM_WORTH + item] = STARSHIP_WORTH + int(player.hand[FIRST_ORE + item - ITEM_STARSHIP])
        else:
            places = building_places(s, t, seat, item)
            out[PLACES + item] = bit_count(places)
            out[ITEM_WORTH + item] = _item_worth(player, item, places & alien)


@leaf
def _item_worth(player, item, on_aliens):
    if item == ITEM_TERRAFORMER:
        return TERRAFORMER_WORTH
    if item == ITEM_FACTORY:
        return FACTORY_ON_ALIEN if on_aliens else FACTORY_WORTH
    return (COLONY_ON_ALIEN if on_aliens else COLONY_WORTH) + int(player.hand[FIRST_ORE + item])


@leaf
def _derive_bank_trade(s, seat, out):
    hand = s.player[seat].hand
    for resource in range(NUM_RESOURCES):
        out[MISSING] += hand[resource] == 0 and s.bank[resource] > 0
        if hand[resource] >= ENOUGH and out[SPARE] == 0:
            out[SPARE] = resource + 1


@leaf
def _derive_least_held(s, seat, out):
    fewest = MOST_CARDS + 1
    for resource in range(NUM_RESOURCES):
        held = int(s.player[seat].hand[resource])
        if held < fewest and s.bank[resource] > 0 and resource + 1 != s.give_type:
            fewest = held
            out[LEAST_HELD] = resource + 1


@leaf
def _derive_most_held(s, seat, out):
    most = 0
    for resource in range(NUM_RESOURCES):
        held = int(s.player[seat].hand[resource])
        if held > most:
            most = held
            out[MOST_HELD] = resource + 1


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Redraw face-down planets, face-down cards, artifacts of others and the deck from what ``seat`` knows.

    Planets it has looked at stay. An opponent who is asked for a decision has at least two choices, so if only an
    artifact can give it the second one, it holds such an artifact. Decisions are counted anew: how many there were tells
    who had an artifact to play.
    """
    _redraw_planets(s, seat, generator)
    for other in range(int(s.num_players)):
        if other != seat:
            _redraw_cards(s, other, generator)
    _redraw_artifacts(s, seat, generator)
    while not _has_a_choice(s, t):
        _redraw_artifacts(s, seat, generator)
    s.decisions = 0
    s.rng = fork(generator)


@leaf
def _redraw_planets(s, seat, generator):
    """The types of the planets this seat has not seen, spread at random over their positions."""
    left = face_down(s) & ~s.player[seat].known
    unknown = left
    for kind in range(NUM_TYPES):
        count = bit_count(s.of_type[kind] & unknown)
        s.of_type[kind] &= ~unknown
        for _ in range(count):
            place = _random_member(left, generator)
            s.of_type[kind] |= place
            left &= ~place
    for other in range(int(s.num_players)):
        if other != seat:
            show_redrawn_types(s, other, unknown)


@leaf
def _random_member(members, generator):
    """A uniform one of a set, as a set."""
    left = members
    for _ in range(below(generator, bit_count(members))):
        left = without_lowest(left)
    return bit(lowest(left))


@leaf
def _redraw_cards(s, other, generator):
    """The face-down cards of another seat are any of those that it has neither set aside nor shown this round.

    Cards that came back while it planned lie on none of the spaces it had filled before. These are drawn first: then every
    possible distribution has the same chance.
    """
    player = s.player[other]
    before = int(player.filled_before)
    left = np.uint64(player.cards)
    for space in range(int(s.revealed), NUM_SPACES):
        if s.space_owner[space] == other + 1:
            left |= bit(int(s.space_card[space]) - 1)
            player.space_of[int(s.space_card[space]) - 1] = 0
    too_late = np.uint64(int(player.came_back) << FIRST_SCORING)
    if before != 0:
        left = _redraw_spaces(s, other, before, left, too_late, generator)
    player.cards = _redraw_spaces(s, other, ~before, left, NOTHING, generator)


@helper
def _redraw_spaces(s, other, spaces, cards, barred, generator):
    """A random one of the cards, but no barred one, on each face-down space of a seat that is in the set; the cards left."""
    left = cards
    for space in range(int(s.revealed), NUM_SPACES):
        if s.space_owner[space] == other + 1 and spaces >> space & 1:
            card = _random_member(left & ~barred, generator)
            left &= ~card
            s.space_card[space] = lowest(card) + 1
            show_own_card(s, other, space)
    return left


@helper
def _redraw_artifacts(s, seat, generator):
    """Artifacts of others and the deck's order; nobody keeps artifact 0, which acts when it is drawn."""
    left = NOTHING
    for place in range(int(s.deck_count)):
        left |= bit(int(s.deck[place]))
    for other in range(int(s.num_players)):
        if other != seat:
            left |= np.uint64(s.player[other].artifacts)
    for other in range(int(s.num_players)):
        if other != seat:
            held = NOTHING
            for _ in range(int(s.player[other].artifact_count)):
                held |= _random_member(left & ~(held | bit(0)), generator)
            s.player[other].artifacts = held
            left &= ~held
    for place in range(int(s.deck_count)):
        artifact = _random_member(left, generator)
        left &= ~artifact
        s.deck[place] = lowest(artifact)


@helper
def _has_a_choice(s, t):
    """Whether the seat to move has two legal ids where artifacts can be among them."""
    node = int(s.node)
    if s.end != RUNNING or node not in (MOVE, BUILD, IDENT, DIFF):
        return True
    if node == MOVE:
        ids = bit_count(legal_moves(s, t, s.gate != 0)) + (s.gate == 0)
    elif node == BUILD:
        ids = bit_count(np.uint64(legal_items(s, t))) + (s.free == 0)
    else:
        ids = bit_count(discard_choices(s)) + (s.thesaurus == 0)
    return ids + bit_count(np.uint64(playable_artifacts(s, t))) >= 2
