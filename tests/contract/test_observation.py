"""What a seat sees: every fact that is public or its own, and what follows from that.

A game's tests provide ``facts.py`` (see :mod:`tests.contract.subjects`) with

    HIDDEN                              why a field of the state is no fact of a seat's, by the field's path
                                        (``player.hand_set``)
    facts_known(config, state, seat)    the facts of a seat, read from the state: a value by the path of its field
    facts_seen(config, observation)     the same facts, rebuilt from the observation of that seat alone
    derived(config, seen)               the derived pieces by name, computed in plain Python from the facts alone;
                                        ``seen`` are all pieces of one observation by name, as views, without the
                                        derived ones
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from kepler_envs import Configuration, Game, Snapshot, bots
from kepler_envs.bots.greedy import greedy_games
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import DERIVED
from tests.contract.subjects import checks_of, every_game, every_player_count, field_paths, play
from tests.effort import games_to_play

BETWEEN = 9
"""Decisions between two positions of a game that are looked at."""


def facts_of(game: Game) -> Any:
    """The module of the game's facts."""
    return checks_of(game, "facts")


def positions(config: Configuration) -> Iterator[Snapshot]:
    """Positions of random games, the last ones included, and of games of greedy where the game has it."""
    for seed in range(games_to_play(2)):
        for number, (position, action) in enumerate(play(config, seed)):
            if number % BETWEEN == 0 or action < 0:
                yield position
    if config.game.name in greedy_games():
        yield from greedy_positions(config)


def greedy_positions(config: Configuration) -> Iterator[Snapshot]:
    batch = Batch(config, 4, seed=7)
    bot, rows = bots.load("greedy", config), np.arange(4)
    bot.start(rows, rows.astype(np.uint64))
    while (batch.episodes == 0).all() and batch.rows.size:
        actions = bot.act(bots.protocol.TrustedDecisions(batch, rows))
        batch.step(actions)
        for row in rows if int(batch.states["decisions"].max()) % BETWEEN == 0 else ():
            yield batch.snapshot(int(row))


@every_player_count
def test_every_fact_of_a_seat_can_be_rebuilt_from_what_it_sees(config: Configuration) -> None:
    facts = facts_of(config.game)
    for position in positions(config):
        for seat in range(config.num_players):
            known = facts.facts_known(config, position.state, seat)
            seen = facts.facts_seen(config, position.observe(seat))
            assert known.keys() == seen.keys()
            for name, value in known.items():
                if not np.array_equal(seen[name], value):  # many times as fast as what says the difference
                    np.testing.assert_array_equal(seen[name], value, f"{name}, seat {seat}")


@every_game
def test_every_field_of_the_state_is_a_fact_or_hidden_for_a_reason(game: Game) -> None:
    facts, config = facts_of(game), game.configure()
    known = set(facts.facts_known(config, Snapshot.deal(config, 0).state, 0))
    fields = set(field_paths(game.state))
    assert not known & set(facts.HIDDEN), "both a fact and hidden"
    assert fields - known - set(facts.HIDDEN) == set(), "fields that nobody accounts for"
    assert set(facts.HIDDEN) <= fields, "hidden fields that are not there"
    assert all(len(reason) > 3 for reason in facts.HIDDEN.values())


@every_player_count
def test_derived_pieces_are_what_follows_from_the_facts(config: Configuration) -> None:
    facts, layout = facts_of(config.game), config.observation
    wanted = {piece.name for piece in layout if piece.derived}
    for position in positions(config):
        for seat in range(config.num_players):
            seen = layout.names(position.observe(seat))
            plain = facts.derived(config, {name: seen[name] for name in layout.pieces if name not in wanted})
            assert plain.keys() == wanted
            for name, value in plain.items():
                if not np.array_equal(seen[name], value):  # many times as fast as what says the difference
                    np.testing.assert_array_equal(seen[name], value, f"{name}, seat {seat}")


@every_player_count
def test_without_derived_pieces_the_facts_are_the_same(config: Configuration) -> None:
    options = {**config.values, DERIVED: False}
    less = config.game.configure(config.num_players, **options)
    assert less.observation.size == config.observation.facts.size <= config.observation.size
    for (whole, _), (part, _) in zip(play(config, 3), play(less, 3), strict=True):
        for seat in range(config.num_players):
            np.testing.assert_array_equal(whole.observe(seat)[: less.observation.size], part.observe(seat))


@every_game
def test_actions_point_at_rows_of_the_observation(game: Game) -> None:
    game.actions.check_against(game.observation)
    assert game.actions.pointers.tables, "some action of every game is about something"


@every_game
def test_an_observation_is_small(game: Game) -> None:
    assert game.observation.size <= 1500


@every_game
def test_pictures_and_texts_do_not_need_derived_fields(game: Game) -> None:
    """Some show what follows from the facts, such as points. They are the same where observations leave that out."""
    config = game.configure()
    plain = game.configure(derived=False)
    for position, _ in list(play(config, 3))[::25]:
        same = Snapshot(plain, position.states)
        for seat in (None, position.seat):
            assert same.drawing(seat).svg() == position.drawing(seat).svg()
            assert same.text(seat) == position.text(seat)


@pytest.mark.parametrize("bad", ["yes", 2, None])
@every_game
def test_derived_is_yes_or_no(game: Game, bad: Any) -> None:
    with pytest.raises(ValueError, match="option derived = .* is not allowed; allowed: True or False"):
        game.configure(**{DERIVED: bad})
