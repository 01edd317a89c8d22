"""Which HTTP requests a server on this machine answers, and how their JSON is read.

A page of another site, open in a browser of this machine, can send requests to this machine
too. It is kept out by its ``Origin``; and a name of its own that it lets point to this machine
(DNS rebinding) by the ``Host`` header.
"""

from __future__ import annotations

import ipaddress
import json
import socket
from typing import Any, Protocol

from c4env.errors import C4Error


class Refused(C4Error):
    """A request that is not answered, and the HTTP status that says why."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Headers(Protocol):
    """The headers of a request, whose names are found in any case."""

    def get(self, name: str) -> str | None:
        """The value of a header, None without it."""


def is_loopback(host: str) -> bool:
    """True for an address by which only this machine is reached."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def server_names(host: str) -> frozenset[str]:
    """The names by which a server that listens at ``host`` may be called, in lower case."""
    return frozenset({"localhost", socket.gethostname().lower(), host.lower()})


def check_sender(headers: Headers, names: frozenset[str]) -> None:
    """Let pass what programs and the server's own page send.

    Args:
        headers: of the request.
        names: of this server; addresses pass without a name.

    Raises:
        Refused: the request calls another server, or a page of another site sent it.
    """
    host = headers.get("Host") or ""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        if name.lower() not in names:
            raise Refused(
                421, f"host {host[:80]!r} is not this server; open it by its address"
            ) from None
    origin = headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != host:
        raise Refused(403, f"the page {origin[:80]!r} may not use this server")
    if headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and origin is not None:
        raise Refused(403, "another site may not use this server")


def check_json(headers: Headers) -> None:
    """Let pass what says that its body is JSON, which a form of another site cannot say.

    Raises:
        Refused: it says something else.
    """
    kind = (headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"content type {kind[:80]!r}: expected application/json")


def json_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; all its texts can be written as UTF-8.

    Raises:
        Refused: it is none.
    """
    try:
        found = json.loads(body)
        json.dumps(found, ensure_ascii=False).encode()  # "\ud800" is JSON, and no text
    except UnicodeEncodeError:
        raise Refused(400, "a text in it is not Unicode") from None
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Refused(400, f'{str(found)[:80]!r}: expected a JSON object such as {{"moves": "44"}}')
    return found
