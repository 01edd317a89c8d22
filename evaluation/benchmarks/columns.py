"""What all columns of a position cost, beside its own score and beside ``bitbully`` from PyPI.

    c4 bench columns [FILE ...] [--count N] [--alone]

A file holds lines ``<moves, 1-based columns> <score>``; without one, random positions of 30,
20 and 12 plies are taken. Every call starts with an empty transposition table and no
opening book, one thread; times are processor time of the process, a position a call. What
is measured: the position's score; ``best_columns``; ``bounds``, which finds the score of the
columns that it can in about twice the time of the first (``exact``: how many); the
scores of all columns, by ``scores`` and by the peer, and the ratio of the two.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from agents.solver import Solver
from c4env.position import Position, parse_moves
from evaluation.benchmarks.solver import Sample, chosen_sets, load_peer, random_set, sets_parser

WAYS: Final = ("best_columns", "bounds", "scores")  # methods of Solver, beside its score


class Row(NamedTuple):
    """One set of positions; times in milliseconds a position."""

    name: str
    positions: int
    score: float
    """Our time for the position's own score."""
    ways: dict[str, float]
    """Our time by method."""
    exact: float
    """The part of the columns that ``bounds`` found the score of."""
    peer: float | None
    """The peer's time for the scores of all columns."""
    wrong: int
    """Columns whose score is not the peer's, or not within our bounds."""


def run(sets: dict[str, Sequence[Sample]], peer: Any) -> Iterable[Row]:
    """Measure each set in turn; ``peer`` is the peer's module, or None."""
    solver = Solver(book=None)
    # Compile, and touch the table's memory, before anything is measured.
    solver.scores_many([Position.parse(row.moves) for row in random_set(20, 200, 1)], threads=1)
    theirs = peer.BitBullyCore() if peer else None
    for name, rows in sets.items():
        spent = dict.fromkeys(("score", *WAYS, "peer"), 0.0)
        columns = exact = wrong = 0
        for row in rows:
            position = Position.parse(row.moves)

            def timed(way: str, call: Callable[[Any], Any], argument: Any) -> Any:
                begun = time.process_time()
                found = call(argument)
                spent[way] += time.process_time() - begun  # noqa: B023  # called at once
                return found

            solver.score(position)  # brings code and memory near for all ways alike
            found = {}
            for way in ("score", *WAYS):
                solver.clear()
                found[way] = timed(way, getattr(solver, way), position)
            open_columns = position.legal_columns()
            for column in open_columns:
                lowest, highest = found["bounds"][column]
                columns += 1
                exact += lowest == highest
                wrong += not lowest <= found["scores"][column] <= highest
            if peer and theirs:
                board = peer.BoardCore()
                board.play(list(parse_moves(row.moves)))
                theirs.resetTranspositionTable()
                scores = timed("peer", theirs.scoreMoves, board)
                wrong += sum(scores[column] != found["scores"][column] for column in open_columns)
        ms = {way: 1000 * seconds / len(rows) for way, seconds in spent.items()}
        yield Row(
            name,
            len(rows),
            ms["score"],
            {way: ms[way] for way in WAYS},
            exact / max(columns, 1),
            ms["peer"] if peer else None,
            wrong,
        )


def table(rows: Iterable[Row]) -> Iterable[str]:
    """Lines of a table, a row as soon as it is measured."""
    yield (
        f"{'set':14}{'positions':>10}{'score ms':>11}"
        + "".join(f"{way + ' ms':>16}{'/score':>8}" for way in WAYS)
        + f"{'exact':>7}{'bitbully ms':>13}{'ratio':>7}{'wrong':>7}"
    )
    for row in rows:
        ways = "".join(f"{row.ways[way]:16.4f}{row.ways[way] / row.score:8.2f}" for way in WAYS)
        peer = (
            f"{'-':>13}{'-':>7}"
            if row.peer is None
            else f"{row.peer:13.4f}{row.ways['scores'] / row.peer:7.3f}"
        )
        yield (
            f"{row.name:14}{row.positions:10}{row.score:11.4f}{ways}{row.exact:7.0%}{peer}"
            f"{row.wrong:7}"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns 1 when something was wrong."""
    options = sets_parser("c4 bench columns").parse_args(argv)
    sets = chosen_sets(options)
    peer = None if options.alone else load_peer()
    wrong = 0

    def counted(rows: Iterable[Row]) -> Iterable[Row]:
        nonlocal wrong
        for row in rows:
            wrong += row.wrong
            yield row

    for line in table(counted(run(sets, peer))):
        print(line, flush=True)
    return 1 if wrong else 0
