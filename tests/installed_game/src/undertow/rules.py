"""The rules: legal ids, their application, the result. ``s`` is the state record, ``t`` the tables record."""

from kepler_envs.engine.bits import allow
from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.returns import ahead_of_mean, ranks_by, returns_by, scores_of
from kepler_envs.engine.rng import below
from undertow.actions import PLAY_CARD, SCORE, SINK
from undertow.state import REWARD_MODES, WORTHS, Node

PLAY, SPOILS, OVER = int(Node.PLAY), int(Node.SPOILS), int(Node.OVER)


@leaf
def legal(s, t, mask):
    """Set the bit of every legal id."""
    if s.node == PLAY:
        for row in range(WORTHS):
            if s.player[s.seat].hand[row] > 0:
                allow(mask, PLAY_CARD + row)
    else:
        allow(mask, SCORE)
        allow(mask, SINK)


@helper
def apply(s, t, action):
    """Apply a legal id, and everything automatic that follows from it."""
    if action < SCORE:
        _play(s, action - PLAY_CARD)
    else:
        if action == SCORE:
            s.player[s.seat].score += s.open_worth
        else:
            s.player[s.open_owner - 1].score -= s.open_worth
        _clear_table(s)
        _end_turn(s)


@leaf
def _play(s, row):
    """Play a card: it pulls the open card under if it is worth one less, otherwise it takes its place."""
    worth = row + 1
    player = s.player[s.seat]
    player.hand[row] -= 1
    player.hand_size -= 1
    s.played[row] += 1
    if worth == s.open_worth - 1:
        player.score += worth
        s.node = SPOILS
    else:
        _score_open_card(s)
        s.open_worth = worth
        s.open_owner = s.seat + 1
        _end_turn(s)


@leaf
def _score_open_card(s):
    """Pay the owner of the card on the table, if there is one: nobody pulled it under."""
    if s.open_owner > 0:
        s.player[s.open_owner - 1].score += s.open_worth


@leaf
def _clear_table(s):
    s.open_worth = 0
    s.open_owner = 0


@helper
def _end_turn(s):
    """Draw a card while the deck lasts. The next player clockwise goes on; without a card the game is over."""
    if s.deck_size > 0:
        draw(s, s.seat)
    s.seat = (s.seat + 1) % s.num_players
    s.node = PLAY
    if s.player[s.seat].hand_size == 0:
        _score_open_card(s)
        _clear_table(s)
        s.node = OVER
        s.end = TERMINATED


@leaf
def draw(s, seat):
    """Move a random card from the deck, which is not empty, to a hand."""
    row = take(s.deck, int(s.deck_size), s)
    s.deck_size -= 1
    s.player[seat].hand[row] += 1
    s.player[seat].hand_size += 1


@leaf
def take(pool, size, generator):
    """Take a uniformly random one of the ``size`` cards of a pool (counts per worth). Returns its row."""
    place = below(generator, size)
    row = 0
    while place >= pool[row]:
        place -= int(pool[row])
        row += 1
    pool[row] -= 1
    return row


@leaf
def _score(s, t, seat):
    return int(s.player[seat].score)


scores = scores_of(_score)
ranks = ranks_by(_score)
returns = returns_by(REWARD_MODES)
potential = ahead_of_mean(_score)
