"""Find and store the exact score of every column of many positions.

The judge uses all cores, and solves only one of two mirror images. The judge writes each score to
``scores.jsonl`` at once, so that an interrupted call can resume.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from c4env.agents.solver import Book, Solver
from c4env.agents.solver.book import default_book, twelve_ply_book
from c4env.bitboard import BOARD, CELLS, COLUMNS, STRIDE, TOP
from c4env.cores import usable_cores
from c4env.errors import MissingExtra, require_integer
from c4env.evaluation.plan.openings import canonical
from c4env.evaluation.store.journal import Findings, Format
from c4env.evaluation.store.record import GameRecord
from c4env.position import Position, parse_moves

SCORES_FILE: Final = "scores.jsonl"

Scores = tuple[int | None, ...]
"""The exact score of each of the seven columns, for the side to move; None for a full column."""

_PORTION: Final = 16  # positions that a thread takes at a time


class Judge:
    """A context manager that solves each position once and stores the exact column scores.

    Args:
        folder: folder of ``scores.jsonl``, usually a run directory; None writes no file.
        book: the solver's opening book (``c4env.agents.solver.Solver``), by default
            :func:`strongest_book`; the book changes no score.
        table_mb: size of each thread's transposition table, in MB.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        book: Book | str | None = "strongest",
        table_mb: int = 64,
    ) -> None:
        self._book = strongest_book() if book == "strongest" else book
        self._table_mb = table_mb
        self._solvers = [self._new_solver()]
        self._known = Findings(None if folder is None else Path(folder) / SCORES_FILE, SCORES)

    def _new_solver(self) -> Solver:
        return Solver(book=self._book, table_mb=self._table_mb)

    def __len__(self) -> int:
        """The number of positions judged so far; mirror images count once."""
        return len(self._known)

    def learn(self, position: Position, scores: Scores) -> None:
        """Store known exact scores of a position."""
        kept = canonical(position)
        self._known[kept.mine, kept.theirs] = scores if kept == position else scores[::-1]

    def scores(self, position: Position) -> Scores:
        """Return the exact score of each column; solve the position if necessary."""
        if position.outcome is not None:
            return (None,) * COLUMNS
        kept = canonical(position)
        found = self._solve(self._solvers[0], kept)
        return found if kept == position else found[::-1]

    def judge(
        self,
        positions: Iterable[Position],
        jobs: int | None = None,
        watch: Callable[[int, int], None] | None = None,
    ) -> None:
        """Solve all positions that have no stored scores yet.

        Args:
            positions: any positions; the judge skips finished games. List each game from its end to
                its beginning, because later positions help to solve earlier positions.
            jobs: number of threads; None uses all cores.
            watch: called from time to time with the number of positions done and the total.

        Raises:
            InvalidOption: ``jobs`` is not a positive number.
        """
        if jobs is not None:
            require_integer("jobs", jobs)
        threads = jobs or usable_cores()
        distinct = list(dict.fromkeys(canonical(p) for p in positions if p.outcome is None))
        missing = [p for p in distinct if (p.mine, p.theirs) not in self._known]
        done = len(distinct) - len(missing)
        if watch is not None:
            watch(done, len(distinct))
        if not missing:
            return
        idle: SimpleQueue[Solver] = SimpleQueue()
        while len(self._solvers) < threads:
            self._solvers.append(self._new_solver())
        for solver in self._solvers[:threads]:
            idle.put(solver)
        stopped = threading.Event()

        def solve(portion: list[Position]) -> int:
            solver = idle.get()
            try:
                for position in portion:
                    if stopped.is_set():
                        break
                    self._solve(solver, position)
            finally:  # others wait for the solver
                idle.put(solver)
            return len(portion)

        with ThreadPoolExecutor(threads) as pool:
            portions = (missing[i : i + _PORTION] for i in range(0, len(missing), _PORTION))
            try:
                for future in as_completed([pool.submit(solve, portion) for portion in portions]):
                    done += future.result()
                    if watch is not None:
                        watch(done, len(distinct))
            except BaseException:  # Ctrl-C or a full disk: keep the scores so far
                stopped.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _solve(self, solver: Solver, position: Position) -> Scores:
        """Return the scores of a canonical position; solve it if necessary."""
        key = position.mine, position.theirs
        return self._known.find(key, lambda: tuple(solver.scores(position)))

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *error: Any) -> None:
        self._known.journal.__exit__(*error)


def sign(score: int) -> int:
    """Return the sign of a score: 1 for a win, 0 for a draw, -1 for a loss."""
    return (score > 0) - (score < 0)


def strongest_book() -> Book:
    """Return the 12-ply opening book if it is installed, else the 8-ply book of this package.

    Positions of 8 to 11 discs take nearly all of the solver's time; the 12-ply book contains their
    scores.
    """
    try:
        return twelve_ply_book()
    except MissingExtra:
        return default_book()


def positions_of(game: GameRecord) -> list[Position]:
    """Return a game's positions from the end of the opening on, except the final position."""
    position = Position.parse(game.opening)
    found = []
    for column in parse_moves(game.moves[len(game.opening) :]):
        found.append(position)
        position = position.play(column)
    return found


def positions_backwards(
    games: Iterable[GameRecord], players: Collection[str] | None = None
) -> list[Position]:
    """Return the positions of each game in reverse order, the fastest order for the judge.

    Args:
        games: the games.
        players: take only positions in which one of these players moves; None takes all.
    """
    return [
        position
        for game in games
        for position in reversed(positions_of(game))
        if players is None or game.players[position.to_move] in players
    ]


def _parse(value: Any) -> tuple[tuple[int, int], Scores]:
    """Parse and check an entry of ``scores.jsonl``, without solving the position."""
    mine, theirs, scores = value
    occupied = mine | theirs
    full = [bool(occupied & TOP & (1 << STRIDE * c + STRIDE - 2)) for c in range(COLUMNS)]
    if mine & theirs or not 0 <= occupied <= BOARD or [s is None for s in scores] != full:
        raise ValueError
    if any(type(s) is not int or abs(s) > CELLS // 2 for s in scores if s is not None):
        raise ValueError
    return (mine, theirs), tuple(scores)


SCORES: Final = Format(
    "c4env scores 1", _parse, "positions", remedy="; delete the file to compute everything again"
)
