"""Play the leaderboard at this commit, and write it and the tables that are made from it.

  python -m tests.makers leaderboard           plays it, in about an hour on two idle cores
  python -m tests.makers leaderboard --tables  writes only the tables, from the stored games
  python -m tests.makers leaderboard --check   plays the games of agents without a clock again, and
                                               counts the results that differ from the stored ones

The files are evaluation/studies/leaderboard.json, README.md and docs/results.md. Playing needs a
checkout without changes, since the leaderboard says its commit. DIR keeps the games; the same
command resumes.
"""

from __future__ import annotations

import argparse
import operator
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from c4env.errors import InvalidOption
from c4env.evaluation.cli.options import add_options, add_quiet
from c4env.evaluation.cli.output import Progress, say, show
from c4env.evaluation.games.run import Settings
from c4env.evaluation.games.tournament import round_robin
from c4env.evaluation.studies.leaderboard import (
    EQUAL_TIME,
    STORED,
    Leaderboard,
    play_leaderboard,
    stored_board,
)
from c4env.evaluation.tables import Table
from c4env.system import commit, usable_cores
from tests.helpers.paths import ROOT

FILE: Final = ROOT / "evaluation" / "studies" / STORED
README, RESULTS = ROOT / "README.md", ROOT / "docs" / "results.md"
OUT: Final = "c4-leaderboard"
_TABLE: Final = re.compile(r"\| rank \| agent \| setting .*?\n\n.*?\n\n", re.S)
_ROW: Final = re.compile(r"^(\| `([^`]+)`[^|]*\|) [^|]+ (\|[^|]*\|) [\d.]+ \|$", re.M)
_COMMIT: Final = re.compile(r"^Games of c4env .*\n", re.M)


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--tables", action="store_true", help="write the tables, play no games")
    what.add_argument("--check", action="store_true", help="play again, write nothing")
    parser.add_argument("--out", metavar="DIR", default=OUT, help=f"keep the games (default {OUT})")
    add_options(parser, Settings, "jobs", jobs=usable_cores())
    add_quiet(parser)


def execute(arguments: argparse.Namespace) -> int:
    if arguments.check:
        with Progress("games", arguments.quiet) as progress:
            table = check(stored_board(), arguments.out, arguments.jobs, progress.watch)
        show(table, arguments)
        return int(any(row[2] for row in table.items))
    if not arguments.tables:
        require_commit(commit())
        with Progress("games", arguments.quiet) as progress:
            board = play_leaderboard(jobs=arguments.jobs, out=arguments.out, watch=progress.watch)
        FILE.write_text(board.format(), encoding="utf-8")
    board = Leaderboard.parse(FILE.read_text(encoding="utf-8"), str(FILE))
    for path, made in ((README, readme_of), (RESULTS, results_of)):
        path.write_text(made(path.read_text(encoding="utf-8"), board), encoding="utf-8")
    say(f"{FILE.name}, {README.name} and {RESULTS.name} say {about(board)}")
    return 0


def require_commit(known: str) -> None:
    """Refuse to play where the commit would not tell which code played.

    Raises:
        InvalidOption: there is no commit, or files differ from it.
    """
    if not known or known.endswith("-dirty"):
        raise InvalidOption(f"commit {known!r}: expected a checkout without changes")


def check(
    board: Leaderboard, out: str | None, jobs: int, watch: Callable[[int, int], None] | None = None
) -> Table:
    """Play the stored games of agents without a clock again, and compare the results."""
    names = [spec for spec, setting in board.field.items() if setting != EQUAL_TIME]
    run = round_robin(names, openings=list(board.openings), jobs=jobs, out=out, watch=watch)
    again, differ, games = Leaderboard.of(run, board.field), Counter(), Counter()
    for first in names:
        for second in names:
            if first != second:
                stored, new = (each.results[first][second] for each in (board, again))
                for name in (first, second):
                    games[name] += len(stored)
                    differ[name] += sum(map(operator.ne, stored, new))
    rows = [(name, games[name], differ[name]) for name in names]
    return Table.of(dict.fromkeys(("agent", "games", "differ"), ""), rows)


def about(board: Leaderboard) -> str:
    """Which code played the games of a leaderboard, and when."""
    return f"c4env {board.version}, commit {board.commit or 'unknown'}, {board.date}"


def results_of(text: str, board: Leaderboard) -> str:
    """The page of results with the table of a leaderboard."""
    return _TABLE.sub(lambda _: board.markdown() + "\n\n", text, count=1)


def readme_of(text: str, board: Leaderboard) -> str:
    """The README with the Elo and the times of a leaderboard, and its commit."""
    ratings = {rating.player: rating for rating in board.rate()}
    shown = {row[2].strip("` "): row for row in map(_cells, board.markdown().splitlines()) if row}

    def row(found: re.Match[str]) -> str:
        spec = found[2]
        if spec not in ratings:
            return found[0]
        return f"{found[1]} {shown[spec][4].strip()} {found[3]} {shown[spec][6].strip()} |"

    return _COMMIT.sub(f"Games of {about(board)}.\n", _ROW.sub(row, text), count=1)


def _cells(line: str) -> list[str]:
    return line.split("|") if line.startswith("| ") else []
