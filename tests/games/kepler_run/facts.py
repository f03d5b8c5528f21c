"""What a seat knows of a position of Kepler Run, what it can read off its observation, and what follows from that.

Nothing here looks at compiled code; the search for the fuel of a flight tries all ways to use tools.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs import Configuration
from kepler_envs.games.kepler_run.state import Node
from tests.games.kepler_run.flights import JUMP, SLING, fuel_to_places

REFUEL, REROUTE, OUTPOST = 1, 2, 3
KEPLER = 6
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
    "present", "order_position", "vp", "modules", "fuel", "disks", "built_in", "hand", "tank", "flown", "committed", "revealed",
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
        if self.node not in (Node.CONTRACT, Node.LOAD, Node.FLY):
            return reach, icons
        for seat in range(self.n):
            flying = self.node == Node.FLY and int(self.seen["game.decider"][0]) == seat + 1
            if self.player(seat, "flown") or flying:
                reach[seat] = self.player(seat, "place") - 1
            else:
                fuel = self.player(seat, "modules") + self.player(seat, "fuel")
                reach[seat] = max(self.fuel_to_places(seat, 0, self.tools(seat, True), fuel))
            for place in range(1, min(reach[seat], self.length) + 1):
                icons[seat] += self.icons(place)
        return reach, icons

    def fuel_to_places(self, seat: int, start: int, tools: list[tuple[int, int]], budget: int) -> dict[int, int]:
        sectors = [(self.sector(place, "type"), self.cost(place, seat)) for place in range(1, self.length + 1)]
        return fuel_to_places(sectors, self.number("port_cost"), tools, start, budget)


class Prospects:
    """What the deciding seat works out, in hundredths of points."""

    def __init__(self, view: View, out: dict[str, np.ndarray]) -> None:
        self.view, self.out = view, out
        self.flying, self.drafting = view.node == Node.FLY, view.node in (Node.DRAFT, Node.TARGET)
        self.start = view.player(0, "place") - 1 if self.flying else 0
        self.tank = view.player(0, "tank" if self.flying else "modules")
        self.ship = 0 if self.flying else view.player(0, "fuel")
        self.reach, self.icons = view.reaches()
        budget = self.tank + self.ship + self.drafting
        self.fuel = view.fuel_to_places(0, self.start, view.tools(0), budget)
        chosen = np.flatnonzero(view.seen["contracts.chosen"])
        hand = np.flatnonzero(view.seen["players.hand"][0])
        self.contracts = [int(contract) for contract in (chosen if len(chosen) else hand)]
        self.entered = range(self.start + 1, view.length + 1)

    def write(self) -> None:
        view, out = self.view, self.out
        for place, fuel in self.fuel.items():
            out["places.fuel"][place] = 1 + fuel
        worth = {
            (place, k): self.end_worth(place, k)
            for place in self.fuel
            for k in self.contracts
            if self.load(place) <= self.ship
        }
        best = max(worth.values())
        self.contract = min(k for (_, k), value in worth.items() if value == best)
        self.end = min(place for (place, k), value in worth.items() if value == best and k == self.contract)
        self.best = best
        out["game.best"][0], out["game.end"][0] = cut(best), self.end + 1
        if self.flying:
            out["game.next"][0] = self.start + 2
            self.write_ways(worth)
        elif view.node == Node.LOAD:
            self.write_loads(worth)
        elif view.node == Node.CONTRACT:
            for k in self.contracts:
                out["contracts.behind"][k] = cut(best - max(value for (_, other), value in worth.items() if other == k))
        else:
            self.write_draft()

    # ------------------------------------------------------------ ends of a flight

    def load(self, place: int) -> int:
        """Fuel from the ship that a flight takes; below 0 what is left in the tank."""
        unknown = 0
        if self.drafting and place > self.view.length:
            picks = 2 * self.view.n - int(self.view.seen["game.draft_pos"][0]) - 1
            unknown = (160 + 64 * picks + 50) // 100 if picks > 0 else 0
        return self.fuel[place] + unknown - self.tank

    def load_worth(self, load: int) -> int:
        return load * self.view.fuel_worth if load > 0 else load

    def on_the_way(self, place: int) -> int:
        """Deliveries, fuel from own stations, and for turn order."""
        view, worth, met = self.view, 5 * place, set()
        for sector in self.entered:
            if sector > place:
                break
            kind = view.sector(sector, "type")
            if kind not in met and not view.seen["players.delivered"][0][kind - 1]:
                worth += 100 * view.number("delivery_vp") * int(view.seen["players.deliveries"][0][kind - 1])
            met.add(kind)
            if view.sector(sector, "disk") == 1:
                worth += view.number("station_fuel") * view.fuel_worth
        return worth

    def contract_worth(self, place: int, k: int) -> int:
        view = self.view
        crossed = sum(view.icons(sector)[k] for sector in range(1, min(place, view.length) + 1))
        consolation = crossed * self.consolation(k)
        if crossed == 0 or view.seen["contracts.completed_by"][k]:
            return consolation
        prize, ahead, all_in_all = 100 * int(view.table["complete_vp"][k]), 1, 1
        for rival in range(1, view.n):
            hand = view.seen["players.hand"][rival]
            earlier = view.player(rival, "order_position") < view.player(0, "order_position")
            theirs = int(self.icons[rival][k])
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

    def station_worth(self, place: int) -> int:
        view = self.view
        worth = 100 * view.number("station_vp") + 50 * view.rounds
        if any(view.sector(farther, "disk") for farther in range(place + 1, view.length + 1)):
            return worth
        return worth + (60 if view.rounds > 0 else 250)

    def end_worth(self, place: int, k: int) -> int:
        worth = self.on_the_way(place) + self.contract_worth(place, k) - self.load_worth(self.load(place))
        if place > self.view.length:
            worth += self.kepler_worth()
        elif place in self.view.free_stations() and self.view.player(0, "disks"):
            worth += self.station_worth(place)
        return worth

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
        view, out, here = self.view, self.out, self.start
        beyond = [value for (place, _), value in worth.items() if place > here]
        out["ways.behind"][:8] = cut(self.best - max(beyond, default=NOTHING))
        out["ways.behind"][8] = cut(self.best - worth[here, self.contracts[0]])
        cost, kind = view.cost(here), view.sector(here, "type") if here else 0
        ahead = [(view.sector(p, "type"), view.cost(p)) for p in range(here + 1, min(self.end, view.length + 1))]
        for row in range(1, 8):
            works, dots, used = (int(view.seen[f"ways.{name}"][row]) for name in ("part", "fuel", "used"))
            if works == 0 or used:
                continue
            if works == SLING:
                if here < view.length:
                    out["ways.saves"][row] = cost + view.cost(here + 1) - dots
                out["ways.later"][row] = max(0, pair_of([other for _, other in ahead]) - dots)
                continue
            if here > 0 and cost > 0 and works in (JUMP, kind):
                out["ways.saves"][row] = cost - dots
            later = [other for other_kind, other in ahead if works in (JUMP, other_kind)]
            out["ways.later"][row] = max(0, max(later, default=0) - dots)

    # ------------------------------------------------------------ draft

    def write_draft(self) -> None:
        view, out = self.view, self.out
        more = []
        for place in self.fuel:
            if self.load(place) <= self.ship + 1:
                for k in self.contracts:
                    more.append(self.end_worth(place, k) + (view.fuel_worth if self.load(place) > 0 else 1))
        self.more = max(more) - self.best
        out["game.one_more"][0] = cut(self.more)
        fewer = []
        for place in self.fuel:
            if self.load(place) < self.ship:
                for k in self.contracts:
                    fewer.append(self.end_worth(place, k) - (view.fuel_worth if self.load(place) >= 0 else 1))
        self.less = self.best - max(fewer, default=NOTHING)
        out["game.one_less"][0] = cut(self.less)
        self.each = view.fuel_worth if self.load(self.end) > 0 else 1
        if view.node == Node.TARGET:
            self.write_aims()
            return
        out["game.as_module"][0] = cut(50 * view.rounds + self.more)
        self.ahead = [(view.sector(p, "type"), view.cost(p)) for p in range(1, min(self.end, view.length + 1))]
        self.met = {view.sector(p, "type") for p in range(1, min(self.end, view.length) + 1)}
        for slot, kind in enumerate(view.seen["row.type"]):
            if kind:
                card = {name: int(view.seen[f"row.{name}"][slot]) for name in CARD}
                out["row.as_sector"][slot] = cut(self.as_sector(card))
                out["row.as_part"][slot] = cut(self.as_part(card))
                if card["action"]:
                    out["row.as_special"][slot] = cut(self.as_special(card))

    def content(self, icons: int, kind: int, met: set[int]) -> int:
        worth = icons * self.consolation(self.contract)
        if kind not in met:
            worth += 100 * self.view.number("delivery_vp") * int(self.view.seen["players.deliveries"][0][kind - 1])
        return worth

    def as_sector(self, card: dict[str, int]) -> int:
        """It may be the end, or before it."""
        view, kepler = self.view, self.view.length + 1
        worth = 100 * view.number("discover_vp")
        if kepler not in self.fuel or self.fuel[kepler] - self.tank > self.ship:
            return worth
        contract = max(self.contract_worth(kepler, k) for k in self.contracts)
        stay = self.on_the_way(kepler) + contract - self.load_worth(self.fuel[kepler] - self.tank)
        icons = [card[name] for name in ("asteroids", "comets", "stations")]
        stay += self.content(icons[self.contract], card["type"], self.met)
        if card["stations"] and view.player(0, "disks"):
            stay += 100 * view.number("station_vp") + 50 * view.rounds
        onward = self.best
        if self.end == kepler and card["type"] != view.player(0, "built_in"):
            onward -= card["cost"] * self.each
        return worth + max(stay, onward) - self.best

    def as_part(self, card: dict[str, int]) -> int:
        view, works, dots = self.view, card["part"], card["dots"]
        costs = sorted((cost for _, cost in self.ahead), reverse=True) + [0, 0]
        boosted = view.number("booster_dots") < costs[0]
        if works == SLING:
            usual, saved = 350 - 100 * dots, pair_of([cost for _, cost in self.ahead]) - dots
        elif works == JUMP:
            usual, saved = 250 - 100 * dots, costs[boosted] - dots
        else:
            usual, saved = 120 - 60 * dots, max((cost for kind, cost in self.ahead if kind == works), default=0) - dots
        saved = max(0, saved) - card["wrenches"]
        worth = 100 * card["vp"] + view.rounds * (50 * max(0, usual) // 100 - 50 * card["wrenches"])
        if saved > 0:
            worth += self.more + (saved - 1) * self.each
        elif saved < 0:
            worth -= self.less + (-saved - 1) * self.each
        return worth

    def as_special(self, card: dict[str, int]) -> int:
        view = self.view
        worth = 75 * view.rounds + (100 * view.number("delivery_vp") if card["type"] in self.met else 0)
        if card["action"] == REFUEL:
            added = min(view.number("refuel"), view.number("fuel_cap") - view.player(0, "fuel"))
            return worth + added * view.fuel_worth + (max(0, self.more - view.fuel_worth) if added > 0 else 0)
        if card["action"] == REROUTE:
            return worth + max(0, self.rerouted(self.end - 1), self.rerouted(self.end))
        places = view.free_stations() if view.player(0, "disks") else []
        return worth + max((self.outpost(place) for place in places), default=0)

    def outpost(self, place: int) -> int:
        passed = place <= self.end
        return self.station_worth(place) + (self.view.number("station_fuel") * self.view.fuel_worth if passed else 0)

    def rerouted(self, place: int) -> int:
        view = self.view
        if not 1 <= place < view.length:
            return 0
        if place == self.end - 1:
            return (view.cost(place) - view.cost(place + 1)) * self.each
        before = {view.sector(p, "type") for p in range(1, place)}
        worth = [self.content(view.icons(p)[self.contract], view.sector(p, "type"), before) for p in (place, place + 1)]
        return worth[1] - worth[0]

    def write_aims(self) -> None:
        view, aims = self.view, self.out["places.aim"]
        if view.seen["game.pending_action"][0] == OUTPOST:
            for place in view.free_stations():
                aims[place] = cut(self.outpost(place))
            return
        for place in (self.end - 1, self.end):
            if 1 <= place < view.length:
                aims[place] = cut(self.rerouted(place))


def pair_of(costs: list[int]) -> int:
    """The most of two in a row, or of one."""
    return max((cost + before for cost, before in zip(costs, [0, *costs], strict=False)), default=0)
