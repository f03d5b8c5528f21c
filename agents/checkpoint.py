"""Checkpoints of trained networks: what is in the file, what it says about itself, and whether it fits a game.

A checkpoint is a Stable-Baselines3 zip with two more entries: ``description.json`` and, in that of a run, ``run.pickle`` with all it
takes to go on exactly. An agent reads only the weights and the description, never anything pickled. A copy of the description lies
beside the file for people. Files are replaced as a whole or not at all.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import io
import json
import os
import platform
import struct
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces

import kepler_envs
from agents.description import digest_of, parse_description
from agents.protocol import AgentError
from kepler_envs.adapters.sb3 import Anchor, PiecePolicy, observation_space, piece_policy
from kepler_envs.engine.game import Configuration
from kepler_envs.printable import one_line

FORMAT = "kepler-ppo-1"
DESCRIPTION, WEIGHTS, RUN = "description.json", "policy.pth", "run.pickle"
REWARD_OPTIONS = ("shaping", "reward_mode")
"""Options that change what play is paid but not the game: an agent may play where they differ from its training."""
LIBRARIES = ("numpy", "numba", "torch", "stable_baselines3", "sb3_contrib", "gymnasium")


@dataclass(frozen=True)
class Network:
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
    def from_json(cls, saved: Mapping[str, Any]) -> Network:
        """What ``dataclasses.asdict`` made of one."""
        values = {name: _tuples(value) for name, value in saved.items()}
        if values.get("anchor") is not None:
            values["anchor"] = Anchor(**{name: _tuples(value) for name, value in values["anchor"].items()})
        return cls(**values)

    def policy_kwargs(self, config: Configuration) -> dict[str, Any]:
        return piece_policy(
            config.observation,
            self.seats or config.num_players,
            self.width,
            self.hidden,
            self.leave_out,
            self.anchor,
            config.actions,
            self.channels,
            self.label_planes,
        )

    def build(self, config: Configuration) -> PiecePolicy:
        """An untrained network for a game. PyTorch's generator stays as it is: loading an agent changes no training."""
        with th.random.fork_rng(devices=[]):
            return PiecePolicy(
                observation_space(config.observation),
                spaces.Discrete(len(config.actions)),
                _no_schedule,
                **self.policy_kwargs(config),
            )


def _no_schedule(_: float) -> float:
    return 0.0


# ---------------------------------------------------------------- description


def game_facts(config: Configuration) -> dict[str, Any]:
    """What must agree between training and play, by name."""
    options = {name: value for name, value in config.values.items() if name not in REWARD_OPTIONS}
    facts = {
        "game": config.game.id,
        "num_players": config.num_players,
        "options": options,
        "components_digest": config.components_digest,
        "observation_size": config.observation.size,
        "num_actions": len(config.actions),
    }
    return {**facts, "digest": digest_of(facts)}


def trained_configuration(description: Mapping[str, Any]) -> Configuration:
    """The games a checkpoint was trained for, the largest if there are several counts, paid as their default says."""
    most = max(player_counts(description))
    try:
        return kepler_envs.game(description["game"]).configure(most, **description["options"])
    except (KeyError, TypeError, ValueError) as problem:
        raise AgentError(f"the game of the checkpoint cannot be set up here: {one_line(problem)}") from problem


def player_counts(description: Mapping[str, Any]) -> list[int]:
    """With how many players a checkpoint can play."""
    counts = description["num_players"]
    return list(counts) if isinstance(counts, list) else [counts]


def describe(
    config: Configuration,
    network: Network,
    training: Mapping[str, Any],
    results: Mapping[str, Any],
    counts: Sequence[int] = (),
) -> dict[str, Any]:
    """A checkpoint's description, JSON-ready.

    Args:
        config: the game it was trained on, with the most players if there are several counts.
        counts: player counts if there are several; ``num_players`` lists them all then.
        training: what the run was asked for.
        results: how far it got: steps, seconds, evaluations.
    """
    facts = game_facts(config)
    if len(counts) > 1:
        facts["num_players"] = list(counts)
    return {
        "format": FORMAT,
        **facts,
        "network": dataclasses.asdict(network),
        "training": dict(training),
        "results": dict(results),
        "commit": commit(),
        "versions": {
            "kepler_envs": kepler_envs.__version__,
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in LIBRARIES},
        },
    }


def commit() -> str | None:
    """The git commit of this checkout, with ``+`` behind it if files differ from it; None outside a repository."""
    folder = Path(__file__).parent
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
        changed = subprocess.run(
            ["git", "status", "--porcelain"], cwd=folder, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return head + ("+" if changed else "")


def check_fits(description: Mapping[str, Any], config: Configuration, where: str, any_players: bool = False) -> None:
    """AgentError naming everything in which the checkpoint's game is not the one to be played, or with ``any_players`` learnt on."""
    trained, wanted = description, game_facts(config)
    if any_players or (isinstance(trained.get("num_players"), list) and config.num_players in trained["num_players"]):
        trained = {**trained, "num_players": config.num_players}
        trained["digest"] = digest_of({name: trained.get(name) for name in wanted if name != "digest"})
    if trained.get("digest") == wanted["digest"]:
        return
    names = [name for name in wanted if name not in ("digest", "options")]
    differences = [
        f"{name} is {trained.get(name)!r}, here {wanted[name]!r}" for name in names if trained.get(name) != wanted[name]
    ]
    if trained.get("game") == wanted["game"]:
        options = trained.get("options", {})
        differences += [
            f"option {name} is {options.get(name)!r}, here {value!r}"
            for name, value in wanted["options"].items()
            if options.get(name) != value
        ]
    raise AgentError(f"{where} was trained for another game: {'; '.join(differences) or 'its digest differs'}")


# ---------------------------------------------------------------- files


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file by one with this content, or leave it as it is; the folder is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:  # of a full disk it does not say which file it was
        Path(name).unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def weights_of(policy: PiecePolicy) -> bytes:
    """The network's weights without the optimiser's state, as Stable-Baselines3 stores them."""
    buffer = io.BytesIO()
    th.save(policy.state_dict(), buffer)
    return buffer.getvalue()


def half_precision(policy: PiecePolicy) -> bytes:
    """Its weights in float16, in a file of PyTorch's; loading casts them to the network's own type."""
    halves: dict[int, th.Tensor] = {}  # a state names shared layers several times; PyTorch stores one tensor once
    state = {
        name: halves.setdefault(weights.data_ptr(), weights.half()) for name, weights in policy.state_dict().items()
    }
    buffer = io.BytesIO()
    th.save(state, buffer)
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
    """The file of :func:`write_checkpoint`."""
    buffer = io.BytesIO(base)
    buffer.seek(0, io.SEEK_END)
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "a" if base else "w", kind) as archive:
        for name, content in {**entries, DESCRIPTION: _as_text(description)}.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _as_text(description: Mapping[str, Any]) -> bytes:
    return (json.dumps(description, indent=2) + "\n").encode()


def read_entries(path: Path, names: Sequence[str]) -> list[bytes]:
    """Entries of a checkpoint; AgentError if it is none, or lacks one."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [archive.read(name) for name in names]
    except FileNotFoundError:
        raise AgentError(f"there is no checkpoint {path}") from None
    except PermissionError as error:
        raise AgentError(f"{path} cannot be read: {error.strerror}") from None
    except (zipfile.BadZipFile, IsADirectoryError):
        raise AgentError(
            f"{path} is not a checkpoint of `python -m agents.train` (not a zip file, or damaged)"
        ) from None
    except KeyError as error:
        raise AgentError(f"{path} is not a checkpoint of `python -m agents.train`: {error.args[0]}") from None
    except (zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError, OverflowError) as error:
        raise AgentError(f"{path} is damaged: {one_line(error)}") from error


def read_description(path: Path) -> dict[str, Any]:
    """What a checkpoint says about itself; AgentError if that is damaged."""
    return parse_description(read_entries(path, [DESCRIPTION])[0], FORMAT, str(path))


def load_policy(path: Path, config: Configuration) -> PiecePolicy:
    """The trained network in a checkpoint, if it fits the game; AgentError if not."""
    found = read_description(path)
    check_fits(found, config, str(path))
    try:
        policy = Network.from_json(found["network"]).build(config)
    except (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise AgentError(f"{path}: the network it describes cannot be made for this game: {one_line(error)}") from error
    try:
        weights = th.load(io.BytesIO(read_entries(path, [WEIGHTS])[0]), map_location="cpu", weights_only=True)
    except AgentError:
        raise
    except Exception as error:  # PyTorch lets through whatever its readers raise
        raise AgentError(f"{path}: its weights are damaged: {one_line(error)}") from error
    try:
        policy.load_state_dict(weights)
    except (AttributeError, RuntimeError, TypeError) as error:
        raise AgentError(f"{path}: its weights do not fit the network it describes: {one_line(error)}") from None
    return policy


def continue_network(policy: PiecePolicy, path: Path) -> None:
    """Give a network the weights of a checkpoint's, which may see other seats: seats it does not know count for nothing at first."""
    begun = load_policy(path, trained_configuration(read_description(path)))
    first = "features_extractor.pieces."
    rest = {name: weights for name, weights in begun.state_dict().items() if first not in name}
    policy.load_state_dict({**policy.state_dict(), **rest})
    policy.features_extractor.pieces.take_over(begun.features_extractor.pieces)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, (list, tuple)) else value


def parameter_count(policy: th.nn.Module) -> int:
    return int(np.sum([parameter.numel() for parameter in policy.parameters()]))
