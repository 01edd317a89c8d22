"""The figures that a training reports of its network."""

from __future__ import annotations

import numpy as np
import pytest

from c4env import Position
from c4env.agents.batched import opponent
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import exam_positions
from c4env.agents.training.judge import (
    blunders,
    critical_positions,
    observed,
    safe_position,
    score_against,
)
from c4env.observation import position_from

LATE = range(28, 33)


@pytest.fixture(scope="module")
def critical():
    return critical_positions(60, LATE)


@pytest.mark.compiled
def test_critical_positions_are_so_by_exact_play(critical):
    solver = Solver(book=None, table_mb=4)
    assert len(critical.keeps) > 10
    for planes, mask, keeps in zip(*critical.seen.values(), critical.keeps, strict=True):
        position = position_from(planes)
        assert position.plies in LATE
        assert position not in exam_positions()
        scores = solver.scores(position)
        best = np.sign(solver.score(position))
        assert [s is not None for s in scores] == (mask == 1).tolist()
        assert [s is not None and np.sign(s) == best for s in scores] == keeps.tolist()
        assert keeps.sum() < mask.sum()


@pytest.mark.compiled
def test_the_same_seed_gives_the_same_positions(critical):
    again, other = (critical_positions(60, LATE, seed) for seed in (0, 1))
    assert np.array_equal(again.seen["observation"], critical.seen["observation"])
    assert again.seen["observation"].tobytes() != other.seen["observation"].tobytes()


@pytest.mark.compiled
def test_blunders_are_counted(critical):
    best = critical.keeps.argmax(axis=1)
    worst = (critical.seen["action_mask"] * ~critical.keeps).argmax(axis=1)
    assert blunders(lambda seen: best, critical) == 0
    assert blunders(lambda seen: worst, critical) == 1
    mixed = np.where(np.arange(len(best)) % 2, best, worst)
    assert blunders(lambda seen: mixed, critical) == pytest.approx(0.5, abs=0.05)


def test_a_safe_position_is_lost_to_no_next_disc():
    generator = np.random.default_rng(5)
    for _ in range(50):
        position = safe_position(12, generator)
        assert position.plies <= 12
        assert position.outcome is None


def first_column(seen):
    return seen["action_mask"].argmax(axis=1)


def test_all_openings_are_played_with_both_colours():
    asked = []

    def recorded(seen):
        asked.append(len(seen["action_mask"]))
        return first_column(seen)

    assert score_against(recorded, first_column, plies=1) + score_against(
        first_column, recorded, plies=1
    ) == pytest.approx(1)
    assert asked[0] == 7  # of fourteen games it is its turn in half


def test_the_better_player_scores_more():
    greedy, weak = opponent("greedy"), opponent("random", seed=1)
    assert score_against(greedy, weak, plies=1) > 0.8
    assert score_against(weak, greedy, plies=1) < 0.2


def test_positions_are_stacked():
    seen = observed([Position(), Position.parse("44")])
    assert seen["observation"].shape == (2, 6, 7, 2)
    assert seen["action_mask"].tolist() == [[1] * 7] * 2
