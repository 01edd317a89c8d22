"""The server over HTTP: what it answers, what it refuses, and what it records."""

import asyncio
import json
import logging
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from c4env import Position, agents
from c4env.evaluation.__main__ import main
from c4env.evaluation.records.run_folder import GAMES_FILE, read_folder

httpx = pytest.importorskip("httpx", reason="the web server's tests need httpx")
pytest.importorskip("uvicorn", reason="the web server needs uvicorn")

from c4env.errors import Unwritable  # noqa: E402
from c4env.evaluation.web.agent_processes import ProcessPool  # noqa: E402
from c4env.evaluation.web.allowlist import ServerSettings  # noqa: E402
from c4env.evaluation.web.server import listen  # noqa: E402
from tests.helpers.processes import run_python  # noqa: E402
from tests.helpers.serving import serving  # noqa: E402

WON = "1212121"  # by the first player
LEFT = {"by": 0, "ending": "abandoned", "reason": "left the game"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    settings = ServerSettings(
        agents={"sleeper": "tests.helpers.serving:sleeper"},
        hint="minimax:depth=2",
        record=tmp_path_factory.mktemp("web") / "games",
        jobs=1,
    )
    with serving(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def ask(client, **question):
    answer = client.post("/api/ask", json=question)
    assert answer.status_code == 200, answer.text
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert {line["moves"] for line in lines} == {question["moves"]}
    return lines


def test_the_page_loads_nothing_from_elsewhere(client):
    answer = client.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script>|<style| style=| on\w+=", answer.text)
    (without_scripts,) = re.findall("<noscript>.*</noscript>", answer.text)
    assert "JavaScript" in without_scripts
    assert "<code>c4 play human greedy</code>" in without_scripts
    parts = re.findall(r'(?:src|href)="(static/[\w.]+)"', answer.text)
    assert {"static/rules.js", "static/theme.css", "static/web.js"} < {*parts}
    for name in parts:
        part = client.get(f"/{name}")
        assert part.headers["content-type"].startswith(
            "text/css" if name.endswith("css") else "text/javascript"
        )
        assert part.headers["x-content-type-options"] == "nosniff"
        for text in (answer.text, part.text):
            assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
            assert "https://" not in text


def test_the_server_answers_while_it_gets_ready(monkeypatch):
    compiled = threading.Event()

    async def prepare(_):
        await asyncio.to_thread(compiled.wait, 60)

    monkeypatch.setattr(ProcessPool, "prepare", prepare)
    monkeypatch.setattr("c4env.evaluation.web.server.PATIENCE", 0.01)
    with serving(ServerSettings(record=None, jobs=1)) as address:
        assert httpx.get(address).status_code == 200
        assert httpx.get(f"{address}/api/settings").json() == {"ready": False}
        with ThreadPoolExecutor(1) as threads:
            asked = threads.submit(httpx.post, f"{address}/api/games", json=finished())
            assert httpx.post(f"{address}/api/position", json={"text": "44"}).is_success
            assert not asked.done()
            compiled.set()
            assert asked.result().json() == {"recorded": False, "winner": 0}
        settings = httpx.get(f"{address}/api/settings").json()
        assert settings["ready"]
        assert len(settings["levels"]) == 5


@pytest.mark.isolated
def test_the_server_starts_without_a_kernel():
    script = "import sys, c4env.evaluation.web.server; print('c4env.bitboard' in sys.modules)"
    assert run_python("-c", script).stdout == "False\n"


def test_a_move_is_the_agents(client):
    spec, moves = "alphabeta-window-b:depth=3", "4535674276764753237442475332"
    move = ask(client, kind="move", agent=spec, moves=moves, seed=1)[-1]
    assert (move["type"], move["agent"]) == ("move", spec)
    assert move["column"] == agents.make(spec).choose(Position.parse(moves)) + 1


def test_a_pasted_position_is_moves_or_a_board(client):
    def pasted(text):
        return client.post("/api/position", json={"text": text})

    assert pasted(" 44 55\n").json() == {"moves": "4455"}
    assert pasted("").json() == {"moves": ""}
    board = str(Position.parse("4455612"))
    assert Position.parse(pasted(board).json()["moves"]) == Position.parse("4455612")
    for text, words in (("4459", "move 4, '9'"), ("hello", "is not a drawn board")):
        assert pasted(text).status_code == 400
        assert words in pasted(text).json()["error"]


def finished(**changes):
    game = {"id": "12345678", "players": ["human", "greedy"], "opening": "", "moves": WON}
    return {**game, "forfeit": None, **changes}


def posted(record, *games):
    with serving(ServerSettings(record=record, jobs=1)) as address:
        return [httpx.post(f"{address}/api/games", json=game) for game in games]


def test_a_game_is_recorded_once_and_tallied(tmp_path, c4):
    helps = [{}, {"hint": 3, "exact scores": 1}, {"take-back": 0}]
    answers = posted(
        tmp_path,
        finished(),
        finished(),  # the answer was lost, and the page sends it again
        finished(id="second-one", players=["greedy", "human"], opening="12"),
        finished(id="left-early", moves="44", forfeit=LEFT),
        *(finished(id=f"game number {n}", help=given) for n, given in enumerate(helps)),
    )
    assert {(answer.status_code, answer.json()["recorded"]) for answer in answers} == {(200, True)}
    one, two, three, *helped = read_folder(tmp_path)[1]
    assert (one.players, one.moves, one.winner, one.ending) == (("human", "greedy"), WON, 0, "four")
    assert (one.nodes, one.seconds) == ((0, 0), (0.0, 0.0))
    assert (two.players, two.opening) == (("greedy", "human"), "12")
    assert (three.winner, three.ending) == (1, "abandoned")
    # A person with help does not win under the name of a person without help.
    assert [game.players[0] for game in helped] == ["human", "human with help", "human"]
    assert [game.reason for game in helped] == ["", "3 hint, 1 exact scores", ""]
    assert "6 games" in c4("report", tmp_path)


def test_nothing_is_written_without_a_record(folder):
    (answer,) = posted(None, finished())
    assert answer.json() == {"recorded": False, "winner": 0}
    assert list(folder.iterdir()) == []


def test_a_record_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / GAMES_FILE).write_text("something else\n")
    (answer,) = posted(tmp_path, finished())
    assert answer.status_code == 400
    assert "games.jsonl, line 1: 'something else'" in answer.json()["error"]
    assert (tmp_path / GAMES_FILE).read_text() == "something else\n"


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("ask", "[1]", "expected a JSON object"),
        ("ask", "", "not JSON"),
        ("ask", b"\xff\xfe", "not JSON"),
        ("ask", '{"kind": "move", "moves": "\\ud800"}', "is not Unicode"),
        ("ask", {}, "expected one of move, hint, scores, values"),
        ("ask", {"kind": "move", "moves": "44"}, "expected a spec"),
        ("ask", {"kind": "move", "moves": "4-1", "agent": "greedy"}, "move 2, '-', is not a"),
        ("ask", {"kind": "move", "moves": -1, "agent": "greedy"}, "is not a move string"),
        ("ask", {"kind": "move", "moves": "1" * 9000, "agent": "greedy"}, "expected at most 42"),
        ("ask", {"kind": "move", "moves": WON, "agent": "greedy"}, "the game is over"),
        ("ask", {"kind": "scores", "moves": WON}, "the game is over"),
        ("ask", {"kind": "move", "moves": "", "agent": "greedy", "seed": -1}, "an integer 0.."),
        ("ask", {"kind": "values", "moves": "44", "since": 43}, "an integer 0..42"),
        ("position", {"text": 44}, "expected moves or a drawn board"),
        ("games", finished(id=""), "8 to 64 characters"),
        ("games", finished(players=["greedy", "random"]), "one of them 'human'"),
        ("games", finished(players=["human", "Ann"]), "this page offers"),
        ("games", finished(moves="44"), "the game is not over"),
        ("games", finished(opening="77"), "do not begin with the opening"),
        ("games", finished(opening=WON), "the opening ends the game"),
        ("ask", '{"seed": 1' + 5000 * "0" + "}", "a number in the body has too many digits"),
        ("games", finished(forfeit={"by": 0, "ending": "abandoned", "reason": ""}), "forfeit"),
        ("games", finished(moves="4", forfeit={**LEFT, "by": 0.0}), "forfeit"),
        ("games", finished(help=["hint"]), "expected counts of hint, take-back, exact scores"),
        ("games", finished(help={"hint": -1}), "hint=-1: expected an integer 0.."),
    ],
)  # fmt: skip
def test_bad_requests_are_answered_and_logged(client, caplog, path, body, words):
    content = json.dumps(body) if isinstance(body, dict) else body
    with caplog.at_level(logging.WARNING):
        answer = client.post(
            f"/api/{path}", content=content, headers={"content-type": "application/json"}
        )
    assert answer.status_code == 400, answer.text
    assert words in answer.json()["error"]
    assert f"POST '/api/{path}': 400" in caplog.text


def test_huge_bodies_are_not_read(client, caplog):
    def endless():
        for _ in range(100):
            yield b" " * 1000

    for content in (b" " * 100_000, endless()):
        answer = client.post(
            "/api/ask", content=content, headers={"content-type": "application/json"}
        )
        assert answer.status_code == 413
        assert "expected at most" in answer.json()["error"]
    assert caplog.text.count("413") == 2


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/ask", 405),
        ("POST", "/", 405),
        ("GET", "/..%2f..%2fetc/passwd", 404),
        ("GET", "/static/web.html", 404),
        ("GET", "/static/..%2f..%2fserver.py", 404),
    ],
)
def test_paths_lead_nowhere_else(client, caplog, method, path, status):
    answer = client.request(method, path)
    assert (answer.status_code, "error" in answer.json()) == (status, True)
    assert str(status) in caplog.text


def test_other_sites_and_other_names_are_kept_out(client, caplog):
    """A page of elsewhere, and a name of elsewhere that points to this machine."""
    body = {"kind": "move", "agent": "greedy", "moves": ""}
    port = client.base_url.port
    for host in (f"evil.example:{port}", "127.0.0.1.evil.example", ""):
        answer = client.get("/api/settings", headers={"host": host})
        assert answer.status_code == 400
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "LOCALHOST"):
        assert client.get("/api/settings", headers={"host": host}).status_code == 200
    preflight = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
    }
    for origin in ("http://evil.example", f"http://evil.example:{port}", "null"):
        answer = client.options("/api/ask", headers={"origin": origin, **preflight})
        assert answer.status_code == 400
        assert "access-control-allow-origin" not in answer.headers
        answer = client.post("/api/ask", content=json.dumps(body), headers={"origin": origin})
        assert answer.status_code == 415  # what needs no preflight is not JSON
    ours = {"origin": f"http://127.0.0.1:{port}", "sec-fetch-site": "same-origin"}
    assert client.post("/api/ask", json=body, headers=ours).status_code == 200
    assert "415" in caplog.text


@pytest.mark.isolated
def test_who_stops_listening_stops_the_search(client):
    """The process is given a search of a minute; the next question is answered at once."""
    question = {"kind": "move", "agent": "sleeper", "moves": ""}
    with client.stream("POST", "/api/ask", json=question) as answer:
        types = (json.loads(line)["type"] for line in answer.iter_lines())
        assert next(kind for kind in types if kind in ("started", "beat"))
        assert next(kind for kind in types if kind == "beat")
    assert ask(client, kind="move", agent="greedy", moves="")[-1]["type"] == "move"


def test_a_port_that_is_taken_is_one_line(capsys):
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert main(["web", "--no-browser", "--no-record", "--port", str(port)]) == 2
    shown = capsys.readouterr().err
    assert f"port {port}" in shown
    assert "--port 0" in shown
    for host, port in (("203.0.113.7", 0), ("no such host", 0), ("127.0.0.1", 70_000)):
        with pytest.raises(Unwritable):
            listen(host, port)
