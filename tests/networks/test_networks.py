"""Networks in compiled code: what their description says, and for each position by itself."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import kepler_envs
from agents import checkpoint
from agents.torch_network import TorchNetwork
from kepler_envs.bots.networks import NetworkBot
from kepler_envs.bots.protocol import TrustedDecisions
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.kernel import helper
from kepler_envs.engine.network import NetworkShape
from kepler_envs.networks import DivergedError, draw, position_network
from kepler_envs.networks.simd import (
    add_row,
    add_row_portable,
    dot,
    dot_portable,
    mean_positive,
    mean_positive_portable,
    sum_rows,
    sum_rows_portable,
)
from kepler_envs.registry import list_games
from tests.effort import slow
from tests.networks.subjects import (
    SHAPES,
    PlainNetwork,
    made_up_actions,
    made_up_inputs,
    made_up_layout,
    positions,
    random_positions,
    random_weights,
)


def assert_same(found: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


# ---------------------------------------------------------------- what is computed


@pytest.mark.parametrize("shape", SHAPES)
def test_it_computes_what_is_written(shape):
    """All kinds of fields with any value they may have, references between all kinds of tables, actions with any
    axes."""
    inputs = made_up_inputs(SHAPES[shape])
    weights = random_weights(inputs)
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 60)
    priors, values = position_network(inputs, weights)(observations, masks)
    assert (priors.dtype, values.dtype, values.shape) == (np.float32, np.float32, (60, inputs.seats))
    assert_same((priors, values), PlainNetwork(inputs, weights)(observations, masks))
    assert not priors[masks == 0].any()
    assert values.std(0).min() > 0.01


@pytest.mark.parametrize("zeros", [0.0, 1.0], ids=["full", "empty"])
def test_full_and_empty_observations(zeros):
    inputs = made_up_inputs(NetworkShape(20, (20,), 8))
    weights = random_weights(inputs)
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 10, zeros, legal=0.9)
    low_and_high = np.stack([inputs.layout.low, inputs.layout.high])
    observations = np.concatenate([observations, low_and_high])
    masks = np.concatenate([masks, np.ones((2, masks.shape[1]), np.int8)])
    network = position_network(inputs, weights)
    assert_same(network(observations, masks), PlainNetwork(inputs, weights)(observations, masks))


@pytest.mark.parametrize("large", [5, 64, 65])
def test_rows_of_tables_that_are_named_one_by_one_or_not(large):
    layout, actions = made_up_layout(large), made_up_actions(large)
    inputs = made_up_inputs(NetworkShape(16, (16,), 16), layout, actions)
    weights = random_weights(inputs)
    observations, masks = random_positions(layout, len(actions), 20)
    network = position_network(inputs, weights)
    assert_same(network(observations, masks), PlainNetwork(inputs, weights)(observations, masks))


def test_tables_that_nothing_points_at():
    """Of a table of one row, or a fixed one, a network then has what others see of it, and no more."""
    actions = made_up_actions()
    blocks = [block for block in actions.blocks if block.name in ("PASS", "CARD")]
    first, placed = 0, []
    for block in blocks:
        placed.append(type(block)(block.name, first, block.count, block.text, block.labels, block.axes))
        first += block.count
    inputs = made_up_inputs(NetworkShape(16, (16,), 8), None, type(actions)(placed))
    weights = random_weights(inputs)
    observations, masks = random_positions(inputs.layout, first, 20, legal=0.5)
    network = position_network(inputs, weights)
    assert_same(network(observations, masks), PlainNetwork(inputs, weights)(observations, masks))


@pytest.mark.parametrize("game", list_games())
def test_it_computes_what_is_written_in_every_game(game):
    for players in {kepler_envs.load_game(game).min_players, kepler_envs.load_game(game).max_players}:
        config = kepler_envs.load_game(game).configure(players)
        inputs = NetworkShape(24, (24,), 16).inputs(config)
        weights = random_weights(inputs)
        observations, masks = positions(config, 2, 40)
        found = position_network(inputs, weights)(observations, masks)
        assert_same(found, PlainNetwork(inputs, weights)(observations, masks))
        assert found[0].std(0).max() > 0.01, "the priors should depend on the position"


@pytest.mark.parametrize("game", list_games())
def test_it_computes_what_pytorch_computes(game):
    config = kepler_envs.load_game(game).configure()
    policy = checkpoint.build(NetworkShape(32, (32,), 16), config)
    observations, masks = positions(config, 4, 60)
    assert_same(checkpoint.network_of(policy)(observations, masks), TorchNetwork(policy)(observations, masks))


def test_an_answer_depends_on_no_other_position():
    inputs = made_up_inputs(NetworkShape(32, (32,), 16))
    network = position_network(inputs, random_weights(inputs))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 40)
    together = network(observations, masks)
    for row in (0, 17, 39):
        alone = network(observations[row : row + 1], masks[row : row + 1])
        assert [part[0].tobytes() for part in alone] == [part[row].tobytes() for part in together]
    backwards = network(observations[::-1].copy(), masks[::-1].copy())
    assert [part[::-1].tobytes() for part in backwards] == [part.tobytes() for part in together]


ASK = """
import sys
from kepler_envs.networks import position_network
from tests.networks.subjects import NetworkShape, made_up_inputs, random_positions, random_weights
inputs = made_up_inputs(NetworkShape(24, (20,), 16))
observations, masks = random_positions(inputs.layout, len(inputs.actions), 5)
for part in position_network(inputs, random_weights(inputs))(observations, masks):
    sys.stdout.buffer.write(part.tobytes())
"""


@slow
def test_uncompiled_equals_compiled():
    def found(disable: str) -> np.ndarray:
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disable, "PYTHONPATH": os.pathsep.join(sys.path)}
        ran = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True)
        assert ran.returncode == 0, ran.stderr.decode()
        return np.frombuffer(ran.stdout, np.float32)

    np.testing.assert_allclose(found("1"), found("0"), rtol=1e-6, atol=1e-6)


def test_where_nothing_is_legal_no_action_has_a_prior():
    inputs = made_up_inputs(NetworkShape(16, (16,), 8))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 3)
    masks[1] = 0
    priors, values = position_network(inputs, random_weights(inputs))(observations, masks)
    np.testing.assert_allclose(priors.sum(1), [1, 0, 1], atol=1e-6)
    assert np.isfinite(values).all()


@pytest.mark.parametrize("name", ["actions.bias", "values.bias"])
def test_an_answer_that_is_not_finite_is_an_error(name):
    """Wherever among the positions it is. Illegal actions and the others' answers do not matter."""
    inputs = made_up_inputs(NetworkShape(16, (16,), 8))
    weights = random_weights(inputs)
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 14)
    masks[:, 3] = 0
    weights[name][3] = np.nan
    network = position_network(inputs, weights)
    if name == "actions.bias":
        network(observations, masks)
        masks[13, 3] = 1
    with pytest.raises(DivergedError, match="the network's answers are no finite numbers any more"):
        network(observations, masks)


def test_its_weights_are_a_copy():
    inputs = made_up_inputs(NetworkShape(16, (16,), 8))
    weights = random_weights(inputs)
    network = position_network(inputs, weights)
    asked = random_positions(inputs.layout, len(inputs.actions), 10)
    before = network(*asked)
    for array in weights.values():
        array[:] = 0
    for old, new in zip(before, network(*asked), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda arrays: arrays.pop("values.bias"), "values.bias is missing"),
        (lambda arrays: arrays.update({"actions.bias": np.zeros(3)}), r"actions.bias is \(3,\), it must be "),
        (lambda arrays: arrays.update(more=np.zeros(3)), "more has no place in it"),
    ],
)
def test_weights_of_another_network_are_refused(change, words):
    inputs = made_up_inputs(NetworkShape(16, (16,), 8))
    weights = random_weights(inputs)
    inputs.check(weights)
    change(weights)
    with pytest.raises(ValueError, match=words):
        position_network(inputs, weights)


def test_what_is_no_position_is_refused():
    """The kernel reads and writes where the arrays tell it to."""
    inputs = made_up_inputs(SHAPES["over a bot"])
    network = position_network(inputs, random_weights(inputs))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 5)
    length, actions = inputs.layout.size, len(inputs.actions)
    wrong = [
        (observations[:, :-1], masks, rf"observations must be int16 \(5, {length}\), not int16 \(5, {length - 1}\)"),
        (observations.astype(np.int32), masks, "observations must be int16"),
        (observations[0], masks, "observations must be int16"),
        (observations[:4], masks, rf"masks must be int8 \(4, {actions}\), not int8 \(5, {actions}\)"),
        (observations, masks[:, 1:], "masks must be int8"),
        (observations, masks.astype(np.bool_), "masks must be int8"),
    ]
    for choice in (-1, actions):
        other = observations.copy()
        other[3, -1] = choice
        wrong.append((other, masks, f"greedy cannot have chosen {choice} in row 3; allowed: 0..{actions - 1}"))
    for seen, legal, words in wrong:
        with pytest.raises(ValueError, match=words):
            network(seen, legal)


def test_arrays_may_lie_in_memory_as_they_like():
    """Every other row, columns one after the other, a file that is only read."""
    inputs = made_up_inputs(SHAPES["over a bot"])
    network = position_network(inputs, random_weights(inputs))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 6)
    answer = network(observations, masks)
    for arrays in (observations, masks):
        arrays.flags.writeable = False
    assert_same(network(observations, masks), answer)
    assert_same(network(observations[::2], masks[::2]), [one[::2] for one in answer])
    assert_same(network(np.asfortranarray(observations), np.asfortranarray(masks)), answer)


@pytest.mark.parametrize(("row", "total"), [([0, 0, 0], "0.0"), ([1, np.nan, 0], "nan"), ([np.inf, 1, 0], "inf")])
def test_nothing_is_drawn_where_nothing_is_probable(row, total):
    good = [0.0, 2.0, 6.0]
    assert draw(np.array([good, good, good]), np.array([0.0, 0.24, 0.26])).tolist() == [1, 1, 2]
    with pytest.raises(ValueError, match=f"^the probabilities of row 1 sum to {total}; allowed: a finite sum above 0"):
        draw(np.array([good, row]), np.array([0.5, 0.5]))


def test_draws_follow_the_probabilities():
    """4,000 draws at one position: each action as often as its probability says, within five standard errors."""
    config = kepler_envs.load_game("kitten_adventurers").configure()
    inputs = NetworkShape(16, (16,), 8).inputs(config)
    network = position_network(inputs, random_weights(inputs))
    batch = Batch(config, 4000, 5)
    batch.observation[:], batch.action_mask[:] = batch.observation[0], batch.action_mask[0]
    agent = NetworkBot(network, deterministic=False)
    rows = np.arange(4000)
    agent.start(rows, np.arange(4000, dtype=np.uint64) * np.uint64(7919))
    drawn = np.bincount(agent.act(TrustedDecisions(batch, rows)), minlength=len(config.actions)) / 4000
    priors, _ = network(batch.observation[:1], batch.action_mask[:1])
    error, even = np.sqrt(priors[0] * (1 - priors[0]) / 4000), batch.action_mask[0] / batch.legal_count[0]
    assert (abs(even - priors[0]) > 10 * error + 1e-6).any(), "it has preferences"
    assert (abs(drawn - priors[0]) <= 5 * error + 1e-6).all()
    assert (drawn > 0).sum() > 1


def test_every_draw_of_a_row_is_another_one():
    """Asked again about the same position, a row draws anew, and started again, it draws the same."""
    config = kepler_envs.load_game("kitten_adventurers").configure()
    batch, rows = Batch(config, 64, 5), np.arange(64)
    inputs = NetworkShape(16, (16,), 8).inputs(config)
    agent = NetworkBot(position_network(inputs, random_weights(inputs)), deterministic=False)
    first = []
    for _ in range(2):
        agent.start(rows, np.arange(64, dtype=np.uint64))
        drawn = [agent.act(TrustedDecisions(batch, rows)).tolist() for _ in range(3)]
        assert len(set(map(tuple, drawn))) == 3
        first.append(drawn)
    assert first[0] == first[1]


# ---------------------------------------------------------------- sums in registers


def test_sums_in_registers_are_those_written_plainly():
    dice = np.random.default_rng(4)
    weights, other = (dice.normal(size=4096).astype(np.float32) for _ in range(2))
    rows, times = dice.integers(0, 20, 9).astype(np.int32), dice.normal(size=9).astype(np.float32)

    @helper
    def in_registers(out):
        sum_rows(out, 3, other, 5, weights, 40, 96, rows, times, 2, 9, 64)
        add_row(out, 8, other, 100, 16)
        mean_positive(out, 70, weights, 7, 48, 1, 12, 32)
        out[110] = dot(weights, 1, other, 2, 3)
        out[111] = dot(weights, 1, other, 2, 0)

    found, expected = np.zeros(112, np.float32), np.zeros(112, np.float32)
    in_registers(found)
    sum_rows_portable(expected, 3, other, 5, weights, 40, 96, rows, times, 2, 9, 64)
    add_row_portable(expected, 8, other, 100, 16)
    mean_positive_portable(expected, 70, weights, 7, 48, 1, 12, 32)
    expected[110] = dot_portable(weights, 1, other, 2, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    matrix = weights[40:]
    plain = other[5:69] + sum(times[i] * matrix[96 * rows[i] : 96 * rows[i] + 64] for i in range(2, 9))
    np.testing.assert_allclose(found[3:8], plain[:5], rtol=1e-5)
    np.testing.assert_allclose(found[110], weights[1:49] @ other[2:50], rtol=1e-4)
