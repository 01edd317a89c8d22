"""The exact solver as a Python class: scores of one position, and of many positions in threads."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from c4env.agents.base import line_of_play
from c4env.agents.search.threads import NEVER, NODES, run_interruptibly, search_interruptibly
from c4env.agents.solver.book import Book
from c4env.agents.solver.driver import (
    ABORTED,
    LARGEST,
    TRIAL_NODES,
    bound_score,
    score_columns,
    solve,
    try_to_solve,
)
from c4env.agents.solver.null_window import WORKSPACE, reset_workspace
from c4env.agents.solver.table import LAST_EPOCH, NO_SCORE, allocate
from c4env.arrays import Bools, Int8s, Int64s
from c4env.bitboard import CENTRE_FIRST, COLUMNS, discs_at_end
from c4env.errors import InvalidOption, require_integer
from c4env.position import Position, require_position
from c4env.system import usable_cores

PORTION: Final = 64  # most positions that a thread takes at a time
PORTIONS: Final = 8  # least number of portions for each thread, since few positions may be hard

T = TypeVar("T")


class Solver:
    """Finds the exact scores of positions.

    A score is for the side to move. A draw is 0. A win scores the number of the winner's unused
    discs after the winning disc, plus 1: ``(43 - plies) // 2`` for a win with the next disc, 1 less
    for each of the winner's later discs. A loss has the negative score. A finished position scores
    ``-((44 - plies) // 2)`` if its last disc won, and 0 if the board is full.

    The transposition table serves later calls. :meth:`clear` empties the table, and a copy begins
    with an empty table. Threads may share a solver; their long searches wait for each other. A fork
    of the process has its own table, with the entries at the time of the fork.

    Args:
        book: the opening book: ``"default"``, which knows all positions of up to 12 discs; a path;
            a :class:`~c4env.agents.solver.book.Book`; or None for no book. Only the standard board,
            6 x 7, has books.
        table_mb: the most MB for the transposition table, at least 1. The number of entries is
            a power of two; a search takes the memory as it fills the table.

    Attributes:
        nodes: nodes searched by the last call.

    Raises:
        InvalidOption: an option is out of range, or the book cannot be read.

    Example:
        >>> Solver().scores(Position.parse("444444"))
        [-1, 0, 1, None, 1, 0, -1]
    """

    def __init__(
        self,
        book: Book | str | os.PathLike[str] | None = "default",
        table_mb: int = 64,
    ) -> None:
        self.table_mb = require_integer("table_mb", table_mb)
        self.book = Book.open(book)
        self.nodes = 0
        self._table = allocate(table_mb)
        self._epoch = self._newest = 1  # the current and the newest epoch of the table
        self._workspaces: list[Int64s] = []  # the workspaces that no search uses
        self._lock = threading.Lock()  # around a search that takes long
        _solvers.add(self)

    def __repr__(self) -> str:
        return f"Solver(book={self.book!r}, table_mb={self.table_mb})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.book, self.table_mb)

    def score(self, position: Position) -> int:
        """Return the exact score of a position."""
        return self._score(position, LARGEST)

    def sign(self, position: Position) -> int:
        """Return 1, 0 or -1 if the side to move wins, draws or loses; faster than :meth:`score`."""
        return self._score(position, 1)

    def scores(self, position: Position) -> list[int | None]:
        """Return the exact score of each column for the side to move; None for a full column.

        If the game is over, all scores are None. The greatest score equals :meth:`score`.
        """
        scores = self._columns(position, exact=True)
        return [None if score == NO_SCORE else score for score in scores]

    def signs(
        self, position: Position, nodes: int, order: Sequence[int] = CENTRE_FIRST
    ) -> list[tuple[int, int] | None]:
        """Return bounds on the sign of each column's score; None for a full column.

        The search tries all columns in ``order`` and visits about ``nodes`` nodes. The search
        ignores the table's entries from earlier calls, so that the result depends only on the
        arguments. Once a column is known to win or draw, the search only asks whether other columns
        are better.

        Raises:
            InvalidOption: ``nodes`` is not 1 or more, or ``order`` lacks a column.
        """
        if nodes < 1 or sorted(order) != list(range(COLUMNS)):
            raise InvalidOption(
                f"nodes={nodes!r}, order={order!r}: expected nodes >= 1 and an order of all columns"
            )
        require_position(position)

        def search(work: Int64s) -> list[tuple[int, int] | None]:
            bounds: list[tuple[int, int] | None] = [None] * COLUMNS
            best, spent = -1, 0
            for i, column in enumerate(order):
                if not position.is_legal(column):
                    continue
                after = position.play(column)
                lowest, highest = -1, 1
                if after.outcome is not None and after.outcome.winner is not None:
                    lowest = 1
                elif best < 1:  # the column gets an equal part of the remaining nodes
                    begin = nodes - (nodes - spent) // (COLUMNS - i)
                    work[NODES] = begin  # not the limit, which a stop may have set
                    low, high = bound_score(table, work, after.mine, after.theirs, -1, -best)
                    lowest, highest = (-high if -high > best else -1), -low
                    spent += int(work[NODES]) - begin
                bounds[column] = lowest, highest
                best = max(best, lowest)
            self.nodes = spent
            return bounds

        with self._lock:
            epoch = self._new_epoch()  # neither reads nor erases old entries
            table, work = self._table, self._workspace()
            reset_workspace(work, table, epoch, nodes)
            bounds = search_interruptibly(search, nodes, work)
            self._workspaces.append(work)
        return bounds

    def best_columns(self, position: Position) -> tuple[int, ...]:
        """Return the columns with the best score, centre first; none if the game is over.

        A best column wins as early, or loses as late, as possible.
        """
        scores = self._columns(position, exact=False)
        best = max(scores)
        return tuple(c for c in CENTRE_FIRST if NO_SCORE < scores[c] == best)

    def plies_to_end(self, position: Position) -> int:
        """Return the number of plies to the end under perfect play; 0 if the game is over."""
        score = self.score(position)
        return discs_at_end(position.plies, score) - position.plies

    def principal_variation(self, position: Position) -> tuple[int, ...]:
        """Return the best columns of both sides to the end of the game; ties go to the centre."""
        nodes = 0

        def reply(after: Position, _: int) -> int:
            nonlocal nodes
            column = self.best_columns(after)[0]
            nodes += self.nodes
            return column

        line = line_of_play(require_position(position), reply)
        self.nodes = nodes
        return line

    def scores_many(
        self,
        mine: Sequence[Position] | ArrayLike,
        theirs: ArrayLike | None = None,
        *,
        low: ArrayLike = -LARGEST,
        high: ArrayLike = LARGEST,
        threads: int | None = None,
    ) -> Int8s:
        """Return the exact scores, int8 ``[N]``, of N positions, computed in kernels on all cores.

        Args:
            mine: positions, or [N] int64 bitboards of the side to move.
            theirs: [N] int64 bitboards of the other side, if ``mine`` is bitboards.
            low, high: bounds to which a score is clipped, integers or [N]; closer bounds are
                faster. With -1 and 1, a score is 1, 0 or -1 for a win, a draw or a loss.
            threads: number of threads; by default one for each core that the process may use.

        Raises:
            InvalidOption: the arrays differ in shape, or a number is out of range.
        """
        from c4env.agents.solver.many import parse_bitboards, score_range

        first, second = parse_bitboards(mine, theirs)
        lows, highs = (_bounds(name, n, len(first)) for name, n in (("low", low), ("high", high)))
        if (lows > highs).any():
            raise InvalidOption(f"low={low!r}, high={high!r}: expected low <= high")
        scores = np.empty(len(first), np.int8)
        early = self._in_book(first, second, 0)
        nodes = 0
        for i in np.flatnonzero(early).tolist():
            position = Position.from_bitboards(int(first[i]), int(second[i]))
            score = self._score(position, max(abs(int(lows[i])), abs(int(highs[i]))))
            scores[i] = min(max(score, lows[i]), highs[i])
            nodes += self.nodes
        late = ~early
        boards = first[late], second[late], lows[late], highs[late]
        found = np.empty(len(boards[0]), np.int8)

        def search(table: Int64s, work: Int64s, start: int, stop: int) -> int:
            return score_range(table, work, *boards, found, start, stop)

        self._search_many(search, len(found), threads)
        scores[late] = found
        self.nodes += nodes
        return scores

    def columns_many(
        self,
        mine: Sequence[Position] | ArrayLike,
        theirs: ArrayLike | None = None,
        *,
        threads: int | None = None,
    ) -> Int8s:
        """Return the exact scores, int8 ``[N, 7]``, of all columns; see :meth:`scores_many`.

        ``NO_SCORE``, less than any score, stands where a column is full or the game is over.
        """
        from c4env.agents.solver.many import columns_range, parse_bitboards

        first, second = parse_bitboards(mine, theirs)
        scores = np.empty((len(first), COLUMNS), np.int8)
        early = self._in_book(first, second, 1)  # the book has all columns of these
        nodes = 0
        for i in np.flatnonzero(early).tolist():
            scores[i] = self._columns(Position.from_bitboards(int(first[i]), int(second[i])), True)
            nodes += self.nodes
        late = ~early
        boards = first[late], second[late]
        found = np.empty((len(boards[0]), COLUMNS), np.int8)
        known = np.full(len(found), NO_SCORE, np.int8)
        for i in np.flatnonzero(self._in_book(*boards, 0)).tolist():  # the book's last ply
            score = self._book_score(Position.from_bitboards(int(boards[0][i]), int(boards[1][i])))
            known[i] = NO_SCORE if score is None else score

        def search(table: Int64s, work: Int64s, start: int, stop: int) -> int:
            return columns_range(table, work, *boards, known, found, start, stop)

        self._search_many(search, len(found), threads)
        scores[late] = found
        self.nodes += nodes
        return scores

    def clear(self) -> None:
        """Empty the transposition table, which stays allocated."""
        with self._lock:
            self._epoch = self._new_epoch()

    def close(self) -> None:
        """Give the table's memory back, until the next search."""
        with self._lock:
            self._table = allocate(self.table_mb)

    def _new_epoch(self) -> int:
        """Start a new epoch, which makes all entries invalid; after the last, take a new table."""
        if self._newest == LAST_EPOCH:
            self._epoch, self._newest, self._table = 1, 1, allocate(self.table_mb)
        self._newest += 1
        return self._newest

    def _book_score(self, position: Position) -> int | None:
        """Return the book's score of a position; None if it has no score or the game is over."""
        if self.book is None or position.outcome is not None:
            return None
        return self.book.score(position)

    def _score(self, position: Position, most: int) -> int:
        """Return the score, clipped to ``-most..most``."""
        mine, theirs = require_position(position).mine, position.theirs
        if self.book and position.plies <= self.book.plies:
            known = self._book_score(position)
            if known is not None:
                self.nodes = 0
                return max(-most, min(most, known))
        try:  # inlined: a call of _workspace() would take a tenth of the time
            work = self._workspaces.pop()
        except IndexError:
            work = np.zeros(WORKSPACE, np.int64)
        score, self.nodes = try_to_solve(self._table, work, self._epoch, mine, theirs, most)
        self._workspaces.append(work)
        return score if score != ABORTED else self._score_in_thread(mine, theirs, most)

    def _score_in_thread(self, mine: int, theirs: int, most: int) -> int:
        """Return the score of a position that takes long."""
        scores: list[int] = []
        self._in_threads(
            lambda table, work: scores.append(solve(table, work, mine, theirs, -most, most))
        )
        return scores[0]

    def _columns(self, position: Position, exact: bool) -> list[int]:
        """Return the scores of all columns; if not ``exact``, only the best scores are exact.

        Other columns then have a lower score than the best columns.
        """
        mine, theirs = require_position(position).mine, position.theirs
        scores = np.full(COLUMNS, NO_SCORE, np.int8)
        self.nodes = 0
        if self.book and position.plies < self.book.plies:
            for column in position.legal_columns():
                scores[column] = -self.score(position.play(column))
        elif position.outcome is None:
            known = self._book_score(position)
            best = NO_SCORE if known is None else known

            def search(table: Int64s, work: Int64s) -> bool:
                return score_columns(table, work, mine, theirs, best, exact, scores)

            if not self._try(search):
                self._in_threads(search)
        return list(scores.tolist())

    def _in_book(self, mine: Int64s, theirs: Int64s, ahead: int) -> Bools:
        """Return whether each position ``[N]`` is some plies before the book's last, or earlier."""
        plies = -1 if self.book is None else self.book.plies - ahead
        early: Bools = np.bitwise_count(mine | theirs) <= plies
        return early

    def _search_many(
        self, search: Callable[[Int64s, Int64s, int, int], int], count: int, threads: int | None
    ) -> None:
        """Search positions 0 to ``count - 1``; the threads share them in portions.

        ``search`` takes a table, a workspace, and the first position and the end of a portion.
        ``search`` returns the position at which it was stopped.
        """
        threads = require_integer("threads", usable_cores() if threads is None else threads)
        done = self._try(lambda table, work: search(table, work, 0, count))
        if done < count:
            size = max(1, min(PORTION, (count - done) // (PORTIONS * threads)))
            starts = iter(range(done, count, size))

            def search_portions(table: Int64s, work: Int64s) -> None:
                for start in starts:
                    search(table, work, start, min(start + size, count))

            self._in_threads(search_portions, threads)

    def _workspace(self) -> Int64s:
        """Return a workspace that no other search uses."""
        try:
            return self._workspaces.pop()
        except IndexError:
            return np.zeros(WORKSPACE, np.int64)

    def _try(self, search: Callable[[Int64s, Int64s], T]) -> T:
        """Call a search in the caller's thread, where it stops after ``TRIAL_NODES``."""
        table, work = self._table, self._workspace()
        reset_workspace(work, table, self._epoch, TRIAL_NODES)
        result = search(table, work)
        self.nodes = int(work[NODES])
        self._workspaces.append(work)
        return result

    def _in_threads(self, search: Callable[[Int64s, Int64s], object], threads: int = 1) -> None:
        """Call a search in some threads, which share the table; add their nodes."""
        with self._lock:
            table, works = self._table, [self._workspace() for _ in range(threads)]
            for work in works:
                reset_workspace(work, table, self._epoch, NEVER)
            run_interruptibly(lambda work: search(table, work), works)
            self.nodes += sum(int(work[NODES]) for work in works)
            self._workspaces += works


def _bounds(name: str, bounds: ArrayLike, count: int) -> Int8s:
    """Return the bounds of ``count`` scores, int8 ``[N]``."""
    array = np.asarray(bounds)
    fits = array.dtype.kind in "iu" and array.shape in ((), (count,))
    if not fits or (array < -LARGEST).any() or (array > LARGEST).any():
        raise InvalidOption(
            f"{name}={bounds!r}: expected integers in -{LARGEST}..{LARGEST}, one or {count} of them"
        )
    return np.ascontiguousarray(np.broadcast_to(array, count), np.int8)


_solvers = weakref.WeakSet[Solver]()


def _release_locks() -> None:
    """Release the solvers' locks in a fork, where the threads that held them do not run."""
    for solver in _solvers:
        solver._lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_release_locks)
