"""What moves cost: an agent's own moves are counted, those of an opening are nobody's."""

from __future__ import annotations

import pytest

from c4env.evaluation.rating.costs import Cost, costs
from c4env.evaluation.store.record import GameRecord


def test_an_agents_own_moves_are_counted():
    played = {"nodes": (20, 10), "seconds": (0.006, 0.002)}
    game = GameRecord(("a", "b"), "123", "1234567", None, "full board", **played)
    found = costs([game, game])  # moves 5, 7 and 4, 6
    assert {player: (cost.moves, cost.nodes) for player, cost in found.items()} == {
        "a": (4, 40),
        "b": (4, 20),
    }
    assert found["a"].seconds_a_move == pytest.approx(0.003)
    slow = GameRecord(("b", "a"), "", "12", None, "full board", seconds=(9.0, 0.003))
    assert costs([game, slow, game])["b"].seconds_a_move == pytest.approx(0.001)


def test_who_made_no_move_costs_nothing():
    game = GameRecord(("a", "b"), "12", "12", 1, "exception", seconds=(0.5, 0.0))
    assert costs([game])["b"].seconds_a_move == 0
    assert Cost().seconds_a_move == 0
