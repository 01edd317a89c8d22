"""Monte-Carlo tree search: playouts, convergence, budgets, reproducibility, strength."""

import numpy as np
import pytest
from hypothesis import given

from c4env import Position, evaluation
from c4env.agents.sampling.mcts import MCTS, draw_cell, greedy_playout, random_playout
from c4env.agents.sampling.puct import PUCT
from c4env.agents.solver import Solver
from c4env.bitboard import playable
from c4env.jit import config
from tests.helpers.policies import uniform
from tests.rules import reference
from tests.rules.strategies import positions

ROLLOUTS = ("random", "greedy")


def slow_playout(position, state):
    """A random playout by the rules of Position."""
    mover = position.to_move
    while position.outcome is None:
        occupied = position.mine | position.theirs
        cell, state = draw_cell(playable(occupied), state)
        position = position.play((cell.bit_length() - 1) // 7)
    winner = position.outcome.winner
    return (0 if winner is None else 1 if winner == mover else -1), state


@given(positions(finished=False))
def test_a_random_playout_is_a_game_by_the_rules(position):
    state = 99
    for _ in range(3):
        found = random_playout(position.mine, position.theirs, state)
        assert found == slow_playout(position, state)
        state = found[1]


def test_a_greedy_playout_wins_blocks_and_does_not_lose_at_once():
    win = Position.parse("414141")
    assert greedy_playout(win.mine, win.theirs, 1)[0] == 1
    two = Position.parse("33445")  # two ways to four for the side that just moved
    assert greedy_playout(two.mine, two.theirs, 1)[0] == -1
    full = Position.parse("421127327363224366417626743773654415515515")
    assert greedy_playout(full.mine, full.theirs, 1)[0] == 0


@pytest.mark.parametrize(
    "agent",
    [
        *(MCTS(simulations=30, rollout=rollout) for rollout in ROLLOUTS),
        PUCT(uniform, simulations=40),
    ],
    ids=repr,
)
def test_it_wins_and_blocks(agent):
    won = agent.search(Position.parse("414141"))
    assert (won.column, won.value, won.nodes, won.proven) == (3, 1.0, 0, 1)
    assert won.principal_variation == (3,)
    assert won.visits == (0,) * 7
    assert won.values[0] is None  # other columns were not looked at
    blocked = agent.search(Position.parse("41414"))
    assert blocked.column == 3
    assert blocked.values[0] == -1.0
    lost = agent.search(Position.parse("33445"))
    assert (lost.value, lost.proven) == (-1.0, -1)
    assert lost.values == (-1.0,) * 7


@pytest.mark.parametrize("rollout", ROLLOUTS)
def test_late_positions_are_proven_and_the_proof_is_the_solvers(rollout):
    """Never a proven loss while another column holds more, and exact once proven."""
    solver = Solver(book=None)
    agent = MCTS(simulations=300 if config.DISABLE_JIT else 20_000, rollout=rollout)
    count = 10 if config.DISABLE_JIT else 60
    proven = 0
    for moves in reference.random_games(seed=911, count=count, least=28, most=40):
        position = Position.parse(moves)
        agent.reset(1)
        found = agent.search(position)
        scores = solver.scores(position)
        if found.proven is not None:
            proven += 1
            assert found.proven == found.value == solver.sign(position), moves
            assert np.sign(scores[found.column]) == found.proven, moves
        for score, value, visits in zip(scores, found.values, found.visits, strict=True):
            if value in (1.0, -1.0) and visits == 0:
                assert np.sign(score) == value
    assert proven >= count * (0.5 if config.DISABLE_JIT else 0.95)


def test_what_a_search_reports():
    agent = MCTS(simulations=250, rollout="greedy")
    agent.reset(2)
    position = Position.parse("4435")
    found = agent.search(position)
    assert found.nodes == sum(found.visits) == 250
    assert found.visits[found.column] == max(found.visits)
    assert found.value == found.values[found.column]
    assert all(value is not None and -1.0 <= value <= 1.0 for value in found.values)
    assert found.proven is None
    assert found.depth >= len(found.principal_variation) >= 2
    assert found.principal_variation[0] == found.column
    for column in found.principal_variation:
        position = position.play(column)
    assert agent.choose(Position.parse("4435")) == found.column
    assert agent.nodes == 250


def test_compiled_and_plain_python_agree():
    """Written once; both passes of the tests compare with it."""
    expected = {
        "random": (4, (17, 2, 6, 19, 42, 17, 17), (4, 3, 3, 3)),
        "greedy": (3, (2, 7, 17, 75, 4, 9, 6), (3, 3, 2, 4, 3)),
    }
    for rollout in expected:
        agent = MCTS(simulations=120, rollout=rollout)
        agent.reset(2024)
        found = agent.search(Position.parse("4435"))
        assert (found.column, found.visits, found.principal_variation) == expected[rollout]


@pytest.mark.compiled
def test_it_beats_simple_agents():
    field = ["mcts:simulations=300", "mcts:simulations=300,rollout=greedy", "random", "greedy"]
    result = evaluation.round_robin(field, openings=1, seed=3, jobs=1)
    for one in field[:2]:
        for other, least in (("random", 8), ("greedy", 6)):
            games = [game for game in result.games if set(game.players) == {one, other}]
            assert len(games) == 8
            assert sum(game.points[game.players.index(one)] == 1 for game in games) >= least
