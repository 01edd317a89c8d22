"""What a report says of language models: answers, tokens, what was overlooked, transcripts."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

pytest.importorskip("openai")

from c4env import evaluation
from c4env.agents.adapters.chat.agent import Exchange
from c4env.evaluation.__main__ import main
from c4env.evaluation.report.models import (
    conversations,
    model_rows,
)
from c4env.evaluation.store.record import GameRecord, read_games
from c4env.evaluation.store.transcripts import Spoken, read_transcripts
from tests.helpers.chat import ChatServer, chatting, lowest_legal

HOSTILE = "\x1b[2J\x07</script><img src=x onerror=alert(1)>\u202e" + "y" * 10000


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chatting() as server:
        yield server


def game(moves: str, winner: int, ending: str = "four") -> GameRecord:
    return GameRecord(("model", "other"), "", moves, winner, ending)


def said(moves: str, attempt: int = 0, **facts: object) -> Spoken:
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
    (row,) = model_rows([game("4545457", 1, "time")], spoken)
    assert (row.player, row.games, row.answers) == ("model", 1, 4)
    assert (row.unreadable, row.illegal, row.again) == (1, 1, 2)
    assert (row.asked_tokens, row.answered_tokens, row.seconds) == (300, 30, 2.0)


def test_the_report_has_them_in_every_form(server, tmp_path, capsys):
    server.script = ["hm", "Move: 8"]
    players = {"model": server.spec, "other": "greedy"}
    evaluation.round_robin(players, openings=0, out=tmp_path / "run")
    command = ["report", str(tmp_path / "run"), "--quiet"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "language model" in text
    assert "blunder rate of" in text
    line = text.partition("language model")[2].splitlines()[1]
    assert line.split()[:6] == ["model", "2", str(len(server.asked)), "1", "1", "2"]
    assert main([*command, "--format", "markdown"]) == 0
    assert "| language model |" in capsys.readouterr().out
    assert main([*command, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (facts,) = found["models"]
    assert (facts["unreadable"], facts["illegal"], facts["games"]) == (1, 1, 2)
    assert [row["blunder rate of"] for row in found["blunder_rates"]] == ["model"]


def test_the_page_holds_the_conversations_as_text(server, tmp_path):
    server.answer = lambda body: (
        lowest_legal(body) if len(body["messages"]) > 1 else {"message": {"content": HOSTILE}}
    )
    evaluation.round_robin({"model": server.spec, "other": "random"}, openings=0, out=tmp_path)
    _, games = read_games(tmp_path)
    talk = conversations(games, read_transcripts(tmp_path))
    assert sorted(talk) == [0, 1]
    first, second = talk[games.index(next(g for g in games if g.players[0] == "model"))][:2]
    assert (first[0], first[3], second[3]) == (0, None, "1")
    assert [role for role, _ in first[1]] == ["user"]
    assert second[1][0][1].startswith("That is no legal move")
    assert len(second[1]) == 1  # what was asked before is not repeated
    html = tmp_path / "page.html"
    assert main(["report", str(tmp_path), "--html", str(html), "--quiet", "--no-scores"]) == 0
    text = html.read_text()
    assert "onerror=alert" in text
    assert "<img src=x" not in text
    assert "\\u003cimg src=x" in text
    assert not set(text) & {"\x1b", "\x07", "\u202e"}
