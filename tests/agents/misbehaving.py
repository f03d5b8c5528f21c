"""Agents for tests of forfeits: each plays the lowest legal id until something goes wrong in some games."""

from __future__ import annotations

import ctypes
import os
import time

import numpy as np

DECISION = 30
"""From this decision on, in games whose seed is divisible by 3."""


class Lowest:
    name = "lowest"

    def __init__(self, config) -> None:
        self.config = config

    def start(self, rows, seeds) -> None: ...

    def is_time(self, decisions) -> bool:
        batch, rows = decisions.batch, decisions.rows
        return bool(((batch.states["decisions"][rows] >= DECISION) & (batch.seed[rows] % 3 == 0)).any())

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
        actions = super().act(decisions)
        return actions + len(self.config.actions) if self.is_time(decisions) else actions


class NamesIllegalId(Lowest):
    def act(self, decisions):
        return decisions.action_mask.argmin(axis=1) if self.is_time(decisions) else super().act(decisions)


class NamesHalves(Lowest):
    def act(self, decisions):
        return super().act(decisions) / 2 if self.is_time(decisions) else super().act(decisions)


class IsSlow(Lowest):
    def misbehave(self) -> None:
        time.sleep(0.3)


class NeverReturns(Lowest):
    """In native code that keeps the interpreter's lock, so that no thread of the process and no signal handler runs."""

    def misbehave(self) -> None:
        ctypes.PyDLL(None).sleep(1000)


class EndsTheProcess(Lowest):
    def misbehave(self) -> None:
        os._exit(3)


class IsNoAgent:
    def __init__(self, config) -> None: ...


NOT_CALLABLE = np.zeros(3)
