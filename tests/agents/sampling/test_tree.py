"""The tree of the sampling searches: two plies ahead, proofs, what is kept between moves.

What is kept is read off the tree itself, since a search shows little of it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from c4env import Position
from c4env.agents.sampling.mcts import MCTS
from c4env.agents.sampling.puct import PUCT
from c4env.agents.sampling.tree import (
    NODE,
    OPEN,
    USED,
    best_child,
    copy_subtree,
    expand,
    propagate_proof,
    tactical_status,
)
from c4env.agents.solver import Solver
from c4env.bitboard import drop
from tests.helpers import reference
from tests.helpers.policies import uniform
from tests.helpers.strategies import positions


def cells_of(position: Position, columns: list[int]) -> int:
    return sum(drop(position.mine | position.theirs, column) for column in columns)


def slow_status(position: Position) -> tuple[bool, set[int]]:
    """Whether two discs decide the game, and the columns after which the next does not lose."""

    def can_win(at: Position) -> bool:
        return any(
            (end := at.play(c).outcome) is not None and end.winner is not None
            for c in at.legal_columns()
        )

    legal = position.legal_columns()
    safe = {c for c in legal if not can_win(position.play(c))}
    return can_win(position) or not safe, safe


@given(positions(finished=False))
def test_the_tactical_status_is_what_two_plies_of_play_decide(position: Position) -> None:
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


@pytest.mark.compiled
def test_decided_positions_get_the_solvers_score() -> None:
    solver = Solver(book=None)
    decided = 0
    for moves in reference.random_games(seed=900, count=400, least=4):
        position = Position.parse(moves)
        score, _ = tactical_status(position.mine, position.theirs)
        if score != OPEN:
            assert score == solver.score(position), moves
            decided += 1
    assert decided > 50


def test_a_full_board_is_a_draw_without_a_move() -> None:
    drawn = Position.parse("421127327363224366417626743773654415515515")
    assert tactical_status(drawn.mine, drawn.theirs) == (0, 0)


def test_children_are_the_columns_that_do_not_lose_at_once_centre_first() -> None:
    tree = np.zeros(20, NODE)
    tree[0]["proof"] = OPEN
    assert expand(tree, 0, 0, 0, 1) == 8
    assert tree[1:8]["column"].tolist() == [3, 2, 4, 1, 5, 0, 6]
    assert (tree[1:8]["proof"] == OPEN).all()


def test_columns_that_lose_at_once_are_no_children() -> None:
    fewer = 0
    for moves in reference.random_games(seed=901, count=60, least=8, most=20):
        position = Position.parse(moves)
        decided, safe = slow_status(position)
        if not decided:
            tree = np.zeros(10, NODE)
            used = expand(tree, 0, position.mine, position.theirs, 1)
            assert set(tree[1:used]["column"].tolist()) == safe
            fewer += len(safe) < len(position.legal_columns())
    assert fewer


def grown(children: list[tuple[int, int, float]]) -> Any:
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
def test_a_node_follows_from_its_children(proofs: list[int], expected: int) -> None:
    tree = grown([(proof, 1, 0.0) for proof in proofs])
    propagate_proof(tree, np.array([0, 1]), 1)
    assert tree[0]["proof"] == expected


def test_a_proof_is_propagated_as_far_as_it_decides() -> None:
    tree = np.zeros(10, NODE)
    tree[0] = (0.0, 1, 1, 0.0, -1, 2, OPEN)
    tree[1] = (0.0, 1, 3, 0.0, 0, 1, OPEN)
    tree[2] = (0.0, 1, 0, 0.0, 1, 0, OPEN)
    tree[3] = (0.0, 1, 4, 0.0, 0, 1, OPEN)
    tree[4] = (0.0, 1, 0, 0.0, 0, 0, -6)
    propagate_proof(tree, np.array([0, 1, 3, 4]), 3)
    assert int(tree[3]["proof"]) == 6  # its only reply loses: whoever moved there wins
    assert int(tree[1]["proof"]) == -6
    assert int(tree[0]["proof"]) == OPEN  # another column is undecided


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        ([(OPEN, 3, 1.0), (OPEN, 5, -1.0)], 2),
        ([(OPEN, 3, 1.0), (-2, 50, 40.0)], 1),  # never a proven loss
        ([(OPEN, 30, 1.0), (2, 1, 1.0)], 2),  # a proven win at once
        ([(2, 9, 1.0), (7, 1, 1.0)], 2),  # the sooner win
        ([(-2, 1, 1.0), (-7, 9, 1.0)], 1),  # the later loss
        ([(OPEN, 3, 1.0), (OPEN, 3, 2.0)], 2),
        ([(OPEN, 3, 1.0), (OPEN, 3, 1.0)], 1),
        ([(0, 3, 0.0), (OPEN, 2, 1.0)], 1),
        ([(OPEN, 0, 0.0), (-4, 2, 1.0)], 2),
        ([(OPEN, 0, 0.0)], -1),
    ],
)
def test_the_best_child(children: list[tuple[int, int, float]], expected: int) -> None:
    assert best_child(grown(children), 0) == expected


# -- what is kept from one move to the next -------------------------------------------------


def subtree(tree: Any, node: int) -> list[Any]:
    """A node and all below it as nested lists, by what they say and not where they lie."""
    head = [tree[node][name].item() for name in ("total", "visits", "column", "proof")]
    first, count = int(tree[node]["first"]), int(tree[node]["children"])
    return [*head, [subtree(tree, child) for child in range(first, first + count)]]


def test_a_subtree_is_copied_whole() -> None:
    agent = MCTS(simulations=150)
    agent.reset(1)
    agent.search(Position.parse("44"))
    to = np.zeros(agent._work[USED], NODE)
    for child in agent._children(0):
        used = copy_subtree(agent._tree, child, to)
        assert subtree(to, 0) == subtree(agent._tree, child)
        assert used <= agent._work[USED]


def test_the_tree_below_the_new_position_is_kept() -> None:
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


@pytest.mark.parametrize(
    ("earlier", "later", "kept"),
    [
        ("44", "44", True),
        ("44", "443", True),
        ("44", "4435", True),
        ("44", "44351", False),  # three plies
        ("44", "4", False),
        ("44", "3535", False),
        ("", "3", True),
    ],
)
def test_only_a_position_just_after_the_last_is_found(earlier: str, later: str, kept: bool) -> None:
    agent = MCTS(simulations=100)
    agent.search(Position.parse(earlier))
    assert (agent._find(Position.parse(later)) is not None) == kept


def test_without_reuse_every_search_begins_anew() -> None:
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


def test_reset_forgets_the_tree() -> None:
    agent = MCTS(simulations=100)
    agent.reset(3)
    first = agent.search(Position.parse("44"))
    agent.search(Position.parse("4443"))
    agent.reset(3)
    assert agent.search(Position.parse("44")) == first


@pytest.mark.parametrize("make", [partial(MCTS, 80), partial(PUCT, uniform, 80)])
def test_a_full_tree_goes_on_without_growing(make: Any) -> None:
    agent = make()
    agent._capacity = 30  # no option asks for a tree that such a search fills
    found = agent.search(Position.parse("44"))
    assert found.nodes == 80
    assert agent._work[USED] <= 30
    agent._spare = np.empty(30, NODE)
    assert agent.search(Position.parse("4443")).nodes == 80
