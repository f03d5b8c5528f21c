"""Reading trained networks: what a checkpoint says about itself, whether it fits a game, and its weights as arrays.

A checkpoint is a zip with ``description.json`` and the weights. A training run keeps them as PyTorch does
(``policy.pth``, read without unpickling anything else); a published network has them as plain arrays (``weights.npz``),
for which NumPy is enough.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.bots.networks.description import digest_of, parse_description
from kepler_envs.bots.protocol import BotError
from kepler_envs.bots.published import names_in, published_path
from kepler_envs.engine.game import DERIVED, REWARD_OPTIONS, Configuration
from kepler_envs.engine.network import NetworkInputs, NetworkShape
from kepler_envs.printable import one_line
from kepler_envs.registry import load_game

FORMAT = "kepler-network-1"
DESCRIPTION, TORCH_WEIGHTS, PLAIN_WEIGHTS = "description.json", "policy.pth", "weights.npz"


def game_facts(config: Configuration) -> dict[str, Any]:
    """What must be the same in training and in play, by name.

    The option for derived fields is left out, as the observation's size shows it.
    """
    options = {name: value for name, value in config.values.items() if name not in (*REWARD_OPTIONS, DERIVED)}
    facts = {
        "game": config.game.id,
        "num_players": config.num_players,
        "options": options,
        "components_digest": config.components_digest,
        "observation_size": config.observation.size,
        "num_actions": len(config.actions),
    }
    return {**facts, "digest": digest_of(facts)}


def trained_configurations(description: Mapping[str, Any], where: str) -> list[Configuration]:
    """All games a checkpoint was trained for, those with the most players last; with default rewards and the game's own
    cards.

    Raises BotError, which names the checkpoint by ``where``, if they cannot be set up.
    """
    return [
        _configured(description, where, players, options)
        for players in sorted(player_counts(description))
        for options in option_combinations(description)
    ]


def option_combinations(description: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of options that a checkpoint can play with."""
    options = description["options"]
    choices = [value if isinstance(value, list) else [value] for value in options.values()]
    return [dict(zip(options, values, strict=True)) for values in product(*choices)]


def _configured(description: Mapping[str, Any], where: str, players: int, options: Mapping[str, Any]) -> Configuration:
    try:
        game = load_game(description["game"])
        config = game.configure(players, **options)
        if config.observation.size == description["observation_size"]:
            return config
        return game.configure(players, **{**options, DERIVED: False})
    except (KeyError, TypeError, ValueError) as problem:
        raise BotError(f"{where}: the game of the checkpoint cannot be set up here: {one_line(problem)}") from problem


def player_counts(description: Mapping[str, Any]) -> list[int]:
    """The numbers of players that a checkpoint can play with."""
    counts = description["num_players"]
    return list(counts) if isinstance(counts, list) else [counts]


def learned_with(description: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings that say what a network's values mean: those of its run.

    If it has not learned anything in its run yet, they are those of the run that it comes from.
    """
    return description.get("learned_with", description["training"])


def values_own_seat(description: Mapping[str, Any]) -> bool:
    """Whether a network has learned what the observing seat may expect, and not what the others may, as imitation
    teaches, too."""
    settings = learned_with(description)
    return settings.get("seat") == "single" and settings.get("teacher_share") != 1


def expects_shaping(description: Mapping[str, Any]) -> bool:
    """Whether a network expects shaping rewards, too: it has learned from them, and not from imitation alone."""
    settings = learned_with(description)
    return bool(settings.get("shaping")) and settings.get("teacher_share") != 1


def check_fits(description: Mapping[str, Any], config: Configuration, where: str, to_learn_on: bool = False) -> None:
    """Raise BotError naming every difference between the checkpoint's game and the one to be played.

    If the network is only ``to_learn_on`` in that game, the number of players and the cards may differ.
    """
    trained, wanted = dict(description), game_facts(config)
    if to_learn_on or (isinstance(trained.get("num_players"), list) and config.num_players in trained["num_players"]):
        trained["num_players"] = config.num_players
    if to_learn_on:
        trained["components_digest"] = wanted["components_digest"]
    trained["options"] = {
        name: wanted["options"][name] if _offers(value, wanted["options"].get(name)) else value
        for name, value in trained.get("options", {}).items()
    }
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
            f"option {name} is {_in_words(options.get(name))}, here {value!r}"
            for name, value in wanted["options"].items()
            if options.get(name) != value
        ]
    if trained.get("observation_size") != wanted["observation_size"] and not config.values[DERIVED]:
        differences.append(f"it may read derived fields, which {DERIVED}=False leaves out")
    raise BotError(f"{where} was trained for something else: {'; '.join(differences) or 'its digest differs'}")


def plays(path: Path, config: Configuration) -> bool:
    """Whether there is a network in this file that plays games of ``config``."""
    try:
        check_fits(read_description(path), config, str(path))
    except BotError:
        return False
    return True


def networks_that_play(config: Configuration) -> list[str]:
    """The names of the published networks that play games of ``config``, sorted."""
    game = config.game.name
    return [name for name in names_in(game) if plays(published_path(game, name), config)]


def _offers(trained: Any, wanted: Any) -> bool:
    """Whether several values of an option were trained, and this is one of them."""
    return isinstance(trained, list) and wanted in trained


def _in_words(trained: Any) -> str:
    return f"one of {trained!r}" if isinstance(trained, list) else repr(trained)


# ---------------------------------------------------------------- files


def read_entries(path: Path, names: Sequence[str]) -> list[bytes]:
    """Read entries of a checkpoint. Raises BotError if the file is not a checkpoint or lacks one of them."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [archive.read(name) for name in names]
    except FileNotFoundError:
        raise BotError(f"there is no checkpoint {path}") from None
    except PermissionError as error:
        raise BotError(f"{path} cannot be read: {error.strerror}") from None
    except (zipfile.BadZipFile, IsADirectoryError):
        raise BotError(f"{path} is not a checkpoint of `python -m agents.train` (not a zip file, or damaged)") from None
    except KeyError as error:
        raise BotError(f"{path} is not a checkpoint of `python -m agents.train`: {error.args[0]}") from None
    except (zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError, OverflowError) as error:
        raise BotError(f"{path} is damaged: {one_line(error)}") from error


def read_description(path: Path) -> dict[str, Any]:
    """What a checkpoint says about itself. Raises BotError if it is damaged."""
    return parse_description(read_entries(path, [DESCRIPTION])[0], FORMAT, str(path))


def read_network(
    path: Path, config: Configuration, to_learn_on: bool = False
) -> tuple[NetworkInputs, dict[str, np.ndarray], dict[str, Any]]:
    """The network of a checkpoint for games of ``config``, its weights, and what the checkpoint says about itself.

    Raises BotError if none fits, as :func:`check_fits` does.
    """
    found = read_description(path)
    try:
        check_fits(found, config, str(path), to_learn_on)
    except BotError as problem:
        others = ", ".join(networks_that_play(config))
        raise BotError(f"{problem}; published networks that play this: {others or 'none'}") from None
    try:
        inputs = NetworkShape.from_json(found["network"]).inputs(config)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise BotError(f"{path}: the network it describes cannot be made for this game: {one_line(error)}") from error
    weights = read_weights(path)
    try:
        inputs.check(weights)
    except ValueError as error:
        raise BotError(f"{path}: its weights do not fit the network it describes: {one_line(error)}") from None
    if endless := [name for name, array in weights.items() if not np.isfinite(array).all()]:
        raise BotError(f"{path}: its weights are not all finite numbers: {endless[0]}")
    return inputs, weights, found


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """The weights of a checkpoint, float32 by name.

    Raises BotError if they are damaged, or need PyTorch where it is not installed.
    """
    read = _read_plain if _is_plain(path) else _read_torch
    try:
        return read(path)
    except BotError:
        raise
    except Exception as error:  # both libraries pass on whatever their readers raise
        raise BotError(f"{path}: its weights are damaged: {one_line(error)}") from error


def _is_plain(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return PLAIN_WEIGHTS in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False  # whoever reads it says what is wrong


def _read_plain(path: Path) -> dict[str, np.ndarray]:
    return plain_weights(read_entries(path, [PLAIN_WEIGHTS])[0])


def plain_weights(content: bytes) -> dict[str, np.ndarray]:
    """The arrays, float32 by name, in the bytes of a ``.npz`` file without pickled objects."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name].astype(np.float32) for name in arrays.files}


def _read_torch(path: Path) -> dict[str, np.ndarray]:
    content = read_entries(path, [TORCH_WEIGHTS])[0]
    try:
        import torch
    except ModuleNotFoundError:
        raise BotError(
            f"{path} is a checkpoint of a training run, which needs PyTorch: pip install 'kepler_envs[sb3]'"
        ) from None
    state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    return {name: tensor.float().numpy() for name, tensor in state.items()}
