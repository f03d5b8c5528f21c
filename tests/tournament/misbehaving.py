"""Agents for tests of forfeits: each plays the lowest legal id until something goes wrong in some games."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time

import numpy as np

ASKED = 8
"""From this question of a game on, in games whose seed, as the agent is told it, is divisible by 3."""


class Lowest:
    def __init__(self, config) -> None:
        self.config = config
        self.asked = {}
        self.seeds = {}

    def start(self, rows, seeds) -> None:
        self.seeds.update(zip(rows.tolist(), seeds.tolist(), strict=True))
        self.asked.update(dict.fromkeys(rows.tolist(), 0))

    def is_time(self, decisions) -> bool:
        rows = decisions.rows.tolist()
        for row in rows:
            self.asked[row] += 1
        return any(self.asked[row] >= ASKED and self.seeds[row] % 3 == 0 for row in rows)

    def act(self, decisions):
        if self.is_time(decisions):
            self.misbehave()
        return decisions.action_mask.argmax(axis=1)

    def misbehave(self) -> None: ...


class Raises(Lowest):
    def misbehave(self) -> None:
        raise ValueError("no idea <what> to do")


class RaisesAtStart(Lowest):
    def start(self, rows, seeds) -> None:
        raise OSError("no model file")


class NamesNoId(Lowest):
    def act(self, decisions):
        late = self.is_time(decisions)
        return decisions.action_mask.argmax(axis=1) + late * len(self.config.actions)


class NamesIllegalId(Lowest):
    def act(self, decisions):
        late = self.is_time(decisions)
        return decisions.action_mask.argmin(axis=1) if late else decisions.action_mask.argmax(axis=1)


class NamesHalves(Lowest):
    def act(self, decisions):
        late = self.is_time(decisions)
        return decisions.action_mask.argmax(axis=1) / 2 if late else decisions.action_mask.argmax(axis=1)


class NamesWords(Lowest):
    def act(self, decisions):
        late = self.is_time(decisions)
        return [object()] if late else decisions.action_mask.argmax(axis=1)


class NamesNothing(Lowest):
    def act(self, decisions):
        late = self.is_time(decisions)
        return None if late else decisions.action_mask.argmax(axis=1)


class IsSlow(Lowest):
    def misbehave(self) -> None:
        time.sleep(1.5)


class NeverReturns(Lowest):
    """In native code that keeps the interpreter's lock, so that no thread of the process and no signal handler runs."""

    def misbehave(self) -> None:
        ctypes.PyDLL(None).sleep(1000)


class EndsTheProcess(Lowest):
    def misbehave(self) -> None:
        os._exit(3)


class Exits(Lowest):
    def misbehave(self) -> None:
        sys.exit("had enough")


class Interrupts(Lowest):
    def misbehave(self) -> None:
        raise KeyboardInterrupt


class Forks(Lowest):
    """The forked process comes back from act."""

    def misbehave(self) -> None:
        os.fork()


class ForksAndWaits(Lowest):
    """As process pools do: the forked process ends by itself."""

    def misbehave(self) -> None:
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)


class Hogs(Lowest):
    """Takes memory and keeps it."""

    kept: list = []

    def misbehave(self) -> None:
        while True:
            self.kept.append(np.ones(2**22))


class Writes(Lowest):
    """Writes into everything that it gets, and into everything that looks like a game's state in memory."""

    searches = True
    looked = False

    def act(self, decisions):
        actions = decisions.action_mask.argmax(axis=1)
        for array in (decisions.observation, decisions.action_mask, decisions.seat, decisions.rows):
            array[...] = 1
        for snapshot in decisions.snapshots:
            snapshot.states["player"]["quest_count"] = 1
        if not self.looked:
            self.looked = True
            for thing in gc.get_objects():
                if isinstance(thing, np.ndarray) and thing.dtype == self.config.game.state:
                    thing.flags.writeable = True
                    thing["player"]["quest_count"] = 1
        return actions


class Samples(Lowest):
    """Chooses by what was drawn for it."""

    searches = True

    def act(self, decisions):
        choices = []
        for snapshot, seat, seen, legal in zip(
            decisions.snapshots, decisions.seat, decisions.observation, decisions.legal_actions, strict=True
        ):
            assert snapshot.seat == seat and np.array_equal(snapshot.observe(int(seat)), seen)
            assert snapshot.legal_actions() == legal.tolist()
            choices.append(legal[int(snapshot.digest()[:8], 16) % len(legal)])
        return np.array(choices)


class LooksForGames(Lowest):
    """Raises as soon as it finds anything of a game in its process."""

    def act(self, decisions):
        from kepler_envs.engine.batch import Batch

        if self.asked[int(decisions.rows[0])] > 3:
            return decisions.action_mask.argmax(axis=1)
        for thing in gc.get_objects():
            if isinstance(thing, Batch):
                raise AssertionError("found a batch")
            if isinstance(thing, np.ndarray) and thing.dtype == self.config.game.state:
                raise AssertionError("found a state")
        return super().act(decisions)


class FailsAtOnce:
    def __init__(self, config) -> None:
        sys.exit("not today")


class IsNoAgent:
    def __init__(self, config) -> None: ...


NOT_CALLABLE = np.zeros(3)
