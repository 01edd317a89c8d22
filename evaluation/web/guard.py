"""Refuse requests that pages of other web sites send, and read the JSON of requests.

A page of another site, open in a browser on this machine, can send requests to a local server. A
browser sends the JSON of such a page only if the server allows the page's origin, and Starlette's
``CORSMiddleware`` allows none. ``TrustedHostMiddleware`` refuses a page whose host name resolves to
this machine (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import json
import socket
from typing import Any, Final

from starlette.requests import Request

from c4env.errors import C4Error

LARGEST_BODY: Final = 16_384  # bytes; the longest game needs a few hundred


class Refused(C4Error):
    """The error for a refused request; ``status`` is the HTTP status of the response."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address or ``localhost``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def allowed_hosts(host: str) -> list[str]:
    """Return the ``Host`` names that a server at ``host`` answers; beyond this machine, all."""
    if not is_loopback(host):
        return ["*"]
    return ["localhost", "127.0.0.1", "[::1]", socket.gethostname(), host]


async def json_object(request: Request) -> dict[str, Any]:
    """Read the JSON object in the body of a request; every string must be valid Unicode.

    Raises:
        Refused: the body is not such an object, or is too long, or its type is not JSON: a form
            on another site cannot send JSON.
    """
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"content type {kind[:80]!r}: expected application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise Refused(413, f"body: expected at most {LARGEST_BODY} bytes")
    try:
        found = json.loads(body)
        json.dumps(found, ensure_ascii=False).encode()  # "\ud800" is JSON, but not Unicode
    except UnicodeEncodeError:
        raise Refused(400, "a string in the body is not Unicode") from None
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Refused(400, f'{str(found)[:80]!r}: expected a JSON object such as {{"moves": "44"}}')
    return found
