"""What a seat cannot know: nothing it sees depends on it (section 5.3), and resampling redraws it fairly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations
from random import Random

import numpy as np
import pytest

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.ad_astra.state import Node
from tests.choosing import eager
from tests.effort import games_to_play
from tests.games.ad_astra.invariants import EAGER, check_invariants, legal_actions
from tests.games.ad_astra.scenario import (
    BLUE,
    DECK,
    GAME,
    GREEN,
    PASS,
    RED,
    USED,
    YELLOW,
    Play,
    Position,
    artifact,
    move,
    plan,
    scenario,
)

Scramble = Callable[[Position, int, Random], None]


def scramble_planets(position: Position, observer: int, random: Random) -> None:
    unknown = sorted(position.hidden() - position.seats[observer].known)
    types = [position.planets[place] for place in unknown]
    random.shuffle(types)
    position.planets |= dict(zip(unknown, types, strict=True))


def scramble_deck(position: Position, observer: int, random: Random) -> None:
    random.shuffle(position.deck)


def scramble_artifacts(position: Position, observer: int, random: Random) -> None:
    """Other seats hold as many other artifacts, which take their place in the deck."""
    held = [number for number, place in position.artifacts.items() if place not in (DECK, USED, observer)]
    free = [number for number in position.deck if number != 0]
    for old in held:
        if free:
            new = random.choice(free)
            free.remove(new)
            position.deck[position.deck.index(new)] = old
            position.artifacts[new], position.artifacts[old] = position.artifacts[old], DECK


def scramble_cards(position: Position, observer: int, random: Random) -> None:
    """Face-down cards of other seats, exchanged with cards of their hands."""
    for number, seat in enumerate(position.seats):
        if number == observer:
            continue
        spaces = [
            space for space, (owner, _) in position.board.items() if owner == number and space >= position.revealed
        ]
        pool = sorted(seat.cards | {position.board[space][1] for space in spaces})
        random.shuffle(pool)
        for space in spaces:
            position.board[space] = (number, pool.pop())
        seat.cards = set(pool)


SCRAMBLES = [scramble_planets, scramble_deck, scramble_artifacts, scramble_cards]


def positions(config: Configuration, games: int, every: int) -> Iterator[Snapshot]:
    for seed in range(games_to_play(games)):
        choose = eager(seed, EAGER, 0.7)
        position, number = Snapshot.deal(config, seed), 0
        while not position.over:
            if number % every == 0:
                yield position
            position = position.apply(choose(position.legal_actions()))
            number += 1


@pytest.mark.parametrize("scramble", SCRAMBLES, ids=lambda scramble: scramble.__name__)
@pytest.mark.parametrize("players", [3, 4, 5])
def test_what_is_hidden_changes_nothing_that_is_seen(scramble: Scramble, players: int) -> None:
    config = GAME.configure(players, artifacts="all")
    random, changed = Random(players), 0
    for snapshot in positions(config, games_to_play(1), 17):
        for observer in range(players):
            position = Position.read(snapshot.state)
            scramble(position, observer, random)
            position.rng = random.getrandbits(64)
            other = position.write(config)
            changed += other.states.tobytes() != snapshot.states.tobytes()
            assert np.array_equal(other.observe(observer), snapshot.observe(observer))
            assert other.text(observer) == snapshot.text(observer)
            if observer == snapshot.seat:
                assert other.legal_actions() == snapshot.legal_actions()
    assert changed > 20, "nothing was hidden"


def test_pictures_hide_what_is_hidden() -> None:
    config = GAME.configure(4, artifacts="all")
    random = Random(1)
    for snapshot in positions(config, 1, 60):
        position = Position.read(snapshot.state)
        for scramble in SCRAMBLES:
            scramble(position, 1, random)
        other = position.write(config)
        assert other.drawing(1).svg() == snapshot.drawing(1).svg()


def test_only_the_lander_sees_the_planets_it_looks_at() -> None:
    """Between MOVE and LAND the types of the system are in the mover's view only; who looked is public."""
    game = scenario(resolve=(RED, 3)).play(move(0, "TY"))
    assert game.node == Node.LAND
    layout = GAME.observation
    for observer in range(4):
        seen = layout.names(game.snapshot.observe(observer))
        types = seen["positions.type"][35:40]
        assert types.any() == (observer == RED)
        looked = seen["players.looked_at"]
        assert looked.sum() == 1 and looked[(RED - observer) % 4, 5] == 1
        assert seen["game.chosen_system"].tolist() == [1 + 5]


def test_own_face_down_cards_are_seen() -> None:
    game = scenario().play(2 + 15 * 8 + 11)
    layout = GAME.observation
    for observer in range(4):
        seen = layout.names(game.snapshot.observe(observer))
        assert seen["spaces.card"][11] == (1 + 8 if observer == BLUE else 0)
        assert seen["spaces.owner"][11] == 1 + (BLUE - observer) % 4


# ---------------------------------------------------------------- resampling


def test_resampling_keeps_what_was_looked_at() -> None:
    game = scenario(resolve=(RED, 3)).play(move(0, "TY"))
    for seed in range(40):
        drawn = Position.read(game.snapshot.resample(RED, seed).state)
        assert all(drawn.planets[place] == game.position.planets[place] for place in range(35, 40))
        check_invariants(game.snapshot.resample(RED, seed).state, game.snapshot.config)


def test_resampled_planets_are_uniform() -> None:
    """The type of an unknown planet follows the planets that are left, and two positions differ as they should."""
    game = scenario(resolve=(RED, 3)).play(move(0, "TY"), 209 + 35)
    position = game.position
    unknown = sorted(position.hidden() - position.seats[RED].known)
    share = Counter(position.planets[place] for place in unknown)
    draws = games_to_play(1500)
    seen = np.zeros(7)
    same = 0
    for seed in range(draws):
        drawn = Position.read(game.snapshot.resample(RED, seed).state)
        seen[drawn.planets[unknown[0]]] += 1
        same += drawn.planets[unknown[0]] == drawn.planets[unknown[-1]]
    expected = np.array([share[kind] for kind in range(7)]) / len(unknown) * draws
    assert ((seen - expected) ** 2 / expected).sum() < 28
    pairs = sum(number * (number - 1) for number in share.values()) / (len(unknown) * (len(unknown) - 1))
    assert abs(same / draws - pairs) < 5 * np.sqrt(pairs / draws)


def test_resampled_cards_are_uniform() -> None:
    """A face-down card is any of those not set aside and not shown this round; the hand is the rest."""
    game = scenario(resolve=(RED, 3), aside={GREEN: {9}})
    spaces = [space for space, (owner, _) in game.position.board.items() if owner == GREEN]
    draws = games_to_play(1200)
    seen = Counter()
    for seed in range(draws):
        drawn = Position.read(game.snapshot.resample(RED, seed).state)
        placed = [drawn.board[space][1] for space in spaces]
        assert len(set(placed)) == len(placed) and 9 not in placed
        assert drawn.seats[GREEN].cards == set(range(11)) - {9} - set(placed)
        seen[placed[0]] += 1
    expected = draws / 10
    assert len(seen) == 10 and sum((seen[card] - expected) ** 2 / expected for card in seen) < 34


MEMORY = 3  # the artifact that brings scoring cards back
SHOWN, EARLY, LATE = 0, 1, 2  # Red's spaces: turned up; filled before the scoring cards came back, and after


def planned_with_memory() -> Snapshot:
    """Red filled SHOWN and EARLY, then took back the scoring cards 8 and 9, then filled LATE; SHOWN is turned up."""
    game = scenario(first=RED, turn=RED, held={MEMORY: RED}, aside={RED: {8, 9}})
    rest = iter(range(4, 13))  # spaces as printed

    def others() -> None:
        for _ in range(3):
            card = min(game.position.mover.cards)
            game.play(plan(card, next(rest)))

    for space in (SHOWN, EARLY):
        game.play(plan(space, space + 1))
        others()
    game.play(artifact(MEMORY), plan(8, LATE + 1))
    others()
    assert (game.position.revealed, game.node) == (1, Node.PRODUCE)
    return game.snapshot


def test_cards_that_came_back_do_not_lie_on_spaces_filled_before() -> None:
    snapshot = planned_with_memory()
    draws = games_to_play(4000)
    cards = [snapshot.resample(BLUE, seed).state["space_card"] for seed in range(draws)]
    assert sum(int(drawn[EARLY]) - 1 in (8, 9) for drawn in cards) == 0
    assert all(int(drawn[SHOWN]) - 1 == 0 for drawn in cards)


def test_all_possible_distributions_of_cards_are_drawn() -> None:
    """Against a plain enumeration: each with the same chance."""
    snapshot = planned_with_memory()
    possible = {(early, late) for early, late in permutations(range(1, 11), 2) if early not in (8, 9)}
    draws = games_to_play(4000)
    seen = Counter()
    for seed in range(draws):
        position = Position.read(snapshot.resample(BLUE, seed).state)
        early, late = (position.board[space] for space in (EARLY, LATE))
        assert early[0] == late[0] == RED
        assert position.seats[RED].cards == set(range(1, 11)) - {early[1], late[1]}
        seen[early[1], late[1]] += 1
    assert set(seen) == possible and len(possible) == 72
    expected = draws / len(possible)
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < 71 + 5 * (2 * 71) ** 0.5


def test_what_came_back_is_forgotten_with_the_round() -> None:
    """Nothing is kept where nothing follows from it: without a space filled before, and once all cards are face up."""
    game = scenario(first=RED, turn=RED, held={MEMORY: RED}, aside={RED: {8}}).play(artifact(MEMORY))
    assert not game.snapshot.state["player"]["came_back"].any() and 8 in game.position.seats[RED].cards
    game = Play(planned_with_memory())
    assert game.position.seats[RED].came_back == {8, 9} and game.position.seats[RED].filled_before == {SHOWN, EARLY}
    random = Random(1)
    while not game.over and game.position.round == 1 and game.position.card() is not None:
        check_invariants(game.snapshot.state, game.snapshot.config)
        game.play(random.choice(sorted(game.legal())))
    assert not game.snapshot.state["player"]["came_back"].any()
    assert not game.snapshot.state["player"]["filled_before"].any()


def test_resampled_artifacts() -> None:
    """Others hold as many as before, never artifact 0; what a seat holds itself stays."""
    config = GAME.configure(4, artifacts="all")
    game = scenario(config=config, held={1: BLUE, 2: RED, 3: RED, 9: YELLOW}, turn=0, first=0)
    held = Counter()
    for seed in range(300):
        drawn = Position.read(game.snapshot.resample(BLUE, seed).state)
        assert drawn.holdings(BLUE) == {1}
        assert (len(drawn.holdings(RED)), len(drawn.holdings(YELLOW))) == (2, 1)
        assert 0 in drawn.deck and len(drawn.deck) == 7
        held += Counter(drawn.holdings(YELLOW))
        assert Position.read(game.snapshot.resample(RED, seed).state).holdings(RED) == {2, 3}
    assert set(held) == {2, 3, 4, 5, 6, 7, 8, 9, 10}


def test_a_seat_that_is_asked_has_a_choice() -> None:
    """Red could only pass, so what it holds must be an artifact for this node: the observer knows as much."""
    game = scenario(resolve=(RED, 6), hands={RED: [0] * 6}, ships={RED: [35]}, held={6: RED})
    assert (game.seat, game.legal()) == (RED, {PASS, 389})
    held = Counter()
    for seed in range(200):
        drawn = game.snapshot.resample(BLUE, seed)
        position = Position.read(drawn.state)
        held += Counter(position.holdings(RED))
        assert len(legal_actions(position, drawn.config)) >= 2
    assert set(held) == {4, 5, 6}


def test_resampling_at_every_node_of_games() -> None:
    config = GAME.configure(5, artifacts="all")
    for number, snapshot in enumerate(positions(config, 1, 7)):
        for seat in range(5):
            drawn = snapshot.resample(seat, number)
            check_invariants(drawn.state, config)
            assert np.array_equal(drawn.observe(seat), snapshot.observe(seat))


# ---------------------------------------------------------------- greedy


def test_greedy_reads_only_what_its_seat_knows() -> None:
    from kepler_envs.bots.greedy import greedy_policy
    from kepler_envs.engine.game import record_array
    from kepler_envs.engine.playout import choose_kernel
    from kepler_envs.engine.rng import GENERATOR
    from kepler_envs.engine.rows import row_dtype

    config = GAME.configure(4, artifacts="all")
    choose = choose_kernel(greedy_policy(config.game))

    def choice(snapshot: Snapshot) -> int:
        legal = snapshot.legal_actions()
        rows = record_array(np.zeros(1, row_dtype(config.game)))
        rows["legal_count"] = len(legal)
        for action in legal:
            rows["legal_bits"][0, action // 64] |= np.uint64(1 << action % 64)
        actions = np.zeros(1, np.int64)
        generators = record_array(np.zeros(1, GENERATOR))
        choose(snapshot.states, config.tables, rows, generators, np.zeros(1, np.int64), actions)
        assert actions[0] in legal
        return int(actions[0])

    for seed in range(games_to_play(2)):
        game, number = Play(Snapshot.deal(config, seed)), 0
        while not game.over:
            chosen = choice(game.snapshot)
            assert choice(game.snapshot.resample(game.seat, number)) == chosen
            game.play(chosen if number % 3 else min(game.legal()))
            number += 1
