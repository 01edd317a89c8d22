"""Build, verify or count an opening book of exact scores: c4 book build, verify, census.

`build` scores every mirror-reduced position of so many discs on all cores: by search, which takes
about an hour for 8 plies and goes on with the same command if it is killed, or with --from-12ply
from the 12-ply book of the package bitbully-databases (`pip install 'c4env[book]'`), in seconds.
`verify` checks a book against known facts and computes a random sample of it again. `census`
counts the positions won, drawn and lost under best play by ply, to be held against the counts
published with the strong solution: up to 8 plies from the book that ships, beyond it from the
12-ply book, in minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from c4env.evaluation.commands.options import at_least, file_to_build
from c4env.evaluation.commands.output import say
from c4env.evaluation.commands.progress import Progress


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("build", "verify", "census"),
        metavar="ACTION",
        help="build, verify or census",
    )
    parser.add_argument(
        "file", type=Path, nargs="?", metavar="FILE", help="verify: the one shipped, if not given"
    )
    parser.add_argument("--plies", type=int, default=8, help="build, census: discs (default 8)")
    parser.add_argument("--jobs", type=int, metavar="N", help="threads (default: all cores)")
    parser.add_argument("--from-12ply", action="store_true", help="build: without a search")
    parser.add_argument(
        "--sample", type=int, default=100, metavar="N", help="scores computed again (default 100)"
    )


def execute(arguments: argparse.Namespace) -> None:
    from c4env.agents.solver import Book
    from c4env.agents.solver.builder import build, by_search, by_twelve_ply_book, verify
    from c4env.evaluation.errors import InvalidRun

    at_least(arguments, 1, "jobs", "sample")
    if arguments.action == "census":
        from c4env.agents.solver.book.census import Census, census
        from c4env.evaluation.tables import Table

        if arguments.file is not None:
            raise InvalidRun(f"{arguments.file}: census reads no file")
        counts = [[*count, sum(count[1:4])] for count in census(arguments.plies)]
        say(Table([[*Census._fields, "all"], *counts], left=()).text())
        return
    if arguments.action == "verify":
        book = Book.open("default" if arguments.file is None else arguments.file)
        assert book is not None
        checked = verify(book, arguments.sample, jobs=arguments.jobs)
        say(f"{book!r} is right; {checked} scores computed again")
        return
    file = file_to_build(arguments.file)
    score = by_twelve_ply_book() if arguments.from_12ply else by_search(arguments.jobs)
    with Progress("positions") as progress:
        given = {name: getattr(arguments, name) for name in ("plies", "jobs", "sample")}
        book = build(file, score, **given, progress=progress.watch)
    say(f"{book!r} written to {file}")
