"""Cards on their way between deck, hands, quest piles and lanes."""

from __future__ import annotations

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.engine.simd import insert_item, remove_item
from kepler_envs.games.kitten_adventurers.state import HYPERSPEED, NUM_LANES, NUM_TYPES, SHOWN

WILD_FIELD = HYPERSPEED + 1
EACH_SEAT, ALL_SEATS, BUT_LAST_SEAT = 0x01_01_01_01_01_01_01_01, 0x7F_FF_FF_FF_FF_FF_FF_FF, 0xFF_FF_FF_FF_FF_FF_FF

# ---------------------------------------------------------------- deck


@leaf
def take_from_deck(s, count):
    """Remove a random one of the ``count`` cards of the deck; the caller keeps ``deck_count``."""
    place = below(s, count)
    card = int(s.deck[place])
    s.deck[place] = s.deck[count - 1]
    s.deck[count - 1] = 0
    return card


@leaf
def refill(s, seat):
    """Draw up to the hand size. An empty deck takes in the shuffled discard when a card is needed (3.1, R)."""
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
        card = take_from_deck(s, count)
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


# ---------------------------------------------------------------- quest piles and hands


@leaf
def open_quest_card(s, seat):
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
def remove_from_quest_pile(s, seat):
    player = s.player[seat]
    left = int(player.quest_count) - 1
    player.quest_count = left
    s.quest_pile[seat * int(s.quest_size) + left] = 0
    s.quests_this_turn += 1
    open_quest_card(s, seat)


@leaf
def note_quest_missing(s):
    """Note what the nearest ladders lack for the open quest cards, after a change of either."""
    for seat in range(int(s.num_players)):
        s.quest_missing[seat] = s.missing_by_field[int(s.player[seat].quest_top) & 15]


@leaf
def remove_from_hand(s, player, card):
    left = int(player.hand[card]) - 1
    player.hand[card] = left
    if left == 0:
        player.hand_set = int(player.hand_set) & ~(1 << card)
    player.hand_count -= 1
    s.unseen[card] -= 1


# ---------------------------------------------------------------- lanes


@leaf
def put_on_lane(s, seat, lane, card):
    player = s.player[seat]
    stack = player.lane[lane]
    if stack.depth >= SHOWN:
        _bury(s, seat, _buried_place(s, seat, lane), int(stack.third))
    stack.third = stack.second
    stack.second = stack.top
    stack.top = card + 1
    stack.depth += 1
    _note_shown(player, lane)


@leaf
def remove_from_lane(s, seat, lane):
    player = s.player[seat]
    stack = player.lane[lane]
    stack.top = stack.second
    stack.second = stack.third
    stack.third = 0
    if stack.depth > SHOWN:
        stack.third = _dig_up(s, seat, _buried_place(s, seat, lane))
    stack.depth -= 1
    _note_shown(player, lane)


@leaf
def _note_shown(player, lane):
    """Note which of the top three cards a chain can reach. Its values ascend, and hyperspeed cards stand for any.

    Bit v stands for a card of value v. From HYPERSPEED on, as many bits are set as there are hyperspeed cards.
    """
    stack = player.lane[lane]
    top, second, third = int(stack.top), int(stack.second), int(stack.third)
    second_follows = int((second > top) | (top == WILD_FIELD))
    highest = max(top if top < WILD_FIELD else 0, second if second < WILD_FIELD else 0)
    third_follows = second_follows & int(third > highest)
    values = (1 << top | second_follows << second | third_follows << third) & (1 << WILD_FIELD) - 1
    wilds = (
        int(top == WILD_FIELD)
        + (second_follows & int(second == WILD_FIELD))
        + (third_follows & int(third == WILD_FIELD))
    )
    player.lane_set[lane] = values >> 1 | ((1 << wilds) - 1) << HYPERSPEED


@leaf
def buried_from(s, seat):
    """The place where the buried cards of a seat begin, which is where those of the seat before it end."""
    return (int(s.buried_ends[0]) & BUT_LAST_SEAT) << 8 >> 8 * seat & 255


@leaf
def _buried_place(s, seat, lane):
    """The place where the buried cards of a lane begin, behind those of other seats and lanes."""
    place = buried_from(s, seat)
    for other in range(NUM_LANES - 1):
        place += max(int(s.player[seat].lane[other].depth) - SHOWN, 0) & -int(other < lane)
    return place


@leaf
def _bury(s, seat, place, field):
    insert_item(s.buried_room, place, field)
    s.buried_ends[0] = int(s.buried_ends[0]) + _from_seat_on(seat)


@leaf
def _dig_up(s, seat, place):
    field = int(s.buried[place])
    remove_item(s.buried_room, place)
    s.buried_ends[0] = int(s.buried_ends[0]) - _from_seat_on(seat)
    return field


@leaf
def _from_seat_on(seat):
    """A 1 for ``seat`` and for those behind it, a byte each."""
    return EACH_SEAT << 8 * seat & ALL_SEATS
