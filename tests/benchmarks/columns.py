"""What all columns of a position cost, beside its own score and beside ``bitbully`` from PyPI.

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

import argparse
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

from c4env.agents.solver import Solver
from c4env.position import Position
from tests.benchmarks.harness import show_as_measured, timed
from tests.benchmarks.solver import (
    Sample,
    chosen_sets,
    configure_sets,
    load_peer,
    random_set,
    timed_peer,
)

WAYS: Final = ("best_columns", "bounds", "scores")  # methods of Solver, beside its score
HEADING: Final = {
    **{"set": "", "positions": "", "score ms": ".4f"},
    **{
        name: form for way in WAYS for name, form in ((f"{way} ms", ".4f"), (f"{way}/score", ".2f"))
    },
    **{"least": ".2f", "exact": ".0%", "bitbully ms": ".4f", "ratio": ".3f", "wrong": ""},
}


def run(sets: dict[str, Sequence[Sample]], core: Any) -> Iterable[list[Any]]:
    """A row of the table for each set; ``core`` is the peer's module, or None.

    Returns:
        Cells as in HEADING; times are milliseconds a position. ``wrong`` counts columns whose
        score is not the peer's, or not within our bounds.
    """
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
                seconds, found[way] = timed(partial(getattr(solver, way), position))
                spent[way] += seconds
                nodes += solver.nodes if way == "score" else 0
            proof += _proof(solver, position, found["score"], found["scores"])
            scores.append(found["scores"])
            for score, bounds in zip(found["scores"], found["bounds"], strict=True):
                if score is not None:
                    columns += 1
                    exact += bounds[0] == bounds[1]
                    wrong += not bounds[0] <= score <= bounds[1]
        theirs = None
        if core:  # after ours, since emptying its table empties the processor's caches too
            seconds, answers = timed_peer(
                core, lambda solver, board: solver.scoreMoves(board), rows
            )
            theirs = 1000 * seconds / len(rows)
            for known, told in zip(scores, answers, strict=True):
                wrong += sum(s is not None and s != t for s, t in zip(known, told, strict=True))
        ms = {way: 1000 * seconds / len(rows) for way, seconds in spent.items()}
        cells = [name, len(rows), ms["score"]]
        for way in WAYS:
            cells += [ms[way], ms[way] / ms["score"]]
        cells += [proof / max(nodes, 1), exact / max(columns, 1)]
        ratio = None if theirs is None else ms["scores"] / theirs
        yield [*cells, theirs, ratio, wrong]


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


configure = configure_sets


def execute(arguments: argparse.Namespace) -> int:
    rows = run(chosen_sets(arguments), load_peer(arguments))
    return show_as_measured(HEADING, rows, arguments)
