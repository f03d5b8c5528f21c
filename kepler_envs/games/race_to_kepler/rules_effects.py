"""The interpreter of the effect language (SPEC section 3): one loop, one instruction at a time.

Programs of cards and cities wait on a stack of frames in the state; the one on top runs until it ends, triggers another
or needs a decision. effects.py says what programs may say.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, allow_word, bit, has, lowest, without_lowest
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.race_to_kepler.actions import DONE, OPTION, PICK
from kepler_envs.games.race_to_kepler.effects import (
    MAX_COST,
    Counter,
    Destination,
    Filter,
    Hook,
    Mode,
    Op,
    Replay,
    Resource,
    Source,
)
from kepler_envs.games.race_to_kepler.rules_cards import (
    NO_CARD,
    clear_frame,
    count_card,
    draw,
    draw_titan,
    draw_to_hand,
    forget_all,
    jump,
    kinds_in,
    push,
    put_in_hand,
    put_on_deck,
    put_on_discard,
    refill_supply,
    take_from_discard,
    take_from_hand,
    take_from_supply,
    top_is_open,
)
from kepler_envs.games.race_to_kepler.state import (
    FIRST_TITAN,
    GOLD,
    KNOWN_TOP,
    LOOK_ZONE,
    MOST_COUNTED,
    MOST_UNITS,
    NUM_DEPARTMENTS,
    Node,
    Origin,
)

ACTION, MOVE, CHOICE, REPLAY = int(Node.ACTION), int(Node.MOVE), int(Node.CHOICE), int(Node.REPLAY)
OP_END, OP_GAIN, OP_MOVE, OP_LOOK, OP_CHOICE = int(Op.END), int(Op.GAIN), int(Op.MOVE), int(Op.LOOK), int(Op.CHOICE)
OP_JMP, OP_IF, OP_REPLAY = int(Op.JMP), int(Op.IF), int(Op.REPLAY)
ENERGY, MONEY, MARKET, JUMP = (int(r) for r in (Resource.ENERGY, Resource.MONEY, Resource.MARKET, Resource.JUMP))
FROM_HAND, FROM_DISCARD, FROM_BOTH, FROM_SUPPLY, FROM_AIRLOCK, FROM_PLAY = (
    int(x) for x in (Source.HAND, Source.DISCARD, Source.HAND_DISCARD, Source.SUPPLY, Source.AIRLOCK, Source.PLAY)
)
FROM_SELF, FROM_LOOK, FROM_DECK, FROM_GOLD, FROM_TITANS = (
    int(x) for x in (Source.SELF, Source.LOOK, Source.DECK, Source.GOLDPILE, Source.TITANDECK)
)
TO_EJECT, TO_DISCARD, TO_AIRLOCK, TO_HAND, TO_OWN_DISCARD, TO_DECK = (int(x) for x in Destination)
MAY, UP_TO, ALL = int(Mode.MAY), int(Mode.UPTO), int(Mode.ALL)
COST_LE_VALUE = int(Filter.COST_LE_VALUE)
REPLAY_PLAY = int(Replay.PLAY)
ALL_OPS = int(Hook.ALL_OPS)
# Arguments of helpers are NumPy integers here: numba would compile a helper anew for every literal.
ON_PLAY, ON_DISCARD, ON_EJECT, TRAIT = (
    np.int64(origin) for origin in (Origin.ON_PLAY, Origin.ON_DISCARD, Origin.ON_EJECT, Origin.TRAIT)
)
ON_EJECTING, ON_DISCARDING, ON_SUPPLY_AIRLOCK = (
    np.int64(hook) for hook in (Hook.EJECT, Hook.DISCARD, Hook.SUPPLY_AIRLOCK)
)
OF_CITY = np.int64(0)  # whose program: no card's
NOT_OWN, OWN = np.int64(0), np.int64(1)
(MOVED, VALUE, FROM_OWN, EJECTED, DISCARDED, MARKET_TAKEN, GOLD_PLAYED, GOLD_IN_HAND, RESOURCE_PLAYED, CREW_PLAYED,
 TITAN_PLAYED, DEPARTMENTS) = (int(counter) for counter in list(Counter)[:-1])  # fmt: skip
NOTHING = np.uint64(0)


# ---------------------------------------------------------------- the loop


@leaf
def run(s, t):
    """Run programs until the active player has to decide or the game is over.

    When none is left, the node is ACTION.
    """
    while s.end == RUNNING:
        if s.depth == 0:
            refill_supply(s, t)
            if not _fire_all_ops(s, t):
                s.node = ACTION
                s.seat = s.active
                return
        elif _step(s, t):
            s.seat = s.active
            return


@leaf
def _step(s, t):
    """Carry out the next instruction of the top frame. Returns whether it needs a decision first."""
    frame = s.frame[int(s.depth) - 1]
    instruction = t.program[frame.at]
    op = int(instruction.op)
    if op == OP_GAIN:
        frame.at += 1
        _gain(s, t, frame, instruction)
    elif op == OP_MOVE:
        return _go_on_moving(s, t, frame, instruction)
    elif op == OP_END:
        if frame.looking:
            _put_back(s)
        clear_frame(frame)
        s.depth -= 1
    elif op == OP_IF:
        enters = _counter(s, frame, int(instruction.counter) - 1) >= instruction.amount
        frame.at = int(frame.at) + 1 if enters else int(instruction.target[0])
    elif op == OP_JMP:
        frame.at = instruction.target[0]
    elif op == OP_CHOICE:
        s.node = CHOICE
        return True
    elif op == OP_REPLAY:
        if _replay_kinds(s, frame, instruction) != NOTHING:
            s.node = REPLAY
            return True
        frame.at += 1
    elif op == OP_LOOK:
        frame.at += 1
        _look(s, frame, int(instruction.amount))
    else:
        frame.at += 1
        s.discount = min(int(s.discount) + int(instruction.amount), MOST_UNITS)
    return False


@leaf
def _fire_all_ops(s, t):
    """Fire the trait for using every operation of the city, once per turn."""
    city = t.city[int(s.player[s.active].city) - 1]
    if city.hook != ALL_OPS or s.all_ops:
        return False
    for operation in range(int(city.operations)):
        if not s.op_used[operation]:
            return False
    s.all_ops = 1
    push(s, city.trait, OF_CITY, NOT_OWN, TRAIT)
    return True


@leaf
def push_trait(s, t, hook, kind, own):
    """Push the trait of the active player's city, if it has this hook and works on cards of this kind."""
    city = t.city[int(s.player[s.active].city) - 1]
    if city.hook == hook and has(city.kinds, kind):
        push(s, city.trait, OF_CITY, own, TRAIT)


# ---------------------------------------------------------------- gaining


@leaf
def _gain(s, t, frame, instruction):
    amount = int(instruction.amount)
    if instruction.counter > 0:
        amount = min(amount * _counter(s, frame, int(instruction.counter) - 1), int(instruction.cap))
    resource = int(instruction.what)
    if resource == ENERGY:
        s.energy = min(int(s.energy) + amount, MOST_UNITS)
    elif resource == MONEY:
        s.money = min(int(s.money) + amount, MOST_UNITS)
    elif resource == MARKET:
        s.market = min(int(s.market) + amount, MOST_UNITS)
    elif resource == JUMP:
        jump(s, t, np.int64(s.active), amount, np.bool_(True))
    else:
        draw_to_hand(s, s.player[s.active], amount)


@helper
def _counter(s, frame, counter):
    """What a program counts: its own last MOVE, or the active player's turn."""
    if counter == MOVED:
        return int(frame.moved)
    if counter == VALUE:
        return int(frame.value)
    if counter == FROM_OWN:
        return int(frame.own)
    return turn_counter(s, counter)


@leaf
def turn_counter(s, counter):
    """What has happened in the active player's turn, and its Gold in hand."""
    if counter == EJECTED:
        return int(s.ejected)
    if counter == DISCARDED:
        return int(s.discarded)
    if counter == MARKET_TAKEN:
        return int(s.market_taken)
    if counter == GOLD_PLAYED:
        return int(s.gold_played)
    if counter == GOLD_IN_HAND:
        return int(s.player[s.active].hand[GOLD])
    if counter == RESOURCE_PLAYED:
        return int(s.resource_played)
    if counter == CREW_PLAYED:
        return int(s.crew_played)
    if counter == TITAN_PLAYED:
        return int(s.titan_played)
    if counter == DEPARTMENTS:
        played = 0
        for department in range(NUM_DEPARTMENTS):
            played += int(s.department[department])
        return played
    return int(s.ops_used)


# ---------------------------------------------------------------- looking


@helper
def _look(s, frame, cards):
    """Move the top cards of the deck into the look zone."""
    player = s.player[s.active]
    frame.looking = 1
    for _ in range(cards):
        kind = draw(s, player)
        if kind == NO_CARD:
            return
        s.look[kind] += 1
        s.look_kind[s.look_size] = kind + 1
        s.look_size += 1


@helper
def _put_back(s):
    """Return what is left in the look zone to the top of the deck, in its order."""
    player = s.player[s.active]
    while s.look_size > 0:
        s.look_size -= 1
        kind = int(s.look_kind[s.look_size]) - 1
        s.look_kind[s.look_size] = 0
        s.look[kind] -= 1
        put_on_deck(player, kind, np.bool_(False))


@leaf
def _take_from_look(s, kind):
    """Take the first card of this kind. Those behind it move up."""
    s.look[kind] -= 1
    place = 0
    while s.look_kind[place] != kind + 1:
        place += 1
    while place + 1 < LOOK_ZONE:
        s.look_kind[place] = s.look_kind[place + 1]
        place += 1
    s.look_kind[place] = 0
    s.look_size -= 1


# ---------------------------------------------------------------- moving cards


@leaf
def _go_on_moving(s, t, frame, instruction):
    """Begin a MOVE or go on with it, up to its end or the next card that has to be chosen.

    Returns whether a card has to be chosen.
    """
    if frame.in_move == 0:
        frame.in_move = 1
        frame.value_before = frame.value
        frame.moved = 0
        frame.value = 0
    kinds = movable_kinds(s, t, frame, instruction)
    if kinds == NOTHING:
        _finish_move(frame)
        return False
    source = int(instruction.what)
    if instruction.mode == ALL or FROM_DECK <= source <= FROM_TITANS:
        _move_card(s, t, frame, instruction, lowest(kinds))
        return False
    s.node = MOVE
    return True


@leaf
def _finish_move(frame):
    frame.in_move = 0
    frame.at += 1


@helper
def movable_kinds(s, t, frame, instruction):
    """The kinds a MOVE may take next, none if it is over.

    Any kind stands for a card of deck and titan deck.
    """
    if frame.moved == instruction.amount:
        return NOTHING
    player = s.player[s.active]
    if instruction.destination == TO_DECK and player.known_size >= KNOWN_TOP:
        return NOTHING
    source = int(instruction.what)
    if source == FROM_DECK:
        return bit(0) if player.deck_size + player.discard_size > 0 else NOTHING
    if source == FROM_GOLD:
        return bit(GOLD) if s.gold_pile > 0 else NOTHING
    if source == FROM_TITANS:
        return bit(0) if s.titan_deck_size > 0 else NOTHING
    kinds = _passing(t, frame, instruction) & _kinds_at(s, player, frame, source)
    if instruction.mode != MAY or frame.moved > 0 or instruction.amount == 1:
        return kinds
    copies = _copies(s, player, source, kinds, int(instruction.amount))
    return kinds if copies >= instruction.amount else NOTHING  # all or nothing (ruling R6)


@leaf
def _passing(t, frame, instruction):
    """The kinds that pass the filter."""
    if instruction.filter != COST_LE_VALUE:
        return np.uint64(instruction.kinds)
    return np.uint64(t.costs_at_most[min(int(frame.value_before) + int(instruction.parameter), MAX_COST)])


@leaf
def _kinds_at(s, player, frame, source):
    if source == FROM_HAND:
        return kinds_in(player.hand)
    if source == FROM_DISCARD:
        return kinds_in(player.discard)
    if source == FROM_BOTH:
        return kinds_in(player.hand) | kinds_in(player.discard)
    if source == FROM_SUPPLY:
        return kinds_in(s.supply)
    if source == FROM_AIRLOCK:
        return kinds_in(s.airlock)
    if source == FROM_PLAY:
        return kinds_in(player.play)
    if source == FROM_LOOK:
        return kinds_in(s.look)
    zone = player.play if source == FROM_SELF else player.discard
    return bit(int(frame.kind) - 1) if zone[int(frame.kind) - 1] > 0 else NOTHING


@helper
def _copies(s, player, source, kinds, enough):
    """The number of cards of these kinds at a source, counted up to ``enough``."""
    copies = 0
    while kinds != NOTHING and copies < enough:
        kind = lowest(kinds)
        kinds = without_lowest(kinds)
        if source == FROM_HAND:
            copies += int(player.hand[kind])
        elif source == FROM_DISCARD:
            copies += int(player.discard[kind])
        elif source == FROM_BOTH:
            copies += int(player.hand[kind]) + int(player.discard[kind])
        elif source == FROM_SUPPLY:
            copies += int(s.supply[kind])
        elif source == FROM_AIRLOCK:
            copies += int(s.airlock[kind])
        elif source in (FROM_PLAY, FROM_SELF):
            copies += int(player.play[kind])
        elif source == FROM_LOOK:
            copies += int(s.look[kind])
        else:
            copies += int(player.discard[kind])
    return copies


@helper
def _move_card(s, t, frame, instruction, chosen):
    """Move one card from source to destination, with what that triggers."""
    player = s.player[s.active]
    source, destination = int(instruction.what), int(instruction.destination)
    is_open = instruction.shown > 0 or (source == FROM_DECK and top_is_open(player))
    kind, from_own = _take(s, player, source, chosen)
    if source == FROM_HAND and not instruction.shown:
        forget_all(player)  # which of them it was nobody else knows
    _change_owner(t, player, source, destination, kind)
    frame.moved += 1
    if is_open:
        frame.value += t.card[kind].cost
    if destination == TO_EJECT:
        s.airlock[kind] += 1
        s.ejected = min(int(s.ejected) + 1, MOST_COUNTED)
        push_trait(s, t, ON_EJECTING, kind, from_own)
        push(s, t.card[kind].on_eject, kind + 1, from_own, ON_EJECT)
    elif destination == TO_DISCARD:
        put_on_discard(player, kind)
        s.discarded = min(int(s.discarded) + 1, MOST_COUNTED)
        push_trait(s, t, ON_DISCARDING, kind, from_own)
        push(s, t.card[kind].on_discard, kind + 1, from_own, ON_DISCARD)
    elif destination == TO_AIRLOCK:
        s.airlock[kind] += 1
        if source == FROM_SUPPLY:
            push_trait(s, t, ON_SUPPLY_AIRLOCK, kind, NOT_OWN)
    elif destination == TO_HAND:
        put_in_hand(player, kind, is_open)
    elif destination == TO_OWN_DISCARD:
        put_on_discard(player, kind)
    else:
        player.concealed[kind] += 1
        put_on_deck(player, kind, is_open)


@leaf
def _change_owner(t, player, source, destination, kind):
    """Count the card in or out where it becomes the player's, or no longer is."""
    was = source != FROM_SUPPLY and source != FROM_AIRLOCK and source != FROM_GOLD and source != FROM_TITANS
    stays = destination != TO_EJECT and destination != TO_AIRLOCK
    if was != stays:
        count_card(t, player, kind, 1 if stays else -1)


@helper
def _take(s, player, source, chosen):
    """Remove a card from its place. Returns (kind, 1 if it was in its owner's hand or discard pile)."""
    if source == FROM_HAND:
        take_from_hand(player, chosen)
        return chosen, OWN
    if source == FROM_DISCARD:
        take_from_discard(player, chosen)
        return chosen, OWN
    if source == FROM_BOTH:  # the copy that can still be played stays (ruling R21)
        if player.discard[chosen] > 0:
            take_from_discard(player, chosen)
        else:
            take_from_hand(player, chosen)
        return chosen, OWN
    if source == FROM_SUPPLY:
        take_from_supply(s, chosen)
    elif source == FROM_AIRLOCK:
        s.airlock[chosen] -= 1
    elif source in (FROM_PLAY, FROM_SELF):
        player.play[chosen] -= 1
        player.play_size -= 1
    elif source == FROM_LOOK:
        _take_from_look(s, chosen)
        player.concealed[chosen] -= 1
    elif source == FROM_DECK:
        kind = draw(s, player)
        player.concealed[kind] -= 1
        return kind, NOT_OWN
    elif source == FROM_GOLD:
        s.gold_pile -= 1
    elif source == FROM_TITANS:
        return FIRST_TITAN + draw_titan(s), NOT_OWN
    else:
        take_from_discard(player, chosen)
        return chosen, OWN
    return chosen, NOT_OWN


# ---------------------------------------------------------------- repeating


@helper
def _replay_kinds(s, frame, instruction):
    """The kinds whose play effect can be repeated: others in play, or any in the supply."""
    if instruction.what != REPLAY_PLAY:
        return kinds_in(s.supply)
    kinds = kinds_in(s.player[s.active].play)
    if frame.kind > 0:
        kinds &= ~bit(int(frame.kind) - 1)
    return kinds


# ---------------------------------------------------------------- decisions


@helper
def may_stop(frame, instruction):
    """Whether the MOVE may be ended by choice before its next card."""
    return instruction.mode == UP_TO or (instruction.mode == MAY and frame.moved == 0)


@helper
def legal_in_program(s, t, mask):
    """Allow, at MOVE, the cards that can be taken; at CHOICE the alternatives; at REPLAY the cards to repeat."""
    frame = s.frame[int(s.depth) - 1]
    instruction = t.program[frame.at]
    if s.node == MOVE:
        allow_word(mask, PICK, movable_kinds(s, t, frame, instruction))
        if may_stop(frame, instruction):
            allow(mask, DONE)
    elif s.node == CHOICE:
        allow_word(mask, OPTION, bit(int(instruction.amount)) - bit(0))
    else:
        allow_word(mask, PICK, _replay_kinds(s, frame, instruction))


@helper
def decide_in_program(s, t, action):
    """Take a card, end the MOVE, enter an alternative, or repeat a card."""
    frame = s.frame[int(s.depth) - 1]
    instruction = t.program[frame.at]
    if s.node == CHOICE:
        frame.at = instruction.target[action - OPTION]
    elif s.node == REPLAY:
        frame.at += 1
        kind = action - PICK
        push(s, t.card[kind].on_play, kind + 1, NOT_OWN, ON_PLAY)
    elif action == DONE:
        _finish_move(frame)
    else:
        _move_card(s, t, frame, instruction, action - PICK)
