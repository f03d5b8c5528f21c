"""Every invariant after every decision of random games: all player counts, options and component files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kepler_envs.engine.game import RUNNING, TERMINATED, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.ad_astra.components import DEFAULT_FILE
from kepler_envs.games.ad_astra.state import EndReason, Node
from tests.choosing import Chooser, eager, scripted, uniform
from tests.effort import DEEP as MANY
from tests.effort import games_to_play
from tests.games.ad_astra.invariants import EAGER, check_decision, check_invariants
from tests.games.ad_astra.scenario import DEEP, GAME, RESERVE, SYSTEMS, USED, Play, Position, move, scenario
from tests.scenario import checked_game

PLAYER_COUNTS = (3, 4, 5)


def play_checked(config: Configuration, seed: int, choose: Chooser) -> tuple[Snapshot, Counter[str]]:
    """Play a game to its end and check each position and decision; the last position and what happened."""
    events: Counter[str] = Counter()
    for before, action, position in checked_game(config, seed, choose, check_invariants, check_decision):
        events[before.node.name] += 1
        if action >= 383:
            events[f"artifact {action - 383}"] += 1
        assert (before.state["player"]["points"] <= position.state["player"]["points"]).all(), "points never fall"
    check_result(position)
    return position, events


def check_result(position: Snapshot) -> None:
    """Places, scores and returns of section 6, from the points."""
    config, state = position.config, position.state
    places, scores, returns = (values.tolist() for values in position.results())
    points = [seat.points for seat in Position.read(state).seats]
    assert scores == points
    assert places == [1 + sum(other > own for other in points) for own in points]
    for seat, own in enumerate(points):
        signs = [np.sign(own - other) for other in points]
        assert returns[seat] == pytest.approx(sum(signs) / (config.num_players - 1), abs=1e-6)
    info = config.game.info(state, config.tables[0], 0)
    assert info == {
        "vp": points, "round": int(state["round_number"]), "end_reason": int(state["end_reason"]),
        "decisions": int(state["decisions"]),
    }  # fmt: skip
    assert state["end"] == TERMINATED and str(EndReason(info["end_reason"])) in ("points", "planets", "rounds")


# ---------------------------------------------------------------- games


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("style", ["uniform", "eager"])
def test_games_of_every_player_count(players: int, style: str) -> None:
    config = GAME.configure(players)
    for seed in range(games_to_play(1)):
        choose = uniform(seed) if style == "uniform" else eager(seed, EAGER)
        play_checked(config, seed, choose)


@st.composite
def configurations(draw: st.DrawFn) -> Configuration:
    """Any allowed options."""
    players = draw(st.integers(3, 5))
    factions = draw(st.permutations(["blue", "red", "yellow", "green", "grey"]))
    return GAME.configure(
        players,
        artifacts=draw(st.sampled_from(["none", "regular", "all"])),
        layout=draw(st.sampled_from(["random", "even"])),
        factions=draw(st.sampled_from(["random", factions[:players]])),
        max_rounds=draw(st.sampled_from([20, 1, 3])),
        max_offers=draw(st.sampled_from([4, 0, 20])),
        max_bank_trades=draw(st.sampled_from([12, 0, 1, 40])),
    )


@settings(max_examples=300 if MANY else 6)
@given(
    config=configurations(),
    seed=st.integers(0, 2**64 - 1),
    choices=st.lists(st.integers(0, 400), max_size=40),
    eagerness=st.sampled_from([0.0, 0.5, 0.9]),
)
def test_games_with_any_options(config: Configuration, seed: int, choices: list[int], eagerness: float) -> None:
    play_checked(config, seed, scripted(choices, eager(seed, EAGER, eagerness)))


def test_the_random_games_reach_what_they_are_for() -> None:
    """Every node, nearly every artifact, and 50 points."""
    happened: Counter[str] = Counter()
    nodes = {node.name for node in Node} - {"OVER"}
    artifacts = {f"artifact {number}" for number in range(1, 11)}
    for seed in (21, 31, 59, *range(30)):  # the first three are enough as long as games do not change
        if nodes <= set(happened) and len(artifacts & set(happened)) >= 8 and happened["points"]:
            break
        config = GAME.configure(4, artifacts="all")
        last, events = play_checked(config, seed, eager(seed, EAGER) if seed % 2 else uniform(seed))
        happened += events
        happened[str(EndReason(int(last.state["end_reason"])))] += 1
    assert nodes <= set(happened)
    assert len(artifacts & set(happened)) >= 8
    assert happened["points"] > 0
    last, _ = play_checked(GAME.configure(3, max_rounds=2), 1, uniform(1))
    assert last.state["end_reason"] == EndReason.ROUNDS and last.state["round_number"] == 2


def test_the_last_planet_ends_the_game() -> None:
    """The round is completed first."""
    game = scenario(resolve=(1, 3), ships={1: [DEEP]}, up=set(range(56)) - {21})
    position = game.position
    position.face_up &= set(position.planets)
    game = Play(position.write(game.snapshot.config))
    assert game.position.hidden() == {21}
    game.play(move(0, "LY"), 209 + 21)
    assert not game.over and not game.position.hidden()
    check_invariants(game.snapshot.state, game.snapshot.config)
    while not game.over:
        game.play(min(game.legal()))
    assert game.position.end_reason == EndReason.PLANETS and game.position.round == 1


def test_points_come_before_planets_and_rounds() -> None:
    config = GAME.configure(3, max_rounds=1)
    game = scenario(3, config=config, resolve=(0, 7), last=True, points={1: 50}, up=set(range(56))).play(0)
    assert game.over and game.position.end_reason == EndReason.POINTS


# ---------------------------------------------------------------- the deal is fair


def _chi_square(seen: np.ndarray, share: np.ndarray) -> float:
    expected = share * seen.sum()
    return float(((seen - expected) ** 2 / expected).sum())


def test_deal_is_uniform() -> None:
    """Planets at each kind of place, factions, first players and the top of the deck (chi-square)."""
    config = GAME.configure(4)
    deals = games_to_play(600)
    first, faction, top, start, slot = np.zeros(4), np.zeros(5), np.zeros(9), np.zeros(7), np.zeros(7)
    extra = np.zeros(8)
    for seed in range(deals):
        position = Position.read(Snapshot.deal(config, seed).state)
        first[position.first] += 1
        faction[position.seats[2].faction] += 1
        top[position.deck[0]] += 1
        start[position.planets[57]] += 1
        slot[position.planets[30]] += 1
        for system in range(8):
            extra[system] += sum(place // 7 == system for place in position.planets) - 3
    counts = np.array([6, 6, 8, 6, 6, 6, 5])
    assert _chi_square(first, np.full(4, 1 / 4)) < 22
    assert _chi_square(faction, np.full(5, 1 / 5)) < 24
    assert _chi_square(top, np.full(9, 1 / 9)) < 32
    assert start[6] == 0 and _chi_square(start[:6], counts[:6] / 38) < 26
    # four planets that are not alien lie in the start system
    assert _chi_square(slot, np.array([*(counts[:6] * 34 / 38), 5]) / 39) < 28
    assert _chi_square(extra, np.full(8, 1 / 8)) < 30


def test_layouts() -> None:
    for players, sizes in ((3, [5] * 8), (4, [5] * 7 + [4]), (5, [5] * 6 + [4, 4])):
        position = Position.read(Snapshot.deal(GAME.configure(players, layout="even"), 3).state)
        assert [sum(place // 7 == system for place in position.planets) for system in range(8)] == sizes
    seen = {
        tuple(sum(place // 7 == system for place in Position.read(Snapshot.deal(GAME.configure(4), seed).state).planets)
              for system in range(8))
        for seed in range(30)
    }  # fmt: skip
    assert len(seen) > 25 and all(min(sizes) >= 3 and max(sizes) <= 7 and sum(sizes) == 39 for sizes in seen)


def test_artifact_modes() -> None:
    for mode, count in (("none", 0), ("regular", 9), ("all", 11)):
        assert sorted(Position.read(Snapshot.deal(GAME.configure(3, artifacts=mode), 1).state).deck) == list(
            range(count)
        )


def test_an_alien_planet_without_artifacts() -> None:
    config = GAME.configure(4, artifacts="none")
    game = Play(Snapshot.deal(config, 1))
    alien = next(place for place, kind in game.position.planets.items() if kind == 6)
    position = game.position
    owner = next(
        seat for seat in range(4)
        for card in (3, 4, 5)
        if alien // 7 in _systems(config, position.seats[seat].faction, card)
    )  # fmt: skip
    card = next(card for card in (3, 4, 5) if alien // 7 in _systems(config, position.seats[owner].faction, card))
    game = scenario(config=config, resolve=(owner, card)).play(move(0, SYSTEMS[alien // 7]), 209 + alien)
    assert game.position.artifacts == {} and game.position.seats[owner].ships[0] == alien


def _systems(config: Configuration, faction: int, card: int) -> list[int]:
    word = int(config.tables[0]["faction"][faction]["movement"][card - 3])
    return [system for system in range(8) if word >> system & 1]


# ---------------------------------------------------------------- other numbers


def component_file(folder: Path, *replacements: tuple[str, str]) -> Path:
    """A copy of the game's own component file with texts replaced."""
    text = DEFAULT_FILE.read_text(encoding="utf-8")
    for old, new in replacements:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def other_numbers(tmp_path: Path) -> Path:
    """A poorer and shorter game in a larger galaxy, paid in water."""
    return component_file(
        tmp_path,
        ('name = "cards_per_resource"\nvalue = 25', 'name = "cards_per_resource"\nvalue = 12'),
        ('name = "hand_limit"\nvalue = 10', 'name = "hand_limit"\nvalue = 5'),
        ('name = "end_points"\nvalue = 50', 'name = "end_points"\nvalue = 30'),
        ('name = "bonus"\nvalue = 3', 'name = "bonus"\nvalue = 2'),
        ('name = "water"\nfuel = false\nstart = 1', 'name = "vodka"\nfuel = true\nstart = 2'),
        ('name = "energy"\nfuel = true\nstart = 1', 'name = "energy"\nfuel = false\nstart = 0'),
        ('name = "within a system"\ncost = 1', 'name = "within a system"\ncost = 0'),
        ("count = 8\nterraformable = false", "count = 12\nterraformable = true"),
        ("layout = [5, 5, 5, 5, 5, 5, 5, 4]", "layout = [6, 6, 6, 6, 5, 5, 5, 4]"),
        ("layout = [5, 5, 5, 5, 5, 5, 5, 5]", "layout = [6, 6, 6, 6, 5, 5, 5, 5]"),
        ("layout = [5, 5, 5, 5, 5, 5, 4, 4]", "layout = [6, 6, 6, 6, 5, 5, 4, 4]"),
        ("players = 3\nspaces = 12", "players = 3\nspaces = 9"),
        ("cost = [2, 2, 0, 0, 0, 0]", "cost = [1, 0, 2, 0, 0, 0]"),
        ("points = [2]\n", "points = [4]\n"),
        ('couple = [4, 5]\nprov = "D: the', 'couple = [5, 0]\nprov = "D: the'),
    )


def test_games_with_other_numbers(other_numbers: Path) -> None:
    for players in PLAYER_COUNTS:
        config = GAME.configure(players, components=other_numbers, artifacts="all")
        if players == 3:
            continue  # nine spaces: the observer's row of spaces is checked by hand below
        position = Position.read(Snapshot.deal(config, 1).state)
        assert len(position.planets) == 47 and position.seats[0].hand == [2, 1, 0, 1, 1, 1]
        assert config.actions.text(167) == "choose vodka"
        play_checked(config, 1, eager(1, EAGER))
    state = Snapshot.deal(GAME.configure(3, components=other_numbers), 1).state
    assert int(state["empty_spaces"]) == 0b111111111 and state["player"]["to_place"][:3].tolist() == [3, 3, 3]


def test_two_component_files_in_one_process(other_numbers: Path) -> None:
    """An environment with other numbers does not disturb one with the game's own, nor the reverse."""
    own, other = GAME.configure(4), GAME.configure(4, components=other_numbers)
    before = Snapshot.deal(own, 5).digest()
    assert len(Position.read(Snapshot.deal(other, 5).state).planets) == 47
    assert Snapshot.deal(own, 5).digest() == before
    assert own.components_digest != other.components_digest and own.digest != other.digest


def test_running_positions_have_no_end_reason() -> None:
    state = Snapshot.deal(GAME.configure(3), 1).state
    assert state["end"] == RUNNING and state["end_reason"] == EndReason.RUNNING
    assert Position.read(state).artifacts.get(0) != USED and RESERVE in Position.read(state).seats[0].ships
