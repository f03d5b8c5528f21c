"""The generator against the published algorithm, in Python integers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kepler_envs.engine import rng, seeds
from kepler_envs.engine.code_cache import Scope
from kepler_envs.engine.game import record_array
from kepler_envs.engine.kernel import INT, array_of, kernel
from tests.effort import games_to_play

WORD = 2**64
SCOPE = Scope("tests_rng", Path(__file__).parent)
words = st.integers(0, WORD - 1)


def pcg32(state: int) -> Iterator[tuple[int, int]]:
    """(state after, output) of PCG-XSH-RR 64/32 as in O'Neill's paper and reference code."""
    while True:
        shifted = (((state >> 18) ^ state) >> 27) & 0xFFFFFFFF
        turn = state >> 59
        state = (state * 6364136223846793005 + 1442695040888963407) % WORD
        yield state, ((shifted >> turn) | (shifted << (-turn % 32))) & 0xFFFFFFFF


def splitmix64(state: int) -> int:
    """Output of SplitMix64 (Steele, Lea, Flood 2014) after one step from ``state``."""
    word = (state + 0x9E3779B97F4A7C15) % WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % WORD
    return word ^ word >> 31


@kernel(SCOPE, "draw", (array_of(rng.GENERATOR), INT, array_of(np.int64)))
def draw(generators, bound, out):
    for i in range(out.size):
        out[i] = rng.below(generators[0], bound)


@kernel(SCOPE, "seed_words", (array_of(rng.GENERATOR), array_of(np.uint64), array_of(np.uint64)))
def seed_words(generators, seed, out):
    out[0] = rng.mix(seed[0])
    out[1] = rng.next_seed(seed[0])
    out[2] = rng.stream_seed(seed[0], seed[1])
    rng.start(generators[0], seed[0])
    out[3] = generators[0].rng
    out[4] = rng.fork(generators[0])
    out[5] = generators[0].rng


def generator_at(state: int) -> np.ndarray:
    generators = record_array(np.zeros(1, rng.GENERATOR))
    generators["rng"] = np.uint64(state)
    return generators


def test_first_numbers_of_the_reference_implementation() -> None:
    """pcg32_srandom(42, 54) of the reference code; its increment differs from ours, so the algorithm alone is
    checked."""
    state, increment, outputs = 0, 54 << 1 | 1, []
    state = (state * 6364136223846793005 + increment) % WORD
    state = ((state + 42) * 6364136223846793005 + increment) % WORD
    for _ in range(6):
        outputs.append(next(pcg32(state))[1])
        state = (state * 6364136223846793005 + increment) % WORD
    assert outputs == [0xA15C02B7, 0x7B47F409, 0xBA1D3330, 0x83D2F293, 0xBFA4784B, 0xCBED606E]


@given(state=words, bound=st.integers(1, 2**31 - 1))
def test_below_is_pcg32(state: int, bound: int) -> None:
    out, generators = np.zeros(20, np.int64), generator_at(state)
    draw(generators, bound, out)
    reference = pcg32(state)
    expected = [(number, value * bound >> 32) for number, value in (next(reference) for _ in range(20))]
    assert out.tolist() == [value for _, value in expected]
    assert int(generators["rng"][0]) == expected[-1][0]
    assert out.min() >= 0 and out.max() < bound


@given(state=words, bound=st.integers(1, 1000))
def test_uncompiled_is_the_same(state: int, bound: int) -> None:
    """The plain Python functions behind the compiled ones."""
    below = getattr(rng.below, "py_func", rng.below)
    compiled, generators = np.zeros(8, np.int64), generator_at(state)
    draw(generators, bound, compiled)
    plain = np.zeros(1, rng.GENERATOR).view(np.recarray)
    plain["rng"] = np.uint64(state)
    with np.errstate(over="ignore"):
        assert [int(below(plain[0], bound)) for _ in range(8)] == compiled.tolist()
    assert plain["rng"][0] == generators["rng"][0]


@given(seed=words, stream=words)
def test_seeds(seed: int, stream: int) -> None:
    out, given_words = np.zeros(6, np.uint64), np.array([seed, stream], np.uint64)
    seed_words(generator_at(0), given_words, out)
    mixed, following, of_stream, started, forked, moved_on = (int(word) for word in out)
    assert mixed == started == splitmix64(seed)
    assert following == (seed + 0x9E3779B97F4A7C15) % WORD == seeds.following_seed(seed)
    assert of_stream == splitmix64(splitmix64(seed) ^ stream)
    assert forked == splitmix64(started)
    assert moved_on == next(pcg32(started))[0]
    assert seeds.mix(seed) == mixed and seeds.stream_seed(seed, stream) == of_stream, "the plain Python forms"


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 14, 110, 1000])
def test_draws_are_uniform(bound: int) -> None:
    """Chi-square of many draws, and of pairs of draws."""
    count = games_to_play(200_000)
    out = np.zeros(count, np.int64)
    draw(generator_at(splitmix64(bound)), bound, out)
    assert_uniform(np.bincount(out, minlength=bound))
    if 1 < bound <= 14:
        pairs = out[::2] * bound + out[1::2]
        assert_uniform(np.bincount(pairs, minlength=bound * bound))


def assert_uniform(counts: np.ndarray) -> None:
    expected = counts.sum() / len(counts)
    chi_square = ((counts - expected) ** 2 / expected).sum()
    freedom = len(counts) - 1
    assert chi_square <= freedom + 5 * np.sqrt(2 * freedom) + 1e-9


def test_first_draws_of_neighbouring_seeds_are_uniform() -> None:
    """Games with seeds 0, 1, 2, ... start as if their seeds had nothing to do with each other."""
    first = [next(pcg32(seeds.mix(seed)))[1] * 10 >> 32 for seed in range(20_000)]
    assert_uniform(np.bincount(first, minlength=10))
