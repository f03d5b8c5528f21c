"""What a seat sees, and redrawing what it cannot know.

Most of an observation lies ready in the state (views.py) in the order of the layout, and is copied row by row; what is
worth something only to a seat that decides is worked out at its node.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit, bit_count, lowest, without_lowest
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below, fork
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.ad_astra.observation_derived import derive
from kepler_envs.games.ad_astra.observation_layout import (
    BANK,
    CARD_OWNER,
    CHOICES,
    CHOSEN_STARSHIP,
    ELEMENT_SCORED,
    FACTION,
    FACTS_SIZE,
    FILLED_BEFORE,
    FIRST_PLAYER,
    FROM_DEEP_SPACE,
    HELD_ARTIFACTS,
    IN_HAND,
    ITEM_CHOSEN,
    LOOKED_AT,
    LOOKED_AT_AND_CAME_BACK,
    MOVED,
    MOVED_TO,
    MOVED_TO_DEEP,
    MOVING_FROM,
    NODE,
    ON_SPACE,
    OWNER_AT,
    OWNER_ON,
    PARTNER,
    PLACE,
    PLAYER_SIZE,
    PLAYERS,
    POSITION,
    POSITIONS,
    SPACE,
    SYSTEM_ON_CARD,
    SYSTEM_ROWS,
    TERRAFORMERS_AT,
    TURN,
    USED_ARTIFACTS,
    make_observation,
)
from kepler_envs.games.ad_astra.rules_artifacts import playable_artifacts
from kepler_envs.games.ad_astra.rules_building import legal_items
from kepler_envs.games.ad_astra.rules_movement import legal_moves
from kepler_envs.games.ad_astra.rules_scoring import discard_choices
from kepler_envs.games.ad_astra.state import (
    BUILD_CARD,
    DEEP_SPACE,
    FIRST_MOVEMENT,
    FIRST_SCORING,
    FIRST_START,
    MAX_PAWNS,
    MAX_PLAYERS,
    NUM_ARTIFACTS,
    NUM_CARDS,
    NUM_ELEMENTS,
    NUM_ITEMS,
    NUM_SPACES,
    NUM_STARS,
    NUM_TYPES,
    RESERVE,
    Node,
)
from kepler_envs.games.ad_astra.views import (
    NOTHING,
    distance_to,
    face_down,
    seat_after,
    seat_in_row,
    show_own_card,
    show_redrawn_types,
)

__all__ = ["make_observation", "observe", "resample"]

MOVE, BUILD, IDENT, DIFF = int(Node.MOVE), int(Node.BUILD), int(Node.IDENT), int(Node.DIFF)


@helper
def observe(s, t, seat, out):
    """Write the observation of ``seat``: the facts, and the derived fields where there is room for them."""
    _write_game(s, seat, out)
    _write_players(s, seat, out)
    _write_own_things(s, t, seat, out)
    _write_board(s, seat, out)
    if out.size > FACTS_SIZE:
        derive(s, t, seat, out)


@leaf
def _write_game(s, seat, out):
    """Write the game, the card being resolved, and the choices already made on it."""
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
    """Write the starship on its way, and those of the card's owner that have moved."""
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
def _write_players(s, seat, out):
    filled = 0
    for distance in range(MAX_PLAYERS):  # absent seats, too: their records are 0
        first = PLAYERS + PLAYER_SIZE * distance
        player = s.player[seat_in_row(s, seat, distance)]
        write_row(out, first, player.public_row)
        out[first + FACTION] = player.faction + player.present
        seen = int(player.looked_at) | int(player.came_back) << NUM_STARS
        expand_bits(out, first + LOOKED_AT, np.uint64(seen), LOOKED_AT_AND_CAME_BACK)
        filled |= int(player.filled_before)
    expand_bits(out, FILLED_BEFORE, np.uint64(filled), NUM_SPACES)


@leaf
def _write_own_things(s, t, seat, out):
    """Write the observer's cards, starships and artifacts, and what the card being resolved is about."""
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
    """Write spaces and positions. The observer's own start planet comes first of the start planets."""
    player = s.player[seat]
    write_row(out, ON_SPACE, s.on_space)
    write_row(out, OWNER_ON, player.spaces_row)
    write_row(out, POSITIONS, s.positions_row)
    for distance in range(int(s.num_players)):
        position = FIRST_START + seat_after(s, seat, distance)
        out[TERRAFORMERS_AT + FIRST_START + distance] = s.terraformer_at[position]
    write_row(out, OWNER_AT, player.positions_row)


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Redraw face-down planets, face-down cards, artifacts of others and the deck from what ``seat`` knows.

    Planets it has looked at stay. An opponent who is asked for a decision has at least two choices. So if only an
    artifact can give it the second one, it holds such an artifact. Decisions are counted anew, because their number
    tells who had an artifact to play.
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
    """Spread the types of the planets this seat has not seen at random over their positions."""
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
    """A uniformly random member of a set, as a set."""
    left = members
    for _ in range(below(generator, bit_count(members))):
        left = without_lowest(left)
    return bit(lowest(left))


@leaf
def _redraw_cards(s, other, generator):
    """Redraw the face-down cards of another seat from those that it has neither set aside nor shown this round.

    Cards that came back while it planned do not lie on the spaces it had filled before. Those spaces are drawn first:
    then every possible distribution has the same chance.
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
    """Put a random one of the cards, but no barred one, on each face-down space of a seat that is in the set.

    Returns the cards left.
    """
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
    """Redraw the artifacts of others and the deck's order.

    Nobody keeps artifact 0, which acts when it is drawn.
    """
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
    """Whether the seat to move has two legal ids, at nodes where artifacts can be among them."""
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
