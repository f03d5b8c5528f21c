"""Writing and reading checkpoints of trained networks with PyTorch.

A checkpoint is a Stable-Baselines3 zip with two more entries: ``description.json``, and in that of a run
``run.pickle``, which holds everything needed to continue exactly. A bot reads only the weights and the description
(``kepler_envs/bots/networks/checkpoint.py``), never a pickle. A copy of the description lies beside the file for
people. Files are replaced as a whole or not at all.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import io
import json
import platform
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces

import kepler_envs
from agents.games import distinct
from kepler_envs.adapters.sb3 import PiecePolicy, observation_space, piece_policy
from kepler_envs.bots.networks import NetworkBot, bot_below
from kepler_envs.bots.networks.checkpoint import (
    DESCRIPTION,
    FORMAT,
    game_facts,
    learned_with,
    read_description,
    read_network,
)
from kepler_envs.bots.networks.description import digest_of
from kepler_envs.bots.protocol import BotError
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.network import NetworkShape
from kepler_envs.files import write_atomically
from kepler_envs.networks import PositionNetwork, position_network
from kepler_envs.printable import one_line
from kepler_envs.revision import commit

RUN = "run.pickle"
VALUED_BY = ("seat", "shaping", "teacher_share")
"""Settings that say what the values of a network mean."""
LIBRARIES = ("numpy", "numba", "torch", "stable_baselines3", "sb3_contrib", "gymnasium")


# ---------------------------------------------------------------- networks


def policy_kwargs(shape: NetworkShape, config: Configuration) -> dict[str, Any]:
    """The arguments that Stable-Baselines3 makes a policy of this shape from."""
    return piece_policy(config, shape.width, shape.hidden, shape.rows, shape.over)


def build(shape: NetworkShape, config: Configuration) -> PiecePolicy:
    """An untrained network for a game. PyTorch's generator stays as it is, so that loading a bot changes no
    training."""
    with th.random.fork_rng(devices=[]):
        return PiecePolicy(
            observation_space(shape.inputs(config).layout),
            spaces.Discrete(len(config.actions)),
            _no_schedule,
            **policy_kwargs(shape, config),
        )


def _no_schedule(_: float) -> float:
    return 0.0


def arrays_of(policy: PiecePolicy) -> dict[str, np.ndarray]:
    """Copies of the weights of a network, as arrays by name."""
    return {name: weights.detach().cpu().numpy().copy() for name, weights in policy.state_dict().items()}


def network_of(policy: PiecePolicy) -> PositionNetwork:
    """A copy of a network that can be asked about positions without PyTorch."""
    return position_network(policy.network.inputs, arrays_of(policy))


def bot_of(policy: PiecePolicy, config: Configuration) -> NetworkBot:
    """A bot that plays what a network now finds best in games like ``config``. The network may go on learning."""
    network = network_of(policy)
    return NetworkBot(network, below=bot_below(network, config))


# ---------------------------------------------------------------- description


def describe(
    config: Configuration,
    network: NetworkShape,
    training: Mapping[str, Any],
    results: Mapping[str, Any],
    all_games: Sequence[Configuration] = (),
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The description of a checkpoint, ready for JSON.

    Args:
        config: the game it was trained on, with the most players if there are several counts.
        all_games: every configuration if there are several. ``num_players``, and each option that takes several
            values, then lists them.
        training: the settings of the run.
        results: the progress of the run: steps, seconds, evaluations. Those of best.zip are the ones that it was
            chosen after, of many on the same games: new games may be won less often.
        before: what it learned with before this run (:func:`learned_before`), if it has not learned anything in it.
    """
    facts = game_facts(config)
    if len(all_games) > 1:
        counts = distinct(games.num_players for games in all_games)
        facts["num_players"] = counts if len(counts) > 1 else counts[0]
        values = {name: distinct(games.values[name] for games in all_games) for name in facts["options"]}
        facts["options"] = {name: found if len(found) > 1 else found[0] for name, found in values.items()}
        facts["digest"] = digest_of({name: value for name, value in facts.items() if name != "digest"})
    return {
        "format": FORMAT,
        **facts,
        "network": dataclasses.asdict(network),
        "training": dict(training),
        "results": dict(results),
        **({} if before is None else {"learned_with": dict(before)}),
        "commit": commit() or None,
        "versions": {
            "kepler_envs": kepler_envs.__version__,
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in LIBRARIES},
        },
    }


def with_present(commits: Sequence[str]) -> list[str]:
    """The commits of the code that a run learned with before, and the present one."""
    return distinct([*commits, commit() or "unknown"])


def learned_before(start: Path) -> dict[str, Any]:
    """The settings that say what the values of a network mean, for a run that starts from it to remember."""
    found = learned_with(read_description(start))
    return {name: found[name] for name in VALUED_BY if name in found}


# ---------------------------------------------------------------- files


def weights_of(policy: PiecePolicy) -> bytes:
    """The weights of a network without the optimiser's state, as Stable-Baselines3 stores them."""
    buffer = io.BytesIO()
    th.save(policy.state_dict(), buffer)
    return buffer.getvalue()


def half_precision(policy: PiecePolicy) -> bytes:
    """The weights of a network in float16, as the bytes of a NumPy file. Reading casts them to float32."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {name: array.astype(np.float16) for name, array in arrays_of(policy).items()}
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def write_checkpoint(
    path: Path, description: Mapping[str, Any], entries: Mapping[str, bytes], base: bytes = b""
) -> None:
    """Write a checkpoint and, beside it, its description.

    Args:
        path: ``*.zip``.
        entries: further entries by name.
        base: a zip (Stable-Baselines3's) that the entries are added to.
    """
    write_atomically(path, checkpoint_bytes(description, entries, base))
    write_atomically(path.with_suffix(".json"), _as_text(description))


def checkpoint_bytes(
    description: Mapping[str, Any], entries: Mapping[str, bytes], base: bytes = b"", compress: bool = False
) -> bytes:
    """The bytes of the file that :func:`write_checkpoint` writes."""
    buffer = io.BytesIO(base)
    buffer.seek(0, io.SEEK_END)
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "a" if base else "w", kind) as archive:
        for name, content in {**entries, DESCRIPTION: _as_text(description)}.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _as_text(description: Mapping[str, Any]) -> bytes:
    return (json.dumps(description, indent=2) + "\n").encode()


def load_policy(path: Path, config: Configuration) -> PiecePolicy:
    """The trained network of a checkpoint. BotError if it does not fit the game."""
    inputs, weights, _ = read_network(path, config)
    try:
        policy = build(inputs.shape, config)
    except (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise BotError(f"{path}: the network it describes cannot be made for this game: {one_line(error)}") from error
    set_weights(policy, weights)
    return policy


def set_weights(policy: PiecePolicy, weights: Mapping[str, np.ndarray]) -> None:
    """Give a network these weights (from :func:`arrays_of`), cast to its own type."""
    policy.load_state_dict({name: th.as_tensor(array) for name, array in weights.items()})


def continue_network(policy: PiecePolicy, path: Path, config: Configuration) -> None:
    """Give a network for games of ``config`` the weights of a checkpoint, which may come from other numbers of players
    and other cards."""
    _, weights, _ = read_network(path, config, to_learn_on=True)
    set_weights(policy, weights)


def parameter_count(policy: th.nn.Module) -> int:
    return int(np.sum([parameter.numel() for parameter in policy.parameters()]))
