"""The first screen of a run, at 80 columns and others, with 2, 7 and 21 agents."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace

import pytest

from c4env.evaluation.rating.wintable import WinTable
from c4env.evaluation.report.opponents import Opponents
from c4env.evaluation.report.summary import RunSummary
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
    assert re.match(f"{re.escape(names[0])} (leads|is|and) ", " ".join(said.split()))
    for name, shown in zip(players, names, strict=True):
        assert (name in text) == (name == shown)
    assert (names != players) == ("Two dots shorten a name" in " ".join(text.split()))


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
