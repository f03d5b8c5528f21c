"""The JSON API of the pages. Every path holds a secret; slow work runs in threads."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.replay import Replay, ReplayError, read_replay, write_replay
from kepler_envs.printable import printable
from kepler_envs.web import NotNowError, UnknownError, WebError, forms
from kepler_envs.web.advice import advise
from kepler_envs.web.films import Film
from kepler_envs.web.house import House
from kepler_envs.web.rules import rules_card
from kepler_envs.web.views import known

LONGEST_BODY, LONGEST_REPLAY = 64 * 1024, 16 * 1024 * 1024  # bytes
GAME_FIELDS: dict[str, Any] = {
    "game": str, "components": (str, type(None)), "players": int, "options": dict, "seats": list,
    "seed": (str, type(None)),
}  # fmt: skip
"""What the form of a game sends."""
LOOK_EVERY = 0.1
"""Seconds between two checks for news, per open page."""
SIGN_OF_LIFE = 15.0
"""Seconds after which a silent stream of events sends a sign of life."""
ASKED_AT_ONCE = 2
"""Number of questions to bots that are computed at once."""

Handler = Callable[[Request], Awaitable[Response]]


class _TooLong(WebError):
    """The body is longer than allowed."""


class _TooMuch(WebError):
    """There are more questions than are computed at once."""


STATUS = {UnknownError: 404, NotNowError: 409, _TooLong: 413, _TooMuch: 429, WebError: 400, ReplayError: 400}


def _number(what: str, text: str) -> int:
    """Read a number of an address."""
    if not text.isdecimal() or len(text) > 9:
        raise WebError(f"{what} must be a number")
    return int(text)


def _json(content: Any) -> Response:
    """Make a JSON response. Equal content gives equal bytes."""
    return Response(json.dumps(content, ensure_ascii=False, sort_keys=True), media_type="application/json")


async def _body(request: Request, most: int = LONGEST_BODY) -> bytes:
    """Read the body of a request that one of our pages sends."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise WebError("the body must be application/json")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _TooLong(f"the body is longer than {most:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _download(replay: Replay) -> Response:
    """Send a replay as the file that ``kepler-envs replay`` reads, without the folder of a component file."""
    if "components" in replay.options:
        here = Path(str(replay.options["components"]))
        replay = dataclasses.replace(replay, options={**replay.options, "components": here.name})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.jsonl"
        write_replay(path, replay)
        content = path.read_bytes()
    name = f"{replay.game}-{len(replay.actions)}.jsonl"
    return Response(
        content, headers={"Content-Disposition": f'attachment; filename="{name}"'}, media_type="application/jsonl"
    )


class Api:
    """The request handlers of a house."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._thinking = asyncio.Semaphore(ASKED_AT_ONCE)

    def answer(self, handler: Handler) -> Handler:
        """Wrap a handler so that its errors become answers in words."""

        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except (WebError, ReplayError) as problem:
                status = next(status for kind, status in STATUS.items() if isinstance(problem, kind))
                return JSONResponse({"error": printable(str(problem))}, status)  # it may quote what was sent
            except OSError as problem:  # a full disk: the decision does not count
                return JSONResponse({"error": f"it could not be written down: {problem.strerror}"}, 507)

        return answered

    def host(self, handler: Handler) -> Handler:
        """Wrap a handler that is only for whoever runs the server."""

        async def hosted(request: Request) -> Response:
            given = request.path_params["token"].encode()
            if not secrets.compare_digest(given, self._house.host_token.encode()):
                raise UnknownError("this is not the link that the server printed")
            return await handler(request)

        return self.answer(hosted)

    # ------------------------------------------------------------ the host

    async def overview(self, request: Request) -> Response:
        return _json(self._house.overview())

    async def menu(self, request: Request) -> Response:
        return _json({"games": await run_in_threadpool(forms.menu, self._house.cards)})

    async def open_table(self, request: Request) -> Response:
        form = forms.parse(await _body(request), **GAME_FIELDS, advice=bool)

        def opened() -> dict[str, Any]:
            config = self._configured(form)
            specs = forms.specs_of(form["seats"], config, people=True)
            table = self._house.open_table(config, specs, forms.seed_of(form["seed"]), form["advice"])
            return {"number": table.number, "tokens": [seat.token if seat.is_person else "" for seat in table.seats]}

        return _json(await run_in_threadpool(opened))

    def _configured(self, form: dict[str, Any]) -> Configuration:
        """The game that a form asks for."""
        game, players, options, components = (form[name] for name in ("game", "players", "options", "components"))
        return forms.configuration(game, players, options, components, self._house.cards)

    async def close_table(self, request: Request) -> Response:
        await run_in_threadpool(self._house.close_table, request.path_params["number"])
        return _json({})

    async def close_film(self, request: Request) -> Response:
        await run_in_threadpool(self._house.close_film, request.path_params["film"])
        return _json({})

    async def watch(self, request: Request) -> Response:
        form = forms.parse(await _body(request), **GAME_FIELDS)

        def watched() -> str:
            config = self._configured(form)
            specs = forms.specs_of(form["seats"], config, people=False)
            return self._house.watch(config, specs, forms.seed_of(form["seed"]))

        return _json({"token": await run_in_threadpool(watched)})

    async def open_replay(self, request: Request) -> Response:
        form = forms.parse(await _body(request, LONGEST_REPLAY), name=str, text=str)

        def opened() -> str:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "game.jsonl"
                path.write_text(form["text"], encoding="utf-8", errors="replace")
                try:
                    replay = read_replay(path)
                except ReplayError as problem:
                    raise WebError(str(problem).replace(str(path), form["name"][:100])) from problem
            replay = forms.with_cards_of_the_server(replay, self._house.cards)
            return self._house.add_film(Film.of(replay, form["name"][:100]), keep=True)

        return _json({"token": await run_in_threadpool(opened)})

    # ------------------------------------------------------------ a seat

    async def seat(self, request: Request) -> Response:
        table, seat = self._house.seat(request.path_params["token"])
        return _json(await run_in_threadpool(table.view, seat))

    async def events(self, request: Request) -> Response:
        """Send events: the version of the table, whenever it changes."""
        try:
            table, _ = self._house.seat(request.path_params["token"])
        except UnknownError as problem:
            return JSONResponse({"error": str(problem)}, 404)

        async def news() -> AsyncIterator[str]:
            told, silent = None, 0.0
            while table.number in self._house.numbers and not self._house.closing.is_set():
                if table.version != told:
                    told, silent = table.version, 0.0
                    yield f"data: {told}\n\n"
                elif silent >= SIGN_OF_LIFE:
                    silent = 0.0
                    yield ": here\n\n"
                await asyncio.sleep(LOOK_EVERY)
                silent += LOOK_EVERY

        return StreamingResponse(news(), media_type="text/event-stream")

    async def seat_rules(self, request: Request) -> Response:
        table, _ = self._house.seat(request.path_params["token"])
        return _json(rules_card(table.config.game))

    async def seat_replay(self, request: Request) -> Response:
        table, _ = self._house.seat(request.path_params["token"])
        if not table.position.over:
            raise NotNowError("the replay shows what is hidden, so you can save it only when the game is over")
        return await run_in_threadpool(_download, table.replay)

    async def decide(self, request: Request) -> Response:
        table, seat = self._house.seat(request.path_params["token"])
        form = forms.parse(await _body(request), action=int, version=int)
        await run_in_threadpool(table.decide, seat, form["action"], form["version"])
        self._house.play_on(table)
        return _json(await run_in_threadpool(table.view, seat))

    async def undo(self, request: Request) -> Response:
        table, seat = self._house.seat(request.path_params["token"])
        forms.parse(await _body(request))
        await run_in_threadpool(table.undo, seat)
        return _json(await run_in_threadpool(table.view, seat))

    async def seat_ask(self, request: Request) -> Response:
        table, seat = self._house.seat(request.path_params["token"])
        form = forms.parse(await _body(request), bot=str)
        position = table.asked_about(seat)
        return await self._think(position, form["bot"])

    # ------------------------------------------------------------ a film

    async def film(self, request: Request) -> Response:
        film = await self._film(request)
        start = _number("from", request.query_params.get("from", "0"))
        return _json(await run_in_threadpool(film.story, start))

    async def frame(self, request: Request) -> Response:
        film = await self._film(request)
        seat = forms.seat_of(request.path_params["view"])
        return _json(await run_in_threadpool(film.frame, _number("a position", request.path_params["at"]), seat))

    async def film_rules(self, request: Request) -> Response:
        return _json(rules_card((await self._film(request)).config.game))

    async def film_replay(self, request: Request) -> Response:
        film = await self._film(request)
        if film.growing:
            raise NotNowError("the game is not over yet")
        return await run_in_threadpool(_download, film.replay)

    async def film_ask(self, request: Request) -> Response:
        film = await self._film(request)
        form = forms.parse(await _body(request), bot=str, at=int)
        position = film.position(form["at"])
        if position.over:
            raise NotNowError("the game is over: there is nothing to decide")
        return await self._think(known(position, position.seat), form["bot"])

    async def _film(self, request: Request) -> Film:
        return await run_in_threadpool(self._house.film, request.path_params["token"])

    async def _think(self, position: Any, spec: str) -> Response:
        if self._thinking.locked():
            raise _TooMuch("the server is thinking already: ask again in a moment")
        async with self._thinking:
            return _json(await run_in_threadpool(advise, position, spec))
