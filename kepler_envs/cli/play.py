"""``kepler-envs play``: people at the keyboard against agents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from rich.columns import Columns
from rich.console import Console
from rich.text import Text
from tyro.conf import arg

from kepler_envs.bots import UNIFORM
from kepler_envs.cli.common import GameArguments, UsageError, check_target, choose_seed
from kepler_envs.cli.match import PERSON, Match, agents_by_seat
from kepler_envs.cli.stage import print_position, print_result
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.replay import write_replay
from kepler_envs.terminal import say

HELP = """\
Type the number of a move and press Enter. Besides:
  b  the board again, with your moves
  h  this help
  q  leave the game (with --save, the game so far is kept)
What others hide from you is not shown; a question mark stands for a card you cannot see."""


MOVES_IN_A_COLUMN = 24
"""More are shown side by side, so that the board stays on the screen."""


class _Left(Exception):
    """The person leaves the game."""


@dataclass(frozen=True)
class Play(GameArguments):
    """Play a game in the terminal against agents."""

    seat: Annotated[int | Literal["all"], arg(metavar="SEAT")] = 0
    """Your seat; `all` lets people share the keyboard."""
    agents: Annotated[tuple[str, ...], arg(metavar="AGENT")] = (UNIFORM,)
    """Agents of the other seats: one for all, or one for each in the order of the seats."""
    seed: Annotated[int | None, arg(metavar="S")] = None
    """Seed of the deal; the same seed deals the same game."""
    save: Annotated[Path | None, arg(metavar="FILE")] = None
    """Write a replay of the game, also of one that you leave."""

    def run(self, console: Console) -> int:
        config = self.configure()
        people = self._people(config)
        check_target(self.save)
        others = [seat for seat in range(config.num_players) if seat not in people]
        specs = agents_by_seat(self.agents, others) if others else {}
        with console.status("setting up (compiling, the first time) ..."):
            match = Match(config, choose_seed(self.seed), specs)
        try:
            converse(console, match, people)
        finally:
            if self.save is not None:
                write_replay(self.save, match.replay())
        if self.save is not None:
            say(console, f"Replay{'' if match.over else ' of the unfinished game'} written: {self.save}")
        return 0

    def _people(self, config: Configuration) -> list[int]:
        if self.seat == "all":
            return list(range(config.num_players))
        if not 0 <= self.seat < config.num_players:
            raise UsageError(f"--seat {self.seat} is not allowed; allowed: 0..{config.num_players - 1} or all")
        return [self.seat]


def converse(console: Console, match: Match, people: list[int]) -> bool:
    """Play a match with the people at the keyboard; False if they leave it before its end."""
    try:
        _Table(console, match, people).play()
    except (_Left, EOFError, KeyboardInterrupt):
        console.print(f"\nYou leave after {len(match.actions)} decisions.")
        return False
    return True


class _Table:
    """The conversation with the people at one match."""

    def __init__(self, console: Console, match: Match, people: list[int]) -> None:
        self._console = console
        self._match = match
        self._people = people
        self._told = dict.fromkeys(people, 0)  # decisions each person has been told of
        self._at_keyboard = people[0]

    def play(self) -> None:
        """From the deal to the result."""
        match = self._match
        self._say(f"{match.config.game.title}, {match.config.num_players} players, seed {match.seed}. Type h for help.")
        for seat, name in enumerate(match.names):
            self._say(f"  player_{seat}: {'you' if name == PERSON and len(self._people) == 1 else name}")
        while not match.over:
            if match.seat in self._told:
                match.decide(self._ask())
            else:
                match.let_bot_decide()
        self._tell_news(self._at_keyboard)
        print_position(self._console, match.position, None)
        print_result(self._console, match.position, match.names)

    def _ask(self) -> int:
        """A legal id from the person at the seat to move."""
        seat, legal = self._match.seat, self._match.legal_actions()
        self._hand_over(seat)
        self._tell_news(seat)
        self._show_moves(seat, legal)
        moves = {str(number): action for number, action in enumerate(legal, 1)}
        while True:
            answer = self._console.input(f"player_{seat}> ", markup=False).strip().lower()
            if answer in moves:
                self._told[seat] = len(self._match.actions) + 1
                return moves[answer]
            if answer == "q":
                raise _Left
            if answer == "h":
                self._say(HELP)
            elif answer == "b":
                self._show_moves(seat, legal)
            else:
                numbers = f"1..{len(legal)}" if len(legal) > 1 else "1"
                self._say(f"{answer!r} is no move. Type {numbers}, or b (board), h (help), q (leave).")

    def _hand_over(self, seat: int) -> None:
        """The next person takes the keyboard, before anything of theirs is shown."""
        if seat == self._at_keyboard:
            return
        self._at_keyboard = seat
        if self._console.is_terminal:
            self._console.clear()
        if self._console.input(f"player_{seat}, it is your turn: press Enter ", markup=False).strip().lower() == "q":
            raise _Left

    def _tell_news(self, seat: int) -> None:
        """What others decided since this person's last move."""
        news = [
            number for number in range(self._told[seat], len(self._match.actions)) if self._match.seats[number] != seat
        ]
        if news:
            self._say("\nSince your last move:" if self._told[seat] else "\nBefore your first move:")
            for number in news:
                self._say(f"  {self._match.sentence(number, seat)}")

    def _show_moves(self, seat: int, legal: list[int]) -> None:
        print_position(self._console, self._match.position, seat)
        self._say("")
        moves = [f"{number:4}  {self._match.config.actions.text(action)}" for number, action in enumerate(legal, 1)]
        if len(moves) <= MOVES_IN_A_COLUMN:
            for move in moves:
                self._say(move)
        else:
            self._console.print(Columns(map(Text, moves), column_first=True, padding=(0, 3)))

    def _say(self, words: str) -> None:
        say(self._console, words)
