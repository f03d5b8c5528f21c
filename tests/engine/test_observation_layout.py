"""Tables of entities in a flat vector."""

from __future__ import annotations

import enum

import numpy as np
import pytest

from kepler_envs.engine.observation import (
    COUNT,
    FLAG,
    LABEL,
    NUMBER,
    REFERENCE,
    Layout,
    fixed_table,
    piece,
    reference,
    table,
)

PLACES = fixed_table(
    "places",
    [piece("zone", LABEL, 2, "where"), piece("at", NUMBER, 9, "row and column", shape=2)],
    np.array([[0, 1, 1], [1, 2, 1], [2, 9, 9], [0, 3, 3]]),
)


@pytest.fixture
def layout() -> Layout:
    return Layout(
        [
            table("game", 1, [piece("phase", LABEL, 3, "the phase"), piece("hand", COUNT, 7, "by type", shape=4)]),
            table("seats", 3, [piece("here", FLAG, 1, "taken"), piece("lanes", COUNT, 9, "cards", shape=2)]),
            table("ships", 2, [reference("seat", "seats", "whose"), reference("place", "places", "where")]),
            table("seats", 3, [piece("lead", NUMBER, 5, "ahead of all", low=-5)], derived=True),
        ],
        [PLACES],
    )


def test_places(layout: Layout) -> None:
    assert layout.size == 5 + 9 + 4 + 3
    assert layout["game.phase"].indices().tolist() == [0]
    assert layout["game.hand"].indices().tolist() == [[1, 2, 3, 4]]
    assert layout["seats.here"].indices().tolist() == [5, 8, 11]
    assert layout["seats.lanes"].indices().tolist() == [[6, 7], [9, 10], [12, 13]]
    assert layout["ships.place"].indices().tolist() == [15, 17]
    assert layout["seats.lead"].indices().tolist() == [18, 19, 20]
    assert len(layout) == 7
    assert layout.begin("seats") == (5, 3) and layout.begin("seats", derived=True) == (18, 1)


def test_fields_one_after_the_other() -> None:
    """Where each field lies together, and how a kernel steps through it."""
    fields = [piece("hand", COUNT, 9, "cards"), piece("lanes", COUNT, 9, "cards", shape=2)]
    layout = Layout(
        [table("seats", 3, fields, by_field=True), table("game", 1, [piece("phase", LABEL, 3, "the phase")])]
    )
    assert layout["seats.hand"].indices().tolist() == [0, 1, 2]
    assert layout["seats.lanes"].indices().tolist() == [[3, 6], [4, 7], [5, 8]]
    assert layout["game.phase"].indices().tolist() == [9] and layout.size == 10
    assert layout.begin("seats") == (0, 1)
    assert layout["seats.lanes"].view(np.arange(10, dtype=np.int16)).tolist() == [[3, 6], [4, 7], [5, 8]]


def test_tables_hold_facts_and_what_is_derived(layout: Layout) -> None:
    assert list(layout.tables) == ["game", "seats", "ships"]
    seats = layout.tables["seats"]
    assert seats.rows == 3 and [found.field for found in seats.fields] == ["here", "lanes", "lead"]
    assert [found.derived for found in seats.fields] == [False, False, True]
    assert layout["seats.lead"].table == "seats"
    assert layout.rows("seats") == 3 and layout.rows("places") == 4
    with pytest.raises(KeyError, match="no table 'decks'; there are: places, game, seats, ships"):
        layout.rows("decks")
    with pytest.raises(KeyError, match="no derived fields of a table 'ships'"):
        layout.begin("ships", derived=True)


def test_facts_alone_are_the_beginning(layout: Layout) -> None:
    facts = layout.facts
    assert facts.size == 18
    assert [found.name for found in facts] == [found.name for found in layout if not found.derived]
    for found in facts:
        assert found.indices().tolist() == layout[found.name].indices().tolist()


def test_references_are_bounded_by_the_rows_of_their_table(layout: Layout) -> None:
    assert layout["ships.seat"].kind == REFERENCE
    assert (layout["ships.seat"].of, layout["ships.seat"].high) == ("seats", 3)
    assert (layout["ships.place"].of, layout["ships.place"].high) == ("places", 4)
    assert layout.high[14:18].tolist() == [3, 4, 3, 4]


def test_fixed_tables_are_no_part_of_the_vector() -> None:
    assert PLACES.rows == 4 and PLACES.values.dtype == np.int16 and not PLACES.values.flags.writeable
    assert [(found.name, found.offset, found.size) for found in PLACES.fields] == [
        ("places.zone", 0, 1),
        ("places.at", 1, 2),
    ]
    with pytest.raises(ValueError, match=r"zone is not everywhere an integer in 0\.\.2"):
        fixed_table("places", [piece("zone", LABEL, 2, "")], np.array([[3]]))


ZONE = piece("zone", LABEL, 2, "")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([[1, 1]]), r"table 'places': the fields have 1 entries, the values have shape \(1, 2\)"),
        (np.array([1, 1]), r"the fields have 1 entries, the values have shape \(2,\)"),
        ([[1, 1]], r"the fields have 1 entries, the values have shape \(1, 2\)"),
        (np.array([[[1]]]), r"the fields have 1 entries, the values have shape \(1, 1, 1\)"),
        (np.array([[1.0], [1.5]]), r"table 'places': zone is not everywhere an integer in 0\.\.2"),
        (np.array([[np.nan]]), r"zone is not everywhere an integer in 0\.\.2"),
    ],
)
def test_values_that_do_not_fit_the_fields(values, message) -> None:
    with pytest.raises(ValueError, match=message):
        fixed_table("places", [ZONE], values)


def test_names_of_fixed_tables_are_names_like_others() -> None:
    """Whatever looks a table up by its name would find one of the two."""
    one, longer = (fixed_table("places", [ZONE], np.zeros((rows, 1), int)) for rows in (1, 2))
    with pytest.raises(ValueError, match="two tables are named 'places'"):
        Layout([], [one, longer])
    with pytest.raises(ValueError, match="two tables are named 'places'"):
        Layout([table("places", 1, [piece("owner", COUNT, 3, "")])], [one])
    with pytest.raises(ValueError, match=r"two pieces are named 'places\.zone'"):
        fixed_table("places", [ZONE, ZONE], np.zeros((1, 2), int))


def test_references_of_fixed_tables_are_bound_by_what_they_refer_to() -> None:
    fields = [reference("next", "places", ""), reference("owner", "seats", "")]
    values = np.array([[3, 0], [1, 2], [0, 1]])
    seats = table("seats", 2, [piece("alive", FLAG, 1, "")])
    found = Layout([seats], [fixed_table("places", fields, values)]).fixed["places"]
    assert [(field.high, field.scale) for field in found.fields] == [(3, 3.0), (2, 2.0)]
    assert Layout([seats], [found]).facts.fixed["places"].fields == found.fields
    with pytest.raises(ValueError, match=r"places\.owner is not everywhere in 0\.\.2"):
        Layout([seats], [fixed_table("places", fields, values + [0, 2])])
    with pytest.raises(ValueError, match=r"'places\.owner' refers to no table 'seats'; there are: places"):
        Layout([], [fixed_table("places", fields, values)])


def test_views_share_memory(layout: Layout) -> None:
    vector = np.zeros(layout.size, np.int16)
    layout["seats.lanes"].view(vector)[1, 1] = 7
    assert vector[10] == 7 and vector.sum() == 7
    batch = np.arange(2 * layout.size).reshape(2, layout.size)
    lanes = layout["seats.lanes"].view(batch)
    assert lanes.shape == (2, 3, 2) and lanes[1, 2, 0] == layout.size + 12
    assert layout["game.phase"].view(batch).shape == (2, 1)
    strided = np.arange(4 * layout.size).reshape(2, 2 * layout.size)[:, ::2]
    assert layout["game.hand"].view(strided)[0].tolist() == [[2, 4, 6, 8]]
    for rows in (batch, strided, np.asfortranarray(batch), batch[:0]):  # in whatever order they lie in memory
        found = layout["seats.lanes"].view(rows)
        assert np.array_equal(found, rows[:, layout["seats.lanes"].indices()])
        assert np.shares_memory(found, rows) == bool(rows.size)
    batch.flags.writeable = False
    assert not layout["seats.lanes"].view(batch).flags.writeable
    named = layout.names(vector)
    assert set(named) == {found.name for found in layout} and named["seats.lanes"][1, 1] == 7


def test_vectors_that_end_too_early_have_no_views(layout: Layout) -> None:
    """A view of one would show memory that is not its own."""
    for name, found in layout.pieces.items():
        needed = int(found.indices().max()) + 1
        assert found.view(np.zeros((2, needed), np.int16)).shape == (2, *found.shape)
        for shape in ((), (needed - 1,), (2, needed - 1)):
            with pytest.raises(
                ValueError, match=rf"{name}: the vector has shape .*; allowed: at least {needed} entries"
            ):
                found.view(np.zeros(shape, np.int16))
    facts = layout.facts
    whole = np.arange(layout.size, dtype=np.int16)
    for name, found in facts.pieces.items():  # which are the beginning of the whole
        assert (found.view(whole) == layout[name].view(whole)).all()


def test_bounds(layout: Layout) -> None:
    assert layout.low.dtype == layout.high.dtype == np.int16
    assert layout.high[:8].tolist() == [3, 7, 7, 7, 7, 1, 9, 9]
    assert set(layout.low[18:].tolist()) == {-5} and set(layout.high[18:].tolist()) == {5}
    assert layout["game.hand"].scale == 7 and layout["seats.lead"].scale == 5
    assert piece("x", COUNT, 100, "", scale=10).scale == 10
    assert piece("x", COUNT, 0, "").scale == 1


def test_entries_have_names(layout: Layout) -> None:
    assert layout.entry(0) == "game.phase[0]"
    assert layout.entry(3) == "game.hand[0][2]"
    assert layout.entry(10) == "seats.lanes[1][1]"
    assert layout.entry(20) == "seats.lead[2]"
    assert len({layout.entry(index) for index in range(layout.size)}) == layout.size
    with pytest.raises(IndexError, match="outside 0..20"):
        layout.entry(21)


def test_what_is_outside_the_bounds_is_named(layout: Layout) -> None:
    seen = np.tile(layout.low, (3, 1))
    layout.check(seen)
    seen[1, 10] = 10
    with pytest.raises(ValueError, match=r"observation 1: seats\.lanes\[1\]\[1\] is 10; allowed: 0\.\.9"):
        layout.check(seen)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.5])
def test_what_is_no_number_is_outside_the_bounds(layout: Layout, wrong: float) -> None:
    seen = np.tile(layout.low, (3, 1)).astype(float)
    seen[2, 0] = wrong
    with pytest.raises(ValueError, match=rf"observation 2: game\.phase\[0\] is {wrong}; allowed: 0\.\.3"):
        layout.check(seen)


def test_lists_are_checked_like_arrays_and_have_no_views(layout: Layout) -> None:
    seen = layout.low.tolist()
    layout.check([seen, seen])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"observation 1: game\.phase\[0\] is 4; allowed: 0\.\.3"):
        layout.check([seen, [4, *seen[1:]]])  # type: ignore[arg-type]
    for ask in (layout["game.phase"].view, layout.names):
        with pytest.raises(TypeError, match=r"game\.phase: the vector must be an array of NumPy, not list"):
            ask(seen)


@pytest.mark.parametrize("shape", [(3,), (1, 2), (1, 1, 3)])
def test_what_are_no_observations_is_not_checked(shape: tuple[int, ...]) -> None:
    layout = Layout([table("game", 1, [piece("hand", COUNT, 7, "", shape=3)])])
    with pytest.raises(ValueError, match=r"observations must be \(N, 3\), not \(" + ", ".join(map(str, shape))):
        layout.check(np.full(shape, 9))


def test_lengths_of_numpy_are_lengths_like_others() -> None:
    """As they come out of component tables."""
    of_three = piece("hand", COUNT, 7, "", shape=np.int64(3))
    assert of_three.shape == (3,) and type(of_three.shape[0]) is int


def test_members_of_an_enumeration_are_bounds_like_others() -> None:
    class Suit(enum.IntEnum):
        CLUBS = 3

        def __str__(self) -> str:
            return "clubs"

    suit = piece("suit", LABEL, Suit.CLUBS, "")
    assert f"{suit.low}..{suit.high}" == "0..3"


def test_mistakes() -> None:
    hand = piece("hand", COUNT, 7, "")
    one = table("game", 1, [hand])
    with pytest.raises(KeyError, match=r"no piece 'hnd'; there are: game\.hand"):
        Layout([one])["hnd"]
    with pytest.raises(ValueError, match=r"two pieces are named 'game\.hand'"):
        Layout([one, one])
    with pytest.raises(ValueError, match="0..40000 does not fit int16"):
        Layout([table("game", 1, [piece("hand", COUNT, 40_000, "")])])
    with pytest.raises(ValueError, match="kind 'plane' is not one of number, count, flag, label, reference"):
        piece("hand", "plane", 7, "")
    with pytest.raises(ValueError, match="low 3 is above high 2"):
        piece("hand", COUNT, 2, "", low=3)
    with pytest.raises(ValueError, match=r"'game\.seat' refers to no table 'seats'; there are: game"):
        Layout([table("game", 1, [reference("seat", "seats", "")])])
    with pytest.raises(ValueError, match="table 'game' has 1 rows and 2"):
        Layout([one, table("game", 2, [piece("lead", NUMBER, 1, "")], derived=True)])
    with pytest.raises(ValueError, match="table 'seats' comes after derived fields; facts come first"):
        Layout([one, table("game", 1, [piece("lead", NUMBER, 1, "")], derived=True), table("seats", 1, [hand])])
