"""The first screen of a run, at 80 columns and others, with 2, 7 and 21 agents."""

from __future__ import annotations

import itertools
import random

import pytest

from c4env import evaluation
from c4env.evaluation.rating.sprt import Sprt
from c4env.evaluation.rating.wintable import WinTable
from c4env.evaluation.report.summary import RunSummary
from c4env.evaluation.store.record import GameRecord, digest
from c4env.evaluation.tables import for_terminal, width
from tests.helpers.runs import rated, run_of

NAMES = [
    *("random", "greedy", "minimax", "alphabeta-chain", "alphabeta-window", "rust-port"),
    *(f"deepening:movetime=0.02,heuristic={h}" for h in ("chain", "lines", "threats", "window")),
    *(f"exec:./engines/a-long-name-{i} --threads 4" for i in range(11)),
]


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


def test_without_a_terminal_nothing_is_left_out() -> None:
    text = for_terminal(summary_of(21).text(), colour=False)
    assert all(name in text for name in NAMES)
    assert "> next" in text
    assert "  1   2   3" in text


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
    starts = [f"{a}{b}" for a in "4567" for b in "4567"]
    games = [GameRecord(("a", "b"), o, o, int(i >= wins), "four") for i, o in enumerate(starts)]
    text = RunSummary.of(run_of(games, players={"a": "a", "b": "b"}, challengers=("a",))).text()
    assert f"a scores {said} of 16 games" in text
    assert f"  {said}  " in text
