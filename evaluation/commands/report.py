"""Print the win table of a run directory, finished or not, or of games that people played.

DIR is what `c4 run --out` or `c4 play --record` wrote. --html writes one page with tables,
figures and every game to be replayed beside the exact score of each column; the scores
are found first, on all cores, and kept in DIR/scores.jsonl.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.commands import run
from evaluation.errors import InvalidRun

if TYPE_CHECKING:
    from evaluation.store.record import GameRecord
    from evaluation.strength.ratings import Ratings


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="DIR")
    run.configure_format(parser)
    run.configure_anchor(parser)
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write the run as one page that needs no network"
    )
    parser.add_argument(
        "--plots", type=Path, metavar="DIR", help="write the figures as PNG and SVG (c4env[plots])"
    )
    parser.add_argument(
        "--games", type=Path, metavar="FILE", help="write one line a game, as .csv or .json"
    )
    parser.add_argument(
        "--no-scores", action="store_true", help="leave out what needs exact scores: quicker"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def execute(arguments: argparse.Namespace) -> int:
    """Print the table; write what was asked for."""
    from evaluation.games.match import Match
    from evaluation.games.tournament import notes_of
    from evaluation.plan.schedule import planned
    from evaluation.report.summary import FORMS, Findings
    from evaluation.store.record import digest, read_games
    from evaluation.strength.lotteries import standing
    from evaluation.strength.ratings import Tally, rate
    from evaluation.strength.wintable import WinTable

    header, games, _ = read_games(arguments.folder)
    if not games and (arguments.html or arguments.plots):
        raise InvalidRun(f"{arguments.folder} has no games yet: expected at least one to show")
    notes = notes_of(header)
    if "openings" in header and "sprt" not in header and len(games) < len(planned(header)):
        done = f"{len(games)} of {len(planned(header))} games"
        notes = (*notes, f"unfinished: {done}; the same command goes on")
    table = WinTable.of(games, list(header.get("players", ())), notes)
    ratings = None
    if games:
        known = header.get("deterministic", ())
        anchor = run.anchor(arguments, table.players)
        ratings = rate(games, table.players, deterministic=known, anchor=anchor)
    match = Match.read(header, games) if games and "sprt" in header else None
    found = None
    if ratings is not None and len(table.players) > 2 and table.complete:
        found = standing(Tally.of(games, table.players), ratings.exact)
    print(FORMS[arguments.format](Findings(table, digest(games), ratings, match, found)))
    if ratings is not None:
        write(arguments, header, games, ratings)
    return 0


def write(
    arguments: argparse.Namespace,
    header: dict[str, Any],
    games: list[GameRecord],
    ratings: Ratings,
) -> None:
    """Write the page, the figures and the list of games that were asked for."""
    if arguments.games:
        from evaluation.store.export import write_games

        write_games(arguments.games, games)
        print(f"{len(games)} games in {arguments.games}", file=sys.stderr)
    if not arguments.html and not arguments.plots:
        return
    from evaluation.games.tournament import notes_of
    from evaluation.report.page import contents, page
    from evaluation.store.files import write_file
    from evaluation.truth.judge import Judge, positions_backwards

    title = arguments.folder.resolve().name
    notes = notes_of(header)
    if arguments.no_scores:
        found = contents(header, games, ratings, None, notes, title)
    else:
        with Judge(arguments.folder) as judge:
            with run.Progress("positions", arguments.quiet) as progress:
                judge.judge(positions_backwards(games), watch=progress.watch)
            found = contents(header, games, ratings, judge, notes, title)
    if arguments.html:
        write_file(arguments.html, page(found))
        print(f"page in {arguments.html}", file=sys.stderr)
    if arguments.plots:
        from evaluation.report.plots import write_plots

        for path in write_plots(arguments.plots, found):
            print(f"figure in {path}", file=sys.stderr)
