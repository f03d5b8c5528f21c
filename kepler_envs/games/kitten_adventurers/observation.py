"""What a seat sees, and redrawing what it cannot know.

Tables are written column by column: a column of ``cards`` is a row of the state.
"""

from __future__ import annotations

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below, fork
from kepler_envs.engine.simd import write_difference, write_largest, write_row, write_turned
from kepler_envs.games.kitten_adventurers.actions import PLAY_HAND, PLAY_LANE, PLAY_QUEST
from kepler_envs.games.kitten_adventurers.chains import (
    NO_CHAIN,
    best_chain,
    chain_hyperspeeds,
    chain_source,
    chain_start,
    may_have_chain,
)
from kepler_envs.games.kitten_adventurers.components import NEXT, NOBODY, NUM_NUMBERS, SPANS, span_place
from kepler_envs.games.kitten_adventurers.observation_layout import (
    ACTIVE_DISTANCE,
    BELOW,
    BURIED,
    CHAIN,
    FACTS_SIZE,
    GLOBALS,
    HAND,
    HEIGHTS,
    LANE,
    LANE_NEXT,
    LANE_ROOM,
    LANES,
    NEEDS,
    PILES,
    QUEST_MISSING,
    ROLES,
    ROOM,
    ROW_SIZE,
    UNSEEN,
    WILD_AT,
    make_observation,
)
from kepler_envs.games.kitten_adventurers.rules_cards import buried_from
from kepler_envs.games.kitten_adventurers.state import (
    FEW_BURIED,
    HYPERSPEED,
    MAX_PLAYERS,
    NUM_LANES,
    NUM_TYPES,
)

__all__ = ["make_observation", "observe", "resample"]


# ---------------------------------------------------------------- observe


@leaf
def observe(s, t, seat, out):
    """Write the observation of ``seat``: rows of the state, with the seats turned to the observer.

    All in one function, and nothing that branches in it: ``out`` handed on past branches would be counted as a
    reference, which takes longer than all writing (measured: 60 ns against 25).
    """
    n = int(s.num_players)
    own = s.player[seat]
    view = t.by_view[MAX_PLAYERS * n + seat]
    for i in range(BURIED):
        out[i] = 0
    for row in range(n):
        write_row(out, ROW_SIZE * row, s.player[view.seats[row]].public_row)
    buried = int(s.buried_to[MAX_PLAYERS - 1])
    if buried <= FEW_BURIED:  # mostly so
        write_turned(out, BURIED, s.few_buried_room, buried_from(s, seat), buried)
        for i in range(BURIED + FEW_BURIED, GLOBALS):
            out[i] = 0
    else:
        write_turned(out, BURIED, s.buried_room, buried_from(s, seat), buried)
    write_row(out, GLOBALS, s.globals_row)
    distance = int(s.seat) - seat
    out[ACTIVE_DISTANCE] = distance if distance >= 0 else distance + n
    write_row(out, HAND, own.hand_row)
    write_difference(out, UNSEEN, s.unseen_row, own.hand_row)
    write_row(out, PILES, s.piles_row)
    write_row(out, LANES, own.lanes_row)
    write_row(out, WILD_AT, s.wild_at)
    write_row(out, HEIGHTS, s.ladder_height)
    if out.size == FACTS_SIZE:
        return
    tops = own.lane
    write_row(out, NEEDS, s.needs_row)
    write_row(out, BELOW, t.by_quest[_place(own.quest_top)].below)
    write_largest(
        out,
        ROOM,
        t.by_top[_place(tops[0].top)].room,
        t.by_top[_place(tops[1].top)].room,
        t.by_top[_place(tops[2].top)].room,
        t.by_top[_place(tops[3].top)].room,
    )
    chain = _own_chain(s, seat)
    source = chain_source(chain)
    write_row(out, ROLES, t.by_span[_span(s, seat, chain)].roles)
    out[ROLES + HYPERSPEED] = NEXT if source == PLAY_HAND + HYPERSPEED else 0
    out[CHAIN] = 1 + chain_hyperspeeds(chain)
    out[CHAIN + 1] = s.max_turns - s.turns
    out[CHAIN + 2] = s.max_plays - s.plays
    announced = int(s.pending_card) - 1 & NOBODY
    write_row(out, LANE_NEXT, t.by_lane[source - PLAY_LANE & NUM_NUMBERS - 1].is_it)
    for lane in range(NUM_LANES):
        out[LANE_ROOM + lane] = 1 + t.by_top[_place(tops[lane].top)].room[announced]
    write_turned(out, QUEST_MISSING, s.quest_missing_room, seat, n)


@leaf
def _place(field):
    """A card field as an index. Compiled code cannot know that it is not negative, and would check each time."""
    return int(field) & 15


@leaf
def _own_chain(s, seat):
    """The chain to the observer's quest card where it can be of use.

    That is so if the card cannot be played yet and the turn is not about to end.
    """
    player = s.player[seat]
    goal = int(player.quest_top) - 1
    ends_turn = (s.node == LANE) & (seat == s.seat)
    if may_have_chain(player, goal, int(s.quest_missing[seat])) & (not ends_turn):
        return best_chain(s, player, goal)
    return NO_CHAIN


@leaf
def _span(s, seat, chain):
    """The place in ``by_span`` of the chain, or of the values that the ladder nearest to the quest card lacks."""
    goal = int(s.player[seat].quest_top) - 1
    steps = span_place(goal - int(s.quest_missing[seat]), goal)
    return steps if chain == NO_CHAIN else SPANS + span_place(chain_start(chain), goal)


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Redraw other hands, deck and covered quest cards uniformly from what ``seat`` does not see.

    A card its owner has announced (a hyperspeed card from the hand, the card that ends the turn) stays in that hand.
    The order of the deck is the generator's future, so the generator is replaced as well.
    """
    n = int(s.num_players)
    pool = s.unseen  # counts down to the deck's cards; what is dealt from it stays unseen and is added back
    left = 0
    for card in range(NUM_TYPES):
        pool[card] -= s.player[seat].hand[card]
        left += int(pool[card])
    announced = _announced_card(s) if seat != s.seat else -1
    if announced >= 0:  # set aside before anything is dealt
        pool[announced] -= 1
        left -= 1
    for other in range(n):
        if other != seat:
            left = _redraw_hand(s, other, announced if other == s.seat else -1, pool, left, generator)
    for other in range(n):
        left = _redraw_quest_pile(s, other, pool, left, generator)
    _fill_deck(s, pool)
    for other in range(n):
        _add_unseen_cards(s, other, pool)
    s.rng = fork(generator)


@leaf
def _announced_card(s):
    """The type everybody knows to be in the active player's hand, or -1."""
    if s.pending_card > 0:
        return int(s.pending_card) - 1
    if 0 < s.pending_source <= PLAY_QUEST:
        return HYPERSPEED
    return -1


@leaf
def _redraw_hand(s, other, announced, pool, left, generator):
    player = s.player[other]
    for card in range(NUM_TYPES):
        player.hand[card] = 0
    player.hand_set = 0
    for i in range(int(player.hand_count)):
        card = announced
        if i > 0 or announced < 0:
            card = _draw(pool, left, generator)
            left -= 1
        player.hand[card] += 1
        player.hand_set = int(player.hand_set) | 1 << card
    return left


@leaf
def _redraw_quest_pile(s, other, pool, left, generator):
    first = other * int(s.quest_size)
    for i in range(int(s.player[other].quest_count) - 1):
        s.quest_pile[first + i] = _draw(pool, left, generator)
        left -= 1
    return left


@leaf
def _draw(pool, left, generator):
    """Take a uniformly random one of the ``left`` cards of the pool (counts per type)."""
    place = below(generator, left)
    card = 0
    while place >= pool[card]:
        place -= int(pool[card])
        card += 1
    pool[card] -= 1
    return card


@leaf
def _fill_deck(s, pool):
    count = 0
    for card in range(NUM_TYPES):
        for _ in range(int(pool[card])):
            s.deck[count] = card
            count += 1


@leaf
def _add_unseen_cards(s, other, pool):
    player = s.player[other]
    for card in range(NUM_TYPES):
        pool[card] += player.hand[card]
    first = other * int(s.quest_size)
    for i in range(int(player.quest_count) - 1):
        pool[s.quest_pile[first + i]] += 1
