"""The exact solver as Python sees it."""

from __future__ import annotations

__any_board__ = True

import os
import threading
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from c4env.agents.search import threads as beside
from c4env.agents.solver.book import Book
from c4env.agents.solver.search.driver import LARGEST, bound_score, score_columns
from c4env.agents.solver.search.null_window import EPOCH, SHARED_PLIES, WORKSPACE, make_ready
from c4env.agents.solver.search.table import LAST_EPOCH, MARKS, NO_SCORE, allocate
from c4env.arrays import Int8s, Int64s
from c4env.bitboard import CELLS, CENTRE_FIRST, COLUMNS, win_score
from c4env.cores import usable_cores
from c4env.errors import InvalidOption, require_integer
from c4env.position import Position, require_position

_QUICK: Final = 20_000  # nodes searched in the caller's own thread before others are started
_SOON: Final = 1_000_000  # nodes of a search that ends in some hundredths of a second
_SHARED_PLIES: Final = 24  # nodes of more plies are too small to share among threads
_PORTION: Final = 64  # positions of a batch a thread takes at a time, at most
_SHARES: Final = 8  # portions a thread, at least: a batch may be short, its positions hard

T = TypeVar("T")


class Solver:
    """Exact scores of positions.

    A score is seen from the side to move: 0 for a draw; if it can force a win, the number
    of its own discs still in hand after the winning one, plus one (so ``(43 - plies) // 2``
    for a win with the next disc, one less for each move later); negative in the same way
    if it is lost. A position that is over has the score ``-((44 - plies) // 2)`` if its
    last disc won, which is what the winner's score was, negated, and 0 if the board is full.

    What has been found out is kept in the table and serves the next calls; :meth:`clear`
    forgets it, and a copy begins without. Threads that share a solver wait for each other.

    Args:
        book: the opening book: ``"default"`` for the one that comes with the package,
            ``"12ply"`` for that of the package ``bitbully-databases``, a path or a
            :class:`~c4env.agents.solver.book.Book`, or None for none, as there is on other boards.
        table_mb: the most the transposition table may take, 1 or more; it is the next
            power of two of entries not above that, allocated when first needed.
        threads: threads that search together; they change no score.

    Attributes:
        nodes: positions searched by the last call.

    Raises:
        InvalidOption: an option is out of range.
        BookUnavailable: the book asked for cannot be read.
        InvalidPosition: a method is given no position of this board.
    """

    def __init__(
        self,
        book: Book | str | os.PathLike[str] | None = "default",
        table_mb: int = 64,
        threads: int = 1,
    ) -> None:
        """A solver with these options; see the class."""
        self.table_mb = require_integer("table_mb", table_mb)
        self.threads = require_integer("threads", threads)
        self.book = Book.open(book)
        self.nodes = 0
        self._table: Int64s | None = None
        self._epoch = self._newest = 1  # of the table's entries: in use, and the last given out
        self._workspaces: list[Int64s] = []
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"Solver(book={self.book!r}, table_mb={self.table_mb}, threads={self.threads})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.book, self.table_mb, self.threads)

    # -- one position ---------------------------------------------------------------

    def score(self, position: Position) -> int:
        """The exact score of a position."""
        return self._score(position, -LARGEST, LARGEST)

    def sign(self, position: Position) -> int:
        """1, 0 or -1: the side to move wins, draws or loses. Faster than :meth:`score`."""
        return self._score(position, -1, 1)

    def at_least(self, position: Position, score: int) -> bool:
        """Whether the position's score is ``score`` or more: one of the searches it is found by.

        Raises:
            InvalidOption: ``score`` is no integer.
        """
        score = require_integer("score", score, -(1 << 63), "an integer")
        least = max(-LARGEST, min(score, LARGEST))
        return self._score(position, least - 1, least) >= score

    def scores(self, position: Position) -> list[int | None]:
        """The score of each column played, for the side to move; None where it is full.

        All are None once the game is over. ``max(scores) == score(position)``.
        """
        return [None if bounds is None else bounds[0] for bounds in self._columns(position, inf)]

    def bounds(self, position: Position, effort: float = 3.0) -> list[tuple[int, int] | None]:
        """The lowest and the highest each column's score can be; None where it is full.

        The quick way to all columns. On a position that is soon decided, each column but the
        best ones leads to a long game of its own, and :meth:`scores` has to solve them all.
        Here the best columns have their exact score, and the others are bounded closer until
        ``effort`` times the positions are searched that :meth:`score` takes (a few more if
        that is next to nothing, or if the best columns are not known by then). What the table
        knows from calls before makes bounds closer; they are always right.

        Raises:
            InvalidOption: ``effort`` is no number of 0 or more.
        """
        if not (isinstance(effort, (int, float)) and effort >= 0):
            raise InvalidOption(f"effort={effort!r}: expected a number of 0 or more")
        return self._columns(position, float(effort))

    def signs(
        self, position: Position, nodes: int, order: Sequence[int] = CENTRE_FIRST
    ) -> list[tuple[int, int] | None]:
        """The lowest and the highest sign each column's score can have; None where it is full.

        A search of about so many positions that neither uses nor forgets what was found before: how
        far it gets depends on nothing else. Once a column is known to win, or to draw, others are
        only asked whether they are better.

        Args:
            position: where all columns are None once the game is over.
            nodes: positions to search, 1 or more.
            order: all columns, those that are tried first before others.

        Raises:
            InvalidOption: ``nodes`` or ``order`` is something else.
        """
        if nodes < 1 or sorted(order) != list(range(COLUMNS)):
            raise InvalidOption(
                f"nodes={nodes!r}, order={order!r}: expected 1 or more, and each column once"
            )
        require_position(position)

        def search(work: Int64s) -> list[tuple[int, int] | None]:
            found: list[tuple[int, int] | None] = [None] * COLUMNS
            best = -1
            for i, column in enumerate(order):
                if not position.is_legal(column):
                    continue
                after = position.play(column)
                lowest, highest = -1, 1
                if after.outcome is not None and after.outcome.winner is not None:
                    lowest = 1
                elif best < 1:  # is it better? with an equal part of the nodes that are left
                    left = nodes - work[beside.NODES]
                    work[beside.LIMIT] = work[beside.NODES] + left // (COLUMNS - i)
                    if work[beside.STOPPED]:  # whoever stops sets it first, then the limit
                        break
                    low, high = bound_score(table, work, after.mine, after.theirs, -1, -best)
                    lowest, highest = (-high if -high > best else -1), -low
                found[column] = lowest, highest
                best = max(best, lowest)
            return found

        with self._lock:
            epoch = self._new_epoch()  # in which the table is empty; what it holds stays
            table, (work,) = self._memory(1)
            work[EPOCH] = epoch
            found = beside.search_interruptibly(search, work, quick=nodes <= _SOON)
            self.nodes = int(work[beside.NODES])
        return found

    def best_columns(self, position: Position) -> tuple[int, ...]:
        """The columns whose score is the position's, centre first; none once it is over.

        Such a column wins as soon, or loses as late, as can be.
        """
        lowest = [NO_SCORE if b is None else b[0] for b in self._columns(position, 0.0)]
        best = max(lowest)
        return tuple(c for c in CENTRE_FIRST if NO_SCORE < lowest[c] == best)

    def plies_to_end(self, position: Position) -> int:
        """Discs still to be played when both sides play best: 0 once it is over."""
        score = self.score(position)
        if score == 0:
            return CELLS - position.plies
        # The winner's last disc leaves |score| - 1 of its own in hand.
        winner = position.to_move if score > 0 else 1 - position.to_move
        own_discs = (CELLS + 1 - winner) // 2 + 1 - abs(score)
        return 2 * own_discs - 1 + winner - position.plies

    def principal_variation(self, position: Position) -> tuple[int, ...]:
        """Best columns of both sides to the end of the game, the most central where several are."""
        nodes = 0
        line: list[int] = []
        with self._lock:
            while best := self.best_columns(position):
                nodes += self.nodes
                line.append(best[0])
                position = position.play(best[0])
            self.nodes = nodes
        return tuple(line)

    # -- many positions -------------------------------------------------------------

    def scores_many(
        self,
        mine: Sequence[Position] | ArrayLike,
        theirs: ArrayLike | None = None,
        *,
        threads: int | None = None,
        fresh: bool = False,
    ) -> Int8s:
        """The exact scores of N positions, at native speed and on all cores.

        Args:
            mine: positions, or [N] int64 bitboards of the sides to move.
            theirs: [N] int64 bitboards of the other sides, with the latter form.
            threads: how many; all the cores the process may use by default.
            fresh: begin each position with an empty table, as benchmarks do, in one thread.

        Returns:
            [N] int8.

        Raises:
            InvalidPosition: bitboards that are no position; the first is named.
            InvalidOption: arrays of different shapes, ``threads`` out of range.
        """
        return self._many(mine, theirs, 1, threads, fresh)[:, 0]

    def columns_many(
        self,
        mine: Sequence[Position] | ArrayLike,
        theirs: ArrayLike | None = None,
        *,
        threads: int | None = None,
        fresh: bool = False,
    ) -> Int8s:
        """The exact scores of all columns of N positions, as :meth:`scores_many` takes them.

        Returns:
            [N, 7] int8; ``NO_SCORE``, less than any score, where a column is full or the
            game is over.
        """
        return self._many(mine, theirs, COLUMNS, threads, fresh)

    def clear(self) -> None:
        """Forget what has been searched; the table stays allocated."""
        with self._lock:
            self._epoch = self._new_epoch()

    # -- how ------------------------------------------------------------------------

    def _new_epoch(self) -> int:
        """An epoch that no entry of the table belongs to; once all are used, in a new table."""
        if self._newest == LAST_EPOCH:
            self._epoch, self._newest, self._table = 1, 1, None
        self._newest += 1
        return self._newest

    def _score(self, position: Position, floor: int, ceiling: int) -> int:
        """The score, or ``floor`` or ``ceiling`` if it is beyond."""
        require_position(position)
        with self._lock:
            self.nodes = 0
            score: int | None
            if position.outcome is not None:
                score = -win_score(position.plies) if position.outcome.winner is not None else 0
            else:
                score = self.book.score(position) if self.book else None
            if score is None:
                mine, theirs = position.mine, position.theirs

                def search(table: Int64s, work: Int64s) -> int | None:
                    lowest, highest = bound_score(table, work, mine, theirs, floor, ceiling)
                    return lowest if lowest == highest else None

                score = self._run(search, self.threads)
            return max(floor, min(ceiling, score))

    def _columns(self, position: Position, effort: float) -> list[tuple[int, int] | None]:
        require_position(position)
        with self._lock:
            self.nodes = 0
            if position.outcome is not None:
                return [None] * COLUMNS
            if self.book and position.plies < self.book.plies:
                legal = position.legal_columns()
                known = {c: -self._score(position.play(c), -LARGEST, LARGEST) for c in legal}
                return [(known[c], known[c]) if c in known else None for c in range(COLUMNS)]
            mine, theirs = position.mine, position.theirs
            score = self.book.score(position) if self.book else None
            floor, ceiling = (-LARGEST, LARGEST) if score is None else (score, score)

            def search(table: Int64s, work: Int64s) -> list[tuple[int, int] | None] | None:
                low, high = np.empty((2, COLUMNS), np.int8)
                done = score_columns(table, work, mine, theirs, floor, ceiling, low, high, effort)
                pairs = zip(low.tolist(), high.tolist(), strict=True)
                return [None if p[0] == NO_SCORE else p for p in pairs] if done else None

            # Bounds are the same again only if one thread alone finds them.
            return self._run(search, self.threads if effort in (0, inf) else 1)

    def _memory(self, threads: int) -> tuple[Int64s, list[Int64s]]:
        """The table, and as many workspaces as threads, ready to search."""
        if self._table is None:
            self._table = allocate(self.table_mb)
        while len(self._workspaces) < threads:
            self._workspaces.append(np.zeros(WORKSPACE, np.int64))
        for work in self._workspaces:
            make_ready(work, self._table, self._epoch)
        return self._table, self._workspaces[:threads]

    def _run(
        self, search: Callable[[Int64s, Int64s], T | None], threads: int, together: bool = True
    ) -> T:
        """Run a search: a short one in the caller's thread, a longer one in several.

        Args:
            search: takes the table and a workspace. It returns None when its limit stopped it, and
                is then called again in each thread.
            threads: how many search.
            together: they search one position: a thread puts off nodes that another one is
                searching, and the first that is done ends the search. Else all are waited for.
        """
        table, workspaces = self._memory(threads)
        workspaces[0][beside.LIMIT] = _QUICK
        found = search(table, workspaces[0])
        if found is None:
            workspaces[0][beside.LIMIT] = beside.NEVER
            if together and threads > 1:
                table[-MARKS:] = 0
                for work in workspaces:
                    work[SHARED_PLIES] = _SHARED_PLIES
            answers: list[T] = []

            def task(work: Int64s) -> None:
                answer = search(table, work)
                if answer is not None:
                    answers.append(answer)

            beside.run_interruptibly(task, workspaces, 1 if together else threads)
            found = answers[0]
        self.nodes = sum(int(work[beside.NODES]) for work in workspaces)
        return found

    def _many(
        self,
        positions: Sequence[Position] | ArrayLike,
        others: ArrayLike | None,
        width: int,
        threads: int | None,
        fresh: bool,
    ) -> Int8s:
        """[N, width] scores, of positions or of all columns: the book's, and the rest searched."""
        from c4env.agents.solver.search import batch  # compiled only where it is used

        mine, theirs = batch.bitboards(positions, others)
        if threads is None:
            threads = 1 if fresh else usable_cores()
        if threads < 1 or (fresh and threads > 1):
            raise InvalidOption(f"threads={threads!r}, fresh={fresh!r}: expected 1 thread or more")
        with self._lock:
            if fresh:
                self.clear()
            scores = np.zeros((len(mine), width), np.int8)
            nodes = 0
            rest = np.arange(len(mine))
            if self.book:  # it knows the columns of positions a ply before its last
                early = np.bitwise_count(mine | theirs) <= self.book.plies - (width > 1)
                rest = np.flatnonzero(~early)
                for i in np.flatnonzero(early).tolist():
                    position = Position.from_bitboards(int(mine[i]), int(theirs[i]))
                    known = self.scores(position) if width > 1 else [self.score(position)]
                    scores[i] = [NO_SCORE if score is None else score for score in known]
                    nodes += self.nodes
            found = scores[rest]
            sides = mine[rest], theirs[rest]
            portions = iter([(0, len(rest))])

            def search(table: Int64s, work: Int64s) -> bool | None:
                """Score one portion after the other; what the first call leaves is shared out."""
                nonlocal portions
                for start, stop in portions:
                    done = batch.score_batch(table, work, *sides, found, start, stop, fresh)
                    if done < stop:
                        size = max(1, min(_PORTION, (stop - done) // (_SHARES * threads)))
                        starts = range(done, stop, size)
                        portions = iter([(first, min(first + size, stop)) for first in starts])
                        return None
                return True

            self._run(search, threads, together=False)
            if fresh:
                self._epoch = self._newest = int(self._workspaces[0][EPOCH])
            scores[rest] = found
            self.nodes += nodes
            return scores
