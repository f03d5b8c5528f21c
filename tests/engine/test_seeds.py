"""Seeds outside compiled code are those of compiled code."""

from __future__ import annotations

import numpy as np
import pytest

import kepler_envs
from kepler_envs.engine import seeds

EDGES = [0, 1, 2, 12345, 2**32, 2**63 - 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize("seed", EDGES)
def test_rows_of_a_batch_have_the_seeds_of_their_streams(seed):
    batch = kepler_envs.make_batch("kitten_adventurers", 3, seed=seed)
    assert [int(row) for row in batch.seed] == [seeds.stream_seed(seed, row) for row in range(3)]
    batch.reset()
    following = [seeds.following_seed(seeds.stream_seed(seed, row)) for row in range(3)]
    assert [int(row) for row in batch.seed] == following


def stream(state: int, length: int) -> list[int]:
    """The states that the generator of a game or of a policy goes through from ``state`` on."""
    states = [state]
    for _ in range(length - 1):
        states.append((states[-1] * 6364136223846793005 + 1442695040888963407) % 2**64)
    return states


def test_choices_of_a_batch_are_drawn_from_no_stream_of_a_deal():
    """Whoever chose by the random numbers of a deal would know the cards that come."""
    batch = kepler_envs.make_batch("kitten_adventurers", 32, seed=5)
    for reset in (batch.reset, lambda: batch.reset(7), lambda: batch.reset(np.arange(32))):
        deals = {state for seed in batch.seed for state in stream(seeds.mix(int(seed)), 1000)}
        choices = {state for row in batch.policy_rng["rng"] for state in stream(int(row), 1000)}
        assert len(deals) == len(choices) == 32_000 and not deals & choices
        reset()


def test_mix_is_splitmix64():
    # the first outputs of SplitMix64 started from 0 and from 1234567, as published with the algorithm
    assert seeds.mix(0) == 0xE220A8397B1DCDAF
    state, outputs = 1234567, []
    for _ in range(5):
        outputs.append(seeds.mix(state))
        state = seeds.following_seed(state)
    assert outputs == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip
    assert seeds.mix_all(np.array(EDGES, np.uint64)).tolist() == [seeds.mix(word) for word in EDGES]


def test_opponents_of_an_earlier_version_made_the_same_choices():
    """Records name the seed that their games are played again with."""
    found = seeds.opponent_seeds(np.array([0, 1, 2**64 - 1], np.uint64))
    assert found.tolist() == [8538881101928260127, 5578044415898681156, 152233838039664350]


@pytest.mark.parametrize("seed", [*EDGES, np.int64(5), np.uint64(2**64 - 1), np.int8(3)])
def test_integers_of_any_kind_are_seeds(seed):
    assert seeds.check_seed(seed) == int(seed) and type(seeds.check_seed(seed)) is int


def test_fresh_seeds_differ():
    found = {seeds.fresh_seed() for _ in range(100)}
    assert len(found) == 100 and all(0 <= seed < 2**63 for seed in found)


@pytest.mark.parametrize("wrong", [-1, 2**64, 1.0, True, None, "7", np.float64(3), np.bool_(True)])
def test_other_seeds_are_refused(wrong):
    with pytest.raises(ValueError, match=r"allowed: an integer 0\.\.2\*\*64 - 1"):
        seeds.check_seed(wrong)
