import functools

import pytest

from c4env import agents
from c4env.agents.solver import Solver
from c4env.position import Position
from tests.rules.positions import random_positions

LATE = random_positions(60, seed=1, fewest=24)


@pytest.mark.parametrize("ties", ["center", "random"])
def test_it_plays_a_best_column_and_reports_its_score_and_a_line_to_the_end(ties):
    agent = agents.make("perfect", ties=ties, table_mb=4)
    agent.reset(seed=3)
    solver = Solver(book=None, table_mb=4)
    for position in LATE[:30]:
        scores = solver.scores(position)
        result = agent.search(position)
        assert scores[agent.choose(position)] == max(s for s in scores if s is not None)
        assert result.value == scores[result.column] == solver.score(position)
        assert result.principal_variation[0] == result.column
        after = functools.reduce(Position.play, result.principal_variation, position)
        assert after.outcome is not None
    tied = Position.parse("444444")
    assert {agent.choose(tied) for _ in range(20)} == ({2} if ties == "center" else {2, 4})


def test_the_first_move_is_the_centre_from_the_book():
    agent = agents.make("perfect")
    found = agent.search(Position())
    assert (found.column, found.value) == (3, 1.0)


def test_blunders_come_at_the_stated_rate_and_only_where_they_can():
    solver = Solver(book=None, table_mb=4)
    agent = agents.make("perfect:blunder=0.3", table_mb=4)
    agent.reset(seed=11)
    erred = could = 0
    for position in LATE:
        scores = [s for s in solver.scores(position) if s is not None]
        if len(set(scores)) == 1:
            continue
        for _ in range(10):
            could += 1
            erred += solver.scores(position)[agent.choose(position)] != max(scores)
    assert could > 300
    assert 0.22 < erred / could < 0.38


def test_positions_searched_do_not_depend_on_earlier_games():
    position = Position.parse("4445325233")
    agent = agents.make("perfect")
    agent.reset(seed=1)
    agent.choose(position)
    fresh = agent.nodes
    agent.choose(position)
    assert agent.nodes < fresh  # within a game the table helps
    agent.reset(seed=1)
    agent.choose(position)
    assert agent.nodes == fresh > 0
