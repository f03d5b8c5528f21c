"""The settings of a search."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isnan
from typing import Any, get_type_hints

import numpy as np

from kepler_envs.bots.protocol import BotError
from kepler_envs.bots.search.kernels.tree import BY_POLICY, IN_TREE, PUCT, SETTINGS, UCB
from kepler_envs.engine.checks import check_type, is_integer, is_number
from kepler_envs.engine.game import record_array

MOST_ITERATIONS = 1_000_000
MOST_MILLISECONDS = 3_600_000
MOST_EXPLORATION = 1_000_000
"""Far beyond what returns in [-1, 1] can outweigh. With the largest numbers there are, products would be infinite."""
MOST_DEPTH = 1_000_000
"""More decisions than any playout has."""
SELECTIONS = {"ucb": UCB, "puct": PUCT}
OPPONENTS = {"tree": IN_TREE, "policy": BY_POLICY}
USUAL = float("nan")
"""Stands for a value that depends on other fields. Nobody can ask for it in a spec."""
PLAYOUT_WEIGHTS = {"exploration": 4.0, "trust": 0.5}
NETWORK_WEIGHTS = {"exploration": 1.0, "trust": 0.9}
UCB_WEIGHTS = {"exploration": 0.7, "trust": 0.0}
BUDGET = "a budget reads 1000 (iterations) or 50ms"
OF_KIND = {int: is_integer, float: is_number, str: lambda value: isinstance(value, str)}
"""What a field of each kind may be given."""
CHOICES = {"selection": SELECTIONS, "opponents": OPPONENTS}
"""The fields that are words here and numbers in the kernels."""


@dataclass(frozen=True)
class MctsConfig:
    """The settings of a search. Exactly one of ``iterations`` and ``milliseconds`` is the budget per decision.

    Raises:
        BotError: a value is not allowed, or has another type.
    """

    iterations: int = 0
    milliseconds: float = 0.0
    playout: str = "greedy"
    """Who plays a game to its end, greedy or uniform. Games without a greedy policy are played out uniformly."""
    selection: str = "puct"
    """How decisions are chosen. With puct, a prior from the playout policy says what to look at first. With ucb,
    everything is tried once, without a prior."""
    exploration: float = USUAL
    """The weight of what is little known.

    By default it is 4; with a network, whose values vary less than playouts, 1; with ucb, which weighs it in another
    way, 0.7.
    """
    trust: float = USUAL
    """The share of the prior, with puct, that goes to the playout policy's choice, or that follows the network.

    The rest is spread evenly over all legal decisions. Usually it is 0.5, with a network 0.9.
    """
    caution: float = 0.0
    """How much worse than its parent an untried decision is assumed to be, with puct. Returns are in [-1, 1]."""
    paired: int = 0
    """With 1, the n-th visits of all decisions at the root see the same hidden cards and the same chance.

    Luck then cancels out.
    """
    noise: float = 0.0
    """The share of playout decisions that are uniform."""
    opponents: str = "tree"
    """Who decides for the other seats within the tree.

    tree: every seat looks for its own best. policy: the playout policy decides; the tree then holds only the searching
    seat's decisions and reaches further.
    """
    network: str = ""
    """A trained bot, ``net:PATH`` or a published name.

    Its network is the prior and values the leaves.
    """
    mix: float = 0.0
    """With a network, the share of a leaf's value that a playout makes up, as in AlphaGo (D. Silver et al., Nature 529,
    2016). With 0, nothing is played out."""
    depth: int = MOST_DEPTH
    """The number of decisions after which a playout stops. It is then worth the returns for the current ranks."""
    trees: int = 1
    """The number of independent trees that share the budget, each its equal part. Their visits are added up.

    Milliseconds are shared by the trees of one thread: with as many threads as trees, each tree has all of them.
    """
    threads: int = 1
    """The number of threads that search games of a batch, and trees of a game, side by side.

    With a budget of iterations they change the speed, never a move.
    """

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            value = getattr(self, name)
            if not OF_KIND[kind](value):
                raise BotError(f"mcts: {name} = {value!r} is not of type {kind.__name__}")
        usual_weights = UCB_WEIGHTS if self.selection == "ucb" else PLAYOUT_WEIGHTS
        for name, usual in (NETWORK_WEIGHTS if self.network else usual_weights).items():
            if isnan(getattr(self, name)):
                object.__setattr__(self, name, usual)
        self._need("iterations", 0 <= self.iterations <= MOST_ITERATIONS, f"1 to {MOST_ITERATIONS}")
        self._need("milliseconds", 0 <= self.milliseconds <= MOST_MILLISECONDS, f"above 0, up to {MOST_MILLISECONDS}")
        self._need("budget", (self.iterations > 0) != (self.milliseconds > 0), "iterations or milliseconds, above 0")
        self._need("playout", self.playout in ("greedy", "uniform"), "greedy, uniform")
        self._need("selection", self.selection in SELECTIONS, ", ".join(SELECTIONS))
        self._need("opponents", self.opponents in OPPONENTS, ", ".join(OPPONENTS))
        self._need("selection", not self.network or self.selection == "puct", "puct with a network")
        if self.selection == "ucb":  # it has no prior
            for name in ("trust", "caution"):
                self._need(name, getattr(self, name) == 0, "0 with selection=ucb")
        self._need("exploration", 0 <= self.exploration <= MOST_EXPLORATION, f"0 to {MOST_EXPLORATION}")
        self._need("trust", 0 <= self.trust <= 1, "0 to 1")
        self._need("caution", abs(self.caution) <= 2, "-2 to 2")
        self._need("paired", self.paired in (0, 1), "0, 1")
        self._need("noise", 0 <= self.noise <= 1, "0 to 1")
        self._need("depth", 0 <= self.depth <= MOST_DEPTH, f"0 to {MOST_DEPTH}")
        self._need("mix", 0 <= self.mix <= 1, "0 to 1")
        self._need("mix", self.mix == 0 or bool(self.network), "0 without a network")
        if self.network:
            self._need("paired", self.paired == 0, "0 with a network")
        if self.network and not self.mix:  # nothing is played out
            for name, unused in (("noise", 0), ("depth", MOST_DEPTH)):
                self._need(name, getattr(self, name) == unused, f"{unused} with a network and mix = 0")
        self._need("trees", 1 <= self.trees <= 64, "1 to 64")
        self._need("threads", 1 <= self.threads <= 64, "1 to 64")

    def _need(self, name: str, fine: bool, allowed: str) -> None:
        if not fine:
            value = getattr(self, name, f"{self.iterations} iterations, {self.milliseconds:g} ms")
            raise BotError(f"mcts: {name} = {value} is not allowed; allowed: {allowed}")

    @classmethod
    def parse(cls, argument: str) -> MctsConfig:
        """Read ``1000``, ``50ms`` or ``1000,playout=uniform,exploration=0.7`` as settings.

        Raises BotError if it reads otherwise or a value is not allowed, TypeError if it is no text.
        """
        check_type("argument", argument, str, f"{BUDGET}, and settings follow after commas")
        budget, *pairs = argument.split(",")
        kinds = get_type_hints(cls)
        values: dict[str, Any] = {}
        unit = "milliseconds" if budget.endswith("ms") else "iterations"
        for name, text in [(unit, budget.removesuffix("ms")), *(_pair(pair) for pair in pairs)]:
            if name not in kinds:
                raise BotError(f"mcts: there is no {name!r}; there are {', '.join(kinds)}")
            if name in values:
                raise BotError(f"mcts: {name} is given twice, {values[name]} and {text}")
            try:
                values[name] = kinds[name](text)
            except ValueError:
                hint = f"; {BUDGET}" if (name, text) == (unit, budget.removesuffix("ms")) else ""
                raise BotError(f"mcts: {name} = {text!r} is not of type {kinds[name].__name__}{hint}") from None
            if name == "network" and not text:  # which stands for a search without one
                raise BotError("mcts: network = '' is not a trained bot; write net:PATH or a published name")
            if kinds[name] is float and isnan(values[name]):
                raise BotError(f"mcts: {name} = {text} is not a number")
        return cls(**values)

    def settings(self) -> np.ndarray:
        """The settings as the kernel reads them."""
        record = np.zeros(1, SETTINGS)
        for field in fields(self):
            if field.name in SETTINGS.names and field.name not in CHOICES:  # type: ignore[operator]
                record[field.name] = getattr(self, field.name)
        for name, numbers in CHOICES.items():
            record[name] = numbers[getattr(self, name)]
        return record_array(record)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BotError(f"mcts: {text!r} must read name=value")
    return name.strip(), value
