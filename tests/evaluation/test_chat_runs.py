"""Runs in which language models play: many at once, stopped, resumed, on a budget."""

import json
import os
import signal
import subprocess
import time
from collections import Counter

import pytest

pytest.importorskip("openai")

from c4env import errors, evaluation
from c4env.agents.adapters.chat import Exchange
from c4env.errors import InvalidOption, Unavailable
from c4env.evaluation.__main__ import main
from c4env.evaluation.exact.questions import quality
from c4env.evaluation.report.models import conversations, model_rows
from c4env.evaluation.store.run_files import GameRecord, read_games
from c4env.evaluation.store.transcripts import TRANSCRIPTS_FILE, Spoken, read_transcripts
from tests.helpers.chat import KEY, Fault, lowest_legal, server_with_key
from tests.helpers.processes import environment, lines_of, run_python, start_python, wait_for_lines

server = pytest.fixture(server_with_key)


def run(server, **settings):
    players = {"model": server.spec, "other": "random"}
    return evaluation.round_robin(players, **{"openings": 1, "seed": 1, **settings})


def test_the_same_games_for_any_number_at_once(server, tmp_path):
    alone = run(server, openings=2, limit=10)
    answered = server.asked
    server.asked = []
    server.most_at_once = 0
    server.answer = lambda body: time.sleep(0.01) or lowest_legal(body)
    many = run(server, openings=2, limit=10, jobs=20, out=tmp_path)
    assert many.digest == alone.digest
    assert [g.fixture for g in many.games] == [g.fixture for g in alone.games]
    assert Counter(map(str, answered)) == Counter(map(str, server.asked))
    assert server.most_at_once > 5
    header, games = read_games(tmp_path)
    assert header.prompts["model"].startswith("board+legal, sha256 ")
    assert {game.ending for game in games} <= {"four", "full board"}


def test_every_answer_is_in_the_transcripts(server, tmp_path):
    server.script = ["what?", "Move: 9"]
    run(server, out=tmp_path, limit=1)
    asked = len(server.asked)
    result = run(server, out=tmp_path, limit=2)  # what was played is not asked again
    spoken = list(read_transcripts(tmp_path))
    assert asked < len(server.asked) == len(spoken)
    assert len(spoken) <= sum(len(g.moves) // 2 + 2 for g in result.games) + 2
    for found, body in zip(spoken, server.asked, strict=True):
        assert (found.player, found.exchange.model) == ("model", "tiny")
        assert found.exchange.messages == body["messages"]
        assert found.exchange.tokens == (100, 10)
        game = next(g for g in result.games if g.fixture == found.fixture)
        if found.exchange.column is not None:
            assert game.moves.startswith(f"{found.exchange.moves}{found.exchange.column + 1}")
    faults = [s.exchange.fault for s in spoken]
    assert faults[:3] == ["unreadable", "illegal", ""]
    assert not any(faults[3:])


def test_a_network_that_fails_ends_the_run_and_no_game(server, tmp_path):
    count = iter(range(10**6))
    server.answer = lambda body: Fault(500) if next(count) > 30 else lowest_legal(body)
    with pytest.raises(Unavailable, match=r"status 500.* of 8 games are in .* resumes"):
        run(server, out=tmp_path)
    _, games = read_games(tmp_path)
    assert 0 < len(games) < 8
    assert {game.ending for game in games} <= {"four", "full board"}
    server.answer = lowest_legal
    asked = len(list(read_transcripts(tmp_path)))
    assert asked == 31
    server.asked = []
    result = run(server, out=tmp_path)
    assert len(server.asked) == len(list(read_transcripts(tmp_path))) - asked
    assert result.digest == run(server).digest
    server.answer = lambda body: Fault(500)
    with pytest.raises(Unavailable, match=r"(no game was over yet|lost; with --out DIR.*kept)$"):
        run(server)


def test_a_run_that_ends_early_keeps_the_answers_under_way(server, tmp_path):
    count = iter(range(10**6))
    answered = []

    def answer(body):
        if next(count) == 20:
            return Fault(401)
        time.sleep(0.3)
        answered.append(body)
        return lowest_legal(body)

    server.answer = answer
    with pytest.raises(Unavailable, match="status 401"):
        run(server, out=tmp_path, jobs=8)
    assert len(read_transcripts(tmp_path)) == len(answered) >= 20


def test_the_fault_of_the_model_is_a_lost_game(server):
    server.answer = lambda body: "I resign."
    (first, second) = run(server, limit=1).games
    assert (first.ending, first.winner, second.winner) == ("exception", 1, 0)
    assert "no legal move in 3 tries" in first.reason


def test_a_number_of_tokens_ends_the_run_and_a_greater_one_goes_on(server, tmp_path):
    for _ in range(2):
        with pytest.raises(Unavailable, match="1100 tokens used, of 1000 that the run may use"):
            run(server, out=tmp_path, max_tokens=1000)
        assert len(server.asked) == 10
    result = run(server, out=tmp_path, max_tokens=10**6)
    assert result.digest == run(server).digest


def test_tokens_that_nobody_counts_cannot_be_limited(server):
    server.usage = None
    with pytest.raises(Unavailable, match="does not report the tokens used"):
        run(server, max_tokens=1000)
    with pytest.raises(InvalidOption, match="language model"):
        evaluation.round_robin(["random", "greedy"], openings=0, max_tokens=5)
    with pytest.raises(InvalidOption, match="max_tokens=0"):
        run(server, max_tokens=0)


def test_another_prompt_is_another_run(server, tmp_path):
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("The columns that are not full: {legal}\n")
    spec = f"chat:m,base_url={server.url},prompt={prompt}"
    evaluation.round_robin([spec, "random"], openings=0, out=tmp_path / "run")
    prompt.write_text("The columns that are not full: {legal}\nDo your best.")
    with pytest.raises(errors.UnreadableRun, match="prompt of"):
        evaluation.round_robin([spec, "random"], openings=0, out=tmp_path / "run")


def test_a_key_that_a_server_repeats_is_written_nowhere(server, tmp_path, capsys):
    server.answer = lambda body: f"{KEY} is a fine key. Move: {KEY}"
    main(["run", server.spec, "greedy", "--openings", "0", "--out", str(tmp_path)])
    page = tmp_path / "page.html"
    main(["report", str(tmp_path), "--html", str(page), "--no-scores"])
    said = "".join(capsys.readouterr())
    for path in tmp_path.iterdir():
        assert KEY not in path.read_text()
    assert "[key]" in (tmp_path / TRANSCRIPTS_FILE).read_text()
    assert KEY not in said


@pytest.mark.slow
@pytest.mark.compiled  # two processes, each of which compiles
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX")
def test_killed_and_gone_on_with_it_asks_nothing_twice(tmp_path):
    port, log, out = (tmp_path / name for name in ("port", "log", "run"))
    env = environment(OPENAI_API_KEY=KEY)
    silent = {"env": env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    serving = start_python("-m", "tests.helpers.chat", port, log, "0.05", **silent)
    try:
        while not port.exists() or not port.read_text():
            time.sleep(0.05)
        url = f"http://127.0.0.1:{port.read_text()}/v1"
        spec = f"chat:m,base_url={url},prompt=both+legal"
        command = ["-m", "c4env.evaluation", "run", spec, "random", "--openings", "2"]
        command += ["--jobs", "20", "--out", str(out), "--quiet"]
        first = start_python(*command, **silent)
        wait_for_lines(first, out / TRANSCRIPTS_FILE, 100)
        first.send_signal(signal.SIGKILL)
        first.wait()
        kept = list(read_transcripts(out))
        asked_before = lines_of(log)
        assert len(kept) >= 99
        done = run_python(*command, env=env)
        assert done.returncode == 0, done.stderr
        # Positions recur from game to game, so what was asked again is told by its game.
        every = [(s.fixture, s.exchange.moves) for s in read_transcripts(out)]
        assert len(every) == len(set(every))
        after = lines_of(log) - asked_before
        assert after <= len(every) - len(kept) + 20  # those under way at the end, at most
        assert len(read_games(out)[1]) == 50
    finally:
        serving.kill()
        serving.wait()


HOSTILE = "\x1b[2J\x07</script><img src=x onerror=alert(1)>\u202e" + "y" * 10000


def said(moves, attempt=0, **facts):
    fields = {"answer": "Move: 1", "column": 0, "tokens": (100, 10), "seconds": 0.5, **facts}
    return Spoken(("model", "other"), "", Exchange(moves, attempt, "tiny", **fields), "")


def test_answers_and_tokens_are_counted_in_games_that_are_over():
    spoken = [
        said(""),
        said("45", fault="unreadable", column=None),
        said("45", 1, fault="illegal", column=None),
        said("45", 2, tokens=None),
        Spoken(("model", "unfinished"), "", said("").exchange, ""),
    ]
    (row,) = model_rows([GameRecord(("model", "other"), "", "4545457", 1, "time")], spoken)
    assert (row.player, row.games, row.answers) == ("model", 1, 4)
    assert (row.unreadable, row.illegal, row.again) == (1, 1, 2)
    assert (row.asked_tokens, row.answered_tokens, row.seconds) == (300, 30, 2.0)


def test_the_report_has_them_in_every_form(server, tmp_path, c4):
    server.script = ["hm", "Move: 8"]
    players = {"model": server.spec, "other": "greedy"}
    evaluation.round_robin(players, openings=0, out=tmp_path / "run")
    command = ["report", tmp_path / "run", "--quiet"]
    text = c4(*command)
    assert "blunder rate of" in text
    line = text.partition("language model")[2].splitlines()[1]
    assert line.split()[:6] == ["model", "2", str(len(server.asked)), "1", "1", "2"]
    assert "| language model |" in c4(*command, "--format", "markdown")
    found = json.loads(c4(*command, "--format", "json"))
    (facts,) = found["models"]
    assert (facts["unreadable"], facts["illegal"], facts["games"]) == (1, 1, 2)
    assert [row["blunder rate of"] for row in found["blunder_rates"]] == ["model"]


@pytest.mark.parametrize("model", [True, False])
def test_questions_note_that_they_keep_no_prompt_of_a_model(server, model):
    notes = quality(server.spec if model else "greedy", on="end-easy", count=2).notes
    assert ("stores the prompts and answers" in "".join(notes)) == model


def test_the_page_holds_the_conversations_as_text(server, tmp_path, c4):
    server.answer = lambda body: (
        lowest_legal(body) if len(body["messages"]) > 1 else {"message": {"content": HOSTILE}}
    )
    run(server, openings=0, out=tmp_path)
    _, games = read_games(tmp_path)
    talk = conversations(games, read_transcripts(tmp_path))
    assert sorted(talk) == [0, 1]
    first, second = talk[games.index(next(g for g in games if g.players[0] == "model"))][:2]
    assert (first["ply"], first["column"], second["column"]) == (0, None, "1")
    assert [asked["role"] for asked in first["asked"]] == ["user"]
    assert second["asked"][0]["content"].startswith("That is no legal move")
    assert len(second["asked"]) == 1  # what was asked before is not repeated
    html = tmp_path / "page.html"
    c4("report", tmp_path, "--html", html, "--quiet", "--no-scores")
    text = html.read_text()
    assert "onerror=alert" in text
    assert "<img src=x" not in text
    assert "\\u003cimg src=x" in text
    assert not set(text) & {"\x1b", "\x07", "\u202e"}
