"""What a seat knows in Race to Kepler, read from the state and rebuilt from the observation; and what follows from
that, computed plainly."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs import Configuration
from kepler_envs.games.race_to_kepler.effects import (
    ANY_NUMBER,
    NO_PROGRAM,
    Counter,
    Destination,
    Hook,
    Op,
    Resource,
    Source,
)
from kepler_envs.games.race_to_kepler.estimates import COUNTED, GAIN_WORTH
from kepler_envs.games.race_to_kepler.state import (
    FIRST_TITAN,
    GOLD,
    IRON,
    MAFIA,
    MAX_PLAYERS,
    NEXT_CARDS,
    NUM_KINDS,
    NUM_OPERATIONS,
    NUM_TOKENS,
    STACK,
    EndReason,
    Node,
)

Names = dict[str, np.ndarray]

HIDDEN = {
    "decisions_before": "decisions since then count, those of the own turn",
    "rng": "chance to come",
    "reward_mode": "an option",
    "shaping": "an option",
    "player.shown_size": "of the cards that everybody saw go into a hand a seat keeps the kinds in mind",
}

GAME_ROW = (
    "energy", "money", "market", "discount", "ejected", "discarded", "market_taken", "gold_played", "resource_played",
    "crew_played",
    "titan_played", "ops_used", "all_ops", "look_size", "depth", "race", "chosen", "gold_pile", "crew_deck_size",
    "titan_deck_size",
)  # fmt: skip
OTHER_NAMES = {"department": "departments", "rounds": "round", "token": "tokens", "crossed": "crossed"}
SEAT_ROW = (
    "present", "parsecs", "hand_size", "deck_size", "discard_size", "play_size", "turns", "bid_size", "bid_closed",
    "bid_place", "known_size",
)  # fmt: skip
FRAME = ("at", "moved", "value", "value_before", "kind", "own", "in_move", "looking", "origin")
IN_TURN = (Node.ACTION, Node.MOVE, Node.CHOICE, Node.REPLAY)


# ---------------------------------------------------------------- from the state


def facts_known(config: Configuration, state: Any, seat: int) -> dict[str, Any]:
    """By the rules: what is public, and what is the seat's own. Rows of seats begin with it."""
    n, node = config.num_players, Node(int(state["node"]))
    order = [(seat + distance) % n for distance in range(n)]
    players, own = state["player"][order], state["player"][seat]
    active = int(state["active"])
    choosing, bidding = node == Node.CITY, node == Node.BID
    known: dict[str, Any] = {name: state[name] for name in (*GAME_ROW, *OTHER_NAMES, "op_used")}
    known |= {
        name: state[name]
        for name in (
            "supply",
            "airlock",
            "crew_deck",
            "titan_row",
            "titan_deck",
            "supply_size",
            "num_players",
            "max_rounds",
        )
    }
    known |= {f"frame.{name}": state["frame"][name] for name in FRAME}
    known |= {
        f"player.{name}": players[name]
        for name in (*SEAT_ROW, "open_city", "discard", "concealed", "play", "worth", "cards")
    }
    known |= {f"player.{name}": players[name] for name in ("average", "to_kepler", "to_token")}
    known |= {f"player.{name}": own[name] for name in ("hand", "deck", "bid", "city", "known_kind")}
    known["player.offers"] = own["offers"] if choosing else 0
    known["player.known_open"] = [_open_cards(player) for player in players]
    known["player.shown_kind"] = [np.isin(np.arange(1, NUM_KINDS + 1), player["shown_kind"]) for player in players[1:]]
    known["look"] = state["look"] * (seat == active)
    known["look_kind"] = state["look_kind"] * (seat == active)
    known["node"], known["end"] = node, state["end"] != 0
    known["active"] = -1 if choosing else order.index(active)
    known["first"] = -1 if choosing else order.index(int(state["first"]))
    known["seat"] = order.index(int(state["seat"])) if node != Node.OVER else -1
    known["last_bid"] = state["last_bid"] if bidding and state["seat"] == seat else 0
    known["last_bidder"] = order.index(int(state["last_bidder"]) - 1) if state["last_bidder"] else -1
    known["winner"] = order.index(int(state["winner"]) - 1) if state["winner"] else -1
    known["end_reason"] = state["end_reason"]
    counted = choosing or (seat == active and node in IN_TURN)
    known["decisions"] = state["decisions"] - state["decisions_before"] if counted else 0
    return known


def _open_cards(player: Any) -> list[int]:
    """1 + kind of the next cards, where everybody saw them put there."""
    size, bits = int(player["known_size"]), int(player["known_open"])
    places = [size - 1 - place for place in range(NEXT_CARDS)]
    return [int(player["known_kind"][place]) if place >= 0 and bits >> place & 1 else 0 for place in places]


# ---------------------------------------------------------------- from the observation


def facts_seen(config: Configuration, observation: np.ndarray) -> dict[str, Any]:
    """The same from the vector alone, the rules and the component file."""
    seen, n, tables = config.observation.names(observation), config.num_players, config.tables[0]
    game = {name.partition(".")[2]: view[0] for name, view in seen.items() if name.startswith("game.")}
    node = Node(int(game["node"]) - 1) if game["node"] else Node.OVER
    choosing, bidding = node == Node.CITY, node == Node.BID
    active = int(game["active"]) - 1
    facts: dict[str, Any] = {name: game[name] for name in GAME_ROW}
    facts |= {name: game[other] for name, other in OTHER_NAMES.items()}
    facts["op_used"] = seen["operations.used"]
    facts |= {f"frame.{name}": seen[f"frames.{'card' if name == 'kind' else name}"] for name in FRAME}
    facts |= {f"player.{name}": seen[f"players.{name}"][:n] for name in (*SEAT_ROW, "average", "to_kepler", "to_token")}
    cities = seen["players.city"][:n]
    facts["player.city"] = cities[0]
    facts["player.open_city"] = np.zeros(n, int) if choosing else cities
    facts["player.offers"] = sum(1 << city for city in np.flatnonzero(game["offers"])) if choosing else 0
    facts["player.known_open"] = seen["players.next"][:n]
    facts["player.shown_kind"] = [seen["cards.shown"] >> other & 1 for other in range(n - 1)]
    facts |= _zones(seen, n, active, bidding)
    facts |= _known_cards(seen, game)
    facts |= _table(seen, facts, n, tables)
    facts["num_players"] = int(seen["players.present"].sum())
    facts["node"], facts["end"] = node, node == Node.OVER
    facts["active"], facts["first"], facts["seat"] = active, int(game["first"]) - 1, int(game["decides"]) - 1
    own_bid = np.flatnonzero(facts["player.bid"])
    facts["last_bid"] = int(own_bid.max()) + 1 if bidding and game["decides"] == 1 and own_bid.size else 0
    facts["last_bidder"] = int(game["decides"]) - 1 if bidding else -1
    arrived = np.flatnonzero(facts["player.parsecs"] >= tables["track_length"])
    facts["winner"] = int(arrived[0]) if arrived.size else -1
    ended = EndReason.KEPLER if arrived.size else EndReason.ROUNDS
    facts["end_reason"] = ended if node == Node.OVER else EndReason.RUNNING
    facts["decisions"], facts["max_rounds"] = game["decisions"], game["max_rounds"]
    return facts


def _zones(seen: Names, n: int, active: int, bidding: bool) -> dict[str, Any]:
    """Counts by kind of the players."""
    laid, look = seen["cards.laid"], _counts(seen["look.card"])
    bid = laid if bidding else 0 * laid
    play = np.zeros((n, NUM_KINDS), int)
    if not bidding and active >= 0:
        play[active] = laid
    hand, deck = seen["cards.hand"], seen["cards.deck"]
    concealed = np.array([hand + deck + bid + look, *seen["cards.concealed"].T[: n - 1]])
    discard = np.array([seen["cards.discard"], *seen["cards.other_discard"].T[: n - 1]])
    return {
        "player.hand": hand, "player.deck": deck, "player.bid": bid, "player.play": play, "player.concealed": concealed,
        "player.discard": discard, "look": look,
    }  # fmt: skip


def _known_cards(seen: Names, game: Names) -> dict[str, Any]:
    """What is known of the own deck, the top card last; the look zone."""
    size = int(seen["players.known_size"][0])
    down = [*seen["top.card"], *game["deeper"]]
    return {"player.known_kind": [*down[:size][::-1], *down[size:]], "look_kind": seen["look.card"]}


def _table(seen: Names, facts: dict[str, Any], n: int, tables: Any) -> dict[str, Any]:
    """What lies on the table, what is left in the decks, and what the players have of it."""
    offer, titan = seen["cards.offer"], np.arange(NUM_KINDS) >= FIRST_TITAN
    supply = np.where(titan, 0, offer)
    owned = facts["player.concealed"] + facts["player.discard"] + facts["player.play"]
    copies = tables["card"]["copies"].astype(int)
    copies[IRON], copies[MAFIA] = n * tables["start_iron"], n * tables["start_mafia"]
    left = copies - owned.sum(axis=0) - offer - seen["cards.airlock"]
    assert left[GOLD] == facts["gold_pile"]
    left[GOLD] = 0
    return {
        "supply": supply, "supply_size": supply.sum(), "airlock": seen["cards.airlock"],
        "titan_row": offer[FIRST_TITAN:],
        "titan_deck": left[FIRST_TITAN:], "crew_deck": np.where(titan, 0, left), "player.cards": owned.sum(axis=1),
        "player.worth": owned @ tables["card"]["worth"].astype(int),
    }  # fmt: skip


def _counts(references: np.ndarray) -> np.ndarray:
    return np.bincount(references, minlength=NUM_KINDS + 1)[1:]


# ---------------------------------------------------------------- what follows


def derived(config: Configuration, seen: Names) -> dict[str, Any]:
    """The derived pieces, from the facts alone."""
    n, tables = config.num_players, config.tables[0]
    game = {name.partition(".")[2]: view[0] for name, view in seen.items() if name.startswith("game.")}
    node = Node(int(game["node"]) - 1) if game["node"] else Node.OVER
    own_turn = game["active"] == 1 and node in IN_TURN
    turn = Turn(tables, seen, game)
    found = {
        "game.lead": [seen["players.parsecs"][0] - seen["players.parsecs"][1:n].max()],
        "game.to_play": [sum(seen["cards.hand"][kind] > 0 for kind in turn.early()) if own_turn else 0],
        "cards.acquirable": turn.acquirable() if own_turn and node == Node.ACTION else np.zeros(NUM_KINDS),
        "cards.counts": [
            turn.counted(kind) if own_turn and seen["cards.hand"][kind] else 0 for kind in range(NUM_KINDS)
        ],
        "frames.rest": [
            turn.rest(int(seen["frames.at"][level])) if level < game["depth"] else [0] * 8 for level in range(STACK)
        ],
    }  # fmt: skip
    worths = [turn.usable(number) if own_turn and node == Node.ACTION else 0 for number in range(NUM_OPERATIONS)]
    found["operations.worth"] = worths
    found["operations.best"] = turn.best(worths)
    found |= _players(n, tables, seen, game, node)
    there = np.flatnonzero(seen["options.there"])
    targets = tables["program"][int(seen["frames.at"][game["depth"] - 1])]["target"] if there.size else ()
    found["options.worth"] = [
        turn.option(int(targets[number])) if number in there and own_turn else 0 for number in range(4)
    ]
    found["options.does"] = [turn.rest(int(targets[number])) if number in there else [0] * 8 for number in range(4)]
    return found


def _players(n: int, tables: Any, seen: Names, game: Names, node: Node) -> dict[str, Any]:
    zones = _zones(seen, n, int(game["active"]) - 1, node == Node.BID)
    owned = zones["player.concealed"] + zones["player.discard"] + zones["player.play"]
    columns: dict[str, list[int]] = {
        name: [0] * MAX_PLAYERS for name in ("average", "to_kepler", "to_token", "strength")
    }
    for row in range(n):
        parsecs = int(seen["players.parsecs"][row])
        columns["average"][row] = int(owned[row] @ tables["card"]["worth"].astype(int)) // int(owned[row].sum())
        columns["to_kepler"][row] = int(tables["track_length"]) - parsecs
        spaces = [int(tables["token_space"][token]) for token in range(NUM_TOKENS) if game["tokens"][token]]
        columns["to_token"][row] = min((space - parsecs for space in spaces if space > parsecs), default=0)
        if node == Node.BID:
            columns["strength"][row] = _strength(row, tables, seen, zones)
    return {f"players.{name}": column for name, column in columns.items()}


def _strength(row: int, tables: Any, seen: Names, zones: dict[str, Any]) -> int:
    """Of the own cards what they are worth in a bid, of others the share of hand and bid in all they conceal."""
    values = tables["card"]["cost"].astype(int) + tables["card"]["bid_bonus"]
    held = int(seen["players.hand_size"][row] + seen["players.bid_size"][row])
    city = tables["city"][int(seen["players.city"][row]) - 1]
    bonus = int(city["parameter"]) if city["hook"] == Hook.BID_BONUS else 0
    if held == 0:
        return 0
    if row == 0:
        return bonus + int(values @ (zones["player.hand"] + zones["player.bid"]))
    concealed = zones["player.concealed"][row]
    return bonus + int(values @ concealed) * held // int(concealed.sum())


class Turn:
    """The own turn, as the own player sees it."""

    def __init__(self, tables: Any, seen: Names, game: Names) -> None:
        self.tables, self.seen, self.game = tables, seen, game
        self.city = tables["city"][max(0, int(seen["players.city"][0]) - 1)]

    def early(self) -> list[int]:
        """Kinds that are no resource, have a program, and do not count Gold or resources played."""
        return [kind for kind in range(NUM_KINDS) if self.tables["card"]["order"][kind] > -10]

    def acquirable(self) -> np.ndarray:
        cost = self.tables["card"]["cost"].astype(int)
        discount = int(self.game["discount"]) + (
            int(self.city["parameter"]) if self.city["hook"] == Hook.DISCOUNT else 0
        )
        price = np.maximum(np.minimum(cost, 1), cost - discount)
        offered = np.where(np.arange(NUM_KINDS) < FIRST_TITAN, self.seen["cards.offer"], 0)
        offered[GOLD] = self.game["gold_pile"]
        return (offered > 0) & (price <= self.game["money"]) & (self.game["market"] > 0)

    def counter(self, number: int) -> int:
        counter = Counter(number)
        if counter == Counter.GOLD_IN_HAND:
            return int(self.seen["cards.hand"][GOLD])
        if counter == Counter.DEPARTMENTS:
            return int(self.game["departments"].sum())
        return int(self.game[counter.name.lower()])

    def counted(self, kind: int) -> int:
        gains = [one for one in self.program(int(self.tables["card"]["on_play"][kind])) if one["op"] == Op.GAIN]
        return sum(
            min(int(gain["amount"]) * self.counter(int(gain["counter"]) - 1), int(gain["cap"]))
            * int(GAIN_WORTH[gain["what"]])
            for gain in gains
            if gain["counter"] - 1 >= Counter.EJECTED
        )

    def program(self, at: int) -> list[Any]:
        """All instructions up to the end."""
        found: list[Any] = []
        while at != NO_PROGRAM and self.tables["program"][at]["op"] != Op.END:
            found.append(self.tables["program"][at])
            at += 1
        return found

    def gain_now(self, instruction: Any) -> int:
        if instruction["op"] != Op.GAIN or not instruction["counter"]:
            return int(instruction["worth"])
        number = Counter(int(instruction["counter"]) - 1)
        looked_up = (Counter.EJECTED, Counter.MARKET_TAKEN, Counter.GOLD_IN_HAND, Counter.DISCARDED)
        counted = self.counter(number) if number in looked_up else int(COUNTED[number])
        return min(int(instruction["amount"]) * counted, int(instruction["cap"])) * int(GAIN_WORTH[instruction["what"]])

    def option(self, at: int) -> int:
        worth = 0
        while self.tables["program"][at]["op"] != Op.JMP:
            worth += self.gain_now(self.tables["program"][at])
            at += 1
        return worth

    def usable(self, number: int) -> int:
        """What the operation gains now, 0 if it cannot be used."""
        city = self.city
        if number >= city["operations"] or city["operation_cost"][number] > self.game["energy"]:
            return 0
        if self.seen["operations.used"][number] and city["hook"] != Hook.REPEAT_OPS:
            return 0
        worth, possible, at = 0, True, int(city["operation"][number])
        hand, discard = (int(self.seen[f"players.{zone}_size"][0]) for zone in ("hand", "discard"))
        there = {Source.HAND: hand, Source.DISCARD: discard, Source.HAND_DISCARD: hand + discard}
        while at != NO_PROGRAM and self.tables["program"][at]["op"] != Op.END:
            one, at = self.tables["program"][at], at + 1
            if one["op"] == Op.MOVE:
                possible = (
                    one["amount"] == ANY_NUMBER or there.get(Source(int(one["what"])), ANY_NUMBER) >= one["amount"]
                )
            if one["op"] == Op.IF and not possible:
                at = int(one["target"][0])
            elif (
                one["op"] == Op.GAIN
                and not one["counter"]
                and one["what"] == Resource.MONEY
                and not self.game["market"]
            ):
                worth += int(one["amount"])
            elif one["op"] == Op.MOVE and one["destination"] == Destination.AIRLOCK:
                worth += 1 + (int(city["trait_worth"]) if city["hook"] == Hook.SUPPLY_AIRLOCK else 0)
            else:
                worth += self.gain_now(one)
        return worth

    def best(self, worths: list[int]) -> list[int]:
        """1 for those that together gain most for the energy; of a city that repeats them for the one that gains most
        for its cost."""
        costs = self.city["operation_cost"].astype(int)
        repeats = self.city["hook"] == Hook.REPEAT_OPS
        best, most = 0, 0
        for subset in range(1, 1 << NUM_OPERATIONS):
            members = [number for number in range(NUM_OPERATIONS) if subset >> number & 1]
            if not all(worths[number] for number in members) or (repeats and len(members) > 1):
                continue
            cost, worth = sum(costs[members]), sum(worths[number] for number in members)
            if repeats:
                worth = 60 * worth // cost
            if cost <= self.game["energy"] and worth > most:
                best, most = subset, worth
        return [best >> number & 1 for number in range(NUM_OPERATIONS)]

    def rest(self, at: int) -> list[int]:
        """What a program does from there on; conditions hold, and of alternatives the most of each."""
        one = self.tables["program"][at]
        if one["op"] == Op.END:
            return [0] * 8
        if one["op"] == Op.JMP:
            return self.rest(int(one["target"][0]))
        if one["op"] == Op.CHOICE:
            ways = [self.rest(int(target)) for target in one["target"][: int(one["amount"])]]
            return [max(column) for column in zip(*ways, strict=True)]
        rest = self.rest(at + 1)
        if one["op"] == Op.GAIN:
            counted = int(COUNTED[int(one["counter"]) - 1]) if one["counter"] else 1
            most = int(one["cap"]) if one["counter"] else ANY_NUMBER
            rest[int(one["what"])] += min(int(one["amount"]) * counted, most)
        elif one["op"] == Op.MOVE and one["destination"] in (Destination.EJECT, Destination.DISCARD):
            rest[6 + int(one["destination"] == Destination.DISCARD)] += int(one["amount"])
        elif one["op"] == Op.MOVE and one["destination"] != Destination.AIRLOCK:
            inside = (Source.HAND, Source.LOOK, Source.DECK, Source.SELF, Source.SELF_DISCARD)
            rest[5] += int(one["amount"]) * (Source(int(one["what"])) not in inside)
        return [min(number, 99) for number in rest]
