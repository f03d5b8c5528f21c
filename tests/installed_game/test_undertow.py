"""The rules of Undertow, one test each: a position, a decision, what has to follow."""

from __future__ import annotations

import importlib
from collections import Counter

import numpy as np
import pytest
import tomli_w

from kepler_envs import ComponentError, IllegalAction, Snapshot
from tests.component_file import Rows

SCORE, SINK = 5, 6


@pytest.fixture(scope="module")
def game():
    return importlib.import_module("undertow").GAME


def play(worth: int) -> int:
    """The id that plays a card."""
    return worth - 1


def position(
    game, *hands: tuple[int, ...], deck: tuple[int, ...] = (), open_card: tuple[int, int] = (0, 0)
) -> Snapshot:
    """Seat 0 is to play. ``open_card``: its worth, and 1 + its owner. All other cards have been played."""
    start = Snapshot.deal(game.configure(len(hands), first_player="seat0"), 1)
    state = start.state
    for player, hand in zip(state["player"], hands, strict=False):
        player["hand"], player["hand_size"] = counts(hand), len(hand)
    state["deck"], state["deck_size"] = counts(deck), len(deck)
    state["played"] = 4 - state["deck"] - state["player"]["hand"].sum(axis=0)
    state["open_worth"], state["open_owner"] = open_card
    return Snapshot.take(start.config, start.states)


def counts(cards: tuple[int, ...]) -> list[int]:
    return [cards.count(worth) for worth in range(1, 6)]


def scores(at: Snapshot) -> list[int]:
    return at.results()[1].tolist()


# ---------------------------------------------------------------- the deal


@pytest.mark.parametrize("players", [2, 3, 4])
def test_everybody_is_dealt_three_of_twenty_cards(game, players):
    state = Snapshot.deal(game.configure(players), 3).state
    assert state["player"]["hand_size"].tolist() == [3] * players + [0] * (4 - players)
    assert state["deck_size"] == 20 - 3 * players
    assert (state["deck"] + state["player"]["hand"].sum(axis=0)).tolist() == [4] * 5


def test_the_first_player_is_drawn_or_seat_0(game):
    drawn = Counter(Snapshot.deal(game.configure(4), seed).seat for seed in range(100))
    assert drawn.keys() == {0, 1, 2, 3} and min(drawn.values()) > 10
    assert {Snapshot.deal(game.configure(4, first_player="seat0"), seed).seat for seed in range(20)} == {0}


# ---------------------------------------------------------------- playing cards


def test_a_card_in_hand_can_be_played_and_no_other(game):
    at = position(game, (1, 4, 4), (2, 3), deck=(5,))
    assert at.legal_actions() == [play(1), play(4)]
    with pytest.raises(IllegalAction, match=r"play a 2.*legal: 0 \('play a 1'\), 3 \('play a 4'\)"):
        at.apply(play(2))


def test_a_card_scores_its_worth_when_nobody_pulls_it_under(game):
    at = position(game, (4, 1), (5, 4), deck=(2, 2, 3)).apply(play(4))
    assert scores(at) == [0, 0] and (at.state["open_worth"], at.state["open_owner"]) == (4, 1)
    at = at.apply(play(5))  # neither 3, nor does it matter that it is more
    assert scores(at) == [4, 0] and (at.state["open_worth"], at.state["open_owner"]) == (5, 2)


@pytest.mark.parametrize("worth", [1, 2, 4, 5])
def test_only_one_less_pulls_under(game, worth):
    at = position(game, (worth, 5), (1, 1), open_card=(4, 2)).apply(play(worth))
    assert at.node.name == "PLAY" and at.seat == 1 and scores(at) == [0, 4]


def test_a_card_that_pulls_scores_and_the_seat_is_asked_for_the_spoils(game):
    at = position(game, (3, 5), (1, 1), open_card=(4, 2)).apply(play(3))
    assert (at.node.name, at.seat, at.legal_actions()) == ("SPOILS", 0, [SCORE, SINK])
    assert scores(at) == [3, 0]


def test_spoils_are_scored_or_sunk(game):
    at = position(game, (3, 5), (1, 1), (2, 2), deck=(4,), open_card=(4, 3)).apply(play(3))
    for action, expected in ((SCORE, [3 + 4, 0, 0]), (SINK, [3, 0, -4])):
        after = at.apply(action)
        assert scores(after) == expected
        assert (after.node.name, after.seat, after.state["open_worth"]) == ("PLAY", 1, 0)
        assert after.state["player"]["hand_size"][0] == 2 and after.state["deck_size"] == 0, "a card is drawn, too"


def test_a_single_card_is_asked_for_too(game):
    """Whether a seat is asked must not tell what it holds."""
    at = position(game, (2, 2), (1, 3))
    assert at.legal_actions() == [play(2)]


# ---------------------------------------------------------------- drawing and the end


def test_after_a_turn_a_card_is_drawn_while_the_deck_lasts(game):
    at = position(game, (1, 2), (4, 4), deck=(5,)).apply(play(1))
    assert at.state["player"]["hand"][0].tolist() == counts((2, 5)) and at.state["deck_size"] == 0
    assert at.apply(play(4)).state["player"]["hand_size"].tolist()[:2] == [2, 1]


def test_the_game_ends_when_all_cards_are_played_and_the_last_one_scores(game):
    at = position(game, (2,), (5,)).apply(play(2)).apply(play(5))
    assert at.over and scores(at) == [2, 5]
    ranks, _, returns = at.results()
    assert ranks.tolist() == [2, 1] and returns.tolist() == [-1, 1]


def test_equal_scores_share_the_win(game):
    at = position(game, (2,), (2,), (1,)).apply(play(2)).apply(play(2)).apply(play(1)).apply(SINK)
    ranks, points, returns = at.results()
    assert points.tolist() == [2, -2, 1] and ranks.tolist() == [1, 3, 2]
    at = position(game, (3,), (3,), (1,)).apply(play(3)).apply(play(3)).apply(play(1))
    ranks, points, returns = at.results()
    assert points.tolist() == [3, 3, 1] and ranks.tolist() == [1, 1, 3]
    np.testing.assert_allclose(returns, [0.25, 0.25, -0.5])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_game_has_twenty_plays(game, players):
    at, plays = Snapshot.deal(game.configure(players), 5), 0
    while not at.over:
        plays += at.node.name == "PLAY"
        at = at.apply(at.legal_actions()[-1])
    assert plays == 20 and at.state["played"].tolist() == [4] * 5
    assert at.state["decisions"] <= game.max_decisions


# ---------------------------------------------------------------- what a seat knows


def test_seats_are_seen_from_the_observer(game):
    at = position(game, (3, 5), (1, 1), (2, 2), open_card=(4, 3))
    layout = at.config.observation
    for seat, turn, owner in ((0, 1, 3), (1, 3, 2), (2, 2, 1)):
        seen = layout.names(at.observe(seat))
        assert (seen["game.turn"][0], seen["game.open_owner"][0]) == (turn, owner)
    assert layout.names(at.observe(0))["cards.pulls"].tolist() == [0, 0, 1, 0, 0]
    assert layout.names(at.observe(1))["cards.hand"].tolist() == [2, 0, 0, 0, 0]


def test_what_is_redrawn_is_any_of_the_unseen_cards(game):
    """Seat 0 sees neither the hand of seat 1 (one of 1, 2, 3) nor the deck: each hand comes equally often."""
    at = position(game, (5,), (1,), deck=(2, 3))
    hands = Counter(tuple(at.resample(0, seed).state["player"]["hand"][1].tolist()) for seed in range(300))
    assert hands.keys() == {tuple(counts((worth,))) for worth in (1, 2, 3)} and min(hands.values()) > 70
    own = at.resample(1, 4).state["player"]["hand"]
    assert own[1].tolist() == counts((1,)) and own[0].sum() == 1


def test_hands_of_others_are_not_shown(game):
    at = position(game, (3, 5), (1, 4), open_card=(2, 2))
    assert at.text(0).splitlines()[1:] == ["> player_0  points   0  hand 3 5", "  player_1  points   0  hand ? ?"]
    assert "hand 1 4" in at.text(None)
    assert ">1<" not in at.drawing(0).svg() and ">1<" in at.drawing(1).svg()


# ---------------------------------------------------------------- component files


def rows(copies: int, hand_size: int) -> Rows:
    return {
        "meta": {"game": "undertow"},
        "cards": [{"worth": worth, "copies": copies, "prov": "A"} for worth in range(1, 6)],
        "numbers": [{"name": "hand_size", "value": hand_size, "meaning": "cards in hand", "prov": "A"}],
    }


def test_a_card_file_of_your_own_changes_the_game(game, tmp_path):
    path = tmp_path / "cards.toml"
    path.write_text(tomli_w.dumps(rows(copies=2, hand_size=2)))
    state = Snapshot.deal(game.configure(4, path), 1).state
    assert state["player"]["hand_size"].tolist() == [2] * 4 and state["deck_size"] == 2


@pytest.mark.parametrize(
    ("copies", "hand_size", "problem"),
    [(10, 3, "cards row 1: copies is 10; allowed: 1..9"), (4, 6, "numbers row 'hand_size': value is 6; allowed: 2..5")],
)
def test_a_wrong_card_file_is_refused(game, tmp_path, copies, hand_size, problem):
    path = tmp_path / "cards.toml"
    path.write_text(tomli_w.dumps(rows(copies, hand_size)))
    with pytest.raises(ComponentError, match=problem):
        game.configure(4, path)
