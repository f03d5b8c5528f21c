"""Attacks with the same budget on every published network.

Several attackers train (:mod:`agents.exploit`), from the bot's own network or from ``bc-v1`` if it has none. The best
one counts.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agents.benchmark.protocol import (
    ATTACKER_DECISIONS,
    ATTACKER_RATES,
    ATTACKERS,
    GAMES,
    IMITATION,
    Task,
    version_of,
)
from agents.benchmark.records import AttackLine
from agents.exploit import Exploit, Outcome, exploit, measure
from agents.run import Run
from agents.seeds import FRESH_SEED
from agents.status import Status
from kepler_envs import bots
from kepler_envs.bots.networks.checkpoint import networks_that_play
from kepler_envs.bots.protocol import BotError, UnknownBotError
from kepler_envs.bots.published import network_file
from kepler_envs.machine import processor
from kepler_envs.printable import one_line
from kepler_envs.records import not_recorded, read_lines, write_unless
from kepler_envs.revision import commit


@dataclass(frozen=True)
class Siege:
    """A bot and the budget of those who attack it.

    Attributes:
        agent: ``bc-v1``, ``greedy``. attackers: how many, with seeds 0, 1, ... and learning rates from
            ``ATTACKER_RATES`` in turn. decisions: of each in training. games: those of the result, as many to choose
            the best attacker, and half as many to choose the best checkpoint of each. out: folder for the attackers.
    """

    task: Task
    agent: str
    attackers: int = ATTACKERS
    decisions: int = ATTACKER_DECISIONS
    games: int = GAMES
    out: Path = Path("runs/attacks")
    trust_folder: bool = False

    def request(self, seed: int) -> Exploit:
        """The settings of one attacker."""
        # other versions, and other numbers of games, are attacked anew
        version = version_of(self.agent, self.task.game) or "unchanging"
        name = f"{self.agent}-{version}-{self.decisions}-{self.games}".replace(":", "-").replace("/", "-")
        return Exploit(
            self.task.game, self.agent, self.task.players, steps=self.decisions, games=self.games,
            begin=IMITATION if network_file(self.agent, self.task.config) is None else "agent",
            eval_games=max(1, self.games // 2), seed=seed, learning_rate=ATTACKER_RATES[seed % len(ATTACKER_RATES)],
            out=self.out / self.task.name / name / f"seed-{seed}", trust_folder=self.trust_folder,
        )  # fmt: skip


def published_agents(tasks: tuple[Task, ...]) -> list[tuple[Task, str]]:
    """Every published network that plays these tasks."""
    return [(task, name) for task in tasks for name in networks_that_play(task.config)]


def named_agents(
    tasks: tuple[Task, ...], names: tuple[str, ...], say: Callable[[str], None] = lambda line: None
) -> list[tuple[Task, str]]:
    """These bots in the tasks that they play. What is left out is told.

    Raises BotError if a bot plays none of them.
    """
    refused: dict[tuple[Task, str], BotError] = {}
    pairs = list(itertools.product(tasks, names))
    for task, name in pairs:
        try:
            bots.load(name, task.config)
        except BotError as problem:
            refused[task, name] = problem
    for name in names:
        if all((task, name) in refused for task in tasks):
            raise refused[tasks[0], name]
    for (task, name), reason in refused.items():
        why = "there is none" if isinstance(reason, UnknownBotError) else one_line(reason)
        say(f"{task.name}: {name} is not attacked: {why}")
    return [pair for pair in pairs if pair not in refused]


def attack(
    siege: Siege,
    record: Path,
    stop: threading.Event,
    watch: Callable[[Status], None] = lambda status: None,
    say: Callable[[str], None] = lambda line: None,
) -> AttackLine | None:
    """Train all attackers or continue with them, let the best play new games, and write the line. None if it was
    stopped.

    If the record already has this bot with this budget, nothing is done. If another process attacked it with more games
    meanwhile, that line stays and is returned, and this is told.
    """
    known = _known(siege, record)
    if known is not None:
        return known
    found: list[tuple[Exploit, Run, Outcome]] = []
    for seed in range(siege.attackers):
        request = siege.request(seed)
        say(f"{siege.task.name}: attacker {seed + 1} of {siege.attackers} on {siege.agent}")
        run, outcome = exploit(request, stop, watch, say=say)
        if outcome is None:
            return None
        say(f"  wins {outcome.wins.mean:.1%} ({outcome.wins.low:.1%} .. {outcome.wins.high:.1%})")
        found.append((request, run, outcome))
    request, run, _ = max(found, key=lambda one: one[2].wins.mean)
    final = measure(request, run, stop, lambda games, total: None, FRESH_SEED)
    if final is None:
        return None
    line = _line(siege, [outcome for _, _, outcome in found], final, sum(run.seconds for _, run, _ in found))
    kept = write_unless(record, line, partial(_has_more_games, line))
    if kept is not None:
        say(not_recorded(kept.games, line.games))
    return kept or line


def _known(siege: Siege, record: Path) -> AttackLine | None:
    task, version = siege.task, version_of(siege.agent, siege.task.game)
    key = (task.game, task.players, siege.agent, siege.decisions, siege.attackers)
    found = {line.key: line for line in read_lines(record, AttackLine)}.get(key)
    if found is None or found.agent_version != version or found.games < siege.games or not found.is_of_this_release:
        return None
    return found


def _has_more_games(line: AttackLine, known: AttackLine) -> bool:
    """Whether a line of the record has more games against the same bot, which another process played meanwhile."""
    return known.agent_version == line.agent_version and known.games > line.games and known.is_of_this_release


def _line(siege: Siege, each: list[Outcome], final: Outcome, seconds: float) -> AttackLine:
    task, wins = siege.task, final.wins
    return AttackLine(
        task.game, task.players, siege.agent, version_of(siege.agent, task.game), siege.decisions, siege.attackers,
        " ".join(f"{100 * one.wins.mean:.1f}" for one in each), round(wins.mean, 4), round(wins.low, 4),
        round(wins.high, 4),
        round(final.returns.mean, 4), wins.games, round(final.equal_share, 4), round(seconds / 3600, 2),
        f"{processor()}, 1 of {os.cpu_count()} cores", commit(7) or "unknown",
    )  # fmt: skip
