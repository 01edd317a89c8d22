"""Print the tables of a run, of games that people played, or of games from other programs.

SOURCE is a directory that `c4 run --out` or `c4 play --record` wrote (the run may be unfinished),
or a file or folder of games from other programs: a text with one game per line (`first second
moves`, columns 1-7), .csv or .json of --games, an episode of Kaggle's ConnectX, a log of SPIN-Bench
or TextArena, a state of OpenSpiel.

--html writes one page with tables, figures and every game with the exact score of each column. The
command first computes these scores on all cores, and stores them in scores.jsonl, in the directory
or in --out.

If SOURCE has the strength.jsonl of a training, the table is the curve of the training, and --plots
draws the curve.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from c4env.errors import InvalidOption
from c4env.evaluation.cli.declare import (
    add_anchor,
    add_board,
    add_format,
    add_html,
    add_names,
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
    from c4env.evaluation.records.game import GameRecord


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="SOURCE", help="a run, or games in files")
    add_names(parser)
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
        help="show where this agent loses, and which mistakes to fix first",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="DIR",
        help="keep the exact scores in DIR, for games from other programs",
    )  # fmt: skip
    add_quiet(parser)


def execute(arguments: argparse.Namespace) -> None:
    if not arguments.html:
        refuse(arguments, ["no_scores"], "without --html")
        if not arguments.agent:
            refuse(arguments, ["out"], "without --html or --agent")
    from c4env.evaluation.records.game import require_format, write_games
    from c4env.evaluation.records.run_folder import GAMES_FILE
    from c4env.evaluation.results.match import Match, read_games

    source = arguments.source
    if arguments.games:
        require_format(arguments.games)
    is_run = (source / GAMES_FILE).exists()
    if IS_STANDARD and not is_run:
        from c4env.evaluation.results.training_curve import FILE

        if (source / FILE).exists():
            show_curve(arguments)
            return
    if is_run:
        refuse(arguments, ["out"], "with a run, which keeps its scores itself")
    run = read_games(source, arguments.names)
    folder = source if is_run else arguments.out
    games = run.games
    if not games and any((arguments.html, arguments.plots, arguments.games, arguments.agent)):
        raise InvalidOption(f"{source} has no games yet: expected at least one")
    if isinstance(run, Match) and not (arguments.html or arguments.plots):
        refuse(arguments, ["anchor"], "with the table of a match")
    run = replace(run, anchor=anchor_of(arguments, run.players))
    with reader_may_end():
        by_agent = arguments.agent is not None
        show(mistakes_of(arguments, games, folder) if by_agent else run, arguments)
    if arguments.games:
        write_games(arguments.games, games)
        say(f"{plural(len(games), 'game')} in {arguments.games}", sys.stderr)
    write_pages(arguments, run, folder, source)


def show_curve(arguments: argparse.Namespace) -> None:
    """Print the curve of a training, and draw it."""
    from c4env.evaluation.results.training_curve import read_curve

    options = ["html", "games", "agent", "anchor", "names", "out"]
    refuse(arguments, options, "with the curve of a training")
    curve = read_curve(arguments.source)
    if arguments.plots and not curve.rows:
        raise InvalidOption(f"{arguments.source} has no measurements yet: expected at least one")
    show(curve, arguments)
    if arguments.plots:
        from c4env.evaluation.report.plots import training_figures, write_plots

        title = arguments.source.resolve().name
        for path in write_plots(arguments.plots, training_figures(title, curve.rows)):
            say(f"figure in {path}", sys.stderr)


def mistakes_of(
    arguments: argparse.Namespace, games: Sequence[GameRecord], folder: Path | None
) -> Mistakes:
    """Find where an agent loses, and its costliest moves."""
    from c4env.evaluation.exact.mistakes import Mistakes

    agents_games = [game for game in games if arguments.agent in game.players]
    with judged(folder, agents_games, arguments.quiet) as judge:
        return Mistakes.of(games, arguments.agent, judge)
