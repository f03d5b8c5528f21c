"""What a seat of Kepler-3042 knows, read from the state and rebuilt from what it sees; and what follows from that,
worked out plainly.

Seats are counted clockwise from the observer. See tests/contract/test_observation.py.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np

from kepler_envs import Configuration
from kepler_envs.engine.game import RUNNING
from kepler_envs.games.kepler_3042.state import Node, Requirement, What, Who
from tests.games.kepler_3042.scenario import MINE, NEIGHBOURS, TARGET, steps_between
from tests.scenario import members

HIDDEN = {
    "rng": "nobody knows the generator",
    "decisions": "a count of what was asked, which is no fact of the game",
    "shaping": "an option of what play is paid",
    "player.objectives_done": "written once the game is over",
    "player.score_sheet": "written once the game is over",
}
FACE_DOWN = 99
SLOTS, SHIPS = range(6), range(3)


def hexes_of(words: Any) -> set[int]:
    return {64 * number + place for number, word in enumerate(words) for place in members(word)}


def facts_known(config: Configuration, state: Any, seat: int) -> dict[str, Any]:
    n = config.num_players
    order = [(seat + distance) % n for distance in range(n)] + ([1] if n == 1 else [])
    relative = {other: distance for distance, other in enumerate(order[:n])}
    known: dict[str, Any] = {}
    for name in (
        "node", "flow", "phase", "num_players", "win_loss", "advanced", "campaign", "level", "bonus_cubes",
        "tile_group",
        "planet_terraformed", "track_medals", "card_medals", "round_number", "turn_index", "pending", "conversions",
        "allocations",
        "second_free", "bonus", "left", "technology", "source", "place_slot", "speed", "goal", "moving", "points",
    ):  # fmt: skip
        known[name] = state[name]
    for name in ("seat", "active", "first"):
        known[name] = relative[int(state[name])]
    known["end"] = state["end"] != RUNNING
    up = hexes_of(state["face_up"])
    for name in ("bodies", "face_up", "colonised", "ships"):
        known[name] = sorted(hexes_of(state[name]))
    known["body"] = [int(body) if place in up or not body else FACE_DOWN for place, body in enumerate(state["body"])]
    known["planet_hex"] = [int(there) if int(there) - 1 in up else 0 for there in state["planet_hex"]]
    known["planet_owner"] = [1 + relative[int(owner) - 1] if owner else 0 for owner in state["planet_owner"]]
    known["deck"] = state["deck"][: int(state["round_number"])]
    known["beneficiaries"] = [int(state["beneficiaries"]) >> other & 1 for other in order[:n]]
    waiting = state["rewards"][: int(state["pending"])].tolist()
    known["rewards"] = [(relative[reward // 4], reward % 4) for reward in waiting]
    known["bonus_used"] = [int(state["bonus_used"]) >> bonus & 1 for bonus in range(6)]
    for name, count in (("exploited", 6), ("moved", 3)):
        known[name] = [int(state[name]) >> number & 1 for number in range(count)]
    rows = [state["player"][number] for number in order]
    for name in state["player"].dtype.names:
        if f"player.{name}" not in HIDDEN and not name.endswith("_row"):
            known[f"player.{name}"] = [row[name].tolist() for row in rows]
    known["player.objectives"] = int(rows[0]["objectives"])
    return known


def facts_seen(config: Configuration, observation: np.ndarray) -> dict[str, Any]:
    table = Table(config, {name: piece.view(observation) for name, piece in config.observation.pieces.items()})
    game = table.game
    seen: dict[str, Any] = {
        "round_number": game["round"], "turn_index": game["turns_done"], "pending": game["rewards"],
        "seat": game["to_move"] - 1, "active": game["active"] - 1,
        "first": table.seen["players.first"].tolist().index(1),
        "track_medals": table.seen["tracks.medals"], "card_medals": table.seen["tracks.card_medals"],
        "end": game["node"] == Node.OVER,
    }  # fmt: skip
    for name in (
        "node", "flow", "phase", "num_players", "win_loss", "advanced", "campaign", "level", "bonus_cubes",
        "tile_group",
        "conversions", "allocations", "second_free", "bonus", "left", "technology", "source", "place_slot", "speed",
        "goal", "points",
    ):  # fmt: skip
        seen[name] = game[name]
    seen["bodies"] = sorted({*table.down, *table.tiles})
    seen["face_up"] = sorted(table.tiles)
    seen["colonised"] = sorted(place for place, body in table.tiles.items() if table.owner.get(body) is not None)
    seen["ships"] = sorted(place for ships in table.ships for place in ships if place is not None)
    seen["body"] = [FACE_DOWN if place in table.down else table.tiles.get(place, 0) for place in range(418)]
    where = {body: place for place, body in table.tiles.items()}
    seen["planet_hex"] = [0] + [1 + where.get(number, -1) for number in range(1, 29)]
    seen["planet_owner"] = [1 + table.owner.get(number, -1) for number in range(29)]
    seen["planet_terraformed"] = [number in table.terraformed for number in range(29)]
    shown = table.seen["cards.shown"].tolist()
    seen["deck"] = [1 + shown.index(number) for number in range(1, game["round"] + 1)]
    seen["beneficiaries"] = table.seen["players.waits_for_card"][: table.n]
    rewards = zip(table.seen["rewards.player"].tolist(), table.seen["rewards.kind"].tolist(), strict=True)
    seen["rewards"] = [(player - 1, kind) for player, kind in rewards if kind]
    seen["bonus_used"] = table.seen["bonus_actions.used"]
    active = game["active"] - 1
    exploited = [number for number in range(1, 29) if table.seen["planets.exploited"][number - 1]]
    seen["exploited"] = [slot > 0 and table.slots[active][slot] in exploited for slot in SLOTS]
    own = active == 0
    rows = slice(0, 3) if own else slice(3 * active - 3, 3 * active)
    moves = {
        name: table.seen[f"{'starships' if own else 'rivals'}.{name}"][rows].tolist() for name in ("moved", "moving")
    }
    seen["moved"] = moves["moved"]
    seen["moving"] = 1 + moves["moving"].index(1) if 1 in moves["moving"] else 0
    for name in ("present", "ghost", "storage", "pit", "tech", "track", "medals", "action_cube"):
        seen[f"player.{name}"] = table.seen[f"players.{name}"][: table.rows].tolist()
    seen |= {f"player.{name}": values for name, values in table.boards().items()}
    seen["player.objectives"] = sum(1 << number for number in table.required)
    return seen


class Table:
    """What lies on the table, from the facts of an observation."""

    def __init__(self, config: Configuration, seen: dict[str, np.ndarray]) -> None:
        self.config, self.seen, self.components = config, seen, config.tables[0]
        self.n = config.num_players
        self.rows = max(2, self.n) if self.n == 1 else self.n
        self.game = {name[5:]: seen[name][0].tolist() for name in seen if name.startswith("game.")}
        self.down = [int(place) - 1 for place in seen["tiles.place"] if place]
        self.tiles: dict[int, int] = {}
        self.owner: dict[int, int] = {}
        self.slots = [[0] * 6 for _ in range(4)]
        self.cubes = [[[0] * 3 for _ in SLOTS] for _ in range(4)]
        self.terraformed = set()
        for number in range(1, 29):
            if seen["planets.status"][number - 1]:
                self.tiles[int(seen["planets.place"][number - 1]) - 1] = number
            if seen["planets.owner"][number - 1]:
                owner, slot = int(seen["planets.owner"][number - 1]) - 1, int(seen["planets.slot"][number - 1])
                self.owner[number], self.slots[owner][slot] = owner, number
                self.cubes[owner][slot] = seen["planets.cubes"][number - 1].tolist()
            if seen["planets.status"][number - 1] == 3:
                self.terraformed.add(number)
        for kind, place in zip(seen["sites.kind"].tolist(), seen["sites.place"].tolist(), strict=True):
            if kind:
                self.tiles[place - 1] = (MINE, TARGET)[kind - 1]
        for row in range(self.rows):
            self.cubes[row][0] = seen["players.earth"][row].tolist()
        every_ship = [*seen["starships.place"].tolist(), *seen["rivals.place"].tolist()]
        self.ships = [
            [place - 1 if place else None for place in every_ship[3 * row : 3 * row + 3]] for row in range(self.n)
        ]
        self.required = [number for number in range(17) if seen["objectives.required"][number]]
        self.hex_of = {body: place for place, body in self.tiles.items()}
        self.occupied = {place for ships in self.ships for place in ships if place is not None}
        self.open = {place: body for place, body in sorted(self.tiles.items()) if body not in self.owner}
        self.free = {place: body for place, body in self.open.items() if place not in self.occupied}
        self.left = 16 - self.game["round"]
        self.tech = seen["players.tech"].tolist()
        self.track = seen["players.track"].tolist()
        self.storage = seen["players.storage"].tolist()
        self.in_space = [
            ship for ship in SHIPS if self.ships[0][ship] is not None and self.ships[0][ship] not in self.tiles
        ]
        self.supply = self.ships[0].count(None)
        self.outside = [
            sum(self.cubes[0][slot][kind] for slot in SLOTS) + self.storage[0][kind] for kind in range(3)
        ]  # fmt: skip

    def planet(self, number: int) -> Any:
        return self.components["planet"][number]

    def zone(self, place: int) -> int:
        return int(self.components["zone"][place])

    def colonies(self, row: int) -> list[int]:
        return [slot for slot in SLOTS[1:] if self.slots[row][slot]]

    def yields(self, row: int, slot: int) -> list[int]:
        number = self.slots[row][slot]
        return self.planet(number)["terraformed" if number in self.terraformed else "colony"].tolist()

    def level(self, tech: int, level: int | None = None) -> Any:
        """A level of a technology, the own one if none is given."""
        return self.components["tech"][tech, self.tech[0][tech] if level is None else level]

    def boards(self) -> dict[str, Any]:
        """What else lies with the players, by the field of the state."""
        found: dict[str, Any] = {name: [] for name in (
            "cubes", "total", "slot", "ship", "ships_in_supply", "ships_in_space", "ships_on_planets", "ships_on_mines",
            "colonies",
            "terraformed", "colonies_of_type", "colonies_in_zone",
        )}  # fmt: skip
        for row in range(self.rows):
            ships = self.ships[row] if row < self.n else []
            bodies = [self.tiles.get(place, 0) for place in ships if place is not None]
            planets = [self.slots[row][slot] for slot in self.colonies(row)]
            kinds = Counter(int(self.planet(number)["kind"]) for number in planets)
            zones = Counter(self.zone(self.hex_of[number]) for number in planets)
            parts = [self.seen["players.storage"][row], self.seen["players.pit"][row], *self.cubes[row]]
            found["cubes"].append(self.cubes[row])
            found["total"].append(np.sum(parts, axis=0).tolist())
            found["slot"].append(self.slots[row])
            found["ship"].append([0 if place is None else place + 1 for place in ships] or [0] * 3)
            found["ships_in_supply"].append(ships.count(None))
            found["ships_in_space"].append(bodies.count(0))
            found["ships_on_mines"].append(bodies.count(MINE))
            found["ships_on_planets"].append(sum(0 < body < MINE for body in bodies))
            found["colonies"].append(len(planets))
            found["terraformed"].append(len(self.terraformed & set(planets)))
            found["colonies_of_type"].append([kinds[kind] for kind in range(5)])
            found["colonies_in_zone"].append([zones[zone] for zone in range(3)])
        return found

    # ------------------------------------------------------------ worths

    @cached_property
    def speed(self) -> int:
        return max(1, int(self.level(0)["benefit"]) + 1)

    def tile_worth(self, place: int, body: int) -> int:
        if body in (MINE, TARGET):
            return {MINE: 190, TARGET: 60}[body]
        if len(self.colonies(0)) == 5 or self.left < 1:
            return 0
        planet = self.planet(body)
        if planet["kind"] == 4 and not self.level(4)["extra"]:
            return 30
        worth = 100 + 100 * int(self.components["zone_vp"][self.zone(place)])
        worth += 50 * int(self.components["colonise_leadership"][planet["kind"]])
        levels = max(0, int(planet["level"]) - 1 - int(self.level(3)["extra"]))
        return worth + (35 - 8 * levels) * int(planet["vp"]) * min(6, self.left) // 6

    def turns(self, steps: int) -> int:
        return -(-steps // self.speed)

    def way(self, place: int, body: int, steps: int) -> int:
        turns = self.turns(steps)
        if turns + (body < MINE) > self.left:
            return 0
        return self.tile_worth(place, body) * round(1024 * 0.86**turns) // 1024

    def less_by_rivals(self, worth: int, place: int, steps: int, ship: int | None) -> int:
        for other in self.in_space:
            if other != ship and steps_between(self.ships[0][other], place) < steps:
                worth = worth * 30 // 100
        return worth

    def best_ways(self, starts: list[int], ship: int | None) -> list[tuple[int, int, int]]:
        """(worth, tile, steps) of the best tiles to go to from the nearest start, those first that lie first."""
        found = []
        for place, body in self.free.items():
            steps = min(steps_between(start, place) for start in starts)
            worth = self.less_by_rivals(self.way(place, body, steps), place, steps, ship)
            if worth > 0:
                found.append((worth, place, steps))
        return sorted(found, key=lambda way: -way[0])

    def best_from_sol(self) -> int:
        return max((worth for worth, _, _ in self.best_ways([int(self.components["sol"])], None)), default=0)

    def step_worth(self, track: int) -> int:
        space = self.track[0][track] + 1
        if space > 20:
            return 0
        worth = 50 if self.left else 100 * int(np.diff(self.components["track_vp"][track])[space - 1])
        worth += 80 * (space in self.medals(track)) + 25 * (self.components["icon"][track, space] > 0)
        return int(worth + 42 * int(self.seen["tracks.card_medals"][track]) * (self.ahead(track) < 0))

    def medals(self, track: int) -> list[int]:
        """Spaces of the medals that are still there."""
        there = self.seen["tracks.medals"][track]
        return [int(space) for space, lies in zip(self.components["medal_space"][track], there, strict=True) if lies]

    def ahead(self, track: int) -> int:
        return self.track[0][track] - max(row[track] for row in self.track[1 : self.rows])

    def lacking(self, slot: int, cost: Any) -> list[int]:
        return [max(0, int(price) - held) for price, held in zip(cost, self.cubes[0][slot], strict=True)]

    def public_points(self, row: int) -> int:
        t = self.components
        planets = [self.slots[row][slot] for slot in self.colonies(row)]
        kinds = Counter(int(self.planet(number)["kind"]) for number in planets)
        points = int(t["vp_antimatter"]) * sum(cubes[2] for cubes in self.cubes[row])
        points += int(t["vp_five_types"]) * (len(kinds) == 5)
        points += int(t["vp_three_of_a_type"]) * (max(kinds.values(), default=0) >= 3)
        points += int(t["vp_mine"]) * sum(self.tiles.get(place) == MINE for place in self.ships[row])
        points += int(t["vp_max_technology"]) * self.tech[row].count(4)
        points += int(t["vp_medal"]) * int(self.seen["players.medals"][row].sum())
        points += sum(int(t["zone_vp"][self.zone(self.hex_of[number])]) for number in planets)
        points += sum(int(t["track_vp"][track, space]) for track, space in enumerate(self.track[row]))
        return points + sum(int(self.planet(number)["vp"]) for number in planets if number in self.terraformed)

    # ------------------------------------------------------------ the map

    def is_space(self, place: int) -> bool:
        return bool(self.components["terrain"][place] == 0)

    def reachable(self, start: int, points: int) -> set[int]:
        """Where a starship can end: breadth first, hex by hex."""
        found: set[int] = set()
        frontier, seen = [start], {start}
        for _ in range(points):
            following = []
            for place in frontier:
                for other in NEIGHBOURS[place]:
                    if other in seen or not self.is_space(other) or other in self.down:
                        continue
                    if other not in self.tiles:
                        seen.add(other)
                        following.append(other)
                    if other not in self.occupied and self.tiles.get(other) not in self.owner:
                        found.add(other)
            frontier = following
        return found

    def free_hexes_around(self, centre: int) -> set[int]:
        taken = {*self.down, *self.tiles, *self.occupied}
        free = [place for place in range(418) if self.is_space(place) and place not in taken]
        nearest = min(steps_between(place, centre) for place in free)
        return {place for place in free if steps_between(place, centre) == nearest}

    def homes(self) -> list[int]:
        """Sol and the own colonies, or the one beside which a starship is placed."""
        places = [int(self.components["sol"])] + [self.hex_of[self.slots[0][slot]] for slot in self.colonies(0)]
        paid = self.game["place_slot"]
        return places if not paid else [places[paid - 1]]


# ---------------------------------------------------------------- what follows

TRACK_NODES = (Node.MAIN_ACTION, Node.BONUS_ACTION, Node.MAPPING_TRACK)
TECHNOLOGY_NODES = (Node.FIRST_TECHNOLOGY, Node.TECHNOLOGICAL_DEVELOPMENT, Node.CARD_TECHNOLOGY)
STARSHIP_NODES = (
    Node.MAIN_ACTION, Node.COLONY_SEEDING, Node.MOVEMENT, Node.MOVER, Node.GOING_ON, Node.WITHDRAWAL,
)  # fmt: skip
WAY_NODES = (Node.MOVEMENT, Node.GOING_ON, Node.PLACE)
SLOT_NODES = (
    Node.SOLO_BONUS, Node.MAIN_ACTION, Node.SPACE_MISSIONS, Node.DEVELOPMENT_PAYMENT, Node.TERRAFORMING,
    Node.ENERGY_STORAGE,
    Node.PLANETARY_EXPLOITATION, Node.ANTIMATTER_GENERATION, Node.BONUS_BURN, Node.BONUS_ANTIMATTER, Node.CARD_BURN,
    Node.CARD_PRODUCTION, Node.CARD_EXPLOITATION, Node.CARD_REGENERATION, Node.REWARD_REGENERATION,
    Node.REWARD_PRODUCTION,
)  # fmt: skip


def derived(config: Configuration, seen: dict[str, np.ndarray]) -> dict[str, Any]:
    table, layout = Table(config, seen), config.observation
    found = {piece.name: np.zeros(piece.shape, int) for piece in layout if piece.derived}
    for part in (the_points, the_card, the_constants, the_objectives):
        part(table, found)
    node = Node(int(table.game["node"]))
    if table.game["to_move"] != 1 or node == Node.OVER:
        return found
    own_slots = np.any([table.game[name] for name in ("conversions", "allocations")])
    for part, nodes in (
        (the_tracks, TRACK_NODES), (the_technologies, TECHNOLOGY_NODES), (the_starships, STARSHIP_NODES),
        (the_tiles, WAY_NODES),
        (the_ways, WAY_NODES), (the_slots, tuple(Node) if own_slots else SLOT_NODES),
        (the_focus, (Node.GOING_ON, Node.PLACE)),
        (the_aims, (Node.MAIN_ACTION, Node.MOVEMENT, Node.MOVER, Node.GOING_ON)), (the_bonuses, (Node.BONUS_ACTION,)),
        (the_actions, (Node.MAIN_ACTION,)),
    ):  # fmt: skip
        if node in nodes:
            part(table, found)
    if node == Node.SPACE_MISSIONS:
        found["game.new_ship"][0] = new_ship(table)
    return found


def current_card(table: Table) -> Any:
    return table.components["card"][table.game["card"]]


def the_points(table: Table, found: dict[str, Any]) -> None:
    boards = table.boards()
    points = [table.public_points(row) for row in range(table.n)]
    for name in (
        "ships_in_supply", "ships_in_space", "ships_on_planets", "ships_on_mines", "colonies", "terraformed",
        "colonies_of_type", "colonies_in_zone",
    ):  # fmt: skip
        for row in range(table.n):
            found[f"players.{name}"][row] = boards[name][row]
    found["players.public_vp"][: table.n] = points
    best = max(points[1:]) if table.n > 1 else int(table.components["minimum_score"][table.game["level"]])
    found["game.lead"][0] = points[0] - best


def the_card(table: Table, found: dict[str, Any]) -> None:
    if table.game["card"]:
        card = current_card(table)
        subject = card["tech"] + 1 if card["who"] >= Who.HIGHEST_TECH else 0
        values = {
            "who": card["who"] + 1, "what": card["what"] + 1, "count": card["count"], "burns": card["burns"],
            "subject": subject or (card["track"] + 1 if card["what"] == What.TRACK else 0),
            "produced": card["produced"],
        }  # fmt: skip
        for name, value in values.items():
            found[f"game.{name}"][0] = value


def the_constants(table: Table, found: dict[str, Any]) -> None:
    """What the component file says."""
    t = table.components
    in_play = t["planet"]["min_players"][1:] <= table.game["tile_group"]
    found["planets.card"][:] = np.where(in_play, np.arange(1, 29), 0)
    for action in range(9):
        found["main_actions.column"][action], found["main_actions.row"][action] = (
            1 + one for one in bonuses(table, action)
        )


def bonuses(table: Table, action: int) -> list[int]:
    """Those of the column and the row of a main action."""
    return [number for number in range(6) if int(table.components["bonus_of"][action]) >> number & 1]


def the_focus(table: Table, found: dict[str, Any]) -> None:
    found["game.focus"][0] = focus(table)


def new_ship(table: Table) -> int:
    return table.best_from_sol() if table.supply else 0


def burn_cost(table: Table) -> int:
    cubes = sum(table.outside[:2])
    return 200 if cubes == 0 else min(150, 10 + 28 * table.left // cubes)


def focus(table: Table) -> int:
    game = table.game
    if game["node"] == Node.GOING_ON:
        moving = table.seen["starships.moving"].tolist().index(1)
        return int(table.seen["starships.place"][moving])
    if game["source"] == 0:
        number = table.slots[0][game["place_slot"] - 1]
        return 1 + (table.hex_of[number] if number else int(table.components["sol"]))
    return 0


def benefits(table: Table, card: Any) -> bool:
    compared = {
        Who.ALL: lambda row: 0, Who.FEWEST_COLONIES: lambda row: -len(table.colonies(row)),
        Who.HIGHEST_COLONIAL: lambda row: table.track[row][0], Who.LOWEST_COLONIAL: lambda row: -table.track[row][0],
        Who.HIGHEST_TECHNOLOGICAL: lambda row: table.track[row][1],
        Who.LOWEST_TECHNOLOGICAL: lambda row: -table.track[row][1],
        Who.HIGHEST_TECH: lambda row: table.tech[row][card["tech"]],
        Who.LOWEST_TECH: lambda row: -table.tech[row][card["tech"]],
    }[Who(int(card["who"]))]  # fmt: skip
    return compared(0) == max(compared(row) for row in range(table.rows))


def the_tracks(table: Table, found: dict[str, Any]) -> None:
    for track in range(2):
        space = table.track[0][track]
        icons = [other - space for other in range(space + 1, 21) if table.components["icon"][track, other]]
        values = {
            "space": space, "ahead": table.ahead(track), "worth": table.step_worth(track),
            "steps_to_icon": min(icons, default=0),
        }  # fmt: skip
        if space < 20:
            values["next_points"] = int(np.diff(table.components["track_vp"][track])[space])
            values["next_medal"] = space + 1 in table.medals(track)
            values["next_icon"] = int(table.components["icon"][track, space + 1])
        for name, value in values.items():
            found[f"tracks.{name}"][track] = value


LEVEL_WORTH = (
    (160, 100, 80, 80), (10, 20, 30, 40), (100, 80, 80, 60), (140, 140, 180, 100), (100, 20, 120, 40),
)  # fmt: skip


def level_worth(table: Table, tech: int, level: int) -> int:
    worth = LEVEL_WORTH[tech][level - 1] * table.left // 16 + 50 * int(table.level(tech, level)["leadership"]) + 30
    worth += 100 * int(table.components["vp_max_technology"]) if level == 4 else 35 if table.left else 0
    return worth - (10 * (level - 1) if table.left else 0)


def the_technologies(table: Table, found: dict[str, Any]) -> None:
    own_slots = [0, *table.colonies(0)]
    for tech in range(5):
        level = table.tech[0][tech] + 1
        now = table.level(tech)
        others = [table.tech[row][tech] for row in range(1, table.rows)]
        values = {"benefit": int(now["benefit"]), "extra": int(now["extra"]), "others": max(others)}
        if level <= 4:
            row = table.level(tech, level)
            lacking = [sum(table.lacking(slot, row["cost"])) for slot in own_slots]
            worth = level_worth(table, tech, level)
            values |= {
                "next": 4 * tech + level, "cost": row["cost"], "lacking": min(lacking), "payers": lacking.count(0),
                "leadership": row["leadership"], "points": table.components["vp_max_technology"] if level == 4 else 0,
                "more": row["benefit"] - now["benefit"], "more_extra": row["extra"] - now["extra"], "worth": worth,
                "raised": sum(table.tech[other][tech] < row["unlock"] for other in range(1, table.n)),
            }  # fmt: skip
            card = current_card(table)
            if table.game["card"] and card["what"] == What.FREE_TECH and level <= card["count"]:
                values["burned"] = level - 1 if card["burns"] else 0
                values["for_free"] = values["burned"] <= sum(table.outside)
        for name, value in values.items():
            found[f"technologies.{name}"][tech] = value


def the_slots(table: Table, found: dict[str, Any]) -> None:
    t = table.components
    for slot in [0, *table.colonies(0)]:
        held = table.cubes[0][slot]
        values: dict[str, Any] = {"cubes": held, "pays_ships": held[0] if table.level(0)["extra"] else min(held[:2])}
        number = table.slots[0][slot]
        if slot == 0:
            values |= {"terraformed": 1, "energy": 100, "antimatter": 100, "any": 100}
        else:
            planet = table.planet(number)
            made = table.yields(0, slot)
            found["resources.production"][:] += made
            values |= {
                "of": number, "production": made, "producible": sum(map(min, made, table.storage[0])),
                "exploited": table.seen["planets.exploited"][number - 1],
            }  # fmt: skip
            base = 10 * int(planet["colony"][:2].sum())
            if number in table.terraformed:
                values |= {"terraformed": 1, "energy": base + 10, "antimatter": base + 10, "any": base + 10}
            else:
                lacking = table.lacking(slot, planet["cost"])
                levels = max(0, int(planet["level"]) - int(table.level(3)["extra"]))
                found["resources.lacking"][:] += lacking
                vp, lead = int(planet["vp"]), int(t["terraform_leadership"][planet["kind"]])
                share = max(5, 90 - 14 * sum(lacking) - 20 * levels)
                cube = [(120 + 10 * vp - 10 * less - 10 * int(planet["level"])) * (less > 0) for less in lacking]
                values |= {
                    "vp": vp, "leadership": lead, "lacking": lacking, "missing": sum(lacking), "missing_levels": levels,
                    "ready": not sum(lacking) and not levels,
                    "share": share * (100 * vp + 50 * lead) * min(4, table.left) // 400,
                    "energy": base + cube[0], "antimatter": base + cube[2], "any": base + sum(cube),
                }  # fmt: skip
        for name, value in values.items():
            found[f"slots.{name}"][slot] = value


def the_tiles(table: Table, found: dict[str, Any]) -> None:
    sites = 0
    for place, body in table.open.items():
        name, row = ("planets", body - 1) if body < MINE else ("sites", sites)
        sites += body >= MINE
        found[f"{name}.worth"][row] = table.tile_worth(place, body)


def where(table: Table, place: int | None) -> int:
    if place is None:
        return 0
    body = table.tiles.get(place, 0)
    return 1 if body == 0 else 3 if body == MINE else 2


def the_starships(table: Table, found: dict[str, Any]) -> None:
    for ship, place in enumerate(table.ships[0]):
        found["starships.where"][ship] = where(table, place)
        if place is not None and 0 < table.tiles.get(place, 0) < MINE:
            kind = int(table.planet(table.tiles[place])["kind"])
            found["starships.worth"][ship] = table.tile_worth(place, table.tiles[place])
            found["starships.seeds"][ship] = len(table.colonies(0)) < 5 and (kind != 4 or table.level(4)["extra"] > 0)
            found["starships.leadership"][ship] = table.components["colonise_leadership"][kind]
            found["starships.points"][ship] = table.components["zone_vp"][table.zone(place)]


def the_aims(table: Table, found: dict[str, Any]) -> int:
    """The best way of each starship in empty space; the worth of all."""
    worths = 0
    for ship in table.in_space:
        place = table.ships[0][ship]
        for worth, target, steps in table.best_ways([place], ship)[:1]:
            for name, value in (
                ("target", target + 1),
                ("steps", steps),
                ("turns", table.turns(steps)),
                ("worth", worth),
            ):
                found[f"starships.{name}"][ship] = value
            worths += worth
    return worths


def the_objectives(table: Table, found: dict[str, Any]) -> None:
    rows = table.components["objective"]
    found["objectives.test"][:], found["objectives.wanted"][:] = rows["test"] + 1, rows["count"]
    found["objectives.vp"][:] = rows["vp"]
    for number in table.required:
        have = achieved(table, Requirement(int(rows[number]["test"])), int(rows[number]["subject"]))
        found["objectives.have"][number] = have
        found["objectives.satisfied"][number] = have >= rows[number]["count"]


def achieved(table: Table, test: Requirement, subject: int) -> int:
    planets = [table.slots[0][slot] for slot in table.colonies(0)]
    done = [number for number in planets if number in table.terraformed]
    kind = lambda number: int(table.planet(number)["kind"])  # noqa: E731
    zones = [table.zone(table.hex_of[number]) for number in planets]
    return {
        Requirement.TERRAFORMED_TYPE: lambda: sum(kind(number) == subject for number in done),
        Requirement.TERRAFORMED_ZONE: lambda: sum(table.zone(table.hex_of[number]) == subject for number in done),
        Requirement.COLONISED_ZONE: lambda: zones.count(subject),
        Requirement.COLONISED_EACH_ZONE: lambda: min(zones.count(zone) for zone in range(3)),
        Requirement.COLONISED_TYPE: lambda: sum(kind(number) == subject for number in planets),
        Requirement.COLONISED_TYPES: lambda: len({kind(number) for number in planets}),
        Requirement.COLONISED_TOTAL: lambda: len(planets),
        Requirement.TERRAFORMED_TOTAL: lambda: len(done),
        Requirement.TERRAFORMED_SAME_TYPE: lambda: max(Counter(map(kind, done)).values(), default=0),
        Requirement.TECHS_AT_LEVEL: lambda: sum(level >= subject for level in table.tech[0]),
        Requirement.ANTIMATTER_ON_PLANETS: lambda: sum(cubes[2] for cubes in table.cubes[0]),
        Requirement.TRACK: lambda: table.track[0][subject],
    }[test]()  # fmt: skip


def the_ways(table: Table, found: dict[str, Any]) -> None:
    game = table.game
    if game["node"] == Node.PLACE:
        legal = set().union(*(table.free_hexes_around(home) for home in table.homes()))
        write_ways(table, found, 0, table.best_ways(table.homes(), None), legal)
        return
    moving = table.seen["starships.moving"].tolist()
    for ship in table.in_space:
        going_on = 1 in moving
        if moving[ship] if going_on else not table.seen["starships.moved"][ship]:
            place = table.ships[0][ship]
            legal = table.reachable(place, game["points"] if going_on else game["speed"])
            if legal:
                write_ways(table, found, ship + 1, table.best_ways([place], ship), legal)


def write_ways(
    table: Table, found: dict[str, Any], ship: int, ways: list[tuple[int, int, int]], legal: set[int]
) -> None:
    first = 2 * max(0, ship - 1)
    found["ways.chosen"][first] = bool(ways) and not found["ways.chosen"].any()
    for row, (worth, target, _) in enumerate(ways[:2], first):
        steps = {place: steps_between(place, target) for place in sorted(legal)}
        near = min(steps, key=lambda place: steps[place])
        soon = min(steps, key=lambda place: table.turns(steps[place]))
        values = {
            "ship": ship,
            "target": target + 1,
            "near": near + 1,
            "soon": soon + 1,
            "steps": steps[near],
            "worth": worth,
        }
        for name, value in values.items():
            found[f"ways.{name}"][row] = value


def the_bonuses(table: Table, found: dict[str, Any]) -> None:
    """At BONUS_ACTION: those that are offered."""
    offered = bonuses(table, int(table.seen["players.action_cube"][0]))
    ship = new_ship(table) if 0 in offered else 0
    flights = the_aims(table, found) if 4 in offered else 0
    write_bonuses(table, found, ship, flights)
    for number in set(range(6)) - set(offered):
        found["bonus_actions.worth"][number] = 0


def write_bonuses(table: Table, found: dict[str, Any], ship: int, flights: int) -> None:
    storage = table.storage[0]
    found["bonus_actions.offered"][bonuses(table, int(table.seen["players.action_cube"][0]))] = 1
    found["bonus_actions.worth"][:] = [
        60 * ship // 100, 100 if storage[2] else 0, table.step_worth(1), table.step_worth(0),
        25 * flights // 100, 50 * min(3, table.left) // 3 if storage[0] + storage[1] else 0,
    ]  # fmt: skip
    found["game.new_ship"][0], found["game.burn_cost"][0] = ship, burn_cost(table)


def the_actions(table: Table, found: dict[str, Any]) -> None:
    t, soon, storage = table.components, min(3, table.left), table.storage[0]
    found["game.for_me"][0] = benefits(table, current_card(table))
    ship, flights = new_ship(table), sum(int(found["starships.worth"][ship]) for ship in table.in_space)
    write_bonuses(table, found, ship, flights)
    for action in range(9):
        worths = found["bonus_actions.worth"][bonuses(table, action)]
        found["main_actions.bonus_worth"][action] = np.maximum(0, worths - burn_cost(table)).sum()
    ready = [table.slots[0][slot] for slot in table.colonies(0) if found["slots.ready"][slot]]
    seeds = [ship for ship in SHIPS if found["starships.seeds"][ship]][: 5 - len(table.colonies(0))]
    built = min(int(found["slots.pays_ships"].sum()), int(t["ships_per_mission"]), table.supply)
    levels = [(tech, level + 1) for tech, level in enumerate(table.tech[0]) if level < 4]
    own_slots = [0, *table.colonies(0)]
    payable = [
        (tech, level) for tech, level in levels
        if any(not sum(table.lacking(slot, table.level(tech, level)["cost"])) for slot in own_slots)
    ]  # fmt: skip
    speed = int(table.level(0)["benefit"]) if table.in_space else 0
    energy = min(int(table.level(2)["benefit"]), storage[0])
    producible = found["slots.producible"].tolist()
    exploited = min(sum(amount > 0 for amount in producible), int(table.level(3)["benefit"]))
    antimatter = min(int(table.level(4)["benefit"]), storage[2])
    kinds = [int(table.planet(number)["kind"]) for number in ready]
    values = [
        (built, built * ship * 85 // 100),
        (len(seeds),
         sum(100 * found["starships.points"][ship] + 50 * found["starships.leadership"][ship] for ship in seeds)),
        (len(payable), max((level_worth(table, tech, level) for tech, level in payable), default=0)),
        (speed, flights * 14 // 100 if speed else 0),
        (len(ready), sum(100 * int(table.planet(number)["vp"]) + 50 * int(t["terraform_leadership"][kind])
                         for number, kind in zip(ready, kinds, strict=True))),
        (min(int(t["reveals"]), len(table.down)), max(table.step_worth(0), table.step_worth(1))),
        (energy, 16 * energy * soon // 3),
        (exploited, 16 * exploited * max(producible) * soon // 3),
        (antimatter, antimatter * max(0, 100 * int(t["vp_antimatter"]) - 40 * soon // 3)),
    ]  # fmt: skip
    for action, (amount, worth) in enumerate(values):
        found["main_actions.amount"][action], found["main_actions.worth"][action] = amount, worth
