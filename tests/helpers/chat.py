"""A server that speaks the chat protocol as far as a client here needs it, and fails on demand."""

import http.server
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEY = "sk-secret-0123456789abcdef"
LEGAL = re.compile(r"columns that are not full: ([\d, ]+)")


@dataclass
class Fault:
    """An answer that is none."""

    status: int = 0  # of a refusal; 0: the connection is closed
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None  # in place of a refusal's own
    pause: float = 0.0  # before it


Answer = str | dict[str, Any] | Fault


def lowest_legal(body: dict[str, Any]) -> str:
    """Plays the lowest column of those that were listed last."""
    legal = LEGAL.findall("\n".join(message["content"] for message in body["messages"]))
    return f"The first that is free will do.\nMove: {legal[-1].split(',')[0]}"


class ChatServer(http.server.ThreadingHTTPServer):
    """Answers what ``script`` holds, in its order, and then what ``answer`` returns."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer: Callable[[dict[str, Any]], Answer] = lowest_legal
        self.script: list[Answer] = []
        self.asked: list[dict[str, Any]] = []  # bodies, in the order they came
        self.keys: list[str] = []
        self.answered: Callable[[dict[str, Any]], Any] = lambda body: None
        self.usage: dict[str, int] | None = {
            "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
        }  # fmt: skip
        self.door = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def spec(self) -> str:
        """Of an agent that asks here."""
        return f"chat:tiny,base_url={self.url},prompt=board+legal"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no news."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ChatServer

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.door:
            server.asked.append(body)
            server.keys.append(self.headers.get("Authorization", ""))
            items = server.script.pop(0) if server.script else None
        if items is None:
            items = server.answer(body)
        if isinstance(items, Fault):
            self.fail(items)
            return
        if isinstance(items, str):
            items = {
                "message": {"role": "assistant", "content": items},
                "finish_reason": "stop",
            }
        answer = {
            "id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{"index": 0, **items}], "usage": server.usage,
        }  # fmt: skip
        self.send(200, json.dumps(answer).encode(), {})
        server.answered(body)

    def fail(self, fault: Fault) -> None:
        time.sleep(fault.pause)
        if not fault.status:  # closed in the middle, with a reset
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            self.connection.close()
            return
        body = fault.body
        if body is None:
            body = json.dumps({"error": {"message": "as it was scripted"}}).encode()
        self.send(fault.status, body, fault.headers)

    def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The answers that are kept in a file."""
    return [json.loads(line) for line in file.read_text().splitlines() if line]


@contextmanager
def chatting() -> Iterator[ChatServer]:
    """A server that lives as long as the block."""
    with ChatServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def server_with_key(monkeypatch: Any) -> Iterator[ChatServer]:
    """A fixture: a server, the key for it in the environment, and no pauses before asking again."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
    with chatting() as server:
        yield server
