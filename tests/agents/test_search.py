"""The searches by depth, nodes or time: minimax, alpha-beta, the port, deepening and negamax."""

import functools
import threading

import pytest
from hypothesis import given, settings

from c4env import Position, agents
from c4env.agents.heuristics.evaluations import line_score
from c4env.agents.heuristics.heuristic import HEURISTICS, WIN
from c4env.agents.search.deepening import DEFAULT_NODES, Deepening
from c4env.agents.search.fixed_depth import AlphaBeta, Chain, Minimax, WindowA, WindowB
from c4env.agents.search.negamax import Negamax
from c4env.agents.search.rustport import MAX, RustPort, minimax_from_root
from c4env.agents.search.threads import UNWATCHED
from c4env.agents.solver import Solver
from c4env.bitboard import drop, playable, safe_moves, winning_cells, winning_moves
from c4env.errors import SearchLimit
from c4env.jit import config
from tests.helpers.paths import published
from tests.rules import reference
from tests.rules.positions import random_positions
from tests.rules.strategies import positions

SYSTEMS = {
    "chain": (Chain, reference.chain_system()),
    "window": (WindowA, reference.WINDOW_SYSTEM),
    "window-b": (WindowB, reference.WINDOW_B_SYSTEM),
} | {
    f"minimax, {heuristic}": (
        functools.partial(Minimax, heuristic=heuristic),
        reference.chain_system(heuristic),
    )
    for heuristic in HEURISTICS
}


@functools.cache
def games(seed, count, least=0):
    """Undecided positions; the reference takes its time to play on to late ones."""
    return tuple(reference.random_games(seed, count, least))


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(("depth", "least"), [(1, 0), (3, 14), (7, 37)])
def test_a_search_is_the_reference(name, depth, least):
    kind, system = SYSTEMS[name]
    agent = kind(depth)
    for moves in games(20 + depth, 6, least):
        board, player = reference.board_after(moves), len(moves) % 2
        column, value, nodes = reference.best_column(board, player, depth, system)
        result = agent.search(Position.parse(moves))
        assert (result.column, result.value) == (column, value), moves
        assert result.nodes <= nodes, moves
        if isinstance(agent, Minimax):
            assert result.nodes == nodes, moves


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_chain_systems_choices_are_the_released_programs(depth):
    """The program's max_depth counts from 0."""
    lines = published("chain.tsv")
    if config.DISABLE_JIT:
        lines = lines[:: 4 ** (depth - 1)]
    naive, pruned = Minimax(depth), Chain(depth)
    for line in lines:
        moves, _, *columns = line.split("\t")
        position = Position.parse("" if moves == "-" else moves)
        expected = int(columns[depth - 1])
        assert naive.choose(position) == pruned.choose(position) == expected, moves


@pytest.mark.compiled
@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_both_searches_choose_the_same_columns_with_every_heuristic(heuristic):
    for depth, count in ((2, 60), (5, 40), (6, 8)):
        naive, pruned = Minimax(depth, heuristic), AlphaBeta(depth, heuristic)
        fewer = 0
        for moves in games(60 + depth, count):
            position = Position.parse(moves)
            ours, theirs = naive.search(position), pruned.search(position)
            assert (ours.column, ours.value) == (theirs.column, theirs.value), moves
            # Which of equal replies ends the line may differ; where each leads may not.
            assert ours.principal_variation == theirs.principal_variation, moves
            assert theirs.nodes <= ours.nodes
            fewer += theirs.nodes < ours.nodes
        # Two plies are searched with full windows, so nothing is cut there.
        assert fewer > count // 2 if depth > 2 else fewer == 0


EVALUATIONS = {  # of boards at the end of a line
    "minimax:depth=3": HEURISTICS["chain"],
    "alphabeta:depth=4,heuristic=lines": HEURISTICS["lines"],
    "alphabeta-chain:depth=4": HEURISTICS["chain"],
    "alphabeta-window:depth=4": HEURISTICS["window"],
    "alphabeta-window-b:depth=4": HEURISTICS["window-b"],
    "rust-port:depth=4": line_score,
}
WINS = {"alphabeta-window": 1000.0, "rust-port": float(MAX)}


def value_at_the_end(spec, start, line, depth):
    """What the line's last board is worth to the side that began it."""
    end = functools.reduce(Position.play, line, start)  # raises unless legal
    agent, name = start.to_move, spec.partition(":")[0]
    won_by = None if end.outcome is None else end.outcome.winner
    left = depth - len(line)
    if won_by is not None:
        win = WINS.get(name, WIN) + left * (name == "alphabeta-window")
        return win if won_by == agent else -win
    if end.outcome is not None and name.startswith("alphabeta-window"):
        return 0.0
    assert left == 0 or end.outcome is not None
    return EVALUATIONS[spec](end.discs(agent), end.discs(1 - agent))


@pytest.mark.parametrize("spec", EVALUATIONS)
def test_the_principal_variation_leads_to_the_value(spec):
    agent = agents.make(spec)
    counts = ((70, 5, 0), (71, 5, 36)) if config.DISABLE_JIT else ((70, 25, 0), (71, 15, 36))
    for seed, count, least in counts:
        for moves in games(seed, count, least):
            position = Position.parse(moves)
            result = agent.search(position)
            line = result.principal_variation
            assert line[0] == result.column == agent.choose(position)
            assert agent.nodes == result.nodes > 0
            assert len(line) <= result.depth == agent.depth
            assert value_at_the_end(spec, position, line, result.depth) == result.value, moves


def left(mine, theirs):
    return float(mine & 63) - float(theirs & 63)


@pytest.mark.parametrize("spec", ["greedy:", "alphabeta:depth=1,", "deepening:depth=1,"])
def test_only_a_heuristic_that_says_so_is_known_to_repeat(spec, monkeypatch):
    """One that draws random numbers would play other games each time."""
    name = f"{spec}heuristic={__name__}:left"
    assert agents.make(f"{spec}heuristic=window").deterministic
    assert not agents.make(name).deterministic
    monkeypatch.setattr(left, "deterministic", True, raising=False)
    assert agents.make(name).deterministic


def best_column(bot, other, depth, bot_moves):
    return minimax_from_root(bot, other, depth + 1, not bot_moves, UNWATCHED)


@pytest.mark.parametrize("place", range(4))
def test_columns_values_and_depths_are_the_released_programs(place):
    depth = (0, 1, 2, 4)[place]
    lines = published("lines.tsv")
    assert len(lines) >= 100
    if config.DISABLE_JIT:
        lines = lines[:: 7**depth]
    agent = RustPort(depth + 1)
    for line in lines:
        moves, _, *chosen = line.split("\t")
        position = Position.parse("" if moves == "-" else moves)
        column, value, attached, nodes = best_column(position.mine, position.theirs, depth, True)
        assert f"{column}:{value}:{attached}" == chosen[place], moves
        assert nodes <= sum(7**ply for ply in range(depth + 2))
        assert agent.choose(position) == column


def test_full_ties_take_the_last_column_and_the_other_side_the_first():
    # Two open ends of a three: both win at once, with the same depth attached.
    position = Position.parse("334455")
    assert best_column(position.mine, position.theirs, 0, True)[:3] == (5, MAX, 0)
    assert best_column(position.mine, position.theirs, 3, True)[:3] == (5, MAX, 3)
    assert best_column(position.theirs, position.mine, 3, False)[:3] == (1, -MAX, 3)


@pytest.mark.parametrize("heuristic", ["threats", "window"])
def test_searched_to_the_end_it_plays_exactly(heuristic):
    agent = Deepening(depth=42, heuristic=heuristic)
    solver = Solver(book=None)
    for position in random_positions(40, seed=1, fewest=29):
        result = agent.search(position)
        score = solver.score(position)
        assert (result.value > WIN) == (score > 0)
        assert (result.value < -WIN) == (score < 0)
        assert solver.sign(position.play(result.column)) == -solver.sign(position)


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
    result = Deepening(depth=4).search(position)
    assert result.depth == 4
    assert 1 <= len(result.principal_variation) <= 4
    for column in result.principal_variation:
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
    result = agent.search(Position())
    assert result.column in range(7)
    assert result.nodes > 0
    assert threading.active_count() == before


@functools.cache
def endings():
    """Late positions, their exact scores and the calls that the reference takes for them."""
    asked = reference.random_games(seed=2, count=60, least=34)
    return [(m, *reference.negamax(reference.board_after(m), len(m) % 2)) for m in asked]


def test_scores_and_counts_are_those_of_the_reference():
    agent = Negamax()
    for moves, score, nodes in endings():
        result = agent.search(Position.parse(moves))
        assert (result.value, result.nodes) == (score, nodes), moves
        assert agent.score(Position.parse(moves)) == (score, nodes)


def test_the_column_is_the_first_that_keeps_the_score_and_the_line_perfect_play_to_the_end():
    agent = Negamax()
    for moves, score, _ in endings()[:30]:
        scores = reference.column_scores(reference.board_after(moves), len(moves) % 2)
        assert max(value for value in scores if value is not None) == score
        start = Position.parse(moves)
        result = agent.search(start)
        assert result.column == scores.index(score), moves
        assert result.principal_variation[0] == result.column == agent.choose(start)
        assert agent.nodes == result.nodes
        end = functools.reduce(Position.play, result.principal_variation, start)
        assert end.outcome is not None
        me = start.to_move
        if score == 0:
            assert end.outcome.winner is None
        else:
            # The winner's discs in hand after its last one, and one more.
            assert end.outcome.winner == (me if score > 0 else 1 - me)
            assert (44 - end.plies) // 2 == abs(score), moves


def test_it_gives_up_rather_than_searching_for_ever():
    with pytest.raises(SearchLimit, match=r"Position\.parse\(''\) has 42 empty cells") as caught:
        Negamax(max_nodes=1000).choose(Position())
    assert "1000 positions (option max_nodes)" in str(caught.value)
    moves, score, nodes = max(endings(), key=lambda row: row[2])
    assert Negamax(max_nodes=nodes).score(Position.parse(moves)) == (score, nodes)
    with pytest.raises(SearchLimit):
        Negamax(max_nodes=nodes - 1).score(Position.parse(moves))
