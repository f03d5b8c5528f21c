"""Pictures: a display list in user units that becomes SVG or pixels. This module knows no game.

A game's picture.py adds shapes to a :class:`Drawing`, later ones over earlier ones. ``svg()`` and ``rgb()`` then show
the same list: the first needs nothing, the second needs pillow, and neither needs a display or a font file. Groups of
shapes are marked with the actions that touch them, so that a page can be played by clicking on its picture.
"""

from __future__ import annotations

import math
import re
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from html import escape
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from kepler_envs.printable import counted

PILLOW_IS_MISSING = "a picture as an array needs pillow: pip install 'kepler_envs[cli]'"

SUPERSAMPLING = 2
"""Pixels are drawn this many times finer and averaged, which smooths edges."""

FONT_FAMILY = "Helvetica, Arial, sans-serif"
TEXT_FILL, TEXT_SIZE = "#e8ecf8", 13
"""What texts have unless they say otherwise; the document says it once."""
CAPITAL_HEIGHT = 0.7  # of capitals and digits, in units of the font size
BOLD_STROKE = 0.022  # pillow's built-in font has one weight; a stroke of this share of the size makes it bold
LETTER_WIDTH, BOLD_LETTER_WIDTH = 0.55, 0.6  # cautious means: sans-serif fonts differ
ELLIPSIS = "..."

ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
"""Horizontal anchors by SVG's name, and pillow's name for the same on the baseline."""

NAME_LETTERS = 5  # of 64: of a thousand forms two have the same name once in two thousand times
SHARED_FROM = 3
"""Equal shapes from this number on stand in an SVG once, and are only referred to where they lie."""

_COLOUR = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACES = re.compile(r"\s")


class _Shape(Protocol):
    def __hash__(self) -> int: ...

    def svg(self) -> str: ...

    def paint(self, brush: _Brush) -> None: ...


_Parts = tuple[float, float, str]
"""Where a shape lies, and the element as it would read at (0, 0): equal shapes at other places have equal ones."""


@cache
def _name_of(form: str) -> str:
    """An id made of the form, so that two pictures on one page call different forms by different names."""
    return "k" + urlsafe_b64encode(blake2b(form.encode()).digest())[:NAME_LETTERS].decode()


@dataclass(frozen=True, slots=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str | None
    stroke: str | None
    stroke_width: float

    def svg(self) -> str:
        return f"<rect{_attributes(x=self.x, y=self.y)}{self._form()}"

    def parts(self) -> _Parts:
        return self.x, self.y, f"<rect{self._form()}"

    def _form(self) -> str:
        corners = _attributes(rx=self.radius) if self.radius else ""
        return f"{_attributes(width=self.width, height=self.height)}{corners}{_paint(self)}/>"

    def paint(self, brush: _Brush) -> None:
        box = (self.x, self.y, self.x + self.width, self.y + self.height)
        brush.rect(box, self.radius, self.fill, self.stroke, self.stroke_width)


@dataclass(frozen=True, slots=True)
class Circle:
    x: float
    y: float
    radius: float
    fill: str | None
    stroke: str | None
    stroke_width: float

    def svg(self) -> str:
        return f"<circle{_attributes(cx=self.x, cy=self.y)}{self._form()}"

    def parts(self) -> _Parts:
        return self.x, self.y, f"<circle{self._form()}"

    def _form(self) -> str:
        return f"{_attributes(r=self.radius)}{_paint(self)}/>"

    def paint(self, brush: _Brush) -> None:
        box = (self.x - self.radius, self.y - self.radius, self.x + self.radius, self.y + self.radius)
        brush.ellipse(box, self.fill, self.stroke, self.stroke_width)


@dataclass(frozen=True, slots=True)
class Line:
    points: tuple[tuple[float, float], ...]
    stroke: str
    stroke_width: float

    def svg(self) -> str:
        return f'<polyline points="{_coordinates(self.points)}"{self._paint()}/>'

    def parts(self) -> _Parts:
        return *self.points[0], f'<polyline points="{_coordinates(_from_first(self.points))}"{self._paint()}/>'

    def _paint(self) -> str:
        return f' fill="none" stroke="{self.stroke}"{_width(self.stroke_width)}'

    def paint(self, brush: _Brush) -> None:
        brush.line(self.points, self.stroke, self.stroke_width)


@dataclass(frozen=True, slots=True)
class Polygon:
    points: tuple[tuple[float, float], ...]
    fill: str | None
    stroke: str | None
    stroke_width: float

    def svg(self) -> str:
        return f'<polygon points="{_coordinates(self.points)}"{_paint(self)}/>'

    def parts(self) -> _Parts:
        return *self.points[0], f'<polygon points="{_coordinates(_from_first(self.points))}"{_paint(self)}/>'

    def paint(self, brush: _Brush) -> None:
        brush.polygon(self.points, self.fill, self.stroke, self.stroke_width)


@dataclass(frozen=True, slots=True)
class Text:
    x: float
    y: float  # of the baseline
    text: str
    size: float
    fill: str
    anchor: str
    bold: bool

    def svg(self) -> str:
        place = _attributes(x=_tenth(self.x), y=_tenth(self.y))
        size = "" if self.size == TEXT_SIZE else _attributes(font_size=self.size)
        fill = "" if self.fill == TEXT_FILL else f' fill="{self.fill}"'
        anchor = "" if self.anchor == "start" else f' text-anchor="{self.anchor}"'
        weight = ' font-weight="bold"' if self.bold else ""
        spaces = ' xml:space="preserve"' if "  " in self.text else ""
        return f"<text{place}{size}{anchor}{weight}{spaces}{fill}>{escape(self.text, quote=False)}</text>"

    def paint(self, brush: _Brush) -> None:
        brush.text(self.x, self.y, self.text, self.size, self.fill, self.anchor, self.bold)


@dataclass(frozen=True, slots=True)
class _GroupStart:
    hint: str
    actions: tuple[int, ...] = ()

    def svg(self) -> str:
        marks = f' data-actions="{" ".join(map(str, self.actions))}"' if self.actions else ""
        return f"<g{marks}>" + (f"<title>{escape(self.hint, quote=False)}</title>" if self.hint else "")

    def paint(self, brush: _Brush) -> None:
        """Pixels have no hints."""


@dataclass(frozen=True, slots=True)
class _GroupEnd:
    def svg(self) -> str:
        return "</g>"

    def paint(self, brush: _Brush) -> None:
        """Pixels have no hints."""


class _Item:
    """A shape on a display list, with its SVG once that was asked for.

    Attributes:
        line: the element. form: what may stand in the document once ("" for what may not: programs and people look for
            texts). use: the element that refers to it.
        sign: what two pictures of a game are compared by.
    """

    __slots__ = ("form", "line", "shape", "sign", "use")

    def __init__(self, shape: _Shape) -> None:
        self.shape = shape
        self.line = ""

    def write(self) -> _Item:
        self.form, self.use, self.line, self.sign = _write(self.shape)
        return self


MOST_WRITTEN = 2**15
"""Shapes whose SVG is remembered: most of a game's stay where they are from picture to picture."""


@lru_cache(maxsize=MOST_WRITTEN)
def _write(shape: _Shape) -> tuple[str, str, str, str]:
    """The form, the use, the line and the sign of a shape: see :class:`_Item`."""
    form = use = ""
    if isinstance(shape, (Rect, Circle, Line, Polygon)):
        x, y, form = shape.parts()
        use = f'<use href="#{_name_of(form)}"{_attributes(x=_tenth(x), y=_tenth(y))}/>'
    line = sign = shape.svg()
    if isinstance(shape, _GroupStart):
        sign = shape.hint
    elif isinstance(shape, Text):
        sign = f"{shape.x} {shape.y} {shape.text}"
    return form, use, line, sign


_KEPT: dict[Hashable, list[_Item]] = {}
MOST_KEPT = 2000
"""Parts of pictures that :meth:`Drawing.reuse` remembers; then it starts anew."""


class Drawing:
    """A picture in the making.

    Lengths are user units (pixels at scale 1) from the upper left corner, y downwards; colours are ``#rrggbb``;
    a stroke lies half inside and half outside of its outline. A shape without fill and stroke is not visible.

    Args:
        width, height: size of the picture.
        title: what it shows, in a few words: the SVG's title, a window's caption.
        background: colour.

    Raises:
        ValueError: here and in every method: a size that is not positive, a colour or an anchor that does not exist.
    """

    def __init__(self, width: float, height: float, title: str, background: str = "#ffffff") -> None:
        self.width = _positive("width", width)
        self.height = _positive("height", height)
        self.title = _clean(title)
        self.background = _colour("background", background)
        self._items: list[_Item] = []
        self._origin = (0.0, 0.0)

    def __repr__(self) -> str:
        return f"<Drawing {self.title!r}, {self.width:g} x {self.height:g}, {len(self._items)} items>"

    # ------------------------------------------------------------ adding shapes

    def rect(
        self, x: float, y: float, width: float, height: float, *, radius: float = 0,
        fill: str | None = None, stroke: str | None = None, stroke_width: float = 1,
    ) -> None:  # fmt: skip
        """A rectangle from its upper left corner; ``radius`` rounds the corners."""
        _positive("width", width)
        _positive("height", height)
        if radius:
            _positive("radius", radius)
        x, y = self._place(x, y)
        self._add(Rect(x, y, width, height, radius, *_style(fill, stroke, stroke_width)))

    def circle(
        self, x: float, y: float, radius: float, *,
        fill: str | None = None, stroke: str | None = None, stroke_width: float = 1,
    ) -> None:  # fmt: skip
        """A circle around (x, y)."""
        _positive("radius", radius)
        x, y = self._place(x, y)
        self._add(Circle(x, y, radius, *_style(fill, stroke, stroke_width)))

    def line(self, points: Sequence[tuple[float, float]], *, stroke: str, stroke_width: float = 1) -> None:
        """A line through two or more points."""
        places = self._places(points, at_least=2)
        self._add(Line(places, _colour("stroke", stroke), _positive("stroke_width", stroke_width)))

    def polygon(
        self, points: Sequence[tuple[float, float]], *,
        fill: str | None = None, stroke: str | None = None, stroke_width: float = 1,
    ) -> None:  # fmt: skip
        """A closed shape through three or more points."""
        self._add(Polygon(self._places(points, at_least=3), *_style(fill, stroke, stroke_width)))

    def text(
        self, x: float, y: float, text: str, *, size: float, fill: str,
        anchor: str = "start", bold: bool = False, width: float = math.inf,
    ) -> None:  # fmt: skip
        """One line of text.

        Args:
            x: where the text has its ``anchor``: ``start``, ``middle`` or ``end``.
            y: the middle of its capital letters.
            size: font size.
            width: room there is; text that probably does not fit is shortened.
        """
        if anchor not in ANCHORS:
            raise ValueError(f"anchor {anchor!r} is not one of {', '.join(ANCHORS)}")
        x, y = self._place(x, y + _positive("size", size) * CAPITAL_HEIGHT / 2)
        shown = _shorten(_clean(text), width / text_width("n", size, bold))
        self._add(Text(x, y, shown, size, _colour("fill", fill), anchor, bold))

    @contextmanager
    def group(self, x: float = 0, y: float = 0, hint: str = "", actions: Iterable[int] = ()) -> Iterator[None]:
        """Shapes added inside are moved by (x, y).

        Args:
            hint: shown where the mouse rests on them (SVG only).
            actions: ids that touch what the shapes stand for, legal or not (SVG only, as ``data-actions``).
        """
        before = self._origin
        self._origin = self._place(x, y)
        start = _GroupStart(_clean(hint), tuple(actions))
        marked = bool(start.hint or start.actions)
        if marked:
            self._add(start)
        try:
            yield
        finally:
            if marked:
                self._add(_GroupEnd())
            self._origin = before

    def reuse(self, key: Hashable, draw: Callable[[], None]) -> None:
        """Add what ``draw`` adds; where an equal ``key`` was drawn at the same place before, what was added then.

        Args:
            key: all that the shapes depend on, and a name for what they show.
            draw: adds shapes to this drawing.
        """
        whole = (self._origin, key)
        kept = _KEPT.get(whole)
        if kept is not None:
            self._items += kept
            return
        start = len(self._items)
        draw()
        if len(_KEPT) >= MOST_KEPT:
            _KEPT.clear()
        _KEPT[whole] = self._items[start:]

    def _add(self, shape: _Shape) -> None:
        self._items.append(_Item(shape))

    def _place(self, x: float, y: float) -> tuple[float, float]:
        return x + self._origin[0], y + self._origin[1]

    def _places(self, points: Sequence[tuple[float, float]], at_least: int) -> tuple[tuple[float, float], ...]:
        if len(points) < at_least:
            raise ValueError(f"{counted(len(points), 'point')}; at least {at_least} are needed")
        return tuple(self._place(x, y) for x, y in points)

    # ------------------------------------------------------------ output

    def svg(self) -> str:
        """The picture as a self-contained SVG document: equal drawings give equal bytes."""
        size = _attributes(width=self.width, height=self.height)
        head = [
            f'<svg xmlns="http://www.w3.org/2000/svg"{size} viewBox="0 0 {_number(self.width)} {_number(self.height)}"'
            f' role="img" font-family="{FONT_FAMILY}" font-size="{TEXT_SIZE}" fill="{TEXT_FILL}"'
            ' stroke-linejoin="round">',
            f"<title>{escape(self.title, quote=False)}</title>",
            f'<rect{size} fill="{self.background}"/>',
        ]
        items = self._written()
        often = Counter([item.form for item in items])
        shared = {form for form, count in often.items() if form and count >= SHARED_FROM}
        if shared:
            head += ["<defs>", *(_definition(form) for form in often if form in shared), "</defs>"]
        body = [item.use if item.form in shared else item.line for item in items]
        return "\n".join([*head, *body, "</svg>"]) + "\n"

    def _written(self) -> list[_Item]:
        return [item if item.line else item.write() for item in self._items]

    def changed_groups(self, before: Drawing) -> list[int]:
        """The groups of this picture that show what ``before`` does not show.

        A group counts by its own hint and shapes, not by those of groups inside it. The colour of a text does not
        count: it mostly says whose turn it is.

        Returns:
            Their numbers, in the order of ``<g>`` in :meth:`svg`, from 0.
        """
        known = {item.sign for item in before._written()}
        known.add("")  # a group without a hint is no news
        changed: set[int] = set()
        inside: list[int] = []
        count = 0
        for item in self._written():
            kind = type(item.shape)
            if kind is _GroupEnd:
                inside.pop()
                continue
            if kind is _GroupStart:
                inside.append(count)
                count += 1
            if inside and item.sign not in known:
                changed.add(inside[-1])
        return sorted(changed)

    def rgb(self, scale: float = 1.0) -> np.ndarray:
        """The picture as pixels.

        Args:
            scale: pixels per user unit.

        Returns:
            A new uint8 array (height, width, 3), the size rounded to whole pixels.

        Raises:
            ImportError: pillow is not installed.
        """
        _positive("scale", scale)
        width, height = (max(1, round(length * scale)) for length in (self.width, self.height))
        brush = _Brush(width, height, scale, self.background)
        for item in self._items:
            item.shape.paint(brush)
        return brush.pixels()


def _definition(form: str) -> str:
    """The element that others refer to."""
    tag, rest = form.split(" ", 1)
    return f'{tag} id="{_name_of(form)}" {rest}'


def text_width(text: str, size: float, bold: bool = False) -> float:
    """A cautious estimate of the width of ``text``: the reader of an SVG chooses the font."""
    return len(text) * size * (BOLD_LETTER_WIDTH if bold else LETTER_WIDTH)


def blend(colour: str, other: str, share: float) -> str:
    """The colour that is ``share`` (0..1) of the way from ``colour`` to ``other``."""
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


@cache
def readable_on(colour: str, dark: str = "#000000", light: str = "#ffffff") -> str:
    """Whichever of ``dark`` and ``light`` has the greater contrast to ``colour``."""
    return dark if contrast(colour, dark) >= contrast(colour, light) else light


def contrast(colour: str, other: str) -> float:
    """The contrast ratio of two colours as WCAG 2 has it, 1 to 21; text needs 4.5."""
    high, low = sorted((_luminance(colour), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """The relative luminance of a colour, 0 (black) to 1 (white)."""
    shares = (channel / 255 for channel in _channels(colour))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def star(x: float, y: float, radius: float, tips: int = 5, inner: float = 0.45) -> list[tuple[float, float]]:
    """The corners of a star around (x, y) with one tip upwards; ``inner`` is the share of the radius between tips."""
    corners = []
    for corner in range(2 * tips):
        angle = corner * math.pi / tips - math.pi / 2
        length = radius if corner % 2 == 0 else radius * inner
        corners.append((x + length * math.cos(angle), y + length * math.sin(angle)))
    return corners


# ---------------------------------------------------------------- pixels


class _Brush:
    """Paints shapes in user units on a pillow image that is SUPERSAMPLING times finer than the result."""

    def __init__(self, width: int, height: int, scale: float, background: str) -> None:
        pillow = _pillow()
        self._zoom = scale * SUPERSAMPLING
        self._image = pillow.Image.new("RGB", (width * SUPERSAMPLING, height * SUPERSAMPLING), background)
        self._draw = pillow.ImageDraw.Draw(self._image)

    def pixels(self) -> np.ndarray:
        return np.array(self._image.reduce(SUPERSAMPLING), dtype=np.uint8)

    def rect(
        self, box: Sequence[float], radius: float, fill: str | None, stroke: str | None, stroke_width: float
    ) -> None:
        outer, line = self._stroked_box(box, stroke, stroke_width)
        if radius:
            half = stroke_width / 2 if stroke else 0
            self._draw.rounded_rectangle(outer, (radius + half) * self._zoom, fill, stroke, line)
        else:
            self._draw.rectangle(outer, fill, stroke, line)

    def ellipse(self, box: Sequence[float], fill: str | None, stroke: str | None, stroke_width: float) -> None:
        outer, line = self._stroked_box(box, stroke, stroke_width)
        self._draw.ellipse(outer, fill, stroke, line)

    def line(self, points: Sequence[tuple[float, float]], stroke: str, stroke_width: float) -> None:
        self._draw.line(self._scaled(points), stroke, self._line_width(stroke_width), "curve")

    def polygon(
        self, points: Sequence[tuple[float, float]], fill: str | None, stroke: str | None, stroke_width: float
    ) -> None:
        if fill:
            self._draw.polygon(self._scaled(points), fill)
        if stroke:  # pillow's own wide outlines take a mask of the whole image for each polygon
            self.line([*points, points[0], points[1]], stroke, stroke_width)

    def text(self, x: float, y: float, text: str, size: float, fill: str, anchor: str, bold: bool) -> None:
        size *= self._zoom
        stroke = size * BOLD_STROKE if bold else 0
        place = (x * self._zoom, y * self._zoom)
        self._draw.text(place, text, fill, _font(size), ANCHORS[anchor], stroke_width=stroke, stroke_fill=fill)

    def _stroked_box(
        self, box: Sequence[float], stroke: str | None, stroke_width: float
    ) -> tuple[tuple[int, int, int, int], int]:
        """The box with its stroke in fine pixels, last ones included, and the stroke's width in them."""
        half = stroke_width / 2 if stroke else 0
        left, top = round((box[0] - half) * self._zoom), round((box[1] - half) * self._zoom)
        right, bottom = round((box[2] + half) * self._zoom) - 1, round((box[3] + half) * self._zoom) - 1
        return (left, top, max(left, right), max(top, bottom)), self._line_width(stroke_width)

    def _scaled(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(x * self._zoom, y * self._zoom) for x, y in points]

    def _line_width(self, width: float) -> int:
        return max(1, round(width * self._zoom))


def _pillow() -> ModuleType:
    try:
        import PIL
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont
    except ImportError as problem:
        raise ImportError(PILLOW_IS_MISSING) from problem
    return PIL


@cache
def _font(size: float) -> Any:
    return _pillow().ImageFont.load_default(size)


# ---------------------------------------------------------------- checks and SVG attributes


def _positive(name: str, value: float) -> float:
    if not value > 0 or math.isinf(value):
        raise ValueError(f"{name} is {value}; it must be a positive number")
    return value


def _colour(name: str, colour: str) -> str:
    if not (isinstance(colour, str) and _COLOUR.fullmatch(colour)):
        raise ValueError(f"{name} is {colour!r}; a colour must read '#rrggbb'")
    return colour


def _style(fill: str | None, stroke: str | None, stroke_width: float) -> tuple[str | None, str | None, float]:
    return (
        None if fill is None else _colour("fill", fill),
        None if stroke is None else _colour("stroke", stroke),
        _positive("stroke_width", stroke_width),
    )


def _channels(colour: str) -> tuple[int, int, int]:
    _colour("colour", colour)
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _clean(text: str) -> str:
    """One line, without what XML cannot hold: names may come from anybody's component file."""
    return _NOT_IN_XML.sub("\ufffd", _SPACES.sub(" ", text))


def _shorten(text: str, letters: float) -> str:
    if len(text) <= letters:
        return text
    return text[: max(1, int(letters) - len(ELLIPSIS))].rstrip() + ELLIPSIS


def _tenth(value: float) -> float:
    """Where something lies may be rounded more than its form, of which neighbours must fit."""
    return round(value, 1)


def _number(value: float) -> str:
    return f"{value + 0.0:.2f}".rstrip("0").rstrip(".")  # -0.0 is 0


def _attributes(**values: float) -> str:
    return "".join(f' {name.replace("_", "-")}="{_number(value)}"' for name, value in values.items())


def _coordinates(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _from_first(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points as seen from the first one; what rounding leaves of a difference is cut off."""
    left, top = points[0]
    return [(round(x - left, 6) + 0.0, round(y - top, 6) + 0.0) for x, y in points]


def _paint(shape: Rect | Circle | Polygon) -> str:
    fill = f' fill="{shape.fill or "none"}"'
    if shape.stroke is None:
        return fill
    return f'{fill} stroke="{shape.stroke}"{_width(shape.stroke_width)}'


def _width(width: float) -> str:
    """The attribute of a stroke's width; 1 is SVG's own default."""
    return "" if width == 1 else _attributes(stroke_width=width)
