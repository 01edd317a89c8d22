"""Measure, without search, how well heuristics rank positions of known score.

A heuristic evaluates a position for one side. A position has two values for the side to move. The
value *to move* is the heuristic's value for that side; *waiting* is the negated value for the other
side. A search uses *to move* at leaves where the searching player is to move, else *waiting*. If
the two values are equal in all given positions, the heuristic gets one row, *either*. Any other
heuristic gets three rows, one for each view: *to move*, *waiting* and their *mean*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.agents.heuristics.names import Heuristic, load, require_finite
from c4env.arrays import Float64s
from c4env.errors import InvalidOption
from c4env.evaluation.exact.labelled import Labelled
from c4env.evaluation.exact.quality import (
    BAND,
    RESAMPLES,
    TAIL,
    Estimate,
    band_name,
    bands,
    flat,
    nested,
    resampled_counts,
    shown_share,
)
from c4env.evaluation.tables import Rows, Tables, with_heading

VIEWS: Final = ("to move", "waiting", "mean")
EITHER: Final = "either"

_BLOCK: Final = 512  # positions compared with all others at a time


class HeuristicQuality(NamedTuple):
    """Several measures of how well a heuristic ranks positions."""

    heuristic: str
    view: str  # of VIEWS, or EITHER
    plies: tuple[int, int] | None  # discs on the board, both ends included; None: all
    positions: int
    decided: int  # positions that are not draws
    spearman: Estimate  # rank correlation between value and score
    kendall: Estimate  # tau-b between value and score
    sign: Estimate  # share of decided positions with a value of the right sign; 0 counts half
    commoner: float | None  # share of the majority class: the more frequent winner's positions
    better: float | None  # probability that its Spearman correlation beats the next row's


@dataclass(frozen=True)
class HeuristicTable(Tables):
    """A comparison of heuristics on the same positions.

    Attributes:
        overall: a row for each heuristic and view (``VIEWS``), the best Spearman correlation first.
        by_ply: rows for each heuristic and view in each band of plies with two positions or more.
        positions: number of positions.
    """

    overall: tuple[HeuristicQuality, ...]
    by_ply: tuple[HeuristicQuality, ...]
    positions: int

    def tables(self) -> list[list[list[str]]]:
        """Return a table of all measures, and a table of Spearman correlations by ply."""
        heading = ["heuristic", "view", "Spearman", "better than next", "Kendall"]
        rows = [[*heading, "names the winner", "commoner winner"]]
        for q in self.overall:
            better = "-" if q.better is None else f"{100 * q.better:.0f}%"
            rows.append([q.heuristic, q.view, _correlation(q.spearman), better])
            rows[-1] += [_correlation(q.kendall), shown_share(q.sign), _percent(q.commoner)]
        shown = list(dict.fromkeys(q.plies for q in self.by_ply if q.plies is not None))
        counts = {q.plies: q.positions for q in self.by_ply}
        by_ply = [["Spearman by ply", "view", *(f"{band_name(b)} ({counts[b]})" for b in shown)]]
        for q in self.overall:
            parts = {
                p.plies: p for p in self.by_ply if (p.heuristic, p.view) == (q.heuristic, q.view)
            }
            by_ply.append([q.heuristic, q.view, *(_correlation(parts[b].spearman) for b in shown)])
        return [rows, by_ply]

    def summary(self) -> str:
        """Return a note on the positions and the intervals."""
        return (
            f"{self.positions} positions of known score, without search. 95 % intervals and "
            f"probabilities: bootstrap over positions, {RESAMPLES} samples for all rows."
        )

    def records(self) -> Rows:
        """Return a row for each heuristic, view and range of plies."""
        return with_heading([flat(q) for q in (*self.overall, *self.by_ply)])

    def as_dict(self) -> dict[str, Any]:
        """Return the whole comparison as plain Python objects."""
        return {
            "positions": self.positions,
            "overall": [nested(q) for q in self.overall],
            "by_ply": [nested(q) for q in self.by_ply],
        }


def compare_heuristics(
    names: Sequence[str | Heuristic],
    positions: Sequence[Labelled],
    seed: int = 0,
    watch: Callable[[int, int], None] | None = None,
) -> HeuristicTable:
    """Compare how well heuristics rank positions of known score.

    Args:
        names: names in ``c4env.agents.heuristics.names.HEURISTICS``, import paths
            ``package.module:function``, or functions.
        positions: unfinished positions. The time grows with the square of the number of positions.
        seed: seed of the bootstrap over positions.
        watch: called with the number of comparisons done and the total.

    Raises:
        InvalidOption: no heuristic is given, one occurs twice or is unknown, there are fewer than
            two positions, or a value is not strictly between -WIN and WIN.
    """
    titles = [getattr(name, "__name__", str(name)) for name in names]
    if not names or len(set(titles)) < len(titles):
        raise InvalidOption(
            f"heuristics {', '.join(titles) or 'none'}: expected one or more, no duplicate"
        )
    if len(positions) < 2:
        raise InvalidOption(f"{len(positions)} positions: expected at least two to rank")
    views = {
        (title, view): values
        for title, name in zip(titles, names, strict=True)
        for view, values in _views(load(name), title, positions).items()
    }
    plies = np.array([p.position.plies for p in positions])
    scores = np.array([p.score for p in positions], dtype=np.float64)
    stages: list[tuple[int, int] | None] = [None]
    stages += [b for b in bands(BAND) if ((plies >= b[0]) & (plies <= b[1])).sum() > 1]
    total = len(stages) * len(views)
    tables: list[list[HeuristicQuality]] = []
    for stage in stages:
        first, last = stage or (0, plies.max())
        chosen = (plies >= first) & (plies <= last)
        count = int(chosen.sum())
        weights = np.vstack([np.ones(count), resampled_counts(count, [seed, count])])
        some: list[_Measured] = []
        for (title, view), values in views.items():
            some.append(_measure(title, view, values[chosen], scores[chosen], weights))
            if watch is not None:
                watch(len(tables) * len(views) + len(some), total)
        tables.append(_ranked(some, stage, scores[chosen]))
    return HeuristicTable(
        tuple(tables[0]), tuple(q for table in tables[1:] for q in table), len(positions)
    )


def _views(heuristic: Heuristic, title: str, positions: Sequence[Labelled]) -> dict[str, Float64s]:
    """Map each view (*to move*, *waiting*, *mean*; or *either*) to a heuristic's values ``[N]``."""
    boards = [(p.position.mine, p.position.theirs) for p in positions]
    to_move = np.array([require_finite(heuristic(m, t), title) for m, t in boards])
    waiting = np.array([-require_finite(heuristic(t, m), title) for m, t in boards])
    if np.array_equal(to_move, waiting):
        return {EITHER: to_move}
    return dict(zip(VIEWS, (to_move, waiting, (to_move + waiting) / 2), strict=True))


class _Measured(NamedTuple):
    """A heuristic's measures: arrays of the value and of its bootstrap samples."""

    heuristic: str
    view: str
    spearman: Float64s  # [1 + RESAMPLES], nan where all values or scores are equal
    kendall: Float64s
    sign: Float64s


def _measure(
    heuristic: str, view: str, values: Float64s, scores: Float64s, weights: Float64s
) -> _Measured:
    spearman, kendall = rank_correlations(values, scores, weights)
    decided = weights * (scores != 0)
    agreement = (1 + np.sign(values) * np.sign(scores)) / 2
    with np.errstate(invalid="ignore"):
        sign = (decided @ agreement) / decided.sum(axis=1)
    return _Measured(heuristic, view, spearman, kendall, sign)


def _ranked(
    some: Sequence[_Measured], stage: tuple[int, int] | None, scores: Float64s
) -> list[HeuristicQuality]:
    ranked = sorted(some, key=lambda m: -np.nan_to_num(m.spearman[0], nan=-2))
    wins, losses = int((scores > 0).sum()), int((scores < 0).sum())
    commoner = max(wins, losses) / (wins + losses) if wins + losses else None
    table = []
    for place, m in enumerate(ranked):
        better = None
        if place + 1 < len(ranked):
            margin = (m.spearman - ranked[place + 1].spearman)[1:]
            margin = margin[~np.isnan(margin)]
            # A tie counts half.
            better = float(((1 + np.sign(margin)) / 2).mean()) if len(margin) else None
        about = (m.heuristic, m.view, stage, len(scores), wins + losses)
        measures = (_estimate(m.spearman), _estimate(m.kendall), _estimate(m.sign))
        table.append(HeuristicQuality(*about, *measures, commoner, better))
    return table


def _estimate(measures: Float64s) -> Estimate:
    value, samples = float(measures[0]), measures[1:][~np.isnan(measures[1:])]
    if np.isnan(value) or not len(samples):
        return Estimate(None, None, None)
    low, high = np.quantile(samples, (TAIL, 1 - TAIL))
    return Estimate(value, float(low), float(high))


def rank_correlations(x: Float64s, y: Float64s, weights: Float64s) -> tuple[Float64s, Float64s]:
    """Compute Spearman's rho and Kendall's tau-b of weighted pairs, for many weightings.

    The signs of all pairwise differences determine rho and tau-b. The rank of a value is the total
    weight of the smaller values minus the total weight of the greater values. Only the order and
    the ties of the values matter.

    Args:
        x: first values, ``[N]``.
        y: second values, ``[N]``.
        weights: non-negative weights of the pairs ``(x[i], y[i])``, ``[B, N]``: B weightings.

    Returns:
        rho ``[B]`` and tau ``[B]``, nan where all values of ``x`` or of ``y`` are equal.
    """
    rows = weights.astype(np.float32)  # counts and their sums stay exact to 2**24
    ranks = np.empty((2, *weights.shape))
    agreeing, untied_x, untied_y = np.zeros((3, len(weights)))
    for start in range(0, len(x), _BLOCK):
        some = slice(start, start + _BLOCK)
        signs_x = np.sign(x[some] - x[:, None]).astype(np.float32)  # [N, block]
        signs_y = np.sign(y[some] - y[:, None]).astype(np.float32)
        ranks[0, :, some] = rows @ signs_x
        ranks[1, :, some] = rows @ signs_y
        for total, signs in (
            (agreeing, signs_x * signs_y),
            (untied_x, signs_x * signs_x),
            (untied_y, signs_y * signs_y),
        ):
            total += ((rows @ signs).astype(np.float64) * weights[:, some]).sum(axis=1)
    # The weighted mean of these ranks is 0.
    covariance, variance_x, variance_y = (
        (weights * a * b).sum(axis=1)
        for a, b in ((ranks[0], ranks[1]), (ranks[0], ranks[0]), (ranks[1], ranks[1]))
    )
    with np.errstate(invalid="ignore"):
        rho = covariance / np.sqrt(variance_x * variance_y)
        tau = agreeing / np.sqrt(untied_x * untied_y)
    return rho, tau


def _correlation(estimate: Estimate) -> str:
    return estimate.shown("+.2f", " to ")


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"
