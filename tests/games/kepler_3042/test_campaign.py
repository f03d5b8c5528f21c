"""The campaign driver: levels, bonus cubes carried over, progress in a file, and the command line."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kepler_envs import OptionError
from kepler_envs.cli.app import run
from kepler_envs.cli.campaign import PlayCampaign
from kepler_envs.cli.match import Match
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_3042.campaign import Attempt, Campaign, CampaignError, campaign_names, find_campaign
from kepler_envs.games.kepler_3042.state import Node, Phase
from tests.component_file import changed, own_text, write
from tests.games.kepler_3042.scenario import DONE, GAME, Play, Position


def finished(campaign: Campaign, points: int, satisfied: bool = True) -> Snapshot:
    """The end of the campaign's level with these points; medals make up for what is lacking."""
    config = campaign.configuration()
    start = Play(Snapshot.deal(config, 1))
    while start.node != Node.MAIN_ACTION:
        start.play_first()
    position = start.position
    own = position.seats[0]
    if satisfied:  # campaign 1: two technologies at level 4, three antimatter, an alien colony, the technological track
        own.tech, own.track = [4, 4, 0, 0, 4], [0, 14]
        total = own.total()
        own.cubes[0], own.storage = [0, 0, total[2]], [*total[:2], 0]
        own.pit = [0, 0, 0]
        own.planets = [26]
        position.face_up.add(position.hex_of(26))
    position.track_medals = [set(), set()]
    position.round, position.phase, position.active, position.turn, position.turn_index = 16, Phase.CLEANUP, 0, 0, 1
    position.flow = position.node = Node.CARD_PRODUCTION
    position.conversions = position.allocations = 0
    position.deck = [*(card for card in range(1, 18) if card not in (2, 9)), 9]
    before = int(Play(position.write(config)).play(DONE).snapshot.results()[1][0])
    own.medals = [points - before, 0]
    return Play(position.write(config)).play(DONE).snapshot


def test_levels_follow_one_another() -> None:
    campaign = Campaign.begin("Sons of Progress")
    assert (campaign.number, campaign.level, campaign.bonus, campaign.completed) == (1, 1, 0, False)
    played = [(41, True), (57, True), (70, True), (59, True), (64, True)]
    expected = [(2, 2), (3, 3), (4, 4), (4, 4), (4, 4)]
    for (points, _), (level, bonus) in zip(played, expected, strict=True):
        attempt = campaign.record(finished(campaign, points), seed=7)
        assert attempt.score == points and attempt.success == (points != 59)
        assert (campaign.level, campaign.bonus) == (level, bonus)
    assert campaign.completed and len(campaign.attempts) == 5
    with pytest.raises(CampaignError, match="Sons of Progress is completed"):
        campaign.record(finished(Campaign.begin(1), 35), seed=7)


def test_a_lost_level_is_played_again_with_the_same_cubes() -> None:
    campaign = Campaign.begin(1)
    campaign.record(finished(campaign, 45), 1)
    assert (campaign.level, campaign.bonus) == (2, 3)
    for points, satisfied in ((39, True), (80, False)):
        attempt = campaign.record(finished(campaign, points, satisfied), 2)
        assert not attempt.success and attempt.objectives_done == satisfied
        assert (campaign.level, campaign.bonus) == (2, 3)


def test_bonus_cubes_have_a_bound() -> None:
    campaign = Campaign.begin(1)
    campaign.record(finished(campaign, 120), 1)
    assert (campaign.level, campaign.bonus) == (2, 14)


def test_only_its_own_games_count() -> None:
    campaign = Campaign.begin(1)
    with pytest.raises(CampaignError, match="not over yet"):
        campaign.record(Snapshot.deal(campaign.configuration(), 1), 1)
    with pytest.raises(CampaignError, match="the level is"):
        campaign.record(finished(replace(campaign, level=2), 50), 1)
    assert not campaign.attempts


def test_names() -> None:
    names = campaign_names()
    assert names == (
        "The Edge of the Galaxy",
        "Sons of Progress",
        "Sagittarius A*",
        "Hybrid Civilization",
        "Superior Progeny",
    )
    for number, name in enumerate(names):
        assert find_campaign(name) == find_campaign(str(number)) == find_campaign(number) == number
    assert find_campaign("sagittarius_a") == 2 and find_campaign("hybrid") == 3 and find_campaign("EDGE") == 0
    for wrong in ("s", "", "*", "Chess", "5", "9" * 5000, 9, True, None):  # nothing, several, or unknown
        with pytest.raises(CampaignError, match="there are: 0 The Edge of the Galaxy, 1 Sons of Progress"):
            find_campaign(wrong)


OTHER_NAMES = ("1984", "Хабитат", "Hybrid", "Hybrid Civilization", "★")


def other_campaigns(folder: Path, *others: str) -> Path:
    """A component file whose campaigns have these names."""
    text = own_text("kepler_3042")
    for old, new in zip(campaign_names(), others, strict=False):
        text = changed(text, f'"{old}"', f'"new {new}"')  # not to be replaced again: a new name may be an old one
    return write(folder, text.replace('"new ', '"'))


def test_names_of_other_files(tmp_path: Path) -> None:
    """An equal name goes before a number, and both before a part of a name."""
    path = other_campaigns(tmp_path, *OTHER_NAMES)
    assert campaign_names(path) == OTHER_NAMES
    for number, name in enumerate(OTHER_NAMES):
        assert find_campaign(name, path) == find_campaign(str(number), path) == find_campaign(number, path) == number
    parts = {"хаби": 1, "ХАБИТАТ": 1, "hybrid": 2, "civil": 3, "hybrid_c": 3, "198": 0}
    assert {part: find_campaign(part, path) for part in parts} == parts
    for wrong, words in (
        (1984, "no campaign 1984"),
        ("5", "no campaign '5'"),
        ("hyb", "'hyb' may mean several campaigns"),
    ):
        with pytest.raises(CampaignError, match=f"^{words}; there are: 0 1984, 1 Хабитат"):
            find_campaign(wrong, path)
    path = other_campaigns(tmp_path, "1", "edge", "Edge")
    assert (find_campaign("1", path), find_campaign(1, path)) == (0, 1)
    assert (find_campaign("edge", path), find_campaign("Edge", path)) == (1, 2)


def test_progress_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "progress.json"
    campaign = Campaign.begin(1, solo_planets=20)
    campaign.record(finished(campaign, 45), 3)
    campaign.save(path)
    again = Campaign.load(path)
    assert again == campaign and again.configuration().digest == campaign.configuration().digest
    assert again.attempts == [Attempt(1, 0, 3, 45, True, True, campaign.attempts[0].decisions)]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("seed", [-1, 2**64, "7", None, True, 7.0])
def test_seeds_that_no_file_could_hold(seed: Any) -> None:
    """They would be written, and the file could never be read again."""
    campaign = Campaign.begin(1)
    last = finished(campaign, 45)
    with pytest.raises(ValueError, match=r"seed = .* is not allowed; allowed: an integer 0\.\.2\*\*64 - 1"):
        campaign.record(last, seed)
    assert (campaign.level, campaign.attempts) == (1, [])


def test_integers_of_numpy_are_written(tmp_path: Path) -> None:
    campaign = Campaign.begin(np.int64(1), solo_planets=np.int64(20))
    campaign.record(finished(campaign, 45), np.uint64(2**64 - 1))
    campaign.save(tmp_path / "progress.json")
    again = Campaign.load(tmp_path / "progress.json")
    assert again == campaign and (again.solo_planets, again.attempts[0].seed) == (20, 2**64 - 1)


def test_arguments_of_another_type() -> None:
    with pytest.raises(OptionError, match="components = 3 is not allowed; allowed: a path, or None"):
        Campaign.begin(1, components=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="last must be a Snapshot, not 'x'"):
        Campaign.begin(1).record("x", 1)  # type: ignore[arg-type]


def test_cards_that_change_during_a_campaign(tmp_path: Path) -> None:
    """Games of other cards do not count for it, as they do not for a ledger or a replay."""
    level_2 = "level = 2, minimum_score = 40"
    path, cards = tmp_path / "progress.json", write(tmp_path, own_text("kepler_3042"))
    Campaign.begin(1, components=cards).save(path)
    write(tmp_path, changed(own_text("kepler_3042"), level_2, "level = 2, minimum_score = 7"))
    with pytest.raises(CampaignError, match="mine.toml has other cards than the campaign was begun with") as caught:
        Campaign.load(path)
    assert str(caught.value).startswith(str(path))
    write(tmp_path, "# a comment is no card\n" + own_text("kepler_3042"))
    assert Campaign.load(path).components == cards
    cards.unlink()
    with pytest.raises(CampaignError, match="mine.toml: cannot be read: .*begun with this file: put it back, or begin"):
        Campaign.load(path)


ATTEMPT = asdict(Attempt(1, 0, 3, 45, True, True, 80))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "chess"}, "no campaign's progress"), ({"level": 5}, "option level = 5 is not allowed"),
        ({"bonus": -1}, "option bonus = -1"), ({"completed": 1}, "it must be true or false"),
        ({"number": None}, "number is None; it must be an integer"), ({"number": 5}, "option campaign = 5"),
        ({"level": 2.0}, "level is 2.0; it must be an integer"),
        ({"attempts": [{"level": 1}]}, "an attempt has level; it must have level, bonus, seed, score"),
        ({"attempts": [{**ATTEMPT, "score": "x"}]}, "score is 'x'; it must be an integer"),
        ({"attempts": [{**ATTEMPT, "success": 1}]}, "success is 1; it must be true or false"),
        ({"attempts": 3}, "attempts is 3; it must be a list"),
        ({"attempts": [3]}, "an attempt is 3; it must have level"),
        ({"components": "nowhere.toml"}, "nowhere.toml: cannot be read"),
        ({"components": 3}, "components is 3; it must be a path or null"),
        ({"cards": 3}, "cards is 3; it must be a text"),
    ],
)  # fmt: skip
def test_files_that_hold_no_progress(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    Campaign.begin(1).save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CampaignError, match=message) as caught:
        Campaign.load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    "name", ["number", "level", "bonus", "completed", "attempts", "solo_planets", "components", "cards"]
)
def test_what_is_missing_in_a_file_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    Campaign.begin(1).save(path)
    found = json.loads(path.read_text())
    del found[name]
    path.write_text(json.dumps(found))
    with pytest.raises(CampaignError, match=f"{name} is missing; it must be "):
        Campaign.load(path)


def test_a_file_that_is_no_json(tmp_path: Path) -> None:
    contents = {"a": "{", "deep": "[" * 100_000, "long": "1" * 5000}
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    for name in (*contents, "missing"):
        with pytest.raises(CampaignError, match=f"{name}: cannot be read"):
            Campaign.load(tmp_path / name)


# ---------------------------------------------------------------- the command line


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each game is kept; the next call goes on."""
    path = tmp_path / "progress.json"
    assert run(["campaign", "edge", "--file", str(path), "--agent", "uniform", "--games", "2", "--seed", "5"]) == 0
    out = capsys.readouterr().out
    assert "The Edge of the Galaxy, level 1, 0 bonus cubes" in out and out.count("lost") == 4
    assert "Next: level 1 with 0 bonus cubes." in out and f"Progress: {path}" in out
    assert run(["campaign", "0", "--file", str(path), "--agent", "uniform", "--seed", "9"]) == 0
    campaign = Campaign.load(path)
    assert [one.level for one in campaign.attempts] == [1, 1, 1] and campaign.attempts[2].seed == 9
    last = Snapshot.deal(GAME.configure(1), campaign.attempts[2].seed)
    assert Position.read(last.state).level == 1


def test_the_same_command_goes_on_with_other_deals(tmp_path: Path) -> None:
    """As one command for all games does."""
    asked = ["campaign", "edge", "--agent", "uniform", "--seed", "5"]
    once, again = tmp_path / "once.json", tmp_path / "again.json"
    assert run([*asked, "--file", str(once), "--games", "4"]) == 0
    for games in ("1", "2", "1"):
        assert run([*asked, "--file", str(again), "--games", games]) == 0
    attempts = Campaign.load(again).attempts
    assert attempts == Campaign.load(once).attempts and len({one.seed for one in attempts}) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chess"], "no campaign 'chess'; there are: 0 The Edge of the Galaxy"),
        (["hybrid"], "holds the campaign The Edge of the Galaxy; name another --file"),
        (["edge", "--games", "0"], "--games 0 is not allowed"),
        (["edge", "--agent", "nobody", "--seed", "1"], "nobody"),
        (["edge", "--solo-planets", "20"], "has 18 planets; leave --solo-planets out, or name another --file"),
        (["edge", "--solo-planets", "19"], "has 18 planets; leave --solo-planets out, or name another --file"),
        (
            ["edge", "--components", "other.toml"],
            "was begun with the component file of the game; leave --components out, or name another --file",
        ),
    ],
)
def test_command_lines_that_are_refused(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "progress.json"
    Campaign.begin(0).save(path)
    assert run(["campaign", *arguments, "--file", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_flags_that_say_what_a_campaign_has_are_no_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "progress.json"
    Campaign.begin(0, solo_planets=20).save(path)
    asked = ["campaign", "edge", "--file", str(path), "--agent", "uniform", "--seed", "5"]
    assert run(asked) == run([*asked, "--solo-planets", "20"]) == 0
    assert Campaign.load(path).solo_planets == 20 and len(Campaign.load(path).attempts) == 2
    assert run(["campaign", "edge", "--file", str(tmp_path / "new.json"), "--solo-planets", "19"]) == 2
    assert "solo_planets = 19 is not allowed; allowed: 18 or 20" in capsys.readouterr().err


@pytest.mark.parametrize("file", [["--file", "progress.json"], []])
def test_a_campaign_of_another_component_file_goes_on_by_its_name(
    file: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, changed(own_text("kepler_3042"), "The Edge of the Galaxy", "My own"))
    asked = ["campaign", "my own", *file, "--agent", "uniform", "--seed", "5"]
    assert run(asked) == 2
    assert "no campaign 'my own'; there are: 0 The Edge of the Galaxy" in capsys.readouterr().err
    assert run([*asked, "--components", "mine.toml"]) == run(asked) == run([*asked, "--components", "mine.toml"]) == 0
    campaign = Campaign.load(file[1] if file else "my_own.json")
    assert campaign.name == "My own" and len(campaign.attempts) == 3
    assert run([*asked, "--components", "other.toml"]) == 2


@pytest.mark.parametrize(
    ("name", "file"),
    [("Edge/Galaxy", "edge_galaxy.json"), ("../Edge", "edge.json"), ("Хабитат", "хабитат.json"), ("★", "0.json")],
)
def test_the_usual_file_lies_in_the_current_folder(
    name: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the component file calls the campaign."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    asked = ["campaign", name, "--components", str(other_campaigns(tmp_path, name)), "--agent", "uniform"]
    assert run(asked) == run(asked) == 0
    assert [path.name for path in here.iterdir()] == [file] and len(Campaign.load(file).attempts) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "mine.toml"]


def test_usual_files_of_the_own_campaigns() -> None:
    files = [str(PlayCampaign(str(number))._usual_file()) for number in range(5)]
    assert files == [
        "the_edge_of_the_galaxy.json", "sons_of_progress.json", "sagittarius_a.json", "hybrid_civilization.json",
        "superior_progeny.json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "file"), [("The_Edge - of_ Space", "the_edge_of_space.json"), ("Straße", "strasse.json")]
)
def test_a_file_is_named_by_the_words_that_find_its_campaign(name: str, file: str, tmp_path: Path) -> None:
    path = other_campaigns(tmp_path, name)
    assert str(PlayCampaign(name, components=path)._usual_file()) == file
    assert find_campaign(file.removesuffix(".json"), path) == 0


def test_a_lost_level_says_what_was_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign.begin(1)
    path = tmp_path / "progress.json"
    ends = {
        1: "1 point (minimum 30), all objectives: lost",
        29: "29 points (minimum 30), all objectives: lost",
        30: "30 points, all objectives: won",
    }
    for points, words in ends.items():
        end = finished(campaign, points)
        monkeypatch.setattr("kepler_envs.cli.campaign.Match.position", property(lambda _, end=end: end), raising=False)
        path.unlink(missing_ok=True)
        assert run(["campaign", "1", "--file", str(path), "--agent", "uniform", "--seed", "5"]) == 0
        out = capsys.readouterr().out
        assert "level 1, 0 bonus cubes, minimum 30 points" in out and f"  {words}\n" in out


def test_a_person_plays_and_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is recorded of a game that is left."""
    answers = iter(["1", "1", "q"])
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: next(answers))
    path = tmp_path / "progress.json"
    assert run(["campaign", "edge", "--file", str(path), "--seed", "1"]) == 0
    assert "You leave after 2 decisions." in capsys.readouterr().out and not path.exists()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("finished_before", "kept"), [(0, "no game kept"), (1, "1 game kept in {file}")])
def test_a_campaign_of_an_agent_that_is_stopped(
    finished_before: int, kept: str, end: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    file = tmp_path / "progress.json"
    decide, deals = Match.let_bot_decide, []

    def until_the_end(match: Match) -> None:
        if not match.actions:
            deals.append(match.seed)
        if len(deals) > finished_before:
            signal.raise_signal(end)
        decide(match)

    monkeypatch.setattr(Match, "let_bot_decide", until_the_end)
    command = ["campaign", "0", "--agent", "uniform", "--games", "3", "--seed", "1", "--file", str(file)]
    assert run(command) == 130
    printed = capsys.readouterr()
    assert printed.out.endswith(f"\nStopped; {kept.format(file=file)}. The same command goes on.\n")
    assert printed.err == "" and file.exists() == bool(finished_before)
    if finished_before:
        assert len(Campaign.load(file).attempts) == finished_before


def test_two_processes_do_not_play_one_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each would write its games over those of the other."""
    file, decide, codes = tmp_path / "progress.json", Match.let_bot_decide, []
    command = ["campaign", "0", "--agent", "uniform", "--seed", "1"]

    def while_another_begins(match: Match) -> None:
        if not codes:
            codes.append(0)
            codes.append(run([*command, "--file", str(file)]))
            codes.append(run([*command, "--file", str(tmp_path / "other.json")]))
        decide(match)

    monkeypatch.setattr(Match, "let_bot_decide", while_another_begins)
    assert run([*command, "--file", str(file)]) == 0 and codes == [0, 2, 0]
    said = f"kepler-envs: another process plays the campaign in {file}: wait for it, or name another --file\n"
    assert capsys.readouterr().err == said
    assert len(Campaign.load(file).attempts) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.json", "progress.json"]
