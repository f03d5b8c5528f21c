"""PyTorch: the network of ``engine/network.py`` for training, in PyTorch's own operations and in compiled code."""

from kepler_envs.adapters.pytorch.compiled import CompiledLearner
from kepler_envs.adapters.pytorch.goal import Goal
from kepler_envs.adapters.pytorch.learners import Learner, TorchLearner, judged, learner_of
from kepler_envs.adapters.pytorch.network import ILLEGAL, PieceNetwork
from kepler_envs.adapters.pytorch.threads import torch_threads
from kepler_envs.networks.gradients import Judged

__all__ = [
    "ILLEGAL",
    "CompiledLearner",
    "Goal",
    "Judged",
    "Learner",
    "PieceNetwork",
    "TorchLearner",
    "judged",
    "learner_of",
    "torch_threads",
]
