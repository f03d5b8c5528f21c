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

(
    SETUP_TECH, SOLO_BONUS, MAIN_NODE, SM, PLACE, CS, TD, TD_PAY, MV, MV_DEST, TF, GM_TRACK, GM_FLIP, ES, PE, AG, BON_SEL, BON_BURN,
    BON_ANTI, WD, ENDT, PC_TECH, PC_BURN, PC_PROD, PC_EXPL, PC_FLIP, PC_REGEN, P_REGEN, P_PROD, OVER,
) = (int(node) for node in Node)  # fmt: skip


# ---------------------------------------------------------------- legal ids


@helper
def legal(s, t, mask):
    """Set the bit of every legal id."""
    node = int(s.node)
    if node < GM_TRACK:
        legal_in_first_nodes(s, t, mask, node)
    elif node <= ENDT:
        legal_in_further_nodes(s, t, mask, node)
    else:
        legal_in_card_nodes(s, t, mask, node)
    actions.legal_quantum(s, mask)


@helper
def legal_in_first_nodes(s, t, mask, node):
    """Setup, the choice of a main action, and the first of them."""
    if node == SETUP_TECH:
        rounds.legal_first_technologies(s, mask)
    elif node == SOLO_BONUS:
        rounds.legal_bonus_cubes(mask)
    elif node == MAIN_NODE:
        actions.legal_main_actions(s, mask)
    elif node == SM:
        movement.legal_payments(s, t, mask)
    elif node == PLACE:
        movement.legal_places(s, t, mask)
    elif node == CS:
        actions.legal_to_colonise(s, t, mask)
    elif node == TD:
        actions.legal_to_develop(s, t, mask)
    elif node == TD_PAY:
        actions.legal_to_pay_development(s, t, mask)
    elif node == MV:
        movement.legal_to_move(s, t, mask)
    elif node == MV_DEST:
        movement.legal_destinations(s, t, mask)
    else:
        actions.legal_to_terraform(s, t, mask)


@helper
def legal_in_further_nodes(s, t, mask, node):
    """The other main actions, bonus actions, and the end of a turn."""
    if node == GM_TRACK:
        actions.legal_tracks(mask)
    elif node == GM_FLIP:
        actions.legal_to_turn_up(s, mask)
    elif node == ES:
        actions.legal_to_store(s, t, mask, ENERGY, ENERGY_DEVELOPMENT)
    elif node == PE:
        actions.legal_to_exploit(s, t, mask)
    elif node == AG:
        actions.legal_to_store(s, t, mask, ANTIMATTER, ANTIMATTER_SCIENCE)
    elif node == BON_SEL:
        actions.legal_bonuses(s, t, mask)
    elif node == BON_BURN:
        actions.legal_to_burn(s, mask)
    elif node == BON_ANTI:
        actions.legal_antimatter_slots(s, mask)
    elif node == WD:
        movement.legal_to_withdraw(s, mask)
    else:
        actions.legal_end_of_turn(mask)


@helper
def legal_in_card_nodes(s, t, mask, node):
    """Progress cards, and rewards of the tracks' icons."""
    if node == PC_TECH:
        rounds.legal_free_technologies(s, t, mask)
    elif node == PC_BURN:
        actions.legal_to_burn(s, mask)
    elif node == PC_PROD:
        rounds.legal_card_production(s, t, mask)
    elif node == PC_EXPL:
        rounds.legal_card_exploitation(s, t, mask)
    elif node == PC_FLIP:
        rounds.legal_card_tiles(s, mask)
    elif node in (PC_REGEN, P_REGEN):
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
    elif node < GM_TRACK:
        apply_in_first_nodes(s, t, action, node)
    elif node <= ENDT:
        apply_in_further_nodes(s, t, action, node)
    else:
        apply_in_card_nodes(s, t, action, node)
    settle(s, t)


@helper
def apply_in_first_nodes(s, t, action, node):
    if node == SETUP_TECH:
        rounds.choose_first_technology(s, t, action)
    elif node == SOLO_BONUS:
        rounds.place_bonus_cube(s, action)
    elif node == MAIN_NODE:
        actions.choose_main_action(s, t, action)
    elif node == SM:
        movement.build_ship(s, t, action)
    elif node == PLACE:
        movement.place_ship(s, action)
    elif node == CS:
        actions.colonise(s, t, action)
    elif node == TD:
        actions.develop(s, action)
    elif node == TD_PAY:
        actions.pay_development(s, t, action)
    elif node == MV:
        movement.choose_ship(s, action)
    elif node == MV_DEST:
        movement.move_ship(s, t, action)
    else:
        actions.terraform(s, t, action)


@helper
def apply_in_further_nodes(s, t, action, node):
    if node == GM_TRACK:
        actions.choose_track(s, t, action)
    elif node == GM_FLIP:
        actions.map_tile(s, action)
    elif node == ES:
        actions.store(s, t, action, ENERGY, ENERGY_DEVELOPMENT)
    elif node == PE:
        actions.exploit(s, t, action)
    elif node == AG:
        actions.store(s, t, action, ANTIMATTER, ANTIMATTER_SCIENCE)
    elif node == BON_SEL:
        actions.choose_bonus(s, t, action)
    elif node == BON_BURN:
        actions.burn_for_bonus(s, t, action)
    elif node == BON_ANTI:
        actions.take_antimatter(s, action)
    elif node == WD:
        movement.withdraw(s, action)
    else:
        rounds.end_turn(s, t)


@helper
def apply_in_card_nodes(s, t, action, node):
    if node == PC_TECH:
        rounds.choose_free_technology(s, t, action)
    elif node == PC_BURN:
        rounds.burn_for_card(s, action)
    elif node == PC_PROD:
        rounds.produce_from_card(s, t, action)
    elif node == PC_EXPL:
        rounds.exploit_from_card(s, t, action)
    elif node == PC_FLIP:
        rounds.map_tile_from_card(s, action)
    elif node == PC_REGEN:
        rounds.regenerate_from_card(s, action)
    elif node == P_REGEN:
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
                s.node = P_REGEN if reward_kind(s) == REGENERATION + 1 else P_PROD
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
    if flow == MV:
        if movement.still_movable(s, t) == 0:
            movement.end_movement(s)
            return True
    elif flow == MV_DEST:
        if s.took_target and not movement.can_go_on(s, t):
            movement.end_leg(s)
            return True
    elif flow == BON_SEL:
        if actions.usable_bonuses(s, t) == 0:
            actions.end_bonuses(s, t)
            return True
    elif flow == WD:
        if s.player[s.active].ships_in_supply == len(s.player[s.active].ship):
            s.flow = ENDT
            return True
    elif flow == GM_FLIP:
        if s.left == 0 or not any_face_down(s):
            finish_action(s)
            return True
    elif flow == NEXT_BENEFICIARY:
        rounds.next_beneficiary(s, t)
        return s.end == RUNNING
    elif flow == PC_BURN:
        if s.left == 0:
            rounds.finish_free_technology(s, t)
            return True
    elif flow in (PC_FLIP, PC_REGEN) and s.left == 0:
        s.flow = NEXT_BENEFICIARY
        return True
    return False
