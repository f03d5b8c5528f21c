"""The work of an effect is bounded, and what files may ask for stays within the observation's bounds."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import kepler_envs
from kepler_envs import ComponentError, Configuration, Snapshot
from kepler_envs.games.race_to_kepler.actions import END_TURN
from kepler_envs.games.race_to_kepler.components import CARD_DEFAULTS
from kepler_envs.games.race_to_kepler.state import MOST_COUNTED, MOST_UNITS, Node
from kepler_envs.games.race_to_kepler.work import MOST_STEPS, Work
from tests.effort import games_to_play
from tests.games.race_to_kepler import extremes
from tests.games.race_to_kepler.card_file import card, default_data, write_file
from tests.games.race_to_kepler.invariants import check_invariants
from tests.games.race_to_kepler.scenario import GAME, Seat, after, scenario
from tests.scenario import check_in_bounds

AROUND = ["move", "deck", "any", 0, "must", 99, "discard"]
REPEAT = ["replay", "supply"]
LAST_STEP = 1  # the end of a program


def with_fuser(folder: Path, *program: Any) -> Configuration:
    """Two players and a Fuser with another program when it is played, and none when it is discarded."""
    data = default_data()
    row = next(row for row in data["cards"] if row["name"] == "Fuser")
    row |= {"on_play": list(program), "on_discard": []}
    return GAME.configure(2, components=write_file(folder, data))


def work_of(*cards: dict[str, Any], trait: dict[str, Any] | None = None) -> Work:
    cities = [] if trait is None else [{"trait": trait}]
    return Work([CARD_DEFAULTS | row for row in cards], cities, supply_size=5)


# ---------------------------------------------------------------- counting


@pytest.mark.parametrize(
    "program, steps",
    [
        ([], 0),
        ([["gain", "energy", 20]], 1 + LAST_STEP),
        ([["gain", "draw", 3]], 1 + 3 + LAST_STEP),
        ([["gain", "draw", 3, "ejected", 7]], 1 + 7 + LAST_STEP),
        ([["gain", "draw", 3, "ejected"]], 1 + 99 + LAST_STEP),
        ([["look", 5], ["move", "look", "any", 0, "upto", 99, "hand"]], 1 + 5 + 1 + 5 + LAST_STEP),
        ([["move", "supply", "any", 0, "all", 99, "hand"]], 1 + 5 + LAST_STEP),
        ([["move", "hand", "any", 0, "may", 2, "eject"]], 1 + 2 * (1 + 11 + 2) + LAST_STEP),
        ([["move", "hand", "any", 0, "may", 2, "discard"]], 1 + 2 * (1 + 2) + LAST_STEP),
        ([["move", "hand", "any", 0, "may", 2, "airlock"]], 1 + 2 + LAST_STEP),
        ([["if", "moved", 1, [["discount", 1], ["discount", 1]]]], 1 + 2 + 1 + LAST_STEP),
        ([["choice", [[["discount", 1]], [], [["look", 4]]]]], 2 + 5 + 1 + LAST_STEP),
    ],
)  # fmt: skip
def test_steps_of_a_program(program: list[Any], steps: int) -> None:
    """Instructions, cards, and the dearest triggers: drawing 9 when ejected, 1 energy when discarded, a city's energy
    for ejecting."""
    drawing = card(3, "Drawing", [], on_eject=[["gain", "draw", 9]])
    glowing = card(4, "Glowing", [], on_eject=[["gain", "energy", 1]], on_discard=[["gain", "energy", 1]])
    trait = {"hook": "eject", "filter": "any", "param": 0, "effect": [["gain", "energy", 1]]}
    assert work_of(drawing, glowing, trait=trait).steps(program) == steps


def test_steps_of_repeats() -> None:
    """Each of the eight frames of the stack can hold a card that repeats another; the supply has no titans."""
    once = work_of(card(3, "Once", [REPEAT]))
    assert once.steps([REPEAT]) == 8 * 2
    assert work_of(card(3, "Twice", [REPEAT, REPEAT])).steps([REPEAT, REPEAT]) == 3 * (2**8 - 1)
    long = card(35, "Long", [["gain", "draw", 20]], **{"class": "titan"})
    assert work_of(card(3, "Once", [REPEAT]), long).steps([REPEAT]) == 8 * 2
    assert work_of(card(3, "Once", [REPEAT]), long).steps([["replay", "play"]]) == 2 + 22


def test_the_work_of_the_own_cards_is_far_below_the_limit() -> None:
    data = default_data()
    work = Work([CARD_DEFAULTS | row for row in data["cards"]], data["cities"], 5)
    programs = [row["on_play"] for row in data["cards"]] + [op["effect"] for row in data["cities"] for op in row["ops"]]
    assert 0 < max(map(work.steps, programs)) < 1000 < MOST_STEPS


@pytest.mark.parametrize(
    "program", [[REPEAT] * 9, [REPEAT] * 12, [AROUND] * 300], ids=["9 repeats", "12 repeats", "300 rounds"]
)
def test_too_much_work_is_refused(program: list[Any], tmp_path: Path) -> None:
    """What would take seconds, or for ever."""
    place, rule = (
        r"cards row 13 \('Fuser'\), on_play",
        r"the effect can take [0-9,]{7,} steps .*; allowed: up to 200,000",
    )
    with pytest.raises(ComponentError, match=f"{place}: {rule}"):
        with_fuser(tmp_path, *program)


def test_much_work_is_done_at_once(tmp_path: Path) -> None:
    """Four repeats of the only crew there is, which nobody is asked for: 4 + 4^2 + ... + 4^7 times, as the stack holds
    eight frames."""
    data = default_data()
    data["cards"] = [row for row in data["cards"] if row["class"] != "crew"]
    data["cards"].append(card(3, "Echo", [*[REPEAT] * 4, ["gain", "energy", 1]], copies=20))
    config = GAME.configure(2, components=write_file(tmp_path, data))
    position = after(scenario(Seat(hand="Echo, Iron"), supply="5 Echo", config=config), "play Echo")
    assert position.state["energy"] == MOST_UNITS and position.node == Node.ACTION


# ---------------------------------------------------------------- playing


def test_cards_are_counted_up_to_a_thousand(tmp_path: Path) -> None:
    """Twelve times around the deck, 99 cards each, are 1188 discards; no program asks for more than 99."""
    config = with_fuser(tmp_path, *[AROUND] * 4, ["gain", "energy", 1, "discarded"], *[AROUND] * 8)
    position = scenario(Seat(hand="2 Fuser, Iron", deck="20 Iron"), config=config)
    for _ in range(2):
        position = after(position, "play Fuser")
        assert (position.state["discarded"], position.state["energy"]) == (MOST_COUNTED, MOST_UNITS)
        check_in_bounds(position)


def test_an_effect_may_ask_for_more_decisions_than_are_shown(tmp_path: Path) -> None:
    """120 moves of five cards: 601 decisions in one turn, of which the entry shows 550."""
    there, back = (
        ["move", "hand", "any", 0, "upto", 5, "owndiscard"],
        ["move", "discard", "any", 0, "upto", 5, "hand"],
    )
    config = with_fuser(tmp_path, *[there, back] * 60)
    position = after(
        scenario(Seat(hand="Fuser, 5 Iron, 5 Gold", deck="Mafia"), Seat(hand="Iron"), config=config), "play Fuser"
    )
    entry, asked = config.observation["game.decisions"], 1
    while position.node == Node.MOVE:
        assert entry.view(position.observe(0)) == min(asked, 550) and entry.view(position.observe(1)) == 0
        check_in_bounds(position)
        position = position.apply(position.legal_actions()[0])
        asked += 1
    assert asked == 601
    assert position.seat == 1 and position.node == Node.ACTION  # after so many decisions a turn can only be ended


@pytest.mark.parametrize("kind", ["largest", "smallest"])
@pytest.mark.parametrize("players", [2, 4])
def test_extreme_files(kind: str, players: int, tmp_path: Path) -> None:
    """Turns that are not ended while anything else can be done, with every entry in its bounds after every decision."""
    path = write_file(tmp_path, getattr(extremes, kind)(players))
    config = GAME.configure(players, path, **extremes.options(kind, players))
    furthest = 0
    for seed in range(games_to_play(3)):
        random, position = Random(seed), Snapshot.deal(config, seed)
        assert position.node == Node.CITY
        while not position.over:
            legal = position.legal_actions()
            position = position.apply(random.choice([action for action in legal if action != END_TURN]))
            furthest = max(furthest, int(position.state["discarded"]))
            check_in_bounds(position)
        check_invariants(position.state, config)
    assert kind == "smallest" or furthest > 99


def test_every_deal_has_a_decision(tmp_path: Path) -> None:
    """Also where nobody has a card and a round is all there is, so that a batch can go on from deal to deal."""
    path = write_file(tmp_path, extremes.smallest(2))
    batch = kepler_envs.make_batch("race_to_kepler-v1", 4, num_players=2, components=path, seed=1)
    for _ in range(20):
        actions = batch.uniform()
        assert (actions < len(GAME.actions)).all()
        batch.step(actions)
    assert (batch.episodes > 3).all()
