"""The web server: pages and files, a JSON API, events.

Every link holds a secret: ``/host/TOKEN`` sets tables up, ``/seat/TOKEN`` plays one seat, ``/film/TOKEN`` shows a game.
The API is under ``/api``, with the same secrets. Errors are ``{"error": words}`` with status 400 (malformed), 403
(guard), 404 (no such link or game), 409 (not now), 413 (too long), 429 (too many questions at once) or 507 (it could
not be written down). An address that leads nowhere is answered with a page that says which ones do.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from kepler_envs.web.api import Api, Handler
from kepler_envs.web.guard import Guard
from kepler_envs.web.house import House

KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def make_app(house: House, local: bool = True, names: tuple[str, ...] = ()) -> Guard:
    """Make the application that serves a house.

    Args:
        local: whether only this machine can connect (see :class:`Guard`).
        names: other names of the server.
    """
    api = Api(house)
    routes = [
        Route("/", _welcome, methods=["GET"]),
        *(Route(f"/{name}/{{token}}", _page(f"{name}.js"), methods=["GET"]) for name in ("host", "seat", "film")),
        Route("/static/{name}", _static, methods=["GET"]),
        Route("/api/host/{token}", api.host(api.overview), methods=["GET"]),
        Route("/api/host/{token}/menu", api.host(api.menu), methods=["GET"]),
        Route("/api/host/{token}/tables", api.host(api.open_table), methods=["POST"]),
        Route("/api/host/{token}/tables/{number}", api.host(api.close_table), methods=["DELETE"]),
        Route("/api/host/{token}/films/{film}", api.host(api.close_film), methods=["DELETE"]),
        Route("/api/host/{token}/watch", api.host(api.watch), methods=["POST"]),
        Route("/api/host/{token}/replays", api.host(api.open_replay), methods=["POST"]),
        Route("/api/seat/{token}", api.answer(api.seat), methods=["GET"]),
        Route("/api/seat/{token}/events", api.events, methods=["GET"]),
        Route("/api/seat/{token}/rules", api.answer(api.seat_rules), methods=["GET"]),
        Route("/api/seat/{token}/replay", api.answer(api.seat_replay), methods=["GET"]),
        Route("/api/seat/{token}/decide", api.answer(api.decide), methods=["POST"]),
        Route("/api/seat/{token}/undo", api.answer(api.undo), methods=["POST"]),
        Route("/api/seat/{token}/ask", api.answer(api.seat_ask), methods=["POST"]),
        Route("/api/film/{token}", api.answer(api.film), methods=["GET"]),
        Route("/api/film/{token}/frames/{at}/{view}", api.answer(api.frame), methods=["GET"]),
        Route("/api/film/{token}/rules", api.answer(api.film_rules), methods=["GET"]),
        Route("/api/film/{token}/replay", api.answer(api.film_replay), methods=["GET"]),
        Route("/api/film/{token}/ask", api.answer(api.film_ask), methods=["POST"]),
    ]
    app = Starlette(routes=routes, exception_handlers={404: _nowhere})
    return Guard(app, local, names)  # around everything, errors of the server included


async def _welcome(request: Request) -> Response:
    return _file("index.html")


async def _nowhere(request: Request, problem: Exception) -> Response:
    """An address that leads nowhere, such as half a link: say which ones do."""
    return _file("index.html", 404)


def _page(script: str) -> Handler:
    """Make the handler of a page that its script fills."""
    content = (files("kepler_envs.web") / "static" / "page.html").read_text(encoding="utf-8").replace("SCRIPT", script)

    async def page(request: Request) -> Response:
        return HTMLResponse(content)

    return page


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    known_names = {path.name for path in files("kepler_envs.web").joinpath("static").iterdir()}
    if name not in known_names or name.endswith(".html"):
        return JSONResponse({"error": "there is no such file"}, 404)
    return _file(name)


def _file(name: str, status: int = 200) -> Response:
    path = Path(str(files("kepler_envs.web") / "static" / name))
    return FileResponse(path, status, media_type=KINDS[path.suffix])
