"""The referee's hands: cards from zone to zone, chance, and what everybody has seen of cards that lie concealed."""

from __future__ import annotations

from kepler_envs.engine.game import Configuration
from kepler_envs.games.race_to_kepler.state import SHOWN_SLOTS
from tests.games.race_to_kepler.book import book_of
from tests.games.race_to_kepler.position import Player, Position, Zone, no_cards

MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407
WORD, HALF_WORD = 2**64 - 1, 2**32 - 1


class Cards:
    """A position and what can be done with its cards."""

    def __init__(self, position: Position, config: Configuration) -> None:
        self.position = position
        self.config = config
        self.book = book_of(config)

    # ------------------------------------------------------------ chance

    def below(self, bound: int) -> int:
        """The generator's next number (PCG32): uniform from 0 to ``bound - 1``."""
        old = self.position.rng
        self.position.rng = (old * MULTIPLIER + INCREMENT) & WORD
        shifted, rotation = ((old >> 18 ^ old) >> 27) & HALF_WORD, old >> 59
        word = (shifted >> rotation | shifted << (-rotation & 31)) & HALF_WORD
        return word * bound >> 32

    def random_card(self, zone: Zone) -> int:
        """Section 6: one of the cards of a zone, counted through in the order of kinds."""
        number = self.below(sum(zone))
        for kind, copies in enumerate(zone):
            if number < copies:
                return kind
            number -= copies
        raise AssertionError("a card of an empty zone")

    def random_titan(self) -> int:
        """C5, C6: one of the titan deck, which is taken out of it."""
        titans = self.position.titan_deck
        titan = sorted(titans)[self.below(len(titans))]
        titans.remove(titan)
        return titan

    # ------------------------------------------------------------ the deck

    def can_draw(self, player: Player) -> bool:
        return bool(player.known or any(player.deck) or any(player.discard))

    def take_from_deck(self, player: Player) -> tuple[int, bool]:
        """3.3: the kind drawn, and whether everybody had seen it lie there.

        Known cards first. The discard pile becomes the deck only when a card is needed and there is none (R1).
        """
        if player.known:
            return player.known.pop(), player.open.pop()
        if not any(player.deck):
            player.deck, player.discard = player.discard, no_cards()
        kind = self.random_card(player.deck)
        player.deck[kind] -= 1
        return kind, False

    def put_on_deck(self, player: Player, kind: int, seen: bool) -> None:
        player.known.append(kind)
        player.open.append(seen)

    def draw(self, player: Player, number: int) -> None:
        """Cards to hand, as long as there are any."""
        for _ in range(number):
            if self.can_draw(player):
                self.put_in_hand(player, *self.take_from_deck(player))

    # ------------------------------------------------------------ the hand

    def put_in_hand(self, player: Player, kind: int, seen: bool) -> None:
        """R20: everybody keeps in mind what it has seen there, as far as there is room."""
        player.hand[kind] += 1
        if seen and len(player.shown) < SHOWN_SLOTS:
            player.shown.append(kind)

    def take_from_hand(self, player: Player, kind: int, seen: bool) -> None:
        """A card that leaves the hand unseen can be any of those that were seen there."""
        player.hand[kind] -= 1
        if not seen:
            player.shown = []
        elif kind in player.shown:
            player.shown.remove(kind)

    # ------------------------------------------------------------ the supply

    def refill_supply(self) -> None:
        """4.1, R3: as many cards as there should be, while the crew deck lasts."""
        position = self.position
        while sum(position.supply) < self.book.number["supply_size"] and any(position.crew_deck):
            kind = self.random_card(position.crew_deck)
            position.crew_deck[kind] -= 1
            position.supply[kind] += 1
