"""What a seat cannot know, by moving the hidden cards about by hand."""

from __future__ import annotations

import copy
from collections import Counter
from random import Random

import numpy as np
import pytest

from kepler_envs import Configuration, Snapshot
from kepler_envs.games.kitten_adventurers.state import Node
from tests.choosing import eager
from tests.effort import games_to_play
from tests.games.kitten_adventurers.invariants import EAGER, check_invariants
from tests.games.kitten_adventurers.scenario import GAME, PLAYER_COUNTS, H, Position, scenario


def announced_card(position: Position, observer: int) -> int | None:
    """The hand card everybody knows of: announced, and not yet played or placed."""
    if observer == position.turn:
        return None
    if position.node == Node.LANE:
        return position.pending_card - 1
    if position.node == Node.VALUE and position.pending_source <= 14:
        return H
    return None


def shuffled(position: Position, observer: int, random: Random) -> Position:
    """Another deal of everything the observer does not see: other hands, covered quest cards, the deck."""
    mixed = copy.deepcopy(position)
    known = announced_card(position, observer)
    if known is not None:
        mixed.mover.hand.remove(known)
    others = [seat for number, seat in enumerate(mixed.seats) if number != observer]
    cards = list(mixed.deck)
    for seat in others:
        cards += seat.hand
    for seat in mixed.seats:
        cards += seat.quest[:-1]
    random.shuffle(cards)
    for seat in others:
        seat.hand = sorted(cards.pop() for _ in seat.hand)
    for seat in mixed.seats:
        seat.quest = [cards.pop() for _ in seat.quest[:-1]] + seat.quest[-1:]
    mixed.deck = cards
    if known is not None:
        mixed.mover.hand = sorted([*mixed.mover.hand, known])
    mixed.rng = random.getrandbits(64)
    return mixed


def positions(config: Configuration, seed: int) -> list[Snapshot]:
    choose = eager(seed, EAGER)
    found = [Snapshot.deal(config, seed)]
    while not found[-1].over:
        found.append(found[-1].apply(choose(found[-1].legal_actions())))
    return found


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_hidden_cards_neither_show_nor_steer_resampling(players: int) -> None:
    """After any other deal of the hidden cards: same observation, same mask, and redrawn to the same bytes."""
    config = GAME.configure(players)
    random = Random(players)
    for seed in range(games_to_play(1)):
        for number, snapshot in enumerate(positions(config, seed)):
            position = Position.read(snapshot.state)
            observer = number % players
            other = shuffled(position, observer, random).write(config)
            check_invariants(other.state, config)
            assert np.array_equal(other.observe(observer), snapshot.observe(observer))
            if observer == snapshot.seat:
                assert other.legal_actions() == snapshot.legal_actions()
            assert other.resample(observer, number) == snapshot.resample(observer, number)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_only_hidden_cards_are_redrawn(players: int) -> None:
    config = GAME.configure(players)
    for number, snapshot in enumerate(positions(config, 3)):
        for observer in range(players):
            drawn = Position.read(snapshot.resample(observer, number).state)
            before = Position.read(snapshot.state)
            assert drawn.seats[observer].hand == before.seats[observer].hand
            assert drawn.open_cards() == before.open_cards() and drawn.hidden_cards() == before.hidden_cards()
            known = announced_card(before, observer)
            assert known is None or known in drawn.mover.hand
            drawn.deck, drawn.rng = before.deck, before.rng
            for now, then in zip(drawn.seats, before.seats, strict=True):
                assert len(now.hand) == len(then.hand) and len(now.quest) == len(then.quest)
                assert now.quest[-1:] == then.quest[-1:]
                now.hand, now.quest = then.hand, then.quest
            assert drawn == before


def test_redrawn_cards_are_uniform() -> None:
    """Each hidden card is as likely in another hand, a covered quest pile and the deck as its share of the unseen
    cards."""
    config = GAME.configure(4)
    snapshot = positions(config, 5)[40]
    before = Position.read(snapshot.state)
    observer = 1
    unseen = before.hidden_cards() - Counter(before.seats[observer].hand)
    total = unseen.total()
    draws = games_to_play(600)
    places = {"hand of seat 0": Counter(), "hand of seat 3": Counter(), "own quest pile": Counter(), "deck": Counter()}
    known = announced_card(before, observer)
    assert known is None
    for seed in range(draws):
        drawn = Position.read(snapshot.resample(observer, seed).state)
        places["hand of seat 0"].update(drawn.seats[0].hand)
        places["hand of seat 3"].update(drawn.seats[3].hand)
        places["own quest pile"].update(drawn.seats[observer].quest[:-1])
        places["deck"].update(drawn.deck)
    for place, seen in places.items():
        size = seen.total() / draws
        assert size > 0, f"{place} is empty: another position is needed"
        chi_square = 0.0
        for card, count in unseen.items():
            share = count / total
            # drawn without replacement: the variance of a hypergeometric count
            variance = draws * size * share * (1 - share) * (total - size) / (total - 1)
            chi_square += (seen[card] - draws * size * share) ** 2 / variance
        assert chi_square < 50, f"{place}: {chi_square:.1f} for {len(unseen)} types"


def test_an_announced_card_stays_in_its_hand() -> None:
    """Everybody has heard the type of a pending card, so no redraw may take it away."""
    lane_choice = scenario(players=3, hands=[[3, 11], 5, 5], lanes={0: {0: [9]}}, deck=20).play(19 + 11)
    value_choice = scenario(players=3, hands=[[3, H], 5, 5], ladders={0: 4}, deck=20).play(H)
    for game, card in ((lane_choice, 11), (value_choice, H)):
        hands = set()
        for seed in range(60):
            drawn = Position.read(game.snapshot.resample(2, seed).state)
            assert card in drawn.seats[0].hand and len(drawn.seats[0].hand) == 2
            hands.add(tuple(drawn.seats[0].hand))
        assert len(hands) > 5, "the other card of the hand is unknown"


def test_a_hyperspeed_card_from_quest_pile_or_lane_says_nothing_of_the_hand() -> None:
    quest = scenario(players=3, hands=[[3, 9], 5, 5], quests=[[5, H]], ladders={0: 4}, deck=20).play(14)
    lane = scenario(players=3, hands=[[3, 9], 5, 5], lanes={0: {2: [H]}}, ladders={0: 4}, deck=20).play(17)
    for game in (quest, lane):
        assert game.node == Node.VALUE
        share = np.mean(
            [H in Position.read(game.snapshot.resample(1, seed).state).seats[0].hand for seed in range(200)]
        )
        assert share < 0.5


def test_covered_quest_cards_are_hidden_from_their_owner() -> None:
    snapshot = Snapshot.deal(GAME.configure(2), 1)
    own = {tuple(Position.read(snapshot.resample(0, seed).state).seats[0].quest) for seed in range(20)}
    assert len(own) == 20 and len({quest[-1] for quest in own}) == 1
