"""The quality of moves, and of heuristics."""

import json

import numpy as np
import pytest

from c4env import evaluation
from c4env.agents.heuristics.heuristic import HEURISTICS
from c4env.agents.solver import Solver
from c4env.bitboard import CENTRE, popcount
from c4env.errors import InvalidOption
from c4env.evaluation.exact.heuristic_quality import compare_heuristics, spearman
from c4env.evaluation.exact.moves import JudgedMove, Quality, bands, judge_games
from c4env.evaluation.exact.position_sets import make_positions
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.records.game import GameRecord
from c4env.jit import kernel

# Columns 0 wins soon, 1 wins late, 2 draws, 3 loses; the others are full.
MIXED = (5, 2, 0, -3, None, None, None)
LOST = (-3, -5, None, None, None, None, None)
FORCED = (None, None, None, 4, None, None, None)

# Endings, so that solving is quick.
OPENINGS = [
    "4713732767357311732634225152551",
    "77445716674373441666175146251212",
    "3432771761767613231746215235614",
]


def move(column, scores=MIXED, player="a", group="1", ply=0):
    return JudgedMove(player, group, ply, column, scores)


def test_counts_and_means_by_player_colour_and_ply():
    moves = (
        move(0, group="x", ply=2),
        move(1, group="x", ply=3),
        move(3, group="y", ply=9),
        move(1, LOST, group="y", ply=12),
        move(3, FORCED, group="y", ply=40),
        move(2, player="b", group="y", ply=41),
        move(1, (0, 0, -1, None, None, None, None), "b", "y", 41),
    )
    quality = Quality(moves)
    assert quality.players == ("a", "b")  # the greatest accuracy first
    a, b = quality.overall()
    assert (a.moves, a.forced, a.critical, a.blunders) == (4, 1, 3, 1)
    assert a.optimal.value == 1 / 4
    assert a.accuracy.value == pytest.approx(2 / 3)
    assert a.loss.value == (0 + 3 + 8 + 2) / 4
    assert (b.moves, b.critical, b.accuracy.value, b.loss.value) == (2, 2, 1 / 2, 5 / 2)
    first, second = (quality.slice("a", colour) for colour in (0, 1))
    assert (first.moves, first.critical, first.blunders) == (2, 1, 0)
    assert (second.moves, second.critical, second.blunders) == (2, 2, 1)
    assert first.forced == 1
    slices = [quality.slice("a", plies=band) for band in bands(7)]
    assert [(q.moves, q.forced) for q in slices] == [(2, 0), (2, 0), *[(0, 0)] * 3, (0, 1)]
    assert quality.slice("b", plies=(35, 41)).moves == 2
    assert sum(quality.slice("a", plies=band).moves for band in bands(1)) == 4


def test_an_interval_needs_two_groups_and_is_never_empty():
    (alone,) = Quality((move(2), move(0))).overall()
    assert alone.accuracy.value == 0.5
    assert np.isnan(alone.accuracy[1:]).all()
    (row,) = json.loads(Quality((move(2), move(0))).json())["overall"]
    assert (row["accuracy"], row["accuracy_low"]) == (0.5, None)
    moves = tuple(move(0, group=str(g)) for g in range(20))
    (never,) = Quality(moves).overall()
    value, low, high = never.accuracy
    assert value == high == 1
    assert 0.75 < low < 0.95  # Jeffreys' interval begins at 0.88
    assert never.optimal.value == never.optimal.high == 1
    assert never.optimal.low == pytest.approx(low, abs=0.05)


@pytest.mark.parametrize(("groups", "most"), [(3, 100), (40, 99)])
def test_intervals_cover_the_truth(groups, most):
    """Blunders at a rate that differs from group to group: openings are not alike."""
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(100):
        moves = []
        for group in range(groups):
            rate = generator.choice([0.1, 0.5])
            for _ in range(6):
                moves.append(move(2 if generator.random() < rate else 0, group=str(group)))
        _, low, high = Quality(tuple(moves)).overall()[0].accuracy
        covered += low <= 0.7 <= high
    assert 88 <= covered <= most


@pytest.mark.compiled  # reads the opening book
def test_moves_of_a_game_are_their_players_and_the_openings_nobodys():
    game = GameRecord(("a", "b"), "44", "4455667", 0, "four")
    judge = Judge()
    moves = judge_games([game], judge)
    assert "".join(m.player for m in moves) == "ababa"
    assert [(m.ply, m.column) for m in moves] == [(2, 4), (3, 4), (4, 5), (5, 5), (6, 6)]
    assert {m.group for m in moves} == {"game 0"}
    assert moves[-1].loss == 0  # it won
    assert moves[-2].loss == moves[-2].best - -18  # it let it
    two = judge_games([game, GameRecord(("b", "a"), "4", "4455667", 0, "four")], judge)
    assert {m.group for m in two} == {"44", "4"}


def test_the_command_judges_a_run(tmp_path, c4):
    evaluation.round_robin(["greedy", "random"], openings=OPENINGS, out=tmp_path)
    content = json.loads(c4("quality", tmp_path, "--format", "json", "--quiet"))
    assert {row["player"] for row in content["overall"]} == {"greedy", "random"}
    assert all(row["critical"] >= row["blunders"] for row in content["overall"])
    assert content["groups"] == {"unit": "openings", "count": 3}
    assert {row["accuracy of"] for row in content["accuracies"]} == {"greedy", "random"}


POSITIONS = make_positions("end-easy", 40, 7, Solver(book=None, table_mb=1))


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
    table = compare_heuristics(list(HEURISTICS), POSITIONS)
    assert {q.heuristic for q in table.rows} == set(HEURISTICS)
    values = [q.spearman.value for q in table.rows]
    assert values == sorted(values, reverse=True)
    for q in table.rows:
        assert q.spearman.low <= q.spearman.value <= q.spearman.high


def test_the_share_of_right_signs_leaves_out_draws():
    scores = np.array([p.score for p in POSITIONS])
    values = np.array([popcount(p.position.mine & CENTRE) for p in POSITIONS])
    (result,) = compare_heuristics([hopeful], POSITIONS).rows
    signs = (np.sign(values) * np.sign(scores))[scores != 0]
    assert result.sign.value == pytest.approx((1 + signs.mean()) / 2)


def test_agents_are_named_by_texts():
    with pytest.raises(InvalidOption, match="expected the text of a spec"):
        evaluation.quality([lambda observation: 3], on="end-easy", count=5)
