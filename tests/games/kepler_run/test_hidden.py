"""What a seat cannot know: the order of the deck, and contracts that others have chosen."""

from __future__ import annotations

import copy
from collections import Counter
from random import Random

import numpy as np
import pytest

from kepler_envs import Configuration, Snapshot
from kepler_envs.games.kepler_run.state import Node
from tests.choosing import eager
from tests.effort import games_to_play
from tests.games.kepler_run.invariants import EAGER, check_invariants
from tests.games.kepler_run.scenario import GAME, Position, Seat, look, scenario

PLAYER_COUNTS = range(2, 6)


def positions(config: Configuration, seed: int) -> list[Snapshot]:
    choose = eager(seed, EAGER, 0.8)
    found = [Snapshot.deal(config, seed)]
    while not found[-1].over:
        found.append(found[-1].apply(choose(found[-1].legal_actions())))
    return found


def mixed(position: Position, observer: int, random: Random) -> Position:
    """Another order of the deck, and other choices of others."""
    other = copy.deepcopy(position)
    random.shuffle(other.deck)
    for number, seat in enumerate(other.seats):
        if number != observer and seat.contract is not None:
            seat.contract = random.choice(seat.hand)
    other.rng = random.getrandbits(64)
    return other


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_hidden_facts_neither_show_nor_steer_resampling(players: int) -> None:
    """With any other deck and contracts of others: same observation, same mask, and redrawn to the same bytes."""
    config = GAME.configure(players)
    random = Random(players)
    for seed in range(games_to_play(2)):
        for number, snapshot in enumerate(positions(config, seed)):
            observer = number % players
            other = mixed(look(snapshot), observer, random).write(config)
            check_invariants(other.state, config)
            assert np.array_equal(other.observe(observer), snapshot.observe(observer))
            assert other.legal_actions() == snapshot.legal_actions()  # nothing that is legal depends on them
            assert other.resample(observer, number) == snapshot.resample(observer, number)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_only_hidden_facts_are_redrawn(players: int) -> None:
    config = GAME.configure(players)
    for number, snapshot in enumerate(positions(config, 3)):
        before = look(snapshot)
        for observer in range(players):
            drawn = look(snapshot.resample(observer, number))
            assert sorted(drawn.deck) == sorted(before.deck)
            assert drawn.seats[observer].contract == before.seats[observer].contract
            drawn.deck, drawn.rng = before.deck, before.rng
            for now, then in zip(drawn.seats, before.seats, strict=True):
                assert (now.contract is None) == (then.contract is None)
                now.contract = then.contract
            assert drawn == before


def test_redraws_are_uniform() -> None:
    """Every contract in hand is as likely as another, every card of the deck as the next."""
    seats = Seat(ship=0, contract=1), Seat(ship=1, contract=2), Seat(ship=2, contract=2, hand=[0, 2])
    snapshot = scenario([0, 1, 2, 3, 4], *seats, node=Node.FLY, draft_pos=6, turn=0, completed_by=[None, 2, None])
    draws = games_to_play(3000)
    redrawn = [look(snapshot.resample(0, seed)) for seed in range(draws)]
    assert {position.seats[0].contract for position in redrawn} == {1}
    for counts in (
        Counter(position.seats[1].contract for position in redrawn),
        Counter(position.seats[2].contract for position in redrawn),
        Counter(position.deck[0] for position in redrawn),
        Counter(position.deck[-1] for position in redrawn),
    ):
        expected = draws / len(counts)
        chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
        assert chi_square < 2 * len(counts) + 20
    assert {position.seats[1].contract for position in redrawn} == {0, 1, 2}
    assert {position.seats[2].contract for position in redrawn} == {0, 2}


def test_a_contract_is_open_after_scoring() -> None:
    """The last revealed contract stays in everybody's view."""
    config = GAME.configure(3)
    layout = config.observation
    second_round = next(snapshot for snapshot in positions(config, 1) if look(snapshot).round == 1)
    for observer in range(3):
        seen = layout["players.revealed"].view(second_round.observe(observer))
        revealed = [look(second_round).seats[(observer + distance) % 3].revealed for distance in range(3)]
        assert seen.tolist() == [contract + 1 for contract in revealed] + [0, 0]
        assert not layout["contracts.chosen"].view(second_round.observe(observer)).any()
