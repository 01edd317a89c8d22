from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from c4env.agents.heuristics.names import HEURISTICS
from c4env.agents.solver import Solver
from c4env.bitboard import CENTRE, popcount
from c4env.evaluation.__main__ import main
from c4env.evaluation.exact.heuristics import EITHER, VIEWS, compare_heuristics, rank_correlations
from c4env.evaluation.exact.labelled import make_labelled
from c4env.jit import kernel
from tests.helpers.positions import format_labelled

SET = make_labelled("end-easy", 40, 7, Solver(book=None, table_mb=1))


@kernel("float64(int64, int64)")
def hopeful(mine: int, theirs: int) -> float:
    """Counts its own discs in the centre column, as if the other side had none."""
    return float(popcount(mine & CENTRE))


def test_rank_correlations_agree_with_scipy_and_weights_repeat_positions():
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(2)
    x = generator.integers(0, 40, 700).astype(float)  # more than a block
    y = x + generator.integers(-30, 30, 700)
    weights = np.vstack([np.ones(700), generator.integers(0, 4, (2, 700))]).astype(float)
    rho, tau = rank_correlations(x, y, weights)
    for i, row in enumerate(weights.astype(int)):
        some_x, some_y = np.repeat(x, row), np.repeat(y, row)
        assert rho[i] == pytest.approx(stats.spearmanr(some_x, some_y).statistic)
        assert tau[i] == pytest.approx(stats.kendalltau(some_x, some_y).statistic)


def test_all_heuristics_are_compared_on_the_same_positions():
    table = compare_heuristics(list(HEURISTICS), SET)
    views = {(q.heuristic, q.view) for q in table.overall}
    assert {view for name, view in views if name == "chain"} == {EITHER}
    assert {view for name, view in views if name == "lines"} == {EITHER}
    assert {view for name, view in views if name == "window"} == set(VIEWS)
    values = [q.spearman.value for q in table.overall]
    assert values == sorted(values, reverse=True)
    assert all(q.positions == 40 for q in table.overall)
    decided = sum(p.score != 0 for p in SET)
    assert {q.decided for q in table.overall} == {decided}
    assert sum(q.positions for q in table.by_ply if q.heuristic == "chain") == 40
    for q in table.overall[:-1]:
        assert q.better is not None
        assert q.better >= 0.4
        assert q.spearman.low <= q.spearman.value <= q.spearman.high
    assert table.overall[-1].better is None


def test_the_views_of_a_heuristic_that_is_not_antisymmetric():
    table = compare_heuristics([hopeful], SET)
    scores = np.array([p.score for p in SET], dtype=float)
    own = np.array([popcount(p.position.mine & CENTRE) for p in SET], dtype=float)
    other = -np.array([popcount(p.position.theirs & CENTRE) for p in SET], dtype=float)
    found = {q.view: q for q in table.overall}
    for view, values in zip(VIEWS, (own, other, (own + other) / 2), strict=True):
        (rho,), (tau,) = rank_correlations(values, scores, np.ones((1, len(SET))))
        assert found[view].spearman.value == pytest.approx(rho)
        assert found[view].kendall.value == pytest.approx(tau)
        signs = [np.sign(v) * np.sign(s) for v, s in zip(values, scores, strict=True) if s]
        assert found[view].sign.value == pytest.approx((1 + np.mean(signs)) / 2)
    wins, losses = (scores > 0).sum(), (scores < 0).sum()
    assert found["mean"].commoner == max(wins, losses) / (wins + losses)


@pytest.fixture
def labelled_file(tmp_path):
    path = tmp_path / "set.txt"
    path.write_text(format_labelled(SET))
    return str(path)


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json"])
def test_every_form_of_the_table(labelled_file, form, capsys):
    command = [
        "quality",
        "--heuristics",
        "lines",
        "window",
        "--on",
        labelled_file,
        "--format",
        form,
    ]
    assert main([*command, "--quiet"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    if form == "json":
        data = json.loads(shown.out)
        assert data["positions"] == 40
        assert {q["heuristic"] for q in data["overall"]} == {"lines", "window"}
        assert data["overall"][0]["spearman"] > 0
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(shown.out)))
        assert len(rows) == 4
    else:
        assert "40 positions of known score" in shown.out
        assert "waiting" in shown.out
