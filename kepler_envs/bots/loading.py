"""Loading bots by their specs: see :func:`load`."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kepler_envs.bots.from_file import BotFromFile, split
from kepler_envs.bots.protocol import Bot, BotError, UnknownBotError
from kepler_envs.bots.published import BEST, best_names, find_published, published_files, published_names
from kepler_envs.engine.checks import check_type, is_integer
from kepler_envs.engine.game import Configuration
from kepler_envs.registry import name_of

MOST_MEMORY = 2**63 - 1
"""The most bytes that a system takes as a limit."""

UNIFORM = "uniform"
"""The bot that every game and every installation has."""

NETWORK = re.compile(r",\s*network\s*=net:([^,]+)")
"""A network among the settings of a search, as ``MctsConfig.parse`` reads it."""


@dataclass(frozen=True)
class Kind:
    """A kind of bot: how its spec is written, what it does, and how it is made from (argument, configuration)."""

    usage: str
    meaning: str
    make: Callable[..., Bot]

    @property
    def takes_argument(self) -> bool:
        return ":" in self.usage


def load(spec: str, config: Configuration, memory: int | None = None) -> Bot:
    """Load the bot that ``spec`` stands for, ready to play games of ``config``.

    Args:
        spec: a kind or a published name, such as ``greedy``, ``mcts:1000`` or ``bc-v1``.
        config: the game with its players, options and components.
        memory: the bytes that the process of a bot from a file may take. None means any number. Other bots are not
            limited.

    Raises:
        BotError: the kind or name is unknown, an argument is missing or not wanted, the bot cannot play this game, or
            ``memory`` is no such number.
        TypeError: ``spec`` is no text, or ``config`` no configuration.
    """
    check_type("spec", spec, str)
    check_type("config", config, Configuration, 'load_game("GAME").configure() makes one')
    if memory is not None and not (is_integer(memory) and 1 <= memory <= MOST_MEMORY):
        raise BotError(f"memory = {memory!r} is not allowed; allowed: None, or bytes as an integer 1..2**63 - 1")
    name, colon, argument = spec.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        bot = _published(spec, config)
        bot.name = spec
        return bot
    if kind.takes_argument and not argument:
        raise BotError(f"bot {spec!r} lacks its argument; write {kind.usage}")
    if colon and not kind.takes_argument:
        raise BotError(f"bot {name!r} takes no argument, but {spec!r} has one")
    bot = kind.make(argument, config, memory) if kind.make is BotFromFile else kind.make(argument, config)
    bot.name = spec
    return bot


def places_of_paths(spec: str) -> list[tuple[int, int]]:
    """Where paths stand in a spec, as slices from left to right: in ``net:PATH``, ``python:FILE.py:NAME``, and searches
    with a network. There are none in what cannot be loaded."""
    kind, _, argument = spec.partition(":")
    if kind == "net" and argument:
        return [(len("net:"), len(spec))]
    if kind == "python":
        try:
            split(argument)
        except BotError:
            return []
        return [(len("python:"), spec.rindex(":"))]
    return [match.span(1) for match in NETWORK.finditer(spec)] if kind == "mcts" else []


def fingerprint(spec: str, game: str = "") -> str:
    """A text that tells versions of a bot apart.

    It is SHA-256 (16 hex digits) of the files behind its spec, or a version such as ``greedy-2`` for rules of thumb. It
    is empty for bots that never change, such as ``uniform``, and where nothing is behind a spec: :func:`load` says what
    is wrong. Of a folder, the checkpoint that plays counts. Of a bot from a file that file counts, but not what it
    imports or reads.

    For a network over greedy, greedy's version follows its own. A search has the version of the policy that plays out
    its games, or of its network, or both with "+" between them if it needs both. A published name without a game means
    the network of ``game``. If no game is given either, it means the networks of that name in all games, and rules of
    thumb have no version.

    Args:
        spec: the spec, as :func:`load` takes it.
        game: the name or the id of the game. "" means none.

    Raises:
        TypeError: one of them is no text.
    """
    check_type("spec", spec, str)
    check_type("game", game, str)
    game = name_of(game)
    name, _, argument = spec.partition(":")
    if name == "greedy":
        return _greedy_version(game)
    if name == "mcts":
        return _search_fingerprint(argument, game)
    if name not in KINDS:
        files = published_files(f"{game}/{name}" if game and "/" not in name else name)
    else:
        files = _files_behind(argument.rpartition(":")[0] if name == "python" else argument)
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    parts = [digest.hexdigest()[:16] if files else "", _greedy_version(game) if any(map(_over_greedy, files)) else ""]
    return "+".join(part for part in parts if part)


def _files_behind(path: str) -> list[Path]:
    """The file that a path stands for: itself, or in the folder of a run the checkpoint that plays."""
    from kepler_envs.bots.networks import checkpoint_at

    if not path:  # it would be the present folder
        return []
    try:
        file = checkpoint_at(Path(path))
    except BotError:  # there is none: loading it will say so
        return []
    return [file] if os.path.isfile(file) else []  # Path.is_file raises for names that are too long


def _over_greedy(file: Path) -> bool:
    """Whether a file is a network over greedy."""
    from kepler_envs.bots.networks.checkpoint import read_description

    try:
        return bool(read_description(file)["network"].get("over"))
    except BotError:  # not a network, or a damaged one: loading it will say so
        return False


def _greedy_version(game: str) -> str:
    from kepler_envs.bots.greedy import greedy_games, greedy_version

    return f"greedy-{greedy_version(game)}" if game in greedy_games() else ""


def _search_fingerprint(argument: str, game: str) -> str:
    from kepler_envs.bots.search.config import MctsConfig

    try:
        asked = MctsConfig.parse(argument)
    except BotError:  # there are no such settings: loading it will say so
        return ""
    asks_policy = not asked.network or asked.opponents == "policy" or asked.mix > 0
    parts = (
        fingerprint(asked.network, game) if asked.network else "",
        _greedy_version(game) if asks_policy and asked.playout == "greedy" else "",
    )
    return "+".join(part for part in parts if part)


def _usage() -> str:
    lines = [(kind.usage, kind.meaning) for kind in KINDS.values()]
    lines += [(name, "published, trained by a command of `agents`") for name in published_names()]
    lines += [(f"{name.split('/')[0]}/{BEST}", f"the best of them, {name}") for name in best_names()]
    width = max(len(usage) for usage, _ in lines) + 2
    return "\n".join(f"  {usage:<{width}}{meaning}" for usage, meaning in lines)


def _published(spec: str, config: Configuration) -> Bot:
    path = find_published(spec, config.game.name)
    if path is not None:
        return _net(str(path), config)
    raise UnknownBotError(f"no bot {spec!r}; there are:\n{_usage()}{_hint(spec)}")


def _hint(spec: str) -> str:
    """What somebody may have meant who gave a path."""
    if not spec or not os.path.exists(spec):
        return ""
    if spec.endswith(".py"):
        return f"\na bot from a file is written python:{spec}:NAME"
    return f"\na checkpoint of your own is written net:{spec}"


def _uniform(argument: str, config: Configuration) -> Bot:
    from kepler_envs.bots.uniform import UniformBot

    return UniformBot(config)


def _greedy(argument: str, config: Configuration) -> Bot:
    from kepler_envs.bots.greedy import GreedyBot

    return GreedyBot(config)


def _net(argument: str, config: Configuration) -> Bot:
    from kepler_envs.bots.networks import CheckpointBot

    return CheckpointBot(Path(argument), config)


def _mcts(argument: str, config: Configuration) -> Bot:
    from kepler_envs.bots.search import MctsBot, MctsConfig

    return MctsBot(MctsConfig.parse(argument), config)


KINDS = {
    "uniform": Kind("uniform", "any legal action, all equally likely", _uniform),
    "greedy": Kind("greedy", "hand-written rules of thumb, one policy per game", _greedy),
    "mcts": Kind(
        "mcts:BUDGET", "tree search; iterations per decision, or a time like 50ms; settings after commas", _mcts
    ),
    "net": Kind(
        "net:PATH", "a network trained by `python -m agents.train`: its checkpoint, or the folder of its run", _net
    ),
    "python": Kind("python:FILE.py:NAME", "a bot of your own: what NAME(config) in that file returns", BotFromFile),
}
"""All kinds, by the name a spec begins with."""
