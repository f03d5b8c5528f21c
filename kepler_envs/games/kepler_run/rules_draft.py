"""Rules of the draft: each card of the row and its use (3.1 - 3.3)."""

from __future__ import annotations

from kepler_envs.engine.bits import allow_word, bit, has
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_run.actions import DISCOVER, MODULE, PART, SPECIAL, TARGET
from kepler_envs.games.kepler_run.reach import find_reach, find_reach_from, find_reach_of
from kepler_envs.games.kepler_run.rules_cards import add_fuel, append_sector, deal, place_disk, score, take_from_row
from kepler_envs.games.kepler_run.state import (
    BY_DISCOVER,
    BY_PART,
    NO_ACTION,
    OUTPOST,
    REFUEL,
    REROUTE,
    ROW_SLOTS,
    SECTOR_SIZE,
    Node,
)

IN_DRAFT, IN_TARGET, IN_CONTRACT = int(Node.DRAFT), int(Node.TARGET), int(Node.CONTRACT)


@helper
def begin_round(s, t):
    """Deal two cards per player and one more, face up (R)."""
    for slot in range(2 * int(s.num_players) + 1):
        card = deal(s)
        s.row[slot] = t.row_card[card]
        s.row_card[slot] = card + 1
        s.row_set = int(s.row_set) | 1 << slot
    find_reach(s, t)
    s.draft_pos = 0
    s.node = IN_DRAFT
    s.seat = s.order[0]


# ---------------------------------------------------------------- legal ids


@leaf
def legal_picks(s, t, player, mask):
    """Allow each card of the row for each use it can be put to (3.2)."""
    cards = int(s.row_set)
    modules = int(player.modules)
    parts, specials = 0, 0
    for slot in range(2 * int(s.num_players) + 1):
        card = s.row[slot]
        if card.wrenches <= modules:  # an empty slot has 0, and 0 for its action
            parts |= 1 << slot
        if card.action != NO_ACTION:
            specials |= 1 << slot
            if card.action == OUTPOST and (player.disks == 0 or s.free_stations == 0):
                specials &= ~(1 << slot)
    uses = (cards << DISCOVER) | ((parts & cards) << PART) | (specials << SPECIAL)
    if modules < t.boxes:
        uses |= cards << MODULE
    allow_word(mask, 0, uses)


@leaf
def legal_targets(s, mask):
    """Allow the sector that changes places with the next one, or the station for an outpost."""
    if s.pending_action == REROUTE:
        allow_word(mask, TARGET, (1 << (int(s.run_length) - 1)) - 1)
    else:
        allow_word(mask, TARGET, s.free_stations)


# ---------------------------------------------------------------- a card and its use


@leaf
def pick(s, t, player, action):
    """Apply a pick."""
    length = int(s.run_length)
    use_card(s, t, player, action)
    if s.node == IN_TARGET:
        return
    if action >= PART:
        find_reach_of(s, t, player)
    if s.run_length > length:
        find_reach_from(s, t, length + 1)


@leaf
def use_card(s, t, player, action):
    """The same, but how far flights could go is as before: nothing that rules say follows from it."""
    slot = action % ROW_SLOTS
    cost_in_modules, points = s.row[slot].wrenches, s.row[slot].vp
    special = int(s.row[slot].action)
    card = take_from_row(s, slot)
    if action < PART:  # DISCOVER
        append_sector(s, t, card)
        score(player, BY_DISCOVER, t.discover_vp)
    elif action < MODULE:
        player.modules -= cost_in_modules
        _install_part(player, t, card)
        score(player, BY_PART, points)
    elif action < SPECIAL:
        player.modules += 1
    elif special == REFUEL:
        add_fuel(player, t, int(t.refuel))
        _add_delivery(player, t, card)
    else:
        s.node = IN_TARGET
        s.pending_action = special
        s.pending_type = t.row_card[card].type
        s.pending_card = card + 1
        return
    _next_pick(s, t)


@leaf
def _install_part(player, t, card):
    slot = int(player.part_count)
    player.parts[slot].part = t.row_card[card].part
    player.parts[slot].dots = t.row_card[card].dots
    player.part_card[slot] = card + 1
    player.part_count = slot + 1


@leaf
def _add_delivery(player, t, card):
    slot = int(player.delivery_count)
    player.deliveries[int(t.row_card[card].type) - 1] += 1
    player.delivery_card[slot] = card + 1
    player.delivery_count = slot + 1


@helper
def aim(s, t, player, seat, index):
    """Apply the special action that asked for a sector."""
    length, swaps = int(s.run_length), s.pending_action == REROUTE
    use_special(s, t, player, seat, index)
    if swaps:
        find_reach_from(s, t, index + 1)
    elif s.run_length > length:
        find_reach_from(s, t, length + 1)


@helper
def use_special(s, t, player, seat, index):
    """The same, but how far flights could go is as before: nothing that rules say follows from it."""
    if s.pending_action == REROUTE:
        _swap_sectors(s, index)
    else:
        place_disk(s, player, seat, index)
    _add_delivery(player, t, int(s.pending_card) - 1)
    s.pending_action = 0
    s.pending_type = 0
    s.pending_card = 0
    s.node = IN_DRAFT
    _next_pick(s, t)


@helper
def _swap_sectors(s, index):
    """Let sector ``index`` and the one after it change places, with their disks (ruling 36)."""
    here, beyond = s.run[index].entries, s.run[index + 1].entries
    for i in range(SECTOR_SIZE):
        entry = here[i]
        here[i] = beyond[i]
        beyond[i] = entry
    card = s.run_card[index]
    s.run_card[index] = s.run_card[index + 1]
    s.run_card[index + 1] = card
    s.disk_set = _swap_bits(s.disk_set, index)
    s.free_stations = _swap_bits(s.free_stations, index)


@leaf
def _swap_bits(word, index):
    if has(word, index) != has(word, index + 1):
        word ^= bit(index) | bit(index + 1)
    return word


@leaf
def _next_pick(s, t):
    """Go to the next pick: in turn order, then in reverse (R). The last card joins the run without points."""
    n = int(s.num_players)
    picks = int(s.draft_pos) + 1
    s.draft_pos = picks
    if picks < n:
        s.seat = s.order[picks]
    elif picks < 2 * n:
        s.seat = s.order[2 * n - 1 - picks]
    else:
        slot = 0
        while s.row_card[slot] == 0:
            slot += 1
        append_sector(s, t, take_from_row(s, slot))
        s.node = IN_CONTRACT
        s.seat = s.order[0]
