"""Where an adapter's library looks for action masks."""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.game import OptionError


def check_mask_place(settings: dict[str, Any], library: str) -> None:
    """Raise OptionError unless the action mask is in the observation alone, where ``library`` takes it from."""
    place = settings.get("mask_in", "observation")
    if place != "observation":
        raise OptionError(f"mask_in = {place!r} is not allowed for {library}; allowed: observation")
