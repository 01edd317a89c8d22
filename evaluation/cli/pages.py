"""Show a command's run: the summary on stdout, the page and figures as files."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from c4env.evaluation.cli.output import reader_may_end, say, show

from .progress import judged

if TYPE_CHECKING:
    from ..games.tournament import Tournament
    from ..rating.ratings import Ratings


def show_run(
    run: Tournament,
    arguments: argparse.Namespace,
    before: int,
    anchor: tuple[str, float] | None = None,
) -> None:
    """Print a run's result, write its page, and name the folder of its games.

    Args:
        run: a run that was just played.
        arguments: the command's arguments.
        before: number of games that the directory had before the command.
        anchor: an agent and its fixed Elo, or None.
    """
    from ..report.summary import RunSummary

    summary = RunSummary.of(run, anchor)
    with reader_may_end():
        show(summary, arguments)
        if arguments.format == "text":
            if before:
                say(f"{before} of the games {'was' if before == 1 else 'were'} stored already")
            if arguments.out is not None:
                say(f"games in {arguments.out}; c4 report {arguments.out} shows all of them")
    if summary.ratings is not None:
        write_pages(arguments, run, summary.ratings, arguments.out)


def write_pages(
    arguments: argparse.Namespace, run: Tournament, ratings: Ratings, folder: str | Path | None
) -> None:
    """Write the page of ``--html`` and the figures of ``--plots``, if these options were given.

    Args:
        arguments: the command's arguments, with ``--no-scores`` and ``--quiet``.
        run: a run of at least one game.
        ratings: the ratings of its players.
        folder: the run directory, which keeps the exact scores; None keeps no scores.
    """
    plots = getattr(arguments, "plots", None)
    if not arguments.html and not plots:
        return
    from c4env.evaluation.store.files import write_file

    from ..report.models import conversations
    from ..report.page import contents, page
    from ..store.run_files import GAMES_FILE
    from ..store.transcripts import read_transcripts

    kept = None if folder is None else Path(folder)
    when = time.localtime(None if kept is None else (kept / GAMES_FILE).stat().st_mtime)
    date = time.strftime("%d %B %Y", when).lstrip("0")
    title = "run" if kept is None else kept.resolve().name
    talk = {} if kept is None else conversations(run.games, read_transcripts(kept))
    known = nullcontext() if arguments.no_scores else judged(kept, run.games, arguments.quiet)
    with known as judge:
        found = contents(run, ratings, judge, title, date, talk)
    if arguments.html:
        write_file(arguments.html, page(found))
        say(f"page in {arguments.html}", sys.stderr)
    if plots:
        from ..report.plots import run_figures, write_plots

        for path in write_plots(plots, run_figures(found)):
            say(f"figure in {path}", sys.stderr)
