"""A position as a drawing and as text.

``look`` is the only reader of the state: it keeps what a seat may see, in plain Python, and the drawing and the text
are made from that alone. A planet or a card that only its back can be seen of is None.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kepler_envs.engine.components import names
from kepler_envs.engine.drawing import Drawing, blend, readable_on, star, text_width
from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.outcome import final_ranks, winners_in_words
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
    WIDTH,
    draw_header,
    draw_panel,
)
from kepler_envs.games.ad_astra.actions import (
    ACCEPT,
    ARTIFACT,
    AT,
    BANK,
    CARD_NAMES,
    CARDS,
    CHOOSE,
    COUNT,
    DESTINATIONS,
    GO,
    ITEM,
    PARTNER,
    PASS,
    PLACE,
    QUANTITIES,
    TAKE,
    TO_DEEP,
    planet_name,
)
from kepler_envs.games.ad_astra.state import (
    BUILD_CARD,
    CARDS_OF_A_KIND,
    DEEP_SPACE,
    FIRST_MOVEMENT,
    FIRST_SCORING,
    FIRST_START,
    ITEM_FACTORY,
    ITEM_STARSHIP,
    ITEM_TERRAFORMER,
    MAX_PAWNS,
    NUM_CARDS,
    NUM_ITEMS,
    NUM_POSITIONS,
    NUM_SPACES,
    NUM_SYSTEMS,
    NUM_TYPES,
    SLOTS,
    SUN,
    TRADE_CARD,
    EndReason,
    Node,
)
from kepler_envs.printable import counted, wrapped

# ---------------------------------------------------------------- what can be seen


@dataclass(frozen=True)
class PlanetView:
    position: int
    kind: int | None  # None: face down and not looked at
    face_up: bool
    owner: int | None
    starships: int
    building: str  # "colony", "factory" or ""
    terraformed: bool
    chosen: bool  # a starship leaves from here or lands in this system just now


@dataclass(frozen=True)
class CardView:
    owner: int
    slot: int | None  # None: face down
    label: str
    state: str  # "face down", "current" or "done"


@dataclass(frozen=True)
class ArtifactView:
    number: int
    name: str
    words: str  # when it can be played, and what it does


@dataclass(frozen=True)
class PlayerView:
    name: str
    faction: str
    active: bool
    first: bool
    viewer: bool
    rank: int  # 0 while the game runs
    points: int
    hand: tuple[int, ...]
    deep_space: int
    reserve: tuple[int, int, int, int]  # starships, colonies, factories, terraformers
    cards: tuple[str, ...] | None  # labels of the action cards in hand; None if they are hidden
    aside: tuple[str, ...]
    artifacts: tuple[ArtifactView, ...]
    hidden_artifacts: int


@dataclass(frozen=True)
class View:
    title: str
    point_of_view: str
    turn: str
    situation: str  # who is asked for what, or how the game ended
    detail: str  # the choices made on the way to this question
    type_keys: tuple[str, ...]
    type_names: tuple[str, ...]
    resource_names: tuple[str, ...]
    system_keys: tuple[str, ...]
    system_names: tuple[str, ...]
    systems: tuple[tuple[PlanetView, ...], ...]
    board: tuple[CardView | None, ...]
    bank: tuple[int, ...]
    artifact_deck: int
    used_artifacts: tuple[str, ...]
    end_points: int
    players: tuple[PlayerView, ...]


QUESTIONS = {
    Node.PLAN: "place an action card face down",
    Node.PRODUCE: "choose the resource that is produced",
    Node.MOVE: "move a starship or pass",
    Node.LAND: "choose the planet to land on",
    Node.BUILD: "build something or pass",
    Node.BUILD_POS: "choose the planet to build on",
    Node.TRADE: "trade with the bank or a player, or stop",
    Node.BANK_GET: "choose what the bank gives",
    Node.OFFER_GIVE: "choose what to give",
    Node.OFFER_GET: "choose what to ask for",
    Node.REPLY: "accept the offer or decline",
    Node.ELEMENT: "choose the element that is scored",
    Node.IDENT: "discard cards of one type, or pass",
    Node.IDENT_COUNT: "choose how many to discard",
    Node.DIFF: "discard different cards, or pass",
    Node.DISCARD: "discard a card over the hand limit",
    Node.ART_RES: "choose the resource the artifact brings",
}
PROMISES = {Node.MOVE: "gate", Node.BUILD: "free", Node.IDENT: "thesaurus", Node.DIFF: "thesaurus"}
"""The field that says what an artifact has promised at a node. Until then nobody may pass."""
OTHER_PASSES = {Node.TRADE: "stop trading", Node.REPLY: "decline"}
ARTIFACT_WORDS = (  # by artifact: when it can be played, and what it does
    ("when drawn", "{cards} of each resource from the bank"),
    ("on a movement card", "the next move may enter any system and costs nothing"),
    ("while planning", "look at all face-down planets"),
    ("while planning", "take back your scoring cards that are set aside"),
    ("on a movement or build card", "{cards} of one resource from the bank"),
    ("on a build card", "the next item is a colony or factory and costs nothing"),
    ("on a build card", "the next item is a terraformer and costs nothing"),
    ("on a movement card", "a starship from the reserve enters deep space"),
    ("when you discard for points", "the discard counts {cards} more"),
    ("while planning", "1 to {amount} points by chance"),
    ("while planning", "one random card from every other hand"),
)
END_WORDS = {
    EndReason.POINTS: "enough points",
    EndReason.PLANETS: "every planet is explored",
    EndReason.ROUNDS: "the last round is over",
}


def look(state: Any, config: Configuration, seat: int | None = None) -> View:
    """What ``seat`` may see of a position; None sees everything but the deck."""
    players = int(state["num_players"])
    tables = config.tables[0]
    over, ranks = state["end"] != RUNNING, final_ranks(state, config)
    artifacts = names(tables["artifact_name"])
    return View(
        title=config.game.title,
        point_of_view="everything open" if seat is None else f"seen by {agent_name(seat)}",
        turn=_turn(state, config),
        situation=_result(state, ranks) if over else f"{agent_name(state['seat'])}: {_question(state)}",
        detail="" if over else _detail(state, config),
        type_keys=names(tables["type_key"]),
        type_names=names(tables["type_name"]),
        resource_names=names(tables["resource_name"]),
        system_keys=names(tables["system_key"]),
        system_names=names(tables["system_name"]),
        systems=tuple(tuple(_planets(state, system, seat)) for system in range(NUM_SYSTEMS)),
        board=tuple(_card(state, config, space, seat) for space in range(int(tables["spaces"][players]))),
        bank=tuple(int(count) for count in state["bank"]),
        artifact_deck=int(state["deck_count"]),
        used_artifacts=tuple(artifacts[number] for number in _members(state["artifacts_used"])),
        end_points=int(tables["end_points"]),
        players=tuple(_player(state, config, number, seat, ranks[number]) for number in range(players)),
    )


def _members(word: Any) -> list[int]:
    """The members of a set of positions or cards."""
    return [place for place in range(64) if int(word) >> place & 1]


def _turn(state: Any, config: Configuration) -> str:
    words = f"round {state['round_number']}"
    if state["end"] != RUNNING:
        return f"after {words}"
    if state["slot"]:
        card = _card_label(state, config, int(state["owner"]), int(state["slot"]) - 1)
        return f"{words}, space {state['revealed']}: {card}"
    return f"{words}, planning" if state["node"] == Node.PLAN else f"{words}, its end"


def _question(state: Any) -> str:
    node = Node(int(state["node"]))
    words = QUESTIONS[node]
    if node in PROMISES and state[PROMISES[node]]:
        return words.removesuffix(" or pass").removesuffix(",")
    return words


def _result(state: Any, ranks: tuple[int, ...]) -> str:
    return f"{END_WORDS[EndReason(int(state['end_reason']))]}: {winners_in_words(ranks)}"


def _detail(state: Any, config: Configuration) -> str:
    """What has been chosen already: the starship on its way, the item, the offer, what artifacts promise."""
    tables = config.tables[0]
    resources, systems = names(tables["resource_name"]), names(tables["system_name"])
    words = []
    if state["gate"]:
        words.append("the gate is open")
    if state["free"]:
        words.append("the item is free")
    if state["thesaurus"]:
        words.append("the discard counts more")
    if state["chosen_ship"]:
        words.append(f"starship {state['chosen_ship']} enters {systems[state['chosen_system'] - 1]}")
    if state["chosen_item"]:
        item = int(state["chosen_item"]) - 1
        words.append("colony" if item < ITEM_FACTORY else "factory" if item == ITEM_FACTORY else "terraformer")
    if state["partner"]:
        words.append(f"offer of {agent_name(state['owner'])} to {agent_name(state['partner'] - 1)}")
    if state["give_count"]:
        words.append(f"{state['give_count']} {resources[state['give_type'] - 1]}")
    elif state["give_type"]:
        words.append(resources[state["give_type"] - 1])
    if state["get_count"]:
        words.append(f"for {state['get_count']} {resources[state['get_type'] - 1]}")
    elements = names(tables["element_name"])
    if state["element"]:
        words.append(f"scored: {elements[state['element'] - 1]}")
    elif state["slot"] > FIRST_SCORING:
        words.append(" or ".join(elements[element] for element in tables["element"][state["slot"] - 1 - FIRST_SCORING]))
    return ", ".join(words)


def _planets(state: Any, system: int, seat: int | None) -> Iterator[PlanetView]:
    first = FIRST_START if system == SUN else SLOTS * system
    size = int(state["num_players"]) if system == SUN else SLOTS
    for position in range(first, first + size):
        if int(state["planets"]) >> position & 1:
            yield _planet(state, position, seat)


def _planet(state: Any, position: int, seat: int | None) -> PlanetView:
    def has(word: Any) -> bool:
        return bool(int(word) >> position & 1)

    players = [state["player"][number] for number in range(state["num_players"])]
    face_up = has(state["face_up"])
    visible = face_up or seat is None or has(players[seat]["known"])
    owners = [number for number, player in enumerate(players) if has(player["pawns"])]
    building = "factory" if any(has(p["factories"]) for p in players) else ""
    if any(has(p["colonies"]) for p in players):
        building = "colony"
    moving = state["chosen_ship"] and int(players[state["seat"]]["ship"][state["chosen_ship"] - 1]) == position + 1
    return PlanetView(
        position=position,
        kind=next(kind for kind in range(NUM_TYPES) if has(state["of_type"][kind])) if visible else None,
        face_up=face_up,
        owner=owners[0] if owners else None,
        starships=sum(int(place) == position + 1 for player in players for place in player["ship"]),
        building=building,
        terraformed=any(has(player["terraformers"]) for player in players),
        chosen=bool(moving) or bool(state["chosen_system"]) and position // SLOTS == state["chosen_system"] - 1,
    )


def _card(state: Any, config: Configuration, space: int, seat: int | None) -> CardView | None:
    if not state["space_owner"][space]:
        return None
    owner, slot = int(state["space_owner"][space]) - 1, int(state["space_card"][space]) - 1
    revealed = space < state["revealed"]
    current = revealed and bool(state["slot"]) and space == state["revealed"] - 1
    if not revealed and seat not in (None, owner):
        return CardView(owner, None, "face down", "face down")
    label = _card_label(state, config, owner, slot)
    return CardView(owner, slot, label, "current" if current else "done" if revealed else "face down")


def _card_label(state: Any, config: Configuration, owner: int, slot: int) -> str:
    """A card in a few letters: what it does and with what."""
    tables = config.tables[0]
    faction = tables["faction"][int(state["player"][owner]["faction"])]
    if slot < FIRST_MOVEMENT:
        keys = names(tables["type_key"])
        return "produce " + "/".join(keys[kind] for kind in _members(faction["production"][slot]))
    if slot < BUILD_CARD:
        keys = names(tables["system_key"])
        return "move " + "/".join(keys[system] for system in _members(faction["movement"][slot - FIRST_MOVEMENT]))
    if slot < FIRST_SCORING:
        return "trade" if slot == TRADE_CARD else "build"
    return f"score {slot - FIRST_SCORING + 1}"


def _player(state: Any, config: Configuration, number: int, seat: int | None, rank: int) -> PlayerView:
    player, tables = state["player"][number], config.tables[0]
    open_to_viewer = seat in (None, number)
    held = _members(player["artifacts"])
    labels = [_card_label(state, config, number, slot) for slot in range(NUM_CARDS)]
    return PlayerView(
        name=agent_name(number),
        faction=names(tables["faction"]["name"])[int(player["faction"])],
        active=state["end"] == RUNNING and number == state["seat"],
        first=number == state["first"],
        viewer=number == seat,
        rank=rank,
        points=int(player["points"]),
        hand=tuple(int(count) for count in player["hand"]),
        deep_space=int(player["in_deep_space"]),
        reserve=(
            int(player["starships_left"]), int(player["colonies_left"]), int(player["factories_left"]),
            int(player["terraformers_left"]),
        ),
        cards=tuple(labels[slot] for slot in _members(player["cards"])) if open_to_viewer else None,
        aside=tuple(labels[FIRST_SCORING + card] for card in range(CARDS_OF_A_KIND) if player["set_aside"][card]),
        artifacts=tuple(_artifact(artifact, tables) for artifact in held) if open_to_viewer else (),
        hidden_artifacts=0 if open_to_viewer else len(held),
    )  # fmt: skip


def _artifact(number: int, tables: Any) -> ArtifactView:
    words = f"{ARTIFACT_WORDS[number][0]}: {_artifact_effect(number, tables)}"
    return ArtifactView(number, names(tables["artifact_name"])[number], words)


def _artifact_effect(number: int, tables: Any) -> str:
    amount = int(tables["artifact_amount"][number])
    return ARTIFACT_WORDS[number][1].format(amount=amount, cards=counted(amount, "card"))


def _grouped(labels: tuple[str, ...]) -> str:
    """``produce W/X F/Y, move SR/TR, build``: labels that begin with the same word share it."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        word, _, rest = label.partition(" ")
        groups.setdefault(word, []).append(rest)
    return ", ".join(" ".join([word, *rests]).strip() for word, rests in groups.items())


# ---------------------------------------------------------------- what can be done


def explain(state: Any, config: Configuration, actions: Sequence[int]) -> dict[int, str]:
    """What the words of an id leave open here, for the seat that decides: which card, which planet, whom."""
    seat, node = int(state["seat"]), Node(int(state["node"]))
    view = look(state, config, seat)
    planets = {planet.position: planet for system in view.systems for planet in system}
    found = {}
    for action in actions:
        words = ""
        if action == PASS:
            words = OTHER_PASSES.get(node, "")
        elif action == ACCEPT:
            words = _deal_words(state, view)
        elif PLACE <= action < TAKE:
            words = _card_words(state, config, seat, (action - PLACE) // NUM_SPACES)
        elif GO <= action < AT:
            place = int(state["player"][seat]["ship"][(action - GO) // DESTINATIONS])
            if place == DEEP_SPACE:
                words = "from deep space"
            elif place:
                words = f"from {_planet_hint(planets[place - 1], view).partition(':')[0]}"
        elif AT <= action < AT + NUM_POSITIONS:
            words = _planet_words_at(_position_of(action - AT, view), planets, view)
        elif ITEM <= action < BANK:
            words = "nothing is paid" if state["free"] else ""
        elif PARTNER <= action < CARDS:
            words = agent_name((seat + action - PARTNER + 1) % len(view.players))
        elif CARDS <= action < CHOOSE:
            words = "ask for" if node == Node.OFFER_GET else "give"
        elif CHOOSE <= action < COUNT and int(state["slot"]) > FIRST_SCORING:
            tables = config.tables[0]
            element = tables["element"][int(state["slot"]) - 1 - FIRST_SCORING][action - CHOOSE]
            words = names(tables["element_name"])[int(element)]
        elif action >= ARTIFACT:
            words = _artifact_effect(action - ARTIFACT, config.tables[0])
        if words:
            found[action] = words
    return found


def _deal_words(state: Any, view: View) -> str:
    """An offer as the player hears it to whom it is made."""
    given, wanted = (view.resource_names[int(state[side]) - 1] for side in ("give_type", "get_type"))
    return f"you give {state['get_count']} {wanted} for {state['give_count']} {given}"


def _card_words(state: Any, config: Configuration, owner: int, slot: int) -> str:
    """A card in words: what it does and with what."""
    tables = config.tables[0]
    faction = tables["faction"][int(state["player"][owner]["faction"])]
    if slot < FIRST_MOVEMENT:
        chosen = [names(tables["resource_name"])[kind] for kind in _members(faction["production"][slot])]
    elif slot < BUILD_CARD:
        systems = names(tables["system_name"])
        chosen = [systems[system] for system in _members(faction["movement"][slot - FIRST_MOVEMENT])]
    elif slot < FIRST_SCORING:
        return ""
    else:
        elements = names(tables["element_name"])
        chosen = [elements[int(element)] for element in tables["element"][slot - FIRST_SCORING]]
    return " or ".join(chosen)


def _planet_words_at(position: int, planets: dict[int, PlanetView], view: View) -> str:
    planet = planets.get(position)
    return "" if planet is None else _planet_hint(planet, view).partition(": ")[2]


# ---------------------------------------------------------------- text

COLUMNS = 80
BOARD_COLUMNS = 3
PLANET_COLUMNS = 9
LEGEND = (
    "E face up, (E) looked at, ? unknown",
    "0:2sct two starships, a colony (f: a factory) and a terraformer of player_0",
)


def text(state: Any, config: Configuration, seat: int | None = None) -> str:
    """The position for a terminal of 80 columns; arguments as for :func:`draw`."""
    view = look(state, config, seat)
    lines = [f"{view.title}   {view.turn}   {view.point_of_view}", view.situation]
    if view.detail:
        lines.append(f"({view.detail})")
    keys = [f"{key} {name}" for key, name in zip(view.type_keys, view.type_names, strict=True)]
    lines += [
        "",
        *_board_lines(view),
        "",
        *_system_lines(view),
        f"    {', '.join(keys)}",
        *(f"    {line}" for line in LEGEND),
        "",
    ]
    bank = " ".join(f"{key}{count}" for key, count in zip(view.type_keys, view.bank, strict=False))
    lines.append(f"bank {bank}   artifact deck {view.artifact_deck}")
    if view.used_artifacts:
        lines.append(f"used artifacts: {', '.join(view.used_artifacts)}")
    for player in view.players:
        lines += ["", *_player_lines(player, view)]
    return wrapped(lines, COLUMNS)


def _board_lines(view: View) -> Iterator[str]:
    """The spaces in rows; > is the card being resolved, [] cards still face down to others."""
    width = COLUMNS // BOARD_COLUMNS
    cells = []
    for space, card in enumerate(view.board, 1):
        words = "-" if card is None else f"{card.owner} {card.label}"
        if card is not None and card.state == "face down":
            words = f"{card.owner} [{'?' if card.slot is None else card.label}]"
        mark = ">" if card is not None and card.state == "current" else " "
        cells.append(f"{mark}{space:>2}: {words}"[: width - 1].ljust(width))
    for start in range(0, len(cells), BOARD_COLUMNS):
        yield "".join(cells[start : start + BOARD_COLUMNS])


def _system_lines(view: View) -> Iterator[str]:
    longest = max(len(name) for name in view.system_names)
    for system, planets in enumerate(view.systems):
        words = [_planet_words(planet, view) for planet in planets]
        name = view.system_names[system].ljust(longest)
        yield f"{view.system_keys[system]:<4}{name} " + "".join(f"{word:<{PLANET_COLUMNS}}" for word in words)


def _planet_words(planet: PlanetView, view: View) -> str:
    """A face-up planet, a face-down one that is known or not, and its owner with the pawns there; see LEGEND."""
    if planet.kind is None:
        return "?"
    key = view.type_keys[planet.kind]
    if planet.owner is None:
        return key if planet.face_up else f"({key})"
    starships = "s" * (planet.starships > 0)
    if planet.starships > 1:
        starships = f"{planet.starships}s"
    return f"{key} {planet.owner}:{starships}{planet.building[:1]}{'t' if planet.terraformed else ''}"


def _player_lines(player: PlayerView, view: View) -> Iterator[str]:
    marker = "> " if player.active else "  "
    notes = [note for note, shown in (("first player", player.first), ("viewer", player.viewer)) if shown]
    if player.rank:
        notes.append(f"rank {player.rank}")
    note = f"   ({', '.join(notes)})" if notes else ""
    yield f"{marker}{player.name}  {player.faction}  {counted(player.points, 'point')}{note}"
    hand = " ".join(f"{key}{count}" for key, count in zip(view.type_keys, player.hand, strict=False))
    reserve = " ".join(f"{letter}{count}" for letter, count in zip("scft", player.reserve, strict=True))
    yield f"    hand {sum(player.hand)}: {hand}   in deep space s{player.deep_space}   reserve {reserve}"
    if player.cards is not None:
        yield f"    cards: {_grouped(player.cards)}"
    if player.aside:
        yield f"    set aside: {_grouped(player.aside)}"
    for artifact in player.artifacts:
        yield f"    artifact {artifact.name}, {artifact.words}"
    if player.hidden_artifacts:
        yield f"    artifacts: {player.hidden_artifacts}, face down"


# ---------------------------------------------------------------- drawing

BACK, BACK_EDGE = "#262f57", "#51609a"
TYPE_COLOURS = ("#3f8fe0", "#56b84a", "#f0c02f", "#c9703d", "#b9a6d9", "#cf4368", "#48d6c5")
SEAT_COLOURS = ("#4f8cff", "#f85050", "#ffd447", "#45d98c", "#c2c7d6")  # by faction: blue, red, yellow, green, grey
RED_STAR, YELLOW_STAR, WHITE_STAR = "#ff6b4a", "#ffd166", "#ffffff"

HEADER_HEIGHT = 96
SYSTEM_WIDTH, SYSTEM_HEIGHT, SYSTEM_COLUMNS = 292, 116, 3
SYSTEMS_HEIGHT = 3 * (SYSTEM_HEIGHT + GAP) - GAP
BOARD_X = MARGIN + SYSTEM_COLUMNS * (SYSTEM_WIDTH + GAP)
BOARD_WIDTH = WIDTH - MARGIN - BOARD_X
SPACE_COLUMNS, SPACE_HEIGHT, SPACE_STEP = 3, 44, 50
BANK_Y = 296
HAND_COLUMNS = 64  # letters of a line of a hand
TRACK_Y, TRACK_HEIGHT = HEADER_HEIGHT + SYSTEMS_HEIGHT + GAP, 54
PLAYERS_Y, PLAYER_HEIGHT = TRACK_Y + TRACK_HEIGHT + GAP, 84
PLACES = (0, 1, 2, 3, 5, 6, 7, 8)  # of the eight systems in a grid of three by three; the Sun is in its middle
PLANET_X, PLANET_Y, PLANET_STEP, PLANET_RADIUS = 28, 66, 39.5, 15
ITEMS_OF_PAWNS = (  # starships, colonies, factories, terraformers
    range(ITEM + ITEM_STARSHIP, ITEM + NUM_ITEMS),
    range(ITEM, ITEM + ITEM_FACTORY),
    (ITEM + ITEM_FACTORY,),
    (ITEM + ITEM_TERRAFORMER,),
)


def seat_colours(state: Any) -> list[str]:
    """Return the colour of each seat's faction, as the picture shows it."""
    return [SEAT_COLOURS[int(player["faction"])] for player in state["player"][: int(state["num_players"])]]


def draw(state: Any, config: Configuration, seat: int | None = None) -> Drawing:
    """The position as a picture of 1280 units width; the height depends on the number of players only.

    Args:
        state: a state record of this game.
        config: the configuration it is played with.
        seat: whose view; None shows all planets and cards.
    """
    view = look(state, config, seat)
    colours = seat_colours(state)
    players = tuple((player.name, colour) for player, colour in zip(view.players, colours, strict=True))
    words = (view.type_keys, view.type_names, view.resource_names, view.system_keys, view.system_names, players)
    height = PLAYERS_Y + len(view.players) * (PLAYER_HEIGHT + GAP) + MARGIN - GAP
    drawing = Drawing(WIDTH, height, f"{view.title}, {view.turn}", BACKGROUND)
    left, right = (view.title, view.situation), (view.point_of_view, view.turn)
    draw_header(drawing, HEADER_HEIGHT, left, right, room=860, right_room=BOARD_WIDTH, detail=view.detail)
    for system, planets in enumerate(view.systems):
        row, column = divmod(4 if system == SUN else PLACES[system], SYSTEM_COLUMNS)
        x, y = MARGIN + column * (SYSTEM_WIDTH + GAP), HEADER_HEIGHT + row * (SYSTEM_HEIGHT + GAP)
        with drawing.group(x, y, actions=() if system == SUN else _moves_to(system)):
            drawing.reuse(
                ("system", system, planets, _decider(view), words),
                partial(_draw_system, drawing, system, planets, view, colours),
            )
    with drawing.group(BOARD_X, HEADER_HEIGHT):
        drawing.reuse(
            ("board", view.board, view.bank, view.artifact_deck, view.used_artifacts, words),
            partial(_draw_board, drawing, view, colours),
        )
    with drawing.group(MARGIN, TRACK_Y):
        drawing.reuse(
            ("track", tuple(player.points for player in view.players), view.end_points, words),
            partial(_draw_track, drawing, view, colours),
        )
    for number, player in enumerate(view.players):
        distance = (number - int(state["seat"])) % len(view.players)
        with drawing.group(MARGIN, PLAYERS_Y + number * (PLAYER_HEIGHT + GAP)):
            drawing.reuse(
                ("player", player, distance, colours[number], words),
                partial(_draw_player, drawing, player, view, colours[number], distance),
            )
    return drawing


def _moves_to(destination: int) -> range:
    """The moves of all starships to a destination."""
    return range(GO + destination, GO + MAX_PAWNS * DESTINATIONS, DESTINATIONS)


def _draw_system(
    drawing: Drawing, system: int, planets: tuple[PlanetView, ...], view: View, colours: list[str]
) -> None:
    draw_panel(drawing, SYSTEM_WIDTH, SYSTEM_HEIGHT, edge=GOLD if any(planet.chosen for planet in planets) else EDGE)
    _draw_star(drawing, system)
    drawing.text(44, 20, view.system_names[system], size=15, fill=INK, bold=True)
    drawing.text(SYSTEM_WIDTH - 12, 20, view.system_keys[system], size=13, fill=DIM, anchor="end")
    for place, planet in enumerate(planets):
        touched = (_position_action(planet.position, view),)
        with drawing.group(PLANET_X + place * PLANET_STEP, PLANET_Y, _planet_hint(planet, view), touched):
            _draw_planet(drawing, planet, view, colours)


def _position_action(position: int, view: View) -> int:
    """The id of a position: start planets count from that of the seat that decides."""
    if position < FIRST_START:
        return AT + position
    return AT + FIRST_START + (position - FIRST_START - _decider(view)) % len(view.players)


def _position_of(number: int, view: View) -> int:
    """The position that the ``number``-th id of positions stands for."""
    return number if number < FIRST_START else FIRST_START + (number - FIRST_START + _decider(view)) % len(view.players)


def _decider(view: View) -> int:
    return next((seat for seat, player in enumerate(view.players) if player.active), 0)


def _draw_star(drawing: Drawing, system: int) -> None:
    """Small, large, twin, nebula, each in red and yellow; the Sun is white."""
    colour = WHITE_STAR if system == SUN else (RED_STAR, YELLOW_STAR)[system % 2]
    shape = system // 2
    if shape == 2:
        drawing.circle(16, 20, 6, fill=colour)
        drawing.circle(28, 20, 6, fill=colour)
    elif shape == 3:
        for angle in range(5):
            x, y = 22 + 7 * math.cos(angle * 2 * math.pi / 5), 20 + 7 * math.sin(angle * 2 * math.pi / 5)
            drawing.circle(x, y, 5.5, fill=blend(colour, PANEL, 0.35))
    else:
        drawing.polygon(star(22, 20, (7, 12)[shape % 2] if system != SUN else 13, tips=8, inner=0.6), fill=colour)


def _draw_planet(drawing: Drawing, planet: PlanetView, view: View, colours: list[str]) -> None:
    """The planet, its owner's ring, and the pawns below: a dart a starship, a dome a colony, a block a factory, a drop
    a terraformer."""
    if planet.kind is None:
        drawing.circle(0, 0, PLANET_RADIUS, fill=BACK, stroke=BACK_EDGE)
        drawing.text(0, 0, "?", size=15, fill=DIM, anchor="middle")
        return
    colour = TYPE_COLOURS[planet.kind]
    if not planet.face_up:
        colour = blend(colour, PANEL, 0.62)
    ring = None if planet.owner is None else colours[planet.owner]
    if ring:
        drawing.circle(0, 0, PLANET_RADIUS + 3, stroke=ring, stroke_width=3)
    drawing.circle(0, 0, PLANET_RADIUS, fill=colour, stroke=BACK_EDGE if not planet.face_up else DARK)
    letters = readable_on(colour, DARK)
    drawing.text(0, 0, view.type_keys[planet.kind], size=15, fill=letters, anchor="middle", bold=True)
    if ring is None:
        return
    pawns = ["starship"] * planet.starships + [planet.building] * bool(planet.building)
    pawns += ["terraformer"] * planet.terraformed
    step = min(10.0, 36 / max(1, len(pawns)))
    for number, pawn in enumerate(pawns):
        _draw_pawn(drawing, (number - (len(pawns) - 1) / 2) * step, 30, pawn, ring)


def _draw_pawn(drawing: Drawing, x: float, y: float, pawn: str, colour: str) -> None:
    if pawn == "starship":
        drawing.polygon([(x, y - 7), (x + 4, y + 6), (x, y + 3), (x - 4, y + 6)], fill=colour)
    elif pawn == "colony":
        drawing.circle(x, y, 4.5, fill=colour)
    elif pawn == "factory":
        drawing.rect(x - 4.5, y - 5, 9, 10, fill=colour)
    else:
        drawing.polygon([(x, y - 7), (x + 4.5, y + 2), (x, y + 6), (x - 4.5, y + 2)], fill=colour, stroke=INK)


def _planet_hint(planet: PlanetView, view: View) -> str:
    """A planet in words, shown where the mouse rests on it."""
    start = planet.position - FIRST_START
    where = (
        f"the start planet of {agent_name(start)}" if start >= 0 else planet_name(view.system_names, planet.position)
    )
    kind = "face down" if planet.kind is None else view.type_names[planet.kind]
    if planet.kind is not None and not planet.face_up:
        kind += ", face down"
    if planet.owner is None:
        return f"{where}: {kind}"
    pawns = [f"{planet.starships} starship{'s' * (planet.starships > 1)}"] * (planet.starships > 0)
    pawns += [planet.building] * bool(planet.building) + ["terraformer"] * planet.terraformed
    return f"{where}: {kind}, {view.players[planet.owner].name} with {', '.join(pawns)}"


def _draw_board(drawing: Drawing, view: View, colours: list[str]) -> None:
    """The planning board, the bank and the artifact deck."""
    draw_panel(drawing, BOARD_WIDTH, SYSTEMS_HEIGHT, "Planning board")
    width = (BOARD_WIDTH - 2 * 10 - (SPACE_COLUMNS - 1) * 6) / SPACE_COLUMNS
    for space, card in enumerate(view.board):
        row, column = divmod(space, SPACE_COLUMNS)
        touched = [*range(PLACE + space, PLACE + NUM_CARDS * NUM_SPACES, NUM_SPACES)]
        if card is not None and card.state == "current":  # what it asks for is answered there
            touched = [PASS, ACCEPT, CHOOSE, CHOOSE + 1]
        with drawing.group(10 + column * (width + 6), 34 + row * SPACE_STEP, _space_hint(space, card, view), touched):
            _draw_space(drawing, space, card, width, colours)
    drawing.text(14, BANK_Y, "Bank", size=14, fill=DIM, bold=True)
    artifacts = f"artifacts: {view.artifact_deck} in the deck, {len(view.used_artifacts)} used"
    drawing.text(BOARD_WIDTH - 14, BANK_Y, artifacts, size=13, fill=DIM, anchor="end")
    for kind, count in enumerate(view.bank):
        with drawing.group(actions=(TAKE + kind, BANK + kind)):
            _draw_resource(drawing, 24 + kind * 55, BANK_Y + 36, kind, count, view)


def _draw_space(drawing: Drawing, space: int, card: CardView | None, width: float, colours: list[str]) -> None:
    if card is None:
        drawing.rect(0, 0, width, SPACE_HEIGHT, radius=5, stroke=EDGE)
        drawing.text(width / 2, SPACE_HEIGHT / 2, str(space + 1), size=15, fill=DIM, anchor="middle", bold=True)
        return
    colour = colours[card.owner]
    fill = {"current": blend(colour, PANEL, 0.35), "done": blend(colour, PANEL, 0.8)}.get(card.state, BACK)
    edge, edge_width = (GOLD, 3) if card.state == "current" else (colour, 1.5)
    drawing.rect(0, 0, width, SPACE_HEIGHT, radius=5, fill=fill, stroke=edge, stroke_width=edge_width)
    drawing.text(6, 11, str(space + 1), size=11, fill=readable_on(fill, DARK, INK))
    label = "?" if card.slot is None else card.label
    drawing.text(
        width / 2, 27, label, size=13, fill=readable_on(fill, DARK, INK), anchor="middle", bold=True, width=width - 8
    )


def _space_hint(space: int, card: CardView | None, view: View) -> str:
    if card is None:
        return f"space {space + 1}: empty"
    what = "a card face down" if card.slot is None else CARD_NAMES[card.slot]
    return f"space {space + 1}: {what} of {view.players[card.owner].name}"


def _draw_resource(drawing: Drawing, x: float, y: float, kind: int, count: int, view: View) -> None:
    """A resource's disc with how many there are beside it."""
    colour = TYPE_COLOURS[kind] if count else blend(TYPE_COLOURS[kind], PANEL, 0.88)
    letters = readable_on(colour, DARK) if count else DIM
    with drawing.group(x, y, hint=f"{count} {view.resource_names[kind]}"):
        drawing.circle(0, 0, 9, fill=colour)
        drawing.text(0, 0, view.type_keys[kind], size=11, fill=letters, anchor="middle", bold=True)
        drawing.text(13, 0, str(count), size=14, fill=INK if count else DIM, bold=count > 0)


def _draw_track(drawing: Drawing, view: View, colours: list[str]) -> None:
    """The score track, up to the points that end the game and ten more."""
    draw_panel(drawing, INNER, TRACK_HEIGHT)
    last = view.end_points + 10
    step = (INNER - 60) / last
    tick = max(1, view.end_points // 10)
    for points in range(0, last + 1, tick):
        x = 30 + points * step
        drawing.line([(x, 14), (x, 34)], stroke=GOLD if points == view.end_points else EDGE)
        drawing.text(x, 44, str(points), size=11, fill=GOLD if points == view.end_points else DIM, anchor="middle")
    stacked: dict[int, int] = {}
    for number, player in enumerate(view.players):
        points = min(player.points, last)
        height = stacked.get(points, 0)
        stacked[points] = height + 1
        with drawing.group(hint=f"{player.name}: {counted(player.points, 'point')}"):
            drawing.circle(30 + points * step, 28 - 4.5 * height, 6, fill=colours[number], stroke=DARK)


def _draw_player(drawing: Drawing, player: PlayerView, view: View, colour: str, distance: int) -> None:
    """A player, ``distance`` seats clockwise from the one that decides."""
    lit = player.active or player.rank == 1
    draw_panel(drawing, INNER, PLAYER_HEIGHT, edge=GOLD if lit else EDGE)
    drawing.rect(0, 12, 6, PLAYER_HEIGHT - 24, fill=colour)
    if player.active:
        drawing.polygon([(14, 13), (14, 27), (25, 20)], fill=GOLD)
    name = f"{player.name} (viewer)" if player.viewer else player.name
    with drawing.group(actions=(PARTNER + distance - 1,) if distance else ()):
        drawing.text(32, 20, name, size=16, fill=GOLD if lit else INK, bold=True, width=178)
    drawing.text(32, 44, player.faction, size=14, fill=colour, width=120)
    if player.first:
        drawing.text(32, 65, "first player", size=12, fill=DIM)
    drawing.text(230, 32, str(player.points), size=28, fill=INK, anchor="middle", bold=True)
    drawing.text(230, 60, f"rank {player.rank}" if player.rank else "points", size=12, fill=DIM, anchor="middle")
    for kind, count in enumerate(player.hand):
        of_kind = (TAKE + kind, BANK + kind, *range(CARDS + QUANTITIES * kind, CARDS + QUANTITIES * (kind + 1)))
        with drawing.group(actions=of_kind if player.active else ()):
            _draw_resource(drawing, 290 + kind * 46, 24, kind, count, view)
    with drawing.group(actions=range(COUNT, ARTIFACT) if player.active else ()):
        drawing.text(282, 58, counted(sum(player.hand), "card"), size=12, fill=DIM)
    pawns = zip(("starship", "colony", "factory", "terraformer"), player.reserve, strict=True)
    drawing.text(582, 24, "reserve", size=12, fill=DIM)
    for number, (pawn, count) in enumerate(pawns):
        touched = ITEMS_OF_PAWNS[number] if player.active else ()
        with drawing.group(640 + number * 36, 24, f"{count} in reserve: {pawn}", touched):
            _draw_pawn(drawing, 0, 0, pawn, colour if count else EDGE)
            drawing.text(9, 0, str(count), size=13, fill=INK if count else DIM)
    with drawing.group(actions=_moves_to(TO_DEEP) if player.active else ()):
        drawing.text(582, 58, f"deep space: {player.deep_space}", size=12, fill=INK if player.deep_space else DIM)
    room = INNER - 800 - 14
    cards = "hidden" if player.cards is None else _grouped(player.cards)
    for line, words in enumerate(textwrap.wrap(f"hand: {cards}", HAND_COLUMNS)):
        ink = DIM if player.cards is None else INK
        drawing.text(800, 14 + 17 * line, words, size=12, fill=ink, width=room)
    drawing.text(800, 50, f"set aside: {_grouped(player.aside) or '-'}", size=12, fill=DIM, width=room)
    with drawing.group(800, 69):
        _draw_artifacts(drawing, player, room)


def _draw_artifacts(drawing: Drawing, player: PlayerView, room: float) -> None:
    """The artifacts of a player side by side, each with what it does."""
    if not player.artifacts:
        hidden = f"{player.hidden_artifacts} face down" if player.hidden_artifacts else "-"
        drawing.text(0, 0, f"artifacts: {hidden}", size=12, fill=GOLD if player.hidden_artifacts else DIM, width=room)
        return
    drawing.text(0, 0, "artifacts:", size=12, fill=GOLD)
    x = text_width("artifacts: ", 12)
    share = (room - x) / len(player.artifacts)
    for artifact in player.artifacts:
        width = min(share, text_width(f"{artifact.name}  ", 12))
        touched = (ARTIFACT + artifact.number,) if player.active else ()
        with drawing.group(x, 0, f"{artifact.name}, {artifact.words}", touched):
            drawing.text(0, 0, artifact.name, size=12, fill=GOLD, width=width)
        x += width
