"""Stable-Baselines3: a batch of games as a ``VecEnv``, a network built from an observation's pieces, self-play for all seats.

Two ways to learn:

    batch = kepler_envs.make_batch("kitten_adventurers-v0", num_envs=64, num_players=4, seed=0)
    layout = batch.config.observation

    env = SeatVecEnv(batch)                                     # one learner a game, others play uniformly
    model = MaskablePPO(PiecePolicy, env, policy_kwargs=piece_policy(layout, num_players=4))

    env = SharedSeatVecEnv(batch)                               # the network plays every seat
    model = SharedMaskablePPO(PiecePolicy, env, policy_kwargs=piece_policy(layout, num_players=4))

Both hand a seat everything it was paid since its last decision, so a loss that another seat's move brings about arrives
as -1 (-1 / (n - 1) with more players).
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any, cast

import gymnasium as gym
import numpy as np
import torch as th
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import update_learning_rate
from stable_baselines3.common.vec_env import VecEnv
from torch import nn
from torch.nn import functional as F

from kepler_envs.adapters.opponents import CompiledOpponent, Opponent, opponent_of
from kepler_envs.adapters.pytorch import (
    Anchor,
    AnchorInput,
    AnchorOutput,
    PieceInput,
    PlaneInput,
    absent_seats,
    entries_of,
)
from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.checks import check_view
from kepler_envs.engine.observation import PLANE, Layout
from kepler_envs.engine.seeds import opponent_seeds

__all__ = [
    "Anchor", "CompiledOpponent", "Opponent", "PieceExtractor", "PiecePolicy", "SeatVecEnv", "SharedMaskablePPO",
    "SharedRolloutBuffer", "SharedSeatVecEnv", "observation_space", "piece_policy", "seat_advantages",
]  # fmt: skip


def observation_space(layout: Layout) -> spaces.Box:
    """The space of a layout's vectors, with the bounds of its pieces."""
    return spaces.Box(layout.low, layout.high, dtype=layout.dtype.type)


# ---------------------------------------------------------------- network


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
        left_out = [entries_of(layout, [*absent_seats(layout, num_players), *leave_out])]
        self.planes: PlaneInput | None = None
        planes = [placed for placed in layout if placed.kind == PLANE]
        if channels and planes:
            labelled = [layout[name] for name in label_planes]
            counted = [placed for placed in planes if placed not in labelled]
            self.planes = PlaneInput(counted, width, channels, labelled)
            left_out += [placed.indices().ravel() for placed in planes]
        self.pieces = PieceInput(layout, width, np.concatenate(left_out))
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


# ---------------------------------------------------------------- environments


class _BatchVecEnv(VecEnv):
    """What both environments share: spaces, masks, seeding, and infos without a dict per game and step.

    Attributes:
        batch: the games; read its arrays as you like.
        env_seconds: time spent in ``step``, ``reset`` and ``action_masks`` so far, without that of opponents.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.env_seconds = 0.0
        self.render_mode: str | None = None
        super().__init__(
            batch.num_envs, observation_space(batch.config.observation), spaces.Discrete(len(batch.config.actions))
        )
        self._rows = np.arange(batch.num_envs)
        self._no_infos: list[dict[str, Any]] = [{} for _ in range(batch.num_envs)]
        self._actions = np.empty(0, np.int64)
        self._untouched = True  # the batch was dealt when it was made, and nobody has played yet

    def action_masks(self) -> np.ndarray:
        """bool (N, A): what the seats to move may do."""
        begin = time.perf_counter()
        masks = self.batch.action_mask.astype(np.bool_)
        self.env_seconds += time.perf_counter() - begin
        return masks

    def _deal(self) -> None:
        """New games: from the seed that ``seed()`` was given, else the next of each row."""
        seed = self._seeds[0]
        if seed is not None:
            self.batch.reset(int(seed))
        elif not self._untouched:
            self.batch.reset()
        self._untouched = False
        self._reset_seeds()
        self._reset_options()

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = np.asarray(actions)

    def close(self) -> None:
        """Nothing to close: the games live in this process."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """A method's result once per game; for ``action_masks`` the rows of one call."""
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        if method_name == "action_masks":
            return list(result if indices is None else result[list(self._get_indices(indices))])
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper], indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]


class SeatVecEnv(_BatchVecEnv):
    """One learning seat in each game; the other seats play by themselves.

    ``step`` returns when it is the learner's turn again or its game is over. The reward is everything its seat was paid
    since its last move, so the rewards of an episode sum to what the game paid that seat. Games that end before the learner's
    first decision are passed over.

    Infos of a finished game: ``terminal_observation`` (the final state as the learner's seat sees it), ``episode`` (``r``; ``l``, the
    learner's decisions; ``t``), ``seat``, ``rank``, ``truncated``. A game that reaches a limit pays its final
    result like any other, so nothing is left to bootstrap: ``TimeLimit.truncated`` stays False unless
    ``bootstrap_truncated`` is set.

    Args:
        batch: the games.
        opponent: plays all other seats: an agent's name, or what else :func:`kepler_envs.adapters.opponents.opponent_of` takes.
        learner_seat: a fixed seat, or None: game number k of row g is played from seat (g + k) mod P.
        bootstrap_truncated: report ``TimeLimit.truncated``, whereupon Stable-Baselines3 adds the value of the final state.

    Attributes:
        learner: int8 (N,), the learner's seat in each running game.
        opponent_seconds: time spent in opponents' code so far.
    """

    def __init__(
        self,
        batch: Batch,
        opponent: Any = None,
        learner_seat: int | None = None,
        bootstrap_truncated: bool = False,
    ) -> None:
        super().__init__(batch)
        self.learner_seat = check_view(learner_seat, batch.num_players, "learner_seat")
        self.opponent = opponent_of(opponent, batch.config, batch.num_envs)
        self.opponent_seconds = 0.0
        self.bootstrap_truncated = bootstrap_truncated
        rows = self.num_envs
        self.learner = np.zeros(rows, np.int8)
        self._owed = np.zeros(rows, np.float32)  # paid to the learner since its last move
        self._undecided = np.ones(rows, np.bool_)  # games in which the learner has not moved yet
        self._decisions = np.zeros(rows, np.int64)
        self._return = np.zeros(rows, np.float64)
        self._rewards = np.zeros(rows, np.float32)
        self._dones = np.zeros(rows, np.bool_)
        self._infos = self._no_infos
        self._made = time.time()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "opponent"}

    def seat_opponent(self, opponent: Opponent) -> None:
        """Let ``opponent`` take over the other seats of the running games: needed after unpickling, which leaves it out."""
        self.opponent = opponent
        opponent.start(self._rows, opponent_seeds(self.batch.seed))

    def reset(self) -> np.ndarray:
        """Deal new games and play them up to the learner's first decision."""
        begin = time.perf_counter()
        played_before = self.opponent_seconds
        self._deal()
        self._begin_games(self._rows)
        self._play_others()
        self.env_seconds += time.perf_counter() - begin - (self.opponent_seconds - played_before)
        return self.batch.observation.copy()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        begin = time.perf_counter()
        played_before = self.opponent_seconds
        self._dones = np.zeros(self.num_envs, np.bool_)
        self._infos = self._no_infos
        self.batch.step(self._actions)
        self._undecided[:] = False
        self._decisions += 1
        self._settle()
        self._play_others()
        rewards = np.where(self._dones, self._rewards, self._owed)
        running = ~self._dones
        self._return[running] += self._owed[running]
        self._owed[running] = 0  # what a new game pays before the first decision stays owed
        self.env_seconds += time.perf_counter() - begin - (self.opponent_seconds - played_before)
        return self.batch.observation.copy(), rewards, self._dones, self._infos

    def _play_others(self) -> None:
        """Let the opponents move until the learner is to move in every row."""
        batch = self.batch
        rows = np.flatnonzero(batch.seat != self.learner)
        while len(rows):
            actions = np.full(self.num_envs, batch.SKIP)
            begin = time.perf_counter()
            actions[rows] = self.opponent(batch, rows)
            self.opponent_seconds += time.perf_counter() - begin
            batch.step(actions)
            self._settle()
            rows = np.flatnonzero(batch.seat != self.learner)

    def _settle(self) -> None:
        """Book what the last step of the batch paid and ended."""
        self._owed += self.batch.reward[self._rows, self.learner]
        ended = np.flatnonzero(self.batch.terminated | self.batch.truncated)
        if len(ended):
            self._report(ended[~self._undecided[ended]])
            self._begin_games(ended)

    def _report(self, rows: np.ndarray) -> None:
        """Keep reward and infos of games that ended and in which the learner had moved."""
        if not len(rows):
            return
        batch = self.batch
        self._rewards[rows] = self._owed[rows]
        self._dones[rows] = True
        self._return[rows] += self._owed[rows]
        self._infos = list(self._infos)
        terminal = batch.observe_final(self.learner)
        elapsed = round(time.time() - self._made, 6)
        for row in rows:
            truncated = bool(batch.truncated[row])
            seat = int(self.learner[row])
            self._infos[row] = {
                "terminal_observation": terminal[row],
                "TimeLimit.truncated": truncated and self.bootstrap_truncated,
                "truncated": truncated,
                "seat": seat,
                "rank": int(batch.final_rank[row, seat]),
                "episode": {"r": float(self._return[row]), "l": int(self._decisions[row]), "t": elapsed},
            }

    def _begin_games(self, rows: np.ndarray) -> None:
        batch = self.batch
        if self.learner_seat is None:
            self.learner[rows] = (rows + batch.episodes[rows]) % batch.num_players
        else:
            self.learner[rows] = self.learner_seat
        self._owed[rows] = 0
        self._return[rows] = 0
        self._decisions[rows] = 0
        self._undecided[rows] = True
        self.opponent.start(rows, opponent_seeds(batch.seed[rows]))


class SharedSeatVecEnv(_BatchVecEnv):
    """Every seat learns: one decision per game and step, of whoever is to move.

    A subclass may let others decide for some seats, from which nothing is learned: ``learning`` and ``others_choose``.

    For :class:`SharedMaskablePPO`, which sorts the decisions by seat. Rewards returned here are only the mover's own of this step;
    what all seats were paid is in ``batch.reward``. Infos of a finished game: ``terminal_observation`` (as the
    seat that ended it sees it), ``episode`` (``r`` is seat 0's return, ``l`` the decisions of all seats, ``t``), ``truncated``, ``returns`` (P,).
    """

    def __init__(self, batch: Batch) -> None:
        super().__init__(batch)
        self._made = time.time()

    @property
    def seats(self) -> np.ndarray:
        """int8 (N,): who is to move, a copy."""
        return self.batch.seat.copy()

    @property
    def learning(self) -> np.ndarray:
        """bool (N,): whether the seat to move is the learner's."""
        return np.ones(self.num_envs, np.bool_)

    def others_choose(self, actions: np.ndarray) -> np.ndarray:
        """The learner's choices (N,), with those of others where the seat to move is not the learner's."""
        return actions

    def reset(self) -> np.ndarray:
        """Deal new games."""
        begin = time.perf_counter()
        self._deal()
        self.env_seconds += time.perf_counter() - begin
        return self.batch.observation.copy()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        begin = time.perf_counter()
        batch = self.batch
        movers = self.seats
        batch.step(self._actions)
        dones = batch.terminated | batch.truncated
        infos = self._no_infos
        if dones.any():
            infos = list(infos)
            terminal = batch.observe_final(movers)
            elapsed = round(time.time() - self._made, 6)
            for row in np.flatnonzero(dones):
                infos[row] = {
                    "terminal_observation": terminal[row],
                    "TimeLimit.truncated": False,
                    "truncated": bool(batch.truncated[row]),
                    "returns": batch.final_return[row].copy(),
                    "episode": {
                        "r": float(batch.final_return[row, 0]),
                        "l": int(batch.final_length[row]),
                        "t": elapsed,
                    },
                }
        result = batch.observation.copy(), batch.reward[self._rows, movers], dones, infos
        self.env_seconds += time.perf_counter() - begin
        return result


# ---------------------------------------------------------------- self-play of all seats


def seat_advantages(
    rewards: np.ndarray,
    seats: np.ndarray,
    dones: np.ndarray,
    values: np.ndarray,
    last_seats: np.ndarray,
    last_values: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> np.ndarray:
    """Generalised advantages where each step of a game is a decision of one of its seats.

    For every (game, seat) its own decisions form the trajectory: its reward is all the seat was paid from one decision up to
    the next (or to the end of the game), the next value is that of its own next decision, and the discount applies once per own decision.

    Where a seat's next decision lies beyond the rollout: the seat that is to move then has its value as the next one. The others' next
    values are not known, so the TD error of their last decision counts as 0. Rewards before a seat's first
    decision of a game are no consequence of its decisions and are left out.

    Args:
        rewards: (T, N, P), what step t paid each seat of game n.
        seats: (T, N) integers, who decided. dones: (T, N) bool, whether that ended the game.
        values: (T, N), predicted for the deciding seat.
        last_seats, last_values: (N,), who is to move after the last step, and the value predicted for it.
        gamma, gae_lambda: the discount per own decision, and lambda.

    Returns:
        float32 (T, N).
    """
    steps, games, players = rewards.shape
    rows = np.arange(games)
    paid = np.zeros((games, players), np.float32)  # since the decision that comes next in the backward pass
    next_value = np.zeros((games, players), np.float32)
    next_advantage = np.zeros((games, players), np.float32)
    known = np.zeros((games, players), np.bool_)
    next_value[rows, last_seats] = last_values
    known[rows, last_seats] = True
    advantages = np.zeros((steps, games), np.float32)
    for step in range(steps - 1, -1, -1):
        ended = dones[step]
        if ended.any():
            paid[ended] = 0
            next_value[ended] = 0
            next_advantage[ended] = 0
            known[ended] = True
        paid += rewards[step]
        own = rows, seats[step]
        delta = paid[own] + gamma * next_value[own] - values[step]
        advantage = np.where(known[own], delta + gamma * gae_lambda * next_advantage[own], 0)
        advantages[step] = advantage
        next_value[own] = values[step]
        next_advantage[own] = advantage
        paid[own] = 0
        known[own] = True
    return advantages


class SharedRolloutBuffer(MaskableRolloutBuffer):
    """A rollout of games in which all seats decide: observations and masks keep their small types, rewards have a seat axis.

    ``rewards`` float32 (T, N, P), ``seats`` int8 (T, N), ``dones`` bool (T, N), ``learning`` bool (T, N): decisions to learn from.
    All else as in its base class.
    """

    def __init__(self, *args: Any, num_players: int, **kwargs: Any) -> None:
        self.num_players = num_players
        self._allocated = False
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Start over; the arrays are allocated once."""
        self.pos, self.full = 0, False
        if self._allocated:
            return
        self._allocated = True
        steps = (self.buffer_size, self.n_envs)
        self.mask_dims = int(cast(spaces.Discrete, self.action_space).n)
        self.observations = np.zeros((*steps, *self.obs_shape), self.observation_space.dtype)
        self.action_masks = np.zeros((*steps, self.mask_dims), np.bool_)
        self.actions = np.zeros(steps, np.int64)
        self.seats = np.zeros(steps, np.int8)
        self.learning = np.ones(steps, np.bool_)
        self.dones = np.zeros(steps, np.bool_)
        self.rewards = np.zeros((*steps, self.num_players), np.float32)
        self.values = np.zeros(steps, np.float32)
        self.log_probs = np.zeros(steps, np.float32)
        self.advantages = np.zeros(steps, np.float32)
        self.returns = np.zeros(steps, np.float32)

    def add_decisions(
        self,
        obs: np.ndarray,
        masks: np.ndarray,
        seats: np.ndarray,
        learning: np.ndarray,
        actions: np.ndarray,
        values: np.ndarray,
        log_probs: np.ndarray,
    ) -> None:
        """What the seats to move (N,) saw, might do, did, what the network thought of it, and whether it is to learn from it."""
        step = self.pos
        self.learning[step] = learning
        self.observations[step] = obs
        self.action_masks[step] = masks
        self.seats[step] = seats
        self.actions[step] = actions
        self.values[step] = values
        self.log_probs[step] = log_probs

    def add_outcome(self, rewards: np.ndarray, dones: np.ndarray) -> None:
        """What these decisions paid every seat (N, P) and which games they ended (N,)."""
        self.rewards[self.pos] = rewards
        self.dones[self.pos] = dones
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute_seat_advantages(self, last_seats: np.ndarray, last_values: np.ndarray) -> None:
        """Fill ``advantages`` and ``returns``; see :func:`seat_advantages`."""
        self.advantages = seat_advantages(
            self.rewards, self.seats, self.dones, self.values, last_seats, last_values, self.gamma, self.gae_lambda
        )
        self.returns = self.advantages + self.values

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Minibatches in random order (numpy's global generator, as in the base class).

        They are equally large, up to one, and about as large as asked: of a small rest, advantages could not be normalised.
        """
        if not self.full:
            raise RuntimeError(f"the rollout has {self.pos} of {self.buffer_size} steps")
        order = np.random.permutation(np.flatnonzero(self.learning.ravel()))
        if len(order) < 2:
            raise RuntimeError(
                f"{len(order)} decisions to learn from; play more games side by side, or longer rollouts"
            )
        for chosen in np.array_split(order, max(1, round(len(order) / (batch_size or len(order))))):
            yield self._get_samples(chosen)

    def _get_samples(self, batch_inds: np.ndarray, env: Any = None) -> MaskableRolloutBufferSamples:
        flat = (
            self.observations.reshape(-1, *self.obs_shape),
            self.actions.ravel(),
            self.values.ravel(),
            self.log_probs.ravel(),
            self.advantages.ravel(),
            self.returns.ravel(),
            self.action_masks.reshape(-1, self.mask_dims),
        )
        return MaskableRolloutBufferSamples(*(self.to_torch(values[batch_inds]) for values in flat))


class SharedMaskablePPO(MaskablePPO):
    """MaskablePPO on a :class:`SharedSeatVecEnv`: one network decides for every seat and learns from all of them.

    Arguments are MaskablePPO's; ``n_steps`` counts decisions per game, timesteps those of the learner.
    """

    def __init__(self, policy: Any, env: Any, *args: Any, _init_setup_model: bool = True, **kwargs: Any) -> None:
        super().__init__(policy, env, *args, _init_setup_model=False, **kwargs)
        if env is not None:
            self.rollout_buffer_class = SharedRolloutBuffer
            self.rollout_buffer_kwargs = {"num_players": self._games().batch.num_players}
        if _init_setup_model:
            self._setup_model()

    def _games(self) -> SharedSeatVecEnv:
        games = self.env.unwrapped if self.env is not None else None
        if not isinstance(games, SharedSeatVecEnv):
            raise TypeError(f"SharedMaskablePPO learns on a SharedSeatVecEnv, not on {type(games).__name__}")
        return games

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play ``n_rollout_steps`` decisions in every game; False if the callback stopped it."""
        games = self._games()
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        for _ in range(n_rollout_steps):
            masks = games.action_masks()
            with th.no_grad():
                chosen, values, log_probs = self.policy(self._last_seen(), action_masks=masks if use_masking else None)
            actions = games.others_choose(chosen.cpu().numpy())
            rollout_buffer.add_decisions(
                self._last_obs, masks, games.seats, games.learning, actions, values.cpu().numpy().ravel(),
                log_probs.cpu().numpy(),
            )  # fmt: skip
            self._play(env, games, actions, rollout_buffer)
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        rollout_buffer.compute_seat_advantages(games.seats, self._values(cast(np.ndarray, self._last_obs)))
        callback.on_rollout_end()
        return True

    def imitate(self, teacher: Opponent, learning_rate: float, batch_size: int) -> None:
        """Let ``teacher`` play a rollout on every seat, and learn to predict its choices and what they lead to.

        A start for self-play: the policy is trained by the likelihood of the teacher's actions, the value by the same
        returns as in self-play. Call it as often as wanted before ``learn``; its decisions count as timesteps.
        """
        self._setup_learn(0, None, reset_num_timesteps=False)
        games, rollout = self._games(), cast(SharedRolloutBuffer, self.rollout_buffer)
        rows = np.arange(games.num_envs)
        teacher.start(rows, opponent_seeds(games.batch.seed))
        rollout.reset()
        unknown = np.zeros(games.num_envs, np.float32)
        for _ in range(self.n_steps):
            actions = games.others_choose(teacher(games.batch, rows))
            rollout.add_decisions(
                self._last_obs, games.action_masks(), games.seats, games.learning, actions, unknown, unknown
            )
            ended = self._play(self.env, games, actions, rollout)
            if ended.size:
                teacher.start(ended, opponent_seeds(games.batch.seed[ended]))
        for step in range(self.n_steps):
            rollout.values[step] = self._values(rollout.observations[step])
        rollout.compute_seat_advantages(games.seats, self._values(cast(np.ndarray, self._last_obs)))
        self._learn_to_predict(rollout, learning_rate, batch_size)

    def _learn_to_predict(self, rollout: SharedRolloutBuffer, learning_rate: float, batch_size: int) -> None:
        self.policy.set_training_mode(True)
        update_learning_rate(self.policy.optimizer, learning_rate)
        losses = []
        for samples in rollout.get(batch_size):
            values, log_probs, _ = self.policy.evaluate_actions(
                samples.observations, samples.actions, samples.action_masks
            )
            surprise = -log_probs.mean()
            loss = surprise + self.vf_coef * F.mse_loss(values.flatten(), samples.returns)
            self.policy.optimizer.zero_grad()
            loss.backward()
            th.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
            losses.append(surprise.item())
        self.logger.record("imitation/loss", float(np.mean(losses)))
        self.logger.dump(self.num_timesteps)

    def _last_seen(self) -> th.Tensor:
        return th.as_tensor(cast(np.ndarray, self._last_obs), device=self.device)

    def _values(self, observations: np.ndarray) -> np.ndarray:
        """float32 (N,), what the network expects."""
        with th.no_grad():
            return self.policy.predict_values(th.as_tensor(observations, device=self.device)).cpu().numpy().ravel()

    def _play(self, env: Any, games: SharedSeatVecEnv, actions: np.ndarray, rollout: SharedRolloutBuffer) -> np.ndarray:
        """One decision in every game, and what it paid into the rollout; the rows (M,) whose games it ended."""
        learned = int(games.learning.sum())
        self._last_obs, _, dones, infos = env.step(actions)
        rollout.add_outcome(games.batch.reward, dones)
        self._last_episode_starts = dones
        self.num_timesteps += learned
        self._update_info_buffer(infos, dones)
        return np.flatnonzero(dones)
