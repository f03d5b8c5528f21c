"""What a seat of Ad Astra knows, from the state and from its observation, and what follows from it, in plain Python.

Seats count from the observer, positions are rows of its view. The contract test says what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.games.ad_astra.state import Node
from tests.games.ad_astra.invariants import Numbers, numbers_of
from tests.games.ad_astra.scenario import A, position_of

HIDDEN = {
    "rng": "chance to come",
    "decisions": "whether a seat was asked tells of its artifacts",
    "shaping": "an option of rewards, not of the game",
    "deck": "the order is known to nobody",
}

GAME_FIELDS = {
    "num_players": "num_players", "max_rounds": "max_rounds", "max_offers": "max_offers",
    "max_bank_trades": "max_bank_trades",
    "round_number": "round", "end_reason": "end_reason", "deck_count": "artifact_deck", "slot": "card", "step": "step",
    "gate": "gate", "free": "free", "thesaurus": "thesaurus", "chosen_system": "chosen_system", "give_type": "give",
    "give_count": "give_count", "get_type": "want", "get_count": "want_count", "offers": "offers",
    "bank_trades": "bank_trades",
}  # fmt: skip
"""Fields of the state and the pieces of the table ``game`` that hold them as they are."""
PLAYER_FIELDS = (
    "present", "points", "hand", "hand_total", "colonies_left", "factories_left", "terraformers_left", "starships_left",
    "in_deep_space", "systems", "artifact_count", "to_place", "set_aside", "discarded",
)  # fmt: skip
OWN_VIEW = {
    "owner_at": "positions.owner",
    "type_at": "positions.type",
    "owner_on": "spaces.owner",
    "card_on": "spaces.card",
}
DEEP_SPACE = 62


# ---------------------------------------------------------------- as the state has it


def facts_known(config: Configuration, state: Any, seat: int) -> dict[str, Any]:
    players = config.num_players
    everyone = [state["player"][(seat + distance) % players] for distance in range(players)]
    own = everyone[0]
    running, mover = state["end"] == RUNNING, state["player"][int(state["seat"])]

    def distance(other: int) -> int:
        return (int(other) - seat) % players

    def rows(word: Any) -> list[int]:
        return [
            int(word) >> position_of(row, seat, players) & 1 if row < 56 + players else int(word) >> row & 1
            for row in range(61)
        ]

    def by_row(values: Any) -> list[int]:
        return [int(values[position_of(row, seat, players) if row < 56 + players else row]) for row in range(61)]

    owner_ships = state["player"][int(state["owner"])]["ship"].tolist()

    def places(bits: Any) -> list[int]:
        return sorted(place for ship, place in enumerate(owner_ships) if int(bits) >> ship & 1)

    visible = int(state["face_up"]) | int(own["known"])
    known: dict[str, Any] = {name: int(state[name]) for name in GAME_FIELDS}
    known |= {
        "node": int(state["node"]) if running else int(Node.OVER),
        "seat": distance(state["seat"]) if running else None,
        "end": int(state["end"]),
        "first": distance(state["first"]),
        "revealed": int(state["revealed"]),
        "owner": distance(state["owner"]) if state["slot"] else None,
        "moved": places(state["moved"]),
        "owner_moved": places(state["owner_moved"]),
        "return_node": int(state["return_node"]),
        "chosen_ship": (
            mover["ship"][state["chosen_ship"] - 1] if state["chosen_ship"] else 0,
            int(state["chosen_ship"]) if state["seat"] == seat else 0,
        ),
        "chosen_item": int(state["chosen_item"]),
        "partner": distance(state["partner"] - 1) if state["partner"] else None,
        "element": int(state["element"]),
        "planets": rows(state["planets"]),
        "face_up": rows(state["face_up"]),
        "occupied": rows(state["occupied"]),
        "of_type": [rows(int(places_of) & visible) for places_of in state["of_type"]],
        "artifacts_used": int(state["artifacts_used"]),
        "empty_spaces": int(state["empty_spaces"]),
        "space_owner": [distance(other - 1) + 1 if other else 0 for other in state["space_owner"]],
        "space_card": [
            int(card) if space < state["revealed"] or state["space_owner"][space] == seat + 1 else 0
            for space, card in enumerate(state["space_card"])
        ],
        "bank": state["bank"].tolist(),
        "planet_at": by_row(state["planet_at"]),
        "starships_at": by_row(state["starships_at"]),
        "building_at": by_row(state["building_at"]),
        "terraformer_at": by_row(state["terraformer_at"]),
        "face_down_in": state["face_down_in"].tolist(),
        "on_space": state["on_space"].tolist(),
    }
    for name in (*PLAYER_FIELDS, "output", "elements", "present_in", "looked_at", "faction", "came_back"):
        known[f"player.{name}"] = [player[name].tolist() for player in everyone]
    known["player.filled_before"] = [int(player["filled_before"]) for player in everyone]
    for name in ("colonies", "factories", "terraformers", "starships", "pawns", "known"):
        known[f"player.{name}"] = [rows(player[name]) for player in everyone]
    known["player.ship"] = [own["ship"].tolist(), *(sorted(player["ship"].tolist()) for player in everyone[1:])]
    for name in ("cards", "artifacts", *OWN_VIEW, "space_of", "unseen"):
        known[f"player.{name}"] = own[name].tolist()
    return known


# ---------------------------------------------------------------- as the seat sees it


class Seen:
    """The facts of one observation, by the names of their pieces, and what everybody reads off them."""

    def __init__(self, config: Configuration, pieces: Mapping[str, Any]) -> None:
        self.pieces = pieces
        self.numbers: Numbers = numbers_of(config)
        self.players = config.num_players
        self.hand = [self.row("players.hand", seat) for seat in range(self.players)]
        self.planet, self.type = self.column("positions.planet"), self.column("positions.type")
        self.owner, self.starships = self.column("positions.owner"), self.column("positions.starships")
        self.building, self.terraformer = self.column("positions.building"), self.column("positions.terraformer")
        self.faction = [faction - 1 for faction in self.column("players.faction")]
        self.card, self.node = self.game("card") - 1, self.game("node") - 1
        self.card_owner = self.game("card_owner") - 1
        self.own_turn = self.game("turn") == 1
        self.bank = self.column("resources.bank")
        self.in_hand = [card for card, there in enumerate(self.column("cards.in_hand")) if there]

    def game(self, name: str) -> int:
        return int(self.pieces[f"game.{name}"][0])

    def column(self, name: str) -> list[Any]:
        values: list[Any] = self.pieces[name].tolist()
        return values

    def row(self, name: str, row: int) -> list[int]:
        return self.column(name)[row]

    def own_ships(self) -> list[int]:
        """As the state has them: 0 in reserve, 1 + row, 62 for deep space."""
        places = zip(self.column("starships.place"), self.column("starships.position"), strict=True)
        return [DEEP_SPACE if place == 1 else position for place, position in places]

    def ships_of(self, seat: int) -> list[int]:
        """Sorted: which is which only its owner tells apart."""
        on_planets = [row + 1 for row in self.rows_of(seat) for _ in range(self.starships[row])]
        deep = self.column("players.in_deep_space")[seat]
        return sorted([*on_planets, *[DEEP_SPACE] * deep, *[0] * self.column("players.starships_left")[seat]])

    def rows_of(self, seat: int) -> list[int]:
        """Rows with pawns of a seat."""
        return [row for row, owner in enumerate(self.owner) if owner == seat + 1]

    def rows_with(self, seat: int, there: list[int], value: int | None = None) -> list[int]:
        return [
            int(self.owner[row] == seat + 1 and (there[row] == value if value else there[row] > 0)) for row in range(61)
        ]

    def systems_of(self, seat: int) -> set[int]:
        return {row // 7 for row in self.rows_of(seat)}

    def known_to(self, seat: int) -> list[int]:
        looked = self.row("players.looked_at", seat)
        return [int(row < 56 and self.planet[row] == 1 and looked[row // 7]) for row in range(61)]

    def output(self, seat: int) -> list[int]:
        """Cards that pawns of a seat produce."""
        gains = [0] * 6
        starship, colony, factory, _ = (pawn["production"] for pawn in self.numbers.pawns)
        for row in self.rows_of(seat):
            if self.type[row] - 1 != A:
                gain = self.starships[row] * starship + (0, colony, factory)[self.building[row]]
                gains[self.type[row] - 1] += gain
        return gains

    def elements(self, seat: int) -> list[int]:
        points = self.numbers.points
        colonies, factories = (sum(self.rows_with(seat, self.building, kind)) for kind in (1, 2))
        starships = 4 - self.column("players.starships_left")[seat]
        most, kinds = max(self.hand[seat]), sum(count > 0 for count in self.hand[seat])
        return [
            points[0][0] * colonies + points[0][1] * factories,
            points[1][0] * starships,
            points[2][0] * sum(self.rows_with(seat, self.terraformer)),
            points[3][0] * len(self.systems_of(seat)),
            most if most >= 2 else 0,
            kinds if kinds >= 2 else 0,
        ]

    def unseen(self) -> list[int]:
        """Planets of each type that are neither face up nor looked at."""
        return [count - self.type.count(kind + 1) for kind, count in enumerate(self.numbers.planets)]

    def empty_spaces(self) -> list[int]:
        return [space for space, content in enumerate(self.column("spaces.content")) if content == 1]

    def moved(self) -> list[int]:
        """Where the starships of the card's owner are that have moved."""
        on_planets = [row for row in self.row("game.moved_to", 0) if row]
        return sorted([*on_planets, *[DEEP_SPACE] * self.game("moved_to_deep_space")])


def facts_seen(config: Configuration, observation: np.ndarray) -> dict[str, Any]:
    facts = config.observation.facts
    seen = Seen(config, facts.names(observation[: facts.size]))
    seats = range(config.num_players)
    over = seen.node < 0
    kind = _kind(seen.card)
    origin = DEEP_SPACE if seen.game("moving_from_deep_space") else seen.game("moving_from")
    back = 0 if seen.node != Node.ART_RES else int(Node.MOVE if kind == "movement" else Node.BUILD)
    last_step = seen.game("step") == config.num_players
    content = seen.column("spaces.content")
    found: dict[str, Any] = {name: seen.game(piece) for name, piece in GAME_FIELDS.items()}
    found |= {
        "node": int(Node.OVER) if over else seen.node,
        "seat": None if over else seen.game("turn") - 1,
        "end": int(over),
        "first": seen.game("first_player") - 1,
        "revealed": content.count(3),
        "owner": seen.card_owner if seen.card >= 0 else None,
        "moved": seen.moved() if last_step else [],
        "owner_moved": [] if last_step else seen.moved(),
        "return_node": back,
        "chosen_ship": (origin, seen.game("chosen_starship")),
        "chosen_item": 1 + seen.column("items.chosen").index(1) if any(seen.column("items.chosen")) else 0,
        "partner": seen.game("partner") - 1 if seen.game("partner") else None,
        "element": 1 + seen.column("elements.scored").index(1) if any(seen.column("elements.scored")) else 0,
        "planets": [int(planet > 0) for planet in seen.planet],
        "face_up": [int(planet == 2) for planet in seen.planet],
        "occupied": [int(owner > 0) for owner in seen.owner],
        "of_type": [[int(of == kind + 1) for of in seen.type] for kind in range(7)],
        "artifacts_used": _bits(seen.column("artifacts.used")),
        "empty_spaces": sum(1 << space for space in seen.empty_spaces()),
        "space_owner": seen.column("spaces.owner"),
        "space_card": seen.column("spaces.card"),
        "bank": seen.bank,
        "planet_at": seen.planet,
        "starships_at": seen.starships,
        "building_at": seen.building,
        "terraformer_at": seen.terraformer,
        "face_down_in": [
            sum(planet == 1 for planet in seen.planet[7 * system : 7 * system + 7]) for system in range(9)
        ],
        "on_space": content,
    }
    for name in PLAYER_FIELDS:
        found[f"player.{name}"] = seen.column(f"players.{name}")[: config.num_players]
    before = _bits(seen.column("spaces.filled_before"))
    found |= {
        "player.output": [seen.output(seat) for seat in seats],
        "player.elements": [seen.elements(seat) for seat in seats],
        "player.present_in": [sum(1 << system for system in seen.systems_of(seat)) for seat in seats],
        "player.looked_at": [_bits(seen.row("players.looked_at", seat)) for seat in seats],
        "player.faction": [seen.faction[seat] for seat in seats],
        "player.came_back": [_bits(seen.row("players.came_back", seat)) for seat in seats],
        "player.filled_before": [
            before & _bits([owner == seat + 1 for owner in seen.column("spaces.owner")]) for seat in seats
        ],
        "player.colonies": [seen.rows_with(seat, seen.building, 1) for seat in seats],
        "player.factories": [seen.rows_with(seat, seen.building, 2) for seat in seats],
        "player.terraformers": [seen.rows_with(seat, seen.terraformer) for seat in seats],
        "player.starships": [seen.rows_with(seat, seen.starships) for seat in seats],
        "player.pawns": [[int(owner == seat + 1) for owner in seen.owner] for seat in seats],
        "player.known": [seen.known_to(seat) for seat in seats],
        "player.ship": [seen.own_ships(), *(seen.ships_of(seat) for seat in seats[1:])],
        "player.cards": _bits(seen.column("cards.in_hand")),
        "player.artifacts": _bits(seen.column("artifacts.held")),
        "player.space_of": spaces_of_own_cards(seen),
        "player.unseen": seen.unseen(),
    }
    for name, piece in OWN_VIEW.items():
        found[f"player.{name}"] = seen.column(piece)
    return found


def spaces_of_own_cards(seen: Seen) -> list[int]:
    """1 + the space on which each own card lies."""
    lies = {
        card: space + 1
        for space, (owner, card) in enumerate(zip(seen.column("spaces.owner"), seen.column("spaces.card"), strict=True))
        if owner == 1
    }
    return [lies.get(card + 1, 0) for card in range(11)]


def _bits(flags: list[Any]) -> int:
    return sum(int(flag) << place for place, flag in enumerate(flags))


def _kind(card: int) -> str:
    kinds = ("production",) * 3 + ("movement",) * 3 + ("build", "trade") + ("scoring",) * 3
    return "" if card < 0 else kinds[card]


# ---------------------------------------------------------------- what follows


def derived(config: Configuration, pieces: Mapping[str, Any]) -> dict[str, Any]:
    layout = config.observation
    found = {piece.name: np.zeros(piece.shape, int) for piece in layout if piece.derived}
    seen = Seen(config, pieces)
    _whole(seen, found)
    for seat in range(seen.players):
        found["players.output"][seat] = seen.output(seat)
        found["players.elements"][seat] = seen.elements(seat)
        found["players.present_in"][seat] = [system in seen.systems_of(seat) for system in range(8)]
    if seen.own_turn:
        for work in WORK.get(Node(seen.node), ()):
            work(seen, found)
    return found


def _whole(seen: Seen, found: dict[str, Any]) -> None:
    """What is there at any time."""
    hand, numbers = seen.hand[0], seen.numbers
    empty = seen.empty_spaces()
    elements = seen.elements(0)
    unseen = seen.unseen()
    for name, value in {
        "end_points": numbers.end_points,
        "face_down": seen.planet.count(1),
        "unseen_aliens": unseen[A],
        "empty_spaces": len(empty),
        "first_empty": 1 + empty[0] if empty else 0,
        "last_empty": 1 + empty[-1] if empty else 0,
        "late_empty": next(
            (1 + space for place, space in enumerate(empty) if len(empty) - 1 - place <= seen.players), 0
        ),
        "can_travel": hand[numbers.fuel] >= numbers.between,
        "identical": min(elements[4], 4),
        "different": elements[5],
    }.items():
        found[f"game.{name}"][0] = value
    found["resources.hand"][:] = hand
    found["resources.unseen"][:] = unseen[:6]
    found["resources.held"][:] = [min(count, 4) for count in hand]
    owner = seen.faction[seen.card_owner]
    if _kind(seen.card) == "production":
        found["resources.on_card"][list(numbers.production[owner, seen.card])] = 1
    if seen.game("partner"):
        found["resources.partner_hand"][:] = seen.hand[seen.game("partner") - 1]
    found["cards.space"][:] = spaces_of_own_cards(seen)
    for card in range(3):
        found["cards.resources"][card] = [1 + kind for kind in numbers.production[seen.faction[0], card]]
        found["cards.systems"][3 + card] = [1 + system for system in numbers.movement[seen.faction[0], 3 + card]]
    for ship, place in enumerate(seen.own_ships()):
        if 0 < place < DEEP_SPACE:
            found["starships.system"][ship] = 1 + (place - 1) // 7
            found["starships.held"][ship] = seen.building[place - 1] > 0 or seen.terraformer[place - 1] > 0
    for system in range(8):
        found["systems.present"][system] = system in seen.systems_of(0)
        found["systems.known"][system] = seen.row("players.looked_at", 0)[system]
        found["systems.face_down"][system] = seen.planet[7 * system : 7 * system + 7].count(1)
    if _kind(seen.card) == "scoring":
        found["elements.on_card"][numbers.scoring[seen.card]] = 1
    if seen.node == Node.REPLY:
        partner = seen.hand[seen.game("partner") - 1]
        found["game.offer_gain"][0] = seen.game("give_count") - seen.game("want_count")
        found["game.offer_balance"][0] = partner[seen.game("want") - 1] - partner[seen.game("give") - 1]


def _production(seen: Seen, found: dict[str, Any]) -> None:
    for kind in range(6):
        gains = [min(seen.output(seat)[kind], seen.bank[kind]) for seat in range(seen.players)]
        found["resources.output"][kind] = gains[0]
        found["resources.worth"][kind] = worth = 5 * gains[0] - sum(gains[1:])
        found["resources.scarce_worth"][kind] = worth - seen.hand[0][kind]


def _elements(seen: Seen, found: dict[str, Any]) -> None:
    points = [seen.elements(seat) for seat in range(seen.players)]
    for element in range(6):
        own, *others = (of_seat[element] for of_seat in points)
        ahead = 2 * own - max(others) - sum(others) // len(others)
        if own > max(others):
            ahead += 2 * seen.numbers.bonus
        elif own < max(others):
            ahead -= seen.numbers.bonus
        found["elements.lead"][element] = own - max(others)
        found["elements.worth"][element] = ahead // 2


def _cards(seen: Seen, found: dict[str, Any]) -> None:
    """What a card promises; by kinds, less for each one of its kind that is placed."""
    faction, numbers = seen.faction[0], seen.numbers
    placed = [card for card in range(11) if spaces_of_own_cards(seen)[card]]
    for card in range(11):
        if card not in (6, 7):
            found["cards.placed"][card] = sum(_kind(other) == _kind(card) for other in placed)
    new = {card: set(numbers.movement[faction, card]) - seen.systems_of(0) for card in (3, 4, 5)}
    for card, systems in new.items():
        found["cards.new_systems"][card] = len(systems)
    fuel = seen.hand[0][numbers.fuel] >= numbers.between
    starships = sum(7 if place == DEEP_SPACE else 4 * fuel for place in seen.own_ships() if place)
    worth = {}
    for card in seen.in_hand:
        same = int(found["cards.placed"][card])
        match _kind(card):
            case "production":
                gains = [int(found["resources.worth"][kind]) for kind in numbers.production[faction, card]]
                worth[card] = max(0, *gains) - 8 * same
            case "movement":
                worth[card] = starships + len(new[card]) - 8 * same
            case "build":
                worth[card] = 2 * sum(seen.hand[0])
            case "trade":
                worth[card] = sum(seen.hand[0]) - 5
            case _:
                ahead = max(int(found["elements.worth"][element]) for element in numbers.scoring[card])
                worth[card] = 12 + 2 * ahead - 14 * same
        found["cards.worth"][card] = worth[card]
    found["game.best_card"][0] = 1 + max(worth, key=lambda card: (worth[card], -card))


def _moves(seen: Seen) -> Iterator[tuple[int, int]]:
    """Starships and systems they can go to."""
    numbers, gate = seen.numbers, seen.game("gate")
    moved = seen.column("starships.moved")
    tried = set()
    for ship, place in enumerate(seen.own_ships()):
        if place == 0 or moved[ship] or place in tried:
            continue
        tried.add(place)
        for system in range(8):
            start = None if place == DEEP_SPACE else (place - 1) // 7
            price = numbers.leave_deep if start is None else numbers.within if start == system else numbers.between
            landing = [row for row in _open_rows(seen, system) if row != place - 1]
            if (gate or seen.column("systems.on_card")[system] and price <= seen.hand[0][numbers.fuel]) and landing:
                yield ship, system


def _open_rows(seen: Seen, system: int) -> list[int]:
    """Planets of a system without pawns of others."""
    return [row for row in range(7 * system, 7 * system + 7) if seen.planet[row] and seen.owner[row] in (0, 1)]


def _move_worths(seen: Seen, found: dict[str, Any]) -> None:
    for system in range(8):
        found["systems.worth"][system] = 3 * (system not in seen.systems_of(0)) + found["systems.face_down"][system]
    best = -4000 if seen.game("gate") else 0
    worths: dict[int, int] = {}
    for ship, system in _moves(seen):
        start = int(found["starships.system"][ship]) - 1
        if start < 0:
            worth = 10 + int(found["systems.worth"][system])
        elif start == system or not found["starships.held"][ship]:
            worth = -1
        else:
            worth = 3 * (system not in seen.systems_of(0))
        worths[ship] = max(worth, worths.get(ship, worth))
        if worth > best:
            best = worth
            found["game.best_starship"][0], found["game.best_system"][0] = ship + 1, system + 1
    for ship, worth in worths.items():
        found["starships.worth"][ship] = worth


def _places(seen: Seen, item: int) -> list[int]:
    """Rows where an item other than a starship can be put."""
    own, rows = seen.rows_of(0), []
    left = [seen.column(f"players.{pawn}_left")[0] for pawn in ("colonies", "factories", "terraformers")]
    if item < 3 and left[0]:
        rows = [row for row in own if not seen.building[row]]
    elif item == 3 and left[1]:
        rows = [row for row in own if seen.building[row] == 1]
    elif item == 4 and left[2]:
        rows = [row for row in own if not seen.terraformer[row] and seen.type[row] - 1 in seen.numbers.terraformable]
    return rows


def _positions(seen: Seen, found: dict[str, Any]) -> None:
    if seen.node == Node.LAND:
        origin = seen.game("moving_from") - 1
        rows = [row for row in _open_rows(seen, seen.game("chosen_system") - 1) if row != origin]
    else:
        rows = _places(seen, seen.column("items.chosen").index(1))
    output, worths = seen.output(0), {}
    for row in rows:
        kind, worth = seen.type[row] - 1, 0
        if kind == A:
            worth = 9 if seen.planet[row] == 2 else 14
        elif kind >= 0:
            worth = 10 - 3 * output[kind] + 2 * (kind in seen.numbers.terraformable) - 3 * (kind == seen.numbers.fuel)
        worths[row] = worth - 8 * (seen.owner[row] == 1)
        found["positions.worth"][row] = worths[row]
    found["game.best_position"][0] = 1 + max(worths, key=lambda row: (worths[row], -row))


def _items(seen: Seen, found: dict[str, Any]) -> None:
    hand = seen.hand[0]
    for item in range(8):
        rows = _places(seen, item)
        on_alien = any(seen.type[row] - 1 == A for row in rows)
        if item < 3:
            worth = (80 if on_alien else 50) + hand[3 + item]
        elif item < 5:
            worth = 100 if item == 4 else 90 if on_alien else 30
        else:
            worth = 60 + hand[item - 2]
        found["items.places"][item] = seen.column("players.starships_left")[0] if item >= 5 else len(rows)
        found["items.worth"][item] = worth


def _bank_trade(seen: Seen, found: dict[str, Any]) -> None:
    hand = seen.hand[0]
    found["game.missing"][0] = sum(not held and stock > 0 for held, stock in zip(hand, seen.bank, strict=True))
    found["game.spare"][0] = next((1 + kind for kind in range(6) if hand[kind] >= 4), 0)


def _least_held(seen: Seen, found: dict[str, Any]) -> None:
    offered = [kind for kind in range(6) if seen.bank[kind] and kind != seen.game("give") - 1]
    found["game.least_held"][0] = 1 + min(offered, key=lambda kind: (seen.hand[0][kind], kind))


def _choices(seen: Seen, found: dict[str, Any]) -> None:
    for choice, element in enumerate(seen.column("choices.element")):
        found["choices.worth"][choice] = found["elements.worth"][element - 1]


def _most_held(seen: Seen, found: dict[str, Any]) -> None:
    hand = seen.hand[0]
    found["game.most_held"][0] = 1 + hand.index(max(hand))


WORK: dict[Node, tuple[Any, ...]] = {
    Node.PLAN: (_production, _elements, _cards),
    Node.PRODUCE: (_production,),
    Node.MOVE: (_move_worths,),
    Node.LAND: (_positions,),
    Node.BUILD: (_items,),
    Node.BUILD_POS: (_positions,),
    Node.TRADE: (_bank_trade,),
    Node.BANK_GET: (_least_held,),
    Node.ART_RES: (_least_held,),
    Node.ELEMENT: (_elements, _choices),
    Node.IDENT: (_most_held,),
    Node.DISCARD: (_most_held,),
}
"""What is worked out for the seat that decides, by node."""
