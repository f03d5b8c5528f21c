"""What a seat sees, and redrawing what it cannot know."""

from typing import Any

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.observation import COUNT, FLAG, LABEL, NUMBER, Layout, piece, reference, table
from kepler_envs.engine.rng import fork
from undertow.components import MOST_COPIES
from undertow.rules import take
from undertow.state import MAX_PLAYERS, WORTHS, Node

MOST_CARDS = WORTHS * MOST_COPIES
MOST_POINTS = MOST_CARDS * WORTHS

LAYOUT = Layout(
    [
        table("game", 1, [
            piece("node", LABEL, max(Node), "what the seat to move is asked for: 0 play, 1 spoils, 2 the game is over"),
            reference("turn", "players", "player who decides"),
            reference("open", "cards", "card on the table"),
            reference("open_owner", "players", "player whose card that is"),
            piece("deck_size", COUNT, MOST_CARDS, "cards in the deck", scale=10),
        ]),
        table("players", MAX_PLAYERS, [
            piece("present", FLAG, 1, "1 for seats in the game; row 0 is the observer, then clockwise"),
            piece("score", NUMBER, MOST_POINTS, "points", low=-MOST_POINTS, scale=10),
            piece("hand_size", COUNT, MOST_CARDS, "cards in hand", scale=3),
        ]),
        table("cards", WORTHS, [
            piece("hand", COUNT, MOST_COPIES, "cards in the observer's hand", scale=1),
            piece("played", COUNT, MOST_COPIES, "cards played so far", scale=4),
        ]),
        table("cards", WORTHS, [
            piece("unseen", COUNT, MOST_COPIES, "cards in the deck and in other hands", scale=4),
            piece("pulls", FLAG, 1, "it would pull the card on the table under"),
        ], derived=True),
    ]
)  # fmt: skip

GAME, _ = LAYOUT.begin("game")
PLAYERS, PLAYER_SIZE = LAYOUT.begin("players")
CARDS, CARD_SIZE = LAYOUT.begin("cards")
MORE, MORE_SIZE = LAYOUT.begin("cards", derived=True)
FACTS_SIZE = LAYOUT.facts.size


def make_observation(tables: Any) -> Layout:
    """The same for every component file."""
    return LAYOUT


@helper
def observe(s, t, seat, out):
    """Write every entry of the observation of ``seat``."""
    n = int(s.num_players)
    out[GAME] = s.node
    out[GAME + 1] = 1 + (s.seat - seat) % n
    out[GAME + 2] = s.open_worth
    out[GAME + 3] = 1 + (s.open_owner - 1 - seat) % n if s.open_owner > 0 else 0
    out[GAME + 4] = s.deck_size
    for row in range(MAX_PLAYERS):
        player = s.player[(seat + row) % n if row < n else row]  # absent seats are all 0
        out[PLAYERS + PLAYER_SIZE * row] = player.present
        out[PLAYERS + PLAYER_SIZE * row + 1] = player.score
        out[PLAYERS + PLAYER_SIZE * row + 2] = player.hand_size
    for row in range(WORTHS):
        hand = int(s.player[seat].hand[row])
        out[CARDS + CARD_SIZE * row] = hand
        out[CARDS + CARD_SIZE * row + 1] = s.played[row]
        if out.size > FACTS_SIZE:  # with derived=False there is room for facts only
            out[MORE + MORE_SIZE * row] = t.copies[row] - s.played[row] - hand
            out[MORE + MORE_SIZE * row + 1] = row + 2 == s.open_worth


@helper
def resample(s, t, seat, generator):
    """Redraw the other hands and the deck from what ``seat`` does not see, and all chance to come."""
    for other in range(int(s.num_players)):
        if other != seat:
            for row in range(WORTHS):
                s.deck[row] += s.player[other].hand[row]
                s.player[other].hand[row] = 0
            s.deck_size += s.player[other].hand_size
    for other in range(int(s.num_players)):
        if other != seat:
            _redraw_hand(s, s.player[other], generator)
    s.rng = fork(generator)


@leaf
def _redraw_hand(s, player, generator):
    for _ in range(int(player.hand_size)):
        player.hand[take(s.deck, int(s.deck_size), generator)] += 1
        s.deck_size -= 1
