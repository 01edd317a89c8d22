"""The tree of the sampling searches: two plies ahead, proofs, what is kept between moves.

What is kept is read off the tree itself, since a search shows little of it.
"""

import numpy as np
import pytest
from hypothesis import given

from c4env import Position
from c4env.agents.sampling.mcts import MCTS
from c4env.agents.sampling.tree import NODE, OPEN, best_child, propagate_proof, tactical_status
from c4env.bitboard import drop
from tests.rules.strategies import positions


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


def test_without_reuse_every_search_begins_anew():
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
