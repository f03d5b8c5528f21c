"""A position as a drawing and as text.

``look`` is the only reader of the state: it keeps what a seat may see, in plain Python, and the drawing and the text
are made from that alone. A card is its type, or None where only its back can be seen.
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
from kepler_envs.games.kitten_adventurers.actions import (
    AS_VALUE,
    END_WITH,
    PASS,
    PLAY_HAND,
    PLAY_LANE,
    PLAY_QUEST,
    TO_LANE,
)
from kepler_envs.games.kitten_adventurers.components import type_names
from kepler_envs.games.kitten_adventurers.state import (
    HYPERSPEED,
    NUM_LANES,
    NUM_TYPES,
    SHOWN,
    WORMHOLE,
    EndReason,
    Node,
)
from kepler_envs.printable import counted, wrapped

Card = int | None
Box = tuple[float, float, float, float]  # x, y, width, height

# ---------------------------------------------------------------- what can be seen


@dataclass(frozen=True)
class LadderView:
    slot: int
    wild: tuple[bool, ...]  # from value 0 up: whether a hyperspeed card stands for the value

    @property
    def height(self) -> int:
        """Cards in the ladder, and the value it needs next."""
        return len(self.wild)


@dataclass(frozen=True)
class PlayerView:
    name: str
    active: bool
    viewer: bool
    rank: int  # 0 while the game runs
    quest_count: int
    quest_top: Card  # None when the pile is empty
    quest_covered: tuple[int, ...]  # from the second card down; empty unless everything is open
    hand: tuple[Card, ...]
    lanes: tuple[tuple[int, ...], ...]  # top card first
    announced: str  # where the card announced by this player lies: "hand", "quest", "lane 1".., or ""


@dataclass(frozen=True)
class View:
    title: str
    point_of_view: str
    turn: str
    situation: str  # who is asked for what, or how the game ended
    announced: Card  # the card waiting for its value or its lane
    card_names: tuple[str, ...]
    deck_count: int
    discard: tuple[int, ...]  # by type
    ladder_slots: int  # ladders there can be
    ladders: tuple[LadderView, ...]
    players: tuple[PlayerView, ...]


def look(state: Any, config: Configuration, seat: int | None = None) -> View:
    """What ``seat`` may see of a position; None sees every card but the deck."""
    names = tuple(" ".join(name.split()) for name in type_names(config.tables[0]))
    over, ranks = state["end"] != RUNNING, final_ranks(state, config)
    bottoms = config.tables["card_count"][0][[WORMHOLE, HYPERSPEED]]
    return View(
        title=config.game.title,
        point_of_view="all cards open" if seat is None else f"seen by {agent_name(seat)}",
        turn=f"after {counted(int(state['turns']), 'turn')}" if over else f"turn {state['turns'] + 1}",
        situation=_result(state, config, ranks) if over else f"{agent_name(state['seat'])}: {_question(state, config)}",
        announced=_announced_card(state),
        card_names=names,
        deck_count=int(state["deck_count"]),
        discard=tuple(int(count) for count in state["discard"]),
        ladder_slots=int(bottoms.sum()),
        ladders=tuple(_ladders(state)),
        players=tuple(_player(state, player, seat, ranks[player]) for player in range(state["num_players"])),
    )


def _question(state: Any, config: Configuration) -> str:
    if state["node"] == Node.VALUE:
        return f"{config.actions.text(int(state['pending_source']) - 1)} - as which value?"
    if state["node"] == Node.LANE:
        return f"{config.actions.text(END_WITH + int(state['pending_card']) - 1)} - in which lane?"
    return "play a card or end the turn"


def _result(state: Any, config: Configuration, ranks: tuple[int, ...]) -> str:
    reason = config.game.info(state, config.tables[0], 0)["end_reason"]
    prefix = {EndReason.WIN: "", EndReason.STALEMATE: "stalemate: ", EndReason.LIMIT: "cut off by the limit: "}[reason]
    return prefix + winners_in_words(ranks)


def _announced_card(state: Any) -> Card:
    if state["node"] == Node.VALUE:
        return HYPERSPEED
    return int(state["pending_card"]) - 1 if state["node"] == Node.LANE else None


def _announced_place(state: Any) -> str:
    source = int(state["pending_source"]) - 1
    if source >= PLAY_LANE:
        return _lane_name(source - PLAY_LANE)
    if source == PLAY_QUEST:
        return "quest"
    return "hand" if _announced_card(state) is not None else ""


def _lane_name(lane: int) -> str:
    return f"lane {lane + 1}"


def _ladders(state: Any) -> Iterator[LadderView]:
    for slot, (height, wild) in enumerate(zip(state["ladder_height"], state["wild_at"], strict=True)):
        if height:
            yield LadderView(slot, tuple(bool(int(wild) >> value & 1) for value in range(height)))


def _player(state: Any, player: int, seat: int | None, rank: int) -> PlayerView:
    row = state["player"][player]
    active = state["end"] == RUNNING and player == state["seat"]
    announced = _announced_place(state) if active else ""
    return PlayerView(
        name=agent_name(player),
        active=active,
        viewer=player == seat,
        rank=rank,
        quest_count=int(row["quest_count"]),
        quest_top=int(row["quest_top"]) - 1 if row["quest_top"] else None,
        quest_covered=_covered_quest_cards(state, player) if seat is None else (),
        hand=_open_hand(row) if seat in (None, player) else _closed_hand(state, row, announced),
        lanes=tuple(tuple(_lane(state, player, lane)) for lane in range(NUM_LANES)),
        announced=announced,
    )


def _covered_quest_cards(state: Any, player: int) -> tuple[int, ...]:
    first = player * int(state["quest_size"])
    covered = int(state["player"][player]["quest_count"]) - 1
    return tuple(int(card) for card in reversed(state["quest_pile"][first : first + max(0, covered)]))


def _open_hand(row: Any) -> tuple[Card, ...]:
    return tuple(card for card in range(NUM_TYPES) for _ in range(row["hand"][card]))


def _closed_hand(state: Any, row: Any, announced: str) -> tuple[Card, ...]:
    """Backs, but for a card its owner has announced."""
    backs: tuple[Card, ...] = (None,) * int(row["hand_count"])
    return (_announced_card(state), *backs[1:]) if announced == "hand" else backs


def _lane(state: Any, player: int, lane: int) -> Iterator[int]:
    """The cards of a lane, top first: three in the lane's record, the rest among the buried ones."""
    record = state["player"][player]["lane"]
    for field in ("top", "second", "third"):
        if record[lane][field]:
            yield int(record[lane][field]) - 1
    buried = [max(0, int(depth) - SHOWN) for depth in record["depth"]]
    first = int(state["buried_to"][player]) - sum(buried[lane:])
    for field in state["buried"][first : first + buried[lane]]:
        yield int(field) - 1


# ---------------------------------------------------------------- what can be done


def explain(state: Any, config: Configuration, actions: Sequence[int]) -> dict[int, str]:
    """What the words of an id leave open here, for the seat that decides: which card lies there."""
    seat = int(state["seat"])
    view = look(state, config, seat)
    player = view.players[seat]
    found = {}
    for action in actions:
        if action == PLAY_QUEST and player.quest_top is not None:
            found[action] = view.card_names[player.quest_top]
        elif PLAY_LANE <= action < PLAY_LANE + NUM_LANES:
            found[action] = view.card_names[player.lanes[action - PLAY_LANE][0]]
        elif TO_LANE <= action < TO_LANE + NUM_LANES:
            cards = player.lanes[action - TO_LANE]
            found[action] = f"on {view.card_names[cards[0]]}" if cards else "it is empty"
    return found


# ---------------------------------------------------------------- text

COLUMNS = 100
LANE_COLUMNS = 22
INDENT = "    "


def text(state: Any, config: Configuration, seat: int | None = None) -> str:
    """The position for a terminal: at most 100 columns, no colours.

    Args:
        state: a state record of this game.
        config: the configuration it is played with.
        seat: whose view; None shows all cards.
    """
    view = look(state, config, seat)
    lines = [
        f"{view.title}   {view.turn}   {view.point_of_view}",
        view.situation,
        *_card_table(view),
        *_ladder_lines(view),
    ]
    for player in view.players:
        lines += ["", *_player_lines(player, view)]
    return wrapped(lines, COLUMNS)


def _card_table(view: View) -> list[str]:
    labels = "".join(f"{_label(card):>4}" for card in range(NUM_TYPES))
    counts = "".join(f"{count or '.':>4}" for count in view.discard)
    return [
        "",
        f"card        {labels}   (* {view.card_names[HYPERSPEED]})",
        f"discard {sum(view.discard):>4}{counts}   deck {view.deck_count}",
    ]


def _ladder_lines(view: View) -> list[str]:
    lines = [f"ladder {ladder.slot + 1:>2}:  {_rungs(ladder):<48}  next {ladder.height}" for ladder in view.ladders]
    return ["", *(lines or ["no ladder in play"])]


def _rungs(ladder: LadderView) -> str:
    return " ".join(f"{value}{'*' if wild else ''}" for value, wild in enumerate(ladder.wild))


def _player_lines(player: PlayerView, view: View) -> list[str]:
    marker = "> " if player.active else "  "
    notes = f"{'   (viewer)' if player.viewer else ''}{f'   rank {player.rank}' if player.rank else ''}"
    lines = [f"{marker}{player.name}   {_quest_words(player, view)}{notes}"]
    if player.quest_covered:
        lines.append(_row("under it: ", [_label(card) for card in player.quest_covered]))
    return [*lines, _row(f"hand {len(player.hand)}: ", _hand_words(player, view)), _lane_line(player)]


def _quest_words(player: PlayerView, view: View) -> str:
    if player.quest_top is None:
        return "quest pile empty"
    label = _label(player.quest_top)
    label = f"[{label}]" if player.announced == "quest" else label
    return f"quest {player.quest_count} left, open: {label} ({view.card_names[player.quest_top]})"


def _hand_words(player: PlayerView, view: View) -> list[str]:
    words = [_label(card) for card in player.hand] or ["-"]
    if player.announced == "hand":
        words[player.hand.index(view.announced)] = f"[{_label(view.announced)}]"
    return words


def _lane_line(player: PlayerView) -> str:
    cells = []
    for lane, cards in enumerate(player.lanes):
        words = [_label(card) for card in cards] or ["-"]
        if player.announced == _lane_name(lane):
            words[0] = f"[{words[0]}]"
        cells.append(f"{_fitting(f'{lane + 1}: ', words, LANE_COLUMNS - 2):<{LANE_COLUMNS}}")
    return f"{INDENT}lanes {''.join(cells)}"


def _row(start: str, words: Sequence[str]) -> str:
    return _fitting(INDENT + start, words, COLUMNS)


def _fitting(start: str, words: Sequence[str], columns: int) -> str:
    """``start`` and as many words as fit, then how many more there are."""
    for shown in range(len(words), -1, -1):
        more = [f"+{len(words) - shown}"] if shown < len(words) else []
        line = start + " ".join([*words[:shown], *more])
        if len(line) <= columns:
            break
    return line


def _label(card: Card) -> str:
    """A card in one or two letters."""
    if card is None:
        return "?"
    return "*" if card == HYPERSPEED else str(card)


# ---------------------------------------------------------------- drawing

BACK, BACK_EDGE, BACK_MARK = "#27325c", "#51609a", "#7d8cc9"
TYPE_COLOURS = (
    "#6a5acd", "#3f6fe0", "#2e93e6", "#1fb4cf", "#18b592", "#39b65c", "#86c440",
    "#c6cc3a", "#f0c02f", "#f39a2d", "#ef7433", "#e2483f", "#f2eee0", "#e04fd2",
)  # fmt: skip

HEADER_HEIGHT = 72
TABLE_Y, TABLE_HEIGHT = HEADER_HEIGHT, 272
LADDERS_WIDTH = 1004
PILES_X, PILES_WIDTH = MARGIN + LADDERS_WIDTH + GAP, 236
PLAYERS_Y = TABLE_Y + TABLE_HEIGHT + GAP
PLAYER_WIDTH, PLAYER_HEIGHT, PLAYER_COLUMNS = 620, 150, 2

CARD_WIDTH, CARD_HEIGHT = 36, 52
RUNG_WIDTH, RUNG_HEIGHT, RUNG_STEP = 52, 18, 17
PLAYER_X, CARDS_Y, CAPTIONS_Y, COVERED_Y = 16, 42, 108, 134  # inside a player's panel, as all below
HAND_X, HAND_WIDTH = 92, 262
LANES_X, LANES_Y, LANE_STEP = 372, 34, 28
COVERED_SIZE, COVERED_STEP = 16, 18
MORE_WIDTH = 26  # of "+99"


def draw(state: Any, config: Configuration, seat: int | None = None) -> Drawing:
    """The position as a picture of 1280 units width; the height depends on the number of players only.

    Args:
        state: a state record of this game.
        config: the configuration it is played with.
        seat: whose view; None shows all cards.
    """
    view = look(state, config, seat)
    rows = -(-len(view.players) // PLAYER_COLUMNS)
    height = PLAYERS_Y + rows * (PLAYER_HEIGHT + GAP) + MARGIN - GAP
    drawing = Drawing(WIDTH, height, f"{view.title}, {view.turn}", BACKGROUND)
    _draw_header(drawing, view)
    with drawing.group(MARGIN, TABLE_Y):
        drawing.reuse(
            ("ladders", view.ladders, view.ladder_slots, view.card_names), partial(_draw_ladders, drawing, view)
        )
    with drawing.group(PILES_X, TABLE_Y):
        drawing.reuse(("piles", view.discard, view.deck_count, view.card_names), partial(_draw_piles, drawing, view))
    for index, player in enumerate(view.players):
        row, column = divmod(index, PLAYER_COLUMNS)
        x = MARGIN + column * (PLAYER_WIDTH + GAP)
        with drawing.group(x, PLAYERS_Y + row * (PLAYER_HEIGHT + GAP)):
            announced = view.announced if player.announced else None
            drawing.reuse(("player", player, announced, view.card_names), partial(_draw_player, drawing, player, view))
    return drawing


def _draw_header(drawing: Drawing, view: View) -> None:
    room = INNER - PILES_WIDTH - GAP - CARD_WIDTH
    left, right = (view.title, view.situation), (view.point_of_view, view.turn)
    draw_header(drawing, HEADER_HEIGHT, left, right, room=room)
    if view.announced is not None:
        _draw_card(drawing, PILES_X, (HEADER_HEIGHT - CARD_HEIGHT) / 2, view.announced, view, announced=True)


def _draw_ladders(drawing: Drawing, view: View) -> None:
    draw_panel(drawing, LADDERS_WIDTH, TABLE_HEIGHT, "Ladders")
    ladders = {ladder.slot: ladder for ladder in view.ladders}
    step = (LADDERS_WIDTH - 2 * GAP) / view.ladder_slots
    for slot in range(view.ladder_slots):
        needs = ladders[slot].height if slot in ladders else 0
        left = GAP + slot * step + (step - RUNG_WIDTH) / 2
        with drawing.group(left, TABLE_HEIGHT - 30, actions=(AS_VALUE + needs, PLAY_HAND + needs)):
            drawing.line([(0, 2), (RUNG_WIDTH, 2)], stroke=EDGE, stroke_width=2)
            if slot in ladders:
                _draw_ladder(drawing, ladders[slot], view)


def _draw_ladder(drawing: Drawing, ladder: LadderView, view: View) -> None:
    """Upwards from the group's origin, which is the lower left corner."""
    for value, wild in enumerate(ladder.wild):
        card = HYPERSPEED if wild else value
        y = -RUNG_HEIGHT - value * RUNG_STEP
        _draw_chip(drawing, (0, y, RUNG_WIDTH, RUNG_HEIGHT), card, view, value=value)
    drawing.text(RUNG_WIDTH / 2, 16, f"next {ladder.height}", size=13, fill=INK, anchor="middle")


def _draw_piles(drawing: Drawing, view: View) -> None:
    draw_panel(drawing, PILES_WIDTH, TABLE_HEIGHT, f"Discard {sum(view.discard)}")
    drawing.text(PILES_WIDTH - 14, 18, f"Deck {view.deck_count}", size=14, fill=DIM, anchor="end", bold=True)
    for card, name in enumerate(view.card_names):
        y, count = 34 + card * 16.5, view.discard[card]
        ink = INK if count else DIM
        _draw_chip(drawing, (14, y, 26, 15), card, view)
        drawing.text(50, y + 7.5, name, size=13, fill=ink, width=PILES_WIDTH - 90)
        drawing.text(PILES_WIDTH - 14, y + 7.5, str(count), size=13, fill=ink, anchor="end", bold=count > 0)


def _draw_player(drawing: Drawing, player: PlayerView, view: View) -> None:
    lit = player.active or player.rank == 1
    ink = GOLD if lit else INK
    draw_panel(drawing, PLAYER_WIDTH, PLAYER_HEIGHT, edge=GOLD if lit else EDGE)
    if player.active:
        drawing.polygon([(16, 12), (16, 26), (27, 19)], fill=GOLD)
    name = f"{player.name} (viewer)" if player.viewer else player.name
    drawing.text(34 if player.active else PLAYER_X, 19, name, size=16, fill=ink, bold=True)
    if player.rank:
        x = HAND_X + HAND_WIDTH
        drawing.text(x, 19, f"rank {player.rank}", size=16, fill=ink, anchor="end", bold=True)
    with drawing.group(actions=(PLAY_QUEST,) if player.active else ()):
        _draw_quest_pile(drawing, player, view)
    _draw_hand(drawing, player, view)
    drawing.text(LANES_X, 19, "lanes, top card first", size=13, fill=DIM)
    for lane in range(NUM_LANES):
        touched = (PLAY_LANE + lane, TO_LANE + lane) if player.active else ()
        with drawing.group(LANES_X, LANES_Y + lane * LANE_STEP, actions=touched):
            _draw_lane(drawing, lane, player, view)


def _draw_quest_pile(drawing: Drawing, player: PlayerView, view: View) -> None:
    for depth in range(min(2, player.quest_count - 1), 0, -1):
        drawing.rect(
            PLAYER_X + 4 * depth, CARDS_Y - 3 * depth, CARD_WIDTH, CARD_HEIGHT, radius=4, fill=BACK, stroke=BACK_EDGE
        )
    if player.quest_top is None:
        drawing.rect(PLAYER_X, CARDS_Y, CARD_WIDTH, CARD_HEIGHT, radius=4, stroke=EDGE)
    else:
        _draw_card(drawing, PLAYER_X, CARDS_Y, player.quest_top, view, player.announced == "quest")
    drawing.text(PLAYER_X, CAPTIONS_Y, f"quest {player.quest_count}", size=13, fill=INK)
    if player.quest_covered:
        drawing.text(PLAYER_X, COVERED_Y, "covered", size=13, fill=DIM)
        boxes = _covered_boxes(HAND_X, COVERED_Y - COVERED_SIZE / 2, HAND_WIDTH)
        _draw_covered(drawing, boxes, player.quest_covered, view)


def _draw_hand(drawing: Drawing, player: PlayerView, view: View) -> None:
    """Side by side; a large hand overlaps."""
    step = min(CARD_WIDTH + 2, (HAND_WIDTH - CARD_WIDTH) / max(1, len(player.hand) - 1))
    announced = player.hand.index(view.announced) if player.announced == "hand" else None
    for place, card in enumerate(player.hand):
        touched = () if card is None or not player.active else (PLAY_HAND + card, END_WITH + card)
        with drawing.group(actions=touched):
            _draw_card(drawing, HAND_X + place * step, CARDS_Y, card, view, place == announced)
    with drawing.group(actions=(PASS,) if player.active else ()):
        drawing.text(HAND_X, CAPTIONS_Y, f"hand {len(player.hand)}", size=13, fill=INK)


def _draw_lane(drawing: Drawing, lane: int, player: PlayerView, view: View) -> None:
    """In a row: the top card first, then the cards below it as far as there is room."""
    x, y, width, height = top = (14, 0, 32, 24)
    drawing.text(0, y + height / 2, str(lane + 1), size=13, fill=DIM)
    cards = player.lanes[lane]
    if not cards:
        drawing.rect(*top, radius=4, stroke=EDGE)
        return
    _draw_chip(drawing, top, cards[0], view, announced=player.announced == _lane_name(lane))
    covered_x = x + width + 6
    boxes = _covered_boxes(covered_x, y + (height - COVERED_SIZE) / 2, PLAYER_WIDTH - LANES_X - covered_x - GAP)
    _draw_covered(drawing, boxes, cards[1:], view)


def _covered_boxes(x: float, y: float, width: float) -> list[Box]:
    """Places for small chips in a row, with room for a number behind them."""
    count = int((width - MORE_WIDTH) / COVERED_STEP)
    return [(x + place * COVERED_STEP, y, COVERED_SIZE, COVERED_SIZE) for place in range(count)]


def _draw_covered(drawing: Drawing, boxes: Sequence[Box], cards: Sequence[int], view: View) -> None:
    """Small chips for cards that lie below others, and how many there are more."""
    for box, card in zip(boxes, cards, strict=False):
        _draw_chip(drawing, box, card, view, faded=True)
    if len(cards) > len(boxes):
        x, y, width, height = boxes[-1]
        drawing.text(x + width + 4, y + height / 2, f"+{len(cards) - len(boxes)}", size=12, fill=DIM)


def _draw_chip(
    drawing: Drawing, box: Box, card: int, view: View, *,
    value: int | None = None, faded: bool = False, announced: bool = False,
) -> None:  # fmt: skip
    """A small card; a hyperspeed card shows a star, and the ``value`` it stands for if it lies on a ladder."""
    x, y, width, height = box
    colour = blend(TYPE_COLOURS[card], PANEL, 0.4) if faded else TYPE_COLOURS[card]
    edge, edge_width = (GOLD, 3) if announced else (PANEL, 1)
    letters = readable_on(colour, DARK)
    number_x, star_x, middle = x + width / 2, x + width / 2, y + height / 2
    if card != HYPERSPEED:
        value = card
    elif value is not None:  # side by side
        number_x, star_x = number_x + 6, star_x - 13
    with drawing.group(hint=_card_words(card, view, value)):
        drawing.rect(x, y, width, height, radius=4, fill=colour, stroke=edge, stroke_width=edge_width)
        if card == HYPERSPEED:
            drawing.polygon(star(star_x, middle, height * 0.4), fill=letters)
        if value is not None:
            drawing.text(number_x, middle, str(value), size=height * 0.72, fill=letters, anchor="middle", bold=True)


def _draw_card(drawing: Drawing, x: float, y: float, card: Card, view: View, announced: bool = False) -> None:
    """A whole card, face or back."""
    edge, edge_width = (GOLD, 3) if announced else (DARK, 1)
    with drawing.group(x, y, hint=_card_words(card, view)):
        if card is None:
            drawing.rect(0, 0, CARD_WIDTH, CARD_HEIGHT, radius=4, fill=BACK, stroke=BACK_EDGE)
            _draw_kitten(drawing, CARD_WIDTH / 2, CARD_HEIGHT / 2 + 2)
            return
        colour = TYPE_COLOURS[card]
        sky = blend(colour, DARK, 0.65)
        drawing.rect(0, 0, CARD_WIDTH, CARD_HEIGHT, radius=4, fill=sky, stroke=edge, stroke_width=edge_width)
        _draw_symbol(drawing, CARD_WIDTH / 2, CARD_HEIGHT / 2, card)


def _draw_symbol(drawing: Drawing, x: float, y: float, card: int) -> None:
    """A star for hyperspeed, otherwise a planet with its value; the wormhole has rings."""
    colour = TYPE_COLOURS[card]
    if card == HYPERSPEED:
        drawing.polygon(star(x, y, 16), fill=colour)
        return
    if card == WORMHOLE:
        drawing.circle(x, y, 16, stroke=colour, stroke_width=1.5)
    drawing.circle(x, y, 13, fill=colour)
    drawing.text(x, y, str(card), size=16, fill=readable_on(colour, DARK), anchor="middle", bold=True)


def _draw_kitten(drawing: Drawing, x: float, y: float) -> None:
    """The head on the card backs."""
    for side in (-1, 1):
        drawing.polygon([(x + side * 9, y - 12), (x + side * 9, y), (x + side, y - 6)], fill=BACK_MARK)
    drawing.circle(x, y, 9, fill=BACK_MARK)
    for side in (-1, 1):
        drawing.circle(x + side * 3.5, y - 1, 1.5, fill=BACK)


def _card_words(card: Card, view: View, value: int | None = None) -> str:
    """A card in words, shown where the mouse rests on it."""
    if card is None:
        return "a covered card"
    name = view.card_names[card]
    return f"{name} as {value}" if card == HYPERSPEED and value is not None else name
