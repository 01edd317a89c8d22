"""Agents served by lines and by HTTP, asked by our adapters and by others."""

from __future__ import annotations

import http.client
import io
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from c4env import Position, agents
from c4env.agents.adapters.serving import AgentServer, answer_line
from c4env.agents.base import Agent
from c4env.evaluation.__main__ import main
from c4env.evaluation.games.game import play_game
from tests.helpers.processes import start_python

SERVE = "-m", "c4env.evaluation", "serve-agent"


class Broken(Agent):
    """Fails in every way an agent can."""

    def choose(self, position: Position) -> int:
        print("spoken aloud")
        if position.plies == 0:
            raise KeyError("a mistake")
        return 9


def serve(spec: str | Agent, clients: int = 4) -> tuple[AgentServer, str]:
    """A server on a free port, in threads of this process, and its spec."""
    make = (lambda: agents.make(spec)) if isinstance(spec, str) else lambda: spec
    server = AgentServer(("127.0.0.1", 0), make, str(spec), clients)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Any:
    def start(spec: str | Agent, clients: int = 4) -> str:
        server, url = serve(spec, clients)
        request.addfinalizer(server.server_close)
        request.addfinalizer(server.shutdown)
        return url

    return start


def post(url: str, body: bytes | str, **headers: str) -> tuple[int, Any]:
    host = url.removeprefix("http://")
    with closing(http.client.HTTPConnection(host, timeout=20)) as connection:
        given = {"Content-Type": "application/json", **headers}
        connection.request("POST", "/", body, given)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


# -- by lines -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("", "4"),
        ("4455", "4"),
        ("reset", "ok"),
        ("reset 7", "ok"),
        ("reset x", "error: seed='x': expected an integer >= 0"),
        ("reset -1", "error: seed='-1': expected an integer >= 0"),
        ("8", "error: '8': '8' at 1 is not a column 1..7"),
        ("1212121", "error: Position.parse('1212121'): the game is over"),
        ("11111111", "error: '11111111', move 7: column 1 is full; legal columns: 2, 3, 4"),
        ("44 nodes=3", "error: '44 nodes=3': ' ' at 3 is not a column 1..7"),
    ],
)  # fmt: skip
def test_a_line_is_answered(line: str, answer: str) -> None:
    assert answer_line(agents.make("greedy"), line).startswith(answer)


def test_searched_positions_are_said() -> None:
    agent = agents.make("alphabeta:depth=2")
    assert (
        answer_line(agent, "44") == f"{agent.choose(Position.parse('44')) + 1} nodes={agent.nodes}"
    )


def test_an_agent_that_fails_is_answered_for() -> None:
    assert answer_line(Broken(), "") == "error: KeyError: 'a mistake'"
    assert "9 is not a column" in answer_line(Broken(), "4")


def test_the_command_answers_lines_alone(monkeypatch, capsys):
    module = type(sys)("served_by_lines")
    module.Broken = Broken
    monkeypatch.setitem(sys.modules, "served_by_lines", module)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n4\n"))
    assert main(["serve-agent", "served_by_lines:Broken"]) == 0
    said = capsys.readouterr()
    assert [line.split(":")[0] for line in said.out.splitlines()] == ["error", "error"]
    assert said.err.count("spoken aloud") == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["greddy"], "did you mean 'greedy'"),
        (["greedy", "--http", "99999999"], "cannot listen on 127.0.0.1:99999999"),
        (["greedy", "--http", "0", "--host", "256.1.1.1"], "cannot listen on 256.1.1.1:0"),
        (["greedy", "--http", "0", "--clients", "0"], "expected at least 1"),
        (["greedy", "--clients", "3"], "--clients has no effect without --http"),
        (["greedy", "--host", "127.0.0.1"], "--host has no effect without --http"),
    ],
)
def test_a_bad_command_is_one_line(capsys, arguments, words):
    assert main(["serve-agent", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


# -- across processes, as in one ---------------------------------------------------------

PAIR = ("alphabeta:depth=3,heuristic=window", "random")  # one counts nodes, one draws lots


def games(first: Agent, second: Agent, names: tuple[str, str]) -> list[Any]:
    """Two games, with the seeds of the named agents."""
    found = [play_game((first, second), names, opening, 5) for opening in ("", "4455")]
    for agent in (first, second):
        agent.close()
    return [(game.moves, game.winner, game.ending, game.nodes) for game in found]


@pytest.mark.slow
@pytest.mark.compiled
def test_lines_between_processes_change_no_game():
    names = PAIR
    alone = games(agents.make(names[0]), agents.make(names[1]), names)
    far = [
        agents.make(f"exec:{' '.join([sys.executable, *SERVE])} {name},newgame=reset")
        for name in names
    ]
    assert games(far[0], far[1], names) == alone
    assert all(nodes[0] > 0 for _, _, _, nodes in alone)


@pytest.mark.compiled
def test_http_between_processes_changes_no_game():
    names = PAIR
    alone = games(agents.make(names[0]), agents.make(names[1]), names)
    servers = [start_python(*SERVE, name, "--http", "0", stderr=None) for name in names]
    try:
        urls = []
        for server in servers:
            assert server.stdout is not None
            urls.append(server.stdout.readline().split()[-1])
        assert all(url.startswith("http://127.0.0.1:") for url in urls)
        far = [agents.make(f"{url},timeout=60") for url in urls]
        assert games(far[0], far[1], names) == alone
    finally:
        for server in servers:
            server.kill()
            server.communicate()


# -- HTTP ------------------------------------------------------------------------------


def test_anyone_can_ask_a_server(served):
    url = served("greedy")
    assert post(url, '{"moves": "4455"}') == (200, {"column": 4, "nodes": 0})
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)) as connection:
        for _ in range(2):  # on one connection
            connection.request("GET", "/")
            assert json.load(connection.getresponse()) == {"agent": "greedy"}


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        ("{", {}, 400, "not JSON"),
        ("[" * 50_000, {}, 400, "not JSON"),
        (b"\xff\xfe{", {}, 400, "not JSON"),
        ("[]", {}, 400, "expected a JSON object"),
        ("{}", {}, 400, "expected 'moves'"),
        ('{"moves": 4455}', {}, 400, "moves=4455: expected str"),
        ('{"moves": "48"}', {}, 400, "not a column 1..7"),
        ('{"moves": "1212121"}', {}, 400, "the game is over"),
        ('{"moves": "", "game": true}', {}, 400, "game=True: expected int"),
        ('{"moves": "", "client": ["x"]}', {}, 400, "expected str"),
        ('{"moves": "", "game": 1, "seed": -5}', {}, 400, "seed=-5"),
        ('{"moves": "\\ud800"}', {}, 400, "is not Unicode"),
        ("{}", {"Host": "evil.example"}, 421, "'evil.example' is not this server"),
        ("{}", {"Host": ""}, 421, "is not this server"),
        ("{}", {"Origin": "http://evil.example"}, 403, "'http://evil.example' may not use"),
        ("{}", {"Origin": "null"}, 403, "may not use this server"),
        ("{}", {"Content-Type": "text/plain"}, 415, "expected application/json"),
        ("{}", {"Content-Length": "x"}, 411, "Content-Length"),
        ("{}", {"Content-Length": str(1 << 40)}, 413, "65536 at most"),
        ("{}", {"Content-Length": "9" * 5000}, 413, "65536 at most"),
    ],
)
def test_a_bad_request_is_refused_with_the_reason(served, capsys, body, headers, status, words):
    url = served("greedy")
    answer = post(url, body, **headers)
    assert answer[0] == status
    assert words in answer[1]["error"]
    assert f"{status} " in capsys.readouterr().err
    assert post(url, '{"moves": ""}')[0] == 200  # it goes on


def test_a_page_elsewhere_does_not_even_learn_who_is_served(served):
    host = served("greedy").removeprefix("http://")
    for headers, status in (({"Host": "evil.example"}, 421), ({"Host": "LOCALHOST"}, 200)):
        with closing(http.client.HTTPConnection(host, timeout=20)) as connection:
            connection.request("GET", "/", headers=headers)
            assert connection.getresponse().status == status


def test_an_agent_that_fails_is_a_server_error(served):
    url = served(Broken())
    assert post(url, '{"moves": ""}') == (500, {"error": "KeyError: 'a mistake'"})


def test_clients_do_not_share_an_agent_and_are_limited(served):
    url = served("random", clients=2)

    def column(client: str, game: int = 1) -> int:
        request = {"moves": "", "client": client, "game": game, "seed": 3}
        return post(url, json.dumps(request))[1]["column"]

    alone = agents.make("random")
    alone.reset(3)
    expected = [alone.choose(Position()) + 1 for _ in range(6)]
    assert [column("a") for _ in range(6)] == expected
    assert [column("b") for _ in range(6)] == expected
    assert column("a", game=2) == expected[0]
    assert post(url, '{"moves": "", "client": "c"}')[0] == 503
    assert post(url, '{"client": "b", "leave": true}') == (200, {})
    assert post(url, '{"moves": "", "client": "c"}')[0] == 200


class Slow(Agent):
    """Chooses once it is told to."""

    def __init__(self) -> None:
        self.asked, self.told, self.closed = (threading.Event() for _ in range(3))

    def choose(self, position: Position) -> int:
        self.asked.set()
        assert self.told.wait(20)
        assert not self.closed.is_set(), "it was closed while it chose"
        return 3

    def close(self) -> None:
        self.closed.set()


def test_an_agent_is_closed_once_it_has_chosen(served, monkeypatch):
    monkeypatch.setattr("c4env.agents.adapters.serving.IDLE", -1.0)
    found, find = threading.Semaphore(0), AgentServer._client

    def client(server, name):
        try:
            return find(server, name)
        finally:
            found.release()

    monkeypatch.setattr(AgentServer, "_client", client)  # tells when a request waits its turn
    agent = Slow()
    url = served(agent, clients=1)
    with ThreadPoolExecutor(3) as clients:
        move = clients.submit(post, url, '{"moves": "", "client": "a"}')
        assert agent.asked.wait(20)
        assert post(url, '{"moves": "", "client": "b"}')[0] == 503
        second = clients.submit(post, url, '{"moves": "", "client": "a"}')
        assert all(found.acquire(timeout=20) for _ in range(3))
        left = clients.submit(post, url, '{"client": "a", "leave": true}')
        assert not agent.closed.wait(0.5)
        agent.told.set()
        assert move.result() == (200, {"column": 4, "nodes": 0})
        assert left.result() == (200, {})
        # Whoever of the two waiting came second, the agent was not asked once it was closed.
        assert second.result()[0] in (200, 409)
    assert agent.closed.is_set()


def test_a_client_that_is_long_silent_gives_up_its_place(served, monkeypatch):
    monkeypatch.setattr("c4env.agents.adapters.serving.IDLE", -1.0)
    url = served("greedy", clients=1)
    assert [post(url, json.dumps({"moves": "", "client": c}))[0] for c in "ab"] == [200, 200]


def test_listening_beyond_this_machine_is_said() -> None:
    with start_python(*SERVE, "greedy", "--http", "0", "--host", "0.0.0.0") as server:
        try:
            assert server.stdout is not None
            assert server.stderr is not None
            assert server.stdout.readline().startswith("serving greedy on http://0.0.0.0:")
            assert "anyone who can connect to this machine" in server.stderr.readline()
        finally:
            server.kill()
            server.communicate()
