"""OpenSpiel: every game as a registered Python game, for its bots, its algorithms and its playthroughs::

    import pyspiel
    import kepler_envs.adapters.openspiel  # registers the games

    game = pyspiel.load_game("kepler_kitten_adventurers(players=2,options=quest_size:1;hand_size:5)")

Chance is one explicit node at the root: the *deal*, one of ``deals`` equally likely ones. It fixes the cards and all
chance to come, which nobody can see, so that a history replays exactly. An algorithm that clones states and looks ahead
(plain MCTS) therefore sees the future. One that uses ``resample_from_infostate`` (ISMCTS) does not: that redraws hidden
things and future chance. A resampled state keeps the history of the original, but its hidden part is no longer that of
the deal in it.

The parameters are ``players``, ``deals``, ``seed`` (deal i is the game of stream i of this seed, which is at most
2**31 - 1, as OpenSpiel's integers are), ``options`` (the game's own, as above, with ``|`` for a comma:
``factions:blue|red|grey``) and ``components`` (a component file). There is no shaping; only results are paid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from kepler_envs.adapters.flat import FlatInputs
from kepler_envs.engine.checks import check_integer
from kepler_envs.engine.game import Configuration, Game, Option, OptionError
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.seeds import stream_seed
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.registry import load_games

try:
    import pyspiel
except ImportError as problem:
    raise ImportError("this adapter needs OpenSpiel: pip install 'kepler_envs[openspiel]'") from problem

LARGEST_SHARE = 1000
"""Returns are fractions of small numbers, places over players."""
RESOLUTION = 2**53
"""Seeds that a float of OpenSpiel's samplers can tell apart."""
LIMIT = "max_"
"""The names of options that limit how long a game takes begin with this."""
LARGEST_INT = 2**31 - 1
"""The largest number that an ``int`` of C++ holds."""
COMMA = "|"
"""Stands for a comma in options: OpenSpiel splits the string of a game at commas."""
NOT_IN_PATHS = set(",=")
"""Characters that OpenSpiel reads as its own."""


class Setting:
    """What the states of one game share and never change; ``inputs`` make the tensor of an observation."""

    def __init__(self, config: Configuration, deals: int, seed: int) -> None:
        self.config = config
        self.deals = deals
        self.seed = seed

    def __reduce__(self) -> tuple[Any, ...]:
        return Setting, (self.config, self.deals, self.seed)

    @cached_property
    def inputs(self) -> FlatInputs:
        return FlatInputs(self.config.observation)

    def deal(self, number: int) -> Snapshot:
        """The first position of deal ``number``."""
        return Snapshot.deal(self.config, stream_seed(self.seed, number))


class Moment:
    """A position and what each seat has seen and heard on the way to it; immutable, so that copies share it.

    ``position`` is None before the deal. What a seat knows is a chain of digests over everything it was shown (perfect
    recall); it is worked out when somebody asks.
    """

    def __init__(
        self,
        setting: Setting,
        position: Snapshot | None = None,
        before: Moment | None = None,
        action: int = -1,
        known: tuple[bytes, ...] | None = None,
    ) -> None:
        self.setting = setting
        self.position = position
        self._before = before
        self._action = action
        self._known = known

    def __deepcopy__(self, memo: dict[int, Any]) -> Moment:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Moment, (self.setting, self.position, None, -1, None if self.position is None else self.known())

    @cached_property
    def legal(self) -> list[int]:
        """The legal ids. The list is empty before the deal and at the end."""
        return [] if self.position is None else self.position.legal_actions()

    def next(self, action: int) -> Moment:
        """The moment after the deal ``action``, or after a decision."""
        if self.position is None:
            return Moment(self.setting, self.setting.deal(check_integer("deal", action, 0, self.setting.deals - 1)))
        return Moment(self.setting, self.position.apply(action), self, action)

    def resample(self, seat: int, seed: int) -> Moment:
        """The same moment for ``seat``, with everything it cannot know redrawn.

        That is hidden things, future chance, and what others have seen.
        """
        assert self.position is not None
        drawn = self.position.resample(seat, seed)
        own = self.known()[seat]
        others = (digest(own, drawn.observe(other)) for other in range(self.setting.config.num_players))
        known = tuple(own if other == seat else theirs for other, theirs in enumerate(others))
        return Moment(self.setting, drawn, known=known)

    def known(self) -> tuple[bytes, ...]:
        """For each seat a digest of all it has seen, heard and done; equal digests are equal information states."""
        pending = [self]
        while pending[-1]._known is None and pending[-1]._before is not None:
            pending.append(pending[-1]._before)
        for moment in reversed(pending):
            if moment._known is None:
                moment._known = moment._learn()
        assert self._known is not None
        return self._known

    def _learn(self) -> tuple[bytes, ...]:
        assert self.position is not None
        seats = range(self.setting.config.num_players)
        if self._before is None:
            return tuple(digest(b"", self.position.observe(seat)) for seat in seats)
        before = self._before.position
        assert before is not None
        heard = f"{before.seat} {before.public_text(self._action)}".encode()
        chain = []
        for seat, known in enumerate(self._before.known()):
            done = str(self._action).encode() if seat == before.seat else b""
            chain.append(digest(known + heard + done, self.position.observe(seat)))
        return tuple(chain)


def digest(known: bytes, observation: np.ndarray) -> bytes:
    """BLAKE2 of what was known before and of what is seen now."""
    return hashlib.blake2b(known + observation.tobytes(), digest_size=16).digest()


# ---------------------------------------------------------------- OpenSpiel's classes


class KeplerGame(pyspiel.Game):
    """A game of this library as OpenSpiel sees it. ``pyspiel.load_game`` makes it, and each game has a subclass.

    Raises:
        OptionError: a parameter has a value that is not allowed.
    """

    rules: Game

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        game, given = self.rules, readable_again(self.rules, params or {})
        setting = setting_of(game, given)
        config = setting.config
        info = pyspiel.GameInfo(
            num_distinct_actions=len(config.actions),
            max_chance_outcomes=setting.deals,
            num_players=config.num_players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0 if config.num_players > 1 else None,
            max_game_length=longest_game(config),
        )
        super().__init__(game_type(game, zero_sum=config.num_players > 1), info, given)
        self.setting = setting

    @cached_property
    def setting(self) -> Setting:
        """What the parameters ask for. A copy has them alone, because OpenSpiel makes it without ``__init__``."""
        return setting_of(self.rules, self.get_parameters())

    def new_initial_state(self) -> KeplerState:
        """The state before the deal."""
        return KeplerState(self)

    def max_chance_nodes_in_history(self) -> int:
        return 1

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> ObservationObserver | RecallObserver | None:
        """What a seat sees now, or with ``perfect_recall`` all it ever saw.

        It is None if only public or only private parts are asked for.
        """
        if params:
            raise ValueError(f"observations have no parameters; got {dict(params)}")
        if iig_obs_type is not None:
            whole = iig_obs_type.public_info and iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
            if not whole:
                return None
            if iig_obs_type.perfect_recall:
                return RecallObserver()
        return ObservationObserver(self.setting)


class KeplerState(pyspiel.State):
    """A position. The deal is its only chance node; all other nodes are decisions."""

    def __init__(self, game: KeplerGame) -> None:
        super().__init__(game)
        self.moment = Moment(game.setting)

    def current_player(self) -> int:
        position = self.moment.position
        if position is None:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if position.over else position.seat

    def _legal_actions(self, player: int) -> list[int]:
        return self.moment.legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        deals = self.moment.setting.deals
        return [(deal, 1.0 / deals) for deal in range(deals)]

    def _apply_action(self, action: int) -> None:
        self.moment = self.moment.next(int(action))

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {action}"
        return self.moment.setting.config.actions.text(int(action))

    def is_terminal(self) -> bool:
        position = self.moment.position
        return position is not None and position.over

    def returns(self) -> list[float]:
        """The returns per seat, in [-1, 1]. They are 0 until the end."""
        position = self.moment.position
        if position is None:
            return [0.0] * self.moment.setting.config.num_players
        return [exact(paid) for paid in position.results()[2].tolist()]

    def resample_from_infostate(self, player: int, sampler: Any) -> KeplerState:
        """A state that ``player`` cannot tell from this one, drawn with ``sampler() -> float in [0, 1)``.

        Raises ValueError before the deal: nobody knows anything yet.
        """
        if self.moment.position is None:
            raise ValueError("there is nothing to redraw before the deal: apply a chance outcome first")
        drawn = self.clone()
        drawn.moment = self.moment.resample(player, int(sampler() * RESOLUTION))
        return drawn

    def __str__(self) -> str:
        position = self.moment.position
        return "before the deal" if position is None else position.text(None)


class ObservationObserver:
    """What a seat sees now.

    It is a tensor with the game's named pieces, and a readable string that is equal where the tensor is.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.tensor = np.zeros(setting.inputs.size, np.float32)
        self.dict: dict[str, np.ndarray] = {}
        for name, (begin, shape) in setting.inputs.pieces.items():
            self.dict[name] = self.tensor[begin : begin + int(np.prod(shape))].reshape(shape)

    def set_from(self, state: KeplerState, player: int) -> None:
        position = state.moment.position
        if position is None:
            self.tensor[:] = 0
        else:
            self.tensor[:] = self._setting.inputs.encode(position.observe(player))

    def string_from(self, state: KeplerState, player: int) -> str:
        position = state.moment.position
        if position is None:
            return "before the deal"
        pieces = self._setting.config.observation.names(position.observe(player))
        seen = (
            f"{name}: {' '.join(map(str, np.atleast_1d(part).ravel()))}" for name, part in pieces.items() if part.any()
        )
        return "\n".join((agent_name(player), *seen))


class RecallObserver:
    """All a seat ever saw, as a digest: a string that is equal exactly where its whole past is.

    There is no tensor of it.
    """

    tensor: np.ndarray | None = None
    dict: Mapping[str, np.ndarray] = {}

    def set_from(self, state: KeplerState, player: int) -> None:
        """Do nothing: there is no tensor to write."""

    def string_from(self, state: KeplerState, player: int) -> str:
        moment = state.moment
        if moment.position is None:
            return f"{agent_name(player)} before the deal"
        return f"{agent_name(player)} {moment.known()[player].hex()}"


def exact(paid: float) -> float:
    """A return in double precision: thirds in single precision do not sum to what OpenSpiel calls zero."""
    return float(Fraction(paid).limit_denominator(LARGEST_SHARE))


# ---------------------------------------------------------------- parameters


def parameters_of(game: Game) -> dict[str, Any]:
    """Every parameter with its default."""
    return {"players": game.default_players, "deals": 1000, "seed": 0, "options": "", "components": ""}


def setting_of(game: Game, params: Mapping[str, Any]) -> Setting:
    """The setting that parameters ask for. Raises OptionError."""
    values = {**parameters_of(game), **params}
    deals = check_integer(f"{game.name}: deals", values["deals"], 1, LARGEST_INT, error=OptionError)
    seed = check_integer(f"{game.name}: seed", values["seed"], 0, LARGEST_INT, error=OptionError)
    options = read_options(game, values["options"])
    config = game.configure(values["players"], values["components"] or None, **options)
    return Setting(config, deals, seed)


def readable_again(game: Game, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that OpenSpiel reads back from the string of a game, which it splits at commas. Raises OptionError."""
    given = dict(params)
    if isinstance(given.get("options"), str):
        given["options"] = given["options"].replace(",", COMMA)
    path = str(given.get("components", ""))
    if set(path) & NOT_IN_PATHS:
        raise OptionError(
            f"{game.name}: components = {path!r} is not allowed; OpenSpiel takes no path with one of "
            f"{' '.join(sorted(NOT_IN_PATHS))} in it"
        )
    return given


def read_options(game: Game, text: str) -> dict[str, Any]:
    """Read ``quest_size:1;hand_size:5`` as options of the game, with COMMA for commas. Raises OptionError."""
    known = {option.name: option for option in game.option_list if option.name != "shaping"}
    options: dict[str, Any] = {}
    for pair in filter(None, text.split(";")):
        name, _, value = pair.partition(":")
        if name not in known:
            raise OptionError(f"{game.name}: unknown option {name!r} in {text!r}; there are {', '.join(known)}")
        if name in options:
            raise OptionError(f"options = {text!r}: {name} is given twice")
        options[name] = as_option(known[name], value.replace(COMMA, ","))
    return options


def as_option(option: Option, word: str) -> Any:
    """An option's value in its own type."""
    for choice in option.choices:
        if str(choice) == word:
            return choice
    try:
        return option.number(word) if option.number is not None else word
    except ValueError:
        return word  # the option says what is allowed


def longest_game(config: Configuration) -> int:
    """A bound on the decisions of a game with these limits.

    ``max_decisions`` is one with the default limits. It is a sum of products in which each limit occurs at most once,
    so where limits are n times and m times as high it is at most nm times as high. A limit whose default is 0 is taken
    as if that were 1. Of a component file only the limits count that it sets.
    """
    usual, given = config.game.configure().options[0], config.options[0]
    longest = Fraction(config.game.max_decisions)
    for name in (name for name in config.game.options.names or () if name.startswith(LIMIT)):
        longest *= max(Fraction(1), Fraction(int(given[name]), max(1, int(usual[name]))))
    return min(ceil(longest), LARGEST_INT)


def game_type(game: Game, zero_sum: bool = True) -> pyspiel.GameType:
    """OpenSpiel's facts about a game."""
    utility = pyspiel.GameType.Utility.ZERO_SUM if zero_sum else pyspiel.GameType.Utility.GENERAL_SUM
    return pyspiel.GameType(
        short_name=f"kepler_{game.name}",
        long_name=game.title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=game.max_players,
        min_num_players=game.min_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameters_of(game),
    )


def _register() -> None:
    for game in load_games():
        # a class, because OpenSpiel lets go of what is registered after Python has ended, which a function does not
        # survive; of this module, where a pickle looks for it
        kind = type(f"KeplerGame_{game.name}", (KeplerGame,), {"rules": game, "__module__": __name__})
        globals()[kind.__name__] = kind
        pyspiel.register_game(game_type(game), kind)


_register()
