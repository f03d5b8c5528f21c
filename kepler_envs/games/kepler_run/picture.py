"""A position as a drawing and as text.

``look`` is the only reader of the state: it keeps what a seat may see, in plain Python, and the drawing and the text
are made from that alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kepler_envs.engine.drawing import Drawing, blend, readable_on, star
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
from kepler_envs.games.kepler_run.actions import (
    BOOSTER,
    CONTRACT,
    DISCOVER,
    LOAD,
    MODULE,
    MOVE,
    PART,
    SPECIAL,
    STOP,
    TARGET,
    USE_PART,
)
from kepler_envs.games.kepler_run.components import action_names, contract_names, part_names, ship_names, type_names
from kepler_envs.games.kepler_run.state import (
    ASTEROIDS,
    COMETS,
    DELIVERY_SLOTS,
    MAX_FUEL,
    NUM_TRAITS,
    PART_SLOTS,
    REROUTE,
    SOURCES,
    STATIONS,
    Node,
)
from kepler_envs.printable import counted, wrapped

# ---------------------------------------------------------------- what can be seen


@dataclass(frozen=True)
class SectorView:
    type: int
    cost: int
    icons: tuple[int, ...]  # asteroids, comets, stations
    disk: int | None  # seat


@dataclass(frozen=True)
class CardView:
    """A card of the row, with all it can be used for."""

    slot: int
    type: int
    cost: int
    icons: tuple[int, ...]
    wrenches: int
    part: int  # kind
    dots: int
    action: int  # 0 none
    vp: int


@dataclass(frozen=True)
class PartView:
    kind: int
    dots: int
    used: bool


@dataclass(frozen=True)
class DeliveryView:
    type: int
    used: bool


@dataclass(frozen=True)
class PlayerView:
    name: str
    seat: int
    active: bool
    viewer: bool
    rank: int  # 0 while the game runs
    ship: int
    free_type: int
    vp: int
    sources: tuple[int, ...]
    modules: int
    fuel: int
    disks: int
    hand: tuple[int, ...]
    committed: bool
    contract: int | None  # of this round; None if there is none or it is hidden
    revealed: int | None  # in the last scoring
    place: int
    tank: int
    flown: bool
    booster_used: bool
    parts: tuple[PartView, ...]
    deliveries: tuple[DeliveryView, ...]


@dataclass(frozen=True)
class View:
    title: str
    point_of_view: str
    round: str
    situation: str  # who is asked for what, or how the game ended
    flying: bool  # whether pawns are on their way
    type_names: tuple[str, ...]
    ship_names: tuple[str, ...]
    contract_names: tuple[str, ...]
    action_names: tuple[str, ...]
    part_names: tuple[str, ...]
    boxes: int
    deck_count: int
    row_slots: int
    longest_run: int
    run: tuple[SectorView, ...]
    row: tuple[CardView, ...]
    completed_by: tuple[int | None, ...]
    players: tuple[PlayerView, ...]  # by seat
    order: tuple[int, ...]


def look(state: Any, config: Configuration, seat: int | None = None) -> View:
    """What ``seat`` may see of a position; None sees the contracts of all."""
    tables, n = config.tables[0], int(state["num_players"])
    over, rounds = state["end"] != RUNNING, int(tables["rounds"])
    row_slots, ranks = 2 * n + 1, final_ranks(state, config)
    return View(
        title=config.game.title,
        point_of_view="all contracts open" if seat is None else f"seen by {agent_name(seat)}",
        round=f"after {counted(rounds, 'round')}" if over else f"round {state['round_index'] + 1} of {rounds}",
        situation=winners_in_words(ranks) if over else f"{agent_name(state['seat'])}: {_question(state, tables)}",
        flying=state["node"] in (Node.LOAD, Node.FLY),
        type_names=_one_line(type_names(tables)),
        ship_names=_one_line(ship_names(tables)),
        contract_names=_one_line(contract_names(tables)),
        action_names=_one_line(action_names(tables)),
        part_names=_one_line(part_names(tables)),
        boxes=int(tables["boxes"]),
        deck_count=int(state["deck_count"]),
        row_slots=row_slots,
        longest_run=int(tables["initial_run"]) + rounds * row_slots,
        run=tuple(_sector(sector) for sector in state["run"][: int(state["run_length"])]),
        row=tuple(_card(slot, card) for slot, card in enumerate(state["row"]) if card["type"]),
        completed_by=tuple(_less_one(seat) for seat in state["completed_by"]),
        players=tuple(_player(state, config, player, seat, ranks[player]) for player in range(n)),
        order=tuple(int(seat) for seat in state["order"][:n]),
    )


def _one_line(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in names)


def _less_one(field: Any) -> int | None:
    return int(field) - 1 if field else None


def _question(state: Any, tables: Any) -> str:
    node = Node(int(state["node"]))
    if node == Node.TARGET:
        return f"a sector for {action_names(tables)[int(state['pending_action']) - 1]}"
    return {
        Node.DRAFT: "a card of the row and its use",
        Node.CONTRACT: "a contract for this round",
        Node.LOAD: "fuel to take along from the ship",
        Node.FLY: "move on or stop",
    }[node]


def _icons(card: Any) -> tuple[int, ...]:
    return tuple(int(card[name]) for name in ("asteroids", "comets", "stations"))


def _sector(sector: Any) -> SectorView:
    return SectorView(int(sector["type"]) - 1, int(sector["cost"]), _icons(sector), _less_one(sector["disk"]))


def _card(slot: int, card: Any) -> CardView:
    numbers = {name: int(card[name]) for name in ("cost", "wrenches", "dots", "action", "vp")}
    return CardView(slot=slot, type=int(card["type"]) - 1, icons=_icons(card), part=int(card["part"]) - 1, **numbers)


def _deliveries(player: Any, tables: Any) -> tuple[DeliveryView, ...]:
    """In the order they were gained."""
    kinds = [int(tables["row_card"][card - 1]["type"]) - 1 for card in player["delivery_card"] if card]
    return tuple(DeliveryView(kind, bool(player["delivered"][kind])) for kind in kinds)


def _player(state: Any, config: Configuration, player: int, viewer: int | None, rank: int) -> PlayerView:
    row, tables = state["player"][player], config.tables[0]
    open_contract = viewer in (None, player)
    numbers = {name: int(row[name]) for name in ("ship", "vp", "modules", "fuel", "disks", "place", "tank")}
    return PlayerView(
        name=agent_name(player),
        seat=player,
        active=state["end"] == RUNNING and player == state["seat"],
        viewer=player == viewer,
        rank=rank,
        free_type=int(row["built_in"]) - 1,
        sources=tuple(int(points) for points in row["vp_from"]),
        hand=tuple(contract for contract in range(NUM_TRAITS) if row["hand"][contract]),
        committed=bool(row["committed"]),
        contract=_less_one(row["contract"]) if open_contract else None,
        revealed=_less_one(row["revealed"]),
        flown=bool(row["flown"]),
        booster_used=bool(row["booster_used"]),
        parts=tuple(PartView(int(p["part"]) - 1, int(p["dots"]), bool(p["used"])) for p in row["parts"] if p["part"]),
        deliveries=_deliveries(row, tables),
        **numbers,
    )


# ---------------------------------------------------------------- what can be done


def explain(state: Any, config: Configuration, actions: Sequence[int]) -> dict[int, str]:
    """What the words of an id leave open here, for the seat that decides: which card, which sector, which part."""
    seat = int(state["seat"])
    view = look(state, config, seat)
    cards = {card.slot: card for card in view.row}
    parts = view.players[seat].parts
    found = {}
    for action in actions:
        if DISCOVER <= action < PART:
            card = cards[action - DISCOVER]
            found[action] = _sector_words(card.type, card.cost, card.icons, view)
        elif PART <= action < MODULE:
            found[action] = _part_words(cards[action - PART], view)
        elif SPECIAL <= action < TARGET:
            found[action] = view.action_names[cards[action - SPECIAL].action - 1]
        elif TARGET <= action < CONTRACT:
            found[action] = _target_words(action - TARGET, state["pending_action"] == REROUTE, view)
        elif USE_PART <= action < STOP:
            part = parts[action - USE_PART]
            found[action] = f"{view.part_names[part.kind]}, {part.dots}"
    return found


def _target_words(index: int, swaps: bool, view: View) -> str:
    words = [_sector_words(sector.type, sector.cost, sector.icons, view) for sector in view.run[index : index + 2]]
    return ", changes places with ".join(words) if swaps else words[0]


def _sector_words(kind: int, cost: int, icons: Sequence[int], view: View) -> str:
    return ", ".join(filter(None, [f"{view.type_names[kind]}, cost {cost}", _icon_words(icons, view)]))


# ---------------------------------------------------------------- text

COLUMNS = 100
INDENT = "     "
TYPE_WIDTH = 14  # of the column with the type of a sector; names of other files may need more


def text(state: Any, config: Configuration, seat: int | None = None) -> str:
    """The position for a terminal: at most 100 columns, no colours.

    Args:
        state: a state record of this game.
        config: the configuration it is played with.
        seat: whose view; None shows the contracts of all.
    """
    view = look(state, config, seat)
    order = " ".join(agent_name(seat) for seat in view.order)
    lines = [
        f"{view.title}   {view.round}   {view.point_of_view}",
        view.situation,
        f"turn order {order}   deck {view.deck_count}",
        f"contracts  {', '.join(_contract_state(view))}",
        "",
        *_run_lines(view),
        *_row_lines(view),
    ]
    for player in view.players:
        lines += ["", *_player_lines(player, view)]
    return wrapped(lines, COLUMNS)


def _contract_state(view: View) -> Iterator[str]:
    for name, seat in zip(view.contract_names, view.completed_by, strict=True):
        yield f"{name} {'open' if seat is None else f'done by {agent_name(seat)}'}"


def _run_lines(view: View) -> list[str]:
    """Port, a line for each sector, Kepler; with the pawns on their way."""
    lines = [f"run   0  Port{_pawn_words(view, 0)}"]
    for index, sector in enumerate(view.run):
        disk = "" if sector.disk is None else f"disk of {agent_name(sector.disk)}"
        words = _sector_columns(sector.type, sector.cost, sector.icons, view)
        lines.append(f"{INDENT}{index + 1:>2}  {words} {disk}{_pawn_words(view, index + 1)}")
    return [*lines, f"{INDENT}{len(view.run) + 1:>2}  Kepler{_pawn_words(view, len(view.run) + 1)}"]


def _sector_columns(kind: int, cost: int, icons: Sequence[int], view: View) -> str:
    """A sector in columns. No name is cut: two of another file may differ in their last letters alone."""
    width = max(TYPE_WIDTH, *map(len, view.type_names))
    return f"{view.type_names[kind]:<{width}} cost {cost}  {_icon_words(icons, view):<20}"


def _pawn_words(view: View, place: int) -> str:
    pawns = [player.name for player in view.players if view.flying and player.place == place]
    return f"  <- {' '.join(pawns)}" if pawns else ""


def _icon_words(icons: Sequence[int], view: View) -> str:
    words = [
        f"{count if count > 1 else ''} {view.contract_names[trait]}".strip()
        for trait, count in enumerate(icons)
        if count
    ]
    return ", ".join(words)


def _row_lines(view: View) -> list[str]:
    if not view.row:
        return []
    lines = [""]
    for number, card in enumerate(view.row):
        start = f"{'row' if number == 0 else '':<5}{card.slot + 1:>2}"
        sector = _sector_columns(card.type, card.cost, card.icons, view)
        lines.append(f"{start}  {sector} {_part_words(card, view)}{_action_words(card, view)}")
    return lines


def _part_words(card: CardView, view: View) -> str:
    wrenches = f"{card.wrenches} wrench{'' if card.wrenches == 1 else 'es'}"
    points = f", {card.vp} VP" if card.vp else ""
    return f"{view.part_names[card.part]} ({card.dots}) for {wrenches}{points}"


def _action_words(card: CardView, view: View) -> str:
    return f"; {view.action_names[card.action - 1]}" if card.action else ""


def _player_lines(player: PlayerView, view: View) -> list[str]:
    marker = ">" if player.active else " "
    notes = f"{'   (viewer)' if player.viewer else ''}{f'   rank {player.rank}' if player.rank else ''}"
    pieces = f"modules {player.modules}/{view.boxes}   fuel {player.fuel}   disks {player.disks}"
    ship = f"{view.ship_names[player.ship]} ship, free in {view.type_names[player.free_type]}"
    lines = [
        f"{marker} {player.name}{notes}   VP {player.vp}   {pieces}   {ship}",
        f"{INDENT}contracts {_hand_words(player, view)}{_flight_words(player, view)}",
    ]
    if player.parts:
        words = [f"{view.part_names[part.kind]} ({part.dots}){' used' if part.used else ''}" for part in player.parts]
        lines.append(f"{INDENT}parts {', '.join(words)}")
    if player.deliveries:
        words = [f"{view.type_names[it.type]}{' made' if it.used else ''}" for it in player.deliveries]
        lines.append(f"{INDENT}deliveries {', '.join(words)}")
    if player.rank:
        sources = zip(SOURCES, player.sources, strict=True)
        lines.append(f"{INDENT}VP from {', '.join(f'{source} {points}' for source, points in sources if points)}")
    return lines


def _hand_words(player: PlayerView, view: View) -> str:
    words = " ".join(view.contract_names[contract] for contract in player.hand) or "none"
    if player.contract is not None:
        return f"{words}; chosen: {view.contract_names[player.contract]}"
    if player.committed:
        return f"{words}; one is chosen"
    return words if player.revealed is None else f"{words}; last: {view.contract_names[player.revealed]}"


def _flight_words(player: PlayerView, view: View) -> str:
    if not view.flying:
        return ""
    booster = "booster used" if player.booster_used else "booster ready"
    return f"   tank {player.tank}, {booster}{', landed' if player.flown else ''}"


# ---------------------------------------------------------------- drawing

TYPE_COLOURS = ("#a08466", "#9a6be0", "#4a5578", "#35a878", "#e8893a")
SHIP_COLOURS = ("#b4bccb", "#a678f0", "#3a3f52", "#4fc26f", "#ff9d42")
FUEL_COLOUR, ICON_COLOUR, STATION_COLOUR = "#4cc3ff", "#d8d2c4", "#9fd3ff"

HEADER_HEIGHT = 72
PLACES_PER_LINE, PLACE_WIDTH, PLACE_HEIGHT = 13, 88, 74
ROW_CARDS, ROW_CARD_WIDTH, ROW_CARD_HEIGHT = 11, 106, 124
TITLE_HEIGHT = 32
PLAYER_WIDTH, PLAYER_HEIGHT, PLAYER_COLUMNS = 620, 168, 2
CHIP_WIDTH, CHIP_HEIGHT, CHIP_STEP = 94, 24, 98
MOST_SINGLE = 3
"""More icons, wrenches or dots than these, which only other component files have, are drawn as one and a number."""


def seat_colours(state: Any) -> list[str]:
    """Return the colour of each seat's ship, as the picture shows it."""
    return [SHIP_COLOURS[int(player["ship"])] for player in state["player"][: int(state["num_players"])]]


def draw(state: Any, config: Configuration, seat: int | None = None) -> Drawing:
    """The position as a picture of 1280 units width; the height depends on the number of players only.

    Args:
        state: a state record of this game.
        config: the configuration it is played with.
        seat: whose view; None shows the contracts of all.
    """
    view = look(state, config, seat)
    lines = -(-(view.longest_run + 2) // PLACES_PER_LINE)
    run_height = TITLE_HEIGHT + lines * (PLACE_HEIGHT + GAP)
    row_height = TITLE_HEIGHT + ROW_CARD_HEIGHT + GAP
    players_y = HEADER_HEIGHT + run_height + GAP + row_height + GAP
    ranks = -(-len(view.players) // PLAYER_COLUMNS)
    height = players_y + ranks * (PLAYER_HEIGHT + GAP) + MARGIN - GAP
    drawing = Drawing(WIDTH, height, f"{view.title}, {view.round}", BACKGROUND)
    left, right = (view.title, view.situation), (view.point_of_view, view.round)
    draw_header(drawing, HEADER_HEIGHT, left, right, room=INNER - 260)
    with drawing.group(MARGIN, HEADER_HEIGHT):
        pawns = tuple(map(_pawn, view.players))
        drawing.reuse(
            ("run", view.run, pawns, view.flying, view.completed_by, _names(view), run_height),
            partial(_draw_run, drawing, view, run_height),
        )
    with drawing.group(MARGIN, HEADER_HEIGHT + run_height + GAP):
        drawing.reuse(
            ("row", view.row, view.row_slots, view.deck_count, _names(view), row_height),
            partial(_draw_row, drawing, view, row_height),
        )
    for index, number in enumerate(view.order):
        rank, column = divmod(index, PLAYER_COLUMNS)
        with drawing.group(MARGIN + column * (PLAYER_WIDTH + GAP), players_y + rank * (PLAYER_HEIGHT + GAP)):
            player = view.players[number]
            drawing.reuse(
                ("player", player, view.flying, view.boxes, view.completed_by, _names(view)),
                partial(_draw_player, drawing, player, view),
            )
    return drawing


def _names(view: View) -> tuple[tuple[str, ...], ...]:
    return view.type_names, view.contract_names, view.action_names, view.part_names


def _pawn(player: PlayerView) -> tuple[int, int, bool, int]:
    """What the run shows of a player."""
    return player.seat, player.ship, player.active, player.place


# ---------------------------------------------------------------- the run


def _draw_run(drawing: Drawing, view: View, height: float) -> None:
    draw_panel(drawing, INNER, height, f"Kepler Run: {len(view.run)} sectors")
    contracts = "   ".join(_contract_state(view))
    drawing.text(INNER - 14, 18, contracts, size=14, fill=DIM, anchor="end", width=INNER - 220)
    for place in range(len(view.run) + 2):
        line, column = divmod(place, PLACES_PER_LINE)
        x = GAP + column * (INNER - GAP) / PLACES_PER_LINE
        y = TITLE_HEIGHT + line * (PLACE_HEIGHT + GAP)
        with drawing.group(x, y, hint=_place_words(view, place), actions=_place_actions(view, place)):
            if 1 <= place <= len(view.run):
                _draw_sector(drawing, view.run[place - 1], view)
            else:
                _draw_end(drawing, "Port" if place == 0 else "Kepler")
            drawing.text(PLACE_WIDTH - 6, 10, str(place), size=10, fill=INK, anchor="end")
            _draw_pawns(drawing, view, place)


def _place_words(view: View, place: int) -> str:
    if place in (0, len(view.run) + 1):
        return "Kepler" if place else "Port"
    sector = view.run[place - 1]
    icons = _icon_words(sector.icons, view)
    disk = "" if sector.disk is None else f", disk of {agent_name(sector.disk)}"
    return f"{view.type_names[sector.type]}, cost {sector.cost}{f', {icons}' if icons else ''}{disk}"


def _place_actions(view: View, place: int) -> Iterator[int]:
    """What touches a place: a special action, and leaving for it or staying there."""
    if 1 <= place <= len(view.run):
        yield TARGET + place - 1
    for player in view.players:
        if view.flying and player.active and place == player.place:
            yield STOP
        elif view.flying and player.active and place == player.place + 1:
            yield from (MOVE, BOOSTER, *range(USE_PART, USE_PART + PART_SLOTS))


def _draw_end(drawing: Drawing, name: str) -> None:
    """Port or Kepler."""
    drawing.rect(0, 0, PLACE_WIDTH, PLACE_HEIGHT, radius=6, fill=DARK, stroke=GOLD, stroke_width=1.5)
    drawing.circle(PLACE_WIDTH / 2, 21, 13, fill=GOLD if name == "Kepler" else DIM)
    drawing.text(PLACE_WIDTH / 2, 43, name, size=13, fill=INK, anchor="middle", bold=True)


def _draw_sector(drawing: Drawing, sector: SectorView, view: View) -> None:
    _draw_card_face(drawing, PLACE_WIDTH, PLACE_HEIGHT, sector.type, sector.cost, sector.icons, view)
    if sector.disk is not None:
        colour = SHIP_COLOURS[view.players[sector.disk].ship]
        drawing.circle(PLACE_WIDTH - 16, 50, 9, fill=colour, stroke=INK, stroke_width=1.5)
        drawing.text(
            PLACE_WIDTH - 16, 50, str(sector.disk), size=11, fill=readable_on(colour, DARK), anchor="middle", bold=True
        )


def _draw_card_face(
    drawing: Drawing, width: float, height: float, kind: int, cost: int, icons: Sequence[int], view: View
) -> None:
    """Colour and name of the type, cost, icons: what a card is as a sector."""
    colour = TYPE_COLOURS[kind]
    drawing.rect(0, 0, width, height, radius=6, fill=blend(colour, DARK, 0.55), stroke=colour, stroke_width=1.5)
    drawing.circle(15, 15, 10, fill=FUEL_COLOUR)
    drawing.text(15, 15, str(cost), size=14, fill=DARK, anchor="middle", bold=True)
    drawing.text(6, 33, view.type_names[kind], size=11, fill=INK, width=width - 12)
    single = sum(icons) <= MOST_SINGLE
    x = 38.0
    for trait, count in enumerate(icons):
        for _ in range(count if single else min(count, 1)):
            _draw_icon(drawing, trait, x, 15)
            if not single:
                drawing.text(x, 25, f"x{count}", size=9, fill=INK, anchor="middle")
            x += 17 if single else 15


def _draw_icon(drawing: Drawing, trait: int, x: float, y: float) -> None:
    """Rocks, a comet with its tail, or a station with its wings."""
    if trait == ASTEROIDS:
        drawing.polygon(
            [(x - 7, y + 1), (x - 3, y - 6), (x + 4, y - 5), (x + 7, y + 2), (x + 1, y + 6)], fill=ICON_COLOUR
        )
    elif trait == COMETS:
        drawing.line([(x - 7, y + 6), (x + 2, y - 2)], stroke=FUEL_COLOUR, stroke_width=3)
        drawing.polygon(star(x + 3, y - 3, 6), fill=GOLD)
    elif trait == STATIONS:
        drawing.line([(x - 8, y), (x + 8, y)], stroke=STATION_COLOUR, stroke_width=2)
        drawing.rect(x - 4, y - 4, 8, 8, fill=STATION_COLOUR)


def _draw_pawns(drawing: Drawing, view: View, place: int) -> None:
    pawns = [player for player in view.players if view.flying and player.place == place]
    for number, player in enumerate(pawns):
        colour = SHIP_COLOURS[player.ship]
        x, y = 11 + number * 17, PLACE_HEIGHT - 10
        edge = GOLD if player.active else INK
        drawing.polygon([(x - 7, y + 7), (x, y - 9), (x + 7, y + 7)], fill=colour, stroke=edge, stroke_width=1.5)
        drawing.text(x, y + 2, str(player.seat), size=10, fill=readable_on(colour, DARK), anchor="middle", bold=True)


# ---------------------------------------------------------------- the row


def _draw_row(drawing: Drawing, view: View, height: float) -> None:
    draw_panel(drawing, INNER, height, "Row")
    drawing.text(INNER - 14, 18, f"Deck {view.deck_count}", size=14, fill=DIM, anchor="end", bold=True)
    cards = {card.slot: card for card in view.row}
    for slot in range(view.row_slots):
        x = GAP + slot * (INNER - GAP) / ROW_CARDS
        if slot not in cards:
            drawing.rect(x, TITLE_HEIGHT, ROW_CARD_WIDTH, ROW_CARD_HEIGHT, radius=6, stroke=EDGE)
            continue
        touched = (DISCOVER + slot, PART + slot, MODULE + slot, SPECIAL + slot)
        with drawing.group(x, TITLE_HEIGHT, hint=_card_words(cards[slot], view), actions=touched):
            _draw_row_card(drawing, cards[slot], view)


def _card_words(card: CardView, view: View) -> str:
    icons = _icon_words(card.icons, view)
    sector = f"{view.type_names[card.type]}, cost {card.cost}{f', {icons}' if icons else ''}"
    return f"{sector}; {_part_words(card, view)}{_action_words(card, view)}"


def _draw_row_card(drawing: Drawing, card: CardView, view: View) -> None:
    _draw_card_face(drawing, ROW_CARD_WIDTH, ROW_CARD_HEIGHT, card.type, card.cost, card.icons, view)
    drawing.text(ROW_CARD_WIDTH - 6, 10, str(card.slot + 1), size=10, fill=INK, anchor="end")
    _draw_part(drawing, 6, 46, ROW_CARD_WIDTH - 12, PartView(card.part, card.dots, False), view)
    single = card.wrenches <= MOST_SINGLE
    for wrench in range(card.wrenches if single else 1):
        drawing.rect(8 + wrench * 14, 76, 10, 10, radius=2, stroke=GOLD, stroke_width=1.5)
    if not single:
        drawing.text(22, 81, f"x{card.wrenches}", size=12, fill=GOLD)
    if card.vp:
        drawing.text(ROW_CARD_WIDTH - 8, 81, f"{card.vp} VP", size=12, fill=GOLD, anchor="end", bold=True)
    if card.action:
        drawing.rect(6, 96, ROW_CARD_WIDTH - 12, 20, radius=4, fill=DIM)
        name = view.action_names[card.action - 1]
        drawing.text(
            ROW_CARD_WIDTH / 2, 106, name, size=12, fill=DARK, anchor="middle", bold=True, width=ROW_CARD_WIDTH - 16
        )


def _draw_part(drawing: Drawing, x: float, y: float, width: float, part: PartView, view: View) -> None:
    """A part with its dots; a bypass in the colour of its type, faded once used."""
    colour = TYPE_COLOURS[part.kind] if part.kind < len(TYPE_COLOURS) else GOLD
    if part.used:
        colour = blend(colour, PANEL, 0.9)
    letters = DIM if part.used else readable_on(colour, DARK)
    drawing.rect(x, y, width, CHIP_HEIGHT, radius=4, fill=colour)
    name = view.part_names[part.kind].removeprefix("bypass ")
    single = part.dots <= MOST_SINGLE
    room = width - 12 - 9 * (part.dots if single else MOST_SINGLE)
    drawing.text(x + 5, y + CHIP_HEIGHT / 2, name, size=11, fill=letters, bold=True, width=room)
    for dot in range(part.dots if single else 1):
        drawing.circle(x + width - 8 - 9 * dot, y + CHIP_HEIGHT / 2, 3, fill=letters)
    if not single:
        drawing.text(x + width - 14, y + CHIP_HEIGHT / 2, f"x{part.dots}", size=11, fill=letters, anchor="end")


# ---------------------------------------------------------------- players


def _draw_player(drawing: Drawing, player: PlayerView, view: View) -> None:
    lit = player.active or player.rank == 1
    draw_panel(drawing, PLAYER_WIDTH, PLAYER_HEIGHT, "", GOLD if lit else EDGE)
    colour = SHIP_COLOURS[player.ship]
    drawing.polygon([(14, 27), (22, 9), (30, 27)], fill=colour, stroke=GOLD if player.active else INK)
    name = f"{player.name} (viewer)" if player.viewer else player.name
    drawing.text(40, 19, name, size=16, fill=GOLD if lit else INK, bold=True)
    drawing.text(236, 19, f"{player.vp} VP", size=16, fill=INK, bold=True)
    free = f"free in {view.type_names[player.free_type]}"
    drawing.text(306, 19, free, size=13, fill=blend(TYPE_COLOURS[player.free_type], INK, 0.35), width=170, bold=True)
    status = f"rank {player.rank}" if player.rank else _status(player, view)
    drawing.text(PLAYER_WIDTH - 14, 19, status, size=14, fill=GOLD if lit else DIM, anchor="end", width=140)
    _draw_fuel(drawing, player, view)
    _draw_contracts(drawing, player, view)
    for slot, part in enumerate(player.parts):
        with drawing.group(actions=(USE_PART + slot,) if player.active else ()):
            _draw_part(drawing, 14 + slot * CHIP_STEP, 104, CHIP_WIDTH, part, view)
    for slot, delivery in enumerate(player.deliveries):
        _draw_delivery(drawing, 14 + slot * CHIP_STEP, 136, delivery, view)
    if player.deliveries and len(player.deliveries) < DELIVERY_SLOTS:
        drawing.text(PLAYER_WIDTH - 14, 148, "deliveries", size=13, fill=DIM, anchor="end")
    if player.parts and len(player.parts) < PART_SLOTS:
        drawing.text(PLAYER_WIDTH - 14, 116, "parts", size=13, fill=DIM, anchor="end")


def _status(player: PlayerView, view: View) -> str:
    if not view.flying:
        return ""
    if player.flown:
        return f"landed, tank {player.tank}"
    return f"flying, tank {player.tank}" if player.active else "at Port"


def _draw_fuel(drawing: Drawing, player: PlayerView, view: View) -> None:
    """Boxes with modules, fuel on the ship, disks in supply, the booster."""
    for box in range(view.boxes):
        filled = box < player.modules
        drawing.rect(14 + box * 16, 38, 12, 18, radius=2, fill=FUEL_COLOUR if filled else None, stroke=FUEL_COLOUR)
    with drawing.group(actions=range(LOAD, LOAD + MAX_FUEL + 1) if player.active else ()):
        drawing.text(186, 47, f"fuel {player.fuel}", size=13, fill=INK)
        for fuel in range(player.fuel):
            drawing.circle(240 + fuel * 11, 47, 4.5, fill=FUEL_COLOUR)
    drawing.text(366, 47, "disks", size=13, fill=INK)
    for disk in range(player.disks):
        drawing.circle(410 + disk * 15, 47, 6, fill=SHIP_COLOURS[player.ship], stroke=INK)
    if not player.booster_used:
        with drawing.group(actions=(BOOSTER,) if player.active else ()):
            drawing.text(PLAYER_WIDTH - 14, 47, "booster", size=13, fill=GOLD, anchor="end")


def _draw_contracts(drawing: Drawing, player: PlayerView, view: View) -> None:
    """Contracts in hand, the chosen one lit; backs tell nothing."""
    for contract, name in enumerate(view.contract_names):
        x, chosen = 14 + contract * 132, player.contract == contract
        if contract in player.hand:
            edge, edge_width = (GOLD, 2) if chosen else (EDGE, 1)
            with drawing.group(actions=(CONTRACT + contract,) if player.active else ()):
                drawing.rect(x, 66, 126, 26, radius=4, fill=DARK, stroke=edge, stroke_width=edge_width)
                _draw_icon(drawing, contract, x + 16, 79)
                drawing.text(x + 32, 79, name, size=12, fill=INK if chosen else DIM, width=90)
        elif view.completed_by[contract] == player.seat:
            drawing.text(x + 32, 79, f"{name} done", size=12, fill=GOLD, width=94)
    if player.contract is None and player.committed:
        drawing.text(PLAYER_WIDTH - 14, 79, "contract chosen", size=13, fill=DIM, anchor="end")
    elif player.revealed is not None:
        last = f"last: {view.contract_names[player.revealed]}"
        drawing.text(PLAYER_WIDTH - 14, 79, last, size=13, fill=DIM, anchor="end", width=190)


def _draw_delivery(drawing: Drawing, x: float, y: float, delivery: DeliveryView, view: View) -> None:
    colour = TYPE_COLOURS[delivery.type]
    letters = DIM if delivery.used else INK
    edge = blend(colour, PANEL, 0.6) if delivery.used else colour
    with drawing.group(hint=f"delivery to {view.type_names[delivery.type]}"):
        drawing.rect(x, y, CHIP_WIDTH, CHIP_HEIGHT, radius=4, fill=DARK, stroke=edge, stroke_width=1.5)
        drawing.text(
            x + 5,
            y + CHIP_HEIGHT / 2,
            view.type_names[delivery.type],
            size=11,
            fill=letters,
            width=CHIP_WIDTH - 10,
        )
