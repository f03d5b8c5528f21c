"""How a game ended, in words."""

from __future__ import annotations

import pytest

from kepler_envs import Snapshot, load_game
from kepler_envs.engine.outcome import final_ranks, leaders_in_words, winners_in_words


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ((2, 1, 3), "player_1 wins"),
        ((1, 3, 1), "player_0 and player_2 win"),
        ((1, 1, 1), "player_0 and player_1 and player_2 win"),
    ],
)
def test_winners(ranks: tuple[int, ...], words: str) -> None:
    assert winners_in_words(ranks) == words
    assert words.startswith(leaders_in_words(ranks) + " win")


def test_nobody_is_ranked_before_the_end() -> None:
    config = load_game("kitten_adventurers").configure(3)
    assert final_ranks(Snapshot.deal(config, 1).state, config) == (0, 0, 0)
