"""Artifacts: when each may be played, and what it does. Artifact 0 acts when it is drawn, in rules_movement."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow_word
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.games.ad_astra.actions import ARTIFACT, TAKE
from kepler_envs.games.ad_astra.rules_board import (
    gain_from_stock,
    hand_over,
    in_stock,
    launch_starship,
)
from kepler_envs.games.ad_astra.rules_building import colony_places, factory_places, terraformer_places
from kepler_envs.games.ad_astra.rules_movement import legal_moves
from kepler_envs.games.ad_astra.rules_scoring import THESAURUS, discard_choices
from kepler_envs.games.ad_astra.state import (
    CARDS_OF_A_KIND,
    FIRST_SCORING,
    FREE_BUILDING,
    FREE_TERRAFORMER,
    NUM_SPACES,
    Node,
)
from kepler_envs.games.ad_astra.views import NOTHING, face_down, look_at, seat_after

PLAN, MOVE, BUILD, ART_RES = int(Node.PLAN), int(Node.MOVE), int(Node.BUILD), int(Node.ART_RES)
IDENT, DIFF = int(Node.IDENT), int(Node.DIFF)

GATE, EYE, MEMORY, HORN, MACHINE, SEED, SHIP = 1, 2, 3, 4, 5, 6, 7
ANSWER, ARCANUM = 9, 10


# ---------------------------------------------------------------- when


@helper
def playable_artifacts(s, t):
    """The set of artifacts that the deciding seat may play at this node."""
    held = int(s.player[s.seat].artifacts)
    node = int(s.node)
    if held == 0:
        return 0
    if node == PLAN:
        return held & _playable_while_planning(s)
    if node == MOVE:
        return held & _playable_while_moving(s, t, held)
    if node == BUILD:
        return held & _playable_while_building(s, t)
    if node in (IDENT, DIFF) and s.thesaurus == 0 and discard_choices(s) != NOTHING:
        return held & 1 << THESAURUS
    return 0


@leaf
def _playable_while_planning(s):
    seat = int(s.seat)
    player = s.player[seat]
    playable = 1 << ANSWER
    if face_down(s) & ~player.known != NOTHING:
        playable |= 1 << EYE
    for card in range(CARDS_OF_A_KIND):
        if player.set_aside[card] != 0:
            playable |= 1 << MEMORY
    for distance in range(1, int(s.num_players)):
        if s.player[seat_after(s, seat, distance)].hand_total > 0:
            playable |= 1 << ARCANUM
    return playable


@leaf
def _playable_while_moving(s, t, held):
    playable = 0
    closed = s.gate == 0
    if held >> GATE & 1 and closed and legal_moves(s, t, closed) != NOTHING:  # what could be reached once it is open
        playable |= 1 << GATE
    if in_stock(s) != 0:
        playable |= 1 << HORN
    if s.player[s.seat].starships_left > 0:
        playable |= 1 << SHIP
    return playable


@leaf
def _playable_while_building(s, t):
    """The artifacts playable while building. There are none while an item is promised: that item comes first."""
    seat = int(s.seat)
    if s.free != 0:
        return 0
    playable = 0
    if in_stock(s) != 0:
        playable |= 1 << HORN
    if colony_places(s, seat) | factory_places(s, seat) != NOTHING:
        playable |= 1 << MACHINE
    if terraformer_places(s, t, seat) != NOTHING:
        playable |= 1 << SEED
    return playable


@leaf
def legal_artifacts(s, t, mask):
    allow_word(mask, ARTIFACT, np.uint64(playable_artifacts(s, t)))


@leaf
def legal_gifts(s, mask):
    """Allow any resource the bank has."""
    allow_word(mask, TAKE, np.uint64(in_stock(s)))


# ---------------------------------------------------------------- what


@helper
def play_artifact(s, t, artifact):
    """Play an artifact. It acts once and leaves the game, and the node is offered again."""
    seat = int(s.seat)
    player = s.player[seat]
    player.artifacts = int(player.artifacts) & ~(1 << artifact)
    player.artifact_count -= 1
    s.artifacts_used = int(s.artifacts_used) | 1 << artifact
    if artifact == GATE:
        s.gate = 1
    elif artifact == EYE:
        look_at(s, seat, face_down(s))
    elif artifact == MEMORY:
        _take_back_scoring_cards(s, seat)
    elif artifact == HORN:
        s.return_node = s.node
        s.node = ART_RES
    elif artifact == MACHINE:
        s.free = FREE_BUILDING
    elif artifact == SEED:
        s.free = FREE_TERRAFORMER
    elif artifact == SHIP:
        launch_starship(s, t, seat)
    elif artifact == THESAURUS:
        s.thesaurus = 1
    elif artifact == ANSWER:
        player.points += 1 + below(s, int(t.artifact_amount[ANSWER]))
    elif artifact == ARCANUM:
        _take_random_cards(s, seat)


@leaf
def _take_back_scoring_cards(s, seat):
    """Take back scoring cards.

    All see which cards come back, and on which spaces they cannot lie: those that are filled by now.
    """
    player = s.player[seat]
    came_back = 0
    for card in range(CARDS_OF_A_KIND):
        came_back |= int(player.set_aside[card]) << card
        player.set_aside[card] = 0
    player.cards = int(player.cards) | came_back << FIRST_SCORING
    filled = 0
    for space in range(NUM_SPACES):
        if s.space_owner[space] == seat + 1:
            filled |= 1 << space
    if filled != 0:
        player.filled_before = filled
        player.came_back = came_back


@leaf
def _take_random_cards(s, seat):
    """Take one card from every other hand that has any. Each card has the same chance."""
    for distance in range(1, int(s.num_players)):
        other = seat_after(s, seat, distance)
        total = int(s.player[other].hand_total)
        if total > 0:
            place = below(s, total)
            resource = 0
            while place >= s.player[other].hand[resource]:
                place -= int(s.player[other].hand[resource])
                resource += 1
            hand_over(s, other, seat, resource, 1)


@leaf
def take_gift(s, t, action):
    """Take the cards that artifact HORN brings, then return to the node it came from."""
    gain_from_stock(s, int(s.seat), action - TAKE, int(t.artifact_amount[HORN]))
    s.node = s.return_node
    s.return_node = 0
