"""How fast the exact solver is, beside ``bitbully`` from PyPI in the same process.

    c4 bench solver [FILE ...] [--count N] [--empty] [--alone]

A file holds lines ``<moves, 1-based columns> <score>``; without one, random positions of 30,
20 and 12 plies are taken. Every position starts with an empty transposition table and no
opening book, one thread; times are processor time of the process, so that other work on the
machine counts less. The peer's boards are made, and its table is emptied, outside the time.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from agents.solver import Solver
from c4env.errors import MissingExtra
from c4env.position import Position, format_moves, parse_moves
from evaluation.commands.usage import Parser
from evaluation.errors import InvalidRun
from evaluation.truth.labelled import read_labelled

DRIVERS: Final[dict[str, Callable[[Any, Any], int]]] = {
    "mtdf": lambda solver, board: solver.mtdf(board, 0),
    "null_window": lambda solver, board: solver.nullWindow(board),
}


T = TypeVar("T")


class Sample(NamedTuple):
    """A position by its moves, and its score if it is known."""

    moves: str
    score: int | None


class Row(NamedTuple):
    """One set of positions; times in milliseconds a position."""

    name: str
    positions: int
    nodes: float
    """Positions searched by our solver, a position."""
    ours: float
    peers: dict[str, float]
    """By driver; empty without the peer."""
    wrong: int
    """Scores that are not the labelled one, or not the peer's."""

    @property
    def ratio(self) -> float | None:
        """Our time over that of the peer's better driver."""
        return self.ours / min(self.peers.values()) if self.peers else None


def random_set(plies: int, count: int, seed: int) -> list[Sample]:
    """Positions that random play reaches and that are not over."""
    rng = random.Random(seed)
    rows: list[Sample] = []
    while len(rows) < count:
        position, columns = Position(), []
        while position.plies < plies and position.outcome is None:
            columns.append(rng.choice(position.legal_columns()))
            position = position.play(columns[-1])
        if position.outcome is None:
            rows.append(Sample(format_moves(columns), None))
    return rows


def run(sets: dict[str, Sequence[Sample]], peer: Any, repeats: int = 1) -> Iterable[Row]:
    """Measure each set in turn; the least time of ``repeats`` counts; ``peer`` may be None."""
    solver = Solver(book=None)
    # Compile, and touch the table's memory, before anything is measured.
    solver.scores_many([Position.parse(row.moves) for row in random_set(20, 200, 1)], threads=1)
    for name, rows in sets.items():
        positions = [Position.parse(row.moves) for row in rows]
        ours = float("inf")
        for _ in range(repeats):
            begun = time.process_time()
            scores = solver.scores_many(positions, fresh=True)
            ours = min(ours, time.process_time() - begun)
        nodes = solver.nodes / len(rows)
        wrong = sum(
            row.score is not None and row.score != score
            for row, score in zip(rows, scores.tolist(), strict=True)
        )
        peers = {}
        for driver, solve in DRIVERS.items() if peer else ():
            seconds = float("inf")
            for _ in range(repeats):
                spent, found = timed_peer(peer, solve, rows)
                seconds = min(seconds, spent)
            peers[driver] = 1000 * seconds / len(rows)
            wrong += int((np.array(found) != scores).sum())
        yield Row(name, len(rows), nodes, 1000 * ours / len(rows), peers, wrong)


def load_peer() -> Any:
    """The module ``bitbully.bitbully_core``.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import bitbully.bitbully_core as core
    except ImportError as error:
        raise MissingExtra(
            f"the comparison needs bitbully ({error}): pip install 'c4env[peers]', or --alone"
        ) from None
    return core


def timed_peer(
    core: Any, solve: Callable[[Any, Any], T], rows: Sequence[Sample]
) -> tuple[float, list[T]]:
    """Seconds of the peer, and its answers: ``solve`` takes its solver and a board."""
    solver = core.BitBullyCore()
    seconds = 0.0
    answers = []
    for row in rows:
        board = core.BoardCore()
        board.play(list(parse_moves(row.moves)))
        solver.resetTranspositionTable()
        begun = time.process_time()
        answers.append(solve(solver, board))
        seconds += time.process_time() - begun
    return seconds, answers


def table(rows: Iterable[Row]) -> Iterable[str]:
    """Lines of a table, a row as soon as it is measured."""
    yield (
        f"{'set':14}{'positions':>10}{'nodes':>12}{'ms':>12}"
        + "".join(f"{driver + ' ms':>16}" for driver in DRIVERS)
        + f"{'ratio':>8}{'wrong':>7}"
    )
    for row in rows:
        peers = "".join(f"{row.peers.get(driver, float('nan')):16.4f}" for driver in DRIVERS)
        ratio = f"{row.ratio:8.3f}" if row.ratio is not None else f"{'-':>8}"
        yield (
            f"{row.name:14}{row.positions:10}{row.nodes:12.1f}{row.ours:12.4f}{peers}{ratio}"
            f"{row.wrong:7}"
        )


def sets_parser(prog: str) -> Parser:
    """A command line that says which sets of positions to measure, with or without the peer."""
    parser = Parser(prog=prog)
    parser.add_argument("files", nargs="*", type=Path, help="lines of moves and score")
    parser.add_argument(
        "--count", type=int, metavar="N", help="positions of each set, the last ones"
    )
    parser.add_argument("--alone", action="store_true", help="without bitbully")
    return parser


def chosen_sets(options: argparse.Namespace) -> dict[str, Sequence[Sample]]:
    """The sets the command line names, or random ones.

    Raises:
        InvalidRun: ``--count`` is not 1 or more.
        UnreadableRun: a file that is none of labelled positions.
    """
    if options.count is not None and options.count < 1:
        raise InvalidRun(f"--count {options.count}: expected at least 1")
    sets: dict[str, Sequence[Sample]] = {}
    for path in options.files:
        sets[path.stem] = [Sample(p.moves, p.score) for p in read_labelled(path)]
    if not sets:
        for plies, count in ((30, 500), (20, 200), (12, 30)):
            sets[f"random, {plies}"] = random_set(plies, count, plies)
    return {name: rows[-options.count if options.count else 0 :] for name, rows in sets.items()}


def printed(rows: Iterable[Any], table: Callable[[Iterable[Any]], Iterable[str]]) -> int:
    """Print the table of rows, each as soon as it is measured; 1 when one has something wrong."""
    wrong = 0

    def counted() -> Iterable[Any]:
        nonlocal wrong
        for row in rows:
            wrong += row.wrong
            yield row

    for line in table(counted()):
        print(line, flush=True)
    return 1 if wrong else 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns 1 when a score was wrong."""
    parser = sets_parser("c4 bench solver")
    parser.add_argument("--repeats", type=int, default=1, help="measure so often, take the least")
    parser.add_argument("--empty", action="store_true", help="the empty board too (slow)")
    options = parser.parse_args(argv)
    if options.repeats < 1:
        raise InvalidRun(f"--repeats {options.repeats}: expected at least 1")
    sets = chosen_sets(options)
    if options.empty:
        sets["empty board"] = [Sample("", 1)]
    peer = None if options.alone else load_peer()
    return printed(run(sets, peer, options.repeats), table)


if __name__ == "__main__":
    raise SystemExit(main())
