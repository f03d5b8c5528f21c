"""The network in PyTorch against numbers computed row by row, as ``engine/network.py`` describes them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch as th

from kepler_envs.adapters.pytorch import PieceNetwork
from kepler_envs.adapters.pytorch.network import RowInputs
from kepler_envs.engine.actions import ActionSet, Block, axes
from kepler_envs.engine.network import NetworkInputs, NetworkShape
from kepler_envs.engine.observation import COUNT, FLAG, LABEL, NUMBER, Layout, fixed_table, piece, reference, table

RANDOM = np.random.default_rng(3)
PLACES = 70
"""More rows than a reference names one by one."""


def random_layout() -> Layout:
    """Tables of one row and of more, fixed ones, and references between all kinds of them."""
    values = np.stack(
        [RANDOM.integers(0, 5, PLACES), RANDOM.integers(0, PLACES + 1, PLACES), RANDOM.integers(0, 4, PLACES)], 1
    )
    zones = np.stack([RANDOM.integers(0, 2, 2), RANDOM.integers(0, PLACES + 1, 2)], 1)
    return Layout(
        [
            table("game", 1, [piece("turn", COUNT, 40, "", low=-40, scale=10), reference("first", "players", "")]),
            table("players", 2, [piece("alive", FLAG, 1, ""), piece("cards", COUNT, 9, "", shape=2)]),
            table(
                "ships", 3,
                [reference("place", "places", ""), piece("suit", LABEL, 5, "", low=2), reference("type", "ships", ""),
                 reference("owner", "players", "")],
            ),
            table("planets", 3,
                  [piece("level", NUMBER, 6, "", low=-2, scale=3), reference("at", "places", "", shape=2)]),
            table("game", 1, [piece("last", LABEL, 3, "")], derived=True),
            table("ships", 3, [piece("reach", NUMBER, 7, "", shape=2)], derived=True),
        ],
        [
            fixed_table(
                "places",
                [piece("zone", LABEL, 4, ""), reference("next", "places", ""), reference("planet", "planets", "")],
                values,
            ),
            fixed_table("zones", [piece("rich", FLAG, 1, ""), reference("heart", "places", "")], zones),
        ],
    )  # fmt: skip


LAYOUT = random_layout()
NOWHERE = (0, 4, -1, 69, 5)
ACTIONS = ActionSet(
    [
        Block("PASS", 0, 1, "pass"),
        Block("SHIP", 1, 3, "take {}", tuple("abc"), axes(("ship", "ships", 3))),
        Block("MOVE", 4, 15, "move {}", tuple("abcdefghijklmno"),
              axes(("ship", "ships", 3), ("place", "places", NOWHERE))),
        Block("COUNT", 19, 2, "count {}", tuple("ab"), axes(("how many", "", 2))),
        Block("GAME", 21, 2, "end {}", tuple("ab"), axes(("game", "game", (0, -1)))),
        Block("ROUTE", 23, 9, "fly {}", tuple("abcdefghi"),
              axes(("from", "places", (1, 2, 69)), ("how many", "", 1), ("to", "places", (2, 1, 0)))),
    ]
)  # fmt: skip
SHAPES = {
    "usual": NetworkShape(12, (10, 8), 6),
    "no hidden layer": NetworkShape(12, (), 6),
    "flat": NetworkShape(12, (8,), 0),
}


def network_of(shape: NetworkShape) -> PieceNetwork:
    """All of its weights are random: none of them may be left out."""
    network = PieceNetwork(NetworkInputs(LAYOUT, ACTIONS, 4, shape))
    generator = th.Generator().manual_seed(11)
    with th.no_grad():
        for weights in network.parameters():
            weights.normal_(0, 0.5, generator=generator)
    return network.double()


def observations(count: int) -> np.ndarray:
    return np.random.default_rng(0).integers(LAYOUT.low, LAYOUT.high + 1, (count, LAYOUT.size)).astype(np.int16)


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def rows_said(inputs: NetworkInputs, arrays: dict[str, np.ndarray], vector: np.ndarray) -> dict[str, np.ndarray]:
    """q of every row of every table."""
    entries = {name: one.values if one.entries is None else vector[one.entries] for name, one in inputs.tables.items()}
    x = {name: one.encode(entries[name]).astype(np.float64) for name, one in inputs.tables.items()}
    q = {name: arrays[f"tables.{name}.row"] + x[name] @ arrays[f"tables.{name}.encoder"] for name in inputs.rows_of}
    for join in inputs.joins:
        for row, columns in enumerate(entries[join.table][:, list(join.columns)]):
            for other in columns[columns > 0] - 1:
                told_back = [1.0] if len(x[join.table]) == 1 else [*x[join.table][row], 1.0]
                q[join.table][row] += np.array([*x[join.of][other], 1.0]) @ arrays[f"joins.{join.name}.to"]
                q[join.of][other] += np.array(told_back) @ arrays[f"joins.{join.name}.back"]
    return q


def slow(inputs: NetworkInputs, arrays: dict[str, np.ndarray], vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logits (A,) and values (P,) of one position."""
    q = rows_said(inputs, arrays, vector) if inputs.shape.rows else {}
    first = arrays["first.bias"].copy()
    for name, one in inputs.tables.items():
        if one.entries is not None:
            first += one.encode(vector[one.entries]).astype(np.float64).ravel() @ arrays[f"tables.{name}.flat"]
            if inputs.shape.rows and one.rows > 1:
                first += relu(q[name]).mean(0) @ arrays[f"tables.{name}.pool"]
    ends = {}
    for side in ("policy", "value"):
        ends[side] = relu(first)
        for number in range(len(inputs.shape.hidden)):
            ends[side] = relu(arrays[f"{side}.{number}.weight"] @ ends[side] + arrays[f"{side}.{number}.bias"])
    logits = arrays["actions.weight"] @ ends["policy"] + arrays["actions.bias"]
    for block in inputs.actions.blocks:
        pointing = [axis for axis in block.axes if axis.table]
        for place, action in enumerate(block.ids):
            if pointing and inputs.shape.rows:
                hidden = arrays[f"heads.{block.name}.context"] @ ends["policy"] + arrays[f"heads.{block.name}.bias"]
                for weight, axis in zip(arrays[f"heads.{block.name}.axes"], pointing, strict=True):
                    if axis.rows[place] >= 0:
                        hidden += weight * q[axis.table][axis.rows[place]]
                logits[action] += arrays[f"heads.{block.name}.out"] @ relu(hidden)
    return logits, arrays["values.weight"] @ ends["value"] + arrays["values.bias"]


def test_the_inputs_of_rows_are_those_of_the_library():
    inputs = NetworkInputs(LAYOUT, ACTIONS, 4, SHAPES["usual"])
    x = np.concatenate([observations(50), [LAYOUT.low, LAYOUT.high]]).astype(np.int16)
    for name, found in RowInputs(inputs)(th.as_tensor(x)).items():
        expected = inputs.tables[name].encode(x[:, inputs.tables[name].entries])
        np.testing.assert_array_equal(found.numpy(), expected.reshape(len(x), -1))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_computes_what_is_described(shape, masked):
    network = network_of(SHAPES[shape])
    arrays = {name: weights.numpy() for name, weights in network.state_dict().items()}
    x = np.concatenate([observations(40), [LAYOUT.low, LAYOUT.high]]).astype(np.int16)
    masks = np.random.default_rng(1).random((len(x), len(ACTIONS))) < 0.3
    masks[:, 0] = True
    allowed = masks if masked else np.ones_like(masks)
    with th.no_grad():
        log_probs, values = network(th.as_tensor(x), th.as_tensor(masks) if masked else None)
    for row, vector in enumerate(x):
        logits, expected = slow(network.inputs, arrays, vector)
        weights = np.where(allowed[row], np.exp(logits - logits[allowed[row]].max()), 0)
        np.testing.assert_allclose(log_probs[row].exp(), weights / weights.sum(), atol=1e-6)
        np.testing.assert_allclose(values[row], expected, atol=1e-5)
        assert not log_probs[row].exp()[~th.as_tensor(allowed[row])].any()


@pytest.mark.parametrize("shape", SHAPES)
def test_its_arrays_are_those_that_are_described(shape):
    network = network_of(SHAPES[shape])
    found = {name: tuple(weights.shape) for name, weights in network.state_dict().items()}
    assert found == network.inputs.expected_shapes()
    assert set(found) == {name for name, _ in network.named_parameters()}
    network.inputs.check({name: weights.numpy() for name, weights in network.state_dict().items()})
    again = PieceNetwork(network.inputs).double()
    again.load_state_dict(network.state_dict())
    x = th.as_tensor(observations(5))
    for twin in (again, copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert all(th.equal(one, other) for one, other in zip(network(x), twin(x), strict=True))


def test_a_layer_has_outputs():
    for refused, told in (
        ({"width": 0}, "width is 0; outputs are whole numbers from 1 on"),
        ({"hidden": (8, 0)}, r"hidden is \(8, 0\); outputs are whole numbers from 1 on"),
        ({"rows": -1}, "rows is -1; outputs are whole numbers from 0 on"),
        ({"width": NetworkShape()}, "width is NetworkShape"),
    ):
        with pytest.raises(ValueError, match=told):
            NetworkShape(**refused)


def test_gradients_are_those_of_small_changes():
    network = network_of(NetworkShape(5, (4,), 3))
    x, masks = th.as_tensor(observations(3)), th.as_tensor(RANDOM.random((3, len(ACTIONS))) < 0.6)
    masks[:, 0] = True
    aim, hopes = th.as_tensor(RANDOM.normal(size=masks.shape)) * masks, th.as_tensor(RANDOM.normal(size=(3, 4)))

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
    network = PieceNetwork(NetworkInputs(LAYOUT, ACTIONS, 4, NetworkShape()))
    log_probs, values = network(th.as_tensor(observations(100)))
    assert (log_probs + np.log(len(ACTIONS))).abs().max() < 1 and values.abs().max() < 1
