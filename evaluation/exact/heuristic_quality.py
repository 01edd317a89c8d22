"""Measure, without search, how well heuristics rank positions of known score.

The value of a position is the heuristic's value for the side to move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from c4env.agents.heuristics.heuristic import Heuristic, HeuristicFunction
from c4env.agents.solver.exam import ScoredPosition
from c4env.arrays import Float64s
from c4env.errors import InvalidOption
from c4env.evaluation.exact.moves import resampled
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.ratings.fit import UNKNOWN, Interval
from c4env.evaluation.tables import Column, Result, Table
from c4env.system import one_thread


class HeuristicQuality(NamedTuple):
    """How well a heuristic ranks positions."""

    heuristic: str
    spearman: Interval  # rank correlation between value and exact score
    sign: Interval  # share of won and lost positions with the right sign; value 0 counts 1/2


HEURISTIC_COLUMNS: Final = (Column("heuristic"), Column("spearman", "+.2f"), Column("sign", ".1%"))


@dataclass(frozen=True)
class HeuristicTable(Result):
    """A comparison of heuristics on the same positions.

    Attributes:
        rows: a row for each heuristic, the best rank correlation first.
        positions: number of positions.
    """

    rows: tuple[HeuristicQuality, ...]
    positions: int

    def tables(self) -> dict[str, Table]:
        """A table with a row for each heuristic."""
        return {"overall": Table(HEURISTIC_COLUMNS, self.rows)}

    def summary(self) -> str:
        """The number of positions; the intervals resample the positions."""
        return f"95 % intervals over {self.positions} positions of known score."


def compare_heuristics(
    names: Sequence[str | HeuristicFunction],
    positions: Sequence[ScoredPosition],
    seed: int = 0,
    watch: ProgressCallback | None = None,
) -> HeuristicTable:
    """Compare how well heuristics rank positions of known score.

    Args:
        names: names in ``c4env.agents.heuristics.heuristic.HEURISTICS``, import paths
            ``package.module:function``, or functions.
        positions: unfinished positions.
        seed: seed of the bootstrap over positions.
        watch: called with the number of heuristics done and the total.
    """
    heuristics = [Heuristic.of(name) for name in names]
    titles = [heuristic.name for heuristic in heuristics]
    if not names or len(set(titles)) < len(titles):
        raise InvalidOption(
            f"heuristics {', '.join(titles) or 'none'}: expected one or more, no duplicate"
        )
    if len(positions) < 2:
        raise InvalidOption(f"{len(positions)} positions: expected at least two to rank")
    boards = [(board.mine, board.theirs) for board in (p.position for p in positions)]
    scores = np.array([p.score for p in positions], dtype=np.float64)
    weights = np.vstack([np.ones(len(boards)), resampled(len(boards), seed)[0]])
    rows = []
    for heuristic in heuristics:
        values = np.array([heuristic.value(*board) for board in boards])
        decided = weights * (scores != 0)
        right = (1 + np.sign(values) * np.sign(scores)) / 2
        # nan where a sample has no decided position
        with one_thread(), np.errstate(invalid="ignore"):
            sign = (decided @ right) / decided.sum(axis=1)
        correlations = spearman(values, scores, weights)
        rows.append(HeuristicQuality(heuristic.name, _estimate(correlations), _estimate(sign)))
        if watch is not None:
            watch(len(rows), len(names))
    rows.sort(key=lambda row: np.nan_to_num(row.spearman.value, nan=-2.0), reverse=True)
    return HeuristicTable(tuple(rows), len(positions))


def spearman(x: Float64s, y: Float64s, weights: Float64s) -> Float64s:
    """Compute Spearman's rank correlation of weighted pairs, for many weightings.

    Args:
        x, y: values ``[N]``.
        weights: non-negative weights of the pairs, ``[B, N]``: B weightings.

    Returns:
        the correlations ``[B]``, nan where all values of ``x`` or of ``y`` are equal.
    """
    total = weights.sum(axis=1, keepdims=True)
    a, b = (_ranks(values, weights) - total / 2 for values in (x, y))  # the weighted mean is 0
    with np.errstate(invalid="ignore"):
        correlations: Float64s = (weights * a * b).sum(axis=1) / np.sqrt(
            (weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1)
        )
    return correlations


def _ranks(values: Float64s, weights: Float64s) -> Float64s:
    """The weight of all smaller values plus half the weight of equal values, ``[B, N]``."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    totals = np.add.reduceat(weights[:, order], starts, axis=1)  # of each distinct value
    ranks: Float64s = (totals.cumsum(axis=1) - totals / 2)[:, group]
    return ranks


def _estimate(measures: Float64s) -> Interval:
    """Return the first measure, with the interval of the other measures; nan if undefined."""
    value, samples = measures[0], measures[1:][~np.isnan(measures[1:])]
    return Interval.of(value, samples) if len(samples) and not np.isnan(value) else UNKNOWN
