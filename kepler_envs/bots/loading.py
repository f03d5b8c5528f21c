"""Agents by name: ``agents.load("greedy", config)``.

A spec is a kind, with an argument behind a colon where the kind takes one: ``uniform``, ``greedy``, ``ppo:runs/kittens/best.zip``;
or the name of an agent that comes with the repository: ``ad_astra/ppo-v0``, for games of Ad Astra also ``ppo-v0``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.own import OwnAgent
from agents.protocol import Agent, AgentError, AgentOpponent, Decisions, FileAgent, TrustedDecisions, play_games
from agents.published import find_published, published_files, published_names
from kepler_envs.engine.game import Configuration

__all__ = [
    "KINDS",
    "Agent",
    "AgentError",
    "AgentOpponent",
    "Decisions",
    "FileAgent",
    "Kind",
    "TrustedDecisions",
    "fingerprint",
    "load",
    "network_file",
    "play_games",
]

CHECKPOINT_SUFFIXES = (".pt", ".safetensors", ".zip")


@dataclass(frozen=True)
class Kind:
    """A kind of agent: how its spec is written, what it does, how it is made from (argument, configuration)."""

    usage: str
    meaning: str
    make: Callable[..., Agent]

    @property
    def takes_argument(self) -> bool:
        return ":" in self.usage


def load(spec: str, config: Configuration, memory: int | None = None) -> Agent:
    """The agent that ``spec`` stands for, ready to play games of ``config``.

    Args:
        memory: bytes that the process of an agent from a file may take; None: any. Other agents are not limited.

    Raises:
        AgentError: an unknown kind or name, a missing or needless argument, or an agent that cannot play this game.
    """
    name, colon, argument = spec.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        agent = _published(spec, config)
        agent.name = spec
        return agent
    if kind.takes_argument and not argument:
        raise AgentError(f"agent {spec!r} lacks its argument; write {kind.usage}")
    if colon and not kind.takes_argument:
        raise AgentError(f"agent {name!r} takes no argument, but {spec!r} has one")
    agent = kind.make(argument, config, memory) if kind.make is OwnAgent else kind.make(argument, config)
    agent.name = spec
    return agent


def network_file(spec: str, config: Configuration) -> Path | None:
    """The checkpoint, or the folder of its run, of an agent that is a trained network; None for other agents."""
    name, _, argument = spec.partition(":")
    return Path(argument) if name == "ppo" and argument else find_published(spec, config.game.name)


def fingerprint(spec: str, game: str = "") -> str:
    """SHA-256 (16 hex digits) of the files behind a spec; empty for agents without files.

    A published name without a game is that of ``game``; if that is not given, of all games that have one.
    """
    name, _, argument = spec.partition(":")
    if name == "mcts":
        from agents.mcts import MctsConfig

        network = MctsConfig.parse(argument).network
        return fingerprint(network, game) if network else ""
    path = Path(argument.rpartition(":")[0] if name == "python" else argument)
    if name not in KINDS:
        files = published_files(f"{game}/{name}" if game and "/" not in name else name)
    elif path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in CHECKPOINT_SUFFIXES)
    else:
        files = [path] if path.is_file() else []
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16] if files else ""


def _usage() -> str:
    lines = [(kind.usage, kind.meaning) for kind in KINDS.values()]
    lines += [(name, "published, trained with `python -m agents.train`") for name in published_names()]
    width = max(len(usage) for usage, _ in lines) + 2
    return "\n".join(f"  {usage:<{width}}{meaning}" for usage, meaning in lines)


def _published(spec: str, config: Configuration) -> Agent:
    path = find_published(spec, config.game.name)
    if path is not None:
        return _ppo(str(path), config)
    hint = f"\na checkpoint of your own is written ppo:{spec}" if Path(spec).exists() and spec else ""
    raise AgentError(f"no agent {spec!r}; there are:\n{_usage()}{hint}")


def _uniform(argument: str, config: Configuration) -> Agent:
    from agents.uniform import UniformAgent

    return UniformAgent(config)


def _greedy(argument: str, config: Configuration) -> Agent:
    from agents.greedy import GreedyAgent

    return GreedyAgent(config)


def _ppo(argument: str, config: Configuration) -> Agent:
    from agents.ppo import PPOAgent  # torch is loaded only where it is used

    return PPOAgent(Path(argument), config)


def _mcts(argument: str, config: Configuration) -> Agent:
    from agents.mcts import MctsAgent, MctsConfig

    return MctsAgent(MctsConfig.parse(argument), config)


KINDS = {
    "uniform": Kind("uniform", "any legal action, each equally likely", _uniform),
    "greedy": Kind("greedy", "hand-written rules of thumb, one policy per game", _greedy),
    "mcts": Kind(
        "mcts:BUDGET", "tree search; iterations a decision, or as 50ms; further settings behind commas", _mcts
    ),
    "ppo": Kind("ppo:PATH", "a checkpoint written by `python -m agents.train`", _ppo),
    "python": Kind("python:FILE.py:NAME", "an agent of your own: what NAME(config) of that file returns", OwnAgent),
}
"""All kinds by the name a spec begins with."""
