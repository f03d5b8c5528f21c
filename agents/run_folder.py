"""The folder of a run: its place, whether the run in it may continue, and its tables."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import kepler_envs
from agents.games import game_configurations
from agents.settings import MODULES, OF_THE_MACHINES, TrainConfig, as_plain, without_unused
from kepler_envs import bots
from kepler_envs.bots.networks import BEST_FILE
from kepler_envs.bots.protocol import BotError
from kepler_envs.cli.common import check_folder
from kepler_envs.engine.game import Configuration
from kepler_envs.files import alone_in, who_else_writes


def run_folder(config: TrainConfig) -> Path:
    """The folder that a run is written to and continued from."""
    return config.out or default_folder(game_configurations(config)[-1], config.players, config.seat)


def default_folder(games: Configuration, players: int | str | None, kind: str) -> Path:
    """The default folder of a run of that kind. ``players`` is as it was asked for."""
    return Path("runs") / f"{games.game.name}-{players if isinstance(players, str) else games.num_players}p-{kind}"


def alone_in_run(folder: Path) -> AbstractContextManager[None]:
    """Take the folder of a run.

    Raises:
        UsageError: it is a file, or within one.
        BotError: another process trains in it. Each would undo the other's work.
    """
    check_folder("--out", folder)
    return alone_in(folder, BotError(f"another process trains in {folder}: wait for it, or give another --out"))


def check_nobody_else_writes(last: Path) -> None:
    """Raise BotError if somebody else may have put code into a run: its last.zip is unpickled."""
    for path in (last.parent, last):
        reason = who_else_writes(path.stat())
        if reason:
            raise BotError(
                f"{path} {reason}: continuing a run executes whatever code is in its last.zip. "
                "If you trust it, add --trust-folder; else use another --out"
            )


def check_no_other_network(best: Path) -> None:
    """Raise BotError if a run that begins would replace the best network of another one."""
    if best.exists():
        raise BotError(f"{best} is the network of another run: delete it, or give another --out")


def check_same_run(saved: dict[str, Any], config: Any, may_change: Collection[str], where: Path) -> None:
    """Raise BotError if a run was begun by another command, or with other settings than it is to continue with.

    Args:
        saved: its settings, from its checkpoint. config: the dataclass of the settings asked for.
        may_change: names of settings that may differ.
    """
    (command,) = (name for name, kind in MODULES.items() if isinstance(config, kind))
    if (begun_by := saved.get("module", "agents.train")) != command:
        raise BotError(f"{where} is a run of {begun_by}, not of {command}. Use another --out")
    asked, defaults = as_plain(settings_as_json(config)), as_plain(settings_as_json(type(config)()))
    names = [field.name for field in dataclasses.fields(config) if field.name not in may_change]
    saved = without_unused(saved)
    before = {name: saved.get(name, defaults[name]) for name in names}  # a run may be older than a setting
    if kepler_envs.load_game(before["game"]).id == kepler_envs.load_game(asked["game"]).id:
        before["game"] = asked["game"]  # the one may be a name, the other an id
    if sorted(map(_in_any_order, before["option"])) == sorted(map(_in_any_order, asked["option"])):
        before["option"] = asked["option"]
    differences = [f"{name} is {before[name]!r}, now {asked[name]!r}" for name in names if before[name] != asked[name]]
    if differences:
        raise BotError(f"{where} was begun with other settings: {'; '.join(differences)}. Use another --out")


def _in_any_order(option: str) -> tuple[str, list[str]]:
    """The name of an option and its values, whatever order they were written in."""
    name, _, values = option.partition("=")
    return name, sorted(values.split(","))


def check_same_cards(description: dict[str, Any], games: Configuration, where: Path) -> None:
    """Raise BotError if a run was begun with other cards. The path of a component file says nothing about them."""
    if description["components_digest"] != games.components_digest:
        now = "the game's own" if games.components is None else f"those of {games.components}"
        raise BotError(f"{where} was begun with other cards than {now}. Use another --out")


def versions_of(specs: Iterable[str], games: Configuration) -> dict[str, str]:
    """The versions of bots by spec (:func:`kepler_envs.bots.fingerprint`), as the settings of a run keep them."""
    return {spec: bots.fingerprint(spec, games.game.name) for spec in specs}


def check_same_bots(saved: Mapping[str, Any], now: Mapping[str, str], where: Path) -> None:
    """Raise BotError if a bot that a run learns from or plays against has changed since the run was begun.

    Args:
        saved: its settings, from its checkpoint. now: the versions of these bots, from :func:`versions_of`.
    """
    before = saved.get("bots", {})  # a run may be older than these
    changes = [
        f"{spec} was {before[spec]}, now {version or 'it is gone'}"
        for spec, version in now.items()
        if before.get(spec, version) != version
    ]
    if changes:
        raise BotError(
            f"{where} learns with bots that have changed since it was begun: {'; '.join(changes)}. Put back what was "
            f"there, or use another --out; --start net:{where.parent / BEST_FILE} starts from its best network"
        )


def settings_as_json(config: Any) -> dict[str, Any]:
    """The settings, a dataclass, as a checkpoint stores them."""
    values = dataclasses.asdict(config)
    for name in OF_THE_MACHINES:
        values.pop(name, None)
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def as_csv(lines: list[dict[str, Any]]) -> bytes:
    """The bytes of a CSV file, with a column for every name in any line."""
    names = list(dict.fromkeys(name for line in lines for name in line))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue().encode()
