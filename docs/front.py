"""What the front page shows of all games: the table of games and the table of speeds."""

from __future__ import annotations

import kepler_envs
from kepler_envs.bots import published
from kepler_envs.engine.game import Game

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
    from docs.build import markdown_table

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
    from docs.build import RECORD, code
    from kepler_envs.tournament.strength import read_lines

    best = dict(name.split("/") for name in published.best_names())[game.name]
    players = game.default_players
    [wins] = [
        line.wins
        for line in read_lines(RECORD)
        if (line.game, line.agent, line.against, line.players) == (game.name, best, "greedy", players)
    ]
    return f"{code(best)}: {100 * wins:.0f} % with {players} players, {100 / players:.0f} % equal"
