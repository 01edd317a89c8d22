"""The exam: a fixed set of critical positions with the exact score of each column.

In a critical position the side to move can win or draw: some columns keep this result, and others
do not. ``c4env.evaluation.exact.make_exam`` chose the positions. This project's training excludes
these positions.

A line of the file has a game that leads to the position (1-based columns), a tab, and the scores of
the seven columns for the side to move, ``-`` for a full column.
"""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from c4env.arrays import Bools, Int64s
from c4env.bitboard import mirror_all
from c4env.geometry import require_standard
from c4env.position import Position

require_standard(__name__)

VERSION: Final = 1
FILE: Final = f"exam_{VERSION}.tsv"  # beside this module
SHA256: Final = "358e07c41065de6eeeb4e5a11358c7229543f6f8fe3fc8e070d6050efff879b6"
"""The SHA-256 of the file."""
HELD_OUT: Final = 50


class ScoredPosition(NamedTuple):
    """A position to ask agents about, with its exact score for the side to move."""

    moves: str  # 1-based columns from the empty board
    score: int
    scores: tuple[int | None, ...] | None = None  # of the seven columns, None of a full one

    @classmethod
    def of(cls, moves: str, scores: tuple[int | None, ...]) -> ScoredPosition:
        """Return a position whose column scores are known."""
        return cls(moves, max(score for score in scores if score is not None), scores)

    @property
    def position(self) -> Position:
        """The position."""
        return Position.parse(self.moves)


@functools.cache
def exam() -> tuple[ScoredPosition, ...]:
    """Return all positions, in random order, so that the first N are a random sample."""
    questions = []
    for line in files(__package__).joinpath(FILE).read_text(encoding="utf-8").splitlines():
        moves, columns = line.split("\t")
        scores = tuple(None if score == "-" else int(score) for score in columns.split())
        questions.append(ScoredPosition.of(moves, scores))
    return tuple(questions)


@functools.cache
def exam_positions() -> frozenset[Position]:
    """Return all positions of the exam and their mirror images."""
    positions = [question.position for question in exam()]
    return frozenset([*positions, *(position.mirror() for position in positions)])


def _least(mine: Int64s, theirs: Int64s, factor: int) -> NDArray[np.uint64]:
    """Return a number for each position ``[N]``, which its mirror image shares."""
    images = mirror_all(mine) * factor + mirror_all(theirs)
    least: Int64s = np.minimum(mine * factor + theirs, images)
    return least.astype(np.uint64)


def keys(mine: Int64s, theirs: Int64s) -> NDArray[np.uint64]:
    """Return keys ``[N]`` of positions; only mirror images share a key.

    The parts of exact data (``c4env.evaluation.exact.data``) depend on the numbers.
    """
    return _least(mine, theirs, 2)


def held_out(mine: Int64s, theirs: Int64s) -> Bools:
    """Return whether each position ``[N]`` is excluded from all training in this project.

    A hash that mirror images share chooses one position in ``HELD_OUT``. The positions of the exam
    are all among them.
    """
    mixed = _least(mine, theirs, 3) * np.uint64(5) * np.uint64(0x9E3779B97F4A7C15)
    chosen: Bools = (mixed >> np.uint64(40)) % np.uint64(HELD_OUT) == 0
    return chosen


@functools.cache
def _exam_keys() -> NDArray[np.uint64]:
    return keys(*np.array([(p.mine, p.theirs) for p in exam_positions()], np.int64).T)


def in_exam(mine: Int64s, theirs: Int64s) -> Bools:
    """Return whether each position ``[N]`` or its mirror image is in the exam."""
    return np.isin(keys(mine, theirs), _exam_keys())
