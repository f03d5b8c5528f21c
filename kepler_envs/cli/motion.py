"""A recorded game as a moving picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kepler_envs.cli.common import UsageError
from kepler_envs.engine.snapshot import Snapshot

WIDTH = 720
"""Pixels of a frame."""
MOST_FRAMES = 60
"""A longer game is shown in as many positions, spread evenly, first and last included."""
MOST_COLOURS = 96
SECONDS, SECONDS_AT_THE_END = 0.5, 4.0


def chosen(count: int, most: int = MOST_FRAMES) -> list[int]:
    """The numbers of at most ``most`` out of ``count`` positions, spread evenly, first and last included."""
    if count <= most:
        return list(range(count))
    return [round(number * (count - 1) / (most - 1)) for number in range(most)]


def write_gif(path: Path, positions: Sequence[Snapshot], seat: int | None = None) -> int:
    """Write an endless GIF of a game as ``seat`` sees it, None with everything open; the number of its frames."""
    try:
        from PIL import Image
    except ImportError as problem:
        raise UsageError("a GIF needs pillow: pip install 'kepler_envs[cli]'") from problem
    frames = []
    for number in chosen(len(positions)):
        drawing = positions[number].drawing(seat)
        frames.append(Image.fromarray(drawing.rgb(WIDTH / drawing.width)))
    # one palette for all, so that what stays the same stays the same
    samples = [np.asarray(frames[at]) for at in (0, len(frames) // 2, -1)]
    palette = Image.fromarray(np.concatenate(samples)).quantize(MOST_COLOURS)
    first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    shown = [int(1000 * SECONDS)] * len(others) + [int(1000 * SECONDS_AT_THE_END)]
    first.save(path, format="GIF", save_all=True, append_images=others, duration=shown, loop=0, optimize=True)
    return len(frames)
