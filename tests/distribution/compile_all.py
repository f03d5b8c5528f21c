"""Compile every kernel that a wheel brings, for one game. Runs as a script in an environment with the wheel.

python -I compile_all.py GAME      the caller's environment sets processor and cache
"""

from __future__ import annotations

import sys

import kepler_envs
from kepler_envs.bots import warmup as bots
from kepler_envs.engine import warmup
from kepler_envs.engine.progress import silence

if __name__ == "__main__":
    game = kepler_envs.load_game(sys.argv[1])
    with silence():
        count = warmup.compile_kernels([*warmup.kernels(game), *bots.kernels(game)])
    print(count)
