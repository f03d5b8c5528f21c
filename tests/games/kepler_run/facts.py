"""What a seat knows of a position of Kepler Run, what it can read off its observation, and what follows from that.

Nothing here looks at compiled code; the search for the fuel of a flight tries all ways to use tools.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs import Configuration
from kepler_envs.games.kepler_run.state import Node
from tests.games.kepler_run.flights import JUMP, SLING, farthest, fuel_to_places, least_fuel, two_of_a_kind

REFUEL, REROUTE, OUTPOST = 1, 2, 3
KEPLER = 6
AHEAD = 4  # fuel beyond what there is that plans in the draft look at
USES = ("as_sector", "as_part", "as_module", "as_special")
MOST = 9999
NOTHING = -MOST
WHICH_CARD = "which card it is makes no difference any more; what is printed on it is a fact of its own"

HIDDEN = {
    "rng": "chance to come",
    "deck": "the order of the deck",
    "decisions": "counts what was asked, nothing of the game",
    "end": "follows from the node",
    "reward_mode": "an option",
    "shaping": "an option",
    "pending_card": WHICH_CARD,
    "run_card": WHICH_CARD,
    "row_card": WHICH_CARD,
    "player.part_card": WHICH_CARD,
    "player.delivery_card": WHICH_CARD,
    "player.ship": "a colour; its built-in type counts",
    "player.vp_from": "only the sum counts",
    "player.vp_paid": "what shaping rewards have paid",
}

GAME = (
    "round_index",
    "num_players",
    "draft_pos",
    "run_length",
    "deck_count",
    "pending_action",
    "pending_type",
    "arrivals",
    "committed_count",
)
SECTOR = ("type", "cost", "asteroids", "comets", "stations")
CARD = (*SECTOR, "wrenches", "part", "dots", "action", "vp")
PLAYER = (
    "present", "order_position", "vp", "modules", "fuel", "disks", "built_in", "hand", "tank", "flown", "committed",
    "revealed",
    "booster_used", "deliveries", "delivered",
)  # fmt: skip


# ---------------------------------------------------------------- facts


def facts_known(config: Configuration, state: Any, seat: int) -> dict[str, Any]:
    """Of the state, with the seats turned to the observer."""
    n = config.num_players
    seats = [(seat + distance) % n for distance in range(n)]
    relative = {absolute: distance for distance, absolute in enumerate(seats)}

    def owners(fields: Any) -> list[int]:
        return [relative[int(field) - 1] + 1 if field else 0 for field in fields]

    players = state["player"][seats]
    facts = {name: int(state[name]) for name in ("node", *GAME)}
    facts |= {f"run.{name}": state["run"][name] for name in SECTOR}
    facts |= {"run.disk": owners(state["run"]["disk"])}
    facts |= {f"row.{name}": state["row"][name] for name in CARD}
    facts |= {f"player.{name}": players[name] for name in (*PLAYER, "place", "reach", "icons")}
    facts |= {f"player.parts.{name}": players["parts"][name] for name in ("part", "dots", "used")}
    facts |= {"player.part_count": players["part_count"], "player.delivery_count": players["delivery_count"]}
    facts |= {"player.contract": int(players["contract"][0])}
    facts |= {"seat": relative[int(state["seat"])], "order": [relative[int(one)] for one in state["order"][:n]]}
    facts |= {"completed_by": owners(state["completed_by"]), "unseen": state["unseen"]}
    facts |= {name: int(state[name]) for name in ("leaving_cost", "row_set", "disk_set", "free_stations")}
    return facts


def facts_seen(config: Configuration, observation: np.ndarray) -> dict[str, Any]:
    """The same from the observation alone."""
    layout, n = config.observation, config.num_players
    seen = layout.names(observation)
    view = View(config, seen)
    sectors = slice(1, len(seen["places.type"]) - 1)
    facts = {"node": view.node, "round_index": int(seen["game.round"][0])}
    facts |= {name: int(seen[f"game.{name}"][0]) for name in GAME[1:]}
    facts |= {f"run.{name}": seen[f"places.{name}"][sectors] for name in (*SECTOR, "disk")}
    facts["run.type"] = np.where(facts["run.type"] == KEPLER, 0, facts["run.type"])
    facts |= {f"row.{name}": seen[f"row.{name}"] for name in CARD}
    facts |= {f"player.{name}": seen[f"players.{name}"][:n] for name in PLAYER}
    facts["player.place"] = seen["players.place"][:n] - 1
    facts["player.reach"], facts["player.icons"] = view.reaches()
    tools = {"part": "part", "dots": "fuel", "used": "used"}
    own = {name: seen[f"ways.{field}"][None, 2:8] for name, field in tools.items()}
    others = {name: seen[f"parts.{field}"].reshape(4, 6)[: n - 1] for name, field in tools.items()}
    facts |= {f"player.parts.{name}": np.concatenate([own[name], others[name]]) for name in tools}
    facts["player.part_count"] = (facts["player.parts.part"] > 0).sum(axis=1)
    facts["player.delivery_count"] = facts["player.deliveries"].sum(axis=1)
    chosen = np.flatnonzero(seen["contracts.chosen"])
    facts["player.contract"] = int(chosen[0]) + 1 if len(chosen) else 0
    facts["seat"] = int(seen["game.decider"][0]) - 1
    facts["order"] = seen["game.order"][0, :n] - 1
    facts["completed_by"] = seen["contracts.completed_by"]
    facts["unseen"] = seen["deck.unseen"]
    facts["leaving_cost"] = view.leaving_cost()
    facts["row_set"] = sum(1 << slot for slot, kind in enumerate(seen["row.type"]) if kind)
    facts["disk_set"] = sum(1 << index for index, disk in enumerate(facts["run.disk"]) if disk)
    facts["free_stations"] = sum(1 << place - 1 for place in view.free_stations())
    return facts


# ---------------------------------------------------------------- what follows


def derived(config: Configuration, seen: dict[str, Any]) -> dict[str, Any]:
    """The derived pieces by name."""
    view = View(config, seen)
    out = {piece.name: np.zeros(piece.shape, np.int64) for piece in config.observation if piece.derived}
    reach, icons = view.reaches()
    out["players.reach"][: view.n], out["players.icons"][: view.n] = reach, icons
    if int(seen["game.decider"][0]) == 1 and view.node != Node.OVER:
        Prospects(view, out).write()
    return out


def cut(worth: float) -> int:
    return int(max(-MOST, min(MOST, worth)))


class View:
    """The facts of an observation as a player would say them; the observer is player 0."""

    def __init__(self, config: Configuration, seen: dict[str, Any]) -> None:
        self.seen, self.table, self.n = seen, config.tables[0], config.num_players
        self.node, self.length = int(seen["game.node"][0]), int(seen["game.run_length"][0])
        self.rounds = self.number("rounds") - 1 - int(seen["game.round"][0])  # to come
        self.fuel_worth = 45 if self.rounds > 0 else 2

    def number(self, name: str) -> int:
        return int(self.table[name])

    def player(self, seat: int, field: str) -> int:
        return int(self.seen[f"players.{field}"][seat])

    def sector(self, place: int, field: str) -> int:
        return int(self.seen[f"places.{field}"][place])

    def icons(self, place: int) -> list[int]:
        return [self.sector(place, name) for name in ("asteroids", "comets", "stations")]

    def cost(self, place: int, seat: int = 0) -> int:
        """To leave a place without tools."""
        if place == 0:
            return self.number("port_cost")
        free = place > self.length or self.sector(place, "type") == self.player(seat, "built_in")
        return 0 if free else self.sector(place, "cost")

    def leaving_cost(self) -> int:
        flyer = int(self.seen["game.decider"][0]) - 1
        return self.cost(self.player(flyer, "place") - 1, flyer) if self.node == Node.FLY else 0

    def free_stations(self) -> list[int]:
        """Places."""
        return [p for p in range(1, self.length + 1) if self.sector(p, "stations") and not self.sector(p, "disk")]

    def tools(self, seat: int, all_of_them: bool = False) -> list[tuple[int, int]]:
        """(kind, fuel) of each that is not used, the booster first; at takeoff all of them."""
        table, rows = ("ways", range(2, 8)) if seat == 0 else ("parts", range(6 * seat - 6, 6 * seat))
        found = [(JUMP, self.number("booster_dots"))] if all_of_them or not self.player(seat, "booster_used") else []
        for row in rows:
            kind, fuel, used = (int(self.seen[f"{table}.{name}"][row]) for name in ("part", "fuel", "used"))
            if kind and (all_of_them or not used):
                found.append((kind, fuel))
        return found

    def reaches(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each player the farthest place, and the icons on the way there."""
        reach, icons = np.zeros(self.n, int), np.zeros((self.n, 3), int)
        if self.node == Node.OVER:
            return reach, icons
        for seat in range(self.n):
            flying = self.node == Node.FLY and int(self.seen["game.decider"][0]) == seat + 1
            if self.player(seat, "flown") or flying:
                reach[seat] = self.player(seat, "place") - 1
            else:
                fuel = self.player(seat, "modules") + self.player(seat, "fuel")
                reach[seat] = farthest(self.fuel_to_places(seat, 0, self.tools(seat, True), fuel))
            for place in range(1, min(reach[seat], self.length) + 1):
                icons[seat] += self.icons(place)
        return reach, icons

    def sectors(self, seat: int = 0) -> list[tuple[int, int]]:
        return [(self.sector(place, "type"), self.cost(place, seat)) for place in range(1, self.length + 1)]

    def fuel_to_places(self, seat: int, start: int, tools: list[tuple[int, int]], budget: int) -> dict[int, int]:
        return fuel_to_places(self.sectors(seat), self.number("port_cost"), tools, start, budget)


class Prospects:
    """What the deciding seat works out, in hundredths of points."""

    def __init__(self, view: View, out: dict[str, np.ndarray]) -> None:
        self.view, self.out = view, out
        self.flying, self.drafting = view.node == Node.FLY, view.node in (Node.DRAFT, Node.TARGET)
        self.start = view.player(0, "place") - 1 if self.flying else 0
        self.tank = view.player(0, "tank" if self.flying else "modules")
        self.ship = 0 if self.flying else view.player(0, "fuel")
        self.reach, self.icons = view.reaches()
        self.deliveries = np.asarray(view.seen["players.deliveries"][0], int) * (1 - view.seen["players.delivered"][0])
        if view.node == Node.TARGET:
            self.deliveries[int(view.seen["game.pending_type"][0]) - 1] += 1
        self.limit = self.tank + self.ship + AHEAD * self.drafting
        self.fuel = view.fuel_to_places(0, self.start, view.tools(0), self.limit)
        self.beyond = self.fuel.get(view.length + 1)
        self.unknown = 0
        if self.drafting:
            self.picks = 2 * view.n - int(view.seen["game.draft_pos"][0]) - 1
            self.unknown = (160 + 64 * self.picks + 50) // 100 if self.picks > 0 else 0
            if self.beyond is not None:
                self.fuel[view.length + 1] += self.unknown
        chosen = np.flatnonzero(view.seen["contracts.chosen"])
        hand = np.flatnonzero(view.seen["players.hand"][0])
        self.contracts = [int(contract) for contract in (chosen if len(chosen) else hand)]
        self.entered = range(self.start + 1, view.length + 1)

    def write(self) -> None:
        view, out = self.view, self.out
        for place, fuel in self.fuel.items():
            out["places.fuel"][place] = 1 + fuel
        self.ends = {place: max(self.end_worth(place, k) for k in self.contracts) for place in self.fuel}
        for place, worth in self.ends.items():
            out["places.worth"][place] = cut(worth)
        worth = {
            (place, k): self.end_worth(place, k) - self.load_worth(self.load(place))
            for place in self.fuel
            for k in self.contracts
            if self.load(place) <= self.ship
        }
        self.best = max(worth.values())
        contract = min(k for (_, k), value in worth.items() if value == self.best)
        self.end = min(place for (place, k), value in worth.items() if value == self.best and k == contract)
        out["game.best"][0], out["game.end"][0] = cut(self.best), self.end + 1
        if self.flying:
            out["game.next"][0] = self.start + 2
            self.write_ways(worth)
        elif view.node == Node.LOAD:
            self.write_loads(worth)
        elif view.node == Node.CONTRACT:
            out["contracts.best"][contract] = 1
            for k in self.contracts:
                most = max(value for (_, other), value in worth.items() if other == k)
                out["contracts.behind"][k] = cut(self.best - most)
        elif view.node == Node.TARGET:
            Draft(self).write_aims()
        else:
            Draft(self).write_row()

    # ------------------------------------------------------------ ends of a flight

    def load(self, place: int) -> int:
        """Fuel from the ship that a flight takes; below 0 what is left in the tank."""
        return self.fuel[place] - self.tank

    def load_worth(self, load: int) -> int:
        return load * self.view.fuel_worth if load > 0 else load

    def delivery(self, kind: int) -> int:
        return 100 * self.view.number("delivery_vp") * int(self.deliveries[kind - 1])

    def on_the_way(self, places: list[int]) -> int:
        """Deliveries, and fuel from own stations, in these sectors."""
        view, worth = self.view, 0
        for kind in {view.sector(place, "type") for place in places}:
            worth += self.delivery(kind)
        return worth + self.visit() * sum(view.sector(place, "disk") == 1 for place in places)

    def visit(self) -> int:
        return self.view.number("station_fuel") * self.view.fuel_worth

    def crossed(self, place: int, k: int) -> int:
        return sum(self.view.icons(sector)[k] for sector in range(1, min(place, self.view.length) + 1))

    def contract_worth(self, k: int, crossed: int, more: int = 0) -> int:
        """``more``: icons that rivals cross who could reach Kepler, if the run grows."""
        view = self.view
        consolation = crossed * self.consolation(k)
        if crossed == 0 or view.seen["contracts.completed_by"][k]:
            return consolation
        prize, ahead, all_in_all = 100 * int(view.table["complete_vp"][k]), 1, 1
        for rival in range(1, view.n):
            hand = view.seen["players.hand"][rival]
            earlier = view.player(rival, "order_position") < view.player(0, "order_position")
            theirs = int(self.icons[rival][k]) + more * (self.reach[rival] > view.length)
            if hand[k] and (theirs > crossed or (theirs == crossed and earlier)):
                ahead *= int(hand.sum()) - 1
                all_in_all *= int(hand.sum())
        return consolation + (prize - consolation) * ahead // all_in_all

    def consolation(self, k: int) -> int:
        """For each icon."""
        table = self.view.table
        return 100 * int(table["secondary_vp"][k]) + int(table["secondary_fuel"][k]) * self.view.fuel_worth

    def kepler_worth(self) -> int:
        view = self.view
        earlier = [r for r in range(1, view.n) if view.player(r, "order_position") < view.player(0, "order_position")]
        first = not view.seen["game.arrivals"][0] and not any(self.reach[rival] > view.length for rival in earlier)
        return 100 * view.number("first_arrival_vp" if first else "later_arrival_vp")

    def station(self) -> int:
        return 100 * self.view.number("station_vp") + 50 * self.view.rounds

    def closest(self) -> int:
        return 60 if self.view.rounds > 0 else 250

    def station_worth(self, place: int) -> int:
        view = self.view
        farther = any(view.sector(other, "disk") for other in range(place + 1, view.length + 1))
        return self.station() + self.closest() * (not farther)

    def own_station(self, place: int) -> int:
        """What an end at a place is worth for a disk."""
        free = place in self.view.free_stations() and self.view.player(0, "disks") > 0
        return self.station_worth(place) if free else 0

    def end_worth(self, place: int, k: int) -> int:
        """Fuel not counted."""
        worth = 5 * place + self.on_the_way([sector for sector in self.entered if sector <= place])
        worth += self.contract_worth(k, self.crossed(place, k))
        return worth + (self.kepler_worth() if place > self.view.length else self.own_station(place))

    # ------------------------------------------------------------ load and flight

    def write_loads(self, worth: dict[tuple[int, int], int]) -> None:
        needed = max(0, self.load(self.end))
        self.out["loads.enough"][needed] = 1
        for load in range(self.ship + 1):
            values = [
                value - (load - max(0, self.load(place))) * (self.view.fuel_worth - 1)
                for (place, _), value in worth.items()
                if self.load(place) <= load
            ]
            self.out["loads.behind"][load] = cut(self.best - max(values))
            self.out["loads.spare"][load] = load - needed

    def write_ways(self, worth: dict[tuple[int, int], int]) -> None:
        out, here = self.out, self.start
        beyond = [value for (place, _), value in worth.items() if place > here]
        out["ways.behind"][:8] = cut(self.best - max(beyond, default=NOTHING))
        out["ways.behind"][8] = cut(self.best - worth[here, self.contracts[0]])
        out["ways.best"][8 if self.end == here else self.first_way()] = 1

    def first_way(self) -> int:
        """The first way to leave with which the best flight takes the least."""
        view, here = self.view, self.start
        cost, kind = view.cost(here), view.sector(here, "type") if here else 0
        tools = view.tools(0)
        for row in range(8):
            works, dots, used = (int(view.seen[f"ways.{name}"][row]) for name in ("part", "fuel", "used"))
            to, left = here + (2 if works == SLING else 1), list(tools)
            if row == 0:
                dots = cost
            elif works == 0 or used:
                continue
            elif works == SLING:
                if here >= view.length:
                    continue
            elif not (here and cost and works in (JUMP, kind)):
                continue
            if dots > self.tank or to > self.end:
                continue
            if row > 0:
                left.remove((works, dots))
            fuel = view.fuel_to_places(0, to, left, 1000)[self.end]
            if dots + fuel == self.fuel[self.end]:
                return row
        return 0


class Draft:
    """What cards and special actions change."""

    def __init__(self, now: Prospects) -> None:
        self.now, self.view, self.out = now, now.view, now.out
        self.tools, self.sectors = two_of_a_kind(now.view.tools(0)), now.view.sectors()
        self.has_sling = any(works == SLING for works, _ in self.tools)
        self.kepler = now.view.length + 1
        self.cards = {
            slot: {name: int(now.view.seen[f"row.{name}"][slot]) for name in CARD}
            for slot, kind in enumerate(now.view.seen["row.type"])
            if kind
        }
        self.pays_vp = 100 * now.view.number("delivery_vp")

    def fuels(self, tools: list[tuple[int, int]], *added: dict[str, int]) -> dict[int, int]:
        """To all places of the run with cards added."""
        sectors = [*self.sectors, *((card["type"], self.cost(card)) for card in added)]
        return least_fuel(sectors, self.view.number("port_cost"), tools)

    def cost(self, card: dict[str, int]) -> int:
        return 0 if card["type"] == self.view.player(0, "built_in") else card["cost"]

    def flight(self, ends: dict[int, int], fuel: dict[int, int], tank: int, ship: int) -> int:
        """The best of these ends."""
        values = [
            worth - self.now.load_worth(fuel[place] - tank)
            for place, worth in ends.items()
            if place in fuel and fuel[place] <= tank + ship
        ]
        return max(values, default=-(10**7))

    def with_card(self, card: dict[str, int]) -> tuple[dict[int, int], dict[int, int]]:
        """(worth of ends, fuel to them) after the last pick, when a card has joined the run."""
        now = self.now
        ends = {place: worth for place, worth in now.ends.items() if place < self.kepler}
        at_card, at_kepler = self.added(card)
        ends |= {self.kepler: at_card[0], self.kepler + 1: at_kepler}
        fuel = {place: needed for place, needed in self.fuels(self.tools, card).items() if needed <= now.limit}
        return {place: worth for place, worth in ends.items() if place in fuel}, fuel

    def added(self, *cards: dict[str, int]) -> tuple[list[int], int]:
        """What it is worth to end at each of the cards that join the run, and at Kepler behind them."""
        now, view = self.now, self.view
        more = [cards[0][name] for name in ("asteroids", "comets", "stations")]
        crossed = [now.crossed(view.length, k) for k in range(3)]
        met = {view.sector(place, "type") for place in range(1, self.kepler)}
        gained, ends, place = now.on_the_way(list(range(1, self.kepler))), [], view.length
        for card in cards:
            place += 1
            if card["type"] not in met:
                gained += now.delivery(card["type"])
            met.add(card["type"])
            crossed = [crossed[k] + card[name] for k, name in enumerate(("asteroids", "comets", "stations"))]
            worth = gained + max(now.contract_worth(k, crossed[k], more[k]) for k in now.contracts)
            disk = card["stations"] > 0 and view.player(0, "disks") > 0
            ends.append(worth + 5 * place + (now.station() + now.closest()) * disk)
        return ends, worth + 5 * (place + 1) + 100 * view.number("first_arrival_vp")

    # ------------------------------------------------------------ cards

    def write_row(self) -> None:
        now, view, out = self.now, self.view, self.out
        found = []
        for slot, card in self.cards.items():
            ends, fuel, other = now.ends, now.fuel, None
            if now.picks == 0 and now.beyond is not None:
                other = next(one for at, one in self.cards.items() if at != slot)
                ends, fuel = self.with_card(other)
            worth = {"as_sector": self.as_sector(card, other)}
            if card["wrenches"] <= now.tank:
                worth["as_part"] = self.as_part(card, other, ends)
            if now.tank < view.number("boxes"):
                worth["as_module"] = 50 * view.rounds + self.flight(ends, fuel, now.tank + 1, now.ship)
            if card["action"] and not (card["action"] == OUTPOST and not self.free_stations()):
                worth["as_special"] = 75 * view.rounds + self.as_special(card, other, ends, fuel)
            for name, value in worth.items():
                out[f"row.{name}"][slot] = cut(value - now.best)
                found.append((-value, USES.index(name), slot))
        _, use, slot = min(found)
        out["row.best"][slot] = 1 + use

    def as_sector(self, card: dict[str, int], other: dict[str, int] | None) -> int:
        now, view = self.now, self.view
        budget = now.tank + now.ship
        values = [self.flight({p: w for p, w in now.ends.items() if p < self.kepler}, now.fuel, now.tank, now.ship)]
        if now.beyond is not None and now.beyond <= budget:
            cards = [card, other] if other else [card]
            ends, at_kepler = self.added(*cards)
            values.append(ends[0] - now.load_worth(now.beyond - now.tank))
            fuel = self.fuels(self.tools, card)[self.kepler + 1]
            if other:
                if fuel <= budget:
                    values.append(ends[1] - now.load_worth(fuel - now.tank))
                if self.has_sling:
                    fuel += self.cost(other)
                else:
                    fuel = self.fuels(self.tools, card, other)[self.kepler + 2]
            fuel += now.unknown
            if fuel <= budget:
                values.append(at_kepler - now.load_worth(fuel - now.tank))
        return 100 * view.number("discover_vp") + max(values)

    def as_part(self, card: dict[str, int], other: dict[str, int] | None, ends: dict[int, int]) -> int:
        now, works, dots, wrenches = self.now, card["part"], card["dots"], card["wrenches"]
        tools = [*self.tools, (works, dots)]
        if self.has_sling or works == SLING:
            tools = two_of_a_kind(tools)
        fuel = self.fuels(tools, *([other] if other else []))
        if not other:
            fuel[self.kepler] += now.unknown
        usual, less = {JUMP: (250, 100), SLING: (350, 100)}.get(works, (120, 60))
        later = self.view.rounds * (50 * max(0, usual - less * dots) // 100 - 50 * wrenches)
        return 100 * card["vp"] + later + self.flight(ends, fuel, now.tank - wrenches, now.ship)

    def as_special(
        self, card: dict[str, int], other: dict[str, int] | None, ends: dict[int, int], fuel: dict[int, int]
    ) -> int:
        """Besides what the delivery is worth in the rounds to come."""
        now, view = self.now, self.view
        known = range(1, min(max(now.fuel), view.length) + 1)
        pays = next((place for place in known if view.sector(place, "type") == card["type"]), 99)
        if pays == 99 and other and other["type"] == card["type"]:
            pays = self.kepler
        ends = {place: worth + self.pays_vp * (place >= pays) for place, worth in ends.items()}
        if card["action"] == REFUEL:
            added = min(view.number("refuel"), view.number("fuel_cap") - now.ship)
            return added * view.fuel_worth + self.flight(ends, fuel, now.tank, now.ship + added)
        if card["action"] == OUTPOST:
            return max(self.outpost(place, ends, fuel) for place in self.free_stations())
        now.deliveries[card["type"] - 1] += 1
        values = [self.flight(ends, fuel, now.tank, now.ship)]
        for place in range(1, view.length):
            if (
                place > max(place for place in [*ends, *now.fuel] if place in fuel)
                or fuel.get(place, 0) > now.tank + now.ship
            ):
                break
            values += self.rerouted(place, ends, fuel)
        now.deliveries[card["type"] - 1] -= 1
        return max(values)

    # ------------------------------------------------------------ special actions

    def free_stations(self) -> list[int]:
        return self.view.free_stations() if self.view.player(0, "disks") else []

    def outpost(self, place: int, ends: dict[int, int], fuel: dict[int, int]) -> int:
        """A disk on a station: fuel for passing it, and one place less to end at."""
        now, view = self.now, self.view
        disks = [(other, view.sector(other, "disk")) for other in range(1, self.kepler) if view.sector(other, "disk")]
        changed = {}
        for end, worth in ends.items():
            worth += now.visit() * (end >= place)
            if end < self.kepler and now.own_station(end):
                if end == place or view.player(0, "disks") == 1:
                    worth -= now.own_station(end)
                elif end < place:
                    worth -= now.own_station(end) - now.station()
            changed[end] = worth
        farthest_disk, owner = max(disks, default=(0, 0))
        gains = place > farthest_disk and owner != 1
        return self.flight(changed, fuel, now.tank, now.ship) + now.station() + now.closest() * gains

    def rerouted(self, place: int, ends: dict[int, int], fuel: dict[int, int]) -> list[int]:
        """What ends at a place and the next one are worth if their sectors change places."""
        now, view = self.now, self.view
        budget, values = now.tank + now.ship, []
        disks = view.player(0, "disks") > 0
        if fuel.get(place, 1000) <= budget and place in ends:
            contents = [*range(1, place), place + 1]
            crossed = [sum(view.icons(sector)[k] for sector in contents) for k in range(3)]
            worth = 5 * place + now.on_the_way(contents)
            worth += max(now.contract_worth(k, crossed[k]) for k in now.contracts)
            if disks and place + 1 in view.free_stations():
                worth += now.station()
                if now.station_worth(place + 1) > now.station() and not view.sector(place, "disk"):
                    worth += now.closest()
            values.append(worth - now.load_worth(fuel[place] - now.tank))
        plain = [tool for tool in self.tools if tool[0] != SLING]
        swapped = [*self.sectors[: place - 1], self.sectors[place]]
        back = least_fuel(swapped, view.number("port_cost"), plain)[place + 1]
        if place + 1 in ends and place + 1 in fuel and back <= budget:
            worth = ends[place + 1] - now.own_station(place + 1)
            if disks and place in view.free_stations():
                farther = any(view.sector(other, "disk") for other in range(place + 2, self.kepler))
                worth += now.station() + now.closest() * (not farther)
            values.append(worth - now.load_worth(back - now.tank))
        return values

    def write_aims(self) -> None:
        now, view, out = self.now, self.view, self.out
        ends, fuel = now.ends, now.fuel
        if now.picks == 0 and now.beyond is not None:
            ends, fuel = self.with_card(next(iter(self.cards.values())))
        worth = {}
        if view.seen["game.pending_action"][0] == OUTPOST:
            worth = {place: self.outpost(place, ends, fuel) for place in self.free_stations()}
        else:
            unchanged = self.flight(ends, fuel, now.tank, now.ship)
            for place in range(1, view.length):
                worth[place] = unchanged
                if place <= max(place for place in ends):
                    others = {end: value for end, value in ends.items() if end not in (place, place + 1)}
                    values = self.rerouted(place, ends, fuel)
                    if max(values, default=-(10**7)) < unchanged:
                        values.append(self.flight(others, fuel, now.tank, now.ship))
                    worth[place] = max(values)
        for place, value in worth.items():
            out["places.aim"][place] = cut(value - now.best)
        out["places.best"][max(worth, key=lambda place: (worth[place], -place))] = 1
