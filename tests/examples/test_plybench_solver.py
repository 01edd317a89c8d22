"""PlyBench with exact play: its regret is ours, and its optimal player gives nothing away."""

import asyncio

import pytest

from c4env import evaluation
from c4env.evaluation.exact.moves import Quality
from c4env.evaluation.exact.scores import Judge
from tests.helpers.examples import example

pytest.importorskip("plybench", reason="needs PlyBench, on Python 3.12: pip install plybench")
pytestmark = pytest.mark.filterwarnings("ignore")  # of PlyBench's own


def given_away(folder):
    """The points that each player gives away in the games of a folder, as `c4 quality` has them."""
    games = evaluation.read_games(folder).games
    with Judge() as judge:
        return Quality.of_games(games, judge).overall()


def test_its_regret_is_twice_what_is_given_away(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where PlyBench writes
    script = example("plybench_solver")
    found = script.regrets(script.bench(), games=2)
    rows = given_away(tmp_path / "results" / "benchmarks" / "c4env")
    assert len(found) == sum(row.moves + row.forced for row in rows)
    assert sum(found) == 2 * sum(row.given_away for row in rows) > 0


def test_its_optimal_player_gives_nothing_away(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = example("plybench_solver")
    op = script.bench()
    optimal = "optimal:stochastic=True"
    run = script.Benchmark("best", op, [script.GAME], [optimal], [script.RANDOM], 2)
    assert len(asyncio.run(run.run()).trackers[0].games) == 2
    (best,) = [row for row in given_away(tmp_path / "results") if row.player.startswith("optimal")]
    assert best.given_away == 0
