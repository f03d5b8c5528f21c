"""The settings of expert iteration: the options of ``python -m agents.expert``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from agents.allowed import MOST_SEED, SIZE, need, need_defaults, need_network
from agents.search_games import Play
from kepler_envs.bots.protocol import BotError
from kepler_envs.bots.search import MctsConfig
from kepler_envs.cli.common import OnRay, Options, optional
from kepler_envs.engine.game import REWARD_OPTIONS

MAY_CHANGE = ("out", "components", "generations", "steps", "minutes", "processes", "ray")
"""Settings that may change when you continue a run. Another component file must have the same cards."""


@dataclass(frozen=True)
class ExpertConfig:
    """Let a network learn what a search finds, generation by generation."""

    game: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[GAME]")] = "kitten_adventurers"
    """Name or id of the game."""
    out: Annotated[Path | None, optional("FOLDER")] = None
    """Folder of the run; default runs/GAME-PLAYERSp-expert. If it holds a run, that run continues."""
    generations: Annotated[int | None, optional("N")] = None
    """Stop after this many generations (games, learning, judging); 8 without any budget."""
    steps: Annotated[
        int | None,
        optional(
            "N",
            help="Stop before the games have more decisions than this, including those of greedy that are imitated "
            "first. The next games are expected to be as long as the last ones. Nothing is known of the first; they "
            "are played anyway.",
        ),
    ] = None
    minutes: Annotated[float | None, optional("M")] = None
    """Begin no generation after this many minutes."""
    players: Annotated[int | str | None, optional("N")] = None
    """Number of players; default is the game's own. A range such as 3-5 trains one network for all these counts."""
    option: Options = ()
    """Option of the game. With several values, level=1,2, one network learns every combination."""
    components: Annotated[Path | None, optional("FILE")] = None
    """Your own component file, in place of the game's components.toml."""
    seed: int = 0
    """Seed of games, network and sampling. The same seed gives the same run, however many processes play."""
    processes: Annotated[int | None, optional("N")] = None
    """Processes that play games (1 if left out). With --ray, cores of a cluster that is started (all if left out)."""
    ray: OnRay = None
    """Play games on a Ray cluster: at ADDRESS, or on this machine, started with --processes cores if none runs."""
    start: Annotated[
        str | None,
        optional(
            "SPEC",
            help="Trained network to start from, bc-v1 or net:PATH; it sets width, hidden and rows. Without one, the "
            "network first imitates greedy.",
        ),
    ] = None
    over: Annotated[Literal["greedy"] | None, optional("greedy", aliases=["--from"])] = None
    """Bot whose choice the network sees. It starts at that strength and learns where to deviate."""
    teacher_positions: int = 200_000
    """Decisions of greedy to imitate first, without --start."""
    dagger: int = 1
    """Generations that learn greedy's choices where the network itself plays (DAgger), without --start and --over."""
    games: int = 1024
    """Games per generation, of all player counts together."""
    search: str = "100"
    """Budget and settings of the search, as after `mcts:` in the spec of a bot."""
    guided_from: Annotated[int | None, optional("N")] = None
    """First generation that the best network guides. Before, and without it, greedy plays the games out."""
    searched: float = Play.searched
    """Share of decisions that are searched. Greedy and the best network make the others, half of the seats each."""
    quick: float = Play.quick
    """Share of decisions that are kept without a search, to learn returns from."""
    noise: float = Play.noise
    """Share of random moves."""
    differing: float = Play.differing
    """Weight of a position where the search disagrees with greedy. Other positions have weight 1."""
    window: int = 6
    """Number of generations whose games are learned from."""
    epochs: float = 4.0
    """How often each position of the window is shown per generation; the first ones of greedy 3 times as often."""
    learning_rate: float = 1e-3
    """Learning rate of Adam at the start of each generation. It falls to a twentieth."""
    value_weight: float = 0.5
    """Weight of the squared error of the returns."""
    width: int = 96
    """Units of the first layer."""
    hidden: tuple[int, ...] = (96,)
    """Units of the further layers, which policy and value each have for themselves."""
    rows: int = 32
    """Numbers that the network computes per row of the tables. With 0 it does not look at single rows."""
    eval_games: Annotated[
        int,
        tyro.conf.arg(
            help="Evaluation games per generation: for each player count against uniform and against greedy each, and "
            "for each player count and combination of options against the best network."
        ),
    ] = 400
    gate: float = 1.0
    """A network becomes the best one if it wins at least this many times an equal share against the one before."""

    def __post_init__(self) -> None:
        least = {
            "games": 1,
            "teacher_positions": 100,
            "dagger": 0,
            "window": 1,
            "eval_games": 1,
        }
        least |= {
            name: 1 for name in ("generations", "steps", "guided_from", "processes") if getattr(self, name) is not None
        }
        for name, smallest in least.items():
            need(self, name, getattr(self, name) >= smallest, f"an integer from {smallest} on")
        need_network(self)
        above = ("epochs", "learning_rate", *(name for name in ("minutes",) if self.minutes is not None))
        for name in above:
            need(self, name, 0 < getattr(self, name) < math.inf, "a number above 0")
        for name in ("searched", "quick", "noise"):
            need(self, name, 0 <= getattr(self, name) <= 1, "0 to 1")
        need(
            self,
            "quick",
            self.searched + self.quick <= 1,
            f"at most {1 - self.searched:g} with --searched {self.searched:g}",
        )
        need(self, "searched", self.searched + self.quick > 0, "more than 0 with --quick 0: nothing would be learned")
        need(self, "seed", 0 <= self.seed <= MOST_SEED, f"0 to {MOST_SEED}")
        for name in ("differing", "gate", "value_weight"):
            need(self, name, 0 <= getattr(self, name) < math.inf, "a number from 0 on")
        for text in self.option:
            if text.partition("=")[0] in REWARD_OPTIONS:
                raise BotError(f"--option {text} is not allowed; expert iteration learns from default rewards")
        if self.start is not None:
            need_defaults(self, ["teacher_positions", *SIZE], "only without --start")
        if self.start is not None or self.over is not None:
            need(self, "dagger", self.dagger <= 1, "0 or 1 with --start or --over: greedy teaches nobody there")
        alone = "no network and one tree; --guided-from brings in the network"
        names = [one.partition("=")[0].strip() for one in self.search.split(",")[1:]]
        need(self, "search", "network" not in names, alone)
        for asked in self.searches():
            in_time = "a budget in iterations: with one in time no run could be repeated"
            need(self, "search", asked.iterations > 0, in_time)
            need(self, "search", asked.trees == 1, alone)
            need(self, "search", asked.selection == "puct", "selection=puct, by whose formula targets are pruned")

    def searches(self) -> Iterator[MctsConfig]:
        """The searches of the run: without a network up to ``guided_from``, with one from then on."""
        budget, *settings = self.search.split(",")
        if self.guided_from != 1:
            yield MctsConfig.parse(self.search)
        if self.guided_from is not None:
            yield MctsConfig.parse(",".join([budget, "network=the best so far", *settings]))

    @property
    def budget(self) -> int | None:
        """Generations after which the run ends. None if only the time counts."""
        asked = (self.generations, self.steps, self.minutes)
        return 8 if all(one is None for one in asked) else self.generations
