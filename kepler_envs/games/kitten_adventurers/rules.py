"""The rules: setup, legal ids, their application, the result.

``s`` is the state record, ``t`` the component tables, ``o`` the options. Section numbers are those of the
specification's decision machine; R marks what the rulebook states.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow_word, bit, bit_count, lowest, without_lowest
from kepler_envs.engine.game import TERMINATED, TRUNCATED
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.returns import ahead_of_mean, ranks_by, returns_by, scores_of
from kepler_envs.engine.rng import below
from kepler_envs.games.kitten_adventurers.actions import (
    AS_VALUE,
    END_WITH,
    PASS,
    PLAY_HAND,
    PLAY_LANE,
    PLAY_QUEST,
    TO_LANE,
)
from kepler_envs.games.kitten_adventurers.state import (
    HYPERSPEED,
    LADDER_LENGTH,
    LANES_FOURTH,
    MAX_LADDERS,
    NUM_LANES,
    NUM_TYPES,
    RANDOM_FIRST_PLAYER,
    REWARD_MODES,
    Node,
)

PLAY, VALUE, LANE, OVER = int(Node.PLAY), int(Node.VALUE), int(Node.LANE), int(Node.OVER)
ALL_SLOTS = (1 << MAX_LADDERS) - 1
WILD_BIT = 1 << HYPERSPEED
LANE_SET = (1 << NUM_LANES) - 1
FULL_WORD = np.uint64(0xFFFFFFFFFFFFFFFF)


# ---------------------------------------------------------------- setup (2)


@helper
def setup(s, t, o):
    """Shuffle, deal quest piles and then hands, choose the first player."""
    s.num_players = o.num_players
    s.hand_size = o.hand_size
    s.quest_size = o.quest_size
    s.reward_mode = o.reward_mode
    s.max_turns = o.max_turns
    s.max_plays = o.max_plays
    s.shaping = o.shaping
    s.fits = 1
    s.slots_at[0] = ALL_SLOTS
    s.deck_count = t.cards_total
    for i in range(t.deck.size):
        s.deck[i] = t.deck[i]
    for card in range(NUM_TYPES):
        s.unseen[card] = t.card_count[card]
    for seat in range(int(o.num_players)):
        _deal_quest_pile(s, seat)
    for seat in range(int(o.num_players)):
        refill(s, seat)
    if o.first_player == RANDOM_FIRST_PLAYER:
        s.seat = below(s, int(o.num_players))
    else:
        s.seat = o.first_player


@leaf
def _deal_quest_pile(s, seat):
    player = s.player[seat]
    size = int(s.quest_size)
    count = int(s.deck_count)
    for i in range(size):
        s.quest_pile[seat * size + i] = _take_from_deck(s, count)
        count -= 1
    s.deck_count = count
    player.present = 1
    player.quest_count = size
    _open_quest_card(s, seat)


# ---------------------------------------------------------------- cards


@leaf
def _take_from_deck(s, count):
    """Remove a random one of the ``count`` cards of the deck; the caller keeps ``deck_count``."""
    place = below(s, count)
    card = int(s.deck[place])
    s.deck[place] = s.deck[count - 1]
    s.deck[count - 1] = 0
    return card


@leaf
def refill(s, seat):
    """Draw up to the hand size; an empty deck takes in the shuffled discard when a card is needed (3.1, R)."""
    player = s.player[seat]
    hand_size = int(s.hand_size)
    have = int(player.hand_count)
    if have >= hand_size:
        return
    count = int(s.deck_count)
    hand_set = int(player.hand_set)
    while have < hand_size:
        if count == 0:
            if s.discard_count == 0:
                break
            _shuffle_discard_into_deck(s)
            count = int(s.deck_count)
        card = _take_from_deck(s, count)
        count -= 1
        player.hand[card] += 1
        hand_set |= 1 << card
        have += 1
    s.deck_count = count
    player.hand_set = hand_set
    player.hand_count = have


@helper
def _shuffle_discard_into_deck(s):
    count = 0
    for card in range(NUM_TYPES):
        copies = int(s.discard[card])
        for i in range(copies):
            s.deck[count + i] = card
        count += copies
        s.unseen[card] += copies
        s.discard[card] = 0
    s.deck_count = count
    s.discard_count = 0


@leaf
def _open_quest_card(s, seat):
    """Turn up the top card of the quest pile, if one is left."""
    player = s.player[seat]
    left = int(player.quest_count)
    if left > 0:
        card = int(s.quest_pile[seat * int(s.quest_size) + left - 1])
        player.quest_top = card + 1
        s.unseen[card] -= 1
    else:
        player.quest_top = 0


@leaf
def _remove_from_hand(s, player, card):
    left = int(player.hand[card]) - 1
    player.hand[card] = left
    if left == 0:
        player.hand_set = int(player.hand_set) & ~(1 << card)
    player.hand_count -= 1
    s.unseen[card] -= 1


@leaf
def _remove_from_quest_pile(s, seat):
    player = s.player[seat]
    left = int(player.quest_count) - 1
    player.quest_count = left
    s.quest_pile[seat * int(s.quest_size) + left] = 0
    s.quests_this_turn += 1
    _open_quest_card(s, seat)


@leaf
def _put_on_lane(s, player, lane, card):
    stack = player.lane[lane]
    if stack.depth >= LANES_FOURTH:
        node = _free_pool_node(s)
        s.pool_type[node] = stack.third - 1
        s.pool_below[node] = player.lane_rest[lane]
        player.lane_rest[lane] = node + 1
    stack.third = stack.second
    stack.second = stack.top
    stack.top = card + 1
    stack.depth += 1
    player.lane_types[card] += 1


@leaf
def _free_pool_node(s):
    """Take the lowest free node, so that the pool stays dense."""
    word = 0
    while s.pool_used[word] == FULL_WORD:
        word += 1
    place = lowest(~s.pool_used[word])
    s.pool_used[word] |= bit(place)
    return 64 * word + place


@leaf
def _remove_from_lane(s, player, lane, card):
    stack = player.lane[lane]
    player.lane_types[card] -= 1
    stack.top = stack.second
    stack.second = stack.third
    stack.third = 0
    if stack.depth > LANES_FOURTH:
        node = int(player.lane_rest[lane]) - 1
        stack.third = s.pool_type[node] + 1
        player.lane_rest[lane] = s.pool_below[node]
        s.pool_type[node] = 0
        s.pool_below[node] = 0
        s.pool_used[node >> 6] &= ~bit(node & 63)
    stack.depth -= 1


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
    """Apply a legal id and everything automatic behind it."""
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
    """A card leaves its source for a ladder, as ``value`` (3.4: the order of the steps matters)."""
    player = s.player[seat]
    if source < PLAY_QUEST:
        _remove_from_hand(s, player, card)
    elif source == PLAY_QUEST:
        _remove_from_quest_pile(s, seat)
    else:
        _remove_from_lane(s, player, source - PLAY_LANE, card)
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
    """Of equal ladders the one in the lowest slot grows; value 0 opens one in the lowest free slot."""
    ladders = int(s.slots_at[value])
    slot = lowest(ladders)
    ladders = int(without_lowest(ladders))
    height = value + 1
    s.slots_at[value] = ladders
    if value > 0:
        s.ladders_of_height[value - 1] -= 1
        if ladders == 0:
            s.fits = int(s.fits) & ~(1 << value)
    if card == HYPERSPEED:
        s.wild_at[slot] = int(s.wild_at[slot]) | 1 << value
    s.on_ladders[card] += 1
    if height == LADDER_LENGTH:
        _complete_ladder(s, slot)
    else:
        s.slots_at[height] = int(s.slots_at[height]) | 1 << slot
        s.ladders_of_height[height - 1] += 1
        s.fits = int(s.fits) | 1 << height


@leaf
def _complete_ladder(s, slot):
    """All thirteen cards go to the discard; wild ones are plain hyperspeed cards again."""
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
    s.slots_at[0] = int(s.slots_at[0]) | 1 << slot


# ---------------------------------------------------------------- end of turn and game (3.5, 3.6)


@leaf
def _end_turn_in_lane(s, seat, lane):
    player = s.player[seat]
    card = int(s.pending_card) - 1
    s.pending_card = 0
    _remove_from_hand(s, player, card)
    _put_on_lane(s, player, lane, card)
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
    """What counts; the game itself has no points."""
    return int(s.quest_size) - int(s.player[seat].quest_count)


@leaf
def _quest_cards_of_ended_turns(s, t, seat):
    """What shaping has paid for: it pays when a turn ends."""
    played = _quest_cards_played(s, t, seat)
    if seat == s.seat:
        played -= int(s.quests_this_turn)
    return played


scores = scores_of(_quest_cards_played)
ranks = ranks_by(_quest_cards_played)  # fewest cards left is first; equal counts share the rank
returns = returns_by(REWARD_MODES)
potential = ahead_of_mean(_quest_cards_of_ended_turns)
