"""``kepler-envs play``: people at the keyboard against agents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from rich.console import Console
from tyro.conf import arg

from kepler_envs.bots import UNIFORM
from kepler_envs.cli.common import GameArguments, UsageError, check_target, choose_seed, optional
from kepler_envs.cli.match import Match, agents_by_seat, keeping_replay
from kepler_envs.cli.screens import Screen, pack, split_list, split_text
from kepler_envs.cli.stage import print_position, print_result
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.printable import counted
from kepler_envs.rules import as_lines, rules_text
from kepler_envs.terminal import say
from kepler_envs.web.tables import PERSON
from kepler_envs.web.views import explanations

HELP = """\
Type the number of a move and press Enter. Other keys, each followed by Enter:
  Enter alone  the next screen
  b  the board again
  m  your moves
  h  this help, with the rules of the game
  q  leave the game (with --save, the game so far is kept)
You do not see what others hide from you; a question mark stands for a card you cannot see."""

LINES_BELOW = 2
"""Lines of a screen that are left for the prompt, and for an answer to a slip."""
HIGHEST_LIST = 24
"""Moves are set side by side when there are more, where they are not shown as screens."""


class _Left(Exception):
    """The person leaves the game."""


@dataclass(frozen=True)
class Play(GameArguments):
    """Play a game in the terminal against agents."""

    seat: Annotated[int | Literal["all"], arg(metavar="SEAT")] = 0
    """Your seat. With `all`, people share the keyboard."""
    agents: Annotated[tuple[str, ...], optional(metavar="AGENT ...")] = ()
    """Agents of the other seats: one for all of them, or one for each in seat order. `uniform` if left out."""
    seed: Annotated[int | None, optional(metavar="SEED")] = None
    """Seed of the deal. The same seed deals the same game. Drawn if left out."""
    save: Annotated[Path | None, optional(metavar="FILE")] = None
    """Write a replay of the game, even if you leave it early."""

    def run(self, console: Console) -> int:
        config = self.configure()
        people = self._people(config)
        check_target(self.save)
        if self.save is not None and self.save.exists():
            raise UsageError(
                f"--save {self.save} is there, and a game that was played cannot be made again; name another"
            )
        others = [seat for seat in range(config.num_players) if seat not in people]
        specs = agents_by_seat(self.agents, others) if self.agents else dict.fromkeys(others, UNIFORM)
        with console.status("setting up (compiling, the first time) ..."):
            match = Match(config, choose_seed(self.seed), specs)
        with keeping_replay(match, self.save, console):
            converse(console, match, people)
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
        console.print(f"\nYou leave after {counted(len(match.actions), 'decision')}.")
        return False
    return True


class _Table:
    """The conversation with the people at one match: in screens on a terminal, in plain lines elsewhere."""

    def __init__(self, console: Console, match: Match, people: list[int]) -> None:
        self._console = console
        self._match = match
        self._people = people
        self._told = dict.fromkeys(people, 0)  # decisions each person has been told of
        self._at_keyboard = people[0]
        self._screens: list[Screen] = []
        self._shown = 0

    def play(self) -> None:
        """From the deal to the result."""
        match = self._match
        players = counted(match.config.num_players, "player")
        self._say(f"{match.config.game.title}, {players}, seed {match.seed}. Type h for help.")
        for seat, name in enumerate(match.names):
            self._say(f"  {agent_name(seat)}: {'you' if name == PERSON and len(self._people) == 1 else name}")
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
        self._show(seat, legal)
        moves = {str(number): action for number, action in enumerate(legal, 1)}
        while True:
            answer = self._console.input(self._prompt(seat), markup=False).strip().lower()
            if answer in moves:
                self._told[seat] = len(self._match.actions) + 1
                return moves[answer]
            if answer == "q":
                raise _Left
            if not self._turn(answer, seat, legal):
                numbers = f"1..{len(legal)}" if len(legal) > 1 else "1"
                self._say(f"{answer!r} is not a move. Type {numbers}, or b (board), h (help), q (leave).")

    def _prompt(self, seat: int) -> str:
        many = len(self._screens)
        screen = f", screen {self._shown + 1} of {many} (h help)" if many > 1 else ""
        return f"{agent_name(seat)}{screen}> "

    def _turn(self, answer: str, seat: int, legal: list[int]) -> bool:
        """Show what a key asks for; False if it asks for nothing."""
        if answer == "" and len(self._screens) > 1:
            self._show_screen(self._shown + 1)
        elif answer == "h":
            self._help(seat, legal)
        elif answer == "b":
            self._show(seat, legal, news=False)
        elif answer == "m" and self._console.is_terminal:
            self._show(seat, legal, news=False, first_moves=True)
        elif answer == "m":
            self._say_moves(legal)
        else:
            return False
        return True

    def _hand_over(self, seat: int) -> None:
        """The next person takes the keyboard, before anything of theirs is shown."""
        if seat == self._at_keyboard:
            return
        self._at_keyboard = seat
        if self._console.is_terminal:
            self._console.clear()
        answer = self._console.input(f"{agent_name(seat)}, it is your turn: press Enter ", markup=False)
        if answer.strip().lower() == "q":
            raise _Left

    def _news(self, seat: int) -> list[str]:
        """What others decided since this person's last move."""
        news = [
            number for number in range(self._told[seat], len(self._match.actions)) if self._match.seats[number] != seat
        ]
        if not news:
            return []
        head = "Since your last move:" if self._told[seat] else "Before your first move:"
        return [head, *(f"  {self._match.sentence(number, seat)}" for number in news)]

    def _tell_news(self, seat: int) -> None:
        for number, line in enumerate(self._news(seat)):
            self._say(line if number else f"\n{line}")

    def _show(self, seat: int, legal: list[int], news: bool = True, first_moves: bool = False) -> None:
        """The position with the moves, the first screen of it where there are screens."""
        if not self._console.is_terminal:
            if news:
                self._tell_news(seat)
            print_position(self._console, self._match.position, seat)
            self._say("")
            self._say_moves(legal)
            return
        width, height = self._size()
        before = self._news(seat) if news else []
        board = split_text(self._match.position.text(seat), width, height, before)
        self._screens = board + split_list(self._moves(legal), width, height)
        self._show_screen(len(board) if first_moves else 0)

    def _moves(self, legal: list[int]) -> list[str]:
        """The legal moves with their numbers, and what they mean here."""
        more = explanations(self._match.position)
        return [
            f"{number:4}  {self._match.config.actions.text(action)}" + (f" ({more[action]})" if action in more else "")
            for number, action in enumerate(legal, 1)
        ]

    def _say_moves(self, legal: list[int]) -> None:
        for screen in split_list(self._moves(legal), self._console.width, max(HIGHEST_LIST, len(legal) // 3)):
            for line in screen:
                self._say(line)

    def _help(self, seat: int, legal: list[int]) -> None:
        game = self._match.config.game
        if not self._console.is_terminal:
            self._say("\n".join([HELP, "", *as_lines(rules_text(game), self._console.width)]))
            return
        width, height = self._size()
        rules = "\n".join(as_lines(rules_text(game), width))
        self._screens = pack(f"{HELP}\n\n{rules}", width, height)
        self._show_screen(0)

    def _size(self) -> tuple[int, int]:
        """Columns and lines of a screen."""
        return self._console.width, max(1, self._console.height - LINES_BELOW)

    def _show_screen(self, number: int) -> None:
        self._shown = number % len(self._screens)
        self._console.clear()
        for line in self._screens[self._shown]:
            self._say(line)

    def _say(self, words: str) -> None:
        say(self._console, words)
