"""The tables of an observation, and where they lie in it."""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.observation import COUNT, FLAG, LABEL, NUMBER, Layout, Piece, piece, reference, table
from kepler_envs.games.kepler_run.state import (
    MAX_CARDS,
    MAX_FUEL,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_SPECIALS,
    NUM_TRAITS,
    NUM_TYPES,
    PART_SLOTS,
    PLAYER,
    ROW_CARD_SIZE,
    ROW_SLOTS,
    RUN_SLOTS,
    SECTOR_SIZE,
    SLING_PART,
    STATE,
    Node,
)

NUM_PLACES = RUN_SLOTS + 2  # row 0 is Port; Kepler follows the last sector of the run
KEPLER = NUM_TYPES + 1  # type of its row
NUM_WAYS = PART_SLOTS + 3  # to leave a place, in the order of the action ids: MOVE, BOOSTER, the own parts, STOP
BY_MOVE, BY_BOOSTER, BY_PARTS, BY_STOP = 0, 1, 2, NUM_WAYS - 1
NUM_LOADS = MAX_FUEL + 1
AHEAD = 4  # fuel: in the draft, flights are planned with so much more than there is
UNKNOWN_SECTOR, DISCOVERY = 160, 64  # hundredths of fuel to Kepler for the row's last card, for each pick to come
MOST_UNKNOWN = (UNKNOWN_SECTOR + DISCOVERY * (2 * MAX_PLAYERS - 1) + 50) // 100
MOST_PLANNED = 2 * MAX_FUEL + AHEAD + MOST_UNKNOWN
MOST_WORTH = 9999  # hundredths of points
POINT = 100

# where tables begin, and how many entries a row has
GAME, GAME_SIZE = 0, STATE["game_row"].shape[0]  # what is copied of it
DECIDER = GAME + GAME_SIZE
ORDER = DECIDER + 1
CONTRACTS, CONTRACT_SIZE = ORDER + MAX_PLAYERS, 2
PLACES, PLACE_SIZE = CONTRACTS + CONTRACT_SIZE * NUM_TRAITS, SECTOR_SIZE
ROW = PLACES + PLACE_SIZE * NUM_PLACES
WAYS, WAY_SIZE = ROW + ROW_CARD_SIZE * ROW_SLOTS, 3
LOADS, LOAD_SIZE = WAYS + WAY_SIZE * NUM_WAYS, 1
PLAYERS, PLAYER_SIZE = LOADS + LOAD_SIZE * NUM_LOADS, PLAYER["public_row"].shape[0]
PARTS, PARTS_OF_A_SEAT = PLAYERS + PLAYER_SIZE * MAX_PLAYERS, PLAYER["parts_row"].shape[0]
DECK = PARTS + PARTS_OF_A_SEAT * (MAX_PLAYERS - 1)
FACTS_SIZE = DECK + MAX_CARDS
# derived
NEXT, END, BEST = range(FACTS_SIZE, FACTS_SIZE + 3)
CONTRACTS_BEHIND, CONTRACT_DERIVED = FACTS_SIZE + 3, 2
PLACES_FUEL, PLACE_DERIVED = CONTRACTS_BEHIND + CONTRACT_DERIVED * NUM_TRAITS, 4
PLACES_WORTH, PLACES_AIM, PLACES_BEST = range(PLACES_FUEL + 1, PLACES_FUEL + PLACE_DERIVED)
ROW_OFFERS, OFFERS = PLACES_FUEL + PLACE_DERIVED * NUM_PLACES, 5
AS_SECTOR, AS_PART, AS_MODULE, AS_SPECIAL = range(4)  # in the order of the action ids
WAYS_BEHIND, WAY_DERIVED = ROW_OFFERS + OFFERS * ROW_SLOTS, 2
LOADS_BEHIND, LOAD_DERIVED = WAYS_BEHIND + WAY_DERIVED * NUM_WAYS, 3
PLAYERS_REACH, PLAYER_DERIVED = LOADS_BEHIND + LOAD_DERIVED * NUM_LOADS, 1 + NUM_TRAITS
SIZE = PLAYERS_REACH + PLAYER_DERIVED * MAX_PLAYERS


def make_observation(tables: Any) -> Layout:
    """The tables. Seats are relative: row 0 of ``players`` is the observer, then clockwise."""
    cards = tables["row_card"]
    most = {name: max(1, int(cards[name].max())) for name in cards.dtype.names}
    boxes, fuel = int(tables["boxes"]), int(tables["fuel_cap"])
    cost = max(most["cost"], int(tables["port_cost"]), 1)
    dots = max(most["dots"], int(tables["booster_dots"]))
    kind = "0 none, 1-5 bypass that type, 6 JUMP, 7 SLING"
    icons = [
        piece("asteroids", NUMBER, most["asteroids"], "asteroid icons"),
        piece("comets", NUMBER, most["comets"], "comet icons"),
        piece("stations", NUMBER, most["stations"], "station icons; at least one makes it a place for a disk"),
    ]

    def part(takes: str) -> list[Piece]:
        return [
            piece("part", LABEL, SLING_PART, kind),
            piece("fuel", NUMBER, max(dots, cost), takes),
            piece("used", FLAG, 1, "it has been used in this flight"),
        ]

    game = [
        piece("node", LABEL, max(Node), "0 DRAFT, 1 TARGET, 2 CONTRACT, 3 LOAD, 4 FLY, 5 OVER"),
        piece("round", LABEL, 2, "current round, counted from 0"),
        piece("num_players", NUMBER, MAX_PLAYERS, "players in the game", low=MIN_PLAYERS),
        piece("draft_pos", NUMBER, 2 * MAX_PLAYERS, "picks made this round"),
        piece("run_length", NUMBER, RUN_SLOTS, "sectors in the run", scale=10),
        piece("deck_count", NUMBER, int(tables["cards_total"]), "cards in the deck"),
        piece("pending_action", LABEL, NUM_SPECIALS, "at TARGET: 2 REROUTE, 3 OUTPOST"),
        piece(
            "pending_type", LABEL, NUM_TYPES, "at TARGET: type of the card that was played, which becomes a delivery"
        ),
        piece("arrivals", COUNT, MAX_PLAYERS, "arrivals at Kepler this round"),
        piece("committed_count", NUMBER, MAX_PLAYERS, "contracts chosen this round"),
        reference("decider", "players", "player who decides; it means nothing once the game is over"),
        reference("order", "players", "the players in turn order", shape=MAX_PLAYERS),
    ]
    contracts = [
        reference("completed_by", "players", "player who completed it"),
        piece("chosen", FLAG, 1, "the observer has chosen it this round"),
    ]
    places = [
        piece("type", LABEL, KEPLER, "0 none or Port, 1-5 sector type, 6 Kepler"),
        piece("cost", NUMBER, cost, "fuel to leave a sector"),
        *icons,
        reference("disk", "players", "player whose disk lies here"),
    ]
    row = [
        piece("type", LABEL, NUM_TYPES, "0 for an empty slot, else the sector type"),
        piece("cost", NUMBER, cost, "fuel to leave it once it is a sector"),
        piece("wrenches", NUMBER, most["wrenches"], "modules needed to install it"),
        piece("part", LABEL, SLING_PART, f"as a part: {kind}"),
        piece("dots", NUMBER, most["dots"], "fuel needed to use the part"),
        *icons,
        piece("action", LABEL, NUM_SPECIALS, "special action: 0 none, 1 REFUEL, 2 REROUTE, 3 OUTPOST"),
        piece("vp", NUMBER, most["vp"], "points for installing it"),
    ]
    players = [
        piece("present", FLAG, 1, "1 for seats in the game"),
        piece("order_position", NUMBER, MAX_PLAYERS - 1, "position in the turn order"),
        piece("vp", NUMBER, 127, "victory points", scale=20),
        piece("modules", NUMBER, boxes, "fuel modules"),
        piece("fuel", COUNT, fuel, "fuel on the ship"),
        piece("disks", COUNT, int(tables["disks"]), "disks in supply"),
        piece("built_in", LABEL, NUM_TYPES, "sector type that the ship can leave for free"),
        piece("hand", FLAG, 1, "1 for each contract in hand", shape=NUM_TRAITS),
        reference("place", "places", "place of the pawn"),
        piece("tank", NUMBER, boxes + fuel, "fuel in the tank", scale=10),
        piece("flown", FLAG, 1, "its flight of this round is over"),
        piece("committed", FLAG, 1, "it has chosen its contract of this round"),
        piece("revealed", LABEL, NUM_TRAITS, "contract it revealed at the last scoring: 0 none, else 1 + contract"),
        piece("booster_used", FLAG, 1, "the booster has been used"),
        piece(
            "deliveries", NUMBER, 2 * PART_SLOTS, "number of deliveries to each sector type", shape=NUM_TYPES, scale=1
        ),
        piece("delivered", FLAG, 1, "1 once the deliveries to that type are made in this flight", shape=NUM_TYPES),
    ]
    return Layout(
        [
            table("game", 1, game),
            table("contracts", NUM_TRAITS, contracts),
            table("places", NUM_PLACES, places),
            table("row", ROW_SLOTS, row),
            table("ways", NUM_WAYS, part("fuel that it takes; for MOVE, in the observer's own flight")),
            table("loads", NUM_LOADS, [piece("possible", FLAG, 1, "the observer's ship has that much fuel")]),
            table("players", MAX_PLAYERS, players),
            table("parts", PART_SLOTS * (MAX_PLAYERS - 1), part("fuel that it takes")),
            table("deck", MAX_CARDS, [piece("unseen", FLAG, 1, "1 while the card with this id is in the deck")]),
            *_derived(),
        ]
    )


def _derived() -> list[Any]:
    def worth(name: str, meaning: str) -> Any:
        return piece(name, NUMBER, MOST_WORTH, f"{meaning}, in hundredths of points", low=-MOST_WORTH, scale=POINT)

    fuel_left = 2 * MAX_FUEL
    return [
        table(
            "game",
            1,
            [
                reference("next", "places", "in flight: the place after the observer's"),
                reference("end", "places", "the best place to end the flight at"),
                worth("best", "worth of the flight that ends there"),
            ],
            derived=True,
        ),
        table(
            "contracts",
            NUM_TRAITS,
            [
                worth("behind", "how much less the best flight with it is worth than the best of all"),
                piece("best", FLAG, 1, "the best flight is the one with it"),
            ],
            derived=True,
        ),
        table(
            "places",
            NUM_PLACES,
            [
                piece("fuel", COUNT, 1 + MOST_PLANNED,
                    "1 + the fuel from the observer's place, 0 if it is out of reach; the draft allows up to "
                    f"{AHEAD} more than there is, and counts what will probably lie before Kepler", scale=5),
                worth("worth", "worth of ending the flight there, fuel not counted"),
                worth("aim", "at TARGET: worth of the action here"),
                piece("best", FLAG, 1, "the sector to aim at"),
            ],
            derived=True,
        ),
        table(
            "row",
            ROW_SLOTS,
            [
                worth("as_sector", "worth of the card as a discovery"),
                worth("as_part", "worth of the card as a part"),
                worth("as_module", "worth of the card as a module"),
                worth("as_special", "worth of the card for its special action and as a delivery"),
                piece("best", LABEL, OFFERS - 1,
                    "the best use of all is this card: 1 as a discovery, 2 as a part, 3 as a module, "
                    "4 for its special action; 0 if another card is better"),
            ],
            derived=True,
        ),
        table(
            "ways",
            NUM_WAYS,
            [
                worth("behind", "how much less it is worth to fly on this way, or to stop, than the best"),
                piece("best", FLAG, 1, "the first way with which the best flight takes the least fuel"),
            ],
            derived=True,
        ),
        table(
            "loads",
            NUM_LOADS,
            [
                worth("behind", "how much less the best flight with this load is worth than the best of all"),
                piece("spare", NUMBER, fuel_left, "fuel beyond what the best flight needs", low=-fuel_left, scale=2),
                piece("enough", FLAG, 1, "the load of the best flight"),
            ],
            derived=True,
        ),
        table(
            "players",
            MAX_PLAYERS,
            [
                piece("reach", NUMBER, NUM_PLACES - 1,
                      "place where the flight ended or is; before it, how far it could go with all fuel", scale=10),
                piece("icons", NUMBER, 127, "icons of each contract on the way there", shape=NUM_TRAITS, scale=5),
            ],
            derived=True,
        ),
    ]  # fmt: skip
