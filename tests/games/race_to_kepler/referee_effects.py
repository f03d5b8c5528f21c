"""The referee's effects: section 3 of the specification, instruction by instruction."""

from __future__ import annotations

from kepler_envs.engine.game import RUNNING, TERMINATED, Configuration
from kepler_envs.games.race_to_kepler.state import (
    GOLD,
    KNOWN_TOP,
    MOST_COUNTED,
    MOST_UNITS,
    NUM_KINDS,
    STACK,
    EndReason,
    Node,
    Origin,
)
from tests.games.race_to_kepler.book import Instruction, book_of
from tests.games.race_to_kepler.position import Frame, Position, Zone, counted, no_cards
from tests.games.race_to_kepler.referee_cards import Cards

UNASKED = ("deck", "goldpile", "titandeck")
"""Sources where one card is as good as another."""

OWN_SOURCES = ("hand", "discard", "hand_discard", "self_discard")
"""3.1: what leaves its owner's hand or discard pile."""

OPEN_SOURCES = (
    "discard", "hand_discard", "supply", "airlock", "play", "self", "goldpile", "titandeck", "self_discard"
)  # fmt: skip
OPEN_DESTINATIONS = ("eject", "discard", "airlock", "owndiscard")
"""R20: a card that comes from there, or goes there, is seen by everybody."""


# ---------------------------------------------------------------- what can be picked


def instruction_of(position: Position, config: Configuration) -> Instruction:
    """What the program on top of the stack is at."""
    frame = position.frames[-1]
    return book_of(config).program(frame.origin, frame.kind, position.owner.city)[frame.at]


def cards_at(position: Position, source: str) -> Zone:
    """The cards at a source that a player chooses from."""
    owner, kind = position.owner, position.frames[-1].kind
    match source:
        case "hand" | "discard" | "play":
            return list(getattr(owner, source))
        case "hand_discard":
            return [own + discarded for own, discarded in zip(owner.hand, owner.discard, strict=True)]
        case "supply" | "airlock":
            return list(getattr(position, source))
        case "look":
            return counted(position.look)
    assert source in ("self", "self_discard") and kind is not None
    there = owner.play if source == "self" else owner.discard
    return [copies if other == kind else 0 for other, copies in enumerate(there)]


def matching(position: Position, config: Configuration) -> Zone:
    """3.4: the cards that the MOVE under way can pick."""
    _, source, which, parameter, _, _, destination = instruction_of(position, config)
    if destination == "decktop" and len(position.owner.known) >= KNOWN_TOP:
        return no_cards()
    book, before = book_of(config), position.frames[-1].value_before
    there = cards_at(position, source)
    return [
        copies if copies and book.passes(which, parameter, kind, before) else 0 for kind, copies in enumerate(there)
    ]


def repeatable(position: Position, config: Configuration) -> set[int]:
    """3.5: kinds in the play area but the program's own, or in the supply."""
    _, what = instruction_of(position, config)
    if what == "supply":
        return {kind for kind in range(NUM_KINDS) if position.supply[kind]}
    return {kind for kind in range(NUM_KINDS) if position.owner.play[kind]} - {position.frames[-1].kind}


# ---------------------------------------------------------------- programs


class Effects(Cards):
    """Programs on the stack."""

    def instruction(self) -> Instruction:
        return instruction_of(self.position, self.config)

    def push(self, origin: int, kind: int | None = None, own: int = 0) -> None:
        """3.2: a program goes on top of the stack. An empty one does not, nor does any on a full stack."""
        if self.book.program(origin, kind, self.position.owner.city) and len(self.position.frames) < STACK:
            self.position.frames.append(Frame(int(origin), kind, own))

    def push_trait(self, hook: str, kind: int | None = None, own: int = 0) -> None:
        """The trait's program, if it is for this event and this kind of card."""
        city = self.book.cities[self.position.owner.city]
        if city.hook == hook and (kind is None or self.book.passes(city.which, city.parameter, kind)):
            self.push(Origin.TRAIT, None, own)

    def run(self) -> bool:
        """Run the stack; whether it is empty, so that nobody is asked."""
        while self.position.frames and self.position.end == RUNNING:
            if self.step():
                return False
        return self.position.end == RUNNING

    def step(self) -> bool:
        """One instruction, or one card of a MOVE; whether the player is asked."""
        frame = self.position.frames[-1]
        name, *operands = self.instruction()
        match name:
            case "move":
                return self.move(frame)
            case "choice":
                return self.ask(Node.CHOICE)
            case "replay" if repeatable(self.position, self.config):
                return self.ask(Node.REPLAY)
            case "end":
                self.end_program(frame)
                return False
        frame.at += 1
        match name:
            case "gain":
                self.gain(*operands)
            case "look":
                self.look_at(frame, operands[0])
            case "jump":
                frame.at = operands[0]
            case "if" if self.count(operands[0]) < operands[1]:
                frame.at = operands[2]
            case "discount":
                self.position.discount = min(MOST_UNITS, self.position.discount + operands[0])
        return False

    def ask(self, node: Node) -> bool:
        self.position.node, self.position.turn = node, self.position.active
        return True

    def end_program(self, frame: Frame) -> None:
        """3.3: cards that were looked at and are left return to the top in their order."""
        position = self.position
        if frame.looking:
            for kind in reversed(position.look):
                self.put_on_deck(position.owner, kind, False)
            position.look = []
        position.frames.pop()

    # ------------------------------------------------------------ instructions

    def count(self, name: str) -> int:
        """3.1: the counters."""
        position, frame = self.position, self.position.frames[-1]
        match name:
            case "moved" | "value":
                return int(getattr(frame, name))
            case "from_own":
                return frame.own
            case "gold_in_hand":
                return position.owner.hand[GOLD]
            case "departments":
                return len(position.departments)
        return int(getattr(position, name))

    def gain(self, what: str, number: int, counter: str | None = None, cap: int = MOST_UNITS) -> None:
        """3.1: so much of something, or so much for each thing counted."""
        amount = number if counter is None else min(cap, number * self.count(counter))
        match what:
            case "jump":
                self.jump(amount)
            case "draw":
                self.draw(self.position.owner, amount)
            case _:
                setattr(self.position, what, min(MOST_UNITS, getattr(self.position, what) + amount))

    def jump(self, parsecs: int) -> None:
        """3.1, R10: tokens on the spaces entered or passed are crossed. Whoever arrives has won (R26)."""
        position, start = self.position, self.position.owner.parsecs
        passed = range(start + 1, start + parsecs + 1)
        position.crossed |= {token for token in position.tokens if self.book.spaces[token] in passed}
        self.advance(position.active, parsecs)

    def advance(self, seat: int, parsecs: int) -> None:
        """7.1: at 20 parsecs the game is over at once."""
        player = self.position.players[seat]
        player.parsecs += parsecs
        if player.parsecs >= self.book.number["track_length"]:
            self.position.winner = seat
            self.finish(EndReason.KEPLER)

    def finish(self, reason: EndReason) -> None:
        """The end of the game; programs under way are dropped, and cards that were looked at return."""
        position = self.position
        for frame in position.frames[::-1]:
            self.end_program(frame)
        position.node, position.end, position.end_reason = Node.OVER, TERMINATED, int(reason)

    def look_at(self, frame: Frame, number: int) -> None:
        """3.3: cards of the deck to the look zone, the top one first."""
        owner = self.position.owner
        frame.looking = 1
        for _ in range(number):
            if self.can_draw(owner):
                self.position.look.append(self.take_from_deck(owner)[0])

    # ------------------------------------------------------------ MOVE

    def move(self, frame: Frame) -> bool:
        """3.4: the next card of a MOVE, or its end; whether the player is asked."""
        _, source, _, _, mode, number, _ = self.instruction()
        if not frame.in_move:
            frame.in_move, frame.value_before, frame.moved, frame.value = 1, frame.value, 0, 0
        available = self.available(source)
        too_few = mode == "may" and frame.moved == 0 and available < number
        if available == 0 or frame.moved == number or too_few:
            self.end_move(frame)
            return False
        if source in UNASKED:
            self.move_unasked(source)
            return False
        if mode == "all":
            kinds = [kind for kind, copies in enumerate(matching(self.position, self.config)) if copies]
            self.pick(kinds[0])
            return False
        return self.ask(Node.MOVE)

    def end_move(self, frame: Frame) -> None:
        frame.in_move = 0
        frame.at += 1

    def available(self, source: str) -> int:
        """How many cards the MOVE could pick."""
        position, owner = self.position, self.position.owner
        destination = self.instruction()[-1]
        if source not in UNASKED:
            return sum(matching(position, self.config))
        if destination == "decktop" and len(owner.known) >= KNOWN_TOP:
            return 0
        if source == "deck":
            return len(owner.known) + sum(owner.deck) + sum(owner.discard)
        return position.gold_pile if source == "goldpile" else len(position.titan_deck)

    def move_unasked(self, source: str) -> None:
        """A card of the deck's top, the Gold pile or the titan deck."""
        position = self.position
        if source == "deck":
            kind, seen = self.take_from_deck(position.owner)
            self.arrive(kind, source, seen, own=0)
        elif source == "goldpile":
            position.gold_pile -= 1
            self.arrive(GOLD, source, True, own=0)
        else:
            self.arrive(self.random_titan(), source, True, own=0)

    def pick(self, kind: int) -> None:
        """3.4: a copy of this kind. One of hand or discard pile comes from the discard pile if it can (R21)."""
        position, owner = self.position, self.position.owner
        source, destination = self.instruction()[1], self.instruction()[-1]
        seen = source in OPEN_SOURCES or destination in OPEN_DESTINATIONS
        own = int(source in OWN_SOURCES)
        if source == "hand_discard":
            source = "discard" if owner.discard[kind] else "hand"
        match source:
            case "hand":
                self.take_from_hand(owner, kind, seen)
            case "discard" | "self_discard":
                owner.discard[kind] -= 1
            case "play" | "self":
                owner.play[kind] -= 1
            case "look":
                position.look.remove(kind)
            case "supply":
                position.supply[kind] -= 1
            case "airlock":
                position.airlock[kind] -= 1
        self.arrive(kind, source, seen, own)

    def arrive(self, kind: int, source: str, seen: bool, own: int) -> None:
        """3.4: the card goes where the MOVE says, and triggers what it triggers: its own trigger runs first (R19)."""
        position, owner, frame = self.position, self.position.owner, self.position.frames[-1]
        destination = self.instruction()[-1]
        frame.moved += 1
        if seen or destination in OPEN_DESTINATIONS:
            frame.value += self.book.cards[kind].cost
        match destination:
            case "eject":
                position.airlock[kind] += 1
                position.ejected = min(MOST_COUNTED, position.ejected + 1)
                self.push_trait("eject", kind, own)
                self.push(Origin.ON_EJECT, kind, own)
            case "discard":
                owner.discard[kind] += 1
                position.discarded = min(MOST_COUNTED, position.discarded + 1)
                self.push_trait("discard", kind, own)
                self.push(Origin.ON_DISCARD, kind, own)
            case "airlock":
                position.airlock[kind] += 1
                if source == "supply":
                    self.push_trait("supply_airlock", kind)
            case "hand":
                self.put_in_hand(owner, kind, seen)
            case "owndiscard":
                owner.discard[kind] += 1
            case "decktop":
                self.put_on_deck(owner, kind, seen)
