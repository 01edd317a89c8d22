"""Checks of HTTP requests to a server on this machine, and of their JSON.

A page of another site, open in a browser of this machine, can send requests to this machine. The
``Origin`` header gives the page away. If the page's host name points to this machine (DNS
rebinding), the ``Host`` header does.
"""

from __future__ import annotations

import ipaddress
import json
import socket
from typing import Any, Protocol

from c4env.errors import C4Error


class Refused(C4Error):
    """A refused request, with its HTTP status."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Headers(Protocol):
    """The headers of a request; names are case-insensitive."""

    def get(self, name: str) -> str | None:
        """The value of a header, or None."""


def is_loopback(host: str) -> bool:
    """Whether an address reaches only this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def server_names(host: str) -> frozenset[str]:
    """Accepted host names of a server that listens at ``host``, in lower case."""
    return frozenset({"localhost", socket.gethostname().lower(), host.lower()})


def check_sender(headers: Headers, names: frozenset[str]) -> None:
    """Refuse requests that neither a program nor the server's own page sent.

    Args:
        headers: headers of the request.
        names: host names of this server; IP addresses pass too.

    Raises:
        Refused: the request names another server, or a page of another site sent it.
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
    """Refuse requests that do not declare JSON, which a form of another site cannot declare.

    Raises:
        Refused: the content type is another one.
    """
    kind = (headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"content type {kind[:80]!r}: expected application/json")


def json_object(body: bytes) -> dict[str, Any]:
    """Parse the JSON object in a body; all its texts are valid Unicode.

    Raises:
        Refused: the body is something else.
    """
    try:
        found = json.loads(body)
        json.dumps(found, ensure_ascii=False).encode()  # "\ud800" is JSON, but not Unicode
    except UnicodeEncodeError:
        raise Refused(400, "a text in the body is not Unicode") from None
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Refused(400, f'{str(found)[:80]!r}: expected a JSON object such as {{"moves": "44"}}')
    return found
