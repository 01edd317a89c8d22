"""Runs in which language models play: many at once, stopped, and resumed."""

import itertools
import json
import threading
from collections import Counter

import pytest

pytest.importorskip("openai")

from c4env import agents, errors, evaluation
from c4env.errors import InvalidOption, Unavailable
from c4env.evaluation.__main__ import main
from c4env.evaluation.records.run_folder import read_folder
from c4env.evaluation.results.match import Match
from tests.helpers.chat import KEY, Fault, lowest_legal, rows_of, server_with_key

server = pytest.fixture(server_with_key)


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "answers.jsonl"


def run(server, kept=None, **settings):
    spec = server.spec if kept is None else f"{server.spec},answers={kept}"
    players = {"model": spec, "other": "random"}
    return evaluation.round_robin(players, **{"openings": 1, "seed": 1, **settings})


def test_the_same_games_for_any_number_at_once(server, tmp_path, kept):
    alone = run(server, openings=2, limit=10)
    answered = server.asked
    server.asked = []
    six, came = threading.Barrier(6), itertools.count()

    def answer(body):
        if next(came) < 6:
            six.wait(60)  # raises where fewer than six are asked at once
        return lowest_legal(body)

    server.answer = answer
    many = run(server, kept, openings=2, limit=10, jobs=20, out=tmp_path / "run")
    assert many.digest == alone.digest
    assert [g.fixture for g in many.games] == [g.fixture for g in alone.games]
    assert Counter(map(str, answered)) == Counter(map(str, server.asked))
    assert len(rows_of(kept)) == len(answered)
    _, games = read_folder(tmp_path / "run")
    assert {game.ending for game in games} <= {"four", "full board"}


def test_the_games_that_a_run_lacks_ask_only_for_what_is_not_kept(server, tmp_path, kept):
    server.script = ["what?", "Move: 9"]
    run(server, kept, out=tmp_path / "run", limit=1)
    asked, written = len(server.asked), []
    server.answer = lambda body: written.append(len(rows_of(kept))) or lowest_legal(body)
    result = run(server, kept, out=tmp_path / "run", limit=2)
    assert written == [*range(asked, asked + len(written))]  # at once: no kill loses an answer
    assert asked < len(server.asked) == len(rows_of(kept))
    assert [row["messages"] for row in rows_of(kept)] == [body["messages"] for body in server.asked]
    again = run(server, kept, out=tmp_path / "other", limit=2)  # a directory that was deleted
    assert again.digest == result.digest
    assert len(server.asked) == len(rows_of(kept))


def test_a_network_that_fails_ends_the_run_and_no_game(server, tmp_path, kept):
    count = iter(range(10**6))
    out = tmp_path / "run"
    server.answer = lambda body: Fault(500) if next(count) > 30 else lowest_legal(body)
    with pytest.raises(Unavailable, match=r"status 500.* of 8 games are in .* resumes"):
        run(server, kept, out=out)
    _, games = read_folder(out)
    assert 0 < len(games) < 8
    assert {game.ending for game in games} <= {"four", "full board"}
    server.answer = lowest_legal
    assert len(rows_of(kept)) == 31
    server.asked = []
    result = run(server, kept, out=out)
    assert len(server.asked) == len(rows_of(kept)) - 31
    assert result.digest == run(server).digest
    server.answer = lambda body: Fault(500)
    with pytest.raises(Unavailable, match=r"(no game was over yet|lost; with --out DIR.*kept)$"):
        run(server)


def test_the_fault_of_the_model_is_a_lost_game(server):
    server.answer = lambda body: "I resign."
    (first, second) = run(server, limit=1).games
    assert (first.ending, first.winner, second.winner) == ("unreadable", 1, 0)
    assert first.reason.startswith("tiny gave no legal move in 3 tries: the last line is")
    assert (first.asked_again, second.asked_again) == ((2, 0), (0, 2))


def cut(reason, **message):
    return {"message": {"role": "assistant", **message}, "finish_reason": reason}


FIVE_WAYS = [
    cut("stop", content="", reasoning_content="Move: 4"),
    cut("length", content="Move: 4"),
    "I resign.",
    "Move: 9",
    cut("stop", content=None, refusal="I do not play."),
]
SCRIPT = [*(answer for answer in FIVE_WAYS for _ in range(2)), "what?"]
COUNTS = {"illegal": 1, "unreadable": 1, "no_answer": 3, "asked_again": 6}


def test_a_run_counts_what_was_not_answered_in_every_format(server):
    server.script = [*SCRIPT]
    players = {"model": f"{server.spec},retries=1", "other": "random"}
    result = evaluation.round_robin(players, openings=1, seed=1)
    endings = Counter(game.ending for game in result.games if game.forfeited_by is not None)
    assert endings == {"no answer": 3, "unreadable": 1, "illegal column": 1}
    assert "all that the model wrote is in reasoning_content" in result.games[0].reason
    content = json.loads(result.json())
    (row,) = [row for row in content["standings"] if row["agent"] == "model"]
    assert {name: row[name] for name in COUNTS} == COUNTS
    assert sum(pair["forfeits_first"] + pair["forfeits_second"] for pair in content["pairs"]) == 5
    assert result.text().startswith(
        "model forfeited 5 games (1 illegal column, 3 no answer, 1 unreadable), for example"
    )
    frames = result.frame()
    assert frames.ratings.set_index("agent").loc["model", [*COUNTS]].to_dict() == COUNTS
    assert frames.games.filter(like="asked_again").sum().sum() == 6
    assert frames.table.filter(like="forfeits").sum().sum() == 5
    headings = (shown.split("\n")[0] for shown in (result.csv(), result.standings().text()))
    assert all({*COUNTS} <= {*heading.replace(",", " ").split()} for heading in headings)
    assert "asked_again: 6 (opponent: 0)" in Match(result.header, result.games).text()


def test_quality_counts_what_was_not_answered_and_asks_for_it_again(server, tmp_path):
    server.script = [*SCRIPT]
    model = f"model={server.spec},retries=1"
    judged = evaluation.quality([model, "greedy"], count=12, out=tmp_path)
    content = json.loads(judged.json())
    (row,) = [row for row in content["overall"] if row["player"] == "model"]
    assert {name: row[name] for name in COUNTS} == COUNTS
    assert (row["unanswered"], judged.slice("greedy").unanswered) == (5, 0)
    assert content["accuracies"][-1]["unanswered"] == 5
    assert judged.sentence().startswith(
        "model gave no answer in 5 of 12 positions (1 illegal column, 3 no answer, 1 unreadable), "
        "judged as the worst column, for example: no answer: tiny gave no legal move in 2 tries"
    )
    assert "5 of these blunders are positions without an answer" in judged.sentence()
    assert {*COUNTS, "unanswered"} <= {*judged.csv().split("\n")[0].split(",")}
    assert {*COUNTS, "unanswered"} <= {*judged.frame().columns}
    again = evaluation.quality([model, "greedy"], count=12, out=tmp_path)
    assert len(server.asked) == len(SCRIPT) + 7 + 5
    assert (again.slice("model").unanswered, again.slice("model").asked_again) == (0, 1)
    server.asked = []
    assert evaluation.quality([model, "greedy"], count=12, out=tmp_path).moves == again.moves
    assert not server.asked


def test_another_prompt_is_another_agent_and_more_answers_are_not(server, tmp_path, kept):
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{board} The columns that are not full: {legal}\n")
    spec = f"chat:m,base_url={server.url},prompt={prompt},answers={kept}"
    for openings in ([""], ["", "4"]):
        evaluation.round_robin([spec, "random"], openings, out=tmp_path / "run")
    prompt.write_text("{board} The columns that are not full: {legal}\nDo your best.")
    with pytest.raises(errors.UnreadableRun, match="files of player"):
        evaluation.round_robin([spec, "random"], ["", "4"], out=tmp_path / "run")


def test_a_cluster_refuses_answers_that_only_one_machine_keeps(server, kept):
    agent = agents.make(f"{server.spec},answers={kept}")
    for player in (f"{server.spec},answers={kept}", agent):
        with pytest.raises(InvalidOption, match="backend='dask': agent 'm' writes answers=/"):
            evaluation.round_robin({"m": player, "r": "random"}, backend="dask")


def test_a_model_that_is_a_python_object_plays(server, kept):
    expected = run(server).digest
    for jobs in (1, 2):
        agent = agents.make(f"{server.spec},answers={kept}")
        result = evaluation.round_robin({"model": agent, "other": "random"}, 1, seed=1, jobs=jobs)
        assert result.digest == expected
    assert len(server.asked) == 2 * len(rows_of(kept))  # of the run by spec, and one by object


def test_a_key_that_a_server_repeats_is_written_nowhere(server, tmp_path, kept, capsys):
    server.answer = lambda body: f"{KEY} is a fine key. Move: {KEY}"
    spec = f"{server.spec},answers={kept}"
    main(["run", spec, "greedy", "--openings", "0", "--out", str(tmp_path / "run")])
    page = tmp_path / "run" / "page.html"
    main(["report", str(tmp_path / "run"), "--html", str(page), "--no-scores"])
    message = "".join(capsys.readouterr())
    for path in (kept, *(tmp_path / "run").iterdir()):
        assert KEY not in path.read_text()
    assert "[key]" in kept.read_text()
    assert KEY not in message
