"""Rows, seats and numbers that are none: refused with what is allowed, before anything has changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs import Batch, Game, IllegalAction, OptionError, Snapshot, playouts
from kepler_envs.engine.replay import record
from tests.contract.subjects import every_game
from tests.contract.test_batch import OUTPUTS, run

NO_INTEGERS = (None, True, np.True_, 0.5, 1.0, np.float64(1), "1", slice(1), [1], np.array([1]))


def fingerprint(batch: Batch) -> list[bytes]:
    """All of a batch."""
    return [batch.states.tobytes(), batch.final_state.tobytes(), *(getattr(batch, name).tobytes() for name in OUTPUTS)]


@every_game
def test_rows_that_are_none(game: Game) -> None:
    batch = run(kepler_envs.make_batch(game.id, 4, seed=3), 30)
    other = batch.snapshot(np.int8(1))
    before = fingerprint(batch)
    asked: list[Callable[[Any], Any]] = [batch.snapshot, batch.final_snapshot, lambda row: batch.restore(row, other)]
    for row in (-1, 4, 2**70, *NO_INTEGERS):
        for ask in asked:
            with pytest.raises(ValueError, match=r"row = .* is not allowed; allowed: an integer 0\.\.3"):
                ask(row)
    assert fingerprint(batch) == before


@every_game
def test_seats_that_are_none(game: Game) -> None:
    batch = run(kepler_envs.make_batch(game.id, 4, seed=3), 30)
    position, most = batch.snapshot(0), game.default_players - 1
    before, same = fingerprint(batch), position.digest()
    for seat in (-1, most + 1, 2**70, *NO_INTEGERS):
        for ask in (position.observe, lambda seat: position.resample(seat, 1)):
            with pytest.raises(ValueError, match=rf"seat = .* is not allowed; allowed: an integer 0\.\.{most}"):
                ask(seat)
        for ask in (batch.observe, batch.observe_final):
            with pytest.raises(ValueError, match=rf"seat.* an integer 0\.\.{most}"):
                ask(seat)
        if seat is None:
            continue
        for ask in (position.text, position.drawing):
            with pytest.raises(
                ValueError, match=rf"seat = .* is not allowed; allowed: None, or an integer 0\.\.{most}"
            ):
                ask(seat)
        with pytest.raises(OptionError, match=rf"render_seat = .* allowed: None, or an integer 0\.\.{most}"):
            kepler_envs.make(game.id, render_seat=seat)
    for seats in (np.zeros(4), np.zeros(3, int), np.zeros((4, 1), int), np.zeros(4, bool), [0, 0, 0, 0]):
        with pytest.raises(ValueError, match=r"an integer array \(4,\) of such, not"):
            batch.observe(seats)  # type: ignore[arg-type]
    for wrong in (-1, most + 1, 2**63):
        seats = np.zeros(4, np.uint64 if wrong > 0 else np.int64)
        seats[2] = wrong
        with pytest.raises(ValueError, match=rf"seat\[2\] = {wrong} is not allowed"):
            batch.observe(seats)
    assert fingerprint(batch) == before and position.digest() == same


@every_game
def test_ids_and_numbers_that_are_none(game: Game) -> None:
    config = game.configure()
    position = Snapshot.deal(config, 3)
    for action in (-1, len(game.actions), *NO_INTEGERS):
        words = "no action id" if type(action) is int else "action ids are integers"
        with pytest.raises(IllegalAction, match=rf"\({words}\) by player_"):
            position.apply(action)
        for ask in (
            position.full_text,
            position.public_text,
            config.actions.text,
            kepler_envs.make(game.id).action_text,
        ):
            with pytest.raises(ValueError, match="action = .* is not allowed; allowed: an integer 0"):
                ask(action)
    for number in (0, -1, *NO_INTEGERS):
        with pytest.raises(ValueError, match="count = .* is not allowed; allowed: an integer from 1 on"):
            playouts(position, number, seed=1)
        with pytest.raises(OptionError, match=r"num_envs = .* is not allowed; allowed: an integer 1\.\.2147483647"):
            Batch(config, number, seed=1)
        with pytest.raises(OptionError, match="threads = .* is not allowed; allowed: an integer 1"):
            Batch(config, 1, seed=1, threads=number)
    for number in (-1, *NO_INTEGERS):
        with pytest.raises(ValueError, match="limit = .* is not allowed; allowed: an integer 0"):
            playouts(position, 1, seed=1, limit=number)
    for number in (-1, 99, *NO_INTEGERS[1:]):
        with pytest.raises(OptionError, match=f"{game.name}: num_players = .* is not allowed; allowed: an integer"):
            game.configure(number)


@every_game
def test_read_only_and_misaligned_actions(game: Game) -> None:
    """Views of other libraries' arrays are read-only; they are steps like any other."""
    one, two = (kepler_envs.make_batch(game.id, 3, seed=4, threads=threads) for threads in (1, 2))
    for number in range(10):
        actions = one.uniform()
        odd = np.frombuffer(b"x" + actions.tobytes(), np.int64, offset=1)
        actions.flags.writeable = False
        assert not odd.flags.aligned and not odd.flags.writeable
        one.step(actions if number % 2 else odd)
        two.step(odd if number % 2 else actions)
    assert one.states.tobytes() == two.states.tobytes()


@every_game
def test_what_things_say_they_are(game: Game) -> None:
    config = game.configure(game.min_players)
    noun = "player" if game.min_players == 1 else "players"
    assert repr(config) == f"<Configuration {game.id}, {game.min_players} {noun}>"
    batch = Batch(config, 5, seed=1)
    assert repr(batch) == f"<Batch of 5 games of {game.id}, {game.min_players} {noun}, 0 finished>"
    position = batch.snapshot(0)
    turn = f"player_{position.seat} at {position.node.name}"
    assert repr(position) == f"<Snapshot {game.id}, {game.min_players} {noun}, after 0 decisions, {turn}>"


def test_a_configuration_names_what_is_not_the_default(tmp_path) -> None:
    game = kepler_envs.load_game("kitten_adventurers")
    own = tmp_path / "own.toml"
    own.write_text((game.scope.folders[1] / "components.toml").read_text())
    config = game.configure(3, own, quest_size=5)
    assert repr(config) == f"<Configuration kitten_adventurers-v1, 3 players, quest_size=5, components='{own}'>"


@every_game
def test_values_of_another_type(game: Game) -> None:
    env = kepler_envs.make(game.id)
    env.reset(seed=1)
    with pytest.raises(TypeError, match=r"snapshot must be a Snapshot, not <KeplerEnv .*; env\.snapshot\(\) gives one"):
        playouts(env, 1, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="policy must be a CompiledPolicy, not 'greedy'; .*greedy_policy"):
        playouts(env.snapshot(), 1, 1, "greedy")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"snapshot must be a Snapshot, not 'x'; env\.snapshot\(\) gives one"):
        env.restore("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"snapshot must be a Snapshot, not 'x'; batch\.snapshot\(row\) gives one"):
        kepler_envs.make_batch(game.id, 1, seed=1).restore(0, "x")  # type: ignore[arg-type]
    with pytest.raises(IllegalAction, match="illegal action 21.5"):
        record(env.config, 1, [21.5])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"config must be a Configuration, not .*; load_game\("):
        Snapshot.deal(game.id, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"config must be a Configuration, not .*; load_game\("):
        Snapshot.take(game, env.snapshot().states)  # type: ignore[arg-type]
    for states in (None, [env.snapshot().state], env.snapshot().state, np.zeros(3), env.snapshot().states[None]):
        with pytest.raises(TypeError, match=rf"states must be an array \(N,\) of states of {game.id}, not "):
            Snapshot.take(env.config, states)  # type: ignore[arg-type]
    for make in (kepler_envs.KeplerEnv, partial(kepler_envs.Batch, num_envs=2)):
        with pytest.raises(TypeError, match=r"config must be a Configuration, not .*; load_game\("):
            make(game)  # without configure()
    for options in ([("num_players", 2)], "x", 0):
        with pytest.raises(TypeError, match="^options must be a dict or None, not "):
            env.reset(seed=1, options=options)  # type: ignore[arg-type]
    env.reset(seed=1, options={"anything": 1})
    with pytest.raises(OptionError, match="copy = 'no' is not allowed; allowed: True, False"):
        kepler_envs.make(game.id, copy="no")  # type: ignore[arg-type]
    for wrong in (None, 3, game):
        with pytest.raises(TypeError, match="the name of a game must be text, not"):
            kepler_envs.make(wrong)  # type: ignore[arg-type]


@every_game
def test_seeds_that_are_none(game: Game) -> None:
    """The message says whether None is allowed."""
    config = game.configure()
    env, position = kepler_envs.make(game.id), Snapshot.deal(config, 3)
    env.reset(seed=1)
    wholly = r"allowed: an integer 0\.\.2\*\*64 - 1$"
    asked: list[Callable[[Any], Any]] = [
        lambda seed: Snapshot.deal(config, seed), lambda seed: playouts(position, 1, seed),
        lambda seed: env.resample("player_0", seed),
    ]  # fmt: skip
    for ask in asked:
        for seed in (-1, 2**64, *NO_INTEGERS):
            with pytest.raises(ValueError, match=wholly):
                ask(seed)
    with pytest.raises(ValueError, match=r"an integer 0\.\.2\*\*64 - 1, or None$"):
        env.reset(seed=-1)
    one, other = kepler_envs.make_batch(game.id, 4, seed=np.array(7)), kepler_envs.make_batch(game.id, 4, seed=7)
    assert one.seed.tolist() == other.seed.tolist(), "an array of no dimensions is an integer here, too"
    with pytest.raises(ValueError, match=r"an integer 0\.\.2\*\*64 - 1, an integer array \(4,\), or None$"):
        kepler_envs.make_batch(game.id, 4, seed=1).reset([1, 2, 3, 4])  # type: ignore[arg-type]
