"""Compile every kernel that a wheel brings, for one game or for networks. Runs as a script in an environment with the
wheel.

python -I compile_all.py GAME      the caller's environment sets processor and cache
python -I compile_all.py networks
"""

from __future__ import annotations

import sys

import kepler_envs
from kepler_envs.bots import warmup as bots
from kepler_envs.engine import warmup
from kepler_envs.engine.progress import silence

NETWORKS = "networks"


def listed(part: str) -> warmup.Kernels:
    """The kernels of a game and of its bots, or those of networks, which are the same for all games."""
    if part == NETWORKS:
        return bots.network_kernels(learning=True)
    game = kepler_envs.load_game(part)
    return [*warmup.kernels(game), *bots.kernels(game)]


if __name__ == "__main__":
    with silence():
        print(warmup.compile_kernels(listed(sys.argv[1])))
