"""What a seat sees, and redrawing what it cannot know."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.bits import bit, bit_count, lowest, without_lowest
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.observation import COUNT, FLAG, ONE_HOT, Layout, piece, table
from kepler_envs.engine.rng import below, fork
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.ad_astra.rules_artifacts import playable_artifacts
from kepler_envs.games.ad_astra.rules_board import NOTHING, face_down, system_of
from kepler_envs.games.ad_astra.rules_building import legal_items
from kepler_envs.games.ad_astra.rules_movement import legal_moves
from kepler_envs.games.ad_astra.rules_scoring import discard_choices
from kepler_envs.games.ad_astra.state import (
    BUILD_CARD,
    CARDS_OF_A_KIND,
    DEEP_SPACE,
    FIRST_MOVEMENT,
    FIRST_SCORING,
    FREE_BUILDING,
    FREE_TERRAFORMER,
    MAX_PAWNS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_ARTIFACTS,
    NUM_CARDS,
    NUM_ELEMENTS,
    NUM_POSITIONS,
    NUM_RESOURCES,
    NUM_SPACES,
    NUM_STARS,
    NUM_TYPES,
    PLAYER,
    RESERVE,
    SLOTS,
    Node,
)

BUILD, BUILD_POS, IDENT, DIFF, MOVE = (int(n) for n in (Node.BUILD, Node.BUILD_POS, Node.IDENT, Node.DIFF, Node.MOVE))
ROW_SIZE = PLAYER["public_row"].shape[0]
MOST_SHOWN = 127
"""Points and the size of a hand are shown up to here; both hardly ever get half as far."""

LAYOUT = Layout(
    [
        piece("node", ONE_HOT, 1, "what the seat to move is asked for; all 0 once the game is over", shape=len(Node) - 1),
        piece("round", COUNT, 20, "round", low=1),
        piece("num_players", ONE_HOT, 1, "3, 4 or 5 players", shape=MAX_PLAYERS - MIN_PLAYERS + 1),
        piece("own_turn", FLAG, 1, "the observer decides"),
        piece("turn", ONE_HOT, 1, "seat that decides; seats are relative, 0 is the observer, then clockwise", shape=MAX_PLAYERS),
        piece("first_player", ONE_HOT, 1, "seat of the first player", shape=MAX_PLAYERS),
        piece("space", ONE_HOT, 1, "space of the card being resolved", shape=NUM_SPACES),
        piece("card_owner", ONE_HOT, 1, "seat that owns this card", shape=MAX_PLAYERS),
        piece("card", ONE_HOT, 1, "its slot: production 1-3, movement 1-3, build, trade, scoring 1-3", shape=NUM_CARDS),
        piece("card_resources", FLAG, 1, "resources on it", shape=NUM_RESOURCES),
        piece("card_systems", FLAG, 1, "systems on it", shape=NUM_STARS),
        piece("card_elements", FLAG, 1, "elements on it; only the chosen one, once chosen", shape=NUM_ELEMENTS),
        piece("step", COUNT, MAX_PLAYERS, "players who had their part of the card"),
        piece("moved", FLAG, 1, "starships of the seat that decides that have moved on this card", shape=MAX_PAWNS),
        piece("gate", FLAG, 1, "the next move enters any system for free"),
        piece("free_building", FLAG, 1, "the next item is a colony or factory and free"),
        piece("free_terraformer", FLAG, 1, "the next item is a terraformer and free"),
        piece("thesaurus", FLAG, 1, "the next discard counts more"),
        piece("chosen_starship", ONE_HOT, 1, "at LAND: the starship that lands", shape=MAX_PAWNS),
        piece("chosen_system", ONE_HOT, 1, "at LAND: where", shape=NUM_STARS),
        piece("chosen_item", ONE_HOT, 1, "at BUILD_POS: colony paying one of three ores, factory, terraformer", shape=5),
        piece("partner", ONE_HOT, 1, "seat an offer is made to", shape=MAX_PLAYERS),
        piece("give", ONE_HOT, 1, "resource given, or chosen for an identical discard", shape=NUM_RESOURCES),
        piece("give_count", COUNT, 2, "cards given"),
        piece("want", ONE_HOT, 1, "resource wanted", shape=NUM_RESOURCES),
        piece("want_count", COUNT, 2, "cards wanted"),
        piece("offers", COUNT, MOST_SHOWN, "offers made on this card", scale=4),
        piece("bank_trades", COUNT, MOST_SHOWN, "trades with the bank on this card", scale=12),
        piece("discarded", COUNT, MOST_SHOWN, "what the discard of each seat counts on this card", shape=MAX_PLAYERS, scale=10),
        piece("bank", COUNT, 25, "resource cards in the bank", shape=NUM_RESOURCES),
        piece("unseen_planets", COUNT, NUM_POSITIONS, "planets of each type the observer has not seen", shape=NUM_TYPES, scale=8),
        piece("face_down", COUNT, NUM_POSITIONS, "face-down planets left", scale=40),
        piece("own_artifacts", FLAG, 1, "artifacts the observer holds", shape=NUM_ARTIFACTS),
        piece("used_artifacts", FLAG, 1, "artifacts out of the game", shape=NUM_ARTIFACTS),
        piece("artifact_deck", COUNT, NUM_ARTIFACTS, "artifacts in the deck"),
        piece("own_cards", FLAG, 1, "action cards in the own hand", shape=NUM_CARDS),
        table(
            "own_starships",
            MAX_PAWNS,
            [
                piece("reserve", FLAG, 1, "in reserve"),
                piece("deep_space", FLAG, 1, "in deep space"),
                piece("system", ONE_HOT, 1, "on a planet of this system", shape=NUM_STARS),
                piece("slot", ONE_HOT, 1, "on the planet in this slot of the system", shape=SLOTS),
            ],
        ),
        table(
            "players",
            MAX_PLAYERS,
            [
                piece("present", FLAG, 1, "1 for seats in the game"),
                piece("points", COUNT, MOST_SHOWN, "victory points", scale=50),
                piece("hand", COUNT, 25, "resource cards of each type", shape=NUM_RESOURCES, scale=10),
                piece("hand_total", COUNT, MOST_SHOWN, "resource cards", scale=20),
                piece("colonies_left", COUNT, MAX_PAWNS, "colonies in reserve"),
                piece("factories_left", COUNT, MAX_PAWNS, "factories in reserve"),
                piece("terraformers_left", COUNT, MAX_PAWNS, "terraformers in reserve"),
                piece("starships_left", COUNT, MAX_PAWNS, "starships in reserve"),
                piece("in_deep_space", COUNT, MAX_PAWNS, "starships in deep space"),
                piece("systems", COUNT, NUM_STARS + 1, "systems with an own pawn"),
                piece("artifact_count", COUNT, NUM_ARTIFACTS, "artifacts held"),
                piece("to_place", COUNT, 9, "cards still to place this round", scale=4),
                piece("set_aside", FLAG, 1, "scoring cards set aside", shape=CARDS_OF_A_KIND),
                piece("production", FLAG, 1, "resources on the production cards", shape=(CARDS_OF_A_KIND, NUM_RESOURCES)),
                piece("movement", FLAG, 1, "systems on the movement cards", shape=(CARDS_OF_A_KIND, NUM_STARS)),
            ],
        ),
        table(
            "spaces",
            NUM_SPACES,
            [
                piece("used", FLAG, 1, "in use with this number of players"),
                piece("filled", FLAG, 1, "holds a card"),
                piece("revealed", FLAG, 1, "the card is face up"),
                piece("owner", ONE_HOT, 1, "seat that placed it", shape=MAX_PLAYERS),
                piece("card", ONE_HOT, 1, "its slot, if it is face up or the observer's", shape=NUM_CARDS),
            ],
        ),
        table(
            "positions",
            NUM_POSITIONS,
            [
                piece("planet", FLAG, 1, "there is a planet; 7 positions for each of the systems 0-7, then start planets by seat"),
                piece("face_up", FLAG, 1, "it is face up"),
                piece("type", ONE_HOT, 1, "water, food, energy, three ores, alien; if face up or looked at", shape=NUM_TYPES),
                piece("owner", ONE_HOT, 1, "seat with pawns there", shape=MAX_PLAYERS),
                piece("starships", COUNT, MAX_PAWNS, "starships there"),
                piece("colony", FLAG, 1, "a colony"),
                piece("factory", FLAG, 1, "a factory"),
                piece("terraformer", FLAG, 1, "a terraformer"),
                piece("looked_at", FLAG, 1, "relative seats 1..4 that looked at it, while it is face down", shape=MAX_PLAYERS - 1),
            ],
        ),
    ]
)  # fmt: skip


def make_observation(tables: Any) -> Layout:
    """The 2188 entries, the same for every component file."""
    return LAYOUT


def _first(name: str) -> int:
    """Where a piece (or its row 0) begins."""
    return LAYOUT[name].offset


SIZE = LAYOUT.size
NODE, ROUND, NUM_PLAYERS, OWN_TURN, TURN = (_first(p) for p in ("node", "round", "num_players", "own_turn", "turn"))
FIRST_PLAYER, SPACE, CARD_OWNER, CARD = (_first(p) for p in ("first_player", "space", "card_owner", "card"))
CARD_RESOURCES, CARD_SYSTEMS, CARD_ELEMENTS = (_first(f"card_{p}") for p in ("resources", "systems", "elements"))
STEP, MOVED, GATE, THESAURUS = (_first(p) for p in ("step", "moved", "gate", "thesaurus"))
FREE_BUILDING_FLAG, FREE_TERRAFORMER_FLAG = _first("free_building"), _first("free_terraformer")
CHOSEN_STARSHIP, CHOSEN_SYSTEM, CHOSEN_ITEM = (_first(f"chosen_{p}") for p in ("starship", "system", "item"))
PARTNER, GIVE, GIVE_COUNT, WANT, WANT_COUNT = (
    _first(p) for p in ("partner", "give", "give_count", "want", "want_count")
)
OFFERS, BANK_TRADES, DISCARDED, BANK = (_first(p) for p in ("offers", "bank_trades", "discarded", "bank"))
UNSEEN, FACE_DOWN, DECK = (_first(p) for p in ("unseen_planets", "face_down", "artifact_deck"))
OWN_ARTIFACTS, USED_ARTIFACTS, OWN_CARDS = (_first(p) for p in ("own_artifacts", "used_artifacts", "own_cards"))
OWN_STARSHIPS, PLAYERS, SPACES, POSITIONS = (
    _first(p) for p in ("own_starships.reserve", "players.present", "spaces.used", "positions.planet")
)
POINTS_OF_PLAYER, HAND_OF_PLAYER = _first("players.points") - PLAYERS, _first("players.hand_total") - PLAYERS
COUPLES_OF_PLAYER = _first("players.production") - PLAYERS
STARSHIP_SIZE, PLAYER_SIZE = LAYOUT["own_starships.reserve"].strides[0], LAYOUT["players.present"].strides[0]
SPACE_SIZE, POSITION_SIZE = LAYOUT["spaces.used"].strides[0], LAYOUT["positions.planet"].strides[0]
SYSTEM_OF_STARSHIP, SLOT_OF_STARSHIP = (_first(f"own_starships.{p}") - OWN_STARSHIPS for p in ("system", "slot"))
OWNER_OF_SPACE, CARD_ON_SPACE = (_first(f"spaces.{p}") - SPACES for p in ("owner", "card"))
UP, TYPE, OWNER, SHIPS = (_first(f"positions.{p}") for p in ("face_up", "type", "owner", "starships"))
COLONY_THERE, FACTORY_THERE, TERRAFORMER_THERE, LOOKED_AT = (
    _first(f"positions.{p}") for p in ("colony", "factory", "terraformer", "looked_at")
)


# ---------------------------------------------------------------- observe


@helper
def observe(s, t, seat, out):
    """Write the observation of ``seat``: mostly flags, so the vector is cleared and the ones are set."""
    for i in range(SIZE):
        out[i] = 0
    _observe_turn(s, seat, out)
    if s.slot > 0:
        _observe_card(s, t, seat, out)
    _observe_table(s, seat, out)
    _observe_own_starships(s, seat, out)
    _observe_players(s, t, seat, out)
    _observe_spaces(s, t, seat, out)
    _observe_positions(s, seat, out)


@leaf
def _mark(out, first, number):
    """A one-hot of which ``number`` is 1 + the index, or 0."""
    if number > 0:
        out[first + number - 1] = 1


@leaf
def _distance(s, seat, other):
    """How many places clockwise of the observer another seat is."""
    distance = other - seat
    return distance if distance >= 0 else distance + int(s.num_players)


@leaf
def _observe_turn(s, seat, out):
    if s.end == RUNNING:
        out[NODE + int(s.node)] = 1
        out[OWN_TURN] = seat == s.seat
        out[TURN + _distance(s, seat, int(s.seat))] = 1
    out[ROUND] = s.round_number
    out[NUM_PLAYERS + int(s.num_players) - MIN_PLAYERS] = 1
    out[FIRST_PLAYER + _distance(s, seat, int(s.first))] = 1


@helper
def _observe_card(s, t, seat, out):
    """The card being resolved, and the choices already made on it."""
    slot = int(s.slot) - 1
    out[SPACE + int(s.revealed) - 1] = 1
    out[CARD_OWNER + _distance(s, seat, int(s.owner))] = 1
    out[CARD + slot] = 1
    faction = t.faction[s.player[s.owner].faction]
    if slot < FIRST_MOVEMENT:
        expand_bits(out, CARD_RESOURCES, np.uint64(faction.production[slot]), NUM_RESOURCES)
    elif slot < BUILD_CARD:
        expand_bits(out, CARD_SYSTEMS, np.uint64(faction.movement[slot - FIRST_MOVEMENT]), NUM_STARS)
    elif s.element > 0:
        _mark(out, CARD_ELEMENTS, int(s.element))
    elif slot >= FIRST_SCORING:
        for choice in range(2):
            out[CARD_ELEMENTS + int(t.element[slot - FIRST_SCORING, choice])] = 1
    out[STEP] = s.step
    expand_bits(out, MOVED, np.uint64(s.moved), MAX_PAWNS)
    out[GATE] = s.gate
    out[FREE_BUILDING_FLAG] = s.free == FREE_BUILDING
    out[FREE_TERRAFORMER_FLAG] = s.free == FREE_TERRAFORMER
    out[THESAURUS] = s.thesaurus
    _mark(out, CHOSEN_STARSHIP, int(s.chosen_ship))
    _mark(out, CHOSEN_SYSTEM, int(s.chosen_system))
    _mark(out, CHOSEN_ITEM, int(s.chosen_item))
    if s.partner > 0:
        out[PARTNER + _distance(s, seat, int(s.partner) - 1)] = 1
    _mark(out, GIVE, int(s.give_type))
    out[GIVE_COUNT] = s.give_count
    _mark(out, WANT, int(s.get_type))
    out[WANT_COUNT] = s.get_count
    out[OFFERS] = s.offers
    out[BANK_TRADES] = s.bank_trades
    for other in range(int(s.num_players)):
        out[DISCARDED + _distance(s, seat, other)] = s.discarded[other]


@leaf
def _observe_table(s, seat, out):
    player = s.player[seat]
    write_row(out, BANK, s.bank)
    hidden = face_down(s)
    for kind in range(NUM_TYPES):
        out[UNSEEN + kind] = bit_count(s.of_type[kind] & hidden & ~player.known)
    out[FACE_DOWN] = bit_count(hidden)
    expand_bits(out, OWN_ARTIFACTS, np.uint64(player.artifacts), NUM_ARTIFACTS)
    expand_bits(out, USED_ARTIFACTS, np.uint64(s.artifacts_used), NUM_ARTIFACTS)
    out[DECK] = s.deck_count
    expand_bits(out, OWN_CARDS, np.uint64(player.cards), NUM_CARDS)


@leaf
def _observe_own_starships(s, seat, out):
    for ship in range(MAX_PAWNS):
        first = OWN_STARSHIPS + STARSHIP_SIZE * ship
        place = int(s.player[seat].ship[ship])
        if place == RESERVE:
            out[first] = 1
        elif place == DEEP_SPACE:
            out[first + 1] = 1
        else:
            system = system_of(place)
            out[first + SYSTEM_OF_STARSHIP + system] = 1
            out[first + SLOT_OF_STARSHIP + place - 1 - SLOTS * system] = 1


@leaf
def _observe_players(s, t, seat, out):
    n = int(s.num_players)
    other = seat
    first = PLAYERS
    for _ in range(n):
        player = s.player[other]
        write_row(out, first, player.public_row)
        out[first + POINTS_OF_PLAYER] = min(int(player.points), MOST_SHOWN)
        out[first + HAND_OF_PLAYER] = min(int(player.hand_total), MOST_SHOWN)
        write_row(out, first + COUPLES_OF_PLAYER, t.faction[player.faction].couples)
        first += PLAYER_SIZE
        other += 1
        if other == n:
            other = 0


@leaf
def _observe_spaces(s, t, seat, out):
    """Whose card lies where is open; which card it is only once it is revealed, and to its owner."""
    for space in range(int(t.spaces[s.num_players])):
        first = SPACES + SPACE_SIZE * space
        out[first] = 1
        if s.space_owner[space] > 0:
            owner = int(s.space_owner[space]) - 1
            revealed = space < s.revealed
            out[first + 1] = 1
            out[first + 2] = revealed
            out[first + OWNER_OF_SPACE + _distance(s, seat, owner)] = 1
            if revealed or owner == seat:
                _mark(out, first + CARD_ON_SPACE, int(s.space_card[space]))


@leaf
def _observe_positions(s, seat, out):
    own = s.player[seat]
    _mark_positions(out, POSITIONS, s.planets)
    _mark_positions(out, UP, s.face_up)
    visible = s.face_up | own.known
    for kind in range(NUM_TYPES):
        _mark_positions(out, TYPE + kind, s.of_type[kind] & visible)
    other = seat
    n = int(s.num_players)
    for distance in range(n):
        player = s.player[other]
        _mark_positions(out, OWNER + distance, player.pawns)
        _mark_positions(out, COLONY_THERE, player.colonies)
        _mark_positions(out, FACTORY_THERE, player.factories)
        _mark_positions(out, TERRAFORMER_THERE, player.terraformers)
        if distance > 0:
            _mark_positions(out, LOOKED_AT + distance - 1, player.known)
        for ship in range(MAX_PAWNS):
            place = int(player.ship[ship])
            if place != RESERVE and place != DEEP_SPACE:
                out[SHIPS + POSITION_SIZE * (place - 1)] += 1
        other += 1
        if other == n:
            other = 0


@leaf
def _mark_positions(out, first, members):
    """A flag of every position in the set; ``first`` is that of position 0."""
    left = members
    while left != NOTHING:
        out[first + POSITION_SIZE * lowest(left)] = 1
        left = without_lowest(left)


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
