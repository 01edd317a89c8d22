"""Build or verify the exam: python -m tests.makers exam build FILE, exam verify.

`build` chooses its positions again, from games that it plays: the same file, byte for byte, for
any number of jobs. `verify` finds the exact score of every column again, without an opening book.

The exam itself is read by ``c4env.agents.solver.exam``; its recipe is
``c4env.evaluation.exact.make_exam``.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from c4env.agents.solver import Solver
from c4env.agents.solver.exam import SHA256, VERSION, ScoredPosition, exam
from c4env.errors import InvalidOption
from c4env.evaluation.cli.declare import add_options, add_quiet, at_least
from c4env.evaluation.cli.output import Progress, say
from c4env.evaluation.exact.make_exam import GAMES, build, format_exam
from c4env.evaluation.runs.run import Settings
from c4env.files import require_file, write_whole
from c4env.system import usable_cores


def verify(
    questions: Sequence[ScoredPosition], watch: Callable[[int, int], None] | None = None
) -> None:
    """Find the exact scores of all columns again, by search alone; an error names a wrong one."""
    solver = Solver(book=None)
    for done, question in enumerate(questions, 1):
        scores = tuple(solver.scores(question.position))
        known = [score for score in scores if score is not None]
        if scores != question.scores or np.sign(min(known)) == np.sign(max(known)):
            raise InvalidOption(f"{question.moves}: {question.scores}: the scores are {scores}")
        if watch is not None:
            watch(done, len(questions))


# -- the command ------------------------------------------------------------------


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("build", "verify"), metavar="ACTION", help="build or verify"
    )
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="build: what to write")
    parser.add_argument(
        "--count",
        type=at_least(1),
        metavar="N",
        help="verify: the first N positions (default: all)",
    )
    parser.add_argument(
        "--games", type=at_least(1), metavar="N", help="build: another exam, from so many games"
    )
    add_options(parser, Settings, "jobs", jobs=usable_cores())
    add_quiet(parser)


def execute(arguments: argparse.Namespace) -> None:
    if arguments.action == "verify":
        with Progress("positions", arguments.quiet) as progress:
            verify(exam()[: arguments.count], progress.watch)
        checked = len(exam()[: arguments.count])
        say(f"exam {VERSION} (sha256 {SHA256}): {checked} positions verified")
        return
    file = arguments.file or Path()
    require_file(file, makes=False)
    with Progress("portions", arguments.quiet) as progress:
        games = arguments.games or GAMES
        found = build((VERSION,), games, jobs=arguments.jobs, watch=progress.watch)
    write_whole(file, format_exam(found))
    say(f"{len(found)} positions in {file}")
