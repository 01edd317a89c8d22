"""How fast the exact solver is, beside BitBully from PyPI in the same run.

Each solver has one thread and keeps its table from position to position. Every round has new
positions of random games. With books, `Solver(book="12ply")` reads the data of BitBully's
"12-ply-dist". `score()` gets one position at a time, as BitBully's C++ core does; `scores_many`
gets those of a round. The faster of the core's two searches counts.
"""

import argparse
import itertools
import statistics
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.agents.solver import Solver
from c4env.evaluation.cli.declare import at_least
from c4env.evaluation.exact.position_sets import random_games
from c4env.lazy import from_extra
from c4env.position import Position, parse_moves
from tests.benchmarks.harness import in_turns, rounded_ratio, show_as_measured, timed

HEADING: Final = {
    **{"set": "", "positions": ",", "nodes": ",.1f", "BitBully ms": ".2g"},
    **{"score() ms": ".2g", "BitBully / score()": rounded_ratio},
    **{"scores_many ms": ".2g", "BitBully / scores_many": rounded_ratio, "wrong": ""},
}
ALONE: Final = {12: 40, 16: 200, 20: 1000, 24: 3000} | dict.fromkeys((28, 30, 32, 34), 4000)
WITH_BOOKS: Final = {4: 100, 8: 1000, 12: 3000}
"""How many positions a round of so many discs has, without books and with them."""


class Set(NamedTuple):
    """Positions to score, by their moves."""

    name: str
    moves: Sequence[str]
    books: bool


def random_sets(rounds: int) -> Iterator[Set]:
    """The positions of all rounds and of the one before them, from random games not yet over."""
    for counts, books in ((ALONE, False), (WITH_BOOKS, True)):
        for discs, count in counts.items():
            games = random_games(range(discs, discs + 1), np.random.default_rng(discs))
            some = itertools.islice(games, count * (rounds + 1))
            yield Set(f"{discs} discs{', books' * books}", [*some], books)


def measure(chosen: Set, rounds: int) -> list[Any]:
    """A row of the table: medians of the rounds, after one that is not measured.

    Its last cell counts the answers that differ from those of ``score()``.
    """
    with from_extra("peers", "BitBully is needed"):
        from bitbully.bitbully_core import BitBullyCore, BoardCore
        from bitbully_databases import BitBullyDatabases
    name, moves, books = chosen
    one, many = (Solver(book="default" if books else None) for _ in range(2))
    book = [BitBullyDatabases.get_database_path("12-ply-dist")] if books else []
    mtdf, null_window = BitBullyCore(*book).mtdf, BitBullyCore(*book).nullWindow
    parts = [moves[start :: rounds + 1] for start in range(rounds + 1)]
    positions = [[*map(Position.parse, part)] for part in parts]
    boards = [  # each search has its own, which are not in the processor's cache either
        [[board_of(BoardCore(), line) for line in part] for part in parts] for _ in range(2)
    ]
    nodes = 0

    def scores_many(number: int) -> list[int]:
        nonlocal nodes
        found = many.scores_many(positions[number], threads=1)
        nodes += many.nodes
        return list(found.tolist())

    calls = {
        "mtdf": lambda number: [mtdf(board, 0) for board in boards[0][number]],
        "null_window": lambda number: [null_window(board) for board in boards[1][number]],
        "score": lambda number: [one.score(position) for position in positions[number]],
        "scores_many": scores_many,
    }
    answers: dict[str, list[list[int]]] = {way: [] for way in calls}

    def timed_call(way: str, number: int) -> float:
        seconds, found = timed(partial(calls[way], number))
        answers[way].append(found)
        return 1000 * seconds / len(found)

    found = in_turns({way: partial(timed_call, way) for way in calls}, rounds + 1)
    times = {way: statistics.median(measured[1:]) for way, measured in found.items()}
    peer = min(times["mtdf"], times["null_window"])
    ratios = [cell for way in ("score", "scores_many") for cell in (times[way], peer / times[way])]
    wrong = sum(
        answer != score
        for found in answers.values()
        for part, scores in zip(found, answers["score"], strict=True)
        for answer, score in zip(part, scores, strict=True)
    )
    return [name, len(moves), nodes / len(moves), peer, *ratios, wrong]


def board_of(board: Any, moves: str) -> Any:
    """The peer's board after moves."""
    board.play(list(parse_moves(moves)))
    return board


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=at_least(1), default=5, help="to measure (default 5)")


def execute(arguments: argparse.Namespace) -> int:
    rounds = arguments.rounds
    rows = (measure(chosen, rounds) for chosen in random_sets(rounds))
    return show_as_measured(HEADING, rows, arguments)
