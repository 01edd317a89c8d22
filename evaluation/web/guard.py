"""Who may ask the server, and what it says to those who may not.

A page of another site, open in the same browser, can send requests to this machine too. It
is kept out by its ``Origin``; and a name of its own that it lets point to this machine
(DNS rebinding) by the ``Host`` header.
"""

from __future__ import annotations

import ipaddress
import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG: Final = logging.getLogger("c4env.web")
LARGEST_BODY: Final = 16_384  # bytes; the longest game takes a few hundred


class Refusal(Exception):
    """A request that is answered with an error of its sender."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def refuse(scope: Scope, status: int, reason: str) -> JSONResponse:
    """The answer to a bad request, written to the log."""
    LOG.warning("%s %.200r: %d %.300s", scope["method"], scope["path"], status, reason)
    return JSONResponse({"error": reason}, status)


class Guard:
    """Lets in requests from this server's own page, and adds its security headers.

    Args:
        app: what it guards.
        names: host names of this server; addresses are let in without a name.
        headers: added to every answer.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str], headers: Mapping[str, str]) -> None:
        self.app = app
        self.names = names
        self.headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse to."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(k.encode(), v.encode()) for k, v in self.headers.items()]
            await send(message)

        try:
            self._check(Headers(scope=scope))
        except Refusal as refusal:
            answer = refuse(scope, refusal.status, refusal.reason)
            await answer(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)

    def _check(self, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise Refusal(421, f"host {host[:80]!r} is not this server; open it by its address")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            raise Refusal(403, f"the page {origin[:80]!r} may not use this server")
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and origin is not None:
            raise Refusal(403, "another site may not use this server")

    def _is_ours(self, host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return name.lower() in self.names
        return True


async def json_object(request: Request) -> dict[str, Any]:
    """The JSON object a request carries.

    Raises:
        Refusal: it carries something else, or too much.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":  # what a form of another site cannot send
        raise Refusal(415, f"content type {kind[:80]!r}: expected application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise Refusal(413, f"more than {LARGEST_BODY} bytes")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Refusal(400, f"{str(found)[:80]!r}: expected a JSON object")
    return found
