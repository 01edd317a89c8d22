"""Search for games in which an agent gives away a win or a draw: c4 refute SPEC.

From each opening and with each colour, the command searches all moves of the opponent and asks the
agent for its answers. Exact scores guide the search. If exact play wins or draws and the search
finds no line in which the agent gets less, the agent holds the opening. The table calls a result
proven if the search completed all lines, and did not stop at the limit of --positions.
"""

from __future__ import annotations

import argparse

from c4env.evaluation.cli.declare import (
    AGENT,
    add_format,
    add_openings,
    add_options,
    add_quiet,
    keywords,
)
from c4env.evaluation.cli.output import Progress, show
from c4env.system import usable_cores


def configure(parser: argparse.ArgumentParser) -> None:
    from c4env.evaluation.exact.refute import refute

    parser.add_argument("agent", metavar="SPEC", help=f"the agent: {AGENT}")
    add_openings(parser, "2, 25 openings")
    add_options(parser, refute, "positions out limit seed jobs", jobs=usable_cores())
    add_quiet(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.exact.refute import refute
    from c4env.evaluation.runs.players import split_name

    name, spec = split_name(arguments.agent)
    with Progress("openings", arguments.quiet) as progress:
        refutation = refute({name: spec}, **keywords(arguments, refute), watch=progress.watch)
    show(refutation, arguments)
