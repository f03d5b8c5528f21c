"""The one PettingZoo AEC environment. It serves every game."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from kepler_envs.engine import one_game
from kepler_envs.engine.checks import check_choice, check_reset_options, check_type, check_view, is_integer
from kepler_envs.engine.game import RUNNING, TERMINATED, TRUNCATED, Configuration, OptionError, records_from_bytes
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.progress import load_or_compile
from kepler_envs.engine.rendering import RENDER_MODES, Window, render
from kepler_envs.engine.seeds import check_seed, following_seed, fresh_seed
from kepler_envs.engine.shared import turn_kernel
from kepler_envs.engine.snapshot import IllegalAction, Snapshot, deal, describe_illegal, empty_sets
from kepler_envs.engine.transition import NO_DECISION
from kepler_envs.printable import counted

ILLEGAL_MODES = ("raise", "lose")
MASK_PLACES = ("observation", "info", "both")

_SHARED_BY_COPIES = ("config", "metadata", "possible_agents", "_seat_of")
"""Attributes that never change, so that copies of an environment need none of their own."""
_MADE_BY_COPIES = ("observation_spaces", "state_space")
"""Attributes that copies make anew when they are asked for them: to copy spaces takes longer than all the rest."""


class NoGameError(RuntimeError, AttributeError):
    """No game is running. This is an AttributeError too, so that ``hasattr`` reports no ``agent_selection`` yet."""

    def __init__(self, message: str = "no game is running: call reset() first") -> None:
        super().__init__(message)  # a pickle hands the message back: an environment may live in another process


class KeplerEnv(AECEnv):
    """A game as a PettingZoo AEC environment.

    The environment checks the order, bounds and legality of actions, so it needs no wrapper. One agent may make several
    decisions in a row; ``agent_selection`` then stays the same. All agents end together.

    Args:
        config: the game with its players, options and components.
        render_mode: None, ``ansi`` (str), ``svg`` (str), ``rgb_array`` (uint8 H x W x 3) or ``human``.
        illegal: what an illegal action does. ``raise``: it raises an :class:`IllegalAction` and nothing changes.
            ``lose``: the offender gets -1, the others share +1, and the game ends.
        copy: False returns views of the environment's own buffers. They are faster, and valid until the next step.
        render_seat: draw only what this seat may see. None draws everything.
        mask_in: where the action mask goes. ``observation``: see below. ``info``: into ``infos[agent]["action_mask"]``;
            the observation is then the vector alone, for wrappers that accept nothing else. ``both``: into both.

    ``observe`` returns ``{"observation": int16 (D,), "action_mask": int8 (A,)}``. The mask is all 0 for an agent that
    is not to decide. ``infos[agent]`` has ``seat``, ``returns``, ``rank``, ``score`` and what the game's page lists.
    All but ``seat`` are 0 until the end; :meth:`info` gives the game's figures at any time. With ``illegal="lose"`` an
    offence adds its message as ``illegal``.
    """

    metadata: dict[str, Any] = {
        "name": "kepler_envs",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        config: Configuration,
        render_mode: str | None = None,
        illegal: str = "raise",
        copy: bool = True,
        render_seat: int | None = None,
        mask_in: str = "observation",
    ) -> None:
        super().__init__()
        check_type("config", config, Configuration, 'load_game("GAME").configure() makes one')
        check_choice("render_mode", render_mode, (None, *RENDER_MODES), OptionError)
        check_choice("illegal", illegal, ILLEGAL_MODES, OptionError)
        check_choice("mask_in", mask_in, MASK_PLACES, OptionError)
        if not isinstance(copy, bool):
            raise OptionError(f"copy = {copy!r} is not allowed; allowed: True, False")
        self.config = config
        self.render_mode = render_mode
        self.illegal = illegal
        self.copy = copy
        self.render_seat = check_view(render_seat, config.num_players, "render_seat", OptionError)
        self.mask_in = mask_in
        self._bare = mask_in == "info"  # observations without a mask
        self._tells_masks = mask_in != "observation"
        modes = list(RENDER_MODES)  # of its own, as wrappers of PettingZoo append to it
        self.metadata = {**self.metadata, "name": config.game.id.replace("-", "_"), "render_modes": modes}
        self.possible_agents = [agent_name(seat) for seat in range(config.num_players)]
        self.agents: list[str] = []
        self._mover = ""  # what agent_selection gives, once there is a game
        self._end = RUNNING
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.action_spaces = {
            agent: gymnasium.spaces.Discrete(len(self.config.actions)) for agent in self.possible_agents
        }
        self._make_buffers()
        self._seed: int | None = None
        self._window = Window(config.game.title)
        self._bind_kernels()

    def __repr__(self) -> str:
        if self._seed is None:
            now = "no game yet"
        else:
            turn = f"{self.agent_selection} to move" if self._end == RUNNING else "over"
            now = f"seed {self._seed}, after {counted(int(self._states[0]['decisions']), 'decision')}, {turn}"
        return f"<KeplerEnv {self.config.label}, {now}>"

    # ------------------------------------------------------------ construction

    def _make_observation_space(self) -> gymnasium.spaces.Space:
        layout = self.config.observation
        vector = gymnasium.spaces.Box(layout.low, layout.high, dtype=np.int16)
        if self._bare:
            return vector
        mask = gymnasium.spaces.Box(0, 1, (len(self.config.actions),), np.int8)
        return gymnasium.spaces.Dict({"observation": vector, "action_mask": mask})

    def _make_buffers(self) -> None:
        game, players = self.config.game, self.config.num_players
        self._states = game.new_states(1)
        self._legal, self._mask = empty_sets(self.config)
        self._observation = np.zeros(self.config.observation.size, np.int16)
        self._no_mask = np.zeros(len(self.config.actions), np.int8)
        self._potential = np.zeros(players, np.float32)
        self._shaped = bool(self.config.values.get("shaping", 0))

    def _bind_kernels(self) -> None:
        firsts = (
            turn_kernel,
            one_game.step_kernel,
            one_game.begin_kernel,
            one_game.observe_kernel,
        )  # what every game needs
        load_or_compile([partial(build, self.config.game) for build in firsts])
        self._step = one_game.step_kernel(self.config.game)

    def __getstate__(self) -> dict[str, Any]:
        saved = self.__dict__.copy()
        del saved["_step"]  # compiled functions are found again by the game's name
        saved["_states"] = self._states.tobytes()
        return saved

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        self._states = records_from_bytes(saved["_states"], self.config.game.state)
        self._bind_kernels()

    def __copy__(self) -> KeplerEnv:
        return copy.deepcopy(self)  # half a copy would play in the arrays of the other one

    def __deepcopy__(self, memo: dict[int, Any]) -> KeplerEnv:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        saved = self.__getstate__()
        shared = {name: saved.pop(name) for name in _SHARED_BY_COPIES}
        for name in _MADE_BY_COPIES:
            saved.pop(name, None)
        twin.__setstate__({**copy.deepcopy(saved, memo), **shared})
        return twin

    # ------------------------------------------------------------ spaces

    @cached_property
    def observation_spaces(self) -> dict[str, gymnasium.spaces.Space]:
        """The space of what each agent sees."""
        return {agent: self._make_observation_space() for agent in self.possible_agents}

    @cached_property
    def state_space(self) -> gymnasium.spaces.Box:
        """The space of :meth:`state`."""
        low, high, players = self.config.observation.low, self.config.observation.high, self.config.num_players
        return gymnasium.spaces.Box(np.tile(low, players), np.tile(high, players), dtype=np.int16)

    def observation_space(self, agent: str) -> gymnasium.spaces.Space:
        """The space of what the agent sees. Every call returns the same object. Raises KeyError for no such agent."""
        return self._of_agent(agent, self.observation_spaces)

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """The agent's action ids. Every call returns the same object. Raises KeyError for no such agent."""
        return self._of_agent(agent, self.action_spaces)

    # ------------------------------------------------------------ game

    @property
    def agent_selection(self) -> str:
        """The agent that is to decide. Raises RuntimeError before the first ``reset``."""
        if not self._mover:
            raise NoGameError
        return self._mover

    @agent_selection.setter
    def agent_selection(self, agent: str) -> None:
        self._mover = agent

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: an integer 0 .. 2**64 - 1. The same seed deals the same game. None continues from the last seed, so
                that the second game of a seeded environment is reproducible, too.
            options: ignored. Give the game's options to ``make``.

        Raises:
            ValueError: the seed is not allowed.
            TypeError: ``options`` is neither a dict nor None.
        """
        check_reset_options(options)
        if seed is not None:
            self._seed = check_seed(seed, ", or None")
        else:
            self._seed = fresh_seed() if self._seed is None else following_seed(self._seed)
        deal(self.config, self._states, self._seed, self._legal, self._mask)
        self._enter()

    def _enter(self) -> None:
        """Set everything PettingZoo reads from the state. Its legal set is known, and no reward is pending."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {
            agent: {"seat": seat, "returns": 0.0, "rank": 0, "score": 0, **self.config.blank_info()}
            for seat, agent in enumerate(self.agents)
        }
        self._skip_agent_selection = None
        self._mover = self.possible_agents[int(self._states[0]["seat"])]
        self._end = int(self._states[0]["end"])
        self._observe_mover()
        if self._shaped:
            self._find_potential()
        if self._end != RUNNING:
            self._finish(self._end)
        elif self._tells_masks:
            self._tell_masks()
        self._show()

    def _show(self) -> None:
        """Let a window follow the game."""
        if self.render_mode == "human":
            self._window.show(self.snapshot(), self.render_seat)

    def _find_potential(self) -> None:
        """Write what each seat's position promises, whose changes are extra rewards."""
        one_game.potential_kernel(self.config.game)(self._states, self.config.tables, self._potential)

    def _find_legal(self) -> None:
        """Write the legal set of a position that was put in from outside."""
        one_game.legal_kernel(self.config.game)(self._states, self.config.constants, self._legal, self._mask)

    def _observe_mover(self) -> None:
        """Write what the seat to move sees."""
        seat = int(self._states[0]["seat"])
        one_game.observe_kernel(self.config.game)(self._states, self.config.constants, seat, self._observation)

    def step(self, action: int | np.integer | None) -> None:
        """Apply the decision of ``agent_selection``. For an agent whose game is over, give None.

        Raises:
            IllegalAction: the id is not legal. With ``illegal="raise"`` nothing has changed.
            RuntimeError: before the first ``reset``, or when all agents are gone.
            ValueError: the action is not an integer, or not None for an agent whose game is over.
        """
        if not self.agents:
            raise NoGameError
        agent = self._mover
        if self._end != RUNNING:
            self._was_dead_step(action)
            return
        if type(action) is not int and not is_integer(action):  # the first is a quick way past the second
            raise ValueError(f"{agent} must decide with an integer action id, not {action!r}")
        action = int(action)
        # the bits, as the mask of an environment without copies is in the hands of others, too
        if not (0 <= action < self._mask.size and self._legal.item(action >> 6) >> (action & 63) & 1):
            self._refuse(action)
            return
        self._cumulative_rewards[agent] = 0.0
        seat, end, count = self._step(
            self._states, self.config.constants, self._legal, action, self._observation, self._mask
        )
        self._mover = self.possible_agents[seat]
        if end == RUNNING:
            if count == 0:
                raise AssertionError(f"{self.config.game.id}: {NO_DECISION}")
            if self._shaped:
                self._pay_shaping()
            if self._tells_masks:
                self._tell_masks()
        else:
            self._end = end
            if self._shaped:
                self._pay_shaping()
            self._finish(end)
        if self.render_mode == "human":  # asked here, as it is asked at every step
            self._show()

    def _tell_masks(self) -> None:
        """Put the mask of the seat to move into its info, and empty ones into all others.

        With copies, an info that was handed out keeps the mask that it had.
        """
        for agent, info in self.infos.items():
            mask = self._mask if agent == self._mover else self._no_mask
            if self.copy:
                self.infos[agent] = {**info, "action_mask": mask.copy()}
            else:
                info["action_mask"] = mask

    def _pay_shaping(self) -> None:
        before = self._potential.copy()
        self._find_potential()
        for seat, agent in enumerate(self.possible_agents):
            self.rewards[agent] = float(self._potential[seat] - before[seat])
        self._accumulate_rewards()

    def _finish(self, end: int) -> None:
        """Pay the returns and tell every agent that the game is over."""
        snapshot = Snapshot(self.config, self._states)
        ranks, scores, returns = snapshot.results()
        self._end_for_all(end, ranks.tolist(), scores.tolist(), returns.tolist())

    def _end_for_all(self, end: int, ranks: list[int], scores: list[int], returns: list[float]) -> None:
        game, tables = self.config.game, self.config.tables[0]
        for seat, agent in enumerate(self.possible_agents):
            shaped = self.rewards[agent]
            paid = (
                float(np.float32(shaped + returns[seat])) if shaped else returns[seat]
            )  # as exact as a batch's arrays
            self._cumulative_rewards[agent] += paid - shaped
            self.rewards[agent] = paid
            self.terminations[agent] = end == TERMINATED
            self.truncations[agent] = end == TRUNCATED
            self.infos[agent] = {
                "seat": seat,
                "returns": returns[seat],
                "rank": ranks[seat],
                "score": scores[seat],
                **game.info(self._states[0], tables, seat),
            }
        if self._tells_masks:
            self._tell_masks()

    def _refuse(self, action: int) -> None:
        legal = self.legal_actions()
        offender = self._seat_of[self._mover]
        message = describe_illegal(self.config, self._states[0], action, legal)
        if self.illegal == "raise":
            raise IllegalAction(message)
        others = self.config.num_players - 1
        returns = [1.0 / others if others else 0.0] * self.config.num_players
        returns[offender] = -1.0
        ranks = [1] * self.config.num_players
        ranks[offender] = self.config.num_players
        scores = Snapshot(self.config, self._states).results()[1].tolist()
        self._cumulative_rewards[self._mover] = 0.0
        self._clear_rewards()
        self._end = TERMINATED
        self._legal[:] = 0
        self._mask[:] = 0
        self._end_for_all(TERMINATED, ranks, scores, returns)
        for agent in self.agents:
            self.infos[agent]["illegal"] = message
        self._show()

    # ------------------------------------------------------------ what agents see

    def observe(self, agent: str) -> dict[str, np.ndarray] | np.ndarray:
        """What ``agent`` sees now. This works at the end of the game, too.

        Raises RuntimeError before the first ``reset``, and KeyError if the game has no such agent.
        """
        if agent == self._mover and self._end == RUNNING:  # after the end, the last to move keeps the buffer
            if self._bare:
                return self._observation.copy() if self.copy else self._observation
            if self.copy:
                return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
            return {"observation": self._observation, "action_mask": self._mask}
        observation = Snapshot(self.config, self._states).observe(self._seat(agent))
        if self._bare:
            return observation
        return {"observation": observation, "action_mask": self._no_mask.copy() if self.copy else self._no_mask}

    def _seat(self, agent: Any) -> int:
        """The seat of an agent of the game that is being played."""
        if self._seed is None:
            raise NoGameError
        return self._of_agent(agent, self._seat_of)

    def _of_agent(self, agent: Any, known: dict[str, Any]) -> Any:
        """What is known of an agent. Raises KeyError, which says what agents there are."""
        try:
            return known[agent]
        except (KeyError, TypeError):
            raise KeyError(f"no agent {agent!r}; there are: {', '.join(self.possible_agents)}") from None

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """(observation, reward since its last decision, terminated, truncated, info) of ``agent_selection``.

        The observation is None if ``observe`` is False.

        Raises RuntimeError before the first ``reset``, or when all agents are gone.
        """
        agent = self._mover
        try:
            return (
                self.observe(agent) if observe else None,
                self._cumulative_rewards[agent],
                self.terminations[agent],
                self.truncations[agent],
                self.infos[agent],
            )
        except KeyError:
            raise NoGameError from None  # the last agent is gone

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Yield the agent to step until all are done, at most ``max_iter`` times.

        Raises RuntimeError before the first ``reset``.
        """
        if self._seed is None:
            raise NoGameError
        return self._agents_in_turn(max_iter)

    def _agents_in_turn(self, most: int) -> Iterator[str]:
        while self.agents and most > 0:
            most -= 1
            yield self._mover

    def state(self) -> np.ndarray:
        """The observations of all seats, one after the other, int16 (P * D,). A centralised critic may use it.

        Raises RuntimeError before the first ``reset``.
        """
        snapshot = self.snapshot()
        return np.concatenate([snapshot.observe(seat) for seat in range(self.config.num_players)])

    def legal_actions(self) -> list[int]:
        """The ids that ``agent_selection`` may choose from. The list is empty once the game is over.

        Raises RuntimeError before the first ``reset``.
        """
        if self._seed is None:
            raise NoGameError
        return [int(action) for action in np.flatnonzero(self._mask)]

    def action_text(self, action: int) -> str:
        """An action id in words. Raises ValueError if the game has no such id."""
        return self.config.actions.text(action)

    def info(self, agent: str) -> dict[str, Any]:
        """The game's figures for ``agent`` at any time. ``infos`` has them only at the end.

        Raises RuntimeError before the first ``reset``, and KeyError if the game has no such agent.
        """
        return self.config.game.info(self._states[0], self.config.tables[0], self._seat(agent))

    @property
    def game_seed(self) -> int | None:
        """The seed of the game dealt last, from which the next one follows. It is None before the first ``reset``.

        ``restore`` draws one if there was no game before, and else leaves it as it is. A resampled environment has the
        seed it was resampled with.
        """
        return self._seed

    # ------------------------------------------------------------ search

    def snapshot(self) -> Snapshot:
        """The current position, to return to later or to search from.

        Raises RuntimeError before the first ``reset``.
        """
        if self._seed is None:
            raise NoGameError
        return Snapshot(self.config, self._states).clone()

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from ``snapshot``. Rewards not yet collected are dropped.

        Raises ValueError if the snapshot belongs to another configuration, TypeError if it is no snapshot.
        """
        check_type("snapshot", snapshot, Snapshot, "env.snapshot() gives one")
        if snapshot.config.digest != self.config.digest:
            raise ValueError(
                f"the snapshot belongs to {snapshot.config.game.id} with {snapshot.config.describe()}, "
                f"this environment is {self.config.game.id} with {self.config.describe()}"
            )
        self._states[0] = snapshot.states[0]
        if self._seed is None:
            self._seed = fresh_seed()
        self._find_legal()
        self._enter()

    def clone(self) -> KeplerEnv:
        """An independent environment in the same position, pending rewards included.

        What is sampled from the spaces of one changes nothing in the other. Generators of action spaces are copied,
        those of observation spaces are new.
        """
        return copy.deepcopy(self)

    def resample(self, agent: str, seed: int) -> KeplerEnv:
        """A clone in which everything ``agent`` cannot know is redrawn from ``seed``, its later games included.

        Raises RuntimeError before the first ``reset``, KeyError if the game has no such agent, and ValueError if the
        seed is not an integer 0 .. 2**64 - 1.
        """
        drawn = self.snapshot().resample(self._seat(agent), seed)
        twin = self.clone()
        twin._states[0] = drawn.states[0]
        twin._seed = check_seed(seed)
        if twin._shaped:
            twin._find_potential()
        if twin._end == RUNNING:
            twin._find_legal()  # the seat to move may hold other cards now
            twin._observe_mover()
            if twin._tells_masks:
                twin._tell_masks()
        return twin

    # ------------------------------------------------------------ pictures

    def render(self) -> str | np.ndarray | None:
        """Draw the position in the render mode.

        ``human`` returns None: it draws in a window, or prints to the terminal where there is no display. Without a
        render mode nothing is drawn, with a warning.

        Raises RuntimeError before the first ``reset``, and ImportError if pixels are asked for and pillow is missing.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called, but render_mode is None: give one to make()")
            return None
        if self.render_mode == "human":
            self._show()
            return None
        return render(self.snapshot(), self.render_seat, self.render_mode)

    def close(self) -> None:
        """Close the window if ``human`` opened one."""
        if self.render_mode == "human":
            self._window.close()
