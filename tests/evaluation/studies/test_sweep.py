from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

from c4env import evaluation
from c4env.agents.errors import UnknownOption
from c4env.evaluation.__main__ import main
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.store.record import read_games
from c4env.evaluation.studies.sweep import SWEEP_FILE, sweep

PATTERN = "alphabeta:depth=1..2,heuristic={lines,window}"
# Endings: a game is a few moves.
OPENINGS = ["4713732767357311732634225152551", "3432771761767613231746215235614"]


def test_points_come_series_by_series_with_their_strength_and_cost():
    found = sweep(PATTERN, openings=OPENINGS)
    assert found.axis == "depth"
    assert [(p.series, p.x) for p in found.points] == [
        ("heuristic=lines", 1),
        ("heuristic=lines", 2),
        ("heuristic=window", 1),
        ("heuristic=window", 2),
    ]
    games = found.result.games
    assert len(games) == 6 * 2 * len(OPENINGS)
    for p in found.points:
        own = [(g, s) for g in games for s in (0, 1) if g.players[s] == p.spec]
        moves = [sum(ply % 2 == s for ply in range(len(g.opening), len(g.moves))) for g, s in own]
        assert p.moves == sum(moves)
        assert p.games == len(own)
        assert p.score == pytest.approx(sum(g.points[s] for g, s in own) / len(own))
        assert p.nodes == pytest.approx(sum(g.nodes[s] for g, s in own) / sum(moves))
        times = [g.seconds[s] / n for (g, s), n in zip(own, moves, strict=True) if n]
        assert p.seconds == pytest.approx(np.median(times))
        assert p.low <= p.elo <= p.high
    assert sum(p.elo for p in found.points) == pytest.approx(0, abs=1e-3)


def test_against_a_field_the_agents_do_not_meet():
    found = sweep(PATTERN, against=["random", "greedy"], openings=OPENINGS, seed=3)
    pairs = {frozenset(g.players) for g in found.result.games}
    assert len(pairs) == 4 * 2
    assert all(pair & {"random", "greedy"} for pair in pairs)
    assert {p.games for p in found.points} == {2 * 2 * len(OPENINGS)}
    assert "against random, greedy" in found.text()


def test_other_agents_and_options_may_be_swept():
    found = sweep(["{random,greedy}", "alphabeta:depth=2"], openings=OPENINGS[:1])
    assert found.axis is None
    assert [p.options["agent"] for p in found.points] == ["random", "greedy", "alphabeta"]
    found = sweep("greedy", against=["random"], openings=OPENINGS[:1])
    assert found.points[0].options == {}
    assert found.tables()[0][1][0] == "greedy"


@pytest.mark.parametrize("against", [[], ["third=random"]])
def test_agents_have_names_of_ones_own(against):
    found = sweep(["one=greedy", "two=greedy", "minimax:depth=1"], against, OPENINGS[:1])
    assert found.result.players[:3] == ("one", "two", "minimax:depth=1")
    assert [p.spec for p in found.points] == ["greedy", "greedy", "minimax:depth=1"]
    assert [p.options["agent"] for p in found.points] == ["one", "two", "minimax"]
    ratings = {r.player: r.elo for r in found.result.ratings}
    assert [p.elo for p in found.points] == [ratings[name] for name in found.result.players[:3]]


@pytest.mark.compiled  # the perfect agent reads its book
def test_options_that_are_no_whole_numbers_make_series():
    found = sweep("perfect:table_mb=1,blunder={0.1,0.9}", openings=OPENINGS[:1])
    assert found.axis is None
    assert [p.series for p in found.points] == ["blunder=0.1", "blunder=0.9"]


def test_an_interrupted_sweep_goes_on_and_writes_what_a_plot_needs(tmp_path):
    def stop(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(PATTERN, openings=OPENINGS, out=tmp_path, watch=stop)
    assert len(read_games(tmp_path)[1]) == 5
    assert not (tmp_path / SWEEP_FILE).exists()
    counts = []
    found = sweep(
        PATTERN, openings=OPENINGS, out=tmp_path, watch=lambda done, total: counts.append(done)
    )
    assert counts[0] == 5
    assert found.result.digest == sweep(PATTERN, openings=OPENINGS).result.digest
    stored = json.loads((tmp_path / SWEEP_FILE).read_text())
    assert stored == json.loads(found.json())
    assert stored["points"][0]["spec"] == found.points[0].spec
    assert stored["points"][0]["elo"] == found.points[0].elo


@pytest.mark.parametrize(
    ("patterns", "error", "words"),
    [
        ("alphabeta:depth=3..1", InvalidRun, "ascending"),
        (["alphabeta:depth=1..2", "alphabeta:depth=2"], InvalidRun, "twice"),
        ("alphabeta:deep=1..2", UnknownOption, "did you mean 'depth'"),
        ([], InvalidRun, "at least two"),
        ("mine=alphabeta:depth=1..2", InvalidRun, "'mine' names 2 agents: expected one agent"),
        (["mine=greedy", "mine=random"], InvalidRun, "'mine' is given twice"),
    ],
)
def test_bad_input_is_refused(patterns, error, words, tmp_path):
    with pytest.raises(error, match=words):
        sweep(patterns, openings=OPENINGS, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json"])
def test_the_command_in_every_form(tmp_path, form, capsys):
    openings = tmp_path / "openings.txt"
    openings.write_text("\n".join(OPENINGS) + "\n")
    out = tmp_path / "run"
    command = ["sweep", "minimax:depth=1..2", "--against", "random", "--openings", str(openings)]
    command += ["--jobs", "1", "--quiet", "--format", form, "--out", str(out)]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    stored = json.loads((out / SWEEP_FILE).read_text())
    if form == "json":
        assert json.loads(shown.out) == stored
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(shown.out)))
        assert [row["depth"] for row in rows] == ["1", "2"]
        assert [float(row["elo"]) for row in rows] == [p["elo"] for p in stored["points"]]
    else:
        assert "nodes a move" in shown.out
        assert "2 agents against random: 8 games over 2 openings" in shown.out
        assert ("digest" in shown.out) == (form == "text")
    assert main(["report", str(out)]) == 0


def test_a_sweep_is_a_run_like_any_other(tmp_path):
    found = sweep("alphabeta:depth=1..2", openings=OPENINGS, out=tmp_path)
    again = evaluation.round_robin(
        ["alphabeta:depth=1", "alphabeta:depth=2"], openings=OPENINGS, out=tmp_path
    )
    assert again.games == found.result.games


@pytest.mark.parametrize(
    ("given", "limit", "heading", "said"),
    [
        (["minimax:depth=1..2"], None, "spread", "Exact over this set"),
        (["minimax:depth=1..2"], 2, "95 %", "2 openings are too few to tell the two apart"),
        (["one=greedy", "two=greedy"], None, "spread", "how much the 4 openings differ."),
        (["minimax:depth=1..2", "lost.py:agent"], 2, "95 %", "lost.py:agent forfeited 8 games"),
    ],
)
def test_what_is_said_is_what_was_measured(given, limit, heading, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lost.py").write_text("agent = lambda observation: None\n")
    found = sweep(given, openings=1, limit=limit)
    assert heading in found.tables()[0][0]
    assert said in found.summary()
    assert not re.search(r"[+-]0\b", found.text())
