"""Find and store the exact score of every column of many positions.

    with Judge("DIR") as judge:
        judge.judge(positions_backwards(games))
        judge.scores(position)  # (-2, -1, 0, 1, 0, -1, -2)

The judge uses all cores, and solves only one of two mirror images. The judge writes each score to
``scores.jsonl`` at once, so that an interrupted call can resume.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final

from c4env.agents.solver import NO_SCORE, Book, Solver
from c4env.errors import require_integer
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.jsonl import Memo
from c4env.evaluation.records.run_folder import SCORES_FILE
from c4env.openings import canonical
from c4env.position import Position, parse_moves
from c4env.rules import COLUMNS
from c4env.system import usable_cores

Scores = tuple[int | None, ...]
"""The exact score of each of the seven columns, for the side to move; None for a full column."""

_PORTION: Final = 8  # positions per thread that are solved, then stored


class Judge:
    """A context manager that solves each position once and stores the exact column scores.

    Args:
        folder: folder of ``scores.jsonl``, usually a run directory; None writes no file.
        book: the solver's opening book (``c4env.agents.solver.Solver``); the book changes no score.
        table_mb: size of the transposition table, in MB.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        book: Book | str | None = "default",
        table_mb: int = 64,
    ) -> None:
        self._solver = Solver(book=book, table_mb=table_mb)
        self._memo = Memo(None if folder is None else Path(folder) / SCORES_FILE)

    def __len__(self) -> int:
        """The number of positions judged so far; mirror images count once."""
        return len(self._memo)

    def learn(self, position: Position, scores: Scores) -> None:
        """Store known exact scores of a position."""
        image = canonical(position)
        self._memo[image.mine, image.theirs] = scores if image == position else scores[::-1]

    def scores(self, position: Position) -> Scores:
        """Return the exact score of each column; solve the position if necessary."""
        if position.outcome is not None:
            return (None,) * COLUMNS
        image = canonical(position)
        key = image.mine, image.theirs
        scores = self._memo.find(key, lambda: self._solver.scores(image))
        return tuple(scores if image == position else scores[::-1])

    def judge(
        self,
        positions: Iterable[Position],
        jobs: int | None = None,
        watch: ProgressCallback | None = None,
    ) -> None:
        """Solve all positions that have no stored scores yet.

        Args:
            positions: any positions; the judge skips finished games. List each game from its end to
                its beginning, because later positions help to solve earlier positions.
            jobs: number of threads; None uses all cores.
            watch: called from time to time with the number of positions done and the total.
        """
        threads = usable_cores() if jobs is None else require_integer("jobs", jobs)
        distinct = list(dict.fromkeys(canonical(p) for p in positions if p.outcome is None))
        missing = [p for p in distinct if (p.mine, p.theirs) not in self._memo]
        done = len(distinct) - len(missing)
        if watch is not None:
            watch(done, len(distinct))
        for start in range(0, len(missing), _PORTION * threads):
            portion = missing[start : start + _PORTION * threads]
            rows = self._solver.columns_many(portion, threads=threads)
            for position, row in zip(portion, rows.tolist(), strict=True):
                scores = tuple(None if score == NO_SCORE else score for score in row)
                self._memo.keep((position.mine, position.theirs), scores)
            if watch is not None:
                watch(done + start + len(portion), len(distinct))

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *error: Any) -> None:
        self._memo.lines.close()


def positions_in(game: GameRecord) -> list[Position]:
    """Return a game's positions from the end of the opening on, except the final position."""
    position = Position.parse(game.opening)
    positions = []
    for column in parse_moves(game.moves[len(game.opening) :]):
        positions.append(position)
        position = position.play(column)
    return positions


def positions_backwards(
    games: Iterable[GameRecord], players: Collection[str] | None = None
) -> list[Position]:
    """Return the positions of each game in reverse order, the fastest order for the judge.

    Args:
        games: the games.
        players: take only positions in which one of these players moves; all if not given.
    """
    return [
        position
        for game in games
        for position in reversed(positions_in(game))
        if players is None or game.players[position.to_move] in players
    ]
