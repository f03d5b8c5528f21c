"""The network: features from an observation's pieces, and a policy of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import torch as th
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn
from torch.nn import functional as F

from kepler_envs.adapters.pytorch import (
    Anchor,
    AnchorInput,
    AnchorOutput,
    PieceInput,
    PlaneInput,
)
from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.inputs import choose_inputs
from kepler_envs.engine.observation import Layout


class PieceExtractor(BaseFeaturesExtractor):
    """Features of an observation by its pieces: :class:`PieceInput`, planes through a small CNN if asked, then a ReLU.

    Args:
        observation_space: as Stable-Baselines3 passes it; its shape must be the layout's.
        layout: ``game.observation`` or ``batch.config.observation``.
        num_players: leave out the entries of absent seats; None keeps all.
        width: features, and outputs of the first layer.
        leave_out: patterns of pieces (:func:`entries_of`) that are no inputs.
        anchor: an axis to look at from one of its places, if any.
        channels: channels of 3x3 convolutions over the planes (all of the same rows and columns, whatever is left out);
            empty: planes are plain inputs like all others.
        label_planes: names of planes whose values are labels; the convolutions look them up.
    """

    def __init__(
        self,
        observation_space: gym.Space,
        layout: Layout,
        num_players: int | None = None,
        width: int = 128,
        leave_out: Sequence[str] = (),
        anchor: Anchor | None = None,
        channels: Sequence[int] = (),
        label_planes: Sequence[str] = (),
    ) -> None:
        if observation_space.shape != (layout.size,):
            raise ValueError(f"the layout has {layout.size} entries, the observation space {observation_space.shape}")
        super().__init__(observation_space, width)
        left_out, planes, labelled = choose_inputs(layout, num_players, leave_out, channels, label_planes)
        self.planes = PlaneInput(planes, width, channels, labelled) if planes or labelled else None
        self.pieces = PieceInput(layout, width, left_out)
        self.anchored = AnchorInput(layout, anchor, width) if anchor is not None else None

    def forward(self, observations: th.Tensor) -> th.Tensor:
        out = self.pieces(observations)
        if self.planes is not None:
            out = out + self.planes(observations)
        if self.anchored is not None:
            out = out + self.anchored(observations)
        return F.relu(out)


class PiecePolicy(MaskableActorCriticPolicy):
    """sb3-contrib's policy, with the arithmetic of masked choices written out.

    It computes what its base class computes. The base class builds two checked distribution objects for each call, which
    costs as much as the network itself at the sizes that are used here.

    Args:
        anchored_actions: the game's actions, if those of the extractor's anchor get logits by their distance from it.
    """

    def __init__(self, *args: Any, anchored_actions: ActionSet | None = None, **kwargs: Any) -> None:
        self.anchored_actions = anchored_actions
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "anchored_actions": self.anchored_actions}

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.anchor_net: AnchorOutput | None = None
        if self.anchored_actions is not None:
            known = self.features_extractor_kwargs
            self.anchor_net = AnchorOutput(
                known["layout"], known["anchor"], self.anchored_actions, self.mlp_extractor.latent_dim_pi
            )
            self.optimizer.add_param_group({"params": list(self.anchor_net.parameters())})

    def log_probs_and_values(self, obs: th.Tensor, action_masks: Any) -> tuple[th.Tensor, th.Tensor]:
        """Log-probabilities (N, A), masked, and values (N, 1)."""
        features = self.extract_features(obs)
        if self.share_features_extractor:
            latent_pi, latent_vf = self.mlp_extractor(features)
        else:
            latent_pi = self.mlp_extractor.forward_actor(features[0])
            latent_vf = self.mlp_extractor.forward_critic(features[1])
        logits = self.action_net(latent_pi)
        if self.anchor_net is not None:
            logits = self.anchor_net(latent_pi, obs, logits)
        if action_masks is not None:
            masks = th.as_tensor(action_masks, dtype=th.bool, device=logits.device)
            logits = logits.masked_fill(~masks.reshape(logits.shape), -1e8)
        return F.log_softmax(logits, 1), self.value_net(latent_vf)

    def forward(
        self, obs: th.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """(actions (N,), values (N, 1), log-probabilities (N,))."""
        log_probs, values = self.log_probs_and_values(obs, action_masks)
        actions = log_probs.argmax(1) if deterministic else th.multinomial(log_probs.exp(), 1).squeeze(1)
        return actions, values, log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)

    def evaluate_actions(
        self, obs: th.Tensor, actions: th.Tensor, action_masks: th.Tensor | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """(values (N, 1), log-probabilities (N,), entropies (N,)) of given actions."""
        log_probs, values = self.log_probs_and_values(obs, action_masks)
        chosen = log_probs.gather(1, actions.long().reshape(-1, 1)).squeeze(1)
        return values, chosen, -(log_probs.exp() * log_probs).sum(1)

    def get_distribution(self, obs: Any, action_masks: np.ndarray | None = None) -> Any:
        """The distribution that ``predict`` chooses from."""
        log_probs, _ = self.log_probs_and_values(obs, None)
        distribution = self.action_dist.proba_distribution(action_logits=log_probs)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution


def piece_policy(
    layout: Layout,
    num_players: int | None = None,
    width: int = 128,
    hidden: Sequence[int] = (128,),
    leave_out: Sequence[str] = (),
    anchor: Anchor | None = None,
    actions: ActionSet | None = None,
    channels: Sequence[int] = (),
    label_planes: Sequence[str] = (),
) -> dict[str, Any]:
    """``policy_kwargs`` for a network of this library's observations.

    Args:
        layout, num_players, width, leave_out, anchor, channels, label_planes: of :class:`PieceExtractor`, which policy and
            value share.
        hidden: widths of further layers, which each of the two has for itself.
        actions: ``config.actions``, needed where the anchor names some.
    """
    return {
        "features_extractor_class": PieceExtractor,
        "features_extractor_kwargs": {
            "layout": layout, "num_players": num_players, "width": width, "leave_out": tuple(leave_out),
            "anchor": anchor, "channels": tuple(channels), "label_planes": tuple(label_planes),
        },
        "anchored_actions": actions if anchor is not None and anchor.actions else None,
        "net_arch": {"pi": list(hidden), "vf": list(hidden)},
        "activation_fn": nn.ReLU,
    }  # fmt: skip
