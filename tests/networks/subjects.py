"""A made-up game's tables and actions, networks with random weights, and what a network computes, written down
plainly."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.actions import ActionSet, Block, axes
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.inputs import Join
from kepler_envs.engine.network import NetworkInputs, NetworkShape, Weights
from kepler_envs.engine.observation import (
    COUNT,
    FLAG,
    LABEL,
    NUMBER,
    Layout,
    fixed_table,
    piece,
    reference,
    table,
)

SEATS = 4

SHAPES = {
    "usual": NetworkShape(),
    "wide": NetworkShape(80, (64,), 64),
    "deep": NetworkShape(24, (40, 16), 20),
    "linear": NetworkShape(30, (), 8),
    "flat": NetworkShape(30, (12,), 0),
    "over a bot": NetworkShape(30, (12,), 20, "greedy"),
    "flat over a bot": NetworkShape(30, (), 0, "greedy"),
}


def made_up_layout(large: int = 70, rows: int = 6) -> Layout:
    """All kinds of fields, references between all kinds of tables: in the vector, fixed, of one row, of more than can
    be named one by one."""
    dice = np.random.default_rng(2)
    world = [
        piece("round", NUMBER, 9, ""),
        piece("phase", LABEL, 3, ""),
        reference("at", "places", ""),
        reference("ship", "ships", ""),
    ]
    players = [
        piece("gold", COUNT, 20, "", scale=5),
        piece("order", LABEL, 4, "", low=1),
        piece("debt", NUMBER, 9, "", low=-9),
    ]
    ships = [
        piece("there", FLAG, 1, ""), reference("place", "places", ""), reference("owner", "players", ""),
        piece("cargo", COUNT, 3, "", shape=3, low=-2), piece("mood", LABEL, 2, "", low=-2),
        reference("seen", "ships", "", shape=2), reference("game", "game", ""),
    ]  # fmt: skip
    cards = [piece("kind", LABEL, 5, ""), reference("large", "stars", ""), piece("worth", NUMBER, 30, "", scale=10)]
    stars = [piece("bright", COUNT, 7, "")]
    places = [
        piece("hex", LABEL, 6, ""), piece("depth", NUMBER, 9, "", low=-9), piece("space", COUNT, 4, "", shape=2),
        reference("next", "places", "", shape=2), reference("star", "stars", ""), reference("home", "players", ""),
    ]  # fmt: skip
    values = np.stack([dice.integers(0, high + 1, large) for high in (6, 9, 4, 4, large, large, large, SEATS)], 1)
    signs = [piece("kind", LABEL, 3, ""), reference("in", "places", ""), reference("world", "game", "")]
    return Layout(
        [
            table("game", 1, world),
            table("players", SEATS, players),
            table("ships", rows, ships),
            table("cards", rows + 2, cards),
            table("stars", large, stars),
            table("players", SEATS, [piece("lead", NUMBER, 50, "", low=-50)], derived=True),
            table("ships", rows, [piece("reach", NUMBER, 8, "", shape=2), piece("best", FLAG, 1, "")], derived=True),
        ],
        [fixed_table("places", places, values), fixed_table("signs", signs, np.array([[2, 5, 1]]))],
    )


def made_up_actions(large: int = 70, rows: int = 6) -> ActionSet:
    """Blocks that point at one row, at two, at none, at the same table twice, and now and then nowhere."""
    blocks, first = [], 0
    for name, count, about in (
        ("PASS", 1, ()),
        ("MOVE", rows * large, axes(("ship", "ships", rows), ("place", "places", large))),
        ("SWAP", 9, axes(("ship", "ships", 3), ("other", "ships", (4, -1, 2)))),
        ("CARD", 2 * (rows + 2), axes(("card", "cards", rows + 2), ("way", "", 2))),
        ("NUMBER", 5, axes(("number", "", 5))),
        ("WORLD", 2, axes(("world", "game", (0, -1)))),
        ("SIGN", 1, axes(("sign", "signs", 1))),
        ("ROUTE", 9, axes(("from", "places", (1, 2, large - 1)), ("pace", "", 1), ("to", "places", (2, 1, 0)))),
    ):
        blocks.append(Block(name, first, count, name + " {}", tuple(map(str, range(count))), about))
        first += count
    return ActionSet(blocks)


def made_up_inputs(
    shape: NetworkShape, layout: Layout | None = None, actions: ActionSet | None = None
) -> NetworkInputs:
    return NetworkInputs(layout or made_up_layout(), actions or made_up_actions(), SEATS, shape)


def random_weights(inputs: NetworkInputs, seed: int = 11) -> dict[str, np.ndarray]:
    """All weights are random: none of them may be left out."""
    dice = np.random.default_rng(seed)
    weights = {}
    for name, size in inputs.expected_shapes().items():
        spread = (
            0.5 if len(size) == 1 or name.startswith("heads") else 0.1 if "flat" in name else max(size[0], 16) ** -0.5
        )
        weights[name] = dice.normal(0, spread, size).astype(np.float32)
    return weights


def random_positions(
    layout: Layout, actions: int, count: int, zeros: float = 0.6, legal: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """(observations, masks): entries drawn from all of their range, but for a share of zeros where 0 is in it; an id is
    legal at least."""
    dice = np.random.default_rng(1)
    low, high = (bound.astype(np.int64) for bound in (layout.low, layout.high))
    drawn = dice.integers(low, high + 1, (count, len(low)))
    drawn[(dice.random(drawn.shape) < zeros) & (low <= 0)] = 0
    masks = dice.random((count, actions)) < legal
    masks[np.arange(count), dice.integers(0, actions, count)] = True
    return drawn.astype(np.int16), masks.astype(np.int8)


def positions(config: Configuration, rows: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """(observations, masks) from uniform play, some of every step."""
    batch = Batch(config, rows, 5)
    observations, masks = [], []
    for _ in range(steps):
        observations.append(batch.observation.copy())
        masks.append(batch.action_mask.copy())
        batch.step(batch.uniform())
    return np.concatenate(observations), np.concatenate(masks)


# ---------------------------------------------------------------- what a network computes


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


class PlainNetwork:
    """A network as kepler_envs/engine/network.py describes it, one position after the other, in double precision."""

    def __init__(self, inputs: NetworkInputs, weights: Weights) -> None:
        self.inputs = inputs
        self.w = {name: array.astype(np.float64) for name, array in weights.items()}

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        answers = [self.answer(x, mask) for x, mask in zip(observations, masks, strict=True)]
        return np.array([priors for priors, _ in answers]), np.array([values for _, values in answers])

    def answer(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        w = self.w
        raw = {
            n: one.values if one.entries is None else observation[one.entries] for n, one in self.inputs.tables.items()
        }
        x = {name: one.encode(raw[name]).astype(np.float64) for name, one in self.inputs.tables.items()}
        first = w["first.bias"].copy()
        for name, one in self.inputs.tables.items():
            if one.entries is not None:
                first += x[name].ravel() @ w[f"tables.{name}.flat"]
        q = {name: w[f"tables.{name}.row"] + x[name] @ w[f"tables.{name}.encoder"] for name in self.inputs.rows_of}
        for join in self.inputs.joins:
            self.add_join(join, raw[join.table], x, q)
        for name in self.inputs.pooled:
            first += relu(q[name]).mean(0) @ w[f"tables.{name}.pool"]
        c, v = (self.through(side, relu(first)) for side in ("policy", "value"))
        logits = w["actions.weight"] @ c + w["actions.bias"]
        for name, _ in self.inputs.heads:
            (block,) = (block for block in self.inputs.actions.blocks if block.name == name)
            context, bias, factors, out = (w[f"heads.{name}.{part}"] for part in ("context", "bias", "axes", "out"))
            for action in block.first + np.flatnonzero(mask[block.first : block.first + block.count]):
                number = action - block.first
                said = context @ c + bias
                for factor, axis in zip(factors, [axis for axis in block.axes if axis.table], strict=True):
                    if axis.rows[number] >= 0:
                        said = said + factor * q[axis.table][axis.rows[number]]
                logits[action] += out @ relu(said)
        if self.inputs.shape.over:
            logits[observation[-1]] += w["follow.weight"][0] @ c + w["follow.bias"][0]
        weight = np.where(mask, np.exp(logits - logits[mask != 0].max()), 0)
        return weight / weight.sum(), w["values.weight"] @ v + w["values.bias"]

    def add_join(self, join: Join, raw: np.ndarray, x: dict[str, np.ndarray], q: dict[str, np.ndarray]) -> None:
        to, back = self.w[f"joins.{join.name}.to"], self.w[f"joins.{join.name}.back"]
        for row in range(len(raw)):
            for column in join.columns:
                if raw[row, column] > 0:
                    of = raw[row, column] - 1
                    q[join.table][row] += np.append(x[join.of][of], 1) @ to
                    q[join.of][of] += np.append(x[join.table][row], 1) @ back if len(raw) > 1 else back[0]

    def through(self, side: str, units: np.ndarray) -> np.ndarray:
        for number in range(len(self.inputs.shape.hidden)):
            units = relu(self.w[f"{side}.{number}.weight"] @ units + self.w[f"{side}.{number}.bias"])
        return units
