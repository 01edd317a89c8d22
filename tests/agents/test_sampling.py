"""Monte-Carlo tree search and its tree, some of which is read off the tree itself."""

import numpy as np
import pytest
from hypothesis import given

from c4env import Position
from c4env.agents.sampling.mcts import MCTS, draw_cell, greedy_playout, random_playout
from c4env.agents.sampling.puct import PUCT
from c4env.agents.sampling.tree import NODE, OPEN, best_child, propagate_proof, tactical_status
from c4env.agents.solver import Solver
from c4env.bitboard import drop, playable
from c4env.jit import config
from tests.helpers.policies import uniform
from tests.rules import reference
from tests.rules.strategies import positions

ROLLOUTS = ("random", "greedy")


def slow_playout(position, state):
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
        result = random_playout(position.mine, position.theirs, state)
        assert result == slow_playout(position, state)
        state = result[1]


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
        result = agent.search(position)
        scores = solver.scores(position)
        if result.proven is not None:
            proven += 1
            assert result.proven == result.value == solver.sign(position), moves
            assert np.sign(scores[result.column]) == result.proven, moves
        for score, value, visits in zip(scores, result.values, result.visits, strict=True):
            if value in (1.0, -1.0) and visits == 0:
                assert np.sign(score) == value
    assert proven >= count * (0.5 if config.DISABLE_JIT else 0.95)


def test_what_a_search_reports():
    agent = MCTS(simulations=250, rollout="greedy")
    agent.reset(2)
    position = Position.parse("4435")
    result = agent.search(position)
    assert result.nodes == sum(result.visits) == 250
    assert result.visits[result.column] == max(result.visits)
    assert result.value == result.values[result.column]
    assert all(value is not None and -1.0 <= value <= 1.0 for value in result.values)
    assert result.proven is None
    assert result.depth >= len(result.principal_variation) >= 2
    assert result.principal_variation[0] == result.column
    for column in result.principal_variation:
        position = position.play(column)
    assert agent.choose(Position.parse("4435")) == result.column
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
        result = agent.search(Position.parse("4435"))
        assert (result.column, result.visits, result.principal_variation) == expected[rollout]


def cells_of(position, columns):
    return sum(drop(position.mine | position.theirs, column) for column in columns)


def slow_status(position):
    """Whether two discs decide the game, and the columns after which the next does not lose."""

    def can_win(at):
        return any(
            (end := at.play(c).outcome) is not None and end.winner is not None
            for c in at.legal_columns()
        )

    legal = position.legal_columns()
    safe = {c for c in legal if not can_win(position.play(c))}
    return can_win(position) or not safe, safe


@given(positions(finished=False))
def test_the_tactical_status_is_what_two_plies_of_play_decide(position):
    score, cells = tactical_status(position.mine, position.theirs)
    decided, safe = slow_status(position)
    assert (score != OPEN) == decided
    if decided:
        column = next(c for c in position.legal_columns() if cells == cells_of(position, [c]))
        end = position.play(column).outcome
        wins = end is not None and end.winner == position.to_move
        assert wins == (score > 0)
    else:
        assert cells == cells_of(position, sorted(safe))


def grown(children):
    """A root with children of these proofs, visits and totals."""
    tree = np.zeros(10, NODE)
    tree[0] = (0.0, 5, 1, 0.0, -1, len(children), OPEN)
    for number, (proof, visits, total) in enumerate(children, start=1):
        tree[number] = (total, visits, 0, 0.0, number, 0, proof)
    return tree


@pytest.mark.parametrize(
    ("proofs", "expected"),
    [
        ([OPEN, OPEN], OPEN),
        ([-3, OPEN], OPEN),
        ([0, OPEN], OPEN),  # a draw does not decide while another column may win
        ([3, OPEN], -3),  # a win does
        ([3, 5, OPEN], -5),
        ([-3, -7], 3),  # every column loses: the latest loss
        ([-3, 0], 0),
    ],
)
def test_a_node_follows_from_its_children(proofs, expected):
    tree = grown([(proof, 1, 0.0) for proof in proofs])
    propagate_proof(tree, np.array([0, 1]), 1)
    assert tree[0]["proof"] == expected


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        ([(OPEN, 5, 1.0), (OPEN, 6, 0.0), (OPEN, 6, 0.0)], 2),  # the first of the most visited
        ([(OPEN, 5, 1.0), (OPEN, 5, 2.0)], 2),
        ([(OPEN, 90, 9.0), (3, 1, 1.0), (5, 9, 1.0), (4, 1, 1.0)], 3),
        ([(-3, 90, 9.0), (-7, 80, 9.0), (OPEN, 1, -1.0)], 3),
        ([(-7, 90, 0.0), (-3, 1, 0.0)], 2),
        ([(0, 5, 0.0), (OPEN, 6, -6.0)], 2),  # a draw counts by its visits
        ([(0, 6, 0.0), (OPEN, 5, 5.0)], 1),
        ([(OPEN, 0, 0.0), (-3, 0, 0.0)], 2),
        ([(OPEN, 0, 0.0)], -1),
    ],
)
def test_a_win_is_played_else_the_most_visited_else_the_latest_loss(children, expected):
    assert best_child(grown(children), 0) == expected


def subtree(tree, node):
    """A node and all below it as nested lists, by what they say and not where they lie."""
    head = [tree[node][name].item() for name in ("total", "visits", "column", "proof")]
    first, count = int(tree[node]["first"]), int(tree[node]["children"])
    return [*head, [subtree(tree, child) for child in range(first, first + count)]]


def test_the_tree_below_the_new_position_is_kept():
    agent = MCTS(simulations=200)
    agent.reset(7)
    start = Position.parse("44")
    first = agent.search(start)
    reply = first.principal_variation[1]
    child = next(c for c in agent._children(0) if agent._tree[c]["column"] == first.column)
    node = next(c for c in agent._children(child) if agent._tree[c]["column"] == reply)
    before = subtree(agent._tree, node)
    after = start.play(first.column).play(reply)
    agent._take_root(agent._find(after))
    assert subtree(agent._tree, 0) == before
    assert before[1] > 0
    # The search adds its simulations to what was kept.
    again = MCTS(simulations=200)
    again.reset(7)
    again.search(start)
    second = again.search(after)
    assert second.nodes == 200
    assert sum(second.visits) >= 200 + before[1] - 1


def test_without_reuse_every_search_begins_with_an_empty_tree():
    kept, fresh = MCTS(simulations=300), MCTS(simulations=300, reuse=False)
    for agent in (kept, fresh):
        agent.reset(3)
        agent.search(Position.parse("44"))
    later = Position.parse("4443")
    assert sum(fresh.search(later).visits) == 300
    assert sum(kept.search(later).visits) > 300
    alone = MCTS(simulations=300, reuse=False)
    alone.reset(3)
    assert alone.search(later) == fresh.search(later)
