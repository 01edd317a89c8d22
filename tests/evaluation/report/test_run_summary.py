"""The first screen of a run, at 80 columns and others, with 2, 7 and 21 agents."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace

import pytest

from c4env import evaluation
from c4env.evaluation.plan.header import RunHeader
from c4env.evaluation.rating.sprt import Sprt
from c4env.evaluation.rating.wintable import WinTable
from c4env.evaluation.report.opponents import Opponents
from c4env.evaluation.report.summary import RunSummary
from c4env.evaluation.store.record import GameRecord, digest
from c4env.evaluation.studies.match import Match
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
    ("won", "said"),
    [
        (16, "a is the stronger of the two, "),
        (0, "b is the stronger of the two, "),
        (8, "a and b are level."),
        (9, "a leads by 41 Elo, but b may be as strong."),
    ],
)
def test_a_match_without_a_test_says_first_who_is_stronger(won: int, said: str) -> None:
    games = [
        GameRecord(players, start, start, players.index("a" if i < won else "b"), "four")
        for i, start in enumerate(STARTS)
        for players in (("a", "b"), ("b", "a"))
    ]
    match = Match(RunHeader(kind="match", players={"a": "a", "b": "b"}), tuple(games))
    summary = RunSummary.of(match)
    assert summary.text(80).startswith(said)
    assert f"- {said}" in summary.markdown()
    assert f"\n\na against b: {2 * won} wins" in summary.text(80)
    few = int(won in (8, 9))
    assert [text.count("too few") for text in (summary.text(), summary.markdown())] == [few, few]


def test_the_verdict_of_a_match_comes_first() -> None:
    match = evaluation.play_match(["greedy", "random"], 1, Sprt(0, 200), seed=1)
    text = RunSummary.of(match).text(80)
    verdict = "H1 accepted" if match.decision else "Undecided"
    assert text.startswith(verdict)
    assert text.index("Elo difference") < text.index("score moving first")


def test_a_run_without_games_has_its_table() -> None:
    empty = RunSummary(WinTable.of([], ["one", "two"]), digest([]))
    for text in (empty.text(80), empty.markdown()):
        assert "one" in text
        assert "0 games; openings of no plies." in text


def test_the_ratings_are_in_markdown_too() -> None:
    summary = summary_of(2)
    assert summary.ratings is not None
    assert summary.ratings.table().markdown() in summary.markdown()


@pytest.mark.parametrize(("wins", "said"), [(1, "6.3%"), (3, "18.8%"), (0, "0.0%"), (16, "100.0%")])
def test_the_score_of_a_challenger_is_the_same_in_words_and_table(wins: int, said: str) -> None:
    games = [GameRecord(("a", "b"), o, o, int(i >= wins), "four") for i, o in enumerate(STARTS)]
    text = RunSummary.of(run_of(games, players={"a": "a", "b": "b"}, challengers=("a",))).text()
    assert f"a scores {said} of 16 games" in text
    assert f"  {said}  " in text


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


def test_long_names_of_opponents_are_shortened_on_a_narrow_terminal_alone() -> None:
    long = [f"alphabeta:depth=3,heuristic={name}" for name in ("window", "window-b")]
    games = [GameRecord(("a", other), o, o, 0, "four") for other in long for o in STARTS]
    players = {name: name for name in ("a", *long)}
    summary = RunSummary.of(run_of(games, players=players, challengers=("a",)))
    wide, narrow = (for_terminal(summary.text(n), False) for n in (120, 80))
    assert ["Two dots" in text for text in (wide, narrow)] == [False, True]
    assert all(name in wide for name in long)
    rows = [line for line in narrow.split("\n") if line.startswith("alphabeta:")]
    assert len(rows) == 2
    assert all(".." in row.split()[0] and row.endswith("%") for row in rows)
