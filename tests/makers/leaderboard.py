"""Play the leaderboard at this commit, and write it and the tables that are made from it.

  python -m tests.makers leaderboard           plays it, in about an hour on two idle cores
  python -m tests.makers leaderboard --tables  writes only the tables, from the stored games
  python -m tests.makers leaderboard --check   plays the games of agents without a clock again, and
                                               counts the results that differ from the stored ones

The files are evaluation/results/leaderboard.json, README.md and docs/results.md. Playing needs a
checkout without changes, since the leaderboard says its commit. DIR keeps the games; the same
command resumes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import operator
import platform
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Final

from c4env.errors import InvalidOption
from c4env.evaluation.cli.declare import add_options, add_quiet
from c4env.evaluation.cli.output import Progress, say, show
from c4env.evaluation.ratings.tally import costs
from c4env.evaluation.results.leaderboard import (
    EQUAL_TIME,
    FORMAT,
    STORED,
    Leaderboard,
    stored_board,
)
from c4env.evaluation.results.round_robin import round_robin
from c4env.evaluation.results.tournament import Tournament
from c4env.evaluation.runs.run import Settings
from c4env.evaluation.tables import Table, plural
from c4env.system import __version__, commit, usable_cores
from tests.helpers.paths import ROOT

FILE: Final = ROOT / "evaluation" / "studies" / STORED
README, RESULTS = ROOT / "README.md", ROOT / "docs" / "results.md"
OUT: Final = "c4-leaderboard"
OPENING_PLIES: Final = 3  # plies of the openings
LIMIT: Final = 25  # openings to play, of 121: about an hour on two cores
DEFAULT: Final = "default"
PUBLISHED: Final = "published"  # the settings of a published system

# The field leaves out `minimax`, which plays the moves of `alphabeta-chain` more slowly.
FIELD: Final = {
    "random": DEFAULT,
    "greedy": DEFAULT,
    "alphabeta-chain": PUBLISHED,
    "alphabeta-window": PUBLISHED,
    "alphabeta-window:depth=7": PUBLISHED,
    "alphabeta-window-b": PUBLISHED,
    "rust-port": PUBLISHED,
    "alphabeta:depth=9": DEFAULT,
    "deepening": DEFAULT,
    "mcts": DEFAULT,
    "learned": DEFAULT,
    "puct": DEFAULT,
    "perfect:blunder=0.1": DEFAULT,
    "perfect": DEFAULT,
    "mcts:movetime=0.02": EQUAL_TIME,
    "puct:movetime=0.02": EQUAL_TIME,
    "deepening:movetime=0.02,heuristic=chain": EQUAL_TIME,
    "deepening:movetime=0.02,heuristic=lines": EQUAL_TIME,
    "deepening:movetime=0.02,heuristic=threats": EQUAL_TIME,
    "deepening:movetime=0.02,heuristic=window": EQUAL_TIME,
}
"""The agents of the field, each with the kind of its settings."""

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
            kept = {"jobs": arguments.jobs, "out": arguments.out, "watch": progress.watch}
            run = round_robin(list(FIELD), openings=OPENING_PLIES, limit=LIMIT, **kept)
        FILE.write_text(format_of(board_of(run, FIELD)), encoding="utf-8")
    board = Leaderboard.parse(FILE.read_text(encoding="utf-8"), str(FILE))
    for path, made in ((README, readme_of), (RESULTS, results_of)):
        path.write_text(made(path.read_text(encoding="utf-8"), board), encoding="utf-8")
    say(f"{FILE.name}, {README.name} and {RESULTS.name} say {about(board)}")
    return 0


def board_of(run: Tournament, settings: Mapping[str, str]) -> Leaderboard:
    """A leaderboard from a round robin and the kind of each agent's settings, by spec."""
    results = {g.fixture: "10="[2 if g.winner is None else g.winner] for g in run.games}
    return Leaderboard(
        version=__version__,
        commit=commit(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        openings=run.openings,
        field={player: settings[player] for player in run.players},
        deterministic=run.deterministic,
        milliseconds={  # to three digits
            player: float(f"{1000 * cost.seconds_a_move:.3g}")
            for player, cost in costs(run.games).items()
        },
        results={
            first: {
                second: "".join(results.get(((first, second), o), "-") for o in run.openings)
                for second in run.players
                if second != first
            }
            for first in run.players
        },
        machine=f"{platform.machine()}, {plural(usable_cores(), 'core')}",
    )


def format_of(board: Leaderboard) -> str:
    """A leaderboard as JSON, the inverse of ``Leaderboard.parse``."""
    return json.dumps({"format": FORMAT, **asdict(board)}, indent=1) + "\n"


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
    again, differ, games = board_of(run, board.field), Counter(), Counter()
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
