"""``kepler-envs serve``: play, watch and ask bots in a browser."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console
from tyro.conf import Positional, UseAppendAction, arg

from kepler_envs.cli.common import UsageError, check_folder, needing, optional
from kepler_envs.engine.replay import ReplayError, read_replay
from kepler_envs.terminal import hangup_terminates, say, termination_interrupts

if TYPE_CHECKING:
    from kepler_envs.web.cards import Cards
    from kepler_envs.web.films import Film

USUAL_PORT = 8042
MOST_PACE = 3600
"""Most seconds between two moves of bots."""
MOST_OPEN = 1000
"""Most replays to look at: a finished game takes up to 2 MB of memory, and up to 0.3 seconds of the start."""
NAME = re.compile(r"[A-Za-z0-9._-]+")
"""A host name as browsers send it: without a port, and with letters of other alphabets in the form ``xn--...``."""
ELSEWHERE = {"0.0.0.0": (socket.AF_INET, "192.0.2.1"), "::": (socket.AF_INET6, "2001:db8::1")}
"""Addresses that no machine has, by those of all interfaces."""


@dataclass(frozen=True)
class Serve:
    """Play, watch bots and ask for their advice in a browser. Only this machine can connect, unless you set --host."""

    open: Annotated[Positional[tuple[Path, ...]], optional(metavar="[FILE ...]")] = ()
    """Replays, or tournament folders, to look at."""
    port: Annotated[int, arg(metavar="PORT")] = USUAL_PORT
    """Port to listen on. 0 takes a free one."""
    host: Annotated[str, arg(metavar="ADDRESS")] = "127.0.0.1"
    """Address to listen on. If other machines can reach it, anybody who has a link can use it."""
    name: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="NAME")] = ()
    """Another host name that links to this machine may use."""
    folder: Annotated[Path | None, optional(metavar="FOLDER")] = None
    """Folder that games are kept in. ~/.local/share/kepler_envs/tables if left out."""
    components: Annotated[UseAppendAction[tuple[Path, ...]], arg(metavar="FILE")] = ()
    """Your own component file, to choose on the page in place of the game's components.toml."""
    pace: Annotated[float, arg(metavar="SECONDS")] = 0.4
    """Pause before each move of a bot at a table with people."""

    def run(self, console: Console) -> int:
        with needing("web"):
            import uvicorn

            from kepler_envs.web.server import make_app
        from kepler_envs.web.cards import cards_of
        from kepler_envs.web.guard import is_local
        from kepler_envs.web.house import House
        from kepler_envs.web.store import usual_folder

        self._check()
        cards = cards_of(self.components)
        listening = self._listen()
        films = self._films(console, cards)
        house = House(self.folder or usual_folder(), self.pace, lambda words: say(console, words), cards)

        class Server(uvicorn.Server):
            def handle_exit(self, sig: int, frame: Any) -> None:
                house.closing.set()  # pages that wait for news are told that there will be none
                super().handle_exit(sig, frame)

        with termination_interrupts(), hangup_terminates(), closing(house):
            for film in films:
                house.add_film(film)
            local = is_local(self.host)
            port = listening.getsockname()[1]
            say(console, f"Open  http://{self._name_in_links()}:{port}/host/{house.host_token}")
            say(console, self._who_can_play(local))
            console.file.flush()  # into a pipe, too
            config = uvicorn.Config(
                make_app(house, local, (self.host, *self.name)), log_level="warning", access_log=False,
                log_config=None,  # its own would close the log handlers of other libraries, and absl's closes stderr
                server_header=False, timeout_graceful_shutdown=2,
            )  # fmt: skip
            Server(config).run(sockets=[listening])
        return 0

    def _check(self) -> None:
        if not 0 <= self.port <= 65535:
            raise UsageError(f"--port {self.port} is not allowed; allowed: 0..65535")
        for name in self.name:
            if not NAME.fullmatch(name):
                raise UsageError(f"--name {name!r} is not allowed; allowed: the name of a host, such as box.example")
        if self.folder is not None:
            check_folder("--folder", self.folder)
        if not 0 <= self.pace <= MOST_PACE:
            raise UsageError(f"--pace {self.pace:g} is not allowed; allowed: 0 to {MOST_PACE} seconds")

    def _listen(self) -> socket.socket:
        """The socket, before anything is set up: a port that is taken is better known at once."""
        try:
            family, *_, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
            listening = socket.socket(family)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen()  # who follows the link at once waits, and is not refused
        except UnicodeError as problem:
            raise UsageError(f"--host {self.host}: this cannot be the name of a machine") from problem
        except OSError as problem:
            raise UsageError(f"--host {self.host} --port {self.port}: {problem.strerror or problem}") from problem
        return listening

    def _name_in_links(self) -> str:
        """The name of this machine in the link: the links of seats, which others open, have the same."""
        if self.name:
            return self.name[0]
        host = _own_address(self.host) if self.host in ELSEWHERE else self.host
        return f"[{host}]" if ":" in host else host

    def _who_can_play(self, local: bool) -> str:
        if local:
            return (
                "Only this machine can connect. Keep the link secret: whoever has it can set up tables. "
                "Ctrl-C stops the server; games are kept."
            )
        return (
            f"WARNING  --host {self.host}: every machine that can reach this one can connect, unencrypted. Whoever has "
            "a seat's link can play that seat. Whoever has the link above can set up tables and run your bots. "
            "Share only the links of seats."
        )

    def _films(self, console: Console, cards: Mapping[str, Cards]) -> list[Film]:
        """The games to show, as many as there should be memory for; UsageError if one of them does not verify."""
        from kepler_envs.web.films import Film
        from kepler_envs.web.forms import with_known_cards

        films, found = [], self._replays()
        if len(found) > MOST_OPEN:
            first, count = found[MOST_OPEN][0], len(found) - MOST_OPEN
            say(console, f"Left out: {count:,} of {len(found):,} replays, from {first} on. Each takes memory.")
        with console.status("replays ..."):
            for path, label in found[:MOST_OPEN]:
                replay = with_known_cards(read_replay(path), cards)
                try:
                    films.append(Film.of(replay, label))
                except ReplayError as problem:
                    raise UsageError(f"{path}: {problem}") from problem
        return films

    def _replays(self) -> list[tuple[Path, str]]:
        """The files to show, with what to call them."""
        found = []
        for path in self.open:
            if path.is_dir():
                folder = path / "replays" if (path / "replays").is_dir() else path
                inside = sorted(folder.glob("*.jsonl"))
                if not inside:
                    raise UsageError(f"{path}: there are no replays (*.jsonl) in it")
                found += [(file, f"{path.name}: {file.name}") for file in inside]
            else:
                found.append((path, path.name))
        return found


def _own_address(anywhere: str) -> str:
    """The address under which others reach this machine. Nothing is sent; a machine without a network is localhost."""
    family, other = ELSEWHERE[anywhere]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((other, 9))
        except OSError:
            return "localhost"
        return str(probe.getsockname()[0])
