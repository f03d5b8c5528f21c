"""Stable-Baselines3: a batch of games as a ``VecEnv``, a network built from an observation's pieces, and self-play.

There are two ways to learn::

    batch = kepler_envs.make_batch("kitten_adventurers-v1", num_envs=64, num_players=4, seed=0)
    network = piece_policy(batch.config)

    env = SeatVecEnv(batch)                                     # one learner per game, others play uniformly
    model = MaskablePPO(PiecePolicy, env, policy_kwargs=network)

    env = SharedSeatVecEnv(batch)                               # the network plays every seat
    model = SharedMaskablePPO(PiecePolicy, env, policy_kwargs=network)

``SeatVecEnv`` adds up what its learner is paid between two decisions, the final loss included. ``SharedSeatVecEnv``
returns what a step paid seat 0, whoever moved. It needs ``SharedMaskablePPO``, which reads what all seats were paid and
credits each seat's own decisions. How strong a model is, ``SeatVecEnv`` measures.
"""

from kepler_envs.adapters.sb3.buffer import SharedRolloutBuffer, TooFewDecisions, seat_advantages
from kepler_envs.adapters.sb3.environments import SeatVecEnv, SharedSeatVecEnv, observation_space
from kepler_envs.adapters.sb3.learner import SharedMaskablePPO
from kepler_envs.adapters.sb3.policy import PiecePolicy, piece_policy

__all__ = [
    "PiecePolicy", "SeatVecEnv", "SharedMaskablePPO", "SharedRolloutBuffer", "SharedSeatVecEnv",
    "TooFewDecisions", "observation_space", "piece_policy", "seat_advantages",
]  # fmt: skip
