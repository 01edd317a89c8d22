"""``http://HOST:PORT``: an agent that another program serves as JSON over HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import socket
import threading
import time
import uuid
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import numpy as np

from c4env.agents.adapters.http_requests import is_loopback
from c4env.agents.adapters.programs.engine import LONGEST_COUNT, best
from c4env.agents.base import Agent, as_number, require_move
from c4env.agents.errors import EngineFault, InvalidValue, LateAnswer
from c4env.agents.registry.options import Seconds, checked
from c4env.bitboard import COLUMNS
from c4env.position import Position

LONGEST_ANSWER: Final = 1 << 16  # bytes
LEAVE_TIMEOUT: Final = 1.0  # seconds to send the message that this client leaves


class Remote(Agent):
    """Plays the moves of a server; README.md in this folder describes the protocol.

    Args:
        url: the server's address. ``http:`` may be left out, as in ``//127.0.0.1:8001``.
        timeout: seconds for a move.
        reach: allowed servers: loopback (on this machine alone) or any.

    Raises:
        InvalidValue: the address is malformed, or on another machine without ``reach=any``.
    """

    settings_are_all = True  # a copy is another client

    @checked
    def __init__(
        self, url: str, timeout: Seconds = 10.0, reach: Literal["loopback", "any"] = "loopback"
    ) -> None:
        self.url = url if url.startswith("http:") else f"http:{url}"
        try:
            parts = urlsplit(self.url)
            self._address = parts.hostname or "", parts.port or 80
        except ValueError as error:
            raise InvalidValue(f"{self.url!r}: {error}; expected http://host:port") from None
        if not parts.hostname or parts.username is not None:
            raise InvalidValue(f"{self.url!r}: expected http://host:port")
        if reach == "loopback" and not is_loopback(parts.hostname):
            raise InvalidValue(
                f"{self.url!r} is not on this machine: expected 127.0.0.1, or reach=any"
            )
        self._path = parts.path or "/"
        self.timeout = timeout
        self._client = uuid.uuid4().hex
        self._game = 0
        self._seed: int | None = None
        self._known = False  # whether the server knows this client

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the next request tells the server the game's number and seed."""
        self._game += 1
        self._seed = as_number(seed)

    def choose(self, position: Position) -> int:
        """Return the server's column; set :attr:`nodes` if the server reports nodes.

        Raises:
            EngineFault: the server cannot be reached, refuses, or returns no legal column.
            LateAnswer: the answer took longer than ``timeout``.
        """
        require_move(position)
        request: dict[str, Any] = {
            "moves": position.moves(),
            "client": self._client,
            "game": self._game,
        }
        if self._seed is not None:
            request["seed"] = self._seed
        self._known = True
        answer = self._ask(request, self.timeout)
        nodes = answer.get("nodes", 0)
        if type(nodes) is not int or not 0 <= nodes < 10**LONGEST_COUNT:
            raise self._wrong(answer, f"an integer 0..10**{LONGEST_COUNT} as 'nodes'")
        self.nodes = nodes
        if "column" in answer:
            column = answer["column"]
            if type(column) is not int or not position.is_legal(column - 1):
                raise self._wrong(answer, "a legal column 1..7 as 'column'")
            return column - 1
        scores = answer.get("scores")
        if not isinstance(scores, list) or len(scores) != COLUMNS:
            raise self._wrong(answer, "'column', or 'scores' of the seven columns")
        ranked = [scores[column] for column in position.legal_columns()]
        if not all(type(s) in (int, float) and not math.isnan(s) for s in ranked):
            raise self._wrong(answer, "a number as the score of each legal column")
        return best(position, ranked)

    def _wrong(self, answer: object, expected: str) -> EngineFault:
        return EngineFault(f"{self.url} answered {str(answer)[:120]}: expected {expected}")

    def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return the JSON object in the answer.

        Raises:
            EngineFault: the server cannot be reached or refuses, or the answer is malformed.
            LateAnswer: the answer took longer than ``seconds``.
        """
        started = time.monotonic()
        wrong: Exception | None = None
        try:
            status, body = self._exchange(json.dumps(request), seconds)
        except (OSError, http.client.HTTPException) as error:
            wrong = error
        if time.monotonic() - started >= seconds:
            raise LateAnswer(f"{self.url} gave no answer within {seconds:g} s")
        if wrong is not None:
            words = str(wrong) or type(wrong).__name__
            raise EngineFault(f"{self.url} cannot be reached: {words}")
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if status != 200:
            words = answer.get("error", "") if isinstance(answer, dict) else ""
            raise EngineFault(f"{self.url} refused with status {status}: {str(words)[:200]}")
        if not isinstance(answer, dict):
            raise self._wrong(body[:80], "a JSON object")
        return answer

    def _exchange(self, body: str, seconds: float) -> tuple[int, bytes]:
        """Send a request; return the response's status and body. Raise OSError on timeout."""
        connection = http.client.HTTPConnection(*self._address, timeout=seconds)
        with contextlib.closing(connection):
            connection.connect()
            # A socket's timeout applies to each part of the answer, not to the whole answer.
            alarm = threading.Timer(seconds, _shut, [connection.sock])
            alarm.start()
            try:
                headers = {"Content-Type": "application/json", "Connection": "close"}
                connection.request("POST", self._path, body, headers)
                response = connection.getresponse()
                return response.status, response.read(LONGEST_ANSWER)
            finally:
                alarm.cancel()

    def close(self) -> None:
        """Tell the server that this client leaves, if the server can be reached."""
        if self._known:
            with contextlib.suppress(EngineFault):  # the server may have stopped
                self._ask({"client": self._client, "leave": True}, LEAVE_TIMEOUT)
        self._known = False


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the connection may be closed already
        sock.shutdown(socket.SHUT_RDWR)
