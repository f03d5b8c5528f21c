"""The record of strengths: right numbers, nothing played twice, nothing lost."""

from __future__ import annotations

import errno
import io
import threading
from dataclasses import replace
from itertools import count, islice
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import kepler_envs
from docs.build import RECORD
from kepler_envs import bots, records
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.snapshot import IllegalAction
from kepler_envs.records import RecordError, write_lines
from kepler_envs.tournament import TournamentError, strength
from kepler_envs.tournament.pairing import Part, parts_of, play_against, play_parts
from kepler_envs.tournament.strength import Line, Strength, read_lines
from tests.component_file import kittens_with

GAME = "kitten_adventurers"


def measured(stop: threading.Event | None = None, **request) -> str:
    """Run a request; what it printed."""
    output = io.StringIO()
    config = kepler_envs.load_game(GAME).configure(request.pop("players", None))
    strength.measure_all(Strength(config, **request), stop or threading.Event(), Console(file=output, width=200))
    return output.getvalue()


def test_a_record_is_named_by_a_text_or_a_path(tmp_path):
    measured(agents=("greedy",), against=("uniform",), games=4, out=str(tmp_path / "strength.csv"))
    (line,) = read_lines(tmp_path / "strength.csv")
    assert read_lines(str(tmp_path / "strength.csv")) == [line]


def test_a_line_says_what_was_played(tmp_path):
    out = tmp_path / "strength.csv"
    printed = measured(
        agents=("greedy", "uniform"), against=("uniform",), players=3, games=100, side_by_side=40, out=out
    )
    greedy, uniform = read_lines(out)
    assert greedy.key == (GAME, 3, "greedy", "uniform", "", "")
    assert uniform.key == (GAME, 3, "uniform", "uniform", "", "")
    assert greedy.games == uniform.games == 102  # whole rounds of three seats
    assert greedy.low > 0.8 and uniform.low < 1 / 3 < uniform.high
    assert uniform.low < uniform.wins < uniform.high and uniform.seed == 77
    assert "42 games" in printed and "84 games" in printed and "102 games" in printed
    assert f"wins {greedy.wins:.1%} ({greedy.low:.1%} .. {greedy.high:.1%}), an equal share is 33.3%" in printed


def test_parts_do_not_repeat_games(tmp_path):
    """A request in smaller parts plays other games after its first part, and no seed twice."""
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    measured(agents=("greedy",), games=400, side_by_side=400, out=whole)
    measured(agents=("greedy",), games=400, side_by_side=4, out=parts)
    (one,), (many,) = read_lines(whole), read_lines(parts)
    assert one.games == many.games == 400
    assert many.wins not in (0.0, 0.25, 0.5, 0.75, 1.0)  # a repeated part would give its own share again
    assert one.wins != many.wins
    at_once, in_parts = list(parts_of(400, 400, 4, 77)), list(parts_of(400, 4, 4, 77))
    assert len(set(seeds_of(at_once))) == len(set(seeds_of(in_parts))) == 400
    assert set(seeds_of(at_once)) & set(seeds_of(in_parts)) == set(seeds_of(in_parts[:1]))


def seeds_of(parts: list[Part]) -> list[int]:
    """The seed of every game."""
    config = kepler_envs.load_game(GAME).configure(4)
    return [int(seed) for part in parts for seed in Batch(config, part.games, part.seed).seed]


class Lowest:
    """Always takes the lowest legal id; notes the seeds it was started with."""

    name = "lowest id"

    def __init__(self):
        self.seeds = set()

    def start(self, rows, seeds):
        self.seeds |= set(seeds.tolist())

    def act(self, decisions):
        return decisions.action_mask.argmax(axis=1)


def test_bots_of_a_pairing_draw_from_seeds_of_their_own():
    one, other = Lowest(), Lowest()
    play_against(one, other, kepler_envs.load_game(GAME).configure(2, quest_size=1), 8, 3)
    assert len(one.seeds) == len(other.seeds) == 8 and not one.seeds & other.seeds


def test_who_is_first_wins_whatever_the_second_is_paid():
    config = kepler_envs.load_game(GAME).configure(4, reward_mode="rank")
    uniform = bots.load("uniform", config)
    found = play_against(uniform, uniform, config, 24, 0)
    assert ((found.wins == 1) == (found.returns == 1)).all() and found.wins.max() == 1


def test_a_win_that_is_shared_counts_in_parts():
    """In one turn nobody comes far."""
    config = kepler_envs.load_game(GAME).configure(2, max_turns=1)
    uniform = bots.load("uniform", config)
    found = play_against(uniform, uniform, config, 4, 0)
    assert (found.wins == 0.5).tolist() == (found.returns == 0).tolist() and 0.5 in found.wins


def test_no_part_begins_after_a_stop():
    config, stop = kepler_envs.load_game(GAME).configure(2, max_turns=1), threading.Event()
    played = play_parts("uniform", "uniform", config, parts_of(12, 4, 2, 0), stop=stop)
    assert [len(next(played).wins), len(next(played).wins)] == [4, 4]
    stop.set()
    assert list(played) == []


def test_a_game_for_one_player_is_won_if_it_pays():
    config = kepler_envs.load_game("kepler_3042").configure(1, level=1)
    greedy = bots.load("greedy", config)
    found = play_against(greedy, greedy, config, 8, 0)
    assert found.wins.tolist() == (found.returns > 0).tolist() and 0 < found.wins.sum() < 8


def test_what_is_known_is_not_played_again(tmp_path, monkeypatch):
    out = tmp_path / "strength.csv"
    measured(agents=("greedy",), games=40, out=out)
    before = out.read_text()
    monkeypatch.setattr(strength, "measure", lambda *_: pytest.fail("played again"))
    assert "known" in measured(agents=("greedy",), games=40, out=out)
    assert out.read_text() == before


def test_a_line_of_other_versions_is_played_again(tmp_path, monkeypatch):
    out = tmp_path / "strength.csv"
    measured(agents=("greedy", "uniform"), games=4, out=out)
    greedy, uniform = read_lines(out)
    assert (greedy.agent_version, greedy.against_version) == ("greedy-1", "greedy-1")
    assert (uniform.agent_version, uniform.against_version) == ("", "greedy-1")
    monkeypatch.setattr("kepler_envs.bots.greedy.kitten_adventurers.VERSION", 2)
    assert not greedy.is_current and not uniform.is_current
    assert "known" not in measured(agents=("uniform",), games=4, out=out)
    assert [(line.agent, line.against_version) for line in read_lines(out)] == [
        ("greedy", "greedy-1"),
        ("uniform", "greedy-2"),
    ]


def test_a_line_of_an_earlier_release_is_played_again(tmp_path):
    out = tmp_path / "strength.csv"
    measured(agents=("uniform",), games=4, out=out)
    (line,) = read_lines(out)
    write_lines(out, [replace(line, release="", wins=0.75)], Line)
    assert "known" not in measured(agents=("uniform",), games=4, out=out) and read_lines(out) == [line]


def test_records_of_before_are_read_without_versions(tmp_path):
    out = tmp_path / "strength.csv"
    measured(agents=("uniform",), games=4, out=out)
    (line,) = read_lines(out)
    names, values = out.read_text().split()
    since = "agent_version,against_version,options,components"
    out.write_text(f"{names.removesuffix(f',{since}')}\n{values.removesuffix(',,greedy-1,,')}\n")
    (before,) = read_lines(out)
    assert before == replace(line, against_version="") and line.is_current and not before.is_current


def test_more_games_replace_a_line_and_others_stay(tmp_path):
    out = tmp_path / "strength.csv"
    other = Line("ad_astra", 4, "bc-v1", "greedy", 10, 0.25, 0.1, 0.5, 3, "abc1234")
    write_lines(out, [other], Line)
    measured(agents=("greedy",), games=20, out=out)
    measured(agents=("greedy",), games=60, out=out)
    lines = read_lines(out)
    assert [line.games for line in lines] == [10, 60] and lines[0] == other


def test_one_game_is_more_than_a_record_without_lines_has(tmp_path):
    measured(agents=("uniform",), games=1, players=2, out=tmp_path / "strength.csv")
    assert read_lines(tmp_path / "strength.csv")[0].games == 2


def test_stopped_or_late_the_games_so_far_are_written(tmp_path):
    out, stop = tmp_path / "strength.csv", threading.Event()
    late = Strength(
        kepler_envs.load_game(GAME).configure(), ("uniform",), games=4000, side_by_side=8, minutes=1e-9, out=out
    )
    assert strength.measure_all(late, stop, Console(file=io.StringIO())), "nobody stopped it"
    assert read_lines(out)[0].games == 8
    stop.set()
    *_, line = strength.measure(
        Strength(kepler_envs.load_game(GAME).configure(), ("uniform",), games=4000, side_by_side=12),
        "uniform",
        "greedy",
        stop,
        Console(file=io.StringIO()),
    )
    assert line.games == 12
    measured(stop, agents=("greedy",), games=8, out=out)
    assert len(read_lines(out)) == 1  # nothing is begun any more


@pytest.mark.parametrize(("after", "complete"), [("  8 games", False), ("  16 games", True)])
def test_stopped_in_the_last_games_all_is_played(after, complete, tmp_path):
    stop = threading.Event()

    class Stopping(io.StringIO):
        def write(self, text: str) -> int:
            if after in text:
                stop.set()
            return super().write(text)

    config = kepler_envs.load_game(GAME).configure()
    request = Strength(config, ("uniform",), games=16, side_by_side=8, out=tmp_path / "strength.csv")
    assert strength.measure_all(request, stop, Console(file=Stopping(), width=200)) == complete
    assert stop.is_set() and read_lines(request.out)[0].games == (16 if complete else 8)
    assert strength.measure_all(replace(request, games=8), stop, Console(file=io.StringIO())), "all is known"


def test_games_are_recorded_before_they_are_told(tmp_path):
    """Whoever reads what is printed may be gone."""

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "the log is full")

    out = tmp_path / "strength.csv"
    line = Line("ad_astra", 4, "bc-v1", "greedy", 10, 0.25, 0.1, 0.5, 3, "abc1234")
    with pytest.raises(OSError, match="the log is full"):
        strength.record_line(out, line, Console(file=Gone()))
    assert read_lines(out) == [line]


def test_minutes_have_sixty_seconds(tmp_path, monkeypatch):
    """A clock that goes on by 20 s a look: two parts begin within the minute, at 20 and at 60 s."""
    clock = count(0, 20)
    monkeypatch.setattr(strength, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    measured(agents=("uniform",), games=1000, side_by_side=2, minutes=1, players=2, out=tmp_path / "record.csv")
    (line,) = read_lines(tmp_path / "record.csv")
    assert line.games == 4


@pytest.mark.parametrize(
    ("agent", "against", "games"), [("mcts:1", "uniform", 20), ("uniform", "mcts:1", 20), ("uniform", "greedy", 1000)]
)
def test_slow_bots_play_few_games_at_a_time_unless_told(tmp_path, agent, against, games):
    """A thousand games of a search can take days, so neither Ctrl-C nor the minutes would mean anything."""
    out = tmp_path / "record.csv"
    measured(agents=(agent,), against=(against,), games=1200, minutes=1e-9, players=2, out=out)
    assert read_lines(out)[0].games == games


def test_what_a_cluster_has_begun_counts():
    """When it is stopped, no more begins, but nothing that is under way is given up."""
    stop = threading.Event()

    class Cluster:
        def map(self, function, common, tasks, stopped):
            under_way = list(islice(tasks, 4))
            stop.set()
            for task in reversed(under_way):
                yield task, function(common, task)
            yield from ((task, function(common, task)) for task in tasks)

    request = Strength(kepler_envs.load_game(GAME).configure(), ("uniform",), games=4000, side_by_side=8)
    *_, line = strength.measure(request, "uniform", "greedy", stop, Console(file=io.StringIO()), Cluster())
    assert line.games == 32


def test_numpy_s_seeds_are_seeds(tmp_path):
    lines = []
    for number, seed in enumerate((2**64 - 1, np.uint64(2**64 - 1), 5, np.int64(5))):
        out = tmp_path / f"{number}.csv"
        measured(agents=("uniform",), against=("uniform",), games=40, side_by_side=8, seed=seed, out=out)
        lines += read_lines(out)
    assert lines[0] == lines[1] and lines[2] == lines[3]
    assert lines[0].wins != lines[2].wins, "other seeds are other games"


def test_names_are_printed_as_they_are(tmp_path):
    folder = tmp_path / "[old] a[" / "b]"
    folder.mkdir(parents=True)
    file = folder / "bot.py"
    file.write_text(
        "class First:\n"
        "    def __init__(self, config): ...\n"
        "    def start(self, rows, seeds): ...\n"
        "    def act(self, decisions):\n"
        "        return decisions.action_mask.argmax(axis=1)\n"
    )
    name = f"python:{file}:First"
    for _ in range(2):
        assert f"{GAME}, 4 players: {name} against greedy" in measured(agents=(name,), games=4, out=tmp_path / "s.csv")


def test_endless_games_stop_when_their_time_is_over(tmp_path):
    """Parts are worked out one after the other, so no number of games is too large to begin with."""
    measured(agents=("uniform",), games=10**20, side_by_side=4, minutes=1e-6, out=tmp_path / "record.csv")
    (line,) = read_lines(tmp_path / "record.csv")
    assert line.games == 4


def test_fewer_games_do_not_replace_a_line(tmp_path):
    """More games were asked for than the record has, but the time was over before. Nor do as many others."""
    out = tmp_path / "strength.csv"
    measured(agents=("uniform",), games=400, out=out)
    before = out.read_text()
    for games in (100, 400):
        printed = measured(agents=("uniform",), games=1000, side_by_side=games, minutes=1e-9, seed=5, out=out)
        assert f"not recorded: the record keeps its line of 400 games, these are {games}\n" in printed
        assert out.read_text() == before
    assert "not recorded" not in measured(agents=("uniform",), games=404, out=out)
    assert read_lines(out)[0].games == 404


def test_fewer_games_replace_a_line_of_other_versions(tmp_path, monkeypatch):
    out = tmp_path / "strength.csv"
    measured(agents=("uniform",), games=40, out=out)
    monkeypatch.setattr("kepler_envs.bots.greedy.kitten_adventurers.VERSION", 2)
    assert "not recorded" not in measured(agents=("uniform",), games=8, out=out)
    (line,) = read_lines(out)
    assert (line.games, line.against_version) == (8, "greedy-2")


def test_a_line_that_was_written_in_the_meantime_is_kept(tmp_path, monkeypatch):
    """By another process, while this one played."""
    out, measure = tmp_path / "strength.csv", strength.measure

    def slow(*arguments):
        for line in measure(*arguments):
            write_lines(out, [replace(line, games=40)], Line)
            yield line

    monkeypatch.setattr(strength, "measure", slow)
    printed = measured(agents=("uniform",), games=8, out=out)
    assert "the record keeps its line of 40 games, these are 8\n" in printed and read_lines(out)[0].games == 40


def test_a_line_that_was_written_in_the_last_moment_is_kept(tmp_path, monkeypatch):
    """By another process, which had its turn with the record just before."""
    out, in_turn, others = tmp_path / "strength.csv", records.in_turn, []

    def after_another(folder):
        if not others:
            others.append(40)
            measured(agents=("uniform",), games=40, out=out)
        return in_turn(folder)

    monkeypatch.setattr(records, "in_turn", after_another)
    printed = measured(agents=("uniform",), games=8, out=out)
    assert "the record keeps its line of 40 games, these are 8\n" in printed and read_lines(out)[0].games == 40


def test_a_record_may_be_named_in_text(tmp_path):
    measured(agents=("uniform",), games=8, out=str(tmp_path / "strength.csv"))
    assert [line.games for line in read_lines(tmp_path / "strength.csv")] == [8]


@pytest.mark.parametrize(
    ("name", "values", "allowed"),
    [
        ("games", (0, 1.5, True, "8", None), "an integer from 1 on"),
        ("side_by_side", (-4, 2.5), "an integer from 1 on"),
        ("minutes", (-1.0, float("nan"), "1", True), "above 0"),
    ],
)
def test_what_is_not_allowed_is_said(name, values, allowed):
    for value in values:
        message = f"^--{name.replace('_', '-')} {value} is not allowed; allowed: {allowed}$"
        with pytest.raises(TournamentError, match=message):
            Strength(kepler_envs.load_game(GAME).configure(), ("greedy",), **{name: value})


def test_a_configuration_is_needed():
    with pytest.raises(TypeError, match=f"^config must be a Configuration, not '{GAME}'; .* makes one$"):
        Strength(GAME, ("greedy",))


@pytest.mark.parametrize("name", ["agents", "against"])
def test_agents_are_a_sequence_of_specs(name):
    """Of a text, every letter would be an agent; of none, nothing would be measured without a word."""
    config = kepler_envs.load_game(GAME).configure()
    for wrong in ("greedy", None, ("greedy", 3)):
        with pytest.raises(TypeError, match=f"^{name} must be a list or tuple of specs, not "):
            Strength(config, **{"agents": ("greedy",), name: wrong})
    with pytest.raises(TournamentError, match=f"^--{name}: at least one is needed$"):
        Strength(config, **{"agents": ["greedy"], name: ()})


def test_lines_of_other_options_and_cards_stand_side_by_side(tmp_path):
    """A line says with which it was played, so that games with others are not taken for those of the game."""
    out, game = tmp_path / "strength.csv", kepler_envs.load_game(GAME)
    mine = kittens_with(7, tmp_path / "mine.toml")
    configs = [game.configure(2), game.configure(2, max_turns=6, quest_size=3), game.configure(2, components=mine)]
    for config in configs:
        request = Strength(config, ("greedy",), ("uniform",), games=2, out=out)
        strength.measure_all(request, threading.Event(), Console(file=io.StringIO()))
    lines = read_lines(out)
    assert {(line.options, line.components) for line in lines} == {
        ("", ""),
        ("quest_size=3 max_turns=6", ""),
        ("", configs[-1].components_digest),
    }
    assert len(lines) == 3


def test_a_copy_of_the_game_s_own_cards_is_the_game(tmp_path):
    out, game = tmp_path / "strength.csv", kepler_envs.load_game(GAME)
    config = game.configure(2, components=kittens_with(8, tmp_path / "copy.toml"))
    request = Strength(config, ("greedy",), ("uniform",), games=2, out=out)
    strength.measure_all(request, threading.Event(), Console(file=io.StringIO()))
    assert "known" in measured(agents=("greedy",), against=("uniform",), players=2, games=2, out=out)


def test_other_options_and_cards_are_told(tmp_path):
    mine = kittens_with(7, tmp_path / "mine.toml")
    config = kepler_envs.load_game(GAME).configure(2, components=mine, max_turns=6)
    output, request = io.StringIO(), Strength(config, ("greedy",), games=2, out=tmp_path / "strength.csv")
    strength.measure_all(request, threading.Event(), Console(file=output, width=400))
    assert f"{GAME}, 2 players, max_turns=6, components={mine}: greedy against greedy" in output.getvalue()


def test_records_of_before_have_no_other_options(tmp_path):
    out = tmp_path / "strength.csv"
    measured(agents=("uniform",), games=4, out=out)
    (line,) = read_lines(out)
    names, values = out.read_text().split()
    out.write_text(f"{names.removesuffix(',options,components')}\n{values.removesuffix(',,')}\n")
    assert read_lines(out) == [line]


def test_a_game_for_one_is_against_nobody():
    with pytest.raises(TournamentError, match="--players 1 leaves nobody to play against; allowed: at least 2"):
        Strength(kepler_envs.load_game("kepler_3042").configure(1), ("greedy",))


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_are_checked(seed):
    with pytest.raises(TournamentError, match=f"--seed {seed} is not allowed; allowed: an integer 0"):
        Strength(kepler_envs.load_game(GAME).configure(), ("greedy",), seed=seed)


@pytest.mark.parametrize(
    ("agents", "out", "error"),
    [(("greedy", "gredy"), "strength.csv", bots.BotError), (("greedy",), "file/strength.csv", OSError)],
)
def test_nothing_is_played_if_something_is_wrong(agents, out, error, tmp_path, monkeypatch):
    """A bot's name, or where the results should go."""
    monkeypatch.setattr(strength, "measure", lambda *_: pytest.fail("played"))
    (tmp_path / "file").write_text("")
    with pytest.raises(error, match="gredy" if error is bots.BotError else "file"):
        measured(agents=agents, games=8, out=tmp_path / out)


def test_a_record_that_lacks_nothing_need_not_be_writable(tmp_path, monkeypatch):
    out = tmp_path / "strength.csv"
    measured(agents=("greedy",), games=8, out=out)
    monkeypatch.setattr(strength, "check_writable", lambda path: pytest.fail("asked"))
    assert "known" in measured(agents=("greedy",), games=8, out=out)


def test_a_file_that_is_no_record_is_left_alone(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("hello\nworld\n")
    with pytest.raises(
        RecordError, match=r"notes\.csv is no record of this kind: its first line lacks game, players, agent"
    ):
        measured(agents=("greedy",), games=8, out=path)
    assert path.read_text() == "hello\nworld\n"


def test_the_record_in_the_pages_holds_together():
    lines = read_lines(RECORD)
    assert len({line.key for line in lines}) == len(lines)
    for line in lines:
        game = kepler_envs.load_game(line.game)
        assert game.min_players <= line.players <= game.max_players
        assert 0 <= line.low <= line.wins <= line.high <= 1 and line.games > 0 and line.commit
        if line.agent == line.against:
            assert line.low - 0.03 < 1 / line.players < line.high + 0.03


def test_games_before_a_bot_failed_are_kept(tmp_path):
    file, out = tmp_path / "bot.py", tmp_path / "strength.csv"
    file.write_text(
        "class Failing:\n"
        "    def __init__(self, config):\n"
        "        self.asked = 0\n"
        "    def start(self, rows, seeds): ...\n"
        "    def act(self, decisions):\n"
        "        self.asked += 1\n"
        "        return decisions.action_mask.argmax(axis=1) if self.asked < 200 else [-5] * len(decisions.rows)\n"
    )
    with pytest.raises(IllegalAction, match="-5"):
        measured(agents=(f"python:{file}:Failing",), games=4000, side_by_side=20, out=out)
    (line,) = read_lines(out)
    assert 20 <= line.games < 4000
