from __future__ import annotations

import io
import sys

from c4env.evaluation.cli import progress
from c4env.evaluation.cli.progress import MatchProgress, RunProgress
from c4env.evaluation.rating.sprt import Sprt
from c4env.evaluation.store.record import GameRecord


def game(first: str, second: str, winner: int | None) -> GameRecord:
    return GameRecord((first, second), "", "1", winner, "four")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


GAMES = [game("a", "b", 0), game("b", "a", 0), game("a", "b", 0), game("b", "a", None)]


def played(shown: RunProgress) -> None:
    with shown:
        shown.watch(0, 4)
        for i, one in enumerate(GAMES, start=1):
            shown.on_game(one)
            shown.watch(i, 4)


def test_a_log_has_a_line_now_and_then(capsys, monkeypatch):
    played(RunProgress())
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "EVERY", 0.0)
    played(RunProgress())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "0 of 4 games"
    assert lines[-1] == "4 of 4 games: a 62%, b 38%"
    played(RunProgress(quiet=True))
    assert capsys.readouterr().err == ""


def test_a_terminal_has_a_bar_and_the_standings_above_it(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    played(RunProgress())
    assert "4/4 [" in sys.stderr.getvalue()
    assert "a 62%, b 38%" in sys.stderr.getvalue()


def test_a_match_says_score_elo_and_the_ratio_between_its_bounds():
    shown = MatchProgress(Sprt(0, 40))
    assert shown.so_far() == ""
    for points in (1, 1.5):
        shown.on_pair(points)
    ratio = float(Sprt(0, 40).llr((0, 0, 1, 1, 0)))
    assert shown.so_far() == f"score 62.5%, Elo +89, LLR {ratio:.2f} (-2.94 .. 2.94)"
