import numpy as np
import pytest

from c4env.agents.heuristics.names import HEURISTICS
from c4env.agents.solver import Solver
from c4env.bitboard import CENTRE, popcount
from c4env.evaluation.exact.heuristics import compare_heuristics, spearman
from c4env.evaluation.exact.questions import make_labelled
from c4env.jit import kernel

SET = make_labelled("end-easy", 40, 7, Solver(book=None, table_mb=1))


@kernel("float64(int64, int64)")
def hopeful(mine: int, theirs: int) -> float:
    """Counts its own discs in the centre column, as if the other side had none."""
    return float(popcount(mine & CENTRE))


def test_the_correlation_is_scipys_and_weights_repeat_positions():
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(2)
    x = generator.integers(0, 40, 300).astype(float)
    y = x + generator.integers(-30, 30, 300)
    weights = np.vstack([np.ones(300), generator.integers(0, 4, (2, 300))]).astype(float)
    for row, rho in zip(weights.astype(int), spearman(x, y, weights), strict=True):
        expected = stats.spearmanr(np.repeat(x, row), np.repeat(y, row)).statistic
        assert rho == pytest.approx(expected)


def test_all_heuristics_are_compared_on_the_same_positions():
    table = compare_heuristics(list(HEURISTICS), SET)
    assert {q.heuristic for q in table.rows} == set(HEURISTICS)
    values = [q.spearman.value for q in table.rows]
    assert values == sorted(values, reverse=True)
    for q in table.rows:
        assert q.spearman.low <= q.spearman.value <= q.spearman.high


def test_the_share_of_right_signs_leaves_out_draws():
    scores = np.array([p.score for p in SET])
    values = np.array([popcount(p.position.mine & CENTRE) for p in SET])
    (found,) = compare_heuristics([hopeful], SET).rows
    signs = (np.sign(values) * np.sign(scores))[scores != 0]
    assert found.sign.value == pytest.approx((1 + signs.mean()) / 2)
