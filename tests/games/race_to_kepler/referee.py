"""The rules of Race to Kepler once more, on cards and tokens, as slowly as they read.

:func:`legal_actions` are the legal ids of a position, and :func:`check_decision` holds a whole decision against what
:class:`Referee` makes of it: the decision, everything it sets off, and the decisions that need no asking. Sections and
rulings are those of the specification.

Chance is no exception. A decision can draw cards, discard them unasked and draw again, so that its result does not
show what was drawn when; the referee takes the numbers of the position's own generator instead.
"""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.games.race_to_kepler.actions import (
    ACQUIRE,
    ACQUIRE_GOLD,
    CITY,
    DONE,
    END_TURN,
    OPERATE,
    OPTION,
    PICK,
    PLAY,
)
from kepler_envs.games.race_to_kepler.state import FIRST_CREW, FIRST_TITAN, GOLD, NUM_KINDS, EndReason, Node, Origin
from tests.games.race_to_kepler.book import book_of
from tests.games.race_to_kepler.position import Player, Position, no_cards
from tests.games.race_to_kepler.referee_effects import Effects, instruction_of, matching, repeatable
from tests.scenario import take

# ---------------------------------------------------------------- what is legal


def legal_actions(position: Position, config: Configuration) -> set[int]:
    """The legal ids, node by node as in section 4."""
    match position.node:
        case Node.CITY:
            return {CITY + city for city in position.mover.offers}
        case Node.ACTION:
            return _action_ids(position, config)
        case Node.MOVE:
            return _move_ids(position, config)
        case Node.CHOICE:
            return {OPTION + number for number in range(len(instruction_of(position, config)[1]))}
        case Node.REPLAY:
            return {PICK + kind for kind in repeatable(position, config)}
        case Node.BID:
            held = {kind for kind in range(NUM_KINDS) if position.mover.hand[kind]}
            return {DONE} | {PICK + kind for kind in held if kind >= (position.last_bid or 0)}
        case Node.TITAN:
            jumps = book_of(config).cities[position.mover.city].hook == "win_bid"
            return {PICK + titan for titan in position.titan_row} | ({DONE} if jumps else set())
    return set()


def _action_ids(position: Position, config: Configuration) -> set[int]:
    """4.1: the end of the turn, and nothing else once it has taken too many decisions (R30)."""
    book, owner = book_of(config), position.owner
    if position.decisions - position.decisions_before >= book.number["turn_decision_cap"]:
        return {END_TURN}
    city = book.cities[owner.city]
    plays = {PLAY + kind for kind in range(NUM_KINDS) if owner.hand[kind]}
    operations = {
        OPERATE + number
        for number, cost in enumerate(city.costs)
        if cost <= position.energy and (number not in position.op_used or city.hook == "repeat_ops")
    }
    return {END_TURN} | plays | operations | _acquire_ids(position, config)


def _acquire_ids(position: Position, config: Configuration) -> set[int]:
    """Gold of the pile and crew of the supply, for a market action and the price."""
    if position.market < 1:
        return set()
    crew = {kind for kind in range(FIRST_CREW, FIRST_TITAN) if position.supply[kind]}
    for_sale = crew | ({GOLD} if position.gold_pile else set())
    affordable = {kind for kind in for_sale if price(position, config, kind) <= position.money}
    return {ACQUIRE_GOLD if kind == GOLD else ACQUIRE + kind for kind in affordable}


def price(position: Position, config: Configuration, kind: int) -> int:
    """3.5, R22: discounts add up; no price falls below 1, but what costs nothing costs nothing."""
    city, cost = book_of(config).cities[position.owner.city], book_of(config).cards[kind].cost
    discount = position.discount + (city.parameter if city.hook == "discount" else 0)
    return max(min(1, cost), cost - discount)


def _move_ids(position: Position, config: Configuration) -> set[int]:
    """3.4: up to so many can end at any card, "may" only before the first one."""
    mode, frame = instruction_of(position, config)[4], position.frames[-1]
    picks = {PICK + kind for kind, copies in enumerate(matching(position, config)) if copies}
    may_end = mode == "upto" or (mode == "may" and frame.moved == 0)
    return picks | ({DONE} if may_end else set())


# ---------------------------------------------------------------- a decision


def check_decision(before_state: Any, action: int, after_state: Any, config: Configuration) -> None:
    """AssertionError unless ``after_state`` is what the rules make of ``before_state`` and ``action``."""
    after = Position.read(after_state, config)
    referee = Referee(Position.read(before_state, config), config)
    referee.decide(action)
    expected = referee.position
    for number, (seat, found) in enumerate(zip(expected.players, after.players, strict=True)):
        _compare(seat, found, f"seat {number}: ", action)
    expected.players = after.players
    _compare(expected, after, "", action)


def _compare(expected: Any, found: Any, where: str, action: int) -> None:
    for name, value in vars(expected).items():
        other = getattr(found, name)
        assert value == other, f"{where}{name} is {_short(other)}, the rules say {_short(value)} after id {action}"


def _short(value: Any) -> Any:
    """A zone by the kinds that lie there."""
    if isinstance(value, list) and len(value) == NUM_KINDS:
        return {kind: copies for kind, copies in enumerate(value) if copies}
    return value


class Referee(Effects):
    """A decision and all that follows."""

    def decide(self, action: int) -> None:
        """A decision, and then every node with a single legal id (section 4)."""
        take(action, self.position, lambda: legal_actions(self.position, self.config), self.apply)

    def apply(self, action: int) -> None:
        frame = self.position.frames[-1] if self.position.frames else None
        match self.position.node:
            case Node.CITY:
                self.keep_city(action - CITY)
            case Node.BID:
                self.bid(action)
            case Node.TITAN:
                self.take_titan(action)
            case Node.ACTION if action == END_TURN:
                self.end_turn()
            case Node.ACTION:
                self.act(action)
                self.proceed()
            case Node.MOVE if action == DONE:
                self.end_move(frame)
                self.proceed()
            case Node.MOVE:
                self.pick(action - PICK)
                self.proceed()
            case Node.CHOICE:
                frame.at = self.instruction()[1][action - OPTION]
                self.proceed()
            case Node.REPLAY:
                frame.at += 1
                self.push(Origin.ON_PLAY, action - PICK)
                self.proceed()

    def proceed(self) -> None:
        """4.1: programs first, then the supply is refilled (R2), then the trait for using all operations."""
        position = self.position
        while self.run():
            self.refill_supply()
            if not self.all_operations_used():
                position.node, position.turn = Node.ACTION, position.active
                return
            position.all_ops = 1
            self.push_trait("all_ops")

    def all_operations_used(self) -> bool:
        """3.2: each at least once this turn; once a turn."""
        city = self.book.cities[self.position.owner.city]
        return city.hook == "all_ops" and not self.position.all_ops and len(self.position.op_used) == len(city.costs)

    # ------------------------------------------------------------ setup and turns

    def keep_city(self, city: int) -> None:
        """2.2, R28: when all have kept a city, a random player begins, and everybody draws."""
        position = self.position
        position.mover.city = city
        position.chosen += 1
        if position.chosen < len(position.players):
            position.turn += 1
            return
        position.first = self.below(len(position.players))
        for player in position.players:
            player.offers = set()
            self.draw_hand(player)
        self.begin_turn(position.first)

    def draw_hand(self, player: Player) -> None:
        """4.1: five cards; a trait can add to that."""
        city = self.book.cities[player.city]
        self.draw(player, self.book.number["hand_size"] + (city.parameter if city.hook == "hand_size" else 0))

    def begin_turn(self, seat: int) -> None:
        """4.1: nothing is left of the last turn; one market action; then the trait for the start of a turn."""
        position = self.position
        position.active, position.decisions_before = seat, position.decisions
        position.energy = position.money = position.discount = position.all_ops = 0
        position.market = self.book.number["market_actions"]
        for name in Position.COUNTERS:
            setattr(position, name, 0)
        position.departments, position.op_used, position.crossed = set(), set(), set()
        self.push_trait("turn_start")
        self.proceed()

    def act(self, action: int) -> None:
        if action < ACQUIRE_GOLD:
            self.play(action - PLAY)
        elif action < OPERATE:
            self.acquire(GOLD if action == ACQUIRE_GOLD else action - ACQUIRE)
        else:
            self.operate(action - OPERATE)

    def play(self, kind: int) -> None:
        """4.1: into the play area. The card's own program runs before the trait's (3.2)."""
        position, owner, card = self.position, self.position.owner, self.book.cards[kind]
        self.take_from_hand(owner, kind, True)
        owner.play[kind] += 1
        position.gold_played += kind == GOLD
        if card.group in ("resource", "crew", "titan"):
            name = f"{card.group}_played"
            setattr(position, name, getattr(position, name) + 1)
        if card.department:
            position.departments.add(card.department - 1)
        self.push_trait("play", kind)
        self.push(Origin.ON_PLAY, kind)

    def acquire(self, kind: int) -> None:
        """4.1: to the discard pile in the Launch phase, to hand in the Race."""
        position, owner = self.position, self.position.owner
        position.money -= price(position, self.config, kind)
        position.market -= 1
        position.market_taken += 1
        if kind == GOLD:
            position.gold_pile -= 1
        else:
            position.supply[kind] -= 1
        if position.race:
            self.put_in_hand(owner, kind, True)
        else:
            owner.discard[kind] += 1
        self.push_trait("acquire", kind)

    def operate(self, number: int) -> None:
        position = self.position
        position.energy -= self.book.cities[position.owner.city].costs[number]
        position.op_used.add(number)
        position.ops_used += 1
        self.push(Origin.OPERATION + number)

    def end_turn(self) -> None:
        """4.1: clean up, which triggers nothing (R18), draw, and look for an encounter with the new hand (R11)."""
        position, owner = self.position, self.position.owner
        owner.discard = [sum(cards) for cards in zip(owner.discard, owner.hand, owner.play, strict=True)]
        owner.hand, owner.play, owner.shown = no_cards(), no_cards(), []
        position.energy = position.money = position.market = position.discount = 0
        position.decisions_before = position.decisions  # those of an encounter are none of the turn's
        owner.turns += 1
        self.draw_hand(owner)
        met = position.crossed & position.tokens
        if met:
            self.begin_encounter(min(met))
        else:
            self.next_turn()

    def next_turn(self) -> None:
        """4.1: clockwise. A round is complete when the first player is to move again; after the last one it is over."""
        position = self.position
        seat = self.after(position.active)
        if seat == position.first:
            position.rounds += 1
            if position.rounds == self.config.options[0]["max_rounds"]:
                self.finish(EndReason.ROUNDS)
                return
        self.begin_turn(seat)

    def after(self, seat: int) -> int:
        return (seat + 1) % len(self.position.players)

    # ------------------------------------------------------------ encounters

    def begin_encounter(self, token: int) -> None:
        """4.2: the token is gone, and three titans lie open. Without any there are no bids (R14)."""
        position = self.position
        position.tokens.remove(token)
        for _ in range(min(self.book.number["titan_row"], len(position.titan_deck))):
            position.titan_row.add(self.random_titan())
        if position.titan_row:
            self.next_bidder(position.active)
        else:
            self.end_encounter()

    def next_bidder(self, start: int) -> None:
        """4.2: of those with most parsecs the closest clockwise from ``start``, which itself is at distance 0."""
        position, n = self.position, len(self.position.players)
        waiting = [seat for seat in range(n) if not position.players[seat].bid_place]
        most = max(position.players[seat].parsecs for seat in waiting)
        furthest = [seat for seat in waiting if position.players[seat].parsecs == most]
        position.node, position.turn = Node.BID, min(furthest, key=lambda seat: (seat - start) % n)
        position.mover.bid_place = n - len(waiting) + 1
        position.last_bid, position.last_bidder = None, position.turn

    def bid(self, action: int) -> None:
        """4.2: one card more, face down, or no more."""
        position, bidder = self.position, self.position.mover
        if action != DONE:
            kind = action - PICK
            bidder.hand[kind] -= 1
            bidder.bid[kind] += 1
            position.last_bid = kind
            return
        bidder.bid_closed = 1
        if all(player.bid_closed for player in position.players):
            self.reveal_bids()
        else:
            self.next_bidder(position.turn)

    def reveal_bids(self) -> None:
        """4.2, R13: the highest value wins, of equal ones the earlier bid; all cards bid are discarded."""
        position, players = self.position, self.position.players
        bidders = [seat for seat, player in enumerate(players) if any(player.bid)]
        best = min(bidders, key=lambda seat: (-self.bid_value(players[seat]), players[seat].bid_place), default=None)
        for player in players:
            self.discard_bid(player)
        position.last_bid = position.last_bidder = None
        if best is None:
            self.end_encounter()
        else:
            position.node, position.turn = Node.TITAN, best

    def bid_value(self, player: Player) -> int:
        """4.2: costs and bonuses of the cards, and the trait's once."""
        city = self.book.cities[player.city]
        cards = sum(
            copies * (card.cost + card.bid_bonus) for copies, card in zip(player.bid, self.book.cards, strict=True)
        )
        return cards + (city.parameter if city.hook == "bid_bonus" else 0)

    def discard_bid(self, player: Player) -> None:
        for kind, copies in enumerate(player.bid):
            player.discard[kind] += copies
            for _ in range(copies):
                if kind in player.shown:
                    player.shown.remove(kind)
        player.bid, player.bid_closed, player.bid_place = no_cards(), 0, 0

    def take_titan(self, action: int) -> None:
        """4.2: a titan to hand, or the trait's jump, which crosses no token (R10) and can win the game."""
        position, winner = self.position, self.position.turn
        if action == DONE:
            self.advance(winner, self.book.cities[position.mover.city].parameter)
        else:
            position.titan_row.remove(action - PICK)
            self.put_in_hand(position.mover, action - PICK, True)
        self.end_encounter()

    def end_encounter(self) -> None:
        """4.2: titans left over go back, and from now on it is the Race phase."""
        position = self.position
        position.titan_deck |= position.titan_row
        position.titan_row, position.race = set(), 1
        if position.end == RUNNING:
            self.next_turn()
