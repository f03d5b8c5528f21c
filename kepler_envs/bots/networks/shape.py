"""What a trained network looks like, and the arrays it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.inputs import (
    EMBEDDING,
    Anchor,
    AnchoredActions,
    AnchorInputs,
    PieceInputs,
    PlaneInputs,
    choose_inputs,
)
from kepler_envs.engine.observation import Layout

Weights = Mapping[str, np.ndarray]
"""Arrays by the names that PyTorch gives them in :class:`kepler_envs.adapters.sb3.PiecePolicy`, each only once."""


@dataclass(frozen=True)
class NetworkShape:
    """A network: outputs of the first layer and of each further layer of policy and value, pieces that are no inputs, an anchor,
    channels of convolutions over planes, the planes whose values are labels, and how many seats it sees (None: those of the
    game; a network for several player counts sees those of the largest)."""

    width: int
    hidden: tuple[int, ...]
    leave_out: tuple[str, ...] = ()
    anchor: Anchor | None = None
    channels: tuple[int, ...] = ()
    label_planes: tuple[str, ...] = ()
    seats: int | None = None

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> NetworkShape:
        """What ``dataclasses.asdict`` made of one."""
        values = {name: _tuples(value) for name, value in saved.items()}
        if values.get("anchor") is not None:
            values["anchor"] = Anchor(**{name: _tuples(value) for name, value in values["anchor"].items()})
        return cls(**values)

    def inputs(self, config: Configuration) -> NetworkInputs:
        """Its inputs in games of ``config``."""
        seats = self.seats or config.num_players
        return NetworkInputs(config.observation, config.actions, len(config.actions), self, seats)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, (list, tuple)) else value


class NetworkInputs:
    """Which entries of an observation go where in a network.

    Args:
        layout: of the game. actions: its actions, if some of them lie at places of an anchor. num_actions: how many there are.
        shape: of the network.
        seats: those whose entries it sees; None: all.

    Attributes:
        pieces: its plain inputs. planes: those of its convolutions, None without. anchored, anchored_actions: what is seen from an anchor,
            and the actions that lie there, None without.

    Raises:
        ValueError: pieces, planes or blocks of actions that the game does not have.
    """

    def __init__(
        self, layout: Layout, actions: ActionSet | None, num_actions: int, shape: NetworkShape, seats: int | None
    ) -> None:
        self.shape = shape
        self.num_actions = num_actions
        left_out, planes, labelled = choose_inputs(layout, seats, shape.leave_out, shape.channels, shape.label_planes)
        self.planes = PlaneInputs(planes, labelled) if planes or labelled else None
        self.pieces = PieceInputs(layout, left_out)
        anchor = shape.anchor
        self.anchored = AnchorInputs(layout, anchor) if anchor is not None else None
        self.anchored_actions: AnchoredActions | None = None
        if anchor is not None and anchor.actions and actions is not None:
            self.anchored_actions = AnchoredActions(layout, anchor, actions)

    def check(self, weights: Weights) -> None:
        """ValueError naming the first array that is missing, has another shape, or has no place in this network."""
        expected = self.expected_shapes()
        for name, size in expected.items():
            if name not in weights:
                raise ValueError(f"{name} is missing")
            if weights[name].shape != size:
                raise ValueError(f"{name} is {weights[name].shape}, it must be {size}")
        for name in weights:
            if name not in expected:
                raise ValueError(f"{name} has no place in it")

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each array of weights by its name."""
        width, first = self.shape.width, "features_extractor."
        shapes: dict[str, tuple[int, ...]] = {
            f"{first}pieces.rows": (self.pieces.rows, width),
            f"{first}pieces.linear.weight": (width, self.pieces.dense),
            f"{first}pieces.linear.bias": (width,),
        }
        if self.planes is not None:
            shapes |= {f"{first}planes.{name}": size for name, size in _plane_shapes(self.planes, self.shape).items()}
        if self.anchored is not None:
            shapes[f"{first}anchored.linear.weight"] = (width, self.anchored.columns.shape[1])
            shapes[f"{first}anchored.rows"] = (self.anchored.rows, width)
        for side in ("policy_net", "value_net"):
            sizes = (width, *self.shape.hidden)
            for number, (before, after) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
                shapes[f"mlp_extractor.{side}.{2 * number}.weight"] = (after, before)
                shapes[f"mlp_extractor.{side}.{2 * number}.bias"] = (after,)
        features = (width, *self.shape.hidden)[-1]
        shapes |= {"action_net.weight": (self.num_actions, features), "action_net.bias": (self.num_actions,)}
        shapes |= {"value_net.weight": (1, features), "value_net.bias": (1,)}
        if self.anchored_actions is not None:
            shapes["anchor_net.linear.weight"] = (self.anchored_actions.rows, features)
        return shapes


def _plane_shapes(planes: PlaneInputs, shape: NetworkShape) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    if planes.rows:
        shapes["labels.weight"] = (planes.rows, EMBEDDING)
    before = planes.channels
    for number, channels in enumerate(shape.channels):
        shapes[f"convolutions.{2 * number}.weight"] = (channels, before, 3, 3)
        shapes[f"convolutions.{2 * number}.bias"] = (channels,)
        before = channels
    shapes["linear.weight"] = (shape.width, before * planes.size)
    return shapes
