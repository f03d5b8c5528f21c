"""Every invariant after every decision of random games: all player counts, options and component files."""

from __future__ import annotations

import pickle
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kepler_envs
from kepler_envs import OptionError
from kepler_envs.engine.game import TERMINATED, TRUNCATED, Configuration
from kepler_envs.engine.replay import ReplayError, configuration_of, record
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kitten_adventurers.components import DEFAULT_FILE
from tests.choosing import Chooser, eager, scripted, uniform
from tests.effort import DEEP, games_to_play
from tests.games.kitten_adventurers.invariants import EAGER, check_decision, check_invariants
from tests.games.kitten_adventurers.scenario import GAME, PLAYER_COUNTS, H, Position
from tests.scenario import checked_game


def play_checked(config: Configuration, seed: int, choose: Chooser) -> tuple[Snapshot, Counter[str]]:
    """Play a game to its end and check each position and decision; the last position and what happened."""
    events: Counter[str] = Counter()
    for before, _, position in checked_game(config, seed, choose, check_invariants, check_decision):
        _note_events(before.state, position.state, events)
    check_result(position)
    return position, events


def _note_events(before: Any, after: Any, events: Counter[str]) -> None:
    completed = len(Position.read(before).ladders) - len(Position.read(after).ladders)
    events["ladders completed"] += completed == 1
    events["reshuffles"] += int(after["deck_count"]) > int(before["deck_count"])
    events["lanes deeper than three"] += bool((after["player"]["lane"]["depth"] > 3).any())
    events["decisions"] += 1


def check_result(position: Snapshot) -> None:
    """Places, scores and returns of section 6, from the quest cards that are left."""
    config, state = position.config, position.state
    places, scores, returns = (values.tolist() for values in position.results())
    players = config.num_players
    left = [len(seat.quest) for seat in Position.read(state).seats]
    assert places == [1 + sum(other < own for other in left) for own in left]
    assert scores == [int(config.options[0]["quest_size"]) - own for own in left]
    winners = [seat for seat in range(players) if left[seat] == min(left)]
    if state["end"] == TERMINATED and min(left) == 0:
        assert winners == [position.seat]
    for seat in range(players):
        if config.values["reward_mode"] == "win":
            share = (players - len(winners)) / (len(winners) * (players - 1))
            expected = share if seat in winners else -1 / (players - 1)
        else:
            tied = left.count(left[seat])
            expected = 1 - 2 * (places[seat] + (tied - 1) / 2 - 1) / (players - 1)
        assert returns[seat] == pytest.approx(expected, abs=1e-6)
    assert sum(returns) == pytest.approx(0, abs=1e-5)


# ---------------------------------------------------------------- games


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("style", ["uniform", "eager"])
def test_games_of_every_player_count(style: str, players: int) -> None:
    config = GAME.configure(players)
    for seed in range(games_to_play(1)):
        choose = uniform(seed) if style == "uniform" else eager(seed, EAGER)
        play_checked(config, seed, choose)


@st.composite
def configurations(draw: st.DrawFn) -> Configuration:
    """Any allowed options; impossible combinations must be refused."""
    players = draw(st.integers(2, 8))
    options = {
        "hand_size": draw(st.sampled_from(["rulebook", 5, 6, 7])),
        "quest_size": draw(st.one_of(st.sampled_from(["rulebook", "later_edition"]), st.integers(1, 35))),
        "first_player": draw(st.sampled_from(["random", "seat0"])),
        "reward_mode": draw(st.sampled_from(["win", "rank"])),
        "max_turns": draw(st.sampled_from([600, 1, 40])),
        "max_plays": draw(st.sampled_from([1000, 1, 30])),
    }
    try:
        return GAME.configure(players, **options)
    except OptionError:
        hand = (
            GAME.default_tables[0]["hand_size"][players] if options["hand_size"] == "rulebook" else options["hand_size"]
        )
        quest = options["quest_size"]
        assert not isinstance(quest, str) or quest == "later_edition"
        if not isinstance(quest, str):
            assert players * (quest + int(hand)) > 109, "an allowed combination was refused"
        assume(False)
        raise


@settings(max_examples=300 if DEEP else 8)
@given(
    config=configurations(),
    seed=st.integers(0, 2**64 - 1),
    choices=st.lists(st.integers(0, 50), max_size=40),
    eagerness=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
)
def test_games_with_any_options(config: Configuration, seed: int, choices: list[int], eagerness: float) -> None:
    play_checked(config, seed, scripted(choices, eager(seed, EAGER, eagerness)))


def test_the_random_games_reach_what_they_are_for() -> None:
    """Eager games complete ladders, reshuffle, fill lanes and are won; uniform ones come to a stalemate."""
    happened: Counter[str] = Counter()
    for seed in range(3):
        last, events = play_checked(GAME.configure(2), seed, eager(seed, EAGER))
        happened += events
        happened["won"] += 0 in last.state["player"]["quest_count"][:2]
    assert happened["ladders completed"] >= 3
    assert happened["reshuffles"] >= 1
    assert happened["lanes deeper than three"] >= 10
    assert happened["won"] >= 1
    last, _ = play_checked(GAME.configure(2), 1, uniform(1))
    assert last.state["end"] == TERMINATED and last.state["player"]["quest_count"][:2].min() > 0


def test_first_player() -> None:
    """``seat0`` always starts; by default every seat does, about equally often."""
    config = GAME.configure(3, first_player="seat0")
    assert {Snapshot.deal(config, seed).seat for seed in range(20)} == {0}
    first = Counter(Snapshot.deal(GAME.configure(3), seed).seat for seed in range(300))
    assert sorted(first) == [0, 1, 2] and min(first.values()) > 60


def test_limits_truncate() -> None:
    config = GAME.configure(3, max_turns=5)
    last, _ = play_checked(config, 1, uniform(1))
    assert last.state["end"] == TRUNCATED and last.state["turns"] == 5
    config = GAME.configure(3, max_plays=4)
    last, _ = play_checked(config, 1, eager(1, EAGER))
    assert last.state["end"] == TRUNCATED and last.state["plays"] == 4


# ---------------------------------------------------------------- the deal is fair


def test_deal_is_uniform() -> None:
    """Each type turns up at each kind of place as often as its share of the deck says (chi-square)."""
    config = GAME.configure(4)
    deals = games_to_play(400)
    counts = {place: np.zeros(14) for place in ("hand of seat 3", "first quest card", "deck")}
    for seed in range(deals):
        position = Position.read(Snapshot.deal(config, seed).state)
        counts["hand of seat 3"] += np.bincount(position.seats[3].hand, minlength=14)
        counts["first quest card"] += np.bincount(position.seats[0].quest[-1:], minlength=14)
        counts["deck"] += np.bincount(position.deck, minlength=14)
    share = np.array([8] * 13 + [6]) / 110
    for place, seen in counts.items():
        expected = share * seen.sum()
        chi_square = ((seen - expected) ** 2 / expected).sum()
        assert chi_square < 45, f"{place}: {chi_square:.1f} with 13 degrees of freedom"  # p < 1e-4


# ---------------------------------------------------------------- other cards


def card_file(folder: Path, name: str, *replacements: tuple[str, str]) -> Path:
    """A copy of the game's own component file with texts replaced."""
    text = DEFAULT_FILE.read_text(encoding="utf-8")
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def count_of(card: int, old: int, new: int) -> tuple[str, str]:
    """A replacement of the count of one card type."""
    names = ["Wormhole", *[f"Class {card} planet" for card in range(1, 12)], "Final Frontier", "Hyperspeed"]
    return f'name = "{names[card]}"\ncount = {old}', f'name = "{names[card]}"\ncount = {new}'


@pytest.fixture
def other_cards(tmp_path: Path) -> Path:
    """119 cards: ten wormholes, six wilds, none of class 5, more of others; other quest piles and hands for three."""
    return card_file(
        tmp_path, "mine.toml", count_of(0, 8, 10), count_of(5, 8, 0), count_of(7, 8, 20), count_of(12, 8, 11),
        ("players = 3\nquest = 10\nhand = 7", "players = 3\nquest = 4\nhand = 9"),
        ('name = "Hyperspeed"', 'name = "Jöker"'),
    )  # fmt: skip


def test_games_with_other_cards(other_cards: Path) -> None:
    config = GAME.configure(3, components=other_cards)
    position = Position.read(Snapshot.deal(config, 1).state)
    assert [len(seat.hand) for seat in position.seats] == [9, 9, 9]
    assert [len(seat.quest) for seat in position.seats] == [4, 4, 4]
    cards = position.open_cards() + position.hidden_cards()
    assert cards.total() == 119 and (cards[0], cards[5], cards[7], cards[H]) == (10, 0, 20, 6)
    assert config.actions.text(H) == "play Jöker from the hand"
    for seed in range(games_to_play(3)):
        play_checked(config, seed, eager(seed, EAGER))


def test_two_card_files_in_one_process(other_cards: Path) -> None:
    """An environment with other cards does not disturb one with the game's own, nor the reverse."""
    own, other = GAME.configure(3), GAME.configure(3, components=other_cards)
    before = Snapshot.deal(own, 5).digest()
    assert Position.read(Snapshot.deal(other, 5).state).open_cards() is not None
    assert Snapshot.deal(own, 5).digest() == before
    assert own.components_digest != other.components_digest and own.digest != other.digest
    copy = shutil.copy(DEFAULT_FILE, other_cards.with_name("copy.toml"))
    assert GAME.configure(3, components=copy).components_digest == own.components_digest


def test_other_cards_through_every_door(other_cards: Path) -> None:
    """Environment, batch, pickles and replays take the cards along; a pickle needs the file no more."""
    env = kepler_envs.make("kitten_adventurers-v1", num_players=3, components=str(other_cards))
    batch = kepler_envs.make_batch("kitten_adventurers-v1", 4, num_players=3, components=other_cards, seed=1)
    env.reset(seed=int(batch.seed[2]))
    assert env.snapshot() == batch.snapshot(2)
    saved, digest = pickle.dumps(env), env.config.digest
    assert env.config.describe()["components"] == str(other_cards)
    actions = [env.legal_actions()[0]]
    replay = record(env.config, env.game_seed, actions)
    assert configuration_of(replay, kepler_envs.load_game).digest == digest
    other_cards.write_text(
        other_cards.read_text(encoding="utf-8").replace("count = 20", "count = 19"), encoding="utf-8"
    )
    with pytest.raises(ReplayError, match="component data"):
        configuration_of(replay, kepler_envs.load_game)
    other_cards.unlink()
    twin = pickle.loads(saved)
    assert twin.config.digest == digest
    env.step(actions[0])
    twin.step(actions[0])
    assert twin.snapshot() == env.snapshot()
    with pytest.raises(ReplayError, match="cannot be"):
        configuration_of(replay, kepler_envs.load_game)


def test_longest_quest_piles_fit() -> None:
    """35 quest cards for two players, 84 of 110 cards dealt: the observation's bounds hold."""
    config = GAME.configure(2, quest_size="later_edition")
    assert len(Position.read(Snapshot.deal(config, 1).state).deck) == 26
    play_checked(config, 1, eager(1, EAGER))
