"""What the pictures of the games share."""

from __future__ import annotations

from kepler_envs.engine.drawing import Circle, Drawing, Rect, Text
from kepler_envs.engine.panels import EDGE, GOLD, STARS, draw_header, draw_panel


def drawing() -> Drawing:
    return Drawing(1280, 400, "Panels")


def texts(picture: Drawing) -> list[str]:
    return [item.shape.text for item in picture._items if isinstance(item.shape, Text)]


def test_a_header_has_a_third_line_where_there_is_room_for_it() -> None:
    low, high = drawing(), drawing()
    left, right = ("Title", "player_0: choose"), ("seen by player_1", "turn 3")
    draw_header(low, 72, left, right, room=600)
    draw_header(high, 96, left, right, room=600, detail="what was chosen", actions=(4, 5))
    assert texts(low) == [*left, *right]
    assert texts(high) == [*left, "what was chosen", *right]
    assert 'data-actions="4 5"' in high.svg() and "data-actions" not in low.svg()


def test_stars_stay_within_the_header() -> None:
    picture = drawing()
    draw_header(picture, 72, ("", ""), ("", ""), room=600)
    stars = [item.shape for item in picture._items if isinstance(item.shape, Circle)]
    assert len(stars) == STARS
    assert all(0 <= one.x <= 1280 and 0 <= one.y <= 72 for one in stars)


def test_a_panel_is_lit_by_its_edge() -> None:
    picture = drawing()
    draw_panel(picture, 200, 100, "Deck")
    draw_panel(picture, 200, 100, edge=GOLD)
    plain, lit = (item.shape for item in picture._items if isinstance(item.shape, Rect))
    assert (plain.stroke, plain.stroke_width) == (EDGE, 1)
    assert (lit.stroke, lit.stroke_width) == (GOLD, 2)
    assert texts(picture) == ["Deck"]
