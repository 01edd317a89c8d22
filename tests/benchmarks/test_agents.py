"""The published systems beside pure Python: both search the same tree."""

from __future__ import annotations

import pytest

from c4env import agents
from c4env.position import Position
from tests.benchmarks.__main__ import main
from tests.benchmarks.agents import BASELINE, in_python, run
from tests.benchmarks.published import endings, negamax, pruning, random_positions


@pytest.mark.parametrize("moves", ["", "4", "4455", "12345", "4444", "44443322"])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_the_pure_python_reference_searches_the_same_tree(moves, depth):
    agent = agents.make("alphabeta-chain", depth=depth)
    assert in_python(moves, depth) == tuple(agent.best_move(Position.parse(moves)))


@pytest.mark.compiled  # seconds compiled, minutes not
def test_it_compares_equal_trees():
    found = run(repeat=1)
    nodes = {name: nodes for name, _, nodes, _ in found.items}
    assert nodes[BASELINE] == nodes["alphabeta-chain (depth 7)"]
    assert found.items[1][3] == 1


@pytest.mark.compiled
def test_the_published_experiments_come_out(capsys):
    assert main(["published", "--depth", "4", "--count", "3"]) == 0
    assert "endings" in capsys.readouterr().out
    (row,) = pruning(random_positions(3, 0), [4])
    assert row[2] > 2 * row[4] > 0
    (row,) = negamax({"endings": endings()})
    assert row[2] == pytest.approx(940.870)


def test_a_wrong_score_is_counted():
    moves, score, nodes = endings()[0]
    wrong = [(moves, score + 1, nodes), (moves, score, nodes + 1), (moves, score, None)]
    assert next(negamax({"e": wrong}))[-1] == 2
