"""Our games in OpenSpiel: its own simulation test, its playthroughs and its searching bot, and what its states keep
apart."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install 'kepler_envs[openspiel]'")

import pyspiel
from open_spiel.python.algorithms import cfr, generate_playthrough, ismcts, mcts
from open_spiel.python.observation import make_observation

import kepler_envs
import kepler_envs.adapters.openspiel
from kepler_envs.adapters.flat import FlatInputs
from kepler_envs.adapters.openspiel import LARGEST_INT, LIMIT, longest_game
from kepler_envs.engine.seeds import stream_seed
from tests.component_file import own_rows, write_rows
from tests.effort import DEEP

SHORT = "kepler_kitten_adventurers(players=3,options=quest_size:1;hand_size:5,deals=20)"
QUICK = ("kitten_adventurers", "kepler_run")
"""OpenSpiel's own test observes every seat at every decision; the long games take it a minute."""


def random_state(game, deal: int, decisions: int):
    """A state some random decisions after a deal."""
    state, rng = game.new_initial_state(), np.random.default_rng(deal)
    state.apply_action(deal)
    for _ in range(decisions):
        if not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
    return state


@pytest.mark.parametrize("name", kepler_envs.list_games() if DEEP else QUICK)
def test_openspiel_s_simulation_test(name):
    game = pyspiel.load_game(SHORT if name == "kitten_adventurers" else f"kepler_{name}")
    pyspiel.random_sim_test(game, num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_the_facts_are_the_game_s(name):
    ours, theirs = kepler_envs.load_game(name), pyspiel.load_game(f"kepler_{name}")
    assert theirs.num_players() == ours.default_players
    assert theirs.num_distinct_actions() == len(ours.actions)
    assert theirs.observation_tensor_size() == FlatInputs(ours.observation).size
    assert theirs.get_type().max_num_players == ours.max_players
    assert theirs.max_game_length() == ours.max_decisions
    state = random_state(theirs, 1, 0)
    assert [state.action_to_string(action) for action in state.legal_actions()] == [
        ours.actions.text(action) for action in state.legal_actions()
    ]


@pytest.mark.parametrize(
    ("game", "least"),  # what the specifications count, with these limits
    [
        ("kitten_adventurers(options=max_plays:30000;max_turns:30000)", 2 * 30_000 + 2 * 30_000),
        ("kitten_adventurers(options=max_plays:30000;max_turns:1)", 2 * 30_000 + 2 * 1),
        ("ad_astra(players=5,options=max_offers:20;max_bank_trades:40)", 12_910 + 20 * 5 * (2 * 28 + 4 * 16)),
        ("race_to_kepler(players=4,options=max_rounds:1000)", 4 + 1000 * 4 * 292 + 7 * (142 + 4 + 1)),
    ],
)
def test_a_game_with_raised_limits_may_be_longer(game, least):
    assert pyspiel.load_game(f"kepler_{game}").max_game_length() >= least


def test_a_limit_that_a_card_file_raises_counts_too(tmp_path):
    rows = own_rows("race_to_kepler")
    next(row for row in rows["numbers"] if row["name"] == "round_cap")["value"] = 400
    path = write_rows(tmp_path / "mine.toml", rows)
    usual = kepler_envs.load_game("race_to_kepler").max_decisions
    assert pyspiel.load_game("kepler_race_to_kepler", {"components": str(path)}).max_game_length() == 10 * usual


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_every_limit_is_known_by_its_name(name):
    """The bound grows with the fields of the options record that begin like the options that limit a game."""
    game = kepler_envs.load_game(name)
    limits = {option.name for option in game.option_list if option.name.startswith(LIMIT)}
    assert limits == {field for field in game.options.names if field.startswith(LIMIT)}
    assert all(int(game.configure().options[0][limit]) > 0 for limit in limits)


def test_lower_limits_keep_the_bound_and_no_bound_is_too_large_for_openspiel():
    game = kepler_envs.load_game("kitten_adventurers")
    assert longest_game(game.configure(max_turns=1, max_plays=3)) == game.max_decisions
    assert longest_game(replace(game, max_decisions=LARGEST_INT).configure(max_turns=601)) == LARGEST_INT


@pytest.mark.parametrize("deal", [-5, 20, 99_999])
def test_there_are_no_other_deals(deal):
    with pytest.raises(ValueError, match=rf"deal = {deal} is not allowed; allowed: an integer 0\.\.19"):
        pyspiel.load_game(SHORT).new_initial_state().apply_action(deal)


def test_a_deal_is_a_game_of_the_batch():
    game = pyspiel.load_game(SHORT)
    config = kepler_envs.load_game("kitten_adventurers").configure(3, quest_size=1, hand_size=5)
    state = random_state(game, 17, 0)
    assert game.new_initial_state().action_to_string(17) == "deal 17"
    assert state.moment.position == kepler_envs.Snapshot.deal(config, stream_seed(0, 17))
    assert state.moment.position == kepler_envs.Batch(config, 18, 0).snapshot(17)


def test_a_history_replays_and_a_state_pickles():
    game = pyspiel.load_game(SHORT)
    state = random_state(game, 3, 4)
    again = game.new_initial_state()
    for action in state.history():
        again.apply_action(action)
    copied, pickled = state.clone(), pickle.loads(pickle.dumps(state))
    for other in (again, copied, pickled):
        assert other.moment.position == state.moment.position
        assert other.history() == state.history()
        assert [other.information_state_string(seat) for seat in range(3)] == [
            state.information_state_string(seat) for seat in range(3)
        ]
    assert not state.is_terminal()
    action = copied.legal_actions()[0]
    copied.apply_action(action)
    assert copied.moment.position == state.moment.position.apply(action)


def test_games_and_what_holds_them_pickle():
    game = pyspiel.load_game(
        "kepler_kitten_adventurers(players=2,options=quest_size:1;max_turns:2;max_plays:3,deals=2)"
    )
    solver = cfr.CFRSolver(game)
    solver.evaluate_and_update_policy()
    again = pickle.loads(pickle.dumps(solver))
    for one in (solver, again):
        one.evaluate_and_update_policy()
    policies = [one.average_policy().action_probability_array for one in (solver, again)]
    assert np.array_equal(*policies)


OPTIONS = [
    {"players": 2, "options": "quest_size:1", "deals": 3, "seed": 8},
    {"players": 3, "options": "factions:grey,blue,red"},
    {"players": 3, "options": "factions:grey|blue|red;max_rounds:3"},
    {"players": 3, "options": 'setup:{"first_player": 1, "artifact_deck": [8, 7, 6, 5, 4, 3, 2, 1, 0]}'},
]


@pytest.mark.parametrize("params", OPTIONS, ids=lambda params: params["options"])
@pytest.mark.parametrize(
    "again",
    [lambda game: pickle.loads(pickle.dumps(game)), copy.deepcopy, lambda game: pyspiel.load_game(str(game))],
    ids=["pickle", "deepcopy", "string"],
)
def test_copies_of_a_game_deal_its_games(params, again):
    game = pyspiel.load_game("kepler_kitten_adventurers" if params["players"] == 2 else "kepler_ad_astra", params)
    twin = again(game)
    assert str(twin) == str(game)
    assert twin.setting.config.digest == game.setting.config.digest
    states = [random_state(one, 2, 6) for one in (game, twin)]
    assert states[0].moment.position == states[1].moment.position
    for state in states:
        assert pickle.loads(pickle.dumps(state)).history() == copy.deepcopy(state).history() == state.history()
    shown = [make_observation(one) for one in (game, twin)]
    for one, state in zip(shown, states, strict=True):
        one.set_from(state, 1)
    assert np.array_equal(shown[0].tensor, shown[1].tensor)


@pytest.mark.parametrize("name", ["a,b.toml", "a=b.toml"])
def test_a_path_that_openspiel_would_misread_is_refused(tmp_path, name):
    path = tmp_path / name
    write_rows(path, own_rows("kitten_adventurers"))
    with pytest.raises(kepler_envs.OptionError, match="takes no path with one of , = in it"):
        pyspiel.load_game("kepler_kitten_adventurers", {"components": str(path)})


def test_the_tensor_has_the_pieces():
    game = pyspiel.load_game(SHORT)
    observation = make_observation(game)
    state = random_state(game, 5, 8)
    layout = state.moment.setting.config.observation
    for seat in range(3):
        observation.set_from(state, seat)
        vector = state.moment.position.observe(seat)
        for piece in layout:
            shown, seen = observation.dict[piece.name], piece.view(vector)
            if shown.shape == seen.shape:
                assert np.allclose(shown, seen / piece.scale)
            else:
                assert np.array_equal(shown.argmax(-1) + piece.low, seen) and (shown.sum(-1) == 1).all()
        assert np.array_equal(observation.tensor, state.observation_tensor(seat))


def test_resampling_keeps_what_the_seat_knows_and_nothing_else():
    state = random_state(pyspiel.load_game(SHORT), 2, 12)
    seat = state.current_player()
    drawn = [state.resample_from_infostate(seat, lambda at=at: at) for at in np.linspace(0, 0.99, 20)]
    for one in drawn:
        assert one.information_state_string(seat) == state.information_state_string(seat)
        assert one.observation_string(seat) == state.observation_string(seat)
        assert one.legal_actions() == state.legal_actions()
    other = (seat + 1) % 3
    assert len({one.observation_string(other) for one in drawn}) > 10
    # what the true hidden cards were plays no part: resampling a resampled state gives the same
    first, second = (one.resample_from_infostate(seat, lambda: 0.5) for one in drawn[:2])
    for one in range(3):
        assert first.information_state_string(one) == second.information_state_string(one)


def test_information_states_remember_and_tell_apart():
    game = pyspiel.load_game(SHORT)
    state = random_state(game, 4, 0)
    seat, before = state.current_player(), {state.information_state_string(0)}
    for action in state.legal_actions():
        before.add(state.child(action).information_state_string(seat))
    assert len(before) == 1 + len(state.legal_actions()), "a seat knows what it did"


def test_what_is_known_late_in_a_long_game_is_found_out():
    """There are more decisions than Python may call functions within one another."""
    state = random_state(pyspiel.load_game("kepler_race_to_kepler(players=4)"), 1, 700)
    assert len(state.history()) == 701
    assert len({state.information_state_string(seat) for seat in range(4)}) == 4


def test_an_observer_is_of_all_that_a_seat_sees_or_there_is_none():
    game, private = pyspiel.load_game(SHORT), pyspiel.PrivateInfoType
    for public, own in ((True, private.NONE), (True, private.ALL_PLAYERS), (False, private.SINGLE_PLAYER)):
        for recall in (False, True):
            assert game.make_py_observer(pyspiel.IIGObservationType(public, recall, own)) is None
    recall = game.make_py_observer(pyspiel.IIGObservationType(True, True, private.SINGLE_PLAYER))
    state = random_state(game, 4, 3)
    assert recall.string_from(state, 1) == state.information_state_string(1) != state.observation_string(1)


def test_a_secret_decision_is_known_to_the_seat_that_took_it_alone():
    """Which of its cards a seat places face down."""
    state = random_state(pyspiel.load_game("kepler_ad_astra(players=3)"), 2, 0)
    position, seat = state.moment.position, state.current_player()
    heard = position.public_text(state.legal_actions()[0])
    same = [action for action in state.legal_actions() if position.public_text(action) == heard]
    assert len(same) > 1
    for listener in range(3):
        known = {state.child(action).information_state_string(listener) for action in same}
        assert len(known) == (len(same) if listener == seat else 1)


def test_openspiel_s_search_plays_a_game():
    game = pyspiel.load_game("kepler_kitten_adventurers(players=2,options=quest_size:1,deals=20)")
    rng = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(
        game, mcts.RandomRolloutEvaluator(1, rng), 1.0, 8, random_state=rng, allow_inconsistent_action_sets=True
    )
    state, own = random_state(game, 6, 0), 0
    while not state.is_terminal():
        if state.current_player() == 0 and own < 4:  # it takes a good while: a few of its decisions, then random ones
            action, own = bot.step(state), own + 1
        else:
            action = rng.choice(state.legal_actions())
        assert action in state.legal_actions()
        state.apply_action(int(action))
    assert own == 4 and sorted(set(map(abs, state.returns()))) in ([0.0], [1.0])


def test_a_playthrough_is_the_same_again():
    texts = [generate_playthrough.playthrough(SHORT, None, seed=2) for _ in range(2)]
    assert texts[0] == texts[1]
    assert "IsTerminal() = True" in texts[0] and "cards.hand" in texts[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("players=9", "num_players = 9 is not allowed"),
        ("deals=0", "deals = 0"),
        ("options=quest_size:2;quest_size:3", "quest_size is given twice"),
        ("options=quest_sise:1", "unknown option 'quest_sise'"),
        ("options=hand_size:40", "option hand_size = '40' is not allowed"),
        ("components=no_such_file.toml", "no_such_file.toml"),
    ],
)
def test_wrong_parameters_are_explained(parameters, message):
    with pytest.raises((kepler_envs.OptionError, kepler_envs.ComponentError), match=message):
        pyspiel.load_game(f"kepler_kitten_adventurers({parameters})")


@pytest.mark.parametrize("name", ["deals", "seed"])
def test_integers_are_as_large_as_openspiel_s(name):
    """It takes larger ones for damage of its own: what is allowed must be what it takes."""
    game = type(pyspiel.load_game(SHORT))
    assert game({name: 2**31 - 1}).get_parameters()[name] == 2**31 - 1
    with pytest.raises(kepler_envs.OptionError, match=rf"{name} = 2147483648 is not allowed; .* [01]\.\.2147483647$"):
        game({name: 2**31})
    with pytest.raises(kepler_envs.OptionError, match=r"allowed: an integer [01]\.\.2147483647$"):
        pyspiel.load_game(f"kepler_kitten_adventurers({name}=-1)")


def test_nobody_is_paid_before_the_end_and_then_all_are():
    game = pyspiel.load_game("kepler_kepler_run(players=4)")
    state = random_state(game, 9, 10)
    assert state.returns() == [0.0] * 4 and not state.is_terminal()
    end = random_state(game, 9, 1000)
    assert end.is_terminal() and abs(sum(end.returns())) < 1e-12 and max(end.returns()) > 0


def test_who_plays_alone_is_not_in_a_zero_sum_game():
    game = pyspiel.load_game("kepler_kepler_3042(players=1)")
    assert game.get_type().utility == pyspiel.GameType.Utility.GENERAL_SUM
    assert game.utility_sum() is None


def test_before_the_deal_there_is_nothing_to_redraw():
    state = pyspiel.load_game("kepler_kitten_adventurers").new_initial_state()
    with pytest.raises(ValueError, match="^there is nothing to redraw before the deal: apply a chance outcome first$"):
        state.resample_from_infostate(0, lambda: 0.5)
