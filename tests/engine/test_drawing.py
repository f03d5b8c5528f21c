"""The display list: the same shapes as SVG and as pixels, and the window that shows them."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from kepler_envs.engine import render_window
from kepler_envs.engine.drawing import Drawing, blend, readable_on, star, text_width
from tests.pictures import SVG

RED, GREEN, BLUE, BLACK = "#ff0000", "#00ff00", "#0000ff", "#000000"


def elements(drawing: Drawing, name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawing.svg()).iter(SVG + name))


def pixel(rgb: np.ndarray, x: int, y: int) -> str:
    return "#" + bytes(rgb[y, x]).hex()


def every_shape() -> Drawing:
    drawing = Drawing(200, 100, "every shape", "#ffffff")
    drawing.rect(10, 10, 40, 20, fill=RED)
    drawing.rect(10, 40, 40, 20, radius=6, fill=RED, stroke=BLUE, stroke_width=4)
    drawing.circle(80, 30, 15, fill=GREEN, stroke=BLACK)
    drawing.line([(10, 80), (60, 80), (60, 95)], stroke=BLUE, stroke_width=4)
    drawing.polygon([(110, 10), (150, 10), (130, 50)], fill=BLUE, stroke=RED, stroke_width=2)
    drawing.text(150, 80, "planet", size=20, fill=BLACK, anchor="middle", bold=True)
    return drawing


def test_svg_is_a_self_contained_document_of_the_given_size():
    root = ElementTree.fromstring(every_shape().svg())
    assert root.tag == SVG + "svg"
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("200", "100", "0 0 200 100")
    assert root.findtext(SVG + "title") == "every shape"
    assert "sans-serif" in root.get("font-family")
    assert "href" not in every_shape().svg()


def test_svg_keeps_the_shapes_in_order():
    names = [element.tag.removeprefix(SVG) for element in ElementTree.fromstring(every_shape().svg())]
    assert names == ["title", "rect", "rect", "rect", "circle", "polyline", "polygon", "text"]


def test_equal_shapes_stand_in_the_document_once():
    """From the third on a shape is defined once and used where it lies; pixels are the same."""
    drawing = Drawing(100, 100, "shared", "#ffffff")
    for number in range(4):
        with drawing.group(20 * number + 5.123, 10, actions=(number,)):
            drawing.polygon([(0, 0), (10, 0), (5, 8)], fill=RED, stroke=BLUE)
            drawing.circle(5, 30, 4, fill=GREEN)
            drawing.text(5, 50, "same", size=10, fill=BLACK)
    drawing.rect(0, 80, 10, 10, fill=BLUE)
    drawing.rect(20, 80, 10, 10, fill=BLUE)
    root = ElementTree.fromstring(drawing.svg())
    names = {shape.get("id"): shape.tag.removeprefix(SVG) for shape in root.find(SVG + "defs")}
    assert sorted(names.values()) == ["circle", "polygon"]
    for group in root.iter(SVG + "g"):
        used = [(use.get("href")[1:], use.get("x"), use.get("y")) for use in group.iter(SVG + "use")]
        left = round(20 * int(group.get("data-actions")) + 5.123, 1)
        assert [(names[name], float(x), float(y)) for name, x, y in used] == [
            ("polygon", left, 10), ("circle", round(left + 5, 1), 40),
        ]  # fmt: skip
    assert len(elements(drawing, "rect")) == 3 and len(elements(drawing, "text")) == 4
    other = Drawing(100, 100, "other", "#ffffff")
    for x in (10, 20, 30):
        other.polygon([(x, 0), (x + 10, 0), (x + 5, 8)], fill=GREEN)
    assert not {shape.get("id") for shape in ElementTree.fromstring(other.svg()).find(SVG + "defs")} & set(names)
    assert pixel(drawing.rgb(), 10, 40) == GREEN and pixel(drawing.rgb(), 70, 40) == GREEN


def test_changed_groups_are_those_that_show_something_new():
    def picture(score: str, colour: str, ship: float) -> Drawing:
        drawing = Drawing(100, 100, "changes", "#ffffff")
        drawing.text(0, 0, f"situation {score}", size=5, fill=BLACK)  # in no group
        with drawing.group(actions=(1, 2)):  # 0
            drawing.text(0, 10, score, size=5, fill=BLACK)
            with drawing.group(hint="inner"):  # 1
                drawing.circle(5, 20, 3, fill=colour)
        with drawing.group(hint=f"ship at {ship}"):  # 2
            drawing.circle(5, 50, 3, fill=RED)
        with drawing.group(actions=(3,)):  # 3
            drawing.text(0, 60, "name", size=5, fill=colour)
        return drawing

    before = picture("1", RED, 5)
    assert before.changed_groups(picture("1", RED, 5)) == []
    assert picture("2", RED, 5).changed_groups(before) == [0]
    assert picture("1", BLUE, 5).changed_groups(before) == [1]
    assert picture("1", RED, 6).changed_groups(before) == [2]


def test_texts_and_titles_are_escaped_and_cleaned():
    drawing = Drawing(10, 10, "a < b & c", BLACK)
    drawing.text(0, 0, 'x < "y"\n\x01', size=5, fill=RED)
    with drawing.group(hint="<hint>"):
        drawing.circle(5, 5, 1, fill=RED)
    root = ElementTree.fromstring(drawing.svg())
    assert root.findtext(SVG + "title") == "a < b & c"
    assert root.findtext(SVG + "text") == 'x < "y" \ufffd'
    assert root.find(f"{SVG}g/{SVG}title").text == "<hint>"


def test_rgb_has_the_size_times_the_scale():
    drawing = every_shape()
    for scale, shape in ((1.0, (100, 200, 3)), (2.0, (200, 400, 3)), (0.333, (33, 67, 3))):
        rgb = drawing.rgb(scale)
        assert (rgb.shape, rgb.dtype) == (shape, np.uint8)
        assert rgb.flags.writeable and rgb.flags.c_contiguous


def test_rgb_shows_every_shape_where_it_is():
    rgb = every_shape().rgb()
    expected = {
        (5, 5): "#ffffff", (10, 10): RED, (49, 29): RED, (50, 30): "#ffffff",  # square corners
        (30, 50): RED, (30, 40): BLUE, (9, 50): BLUE, (8, 39): "#ffffff",  # a stroke around rounded corners
        (80, 30): GREEN, (80, 50): "#ffffff",
        (20, 79): BLUE, (20, 84): "#ffffff", (60, 90): BLUE,
        (130, 20): BLUE, (130, 10): RED, (112, 40): "#ffffff",
    }  # fmt: skip
    assert {place: pixel(rgb, *place) for place in expected} == expected


def test_edges_are_smooth():
    drawing = Drawing(20, 20, "disc", BLACK)
    drawing.circle(10, 10, 8, fill="#ffffff")
    assert len(np.unique(drawing.rgb())) > 2


def test_text_lies_around_its_anchor_and_its_middle():
    for anchor, low, high in (("start", 100, 150), ("middle", 75, 125), ("end", 50, 100)):
        drawing = Drawing(200, 60, "text", "#ffffff")
        drawing.text(100, 30, "HHHH", size=16, fill=BLACK, anchor=anchor)
        rows, columns = np.nonzero(drawing.rgb()[:, :, 0] < 128)
        assert low <= columns.min() and columns.max() <= high
        assert abs((rows.min() + rows.max()) / 2 - 30) <= 1


def test_text_that_does_not_fit_is_shortened():
    drawing = Drawing(200, 60, "text", "#ffffff")
    drawing.text(0, 30, "a name that is far too long", size=10, fill=BLACK, width=60)
    drawing.text(0, 30, "short", size=10, fill=BLACK, width=60)
    long, short = (element.text for element in elements(drawing, "text"))
    assert long.endswith("...") and text_width(long, 10) <= 60
    assert short == "short"


def test_groups_move_their_shapes_and_nest():
    drawing = Drawing(100, 100, "groups", "#ffffff")
    with drawing.group(10, 20):
        with drawing.group(5, 5, hint="inner"):
            drawing.rect(0, 0, 10, 10, fill=RED)
        drawing.rect(50, 50, 10, 10, fill=BLUE)
    drawing.rect(0, 0, 5, 5, fill=GREEN)
    places = [(element.get("x"), element.get("y")) for element in elements(drawing, "rect")[1:]]
    assert places == [("15", "25"), ("60", "70"), ("0", "0")]
    assert pixel(drawing.rgb(), 16, 26) == RED


def test_group_ends_when_its_body_fails():
    drawing = Drawing(100, 100, "groups", "#ffffff")
    with pytest.raises(RuntimeError), drawing.group(10, 10, hint="broken"):
        raise RuntimeError
    drawing.rect(0, 0, 1, 1, fill=RED)
    assert elements(drawing, "rect")[-1].get("x") == "0"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda d: d.rect(0, 0, 5, 5, fill="red"), "#rrggbb"),
        (lambda d: d.rect(0, 0, 5, 5, radius=-1, fill=RED), "radius is -1"),
        (lambda d: d.circle(0, 0, -1, fill=RED), "radius is -1"),
        (lambda d: d.line([(0, 0), (1, 1)], stroke=None), "stroke is None; a colour must read '#rrggbb'"),
        (lambda d: d.circle(0, 0, 1, stroke=RED, stroke_width=0), "stroke_width is 0"),
        (lambda d: d.line([(0, 0)], stroke=RED), "at least 2"),
        (lambda d: d.polygon([(0, 0), (1, 1)], fill=RED), "at least 3"),
        (lambda d: d.text(0, 0, "x", size=5, fill=RED, anchor="left"), "start, middle, end"),
        (lambda d: d.rgb(0), "scale is 0"),
        (lambda d: Drawing(0, 5, "flat"), "width is 0"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong(Drawing(10, 10, "wrong"))


def test_without_pillow_svg_works_and_rgb_says_what_to_install(monkeypatch):
    drawing = every_shape()
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert elements(drawing, "text")
    with pytest.raises(ImportError, match=r"pip install 'kepler_envs\[cli\]'"):
        drawing.rgb()


def test_colour_helpers():
    assert blend("#000000", "#ffffff", 0) == "#000000"
    assert blend("#000000", "#ff8000", 0.5) == "#804000"
    assert readable_on("#ffffff") == "#000000" and readable_on("#000040") == "#ffffff"


def test_star_points_upwards():
    corners = star(10, 20, 5)
    assert len(corners) == 10
    assert corners[0] == pytest.approx((10, 15))
    assert min(y for _, y in corners) == pytest.approx(15)


# ---------------------------------------------------------------- the window


@pytest.fixture
def no_display(monkeypatch):
    """Neither a display nor anything known about windows yet."""
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(render_window, "_unavailable", False)
    monkeypatch.setattr(render_window, "_windows", {})


def picture() -> np.ndarray:
    return np.zeros((4, 6, 3), np.uint8)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems need no DISPLAY")
def test_pixels_need_no_display_and_a_window_without_one_is_refused_once(no_display, capsys):
    assert every_shape().rgb().any()
    assert render_window.show(picture(), "a") is False
    assert "no window can be opened" in capsys.readouterr().err
    assert render_window.show(picture(), "b") is False
    assert capsys.readouterr().err == ""
    render_window.close()


def test_a_window_without_tkinter_is_refused(no_display, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tkinter", None)
    assert render_window.show(picture(), "a") is False
    assert "tkinter" in capsys.readouterr().err


def test_a_window_is_opened_once_per_title_updated_in_place_and_closed(no_display, monkeypatch):
    class Recorder:
        """Stands for the tkinter window."""

        opened: list[str] = []

        def __init__(self, title: str) -> None:
            self.title, self.pictures, self.closed = title, [], False
            self.opened.append(title)

        def update(self, rgb: np.ndarray) -> None:
            self.pictures.append(rgb)

        def close(self) -> None:
            self.closed = True

    pytest.importorskip("tkinter")
    monkeypatch.setattr(render_window, "_Window", Recorder)
    assert (
        render_window.show(picture(), "a") and render_window.show(picture(), "a") and render_window.show(picture(), "b")
    )
    assert Recorder.opened == ["a", "b"]
    first, second = render_window._windows["a"], render_window._windows["b"]
    assert (len(first.pictures), len(second.pictures)) == (2, 1)
    render_window.close("a")
    assert (first.closed, second.closed) == (True, False)
    render_window.close()
    assert second.closed and not render_window._windows


@pytest.mark.parametrize("wrong", [np.zeros((4, 6), np.uint8), np.zeros((4, 6, 3)), np.zeros((4, 6, 4), np.uint8)])
def test_a_window_takes_pictures_only(wrong):
    with pytest.raises(ValueError, match="uint8"):
        render_window.show(wrong, "a")


def test_groups_are_marked_with_actions():
    drawing = Drawing(10, 10, "marks", BLACK)
    with drawing.group(actions=(3, 17)), drawing.group(hint="inner", actions=[5]):
        drawing.circle(5, 5, 1, fill=RED)
    with drawing.group(1, 1):
        drawing.circle(5, 5, 1, fill=BLUE)
    groups = elements(drawing, "g")
    assert [group.get("data-actions") for group in groups] == ["3 17", "5"]
    assert [group.findtext(SVG + "title") for group in groups] == [None, "inner"]


def test_spaces_in_a_row_are_kept():
    drawing = Drawing(10, 10, "spaces", BLACK)
    drawing.text(0, 0, "a   b", size=5, fill=RED)
    drawing.text(0, 0, "a b", size=5, fill=RED)
    space = "{http://www.w3.org/XML/1998/namespace}space"
    assert [text.get(space) for text in elements(drawing, "text")] == ["preserve", None]
