"""The tables of the front page: the games, and a few figures of one run of the benchmarks."""

from __future__ import annotations

from pathlib import Path

import kepler_envs
from benchmarks import figures
from docs.markdown import code, markdown_table
from kepler_envs.bots import published
from kepler_envs.engine.game import Game
from kepler_envs.tournament.strength import read_lines

RECORD = Path(__file__).parent / "strength.csv"
"""How strong bots are: lines of ``kepler-envs strength``."""

HARD = {
    "kitten_adventurers": "shared ladders, hidden hands, wild cards",
    "kepler_run": "drafting, then racing on what all have built; secret contracts",
    "ad_astra": "face-down programming, exploration, trade between players",
    "race_to_kepler": "deck building, asymmetric cities, sealed bids",
    "kepler_3042": "a euro game on a map of 418 hexes; solo campaigns against a ghost",
}
"""What each game asks of an agent that the others do not."""


def games() -> str:
    """A row per game: thumbnail, players, what makes it hard, the best published network."""
    rows = [
        (
            f"[![{game.title}](docs/images/thumb_{game.name}.png)](docs/games/{game.name}.md)",
            f"[{game.title}](docs/games/{game.name}.md) `{game.id}`",
            f"{game.min_players}-{game.max_players}",
            HARD[game.name],
            best_network(game),
        )
        for game in map(kepler_envs.load_game, kepler_envs.list_games())
    ]
    return markdown_table(("", "game", "players", "what makes it hard", "best network, wins against `greedy`"), rows)


def best_network(game: Game) -> str:
    """The best published network of a game, and what it wins alone against greedy at the usual number of players."""
    best = dict(name.split("/") for name in published.best_names())[game.name]
    players = game.default_players
    [wins] = [
        line.wins
        for line in read_lines(RECORD)
        if (line.game, line.agent, line.against, line.players) == (game.name, best, "greedy", players)
    ]
    return f"{code(best)}: {100 * wins:.0f} % with {players} players; an equal share is {100 / players:.0f} %"


def speed() -> str:
    """What the engine, the learner and the first step are compared with, at most five rows."""
    compared = [
        ("Kitten Adventurers, 256 games from Python, against a hand-written C engine", value, "batch from Python"),
        ("Kitten Adventurers, AEC loop against PettingZoo's connect four", value, "AEC last()/step() loop"),
        ("256 games from Python against OpenSpiel's gin rummy", span, "beside OpenSpiel's gin_rummy"),
        ("learning with MaskablePPO against PyTorch's own operations", span, "players, 1 thread"),
        (
            "first step from the wheel against importing numba, Gymnasium and PettingZoo",
            span,
            "first step from the wheel",
        ),
    ]
    found = figures.read(figures.RECORD).only([part for *_, part in compared])
    rows = [(words, measured(found, part)) for words, measured, part in compared]
    return f"{markdown_table(('what', 'measured'), rows)}\n\n{figures.footnote(found)}"


def value(found: figures.Figures, beginning: str) -> str:
    """The one figure whose name begins so."""
    [row] = figures.chosen(found, [beginning])
    return f"{row.value}{found.mark(row)}"


def span(found: figures.Figures, part: str) -> str:
    """The smallest and the largest ratio of the games' figures with this in their names."""
    compared = [(row, row.ratio) for row in found.rows if part in row.what and row.ratio is not None]
    ratios = [ratio for _, ratio in compared]
    if len(ratios) < len(kepler_envs.list_games()):
        raise KeyError(f"the record has {len(ratios)} figures with {part!r}, and there are more games")
    low, high = min(ratios), max(ratios)
    return f"{number(low)} to {number(high)} times, by game{found.mark(compared[0][0])}"


def number(ratio: float) -> str:
    """Two digits that count."""
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def all_figures() -> str:
    """Every row of the record."""
    found = figures.read(figures.RECORD)
    rows = [
        (row.what, f"{row.value}{found.mark(row)}", f"{row.target}, missed" if row.met is False else row.target)
        for row in found.rows
    ]
    return f"{markdown_table(('what', 'measured', 'target'), rows)}\n\n{figures.footnote(found)}"
