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
    piece,
    reference,
    table,
)
from kepler_envs.games.kepler_3042.hexes import HEIGHT, NUM_HEXES, WIDTH, as_hexes, axial
from kepler_envs.games.kepler_3042.state import (
    MAX_ALLOCATIONS,
    MAX_COLONIES,
    MAX_CONVERSIONS,
    MAX_LEVEL,
    MAX_PLAYERS,
    MAX_SHIPS,
    MAX_SPEED,
    MOST_REWARDS,
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
    """Fields about the choice at some nodes: elsewhere, and for an observer who does not decide, they are 0."""
    return [replace(field, meaning=f"{when}: {field.meaning}") for field in fields]


AT_TRACKS = "MAIN_ACTION, BONUS_ACTION, MAPPING_TRACK"
AT_TECHNOLOGIES = "FIRST_TECHNOLOGY, TECHNOLOGICAL_DEVELOPMENT, CARD_TECHNOLOGY"
AT_BONUSES = "MAIN_ACTION, BONUS_ACTION"
AT_CARDS = "where a card or cubes are chosen, may be converted or allocated"
AT_STARSHIPS = "MAIN_ACTION, COLONY_SEEDING, MOVEMENT, MOVER, GOING_ON, WITHDRAWAL"
AT_WAYS = "MOVEMENT, GOING_ON, PLACE"
AT_AIMS = "MAIN_ACTION, MOVEMENT, MOVER, GOING_ON, and BONUS_ACTION if a movement is offered"


def _where_ships_are() -> list[Piece]:
    return [
        reference("place", "places", "hex it is on; none in supply"),
        piece("moved", FLAG, 1, "has moved in this movement"),
        piece("moving", FLAG, 1, "has taken a colonial target and may go on"),
    ]


FACTS = (
    table(
        "game",
        1,
        [
            piece("node", LABEL, len(Node) - 1, "what the seat to move is asked for"),
            piece("flow", LABEL, TURN_OVER, "what the active seat is asked for once rewards are handed out"),
            piece("phase", LABEL, len(Phase) - 1, "setup, turns, progress card, over"),
            piece("round", NUMBER, ROUNDS, "0 during setup"),
            piece("num_players", NUMBER, MAX_PLAYERS, "players", low=1),
            piece("turns_done", NUMBER, MAX_PLAYERS, "turns done this round; in setup seats"),
            reference("active", "players", "whose setup, turn or card it is"),
            reference("to_move", "players", "who decides"),
            piece("conversions", COUNT, MAX_CONVERSIONS, "left this turn", scale=3),
            piece("allocations", COUNT, MAX_ALLOCATIONS, "left this turn"),
            piece("second_free", FLAG, 1, "the next bonus action burns nothing"),
            piece("bonus", LABEL, NUM_BONUS, "1 + bonus action that is being paid"),
            piece("technology", LABEL, NUM_TECHS, "1 + technology that is being paid"),
            piece("left", COUNT, MAX_CONVERSIONS, "repetitions left of the action", scale=4),
            piece("source", LABEL, 3,
                  "of a movement or a new starship: main action, bonus action, end of the turn, card"),
            piece("place_slot", LABEL, NUM_SLOTS, "1 + slot of the card that paid for the starship to be placed"),
            piece("speed", NUMBER, MAX_SPEED, "spaces each starship may move"),
            piece("points", NUMBER, MAX_SPEED, "spaces left to the starship that may go on"),
            reference("goal", "places", "where one of several starships goes"),
            reference("card", "cards", "progress card of this round"),
            piece("rewards", COUNT, MOST_REWARDS, "rewards that wait", scale=4),
            piece("level", LABEL, NUM_LEVELS, "solo: level of the campaign"),
            piece("campaign", LABEL, NUM_CAMPAIGNS, "solo: 1 + campaign"),
            piece("bonus_cubes", COUNT, MAX_CONVERSIONS, "solo: cubes carried over from the level before"),
            piece("tile_group", LABEL, MAX_PLAYERS, "planets for at most so many players are in play"),
            piece("advanced", FLAG, 1, "advanced objectives"),
            piece("win_loss", FLAG, 1, "rewards by winning alone"),
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
            piece("action_cube", LABEL, NUM_MAIN - 1, "main action it lies on"),
            _cubes("earth", "on Earth"),
            piece("first", FLAG, 1, "has the first player's marker"),
            piece("waits_for_card", FLAG, 1, "the progress card is for it, too, and it is not its turn yet"),
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
    table("bonus_actions", NUM_BONUS, [piece("used", FLAG, 1, "done in this turn")]),
    table(
        "resources",
        NUM_RESOURCES,
        [
            piece("storage", COUNT, MOST_CUBES, "own cubes in storage", scale=7),
            piece("pit", COUNT, MOST_CUBES, "own cubes in the pit", scale=4),
        ],
    ),
    table("slots", NUM_SLOTS, [reference("planet", "planets", "own colony; Earth is row 0")]),
    table(
        "planets",
        NUM_PLANETS,
        [
            piece("status", LABEL, 3, "not seen, open, colonised, terraformed; row number - 1"),
            reference("owner", "players", "who has colonised it"),
            reference("place", "places", "where it lies, once seen"),
            piece("slot", LABEL, MAX_COLONIES, "number among its owner's colonies"),
            _cubes("cubes", "on its card", 3),
            piece("exploited", FLAG, 1, "has produced in this action"),
        ],
    ),
    table("tiles", MOST_TILES, [reference("place", "places", "a tile that is face down, in order of the hexes")]),
    table(
        "sites",
        MOST_SITES,
        [
            piece("kind", LABEL, 2, "1 mine, 2 colonial target, face up, in order of the hexes"),
            reference("place", "places", "where it lies"),
        ],
    ),
    table("starships", MAX_SHIPS, _where_ships_are()),
    table("rivals", NUM_RIVALS, _where_ships_are()),
    table("cards", NUM_CARDS,
          [piece("shown", COUNT, ROUNDS, "round in which the progress card was shown; row id - 1")]),
    table("objectives", NUM_OBJECTIVES, [piece("required", FLAG, 1, "required of the observer; row id - 1")]),
    table(
        "rewards",
        REWARDS_SHOWN,
        [
            reference("player", "players", "who gets the next, second, ... reward"),
            piece("kind", LABEL, 3, "produce energy, produce matter, regenerate"),
        ],
    ),
)  # fmt: skip

DERIVED = (
    table(
        "game",
        1,
        [
            piece("lead", NUMBER, MOST_VP, "points before the best other; solo: beyond the minimum score", low=-MOST_VP,
                  scale=20),
            piece("who", LABEL, len(Who), "1 + whom the progress card is for"),
            piece("what", LABEL, len(What), "1 + what it brings"),
            piece("subject", LABEL, NUM_TECHS, "1 + technology or track that it names"),
            piece("count", NUMBER, 9, "cubes, spaces, tiles or highest level of it"),
            piece("burns", FLAG, 1, "a free level costs cubes"),
            piece("produced", NUMBER, MOST_COST, "cubes that it produces", shape=NUM_RESOURCES),
            piece("for_me", FLAG, 1, "MAIN_ACTION: the observer would benefit as things are"),
            _worth("burn_cost", "MAIN_ACTION, BONUS_ACTION: what a burned cube is worth"),
            _worth("new_ship",
                   "MAIN_ACTION, SPACE_MISSIONS, and BONUS_ACTION if offered: what a new starship at Sol is worth"),
            reference("focus", "places", "GOING_ON: the starship; PLACE: the planet or Sol beside which one is placed"),
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
            piece("colonies", COUNT, MAX_COLONIES, "planets colonised"),
            piece("terraformed", COUNT, MAX_COLONIES, "planets terraformed"),
            piece("colonies_of_type", COUNT, MAX_COLONIES, "oceanic, rocky, super-Earth, gas giant, alien",
                  shape=NUM_TYPES),
            piece("colonies_in_zone", COUNT, MAX_COLONIES, "short, mid, long", shape=NUM_ZONES),
            piece("public_vp", NUMBER, MOST_VP, "points without the objective", scale=30),
        ],
        derived=True,
    ),
    table(
        "objectives",
        NUM_OBJECTIVES,
        [
            piece("test", LABEL, len(Requirement), "1 + what it asks for"),
            piece("wanted", NUMBER, TRACK_END, "how much of it", scale=3),
            piece("vp", NUMBER, 30, "points", scale=6),
            piece("have", COUNT, TRACK_END, "how much of it the observer has, if it is required", scale=3),
            piece("satisfied", FLAG, 1, "required and satisfied now"),
        ],
        derived=True,
    ),
    table(
        "tracks",
        NUM_TRACKS,
        _at(AT_TRACKS, [
            piece("space", NUMBER, TRACK_END, "where the observer is"),
            piece("next_points", NUMBER, 15, "points of one more space", scale=1),
            piece("next_icon", LABEL, 3, "its icon: energy, matter, regeneration"),
            piece("steps_to_icon", COUNT, TRACK_END, "to the next icon; 0 none", scale=4),
            piece("ahead", NUMBER, TRACK_END, "spaces before the best other, the ghost included", low=-TRACK_END,
                  scale=5),
            piece("next_medal", FLAG, 1, "a medal lies on the next space"),
            _worth("worth", "what one more space is worth"),
        ]),
        derived=True,
    ),
    table(
        "technologies",
        NUM_TECHS,
        _at(AT_TECHNOLOGIES, [
            piece("next", LABEL, NUM_TECHS * MAX_LEVEL, "number of its next level among those of all technologies"),
            _cubes("cost", "of the next level", 2, MOST_COST),
            piece("leadership", COUNT, 3, "technological leadership that it brings"),
            piece("points", COUNT, 5, "points that it brings", scale=2),
            piece("benefit", NUMBER, MAX_CONVERSIONS, "what the own level yields", scale=4),
            piece("extra", NUMBER, MAX_LEVEL, "and its second yield"),
            piece("more", NUMBER, MAX_CONVERSIONS, "that the next level yields more", scale=2),
            piece("more_extra", NUMBER, MAX_LEVEL, "the same of the second yield", scale=1),
            piece("lacking", COUNT, 3 * MOST_COST, "cubes that the best own card lacks for it", scale=4),
            piece("payers", COUNT, NUM_SLOTS, "own cards that can pay it", scale=2),
            piece("raised", COUNT, MAX_PLAYERS - 1, "others whom it raises"),
            piece("others", NUMBER, MAX_LEVEL, "highest level of the others, the ghost included"),
            piece("for_free", FLAG, 1, "the progress card could raise it"),
            piece("burned", COUNT, MAX_LEVEL - 1, "cubes that are burned for it then"),
            _worth("worth", "what the next level is worth"),
        ]),
        derived=True,
    ),
    table(
        "main_actions",
        NUM_MAIN,
        [
            piece("column", LABEL, NUM_BONUS, "1 + bonus action of its column"),
            piece("row", LABEL, NUM_BONUS, "1 + bonus action of its row"),
            *_at("MAIN_ACTION", [
                piece("amount", COUNT, 63,
                      "starships, colonies, levels, spaces, planets, tiles or cubes that it could bring", scale=3),
                _worth("worth", "what that is worth"),
                _worth("bonus_worth", "what its bonus actions are worth beyond a burned cube"),
            ]),
        ],
        derived=True,
    ),
    table(
        "bonus_actions",
        NUM_BONUS,
        _at(AT_BONUSES, [
            piece("offered", FLAG, 1, "on column or row of the own action cube"),
            _worth("worth", "what it is worth, at BONUS_ACTION if offered; 0 if it would do nothing"),
        ]),
        derived=True,
    ),
    table(
        "resources",
        NUM_RESOURCES,
        _at(AT_CARDS, [
            piece("lacking", COUNT, MAX_COLONIES * MOST_COST, "that own colonies lack for terraforming", scale=4),
            piece("production", COUNT, MAX_COLONIES * MOST_COST, "that own colonies produce", scale=4),
        ]),
        derived=True,
    ),
    table(
        "slots",
        NUM_SLOTS,
        _at(AT_CARDS, [
            reference("of", "planet_cards", "its card"),
            piece("terraformed", FLAG, 1, "is terraformed"),
            piece("vp", COUNT, 15, "points that terraforming still brings", scale=8),
            piece("leadership", COUNT, 3, "colonial leadership that it brings"),
            _cubes("cubes", "on its card", 3),
            _cubes("lacking", "that its card lacks for terraforming", 2, MOST_COST),
            _cubes("production", "that it produces", 3, MOST_COST),
            piece("missing", COUNT, 3 * MOST_COST, "cubes that it lacks", scale=3),
            piece("missing_levels", COUNT, MAX_LEVEL, "levels of Terraforming that are missing"),
            piece("ready", FLAG, 1, "can be terraformed"),
            piece("producible", COUNT, 3 * MOST_COST, "cubes of its production that are in storage", scale=3),
            piece("exploited", FLAG, 1, "has produced in this action"),
            piece("pays_ships", COUNT, MOST_CUBES, "starships that its card can pay", scale=3),
            _worth("share", "what terraforming is worth, less what is missing"),
            _worth("energy", "what energy is worth there"),
            _worth("antimatter", "what antimatter is worth there"),
            _worth("any", "what a cube of any kind is worth there"),
        ]),
        derived=True,
    ),
    table(
        "planets",
        NUM_PLANETS,
        [
            reference("card", "planet_cards", "what the planet is like, if it is in play"),
            *_at(AT_WAYS, [_worth("worth", "what an open planet is worth to the observer's starship on it")]),
        ],
        derived=True,
    ),
    table("sites", MOST_SITES, _at(AT_WAYS, [_worth("worth", "what it is worth to a starship")]), derived=True),
    table(
        "starships",
        MAX_SHIPS,
        _at(AT_STARSHIPS, [
            piece("where", LABEL, 3, "in supply, in space, on a planet, on a mine"),
            piece("seeds", FLAG, 1, "may become a colony"),
            piece("leadership", COUNT, 3, "colonial leadership of that"),
            piece("points", COUNT, 3, "points of its zone"),
        ]) + _at(AT_AIMS, [
            reference("target", "places", "tile that is worth most by the way to it"),
            piece("steps", COUNT, 40, "to it", scale=6),
            piece("turns", COUNT, 40, "to it", scale=3),
            _worth("worth",
                   "what it is worth, less for each turn; of a starship on a planet what a colony there is worth"),
        ]),
        derived=True,
    ),
    table(
        "ways",
        NUM_WAYS,
        _at(AT_WAYS, [
            reference("ship", "starships", "that moves; none for one that is placed; two rows for each starship"),
            reference("target", "places", "the tile that is worth most by the way to it, then the second"),
            reference("near", "places", "legal hex that is nearest to it"),
            reference("soon", "places", "first legal hex with the fewest turns to it"),
            piece("chosen", FLAG, 1, "of the first starship with a target, the best way"),
            piece("steps", COUNT, 40, "from the nearest legal hex", scale=6),
            _worth("worth", "of the target from where the starship is"),
        ]),
        derived=True,
    ),
)  # fmt: skip

PLACE_FIELDS = (
    piece("row", NUMBER, HEIGHT - 1, "row"),
    piece("column", NUMBER, WIDTH - 1, "column; odd rows are shifted right by half a hex"),
    piece("q", NUMBER, WIDTH - 1, "axial coordinate: column - row // 2", low=-HEIGHT // 2),
    piece("terrain", LABEL, 3, "space, star, Sol, Sagittarius A*"),
    piece("star_kind", LABEL, 3, "single, binary, trinary star"),
    piece("star_in_play", FLAG, 1, "with 1, 2, 3, 4 players", shape=MAX_PLAYERS),
    piece("site", FLAG, 1, "tiles may lie there, with 1, 2, 3, 4 players", shape=MAX_PLAYERS),
    piece("zone", LABEL, NUM_ZONES - 1, "short, mid, long"),
    piece("zone_vp", NUMBER, 3, "points of a colony there"),
    piece("sol_distance", NUMBER, 40, "distance from Sol", scale=15),
)

PLANET_FIELDS = (
    piece("type", LABEL, NUM_TYPES - 1, "oceanic, rocky, super-Earth, gas giant, alien"),
    piece("level", NUMBER, MAX_LEVEL, "level"),
    piece("colony", NUMBER, MOST_COST, "production of a colony", shape=NUM_RESOURCES, scale=3),
    piece("terraformed", NUMBER, MOST_COST, "production once terraformed", shape=NUM_RESOURCES, scale=3),
    piece("cost", NUMBER, MOST_COST, "of terraforming", shape=NUM_RESOURCES, scale=3),
    piece("vp", NUMBER, 15, "points of terraforming", scale=10),
    piece("colonise", NUMBER, 3, "colonial leadership of a colony"),
    piece("terraform", NUMBER, 3, "colonial leadership of terraforming"),
    piece("min_players", NUMBER, MAX_PLAYERS, "fewest players with whom it is in play"),
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
    """Where row 0 of a table begins."""
    return LAYOUT.begin(name, derived=derived)[0]


def width(name: str, *, derived: bool = False) -> int:
    """Entries of a row."""
    return LAYOUT.begin(name, derived=derived)[1]


def within(name: str) -> int:
    """Where a field lies in the row of its table's facts, or derived fields."""
    found = LAYOUT[name]
    return found.offset - first(found.table, derived=found.derived)


def columns(table: str, fields: str) -> tuple[int, ...]:
    """Where some fields of a table lie in the row of its facts, or derived fields."""
    return tuple(within(f"{table}.{field}") for field in fields.split())


TEMPLATE = np.dtype([("entries", "i1", (SIZE - FACTS_SIZE,))])


def template(tables: Any, tile_group: int) -> np.ndarray:
    """int8: the derived part of an observation with nothing in it but what the component file says."""
    vector = np.zeros(SIZE, np.int16)
    in_play = tables["planet"]["min_players"][1:] <= tile_group
    LAYOUT["planets.card"].view(vector)[:] = np.where(in_play, np.arange(1, NUM_PLANETS + 1), 0)
    objectives = tables["objective"]
    LAYOUT["objectives.test"].view(vector)[:] = objectives["test"] + 1
    LAYOUT["objectives.wanted"].view(vector)[:] = objectives["count"]
    LAYOUT["objectives.vp"].view(vector)[:] = objectives["vp"]
    for action, bits in enumerate(tables["bonus_of"]):
        column, row = (1 + bonus for bonus in range(NUM_BONUS) if int(bits) >> bonus & 1)
        LAYOUT["main_actions.column"].view(vector)[action] = column
        LAYOUT["main_actions.row"].view(vector)[action] = row
    return vector[FACTS_SIZE:].astype(np.int8)


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
