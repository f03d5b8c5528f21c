"""What a seat cannot know (section 5.2): nothing it sees depends on it, and resampling redraws it fairly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

import numpy as np
import pytest

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot
from tests.effort import games_to_play
from tests.games.kepler_3042.invariants import check_invariants
from tests.games.kepler_3042.purposeful import purposeful
from tests.games.kepler_3042.scenario import GAME, Play, Position, scenario, to_hex

Scramble = Callable[[Position, int, Random], None]
CARDS = {1: [card for card in range(1, 19) if card != 2]}


def scramble_tiles(position: Position, observer: int, random: Random) -> None:
    """Face-down tiles change places."""
    hidden = sorted(set(position.tiles) - position.face_up)
    bodies = [position.tiles[place] for place in hidden]
    random.shuffle(bodies)
    position.tiles |= dict(zip(hidden, bodies, strict=True))


def scramble_deck(position: Position, observer: int, random: Random) -> None:
    """The cards that have not been shown, those in the box included."""
    shown = position.deck[: position.round]
    left = [card for card in CARDS.get(len(position.seats), range(1, 19)) if card not in shown]
    random.shuffle(left)
    position.deck = shown + left[: 16 - len(shown)]


def scramble_objectives(position: Position, observer: int, random: Random) -> None:
    """Others hold other ones."""
    own = position.seats[observer].objectives
    left = [one for one in (range(11, 18) if position.advanced else range(1, 11)) if one not in own]
    random.shuffle(left)
    for number, seat in enumerate(position.seats):
        if number != observer:
            seat.objectives = {left.pop()}


SCRAMBLES = [scramble_tiles, scramble_deck, scramble_objectives]


def positions(config: Configuration, games: int, every: int) -> Iterator[Snapshot]:
    for seed in range(games_to_play(games)):
        choose, position, number = purposeful(seed), Snapshot.deal(config, seed), 0
        while not position.over:
            if number % every == 0:
                yield position
            position = position.apply(choose(position))
            number += 1


@pytest.mark.parametrize("scramble", SCRAMBLES, ids=lambda scramble: scramble.__name__)
@pytest.mark.parametrize("players", [1, 2, 4])
def test_what_is_hidden_changes_nothing_that_is_seen(scramble: Scramble, players: int) -> None:
    if players == 1 and scramble is scramble_objectives:
        pytest.skip("a solo player has no opponents")
    config = GAME.configure(players)
    random, changed = Random(players), 0
    for snapshot in positions(config, 1, 9 * players):
        for observer in range(players):
            position = Position.read(snapshot.state)
            scramble(position, observer, random)
            position.rng = random.getrandbits(64)
            other = position.write(config)
            changed += other.states.tobytes() != snapshot.states.tobytes()
            check_invariants(other.state, config)
            assert np.array_equal(other.observe(observer), snapshot.observe(observer))
            assert other.text(observer) == snapshot.text(observer)
            if observer == snapshot.seat:
                assert other.legal_actions() == snapshot.legal_actions()
    assert changed > 4, "nothing was hidden"


def test_pictures_hide_what_is_hidden() -> None:
    config = GAME.configure(3)
    random = Random(1)
    for snapshot in positions(config, 1, 90):
        position = Position.read(snapshot.state)
        for scramble in SCRAMBLES:
            scramble(position, 1, random)
        other = position.write(config)
        assert other.drawing(1).svg() == snapshot.drawing(1).svg()


def test_everything_hidden_is_redrawn() -> None:
    """Over many redraws each face-down hex holds each kind of tile, later rounds have any unseen card, others any
    objective."""
    config = GAME.configure(3)
    position = next(at for at in positions(config, 1, 60) if at.state["round_number"] > 2)
    before = Position.read(position.state)
    hidden = sorted(set(before.tiles) - before.face_up)
    bodies = [before.tiles[place] for place in hidden]
    draws = games_to_play(400)
    here, next_cards, others = Counter(), Counter(), Counter()
    for seed in range(draws):
        drawn = Position.read(position.resample(0, seed).state)
        assert drawn.deck[: before.round] == before.deck[: before.round] and drawn.face_up == before.face_up
        assert drawn.seats[0] == before.seats[0]
        assert Counter(drawn.tiles.values()) == Counter(before.tiles.values())
        here[drawn.tiles[hidden[0]]] += 1
        next_cards[drawn.deck[before.round]] += 1
        others.update(drawn.seats[1].objectives)
    unseen = set(range(1, 19)) - set(before.deck[: before.round])
    assert set(next_cards) == unseen and set(here) == set(bodies)
    assert set(others) == set(range(1, 11)) - before.seats[0].objectives
    for counts, choices in ((next_cards, len(unseen)), (others, 9)):
        expected = draws / choices
        assert max(abs(count - expected) for count in counts.values()) < 6 * expected**0.5
    expected = {body: draws * bodies.count(body) / len(bodies) for body in set(bodies)}
    assert max(abs(here[body] - expected[body]) / expected[body] ** 0.5 for body in expected) < 5


def test_a_tile_that_is_turned_up_is_known_to_all() -> None:
    game = scenario().play("main action Galactic Mapping", "advance on the colonial track")
    position = game.position
    place = min(set(position.tiles) - position.face_up)
    config = game.snapshot.config
    game.play(to_hex(place))
    for seat in range(4):
        view = game.snapshot.observe(seat)
        open_tiles = [*config.observation["planets.place"].view(view), *config.observation["sites.place"].view(view)]
        assert place + 1 in open_tiles and place + 1 not in config.observation["tiles.place"].view(view)
        drawn = Position.read(game.snapshot.resample(seat, 5).state)
        assert drawn.tiles[place] == position.tiles[place]


def test_objectives_are_open_at_the_end() -> None:
    config = GAME.configure(2)
    *_, last = list(all_positions(config))
    drawn = Position.read(last.resample(0, 3).state)
    assert [seat.objectives for seat in drawn.seats] == [seat.objectives for seat in Position.read(last.state).seats]
    assert last.text(0).count("objective:") == 2


def all_positions(config: Configuration) -> Iterator[Snapshot]:
    choose, position = purposeful(1), Snapshot.deal(config, 1)
    yield position
    while not position.over:
        position = position.apply(choose(position))
        yield position


def test_face_down_tiles_are_public() -> None:
    game = Play(Snapshot.deal(GAME.configure(4), 1))
    position = game.position
    hidden = [position.tiles[place] for place in position.tiles if place not in position.face_up]
    for seat in range(4):
        seen = GAME.observation["tiles.place"].view(game.snapshot.observe(seat))
        assert np.count_nonzero(seen) == len(hidden)
