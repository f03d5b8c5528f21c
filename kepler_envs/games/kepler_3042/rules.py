"""The rules: which ids are legal, their application, and what happens between two decisions.

``s`` is the state record, ``t`` the component tables, ``o`` the options; R marks what the rulebook states. The rules of each topic are
in the files rules_<topic>.py beside this one. ``flow`` is the node of the seat whose turn or card it is; rewards of the
tracks' icons interrupt it, and ``settle`` decides what is asked next.
"""

from __future__ import annotations

from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042 import rules_actions as actions
from kepler_envs.games.kepler_3042 import rules_movement as movement
from kepler_envs.games.kepler_3042 import rules_round as rounds
from kepler_envs.games.kepler_3042 import rules_scoring as scoring
from kepler_envs.games.kepler_3042.rules_board import (
    any_face_down,
    drop_reward,
    finish_action,
    reward_is_useful,
    reward_kind,
    rewarded_seat,
)
from kepler_envs.games.kepler_3042.state import (
    ANTIMATTER,
    ANTIMATTER_SCIENCE,
    ENERGY,
    ENERGY_DEVELOPMENT,
    NEXT_BENEFICIARY,
    REGENERATION,
    Node,
)

setup = rounds.setup
scores, ranks, returns, potential = scoring.scores, scoring.ranks, scoring.returns, scoring.potential


# ---------------------------------------------------------------- legal ids


@helper
def legal(s, t, mask):
    """Set the bit of every legal id."""
    node = int(s.node)
    if node < Node.MAPPING_TRACK:
        legal_in_first_nodes(s, t, mask, node)
    elif node <= Node.END_OF_TURN:
        legal_in_further_nodes(s, t, mask, node)
    else:
        legal_in_card_nodes(s, t, mask, node)
    actions.legal_quantum(s, mask)


@helper
def legal_in_first_nodes(s, t, mask, node):
    """Setup, the choice of a main action, and the first of them."""
    if node == Node.FIRST_TECHNOLOGY:
        rounds.legal_first_technologies(s, mask)
    elif node == Node.SOLO_BONUS:
        rounds.legal_bonus_cubes(mask)
    elif node == Node.MAIN_ACTION:
        actions.legal_main_actions(s, mask)
    elif node == Node.SPACE_MISSIONS:
        movement.legal_payments(s, t, mask)
    elif node == Node.PLACE:
        movement.legal_places(s, t, mask)
    elif node == Node.COLONY_SEEDING:
        actions.legal_to_colonise(s, t, mask)
    elif node == Node.TECHNOLOGICAL_DEVELOPMENT:
        actions.legal_to_develop(s, t, mask)
    elif node == Node.DEVELOPMENT_PAYMENT:
        actions.legal_to_pay_development(s, t, mask)
    elif node == Node.MOVEMENT:
        movement.legal_to_move(s, t, mask)
    elif node == Node.DESTINATION:
        movement.legal_destinations(s, t, mask)
    else:
        actions.legal_to_terraform(s, t, mask)


@helper
def legal_in_further_nodes(s, t, mask, node):
    """The other main actions, bonus actions, and the end of a turn."""
    if node == Node.MAPPING_TRACK:
        actions.legal_tracks(mask)
    elif node == Node.MAPPING_TILE:
        actions.legal_to_turn_up(s, mask)
    elif node == Node.ENERGY_STORAGE:
        actions.legal_to_store(s, t, mask, ENERGY, ENERGY_DEVELOPMENT)
    elif node == Node.PLANETARY_EXPLOITATION:
        actions.legal_to_exploit(s, t, mask)
    elif node == Node.ANTIMATTER_GENERATION:
        actions.legal_to_store(s, t, mask, ANTIMATTER, ANTIMATTER_SCIENCE)
    elif node == Node.BONUS_ACTION:
        actions.legal_bonuses(s, t, mask)
    elif node == Node.BONUS_BURN:
        actions.legal_to_burn(s, mask)
    elif node == Node.BONUS_ANTIMATTER:
        actions.legal_antimatter_slots(s, mask)
    elif node == Node.WITHDRAWAL:
        movement.legal_to_withdraw(s, mask)
    else:
        actions.legal_end_of_turn(mask)


@helper
def legal_in_card_nodes(s, t, mask, node):
    """Progress cards, and rewards of the tracks' icons."""
    if node == Node.CARD_TECHNOLOGY:
        rounds.legal_free_technologies(s, t, mask)
    elif node == Node.CARD_BURN:
        actions.legal_to_burn(s, mask)
    elif node == Node.CARD_PRODUCTION:
        rounds.legal_card_production(s, t, mask)
    elif node == Node.CARD_EXPLOITATION:
        rounds.legal_card_exploitation(s, t, mask)
    elif node == Node.CARD_TILE:
        rounds.legal_card_tiles(s, mask)
    elif node in (Node.CARD_REGENERATION, Node.REWARD_REGENERATION):
        actions.legal_to_regenerate(s, mask)
    else:
        actions.legal_reward_slots(s, mask)


# ---------------------------------------------------------------- applying an id


@helper
def apply(s, t, action):
    """Apply a legal id and everything automatic behind it."""
    node = int(s.node)
    if actions.is_quantum(action):
        actions.operate(s, action)
    elif node < Node.MAPPING_TRACK:
        apply_in_first_nodes(s, t, action, node)
    elif node <= Node.END_OF_TURN:
        apply_in_further_nodes(s, t, action, node)
    else:
        apply_in_card_nodes(s, t, action, node)
    settle(s, t)


@helper
def apply_in_first_nodes(s, t, action, node):
    if node == Node.FIRST_TECHNOLOGY:
        rounds.choose_first_technology(s, t, action)
    elif node == Node.SOLO_BONUS:
        rounds.place_bonus_cube(s, action)
    elif node == Node.MAIN_ACTION:
        actions.choose_main_action(s, t, action)
    elif node == Node.SPACE_MISSIONS:
        movement.build_ship(s, t, action)
    elif node == Node.PLACE:
        movement.place_ship(s, action)
    elif node == Node.COLONY_SEEDING:
        actions.colonise(s, t, action)
    elif node == Node.TECHNOLOGICAL_DEVELOPMENT:
        actions.develop(s, action)
    elif node == Node.DEVELOPMENT_PAYMENT:
        actions.pay_development(s, t, action)
    elif node == Node.MOVEMENT:
        movement.choose_ship(s, action)
    elif node == Node.DESTINATION:
        movement.move_ship(s, t, action)
    else:
        actions.terraform(s, t, action)


@helper
def apply_in_further_nodes(s, t, action, node):
    if node == Node.MAPPING_TRACK:
        actions.choose_track(s, t, action)
    elif node == Node.MAPPING_TILE:
        actions.map_tile(s, action)
    elif node == Node.ENERGY_STORAGE:
        actions.store(s, t, action, ENERGY, ENERGY_DEVELOPMENT)
    elif node == Node.PLANETARY_EXPLOITATION:
        actions.exploit(s, t, action)
    elif node == Node.ANTIMATTER_GENERATION:
        actions.store(s, t, action, ANTIMATTER, ANTIMATTER_SCIENCE)
    elif node == Node.BONUS_ACTION:
        actions.choose_bonus(s, t, action)
    elif node == Node.BONUS_BURN:
        actions.burn_for_bonus(s, t, action)
    elif node == Node.BONUS_ANTIMATTER:
        actions.take_antimatter(s, action)
    elif node == Node.WITHDRAWAL:
        movement.withdraw(s, action)
    else:
        rounds.end_turn(s, t)


@helper
def apply_in_card_nodes(s, t, action, node):
    if node == Node.CARD_TECHNOLOGY:
        rounds.choose_free_technology(s, t, action)
    elif node == Node.CARD_BURN:
        rounds.burn_for_card(s, action)
    elif node == Node.CARD_PRODUCTION:
        rounds.produce_from_card(s, t, action)
    elif node == Node.CARD_EXPLOITATION:
        rounds.exploit_from_card(s, t, action)
    elif node == Node.CARD_TILE:
        rounds.map_tile_from_card(s, action)
    elif node == Node.CARD_REGENERATION:
        rounds.regenerate_from_card(s, action)
    elif node == Node.REWARD_REGENERATION:
        actions.regenerate_reward(s, action)
    else:
        actions.produce_reward(s, action)


# ---------------------------------------------------------------- what is asked next


@helper
def settle(s, t):
    """Rewards that wait come first, in their order; then the flow goes on to the next question."""
    while True:
        if s.pending > 0:
            if reward_is_useful(s):
                s.node = Node.REWARD_REGENERATION if reward_kind(s) == REGENERATION + 1 else Node.REWARD_PRODUCTION
                s.seat = rewarded_seat(s)
                return
            drop_reward(s)
        elif not goes_on(s, t):
            s.node = s.flow
            s.seat = s.active
            return


@leaf
def goes_on(s, t):
    """Leave a node at which nothing is left to do; False where there is a question."""
    flow = int(s.flow)
    if flow == Node.MOVEMENT:
        if movement.still_movable(s, t) == 0:
            movement.end_movement(s)
            return True
    elif flow == Node.DESTINATION:
        if s.took_target and not movement.can_go_on(s, t):
            movement.end_leg(s)
            return True
    elif flow == Node.BONUS_ACTION:
        if actions.usable_bonuses(s, t) == 0:
            actions.end_bonuses(s, t)
            return True
    elif flow == Node.WITHDRAWAL:
        if s.player[s.active].ships_in_supply == len(s.player[s.active].ship):
            s.flow = Node.END_OF_TURN
            return True
    elif flow == Node.MAPPING_TILE:
        if s.left == 0 or not any_face_down(s):
            finish_action(s)
            return True
    elif flow == NEXT_BENEFICIARY:
        rounds.next_beneficiary(s, t)
        return s.end == RUNNING
    elif flow == Node.CARD_BURN:
        if s.left == 0:
            rounds.finish_free_technology(s, t)
            return True
    elif flow in (Node.CARD_TILE, Node.CARD_REGENERATION) and s.left == 0:
        s.flow = NEXT_BENEFICIARY
        return True
    return False
