"""Many machines, or the cores of this one: functions called by Ray, each as a task that may be repeated.

A game is a function of its seed and its bots, so whatever a task does can be repeated elsewhere with the same result.
Ray repeats the tasks of workers and nodes that are gone, and the one process that asked writes what came out.
Everything that this library knows about Ray is here.
"""

from __future__ import annotations

import hashlib
import os
import platform
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from kepler_envs.bots.protocol import BotError
from kepler_envs.engine.snapshot import IllegalAction
from kepler_envs.printable import counted
from kepler_envs.tournament import ClusterError, TournamentError, WorkerError

TASKS_A_CORE = 2
"""Tasks under way: the next one is there when a core has done the last."""
RETRIES = 5
"""How often a task whose worker was lost is done again; a task that ends every worker is not somebody else's fault."""
MINUTES_TO_ANSWER = 5
"""For a node that is asked what it has installed. Its first worker has to start and import, and Ray runs workers with
niceness 15, which takes minutes where other programs keep all cores busy."""
SECONDS_TO_CONNECT = 5.0
MOST_PORT = 2**16 - 1
"""Python takes larger ones, and connects to another port."""
LOOK_EVERY = 1.0
"""Seconds between two looks at how many nodes and cores there are."""
PACKAGE = Path(__file__).parents[1]

Common = TypeVar("Common")
Task = TypeVar("Task")
Result = TypeVar("Result")

NONE_HERE = "Could not find any running Ray instance"
"""How Ray begins to say that no cluster runs on this machine. Its class is that of any failed connection."""
TOKEN_NEEDED = "RAY_AUTH_MODE=token and the same ~/.ray/auth_token are needed here and there"


@dataclass(frozen=True)
class Installed:
    """What a node has installed. Games are the same only if it is the same.

    Attributes:
        library: the version of kepler_envs.
        sources: 12 hex digits of its files.
        python, numba: their versions.
    """

    library: str
    sources: str
    python: str
    numba: str

    def __str__(self) -> str:
        return f"kepler_envs {self.library} (files {self.sources}), Python {self.python}, numba {self.numba}"


@cache
def installed_here() -> Installed:
    """What this process has installed."""
    digest = hashlib.sha256()
    for path in sorted(file for file in PACKAGE.rglob("*") if file.suffix in (".py", ".toml", ".zip", ".txt")):
        digest.update(str(path.relative_to(PACKAGE)).encode() + b"\0")
        digest.update(path.read_bytes())
    return Installed(version("kepler_envs"), digest.hexdigest()[:12], platform.python_version(), version("numba"))


@contextmanager
def cluster_at(asked: Sequence[str] | None, console: Console, cores: int | None = None) -> Iterator[Cluster | None]:
    """The cluster that ``--ray`` asks for: the one at an address, or that of this machine. Without ``--ray`` it is
    None.

    Args:
        cores: ``--processes``, the cores of a cluster that is started here. None takes all of this machine.

    Raises:
        ClusterError: there are several addresses, or the cluster cannot be used.
    """
    if asked is None:
        yield None
        return
    if len(asked) > 1:
        raise ClusterError(f"--ray {' '.join(asked)}: one address or none; other arguments stand before it")
    with console.status("connecting to the cluster ..."):
        cluster = Cluster(asked[0] if asked else "", cores, console)
    with cluster:
        console.print(f"on a Ray cluster: {cluster.size}", highlight=False)
        yield cluster


class Cluster:
    """A Ray cluster: that of an address, the one that runs on this machine, or a new one on its cores. Use it in a
    ``with``.

    Args:
        address: HOST:PORT of a cluster. "": that of the variable RAY_ADDRESS, else the one on this machine, started if
            there is none. "local": a new one on this machine.
        cores: the cores of a cluster that is started. None takes all of this machine.
        console: where to say that there is no node.

    Raises:
        ClusterError: Ray is not installed, the cluster cannot be reached, a node has something else installed or does
            not answer, or ``cores`` are asked of a cluster that runs already.
    """

    def __init__(self, address: str = "", cores: int | None = None, console: Console | None = None) -> None:
        try:
            import ray
        except ModuleNotFoundError as problem:
            raise ClusterError("--ray needs Ray: pip install 'kepler_envs[ray]'") from problem
        self._ray: Any = ray
        self._looked_at, self._nodes, self._cores = float("-inf"), 0, 0
        self._console, self._told = console, False
        self._connect(address, cores)
        try:
            self._check_nodes()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here. Tasks under way are given up."""
        self._ray.shutdown()

    @property
    def nodes(self) -> int:
        """The number of nodes that take tasks now."""
        self._look()
        return self._nodes

    @property
    def cores(self) -> int:
        """The number of cores of these nodes."""
        self._look()
        return self._cores

    @property
    def size(self) -> str:
        """Both in words: "2 nodes, 1 core"."""
        return f"{counted(self.nodes, 'node')}, {counted(self.cores, 'core')}"

    def map(
        self,
        function: Callable[[Common, Task], Result],
        common: Common,
        tasks: Iterator[Task],
        stop: threading.Event | None = None,
        waiting: Callable[[], None] | None = None,
    ) -> Iterator[tuple[Task, Result]]:
        """Yield every task with the result of ``function(common, task)`` as it comes, in any order.

        Args:
            function: a function of a module that all nodes have.
            common: what all tasks need. It is sent once to each node.
            tasks: the tasks. They are taken when a core will soon be free. Once ``stop`` is set no further one begins,
                and those that no node does are given up.
            waiting: called at least every second. None says once when there is no node.

        Raises:
            WorkerError: a task failed, or its workers ended again and again.
            ClusterError: a node that joined has something else installed. If the head node is gone, nothing is raised:
                Ray ends this process after a minute.
            BotError, IllegalAction, TournamentError: a task raised it.
        """
        ray = self._ray
        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_call)
        shared = ray.put(common)
        under_way: dict[Any, tuple[Task, int]] = {}  # with how often it was begun again

        def begin(task: Task, again: int = 0) -> None:
            under_way[remote.remote(function, shared, task, installed_here())] = task, again

        try:
            while True:
                while len(under_way) < max(1, TASKS_A_CORE * self.cores) and not (stop and stop.is_set()):
                    task = next(tasks, None)
                    if task is None:
                        break
                    begin(task)
                if not under_way or (stop and stop.is_set() and not self.cores):
                    return
                done, _ = ray.wait(list(under_way), num_returns=len(under_way), timeout=0)
                if not done:
                    done, _ = ray.wait(list(under_way), timeout=LOOK_EVERY)
                (waiting or self._say_waiting)()
                for reference in done:
                    task, again = under_way.pop(reference)
                    try:
                        result = self._result(reference)
                    except _LostError as problem:
                        if again == RETRIES:
                            raise WorkerError(f"what all tasks need was lost {again + 1} times: {problem}") from None
                        shared = ray.put(common)
                        begin(task, again + 1)
                    else:
                        yield task, result
        finally:
            for reference in under_way:
                with suppress(Exception):  # the cluster may be gone
                    ray.cancel(reference, force=True)

    # ------------------------------------------------------------ parts

    def _connect(self, address: str, cores: int | None) -> None:
        known = os.environ.get("RAY_ADDRESS", "")
        address = address or ("" if known == "auto" else known)
        quiet = {"logging_level": "ERROR", "log_to_driver": False}
        new = {"address": "local", "num_cpus": cores, "include_dashboard": False}
        try:
            if address == "local":
                self._ray.init(**new, **quiet)
                return
            if address:
                _refuse_cores(cores, f"the cluster at {address}")
                _check_reachable(address)
                self._ray.init(address=address, **quiet)
                return
            self._join_or_start(new, quiet)
        except ClusterError:
            raise
        except Exception as problem:  # Ray has no class for what may be wrong with an address
            where = f"the cluster at {address}" if address else "a cluster on this machine"
            why = _first_line(problem)
            token = f"; if it asks for a token, {TOKEN_NEEDED}" if address != "local" else ""
            raise ClusterError(f"{where} cannot be used: {why}{token}") from problem

    def _join_or_start(self, new: dict[str, Any], quiet: dict[str, Any]) -> None:
        """Join the cluster that runs on this machine, or start one."""
        try:
            self._ray.init(address="auto", **quiet)
        except ConnectionError as problem:
            if NONE_HERE not in str(problem):  # one that refuses: games elsewhere are not what was asked for
                raise
            self._ray.init(**new, **quiet)
            return
        try:
            _refuse_cores(new["num_cpus"], "the cluster that runs on this machine")
        except ClusterError:
            self.close()
            raise

    def _say_waiting(self) -> None:
        is_alone = not self.cores
        if is_alone and not self._told and self._console is not None:
            self._console.print("there is no node: waiting for one", highlight=False)
        self._told = is_alone

    def _look(self) -> None:
        if time.monotonic() - self._looked_at < LOOK_EVERY:
            return
        alive = [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
        self._nodes = len(alive)
        self._cores = sum(int(node["Resources"]["CPU"]) for node in alive)
        self._looked_at = time.monotonic()

    def _check_nodes(self) -> None:
        """Raise ClusterError naming the first node that would not play the same games."""
        ray = self._ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        def ask() -> str:  # sent as code, not by its name: it has to run where this library is not
            from kepler_envs.tournament.cluster import installed_here

            return str(installed_here())

        asked = {}
        for node in ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1:
                there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                question = ray.remote(num_cpus=0, max_retries=1, scheduling_strategy=there)(ask)
                asked[question.remote()] = node["NodeManagerAddress"]
        for reference, where in asked.items():
            try:
                found = ray.get(reference, timeout=60 * MINUTES_TO_ANSWER)
            except ray.exceptions.GetTimeoutError:
                raise ClusterError(f"node {where} does not answer within {MINUTES_TO_ANSWER} minutes") from None
            except ray.exceptions.RayTaskError as problem:
                raise ClusterError(
                    f"node {where} cannot play: {problem.cause}; all nodes need this library, from the same wheel"
                ) from None
            if found != str(installed_here()):
                raise ClusterError(_differs(where, found))

    def _result(self, reference: Any) -> Any:
        exceptions = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except exceptions.RayTaskError as problem:
            if isinstance(problem.cause, (BotError, IllegalAction, TournamentError)):
                raise problem.cause from None
            if isinstance(problem.cause, exceptions.ObjectLostError):
                raise _LostError(_first_line(problem.cause)) from None
            raise WorkerError(f"a task failed on a worker:\n{problem}") from None
        except exceptions.RayError as problem:
            words = _first_line(problem)
            raise WorkerError(f"a task was given up after {RETRIES + 1} workers were lost over it: {words}") from None


class _LostError(Exception):
    """A worker could not get what all tasks need. Ray takes a driver that is slow to answer for one that has ended."""


def _first_line(problem: BaseException) -> str:
    """The first line of what an exception says, or its kind if it says nothing."""
    return (str(problem).strip() or repr(problem)).splitlines()[0]


def _call(function: Callable[[Any, Any], Any], common: Any, task: Any, expected: Installed) -> Any:
    """Call the function in a worker, if games are the same there."""
    if installed_here() != expected:
        raise ClusterError(_differs(socket.gethostname(), str(installed_here()), str(expected)))
    return function(common, task)


def _differs(where: str, there: str, here: str | None = None) -> str:
    return f"node {where} has {there}, and this process {here or installed_here()}; install the same wheel on all nodes"


def _refuse_cores(cores: int | None, cluster: str) -> None:
    """Raise ClusterError if a number of cores is asked of a cluster that has its own."""
    if cores is not None:
        raise ClusterError(
            f"--processes {cores}: {cluster} has cores of its own; leave it out, or start another one with --ray local"
        )


def _check_reachable(address: str) -> None:
    """Raise ClusterError if nobody listens at ``HOST:PORT``.

    Ray itself would try for minutes and then end the process.
    """
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if address == "auto":
        return
    if not (colon and host and port.isdecimal() and 0 < int(port) <= MOST_PORT):
        raise ClusterError(f"--ray {address}: an address is HOST:PORT, for example 10.0.0.5:6379")
    try:
        socket.create_connection((host.strip("[]"), int(port)), SECONDS_TO_CONNECT).close()
    except (OSError, UnicodeError) as problem:  # the latter of a name that no host can have
        raise ClusterError(f"the cluster at {address} cannot be reached: {problem}") from problem
