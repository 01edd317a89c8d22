"""Checks of HTTP requests to a local server, and of the JSON in them.

A page of another site, open in a browser on this machine, can send requests to a local server. The
``Origin`` header exposes such a page. The ``Host`` header exposes a page whose host name resolves
to this machine (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import json
import socket
from typing import Any, Protocol

from c4env.errors import C4Error


class Refused(C4Error):
    """The error for a refused request; ``status`` is the HTTP status of the response."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Headers(Protocol):
    """The headers of a request. Their names are case-insensitive."""

    def get(self, name: str) -> str | None:
        """Return the value of a header, or None."""


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address or ``localhost``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def server_names(host: str) -> frozenset[str]:
    """Return the host names, in lower case, by which a request may address a server at ``host``."""
    return frozenset({"localhost", socket.gethostname().lower(), host.lower()})


def check_sender(headers: Headers, names: frozenset[str]) -> None:
    """Refuse a request that names another server or that a page of another site sent.

    Args:
        headers: headers of the request.
        names: accepted host names of this server; every IP address is accepted too.

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
                421, f"host {host[:80]!r} is not this server; use the server's address"
            ) from None
    origin = headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != host:
        raise Refused(403, f"the page {origin[:80]!r} may not use this server")
    if headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and origin is not None:
        raise Refused(403, "another site may not use this server")


def check_json(headers: Headers) -> None:
    """Refuse a request whose content type is not JSON; a form on another site cannot send JSON.

    Raises:
        Refused: the content type is not JSON.
    """
    kind = (headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"content type {kind[:80]!r}: expected application/json")


def json_object(body: bytes) -> dict[str, Any]:
    """Parse a request's body as a JSON object; every string must be valid Unicode.

    Raises:
        Refused: the body is not a JSON object, or a string is not valid Unicode.
    """
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
