"""Compare figures of whole games with those of the game's specification.

Three kinds of players fill all seats: greedy, random but hardly ever ending a turn early ("hurried"), and uniform. The
figures say how long games take, how fast players are and who wins. The random players know nothing but the rules, so
their figures test the rules alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import tyro

import kepler_envs
from agents.allowed import need
from agents.ending import plain_ending
from docs.markdown import markdown_table
from kepler_envs import bots
from kepler_envs.cli.common import parse
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.seeds import SEED_LIMIT
from kepler_envs.games.race_to_kepler.actions import END_TURN
from kepler_envs.games.race_to_kepler.components import city_names

SPECIFIED_CITIES = {
    "Moscow": 0.386, "Istanbul": 0.325, "Johannesburg": 0.320, "Cairo": 0.290, "Shanghai": 0.284, "Lima": 0.276,
    "Seoul": 0.257,
    "Karachi": 0.237, "Lagos": 0.226, "Delhi": 0.225, "Bangkok": 0.211, "Kinshasa": 0.211, "Tokyo": 0.178,
    "Tehran": 0.161,
    "Sao Paulo": 0.160,
}  # fmt: skip
"""Win rates by city of the specification's greedy policy with four players."""

SPECIFIED = {
    # (agent, players): median turns of the winner, its parsecs per turn, those of all players, capped, encounters,
    # titans, win rate by turn order, decisions
    ("greedy", 4): ("11 (9-12)", "1.89", "1.36", "0 %", "6.5", "6.3", "0.284 0.277 0.239 0.200", "496"),
    ("greedy", 3): ("10 (9-12)", "", "", "0 %", "", "", "0.373 0.333 0.294", "378"),
    ("greedy", 2): ("10 (8-12)", "", "", "0 %", "", "", "0.531 0.469", "263"),
    ("hurried", 4): ("29", "", "0.33", "30 %", "", "", "", "1157"),
    ("hurried", 3): ("", "", "", "", "", "", "", "908"),
    ("hurried", 2): ("", "", "", "", "", "", "", "671"),
    ("uniform", 4): ("", "", "0.05", "100 %", "", "", "", "707"),
}


@dataclass(frozen=True)
class Settings:
    """Which games are played, and how many."""

    game: tyro.conf.Positional[Literal["race_to_kepler"]] = "race_to_kepler"
    """Name of the game: there are such figures for one."""
    games: int = 6000
    """Games of four greedy players. Other numbers of players get a third of it, random players a sixth."""
    seed: int = 50_000
    """Seed of the games."""

    def check(self) -> None:
        """Raise BotError if a number is not allowed."""
        need(self, "games", self.games >= 6, "an integer from 6 on")  # a sixth of them is played, too
        need(self, "seed", 0 <= self.seed < SEED_LIMIT, "0 to 2**64 - 1")


Choose = Callable[[Batch, np.ndarray], np.ndarray]


def chooser(name: str, batch: Batch, seed: int) -> Choose:
    """A function that chooses for all seats of a batch: (batch, rows) -> ids."""
    if name == "hurried":
        random = np.random.default_rng(seed)

        def hurry(batch: Batch, rows: np.ndarray) -> np.ndarray:
            weights = random.random((rows.size, batch.action_mask.shape[1])) * batch.action_mask[rows]
            weights[:, END_TURN] *= 1e-9  # only where nothing else is legal
            return weights.argmax(axis=1)

        return hurry
    agent = bots.load(name, batch.config)
    agent.start(np.arange(batch.num_envs), np.arange(batch.num_envs, dtype=np.uint64) + np.uint64(seed))
    return lambda batch, rows: agent.act(bots.TrustedDecisions(batch, rows))


def play(name: str, players: int, games: int, settings: Settings) -> Batch:
    """A batch in which every row has played exactly one game. Taking those that end first would favour short ones."""
    batch = Batch(kepler_envs.load_game(settings.game).configure(players), games, settings.seed)
    choose, rows = chooser(name, batch, settings.seed), np.arange(games)
    while rows.size:
        actions = np.full(games, Batch.SKIP, np.int64)
        actions[rows] = choose(batch, rows)
        batch.step(actions)
        rows = np.flatnonzero(batch.episodes == 0)
    return batch


@dataclass(frozen=True)
class Figures:
    """What is measured in a set of games."""

    winner_turns: np.ndarray  # of each game with a winner
    winner_speed: float  # parsecs a turn
    speed: float  # of all players
    capped: float  # share of games
    encounters: float
    titans: float  # taken, by bids or from the deck
    by_order: np.ndarray  # win rate by place in the turn order
    by_city: dict[str, tuple[float, int]]  # win rate and seats
    decisions: np.ndarray


def measure(batch: Batch) -> Figures:
    players, state = batch.config.num_players, batch.final_state
    winner = state["winner"].astype(int) - 1
    won = np.flatnonzero(winner >= 0)
    turns, parsecs = state["player"]["turns"][:, :players], state["player"]["parsecs"][:, :players]
    # the last turn of a winner is not cleaned up, so it is not counted as taken yet
    taken = turns + (np.arange(players) == winner[:, None])
    cities = state["player"]["city"][:, :players].astype(int) - 1
    is_winner = np.arange(players) == winner[:, None]
    names = city_names(batch.config.tables[0])
    by_city = {name: _rate(is_winner[cities == city]) for city, name in enumerate(names) if (cities == city).any()}
    order = (winner - state["first"]) % players
    return Figures(
        winner_turns=taken[won, winner[won]],
        winner_speed=float((parsecs[won, winner[won]] / taken[won, winner[won]]).mean()) if won.size else 0.0,
        speed=float((parsecs / np.maximum(taken, 1)).mean()),
        capped=1 - won.size / len(winner),
        encounters=float((7 - state["token"].sum(axis=1)).mean()),
        titans=float((16 - state["titan_deck_size"] - state["titan_row"].sum(axis=1)).mean()),
        by_order=np.array([(order[won] == place).mean() if won.size else 0 for place in range(players)]),
        by_city=by_city,
        decisions=batch.final_length,
    )


def _rate(wins: np.ndarray) -> tuple[float, int]:
    return float(wins.mean()), wins.size


# ---------------------------------------------------------------- tables


def summary(results: dict[tuple[str, int], Figures], games: dict[tuple[str, int], int]) -> str:
    columns = (
        "agent", "players", "games", "winner's turns: median (10-90 %)", "parsecs per turn, winner", "all", "capped",
        "encounters",
        "titans taken", "win rate by turn order", "decisions",
    )  # fmt: skip
    rows: list[tuple[str | int, ...]] = []
    for (name, players), figures in results.items():
        turns = "-"
        if figures.winner_turns.size:
            low, middle, high = np.percentile(figures.winner_turns, [10, 50, 90])
            turns = f"{middle:g} ({low:g}-{high:g})"
        order = " ".join(f"{rate:.3f}" for rate in figures.by_order) if figures.winner_turns.size else "-"
        winner = f"{figures.winner_speed:.2f}" if figures.winner_turns.size else "-"
        rows.append((name, players, games[name, players], turns, winner, f"{figures.speed:.2f}",
                     f"{100 * figures.capped:.1f} %",
                     f"{figures.encounters:.1f}", f"{figures.titans:.1f}", order,
                     f"{figures.decisions.mean():.0f}"))  # fmt: skip
        if (name, players) in SPECIFIED:
            rows.append(("*specification*", players, "", *SPECIFIED[name, players]))
    return markdown_table(columns, rows)


def cities(figures: Figures) -> str:
    """Win rates by city with their standard errors, best first."""
    ranked = sorted(figures.by_city.items(), key=lambda item: -item[1][0])
    rows = [
        (
            name,
            f"{rate:.3f}",
            f"{(rate * (1 - rate) / seats) ** 0.5:.3f}",
            f"{SPECIFIED_CITIES.get(name, float('nan')):.3f}",
        )
        for name, (rate, seats) in ranked
    ]
    return markdown_table(("city", "win rate", "s.e.", "specification"), rows)


def main() -> None:
    """The command line."""
    with plain_ending():
        settings = parse(Settings, "benchmarks.calibration", __doc__)
        settings.check()
        show(settings)


def show(settings: Settings) -> None:
    """Play the games, and print what they say beside the specification."""
    games = {("greedy", players): settings.games if players == 4 else settings.games // 3 for players in (4, 3, 2)}
    games |= {("hurried", players): settings.games // 6 for players in (4, 3, 2)} | {
        ("uniform", 4): settings.games // 6
    }
    results = {key: measure(play(*key, number, settings)) for key, number in games.items()}
    print(summary(results, games))
    print()
    print(cities(results["greedy", 4]))


if __name__ == "__main__":
    main()
