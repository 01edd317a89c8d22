"""What all columns of a position cost, beside its own score and beside ``bitbully`` from PyPI.

    c4 bench columns [FILE ...] [--count N] [--alone]

A file holds lines ``<moves, 1-based columns> <score>``; without one, random positions of 30,
20 and 12 plies are taken. Every call starts with an empty transposition table and no
opening book, one thread; times are processor time of the process, a position a call. What
is measured: the position's score; ``best_columns``; ``bounds``, which finds the score of the
columns that it can in about twice the time of the first (``exact``: how many); the
scores of all columns, by ``scores`` and by the peer, and the ratio of the two. ``least`` is what
those scores would cost, in nodes to those of the position's own, if they were known and had only to
be proved: that each column's is as great, and no greater.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from agents.solver import Solver
from c4env.position import Position
from evaluation.benchmarks.solver import (
    Sample,
    chosen_sets,
    load_peer,
    printed,
    random_set,
    sets_parser,
    timed_peer,
)

WAYS: Final = ("best_columns", "bounds", "scores")  # methods of Solver, beside its score


class Row(NamedTuple):
    """One set of positions; times in milliseconds a position."""

    name: str
    positions: int
    score: float
    """Our time for the position's own score."""
    ways: dict[str, float]
    """Our time by method."""
    least: float
    """Nodes that prove the columns' scores, known beforehand, over those of the position's."""
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
    for row in random_set(20, 200, 1):
        for way in ("score", *WAYS):
            getattr(solver, way)(Position.parse(row.moves))
    for name, rows in sets.items():
        spent = dict.fromkeys(("score", *WAYS), 0.0)
        columns = exact = wrong = nodes = proof = 0
        scores = []
        for row in rows:
            position = Position.parse(row.moves)
            found = {}
            for way in spent:
                solver.clear()
                begun = time.process_time()
                found[way] = getattr(solver, way)(position)
                spent[way] += time.process_time() - begun
                nodes += solver.nodes if way == "score" else 0
            proof += _proof(solver, position, found["score"], found["scores"])
            scores.append(found["scores"])
            for score, bounds in zip(found["scores"], found["bounds"], strict=True):
                if score is not None:
                    columns += 1
                    exact += bounds[0] == bounds[1]
                    wrong += not bounds[0] <= score <= bounds[1]
        theirs = None
        if peer:  # after ours, since emptying its table empties the processor's caches too
            seconds, answers = timed_peer(
                peer, lambda solver, board: solver.scoreMoves(board), rows
            )
            theirs = 1000 * seconds / len(rows)
            for known, told in zip(scores, answers, strict=True):
                wrong += sum(s is not None and s != t for s, t in zip(known, told, strict=True))
        ms = {way: 1000 * seconds / len(rows) for way, seconds in spent.items()}
        score_ms = ms.pop("score")
        least = proof / max(nodes, 1)
        yield Row(name, len(rows), score_ms, ms, least, exact / max(columns, 1), theirs, wrong)


def _proof(solver: Solver, position: Position, score: int, columns: Sequence[int | None]) -> int:
    """Nodes that show that these are the scores of a position and its columns."""
    nodes = 0
    solver.clear()
    known = [(position, score)]
    known += [(position.play(c), -s) for c, s in enumerate(columns) if s is not None]
    for at, value in known:
        for asked in (value, value + 1):  # as great, and no greater
            solver.at_least(at, asked)
            nodes += solver.nodes
    return nodes


def table(rows: Iterable[Row]) -> Iterable[str]:
    """Lines of a table, a row as soon as it is measured."""
    yield (
        f"{'set':14}{'positions':>10}{'score ms':>11}"
        + "".join(f"{way + ' ms':>16}{'/score':>8}" for way in WAYS)
        + f"{'least':>8}{'exact':>7}{'bitbully ms':>13}{'ratio':>7}{'wrong':>7}"
    )
    for row in rows:
        ways = "".join(f"{row.ways[way]:16.4f}{row.ways[way] / row.score:8.2f}" for way in WAYS)
        peer = (
            f"{'-':>13}{'-':>7}"
            if row.peer is None
            else f"{row.peer:13.4f}{row.ways['scores'] / row.peer:7.3f}"
        )
        yield (
            f"{row.name:14}{row.positions:10}{row.score:11.4f}{ways}{row.least:8.2f}{row.exact:7.0%}"
            f"{peer}{row.wrong:7}"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns 1 when something was wrong."""
    options = sets_parser("c4 bench columns").parse_args(argv)
    sets = chosen_sets(options)
    peer = None if options.alone else load_peer()
    return printed(run(sets, peer), table)
