"""A position's drawing and text, taken apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from kepler_envs.engine.drawing import Circle, Line, Polygon, Rect, Text, text_width
from kepler_envs.engine.snapshot import Snapshot

SVG = "{http://www.w3.org/2000/svg}"


def labels(position: Snapshot, seat: int | None = None) -> list[str]:
    root = ElementTree.fromstring(position.drawing(seat).svg())
    return [element.text or "" for element in root.iter(SVG + "text")]


def hints(position: Snapshot, seat: int | None = None) -> list[str]:
    groups = ElementTree.fromstring(position.drawing(seat).svg()).iter(SVG + "g")
    return [group.findtext(SVG + "title") or "" for group in groups]


def marked(position: Snapshot, seat: int | None) -> set[int]:
    """All ids that groups of the picture are marked with."""
    return set(marks(position, seat))


def marks(position: Snapshot, seat: int | None) -> Counter[int]:
    """The same, and how many groups each marks."""
    groups = ElementTree.fromstring(position.drawing(seat).svg()).iter(SVG + "g")
    return Counter(int(action) for group in groups for action in group.get("data-actions", "").split())


def lines(position: Snapshot, seat: int | None = None) -> list[str]:
    return position.text(seat).splitlines()


def shapes(position: Snapshot, words: str) -> list[list[Any]]:
    """The shapes of each group whose hint has these words. Groups inside it end it."""
    found: list[list[Any]] = []
    inside = False
    for item in position.drawing()._items:
        if not isinstance(item.shape, (Circle, Line, Polygon, Rect, Text)):
            inside = words in getattr(item.shape, "hint", "")
            found += [[]] if inside else []
        elif inside:
            found[-1].append(item.shape)
    return found


def inks(position: Snapshot, seat: int | None = None) -> Iterator[tuple[str, str, str]]:
    """Each text of a position's drawing, its colour, and the colour of what is behind it."""
    drawing = position.drawing(seat)
    filled: list[Any] = []
    for item in drawing._items:
        shape = item.shape
        if isinstance(shape, Text):
            x, y = shape.x + {"start": 3, "middle": 0, "end": -3}[shape.anchor], shape.y - shape.size / 3
            behind = (below.fill for below in reversed(filled) if covers(below, x, y))
            yield shape.text, shape.fill, next(behind, drawing.background)
        elif isinstance(shape, (Circle, Polygon, Rect)) and shape.fill:
            filled.append(shape)


def covers(shape: Circle | Polygon | Rect, x: float, y: float) -> bool:
    """Whether a point is inside a shape."""
    if isinstance(shape, Circle):
        return math.hypot(x - shape.x, y - shape.y) <= shape.radius
    if isinstance(shape, Rect):
        return 0 <= x - shape.x <= shape.width and 0 <= y - shape.y <= shape.height
    edges = zip(shape.points, (*shape.points[1:], shape.points[0]), strict=True)
    right = [a + (y - b) * (c - a) / (d - b) > x for (a, b), (c, d) in edges if (b > y) != (d > y)]
    return sum(right) % 2 == 1


def sides(shape: Any) -> tuple[float, float]:
    """Where a shape begins and ends from left to right."""
    if isinstance(shape, (Line, Polygon)):
        return min(x for x, _ in shape.points), max(x for x, _ in shape.points)
    if isinstance(shape, Circle):
        return shape.x - shape.radius, shape.x + shape.radius
    if isinstance(shape, Rect):
        return shape.x, shape.x + shape.width
    width = text_width(shape.text, shape.size, shape.bold)
    left = shape.x - {"start": 0, "middle": width / 2, "end": width}[shape.anchor]
    return left, left + width
