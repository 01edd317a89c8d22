"""Refuse requests that pages of other web sites send, and read the JSON of requests."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from c4env.agents.adapters import http_requests
from c4env.agents.adapters.http_requests import Refused, check_json, check_sender

LOG: Final = logging.getLogger("c4env.web")
LARGEST_BODY: Final = 16_384  # bytes; the longest game needs a few hundred


def refuse(scope: Scope, status: int, reason: str) -> JSONResponse:
    """Log a refused request, and return the response with the reason."""
    LOG.warning("%s %.200r: %d %.300s", scope["method"], scope["path"], status, reason)
    return JSONResponse({"error": reason}, status)


class Guard:
    """Middleware that refuses requests of other sites' pages, and adds headers to responses.

    Args:
        app: the application.
        names: host names of this server; a request may name an IP address instead.
        headers: headers to add to every answer.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str], headers: Mapping[str, str]) -> None:
        self.app = app
        self.names = names
        self.headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse the request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(k.encode(), v.encode()) for k, v in self.headers.items()]
            await send(message)

        try:
            check_sender(Headers(scope=scope), self.names)
        except Refused as refusal:
            answer = refuse(scope, refusal.status, str(refusal))
            await answer(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)


async def json_object(request: Request) -> dict[str, Any]:
    """Read the JSON object in the body of a request.

    Raises:
        Refused: the body is not a JSON object, or is too long.
    """
    check_json(request.headers)
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise Refused(413, f"body: expected at most {LARGEST_BODY} bytes")
    return http_requests.json_object(body)
