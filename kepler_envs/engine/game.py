"""The contract a game fulfils.

A game is data and a few compiled verbs. The engine supplies everything else: environment, batch, playouts, replays.
:class:`Game` is what a game folder exports as ``GAME``. :class:`Configuration` is a game whose number of players,
options and component tables are fixed; environments are made from it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from kepler_envs.engine.actions import ActionSet, SameTexts
from kepler_envs.engine.checks import check_integer
from kepler_envs.engine.code_cache import Scope
from kepler_envs.engine.kernel import JIT_ENABLED
from kepler_envs.engine.observation import Layout
from kepler_envs.printable import counted

if TYPE_CHECKING:
    from kepler_envs.engine.drawing import Drawing

RUNNING, TERMINATED, TRUNCATED = 0, 1, 2
"""The values of a state's field ``end``."""

STATE_FIELDS = ("rng", "decisions", "node", "seat", "num_players", "end")
"""Fields that every state has.

They are the generator (uint64), the number of decisions made so far, the node that waits for a decision, the seat that
decides, the number of players, and one of the three values above.
"""


LAST_NODE = 62
"""The largest value of a node: a set of nodes is one integer."""

REWARD_OPTIONS = ("shaping", "reward_mode")
"""Options that change the rewards but not the game. A network may play where they differ from its training."""

NAME_OF_GAME = "GAME"
"""The name of the game in the module that makes it."""


class Reason(IntEnum):
    """Why a game ended: an integer that prints as a word.

    Infos hold numbers only, because some libraries turn them into tensors.
    """

    def __str__(self) -> str:
        return self.name.lower()

    def __format__(self, format_spec: str) -> str:
        return format(str(self), format_spec)


DERIVED = "derived"
"""The option that every game has. False leaves out the derived fields of the observation."""


class ComponentError(ValueError):
    """A component file (cards, map, ...) breaks a rule. The message names the file, the row and the rule."""


class OptionError(ValueError):
    """An option has a value that is not allowed. The message names the allowed values."""


class UnknownOptionError(OptionError, TypeError):
    """The game does not have these options; ``names`` lists them in order.

    This is a TypeError too, as for any unknown keyword: libraries use that to find out what they may not pass on.
    """

    def __init__(self, message: str, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.names = tuple(names)


@dataclass(frozen=True)
class Option:
    """One option of a game.

    A value is allowed if it is one of ``choices``. If ``number`` (int or float) is given, numbers of that type in
    ``low..high`` are allowed, too.
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
        """Return ``value`` as Python's own type, or raise an :class:`OptionError`."""
        plain = value.item() if isinstance(value, np.generic) else value
        for choice in self.choices:
            if type(plain) is type(choice) and plain == choice:
                return plain
        is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if self.number is not None and is_number and self.low <= value <= self.high and self.number(value) == value:
            return self.number(value)
        raise OptionError(f"{game}: option {self.name} = {value!r} is not allowed; allowed: {self.allowed}")


def read_value(text: str, choices: Iterable[Any] = ()) -> Any:
    """Read an option's value as people write it: one of its choices, an integer or a number, else the text itself."""
    for choice in choices:
        if str(choice) == text:
            return choice
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


DERIVED_OPTION = Option(
    DERIVED, True, "whether the observation includes derived fields, which follow from its facts", (True, False)
)


@dataclass(frozen=True)
class Verbs:
    """The compiled verbs of a game. ``s`` is a state record, ``t`` the tables record, ``o`` the options record.

    Attributes:
        setup: (s, t, o) deals a game. ``s`` is all zero except ``s.rng``.
        legal: (s, t, mask) sets the bit of each legal id in ``mask`` (uint64 words, cleared before).
        apply: (s, t, action) applies a legal id, and everything automatic that follows from it.
        observe: (s, t, seat, out) writes every entry of the observation of ``seat``. Where ``out`` has room for facts
            only, it writes only those.
        resample: (s, t, seat, g) redraws everything that ``seat`` cannot know from generator ``g``. That includes
            ``s.rng``, and ``s.decisions`` where the count would give something away.
        returns: (s, t, ranks, out) writes the final rewards of a finished game, float32 per seat in [-1, 1]. They sum
            to 0 unless there is only one player.
        ranks: (s, t, out) writes the final ranks, int32 per seat. 1 is best, and equal results share the better rank.
        scores: (s, t, out) writes the current scores, int32 per seat. More is better.
        potential: (s, t, out) writes the shaping potential, float32 per seat. Its differences are added to the rewards.

    ``engine/returns.py`` makes the last four from rules about one seat.
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
    """The action's own words, whatever the position: for games where that is all there is to say."""
    return config.actions.text(action)


@dataclass(frozen=True, eq=False)
class Game:
    """Everything the engine knows about a game.

    Attributes:
        name: the folder name and registry name (``kitten_adventurers``).
        module: the module that exports the game as ``GAME`` (``__name__`` there). Games are pickled by its name, and
            components.toml lies beside it.
        title: the game's name for people.
        version: a number that is raised when rules, numbers, ids or the observation change. ``-v1`` means the same
            games for ever.
        min_players: the fewest players.
        max_players: the most players.
        default_players: the number of players unless another is asked for.
        state: the aligned structured dtype of a state, with STATE_FIELDS.
        tables: the dtype of the component tables.
        options: the dtype of the options record.
        nodes: an enum of the values of ``state.node``.
        always_offered: nodes at which a seat is asked even when only one id is legal. Elsewhere a single legal id is
            applied automatically.
        max_decisions: an upper bound on the decisions of a game with default limits.
        option_list: the options besides ``num_players`` and ``components``. The last is DERIVED_OPTION, which every
            game has.
        verbs: the compiled rules.
        load_components: (path or None) -> tables, a read-only array of one record. Raises ComponentError.
        resolve_options: (tables, num_players, checked values) -> an options record array of length one. Raises
            OptionError.
        make_actions: (tables record) -> ActionSet.
        make_observation: (tables record) -> Layout.
        info: (state record, tables record, seat) -> extra ``infos`` of that seat: numbers, lists of numbers, or a
            :class:`Reason`. The names are the same at any time.
        draw: (state record, configuration, seat or None) -> Drawing. A seat sees only its own hidden cards; None sees
            everything.
        text: the same as ``draw``, as text for a terminal.
        scope: the sources that the compiled code is made from.
        full_text: (state record, configuration, action) -> a decision in that state in words, as who decides reads it:
            with what the action's own words leave to the position.
        public_text: the same as everybody at the table hears it. Where decisions are secret it tells only what the
            others learn.
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
    draw: Callable[[np.void, Configuration, int | None], Drawing]
    text: Callable[..., str]
    scope: Scope
    full_text: Callable[[np.void, Configuration, int], str] = open_text
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

        for what, dtype in (("state", self.state), ("tables", self.tables), ("options", self.options)):
            if dtype.hasobject:
                raise TypeError(f"{self.name}: fields of the {what} hold Python objects; allowed: numbers")
        check_integer(f"{self.name}: default_players", self.default_players, self.min_players, self.max_players)
        for node in self.always_offered:
            check_integer(f"{self.name}: a node of always_offered", int(node), 0, LAST_NODE)

    def __repr__(self) -> str:
        return f"<Game {self.id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return game_of, (self.module,)

    @property
    def id(self) -> str:
        """The name with the version, such as ``kitten_adventurers-v1``."""
        return f"{self.name}-v{self.version}"

    def node_of(self, state: Any) -> IntEnum:
        """The node at which a state stands. Raises ValueError if the rules have written a number that is none."""
        number = int(state["node"])
        try:
            return self.nodes(number)
        except ValueError:
            known = ", ".join(f"{node.value} {node.name}" for node in self.nodes)
            raise ValueError(f"{self.id}: the state's node is {number}; {self.nodes.__name__} has {known}") from None

    @cached_property
    def default_tables(self) -> np.ndarray:
        """The tables of the game's own components.toml, a read-only array of one record."""
        return self.load_components(None)

    @cached_property
    def actions(self) -> ActionSet:
        """The action ids, with the names of the default components."""
        return self.make_actions(self.default_tables[0])

    @cached_property
    def observation(self) -> Layout:
        """The pieces of the observation, with the bounds of the default components."""
        return self.make_observation(self.default_tables[0])

    @cached_property
    def constants(self) -> np.dtype:
        """The dtype of what a configuration fixes for compiled code.

        Its fields are ``blank`` (a zeroed state, which every deal starts from), ``tables`` and ``options``.
        """
        fields = [("blank", self.state), ("tables", self.tables), ("options", self.options)]
        return np.dtype(fields, align=True)

    @property
    def mask_words(self) -> int:
        """The number of 64-bit words in a legal set."""
        return (len(self.actions) + 63) // 64

    def new_states(self, count: int) -> np.ndarray:
        """Make ``count`` zeroed states, an aligned record array."""
        states = np.zeros(count, self.state)
        return states if JIT_ENABLED else states.view(np.recarray)

    def configure(
        self, num_players: int | None = None, components: str | Path | None = None, **options: Any
    ) -> Configuration:
        """Fix the players, the component file and the options.

        Args:
            num_players: the number of seats. None takes the game's default.
            components: a component file of your own, like the game's components.toml. None takes that.
            options: values of ``option_list`` by name. The others have their defaults.

        Raises:
            UnknownOptionError: there is no such option.
            OptionError: a value is not allowed.
            ComponentError: the component file is wrong.
        """
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
        if not (components is None or isinstance(components, (str, os.PathLike))) or components == "":
            raise OptionError(f"{self.name}: components = {components!r} is not allowed; allowed: a path, or None")
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
    sources: tuple[Path, ...] = (),
) -> Game:
    """Put a game together from the files of its folder.

    Arguments that are not described here are as in :class:`Game`.

    Args:
        module: ``__name__`` of the folder. Its last part is the game's name.
        state: a module with MIN_PLAYERS, MAX_PLAYERS, STATE, OPTIONS and Node.
        components: a module with TABLES and load_components.
        actions: a module with make_actions, with full_text where positions give ids another meaning, and with
            public_text where decisions are made in secret.
        setup: a module with setup.
        rules: a module with legal, apply, returns, ranks, scores and potential.
        observation: a module with observe, resample and make_observation.
        picture: a module with draw and text.
        sources: folders and files beside the game's own folder that its rules are made of: edits of them compile it
            again, too.
    """
    name = module.rpartition(".")[2]
    full_text = getattr(actions, "full_text", open_text)
    for source in sources:
        if not source.exists():
            raise ValueError(f"{name}: there is no {source}, which is one of the sources")
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
        scope=Scope(name, Path(str(state.__file__)).parent, *sources),
        full_text=full_text,
        public_text=getattr(actions, "public_text", full_text),
    )


def game_of(module: str) -> Game:
    """The game that a module exports. Every process finds the one object that stands for it this way."""
    found: Game = getattr(importlib.import_module(module), NAME_OF_GAME)
    return found


def _field_names(*dtypes: np.dtype) -> Iterator[str]:
    """Yield the names of all fields, those of nested records included."""
    for dtype in dtypes:
        for name in dtype.names or ():
            yield name
            yield from _field_names(dtype[name].base)


class Configuration:
    """A game with its players, components and options fixed.

    Configurations are independent: environments with different component files work side by side. They are equal if
    game, players, options and cards are.

    Attributes:
        game: the :class:`Game`.
        num_players: the number of players.
        values: the options by name.
        components: the path of the component file, or None for the game's own.
        tables: the component tables, a record array of length one, read-only.
        options: the options, a record array of length one, read-only.
        actions: the :class:`~kepler_envs.engine.actions.ActionSet`.
        observation: the :class:`~kepler_envs.engine.observation.Layout`.
        constants: what kernels take of all this, a read-only record array of length one. See :attr:`Game.constants`.
    """

    def __init__(self, game: Game, num_players: int, components: Path | None, values: Mapping[str, Any]) -> None:
        self.game = game
        self.num_players = num_players
        self.components = components
        self.values = dict(values)
        self.tables = game.default_tables if components is None else game.load_components(components)
        self.options = self._options(game.resolve_options(self.tables[0], num_players, self.values))
        self.tables.flags.writeable = False
        self.options.flags.writeable = False
        self.actions = game.actions if components is None else self._actions(components)
        whole = game.observation if components is None else game.make_observation(self.tables[0])
        try:
            self.actions.check_against(whole)
        except ValueError as problem:
            raise ValueError(f"{game.id}: {problem}") from None
        self.observation = self._layout(whole)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_configuration, (
            self.game,
            self.num_players,
            self.components,
            self.values,
            self.tables.tobytes(),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Configuration):
            return NotImplemented
        return self.game is other.game and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def _options(self, given: Any) -> np.ndarray:
        if not (isinstance(given, np.ndarray) and given.shape == (1,) and given.dtype == self.game.options):
            raise TypeError(f"{self.game.id}: resolve_options must return an array (1,) of OPTIONS, not {given!r}")
        return given

    def _actions(self, components: Path) -> ActionSet:
        """The actions with the names of a component file. Names that pass one by one can still make two alike."""
        try:
            return self.game.make_actions(self.tables[0])
        except SameTexts as problem:
            raise ComponentError(f"{components}: names give actions {problem}") from problem

    def _layout(self, whole: Layout) -> Layout:
        return whole if self.values[DERIVED] else whole.facts

    @cached_property
    def components_digest(self) -> str:
        """SHA-256 (16 hex digits) of the component tables. A replay uses it to check its cards."""
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
        """The game's infos before the end: every key that they will have, with a zero of its type."""
        return {name: list(value) if isinstance(value, list) else value for name, value in self._blank_info.items()}

    @cached_property
    def _blank_info(self) -> dict[str, Any]:
        ended = self.game.new_states(1)
        ended["num_players"], ended["end"] = self.num_players, TERMINATED
        infos = self.game.info(ended[0], self.tables[0], 0)
        if not isinstance(infos, dict):
            raise TypeError(f"{self.game.id}: info must return a dict, not {infos!r}")
        return {name: _zero_of(value) for name, value in infos.items()}

    def __repr__(self) -> str:
        defaults = {option.name: option.default for option in self.game.option_list}
        parts = [f"{name}={value!r}" for name, value in self.values.items() if value != defaults[name]]
        if self.components is not None:
            parts.append(f"components={str(self.components)!r}")
        return f"<Configuration {', '.join([self.label, *parts])}>"

    @property
    def label(self) -> str:
        """The game and the number of players, in words."""
        return f"{self.game.id}, {counted(self.num_players, 'player')}"

    @cached_property
    def digest(self) -> str:
        """SHA-256 (16 hex digits) of the game, version, players, options and components."""
        parts = [self.game.id, self.num_players, self.values, self.components_digest]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def describe(self) -> dict[str, Any]:
        """The arguments with which :meth:`Game.configure` makes this configuration again, ready for JSON."""
        options: dict[str, Any] = {"num_players": self.num_players, **self.values}
        if self.components is not None:
            options["components"] = str(self.components)
        return options

    def legal_actions(self, mask: np.ndarray | Sequence[int]) -> list[int]:
        """The ids set in a byte mask."""
        return [int(action) for action in np.flatnonzero(mask)]


def _zero_of(value: Any) -> Any:
    """A zero in the type of a number, a text or a list of them."""
    if isinstance(value, list):
        return [_zero_of(one) for one in value]
    return "" if isinstance(value, str) else type(value)(0)


def _rebuild_configuration(
    game: Game, num_players: int, components: Path | None, values: Mapping[str, Any], tables: bytes
) -> Configuration:
    """Unpickle a configuration.

    The tables travel with it, so a component file may change or move in the meantime.
    """
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
    """Restore records from ``tobytes()``, byte for byte.

    ``ndarray.copy`` would leave the padding undefined.
    """
    return record_array(np.frombuffer(bytearray(data), dtype))
