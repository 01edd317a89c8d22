"""Print the tables of a run directory, finished or not, or of games that people played.

DIR is a directory that `c4 run --out` or `c4 play --record` wrote. --html writes one page with
tables, figures and every game with the exact score of each column. The command first computes these
scores on all cores and keeps them in DIR/scores.jsonl.

If DIR has the strength.jsonl of a training, the table is its curve, and --plots draws it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from c4env.errors import InvalidOption
from c4env.evaluation.cli.declare import (
    add_anchor,
    add_board,
    add_format,
    add_html,
    add_quiet,
    anchor_of,
    refuse,
    standard_only,
)
from c4env.evaluation.cli.output import judged, reader_may_end, say, show, write_pages
from c4env.evaluation.tables import plural
from c4env.geometry import IS_STANDARD

if TYPE_CHECKING:
    from c4env.evaluation.exact.mistakes import Mistakes
    from c4env.evaluation.store.run_files import GameRecord


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR")
    add_board(parser)
    add_format(parser)
    add_anchor(parser)
    add_html(parser)
    parser.add_argument(
        "--plots", type=standard_only(Path), metavar="DIR",
        help="write strength and win table, or the curve, as PNG, SVG and PDF (needs matplotlib)",
    )  # fmt: skip
    parser.add_argument(
        "--games", type=Path, metavar="FILE", help="write the games as .csv or .json"
    )
    parser.add_argument(
        "--agent", type=standard_only(str), metavar="NAME",
        help="show where this agent loses, and the moves to mend first",
    )  # fmt: skip
    add_quiet(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.report.summary import RunSummary
    from c4env.evaluation.store.run_files import GAMES_FILE, require_format, write_games
    from c4env.evaluation.studies.match import read_run

    if arguments.games:
        require_format(arguments.games)
    if IS_STANDARD and not (arguments.folder / GAMES_FILE).exists():
        from c4env.evaluation.studies.strength import FILE

        if (arguments.folder / FILE).exists():
            show_curve(arguments)
            return
    run = read_run(arguments.folder)
    games = run.games
    if not games and any((arguments.html, arguments.plots, arguments.games, arguments.agent)):
        raise InvalidOption(f"{arguments.folder} has no games yet: expected at least one")
    summary = RunSummary.of(run, anchor_of(arguments, run.players))
    with reader_may_end():
        show(summary if arguments.agent is None else mistakes_of(arguments, games), arguments)
    if arguments.games:
        write_games(arguments.games, games)
        say(f"{plural(len(games), 'game')} in {arguments.games}", sys.stderr)
    if summary.ratings is not None:
        write_pages(arguments, run, summary.ratings, arguments.folder)


def show_curve(arguments: argparse.Namespace) -> None:
    """Print the curve of a training, and draw it."""
    from c4env.evaluation.studies.strength import read_curve

    refuse(arguments, ["html", "games", "agent", "anchor"], "with the curve of a training")
    curve = read_curve(arguments.folder)
    if arguments.plots and not curve.rows:
        raise InvalidOption(f"{arguments.folder} has no measurements yet: expected at least one")
    show(curve, arguments)
    if arguments.plots:
        from c4env.evaluation.report.plots import training_figures, write_plots

        title = arguments.folder.resolve().name
        for path in write_plots(arguments.plots, training_figures(title, curve.rows)):
            say(f"figure in {path}", sys.stderr)


def mistakes_of(arguments: argparse.Namespace, games: Sequence[GameRecord]) -> Mistakes:
    """Find where an agent loses, and its costliest moves."""
    from c4env.evaluation.exact.mistakes import Mistakes

    agents_games = [game for game in games if arguments.agent in game.players]
    with judged(arguments.folder, agents_games, arguments.quiet) as judge:
        return Mistakes.of(games, arguments.agent, judge)
