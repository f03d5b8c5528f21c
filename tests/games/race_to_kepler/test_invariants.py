"""Every invariant and every outcome of random games: all player counts, options and programs; wrong ones are named;
chance is fair."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kepler_envs import ComponentError
from kepler_envs.engine.game import TERMINATED, Configuration
from kepler_envs.engine.seeds import mix
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.race_to_kepler.actions import END_TURN
from kepler_envs.games.race_to_kepler.state import FIRST_CREW, FIRST_TITAN, EndReason, Node
from tests.choosing import Chooser, eager, scripted, uniform
from tests.effort import DEEP, games_to_play
from tests.games.race_to_kepler import invariants
from tests.games.race_to_kepler.any_programs import any_file
from tests.games.race_to_kepler.card_file import write_file
from tests.games.race_to_kepler.invariants import EAGER, check_decision, check_invariants
from tests.games.race_to_kepler.scenario import DONE, END, GAME, NAMES, OP_4, Seat, after, scenario
from tests.scenario import checked_game

PLAYER_COUNTS = range(2, 5)


def play_checked(config: Configuration, seed: int, choose: Chooser) -> tuple[Snapshot, Counter[str]]:
    """Play a game to its end and check each position and decision; the last position and what happened."""
    events: Counter[str] = Counter()
    for before, action, position in checked_game(config, seed, choose, check_invariants, check_decision):  # noqa: B007
        assert len(before.legal_actions()) >= 2  # I7
        events[config.actions.block_of(action).name] += 1
        events[before.node.name] += 1
    check_result(position)
    return position, events


def check_result(position: Snapshot) -> None:
    """Places, scores and returns of section 7, and I8."""
    places, scores, returns = position.results()
    state, n = position.state, position.config.num_players
    parsecs = state["player"]["parsecs"][:n].tolist()
    assert scores.tolist() == parsecs
    assert places.tolist() == [1 + sum(other > own for other in parsecs) for own in parsecs]
    shared = [place + (places.tolist().count(place) - 1) / 2 for place in places]
    by_rank = np.array([1 - 2 * (place - 1) / (n - 1) for place in shared])
    if state["end_reason"] == EndReason.ROUNDS:
        expected = by_rank / 2
    elif position.config.values["reward_mode"] == "rank":
        expected = by_rank
    else:
        expected = np.where(places == 1, 1, -1 / (n - 1))
    assert np.allclose(returns, expected) and abs(returns.sum()) < 1e-6
    assert state["end"] == TERMINATED and position.node == Node.OVER


def hurrying(seed: int) -> Chooser:
    """Any id but hardly ever the end of the turn."""
    choose, random = uniform(seed), Random(seed)
    return lambda legal: choose(legal if random.random() < 0.01 else [action for action in legal if action != END_TURN])


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@settings(max_examples=60 if DEEP else 5)
@given(
    seed=st.integers(0, 2**64 - 1),
    choices=st.lists(st.integers(0, 1000), max_size=40),
    eagerness=st.sampled_from([0.0, 0.6, 0.95]),
    reward_mode=st.sampled_from(["rank", "win"]),
)
def test_random_games(players: int, seed: int, choices: list[int], eagerness: float, reward_mode: str) -> None:
    config = GAME.configure(players, reward_mode=reward_mode, max_rounds=20)
    position, _ = play_checked(config, seed, scripted(choices, eager(seed, EAGER, eagerness)))
    assert position.state["decisions"] <= players + players * 20 * 292 + 7 * (142 + players + 1)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_random_games_get_everywhere(players: int) -> None:
    """Every kind of decision is made, and games end in both ways."""
    events: Counter[str] = Counter()
    for seed in range(games_to_play(5)):
        config = GAME.configure(players, max_rounds="file" if seed else 3)
        position, seen = play_checked(config, seed, hurrying(seed))
        events += seen
        events[str(EndReason(int(position.state["end_reason"])))] += 1
    names = {block.name for block in GAME.actions.blocks} | {node.name for node in Node if node != Node.OVER}
    assert not [name for name in (*names, "kepler", "rounds") if events[name] == 0]


def test_max_rounds() -> None:
    for rounds in (1, 2, 7):
        position = Snapshot.deal(GAME.configure(3, max_rounds=rounds), rounds)
        choose = uniform(rounds)
        while not position.over:
            position = position.apply(choose(position.legal_actions()))
        assert position.state["player"]["turns"][:3].tolist() == [rounds] * 3
        assert position.state["end_reason"] == EndReason.ROUNDS


# ---------------------------------------------------------------- other programs


def any_configuration(folder: Path, seed: int) -> Configuration:
    """A file of random programs. Some take too many steps for the loader, and are made anew."""
    random = Random(seed)
    while True:
        try:
            return GAME.configure(2 + seed % 3, write_file(folder, any_file(random)), max_rounds=6)
        except ComponentError as refused:
            assert "steps" in str(refused)


@pytest.mark.parametrize("seed", range(games_to_play(6)))
def test_games_with_any_programs(seed: int, tmp_path: Path) -> None:
    """The whole effect language in combinations that no card has; turns go on as long as anything can be done."""
    play_checked(any_configuration(tmp_path, seed), seed, hurrying(seed))


# ---------------------------------------------------------------- the checks see what is wrong


def stage(name: str) -> Snapshot:
    """A shop; a turn that ends with an encounter; the bids; the winner's choice."""
    if name == "shop":
        return scenario(Seat(hand="2 Iron, Gold"), money=5, supply="Fencing, Broker", crew_deck="9 Jeweler")
    seats = Seat(hand="2 Iron", deck="3 Iron, 2 Gold"), Seat("Karachi", hand="Gold, Jeweler")
    eve = scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0], race=0)
    return after(eve, *{"eve": (), "bids": (END,), "won": (END, DONE, "pick Gold", DONE)}[name])


Forgery = tuple[str, str, tuple[Any, ...], int, str]
FORGED: dict[str, Forgery] = {
    # stage, decision, the entry that is forged and by how much, what the referee says of it
    "money": ("shop", "play Iron", ("money",), 1, "money is 7, the rules say 6"),
    "a counter": ("shop", "play Iron", ("resource_played",), -1, "resource_played is 0, the rules say 1"),
    "a card played": ("shop", "play Iron", ("player", 0, "play", 0), 1, "seat 0: play is"),
    "the supply": ("shop", "acquire Fencing", ("supply", 24), 1, "supply is"),
    "the Gold pile": ("shop", "acquire Gold", ("gold_pile",), 1, "gold_pile is 20, the rules say 19"),
    "what was seen": ("shop", "acquire Gold", ("player", 0, "shown_size"), -1, "shown is [], the rules say [1]"),
    "chance that was not used": ("shop", "play Iron", ("rng",), 1, "rng is"),
    "chance that was used": ("eve", END, ("rng",), 1, "rng is"),
    "a turn": ("eve", END, ("player", 0, "turns"), -1, "seat 0: turns is 0, the rules say 1"),
    "a hand drawn": ("eve", END, ("player", 0, "hand", 1), -1, "seat 0: hand is"),
    "a token": ("eve", END, ("token", 2), -1, "tokens is"),
    "a titan": ("eve", END, ("titan_deck", 3), -1, "titan_deck is"),
    "the bidder": ("eve", END, ("seat",), 1, "turn is 1, the rules say 0"),
    "a bid": ("bids", "pick Iron", ("player", 0, "bid", 0), -1, "seat 0: bid is"),
    "the next bidder's place": ("bids", DONE, ("player", 1, "bid_place"), 1, "seat 1: bid_place is 3"),
    "a titan won": ("won", "pick {}", ("player", 1, "hand", 1), 1, "seat 1: hand is"),
    "the phase": ("won", DONE, ("race",), -1, "race is 0, the rules say 1"),
    "the jump": ("won", DONE, ("player", 1, "parsecs"), 1, "seat 1: parsecs is 4, the rules say 3"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_wrong_outcome_is_named(name: str) -> None:
    """The outcome of a decision, right but for one entry."""
    scene, decision, where, difference, message = FORGED[name]
    before = stage(scene)
    titan = NAMES[FIRST_TITAN + int(np.flatnonzero(before.state["titan_row"])[0])] if "{}" in decision else ""
    action = GAME.actions.id_of(decision.format(titan))
    outcome = before.apply(action)
    check_decision(before.state, action, outcome.state, outcome.config)
    forge(outcome.state, where, difference)
    with pytest.raises(AssertionError, match=re.escape(message)):
        check_decision(before.state, action, outcome.state, outcome.config)


def forge(record: Any, where: tuple[Any, ...], difference: int) -> None:
    """Add to an entry of a state."""
    *path, last = where
    for name in path:
        record = record[name]
    record[last] += difference


def test_a_wrong_legal_id_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    state, config = Snapshot.deal(GAME.configure(2), 1).state, GAME.configure(2)
    check_invariants(state, config)
    monkeypatch.setattr(invariants, "legal_actions", lambda *_: {0, 1, 99})
    with pytest.raises(AssertionError, match=r"legal ids are \[.*\], the rules say \[0, 1, 99\]"):
        check_invariants(state, config)


@pytest.mark.parametrize(
    "where, name",
    [
        (("player", 0, "deck_size"), "deck_size"), (("player", 1, "to_token"), "to_token"),
        (("player", 2, "hand", 0), "hand"), (("supply_size",), "supply_size"),
    ],
)  # fmt: skip
def test_a_wrong_view_is_named(where: tuple[Any, ...], name: str) -> None:
    """What a state keeps for speed, and seats that are absent."""
    config = GAME.configure(2)
    position = Snapshot.deal(config, 1)
    forge(position.state, where, 1)
    with pytest.raises(AssertionError, match=f"(?s)^{name} is .*, the position says"):
        check_invariants(position.state, config)


# ---------------------------------------------------------------- chance is fair


def test_chance_is_fair() -> None:
    """Cities, the first player, the supply and opening hands are uniform."""
    config = GAME.configure(3)
    offers, firsts, crew, gold = Counter(), Counter(), Counter(), 0
    deals = games_to_play(1500)
    for seed in range(deals):
        position = Snapshot.deal(config, seed)
        state = position.state
        offers.update(city for city in range(15) if int(state["player"][1]["offers"]) >> city & 1)
        crew.update({kind: int(count) for kind, count in enumerate(state["supply"]) if count})
        while position.node == Node.CITY:
            position = position.apply(position.legal_actions()[0])
        firsts[int(position.state["first"])] += 1
        seat = (int(position.state["first"]) + 1) % 3  # has not been asked for anything yet
        gold += int(position.state["player"][seat]["hand"][1])
    copies = GAME.default_tables[0]["card"]["copies"]
    expected_crew = {kind: deals * 5 * int(copies[kind]) / 64 for kind in range(FIRST_CREW, 27)}
    for counts, expected in (
        (offers, dict.fromkeys(range(15), deals * 3 / 15)),
        (firsts, dict.fromkeys(range(3), deals / 3)),
        (crew, expected_crew),
    ):
        chi_square = sum((counts[key] - expected[key]) ** 2 / expected[key] for key in expected)
        assert set(counts) == set(expected) and chi_square < 2 * len(expected) + 20
    mean, deviation = (
        5 * 2 / 10,
        (5 * 0.2 * 0.8 * 5 / 9) ** 0.5,
    )  # hypergeometric; a sixth card where the city deals one
    assert abs(gold / deals - mean) < 5 * deviation / deals**0.5 + 0.05


def test_titans_are_drawn_fairly() -> None:
    """C5, C6: each titan of the deck is as likely in the row, and won by Karachi's last operation."""
    deals, titans = games_to_play(400), NAMES[FIRST_TITAN:]
    row, won = np.zeros(len(titans), int), np.zeros(len(titans), int)
    crossed = scenario(Seat(hand="Iron", deck="5 Iron"), Seat(hand="2 Iron"), crossed=[1, 0, 0, 0, 0, 0, 0])
    karachi = scenario(Seat("Karachi", hand="Iron", deck="5 Iron"), Seat(hand="2 Iron"), energy=10)
    for seed in range(deals):
        for start in (crossed, karachi):
            start.state["rng"] = mix(seed)
        row += after(crossed, END).state["titan_row"]
        won += after(karachi, OP_4).state["player"][0]["hand"][FIRST_TITAN:]
    for drawn in (row, won):
        expected = drawn.sum() / len(titans)
        assert drawn.sum() == deals * (3 if drawn is row else 1)
        assert ((drawn - expected) ** 2 / expected).sum() < 45, dict(zip(titans, drawn, strict=True))
