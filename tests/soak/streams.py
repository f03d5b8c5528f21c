"""Whether a seat can tell worlds apart that differ only in what it cannot know, in games of any configuration."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from kepler_envs import Game
from tests.contract.test_streams import compare_worlds
from tests.soak.configurations import choose_configuration

GAMES = 5


def compare_streams(game: Game, seed: int, folder: Path) -> Counter[str]:
    """One trial: some games for a random seat each; decisions by how the worlds compared."""
    random, tried = Random(seed), Counter[str]()
    config = choose_configuration(game, random, folder, tried)
    for _ in range(GAMES):
        found = compare_worlds(config, random.getrandbits(32), random.randrange(config.num_players))
        tried.update({f"pairs of worlds: {how}": count for how, count in found.items()})
    return tried
