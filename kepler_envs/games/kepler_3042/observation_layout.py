"""The tables of an observation: what each entry means, and where compiled code finds it.

Rows stand in the order in which action ids name them. Worths are rules of thumb in hundredths of a point, see worth.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kepler_envs.engine.observation import (
    COUNT,
    FLAG,
    LABEL,
    NUMBER,
    Block,
    FixedTable,
    Layout,
    Piece,
    fixed_table,
    numbered,
    piece,
    reference,
    table,
)
from kepler_envs.games.kepler_3042.hexes import HEIGHT, NUM_HEXES, WIDTH, as_hexes, axial
from kepler_envs.games.kepler_3042.state import (
    LINES,
    MAX_ALLOCATIONS,
    MAX_COLONIES,
    MAX_CONVERSIONS,
    MAX_LEVEL,
    MAX_PLAYERS,
    MAX_SHIPS,
    MAX_SPEED,
    MOST_REWARDS,
    NEXT_BENEFICIARY,
    NUM_BONUS,
    NUM_CAMPAIGNS,
    NUM_CARDS,
    NUM_LEVELS,
    NUM_MAIN,
    NUM_MEDALS,
    NUM_OBJECTIVES,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_SLOTS,
    NUM_TECHS,
    NUM_TRACKS,
    NUM_TYPES,
    NUM_ZONES,
    ROUNDS,
    TRACK_END,
    TURN_OVER,
    Node,
    Phase,
    Requirement,
    What,
    Who,
)

CUBES = (21, 21, 6)  # most cubes of each kind that a player can have anywhere
MOST_CUBES = max(CUBES)
MOST_COST = 7
MOST_VP = 400
MOST_WORTH = 12_000
MOST_TILES = 36
MOST_SITES = 8  # mines and colonial targets
NUM_RIVALS = MAX_SHIPS * (MAX_PLAYERS - 1)
REWARDS_SHOWN = 8
WAYS_OF_A_SHIP = 2
NUM_WAYS = WAYS_OF_A_SHIP * MAX_SHIPS
IN_SUPPLY, IN_SPACE, ON_PLANET, ON_MINE = range(4)


def _worth(name: str, meaning: str) -> Piece:
    return piece(name, NUMBER, MOST_WORTH, f"{meaning}, in hundredths of a point", low=-1000, scale=300)


def _cubes(name: str, meaning: str, scale: float = 4, most: int = MOST_CUBES) -> Piece:
    return piece(name, COUNT, most, f"energy, matter, antimatter {meaning}", shape=NUM_RESOURCES, scale=scale)


def _at(when: str, fields: list[Piece]) -> list[Piece]:
    """Mark fields about the choice at some nodes. Elsewhere, and for an observer who does not decide, they are 0."""
    return [replace(field, meaning=f"{when}: {field.meaning}") for field in fields]


AT_TRACKS = "MAIN_ACTION, BONUS_ACTION, MAPPING_TRACK"
AT_TECHNOLOGIES = "FIRST_TECHNOLOGY, TECHNOLOGICAL_DEVELOPMENT, CARD_TECHNOLOGY"
AT_BONUSES = "MAIN_ACTION, BONUS_ACTION"
AT_CARDS = "MAIN_ACTION, where a card or cubes are chosen, and while conversions or allocations are left"
AT_STARSHIPS = "MAIN_ACTION, COLONY_SEEDING, MOVEMENT, MOVER, GOING_ON, WITHDRAWAL"
AT_WAYS = "MOVEMENT, GOING_ON, PLACE"
AT_AIMS = "MAIN_ACTION, MOVEMENT, MOVER, GOING_ON, and BONUS_ACTION if it offers a movement"


def _where_ships_are() -> list[Piece]:
    return [
        reference("place", "places", "hex it is on; none while it is in the supply"),
        piece("moved", FLAG, 1, "it has moved in this movement"),
        piece("moving", FLAG, 1, "it has taken a colonial target and may go on"),
    ]


FACTS = (
    table(
        "game",
        1,
        [
            piece("node", LABEL, len(Node) - 1, "what the seat to move is asked for"),
            piece("flow", LABEL, TURN_OVER,
                  "what the active seat is asked for once rewards are handed out; "
                  f"{NEXT_BENEFICIARY} the card's next player, {TURN_OVER} nothing more in its turn"),
            piece("phase", LABEL, len(Phase) - 1, "0 setup, 1 turns, 2 progress card, 3 over"),
            piece("round", NUMBER, ROUNDS, "current round; 0 during setup"),
            piece("num_players", NUMBER, MAX_PLAYERS, "players", low=1),
            piece("turns_done", NUMBER, MAX_PLAYERS, "turns done this round; during setup, seats done"),
            reference("active", "players", "player whose setup, turn or card it is"),
            reference("to_move", "players", "player who decides; it means nothing once the game is over"),
            piece("conversions", COUNT, MAX_CONVERSIONS, "conversions left this turn", scale=3),
            piece("allocations", COUNT, MAX_ALLOCATIONS, "allocations left this turn"),
            piece("second_free", FLAG, 1, "the next bonus action burns nothing"),
            piece("bonus", LABEL, NUM_BONUS, "1 + bonus action that is being paid"),
            piece("technology", LABEL, NUM_TECHS, "1 + technology that is being paid"),
            piece("left", COUNT, MAX_CONVERSIONS, "how often the action can still be repeated", scale=4),
            piece("source", LABEL, 3,
                  "what a movement or a new starship comes from: 0 main action, 1 bonus action, 2 end of the turn, "
                  "3 card"),
            piece("place_slot", LABEL, NUM_SLOTS, "1 + slot of the card that paid for the starship to be placed"),
            piece("speed", NUMBER, MAX_SPEED, "spaces each starship may move"),
            piece("points", NUMBER, MAX_SPEED, "spaces that the starship which may go on has left"),
            reference("goal", "places", "hex that one of several starships goes to"),
            reference("card", "cards", "progress card of this round"),
            piece("rewards", COUNT, MOST_REWARDS, "rewards waiting to be handed out", scale=4),
            piece("level", LABEL, NUM_LEVELS, "solo: level of the campaign"),
            piece("campaign", LABEL, NUM_CAMPAIGNS, "solo: 1 + campaign"),
            piece("bonus_cubes", COUNT, MAX_CONVERSIONS, "solo: cubes carried over from the previous level"),
            piece("tile_group", LABEL, MAX_PLAYERS, "planets that need at most this many players are in play"),
            piece("advanced", FLAG, 1, "the advanced objectives are used"),
            piece("win_loss", FLAG, 1, "rewards depend on winning only"),
        ],
    ),
    table(
        "players",
        MAX_PLAYERS,
        [
            piece("present", FLAG, 1, "1 for players and the ghost; row 0 is the observer, then clockwise"),
            piece("ghost", FLAG, 1, "the ghost of the solo game"),
            _cubes("storage", "in storage", 7),
            _cubes("pit", "in the Clausius pit"),
            piece("tech", NUMBER, MAX_LEVEL, "levels of the technologies I to V", shape=NUM_TECHS),
            piece("track", NUMBER, TRACK_END, "space on the colonial and the technological track", shape=NUM_TRACKS),
            piece("medals", COUNT, NUM_MEDALS, "medals of both colours", shape=NUM_TRACKS),
            piece("action_cube", LABEL, NUM_MAIN - 1, "main action that the action cube lies on"),
            _cubes("earth", "on Earth"),
            piece("first", FLAG, 1, "it has the first player's marker"),
            piece("waits_for_card", FLAG, 1, "it still waits for its turn with the progress card"),
        ],
    ),
    table(
        "tracks",
        NUM_TRACKS,
        [
            piece("card_medals", COUNT, NUM_MEDALS, "medals on the progress card"),
            piece("medals", FLAG, 1, "medals still on their spaces", shape=NUM_MEDALS),
        ],
    ),
    table("technologies", NUM_TECHS, [piece("level", NUMBER, MAX_LEVEL, "own level")]),
    table("main_actions", NUM_MAIN, [piece("cube", FLAG, 1, "the own action cube lies on it")]),
    table("bonus_actions", NUM_BONUS, [piece("used", FLAG, 1, "it has been used this turn")]),
    table(
        "resources",
        NUM_RESOURCES,
        [
            piece("storage", COUNT, MOST_CUBES, "the observer's cubes in storage", scale=7),
            piece("pit", COUNT, MOST_CUBES, "the observer's cubes in the pit", scale=4),
        ],
    ),
    table("slots", NUM_SLOTS, [reference("planet", "planets", "the observer's colony there; row 0 is Earth")]),
    table(
        "planets",
        NUM_PLANETS,
        [
            piece("status", LABEL, 3,
                  "0 not seen, 1 open, 2 colonised, 3 terraformed; the row is the planet's number - 1"),
            reference("owner", "players", "player who has colonised it"),
            reference("place", "places", "where it lies, once seen"),
            piece("slot", LABEL, MAX_COLONIES, "its number among its owner's colonies"),
            _cubes("cubes", "on its card", 3),
            piece("exploited", FLAG, 1, "it has produced in this action"),
        ],
    ),
    table("tiles", MOST_TILES, [reference("place", "places", "hex of a face-down tile, in the order of the hexes")]),
    table(
        "sites",
        MOST_SITES,
        [
            piece("kind", LABEL, 2, "1 face-up mine, 2 face-up colonial target, in the order of the hexes"),
            reference("place", "places", "where it lies"),
        ],
    ),
    table("starships", MAX_SHIPS, _where_ships_are()),
    table("rivals", NUM_RIVALS, _where_ships_are()),
    table("cards", NUM_CARDS,
          [piece("shown", COUNT, ROUNDS, "round in which the progress card was shown; the row is its id - 1")]),
    table("objectives", NUM_OBJECTIVES, [piece("required", FLAG, 1,
                                               "the observer has to satisfy it; the row is its id - 1")]),
    table(
        "rewards",
        REWARDS_SHOWN,
        [
            reference("player", "players", "player who gets the next, second, ... reward"),
            piece("kind", LABEL, 3, "1 produce energy, 2 produce matter, 3 regenerate"),
        ],
    ),
)  # fmt: skip

DERIVED = (
    table(
        "game",
        1,
        [
            piece("lead", NUMBER, MOST_VP,
                  "points without objectives, ahead of the best other; solo: above the minimum score, for which "
                  "objectives count too", low=-MOST_VP, scale=20),
            piece("who", LABEL, len(Who), f"whom the progress card is for: {numbered(Who)}"),
            piece("what", LABEL, len(What), f"what the progress card brings: {numbered(What)}"),
            piece("subject", LABEL, NUM_TECHS, "1 + technology or track that the progress card names"),
            piece("count", NUMBER, 9, "cubes, spaces, tiles or highest level that the progress card names"),
            piece("burns", FLAG, 1, "a level from the progress card burns cubes"),
            piece("produced", NUMBER, MOST_COST, "cubes that the progress card produces", shape=NUM_RESOURCES),
            piece("for_me", FLAG, 1, "MAIN_ACTION: the observer would benefit from the card as things are"),
            _worth("burn_cost", "MAIN_ACTION, BONUS_ACTION: worth of a burned cube"),
            _worth("new_ship",
                   "MAIN_ACTION, SPACE_MISSIONS, and BONUS_ACTION if offered: worth of a new starship at Sol"),
            reference("focus", "places",
                      "GOING_ON: hex of the starship; PLACE: the planet, or Sol, beside which it is placed"),
        ],
        derived=True,
    ),
    table(
        "players",
        MAX_PLAYERS,
        [
            piece("ships_in_supply", COUNT, MAX_SHIPS, "starships not in play"),
            piece("ships_in_space", COUNT, MAX_SHIPS, "starships in empty space"),
            piece("ships_on_planets", COUNT, MAX_SHIPS, "starships on planets"),
            piece("ships_on_mines", COUNT, MAX_SHIPS, "starships on mines"),
            piece("colonies", COUNT, MAX_COLONIES, "planets that it has colonised"),
            piece("terraformed", COUNT, MAX_COLONIES, "planets that it has terraformed"),
            piece("colonies_of_type", COUNT, MAX_COLONIES, "oceanic, rocky, super-Earth, gas giant, alien colonies",
                  shape=NUM_TYPES),
            piece("colonies_in_zone", COUNT, MAX_COLONIES, "colonies in the short, mid, long zone", shape=NUM_ZONES),
            piece("public_vp", NUMBER, MOST_VP, "points without the objective", scale=30),
        ],
        derived=True,
    ),
    table(
        "objectives",
        NUM_OBJECTIVES,
        [
            piece("test", LABEL, len(Requirement), f"what it asks for: {numbered(Requirement)}"),
            piece("wanted", NUMBER, TRACK_END, "how much of that it asks for", scale=3),
            piece("vp", NUMBER, 30, "points", scale=6),
            piece("have", COUNT, TRACK_END, "how much of that the observer has, if it has to satisfy it", scale=3),
            piece("satisfied", FLAG, 1, "the observer has to satisfy it, and does so now"),
        ],
        derived=True,
    ),
    table(
        "tracks",
        NUM_TRACKS,
        _at(AT_TRACKS, [
            piece("space", NUMBER, TRACK_END, "space that the observer is on"),
            piece("next_points", NUMBER, 15, "points that one more space brings", scale=1),
            piece("next_icon", LABEL, 3, "icon on the next space: 1 energy, 2 matter, 3 regeneration"),
            piece("steps_to_icon", COUNT, TRACK_END, "spaces to the next icon; 0 if there is none", scale=4),
            piece("ahead", NUMBER, TRACK_END, "spaces ahead of the best other, the ghost included", low=-TRACK_END,
                  scale=5),
            piece("next_medal", FLAG, 1, "a medal lies on the next space"),
            _worth("worth", "worth of one more space"),
        ]),
        derived=True,
    ),
    table(
        "technologies",
        NUM_TECHS,
        _at(AT_TECHNOLOGIES, [
            piece("next", LABEL, NUM_TECHS * MAX_LEVEL,
                  "number of its next level among the levels of all technologies"),
            _cubes("cost", "that the next level costs", 2, MOST_COST),
            piece("leadership", COUNT, 3, "technological leadership that the next level brings"),
            piece("points", COUNT, 5, "points that the next level brings", scale=2),
            piece("benefit", NUMBER, MAX_CONVERSIONS, "first benefit of the observer's level", scale=4),
            piece("extra", NUMBER, MAX_LEVEL, "second benefit of the observer's level"),
            piece("more", NUMBER, MAX_CONVERSIONS, "how much the next level adds to the first benefit", scale=2),
            piece("more_extra", NUMBER, MAX_LEVEL, "how much the next level adds to the second benefit", scale=1),
            piece("lacking", COUNT, 3 * MOST_COST,
                  "cubes that the observer's best card lacks for the next level", scale=4),
            piece("payers", COUNT, NUM_SLOTS, "cards of the observer that can pay for it", scale=2),
            piece("raised", COUNT, MAX_PLAYERS - 1, "other players whom it raises"),
            piece("others", NUMBER, MAX_LEVEL, "highest level among the others, the ghost included"),
            piece("for_free", FLAG, 1, "the progress card could raise it"),
            piece("burned", COUNT, MAX_LEVEL - 1, "cubes that the progress card would burn for it"),
            _worth("worth", "worth of the next level"),
        ]),
        derived=True,
    ),
    table(
        "main_actions",
        NUM_MAIN,
        [
            piece("column", LABEL, NUM_BONUS, "1 + the bonus action of its column"),
            piece("row", LABEL, NUM_BONUS, "1 + the bonus action of its row"),
            *_at("MAIN_ACTION", [
                piece("amount", COUNT, 63,
                      "starships, colonies, levels, spaces, planets, tiles or cubes that it could bring", scale=3),
                _worth("worth", "worth of what it could bring"),
                _worth("bonus_worth", "worth of its bonus actions beyond that of a burned cube"),
            ]),
        ],
        derived=True,
    ),
    table(
        "bonus_actions",
        NUM_BONUS,
        _at(AT_BONUSES, [
            piece("offered", FLAG, 1, "it is on the column or row of the observer's action cube"),
            _worth("worth", "its worth, at BONUS_ACTION if offered; 0 if it would do nothing"),
        ]),
        derived=True,
    ),
    table(
        "resources",
        NUM_RESOURCES,
        _at(AT_CARDS, [
            piece("lacking", COUNT, MAX_COLONIES * MOST_COST,
                  "cubes that the observer's colonies lack for terraforming", scale=4),
            piece("production", COUNT, MAX_COLONIES * MOST_COST, "cubes that the observer's colonies produce", scale=4),
        ]),
        derived=True,
    ),
    table(
        "slots",
        NUM_SLOTS,
        _at(AT_CARDS, [
            reference("of", "planet_cards", "card of the planet"),
            piece("terraformed", FLAG, 1, "it is terraformed"),
            piece("vp", COUNT, 15, "points that terraforming still brings", scale=8),
            piece("leadership", COUNT, 3, "colonial leadership that terraforming brings"),
            _cubes("cubes", "on its card", 3),
            _cubes("lacking", "that its card lacks for terraforming", 2, MOST_COST),
            _cubes("production", "that it produces", 3, MOST_COST),
            piece("missing", COUNT, 3 * MOST_COST, "all cubes that its card lacks", scale=3),
            piece("missing_levels", COUNT, MAX_LEVEL, "levels of Terraforming that are missing"),
            piece("ready", FLAG, 1, "it can be terraformed"),
            piece("producible", COUNT, 3 * MOST_COST, "cubes of its production that are in storage", scale=3),
            piece("exploited", FLAG, 1, "it has produced in this action"),
            piece("pays_ships", COUNT, MOST_CUBES, "starships that its card can pay for", scale=3),
            _worth("share", "worth of terraforming, less what is missing"),
            _worth("energy", "worth of energy there"),
            _worth("antimatter", "worth of antimatter there"),
            _worth("any", "worth of a cube of any kind there"),
        ]),
        derived=True,
    ),
    table(
        "planets",
        NUM_PLANETS,
        [
            reference("card", "planet_cards", "what the planet is like, if it is in play"),
            *_at(AT_WAYS, [_worth("worth", "worth of an open planet to a starship of the observer on it")]),
        ],
        derived=True,
    ),
    table("sites", MOST_SITES, _at(AT_WAYS, [_worth("worth", "its worth to a starship")]), derived=True),
    table(
        "starships",
        MAX_SHIPS,
        _at(AT_STARSHIPS, [
            piece("where", LABEL, 3, "0 in the supply, 1 in space, 2 on a planet, 3 on a mine"),
            piece("seeds", FLAG, 1, "it may become a colony"),
            piece("leadership", COUNT, 3, "colonial leadership that the colony would bring"),
            piece("points", COUNT, 3, "points that the colony's zone would bring"),
        ]) + _at(AT_AIMS, [
            reference("target", "places", "best tile for it, the way there considered"),
            piece("steps", COUNT, 40, "distance to that tile in hexes, whatever lies between", scale=6),
            piece("turns", COUNT, 40, "turns that this takes at one space more than Space Travels gives", scale=3),
        ]) + [
            _worth("worth", f"{AT_AIMS}: worth of that tile, less for each turn; {AT_STARSHIPS}: for a starship on a "
                            "planet, worth of a colony there"),
        ],
        derived=True,
    ),
    table(
        "ways",
        NUM_WAYS,
        _at(AT_WAYS, [
            reference("ship", "starships", "starship that moves; none if one is placed; two rows for each starship"),
            reference("target", "places",
                      "best tile for it, the way there considered; the second row has the second best"),
            reference("near", "places", "legal hex nearest to that tile"),
            reference("soon", "places",
                      "first legal hex with the fewest turns to that tile, counted as those of starships"),
            piece("chosen", FLAG, 1, "it is the best way of the first starship with a target"),
            piece("steps", COUNT, 40, "distance of that tile from the nearest legal hex, whatever lies between",
                  scale=6),
            _worth("worth", "worth of the target from where the starship is"),
        ]),
        derived=True,
    ),
)  # fmt: skip

PLACE_FIELDS = (
    piece("row", NUMBER, HEIGHT - 1, "row of the hex"),
    piece("column", NUMBER, WIDTH - 1, "column of the hex; odd rows are shifted right by half a hex"),
    piece("q", NUMBER, WIDTH - 1, "axial coordinate: column - row // 2", low=-HEIGHT // 2),
    piece("terrain", LABEL, 3, "0 space, 1 star, 2 Sol, 3 Sagittarius A*"),
    piece("star_kind", LABEL, 3, "0 no star, 1 single, 2 binary, 3 trinary"),
    piece("star_in_play", FLAG, 1, "the star is in play with 1, 2, 3, 4 players", shape=MAX_PLAYERS),
    piece("site", FLAG, 1, "tiles may lie there, with 1, 2, 3, 4 players", shape=MAX_PLAYERS),
    piece("zone", LABEL, NUM_ZONES - 1, "0 short, 1 mid, 2 long"),
    piece("zone_vp", NUMBER, 3, "points that a colony there brings"),
    piece("sol_distance", NUMBER, 40, "distance from Sol", scale=15),
)

PLANET_FIELDS = (
    piece("type", LABEL, NUM_TYPES - 1, "0 oceanic, 1 rocky, 2 super-Earth, 3 gas giant, 4 alien"),
    piece("level", NUMBER, MAX_LEVEL, "level of the planet"),
    piece("colony", NUMBER, MOST_COST, "production of a colony", shape=NUM_RESOURCES, scale=3),
    piece("terraformed", NUMBER, MOST_COST, "production once terraformed", shape=NUM_RESOURCES, scale=3),
    piece("cost", NUMBER, MOST_COST, "cost of terraforming", shape=NUM_RESOURCES, scale=3),
    piece("vp", NUMBER, 15, "points that terraforming brings", scale=10),
    piece("colonise", NUMBER, 3, "colonial leadership that a colony brings"),
    piece("terraform", NUMBER, 3, "colonial leadership that terraforming brings"),
    piece("min_players", NUMBER, MAX_PLAYERS, "fewest players that it is in play with"),
)


def _entries(fields: tuple[Piece, ...]) -> int:
    return sum(field.size for field in fields)


def places_table(tables: Any) -> FixedTable:
    """The 418 hexes."""
    values = np.zeros((NUM_HEXES, _entries(PLACE_FIELDS)), np.int16)
    hexes = np.arange(NUM_HEXES)
    setups = tables["setup"][1:]
    columns = [
        hexes // WIDTH,
        hexes % WIDTH,
        [axial(place)[0] for place in range(NUM_HEXES)],
        tables["terrain"],
        tables["star_kind"],
    ]
    columns += [np.isin(hexes, list(as_hexes(setup["stars"]))) for setup in setups]
    columns += [np.isin(hexes, list(as_hexes(setup["sites"]))) for setup in setups]
    columns += [tables["zone"], tables["zone_vp"][tables["zone"]], tables["sol_distance"]]
    values[:] = np.stack([np.asarray(column) for column in columns], axis=1)
    return fixed_table("places", PLACE_FIELDS, values)


def planet_table(tables: Any) -> FixedTable:
    """The 28 planets' cards, whatever is in play."""
    cards = tables["planet"][1:]
    parts = [cards["kind"], cards["level"], *cards["colony"].T, *cards["terraformed"].T, *cards["cost"].T, cards["vp"]]
    parts += [tables["colonise_leadership"][cards["kind"]], tables["terraform_leadership"][cards["kind"]]]
    parts.append(cards["min_players"])
    return fixed_table("planet_cards", PLANET_FIELDS, np.stack(parts, axis=1).astype(np.int16))


def layout_of(*fixed: FixedTable) -> Layout:
    """The layout with the fixed tables of a component file."""
    return Layout(BLOCKS, fixed)


BLOCKS: tuple[Block, ...] = FACTS + DERIVED
LAYOUT = layout_of(
    fixed_table("places", PLACE_FIELDS, np.zeros((NUM_HEXES, _entries(PLACE_FIELDS)), np.int16)),
    fixed_table("planet_cards", PLANET_FIELDS, np.ones((NUM_PLANETS, _entries(PLANET_FIELDS)), np.int16)),
)
"""Places and bounds of all entries, the same for every component file."""
SIZE = LAYOUT.size
FACTS_SIZE = LAYOUT.facts.size


def first(name: str, *, derived: bool = False) -> int:
    """The entry where row 0 of a table begins."""
    return LAYOUT.begin(name, derived=derived)[0]


def width(name: str, *, derived: bool = False) -> int:
    """The number of entries of a row."""
    return LAYOUT.begin(name, derived=derived)[1]


def within(name: str) -> int:
    """The place of a field in the row of its table's facts, or derived fields."""
    found = LAYOUT[name]
    return found.offset - first(found.table, derived=found.derived)


def columns(table: str, fields: str) -> tuple[int, ...]:
    """The places of some fields in the row of their table's facts, or derived fields."""
    return tuple(within(f"{table}.{field}") for field in fields.split())


TEMPLATE = np.dtype([("entries", "i1", (SIZE - FACTS_SIZE,))])


def template(tables: Any, tile_group: int) -> np.ndarray:
    """The derived part of an observation with only what the component file says, as int8."""
    vector = np.zeros(SIZE, np.int16)
    in_play = tables["planet"]["min_players"][1:] <= tile_group
    LAYOUT["planets.card"].view(vector)[:] = np.where(in_play, np.arange(1, NUM_PLANETS + 1), 0)
    objectives = tables["objective"]
    LAYOUT["objectives.test"].view(vector)[:] = objectives["test"] + 1
    LAYOUT["objectives.wanted"].view(vector)[:] = objectives["count"]
    LAYOUT["objectives.vp"].view(vector)[:] = objectives["vp"]
    main_actions = np.arange(NUM_MAIN)
    for bonus, (line, number) in enumerate(bonus_lines(tables["bonus_of"])):
        numbers = main_actions % LINES if line == "column" else main_actions // LINES
        LAYOUT[f"main_actions.{line}"].view(vector)[numbers == number] = 1 + bonus
    return vector[FACTS_SIZE:].astype(np.int8)


def bonus_lines(bonus_of: np.ndarray) -> list[tuple[str, int]]:
    """The line of main actions that each bonus action belongs to: ``column`` or ``row``, and its number."""
    lines = []
    for bonus in range(NUM_BONUS):
        first, second, _ = np.flatnonzero(bonus_of >> bonus & 1).tolist()
        lines.append(("row", first // LINES) if second == first + 1 else ("column", first))
    return lines


CARD_ROW = np.dtype([("entries", "i1", (8,))])
LEVEL_ROW = np.dtype([("entries", "i1", (10,))])
TRACK_ROW = np.dtype([("entries", "i1", (4,))])


def card_rows(tables: Any) -> np.ndarray:
    """int8 (progress cards, 8): the fields ``who`` to ``produced`` by the card's id; 0 of none."""
    rows = np.zeros((NUM_CARDS + 1, 8), np.int8)
    for card, row in zip(tables["card"][1:], rows[1:], strict=True):
        subject = card["tech"] + 1 if card["who"] >= Who.HIGHEST_TECH else 0
        if card["what"] == What.TRACK and subject == 0:
            subject = card["track"] + 1
        row[:] = card["who"] + 1, card["what"] + 1, subject, card["count"], card["burns"], *card["produced"]
    return rows


def level_rows(tables: Any) -> np.ndarray:
    """int8 (technologies, levels, 10): the fields ``next`` to ``more_extra`` of a technology at that level."""
    rows = np.zeros((NUM_TECHS, MAX_LEVEL + 1, 10), np.int8)
    for tech in range(NUM_TECHS):
        for level in range(MAX_LEVEL + 1):
            now = tables["tech"][tech, level]
            rows[tech, level, 6:8] = now["benefit"], now["extra"]
            if level < MAX_LEVEL:
                next_level = tables["tech"][tech, level + 1]
                points = tables["vp_max_technology"] if level + 1 == MAX_LEVEL else 0
                rows[tech, level, :6] = (
                    MAX_LEVEL * tech + level + 1,
                    *next_level["cost"],
                    next_level["leadership"],
                    points,
                )
                rows[tech, level, 8:] = next_level["benefit"] - now["benefit"], next_level["extra"] - now["extra"]
    return rows


def track_rows(tables: Any) -> np.ndarray:
    """int8 (tracks, spaces, 4): the fields ``space`` to ``steps_to_icon`` of a track on that space."""
    rows = np.zeros((NUM_TRACKS, TRACK_END + 1, 4), np.int8)
    for track in range(NUM_TRACKS):
        icons = np.flatnonzero(tables["icon"][track])
        for space in range(TRACK_END + 1):
            rows[track, space, 0] = space
            rows[track, space, 3] = min(icons[icons > space] - space, default=0)
            if space < TRACK_END:
                points = tables["track_vp"][track]
                rows[track, space, 1:3] = points[space + 1] - points[space], tables["icon"][track, space + 1]
    return rows
