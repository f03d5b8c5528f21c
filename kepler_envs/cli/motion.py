"""A recorded game as a moving picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kepler_envs.cli.common import UsageError
from kepler_envs.engine.snapshot import Snapshot

WIDTH = 800
"""Pixels of a frame."""
MOST_FRAMES = 60
"""A longer game is shown in as many positions, spread evenly, first and last included."""
MOST_COLOURS = 160
SECONDS, SECONDS_AT_THE_END = 0.5, 4.0

Part = tuple[float, float, float, float]
"""x, y, width and height of a part of a picture, in its own units."""


def chosen(count: int, most: int = MOST_FRAMES) -> list[int]:
    """The numbers of at most ``most`` out of ``count`` positions, spread evenly, first and last included."""
    if count <= most:
        return list(range(count))
    return [round(number * (count - 1) / (most - 1)) for number in range(most)]


def pixels(position: Snapshot, seat: int | None = None, part: Part | None = None, width: int = WIDTH) -> np.ndarray:
    """A picture, or a part of it, as pixels of that width: uint8 (height, width, 3)."""
    drawing = position.drawing(seat)
    x, y, wide, high = part or (0, 0, drawing.width, drawing.height)
    scale = width / wide
    left, top, bottom = round(x * scale), round(y * scale), round((y + high) * scale)
    return drawing.rgb(scale)[top:bottom, left : left + width]


def write_gif(
    path: Path, positions: Sequence[Snapshot], seat: int | None = None, part: Part | None = None,
    seconds: float = SECONDS,
) -> int:  # fmt: skip
    """Write an endless GIF of a game.

    Args:
        positions: of these at most MOST_FRAMES are shown.
        seat: whose view; None shows everything.
        part: what to show of each picture; all of it if left out.
        seconds: how long each frame stays; the last one stays longer.

    Returns:
        The number of frames.

    Raises:
        UsageError: pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as problem:
        raise UsageError("a GIF needs pillow: pip install 'kepler_envs[cli]'") from problem
    frames = [Image.fromarray(pixels(positions[number], seat, part)) for number in chosen(len(positions))]
    # one palette for all, so that what stays the same stays the same
    samples = [np.asarray(frames[at]) for at in (0, len(frames) // 2, -1)]
    palette = Image.fromarray(np.concatenate(samples)).quantize(MOST_COLOURS)
    first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    shown = [int(1000 * seconds)] * len(others) + [int(1000 * SECONDS_AT_THE_END)]
    first.save(path, format="GIF", save_all=True, append_images=others, duration=shown, loop=0, optimize=True)
    return len(frames)
