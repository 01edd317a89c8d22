"""Build or verify the exam of `c4 quality SPEC --on exam`: c4 exam build FILE, c4 exam verify.

`build` chooses its positions again, from games that it plays: the same file, byte for byte, for
any number of jobs. `verify` finds the exact score of every column again, without an opening book.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from c4env.evaluation.commands.options import add_settings, at_least, file_to_build
from c4env.evaluation.commands.output import say
from c4env.evaluation.commands.progress import Progress


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("build", "verify"), metavar="ACTION", help="build or verify"
    )
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="build: what to write")
    parser.add_argument(
        "--count", type=int, metavar="N", help="verify: the first N positions (default: all)"
    )
    parser.add_argument(
        "--games", type=int, metavar="N", help="build: another exam, from so many games"
    )
    add_settings(parser, "jobs")


def execute(arguments: argparse.Namespace) -> None:
    from c4env.agents.solver.exam import SHA256, VERSION, exam, format_exam
    from c4env.evaluation.store.files import write_file
    from c4env.evaluation.truth.exam import GAMES, build, verify

    at_least(arguments, 1, "count", "games", "jobs")
    if arguments.action == "verify":
        with Progress("positions", arguments.quiet) as progress:
            verify(exam()[: arguments.count], progress.watch)
        checked = len(exam()[: arguments.count])
        say(f"exam {VERSION} (sha256 {SHA256}): {checked} positions verified")
        return
    file = file_to_build(arguments.file)
    with Progress("portions", arguments.quiet) as progress:
        found = build(arguments.games or GAMES, jobs=arguments.jobs, watch=progress.watch)
    write_file(file, format_exam(found))
    say(f"{len(found)} positions in {file}")
