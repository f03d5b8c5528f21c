"""Check requests before anything else reads them, and set the headers of every answer.

Pages of other sites must neither read from this server nor write to it. Three things prevent that. Every link holds a
secret. ``Host`` must be a name or an address of this server, so that no foreign name can be pointed at it (DNS
rebinding). Where a browser says which page a request comes from (``Origin``), it must be one of ours.
"""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer: pages load nothing from elsewhere, reveal their links to nobody, and are not cached."""


class Guard:
    """Refuse requests for other hosts and from other pages.

    Args:
        app: the application that answers all other requests.
        local: whether only this machine can connect; then ``Host`` must be a loopback address or ``localhost``; else
            any address.
        names: other names of this server.
    """

    def __init__(self, app: ASGIApp, local: bool, names: tuple[str, ...] = ()) -> None:
        self._app = app
        self._local = local
        self._names = {"localhost", *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        problem = self._problem(Headers(scope=scope))
        app = JSONResponse({"error": problem}, 403) if problem else self._app
        await app(scope, receive, send_with_headers)

    def _problem(self, headers: Headers) -> str:
        """Why a request is turned away, or ""."""
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or not self._is_ours(_name_of(host)):
            return "this server does not answer to that Host; --name gives it further names"
        origins = headers.getlist("origin")
        if origins and origins not in ([f"http://{host}"], [f"https://{host}"]):
            return "requests from other pages are not answered"
        return ""

    def _is_ours(self, name: str) -> bool:
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._local


def _name_of(host: str) -> str:
    """``Host`` without its port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def is_local(address: str) -> bool:
    """Whether only this machine can reach an address to listen on."""
    try:
        return address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
