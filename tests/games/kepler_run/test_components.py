"""Component files and options: what is allowed works, what is not is refused in words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import kepler_envs
from kepler_envs import ComponentError, OptionError
from tests.component_file import changed, check_refused, own_text, write
from tests.games.kepler_run.scenario import GAME, JUMP, OUTPOST, REFUEL, REROUTE, SLING, card_of

TEXT = own_text("kepler_run")
LINES = {line.split(",")[0].strip(" {"): line for line in TEXT.splitlines()}
ROUNDS = LINES['name = "rounds"']
CARD_4 = LINES["id =  4"]
LAST_CARD = LINES["id = 39"]
COMETS, NEBULA, GREEN = (
    next(line for line in TEXT.splitlines() if f'"{name}"' in line) for name in ("comets", "Nebula", "green")
)
THIRD_SEAT = LINES["position = 3"]

BROKEN = {
    # name: (text to replace, its replacement, where the message points, what rule it names)
    "other game": ('"kepler_run"', '"ad_astra"', "meta", "must be for 'kepler_run'"),
    "syntax": ("id =  4,", "id = ,", "", "not a TOML file"),
    "text for a number": (CARD_4, CARD_4.replace("cost = 1", 'cost = "1"'), "game_cards row 5",
                          "it must be of type int"),
    "fraction": (CARD_4, CARD_4.replace("cost = 1", "cost = 1.5"), "game_cards row 5", "cost is 1.5"),
    "missing column": (CARD_4, CARD_4.replace("cost = 1, ", ""), "game_cards row 5", "lacks cost"),
    "unknown column": (CARD_4, CARD_4.replace("cost", "price = 3, cost"), "game_cards row 5", "unknown columns price"),
    "no provenance": (CARD_4, CARD_4.replace(', prov = "D"', ""), "game_cards row 5", "lacks prov"),
    "wrong id": (CARD_4, CARD_4.replace("id =  4", "id = 5"), "game_cards row 5",
                 "rows must have id 0..39 in this order"),
    "no such type": (CARD_4, CARD_4.replace("type = 0", "type = 5"), "game_cards row 5", "type is 5; allowed: 0..4"),
    "no such part": (CARD_4, CARD_4.replace("part_kind = 4", "part_kind = 7"), "game_cards row 5",
                     "part_kind is 7; allowed: 0..6"),
    "no such action": (CARD_4, CARD_4.replace("action = 0", "action = 4"), "game_cards row 5",
                       "action is 4; allowed: 0..3"),
    "negative cost": (CARD_4, CARD_4.replace("cost = 1", "cost = -1"), "game_cards row 5", "cost is -1; allowed: 0..9"),
    "wrenches": (CARD_4, CARD_4.replace("wrenches = 1", "wrenches = 7"), "game_cards row 5", "a ship has only 6 boxes"),
    "too many cards": (LAST_CARD, LAST_CARD + "\n" + LAST_CARD.replace("39", "40"), "game_cards",
                       "41 rows; allowed: 1..40"),
    "missing number": (ROUNDS, "", "numbers", "lacks the rows rounds"),
    "second number": (ROUNDS, ROUNDS + "\n" + ROUNDS, "numbers row 2", "a second row for 'rounds'"),
    "unknown number": (ROUNDS, ROUNDS.replace("rounds", "laps", 1), "numbers row 1",
                       "name is 'laps'; there are rounds"),
    "too many rounds": (ROUNDS, ROUNDS.replace("3", "4"), "numbers row 'rounds'", "value is 4; allowed: 1..3"),
    "short run": ('"initial_run", value = 2', '"initial_run", value = 1', "numbers row 'initial_run'",
                  "value is 1; allowed: 2..35"),
    "no room for modules": ('"boxes", value = 6', '"boxes", value = 3', "numbers",
                            "start_modules is 4; there are 3 boxes"),
    "contract prize": (COMETS, COMETS.replace("complete_vp = 5", "complete_vp = 21"), "contracts row 2 ('comets')",
                       "complete_vp is 21"),
    "secondary prize": (COMETS, COMETS.replace('"vp"', '"disks"'), "contracts row 2 ('comets')",
                        "allowed: 'vp' or 'fuel'"),
    "contract missing": (COMETS, "", "contracts row 2", "rows must have id 0..2 in this order"),
    "same name": (NEBULA, NEBULA.replace("Nebula", "Black hole"), "sector_types row 4", "is used twice"),
    "empty name": (NEBULA, NEBULA.replace("Nebula", ""), "sector_types row 4", "name has 0 bytes"),
    "part like a bypass": ('"SLING"', '"bypass Nebula"', "special_parts row 2",
                           "name is 'bypass Nebula'; the bypass of the sector type 'Nebula' is called so"),
    "long name": (NEBULA, NEBULA.replace("Nebula", "N" * 33), "sector_types row 4",
                  "name has 33 bytes; allowed: 1..32"),
    "built-in type": (GREEN, GREEN.replace("builtin_type = 3", "builtin_type = 9"), "ships row 4",
                      "builtin_type is 9; allowed: 0..4"),
    "seat fuel": (THIRD_SEAT, THIRD_SEAT.replace("fuel = 3", "fuel = 11"), "seat_fuel row 3",
                  "fuel is 11; allowed: 0..10"),
    "seat missing": (THIRD_SEAT, "", "seat_fuel row 3", "rows must have position 1..5 in this order"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", BROKEN)
def test_broken_card_file(mistake: str, tmp_path: Path) -> None:
    old, new, where, rule = BROKEN[mistake]
    check_refused("kepler_run", write(tmp_path, changed(TEXT, old, new)), where, rule)


def test_points_must_fit(tmp_path: Path) -> None:
    """The default file allows 80 points at most, the bound of the specification; more than 127 are refused."""
    text = TEXT.replace('"station_vp", value = 2', '"station_vp", value = 9')  # 80 - 8 + 36
    GAME.configure(2, components=write(tmp_path, text))
    text = text.replace('"first_arrival_vp", value = 4', '"first_arrival_vp", value = 11')  # + 21
    with pytest.raises(ComponentError, match="up to 129 points would be possible for one player; at most 127"):
        GAME.configure(2, components=write(tmp_path, text))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="nowhere.toml: cannot be read"):
        kepler_envs.make("kepler_run-v1", components=tmp_path / "nowhere.toml")


# ---------------------------------------------------------------- the game's own file


TEMPLATES = [
    # cost, wrenches, part (bypass type + k, or a kind), dots, asteroids, comets, station, action, VP: section 2.2
    (1, 0, "+1", 1, 0, 0, 0, REFUEL, 0),
    (1, 1, "+2", 0, 1, 0, 0, 0, 0),
    (1, 0, JUMP, 2, 0, 1, 0, 0, 0),
    (2, 0, "+3", 1, 1, 0, 0, REROUTE, 0),
    (1, 1, "+4", 0, 0, 1, 0, 0, 1),
    (2, 1, JUMP, 1, 0, 0, 1, 0, 1),
    (3, 2, SLING, 1, 0, 1, 1, 0, 1),
    (3, 2, JUMP, 0, 1, 0, 1, OUTPOST, 1),
]


def test_deck_of_the_specification() -> None:
    config = GAME.configure()
    assert config.tables[0]["cards_total"] == 40
    for card in range(40):
        kind, template = divmod(card, 8)
        cost, wrenches, part, dots, asteroids, comets, station, action, vp = TEMPLATES[template]
        if isinstance(part, str):
            part = (kind + int(part)) % 5
        found = card_of(config, card)
        assert (found.type, found.cost, found.wrenches, found.kind, found.dots) == (kind, cost, wrenches, part, dots)
        assert (found.icons, found.action, found.vp) == ((asteroids, comets, station), action, vp)
        sector = config.tables[0]["sector"][card]
        assert (sector["type"], sector["cost"], sector["disk"]) == (kind + 1, cost, 0)
        assert tuple(sector["icons"]) == found.icons


def test_totals_of_the_specification() -> None:
    cards = [card_of(GAME.configure(), card) for card in range(40)]
    assert Counter(card.cost for card in cards) == {1: 20, 2: 10, 3: 10}
    assert [sum(card.icons[trait] for card in cards) for trait in range(3)] == [15, 15, 15]
    assert Counter(card.action for card in cards if card.action) == {REFUEL: 5, REROUTE: 5, OUTPOST: 5}
    assert Counter(card.kind for card in cards) == {**dict.fromkeys(range(5), 4), JUMP: 15, SLING: 5}


def test_other_cards_change_the_game(tmp_path: Path) -> None:
    """Two environments with different files live side by side."""
    text = TEXT.replace('"discover_vp", value = 1', '"discover_vp", value = 2').replace('"Nebula"', '"Fog"')
    other = kepler_envs.make("kepler_run-v1", num_players=2, components=write(tmp_path, text))
    own = kepler_envs.make("kepler_run-v1", num_players=2)
    for env, points in ((other, 2), (own, 1)):
        env.reset(seed=1)
        agent = env.agent_selection
        env.step(0)
        assert env.info(agent)["vp"] == env.info(agent)["vp_discover"] == points
    assert "Fog" in other.snapshot().text() and "Fog" not in own.snapshot().text()
    assert other.config.components_digest != own.config.components_digest


# ---------------------------------------------------------------- options


def test_infos() -> None:
    """The figures of section 6."""
    env = kepler_envs.make("kepler_run-v1", num_players=2)
    env.reset(seed=1)
    while env.agents and not env.terminations[env.agent_selection]:
        env.step(env.legal_actions()[0])
    for agent in env.possible_agents:
        info = env.infos[agent]
        sources = [name for name in info if name.startswith("vp_")]
        assert [name.removeprefix("vp_") for name in sources] == [
            "discover", "part", "delivery", "kepler", "complete", "secondary", "stations", "closest",
        ]  # fmt: skip
        assert info["vp"] == info["score"] == sum(info[name] for name in sources)
        assert 1 <= info["rank"] <= 4 and info["round"] == 2 and info["ship_fuel"] >= 0
        assert info["decisions"] == int(env.snapshot().state["decisions"])


@pytest.mark.parametrize(
    "option, value",
    [("seat_fuel", 1), ("seat_fuel", "yes"), ("first_player", "seat1"), ("reward_mode", "points"), ("shaping", -0.1),
     ("shaping", 2)],
)  # fmt: skip
def test_options_that_are_not_allowed(option: str, value: object) -> None:
    with pytest.raises(OptionError, match=f"option {option} = {value!r} is not allowed; allowed: "):
        GAME.configure(3, **{option: value})


@pytest.mark.parametrize("players", [1, 6, "2"])
def test_players_that_are_not_allowed(players: object) -> None:
    with pytest.raises(OptionError, match=r"num_players = .* allowed: an integer 2\.\.5"):
        GAME.configure(players)


def test_deck_too_small_for_the_players(tmp_path: Path) -> None:
    """34 cards are enough for four players and not for five."""
    start = TEXT.index("  { id = 34, type")
    path = write(tmp_path, TEXT[:start] + "]\n")
    GAME.configure(4, components=path)
    with pytest.raises(OptionError, match=r"5 players need 35 cards .* at most 34"):
        GAME.configure(5, components=path)
