"""The contract a game fulfils.

A game is data and a few compiled verbs; the engine supplies everything else (environment, batch, playouts, replays).
:class:`Game` is what a game folder exports as ``GAME``; :class:`Configuration` is a game with its number of
players, its options and its component tables fixed: what an environment stands on.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.checks import check_integer
from kepler_envs.engine.code_cache import Scope
from kepler_envs.engine.kernel import JIT_ENABLED
from kepler_envs.engine.observation import Layout

RUNNING, TERMINATED, TRUNCATED = 0, 1, 2
"""Values of a state's field ``end``."""

STATE_FIELDS = ("rng", "decisions", "node", "seat", "num_players", "end")
"""Fields every state has: the generator (uint64), decisions made so far, the node waiting for a decision,
the seat that decides, the number of players, and one of the three values above."""


REWARD_OPTIONS = ("shaping", "reward_mode")
"""Options that change what play is paid but not the game: a network may play where they differ from its training."""

NAME_OF_GAME = "GAME"
"""What a game is called in the module that makes it."""


class Reason(IntEnum):
    """Why a game ended: an integer that prints as a word.

    Infos hold numbers alone, because some libraries make tensors of them.
    """

    def __str__(self) -> str:
        return self.name.lower()

    def __format__(self, format_spec: str) -> str:
        return format(str(self), format_spec)


DERIVED = "derived"
"""The option of every game that leaves out what an observation says besides facts."""


class ComponentError(ValueError):
    """A component file (cards, map, ...) breaks a rule; the message names file, row and rule."""


class OptionError(ValueError):
    """An option has a value that is not allowed; the message names the allowed ones."""


class UnknownOptionError(OptionError, TypeError):
    """Options that the game does not have, their ``names`` in order. A TypeError, too, as for any unknown keyword: by
    it libraries find out what they may not pass on.
    """

    def __init__(self, message: str, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.names = tuple(names)


@dataclass(frozen=True)
class Option:
    """One option of a game.

    ``choices`` are allowed literally; besides, a number in ``low..high`` of type ``number`` (int or float) if that is
    given.
    """

    name: str
    default: Any
    meaning: str
    choices: tuple[Any, ...] = ()
    number: type | None = None
    low: float = 0
    high: float = 0

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        parts = [repr(choice) for choice in self.choices]
        if self.number is not None:
            noun = "an integer" if self.number is int else "a number"
            parts.append(f"{noun} {self.low:g}..{self.high:g}")
        return " or ".join(parts)

    def check(self, value: Any, game: str) -> Any:
        """``value`` in its own type, or an :class:`OptionError`."""
        for choice in self.choices:
            if type(value) is type(choice) and value == choice:
                return value
        is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if self.number is not None and is_number and self.low <= value <= self.high and self.number(value) == value:
            return self.number(value)
        raise OptionError(f"{game}: option {self.name} = {value!r} is not allowed; allowed: {self.allowed}")


DERIVED_OPTION = Option(
    DERIVED, True, "whether the observation has derived fields, which follow from its facts", (True, False)
)


@dataclass(frozen=True)
class Verbs:
    """The compiled verbs. ``s`` is a state record, ``t`` the tables record, ``o`` the options record.

    setup(s, t, o)              deal a game; ``s`` is all zero but for ``s.rng``
    legal(s, t, mask)           set the bit of each legal id in ``mask`` (uint64 words, cleared before)
    apply(s, t, action)         apply a legal id, with everything automatic behind it
    observe(s, t, seat, out)    write every entry of the observation of ``seat``; where ``out`` has room for facts
    alone, those resample(s, t, seat, g)     redraw from generator ``g`` all that ``seat`` cannot know, ``s.rng``
    included, and ``s.decisions`` where it tells returns(s, t, ranks, out)   final rewards (float32 per seat) of a
    finished game, each in [-1, 1]; sum 0 unless one plays alone ranks(s, t, out)            final ranks (int32 per
    seat), 1 is best, equal results share the better rank scores(s, t, out)           current score (int32 per seat),
    more is better potential(s, t, out)        shaping potential (float32 per seat); rewards get its differences

    ``engine/returns.py`` makes the last four of what a game says of one seat.
    """

    setup: Any
    legal: Any
    apply: Any
    observe: Any
    resample: Any
    returns: Any
    ranks: Any
    scores: Any
    potential: Any


def open_text(state: np.void, config: Configuration, action: int) -> str:
    """The action's own words: the ``public_text`` of a game without secret decisions."""
    return config.actions.text(action)


@dataclass(frozen=True, eq=False)
class Game:
    """Everything the engine knows of a game.

    Attributes:
        name: folder name and registry name (``kitten_adventurers``).
        module: the module whose ``GAME`` it is (``__name__`` there); games are pickled by it, and components.toml lies
            beside it.
        version: raised when rules, numbers, ids or observation change; ``-v1`` stands for the same games for ever.
        state, tables, options: aligned structured dtypes; ``state`` has STATE_FIELDS.
        nodes: enum of the values of ``state.node``.
        always_offered: nodes a seat is asked at even when only one id is legal; others are applied unasked.
        max_decisions: bound on the decisions of a game with default limits (SPEC section on bounds).
        option_list: the options besides ``num_players``, ``components``; the last is DERIVED_OPTION, which every game
            has.
        load_components: path or None -> tables, a read-only array of one record; raises ComponentError.
        resolve_options: (tables, num_players, checked values) -> options record array of length one; OptionError.
        actions, observation: (tables record) -> ActionSet, Layout.
        info: (state record, tables record, seat) -> extra ``infos`` of that seat: numbers, lists of them, and a
            :class:`Reason`.
        draw: (state record, configuration, seat or None) -> Drawing; ``seat`` sees its own hidden cards only, None sees
            all.
        text: the same as text for a terminal.
        public_text: (state record, configuration, action) -> a decision in that state as everybody at the table hears
            it; a game with decisions that are made in secret says here only what the others get to know.
    """

    name: str
    module: str
    title: str
    version: int
    min_players: int
    max_players: int
    default_players: int
    state: np.dtype
    tables: np.dtype
    options: np.dtype
    nodes: type[IntEnum]
    always_offered: tuple[int, ...]
    max_decisions: int
    option_list: tuple[Option, ...]
    verbs: Verbs
    load_components: Callable[[Path | None], np.ndarray]
    resolve_options: Callable[[np.void, int, Mapping[str, Any]], np.ndarray]
    make_actions: Callable[[np.void], ActionSet]
    make_observation: Callable[[np.void], Layout]
    info: Callable[[np.void, np.void, int], dict[str, Any]]
    draw: Callable[..., Any]
    text: Callable[..., str]
    scope: Scope
    public_text: Callable[[np.void, Configuration, int], str] = open_text

    def __post_init__(self) -> None:
        missing = [field for field in STATE_FIELDS if field not in (self.state.names or ())]
        if missing:
            raise TypeError(f"{self.name}: the state lacks the fields {missing}")
        hidden = [name for name in _field_names(self.state, self.tables, self.options) if hasattr(np.record, name)]
        if hidden:
            raise TypeError(
                f"{self.name}: fields {hidden} have names of record methods, which uncompiled code would find"
            )

    def __repr__(self) -> str:
        return f"<Game {self.id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return game_of, (self.module,)

    @property
    def id(self) -> str:
        """``kitten_adventurers-v1``."""
        return f"{self.name}-v{self.version}"

    @cached_property
    def default_tables(self) -> np.ndarray:
        """The tables of the game's own components.toml, a read-only array of one record."""
        return self.load_components(None)

    @cached_property
    def actions(self) -> ActionSet:
        """The action ids with the default components' names."""
        return self.make_actions(self.default_tables[0])

    @cached_property
    def observation(self) -> Layout:
        """The observation's pieces with the default components' bounds."""
        return self.make_observation(self.default_tables[0])

    @cached_property
    def constants(self) -> np.dtype:
        """The record of what a configuration fixes for compiled code: ``blank`` (a zeroed state: what every deal starts
        from), ``tables`` and ``options``.
        """
        fields = [("blank", self.state), ("tables", self.tables), ("options", self.options)]
        return np.dtype(fields, align=True)

    @property
    def mask_words(self) -> int:
        """64-bit words of a legal set."""
        return (len(self.actions) + 63) // 64

    def new_states(self, count: int) -> np.ndarray:
        """``count`` zeroed states, an aligned record array."""
        states = np.zeros(count, self.state)
        return states if JIT_ENABLED else states.view(np.recarray)

    def configure(
        self, num_players: int | None = None, components: str | Path | None = None, **options: Any
    ) -> Configuration:
        """Fix players, component file and options; unknown ones raise :class:`UnknownOptionError`, disallowed ones
        :class:`OptionError`."""
        given = self.default_players if num_players is None else num_players
        players = check_integer(
            f"{self.name}: num_players", given, self.min_players, self.max_players, error=OptionError
        )
        by_name = {option.name: option for option in self.option_list}
        unknown = sorted(set(options) - set(by_name))
        if unknown:
            raise UnknownOptionError(
                f"{self.name}: unknown option {', '.join(unknown)}; there are num_players, components, "
                f"{', '.join(by_name)}",
                unknown,
            )
        values = {name: option.check(options.get(name, option.default), self.name) for name, option in by_name.items()}
        return Configuration(self, players, None if components is None else Path(components), values)


def make_game(
    module: str,
    *,
    title: str,
    version: int,
    default_players: int,
    max_decisions: int,
    option_list: tuple[Option, ...],
    resolve_options: Callable[[np.void, int, Mapping[str, Any]], np.ndarray],
    info: Callable[[np.void, np.void, int], dict[str, Any]],
    state: ModuleType,
    components: ModuleType,
    actions: ModuleType,
    setup: ModuleType,
    rules: ModuleType,
    observation: ModuleType,
    picture: ModuleType,
    always_offered: tuple[int, ...] = (),
) -> Game:
    """The game of a folder, put together from its files.

    Args:
        module: ``__name__`` of the folder; its last part is the game's name. What is not named here is as in
            :class:`Game`.
        state: has MIN_PLAYERS, MAX_PLAYERS, STATE, OPTIONS and Node.
        components: has TABLES and load_components.
        actions: has make_actions, and public_text where decisions are made in secret.
        setup: has setup.
        rules: has legal, apply, returns, ranks, scores and potential.
        observation: has observe, resample and make_observation.
        picture: has draw and text.
    """
    name = module.rpartition(".")[2]
    return Game(
        name=name,
        module=module,
        title=title,
        version=version,
        min_players=state.MIN_PLAYERS,
        max_players=state.MAX_PLAYERS,
        default_players=default_players,
        state=state.STATE,
        tables=components.TABLES,
        options=state.OPTIONS,
        nodes=state.Node,
        always_offered=always_offered,
        max_decisions=max_decisions,
        option_list=(*option_list, DERIVED_OPTION),
        verbs=Verbs(
            setup=setup.setup,
            legal=rules.legal,
            apply=rules.apply,
            observe=observation.observe,
            resample=observation.resample,
            returns=rules.returns,
            ranks=rules.ranks,
            scores=rules.scores,
            potential=rules.potential,
        ),
        load_components=components.load_components,
        resolve_options=resolve_options,
        make_actions=actions.make_actions,
        make_observation=observation.make_observation,
        info=info,
        draw=picture.draw,
        text=picture.text,
        scope=Scope(name, Path(str(state.__file__)).parent),
        public_text=getattr(actions, "public_text", open_text),
    )


def game_of(module: str) -> Game:
    """The game that a module exports: how every process finds the one object that stands for it."""
    found: Game = getattr(importlib.import_module(module), NAME_OF_GAME)
    return found


def _field_names(*dtypes: np.dtype) -> Iterator[str]:
    """The names of all fields, those of nested records included."""
    for dtype in dtypes:
        for name in dtype.names or ():
            yield name
            yield from _field_names(dtype[name].base)


class Configuration:
    """A game with players, components and options fixed. Two environments with different files live side by side.

    Attributes: ``game``, ``num_players``, ``values`` (options by name), ``components`` (path or None),
    ``tables`` and ``options`` (record arrays of length one, read-only), ``actions``, ``observation``, ``constants``
    (what kernels take of all this: a record array of length one, read-only, see :attr:`Game.constants`).
    """

    def __init__(self, game: Game, num_players: int, components: Path | None, values: Mapping[str, Any]) -> None:
        self.game = game
        self.num_players = num_players
        self.components = components
        self.values = dict(values)
        self.tables = game.default_tables if components is None else game.load_components(components)
        self.options = game.resolve_options(self.tables[0], num_players, self.values)
        self.tables.flags.writeable = False
        self.options.flags.writeable = False
        self.actions = game.actions if components is None else game.make_actions(self.tables[0])
        self.observation = self._layout(
            game.observation if components is None else game.make_observation(self.tables[0])
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_configuration, (
            self.game,
            self.num_players,
            self.components,
            self.values,
            self.tables.tobytes(),
        )

    def _layout(self, whole: Layout) -> Layout:
        return whole if self.values[DERIVED] else whole.facts

    @cached_property
    def components_digest(self) -> str:
        """SHA-256 (16 hex digits) of the component tables: what a replay checks its cards by."""
        digest = hashlib.sha256()
        for name in self.game.tables.names or ():  # field by field: padding between fields is not data
            digest.update(name.encode() + np.ascontiguousarray(self.tables[name]).tobytes())
        return digest.hexdigest()[:16]

    @cached_property
    def constants(self) -> np.ndarray:
        constants = np.zeros(1, self.game.constants)
        constants["tables"], constants["options"] = self.tables, self.options
        constants.flags.writeable = False
        return record_array(constants)

    def blank_info(self) -> dict[str, Any]:
        """What the game's infos hold until the end: every key they then have, with a zero of its type."""
        return {name: list(value) if isinstance(value, list) else value for name, value in self._blank_info.items()}

    @cached_property
    def _blank_info(self) -> dict[str, Any]:
        ended = self.game.new_states(1)
        ended["num_players"], ended["end"] = self.num_players, TERMINATED
        return {name: _zero_of(value) for name, value in self.game.info(ended[0], self.tables[0], 0).items()}

    def __repr__(self) -> str:
        defaults = {option.name: option.default for option in self.game.option_list}
        parts = [f"{name}={value!r}" for name, value in self.values.items() if value != defaults[name]]
        if self.components is not None:
            parts.append(f"components={str(self.components)!r}")
        return f"<Configuration {', '.join([self.label, *parts])}>"

    @property
    def label(self) -> str:
        """Game and players in words."""
        return f"{self.game.id}, {self.num_players} player{'s' if self.num_players > 1 else ''}"

    @cached_property
    def digest(self) -> str:
        """SHA-256 (16 hex digits) of game, version, players, options and components."""
        parts = [self.game.id, self.num_players, self.values, self.components_digest]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def describe(self) -> dict[str, Any]:
        """What :meth:`Game.configure` needs to make this configuration again, JSON-ready."""
        options: dict[str, Any] = {"num_players": self.num_players, **self.values}
        if self.components is not None:
            options["components"] = str(self.components)
        return options

    def legal_actions(self, mask: np.ndarray | Sequence[int]) -> list[int]:
        """The ids set in a byte mask."""
        return [int(action) for action in np.flatnonzero(mask)]


def _zero_of(value: Any) -> Any:
    """Nothing, in the type of a number, a text or a list of them."""
    if isinstance(value, list):
        return [_zero_of(one) for one in value]
    return "" if isinstance(value, str) else type(value)(0)


def _rebuild_configuration(
    game: Game, num_players: int, components: Path | None, values: Mapping[str, Any], tables: bytes
) -> Configuration:
    """Unpickle: the tables travel along, so that a card file that changed or moved meanwhile does not matter."""
    configuration = Configuration.__new__(Configuration)
    configuration.game, configuration.num_players = game, num_players
    configuration.components, configuration.values = components, dict(values)
    configuration.tables = records_from_bytes(tables, game.tables)
    configuration.options = game.resolve_options(configuration.tables[0], num_players, values)
    configuration.tables.flags.writeable = False
    configuration.options.flags.writeable = False
    configuration.actions = game.make_actions(configuration.tables[0])
    configuration.observation = configuration._layout(game.make_observation(configuration.tables[0]))
    return configuration


def record_array(records: np.ndarray) -> np.ndarray:
    """``records`` as kernels want them: plain when compiled, with attribute access when not."""
    return records if JIT_ENABLED else records.view(np.recarray)


def records_from_bytes(data: bytes, dtype: np.dtype) -> np.ndarray:
    """The records of ``tobytes()``, byte for byte (``ndarray.copy`` would leave the padding undefined)."""
    return record_array(np.frombuffer(bytearray(data), dtype))
