"""A position as a drawing and as text.

``look`` is the only reader of the state: it keeps what a seat may see, in plain Python, and the drawing and the text
are made from that alone. A tile that only its back can be seen of is None, as is an objective that is not known.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from kepler_envs.engine.components import names
from kepler_envs.engine.drawing import Drawing, blend, readable_on, star
from kepler_envs.engine.game import DERIVED, RUNNING, Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.outcome import winners_in_words
from kepler_envs.engine.panels import (
    BACKGROUND,
    DARK,
    DIM,
    EDGE,
    GAP,
    GOLD,
    INK,
    INNER,
    MARGIN,
    PANEL,
    SEAT_COLOURS,
    draw_panel,
)
from kepler_envs.engine.panels import WIDTH as DRAWN_WIDTH
from kepler_envs.engine.snapshot import Snapshot, snapshot_of
from kepler_envs.games.kepler_3042.actions import (
    ALLOCATE,
    BONUS,
    BURN,
    CONVERT,
    DONE,
    HEX,
    MAIN,
    NUM_DIRECTIONS,
    RES,
    SHIP,
    SLOT,
    TECH,
    TRACK,
    hex_name,
)
from kepler_envs.games.kepler_3042.components_map import SAGITTARIUS, SOL, SPACE, STAR
from kepler_envs.games.kepler_3042.hexes import HEIGHT, NUM_HEXES, WIDTH, as_hexes
from kepler_envs.games.kepler_3042.observation_layout import LAYOUT, bonus_lines
from kepler_envs.games.kepler_3042.state import (
    GHOST,
    LINES,
    MAX_COLONIES,
    MAX_CONVERSIONS,
    MAX_LEVEL,
    MINE,
    NUM_OBJECTIVES,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TRACKS,
    REWARD_KINDS,
    ROUNDS,
    TARGET,
    TRACK_END,
    Node,
    Phase,
    Requirement,
    What,
    Who,
)
from kepler_envs.printable import counted, wrapped

ROMAN = ("I", "II", "III", "IV", "V")
SEAT_LETTERS = "abcd"
CUBE_KEYS = "EMA"

# ---------------------------------------------------------------- what can be seen


class HexView(NamedTuple):
    place: int
    terrain: int  # SPACE, STAR, SOL, SAGITTARIUS
    star_kind: int
    in_play: bool  # a star that is used with this number of players
    zone: int
    tile: bool
    face_up: bool
    body: int | None  # planet number, MINE, TARGET; None: no tile, or face down and not known
    kind: int | None  # type of the planet
    owner: int | None
    terraformed: bool
    ship: tuple[int, int] | None  # seat, number from 1
    marked: bool  # the starship that moves, or the planet that is built at


@dataclass(frozen=True)
class ColonyView:
    name: str  # of the planet, or Earth
    number: int  # 0 for Earth
    kind: int | None
    zone: str
    terraformed: bool
    cubes: tuple[int, ...]


@dataclass(frozen=True)
class ObjectiveView:
    title: str
    asked: str  # what it asks for, and its points
    satisfied: bool


@dataclass(frozen=True)
class PlayerView:
    name: str
    seat: int
    ghost: bool
    active: bool
    first: bool
    viewer: bool
    rank: int  # 0 while the game runs, and alone
    won: bool
    points: int  # alone with those of satisfied objectives, as the minimum counts them
    storage: tuple[int, ...]
    pit: tuple[int, ...]
    colonies: tuple[ColonyView, ...]  # Earth first
    techs: tuple[int, ...]
    track: tuple[int, ...]
    medals: tuple[int, ...]
    ships: tuple[str, ...]  # where each one is
    action: str  # main action the cube lies on
    cube: int  # its number
    objectives: tuple[ObjectiveView, ...] | None  # None if they are hidden


@dataclass(frozen=True)
class View:
    title: str
    point_of_view: str
    turn: str
    aim: str  # the level of a campaign and what wins it; "" with several players
    situation: str  # who is asked for what, or how the game ended
    detail: str
    hexes: tuple[HexView, ...]
    type_names: tuple[str, ...]
    track_names: tuple[str, ...]
    main_names: tuple[str, ...]
    bonus_names: tuple[str, ...]
    bonus_lines: tuple[tuple[str, int], ...]  # column or row of main actions, and its number
    card: str  # the current progress card, "" during setup
    card_effect: str
    card_medals: tuple[int, ...]
    medals_left: tuple[tuple[int, ...], ...]  # spaces of each track
    icons: tuple[tuple[tuple[int, int], ...], ...]  # (space, kind) of each track
    hidden: tuple[int, int, int]  # planets, mines, targets face down
    players: tuple[PlayerView, ...]


QUESTIONS = {
    Node.FIRST_TECHNOLOGY: "choose a first technology",
    Node.SOLO_BONUS: "choose a bonus cube",
    Node.MAIN_ACTION: "choose a main action",
    Node.SPACE_MISSIONS: "Space Missions: choose the card that pays for a starship, or stop",
    Node.PLACE: "place the new starship",
    Node.COLONY_SEEDING: "Colony Seeding: choose a starship that becomes a colony, or stop",
    Node.TECHNOLOGICAL_DEVELOPMENT: "Technological Development: choose a technology, or stop",
    Node.DEVELOPMENT_PAYMENT: "choose the card that pays for the technology",
    Node.MOVEMENT: "choose where a starship moves, or stop",
    Node.MOVER: "choose the starship that moves there",
    Node.GOING_ON: "choose where the starship goes on to, or stop",
    Node.TERRAFORMING: "Terraforming: choose a planet, or stop",
    Node.MAPPING_TRACK: "Galactic Mapping: choose a track, or decline",
    Node.MAPPING_TILE: "Galactic Mapping: choose a tile to turn up",
    Node.ENERGY_STORAGE: "Energy Storage: choose the card that gets the energy",
    Node.PLANETARY_EXPLOITATION: "Planetary Exploitation: choose a planet that produces, or stop",
    Node.ANTIMATTER_GENERATION: "Antimatter Generation: choose the card that gets the antimatter",
    Node.BONUS_ACTION: "choose a bonus action, or none",
    Node.BONUS_BURN: "choose the cube that is burned for the bonus action",
    Node.BONUS_ANTIMATTER: "choose the card that gets an antimatter",
    Node.WITHDRAWAL: "choose a starship to withdraw, or none",
    Node.END_OF_TURN: "convert, allocate, or end the turn",
    Node.CARD_TECHNOLOGY: "progress card: choose a technology that rises for free",
    Node.CARD_BURN: "progress card: choose the cube that is burned",
    Node.CARD_PRODUCTION: "progress card: choose the card that produces",
    Node.CARD_EXPLOITATION: "progress card: choose the planet that produces",
    Node.CARD_TILE: "progress card: choose a tile to turn up",
    Node.CARD_REGENERATION: "progress card: choose a cube to regenerate",
    Node.REWARD_REGENERATION: "reward: choose a cube to regenerate",
    Node.REWARD_PRODUCTION: "reward: choose the card that produces",
}
WHO_WORDS = {
    Who.ALL: "everybody", Who.FEWEST_COLONIES: "fewest colonies", Who.HIGHEST_COLONIAL: "first on the colonial track",
    Who.LOWEST_COLONIAL: "last on the colonial track", Who.HIGHEST_TECHNOLOGICAL: "first on the technological track",
    Who.LOWEST_TECHNOLOGICAL: "last on the technological track", Who.HIGHEST_TECH: "highest {tech}",
    Who.LOWEST_TECH: "lowest {tech}",
}  # fmt: skip
WHAT_WORDS = {
    What.FREE_TECH: "a technology up to level {count} for free{burning}", What.SHIP: "a starship",
    What.TRACK: "a step on the {track} track", What.REGENERATE: "regenerate {count}", What.PRODUCE: "produce {cubes}",
    What.MOVE: "move {spaces}", What.FLIP: "turn up {tiles}", What.EXPLOIT: "a planet produces",
}  # fmt: skip
ASKED_WORDS = {
    Requirement.TERRAFORMED_TYPE: "terraform {planets} of type {type}",
    Requirement.TERRAFORMED_ZONE: "terraform {planets} in the {zone} zone",
    Requirement.COLONISED_ZONE: "colonise {planets} in the {zone} zone",
    Requirement.COLONISED_EACH_ZONE: "colonise {planets} in each zone",
    Requirement.COLONISED_TYPE: "colonise {planets} of type {type}",
    Requirement.COLONISED_TYPES: "colonise planets of {types}",
    Requirement.COLONISED_TOTAL: "colonise {planets}",
    Requirement.TERRAFORMED_TOTAL: "terraform {planets}",
    Requirement.TERRAFORMED_SAME_TYPE: "terraform {planets} of the same type",
    Requirement.TECHS_AT_LEVEL: "raise {count} of the technologies to level {level}",
    Requirement.ANTIMATTER_ON_PLANETS: "have {count} antimatter on planets and Earth",
    Requirement.TRACK: "reach space {count} on the {track} track",
}


def look(state: Any, config: Configuration, seat: int | None = None) -> View:
    """What ``seat`` may see of a position; None sees everything but the deck."""
    if not config.values[DERIVED]:  # points and objectives are read from whole observations
        config = config.game.configure(config.num_players, config.components, **{**config.values, DERIVED: True})
    players = int(state["num_players"])
    tables = config.tables[0]
    over = state["end"] != RUNNING
    snapshot = snapshot_of(state, config)
    rows = [_player(state, config, number, seat, snapshot) for number in range(players)]
    if players == 1:
        rows.append(_player(state, config, GHOST, seat, snapshot))
    card = tables["card"][int(state["deck"][int(state["round_number"]) - 1])] if state["round_number"] else None
    return View(
        title=config.game.title,
        point_of_view="everything open" if seat is None else f"seen by {agent_name(seat)}",
        turn=_turn(state, tables),
        aim=_aim(state, tables),
        situation=_result(snapshot) if over else f"{agent_name(state['seat'])}: {QUESTIONS[Node(int(state['node']))]}",
        detail="" if over else _detail(state, config),
        hexes=tuple(_hexes(state, config, seat)),
        type_names=names(tables["type_name"]),
        track_names=names(tables["track_name"]),
        main_names=names(tables["main_name"]),
        bonus_names=names(tables["bonus_name"]),
        bonus_lines=tuple(bonus_lines(tables["bonus_of"])),
        card="" if card is None else names([card["name"]])[0],
        card_effect="" if card is None else _effect(card, tables),
        card_medals=tuple(int(count) for count in state["card_medals"]),
        medals_left=tuple(
            tuple(int(space) for space,
                  there in zip(tables["medal_space"][track], state["track_medals"][track], strict=True)
                  if there)
            for track in range(NUM_TRACKS)
        ),
        icons=tuple(
            tuple((space, int(kind) - 1) for space, kind in enumerate(tables["icon"][track]) if kind)
            for track in range(NUM_TRACKS)
        ),
        hidden=_hidden(state),
        players=tuple(rows),
    )  # fmt: skip


def _turn(state: Any, tables: Any) -> str:
    words = "setup" if state["round_number"] == 0 else f"round {state['round_number']} of {ROUNDS}"
    if state["level"]:
        words = f"level {state['level']}, minimum {tables['minimum_score'][state['level']]}, {words}"
    if state["end"] != RUNNING:
        return f"{words}, over"
    return f"{words}, its end" if state["phase"] == Phase.CLEANUP else words


def _aim(state: Any, tables: Any) -> str:
    if not state["level"]:
        return ""
    campaign = names(tables["campaign_name"])[int(state["campaign"]) - 1]
    minimum = tables["minimum_score"][state["level"]]
    return f"{campaign}, level {state['level']}: at least {counted(int(minimum), 'point')} and all objectives"


def _result(snapshot: Snapshot) -> str:
    ranks, _, returns = snapshot.results()
    if snapshot.config.num_players == 1:
        return "the level is won" if returns[0] > 0 else "the level is lost"
    return winners_in_words(ranks.tolist())


def _detail(state: Any, config: Configuration) -> str:
    """What has been chosen already on the way to this question."""
    tables = config.tables[0]
    words = []
    if state["phase"] == Phase.TURNS and state["flow"] != Node.MAIN_ACTION:
        cube = int(state["player"][int(state["active"])]["action_cube"])
        words.append(names(tables["main_name"])[cube])
    if state["technology"]:
        words.append(names(tables["tech_name"])[int(state["technology"]) - 1])
    if state["bonus"]:
        words.append(names(tables["bonus_name"])[int(state["bonus"]) - 1])
    if state["moving"]:
        words.append(f"starship {state['moving']} with {state['points']} of {counted(int(state['speed']), 'space')}")
    elif state["speed"]:
        words.append(f"{counted(int(state['speed']), 'space')} each")
    if state["goal"]:
        words.append(f"to hex {hex_name(int(state['goal']) - 1)}")
    if state["left"]:
        words.append(f"{state['left']} left")
    if state["node"] == Node.REWARD_PRODUCTION:
        words.append(names(tables["resource_name"])[int(state["rewards"][0]) % REWARD_KINDS - 1])
    if state["conversions"] or state["allocations"]:
        words.append(f"convert {state['conversions']}, allocate {state['allocations']}")
    return ", ".join(words)


def _effect(card: Any, tables: Any) -> str:
    """Who benefits from a progress card, and how."""
    cubes = " ".join(f"{count}{key}" for count, key in zip(card["produced"], CUBE_KEYS, strict=True) if count)
    who = WHO_WORDS[Who(int(card["who"]))].format(tech=names(tables["tech_name"])[int(card["tech"])])
    count = int(card["count"])
    what = WHAT_WORDS[What(int(card["what"]))].format(
        count=count, spaces=counted(count, "space"), tiles=counted(count, "tile"), cubes=cubes,
        track=names(tables["track_name"])[int(card["track"])],
        burning=", burning its level less one" if card["burns"] else "",
    )  # fmt: skip
    return f"{who}: {what}"


def _objective(objective: Any, satisfied: bool, tables: Any) -> ObjectiveView:
    count, subject = int(objective["count"]), int(objective["subject"])
    names_of = {name: names(tables[f"{name}_name"]) for name in ("type", "zone", "track")}
    subjects = {name: all_names[subject] for name, all_names in names_of.items() if subject < len(all_names)}
    asked = ASKED_WORDS[Requirement(int(objective["test"]))].format(
        count=count, planets=counted(count, "planet"), types=counted(count, "type"), level=subject, **subjects
    )
    return ObjectiveView(names([objective["name"]])[0], f"{asked}, {objective['vp']} VP", satisfied)


def _objective_words(objective: ObjectiveView) -> str:
    return f"{objective.title}{' (satisfied)' if objective.satisfied else ''}: {objective.asked}"


def _members(words: Any) -> int:
    """A set of hexes as one number, a bit for each."""
    return sum(int(word) << 64 * number for number, word in enumerate(words))


def _hexes(state: Any, config: Configuration, seat: int | None) -> list[HexView]:
    tables = config.tables[0]
    ships = {
        int(place) - 1: (owner, number + 1)
        for owner in range(int(state["num_players"]))
        for number, place in enumerate(state["player"][owner]["ship"])
        if place
    }
    marked = _marked(state, config)
    turned_up, tiles, bodies = _members(state["face_up"]), _members(state["bodies"]), state["body"].tolist()
    found = list(_empty_hexes(config, int(state["num_players"])))
    for place in range(NUM_HEXES):
        tile = bool(tiles >> place & 1)
        if not tile and place not in ships and place != marked:
            continue
        face_up = bool(turned_up >> place & 1)
        body = bodies[place] if face_up or seat is None else 0
        planet = body if 0 < body <= NUM_PLANETS else 0
        owner = int(state["planet_owner"][planet]) - 1 if planet else -1
        found[place] = found[place]._replace(
            tile=tile,
            face_up=face_up,
            body=body or None,
            kind=int(tables["planet"][planet]["kind"]) if planet else None,
            owner=owner if owner >= 0 else None,
            terraformed=bool(planet and state["planet_terraformed"][planet]),
            ship=ships.get(place),
            marked=place == marked,
        )
    return found


def _empty_hexes(config: Configuration, players: int) -> tuple[HexView, ...]:
    """The map without tiles and starships."""
    key = (config.components_digest, players)
    if key not in _MAPS:
        tables = config.tables[0]
        in_play = as_hexes(tables["setup"][players]["stars"])
        _MAPS[key] = tuple(
            HexView(
                place=place,
                terrain=int(tables["terrain"][place]),
                star_kind=int(tables["star_kind"][place]),
                in_play=place in in_play,
                zone=int(tables["zone"][place]),
                tile=False,
                face_up=False,
                body=None,
                kind=None,
                owner=None,
                terraformed=False,
                ship=None,
                marked=False,
            )
            for place in range(NUM_HEXES)
        )
    return _MAPS[key]


_MAPS: dict[tuple[str, int], tuple[HexView, ...]] = {}
"""By component file and number of players."""


def _marked(state: Any, config: Configuration) -> int:
    """The starship that moves, where one goes, or the planet that is built at; -1 if there is none of them."""
    player = state["player"][int(state["active"])]
    if state["goal"]:
        return int(state["goal"]) - 1
    if state["moving"]:
        return int(player["ship"][int(state["moving"]) - 1]) - 1
    if state["place_slot"] == 1:
        return int(config.tables[0]["sol"])
    if state["place_slot"]:
        return int(state["planet_hex"][int(player["slot"][int(state["place_slot"]) - 1])]) - 1
    return -1


def _hidden(state: Any) -> tuple[int, int, int]:
    """Planets, mines and colonial targets face down: everybody can count them."""
    face_up = _members(state["face_up"])
    bodies = [body for place, body in enumerate(state["body"].tolist()) if body and not face_up >> place & 1]
    return sum(body <= NUM_PLANETS for body in bodies), bodies.count(MINE), bodies.count(TARGET)


def _player(state: Any, config: Configuration, number: int, viewer: int | None, snapshot: Snapshot) -> PlayerView:
    tables, player = config.tables[0], state["player"][number]
    ghost, over = bool(player["ghost"]), state["end"] != RUNNING
    rank, won, points = (0, False, 0) if ghost else _result_of(number, snapshot)
    objectives = None
    if not ghost and (over or viewer in (None, number)):
        satisfied = LAYOUT["objectives.satisfied"].view(snapshot.observe(number))
        required = [one for one in range(NUM_OBJECTIVES) if int(player["objectives"]) >> one & 1]
        objectives = tuple(_objective(tables["objective"][one], bool(satisfied[one]), tables) for one in required)
    return PlayerView(
        name="ghost" if ghost else agent_name(number),
        seat=number,
        ghost=ghost,
        active=not over and not ghost and number == state["seat"],
        first=not ghost and number == state["first"],
        viewer=not ghost and number == viewer,
        rank=rank,
        won=won,
        points=points,
        storage=tuple(int(count) for count in player["storage"]),
        pit=tuple(int(count) for count in player["pit"]),
        colonies=() if ghost else tuple(_colonies(state, config, player)),
        techs=tuple(int(level) for level in player["tech"]),
        track=tuple(int(space) for space in player["track"]),
        medals=tuple(int(count) for count in player["medals"]),
        ships=() if ghost else tuple(_ship_words(state, int(place) - 1) for place in player["ship"]),
        action="" if ghost else names(tables["main_name"])[int(player["action_cube"])],
        cube=int(player["action_cube"]),
        objectives=objectives,
    )


def _result_of(seat: int, snapshot: Snapshot) -> tuple[int, bool, int]:
    """Rank, whether the game is won, and points.

    Alone there is no rank, and no objective is hidden: the points are those that the minimum is compared with.
    """
    rank, score, reward = (found[seat] for found in snapshot.results())
    if snapshot.config.num_players == 1:
        return 0, bool(reward > 0), int(score)
    if snapshot.over:
        return int(rank), bool(rank == 1), int(score)
    return 0, False, int(LAYOUT["players.public_vp"].view(snapshot.observe(seat))[0])


def _colonies(state: Any, config: Configuration, player: Any) -> Iterator[ColonyView]:
    tables = config.tables[0]
    for slot in range(int(player["colonies"]) + 1):
        number = int(player["slot"][slot])
        place = int(state["planet_hex"][number]) - 1
        planet = tables["planet"][number]
        yield ColonyView(
            name=names([planet["name"]])[0] if number else "Earth",
            number=number,
            kind=int(planet["kind"]) if number else None,
            zone=names(tables["zone_name"])[int(tables["zone"][place])] if number else "",
            terraformed=bool(number and state["planet_terraformed"][number]),
            cubes=tuple(int(count) for count in player["cubes"][slot]),
        )


def _ship_words(state: Any, place: int) -> str:
    if place < 0:
        return "in supply"
    body = int(state["body"][place])
    where = f"row {place // WIDTH}, column {place % WIDTH}"
    return where if body == 0 else f"mine at {where}" if body == MINE else f"planet {body} at {where}"


def _cubes(counts: tuple[int, ...]) -> str:
    return " ".join(f"{count}{key}" for count, key in zip(counts, CUBE_KEYS, strict=True))


# ---------------------------------------------------------------- what can be done


def explain(state: Any, config: Configuration, actions: Sequence[int]) -> dict[int, str]:
    """What the words of an id leave open here, for the seat that decides: which planet, where, which level for what."""
    seat = int(state["seat"])
    view = look(state, config, seat)
    player = view.players[seat]
    found = {}
    for action in actions:
        words = ""
        if TECH <= action < TRACK:
            words = _advance_words(state, config, action - TECH, player.techs[action - TECH] + 1)
        elif SLOT <= action < SHIP:
            words = _slot_words(action - SLOT, player, view)
        elif SHIP <= action < RES:
            words = player.ships[action - SHIP]
        elif BURN + NUM_RESOURCES <= action < CONVERT:
            words = _slot_words((action - BURN) // NUM_RESOURCES - 1, player, view)
        elif CONVERT <= action < ALLOCATE:
            words = _slot_words((action - CONVERT) // NUM_DIRECTIONS, player, view)
        elif action >= HEX:
            words = _hex_words(view.hexes[action - HEX], view)
        if words:
            found[action] = words
    return found


def _advance_words(state: Any, config: Configuration, tech: int, level: int) -> str:
    """The next level of a technology: what it costs, unless it is free here, and what it brings."""
    row = config.tables[0]["tech"][tech][level]
    cubes = " ".join(f"{count}{key}" for count, key in zip(row["cost"], CUBE_KEYS, strict=True) if count)
    cost = f" for {cubes or 'nothing'}" if state["node"] == Node.TECHNOLOGICAL_DEVELOPMENT else ""
    return f"to level {level}{cost}: {_benefit_words(tech, int(row['benefit']), int(row['extra']))}"


def _benefit_words(tech: int, benefit: int, extra: int) -> str:
    """What a level of a technology allows; see ``BENEFITS`` of components_technologies.py."""
    if tech == 1:
        conversions = "any conversions" if benefit >= MAX_CONVERSIONS else counted(benefit, "conversion")
        return f"{conversions}, {counted(extra, 'allocation')}"
    if tech == 3:
        return f"{counted(benefit, 'planet')} produce{'s' if benefit == 1 else ''}, terraforming up to level {extra}"
    words, more = {
        0: (f"speed {benefit}", "starships for one energy"),
        2: (f"{benefit} energy from Energy Storage", "one burn for both bonus actions"),
        4: (f"{benefit} antimatter from Antimatter Generation", "alien colonies"),
    }[tech]
    return f"{words}, {more}" if extra else words


def _slot_words(slot: int, player: PlayerView, view: View) -> str:
    """The card of a slot with what is on it; "" for one that is not there, or that the ids name already."""
    if slot >= len(player.colonies):
        return ""
    colony = player.colonies[slot]
    return f"{_colony_words(colony, view) + ': ' if slot else ''}{_cubes(colony.cubes)}"


# ---------------------------------------------------------------- text

CELL = 3
LEGEND = (
    "map: . : , short, mid, long zone   * star (+ not in play)   ?? face down",
    "     Sol   Sgr Sagittarius A*   Mi mine   Ta colonial target",
    "     number = planet, with its owner a-d (A-D terraformed)",
    "     a1 = starship 1 of a; behind a tile ' means that a starship is on it",
    "cubes: E energy, M matter, A antimatter",
)


def text(state: Any, config: Configuration, seat: int | None = None) -> str:
    """The position as lines of at most 80 characters; the map comes first.

    Args:
        state: a state record of this game.
        config: the configuration it is played with.
        seat: whose view; None shows all tiles and objectives.
    """
    view = look(state, config, seat)
    lines = [f"{view.title}, {view.turn} ({view.point_of_view})", view.situation]
    lines.append(f"    {view.detail}")
    for row in range(HEIGHT):
        cells = "".join(_cell(view.hexes[WIDTH * row + column]).ljust(CELL) for column in range(WIDTH))
        lines.append((" " * (2 * (row % 2)) + cells).rstrip())
    lines += ["", *LEGEND, ""]
    if view.card:
        lines.append(f"card: {view.card} ({view.card_effect})")
    planets, mines, targets = view.hidden
    lines.append(f"face down: planets {planets}, mines {mines}, targets {targets}")
    medals = [
        f"{name} {' '.join(map(str, spaces)) or '-'} (on the card {count})"
        for name, spaces, count in zip(view.track_names, view.medals_left, view.card_medals, strict=True)
    ]
    lines.append(f"medals: {', '.join(medals)}")
    for player in view.players:
        lines += ["", *_player_lines(player, view)]
    if view.aim:
        lines += ["", view.aim, *(f"    {_objective_words(one)}" for one in view.players[0].objectives or ())]
    return wrapped(lines, COLUMNS)


COLUMNS = 80


def _cell(view: HexView) -> str:
    """A hex in at most three letters; see LEGEND."""
    if view.terrain == SOL:
        return "Sol"
    if view.terrain == SAGITTARIUS:
        return "Sgr"
    if view.terrain == STAR:
        return "*" * view.star_kind if view.in_play else "+"
    on_it = "'" if view.ship else ""
    if view.tile:
        if view.body is None:
            return "??"
        if view.body in (MINE, TARGET):
            sign = "Mi" if view.body == MINE else "Ta"
            return sign + on_it if view.face_up else sign + "?"
        owner = "" if view.owner is None else SEAT_LETTERS[view.owner]
        return f"{view.body}{owner.upper() if view.terraformed else owner}{on_it}{'' if view.face_up else '?'}"
    if view.ship:
        return f"{SEAT_LETTERS[view.ship[0]]}{view.ship[1]}"
    return ".:,"[view.zone]


def _player_lines(player: PlayerView, view: View) -> Iterator[str]:
    marker = "> " if player.active else "  "
    notes = [note for note, shown in (("first player", player.first), ("viewer", player.viewer)) if shown]
    if player.rank:
        notes.append(f"rank {player.rank}")
    note = f"   ({', '.join(notes)})" if notes else ""
    techs = " ".join(f"{numeral} {level}" for numeral, level in zip(ROMAN, player.techs, strict=True))
    tracks = "   ".join(f"{name} {space}" for name, space in zip(view.track_names, player.track, strict=True))
    progress = f"tech {techs}   {tracks}   medals {' + '.join(map(str, player.medals))}"
    if player.ghost:
        yield f"{marker}{player.name}"
        yield f"    {progress}"
        return
    points = counted(player.points, "point")
    yield f"{marker}{SEAT_LETTERS[player.seat]} {player.name}  {points}   cube on {player.action}{note}"
    yield f"    {progress}"
    cards = [f"{_colony_words(colony, view)}: {_cubes(colony.cubes)}" for colony in player.colonies]
    yield f"    storage {_cubes(player.storage)}   pit {_cubes(player.pit)}   {cards[0]}"
    for card in cards[1:]:
        yield f"    {card}"
    if set(player.ships) != {"in supply"}:
        yield f"    starships: {'; '.join(f'{number} {where}' for number, where in enumerate(player.ships, 1))}"
    if not view.aim:
        for objective in player.objectives or ():
            yield f"    objective: {_objective_words(objective)}"


def _colony_words(colony: ColonyView, view: View) -> str:
    if colony.kind is None:
        return colony.name
    state = ", terraformed" if colony.terraformed else ""
    return f"{colony.number} {colony.name} ({view.type_names[colony.kind]}, {colony.zone}{state})"


# ---------------------------------------------------------------- drawing

ZONE_COLOURS = ("#27365f", "#1d294b", "#141c37")
STAR_COLOURS = ("#ffd166", "#ff9f5a", "#ff6b4a")  # single, binary, trinary
BACK, BACK_EDGE = "#4a5270", "#7b86ab"
TYPE_COLOURS = ("#3f8fe0", "#c9703d", "#56b84a", "#b98be0", "#48d6c5")
MINE_COLOUR, TARGET_COLOUR = "#a9adb8", "#e0c04f"
GHOST_COLOUR = "#9aa3b5"
CUBE_COLOURS = ("#ffd447", "#6fa8ff", "#d46bff")
TRACK_COLOURS = ("#e08a3f", "#5aa0ff")

HEADER_HEIGHT = 72
HEX_WIDTH = 38.0
HEX_RADIUS = HEX_WIDTH / math.sqrt(3)
MAP_WIDTH, MAP_HEIGHT = (WIDTH + 0.5) * HEX_WIDTH + 16, (1.5 * (HEIGHT - 1) + 2) * HEX_RADIUS + 16
SIDE_X = MARGIN + MAP_WIDTH + GAP
SIDE_WIDTH = DRAWN_WIDTH - MARGIN - SIDE_X
CARD_HEIGHT, TRACKS_HEIGHT = 124, 346
CARD_COLUMNS = 44  # letters of a line on the progress card
LEGEND_HEIGHT = MAP_HEIGHT - CARD_HEIGHT - TRACKS_HEIGHT - 2 * GAP
ACTIONS_Y, ACTION_WIDTH, ACTION_HEIGHT = HEADER_HEIGHT + MAP_HEIGHT + GAP, 205, 28
ACTIONS_HEIGHT = 4 * ACTION_HEIGHT + 16
PLAYERS_Y, PLAYER_HEIGHT = ACTIONS_Y + ACTIONS_HEIGHT + GAP, 116
AIM_X, OBJECTIVE_END = 396, INNER - 14


def draw(state: Any, config: Configuration, seat: int | None = None) -> Drawing:
    """The position as a picture of 1280 units width; the height depends on the number of players only.

    Args:
        state: a state record of this game.
        config: the configuration it is played with.
        seat: whose view; None shows all tiles and objectives.
    """
    view = look(state, config, seat)
    height = PLAYERS_Y + len(view.players) * (PLAYER_HEIGHT + GAP) + MARGIN - GAP
    drawing = Drawing(DRAWN_WIDTH, height, f"{view.title}, {view.turn}", BACKGROUND)
    _draw_header(drawing, view)
    with drawing.group(MARGIN, HEADER_HEIGHT):
        draw_panel(drawing, MAP_WIDTH, MAP_HEIGHT)
        for row in range(HEIGHT):
            hexes = view.hexes[WIDTH * row : WIDTH * (row + 1)]
            of_players = tuple(tuple(_hex_actions(one, view)) for one in hexes if _is_of_players(one))
            key = ("hexes", hexes, of_players, view.type_names)
            drawing.reuse(key, partial(_draw_row, drawing, hexes, view))
    with drawing.group(SIDE_X, HEADER_HEIGHT):
        _draw_card(drawing, view)
    with drawing.group(SIDE_X, HEADER_HEIGHT + CARD_HEIGHT + GAP):
        tracks = tuple((player.name, player.track) for player in view.players)
        drawing.reuse(
            ("tracks", tracks, view.track_names, view.icons, view.medals_left), partial(_draw_tracks, drawing, view)
        )
    with drawing.group(SIDE_X, HEADER_HEIGHT + CARD_HEIGHT + TRACKS_HEIGHT + 2 * GAP):
        drawing.reuse(("legend", view.type_names, view.hidden), partial(_draw_legend, drawing, view))
    with drawing.group(MARGIN, ACTIONS_Y):
        cubes = tuple((player.ghost, player.cube) for player in view.players)
        drawing.reuse(
            ("actions", cubes, view.main_names, view.bonus_names, view.bonus_lines),
            partial(_draw_actions, drawing, view),
        )
    for number, player in enumerate(view.players):
        with drawing.group(MARGIN, PLAYERS_Y + number * (PLAYER_HEIGHT + GAP)):
            drawing.reuse(("player", player, view.type_names, view.aim), partial(_draw_player, drawing, player, view))
            if player.ghost:
                _draw_aim(drawing, view)
    return drawing


def _decider(view: View) -> PlayerView | None:
    return next((player for player in view.players if player.active), None)


def _colour(player: PlayerView) -> str:
    return GHOST_COLOUR if player.ghost else SEAT_COLOURS[player.seat]


def _draw_header(drawing: Drawing, view: View) -> None:
    drawing.text(MARGIN, 24, view.title, size=26, fill=INK, bold=True)
    drawing.text(MARGIN, 54, view.situation, size=18, fill=GOLD, width=820)
    drawing.text(210, 26, view.detail, size=15, fill=DIM, width=840)
    drawing.text(DRAWN_WIDTH - MARGIN, 24, view.point_of_view, size=15, fill=DIM, anchor="end")
    drawing.text(DRAWN_WIDTH - MARGIN, 54, view.turn, size=16, fill=INK, anchor="end", width=416)


def _corners(radius: float) -> list[tuple[float, float]]:
    """The corners of a hex around the origin, the one at its top first."""
    angles = [corner * math.pi / 3 - math.pi / 2 for corner in range(6)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]


def _draw_row(drawing: Drawing, hexes: Sequence[HexView], whole: View) -> None:
    for view in hexes:
        _draw_hex(drawing, view, whole)


def _draw_hex(drawing: Drawing, view: HexView, whole: View) -> None:
    row, column = divmod(view.place, WIDTH)
    x = 8 + (column + 0.5 + 0.5 * (row % 2)) * HEX_WIDTH
    y = 8 + (1 + 1.5 * row) * HEX_RADIUS
    edge, edge_width = (GOLD, 2.5) if view.marked else (EDGE, 1.0)
    with drawing.group(x, y, _hex_hint(view, whole), _hex_actions(view, whole)):
        corners = _corners(HEX_RADIUS - 0.7 * edge_width)
        drawing.polygon(corners, fill=ZONE_COLOURS[view.zone], stroke=edge, stroke_width=edge_width)
        if view.terrain == STAR:
            _draw_star(drawing, view)
        elif view.terrain == SOL:
            drawing.polygon(star(0, 0, 17, tips=10, inner=0.62), fill="#ffffff")
            drawing.circle(0, 0, 10, fill=GOLD)
        elif view.terrain == SAGITTARIUS:
            drawing.circle(0, 0, 14, fill="#000000", stroke="#ff9f5a", stroke_width=3)
        elif view.tile:
            _draw_tile(drawing, view)
        if view.ship:
            _draw_ship(drawing, view)


def _is_of_players(view: HexView) -> bool:
    """More than the hex's own id may touch it."""
    return view.ship is not None or view.owner is not None or view.terrain == SOL


def _hex_actions(view: HexView, whole: View) -> Iterator[int]:
    """The hex itself, the starship there, and the colony there of the player who decides."""
    yield HEX + view.place
    decider = _decider(whole)
    if decider is None:
        return
    if view.ship and view.ship[0] == decider.seat:
        yield SHIP + view.ship[1] - 1
    for slot, colony in enumerate(decider.colonies):
        if (view.terrain == SOL) if slot == 0 else (view.owner == decider.seat and view.body == colony.number):
            yield SLOT + slot


def _draw_star(drawing: Drawing, view: HexView) -> None:
    """One, two or three suns; dim if it is not in play."""
    colour = STAR_COLOURS[view.star_kind - 1] if view.in_play else blend(STAR_COLOURS[view.star_kind - 1], PANEL, 0.75)
    spots = {1: ((0, 0),), 2: ((-6.5, 0), (6.5, 0)), 3: ((0, -6.5), (-6.5, 5.5), (6.5, 5.5))}[view.star_kind]
    radius = {1: 14, 2: 9, 3: 8}[view.star_kind]
    for x, y in spots:
        drawing.polygon(star(x, y, radius, tips=8, inner=0.55), fill=colour)


def _draw_tile(drawing: Drawing, view: HexView) -> None:
    """A planet's disc with its number, a ring for its owner, a double one once terraformed; a back for what is face
    down."""
    if view.body is None:
        drawing.circle(0, 0, 13, fill=BACK, stroke=BACK_EDGE)
        drawing.text(0, 0, "?", size=14, fill=INK, anchor="middle", bold=True)
        return
    if view.body == MINE:
        colour, label = MINE_COLOUR, "M"
    elif view.body == TARGET:
        colour, label = TARGET_COLOUR, "T"
    else:
        colour, label = TYPE_COLOURS[view.kind or 0], str(view.body)
    if not view.face_up:
        colour = blend(colour, PANEL, 0.62)
    if view.owner is not None:
        drawing.circle(0, 0, 16, stroke=SEAT_COLOURS[view.owner], stroke_width=3.5)
    if view.terraformed:
        drawing.circle(0, 0, 12.5, fill=colour, stroke="#ffffff", stroke_width=2)
    elif view.body in (MINE, TARGET):
        shape = [(-11, -11), (11, -11), (11, 11), (-11, 11)] if view.body == MINE else star(0, 0, 15, 4, 0.6)
        drawing.polygon(shape, fill=colour, stroke=DARK)
    else:
        drawing.circle(0, 0, 12.5, fill=colour, stroke=DARK)
    drawing.text(0, 0, label, size=13, fill=readable_on(colour, DARK), anchor="middle", bold=True)


def _draw_ship(drawing: Drawing, view: HexView) -> None:
    """A dart in its owner's colour with its number; smaller and aside on a tile."""
    assert view.ship is not None
    seat, number = view.ship
    x, y, zoom = (11, -9, 0.7) if view.tile else (0, 0, 1.0)
    shape = ((0, -15), (10, 12), (0, 7), (-10, 12))
    drawing.polygon([(x + zoom * a, y + zoom * b) for a, b in shape], fill=SEAT_COLOURS[seat], stroke=DARK)
    if not view.tile:
        drawing.text(
            x, y + 1, str(number), size=10, fill=readable_on(SEAT_COLOURS[seat], DARK), anchor="middle", bold=True
        )


def _hex_hint(view: HexView, whole: View) -> str:
    """A hex in words, shown where the mouse rests on it; "" for one with nothing in it."""
    words = _hex_words(view, whole)
    return f"hex {view.place} (row {view.place // WIDTH}, column {view.place % WIDTH}), {words}" if words else ""


def _hex_words(view: HexView, whole: View) -> str:
    """What is in a hex, in words."""
    words = []
    if view.terrain != SPACE:
        kinds = ("single star", "binary star", "trinary star")
        words.append({SOL: "Sol", SAGITTARIUS: "Sagittarius A*"}.get(view.terrain) or kinds[view.star_kind - 1])
    if view.tile and not view.face_up:
        words.append("a tile face down")
    elif view.body in (MINE, TARGET):
        words.append("a mine" if view.body == MINE else "a colonial target")
    elif view.body is not None:
        words.append(f"planet {view.body}, {whole.type_names[view.kind or 0]}")
        if view.owner is not None:
            words.append(f"{'terraformed' if view.terraformed else 'colonised'} by {agent_name(view.owner)}")
    if view.ship:
        words.append(f"starship {view.ship[1]} of {agent_name(view.ship[0])}")
    return ", ".join(words)


def _draw_card(drawing: Drawing, view: View) -> None:
    draw_panel(drawing, SIDE_WIDTH, CARD_HEIGHT)
    drawing.text(14, 20, "Progress card", size=14, fill=DIM, bold=True)
    drawing.text(14, 46, view.card or "none yet", size=17, fill=INK, bold=True, width=SIDE_WIDTH - 28)
    who, _, effect = view.card_effect.partition(": ")
    drawing.text(14, 68, who, size=14, fill=DIM, width=SIDE_WIDTH - 28)
    for line, part in enumerate(textwrap.wrap(effect, CARD_COLUMNS)):
        drawing.text(14, 88 + 18 * line, part, size=14, fill=INK, width=SIDE_WIDTH - 28)
    x = SIDE_WIDTH - 22
    for track, count in enumerate(view.card_medals):
        for _ in range(count):
            drawing.circle(x, 20, 7, fill=TRACK_COLOURS[track], stroke=INK)
            x -= 18


def _draw_tracks(drawing: Drawing, view: View) -> None:
    """Both leadership tracks side by side from space 0 at the bottom: medals left, icons right, players in the
    middle."""
    draw_panel(drawing, SIDE_WIDTH, TRACKS_HEIGHT)
    for track, name in enumerate(view.track_names):
        left = 14 + track * (SIDE_WIDTH - 14) / 2
        with drawing.group(actions=(TRACK + track,)):
            drawing.text(left, 18, f"{name} track", size=14, fill=TRACK_COLOURS[track], bold=True)
        icons = dict(view.icons[track])
        for space in range(TRACK_END + 1):
            y = TRACKS_HEIGHT - 14 - space * 15
            drawing.rect(left + 32, y - 6.5, 108, 13, radius=3, fill=BACKGROUND)
            if space % 2 == 0:
                drawing.text(left + 16, y, str(space), size=10, fill=DIM, anchor="end")
            if space in view.medals_left[track]:
                drawing.circle(left + 24, y, 6, fill=TRACK_COLOURS[track], stroke=INK)
            if space in icons:
                drawing.text(left + 150, y, "EMR"[icons[space]], size=10, fill=GOLD, bold=True)
        stacked: dict[int, int] = {}
        for player in view.players:
            space = player.track[track]
            number = stacked.get(space, 0)
            stacked[space] = number + 1
            with drawing.group(hint=f"{player.name}: {space}"):
                place = left + 44 + 25 * number
                drawing.circle(place, TRACKS_HEIGHT - 14 - space * 15, 6, fill=_colour(player), stroke=DARK)


def _draw_actions(drawing: Drawing, view: View) -> None:
    """The main actions in rows and columns, with the players' action cubes; the bonus action of a row beside it, that
    of a column below."""
    draw_panel(drawing, INNER, ACTIONS_HEIGHT)
    for action, name in enumerate(view.main_names):
        row, column = divmod(action, LINES)
        with drawing.group(8 + column * ACTION_WIDTH, 8 + row * ACTION_HEIGHT, actions=(MAIN + action,)):
            _draw_action(drawing, name, INK)
            cubes = [player for player in view.players if not player.ghost and player.cube == action]
            for place, player in enumerate(cubes):  # two rows: in one, they would lie on a long name
                x, y = ACTION_WIDTH - 18 - 11 * (place // 2), 1.5 + 11 * (place % 2)
                drawing.rect(x, y, 9, 9, radius=2, fill=_colour(player), stroke=DARK)
    for bonus, (name, (line, number)) in enumerate(zip(view.bonus_names, view.bonus_lines, strict=True)):
        row, column = (LINES, number) if line == "column" else (number, LINES)
        with drawing.group(8 + column * ACTION_WIDTH, 8 + row * ACTION_HEIGHT, actions=(BONUS + bonus,)):
            _draw_action(drawing, name, GOLD, 1.5 if line == "row" else 1)
    with drawing.group(8 + 4.5 * ACTION_WIDTH, 8 + 3 * ACTION_HEIGHT, actions=(DONE,)):
        _draw_action(drawing, "done", INK)
    left = 8 + 4.5 * ACTION_WIDTH + 10
    for place, words in enumerate(ACTION_LEGEND):
        drawing.text(left, 20 + 18 * place, words, size=12, fill=DIM)


ACTION_LEGEND = (
    "Main actions with the players' cubes;",
    "in yellow the bonus action of each row",
    "and, below, of each column.",
)


def _draw_action(drawing: Drawing, name: str, ink: str, widths: float = 1) -> None:
    width = widths * ACTION_WIDTH - 6
    drawing.rect(0, 0, width, ACTION_HEIGHT - 5, radius=4, fill=BACKGROUND)
    drawing.text(7, 12, name, size=12, fill=ink, width=width - 12)


def _draw_legend(drawing: Drawing, view: View) -> None:
    draw_panel(drawing, SIDE_WIDTH, LEGEND_HEIGHT)
    step = (LEGEND_HEIGHT - 24) / 5
    for number, name in enumerate(view.type_names):
        y = 12 + step * (number + 0.5)
        drawing.circle(22, y, 8, fill=TYPE_COLOURS[number], stroke=DARK)
        drawing.text(38, y, name, size=13, fill=INK)
    planets, mines, targets = view.hidden
    rows = (
        ("M", MINE_COLOUR, "mine"), ("T", TARGET_COLOUR, "colonial target"),
        ("?", BACK, f"face down planets: {planets}"),
    )  # fmt: skip
    for number, (label, colour, name) in enumerate(rows):
        y = 12 + step * (number + 0.5)
        drawing.circle(156, y, 8, fill=colour, stroke=DARK)
        drawing.text(156, y, label, size=10, fill=readable_on(colour, DARK), anchor="middle", bold=True)
        drawing.text(172, y, name, size=13, fill=INK, width=SIDE_WIDTH - 180)
    drawing.text(172, 12 + step * 3.5, f"mines: {mines}, targets: {targets}", size=13, fill=INK, width=SIDE_WIDTH - 180)
    drawing.text(148, 12 + step * 4.5, "ring: owner, white: terraformed", size=12, fill=DIM, width=SIDE_WIDTH - 156)


def _draw_cubes(
    drawing: Drawing, x: float, y: float, counts: tuple[int, ...], touched: Sequence[Sequence[int]] = ((), (), ())
) -> None:
    """Cubes of each kind; ``touched`` are the ids that touch each."""
    for kind, count in enumerate(counts):
        left = x + 30 * kind
        colour = CUBE_COLOURS[kind] if count else blend(CUBE_COLOURS[kind], PANEL, 0.75)
        with drawing.group(actions=touched[kind]):
            drawing.rect(left, y - 5, 10, 10, radius=2, fill=colour)
            drawing.text(left + 13, y, str(count), size=13, fill=INK if count else DIM, bold=count > 0)


def _storage_actions(kind: int) -> tuple[int, ...]:
    return (BURN + kind, RES + kind)


def _cube_actions(slot: int, kind: int) -> Iterator[int]:
    """What touches the cubes of a kind on the card of a slot: burning, converting, allocating them."""
    yield BURN + NUM_RESOURCES * (slot + 1) + kind
    if kind < NUM_DIRECTIONS:
        yield CONVERT + NUM_DIRECTIONS * slot + kind
    for taker in range(MAX_COLONIES):
        yield ALLOCATE + NUM_RESOURCES * (MAX_COLONIES * slot + taker) + kind


def _draw_player(drawing: Drawing, player: PlayerView, view: View) -> None:
    lit = player.active or player.won
    colour = _colour(player)
    draw_panel(drawing, INNER, PLAYER_HEIGHT, edge=GOLD if lit else EDGE)
    drawing.rect(0, 14, 6, PLAYER_HEIGHT - 28, fill=colour)
    name = f"{player.name} (viewer)" if player.viewer else player.name
    drawing.text(18, 20, name, size=16, fill=GOLD if lit else INK, bold=True, width=178)
    _draw_technologies(drawing, player, colour)
    for track, count in enumerate(player.medals):
        drawing.circle(26 + 44 * track, 96, 7, fill=TRACK_COLOURS[track], stroke=INK)
        drawing.text(37 + 44 * track, 96, str(count), size=13, fill=INK if count else DIM)
    if player.ghost:
        return
    if player.first:
        drawing.text(116, 96, "first player", size=12, fill=DIM)
    drawing.text(30, 58, str(player.points), size=28, fill=INK, bold=True)
    drawing.text(76, 62, f"VP, rank {player.rank}" if player.rank else "VP", size=12, fill=DIM)
    drawing.text(396, 20, player.action, size=11, fill=colour, bold=True, width=178)
    for number, (label, counts) in enumerate((("storage", player.storage), ("pit", player.pit))):
        drawing.text(400, 46 + 22 * number, label, size=12, fill=DIM)
        touched = [_storage_actions(kind) if player.active and not number else () for kind in range(NUM_RESOURCES)]
        _draw_cubes(drawing, 456, 46 + 22 * number, counts, touched)
    drawing.text(400, 96, f"starships in supply: {player.ships.count('in supply')}", size=12, fill=DIM)
    for number, colony in enumerate(player.colonies):
        whole = (SLOT + number,) if player.active else ()
        with drawing.group(574 + 112 * number, 12, _colony_words(colony, view), whole):
            _draw_colony(drawing, colony, view, number if player.active else None)
    if player.objectives is None:
        drawing.text(574, 99, "objective face down", size=12, fill=DIM)
    elif not view.aim:
        for objective in player.objectives:
            _draw_objective(drawing, 574, 99, f"objective: {_objective_words(objective)}", objective.satisfied)


def _draw_aim(drawing: Drawing, view: View) -> None:
    """What wins the level, where the ghost has no colonies."""
    drawing.text(AIM_X, 18, view.aim, size=14, fill=DIM, bold=True, width=OBJECTIVE_END - AIM_X)
    for line, objective in enumerate(view.players[0].objectives or ()):
        _draw_objective(drawing, AIM_X, 40 + 18 * line, _objective_words(objective), objective.satisfied)


def _draw_objective(drawing: Drawing, x: float, y: float, words: str, satisfied: bool) -> None:
    with drawing.group(hint=words):
        drawing.text(x, y, words, size=12, fill=GOLD if satisfied else INK, width=OBJECTIVE_END - x)


def _draw_technologies(drawing: Drawing, player: PlayerView, colour: str) -> None:
    """Five columns of four steps."""
    for tech, level in enumerate(player.techs):
        x = 212 + 34 * tech
        with drawing.group(actions=(TECH + tech,) if player.active else ()):
            for step in range(MAX_LEVEL):
                fill = colour if step < level else blend(colour, PANEL, 0.82)
                drawing.rect(x, 66 - 17 * step, 26, 14, radius=3, fill=fill)
            drawing.text(x + 13, 96, ROMAN[tech], size=12, fill=DIM, anchor="middle", bold=True)


def _draw_colony(drawing: Drawing, colony: ColonyView, view: View, slot: int | None) -> None:
    """A colony; ``slot`` is its own if its owner decides."""
    fill = INK if colony.kind is None else TYPE_COLOURS[colony.kind]
    drawing.rect(
        0, 0, 104, 72, radius=8, fill=BACKGROUND, stroke="#ffffff" if colony.terraformed else EDGE, stroke_width=1.5
    )
    drawing.circle(18, 18, 11, fill=fill, stroke=DARK)
    if colony.number:
        label = str(colony.number)
        drawing.text(18, 18, label, size=11, fill=readable_on(fill, DARK), anchor="middle", bold=True)
    words = "Earth" if colony.kind is None else view.type_names[colony.kind]
    drawing.text(34, 14, words, size=11, fill=INK, width=68)
    drawing.text(34, 30, f"{colony.zone} zone" if colony.zone else "at Sol", size=11, fill=DIM)
    touched = [() if slot is None else tuple(_cube_actions(slot, kind)) for kind in range(NUM_RESOURCES)]
    _draw_cubes(drawing, 10, 54, colony.cubes, touched)
