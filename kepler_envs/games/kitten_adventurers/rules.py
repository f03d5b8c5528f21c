"""The rules: legal ids, their application, the result. Where cards go stands in ``rules_cards.py``.

``s`` is the state record, ``t`` the component tables. Section numbers are those of the
specification's decision machine; R marks what the rulebook states.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow_word, bit_count, lowest, without_lowest
from kepler_envs.engine.game import TERMINATED, TRUNCATED
from kepler_envs.engine.kernel import leaf
from kepler_envs.engine.returns import ahead_of_mean, ranks_by, returns_by, scores_of
from kepler_envs.games.kitten_adventurers.actions import (
    AS_VALUE,
    END_WITH,
    PASS,
    PLAY_HAND,
    PLAY_LANE,
    PLAY_QUEST,
    TO_LANE,
)
from kepler_envs.games.kitten_adventurers.rules_cards import (
    note_quest_missing,
    put_on_lane,
    refill,
    remove_from_hand,
    remove_from_lane,
    remove_from_quest_pile,
)
from kepler_envs.games.kitten_adventurers.state import HYPERSPEED, LADDER_LENGTH, NUM_LANES, REWARD_MODES, Node

PLAY, VALUE, LANE, OVER = int(Node.PLAY), int(Node.VALUE), int(Node.LANE), int(Node.OVER)
WILD_BIT = 1 << HYPERSPEED
LANE_SET = (1 << NUM_LANES) - 1


# ---------------------------------------------------------------- legal ids (3.2, 3.3, 3.5)


@leaf
def legal(s, t, mask):
    """Set the bit of every legal id."""
    player = s.player[s.seat]
    node = int(s.node)
    if node == PLAY:
        _legal_plays(s, player, mask)
    elif node == VALUE:
        allow_word(mask, AS_VALUE, s.fits)
    else:
        used = _lanes_in_use(player)
        first_empty = ~used & (used + 1) & LANE_SET
        allow_word(mask, TO_LANE, used | first_empty)


@leaf
def _legal_plays(s, player, mask):
    fits = int(s.fits) | WILD_BIT
    fields = fits << 1  # bit f: the card field f fits
    hand = int(player.hand_set)
    plays = (hand & fits) | ((fields >> int(player.quest_top)) & 1) << PLAY_QUEST
    for lane in range(NUM_LANES):
        plays |= ((fields >> int(player.lane[lane].top)) & 1) << (PLAY_LANE + lane)
    plays |= hand << END_WITH
    if hand == 0:
        plays |= 1 << PASS
    mask[0] |= np.uint64(plays)


@leaf
def _lanes_in_use(player):
    used = 0
    for lane in range(NUM_LANES):
        if player.lane[lane].depth != 0:
            used |= 1 << lane
    return used


# ---------------------------------------------------------------- applying an id


@leaf
def apply(s, t, action):
    """Apply a legal id, and everything automatic that follows from it."""
    seat = int(s.seat)
    if action < END_WITH:
        card = _source_card(s.player[seat], action)
        if card == HYPERSPEED:
            s.node = VALUE
            s.pending_source = action + 1
        else:
            _play(s, seat, action, card, card)
    elif action < PASS:
        s.node = LANE
        s.pending_card = action - END_WITH + 1
    elif action >= TO_LANE:
        _end_turn_in_lane(s, seat, action - TO_LANE)
    elif action == PASS:
        _end_turn(s, int(s.dead_turns) + 1 if s.played_this_turn == 0 else 0)
    else:
        _play(s, seat, int(s.pending_source) - 1, HYPERSPEED, action - AS_VALUE)


@leaf
def _source_card(player, action):
    """The type of the card a play id names."""
    if action < PLAY_QUEST:
        return action - PLAY_HAND
    if action == PLAY_QUEST:
        return int(player.quest_top) - 1
    return int(player.lane[action - PLAY_LANE].top) - 1


@leaf
def _play(s, seat, source, card, value):
    """Move a card from its source to a ladder, as ``value`` (3.4: the order of the steps matters)."""
    player = s.player[seat]
    if source < PLAY_QUEST:
        remove_from_hand(s, player, card)
    elif source == PLAY_QUEST:
        remove_from_quest_pile(s, seat)
    else:
        remove_from_lane(s, seat, source - PLAY_LANE)
    s.node = PLAY
    s.pending_source = 0
    s.played_this_turn += 1
    s.plays += 1
    player.plays += 1
    _put_on_ladder(s, card, value)
    if player.quest_count == 0:  # immediate, in mid-turn (R)
        _finish(s, TERMINATED)
        return
    if player.hand_count == 0:  # refilled at once (R)
        refill(s, seat)
    if s.plays == s.max_plays:
        _finish(s, TRUNCATED)


@leaf
def _put_on_ladder(s, card, value):
    """Put a card on a ladder.

    Of equal ladders the one in the lowest slot grows. Value 0 opens a ladder in the lowest free slot.
    """
    ladders = int(s.slots_at[value])
    slot = lowest(ladders)
    ladders = int(without_lowest(ladders))
    height = value + 1
    s.slots_at[value] = ladders
    if value > 0:
        s.waiting[value] -= 1
        if ladders == 0:
            s.fits = int(s.fits) & ~(1 << value)
            s.missing[value] = s.missing[value - 1] + 1
    if card == HYPERSPEED:
        s.wild_at[slot] = int(s.wild_at[slot]) | 1 << value
    s.on_ladders[card] += 1
    if height == LADDER_LENGTH:
        _complete_ladder(s, slot)
    else:
        s.ladder_height[slot] = height
        s.slots_at[height] = int(s.slots_at[height]) | 1 << slot
        s.waiting[height] += 1
        _make_fit(s, height)
    note_quest_missing(s)


@leaf
def _make_fit(s, value):
    """Note that a ladder waits for ``value``. The higher values up to the next ladder are nearer to it now."""
    fits = int(s.fits)
    s.fits = fits | 1 << value
    lacking = 0
    while value < LADDER_LENGTH and fits >> value & 1 == 0:
        s.missing[value] = lacking
        lacking += 1
        value += 1


@leaf
def _complete_ladder(s, slot):
    """Move all thirteen cards to the discard. Wild ones are plain hyperspeed cards again."""
    wild = int(s.wild_at[slot])
    for value in range(LADDER_LENGTH):
        natural = 1 - (wild >> value & 1)
        s.discard[value] += natural
        s.on_ladders[value] -= natural
    wilds = bit_count(wild)
    s.discard[HYPERSPEED] += wilds
    s.on_ladders[HYPERSPEED] -= wilds
    s.discard_count += LADDER_LENGTH
    s.wild_at[slot] = 0
    s.ladder_height[slot] = 0
    s.slots_at[0] = int(s.slots_at[0]) | 1 << slot


# ---------------------------------------------------------------- end of turn and game (3.5, 3.6)


@leaf
def _end_turn_in_lane(s, seat, lane):
    card = int(s.pending_card) - 1
    s.pending_card = 0
    remove_from_hand(s, s.player[seat], card)
    put_on_lane(s, seat, lane, card)
    _end_turn(s, 0)


@leaf
def _end_turn(s, dead_turns):
    s.node = PLAY
    s.turns += 1
    s.dead_turns = dead_turns
    s.played_this_turn = 0
    s.quests_this_turn = 0
    if dead_turns == s.num_players:
        _finish(s, TERMINATED)
    elif s.turns == s.max_turns:
        _finish(s, TRUNCATED)
    else:
        following = int(s.seat) + 1
        if following == s.num_players:
            following = 0
        s.seat = following
        refill(s, following)


@leaf
def _finish(s, end):
    s.node = OVER
    s.end = end
    s.quests_this_turn = 0


# ---------------------------------------------------------------- results (6)


@leaf
def _quest_cards_played(s, t, seat):
    """The quest cards played, which decide the ranks. The game itself has no points."""
    return int(s.quest_size) - int(s.player[seat].quest_count)


@leaf
def _quest_cards_of_ended_turns(s, t, seat):
    """The quest cards that shaping has paid for. It pays when a turn ends."""
    played = _quest_cards_played(s, t, seat)
    if seat == s.seat:
        played -= int(s.quests_this_turn)
    return played


scores = scores_of(_quest_cards_played)
ranks = ranks_by(_quest_cards_played)  # fewest cards left is first; equal counts share the rank
returns = returns_by(REWARD_MODES)
potential = ahead_of_mean(_quest_cards_of_ended_turns)
