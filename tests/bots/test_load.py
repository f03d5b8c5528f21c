"""Agents by name, and compiled agents in a batch."""

from __future__ import annotations

from dataclasses import replace

import gymnasium
import numpy as np
import pytest

import kepler_envs
from agents import checkpoint
from kepler_envs import bots
from kepler_envs.bots.compiled import CompiledBot
from kepler_envs.bots.greedy import greedy_policy
from kepler_envs.bots.networks.checkpoint import TORCH_WEIGHTS, game_facts, trained_configurations
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import REWARD_OPTIONS, OptionError
from kepler_envs.engine.network import NetworkShape
from kepler_envs.engine.snapshot import IllegalAction
from kepler_envs.tournament.pairing import play_against
from tests.component_file import changed, own_text

UNTRAINED = {"steps": 0, "seconds": 0, "parameters": 0, "evaluations": {}}
CONFIG = kepler_envs.load_game("kitten_adventurers").configure(4)


def test_specs_become_agents():
    for spec in ("uniform", "greedy"):
        assert bots.load(spec, CONFIG).name == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", "no bot 'gredy'; there are:\n  uniform"),
        ("", "no bot ''"),
        ("greedy:3", "takes no argument"),
        ("uniform:", "takes no argument"),
        ("net", "lacks its argument; write net:PATH"),
        ("net:", "lacks its argument; write net:PATH"),
    ],
)
def test_wrong_specs_say_what_there_is(spec, message):
    with pytest.raises(BotError, match=message):
        bots.load(spec, CONFIG)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "a" * 300])
@pytest.mark.parametrize("spec", ["{}", "net:{}", "python:{}.py:Bot", "mcts:5,network=net:{}"])
def test_no_file_of_a_bot_can_have_such_a_name(spec, name):
    with pytest.raises(BotError):
        bots.load(spec.format(name), CONFIG)
    assert bots.fingerprint(spec.format(name)) == ""


def test_games_without_greedy_policy_say_so():
    unknown = replace(CONFIG.game, name="patience")
    with pytest.raises(BotError, match="no greedy bot for patience; there is one for: .*kitten_adventurers"):
        greedy_policy(unknown)


def test_policies_of_other_games_are_refused():
    other = replace(CONFIG.game, name="patience").configure(4)
    with pytest.raises(BotError, match="plays kitten_adventurers-v1, not patience-v1"):
        CompiledBot(greedy_policy(CONFIG.game), other)


def test_fingerprints_follow_the_files(tmp_path):
    assert bots.fingerprint("uniform") == bots.fingerprint(f"net:{tmp_path}") == bots.fingerprint("a/b/c") == ""
    (tmp_path / "last.zip").write_bytes(b"weights")
    (tmp_path / "progress.csv").write_text("steps\n")
    first = bots.fingerprint(f"net:{tmp_path}")
    assert first == bots.fingerprint(f"net:{tmp_path / 'last.zip'}") != ""
    assert bots.fingerprint(f"mcts:5,network=net:{tmp_path},trust=1") == first
    (tmp_path / "best.zip").write_bytes(b"better weights")
    best = bots.fingerprint(f"net:{tmp_path}")
    assert first != best == bots.fingerprint(f"net:{tmp_path / 'best.zip'}")
    (tmp_path / "last.zip").write_bytes(b"later weights, which do not play")
    (tmp_path / "older.zip").write_bytes(b"neither do these")
    assert bots.fingerprint(f"net:{tmp_path}") == best


def test_paths_may_begin_with_the_home_folder(tmp_path, monkeypatch):
    """No shell writes out the ~ behind a colon."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for spec in ("net:~/run.zip", "mcts:5,network=net:~/run.zip", "python:~/mine.py:Mine"):
        with pytest.raises(BotError, match=f"there is no (checkpoint|file) {tmp_path}/"):
            bots.load(spec, CONFIG)
    with pytest.raises(BotError, match="there is no checkpoint ~nobody-here/run.zip"):
        bots.load("net:~nobody-here/run.zip", CONFIG)
    (tmp_path / "run.zip").write_bytes(b"weights")
    assert bots.fingerprint("net:~/run.zip") == bots.fingerprint(f"net:{tmp_path}/run.zip") != ""


def test_fingerprints_of_bots_without_files_do_not_look_into_the_present_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("best.zip", "last.zip", "results.zip"):
        (tmp_path / name).write_bytes(b"something")
    for spec in ("uniform", "net:", "python:", "python::Mine"):
        assert bots.fingerprint(spec, "kitten_adventurers") == ""


def test_specs_and_games_of_another_type_are_refused():
    with pytest.raises(TypeError, match="spec must be text, not None"):
        bots.load(None, CONFIG)
    with pytest.raises(TypeError, match=r"config must be a Configuration, not 'kitten_adventurers'; load_game\("):
        bots.load("uniform", "kitten_adventurers")
    with pytest.raises(TypeError, match="spec must be text, not None"):
        bots.fingerprint(None)
    with pytest.raises(TypeError, match="^game must be text, not <Game"):
        bots.fingerprint("greedy", CONFIG.game)


def test_a_compiled_bot_is_made_of_a_policy_and_a_configuration():
    with pytest.raises(TypeError, match="^policy must be a CompiledPolicy, not 'uniform'"):
        CompiledBot("uniform", CONFIG)
    with pytest.raises(TypeError, match=r"^config must be a Configuration, not .*; load_game\("):
        CompiledBot(greedy_policy(CONFIG.game), CONFIG.game)


@pytest.mark.parametrize("memory", ["1GB", 1.5e9, 0, -1, True, 2**63])
def test_memory_that_is_no_number_of_bytes_is_refused(memory):
    """Before a process is started, which would call it a mistake of the bot's."""
    with pytest.raises(BotError, match=r"^memory = .* is not allowed; allowed: None, or bytes as an integer 1\.\."):
        bots.load("uniform", CONFIG, memory=memory)


def test_what_is_no_bot_is_refused():
    """A spec, which has to be loaded, or a class in place of what it makes."""
    for wrong in ("greedy", None, CompiledBot):
        for use in (bots.BotOpponent, lambda bot: bots.play_games(bot, CONFIG, 1, 0)):
            with pytest.raises(TypeError, match=r"^bot must have start and act, as what bots.load\(.*\) makes, not "):
                use(wrong)


class FirstLegal:
    """A bot as tournaments.md writes one for a file."""

    def start(self, rows, seeds):
        pass

    def act(self, decisions):
        assert decisions.config is CONFIG
        return np.array([legal[0] for legal in decisions.legal_actions])


def test_a_bot_written_for_a_file_also_plays_as_it_is():
    batch = Batch(CONFIG, 3, 5)
    while (batch.episodes == 0).any():
        batch.step(np.where(batch.episodes == 0, batch.action_mask.argmax(1), SKIP))
    assert (bots.play_games(FirstLegal(), CONFIG, 3, 5).final_return == batch.final_return).all()
    bot = FirstLegal()
    bot.act = lambda decisions: np.full(len(decisions), -1)
    with pytest.raises(IllegalAction, match="^bot FirstLegal returned the id -1; legal were "):
        bots.play_games(bot, CONFIG, 1, 0)
    bot.searches = True
    with pytest.raises(TypeError, match=r"has searches = True, and snapshots go to bots from files alone: bots.load\("):
        bots.BotOpponent(bot)


def test_a_python_file_is_told_how_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("")
    with pytest.raises(BotError, match="a bot from a file is written python:mine.py:NAME"):
        bots.load("mine.py", CONFIG)


def test_fingerprints_name_the_version_of_rules_of_thumb(tmp_path, monkeypatch):
    (tmp_path / "last.zip").write_bytes(b"weights")
    net = bots.fingerprint(f"net:{tmp_path}")
    assert bots.fingerprint("greedy", "kepler_3042") == "greedy-2"
    assert bots.fingerprint("greedy") == bots.fingerprint("greedy", "patience") == ""
    for game, version in (("kepler_3042", "greedy-2"), ("patience", "")):
        assert bots.fingerprint("mcts:5,trust=1", game) == version
        assert bots.fingerprint("mcts:5,playout=uniform", game) == bots.fingerprint("uniform", game) == ""
        assert bots.fingerprint(f"mcts:5,network=net:{tmp_path}", game) == net
    for setting in ("opponents=policy", "mix=0.5"):
        both = f"mcts:5,network=net:{tmp_path},{setting}"
        assert bots.fingerprint(both, "kepler_3042") == f"{net}+greedy-2"
    assert bots.fingerprint(f"mcts:5,network=net:{tmp_path},mix=0.5,playout=uniform", "kepler_3042") == net
    monkeypatch.setattr("kepler_envs.bots.greedy.kepler_3042.VERSION", 3)
    assert bots.fingerprint("greedy", "kepler_3042") == bots.fingerprint("mcts:5", "kepler_3042") == "greedy-3"


@pytest.mark.parametrize("spec", ["greedy", "bc-v1", "mcts:5"])
def test_fingerprints_take_a_game_by_its_name_or_its_id(spec):
    versions = {bots.fingerprint(spec, before + CONFIG.game.id) for before in ("", "kepler/")}
    assert versions == {bots.fingerprint(spec, "kitten_adventurers")} != {""}


@pytest.mark.parametrize("spec", ["mcts", "mcts:soon", "mcts:5,gone=1", "net:nowhere", "gone"])
def test_specs_of_no_bot_have_no_fingerprint(spec):
    assert bots.fingerprint(spec, "kitten_adventurers") == ""


def test_bots_are_asked_about_decisions_not_about_a_batch():
    batch = kepler_envs.Batch(CONFIG, 2, 1)
    for spec in ("uniform", "mcts:3", "pool-v1"):
        with pytest.raises(
            TypeError,
            match=r"^decisions must be a TrustedDecisions, not <Batch of .*; bots.TrustedDecisions\(batch, rows",
        ):
            bots.load(spec, CONFIG).act(batch)


def test_rows_must_be_started():
    agent = bots.load("uniform", CONFIG)
    agent.start(np.arange(2), np.arange(2, dtype=np.uint64))
    with pytest.raises(BotError, match="row 3, where it was not started"):
        agent.act(TrustedDecisions(kepler_envs.Batch(CONFIG, 4, 1), np.arange(4)))


@pytest.mark.parametrize("rows", [np.array([4]), np.array([-1]), np.array([0.0]), np.array([[0]]), [0]])
def test_decisions_are_of_rows_that_the_batch_has(rows):
    """Compiled bots would read whatever lies in memory beside the batch."""
    with pytest.raises(ValueError, match=r"^rows must be an integer array \(M,\) of rows 0..3, not "):
        TrustedDecisions(Batch(CONFIG, 4, 1), rows)


def first_actions(order: list[int], seeds: list[int]) -> dict[int, list[int]]:
    """The first five uniform decisions of games with some seeds, keyed by seed, asked for in a given order of rows."""
    batch = kepler_envs.Batch(CONFIG, len(seeds), 1)
    batch.reset(np.array(seeds, np.uint64))
    agent = bots.load("uniform", CONFIG)
    agent.start(np.arange(len(seeds)), np.array(seeds, np.uint64))
    chosen: dict[int, list[int]] = {seed: [] for seed in seeds}
    for _ in range(5):
        actions = np.empty(len(seeds), np.int64)
        for row in order:
            actions[row] = agent.act(TrustedDecisions(batch, np.array([row])))[0]
            chosen[seeds[row]].append(int(actions[row]))
        batch.step(actions)
    return chosen


def test_what_a_row_draws_does_not_depend_on_other_rows():
    several = first_actions([0, 1, 2], [7, 8, 9])
    assert first_actions([2, 0, 1], [7, 8, 9]) == several
    assert first_actions([0, 1], [9, 7]) == {seed: several[seed] for seed in (9, 7)}
    assert len({tuple(actions) for actions in several.values()}) == 3


def test_a_bot_without_a_name_can_be_measured():
    assert len(play_against(FirstLegal(), bots.load("greedy", CONFIG), CONFIG, games=4, seed=3).wins) == 4


@pytest.mark.parametrize("games", [0, 2.0, None])
def test_play_games_names_its_own_argument(games):
    with pytest.raises(OptionError, match=f"^games = {games} is not allowed; allowed: an integer 1..2147483647$"):
        bots.play_games(bots.load("greedy", CONFIG), CONFIG, games, seed=3)


def test_play_games_plays_one_game_a_row():
    greedy = bots.load("greedy", CONFIG)
    batch = bots.play_games(greedy, CONFIG, 40, seed=3)
    assert (batch.episodes == 1).all() and (batch.final_length > 0).all()
    again = bots.play_games(greedy, CONFIG, 40, seed=3)
    assert (batch.final_length == again.final_length).all() and (batch.final_rank == again.final_rank).all()
    other = bots.play_games(greedy, CONFIG, 40, seed=4)
    assert (batch.final_length != other.final_length).any()


class Answers:
    """A bot that answers the same whatever it is asked."""

    name = "stubborn"

    def __init__(self, answer) -> None:
        self.answer = answer

    def start(self, rows, seeds) -> None: ...

    def act(self, decisions):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.full(4, -1), "the id -1; legal were"),
        (np.full(1, 0), r"int64 \(1,\) in place of integers \(4,\)"),
        (np.full(4, 0.5), r"float64 \(4,\) in place of integers \(4,\)"),
        ([[1], [2, 3]], "what makes no array"),
    ],
)
def test_answers_that_are_no_legal_ids_are_told_of(answer, message):
    """Neither taken for something else, nor asked for for ever: -1 is the batch's SKIP."""
    with pytest.raises(IllegalAction, match=f"bot stubborn returned {message}"):
        bots.play_games(Answers(answer), CONFIG, 4, seed=3)
    with pytest.raises(IllegalAction, match="bot stubborn returned"):
        play_against(Answers(answer), bots.load("greedy", CONFIG), CONFIG, 4 * CONFIG.num_players, 3)


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_how_a_game_is_paid_does_not_matter_to_a_network(name):
    """Shaping and the reward mode change what play is paid, not the game: a network plays however it was, or is,
    paid."""
    game = kepler_envs.load_game(name)
    config = game.configure()
    names = {option.name for option in game.option_list}
    assert not names & {"rewards", "reward", "payoff"}, "the option is called reward_mode in every game"
    for option in game.option_list:
        if option.name in REWARD_OPTIONS:
            others = [
                value
                for value in (*option.choices, 0.5)
                if value != option.default and type(value) is type(option.default)
            ]
            for value in others:
                assert game_facts(game.configure(**{option.name: value})) == game_facts(config)
    assert "shaping" in names


def test_of_derived_fields_only_the_size_they_give_an_observation_matters():
    with_them, without = game_facts(CONFIG), game_facts(CONFIG.game.configure(4, derived=False))
    assert "derived" not in with_them["options"]
    differing = {name for name in with_them if with_them[name] != without[name]}
    assert differing == {"observation_size", "digest"}
    for derived in (True, False):
        config = CONFIG.game.configure(4, derived=derived)
        (trained,) = trained_configurations(game_facts(config), "net.zip")
        assert trained.observation.size == config.observation.size


def test_a_checkpoint_of_a_game_that_there_is_not_is_named():
    description = {**game_facts(CONFIG), "game": "chess-v1"}
    with pytest.raises(BotError, match=r"^net\.zip: the game of the checkpoint cannot be set up here: "):
        trained_configurations(description, "net.zip")


def test_a_network_trained_to_win_plays_by_rank(tmp_path):
    """Kepler-3042's option was called otherwise: a network trained with it refused default games."""
    game = kepler_envs.load_game("kepler_3042")
    trained, played = game.configure(2, reward_mode="win", shaping=0.5), game.configure(2)
    shape = NetworkShape(4, (4,), 4)
    description = checkpoint.describe(trained, shape, {"game": game.name, "seed": 0}, UNTRAINED)
    path = tmp_path / "won.zip"
    weights = checkpoint.weights_of(checkpoint.build(shape, trained))
    checkpoint.write_checkpoint(path, description, {TORCH_WEIGHTS: weights})
    assert bots.load(f"net:{path}", played).name == f"net:{path}"


@pytest.mark.parametrize("spec", ["mcts:3", "pool-v1", "mcts:3,network=pool-v1"])
def test_bots_play_what_they_were_loaded_for(spec, tmp_path):
    """A search has room for the seats it was loaded for, and a network was trained for them."""
    game = CONFIG.game
    bot = bots.load(spec, CONFIG)
    message = rf"^bot {spec} was loaded for <.*4 players.*>, and this is <.*3 players.*>: load it for that$"
    with pytest.raises(bots.BotError, match=message):
        bots.play_games(bot, game.configure(3), 2, seed=1)
    with pytest.raises(bots.BotError, match=message):
        gymnasium.make("kepler/kitten_adventurers-v1", num_players=3, opponents=bots.BotOpponent(bot)).reset(seed=1)
    other = tmp_path / "cards.toml"
    other.write_text(changed(own_text("kitten_adventurers"), "count = 8", "count = 9"))
    with pytest.raises(bots.BotError, match="was loaded for other cards of kitten_adventurers-v1: load it for these"):
        bots.play_games(bot, game.configure(4, components=other), 2, seed=1)
    short = game.configure(4, max_turns=6)  # what training and evaluation may have otherwise
    assert (bots.play_games(bot, short, 2, seed=1).episodes == 1).all()


def test_rules_of_thumb_play_any_number_of_players_of_their_game():
    for spec in ("uniform", "greedy"):
        bot = bots.load(spec, CONFIG)
        assert (bots.play_games(bot, CONFIG.game.configure(2), 2, seed=1).episodes == 1).all()
        with pytest.raises(
            bots.BotError, match=f"^bot {spec} was loaded for kitten_adventurers-v1, and this is kepler_"
        ):
            bots.play_games(bot, kepler_envs.load_game("kepler_run").configure(2), 2, seed=1)
