"""The kernels of the bots, for compiling them ahead of time.

These are the kernels of ``greedy``, of ``mcts`` with default settings, and of networks. The latter are the same for all
games.
"""

from __future__ import annotations

from functools import partial

from kepler_envs.bots.greedy import greedy_games, greedy_policy
from kepler_envs.bots.search.config import MctsConfig
from kepler_envs.bots.search.kernels.guided import absorb_kernel, descend_kernel
from kepler_envs.bots.search.kernels.search import search_kernel
from kepler_envs.bots.search.searcher import playout_policy
from kepler_envs.engine.game import Game
from kepler_envs.engine.playout import choose_kernel, playout_kernel
from kepler_envs.engine.warmup import Kernels
from kepler_envs.networks.gradients import gradient_kernel, judge_kernel
from kepler_envs.networks.kernels import SCOPE as NETWORK_SCOPE
from kepler_envs.networks.kernels import evaluate_kernel
from kepler_envs.networks.linear import runs_kernel

__all__ = ["NETWORK_SCOPE", "kernels", "network_kernels"]


def kernels(game: Game) -> Kernels:
    """Every kernel that ``greedy`` and ``mcts`` need for a game, by the bot's name."""
    listed = []
    if game.name in greedy_games():
        greedy = greedy_policy(game)
        listed += [
            ("greedy: choose", partial(choose_kernel, greedy)),
            ("greedy: playout", partial(playout_kernel, greedy)),
        ]
    searching = playout_policy(game, MctsConfig(iterations=1).playout)
    return [
        *listed,
        ("mcts: search", partial(search_kernel, searching)),
        ("mcts: descend", partial(descend_kernel, searching)),
        ("mcts: absorb", partial(absorb_kernel, searching)),
    ]


def network_kernels(*, learning: bool) -> Kernels:
    """Every kernel that networks need to play, and with ``learning`` those with which they learn."""
    playing = [("evaluate", evaluate_kernel)]
    learned = [("judge", judge_kernel), ("gradient", gradient_kernel), ("lay out", runs_kernel)]
    return [*playing, *learned] if learning else playing
