"""Serve an agent to other programs, by lines of text or by JSON over HTTP.

README.md in this folder describes the two protocols, which count columns from 1.
"""

from __future__ import annotations

import http.server
import json
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from c4env.agents.adapters.http_requests import (
    Refused,
    check_json,
    check_sender,
    json_object,
    server_names,
)
from c4env.agents.base import Agent
from c4env.agents.errors import InvalidValue
from c4env.errors import C4Error, require_integer
from c4env.position import Position, parse_column

LONGEST_BODY: Final = 1 << 16  # bytes
IDLE: Final = 600.0  # seconds without a request after which the server drops a client
SLOWEST_CLIENT: Final = 30.0  # seconds to send a request


def answer(agent: Agent, moves: str) -> tuple[int, int]:
    """Return an agent's move after the moves of a game.

    Args:
        agent: the agent.
        moves: the 1-based columns played so far.

    Returns:
        the 1-based column, and the number of nodes searched.

    Raises:
        C4Error: the moves are invalid, the game is over, or the agent fails.
    """
    column = parse_column(agent.choose(Position.parse(moves)))
    return column + 1, int(agent.nodes)


def serve_lines(agent: Agent, lines: Iterable[str], write: Callable[[str], object]) -> None:
    """Write a reply line for each input line."""
    for line in lines:
        write(answer_line(agent, line.strip()))


def answer_line(agent: Agent, line: str) -> str:
    """Return the reply to a line: ``COLUMN``, ``COLUMN nodes=N``, ``ok`` or ``error: ...``."""
    try:
        word, _, rest = line.partition(" ")
        if word == "reset":
            agent.reset(_seed(int(rest) if rest.isdecimal() else rest) if rest else None)
            return "ok"
        column, nodes = answer(agent, line)
    except Exception as error:  # an agent's error must not end the server
        return f"error: {_in_words(error)}"
    return f"{column} nodes={nodes}" if nodes else str(column)


def _seed(value: Any) -> int:
    return require_integer("seed", value, 0, "an integer >= 0", wrong=InvalidValue)


def _in_words(error: Exception) -> str:
    words = " ".join(str(error).split())
    return words if isinstance(error, C4Error) else f"{type(error).__name__}: {words}"


class Client:
    """A client of the server, with its own agent and the number of its game.

    A thread holds the lock while it calls or closes the agent, so that no thread closes an agent
    that is choosing.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.game: Any = None
        self.lock = threading.Lock()
        self.latest = time.monotonic()
        self.left = False  # True once the agent is closed


class AgentServer(socketserver.ThreadingTCPServer):
    """An HTTP server that answers JSON requests with moves. Each client has its own agent.

    Args:
        address: host and port; port 0 takes a free port.
        make: a function that makes the agent of a new client.
        name: the agent's name, which a GET request returns.
        clients: the greatest number of clients at a time.
    """

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(
        self, address: tuple[str, int], make: Callable[[], Agent], name: str, clients: int
    ) -> None:
        self._make = make
        self.agent_name = name
        self.names = server_names(address[0])
        self._limit = clients
        self._clients: dict[str, Client] = {}
        self._lock = threading.Lock()
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Handler)

    def move(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request; README.md in this folder describes the JSON fields.

        Raises:
            Refused: the request is malformed, or there are too many clients.
        """
        known = {"moves": str, "client": str, "game": int, "seed": int, "leave": bool}
        for field, value in request.items():
            if type(value) is not known.get(field, type(value)):
                raise Refused(400, f"{field}={value!r}: expected {known[field].__name__}")
        name = request.get("client", "")
        if request.get("leave"):
            with self._lock:
                client = self._clients.pop(name, None)
            if client is not None:
                self._close(client)
            return {}
        if "moves" not in request:
            raise Refused(400, "expected 'moves', the 1-based columns played so far")
        client = self._client(name)
        with client.lock:
            if client.left:  # the client left while this request waited
                raise Refused(409, f"client {name!r} left before it got an answer")
            try:
                if request.get("game") != client.game or client.game is None:
                    client.game = request.get("game")
                    client.agent.reset(_seed(request["seed"]) if "seed" in request else None)
                column, nodes = answer(client.agent, request["moves"])
            except C4Error as error:
                raise Refused(400, str(error)) from None
            except Exception as error:
                raise Refused(500, _in_words(error)) from None
            finally:
                client.latest = time.monotonic()
        return {"column": column, "nodes": nodes}

    def _client(self, name: str) -> Client:
        with self._lock:
            if name not in self._clients and len(self._clients) >= self._limit:
                waiting = [n for n, other in self._clients.items() if not other.lock.locked()]
                idle = min(waiting, key=lambda n: self._clients[n].latest, default="")
                if not waiting or time.monotonic() - self._clients[idle].latest < IDLE:
                    raise Refused(503, f"{self._limit} clients play already; try again later")
                self._close(self._clients.pop(idle))
            if name not in self._clients:
                self._clients[name] = Client(self._make())
            client = self._clients[name]
            client.latest = time.monotonic()
            return client

    def _close(self, client: Client) -> None:
        """Wait until a client's agent is not choosing a move, and close the agent."""
        with client.lock:
            client.left = True
            client.agent.close()

    def server_close(self) -> None:
        """Stop listening and close all agents, even agents that are choosing a move."""
        super().server_close()
        for client in self._clients.values():
            client.agent.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error in one line, unless the client closed the connection."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            print(f"request of {client_address[0]}: {error!r}", file=sys.stderr)


class Handler(http.server.BaseHTTPRequestHandler):
    """The handler of a connection: GET returns the agent's name, POST a move."""

    protocol_version = "HTTP/1.1"
    server_version = "c4"
    sys_version = ""
    timeout = SLOWEST_CLIENT
    disable_nagle_algorithm = True
    server: AgentServer

    def do_GET(self) -> None:
        """Send the agent's name."""
        self._answer(lambda: {"agent": self.server.agent_name})

    def do_POST(self) -> None:
        """Send a move or an error."""
        self._answer(lambda: self.server.move(self._request()))

    def _answer(self, find: Callable[[], dict[str, Any]]) -> None:
        """Send the result of ``find``, or the reason for a refusal."""
        try:
            check_sender(self.headers, self.server.names)
            self._send(200, find())
        except Refused as refusal:
            # Otherwise the unread rest of the body would be parsed as the next request.
            self.close_connection = True
            self.log_error("%d %s", refusal.status, refusal)
            self._send(refusal.status, {"error": str(refusal)})

    def _request(self) -> dict[str, Any]:
        check_json(self.headers)
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise Refused(411, "expected a Content-Length header")
        if len(length) > 20 or int(length) > LONGEST_BODY:
            raise Refused(413, f"a body of {length[:20]} bytes: expected {LONGEST_BODY} at most")
        return json_object(self.rfile.read(int(length)))

    def _send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *_: object) -> None:
        """Log nothing for answered requests."""
