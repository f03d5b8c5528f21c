"""What a seat sees, and redrawing what it cannot know.

Tables are written column by column: a column of ``cards`` is a row of the state.
"""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.observation import COUNT, FLAG, LABEL, NUMBER, Layout, piece, table
from kepler_envs.engine.rng import below, fork
from kepler_envs.engine.simd import write_difference, write_largest, write_row, write_turned
from kepler_envs.games.kitten_adventurers.actions import END_WITH, PLAY_HAND, PLAY_LANE, PLAY_QUEST
from kepler_envs.games.kitten_adventurers.chains import (
    NO_CHAIN,
    best_chain,
    chain_hyperspeeds,
    chain_source,
    chain_start,
    may_have_chain,
)
from kepler_envs.games.kitten_adventurers.components import NEXT, NOBODY, NUM_NUMBERS, ON_NEXT, SPANS, span_place
from kepler_envs.games.kitten_adventurers.rules_cards import buried_from
from kepler_envs.games.kitten_adventurers.state import (
    FEW_BURIED,
    HYPERSPEED,
    LADDER_LENGTH,
    MAX_CARDS,
    MAX_LADDERS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_LANES,
    NUM_TYPES,
    PLAYER,
    REWARD_MODES,
    STATE,
    Node,
)

ROW_SIZE = PLAYER["public_row"].shape[0]

BURIED = MAX_PLAYERS * ROW_SIZE
GLOBALS = BURIED + MAX_CARDS
HAND = GLOBALS + STATE["globals_row"].shape[0]
UNSEEN = HAND + NUM_TYPES
PILES = UNSEEN + NUM_TYPES
LANES = PILES + STATE["piles_row"].shape[0]
WILD_AT = LANES + PLAYER["lanes_row"].shape[0]
HEIGHTS = WILD_AT + MAX_LADDERS
FACTS_SIZE = HEIGHTS + MAX_LADDERS

NEEDS = FACTS_SIZE
BELOW = NEEDS + STATE["needs_row"].shape[0]
ROOM = BELOW + NUM_TYPES
ROLES = ROOM + NUM_TYPES
CHAIN = ROLES + NUM_TYPES
LANE_NEXT = CHAIN + 3
LANE_ROOM = LANE_NEXT + NUM_LANES
QUEST_MISSING = LANE_ROOM + NUM_LANES

ACTIVE_DISTANCE = GLOBALS + (STATE.names or ()).index("active_distance")
"""The one entry of the globals that differs between observers."""

LANE = int(Node.LANE)
MAX_LIMIT = 30_000  # of turns and plays, by option
CARD_FIELD = "0 none, else 1 + type"


def make_observation(tables: Any) -> Layout:
    """Facts, then what follows from them; seats are relative, 0 is the observer, then clockwise."""
    cards = int(tables["cards_total"])
    copies = int(tables["card_count"].max())
    most_quests = max(35, int(tables["quest_size"].max()), int(tables["quest_size_later"].max()))
    most_hand = max(7, int(tables["hand_size"].max()))
    bottoms = int(tables["card_count"][0]) + int(tables["card_count"][HYPERSPEED])
    last = LADDER_LENGTH - 1

    def derived(name: str, rows: int, *fields: Any) -> list[Any]:
        return [table(name, rows, [field], derived=True) for field in fields]

    return Layout(
        [
            table("players", MAX_PLAYERS, [
                piece("present", FLAG, 1, "1 for seats in the game"),
                piece("quest_count", COUNT, most_quests, "quest cards left", scale=10),
                piece("quest_top", LABEL, NUM_TYPES, f"open quest card: {CARD_FIELD}"),
                piece("hand_count", COUNT, most_hand, "cards in hand"),
                *[
                    part
                    for lane in range(1, NUM_LANES + 1)
                    for part in (
                        piece(f"lane_{lane}_depth", COUNT, cards, f"cards in lane {lane}", scale=10),
                        piece(f"lane_{lane}_top", LABEL, NUM_TYPES, f"top card of lane {lane}: {CARD_FIELD}"),
                        piece(f"lane_{lane}_second", LABEL, NUM_TYPES, "the card below"),
                        piece(f"lane_{lane}_third", LABEL, NUM_TYPES, "the third card from the top"),
                    )
                ],
            ]),
            table("game", 1, [
                piece("buried", NUMBER, NUM_TYPES,
                      "lane cards below the third, seat by seat, lane by lane, from the top down; depths tell where a lane "
                      f"begins: {CARD_FIELD}", shape=MAX_CARDS),
            ]),
            table("game", 1, [
                piece("phase", LABEL, max(Node), "node: 0 PLAY, 1 VALUE, 2 LANE, 3 OVER"),
                piece("num_players", NUMBER, MAX_PLAYERS, "players in the game", low=MIN_PLAYERS),
                piece("hand_size", NUMBER, most_hand, "cards a hand is refilled to", low=1),
                piece("quest_size", NUMBER, most_quests, "cards dealt to each quest pile", low=1, scale=10),
                piece("max_turns", NUMBER, MAX_LIMIT, "turns until the game is cut off", scale=600),
                piece("max_plays", NUMBER, MAX_LIMIT, "cards on ladders until the game is cut off", scale=1000),
                piece("reward_mode", LABEL, len(REWARD_MODES) - 1,
                      "what is paid: " + ", ".join(f"{number} {mode}" for number, mode in enumerate(REWARD_MODES))),
                piece("deck_count", COUNT, cards, "cards in the deck", scale=50),
                piece("discard_count", COUNT, cards, "cards in the discard", scale=50),
                piece("turns", NUMBER, MAX_LIMIT, "turns ended", scale=100),
                piece("plays", NUMBER, MAX_LIMIT, "cards played on ladders", scale=100),
                piece("dead_turns", COUNT, MAX_PLAYERS, "passes without a play in a row"),
                piece("pending_source", LABEL, END_WITH, "hyperspeed announced by: 0 none, else 1 + id of the play"),
                piece("pending_card", LABEL, NUM_TYPES, f"card announced to end the turn: {CARD_FIELD}"),
                piece("active_seat", LABEL, MAX_PLAYERS - 1, "relative seat of the active player"),
                piece("played_this_turn", COUNT, MAX_LIMIT, "cards played this turn", scale=10),
                piece("quests_this_turn", COUNT, most_quests, "own quest cards the active player played this turn", scale=3),
            ]),
            *[table("cards", NUM_TYPES, [field]) for field in (
                piece("hand", COUNT, min(copies, most_hand), "in the own hand", scale=2),
                piece("unseen", COUNT, copies, "seen nowhere by the observer"),
                piece("discard", COUNT, copies, "in the discard"),
                piece("on_ladders", COUNT, copies, "on ladders"),
            )],
            table("lanes", NUM_LANES, [
                piece("depth", COUNT, cards, "cards in this own lane", scale=10),
                piece("top", LABEL, NUM_TYPES, f"top card: {CARD_FIELD}"),
                piece("second", LABEL, NUM_TYPES, "the card below"),
                piece("third", LABEL, NUM_TYPES, "the third card from the top"),
            ]),
            *[table("ladders", MAX_LADDERS, [field]) for field in (
                piece("wild_at", NUMBER, (1 << last) - 1, "bit v is set: its card of value v is a hyperspeed card"),
                piece("height", COUNT, last, "cards on the ladder, 0 for a free slot; of equal ladders the first row grows"),
            )],
            *derived("cards", NUM_TYPES,
                piece("missing", LABEL, last, "cards that the nearest ladder lacks before it can be played"),
                piece("waiting", COUNT, bottoms, "ladders that it is the next value of", scale=2),
                piece("below", LABEL, last, "how far it is below the own quest card; 0 not below"),
                piece("room", LABEL, ON_NEXT,
                      "how well it lies in the best own lane: 14 on the same or next value, 13 in an empty one, 12..8 and 6..1 on "
                      "a card that is 2..6 and 7..12 higher, 7 on a lower card, 0 on a hyperspeed card"),
                piece("chain", LABEL, NEXT,
                      "1 it raises the ladder nearest to the own quest card towards it; 2 its value is on the chain; 3 it is the "
                      "chain's next value, or the hyperspeed card of the hand for that"),
            ),
            table("game", 1, [
                piece("chain", LABEL, LADDER_LENGTH,
                      "whether own cards make a ladder ready for the own quest card: 0 no, or not needed, else 1 + the fewest "
                      "hyperspeed cards for it"),
                piece("turns_left", NUMBER, MAX_LIMIT, "turns until the game is cut off", scale=600),
                piece("plays_left", NUMBER, MAX_LIMIT, "plays until the game is cut off", scale=1000),
            ], derived=True),
            *derived("lanes", NUM_LANES,
                piece("next", FLAG, 1, "whether its top card is the chain's next"),
                piece("room", LABEL, ON_NEXT + 1, "how well the announced card lies here: 0 none is announced, else 1 + room"),
            ),
            *derived("players", MAX_PLAYERS,
                piece("missing", LABEL, last, "cards that the nearest ladder lacks before the open quest card can be played"),
            ),
        ]
    )  # fmt: skip


# ---------------------------------------------------------------- observe


@leaf
def observe(s, t, seat, out):
    """Write the observation of ``seat``: rows of the state, with the seats turned to the observer.

    All in one function, and nothing that branches in it: ``out`` handed on past branches would be counted as a reference, which takes
    longer than all writing (measured: 60 ns against 25).
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
    """A card field as an index. It is not negative, but compiled code cannot know that, and would look each time."""
    return int(field) & 15


@leaf
def _own_chain(s, seat):
    """The chain to the own quest card where that can be of use: it cannot be played yet, and the turn is not about to end."""
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
    """Take a uniform one of the ``left`` cards of the pool (counts per type)."""
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
