"""Bit sets against Python's own integers, compiled and uncompiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kepler_envs.engine import bits

WORD = 2**64
words = st.integers(0, WORD - 1)
forms = pytest.mark.parametrize("form", ["compiled", "plain"])


def function(name: str, form: str) -> Callable[..., Any]:
    """A function of the module, compiled or as plain Python."""
    compiled = getattr(bits, name)
    if form == "compiled" or not hasattr(compiled, "py_func"):
        return compiled
    return np.errstate(over="ignore")(compiled.py_func)


@forms
@given(word=words)
def test_one_word(form: str, word: int) -> None:
    value = np.uint64(word)
    assert int(function("bit_count", form)(value)) == word.bit_count()
    if word:
        assert int(function("lowest", form)(value)) == (word & -word).bit_length() - 1
        assert int(function("without_lowest", form)(value)) == word & (word - 1)
    for index in (0, 1, 31, 32, 62, 63):
        assert int(function("bit", form)(index)) == 1 << index
        assert int(function("has", form)(value, index)) == word >> index & 1


@forms
def test_words_of_a_single_bit(form: str) -> None:
    for index in range(64):
        assert int(function("lowest", form)(np.uint64(1 << index))) == index
        assert int(function("bit_count", form)(np.uint64(1 << index))) == 1


@forms
@given(members=st.sets(st.integers(0, 191)))
def test_sets_of_several_words(form: str, members: set[int]) -> None:
    mask = np.zeros(3, np.uint64)
    allow, allowed = function("allow", form), function("allowed", form)
    for action in members:
        allow(mask, action)
    assert members_of(mask) == members
    assert {action for action in range(192) if allowed(mask, action) == 1} == members


@forms
@given(before=st.sets(st.integers(0, 191)), first=st.integers(0, 127), word=words)
def test_allow_word(form: str, before: set[int], first: int, word: int) -> None:
    """All members of a word, moved by ``first``, also across the border of two words."""
    mask = np.zeros(3, np.uint64)
    for action in before:
        bits.allow(mask, action)
    function("allow_word", form)(mask, first, np.uint64(word))
    added = {first + index for index in range(64) if word >> index & 1}
    assert members_of(mask) == before | added


@forms
def test_allow_word_at_the_end_of_a_mask(form: str) -> None:
    """A word that fits exactly does not touch the next one, which may not exist."""
    mask = np.zeros(1, np.uint64)
    function("allow_word", form)(mask, 60, np.uint64(0b1111))
    assert members_of(mask) == {60, 61, 62, 63}


@forms
@given(members=st.sets(st.integers(0, 191)), first=st.integers(0, 127), count=st.integers(1, 64))
def test_allowed_word(form: str, members: set[int], first: int, count: int) -> None:
    """The members of a part of a set, counted from where it begins, also across the border of two words."""
    mask = np.zeros(3, np.uint64)
    for action in members:
        bits.allow(mask, action)
    word = int(function("allowed_word", form)(mask, first, count))
    assert {index for index in range(64) if word >> index & 1} == {m - first for m in members} & set(range(count))


@forms
def test_allowed_word_at_the_end_of_a_mask(form: str) -> None:
    """A part that ends with the set does not read the next word, which may not exist."""
    mask = np.full(1, WORD - 1, np.uint64)
    assert int(function("allowed_word", form)(mask, 60, 4)) == 0b1111
    assert int(function("allowed_word", form)(mask, 0, 64)) == WORD - 1


def members_of(mask: np.ndarray) -> set[int]:
    return {64 * number + index for number, word in enumerate(mask) for index in range(64) if int(word) >> index & 1}
