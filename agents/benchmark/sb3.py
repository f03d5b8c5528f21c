"""sb3-contrib's own MaskablePPO with ``MlpPolicy``, on the observation as one flat vector. One seat learns, and the
current network plays all others. The other settings are those of ``python -m agents.train``, so that only the network
and what it learns from differ."""

from __future__ import annotations

import io
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import ConstantSchedule
from torch import nn

from agents.benchmark.sb3_agent import WEIGHTS, FlatAgent
from agents.evaluation import Evaluation, evaluate
from agents.games import game_configurations, without_rewards
from agents.run import advance_to_end, clock
from agents.run_folder import alone_in_run, check_nobody_else_writes
from agents.settings import TrainConfig
from agents.status import Status
from kepler_envs import bots
from kepler_envs.adapters.flat import FlatInputs
from kepler_envs.adapters.sb3 import SeatVecEnv
from kepler_envs.bots.protocol import BotError
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.observation import Layout
from kepler_envs.files import write_atomically
from kepler_envs.printable import one_line

LAYERS = [128, 128]
STATE = "state.pickle"


class FlatFeatures(BaseFeaturesExtractor):
    """Divides numbers by their scale and makes labels one-hot: see :class:`kepler_envs.adapters.flat.FlatInputs`."""

    def __init__(self, observation_space: gym.Space, layout: Layout) -> None:
        inputs = FlatInputs(layout)
        super().__init__(observation_space, inputs.size)
        self._inputs = inputs

    def forward(self, observations: th.Tensor) -> th.Tensor:
        """float32 (N, E), inputs made of observations (N, D)."""
        encoded = self._inputs.encode(observations.cpu().numpy().astype(np.int16))
        return th.as_tensor(encoded, device=observations.device)


class OwnPlay:
    """Plays all other seats with the current network, drawing from its probabilities."""

    def __init__(self) -> None:
        self.policy: Any = None

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Draws from PyTorch's generator, which a run saves."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Legal ids (M,) for the seats to move in these rows.

        The policy's own ``forward`` takes longer: it also computes values and log-probabilities, of no use here.
        """
        policy, illegal = self.policy, th.as_tensor(batch.action_mask[rows] == 0)
        with th.no_grad():
            seen = policy.features_extractor(th.as_tensor(batch.observation[rows]))
            logits = policy.action_net(policy.mlp_extractor.forward_actor(seen))
            probabilities = th.softmax(logits.masked_fill(illegal, -th.inf), 1)
            return th.multinomial(probabilities, 1).numpy()[:, 0]


class Sb3Run:
    """A training run: begun, or continued from its folder.

    Args:
        config: steps, seed and settings of the learning. Settings of network, pool and teacher are ignored.
        folder: holds its state.
    """

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        self.config, self.folder = config, folder
        self.games = game_configurations(config)[-1]
        self.seconds = self._speed = 0.0
        self.evaluations: tuple[Evaluation, ...] = ()
        self.evaluated_at: int | None = None
        own = OwnPlay()
        if (folder / STATE).exists():
            self._resume(own)
        else:
            self._begin(own)
        self.model.set_logger(Logger(None, []))

    @property
    def steps(self) -> int:
        """Decisions of the learner so far."""
        return int(self.model.num_timesteps)

    @property
    def is_new(self) -> bool:
        """Whether it has not been evaluated yet."""
        return not self.evaluations

    @property
    def fraction(self) -> float:
        """Share of the budget that is spent, 0..1."""
        return self.config.progress(self.steps, self.seconds)

    def _begin(self, own: OwnPlay) -> None:
        config = self.config
        self.env = SeatVecEnv(Batch(self.games, config.num_envs, config.seed), own)
        self.model = MaskablePPO(
            "MlpPolicy", self.env, learning_rate=config.learning_rate, n_steps=config.n_steps,
            batch_size=config.batch_size,
            n_epochs=config.epochs, gamma=config.gamma, gae_lambda=config.gae_lambda, clip_range=config.clip_range,
            ent_coef=config.entropy, vf_coef=config.value_weight, max_grad_norm=config.max_grad_norm, seed=config.seed,
            device="cpu",
            policy_kwargs={
                "net_arch": LAYERS, "activation_fn": nn.ReLU, "features_extractor_class": FlatFeatures,
                "features_extractor_kwargs": {"layout": self.games.observation},
            },
        )  # fmt: skip
        own.policy = self.model.policy

    def _resume(self, own: OwnPlay) -> None:
        path = self.folder / STATE
        if not self.config.trust_folder:
            check_nobody_else_writes(path)
        try:
            saved = pickle.loads(path.read_bytes())
            self.env = saved["env"]
            self.model = MaskablePPO.load(io.BytesIO(saved["model"]), self.env, device="cpu", force_reset=False)
            self.seconds, self.evaluations = saved["seconds"], saved["evaluations"]
            self.evaluated_at = saved["evaluated_at"]
            th.set_rng_state(saved["torch_random"])
            np.random.set_state(saved["numpy_random"])
        except Exception as error:  # unpickling lets through whatever the pickled things raise
            raise BotError(
                f"{path} is damaged, or was written by other versions of the libraries: {one_line(error)}. "
                "Use another --out"
            ) from error
        own.policy = self.model.policy
        self.env.seat_opponent(own)

    def save(self) -> None:
        """Write everything needed to continue exactly."""
        model = io.BytesIO()
        self.model.save(model)
        saved = {
            "env": self.env.without_bots(), "model": model.getvalue(), "seconds": self.seconds,
            "evaluations": self.evaluations, "evaluated_at": self.evaluated_at,
            "torch_random": th.get_rng_state(), "numpy_random": np.random.get_state(),
        }  # fmt: skip
        write_atomically(self.folder / STATE, pickle.dumps(saved))

    def advance(self) -> None:
        """Play a rollout and learn from it."""
        began, before, config = clock(), self.steps, self.config
        rate = config.learning_rate + (config.final_learning_rate - config.learning_rate) * self.fraction
        self.model.lr_schedule = ConstantSchedule(rate)
        self.model.learn(1, reset_num_timesteps=False)
        elapsed = clock() - began
        self.seconds += elapsed
        self._speed = (self.steps - before) / elapsed

    def evaluate(self) -> None:
        """Play against each opponent of the evaluation."""
        began, playing = clock(), without_rewards(self.games)
        learner = FlatAgent(playing, self.weights())
        self.evaluations = tuple(
            evaluate(learner, bots.load(spec, playing), playing, self.config.eval_games)
            for spec in self.config.eval_opponents
        )
        self.evaluated_at = self.steps
        self.seconds += clock() - began

    def weights(self) -> dict[str, np.ndarray]:
        """The weights as :class:`FlatAgent` expects them."""
        policy: Any = self.model.policy
        layers = [layer for layer in policy.mlp_extractor.policy_net if isinstance(layer, nn.Linear)]
        arrays = {}
        for number, layer in enumerate([*layers, policy.action_net]):
            arrays[f"weight_{number}"] = layer.weight.detach().cpu().numpy().copy()
            arrays[f"bias_{number}"] = layer.bias.detach().cpu().numpy().copy()
        return arrays

    def status(self, evaluated: bool = False) -> Status:
        """The progress of the run, for displays."""
        ended = self.model.ep_info_buffer or ()
        length = float(np.mean([info["l"] for info in ended])) if ended else 0.0
        return Status(
            self.steps, self.seconds, self.fraction, self._speed, length, self.evaluations, evaluated,
            evaluated_at=self.evaluated_at,
        )  # fmt: skip


def train_sb3(config: TrainConfig, folder: Path, stop: threading.Event, watch: Callable[[Status], None]) -> Sb3Run:
    """Begin a run, or continue it, until its budget is spent or it is stopped; like :func:`agents.run.train`."""
    with alone_in_run(folder):
        run = Sb3Run(config, folder)
        advance_to_end(run, stop, watch)
    return run


def write_agent(run: Sb3Run, folder: Path) -> str:
    """Write the trained agent. Returns its spec in an entry, without the folder."""
    weights = io.BytesIO()
    arrays: dict[str, Any] = run.weights()
    np.savez(weights, **arrays)
    write_atomically(folder / WEIGHTS, weights.getvalue())
    write_atomically(folder / "agent.py", Path(__file__).with_name("sb3_agent.py").read_bytes())
    return f"agent.py:{FlatAgent.__name__}"
