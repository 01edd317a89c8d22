"""Build or verify the opening book: python -m tests.makers book build FILE, book verify.

`build` scores every mirror-reduced position of so many discs by search on all cores, in about an
hour for 8 plies, and verifies the book before it writes it. `verify` checks a book against known
facts and computes a random sample of it again.
"""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from c4env.agents.solver import enumeration
from c4env.agents.solver.book import SHIPPED_PLIES, Book, shipped_book
from c4env.agents.solver.solver import Solver
from c4env.bitboard import COLUMNS
from c4env.errors import C4Error, InvalidOption
from c4env.evaluation.cli.declare import at_least
from c4env.evaluation.cli.output import Progress, say
from c4env.files import require_file
from c4env.position import Position

PORTION: Final = 128  # positions between two reports

# What is known of 8 plies: wins, draws and losses of the first player among the positions in
# which neither side wins with the next disc (the UCI Connect-4 data set), and the
# score of each first column.
EIGHT_PLY_RESULTS: Final = (44473, 6449, 16635)
FIRST_COLUMNS: Final = (-2, -1, 0, 1, 0, -1, -2)


class BookMismatch(C4Error):
    """A book whose scores are not all right."""


def build(
    path: str | os.PathLike[str],
    *,
    plies: int = SHIPPED_PLIES,
    jobs: int | None = None,
    sample: int = 100,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Book:
    """Make the book of all positions of so many discs, check it, and write it.

    Raises:
        BookMismatch: the scores found cannot be right; no book is written.
        InvalidOption: ``plies`` is not 1..8.
    """
    if not 1 <= plies <= SHIPPED_PLIES:
        raise InvalidOption(f"plies={plies!r}: expected 1..{SHIPPED_PLIES}")
    solver = Solver(book=None)
    mine, theirs = enumeration.bitboards(enumeration.layers(plies)[plies])
    scores = np.empty(len(mine), dtype=np.int8)
    for start in range(0, len(mine), PORTION):
        some = slice(start, start + PORTION)
        scores[some] = solver.scores_many(mine[some], theirs[some], threads=jobs)
        progress(min(start + PORTION, len(mine)), len(mine))
    book = Book(scores, plies, os.fspath(path))
    verify(book, sample, jobs=jobs)
    book.write(path)
    return book


def verify(book: Book, sample: int = 100, *, jobs: int | None = None, seed: int = 1) -> int:
    """Check a book against known facts, and a random sample of it against our own search.

    Returns how many scores were computed again; :class:`BookMismatch` names what is wrong.
    """
    empty = Position()
    if book.score(empty) != max(FIRST_COLUMNS):
        raise BookMismatch(f"{book!r}: the empty board scores {book.score(empty)}, not 1")
    if book.plies >= 1:
        columns = tuple(-(book.score(empty.play(column)) or 0) for column in range(COLUMNS))
        if columns != FIRST_COLUMNS:
            raise BookMismatch(f"{book!r}: the first columns score {columns}")
    mine, theirs = enumeration.bitboards(book.keys)
    if book.plies == SHIPPED_PLIES:
        quiet = book.scores[enumeration.without_immediate_win(mine, theirs)]
        results = (int((quiet > 0).sum()), int((quiet == 0).sum()), int((quiet < 0).sum()))
        if results != EIGHT_PLY_RESULTS:
            raise BookMismatch(f"{book!r}: {results} wins, draws and losses")
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(len(mine), min(sample, len(mine)), replace=False))
    found = Solver(book=None).scores_many(mine[chosen], theirs[chosen], threads=jobs)
    for index, score in zip(chosen.tolist(), found.tolist(), strict=True):
        if score != book.scores[index]:
            position = Position.from_bitboards(int(mine[index]), int(theirs[index]))
            raise BookMismatch(
                f"{book!r}: {position!r} has the score {book.scores[index]}, search finds {score}"
            )
    return len(chosen)


# -- the command ------------------------------------------------------------------


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("build", "verify"), metavar="ACTION", help="build, verify"
    )
    parser.add_argument(
        "file", type=Path, nargs="?", metavar="FILE", help="verify: the one shipped, if not given"
    )
    parser.add_argument("--plies", type=int, default=SHIPPED_PLIES, help="build: discs (default 8)")
    parser.add_argument(
        "--jobs", type=at_least(1), metavar="N", help="threads (default: all cores)"
    )
    parser.add_argument(
        "--sample",
        type=at_least(1),
        default=100,
        metavar="N",
        help="scores computed again (default 100)",
    )


def execute(arguments: argparse.Namespace) -> None:
    if arguments.action == "verify":
        book = shipped_book() if arguments.file is None else Book.read(arguments.file)
        checked = verify(book, arguments.sample, jobs=arguments.jobs)
        say(f"{book!r} is right; {checked} scores computed again")
        return
    file = arguments.file or Path()
    require_file(file, makes=False)
    with Progress("positions") as progress:
        given = {name: getattr(arguments, name) for name in ("plies", "jobs", "sample")}
        book = build(file, **given, progress=progress.watch)
    say(f"{book!r} written to {file}")
