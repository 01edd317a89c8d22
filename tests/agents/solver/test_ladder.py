from __future__ import annotations

import numpy as np
import pytest

from c4env.agents.published.negamax import STOPPED
from c4env.agents.search.threads import UNWATCHED
from c4env.agents.solver.ladder import ENTRIES, RUNGS, rung_score
from c4env.position import Position
from tests.helpers.positions import random_positions

TABLE = np.zeros(ENTRIES, np.int64)


def run(position, rung, limit=10**9):
    TABLE[:] = 0
    return rung_score(position.mine, position.theirs, rung, limit, TABLE, UNWATCHED)


def test_every_rung_finds_the_same_score():
    for position in random_positions(15, seed=1, fewest=34):
        scores = {run(position, rung)[0] for rung in range(len(RUNGS))}
        assert len(scores) == 1


@pytest.mark.compiled
def test_every_rung_but_the_first_finds_the_same_score_earlier():
    for position in random_positions(15, seed=2, fewest=28):
        scores = {run(position, rung)[0] for rung in range(2, len(RUNGS))}
        assert len(scores) == 1


@pytest.mark.compiled
def test_the_steps_search_less_and_less():
    late, earlier = (random_positions(15, seed=3, fewest=n) for n in (30, 26))
    nodes = [sum(run(p, rung)[1] for p in late) for rung in (0, 1)]
    assert nodes[1] < nodes[0]
    nodes = [sum(run(p, rung)[1] for p in earlier) for rung in range(2, len(RUNGS))]
    assert nodes[1] < nodes[0]
    assert nodes[4] < nodes[0] / 2


@pytest.mark.parametrize("rung", range(len(RUNGS)))
def test_a_search_stops_at_its_limit(rung):
    score, nodes = run(Position.parse("44"), rung, limit=500)
    assert score == STOPPED
    assert 500 < nodes < 520
