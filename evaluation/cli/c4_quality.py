"""Judge moves, or heuristics without a search, by exact scores.

  c4 quality SOURCE                          games of a run, or files of games
  c4 quality SPEC ... --on SET ...           answers of agents to positions
  c4 quality --heuristics ... --on SET ...   how well heuristics order positions

A SET is `exam` (critical positions that come with the package), `fresh:SEED` (an exam of the same
kind that nobody has seen, made in a minute or two), a file with lines of `moves score`, or
begin-easy, begin-medium, begin-hard, middle-easy, middle-medium or end-easy (made from the seed).

SOURCE is what `c4 report` reads: a directory of `c4 run --out`, a text with one game per line
(`first second moves`), .csv, .json, an episode of Kaggle's ConnectX, a log of SPIN-Bench or
TextArena, a state of OpenSpiel, or a folder of these files.

The command finds the exact score of every column on all cores. The scores are
stored in scores.jsonl, in the run's directory or in --out. Run the same command again to resume an
interrupted run.

Columns:
  accuracy     share of the critical moves that keep the win or the draw
  optimal      share of the moves with the best score
  giving_away  share of the moves with a worse result (win, draw or loss) than
               the best column
  loss         mean of the best score minus the move's score
  critical     number of moves at which some column keeps a win or a draw and
               another column gives it away
  forced       number of moves with only one legal column; other columns leave
               these moves out

For heuristics the table has the rank correlation between value and exact score, and how often the
value's sign is right. Neither number says how strong a search with the heuristic is. For example, a
tuned heuristic had the right sign 14 points more often, and its search gained 37 Elo (-5 .. +82).
NAME is a heuristic of the zoo or module:function. Without NAME the table has all heuristics of the
zoo.
"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from c4env.evaluation.cli.declare import (
    AGENT,
    add_format,
    add_names,
    add_options,
    add_quiet,
    keywords,
    refuse,
)
from c4env.evaluation.cli.output import Progress, judged, show

if TYPE_CHECKING:
    from c4env.evaluation.exact.heuristic_quality import HeuristicTable
    from c4env.evaluation.exact.moves import Quality


def configure(parser: argparse.ArgumentParser) -> None:
    from c4env.evaluation.exact.quality import quality

    parser.add_argument("what", nargs="*", metavar="SOURCE|SPEC", help=f"games, or agents: {AGENT}")
    add_names(parser)
    parser.add_argument("--heuristics", nargs="*", metavar="NAME", help="judge heuristics")
    parser.add_argument("--on", nargs="+", metavar="SET", help="sets of labelled positions")
    add_options(parser, quality, "count out seed jobs")
    add_quiet(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.errors import InvalidOption

    if arguments.heuristics is not None:
        show(_of_heuristics(arguments), arguments)
        return
    if not arguments.what:
        raise InvalidOption("expected games, agents, or --heuristics")
    if arguments.on:
        refuse(arguments, ["names"], "with --on")
        quality = _of_answers(arguments)
    elif len(arguments.what) > 1:
        raise InvalidOption(
            f"{' '.join(arguments.what)}: expected one run, file or folder of games, or agents "
            "with --on and a set of positions"
        )
    else:
        refuse(arguments, ["count"], "without --on and a set of positions")
        quality = _of_games(arguments)
    show(quality, arguments)


def _of_games(arguments: argparse.Namespace) -> Quality:
    from c4env.errors import InvalidOption
    from c4env.evaluation.exact.moves import Quality
    from c4env.evaluation.records.run_folder import GAMES_FILE
    from c4env.evaluation.results.match import read_games

    source, folder = Path(arguments.what[0]), arguments.out
    if not source.exists():
        raise InvalidOption(
            f"{source} does not exist: expected a file or folder of games; to ask an agent, add "
            "--on and a set of positions"
        )
    if (source / GAMES_FILE).exists():
        refuse(arguments, ["out"], "with a run, which keeps its scores itself")
        folder = source
    games = read_games(source, arguments.names).games
    with judged(folder, games, arguments.quiet, jobs=arguments.jobs) as judge:
        return Quality.of_games(games, judge, seed=arguments.seed or 0)


def _of_answers(arguments: argparse.Namespace) -> Quality:
    from c4env.evaluation.exact.quality import quality

    quiet = arguments.quiet
    with contextlib.ExitStack() as stack:
        units = "portions", "positions", "answers"
        bars = {unit: stack.enter_context(Progress(unit, quiet)) for unit in units}
        return quality(
            arguments.what,
            **keywords(arguments, quality),
            watch=lambda what, done, total: bars[what].watch(done, total),
        )


def _of_heuristics(arguments: argparse.Namespace) -> HeuristicTable:
    from c4env.agents.heuristics.heuristic import HEURISTICS, Heuristic
    from c4env.errors import InvalidOption
    from c4env.evaluation.exact.heuristic_quality import compare_heuristics
    from c4env.evaluation.exact.position_sets import positions_of_sets

    if arguments.what or not arguments.on:
        raise InvalidOption("--heuristics: expected --on and a set of positions, and no agents")
    refuse(arguments, ["out", "names"], "with --heuristics")
    names = arguments.heuristics or list(HEURISTICS)
    for name in names:
        Heuristic.of(name)  # report a wrong name before making the sets
    seed = arguments.seed or 0
    positions = positions_of_sets(arguments.on, arguments.count, seed, arguments.jobs)
    with Progress("heuristics", arguments.quiet) as progress:
        return compare_heuristics(names, positions, seed, progress.watch)
