"""Checks of what a caller gives: integers, seats, rows. Every check runs before anything changes.

Bools and numbers with a fraction do not count as integers: ``True`` for a seat, or 0.5 for a row, is a mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

AFTER_AN = ("A", "E", "I", "O", "Mcts")
"""How names of types begin that are spoken with a vowel in front; ``Mcts`` is spelt out."""


def is_integer(value: Any) -> TypeGuard[int]:
    """Whether a value is an integer of Python or NumPy, as an array of no dimensions, too. A bool is not."""
    if isinstance(value, np.ndarray):  # what a policy of stable-baselines3 predicts for one observation
        return value.shape == () and value.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is an integer or a decimal number of Python or NumPy. A bool is not."""
    return is_integer(value) or isinstance(value, (float, np.floating))


def check_integer(
    name: str, value: Any, low: int, high: int | None = None, *, error: type[Exception] = ValueError
) -> int:
    """``value`` as a Python integer. Raises ``error``, naming the allowed values, unless it lies in ``low..high``.

    None as a bound means that there is no bound.
    """
    if not is_integer(value) or value < low or (high is not None and value > high):
        allowed = f"an integer from {low} on" if high is None else f"an integer {low}..{high}"
        raise error(f"{name} = {value!r} is not allowed; allowed: {allowed}")
    return int(value)


def check_type(name: str, value: Any, kind: type, hint: str = "") -> None:
    """Raise TypeError, with a hint where such a value comes from, unless the value is of this kind."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__.startswith(AFTER_AN) else "a"
        wanted = "text" if kind is str else f"{article} {kind.__name__}"
        raise TypeError(f"{name} must be {wanted}, not {value!r}" + (f"; {hint}" if hint else ""))


def check_reset_options(options: Any) -> None:
    """Raise TypeError unless these are options of a ``reset``: a dict or None."""
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"options must be a dict or None, not {options!r}")


def check_choice(name: str, value: Any, allowed: Sequence[Any], error: type[Exception] = ValueError) -> None:
    """Raise ``error``, naming the allowed values, unless ``value`` is one of them."""
    if isinstance(value, np.ndarray) or value not in allowed:  # arrays compare entry by entry
        raise error(f"{name} = {value!r} is not allowed; allowed: {', '.join(map(str, allowed))}")


def check_seat(seat: Any, num_players: int) -> int:
    """A seat as a Python integer. Raises ValueError."""
    return check_integer("seat", seat, 0, num_players - 1)


def check_view(seat: Any, num_players: int, name: str = "seat", error: type[Exception] = ValueError) -> int | None:
    """Check whose view is asked for: a seat, or None for everything."""
    if seat is not None and not (is_integer(seat) and 0 <= seat < num_players):
        raise error(f"{name} = {seat!r} is not allowed; allowed: None, or an integer 0..{num_players - 1}")
    return None if seat is None else int(seat)


def check_row(row: Any, rows: int) -> int:
    """A row of a batch as a Python integer. Raises ValueError."""
    return check_integer("row", row, 0, rows - 1)


def check_seats(seat: Any, rows: int, num_players: int) -> np.ndarray:
    """Turn one seat for all rows, or an integer array (N,), into int64 (N,). Raises ValueError."""
    if is_integer(seat):
        return np.full(rows, check_seat(seat, num_players), np.int64)
    if not (isinstance(seat, np.ndarray) and seat.shape == (rows,) and seat.dtype.kind in "iu"):
        got = f"an array of {seat.dtype} {seat.shape}" if isinstance(seat, np.ndarray) else repr(seat)
        raise ValueError(
            f"seat must be an integer 0..{num_players - 1} or an integer array ({rows},) of such, not {got}"
        )
    wrong = np.flatnonzero((seat < 0) | (seat >= num_players))
    if wrong.size:
        raise ValueError(
            f"seat[{wrong[0]}] = {seat[wrong[0]]} is not allowed; allowed: an integer 0..{num_players - 1}"
        )
    return seat.astype(np.int64)
