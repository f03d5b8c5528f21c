"""The rules of Kepler-3042 once more, as slowly as they read, and what they say of a decision.

Written from the specification and the component file alone. :class:`Referee` makes of a :class:`Position` what a choice
makes of it, with everything that follows unasked; :func:`check_decision` compares that with the game's own, entry by
entry. There is no chance after the deal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kepler_envs.engine.game import RUNNING, TERMINATED, Configuration
from kepler_envs.games.kepler_3042.state import NEXT_BENEFICIARY, TURN_OVER, Node, Phase
from tests.games.kepler_3042.component_numbers import ROUNDS
from tests.games.kepler_3042.legal import (
    BY_CARD,
    CONVERT,
    DONE,
    HEX,
    RES,
    SLOT,
    TECH,
    bonus_actions,
    burned_for,
    destinations,
    face_down,
    legal_actions,
    on_board,
    proper_actions,
    reach,
)
from tests.games.kepler_3042.referee_turn import Turn
from tests.games.kepler_3042.scenario import REGENERATE, Position, Seat
from tests.games.kepler_3042.scoring import check_result
from tests.scenario import take


def check_decision(before_state: Any, action: int, after_state: Any, config: Configuration) -> None:
    """AssertionError unless ``after_state`` is what the rules make of ``before_state`` and ``action``."""
    before, after = Position.read(before_state, config), Position.read(after_state, config)
    referee = Referee(before, config)
    referee.decide(action)
    for number, (expected, found) in enumerate(zip(referee.position.rows(), after.rows(), strict=True)):
        check_same(expected, found, f"after id {action}, row {number}: ")
    check_same(referee.position, after, f"after id {action}, ")
    if after.end != RUNNING:
        check_result(after_state, config)


def check_same(expected: Any, found: Any, where: str) -> None:
    for name, value in vars(found).items():
        said = getattr(expected, name)
        assert value == said, f"{where}{name} is {value}, the rules say {said}"


class Referee(Turn):
    """The course of the game, around the turns."""

    def decide(self, action: int) -> None:
        """A choice, and then every node with a single legal id, each with what it settles."""

        def settled(chosen: int) -> None:
            self.apply(chosen)
            self.settle()

        take(action, self.position, lambda: legal_actions(self.position, self.config), settled)

    def apply(self, action: int) -> None:
        """A choice at the node that is asked."""
        if CONVERT <= action < HEX:
            self.operate(action)
            return
        choices: dict[Node, Callable[[int], None]] = {
            Node.FIRST_TECHNOLOGY: self.first_technology,
            Node.SOLO_BONUS: self.solo_bonus,
            Node.MAIN_ACTION: self.main,
            Node.SPACE_MISSIONS: self.space_missions,
            Node.PLACE: self.place,
            Node.COLONY_SEEDING: self.colony_seeding,
            Node.TECHNOLOGICAL_DEVELOPMENT: self.technological_development,
            Node.DEVELOPMENT_PAYMENT: self.development_payment,
            Node.MOVEMENT: self.movement,
            Node.MOVER: self.mover,
            Node.GOING_ON: self.going_on,
            Node.TERRAFORMING: self.terraforming,
            Node.MAPPING_TRACK: self.mapping_track,
            Node.MAPPING_TILE: self.tile,
            Node.ENERGY_STORAGE: self.energy_storage,
            Node.PLANETARY_EXPLOITATION: self.planetary_exploitation,
            Node.ANTIMATTER_GENERATION: self.antimatter_generation,
            Node.BONUS_ACTION: self.bonus_action,
            Node.BONUS_BURN: self.bonus_burn,
            Node.BONUS_ANTIMATTER: self.bonus_antimatter,
            Node.WITHDRAWAL: self.withdrawal,
            Node.END_OF_TURN: lambda action: self.go(TURN_OVER),
            Node.CARD_TECHNOLOGY: self.card_technology,
            Node.CARD_BURN: self.card_burn,
            Node.CARD_PRODUCTION: self.card_production,
            Node.CARD_EXPLOITATION: self.card_exploitation,
            Node.CARD_TILE: self.tile,
            Node.CARD_REGENERATION: self.card_regeneration,
            Node.REWARD_REGENERATION: self.reward,
            Node.REWARD_PRODUCTION: self.reward,
        }
        choices[self.position.node](action)

    # ------------------------------------------------------------ settling (3.3)

    def settle(self) -> None:
        """Until something is to be chosen: rewards first, then what goes on by itself."""
        position = self.position
        while position.end == RUNNING:
            if position.rewards:
                position.turn, kind = position.rewards[0]
                position.node = Node.REWARD_REGENERATION if kind == REGENERATE else Node.REWARD_PRODUCTION
                if proper_actions(position, self.config):
                    return
                position.rewards.pop(0)
            elif not self.goes_on():
                position.node, position.turn = Node(position.flow), position.active
                return

    def goes_on(self) -> bool:
        """One step that needs no choice, if there is one."""
        position, flow = self.position, self.position.flow
        seat = self.active
        if flow == Node.MOVEMENT and not destinations(position, seat, self.numbers, position.speed):
            self.leave_movement(declined=False)
        elif flow == Node.GOING_ON and not reach(position, self.numbers, seat.ships[position.moving], position.points):
            self.end_move(position.moving)
        elif flow == Node.BONUS_ACTION and not bonus_actions(position, seat, self.numbers):
            self.begin_moves()
        elif flow == Node.WITHDRAWAL and not on_board(seat):
            self.go(Node.END_OF_TURN)
        elif flow in (Node.MAPPING_TILE, Node.CARD_TILE) and not (position.left and face_down(position)):
            self.go(Node.BONUS_ACTION) if flow == Node.MAPPING_TILE else self.end_benefit()
        elif flow == Node.CARD_REGENERATION and not position.left:
            self.end_benefit()
        elif flow == Node.SOLO_BONUS and not position.left:
            self.go(Node.FIRST_TECHNOLOGY)
        elif flow == NEXT_BENEFICIARY:
            self.next_beneficiary()
        elif flow == TURN_OVER:
            self.end_turn()
        else:
            return False
        return True

    def reward(self, action: int) -> None:
        """The first that waits: a cube comes back from the pit, or is produced on one card; or it is declined."""
        number, kind = self.position.rewards.pop(0)
        seat = self.position.seats[number]
        if action == DONE:
            return
        if kind == REGENERATE:
            self.regenerate(seat, action - RES)
        else:
            self.produce(seat, action - SLOT, [int(kind == other) for other in range(3)])

    # ------------------------------------------------------------ setup (2.8, 2.9)

    def solo_bonus(self, action: int) -> None:
        """An additional cube on Earth."""
        self.active.cubes[0][action - RES] += 1
        self.position.left -= 1

    def first_technology(self, action: int) -> None:
        """Different ones, then the next player; the ghost gets those that the human did not choose."""
        position = self.position
        self.active.tech[action - TECH] = 1
        if sum(self.active.tech) < self.numbers.number["free_technologies"]:
            return
        position.turn_index += 1
        position.active = self.after(position.first, position.turn_index)
        if position.turn_index == self.players:
            if position.ghost is not None:
                position.ghost.tech = [1 - level for level in position.seats[0].tech]
            self.begin_round()

    # ------------------------------------------------------------ the round (3.1)

    def begin_round(self) -> None:
        """The card is revealed, and the ghost moves (2.9)."""
        position = self.position
        position.round += 1
        position.phase, position.turn_index, position.active = Phase.TURNS, 0, position.first
        if position.ghost is not None:
            self.lead(None, 0, 1)
            self.lead(None, 1, 1)
            if position.round in self.numbers.ghost_rounds:
                self.raise_ghost()
        self.begin_turn()

    def begin_turn(self) -> None:
        """With the allowances of Quantum Physics."""
        self.position.conversions, self.position.allocations = self.allowances(self.active)
        self.go(Node.MAIN_ACTION)

    def end_turn(self) -> None:
        """The next seat clockwise, or the cleanup; what a turn leaves unused is lost."""
        position = self.position
        position.conversions = position.allocations = position.second_free = 0
        position.bonus_used = set()
        position.turn_index += 1
        if position.turn_index < self.players:
            position.active = self.after(position.first, position.turn_index)
            self.begin_turn()
        else:
            position.phase = Phase.CLEANUP
            position.beneficiaries = self.favoured()
            self.go(NEXT_BENEFICIARY)

    # ------------------------------------------------------------ 3a: the progress card (3.8)

    @property
    def card(self) -> dict[str, Any]:
        """The row of this round's card."""
        return self.numbers.card[self.position.deck[self.position.round - 1]]

    def favoured(self) -> set[int]:
        """Fixed before the first one resolves (K31); the ghost is compared, too (K29)."""
        card, position = self.card, self.position
        if card["who"] == "all":
            return set(range(self.players))
        which, _, what = card["who"].partition("_")
        measures: dict[str, Callable[[Seat], int]] = {
            "colonies": lambda row: len(row.planets),
            "colonial": lambda row: row.track[0],
            "technological": lambda row: row.track[1],
            "tech": lambda row: row.tech[card["args"]["tech"]],
        }
        measure = measures[what]
        best = (max if which == "highest" else min)(measure(row) for row in position.rows())
        return {number for number, seat in enumerate(position.seats) if measure(seat) == best}

    def next_beneficiary(self) -> None:
        """In turn order."""
        position = self.position
        for distance in range(self.players):
            number = self.after(position.first, distance)
            if number in position.beneficiaries:
                position.beneficiaries.remove(number)
                position.active = number
                self.begin_benefit()
                return
        self.end_round()

    def begin_benefit(self) -> None:
        """What the card brings; without a starship in supply one is skipped."""
        args, seat = self.card["args"], self.active
        match self.card["what"]:
            case "free_tech":
                self.go(Node.CARD_TECHNOLOGY)
            case "ship" if None in seat.ships:
                self.go(Node.PLACE, source=BY_CARD)
            case "track":
                self.lead(self.position.active, args["track"], 1)
            case "regenerate":
                self.go(Node.CARD_REGENERATION, left=args["n"])
            case "produce":
                self.go(Node.CARD_PRODUCTION)
            case "move":
                self.go(Node.MOVEMENT, source=BY_CARD, speed=args["spaces"])
            case "flip":
                self.go(Node.CARD_TILE, left=args["n"])
            case "exploit":
                self.go(Node.CARD_EXPLOITATION)

    def end_benefit(self) -> None:
        self.go(NEXT_BENEFICIARY)

    def card_technology(self, action: int) -> None:
        """Cubes are burned first."""
        if action == DONE:
            self.end_benefit()
            return
        tech = action - TECH
        need = burned_for(self.card["args"], self.active.tech[tech] + 1)
        self.go(Node.CARD_BURN, left=need, technology=tech)
        if need == 0:
            self.take_technology()

    def card_burn(self, action: int) -> None:
        self.burn(self.active, action)
        self.position.left -= 1
        if self.position.left == 0:
            self.take_technology()

    def take_technology(self) -> None:
        """Whoever acquires a level causes collaboration (K23)."""
        tech = self.position.technology
        self.end_benefit()
        self.advance(self.position.active, tech)

    def card_production(self, action: int) -> None:
        """One planet gets the cubes, as far as available."""
        if action != DONE:
            self.produce(self.active, action - SLOT, self.card["args"]["triple"])
        self.end_benefit()

    def card_exploitation(self, action: int) -> None:
        """One colony produces, whatever the level of Terraforming."""
        if action != DONE:
            self.exploit(action - SLOT)
        self.end_benefit()

    def card_regeneration(self, action: int) -> None:
        """One cube after the other."""
        if action == DONE:
            self.end_benefit()
            return
        self.regenerate(self.active, action - RES)
        self.position.left -= 1

    # ------------------------------------------------------------ 3b, 3c

    def end_round(self) -> None:
        """Medals, then the first player's marker to the right; after the last round the game is over."""
        position = self.position
        for track in range(2):
            furthest = max(row.track[track] for row in position.rows())
            for row in position.rows():
                if row.track[track] == furthest:
                    row.medals[track] += position.card_medals[track]
        position.card_medals = [0, 0]
        if position.round == ROUNDS:
            position.phase, position.end = Phase.OVER, TERMINATED
            position.flow = position.node = Node.OVER
            position.active = position.turn = position.turn_index = 0
            return
        position.first = self.after(position.first, -1)
        self.begin_round()
