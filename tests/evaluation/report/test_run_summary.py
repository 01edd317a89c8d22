"""The first screen of a run, at 80 columns and others, with 2, 7 and 21 agents."""

from __future__ import annotations

import itertools
import json
import random
import re
from dataclasses import replace

import pytest

from c4env import evaluation
from c4env.evaluation.rating.costs import Cost
from c4env.evaluation.rating.wintable import WinTable
from c4env.evaluation.report.headline import played_alike
from c4env.evaluation.report.opponents import Opponents
from c4env.evaluation.report.summary import LEFT_OUT, RunSummary
from c4env.evaluation.store.record import GameRecord, digest
from c4env.evaluation.tables import for_terminal, width
from tests.helpers.runs import rated, run_of

NAMES = [
    *("random", "greedy", "minimax", "alphabeta-chain", "alphabeta-window", "rust-port"),
    *(f"deepening:movetime=0.02,heuristic={h}" for h in ("chain", "lines", "threats", "window")),
    *(f"exec:./engines/a-long-name-{i} --threads 4" for i in range(11)),
]
STARTS = [f"{a}{b}" for a in "4567" for b in "4567"]


def summary_of(count: int) -> RunSummary:
    rng = random.Random(count)
    games = []
    for first, second in itertools.permutations(NAMES[:count], 2):
        for opening in ("1", "2", "3", "4"):
            winner = rng.choice((0, 1, None))
            ending = "exception" if first == "minimax" and winner == 1 else "four"
            record = (opening + "1", winner, ending, "ValueError: boom")
            games.append(GameRecord((first, second), opening, *record))  # type: ignore[arg-type]
    table = WinTable.of(games, NAMES[:count])
    return RunSummary(table, digest(games), rated(games, NAMES[:count]))


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
@pytest.mark.parametrize("count", [2, 7, 21])
def test_it_fits_the_terminal(count: int, columns: int) -> None:
    summary = summary_of(count)
    text = for_terminal(summary.text(columns), colour=False)
    lines = text.split("\n")
    assert max(map(width, lines)) <= columns
    first = lines.index("") + 1  # below what was found, in words
    assert lines[first].split()[:2] == ["place", "agent"]
    assert [line.split()[0] for line in lines[first + 1 : first + count + 1]] == [
        f"{r.ranks[0]}-{r.ranks[1]}" if r.ranks[0] < r.ranks[1] else str(r.ranks[0])
        for r in summary.ratings or ()
    ]
    crossed = "score moving first" in text or "  1   2   3" in text
    assert crossed != ("is wider than this terminal" in text)
    if columns == 80:
        assert crossed == (count < 21)
    assert ("forfeited" in text) == (count > 2)


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("count", [2, 7, 10, 21])
def test_an_agent_has_one_name_in_words_and_tables(count: int, columns: int) -> None:
    summary = summary_of(count)
    assert summary.ratings is not None
    players = [r.player for r in summary.ratings]
    text = for_terminal(summary.text(columns), colour=False)
    said, placed, crossed, *_ = text.split("\n\n")
    names = re.findall(r"^ *[\d-]+  (.*?)  +[+-]?\d", placed, re.M)
    assert len({*names}) == count
    assert re.findall(r"^ *\d+  (\S.*?)  ", crossed.partition("\n")[2], re.M) in ([], names)
    assert re.search(f"{re.escape(names[0])} (leads|is|and) ", " ".join(said.split()))
    for name, shown in zip(players, names, strict=True):
        assert (name in text) == (name == shown)
    assert (names != players) == ("Two dots shorten a name" in " ".join(text.split()))


def test_columns_go_in_order_and_only_those_there_are_explained() -> None:
    found = summary_of(7)
    assert found.ratings is not None
    summary = replace(found, ratings=found.ratings.with_costs({"greedy": Cost(2, 2468, [0.25])}))
    for columns in range(40, 120):
        text = for_terminal(summary.text(columns), colour=False)
        heading = next(line for line in text.split("\n") if line.startswith("place ")).split("  ")
        names = {name.strip() for name in heading}
        gone = [name for name in LEFT_OUT if name not in names]
        assert gone == [*LEFT_OUT[: len(gone)]]
        assert ("probability of being stronger" in " ".join(text.split())) == ("> next" in names)
        assert ("ms: a move" in " ".join(text.split())) == ("ms" in names)
        assert ("nodes, ms: a move" in " ".join(text.split())) == ("nodes" in names)
        if columns == 80:
            assert gone == ["games", "forfeits"]
            assert re.search(r" greedy .* 1,234  250 ", text)
    assert re.search(r"\| greedy \| .* \| 1,234 \| 250 \| ", summary.markdown())
    assert summary.csv().count(",1234.0,250.0") == 12
    ratings = json.loads(summary.json())["ratings"]["players"]
    assert {(r["nodes"], r["seconds"]) for r in ratings} == {(1234, 0.25), (0, 0)}


def test_agents_that_played_identical_games_are_named_and_no_match_is_proposed() -> None:
    run = evaluation.round_robin(["a=alphabeta:depth=2", "b=alphabeta:depth=2", "random"], 2)
    assert played_alike(run) == (("a", "b"),)
    said = "a and b played identical games, as far as their opponents are deterministic."
    summary = RunSummary.of(run)
    assert said in " ".join(summary.text(80).split())
    assert said in summary.markdown()
    without = replace(summary, twins=())
    assert ["needs more openings" in s.text() for s in (summary, without)] == [False, True]
    (place, game), *_ = ((i, g) for i, g in enumerate(run.games) if "random" not in g.players)
    games = [*run.games]
    games[place] = replace(game, moves=game.moves[:-1])
    assert played_alike(replace(run, games=tuple(games))) == ()


@pytest.mark.slow
@pytest.mark.compiled
def test_the_published_systems_play_the_games_they_always_played() -> None:
    published = "minimax alphabeta-chain alphabeta-window alphabeta-window-b rust-port"
    run = evaluation.round_robin(["random", "greedy", *published.split()], 2, jobs=2)
    assert run.digest == "39c9b83bfc23fe50"
    assert played_alike(run) == (("minimax", "alphabeta-chain"),)
    assert "c4 match" not in RunSummary.of(run).text()


def test_without_a_terminal_nothing_is_left_out() -> None:
    text = for_terminal(summary_of(21).text(), colour=False)
    assert all(name in text for name in NAMES)
    assert "> next" in text
    assert "  1   2   3" in text


@pytest.mark.parametrize(
    ("results", "low", "high"),
    [
        ("1111", 0.99, 1),
        ("0000", 0, 0.01),
        ("1100", 0.4, 0.6),
        ("dddd", 0.4, 0.6),
        ("1110", 0.8, 1),
    ],
)
def test_the_probability_of_being_stronger_is_that_of_their_games(
    results: str, low: float, high: float
) -> None:
    """Against the second opponent the agent wins all games."""
    games = [
        GameRecord(("a", other), start, start, {"1": 0, "0": 1, "d": None}[won], "four")
        for other, row in (("b", results * 4), ("c", "1" * 16))
        for start, won in zip(STARTS, row, strict=True)
    ]
    players = {name: name for name in "abc"}
    found = RunSummary.of(run_of(games, players=players, challengers=("a",))).opponents
    assert found is not None
    better = {met.opponent: met.better for met in found.met}
    assert low <= better["b"] <= high
    assert better["c"] > 0.99
    exact = replace(found.ratings, exact=True)
    run = run_of(games, players=players, challengers=("a",))
    sure = Opponents.of(run, exact)
    assert sure is not None
    ahead = results.count("1") - results.count("0")
    assert {met.opponent: met.better for met in sure.met}["b"] == (ahead > 0) / 2 + (ahead >= 0) / 2
