"""The test vectors of the specification's section 8, by their numbers.

Every position a vector passes through is checked against all invariants, and every decision against the referee.
"""

from __future__ import annotations

import pytest

from kepler_envs.engine.game import RUNNING, TERMINATED
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kitten_adventurers.state import Node
from tests.games.kitten_adventurers.invariants import check_decision, check_invariants
from tests.games.kitten_adventurers.scenario import GAME, H, Play, ladder
from tests.games.kitten_adventurers.scenario import scenario as build

PLAY_QUEST, PASS = 14, 33


def hand(card: int) -> int:
    return card


def lane(place: int) -> int:
    return 15 + place


def end_with(card: int) -> int:
    return 19 + card


def as_value(value: int) -> int:
    return 34 + value


def to_lane(place: int) -> int:
    return 47 + place


class CheckedPlay(Play):
    """A scenario whose every step is refereed."""

    def play(self, *actions: int) -> CheckedPlay:
        for action in actions:
            before = self.snapshot
            super().play(action)
            check_decision(before.state, action, self.snapshot.state, self.snapshot.config)
            check_invariants(self.snapshot.state, self.snapshot.config)
        return self


def scenario(**description: object) -> CheckedPlay:
    snapshot = build(**description).snapshot
    return CheckedPlay(snapshot)


# ---------------------------------------------------------------- the vectors


@pytest.mark.parametrize("players, dealt, deck", [(5, 85, 25), (8, 88, 22)])
def test_vector_01_deal(players: int, dealt: int, deck: int) -> None:
    game = Play(Snapshot.deal(GAME.configure(players), seed=1))
    position = game.position
    assert sum(len(seat.hand) + len(seat.quest) for seat in position.seats) == dealt
    assert len(position.deck) == deck  # the first player's refill drew nothing
    assert all(len(seat.hand) == len(position.mover.hand) for seat in position.seats)
    assert position.rng != 0 and position.node == Node.PLAY


@pytest.mark.parametrize(
    "players, quest, hand_size, deck",
    [(2, 10, 7, 76), (3, 10, 7, 59), (4, 10, 7, 42), (5, 10, 7, 25), (6, 7, 7, 26), (7, 6, 6, 26), (8, 5, 6, 22)],
)
def test_vector_01_deal_of_every_player_count(players: int, quest: int, hand_size: int, deck: int) -> None:
    position = Play(Snapshot.deal(GAME.configure(players), seed=7)).position
    assert [len(seat.quest) for seat in position.seats] == [quest] * players
    assert [len(seat.hand) for seat in position.seats] == [hand_size] * players
    assert len(position.deck) == deck


def test_vector_02_refill() -> None:
    game = scenario(hands=[[9, 9], [1, 2, 3]], deck=20)
    game.play(end_with(9))
    assert game.position.turn == 1
    assert len(game.mover.hand) == 7 and len(game.position.deck) == 16


def test_vector_03_run_of_plays() -> None:
    game = scenario(hands=[[4, 5, 9]], quests=[[1, 11]], ladders={0: 4})
    assert game.legal() == {hand(4), end_with(4), end_with(5), end_with(9)}
    game.play(hand(4))
    assert game.legal() == {hand(5), end_with(5), end_with(9)}
    game.play(hand(5))
    assert game.position.ladders == {0: [0, 1, 2, 3, 4, 5]}
    assert game.legal() == {28}


def test_vector_04_first_hyperspeed() -> None:
    game = scenario(hands=[[3, H]], quests=[[1, 11]])
    game.play(hand(H))
    assert game.node == Node.PLAY  # no VALUE node
    assert game.position.ladders == {0: [H]}
    assert game.legal() == {22}


def test_vector_05_hyperspeed_choice_and_completion() -> None:
    game = scenario(hands=[[5, H]], quests=[[1, 11]], ladders={0: 3, 1: 12})
    game.play(hand(H))
    assert game.node == Node.VALUE
    assert game.legal() == {34, 37, 46}
    game.play(as_value(12))
    assert game.position.ladders == {0: [0, 1, 2]}
    assert game.position.discard == [*range(12), H]
    assert game.mover.hand == [5]


def test_vector_06_equal_ladders() -> None:
    game = scenario(hands=[[6, 8]], ladders={0: 6, 2: 6})
    game.play(hand(6))
    assert {slot: len(cards) for slot, cards in game.position.ladders.items()} == {0: 7, 2: 6}


def test_vector_06_a_lower_slot_is_taken_although_it_grew_later() -> None:
    """The lowest-numbered ladder of the height grows, whichever reached it first; a new one takes the lowest free
    slot."""
    game = scenario(hands=[[0, 5, 6, 8]], ladders={0: 5, 2: 6})
    game.play(hand(5), hand(6))
    assert {slot: len(cards) for slot, cards in game.position.ladders.items()} == {0: 7, 2: 6}
    game.play(hand(0))
    assert game.position.ladders[1] == [0]


def test_vector_07_lane_cover() -> None:
    covered = scenario(hands=[[8]], quests=[[1, 11]], lanes={0: {0: [9, 5]}}, ladders={0: 9})
    assert lane(0) not in covered.legal()
    game = scenario(hands=[[8]], quests=[[1, 11]], lanes={0: {0: [9, 5]}}, ladders={0: 9, 1: 5})
    assert lane(0) in game.legal()
    game.play(15)
    assert game.mover.lanes[0] == [9] and len(game.position.ladders[1]) == 6
    game.play(15)
    assert game.mover.lanes[0] == [] and len(game.position.ladders[0]) == 10


def test_vector_08_lane_choice() -> None:
    game = scenario(hands=[[3, 8]], lanes={0: {0: [9]}})
    game.play(end_with(8))
    assert game.node == Node.LANE
    assert game.legal() == {47, 48}
    game.play(to_lane(1))
    assert game.position.seats[0].lanes == [[9], [8], [], []]


def test_vector_08_a_gap_between_lanes() -> None:
    game = scenario(hands=[[3, 8]], lanes={0: {0: [9], 2: [4, 4]}})
    assert game.play(end_with(3)).legal() == {47, 48, 49}  # both in use and the first empty one


def test_vector_08_all_lanes_empty() -> None:
    game = scenario(hands=[[3, 8]])
    game.play(end_with(8))
    assert game.position.seats[0].lanes == [[8], [], [], []]
    assert game.node == Node.PLAY and game.position.turn == 1


def test_vector_09_short_refill() -> None:
    game = scenario(hands=[[9, 9], [1, 2, 3]], deck=2)
    game.play(end_with(9))
    assert len(game.mover.hand) == 5 and game.position.deck == []


def test_vector_10_reshuffle_inside_a_refill() -> None:
    game = scenario(hands=[[9, 9], [1, 2, 3, 3, 4]], deck=[H], discard=13)
    game.play(end_with(9))
    assert H in game.mover.hand  # the deck's own card was drawn first
    assert len(game.mover.hand) == 7
    assert len(game.position.deck) == 12 and game.position.discard == []


def test_vector_11_empty_hand() -> None:
    game = scenario(hands=[[4]], ladders={0: 4}, deck=20)
    game.play(4)
    assert len(game.mover.hand) == 7 and len(game.position.deck) == 13
    assert game.position.turn == 0 and game.node == Node.PLAY and game.position.played_this_turn == 1


def test_vector_12_completion_feeds_the_refill() -> None:
    game = scenario(hands=[[12]], ladders={0: 12})
    game.play(12)
    position = game.position
    assert position.ladders == {} and position.discard == []
    assert len(position.mover.hand) == 7 and len(position.deck) == 6
    assert sorted(position.mover.hand + position.deck) == list(range(13))


@pytest.mark.parametrize("quest_top, legal", [(9, {33}), (0, {14, 33})])
def test_vector_13_pass(quest_top: int, legal: set[int]) -> None:
    assert scenario(quests=[[5, quest_top]]).legal() == legal


def test_vector_14_stalemate() -> None:
    game = scenario(players=3, quests=[2, 4, 2])
    game.play(PASS, PASS)
    assert not game.over
    game.play(PASS)
    assert game.over and game.snapshot.state["end"] == TERMINATED
    assert game.ranks() == [1, 3, 1]
    assert game.returns() == [0.25, -0.5, 0.25]
    assert game.legal() == set()


def test_vector_15_win() -> None:
    game = scenario(players=4, hands=[[3]], quests=[[0], 5, 5, 5])
    game.play(PLAY_QUEST)
    assert game.over and game.snapshot.state["end"] == TERMINATED
    assert game.returns() == pytest.approx([1, -1 / 3, -1 / 3, -1 / 3])
    assert game.position.seats[0].hand == [3]  # no card had to be placed


def test_vector_16_rank_mode() -> None:
    game = scenario(config=GAME.configure(4, reward_mode="rank"), quests=[[0], 3, 3, 8])
    game.play(PLAY_QUEST)
    assert game.ranks() == [1, 2, 2, 4]
    assert game.returns() == pytest.approx([1, 0, 0, -1])


def test_vector_17_last_quest_card_completes_a_ladder() -> None:
    game = scenario(quests=[[12], 3], ladders={0: ladder(12, 4)})
    game.play(PLAY_QUEST)
    assert game.over and game.ranks() == [1, 2]
    assert game.position.ladders == {} and len(game.position.discard) == 13
    assert game.position.seats[0].hand == []  # not refilled


def test_vector_18_hyperspeed_to_a_lane() -> None:
    game = scenario(hands=[[3, H], [9]], ladders={0: 2}, lanes={0: {0: [7]}})
    game.play(32, to_lane(1))
    assert game.position.seats[0].lanes[1] == [H]
    game.play(end_with(9), to_lane(0))
    assert game.position.turn == 0
    game.play(lane(1))
    assert game.node == Node.VALUE and game.legal() == {34, 36}
    game.play(as_value(2))
    assert game.position.ladders == {0: [0, 1, H]} and game.position.seats[0].lanes[1] == []


def test_vector_19_turn_order() -> None:
    game = scenario(players=3, turn=2)
    turns = []
    for _ in range(3):
        turns.append(game.position.turn)
        if len(turns) < 3:
            game.play(PASS)
    assert turns == [2, 0, 1]
    long = scenario(players=3, turn=2, hands=[[9, 9], [9, 9], [9, 9]])
    order = []
    for _ in range(6):
        order.append(long.position.turn)
        long.play(end_with(9))
        if long.node == Node.LANE:
            long.play(to_lane(0))
    assert order == [2, 0, 1, 2, 0, 1]


def test_vector_20_dead_count() -> None:
    game = scenario(players=2, lanes={1: {0: [0]}})
    game.play(PASS)
    assert game.position.dead_turns == 1
    game.play(lane(0), PASS)
    assert game.position.dead_turns == 0
    game.play(PASS)
    assert game.position.dead_turns == 1
    assert not game.over and game.snapshot.state["end"] == RUNNING


# ---------------------------------------------------------------- rulings of section 7 that no vector shows


def test_hyperspeed_cards_of_a_completed_ladder_are_wild_again() -> None:
    """Ruling 13: in the discard a hyperspeed card is a plain hyperspeed card."""
    game = scenario(hands=[[2, 12]], ladders={3: ladder(12, 0, 11)})
    game.play(hand(12))
    assert game.position.discard == [*range(1, 11), 12, H, H]


def test_a_full_hand_draws_nothing() -> None:
    """Ruling 3."""
    game = scenario(hands=[[9], 7], deck=20)
    game.play(end_with(9))
    assert len(game.mover.hand) == 7 and len(game.position.deck) == 20


def test_drawing_the_last_card_does_not_shuffle() -> None:
    """Ruling 6: the discard becomes the deck only when a card is wanted and none is there."""
    game = scenario(hands=[[9], 5], deck=2, discard=13)
    game.play(end_with(9))
    assert len(game.mover.hand) == 7
    assert game.position.deck == [] and len(game.position.discard) == 13


def test_a_quest_card_uncovers_the_next_in_the_same_turn() -> None:
    """Ruling 21."""
    game = scenario(hands=[[8]], quests=[[6, 1, 0]])
    game.play(PLAY_QUEST)
    assert game.mover.quest == [6, 1] and PLAY_QUEST in game.legal()
    game.play(PLAY_QUEST)
    assert game.mover.quest == [6] and PLAY_QUEST not in game.legal()


def test_wormholes_start_a_ladder_beside_others() -> None:
    """Rulings 16 and 24."""
    game = scenario(hands=[[0, 0, 5]], ladders={0: 3, 1: 1})
    game.play(hand(0), hand(0))
    assert game.position.ladder_heights() == [3, 1, 1, 1]


def test_a_hyperspeed_quest_card_wins_as_a_wormhole() -> None:
    """Ruling 15, with the choice of a value before the end."""
    game = scenario(players=3, hands=[[5]], quests=[[H]], ladders={0: 4})
    game.play(PLAY_QUEST)
    assert game.node == Node.VALUE and not game.over and len(game.mover.quest) == 1
    game.play(as_value(0))
    assert game.over and game.ranks()[0] == 1 and game.position.ladder_heights() == [4, 1]


def test_pass_after_a_play_is_not_a_dead_turn() -> None:
    """3.6: only a PASS with nothing played counts."""
    game = scenario(players=2, lanes={0: {0: [1, 0]}}, dead_turns=1)
    game.play(lane(0), PASS)
    assert game.position.dead_turns == 0 and not game.over


def test_fourteen_ladders_at_once() -> None:
    """Ruling 16: eight wormholes and six hyperspeed cards."""
    game = scenario(hands=[[H, 9]], ladders={**dict.fromkeys(range(8), 1), **{slot: [H] for slot in range(8, 13)}})
    game.play(hand(H), as_value(0))
    assert game.position.ladder_heights() == [1] * 14


@pytest.mark.parametrize("name, option", [("turns", "max_turns"), ("plays", "max_plays")])
def test_limits(name: str, option: str) -> None:
    """Section 6: the fewest quest cards left share the win, and the game is truncated."""
    config = GAME.configure(4, **{option: 9})
    game = scenario(config=config, hands=[[0, 9]], quests=[5, 3, 3, 4], **{name: 8})
    game.play(end_with(9) if name == "turns" else hand(0))
    assert game.over and game.snapshot.state["end"] == 2
    assert game.ranks() == [4, 1, 1, 3]
    assert game.returns() == pytest.approx([-1 / 3, 1 / 3, 1 / 3, -1 / 3])


def test_a_win_on_the_last_allowed_play_is_a_win() -> None:
    """3.4: the quest pile is looked at before the limit."""
    game = scenario(config=GAME.configure(2, max_plays=9), quests=[[0], 2], plays=8)
    game.play(PLAY_QUEST)
    assert game.snapshot.state["end"] == TERMINATED and game.ranks() == [1, 2]


def test_a_stalemate_on_the_last_allowed_turn_is_a_stalemate() -> None:
    """3.6: dead turns are counted before the limit."""
    game = scenario(config=GAME.configure(2, max_turns=9), turns=8, dead_turns=1)
    game.play(PASS)
    assert game.snapshot.state["end"] == TERMINATED
