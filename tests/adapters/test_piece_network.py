"""The network in PyTorch against numbers computed row by row, as ``engine/network.py`` describes them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch as th

from kepler_envs.adapters.pytorch import PieceNetwork
from kepler_envs.adapters.pytorch.network import RowInputs
from kepler_envs.engine.network import NetworkInputs, NetworkShape
from tests.networks.subjects import SHAPES, PlainNetwork, made_up_inputs, random_positions, random_weights

RANDOM = np.random.default_rng(3)


def network_of(shape: NetworkShape) -> PieceNetwork:
    """All of its weights are random."""
    network = PieceNetwork(made_up_inputs(shape))
    network.load_state_dict({name: th.as_tensor(array) for name, array in random_weights(network.inputs).items()})
    return network.double()


def positions(inputs: NetworkInputs, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(observations, masks): of the observations two have the least and the most that each entry may be."""
    layout = inputs.layout
    x, masks = random_positions(layout, len(inputs.actions), count + 2, zeros=0.3, legal=0.3)
    x[-2:] = layout.low, layout.high
    return x, masks != 0


def test_the_inputs_of_rows_are_those_of_the_library():
    inputs = made_up_inputs(SHAPES["usual"])
    x, _ = positions(inputs, 50)
    for name, found in RowInputs(inputs)(th.as_tensor(x)).items():
        expected = inputs.tables[name].encode(x[:, inputs.tables[name].entries])
        np.testing.assert_array_equal(found.numpy(), expected.reshape(len(x), -1))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_computes_what_is_described(shape, masked):
    network = network_of(SHAPES[shape])
    x, masks = positions(network.inputs, 40)
    allowed = masks if masked else np.ones_like(masks)
    with th.no_grad():
        log_probs, values = network(th.as_tensor(x), th.as_tensor(masks) if masked else None)
    priors, expected = PlainNetwork(network.inputs, random_weights(network.inputs))(x, allowed)
    np.testing.assert_allclose(log_probs.numpy()[allowed], np.log(priors[allowed]), rtol=0, atol=1e-5)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5)
    assert not log_probs.exp().numpy()[~allowed].any()


@pytest.mark.parametrize("shape", SHAPES)
def test_its_arrays_are_those_that_are_described(shape):
    network = network_of(SHAPES[shape])
    found = {name: tuple(weights.shape) for name, weights in network.state_dict().items()}
    assert found == network.inputs.expected_shapes()
    assert set(found) == {name for name, _ in network.named_parameters()}
    network.inputs.check({name: weights.numpy() for name, weights in network.state_dict().items()})
    again = PieceNetwork(network.inputs).double()
    again.load_state_dict(network.state_dict())
    x = th.as_tensor(positions(network.inputs, 5)[0])
    for twin in (again, copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert all(th.equal(one, other) for one, other in zip(network(x), twin(x), strict=True))


def test_a_layer_has_outputs():
    for refused, told in (
        ({"width": 0}, "width is 0; outputs are whole numbers from 1 on"),
        ({"hidden": (8, 0)}, r"hidden is \(8, 0\); outputs are whole numbers from 1 on"),
        ({"rows": -1}, "rows is -1; outputs are whole numbers from 0 on"),
        ({"width": NetworkShape()}, "width is NetworkShape"),
        ({"width": True}, "width is True; outputs are whole numbers from 1 on"),
        ({"hidden": 128}, "hidden is 128; it must be a tuple, the outputs of each layer"),
        ({"hidden": None}, "hidden is None; it must be a tuple"),
    ):
        with pytest.raises(ValueError, match=told):
            NetworkShape(**refused)


def test_a_shape_with_a_list_is_that_with_a_tuple():
    assert NetworkShape(hidden=[8, 4]) == NetworkShape(hidden=(8, 4)) and hash(NetworkShape(hidden=[8]))


def test_gradients_are_those_of_small_changes():
    network = network_of(NetworkShape(5, (4,), 3))
    x, masks = map(th.as_tensor, positions(network.inputs, 3))
    aim = th.as_tensor(RANDOM.normal(size=masks.shape)) * masks
    hopes = th.as_tensor(RANDOM.normal(size=(len(x), network.inputs.seats)))

    def computed() -> th.Tensor:
        log_probs, values = network(x, masks)
        return (log_probs * aim).sum() + (values * hopes).sum()

    computed().backward()
    for name, weights in network.named_parameters():
        way = th.as_tensor(RANDOM.normal(size=tuple(weights.shape)))
        expected = 0.0 if weights.grad is None else (weights.grad * way).sum().item()
        ends = []
        for sign in (1, -2):
            with th.no_grad():
                weights += sign * 1e-6 * way
                ends.append(computed().item())
        with th.no_grad():
            weights += 1e-6 * way
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(expected, rel=1e-4, abs=1e-4), name


def test_at_first_it_finds_all_actions_about_as_good():
    th.manual_seed(0)
    network = PieceNetwork(made_up_inputs(NetworkShape()))
    log_probs, values = network(th.as_tensor(positions(network.inputs, 100)[0]))
    assert (log_probs + np.log(len(network.inputs.actions))).abs().max() < 1 and values.abs().max() < 1
