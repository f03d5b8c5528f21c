"""One seat against opponents, with Gymnasium's own checker and by what the seat sees and is paid."""

from __future__ import annotations

import copy
import pickle
import warnings
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import kepler_envs
from kepler_envs import bots
from kepler_envs.adapters.gym import SeatEnv, make_seat
from kepler_envs.adapters.gym_vector import SeatVectorEnv, make_seats
from kepler_envs.adapters.opponents import opponent_of
from kepler_envs.adapters.sb3 import SeatVecEnv
from kepler_envs.engine import render_window
from kepler_envs.engine.aec import NoGameError
from kepler_envs.engine.playout import uniform_policy
from kepler_envs.engine.snapshot import IllegalAction

GAME = "kepler/kitten_adventurers-v1"


def play(env: gymnasium.Env, seed: int, choose=None) -> tuple[list[int], float, dict]:
    """A whole game by random legal actions: (actions, sum of rewards, last info)."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    actions, paid, over, keys = [], 0.0, False, set(info)
    while not over:
        assert (info["returns"], info["rank"], info["score"]) == (0.0, 0, 0) and set(info) == keys
        assert env.observation_space.contains(observation)
        assert info["action_mask"].any()
        actions.append(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        observation, reward, terminated, truncated, info = env.step(actions[-1])
        paid += reward
        over = terminated or truncated
    assert set(info) == keys
    assert env.observation_space.contains(observation)
    assert info["action_mask"].all(), "what comes before the next deal is not looked at"
    return actions, paid, info


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_gymnasium_s_checker_is_content(name):
    game = kepler_envs.load_game(name)
    env = gymnasium.make(f"kepler/{game.id}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)  # it would open a window; pictures are tested below


def test_options_of_a_reset_are_a_dict():
    env = make_seat("kitten_adventurers")
    env.reset(seed=1, options={"anything": 1})
    before = env.snapshot().digest()
    with pytest.raises(TypeError, match="^options must be a dict or None, not "):
        env.reset(seed=2, options=[("num_players", 2)])
    assert env.snapshot().digest() == before


@pytest.mark.parametrize("mode", ["ansi", "svg", "rgb_array"])
def test_pictures_show_what_the_learner_sees(mode):
    env = gymnasium.make(GAME, render_mode=mode, seat=1)
    env.reset(seed=3)
    position = env.unwrapped.snapshot()
    drawing = position.drawing(1)
    expected = {"ansi": position.text(1), "svg": drawing.svg(), "rgb_array": drawing.rgb()}[mode]
    assert np.array_equal(env.render(), expected)


def test_a_window_follows_the_learner_s_game(monkeypatch):
    shown = []
    monkeypatch.setattr(render_window, "show", lambda rgb, title: shown.append(rgb) or True)
    env = gymnasium.make(GAME, render_mode="human", seat=1, illegal="lose").unwrapped
    env.reset(seed=3)
    expected = [env.snapshot()]
    for _ in range(2):
        env.step(int(env.action_masks().argmax()))
        expected.append(env.snapshot())
    env.step(int(env.action_masks().argmin()))  # illegal: the game is over
    expected.append(env.snapshot())
    assert len(shown) == len(expected)
    for picture, position in zip(shown, expected, strict=True):
        assert np.array_equal(picture, position.drawing(1).rgb())


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_a_game_pays_its_return_and_is_the_same_again(name):
    game = kepler_envs.load_game(name)
    env = gymnasium.make(f"kepler/{game.id}")
    for seed in range(3):
        actions, paid, info = play(env, seed)
        assert paid == pytest.approx(info["returns"], abs=1e-6)
        assert info["rank"] >= 1 and "score" in info
        again, paid_again, info_again = play(env, seed)
        assert (again, paid_again, info_again["seat"]) == (actions, paid, info["seat"])


def test_the_last_info_is_of_the_learner_s_seat():
    env = gymnasium.make(GAME, num_players=3, quest_size=2)
    own = set()
    for seed in range(30):
        _, _, info = play(env, seed)
        seat, last = info["seat"], env.unwrapped.snapshot()
        ranks, scores, returns = last.results()
        assert (info["rank"], info["score"]) == (ranks[seat], scores[seat])
        assert info["returns"] == pytest.approx(returns[seat])
        told = last.config.game.info(last.state, last.config.tables[0], seat)
        assert told and {name: info[name] for name in told} == told
        own.add((seat, info["rank"]))
    assert len({seat for seat, _ in own}) == 3 and len({rank for _, rank in own}) > 1


def test_it_is_the_game_of_the_aec_environment():
    env = make_seat("kitten_adventurers", seat=0, first_player="seat0")
    observation, info = env.reset(seed=12)
    aec = kepler_envs.make("kitten_adventurers", first_player="seat0")
    aec.reset(seed=12)
    seen = aec.observe("player_0")
    assert np.array_equal(observation, seen["observation"]) and np.array_equal(info["action_mask"], seen["action_mask"])


def test_the_seat_is_drawn_or_fixed():
    drawn, fixed = gymnasium.make(GAME), gymnasium.make(GAME, seat=2)
    assert {drawn.reset(seed=seed)[1]["seat"] for seed in range(40)} == {0, 1, 2, 3}
    assert {fixed.reset(seed=seed)[1]["seat"] for seed in range(10)} == {2}


def test_a_loss_reaches_the_learner():
    env = gymnasium.make(GAME, num_players=2, quest_size=1)
    outcomes = {play(env, seed)[1] for seed in range(20)}
    assert {-1.0, 1.0} <= outcomes


def test_opponents_of_every_kind_take_their_seats():
    config = kepler_envs.load_game("kitten_adventurers").configure(4, quest_size=1)
    asked = []

    def first_legal(observation: np.ndarray, mask: np.ndarray) -> int:
        asked.append(observation)
        return int(mask.argmax())

    greedy = bots.BotOpponent(bots.load("greedy", config))
    env = SeatEnv(config, [greedy, None, first_legal], seat=1)
    actions, paid, info = play(env, 4)
    assert len(asked) > 1 and asked[0].shape == env.observation_space.shape
    assert play(env, 4)[:2] == (actions, paid)
    wins = {name: 0 for name in ("uniform", "greedy")}
    for name in wins:
        env = SeatEnv(config, bots.BotOpponent(bots.load(name, config)))
        wins[name] = sum(play(env, seed)[2]["rank"] == 1 for seed in range(60))
    assert wins["greedy"] < wins["uniform"], "greedy players leave less to a random one"


class Seeded:
    """Plays the lowest legal ids, and keeps the seeds that it was told for the first games."""

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        self.seeds = getattr(self, "seeds", seeds)

    def __call__(self, batch: kepler_envs.Batch, rows: np.ndarray) -> np.ndarray:
        return batch.action_mask[rows].argmax(1)


def test_opponents_do_not_draw_alike():
    """Neighbouring seeds do not begin with the same draw, neither those of opponents nor those of games."""
    config = kepler_envs.load_game("kitten_adventurers").configure(4)
    games, asked = 1000, [Seeded() for _ in range(3)]
    envs = SeatVectorEnv(config, games, asked, seat=0)
    envs.reset(seed=0)
    batch = kepler_envs.Batch(config, games, 0)
    batch.reset(np.full(games, 3, np.uint64))  # the same position in every row
    rows, chance = np.arange(games), 1 / batch.legal_count[0]
    opponents = [opponent_of(None, config) for _ in range(3)]
    for opponent, its in zip(opponents, asked, strict=True):
        opponent.start(rows, its.seeds)
    drawn = [opponent(batch, rows) for opponent in opponents]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert (drawn[one] == drawn[other]).mean() == pytest.approx(chance, abs=5 * (chance / games) ** 0.5)
    assert (drawn[0][1:] == drawn[0][:-1]).mean() == pytest.approx(chance, abs=5 * (chance / games) ** 0.5)


def test_a_policy_of_another_game_is_refused():
    config = kepler_envs.load_game("kitten_adventurers").configure(2)
    with pytest.raises(bots.BotError, match="policy uniform plays kepler_run-v1, not kitten_adventurers-v1"):
        opponent_of(uniform_policy(kepler_envs.load_game("kepler_run")), config)


WRONG_ANSWERS = [(-1, "returned the id -1; legal were"), (0.5, "returned float64"), (None, "returned object")]
"""What an opponent may not choose, SKIP of a batch among it."""


@pytest.mark.parametrize(("answer", "message"), WRONG_ANSWERS)
def test_what_is_no_legal_id_of_an_opponent_is_told_of(answer, message):
    asked = {"num_players": 2, "opponents": lambda observation, mask: answer, "seat": 1, "first_player": "seat0"}
    for env in (make_seat("kitten_adventurers", **asked), make_seats("kitten_adventurers", 3, **asked)):
        with pytest.raises(IllegalAction, match=f"the opponent {message}"):
            env.reset(seed=1)


def test_opponents_by_name():
    """A name plays what the bot of that name plays; one that is none is explained."""
    config = kepler_envs.load_game("kitten_adventurers").configure(2)
    greedy = bots.BotOpponent(bots.load("greedy", config))
    games = [
        play(gymnasium.make(GAME, num_players=2, opponents=given), 6)[:2]
        for given in ("greedy", ["greedy"], greedy, "uniform", None)
    ]
    assert games[0] == games[1] == games[2] and games[3] == games[4] != games[0]
    with pytest.raises(ValueError, match="no bot 'greedier'; there are"):
        gymnasium.make(GAME, opponents="greedier")


@pytest.mark.parametrize("mode", ["sync", None])
def test_vectors_with_automatic_resets_always_have_something_to_choose(mode):
    envs = gymnasium.make_vec(GAME, num_envs=2, vectorization_mode=mode, num_players=2, quest_size=1)
    _, infos = envs.reset(seed=1)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(150):
        assert infos["action_mask"].any(axis=1).all()
        _, _, terminated, truncated, infos = envs.step(
            np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
        )
        ended += int((terminated | truncated).sum())
        assert "illegal" not in infos
    assert ended > 4


@pytest.mark.parametrize("action", [None, True, 0.5, 1.0, "1"])
def test_actions_that_are_no_integers(action):
    env = make_seat("kitten_adventurers", seat=0)
    env.reset(seed=1)
    before = env.snapshot()
    with pytest.raises(ValueError, match="integer action id"):
        env.step(action)
    assert env.snapshot() == before


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array])
def test_actions_as_numpy_and_stable_baselines3_give_them(kind):
    """A policy's ``predict`` on one observation answers with an array of no dimensions."""
    action = kind(
        make_seat("kitten_adventurers", seat=0, first_player="seat0").reset(seed=1)[1]["action_mask"].argmax()
    )
    for make in (partial(make_seat, seat=0), kepler_envs.make):
        env, twin = make("kitten_adventurers", first_player="seat0"), make("kitten_adventurers", first_player="seat0")
        env.reset(seed=1), twin.reset(seed=1)
        env.step(action), twin.step(int(action))
        assert env.snapshot() == twin.snapshot()


def first_legal(observation: np.ndarray, mask: np.ndarray) -> int:
    return int(mask.argmax())


def test_what_is_paid_before_the_learner_decides_comes_with_its_first_step():
    options = {"first_player": "seat0", "shaping": 1.0}
    env, early = make_seat("kitten_adventurers", 4, first_legal, seat=3, **options), 0
    for seed in range(10):
        batch = kepler_envs.make_batch("kitten_adventurers", 1, num_players=4, **options)
        batch.reset(np.array([seed], np.uint64))
        paid, decided = 0.0, False
        while not batch.episodes[0]:
            decided |= bool(batch.seat[0] == 3)
            batch.step(batch.action_mask.argmax(axis=1))
            paid += float(batch.reward[0, 3])
            early += not decided and batch.reward[0, 3] != 0
        _, info = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            total += reward
            over = terminated or truncated
        assert total == pytest.approx(paid, abs=1e-6)
    assert early > 0


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("opponents", [None, "greedy", "bc-v1", "mcts:5", "mcts:5,network=bc-v1"])
def test_a_copy_goes_on_in_the_same_way(opponents, duplicate):
    env = make_seat("kitten_adventurers", 2, opponents)
    _, info = env.reset(seed=3)
    for _ in range(3):
        _, _, _, _, info = env.step(info["action_mask"].argmax())
    games = [env, duplicate(env)]
    for _ in range(5):
        seen = [game.step(info["action_mask"].argmax()) for game in games]
        assert np.array_equal(seen[0][0], seen[1][0]) and seen[0][1:4] == seen[1][1:4]
        info = seen[0][-1]


def test_seeds_are_checked_before_anything_changes():
    env = gymnasium.make(GAME)
    first, _ = env.reset(seed=np.int64(3))
    assert np.array_equal(first, gymnasium.make(GAME).reset(seed=3)[0])
    before = env.unwrapped.np_random.bit_generator.state
    for seed in (-1, 2**64, 0.5, "1"):
        with pytest.raises(ValueError, match="is not allowed; allowed: an integer"):
            env.reset(seed=seed)
    assert env.unwrapped.np_random.bit_generator.state == before


def test_an_illegal_action_loses_or_raises():
    env = gymnasium.make(GAME, seat=0)
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert "illegal action" in info["illegal"] and "legal:" in info["illegal"]
    assert (info["returns"], info["rank"]) == (-1.0, 4) and info["action_mask"].all() and info["hand_count"] > 0
    with pytest.raises(RuntimeError, match="reset"):
        env.step(illegal)
    strict = make_seat("kitten_adventurers", illegal="raise", seat=0)
    strict.reset(seed=1)
    before = strict.snapshot()
    with pytest.raises(kepler_envs.IllegalAction, match=f"illegal action {illegal} "):
        strict.step(illegal)
    assert strict.snapshot() == before


def test_an_illegal_action_ends_the_game_at_the_score_so_far():
    env = make_seat("kepler_run", seat=0)
    _, info = env.reset(seed=1)
    for _ in range(8):
        *_, info = env.step(int(info["action_mask"].argmax()))
    score = env.snapshot().results()[1][0]
    last_seen, *_, info = env.step(int(info["action_mask"].argmin()))
    assert info["score"] == score > 0
    kept = last_seen.copy()
    env.reset(seed=2)
    assert np.array_equal(last_seen, kept)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seat": 4}, r"seat = 4 is not allowed; allowed: None, or an integer 0\.\.3"),
        ({"seat": True}, r"seat = True is not allowed; allowed: None, or an integer 0\.\.3"),
        ({"seat": 0.5}, r"seat = 0\.5 is not allowed"),
        ({"illegal": "ignore"}, "allowed: lose, raise"),
        ({"render_mode": "gif"}, "allowed: None, ansi"),
        ({"opponents": [None]}, "1 opponents for 3 other seats"),
        ({"quest_sise": 3}, "unknown option quest_sise"),
    ],
)
def test_wrong_arguments_are_explained(wrong, message):
    with pytest.raises(kepler_envs.OptionError, match=message):
        make_seat("kitten_adventurers", **wrong)


def test_libraries_find_out_what_they_may_not_pass_on():
    """Some try a keyword of their own, and take the TypeError that a constructor without it would raise."""
    with pytest.raises(
        TypeError, match="unexpected keyword argument 'frameskip'.*unknown option frameskip; .* opponents, seat"
    ):
        gymnasium.make(GAME, frameskip=4)


def test_an_opponent_is_no_class():
    """It has all the methods, which fail at the first game."""
    with pytest.raises(TypeError, match=r"^<class '.*BotOpponent'> is a class; give an opponent that it makes$"):
        make_seat("kitten_adventurers", opponents=bots.BotOpponent)


def test_an_agent_must_be_wrapped():
    config = kepler_envs.load_game("kitten_adventurers").configure(4)
    with pytest.raises(TypeError, match="BotOpponent"):
        SeatEnv(config, bots.load("uniform", config))


def one_environment(config):
    return SeatEnv(config, seat=1)


def many_environments(config):
    return SeatVectorEnv(config, 4, seat=1)


def stable_baselines3(config):
    return SeatVecEnv(kepler_envs.Batch(config, 4, seed=0), learner_seat=1)


@pytest.mark.parametrize("make", [one_environment, many_environments, stable_baselines3])
def test_a_seat_that_never_decides_is_told_of(make):
    """The first turn of seat 0 is the last one of the game."""
    config = kepler_envs.load_game("kitten_adventurers").configure(2, first_player="seat0", max_turns=1)
    with pytest.raises(RuntimeError, match=r"seat 1 had nothing to decide in \d,\d{3} games in a row"):
        make(config).reset()


def test_environments_share_no_bot():
    """One environment's reset must not disturb the game of another one with the same bot."""
    config = kepler_envs.load_game(GAME).configure(3)
    shared = bots.BotOpponent(bots.load("uniform", config))
    one, alone = SeatEnv(config, shared, seat=0), SeatEnv(config, "uniform", seat=0)
    other = SeatEnv(config, shared, seat=0)
    seen, same = one.reset(seed=4)[0], alone.reset(seed=4)[0]
    for turn in range(40):
        assert np.array_equal(seen, same)
        other.reset(seed=turn)
        action = int(one.action_masks().argmax())
        seen, *_, over, _, _ = one.step(action)
        same, *_ = alone.step(action)
        if over:
            break


@pytest.mark.parametrize("illegal", [False, True])
def test_after_the_end_all_actions_are_in_the_mask_as_in_info(illegal):
    env = SeatEnv(kepler_envs.load_game(GAME).configure(2), seat=0)
    _, info = env.reset(seed=4)
    over = False
    while not over:
        mask = env.action_masks()
        assert (mask == info["action_mask"]).all()
        _, _, over, _, info = env.step(int(mask.argmin() if illegal else mask.argmax()))
    assert env.action_masks().all() and info["action_mask"].all()


def test_before_the_first_reset_there_is_no_game():
    env = SeatEnv(kepler_envs.load_game(GAME).configure(2), render_mode="ansi")
    for ask in (env.snapshot, env.render, env.action_masks, lambda: env.step(0)):
        with pytest.raises(RuntimeError, match=r"^no game is running: call reset\(\) first$"):
            ask()
    envs = SeatVectorEnv(kepler_envs.load_game(GAME).configure(2), 3, render_mode="ansi")
    for ask in (partial(envs.snapshot, 0), envs.render, partial(envs.step, np.zeros(3, np.int64))):
        with pytest.raises(RuntimeError, match=r"^no game is running: call reset\(\) first$"):
            ask()


def test_that_there_is_no_game_can_be_said_to_another_process():
    """AsyncVectorEnv pickles what its environments raise."""
    with pytest.raises(NoGameError) as raised:
        SeatEnv(kepler_envs.load_game(GAME).configure(2)).step(0)
    said = pickle.loads(pickle.dumps(raised.value))
    assert type(said) is NoGameError and str(said) == "no game is running: call reset() first"


def test_a_game_has_to_be_configured():
    game = kepler_envs.load_game(GAME)
    for make in (SeatEnv, partial(SeatVectorEnv, num_envs=2)):
        with pytest.raises(TypeError, match=r"^config must be a Configuration, not .*; load_game\("):
            make(game)


def test_every_environment_has_a_window_of_its_own():
    config = kepler_envs.load_game(GAME).configure(2)
    made = [SeatEnv(config) for _ in range(300)] + [kepler_envs.make(GAME)]
    made += [copy.deepcopy(made[0]), pickle.loads(pickle.dumps(made[0])), copy.deepcopy(made[-1])]
    assert len({env._window.title for env in made}) == len(made)
