"""What settings of the command line may be."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any

from kepler_envs.bots.networks.description import MOST_LAYERS, MOST_OUTPUTS
from kepler_envs.bots.protocol import BotError

MOST_SEED = 2**32 - 1
"""NumPy's and PyTorch's generators take no larger seeds."""
SIZE = ("width", "hidden", "rows")
"""Settings of the size of a network, which one that a run starts from has already."""


def need(settings: Any, name: str, fine: bool, allowed: str, group: str = "") -> None:
    """Raise BotError that says what is ``allowed`` unless the setting of this name is ``fine``.

    ``group`` comes before the name on the command line, such as ``pool.``.
    """
    if not fine:
        value = getattr(settings, name)
        shown = " ".join(map(str, value)) if isinstance(value, tuple) else value
        raise BotError(f"--{group}{name.replace('_', '-')} {shown} is not allowed; allowed: {allowed}")


def need_defaults(settings: Any, names: Collection[str], allowed: str, group: str = "") -> None:
    """Raise BotError unless the settings of these names, which the others leave unused, are as by default."""
    for one in fields(settings):
        if one.name in names:
            need(settings, one.name, getattr(settings, one.name) == one.default, allowed, group)


def need_distinct(settings: Any, name: str, group: str = "") -> None:
    """Raise BotError if the setting of this name, a list of bots, names one twice."""
    specs = getattr(settings, name)
    need(settings, name, len(set(specs)) == len(specs), "each bot once", group)


def need_network(settings: Any) -> None:
    """Raise BotError unless a checkpoint may hold a network of the settings in ``SIZE``."""
    need(settings, "width", 1 <= settings.width <= MOST_OUTPUTS, f"1 to {MOST_OUTPUTS}")
    allowed = f"at most {MOST_LAYERS} layers of 1 to {MOST_OUTPUTS}"
    sizes = len(settings.hidden) <= MOST_LAYERS and all(1 <= units <= MOST_OUTPUTS for units in settings.hidden)
    need(settings, "hidden", sizes, allowed)
    need(settings, "rows", 0 <= settings.rows <= MOST_OUTPUTS, f"0 to {MOST_OUTPUTS}")
