"""Build, verify or count an opening book of exact scores: book build, verify, census.

`build` scores every mirror-reduced position of so many discs on all cores: by search, which takes
about an hour for 8 plies and goes on with the same command if it is killed, or with --from-12ply
from the 12-ply book of the package bitbully-databases (`pip install 'c4env[book]'`), in seconds.
`verify` checks a book against known facts and computes a random sample of it again. `census`
counts the positions won, drawn and lost under best play by ply, to be held against the counts
published with the strong solution: up to 8 plies from the book that ships, beyond it from the
12-ply book, in minutes.

`build` takes up where it was stopped: scores go to ``<path>.part`` as they are found, in the order
of the positions, so what is missing is what follows. A finished book is verified before it is
written.
"""

from __future__ import annotations

import argparse
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from c4env.agents.solver.book import (
    DEFAULT_PLIES,
    Book,
    BookUnavailable,
    enumeration,
    twelve,
    twelve_ply_book,
)
from c4env.agents.solver.solver import Solver
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import COLUMNS
from c4env.errors import C4Error, InvalidOption
from c4env.evaluation.cli.options import at_least, file_to_build
from c4env.evaluation.cli.output import say
from c4env.evaluation.cli.progress import Progress
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.tables import Table
from c4env.position import Position

Scorer = Callable[[Int64s, Int64s], Int8s]  # [N] mine, [N] theirs -> [N] scores

PORTION: Final = 128  # positions between two writes
_PART: Final = struct.Struct("<8sB")
_PART_MAGIC: Final = b"C4PART1\n"

# What is known of 8 plies: wins, draws and losses of the first player among the positions in
# which neither side wins with the next disc (the UCI Connect-4 data set), and the
# score of each first column.
EIGHT_PLY_RESULTS: Final = (44473, 6449, 16635)
FIRST_COLUMNS: Final = (-2, -1, 0, 1, 0, -1, -2)


class BookMismatch(C4Error):
    """A book whose scores are not all right."""


def by_search(jobs: int | None = None) -> Scorer:
    """Scores by our own search, in ``jobs`` threads (all cores by default)."""
    solver = Solver(book=None)
    return lambda mine, theirs: solver.scores_many(mine, theirs, threads=jobs)


def by_twelve_ply_book() -> Scorer:
    """Scores by a short search into the 12-ply book of ``bitbully-databases``.

    Raises:
        BookUnavailable: that package is not installed.
    """
    codes, ends = twelve_ply_book().distances

    def score(mine: Int64s, theirs: Int64s) -> Int8s:
        out = np.empty(len(mine), dtype=np.int8)
        for i, (first, second) in enumerate(zip(mine.tolist(), theirs.tolist(), strict=True)):
            out[i] = twelve.resolve(codes, ends, first, second, (first | second).bit_count())
        if (out == twelve.UNKNOWN).any():
            raise BookUnavailable("the 12-ply book lacks a position")
        return out

    return score


def build(
    path: str | os.PathLike[str],
    score: Scorer | None = None,
    *,
    plies: int = DEFAULT_PLIES,
    jobs: int | None = None,
    sample: int = 100,
    progress: Callable[[int, int], None] | None = None,
) -> Book:
    """Make the book of all positions of ``plies`` discs, check it, and write it.

    Args:
        path: the file to write. While it is not finished, ``<path>.part`` holds what is
            done, and another call goes on from there.
        score: where scores come from: :func:`by_search` by default.
        plies: discs of the positions.
        jobs: threads of the search and the check; all cores by default.
        sample: random scores that :func:`verify` computes again.
        progress: called with the positions done and all of them, after each portion.

    Raises:
        BookMismatch: the scores found cannot be right; no book is written.
        BookUnavailable: ``<path>.part`` belongs to something else.
        InvalidOption: ``plies`` is not 1..12.
    """
    if not 1 <= plies <= twelve.PLIES:
        raise InvalidOption(f"plies={plies!r}: expected 1..{twelve.PLIES}")
    score = score or by_search(jobs)
    mine, theirs = enumeration.bitboards(enumeration.layers(plies)[plies])
    header = _PART.pack(_PART_MAGIC, plies)
    part = Path(f"{os.fspath(path)}.part")
    with part.open("a+b") as file:
        file.seek(0)
        data = file.read()
        if not data:
            file.write(header)
        elif not data.startswith(header) or len(data) > len(header) + len(mine):
            raise BookUnavailable(f"{part}: not the beginning of a book of {plies} plies")
        done = max(0, len(data) - len(header))
        while done < len(mine):
            stop = min(done + PORTION, len(mine))
            file.write(score(mine[done:stop], theirs[done:stop]).tobytes())
            file.flush()
            done = stop
            if progress:
                progress(done, len(mine))
    scores = np.frombuffer(part.read_bytes()[len(header) :], dtype=np.int8).copy()
    book = Book(scores, plies, os.fspath(path))
    verify(book, sample, jobs=jobs)
    book.write(path)
    part.unlink()
    return book


def verify(book: Book, sample: int = 100, *, jobs: int | None = None, seed: int = 1) -> int:
    """Check a book against known facts, and a random sample of it against our own search.

    Returns:
        how many scores were computed again.

    Raises:
        BookMismatch: something is wrong; the position is named.
    """
    empty = Position()
    if book.score(empty) != max(FIRST_COLUMNS):
        raise BookMismatch(f"{book!r}: the empty board scores {book.score(empty)}, not 1")
    if book.plies >= 1:
        columns = tuple(-(book.score(empty.play(column)) or 0) for column in range(COLUMNS))
        if columns != FIRST_COLUMNS:
            raise BookMismatch(f"{book!r}: the first columns score {columns}")
    mine, theirs = enumeration.bitboards(book.keys)
    if book.plies == DEFAULT_PLIES:
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
    at_least(arguments, 1, "jobs", "sample")
    if arguments.action == "census":
        from tests.makers.census import Census, census

        if arguments.file is not None:
            raise InvalidRun(f"{arguments.file}: census reads no file")
        counts = [[*count, sum(count[1:4])] for count in census(arguments.plies)]
        say(Table.of(dict.fromkeys((*Census._fields, "all"), ""), counts).text())
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
