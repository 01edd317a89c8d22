import threading

import pytest
from hypothesis import given, settings

from c4env import Position, agents
from c4env.agents.heuristics.names import WIN
from c4env.agents.search.deepening import DEFAULT_NODES, Deepening
from c4env.agents.solver import Solver
from c4env.bitboard import drop, playable, safe_moves, winning_cells, winning_moves
from tests.rules.positions import random_positions
from tests.rules.strategies import positions


@pytest.mark.parametrize("heuristic", ["threats", "window"])
def test_searched_to_the_end_it_plays_exactly(heuristic):
    agent = Deepening(depth=42, heuristic=heuristic)
    solver = Solver(book=None)
    for position in random_positions(40, seed=1, fewest=29):
        found = agent.search(position)
        score = solver.score(position)
        assert (found.value > WIN) == (score > 0)
        assert (found.value < -WIN) == (score < 0)
        assert solver.sign(position.play(found.column)) == -solver.sign(position)


@given(positions(finished=False))
@settings(max_examples=30)
def test_a_win_in_one_is_taken_and_a_loss_in_one_avoided(position):
    occupied = position.mine | position.theirs
    cell = drop(occupied, Deepening(depth=2).choose(position))
    wins = winning_moves(position.mine, position.theirs)
    safe = safe_moves(playable(occupied), winning_cells(position.theirs))
    assert cell & (wins or safe or playable(occupied))


@pytest.mark.parametrize(("moves", "sign"), [("112233", 1), ("3344", 1), ("33445", -1)])
def test_the_value_of_a_win_by_disc_7_counts_the_discs_left(moves, sign):
    assert Deepening(depth=5).search(Position.parse(moves)).value == sign * (WIN + 43 - 7)


@pytest.mark.compiled
def test_the_principal_variation_goes_through_every_column():
    lines = [Deepening(depth=8).search(p).principal_variation for p in random_positions(90, seed=2)]
    assert {column for line in lines for column in line[1:]} == set(range(7))


@pytest.mark.parametrize("nodes", [1, 1_001, 3_000])
def test_equal_budgets_give_equal_searches_and_none_remembers_the_last(nodes):
    agent = Deepening(nodes=nodes)
    first = agent.search(Position.parse("44"))
    assert first.nodes == nodes  # each counts once
    agent.search(Position.parse("4433"))
    assert agent.search(Position.parse("44")) == first


def test_more_nodes_look_deeper_and_depth_is_kept():
    position = Position.parse("4444")
    depths = [Deepening(nodes=n).search(position).depth for n in (100, 1_000, 10_000)]
    assert depths == sorted(depths)
    assert depths[0] < depths[2]
    found = Deepening(depth=4).search(position)
    assert found.depth == 4
    assert 1 <= len(found.principal_variation) <= 4
    for column in found.principal_variation:
        position = position.play(column)
    shallow = Deepening(nodes=1).search(Position.parse("12121"))  # after which a reply is forced
    assert (shallow.depth, len(shallow.principal_variation)) == (0, 1)


def test_when_time_is_up_it_has_a_move():
    agent = agents.make("deepening")
    assert (agent.limit, agent.depth, agent.movetime) == (DEFAULT_NODES, 42, None)
    assert agent.deterministic
    agent = agents.make("deepening:movetime=0.02")
    assert (agent.limit, agent.movetime, agent.deterministic) == (None, 0.02, False)
    before = threading.active_count()
    found = agent.search(Position())
    assert found.column in range(7)
    assert found.nodes > 0
    assert threading.active_count() == before


@pytest.mark.compiled
def test_it_beats_plain_search_of_as_many_nodes():
    from c4env import evaluation

    field = ["deepening:nodes=2000", "alphabeta:depth=4,heuristic=chain"]
    result = evaluation.round_robin(field, openings=1)
    points = sum(game.points[game.players.index(field[0])] for game in result.games)
    assert points >= 0.7 * len(result.games)
