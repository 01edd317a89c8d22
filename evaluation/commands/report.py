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
    from evaluation.report.models import Models
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
    parser.add_argument(
        "--prices", type=Path, metavar="FILE",
        help='of language models, for a million tokens: {"MODEL": [ASKED, ANSWERED]}, as JSON',
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def execute(arguments: argparse.Namespace) -> int:
    """Print the table; write what was asked for."""
    from evaluation.games.match import Match
    from evaluation.games.tournament import notes_of
    from evaluation.plan.schedule import planned
    from evaluation.report.summary import FORMS, Findings
    from evaluation.store.record import digest, read_games
    from evaluation.strength.ratings import rate
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
    models = models_of(arguments, games)
    print(FORMS[arguments.format](Findings(table, digest(games), ratings, match, models)))
    if ratings is not None:
        write(arguments, header, games, ratings)
    return 0


def models_of(arguments: argparse.Namespace, games: list[GameRecord]) -> Models | None:
    """What is known of the language models of a run, if there are any.

    Raises:
        InvalidRun: bad prices, or prices where nothing was paid.
    """
    from evaluation.report.models import Models, model_rows, read_prices, turns_of
    from evaluation.store.transcripts import read_transcripts
    from evaluation.truth.judge import Judge
    from evaluation.truth.quality import Quality, judge_games

    prices = None if arguments.prices is None else read_prices(arguments.prices)
    rows = model_rows(games, read_transcripts(arguments.folder), prices)
    if not rows:
        if prices is not None:
            raise InvalidRun(
                f"--prices: no language model has finished a game in {arguments.folder}"
            )
        return None
    names = [row.player for row in rows]
    turns = turns_of(games, names)
    if arguments.no_scores or not turns:
        return Models(rows)
    with Judge(arguments.folder) as judge:
        with run.Progress("positions", arguments.quiet) as progress:
            judge.judge(turns, watch=progress.watch)
        moves = tuple(judge_games(games, judge, names))
    return Models(rows, Quality(moves, tuple(names)))


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
    from evaluation.report.models import conversations
    from evaluation.report.page import contents, page
    from evaluation.store.files import write_file
    from evaluation.store.transcripts import read_transcripts
    from evaluation.truth.judge import Judge, positions_backwards

    title = arguments.folder.resolve().name
    notes = notes_of(header)
    talk = conversations(games, read_transcripts(arguments.folder))
    if arguments.no_scores:
        found = contents(header, games, ratings, None, notes, title, talk)
    else:
        with Judge(arguments.folder) as judge:
            with run.Progress("positions", arguments.quiet) as progress:
                judge.judge(positions_backwards(games), watch=progress.watch)
            found = contents(header, games, ratings, judge, notes, title, talk)
    if arguments.html:
        write_file(arguments.html, page(found))
        print(f"page in {arguments.html}", file=sys.stderr)
    if arguments.plots:
        from evaluation.report.plots import write_plots

        for path in write_plots(arguments.plots, found):
            print(f"figure in {path}", file=sys.stderr)
