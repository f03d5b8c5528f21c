"""What settings of the command line may be."""

from __future__ import annotations

from typing import Any

from kepler_envs.bots.protocol import BotError

MOST_SEED = 2**32 - 1
"""NumPy's and PyTorch's generators take no larger seeds."""


def need(settings: Any, name: str, fine: bool, allowed: str, group: str = "") -> None:
    """Raise BotError that says what is ``allowed`` unless the setting of this name is ``fine``.

    ``group`` comes before the name on the command line, such as ``pool.``.
    """
    if not fine:
        value = getattr(settings, name)
        shown = " ".join(map(str, value)) if isinstance(value, tuple) else value
        raise BotError(f"--{group}{name.replace('_', '-')} {shown} is not allowed; allowed: {allowed}")
