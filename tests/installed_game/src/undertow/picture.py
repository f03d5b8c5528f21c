"""A position as text and as a drawing."""

from typing import Any

from kepler_envs.engine.drawing import Drawing
from kepler_envs.engine.game import RUNNING, Configuration
from undertow.actions import PLAY_CARD, SCORE, SINK
from undertow.state import WORTHS

PANEL, INK, DIM, CARD = "#10202c", "#f0f4f8", "#9fb4c4", "#2f7f9f"


def text(state: Any, config: Configuration, seat: int | None = None) -> str:
    """The position for a terminal. ``seat`` sees its own hand only; None sees all hands."""
    lines = [_title(state)]
    for number, player in enumerate(state["player"][: state["num_players"]]):
        mark = ">" if state["end"] == RUNNING and number == state["seat"] else " "
        hand = " ".join(_hand(player, seat in (None, number)))
        lines.append(f"{mark} player_{number}  points {player['score']:3}  hand {hand}")
    return "\n".join(lines)


def draw(state: Any, config: Configuration, seat: int | None = None) -> Drawing:
    """The same as a picture. What belongs to an action is marked with it, so that people can click on it."""
    drawing = Drawing(640, 130 + 80 * int(state["num_players"]), "Undertow", PANEL)
    drawing.text(20, 30, _title(state), size=18, fill=INK)
    for x, action, words in ((20, SCORE, "score it"), (130, SINK, "sink it")):
        with drawing.group(x, 60, actions=(action,)):
            drawing.rect(0, 0, 100, 32, radius=6, stroke=DIM)
            drawing.text(50, 16, words, size=14, fill=INK, anchor="middle")
    for number, player in enumerate(state["player"][: state["num_players"]]):
        with drawing.group(20, 120 + 80 * number):
            drawing.text(0, 30, f"player_{number}: {player['score']} points", size=16, fill=INK)
            for place, card in enumerate(_hand(player, seat in (None, number))):
                clicked = () if card == "?" or number != state["seat"] else (PLAY_CARD + int(card) - 1,)
                with drawing.group(220 + 50 * place, 0, actions=clicked):
                    drawing.rect(0, 0, 42, 60, radius=6, fill=CARD)
                    drawing.text(21, 30, card, size=24, fill=INK, anchor="middle")
    return drawing


def _title(state: Any) -> str:
    owner = f" of player_{state['open_owner'] - 1}" if state["open_owner"] else ""
    return f"Undertow: open card {state['open_worth'] or 'none'}{owner}, deck {state['deck_size']}"


def _hand(player: Any, is_seen: bool) -> list[str]:
    """The cards of a hand by their worth, or a question mark for each."""
    cards = [str(row + 1) for row in range(WORTHS) for _ in range(player["hand"][row])]
    return cards if is_seen else ["?"] * len(cards)
