"""How fast the exact solver is, beside ``bitbully`` from PyPI in the same process.

A file holds lines ``<moves, 1-based columns> <score>``; without one, random positions of 30,
20 and 12 plies are taken. Every position starts with an empty transposition table and no
opening book, one thread; times are processor time of the process, so that other work on the
machine counts less. The peer's boards are made, and its table is emptied, outside the time.
"""

import argparse
import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from c4env.agents.solver import Solver
from c4env.evaluation.cli.options import at_least
from c4env.evaluation.exact.questions import random_games, read_labelled
from c4env.lazy import from_extra
from c4env.position import Position, parse_moves
from tests.benchmarks.harness import show_as_measured, timed

T = TypeVar("T")

DRIVERS: Final[dict[str, Callable[[Any, Any], int]]] = {
    "mtdf": lambda solver, board: solver.mtdf(board, 0),
    "null_window": lambda solver, board: solver.nullWindow(board),
}
HEADING: Final = {
    **{"set": "", "positions": "", "nodes": ".1f", "ms": ".4f"},
    **{f"{driver} ms": ".4f" for driver in DRIVERS},
    **{"ratio": ".3f", "wrong": ""},
}


class Sample(NamedTuple):
    """A position by its moves, and its score if it is known."""

    moves: str
    score: int | None


def random_set(plies: int, count: int, seed: int) -> list[Sample]:
    """Positions that random play reaches and that are not over."""
    games = random_games(range(plies, plies + 1), np.random.default_rng(seed))
    return [Sample(moves, None) for moves in itertools.islice(games, count)]


def run(sets: dict[str, Sequence[Sample]], core: Any, repeats: int = 1) -> Iterable[list[Any]]:
    """A row of the table for each set; times are milliseconds a position.

    Args:
        sets: positions by the name of their set.
        core: the peer's module, or None.
        repeats: measure so often; the least time counts.

    Returns:
        Cells as in HEADING. ``ratio`` is our time over that of the peer's better driver; ``wrong``
        counts scores that are not the labelled one, or not the peer's.
    """
    solver = Solver(book=None)
    # Compile, and touch the table's memory, before anything is measured.
    solver.scores_many([Position.parse(row.moves) for row in random_set(20, 200, 1)], threads=1)
    for name, rows in sets.items():
        positions = [Position.parse(row.moves) for row in rows]
        ours, (scores, nodes) = timed(partial(score_each, solver, positions), repeats)
        wrong = sum(
            row.score is not None and row.score != score
            for row, score in zip(rows, scores.tolist(), strict=True)
        )
        peers = {}
        for driver, solve in DRIVERS.items() if core else ():
            tries = [timed_peer(core, solve, rows) for _ in range(repeats)]
            peers[driver] = 1000 * min(seconds for seconds, _ in tries) / len(rows)
            wrong += int((np.array(tries[-1][1]) != scores).sum())
        ms = 1000 * ours / len(rows)
        cells = [name, len(rows), nodes, ms]
        cells += [peers.get(driver) for driver in DRIVERS]
        yield [*cells, ms / min(peers.values()) if peers else None, wrong]


def score_each(solver: Solver, positions: Sequence[Position]) -> tuple[NDArray[np.int64], float]:
    """Score each position with an empty table; return the scores, and the nodes a position."""
    scores, nodes = np.empty(len(positions), np.int64), 0
    for i, position in enumerate(positions):
        solver.clear()
        scores[i] = solver.score(position)
        nodes += solver.nodes
    return scores, nodes / len(positions)


def timed_peer(
    core: Any, solve: Callable[[Any, Any], T], rows: Sequence[Sample]
) -> tuple[float, list[T]]:
    """Seconds of the peer, and its answers: ``solve`` takes its solver and a board."""
    solver = core.BitBullyCore()
    found = []
    for row in rows:
        board = core.BoardCore()
        board.play(list(parse_moves(row.moves)))
        solver.resetTranspositionTable()
        found.append(timed(partial(solve, solver, board)))
    return sum(seconds for seconds, _ in found), [answer for _, answer in found]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", type=Path, help="lines of moves and score")
    parser.add_argument(
        "--count", type=at_least(1), metavar="N", help="positions of each set, the last ones"
    )
    parser.add_argument("--alone", action="store_true", help="without bitbully")
    parser.add_argument(
        "--repeats", type=at_least(1), default=1, help="measure so often, take the least"
    )
    parser.add_argument("--empty", action="store_true", help="the empty board too (slow)")


def execute(arguments: argparse.Namespace) -> int:
    core = None
    if not arguments.alone:
        with from_extra("peers", "without --alone the peer is needed"):
            from bitbully import bitbully_core as core
    sets: dict[str, Sequence[Sample]] = {}
    for path in arguments.files:
        sets[path.stem] = [Sample(p.moves, p.score) for p in read_labelled(path)]
    if not sets:
        for plies, count in ((30, 500), (20, 200), (12, 30)):
            sets[f"random, {plies}"] = random_set(plies, count, plies)
    sets = {name: rows[-(arguments.count or 0) :] for name, rows in sets.items()}
    if arguments.empty:
        sets["empty board"] = [Sample("", 1)]
    return show_as_measured(HEADING, run(sets, core, arguments.repeats), arguments)
