"""The published systems beside pure Python: both search the same tree."""

from __future__ import annotations

import pytest

from c4env import agents
from c4env.position import Position
from tests.benchmarks.agents import BASELINE, in_python, run


@pytest.mark.parametrize("moves", ["", "4", "4455", "12345", "4444", "44443322"])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_the_pure_python_reference_searches_the_same_tree(moves, depth):
    agent = agents.make("alphabeta-chain", depth=depth)
    assert in_python(moves, depth) == tuple(agent.best_move(Position.parse(moves)))


@pytest.mark.compiled  # seconds compiled, minutes not
def test_it_compares_equal_trees():
    found = run(repeat=1)
    nodes = {name: nodes.value for name, _, nodes, _ in found.rows[1:]}
    assert nodes[BASELINE] == nodes["alphabeta-chain (depth 7)"]
    assert found.rows[2][3].value == 1
