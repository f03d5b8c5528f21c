"""What expert iteration is asked for: the options of ``python -m agents.expert``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from kepler_envs.bots.protocol import BotError
from kepler_envs.bots.search import MctsConfig
from kepler_envs.cli.common import OnRay

MAY_CHANGE = ("game", "out", "generations", "steps", "minutes", "processes", "ray")
"""What may be another time when a run is gone on with; ``game`` is compared by what it stands for."""


@dataclass(frozen=True)
class ExpertConfig:
    """Let a network learn what a search finds, again and again."""

    game: Annotated[str, tyro.conf.Positional] = "kitten_adventurers"
    """Name or id of the game."""
    out: Path | None = None
    """Folder of the run, runs/GAME-PLAYERSp-expert unless told. A run that is already there goes on where it was."""
    generations: int | None = None
    """Stop after so many; 8 if no budget is given. A generation plays games, learns from them, and is judged."""
    steps: int | None = None
    """Stop before more decisions than these are made in games, those of greedy that are imitated first included."""
    minutes: float | None = None
    """Stop after this long."""
    players: int | str | None = None
    """Seats; the game's default unless told. A range such as 3-5: games of all these counts, one network."""
    option: tuple[str, ...] = ()
    """Options of the game, as name=value."""
    seed: int = 0
    """Of games, network and sampling. The same seed gives the same run, however many processes play."""
    processes: int = 1
    """Processes that play games."""
    ray: OnRay = None
    """Play games on a Ray cluster: the one at ADDRESS, or, without one, that of this machine, which is started with
    --processes cores if it is not there."""
    start: str | None = None
    """Trained network to begin with, for example bc-v1 or net:PATH; it settles width, hidden, rows and what it is over.
    Without one, the network first imitates greedy."""
    over: Annotated[Literal["greedy"] | None, tyro.conf.arg(aliases=["--from"])] = None
    """The bot whose choice the network is told, and whose strength it begins with: it learns where to leave it (a
    residual policy)."""
    teacher_positions: int = 200_000
    """Decisions of greedy that a network without a beginning imitates first."""
    dagger: int = 1
    """Generations after that in which greedy says what to do in positions that the network gets itself into (DAgger);
    not with --start or --over."""
    games: int = 1024
    """Games of a generation, of all player counts together."""
    search: str = "100"
    """Budget and settings of the search, as behind mcts: in the name of a bot."""
    guided_from: int | None = None
    """First generation in which the best network so far guides the search; before, and without it, greedy plays games
    to their end."""
    searched: float = 0.25
    """Share of the decisions that are searched; all others are made at once, by greedy in half of the seats, by the
    best network in the rest."""
    quick: float = 0.1
    """Share of the decisions that are kept without a search, for what their games paid."""
    noise: float = 0.05
    """Share of moves that are random."""
    differing: float = 3.0
    """How much a position counts in which the search does not choose what greedy would do; others count 1."""
    window: int = 6
    """Generations whose games are learned from."""
    epochs: float = 4.0
    """How often a generation's learning shows each position of the window."""
    learning_rate: float = 1e-3
    """Of Adam, at the start of each generation; a twentieth of it at the end."""
    value_weight: float = 0.5
    """Weight of the squared error of the returns."""
    width: int = 96
    """Outputs of the first layer."""
    hidden: tuple[int, ...] = (96,)
    """Widths of further layers, separate for policy and value."""
    rows: int = 32
    """Numbers that the network says of each row of the observation's tables; 0: it looks at no row by itself."""
    eval_games: int = 400
    """Games against greedy, and against the best network so far, after each generation and for each player count."""
    gate: float = 1.0
    """A network becomes the best one if it wins so many times an equal share against the best before it, over all
    player counts."""

    def __post_init__(self) -> None:
        least = {
            "games": 1,
            "teacher_positions": 100,
            "dagger": 0,
            "window": 1,
            "width": 1,
            "rows": 0,
            "eval_games": 1,
            "processes": 1,
        }
        least |= {name: 1 for name in ("generations", "steps", "guided_from") if getattr(self, name) is not None}
        for name, smallest in least.items():
            self._need(name, getattr(self, name) >= smallest, f"{smallest} and more")
        above = ("epochs", "learning_rate", *(name for name in ("minutes",) if self.minutes is not None))
        for name in above:
            self._need(name, getattr(self, name) > 0, "more than 0")
        for name in ("searched", "quick", "noise"):
            self._need(name, 0 <= getattr(self, name) <= 1, "0 to 1")
        self._need(
            "quick", self.searched + self.quick <= 1, f"at most {1 - self.searched:g} with --searched {self.searched:g}"
        )
        for name in ("differing", "gate", "value_weight"):
            self._need(name, getattr(self, name) >= 0, "0 and more")
        asked = MctsConfig.parse(self.search)
        self._need("search", asked.iterations > 0, "a budget in iterations: with one in time no run could be repeated")
        self._need(
            "search",
            not asked.network and asked.trees == 1,
            "no network and one tree; --guided-from brings in the network",
        )

    def _need(self, name: str, fine: bool, allowed: str) -> None:
        if not fine:
            raise BotError(f"--{name.replace('_', '-')} {getattr(self, name)} is not allowed; allowed: {allowed}")

    @property
    def budget(self) -> int | None:
        """Generations after which it ends; None where only the time counts."""
        asked = (self.generations, self.steps, self.minutes)
        return 8 if all(one is None for one in asked) else self.generations
