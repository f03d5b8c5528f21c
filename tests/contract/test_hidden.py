"""What a seat cannot know: resampling keeps what it sees, redraws the rest, and never looks at the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from kepler_envs import Configuration, Game, Snapshot
from tests.contract.subjects import (
    differing_fields,
    every_game,
    every_player_count,
    few_player_counts,
    hooks_of,
    is_tiny,
    make,
    play,
)
from tests.effort import games_to_play


def nodes(config: Configuration, games: int, every: int = 1) -> Iterator[tuple[Snapshot, int]]:
    """Positions of random games, each for each seat, with a number to seed from."""
    number = 0
    for seed in range(games_to_play(games)):
        for position, _ in play(config, seed):
            number += 1
            if number % every == 0:
                yield position, number


def cards_only(position: Snapshot) -> bytes:
    """The state without its generator: what remains of a resampled position besides chance."""
    states = position.states.copy()
    states["rng"] = 0
    return states.tobytes()


@every_player_count
def test_resampling_keeps_what_the_seat_knows(config: Configuration) -> None:
    """At every node for every seat: same observation, same mask, same node, and a sound position."""
    hooks = hooks_of(config.game)
    for position, number in nodes(config, 2):
        for seat in range(config.num_players):
            drawn = position.resample(seat, number)
            assert np.array_equal(drawn.observe(seat), position.observe(seat))
            assert (drawn.node, drawn.seat, drawn.over) == (position.node, position.seat, position.over)
            if seat == position.seat:
                assert np.array_equal(drawn.action_mask(), position.action_mask())
            if (number + seat) % 5 == 0:
                hooks.check_invariants(drawn.state, config)


@every_player_count
def test_resampled_games_can_be_played(config: Configuration) -> None:
    hooks = hooks_of(config.game)
    for position, number in nodes(config, 1, every=40):
        drawn = position.resample(number % config.num_players, number)
        for step in range(30):
            if drawn.over:
                break
            legal = drawn.legal_actions()
            drawn = drawn.apply(legal[step * 7 % len(legal)])
        hooks.check_invariants(drawn.state, config)


@every_player_count
def test_the_true_hidden_cards_are_no_input(config: Configuration) -> None:
    """Positions that a seat cannot tell apart are redrawn to the very same bytes."""
    for position, number in nodes(config, 1):
        for seat in range(config.num_players):
            one, two = position.resample(seat, number), position.resample(seat, number + 1)
            expected = position.resample(seat, 12345)
            for drawn in (one.resample(seat, 12345), two.resample(seat, 12345)):
                assert drawn == expected, f"resample({seat}) keeps or reads {differing_fields(drawn, expected)}"


@few_player_counts
def test_the_hidden_part_varies(config: Configuration) -> None:
    """Apart from the generator, too: at the first node for every seat, and for someone at most nodes."""
    if not hooks_of(config.game).hides:
        pytest.skip("a game without hidden cards")
    first = Snapshot.deal(config, 1)
    for seat in range(config.num_players):
        different = len({cards_only(first.resample(seat, seed)) for seed in range(8)})
        assert different >= (6 if is_tiny(config.game) else 8)
    varied = [
        len({cards_only(position.resample(number % config.num_players, seed)) for seed in range(4)}) > 1
        for position, number in nodes(config, 2)
        if not position.over
    ]
    assert np.mean(varied) > (0.6 if is_tiny(config.game) else 0.8)


@every_player_count
def test_the_future_is_redrawn(config: Configuration) -> None:
    """The game's own generator neither shows nor moves."""
    position = Snapshot.deal(config, 1)
    before = position.digest()
    generators = {int(position.resample(0, seed).state["rng"]) for seed in range(20)}
    assert len(generators) == 20 and int(position.state["rng"]) not in generators
    assert position.digest() == before


@few_player_counts
def test_resampling_is_reproducible(config: Configuration) -> None:
    position = Snapshot.deal(config, 1)
    for seed in (0, 1, 2**63, 2**64 - 1):
        assert position.resample(0, seed) == position.resample(0, seed)
    with pytest.raises(ValueError, match="seed"):
        position.resample(0, -1)


@every_game
def test_neighbouring_seeds_are_independent(game: Game) -> None:
    """Redraws from 0, 1, 2, ... are spread as those from seeds all over the range."""
    if not hooks_of(game).hides:
        pytest.skip("a game without hidden cards")
    config, draws = game.configure(), games_to_play(400)
    apart = np.random.default_rng(5).integers(0, 2**63, draws)

    def views(position: Snapshot, seed: int) -> np.ndarray:
        drawn = position.resample(position.seat, seed)
        return np.concatenate([drawn.observe(seat) for seat in range(config.num_players) if seat != position.seat])

    # the first position in which others see what the mover does not
    first = next(
        position for position, _ in play(config, 1) if len({views(position, seed).tobytes() for seed in range(20)}) > 1
    )
    near, far = (np.array([views(first, int(seed)) for seed in seeds], float) for seeds in (range(draws), apart))
    hidden = (far != far[0]).any(axis=0)
    assert hidden.any() and (near[:, ~hidden] == far[0, ~hidden]).all()
    near, far = near[:, hidden], far[:, hidden]
    error = np.sqrt((near.var(axis=0) + far.var(axis=0)) / draws)
    assert (np.abs(near.mean(axis=0) - far.mean(axis=0)) < 5 * error + 1e-9).all()
    assert (near.var(axis=0) > 0.5 * far.var(axis=0)).all()


@every_player_count
def test_public_texts_tell_nothing_that_is_hidden(config: Configuration) -> None:
    """Decisions that the mover can tell apart afterwards, and a watching seat cannot, read the same to the watcher.

    Left out are decisions that chance follows: what the mover then draws differs with them for no reason.
    """
    for position, number in nodes(config, 1, every=3):
        mover, watcher = (
            position.seat,
            (position.seat + 1 + number % max(1, config.num_players - 1)) % config.num_players,
        )
        if position.over or watcher == mover:
            continue
        texts: dict[bytes, dict[bytes, str]] = {}
        for action in position.legal_actions():
            after = position.apply(action)
            if after.state["rng"] != position.state["rng"]:
                continue
            alike = texts.setdefault(after.observe(watcher).tobytes(), {})
            alike[after.observe(mover).tobytes()] = position.public_text(action)
        assert all(len(set(alike.values())) == 1 for alike in texts.values()), (position.node, list(texts.values()))


# ---------------------------------------------------------------- through the environment


@every_player_count
def test_resampled_environment(config: Configuration) -> None:
    """A resampled clone shows, allows and plays what its own position says, also where it redrew the mover's cards."""
    env = make(config)
    for position, number in nodes(config, 1, every=23):
        if position.over:
            continue
        env.restore(position)
        for seat, agent in enumerate(env.possible_agents):
            twin = env.resample(agent, number)
            drawn = twin.snapshot()
            assert drawn == position.resample(seat, number)
            assert env.snapshot() == position
            for other, name in enumerate(env.possible_agents):
                assert np.array_equal(twin.observe(name)["observation"], drawn.observe(other))
            assert twin.legal_actions() == drawn.legal_actions()
            action = drawn.legal_actions()[number % len(drawn.legal_actions())]
            twin.step(action)
            assert twin.snapshot() == drawn.apply(action)
