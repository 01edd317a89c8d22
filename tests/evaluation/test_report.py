import functools
import json
import re
import string

import pytest

from c4env import Position
from c4env.agents.solver import Solver
from c4env.evaluation.exact.mistakes import Mistakes
from c4env.evaluation.exact.moves import Quality, judge_games
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.report import page as report
from c4env.evaluation.report.page import STATIC
from tests.helpers.runs import record_run, run_of

NASTY = "</script><img src=x onerror=alert(1)>&\u2028"


def game(first, second, moves, winner, ending="four"):
    return GameRecord((first, second), moves[:2], moves, winner, ending, "", (70, 80), (0.5, 1.5))


GAMES = [
    game("one", "two", "4455667", 0),
    game("two", "one", "1122334", 0),
    game("one", "two", "4141412", 0, "exception"),
]


@functools.cache
def crowded(count):
    """The page's contents for a field that is close together, in strength and in cost."""
    players = [f"deepening:movetime=0.02,heuristic=kind{i}" for i in range(count // 2)]
    players += [f"alphabeta-window-{'b' * (i % 5)}{i}" for i in range(count - count // 2)]
    moves = "4455667", "1122334", "4141412"
    games = [
        GameRecord(
            (one, two), "", moves[(i * j + i) % 3], 0, "four", "", (1, 1), (0.01 + i / 9e3,) * 2
        )
        for i, one in enumerate(players)
        for j, two in enumerate(players)
        if i != j
    ]
    with Judge() as judge:
        return report.contents(run_of(games), judge)


def data_of(text):
    result = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert result
    return json.loads(result.group(1))


def test_the_page_holds_the_run():
    run = run_of(GAMES, seed=3, movetime=1, margin=0.1)
    text = report.page(report.contents(run))
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", text)  # nothing is fetched
    assert "default-src 'none'" in text
    (without_scripts,) = re.findall("<noscript>.*</noscript>", text)
    assert "JavaScript" in without_scripts
    assert "<code>c4 report DIR</code>" in without_scripts
    content = data_of(text)
    agents = [row["agent"] for row in content["standings"]]
    assert {*agents} == {"one", "two"}
    assert content["notes"][0].startswith("1 s per move, and a margin of 0.1 s")
    assert content["summary"] == f"3 games of 2 agents over 3 openings; seed 3; digest {run.digest}"
    assert content["scores"] is None
    one = agents.index("one")
    pairs = [*zip(*content["pairs"].values(), strict=True)]
    heads = ("first", "second", "games", "wins", "draws", "losses", "score")
    assert tuple(content["pairs"]) == (*heads, "forfeits_first", "forfeits_second")
    assert (one, 1 - one, 2, 2, 0, 0, 1, 0, 1) in pairs
    # 70 nodes and half a second in each of two games as first player, 80 and 1.5 as second;
    # after two plies of opening "one" had 3, 3 and 2 moves.
    row = content["standings"][one]
    assert [row["nodes"], row["ms"]] == [pytest.approx(220 / 8), pytest.approx(500 / 3)]
    assert content["games"]["moves"] == [g.moves for g in GAMES]
    assert [agents[i] for i in content["games"]["first"]] == [g.players[0] for g in GAMES]


def test_its_tables_are_those_of_json():
    run = run_of(GAMES)
    with Judge() as judge:
        content = report.contents(run, judge=judge)
        quality = Quality.of_games(GAMES, judge)
        mistakes = Mistakes.of(GAMES, "two", judge)
    assert content["standings"] == run.content()["standings"]
    assert content["quality"] == quality.content()["overall"]
    words = [mistake.describe() for mistake in mistakes.mistakes]
    assert content["mistakes"]["two"] == {**mistakes.content(), "words": words}


def test_exact_scores_stand_beside_every_move():
    with Judge() as judge:
        result = report.contents(run_of(GAMES[:1]), judge)
    solver, zero = Solver(), string.ascii_letters.index("w")
    read = [None if c == "." else string.ascii_letters.index(c) - zero for c in result["scores"][0]]
    for i in range(5):
        scores = solver.scores(Position.parse("4455667"[: 2 + i]))
        assert read[7 * i : 7 * i + 7] == scores
    assert read[35:] == [solver.score(Position.parse("4455667"))]  # of the end
    assert result["quality"][0]["moves"] > 0


def test_shares_and_pairs_are_counted_by_python():
    with Judge() as judge:
        content = report.contents(run_of(GAMES), judge=judge)
        blunders = [move.player for move in judge_games(GAMES, judge) if move.blunder]
    one, two = content["results"]
    assert one["first"] == {"score": 1, "counts": "2/0/0"}
    assert one["second"] == {"score": 0, "counts": "0/0/1"}
    assert one["total"] == {"score": pytest.approx(2 / 3), "counts": "2/0/1"}
    assert two["total"]["counts"] == "1/0/2"
    rates = " against ".join(f"{blunders.count(name) / 3:.1f}" for name in ("one", "two"))
    assert content["pairs_in_words"] == [
        "one scores 2.0 of 3 points (67%) against two: 2/0/0 moving first, 0/0/1 moving second "
        "(wins/draws/losses). It is ahead over 2 of 3 openings and behind over 1. "
        f"Blunders per game: {rates}."
    ]
    assert report.contents(run_of(GAMES))["pairs_in_words"][0].endswith("behind over 1.")
    assert len(crowded(2)["pairs_in_words"]) == 1
    assert crowded(7)["pairs_in_words"] == []  # there is no room


def test_names_cannot_leave_the_data_they_stand_in():
    games = [game(NASTY, "two", "4455667", 0)]
    text = report.page(report.contents(run_of(games), title=NASTY))
    assert "<img" not in text
    assert NASTY in [row["agent"] for row in data_of(text)["standings"]]
    assert text.count("</script>") == STATIC.joinpath("report.html").read_text().count("</script>")


@pytest.mark.compiled
def test_the_command_writes_the_page_and_keeps_the_scores(tmp_path, c4):
    page = tmp_path / "page.html"
    command = ["report", record_run(tmp_path / "run", "random", "greedy"), "--html", page]
    c4(*command, "--quiet")
    result = data_of(page.read_text())
    assert (len(result["games"]["moves"]), len(result["scores"])) == (8, 8)
    assert (tmp_path / "run" / "scores.jsonl").exists()
    c4(*command, "--no-scores", "--quiet")
    assert data_of(page.read_text())["scores"] is None  # what stood there is replaced
