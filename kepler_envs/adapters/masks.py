"""Where an adapter's library looks for action masks."""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.game import OptionError


def check_mask_place(settings: dict[str, Any], library: str) -> None:
    """Raise OptionError if ``mask_in`` puts the action mask where ``library`` does not find it."""
    place = settings.get("mask_in", "observation")
    if place != "observation":
        raise OptionError(f"mask_in = {place!r} is not allowed for {library}; allowed: observation")
