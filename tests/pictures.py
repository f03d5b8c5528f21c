"""A position's drawing and text, taken apart."""

from __future__ import annotations

from xml.etree import ElementTree

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
    groups = ElementTree.fromstring(position.drawing(seat).svg()).iter(SVG + "g")
    return {int(action) for group in groups for action in group.get("data-actions", "").split()}


def lines(position: Snapshot, seat: int | None = None) -> list[str]:
    return position.text(seat).splitlines()
