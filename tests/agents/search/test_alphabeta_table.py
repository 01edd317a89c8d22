from __future__ import annotations

import pytest

from c4env import agents
from c4env.agents.search.alphabeta_table import LAST_AGE
from c4env.position import Position
from tests.helpers.positions import random_positions


@pytest.mark.parametrize("heuristic", ["chain", "window", "window-b", "lines"])
def test_it_chooses_as_alphabeta_with_the_same_value(heuristic):
    for depth in (1, 2, 3, 4):
        plain = agents.make("alphabeta", depth=depth, heuristic=heuristic)
        ordered = agents.make("alphabeta-table", depth=depth, heuristic=heuristic)
        for position in random_positions(15, seed=depth):
            assert plain.best_move(position)[:2] == ordered.best_move(position)[:2]


@pytest.mark.compiled
def test_it_chooses_as_alphabeta_at_greater_depths():
    for depth in (6, 8):
        plain = agents.make("alphabeta", depth=depth)
        ordered = agents.make("alphabeta-table", depth=depth)
        for position in random_positions(80, seed=depth):
            assert plain.best_move(position)[:2] == ordered.best_move(position)[:2]


@pytest.mark.compiled
def test_it_searches_fewer_nodes():
    for depth in (7, 9):
        plain = agents.make("alphabeta", depth=depth).best_move(Position())[2]
        assert agents.make("alphabeta-table", depth=depth).best_move(Position())[2] < 0.6 * plain


def test_one_choice_does_not_change_the_next_however_many_there_are():
    agent = agents.make("alphabeta-table", depth=3)
    first = agent.best_move(Position.parse("44"))
    for _ in range(LAST_AGE + 2):
        agent.best_move(Position.parse("4433"))
    assert agent.best_move(Position.parse("44")) == first


def test_the_principal_variation_is_alphabetas():
    position = Position.parse("4455")
    plain = agents.make("alphabeta", depth=5).search(position)
    ordered = agents.make("alphabeta-table", depth=5).search(position)
    assert ordered.principal_variation == plain.principal_variation
