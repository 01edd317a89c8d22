"""Play two agents against each other: score, Elo difference, and who is stronger.

Before it begins, the command says what difference so many openings can show. With --sprt 0,40 the
match stops as soon as a sequential test has decided whether A is 0 Elo (H0) or 40 Elo (H1) stronger
than B. The test counts pairs of games. A pair is two games from the same opening, with the colours
swapped.
"""

from __future__ import annotations

import argparse
from typing import Final

from c4env.evaluation.cli.declare import (
    AGENT,
    add_html,
    add_options,
    add_run,
    keywords,
    refuse,
    run_settings,
)
from c4env.evaluation.cli.output import MatchProgress, show_run
from c4env.evaluation.ratings.sprt import Sprt

SPRT_OPENINGS: Final = 4
"""4 plies give 568 openings; the 121 openings of 3 plies seldom decide between 0 and 40 Elo."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("one", metavar="A", help=f"the agent whose score is shown: {AGENT}")
    parser.add_argument("other", metavar="B", help="the opponent of A")
    parser.add_argument(
        "--sprt", metavar="H0,H1",
        help="stop when a test accepts one of two Elo differences",
    )  # fmt: skip
    add_options(parser, Sprt, "alpha beta")
    add_run(parser, "3, 121 openings; with --sprt 4, 568 openings")
    add_html(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.results.match import play_match

    test = None
    if arguments.sprt is None:
        refuse(arguments, ["alpha", "beta"], "without --sprt")
    else:
        test = Sprt.parse(arguments.sprt, **keywords(arguments, Sprt))
        if arguments.openings is None:
            arguments.openings = SPRT_OPENINGS
    with MatchProgress(test, arguments.quiet) as progress:
        settings = run_settings(arguments, progress)
        match = play_match(
            arguments.one, arguments.other, sprt=test, on_pair=progress.on_pair, **settings
        )
    show_run(match, arguments, progress.before)
