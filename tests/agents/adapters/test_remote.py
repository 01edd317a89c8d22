"""http: agents that other programs serve."""

from __future__ import annotations

import copy
import socket
import threading
from collections.abc import Iterator

import pytest

from c4env import Position, agents
from c4env.agents.adapters.http_requests import is_loopback
from c4env.agents.errors import EngineFault, InvalidSpec, InvalidValue, LateAnswer

OK = b"HTTP/1.1 200 OK\r\n"


class Canned:
    """A server that reads each request and answers given bytes, one piece a moment."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.pause = 0.0
        self.requests: list[bytes] = []
        self._left = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def body(self, text: str, status: str = "200 OK") -> None:
        content = text.encode()
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n\r\n"
        self.pieces = [head.encode() + content]

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                request = b""
                while not request.endswith(b"}"):
                    request += connection.recv(65536)
                self.requests.append(request)
                try:
                    for piece in self.pieces:
                        connection.sendall(piece)
                        self._left.wait(self.pause)
                except OSError:
                    pass

    def close(self) -> None:
        self._left.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def canned() -> Iterator[Canned]:
    server = Canned()
    yield server
    server.close()


def test_a_column_is_played(canned):
    agent = agents.make(canned.url)
    assert agent.name == canned.url
    agent.reset(7)
    canned.body('{"column": 4, "nodes": 12, "anything": "else"}')
    assert (agent.choose(Position.parse("11")), agent.nodes) == (3, 12)
    assert b'"moves": "11"' in canned.requests[0]
    assert b'"game": 1, "seed": 7}' in canned.requests[0]
    canned.body('{"column": 1}')
    assert (agent.choose(Position()), agent.nodes) == (0, 0)
    agent.close()
    assert b'"leave": true' in canned.requests[-1]


def test_scores_are_played(canned):
    agent = agents.make(canned.url)
    canned.body('{"scores": [-2, -1, 0, 1, 0, -1, -2]}')
    assert agent.choose(Position()) == 3
    canned.body('{"scores": [1, 1.5, 0, null, 0, 1.5, 1]}')
    assert agent.choose(Position.parse("444444")) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("4", "answered .*'4'.*: expected a JSON object"),
        ("nothing", "expected a JSON object"),
        ("{}", "expected 'column', or 'scores'"),
        ('{"column": "4"}', "a legal column 1..7"),
        ('{"column": true}', "a legal column 1..7"),
        ('{"column": 8}', "a legal column 1..7"),
        ('{"column": 0}', "a legal column 1..7"),
        ('{"column": 1}', "a legal column 1..7"),
        ('{"scores": [1, 2]}', "'scores' of the seven"),
        ('{"scores": [null, null, 1, 1, 1, 1, 1]}', "a number as the score"),
        ('{"scores": [null, NaN, 1, 1, 1, 1, 1]}', "a number as the score"),
        ('{"column": 4, "nodes": "many"}', "an integer 0.* as 'nodes'"),
        ('{"column": 4, "nodes": true}', "an integer 0.* as 'nodes'"),
        ('{"column": 4, "nodes": -5}', "an integer 0.* as 'nodes'"),
        ('{"column": 4, "nodes": 1' + "0" * 18 + "}", "an integer 0.* as 'nodes'"),
    ],
)
def test_a_wrong_answer_is_a_fault(canned, text, words):
    canned.body(text)
    with pytest.raises(EngineFault, match=words):
        agents.make(canned.url).choose(Position.parse("111111"))


def test_a_refusal_is_quoted(canned):
    canned.body('{"error": "no such agent"}', "503 Busy")
    with pytest.raises(EngineFault, match="status 503: no such agent"):
        agents.make(canned.url).choose(Position())
    canned.pieces = [b"HTTP/1.1 302 Found\r\nLocation: http://example.org/\r\n\r\n"]
    with pytest.raises(EngineFault, match="status 302"):
        agents.make(canned.url).choose(Position())


@pytest.mark.parametrize("pieces", [[], [b"what?\r\n\r\n"], [OK + b"Content-Length: 99\r\n\r\n{"]])
def test_a_server_that_breaks_off_is_a_fault(canned, pieces):
    canned.pieces = pieces
    with pytest.raises(EngineFault, match=r"cannot be reached|expected a JSON object"):
        agents.make(canned.url).choose(Position())


def test_nobody_there_is_a_fault():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(EngineFault, match=r"cannot be reached: .*refused"):
        agents.make(f"http://127.0.0.1:{port}").choose(Position())


@pytest.mark.parametrize("pieces", [[b""], [OK] + [b"X: 1\r\n"] * 1000])
def test_a_late_answer_is_a_fault_even_if_it_trickles(canned, pieces):
    canned.pieces, canned.pause = pieces, 0.05 if len(pieces) > 1 else 60
    with pytest.raises(LateAnswer, match=r"gave no answer within 0\.3 s"):
        agents.make(f"{canned.url},timeout=0.3").choose(Position())


def test_a_copy_is_another_client(canned):
    canned.body('{"column": 4}')
    agent = agents.make(canned.url)
    twin = copy.deepcopy(agent)
    assert (agent.choose(Position()), twin.choose(Position())) == (3, 3)
    clients = {request.partition(b'"client": ')[2][:34] for request in canned.requests}
    assert len(clients) == 2


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("http", InvalidSpec, "expected http:URL"),
        ("http://", InvalidValue, "expected http://host:port"),
        ("http:nonsense", InvalidValue, "expected http://host:port"),
        ("http://127.0.0.1:port", InvalidValue, "expected http://host:port"),
        ("http://me:secret@127.0.0.1:80", InvalidValue, "expected http://host:port"),
        ("http://192.168.0.1:80", InvalidValue, "is not on this machine: expected 127.0.0.1"),
        ("http://example.org", InvalidValue, "reach=any"),
        ("http://127.0.0.1.example.org:80", InvalidValue, "reach=any"),
        ("http://127.0.0.1:80,reach=far", InvalidValue, "reach='far'"),
    ],
)
def test_a_bad_address_is_refused(spec, error, words):
    with pytest.raises(error, match=words):
        agents.make(spec)


def test_another_machine_is_asked_when_allowed():
    assert agents.make("http://192.168.0.1:80,reach=any").name.endswith("reach=any")
    assert [is_loopback(h) for h in ("localhost", "127.9.9.9", "::1", "10.0.0.1")] == [
        True, True, True, False,
    ]  # fmt: skip
