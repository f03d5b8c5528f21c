"""Publishing: networks over a bot, and what is said of a prolonged run."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from agents import checkpoint
from agents.publish import Publish, agreement_of_play, budget_in_words, main, publish
from agents.run import Run, train
from agents.settings import TrainConfig
from kepler_envs import bots
from kepler_envs.bots import published
from kepler_envs.bots.networks import NetworkBot
from kepler_envs.bots.protocol import BotError, play_games
from tests.component_file import kittens_with

NAME = "kitten_adventurers/tiny-v0"
TINY = TrainConfig(
    players=2, option=("quest_size=2",), num_envs=8, n_steps=32, batch_size=64, epochs=1, width=16, hidden=(16,),
    rows=8, eval_every=256, eval_games=8, over="greedy",
)  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Run:
    """A network over greedy, from a run that began without a budget and was prolonged."""
    config = replace(TINY, out=tmp_path_factory.mktemp("run"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agents.settings.DEFAULT_STEPS", 256)
        train(config)
        return train(replace(config, steps=512))


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """An empty place for published networks."""
    monkeypatch.setattr(published, "FOLDER", tmp_path)


def test_a_network_over_greedy_is_published_and_plays(finished):
    written = publish(Publish(finished.out, NAME))
    assert written.description["float16"]["same_choice"] >= 0.99
    assert play_games(bots.load(NAME, finished.games), finished.games, 4, 0).final_length.min() > 0


def test_a_network_of_other_cards_is_not_published(tmp_path):
    run = train(replace(TINY, components=kittens_with(7, tmp_path / "mine.toml"), steps=256, out=tmp_path / "run"))
    with pytest.raises(
        BotError, match="best.zip has learned with a component file of its own; published networks play"
    ):
        publish(Publish(run.out, NAME))


def test_both_networks_are_started_in_every_game(finished, monkeypatch):
    """The bot below remembers nothing of a game that is over."""
    started: list[tuple[int, int]] = []

    class Noting(NetworkBot):
        def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
            started.extend((id(self), int(seed)) for seed in seeds)
            super().start(rows, seeds)

    monkeypatch.setattr("agents.checkpoint.NetworkBot", Noting)
    weights = checkpoint.half_precision(finished.policy)
    assert agreement_of_play(finished.policy, weights, finished.games, finished.network) >= 0.99
    one, other = ([seed for bot, seed in started if bot == its] for its in dict.fromkeys(bot for bot, _ in started))
    assert one == other and len(set(one)) == len(one) > 128, "each of 64 rows plays several games, each with its seed"


def test_a_run_that_began_without_a_budget_is_prolonged_and_published(finished, capsys):
    assert finished.prolonged == [{"at": 256, "steps": 256, "minutes": None}], "what it began with was the default"
    main([str(finished.out), NAME])
    said = capsys.readouterr().out
    assert "prolonged after 256 decisions; its budget was 256 decisions\n" in said
    assert (
        "when it was chosen, by one of many evaluations on the same games (in new ones it may win less):\n    wins "
        in said
    )
    main([str(finished.out / "last.zip"), f"{NAME}9"])
    assert "in its last evaluation:\n    wins " in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["last.zip", "learning_curve.csv"])
def test_a_network_without_its_run_is_not_published(finished, missing, tmp_path):
    alone = tmp_path / "alone"
    shutil.copytree(finished.out, alone)
    (alone / missing).unlink()
    words = f"there is no {missing} in {alone}: only the folder of a whole run can be published"
    with pytest.raises(BotError, match=re.escape(words)):
        publish(Publish(alone / "best.zip", NAME))


@pytest.mark.parametrize(
    ("steps", "minutes", "words"),
    [
        (2_000_000, None, "2,000,000 decisions"),
        (None, 11.0, "11 minutes"),
        (5000, 2.5, "5,000 decisions or 2.5 minutes"),
        (None, None, "the default"),
    ],
)
def test_a_budget_has_a_unit(steps, minutes, words):
    assert budget_in_words({"steps": steps, "minutes": minutes}) == words
