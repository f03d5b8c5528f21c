"""Pictures one can play on: what they mark with actions, and that they can be read."""

from __future__ import annotations

import importlib
import random
from collections import Counter
from itertools import combinations, cycle
from xml.etree import ElementTree

import numpy as np
import pytest

from kepler_envs import Game, Snapshot, bots
from kepler_envs.bots.greedy import greedy_games
from kepler_envs.engine import drawing, panels
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.drawing import contrast
from kepler_envs.registry import OWN_IDS
from kepler_envs.web.views import question
from tests.contract.subjects import every_game
from tests.effort import slow
from tests.pictures import SVG, inks, marked

READABLE = 4.5  # WCAG AA for text
TOLD_APART = 3.0  # WCAG AA for what is no text
SMALLEST = 10.0  # font size in a picture of 1280 units
GAMES_OF_GREEDY, POSITIONS_OF_A_NODE = 32, 40


@slow
@every_game
def test_what_can_be_done_can_be_clicked(game: Game) -> None:
    """Every legal id of the seat to move is on its picture, and no block of ids is without a place."""
    config = game.configure()
    chance = random.Random(game.name)
    seen: set[int] = set()
    for deal in range(4):
        position = Snapshot.deal(config, deal)
        for _ in range(150):
            if position.over:
                break
            legal, ids = position.legal_actions(), marked(position, position.seat)
            assert ids <= set(range(len(config.actions)))
            assert not [config.actions.text(action) for action in legal if action not in ids]
            assert question(position) or game.id not in OWN_IDS, "the page says what is asked"
            seen |= ids
            position = position.apply(chance.choice(legal))
    assert {config.actions.block_of(action).name for action in seen} == {block.name for block in config.actions.blocks}


@slow
@every_game
def test_what_greedy_can_do_can_be_clicked(game: Game) -> None:
    """Greedy gets to positions that random games do not. Of each node, the first ones are looked at."""
    if game.name not in greedy_games():
        pytest.skip("the game has no greedy")
    config, rows = game.configure(), np.arange(GAMES_OF_GREEDY)
    batch, bot = Batch(config, len(rows), seed=1), bots.load("greedy", config)
    bot.start(rows, rows.astype(np.uint64))
    looked_at: Counter[int] = Counter()
    while not batch.episodes.any():
        for row in rows:
            position = batch.snapshot(int(row))
            node = int(position.state["node"])
            looked_at[node] += 1
            if looked_at[node] <= POSITIONS_OF_A_NODE:
                lacking = set(position.legal_actions()) - marked(position, position.seat)
                assert not [config.actions.text(action) for action in lacking]
        batch.step(bot.act(bots.protocol.TrustedDecisions(batch, rows)))


@every_game
@pytest.mark.parametrize("players", ["fewest", "most"])
def test_what_is_kept_of_other_pictures_is_what_would_be_drawn(game: Game, players: str, monkeypatch) -> None:
    """The keys of ``Drawing.reuse`` name everything a part depends on: positions and views come in any order."""
    config = game.configure(max(2, game.min_players) if players == "fewest" else game.max_players)
    chance, position = random.Random(game.name), Snapshot.deal(config, 7)
    shown = []
    while not position.over and len(shown) < 400:
        shown.append(position)
        position = position.apply(chance.choice(position.legal_actions()))
    shown = [*chance.sample(shown, min(len(shown), 20)), position]
    views = [(one, chance.choice([None, *range(config.num_players)])) for one in shown for _ in range(2)]
    kept = [one.drawing(seat).svg() for one, seat in views]
    for (one, seat), svg in zip(views, kept, strict=True):
        monkeypatch.setattr(drawing, "_KEPT", {})
        assert one.drawing(seat).svg() == svg


@every_game
def test_words_and_seats_can_be_seen(game: Game) -> None:
    picture = importlib.import_module(f"{game.module}.picture")
    for ground in (panels.PANEL, panels.BACKGROUND):
        for ink in (panels.INK, panels.DIM):
            assert contrast(ink, ground) >= READABLE
        for colour in getattr(picture, "SEAT_COLOURS", ()):
            assert contrast(colour, ground) >= TOLD_APART
    position = Snapshot.deal(game.configure(), 1)
    root = ElementTree.fromstring(position.drawing().svg())
    sizes = [float(text.get("font-size", root.get("font-size", 0))) for text in root.iter(SVG + "text")]
    assert min(sizes) >= SMALLEST


@every_game
def test_words_can_be_read_on_what_is_behind_them(game: Game) -> None:
    """In games of greedy, on the pictures of all views in turn."""
    if game.name not in greedy_games():
        pytest.skip("the game has no greedy")
    config, rows = game.configure(game.max_players), np.arange(4)
    batch, bot = Batch(config, len(rows), seed=1), bots.load("greedy", config)
    bot.start(rows, rows.astype(np.uint64))
    views = cycle([None, *range(config.num_players)])
    pale, looked_at = set(), 0
    while not batch.episodes.any():
        if (looked_at := looked_at + 1) % 5 == 0:
            for words, ink, ground in inks(batch.snapshot(looked_at // 5 % len(rows)), next(views)):
                if contrast(ink, ground) < READABLE:
                    pale.add((words, ink, ground))
        batch.step(bot.act(bots.protocol.TrustedDecisions(batch, rows)))
    assert not pale


@every_game
def test_ranks_are_those_of_the_rules(game: Game) -> None:
    """They are shown once the game is over, and every player who is first is said to be so."""
    if game.id not in OWN_IDS:
        pytest.skip("how a picture is made is the game's own affair")
    picture = importlib.import_module(f"{game.module}.picture")
    config = game.configure(max(2, game.min_players))
    chance = random.Random(game.name)
    for deal in range(4):
        position = Snapshot.deal(config, deal)
        assert {player.rank for player in picture.look(position.state, config).players} == {0}
        while not position.over:
            position = position.apply(chance.choice(position.legal_actions()))
        view, ranks = picture.look(position.state, config), position.results()[0].tolist()
        assert [player.rank for player in view.players] == ranks
        assert [player.name in view.situation for player in view.players] == [rank == 1 for rank in ranks]


EYES = {
    "most": np.eye(3),
    "without red": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]),
    "without green": np.array([[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]),
    "without blue": np.array([[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]),
}
"""What eyes see of linear red, green and blue (Machado, Oliveira and Fernandes 2009)."""
FAR_APART = 18.0
"""Distance of colours in CIELAB. Large patches differ from 2.3 on, but a ring on a map is thin and lies alone."""


@every_game
def test_all_eyes_tell_seats_apart(game: Game) -> None:
    picture = importlib.import_module(f"{game.module}.picture")
    colours = getattr(picture, "SHIP_COLOURS", None) or getattr(picture, "SEAT_COLOURS", ())
    for eyes, seen in EYES.items():
        for one, other in combinations(colours, 2):
            assert np.linalg.norm(cielab(one, seen) - cielab(other, seen)) >= FAR_APART, (eyes, one, other)


def cielab(colour: str, seen: np.ndarray) -> np.ndarray:
    """Lightness, green to red and blue to yellow of a colour, as eyes see it; white is that of sRGB."""
    shares = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    primaries = np.array([[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8728]])
    light = primaries @ (seen @ linear).clip(0, 1)
    x, y, z = np.where(light > 0.008856, np.cbrt(light), 7.787 * light + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#123456", "#123456") == 1
