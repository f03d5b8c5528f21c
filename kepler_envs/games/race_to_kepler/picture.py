"""A position as a drawing and as text.

``look`` is the only reader of the state: it keeps what a seat may see, in plain Python, and the drawing and the text
are made from that alone.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kepler_envs.engine.components import text_of
from kepler_envs.engine.drawing import Drawing, blend, readable_on, star, text_width
from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.outcome import final_ranks, leaders_in_words
from kepler_envs.engine.panels import (
    BACKGROUND,
    DARK,
    DIM,
    EDGE,
    GAP,
    INK,
    INNER,
    MARGIN,
    SEAT_COLOURS,
    WIDTH,
    draw_header,
    draw_panel,
)
from kepler_envs.engine.panels import GOLD as LIT
from kepler_envs.games.race_to_kepler.actions import (
    ACQUIRE,
    ACQUIRE_GOLD,
    CITY,
    DONE,
    END_TURN,
    OPERATE,
    OPTION,
    PICK,
    PLAY,
)
from kepler_envs.games.race_to_kepler.components import DEPARTMENTS, card_name, city_name, kinds_of
from kepler_envs.games.race_to_kepler.effects import PARAMETER_FILTERS, Destination, Filter, Hook, Replay, Source
from kepler_envs.games.race_to_kepler.state import (
    CLASSES,
    FIRST_CREW,
    FIRST_TITAN,
    GOLD,
    IRON,
    NUM_CITIES,
    NUM_KINDS,
    NUM_OPTIONS,
    NUM_TOKENS,
    EndReason,
    Node,
    Origin,
)
from kepler_envs.printable import counted, wrapped

# ---------------------------------------------------------------- what can be seen


@dataclass(frozen=True)
class CardView:
    kind: int
    name: str
    count: int
    cost: int
    group: str  # what it is coloured by: its department, or iron, gold, mafia
    is_titan: bool
    words: str


Cards = tuple[CardView, ...]


@dataclass(frozen=True)
class OperationView:
    cost: int
    words: str
    used: bool


@dataclass(frozen=True)
class PlayerView:
    name: str
    seat: int
    active: bool  # it is this player's turn
    decides: bool
    first: bool
    viewer: bool
    rank: int  # 0 while the game runs
    parsecs: int
    turns: int
    city: str  # empty while it is not known
    trait: str
    operations: tuple[OperationView, ...]
    offers: tuple[tuple[int, str], ...]  # cities to choose from, with their numbers
    hand: Cards | None  # None: only its size is known
    hand_size: int
    bid: Cards | None
    bid_size: int
    bid_closed: bool
    looks_at: Cards | None
    look_size: int
    play: Cards
    top: tuple[str, ...]  # known cards on the deck, the top one first; for others none
    deck_size: int
    deck: Cards | None
    discard: Cards
    discard_size: int


@dataclass(frozen=True)
class View:
    title: str
    point_of_view: str
    phase: str
    situation: str  # who is asked for what, or how the game ended
    detail: str  # the program that asks, and what the turn has left
    track_length: int
    tokens: tuple[tuple[int, bool], ...]  # (space, crossed this turn) of those left
    supply: Cards
    airlock: Cards
    titan_row: Cards
    gold_pile: int
    crew_deck: int
    titan_deck: int
    picked: tuple[Source, ...]  # where the cards are that can be picked now; titans revealed lie in place of the supply
    players: tuple[PlayerView, ...]


QUESTIONS = {
    Node.CITY: "choose a city",
    Node.ACTION: "play, acquire, operate or end the turn",
    Node.CHOICE: "choose an alternative",
    Node.REPLAY: "choose the card to repeat",
    Node.BID: "bid for a titan",
    Node.TITAN: "choose a titan",
}
TRAITS = {
    Hook.TURN_START: "turn start: {words}",
    Hook.PLAY: "{cards} played: {words}",
    Hook.ACQUIRE: "{cards} acquired: {words}",
    Hook.EJECT: "{cards} ejected: {words}",
    Hook.DISCARD: "{cards} discarded: {words}",
    Hook.SUPPLY_AIRLOCK: "{cards} moved from supply to airlock: {words}",
    Hook.ALL_OPS: "all operations used: {words}",
    Hook.WIN_BID: "bid won: may jump {parameter} instead of the titan",
    Hook.HAND_SIZE: "{parameter} more in hand",
    Hook.DISCOUNT: "cards cost {parameter} less",
    Hook.BID_BONUS: "bids count {parameter} more",
    Hook.REPEAT_OPS: "operations may be repeated",
    Hook.NONE: "no trait",
}
FILTERED = {
    Filter.ANY: "a card", Filter.IRON: "{iron}", Filter.GOLD: "{gold}", Filter.RESOURCE: "{iron} or {gold}",
    Filter.CREW: "crew", Filter.TITAN: "a titan", Filter.COST_LE: "a card of cost {parameter} or less",
    Filter.CREW_COST_EQ: "crew of cost {parameter}", Filter.DEPT: "a card of the {department}s",
}  # fmt: skip
PLACES = ("hand", "discard pile", "hand or discard pile", "supply", "airlock", "play area", "play area",
          "the cards looked at",
          "deck top", "Gold pile", "titan deck", "discard pile")  # fmt: skip
PICKED = {
    Source.HAND_DISCARD: (Source.HAND, Source.DISCARD), Source.SELF: (Source.PLAY,),
    Source.SELF_DISCARD: (Source.DISCARD,),
}  # fmt: skip
"""The zones of sources that are no zone of their own."""
TARGETS = {
    Destination.EJECT: "eject", Destination.DISCARD: "discard", Destination.AIRLOCK: "put into the airlock",
    Destination.HAND: "take to hand", Destination.OWNDISCARD: "put on the discard pile",
    Destination.DECKTOP: "put on the deck",
}  # fmt: skip
CHOICE = re.compile(r"\((?:[^()]|\([^()]*\))*\)(?: or \((?:[^()]|\([^()]*\))*\))+")
END_WORDS = {EndReason.KEPLER: "Kepler is reached", EndReason.ROUNDS: "the last round is over"}


def look(state: Any, config: Configuration, seat: int | None = None) -> View:
    """What ``seat`` may see of a position; None sees everything but the order of decks."""
    players = int(state["num_players"])
    over, ranks = state["end"] != RUNNING, final_ranks(state, config)
    tables = config.tables[0]
    titans = np.concatenate([np.zeros(FIRST_TITAN, np.int8), state["titan_row"]])
    return View(
        title=config.game.title,
        point_of_view="everything open" if seat is None else f"seen by {agent_name(seat)}",
        phase=_phase(state, over),
        situation=_result(state, ranks) if over else f"{agent_name(state['seat'])}: {_question(state, tables)}",
        detail="" if over else _detail(state, tables),
        track_length=int(tables["track_length"]),
        tokens=tuple(
            (int(tables["token_space"][token]), bool(state["crossed"][token]))
            for token in range(NUM_TOKENS) if state["token"][token]
        ),
        supply=_cards(state["supply"], tables),
        airlock=_cards(state["airlock"], tables),
        titan_row=_cards(titans, tables),
        gold_pile=int(state["gold_pile"]),
        crew_deck=int(state["crew_deck_size"]),
        titan_deck=int(state["titan_deck_size"]),
        picked=() if over else _picked(state, tables),
        players=tuple(_player(state, tables, number, seat, ranks[number]) for number in range(players)),
    )  # fmt: skip


def _phase(state: Any, over: bool) -> str:
    phase = "Race" if state["race"] else "Launch"
    return f"after round {state['rounds']}" if over else f"{phase}, round {state['rounds'] + 1}"


def _result(state: Any, ranks: tuple[int, ...]) -> str:
    words = END_WORDS[EndReason(int(state["end_reason"]))]
    if state["winner"]:
        return f"{words}: {agent_name(state['winner'] - 1)} wins"
    return f"{words}: nobody wins, {leaders_in_words(ranks)} got furthest"


def _question(state: Any, tables: Any) -> str:
    node = Node(int(state["node"]))
    if node != Node.MOVE:
        return QUESTIONS[node]
    frame, instruction = _asking(state, tables)
    verb, place = TARGETS[Destination(int(instruction["destination"]))], PLACES[Source(int(instruction["what"]))]
    count, made = int(instruction["amount"]), int(frame["moved"])
    number = "any number" if count == 99 else f"{count - made} more" if made else str(count)
    return f"{verb} {number} from {place}"


def _asking(state: Any, tables: Any) -> tuple[Any, Any]:
    """The frame on top of the stack, and the instruction in it that asks."""
    frame = state["frame"][int(state["depth"]) - 1]
    return frame, tables["program"][int(frame["at"])]


def _picked(state: Any, tables: Any) -> tuple[Source, ...]:
    node = Node(int(state["node"]))
    if node not in (Node.MOVE, Node.REPLAY):
        return {Node.BID: (Source.HAND,), Node.TITAN: (Source.SUPPLY,)}.get(node, ())
    what = int(_asking(state, tables)[1]["what"])
    if node == Node.REPLAY:
        return (Source.SUPPLY,) if what == Replay.SUPPLY else (Source.PLAY,)
    source = Source(what)
    return PICKED.get(source, (source,))


def _detail(state: Any, tables: Any) -> str:
    """The program that asks, in words, with the card or city it belongs to."""
    if not state["depth"]:
        return ""
    frame = state["frame"][int(state["depth"]) - 1]
    kind, origin = int(frame["kind"]) - 1, int(frame["origin"])
    city = int(state["player"][int(state["active"])]["city"]) - 1
    if kind >= 0:
        return f"{card_name(tables, kind)}: {text_of(tables['card_words'][kind, origin])}"
    if origin >= Origin.OPERATION:
        return f"{city_name(tables, city)}: {text_of(tables['operation_words'][city, origin - Origin.OPERATION])}"
    return f"{city_name(tables, city)}: {text_of(tables['trait_words'][city])}"


def _cards(zone: Any, tables: Any) -> Cards:
    return tuple(_card(kind, int(zone[kind]), tables) for kind in range(NUM_KINDS) if zone[kind])


def _card(kind: int, count: int, tables: Any) -> CardView:
    card = tables["card"][kind]
    department = DEPARTMENTS[int(card["department"])]
    parts = [text_of(words) for words in tables["card_words"][kind]]
    labels = ("{}", "discarded: {}", "ejected: {}")
    words = ". ".join(label.format(part) for label, part in zip(labels, parts, strict=True) if part)
    if card["bid_bonus"]:
        words += f". +{card['bid_bonus']} in a bid"
    group = department if department != "none" else ("iron", "gold", "mafia")[kind]
    is_titan = CLASSES[int(card["group"])] == "titan"
    return CardView(kind, card_name(tables, kind), count, int(card["cost"]), group, is_titan, words)


def _player(state: Any, tables: Any, number: int, seat: int | None, rank: int) -> PlayerView:
    player = state["player"][number]
    is_open = seat in (None, number)
    over, choosing = state["end"] != RUNNING, state["node"] == Node.CITY
    active = not choosing and number == state["active"]
    city = int(player["city"]) - 1 if is_open or not choosing else -1
    known = player["known_kind"][: int(player["known_size"])][::-1]
    offers = [(c, city_name(tables, c)) for c in range(NUM_CITIES) if int(player["offers"]) >> c & 1]
    return PlayerView(
        name=agent_name(number),
        seat=number,
        active=active and not over,
        decides=not over and number == state["seat"],
        first=not choosing and number == state["first"],
        viewer=number == seat,
        rank=rank,
        parsecs=int(player["parsecs"]),
        turns=int(player["turns"]),
        city=city_name(tables, city) if city >= 0 else "",
        trait=_trait(tables, city) if city >= 0 else "",
        operations=_operations(state, tables, city, active) if city >= 0 else (),
        offers=tuple(offers) if is_open else (),
        hand=_cards(player["hand"], tables) if is_open else None,
        hand_size=int(player["hand_size"]),
        bid=_cards(player["bid"], tables) if is_open else None,
        bid_size=int(player["bid_size"]),
        bid_closed=bool(player["bid_closed"]),
        looks_at=_cards(state["look"], tables) if is_open and active else None,
        look_size=int(state["look_size"]) if active else 0,
        play=_cards(player["play"], tables),
        top=tuple(card_name(tables, int(kind) - 1) for kind in known) if is_open else (),
        deck_size=int(player["deck_size"]),
        deck=_cards(player["deck"], tables) if is_open else None,
        discard=_cards(player["discard"], tables),
        discard_size=int(player["discard_size"]),
    )


def _trait(tables: Any, city: int) -> str:
    row = tables["city"][city]
    return TRAITS[Hook(int(row["hook"]))].format(
        words=text_of(tables["trait_words"][city]), parameter=row["parameter"], cards=_trait_cards(tables, row)
    )


def _trait_cards(tables: Any, row: Any) -> str:
    """The cards that a trait works on. Which filter the file names is told by what passes it."""
    parameter = int(row["parameter"])
    iron, gold = (card_name(tables, kind) for kind in (IRON, GOLD))
    for which, words in FILTERED.items():
        low, high = PARAMETER_FILTERS.get(which, (0, 0))
        if low <= parameter <= high and kinds_of(tables, which, parameter) == int(row["kinds"]):
            department = DEPARTMENTS[parameter] if which == Filter.DEPT else ""
            return words.format(iron=iron, gold=gold, parameter=parameter, department=department)
    return ""  # a trait without a filter says nothing of cards


def _operations(state: Any, tables: Any, city: int, active: bool) -> tuple[OperationView, ...]:
    row = tables["city"][city]
    once = row["hook"] != Hook.REPEAT_OPS
    return tuple(
        OperationView(
            int(row["operation_cost"][number]), text_of(tables["operation_words"][city, number]),
            once and active and bool(state["op_used"][number]),
        )
        for number in range(int(row["operations"]))
    )  # fmt: skip


def _resources(state: Any) -> str:
    return f"energy {state['energy']}   money {state['money']}   market actions {state['market']}"


def _discount(state: Any) -> str:
    return f"cards cost {state['discount']} less" if state["discount"] else ""


def _listed(cards: Cards) -> str:
    """``2 Iron, Gold``."""
    return ", ".join(card.name if card.count == 1 else f"{card.count} {card.name}" for card in cards) or "-"


# ---------------------------------------------------------------- what can be done


def explain(state: Any, config: Configuration, actions: Sequence[int]) -> dict[int, str]:
    """What the words of an id leave open here, for the seat that decides: what a card, a city or an operation does."""
    seat, tables = int(state["seat"]), config.tables[0]
    view = look(state, config, seat)
    operations = view.players[seat].operations
    found = {}
    for action in actions:
        if CITY <= action < PLAY:
            found[action] = _trait(tables, action - CITY)
        elif PLAY <= action < ACQUIRE_GOLD:
            found[action] = _card(action - PLAY, 1, tables).words
        elif action == ACQUIRE_GOLD or ACQUIRE + FIRST_CREW <= action < OPERATE:
            card = _card(GOLD if action == ACQUIRE_GOLD else action - ACQUIRE, 1, tables)
            found[action] = f"for {_price(state, tables, card.cost)}: {card.words}"
        elif OPERATE <= action < PICK:
            operation = operations[action - OPERATE]
            found[action] = f"{operation.cost} energy: {operation.words}"
        elif PICK <= action < OPTION and state["node"] == Node.BID:
            found[action] = f"counts {tables['card']['bid_value'][action - PICK]}"
        elif PICK <= action < OPTION:
            found[action] = _card(action - PICK, 1, tables).words
        elif OPTION <= action < DONE:
            found[action] = _alternative(view.detail, action - OPTION)
    return {action: words for action, words in found.items() if words}


def _price(state: Any, tables: Any, cost: int) -> int:
    """What a card of this cost takes from the active player now, as in rules_turn."""
    city = tables["city"][int(state["player"][int(state["active"])]["city"]) - 1]
    discount = int(state["discount"]) + (int(city["parameter"]) if city["hook"] == Hook.DISCOUNT else 0)
    return max(min(1, cost), cost - discount)


def _alternative(program: str, number: int) -> str:
    """An alternative of a program in words, which reads ``(this) or (that)``; "" where there are several such, beside
    or inside one another."""
    choices = CHOICE.findall(program)
    if len(choices) != 1:
        return ""
    parts = choices[0][1:-1].split(") or (")
    nested = program.count(") or (") >= len(parts) or any(part.count("(") != part.count(")") for part in parts)
    return parts[number] if number < len(parts) and not nested else ""


# ---------------------------------------------------------------- text

COLUMNS = 80
INDENT = "    "


def text(state: Any, config: Configuration, seat: int | None = None) -> str:
    """The position for a terminal of 80 columns; arguments as for :func:`draw`."""
    view = look(state, config, seat)
    lines = [f"{view.title}   {view.phase}   {view.point_of_view}", view.situation]
    if view.detail:
        lines.append(f"({view.detail})")
    lines += ["", *_track_lines(view), ""]
    for card in view.titan_row:
        lines.append(f"titan {card.name}: {card.words}")
    for card in view.supply:
        count = f"{card.count} " if card.count > 1 else ""
        lines.append(f"supply {count}{card.name} ({card.cost}): {card.words}")
    lines.append(f"Gold pile {view.gold_pile}   crew deck {view.crew_deck}   titan deck {view.titan_deck}")
    lines.append(f"airlock {_listed(view.airlock)}")
    for player in view.players:
        lines += ["", *_player_lines(player, "   ".join(filter(None, (_resources(state), _discount(state)))))]
    return wrapped(lines, COLUMNS)


def _track_lines(view: View) -> list[str]:
    """The track with its tokens, and the players below their places."""
    spaces = dict(view.tokens)
    fields = range(max(view.track_length, *(player.parsecs for player in view.players)) + 1)
    track = "".join(f"{'*' if field in spaces else ''}{field}".rjust(4) for field in fields)
    pawns = "".join("".join(str(p.seat) for p in view.players if p.parsecs == field).rjust(4) for field in fields)
    rows = []
    for start in range(0, len(track), COLUMNS - 8):
        rows += [f"track {track[start : start + COLUMNS - 8]}", f"      {pawns[start : start + COLUMNS - 8]}"]
    return [*rows, "      * encounter token; seats stand below their places", "      E energy, $ money"]


def _player_lines(player: PlayerView, resources: str) -> list[str]:
    marker = ">" if player.decides else " "
    notes = [f"parsecs {player.parsecs}", f"turns {player.turns}"]
    notes += ["(viewer)"] if player.viewer else []
    notes += [f"rank {player.rank}"] if player.rank else []
    lines = [f"{marker} {player.name}   {'   '.join(notes)}"]
    if player.active:
        lines.append(f"{INDENT}{resources}")
    if player.city:
        lines.append(f"{INDENT}{player.city} - {player.trait}")
        lines += [f"{2 * INDENT}{op.cost}: {op.words}{' (used)' if op.used else ''}" for op in player.operations]
    elif player.offers:
        lines.append(f"{INDENT}cities dealt: {', '.join(name for _, name in player.offers)}")
    hand = counted(player.hand_size, "card") if player.hand is None else _listed(player.hand)
    lines.append(f"{INDENT}hand {hand}")
    if player.play:
        lines.append(f"{INDENT}in play {_listed(player.play)}")
    if player.look_size:
        seen = counted(player.look_size, "card") if player.looks_at is None else _listed(player.looks_at)
        lines.append(f"{INDENT}looks at {seen}")
    if player.bid_size or player.bid_closed:
        bid = counted(player.bid_size, "card") if player.bid is None else _listed(player.bid)
        lines.append(f"{INDENT}bid {bid}{', complete' if player.bid_closed else ''}")
    deck = counted(player.deck_size, "card") if player.deck is None else _listed(player.deck)
    top = f" (on top {', '.join(player.top)})" if player.top else ""
    return [*lines, f"{INDENT}deck {deck}{top}", f"{INDENT}discard pile {_listed(player.discard)}"]


# ---------------------------------------------------------------- drawing

GROUP_COLOURS = {
    "iron": "#9aa3b5", "gold": "#e6b93c", "mafia": "#5d6580", "scientist": "#43b48c", "engineer": "#e07b4f",
    "miner": "#b08d57",
    "smuggler": "#9a6be0",
}  # fmt: skip
NAME_GROUNDS = {group: blend(colour, DARK, 0.55) for group, colour in GROUP_COLOURS.items()}
"""Dark enough to read the names of cards on."""
TOKEN_GROUND = "#ad4630"

HEADER_HEIGHT, TRACK_HEIGHT, TABLE_HEIGHT = 96, 96, 172
CARD_WIDTH, CARD_HEIGHT, CARD_STEP, MOST_CARDS = 146, 128, 154, 5
PLAYER_WIDTH, PLAYER_HEIGHT = 620, 270
CARD_COLUMNS, CARD_LINES = 23, 7
CHIP_HEIGHT, CHIP_ROWS = 20, 2
PAWN_STEP, PAWN_MARGIN = 17, 12
NAME_SIZES = (12, 11, 10.5, 10)  # font sizes for the name of a card: the largest in which it fits


def draw(state: Any, config: Configuration, seat: int | None = None) -> Drawing:
    """The position as a picture of 1280 units width; the height depends on the number of players only.

    Args:
        state: a state record of this game.
        config: the configuration it is played with.
        seat: whose view; None shows the cards of all.
    """
    view = look(state, config, seat)
    ranks = -(-len(view.players) // 2)
    players_y = HEADER_HEIGHT + TRACK_HEIGHT + TABLE_HEIGHT + 2 * GAP
    drawing = Drawing(
        WIDTH, players_y + ranks * (PLAYER_HEIGHT + GAP) + MARGIN - GAP, f"{view.title}, {view.phase}", BACKGROUND
    )
    _draw_header(drawing, view)
    with drawing.group(MARGIN, HEADER_HEIGHT):
        drawing.reuse(
            ("track", view.track_length, view.tokens, tuple(map(_pawn, view.players))),
            partial(_draw_track, drawing, view),
        )
    with drawing.group(MARGIN, HEADER_HEIGHT + TRACK_HEIGHT + GAP):
        piles = (view.gold_pile, view.crew_deck, view.titan_deck)
        drawing.reuse(
            ("table", view.supply, view.airlock, view.titan_row, piles, view.picked),
            partial(_draw_table, drawing, view),
        )
    for player in view.players:
        rank, column = divmod(player.seat, 2)
        with drawing.group(MARGIN + column * (PLAYER_WIDTH + GAP), players_y + rank * (PLAYER_HEIGHT + GAP)):
            turn = (_resources(state), _discount(state)) if player.active else ("", "")
            picked = view.picked if player.decides else ()
            drawing.reuse(("player", player, turn, picked), partial(_draw_player, drawing, player, *turn, picked))
    return drawing


def _pawn(player: PlayerView) -> tuple[int, str, int, bool]:
    """What the track shows of a player."""
    return player.seat, player.name, player.parsecs, player.active


def _draw_header(drawing: Drawing, view: View) -> None:
    left, right = (view.title, view.situation), (view.point_of_view, view.phase)
    alternatives = range(OPTION, OPTION + NUM_OPTIONS) if view.detail else ()  # these words name them
    draw_header(drawing, HEADER_HEIGHT, left, right, room=INNER - 260, detail=view.detail, actions=alternatives)


# ---------------------------------------------------------------- the track


def _draw_track(drawing: Drawing, view: View) -> None:
    """Spaces from the start to Kepler; encounter tokens lie on theirs, players stand below."""
    draw_panel(drawing, INNER, TRACK_HEIGHT, "")
    last = view.track_length
    step = (INNER - 60) / last
    tokens = dict(view.tokens)
    drawing.line([(30, 36), (30 + last * step, 36)], stroke=EDGE, stroke_width=3)
    for space in range(last + 1):
        x = 30 + space * step
        if space == last:
            drawing.circle(x, 36, 17, fill=LIT)
        elif space in tokens:
            drawing.polygon(
                star(x, 36, 17, tips=8, inner=0.7),
                fill=TOKEN_GROUND,
                stroke=LIT if tokens[space] else None,
                stroke_width=2,
            )
        else:
            drawing.circle(x, 36, 11, fill=DARK, stroke=EDGE)
        colour = DARK if space == last else INK
        drawing.text(x, 36, str(space), size=12, fill=colour, anchor="middle", bold=space in tokens or space == last)
        standing = [player for player in view.players if min(player.parsecs, last) == space]
        row = PAWN_STEP * (len(standing) - 1)
        left = min(max(x - row / 2, PAWN_MARGIN), INNER - PAWN_MARGIN - row)  # on the panel, at both ends of the track
        for number, player in enumerate(standing):
            _draw_pawn(drawing, left + PAWN_STEP * number, 72, player)


def _draw_pawn(drawing: Drawing, x: float, y: float, player: PlayerView) -> None:
    colour = SEAT_COLOURS[player.seat]
    with drawing.group(hint=f"{player.name}: {player.parsecs} parsecs"):
        drawing.polygon(
            [(x - 8, y + 10), (x, y - 12), (x + 8, y + 10)],
            fill=colour,
            stroke=LIT if player.active else DARK,
            stroke_width=1.5,
        )
        drawing.text(x, y + 4, str(player.seat), size=10, fill=readable_on(colour, DARK), anchor="middle", bold=True)


# ---------------------------------------------------------------- the table


def _draw_table(drawing: Drawing, view: View) -> None:
    """Supply, or the titans of an encounter, and the piles."""
    shown = view.titan_row or view.supply
    draw_panel(drawing, INNER, TABLE_HEIGHT, "Titans" if view.titan_row else "Supply")
    faces = [card for card in shown for _ in range(card.count)]
    step = min(CARD_STEP, (MOST_CARDS * CARD_STEP - CARD_WIDTH) / max(1, len(faces) - 1))
    for number, card in enumerate(faces):
        touched = (*_ids(card, _pick_blocks(Source.SUPPLY, view.picked)), *_acquisitions(card))
        with drawing.group(14 + number * step, 34, f"{card.name}: {card.words}", touched):
            _draw_card(drawing, card)
    x = 28 + MOST_CARDS * CARD_STEP
    piles = (("Gold pile", view.gold_pile), ("Crew deck", view.crew_deck), ("Titan deck", view.titan_deck))
    for number, (name, count) in enumerate(piles):
        touched = (ACQUIRE_GOLD, *(first + GOLD for first in _pick_blocks(Source.GOLDPILE, view.picked)))
        with drawing.group(actions=() if number else touched):
            drawing.text(x + number * 150, 18, f"{name} {count}", size=14, fill=INK)
    drawing.text(x, 44, "Airlock", size=14, fill=DIM, bold=True)
    _draw_chips(drawing, view.airlock, x, 56, INNER - x - 14, 4, _pick_blocks(Source.AIRLOCK, view.picked))


def _draw_card(drawing: Drawing, card: CardView) -> None:
    colour = GROUP_COLOURS[card.group]
    drawing.rect(
        0, 0, CARD_WIDTH, CARD_HEIGHT, radius=6, fill=blend(colour, DARK, 0.72), stroke=colour, stroke_width=1.5
    )
    drawing.rect(1, 1, CARD_WIDTH - 2, 24, radius=5, fill=NAME_GROUNDS[card.group])
    room = CARD_WIDTH - 14 if card.is_titan else CARD_WIDTH - 36
    size = next((size for size in NAME_SIZES if text_width(card.name, size, True) <= room), NAME_SIZES[-1])
    drawing.text(7, 13, card.name, size=size, fill=INK, bold=True, width=room)
    if not card.is_titan:
        drawing.circle(CARD_WIDTH - 14, 13, 9, fill=LIT)
        drawing.text(CARD_WIDTH - 14, 13, str(card.cost), size=12, fill=DARK, anchor="middle", bold=True)
    for number, line in enumerate(textwrap.wrap(card.words, CARD_COLUMNS)[:CARD_LINES]):
        drawing.text(6, 35 + 14 * number, line, size=10.5, fill=INK, width=CARD_WIDTH - 8)


def _pick_blocks(zone: Source, picked: tuple[Source, ...]) -> tuple[int, ...]:
    """The first id of the block that picks cards of a zone, by kind; none where no card can be picked from it."""
    return (PICK,) if zone in picked else ()


def _ids(card: CardView, blocks: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(first + card.kind for first in blocks)


def _acquisitions(card: CardView) -> tuple[int, ...]:
    """Only crew is for sale besides Gold."""
    return (ACQUIRE + card.kind,) if FIRST_CREW <= card.kind < FIRST_TITAN else ()


def _draw_chips(
    drawing: Drawing, cards: Cards, x: float, y: float, width: float, rows: int, blocks: tuple[int, ...]
) -> None:
    """Cards as small labels in rows; what does not fit is counted. ``blocks`` are the first ids of blocks by kind of
    card that touch them."""
    left, row = x, 0
    for number, card in enumerate(cards):
        label = f"{card.count} {card.name}" if card.count > 1 else card.name
        size = text_width(label, 11, True) + 8
        rest = sum(other.count for other in cards[number:])
        room = 40 if row == rows - 1 and number < len(cards) - 1 else 0
        if left + size + room > x + width:
            if row == rows - 1:
                drawing.text(left + 2, y + CHIP_HEIGHT / 2, f"+{rest}", size=11, fill=INK)
                return
            left, row, y = x, row + 1, y + CHIP_HEIGHT + 4
        name = card.name if card.is_titan else f"{card.name} ({card.cost})"
        with drawing.group(left, y, f"{name}: {card.words}", _ids(card, blocks)):
            edge = LIT if card.is_titan else None
            drawing.rect(0, 0, size, CHIP_HEIGHT, radius=4, fill=NAME_GROUNDS[card.group], stroke=edge)
            drawing.text(size / 2, CHIP_HEIGHT / 2, label, size=11, fill=INK, anchor="middle", bold=True)
        left += size + 5


# ---------------------------------------------------------------- players


def _draw_player(
    drawing: Drawing, player: PlayerView, resources: str, discount: str, picked: tuple[Source, ...]
) -> None:
    """A player's cards and pieces; ``picked`` are the zones from which this player picks cards now."""
    lit = player.decides or player.rank == 1
    draw_panel(drawing, PLAYER_WIDTH, PLAYER_HEIGHT, "", LIT if lit else EDGE)
    colour = SEAT_COLOURS[player.seat]
    drawing.polygon([(14, 28), (22, 8), (30, 28)], fill=colour, stroke=LIT if player.active else DARK)
    name = f"{player.name} (viewer)" if player.viewer else player.name
    drawing.text(40, 19, name, size=16, fill=LIT if lit else INK, bold=True, width=175)
    drawing.text(216, 19, counted(player.parsecs, "parsec"), size=15, fill=INK, bold=True)
    status = f"rank {player.rank}" if player.rank else resources if player.active else f"turns {player.turns}"
    with drawing.group(actions=(DONE, END_TURN) if player.decides else ()):
        drawing.text(PLAYER_WIDTH - 14, 19, status, size=13, fill=LIT if lit else DIM, anchor="end", width=300)
    if player.active:
        drawing.text(PLAYER_WIDTH - 14, 34, discount, size=12, fill=LIT if lit else DIM, anchor="end")
    _draw_city(drawing, player)
    y = 148.0
    blocks = {zone: _pick_blocks(zone, picked) for zone in Source}
    hand = (PLAY, *blocks[Source.HAND]) if player.decides else ()
    _draw_zone(drawing, "hand", player.hand, counted(player.hand_size, "card"), y, CHIP_ROWS, hand)
    if player.bid_size or player.bid_closed:
        label = f"{player.bid_size} face down{', complete' if player.bid_closed else ''}"
        _draw_zone(drawing, "bid", player.bid if player.bid_size else None, label, y + 50, 1, ())
    elif player.look_size:
        label = counted(player.look_size, "card")
        _draw_zone(drawing, "looks at", player.looks_at, label, y + 50, 1, blocks[Source.LOOK])
        _draw_zone(drawing, "in play", player.play, "", y + 76, 1, blocks[Source.PLAY])
    else:
        _draw_zone(drawing, "in play", player.play, "", y + 50, CHIP_ROWS, blocks[Source.PLAY])
    with drawing.group(actions=[id for card in player.discard for id in _ids(card, blocks[Source.DISCARD])]):
        drawing.text(14, y + 110, _deck_words(player), size=12, fill=DIM, width=PLAYER_WIDTH - 28)


def _deck_words(player: PlayerView) -> str:
    top = f" (on top: {', '.join(player.top)})" if player.top else ""
    return f"deck {player.deck_size}{top}   discard pile {player.discard_size}: {_listed(player.discard)}"


def _draw_city(drawing: Drawing, player: PlayerView) -> None:
    """The city with its operations, those used this turn faded."""
    if not player.city:
        drawing.text(14, 48, "cities dealt:" if player.offers else "chooses a city", size=14, fill=INK)
        for number, (city, name) in enumerate(player.offers):
            with drawing.group(actions=(CITY + city,) if player.decides else ()):
                drawing.text(120 + 150 * number, 48, name, size=14, fill=LIT, bold=True, width=140)
        return
    drawing.text(14, 46, player.city, size=14, fill=LIT, bold=True, width=120)
    drawing.text(130, 46, player.trait, size=13, fill=INK, width=PLAYER_WIDTH - 144)
    for number, operation in enumerate(player.operations):
        y = 68 + 20 * number
        fill, letters = (EDGE, INK) if operation.used else ("#4cc3ff", DARK)
        with drawing.group(actions=(OPERATE + number,) if player.decides else ()):
            drawing.circle(22, y, 8, fill=fill)
            drawing.text(22, y, str(operation.cost), size=11, fill=letters, anchor="middle", bold=True)
            drawing.text(38, y, operation.words, size=12, fill=DIM if operation.used else INK, width=PLAYER_WIDTH - 52)


def _draw_zone(
    drawing: Drawing, name: str, cards: Sequence[CardView] | None, hidden: str, y: float, rows: int,
    blocks: tuple[int, ...],
) -> None:  # fmt: skip
    """Cards of a player, with the blocks of ids that touch them."""
    drawing.text(14, y + CHIP_HEIGHT / 2, name, size=12, fill=DIM, bold=True)
    if cards is None:
        drawing.text(74, y + CHIP_HEIGHT / 2, hidden, size=12, fill=INK)
    else:
        _draw_chips(drawing, tuple(cards), 74, y, PLAYER_WIDTH - 88, rows, blocks)
