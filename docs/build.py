"""Write the generated parts of the pages: ``make docs-tables`` or ``python -m docs.build``. ``--check`` only looks.

A generated part stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``. In ``docs/games/<game>.md`` NAME is
one of SECTIONS, in README.md and other pages one of AGENT_SECTIONS. It comes from the code and the records, so that no
page can say anything else. Every game also has a picture, ``docs/images/<game>.svg``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import kepler_envs
from agents.settings import command_line
from benchmarks import campaigns as ladders
from benchmarks import imitation as imitations
from benchmarks.imitation import Measured
from docs import front
from docs.markdown import UNMEASURED, code, explained, markdown_table, short
from kepler_envs import bots, describe, records
from kepler_envs.bots import published
from kepler_envs.bots.networks.checkpoint import player_counts, read_description
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Game
from kepler_envs.tournament.strength import Line, read_lines

DOCS = Path(__file__).parent
RECORD = front.RECORD
PART = re.compile(r"(<!-- generated: (?P<name>[a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
UNENDED = re.compile(r"<!-- generated: (?P<name>[a-z ]+) -->\n(?:(?!<!-- end -->).)*?(?:<!-- generated:|\Z)", re.DOTALL)
"""A part that would reach to the end of the next one, or has none at all."""

MANY_GAMES = 10_000
"""With as many, bounds of an interval have a decimal."""
MEASURED_GAMES = 500
MEASURED_AGENTS = ("uniform", "greedy")
MEASURED_SEED = 20_000
LEADERBOARD_AGENTS = (
    "uniform",
    "bc-v1",
    "greedy",
    "mcts:100",
    "mcts:1000",
    published.BEST,
    f"mcts:100,network={published.BEST},exploration=0.7,mix=0.5,trust=0.8",
)
"""``best`` stands for the best network of each game."""
SEARCH_BUDGETS = (100, 1000)
SPANS = {"turns": "turns", "round": "rounds"}
"""What a game's infos may count besides decisions (one of these), and its name in a table."""
FIXED_TABLES = """Fixed tables are no part of the vector. They are the same in all games with a component file.
`env.config.observation.fixed[TABLE].values` is an int16 array with a row for each row of the table."""
PICTURE_AGENT, PICTURE_SEED, PICTURE_DECISIONS = "greedy", 6, 90


# ---------------------------------------------------------------- sections


def sizes(game: Game) -> str:
    return markdown_table(("what", "value"), describe.game_sizes(game))


def options(game: Game) -> str:
    rows = ((code(row.name), code(row.default), row.allowed, row.meaning) for row in describe.option_rows(game))
    return markdown_table(("option", "default", "allowed", "meaning"), rows)


def nodes(game: Game) -> str:
    rows = ((row.value, code(row.name), row.asked) for row in describe.node_rows(game))
    return markdown_table(("value", "node", "a seat is asked"), rows)


def actions(game: Game) -> str:
    rows = ((row.ids, code(row.name), row.argument, row.text) for row in describe.action_rows(game.actions))
    return markdown_table(("ids", "block", "argument", "text"), rows)


def observation(game: Game) -> str:
    """The pieces of the vector, and the fields of the tables beside it."""
    pieces = pieces_table("piece", "entry", describe.piece_rows(game.observation))
    if not game.observation.fixed:
        return pieces
    tables = pieces_table("field of a fixed table", "column", describe.fixed_rows(game.observation))
    return f"{pieces}\n\n{FIXED_TABLES}\n\n{tables}"


def pieces_table(name: str, where: str, rows: Sequence[describe.PieceRow]) -> str:
    cells = ((code(row.name), row.where, row.shape, row.values, row.kind, row.meaning) for row in rows)
    return markdown_table((name, where, "shape", "values", "kind", "meaning"), cells)


def components(game: Game) -> str:
    parts = [markdown_table(("tag", "meaning"), describe.provenance_rows(game))]
    for table in describe.component_tables(game):
        parts.append(f"`{table.section}`:\n\n{markdown_table(table.columns, table.rows)}")
    return "\n\n".join(parts)


def lengths(game: Game) -> str:
    """How long games of uniformly random and of greedy players are, and how they end: the reasons, or the scores."""
    rows: list[list[Any]] = []
    for players in range(game.min_players, game.max_players + 1):
        for name in MEASURED_AGENTS:
            config = game.configure(players)
            batch = bots.play_games(bots.load(name, config), config, MEASURED_GAMES, MEASURED_SEED)
            infos = [game.info(state, batch.config.tables[0], 0) for state in batch.final_state]
            row = [players, name, *middle_and_most(batch.final_length)]
            if "end_reason" in infos[0]:  # games end when something happens: how long they are is worth telling
                for key in SPANS.keys() & infos[0]:
                    row += middle_and_most(np.array([info[key] for info in infos]))
                row.append(shares([info["end_reason"] for info in infos]))
            else:
                row += [f"{batch.final_score.mean():.1f}", f"{batch.final_score.max(axis=1).mean():.1f}"]
            rows.append(row)
    titles = ["players", "all seats", *three("decisions")]
    if "end_reason" in infos[0]:
        for key in SPANS.keys() & infos[0]:
            titles += three(SPANS[key])
        titles.append("how games end")
    else:
        titles += ["score: mean", "best"]
    head = f"Measured over {MEASURED_GAMES:,} games each, all seats played by the same bot."
    return f"{head}\n\n{markdown_table(titles, rows)}"


def strength(game: Game) -> str:
    """Each agent alone against one on all other seats, from the record of ``kepler-envs strength``."""
    lines = [line for line in read_lines(RECORD) if line.game == game.name]
    opponents = [name for name in MEASURED_AGENTS if any(line.against == name for line in lines)]
    found = {(line.players, line.agent, line.against): line for line in lines}
    rows = [
        [players, code(agent), *(wins_and_games(found.get((players, agent, other))) for other in opponents)]
        for players, agent in sorted({(line.players, line.agent) for line in lines})
    ]
    table = markdown_table(["players", "bot", *(f"wins against {code(name)}" for name in opponents)], rows)
    return explained(table)


def wins_and_games(line: Line | Measured | None) -> str:
    if line is None:
        return UNMEASURED
    return f"{100 * line.wins:.1f} % ({100 * line.low:.1f} .. {100 * line.high:.1f}), {line.games:,}"


def ladder(game: Game) -> str:
    """The bots of the leaderboard at the default number of players, each alone against greedy players; only measured
    ones."""
    best = dict(name.split("/") for name in published.best_names()).get(game.name, "")
    found = {
        line.agent: line
        for line in read_lines(RECORD)
        if (line.game, line.players, line.against) == (game.name, game.default_players, "greedy")
    }
    rows = [
        (f"{code(agent)} ({code(best)})" if agent == published.BEST else code(agent), *wins_interval_games(line))
        for agent in LEADERBOARD_AGENTS
        if agent != best and (line := found.get(agent.replace(published.BEST, best)))
    ]
    rows.append(("an equal share", f"{100 / game.default_players:g} %", UNMEASURED, UNMEASURED))
    return markdown_table(("bot", f"wins, {game.default_players} players", "95 % interval", "games"), rows)


def wins_interval_games(line: Line) -> tuple[str, str, str]:
    return f"{100 * line.wins:.1f} %", f"{100 * line.low:.1f} .. {100 * line.high:.1f}", f"{line.games:,}"


SECTIONS: dict[str, Callable[[Game], str]] = {
    section.__name__: section
    for section in (ladder, sizes, options, nodes, actions, observation, components, lengths, strength)
}


def campaigns(game: Game) -> str:
    """Points of bots in solo campaigns, level by level, from the record of ``python -m benchmarks.campaigns``."""
    return markdown_table(ladders.columns(), ladders.ladder(ladders.read(ladders.RECORD)))


def sections_of(game: str) -> dict[str, Callable[[Game], str]]:
    """The generated parts of a game's page."""
    return {**SECTIONS, **({campaigns.__name__: campaigns} if game == ladders.GAME.name else {})}


def published_networks() -> str:
    """The networks that come with the repository, and how each was trained."""
    rows, best = [], published.best_names()
    for name in published.published_names():
        path = published.published_path(*name.split("/"))
        about = read_description(path)
        rows.append(
            (
                code(name) + (", the best" if name in best else ""),
                f"over {about['network']['over']}" if about["network"].get("over") else "network alone",
                played_with(about),
                f"{about['results']['parameters']:,}",
                f"{path.stat().st_size / 1000:.0f} kB",
                f"{about['budget']['minutes']:g} minutes, {about['budget']['steps']:,} decisions",
                about["seed"],
                code(short(about["commit"])),
                code(command_line(about["training"])),
            )
        )
    titles = ("network", "kind", "players", "parameters", "file", "trained for", "seed", "commit", "command")
    return markdown_table(titles, rows) if rows else "None yet."


def played_with(about: dict[str, Any]) -> str:
    """The player counts of a network, and the options that it plays several values of."""
    counts = player_counts(about)
    options = [
        f"{name} {', '.join(map(str, values))}" for name, values in about["options"].items() if isinstance(values, list)
    ]
    return "; ".join([f"{counts[0]}-{counts[-1]}" if len(counts) > 1 else str(counts[0]), *options])


def leaderboard() -> str:
    """Each bot alone against greedy players, at the default number of players of each game."""
    games = [kepler_envs.load_game(name) for name in kepler_envs.list_games()]
    lines = [line for line in read_lines(RECORD) if line.against == "greedy"]
    found = {(line.game, line.agent): line for line in lines if line.players == game_defaults(line.game)}
    for game, best in (name.split("/") for name in published.best_names()):
        for agent in LEADERBOARD_AGENTS:
            if published.BEST in agent and (game, agent.replace(published.BEST, best)) in found:
                found[game, agent] = found[game, agent.replace(published.BEST, best)]
    rows = [
        [code(agent), *(wins_alone(found.get((game.name, agent))) for game in games)]
        for agent in LEADERBOARD_AGENTS
        if any((game.name, agent) in found for game in games)
    ]
    rows.append(["an equal share", *(f"{100 / game.default_players:g} %" for game in games)])
    table = markdown_table(["bot", *(f"{game.title}, {game.default_players} players" for game in games)], rows)
    return explained(table)


def searches() -> str:
    """Tree search against greedy players at both budgets, wherever it was measured. Settings behind the budget have a
    column of their own."""
    found: dict[tuple[str, int, str], dict[int, Line]] = {}
    for line in read_lines(RECORD):
        kind, _, argument = line.agent.partition(":")
        budget, _, settings = argument.partition(",")
        if kind == "mcts" and line.against == "greedy" and budget.isdecimal() and int(budget) in SEARCH_BUDGETS:
            found.setdefault((line.game, line.players, settings), {})[int(budget)] = line
    rows = [
        (
            kepler_envs.load_game(game).title, players, f"{100 / players:.0f} %",
            code(settings) if settings else "defaults",
            *(wins_and_games(lines.get(budget)) for budget in SEARCH_BUDGETS),
        )
        for name in kepler_envs.list_games()
        for (game, players, settings), lines in found.items()
        if game == name
    ]  # fmt: skip
    budgets = (f"{budget:,} iterations: wins, games" for budget in SEARCH_BUDGETS)
    table = markdown_table(("game", "players", "equal share", "settings", *budgets), rows)
    return explained(table)


def game_defaults(name: str) -> int:
    return kepler_envs.load_game(name).default_players


def wins_alone(line: Line | None) -> str:
    if line is None:
        return UNMEASURED
    digits = int(line.games >= MANY_GAMES or line.wins in (0, 1))  # an interval of 0 has a width
    return f"{100 * line.wins:.1f} % ({100 * line.low:.{digits}f} .. {100 * line.high:.{digits}f})"


def imitation() -> str:
    """How well networks predict greedy's choices and what they win against it, from the record of ``python -m
    benchmarks.imitation``."""
    lines = sorted(
        records.read_lines(imitations.RECORD, Measured), key=lambda line: (line.game, line.players, not line.derived)
    )
    rows = [
        (
            code(line.game),
            line.players,
            f"{line.width}, {line.hidden}; " + (f"{line.rows} per row" if line.rows else "flat"),
            "all" if line.derived else "facts",
            f"{line.parameters:,}",
            f"{100 * line.accuracy:.1f} %",
            wins_and_games(line),
            f"{100 * line.equal_share:g} %",
            f"{(line.seconds_gathering + line.seconds_learning) / 60:.1f}",
            code(short(line.commit)),
        )
        for line in lines
    ]
    titles = (
        "game", "players", "network", "sees", "parameters", "predicted", "wins against greedy, games", "equal share",
        "minutes", "commit"
    )  # fmt: skip
    return markdown_table(titles, rows)


@cache
def sizes_of_games() -> str:
    """How large the games are with their usual number of players: see the words beside the table."""
    rows = []
    for game in map(kepler_envs.load_game, kepler_envs.list_games()):
        config = game.configure()
        decisions, mean, most = {}, "", ""
        for name in MEASURED_AGENTS:
            bot = CountsLegalIds(bots.load(name, config))
            batch = bots.play_games(bot, config, MEASURED_GAMES, MEASURED_SEED)
            decisions[name] = f"{batch.final_length.mean():.0f}"
            if name == bots.UNIFORM:
                legal = np.concatenate(bot.counts)
                mean, most = f"{legal.mean():.1f}", f"{legal.max()}"
        observation = f"{config.observation.size:,}, {config.observation.facts.size:,}"
        rows.append(
            (code(game.id), config.num_players, len(config.actions), observation, *decisions.values(), mean, most)
        )
    counted = (f"decisions of a game, {name}" for name in MEASURED_AGENTS)
    titles = ("game", "players", "action ids", "entries of an observation, facts alone", *counted)
    return markdown_table((*titles, "legal ids, mean", "most"), rows)


class CountsLegalIds:
    """A bot that notes how many ids are legal at each of its decisions."""

    def __init__(self, bot: bots.Bot) -> None:
        self.name, self._bot = bot.name, bot
        self.counts: list[np.ndarray] = []

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        self._bot.start(rows, seeds)

    def act(self, decisions: bots.TrustedDecisions) -> np.ndarray:
        self.counts.append(decisions.batch.legal_count[decisions.rows])
        return self._bot.act(decisions)


AGENT_SECTIONS: dict[str, Callable[[], str]] = {
    "published networks": published_networks,
    "leaderboard": leaderboard,
    "imitation": imitation,
    "searches": searches,
    "sizes of games": sizes_of_games,
    "games": front.games,
    "speed": front.speed,
    "figures": front.all_figures,
}


# ---------------------------------------------------------------- measured


def shares(reasons: list[str]) -> str:
    """How often each reason comes, in words, the most frequent first."""
    counts = {reason: reasons.count(reason) for reason in sorted(set(reasons), key=reasons.count, reverse=True)}
    return ", ".join(f"{reason} {100 * count / len(reasons):g} %" for reason, count in counts.items())


def three(what: str) -> tuple[str, str, str]:
    return f"{what}: mean", "median", "most"


def middle_and_most(values: np.ndarray) -> tuple[str, str, str]:
    return f"{values.mean():.0f}", f"{np.median(values):.0f}", str(values.max())


def picture(game: Game) -> str:
    """A position from the middle of a game of greedy players, as the seat to move sees it."""
    batch = Batch(game.configure(), 1)
    batch.reset(np.array([PICTURE_SEED], np.uint64))
    agent, rows = bots.load(PICTURE_AGENT, batch.config), np.zeros(1, np.int64)
    agent.start(rows, np.zeros(1, np.uint64))
    for _ in range(PICTURE_DECISIONS):
        batch.step(agent.act(bots.TrustedDecisions(batch, rows)))
    position = batch.snapshot(0)
    return position.drawing(position.seat).svg()


# ---------------------------------------------------------------- pages


def build_page(game: Game, text: str) -> str:
    """A game's page with fresh generated parts. KeyError for a name that is none of its sections."""
    return write_parts(text, lambda name: sections_of(game.name)[name](game))


def write_parts(text: str, part: Callable[[str], str]) -> str:
    """A page with fresh generated parts; ``part`` writes one, given its name. ValueError if one has no end."""
    if unended := UNENDED.search(text):
        raise ValueError(f"the generated part {unended['name']!r} has no <!-- end -->")
    return PART.sub(lambda match: f"{match[1]}\n{part(match['name'])}\n\n{match[3]}", text)


def build_game(name: str) -> dict[Path, str]:
    """The files with generated content about a game, with what they should hold."""
    game = kepler_envs.load_game(name)
    page = DOCS / "games" / f"{name}.md"
    return {
        page: build_page(game, page.read_text(encoding="utf-8")),
        DOCS / "images" / f"{name}.svg": picture(game),
    }


def build_others() -> dict[Path, str]:
    """The other files with generated content, with what they should hold."""
    from agents.benchmark.report import PAGE  # which writes tables as pages here do
    from agents.benchmark.report import build_page as build_benchmark

    contents = {}
    pages = ("bots.md", "concepts.md", "training.md", "performance.md", "../README.md")
    for page in ((DOCS / name).resolve() for name in pages):
        contents[page] = write_parts(page.read_text(encoding="utf-8"), lambda name: AGENT_SECTIONS[name]())
    contents[PAGE] = build_benchmark(PAGE.read_text(encoding="utf-8"))
    return contents


def stale(contents: dict[Path, str]) -> list[Path]:
    """The files that hold something else."""
    return [path for path, text in contents.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.build", description="Write the generated parts of the pages.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if something is stale")
    check = parser.parse_args(argv).check
    contents = build_others()
    for name in kepler_envs.list_games():
        contents |= build_game(name)
    for path in stale(contents):
        print(f"{'stale' if check else 'written'}: {path.relative_to(DOCS.parent)}")
        if check:
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_text(contents[path], encoding="utf-8")
    return int(check and bool(stale(contents)))


if __name__ == "__main__":
    sys.exit(main())
