import itertools

import numpy as np
import pytest

from c4env import Position, agents
from c4env.agents.making.registry import ZOO
from c4env.agents.solver import Solver, driver, enumeration, null_window, table
from c4env.bitboard import CELLS, COLUMNS, ROWS, sign
from c4env.errors import WrongBoard
from c4env.geometry import BOARD_SIZE as SIZE
from c4env.geometry import IS_STANDARD
from c4env.jit import config
from tests.helpers.paths import ROOT
from tests.rules import reference

PLAYERS = {
    "kaggle": f"kaggle:{ROOT / 'tests/data/kaggle/rules.py'}",
    "puct": "puct:simulations=20",
    "mcts": "mcts:simulations=100",
    "minimax": "minimax:depth=3",
    "alphabeta": "alphabeta:depth=3",
}


@pytest.mark.parametrize("entry", ZOO, ids=lambda entry: entry.name)
def test_every_agent_plays_the_board_or_refuses(entry):
    if not entry.any_board:
        if IS_STANDARD:
            return  # tests/agents tests them
        assert entry.name not in agents.names()
        with pytest.raises(WrongBoard, match=f"plays on 6x7x4, not on {SIZE}") as refused:
            agents.make(entry.name)
        assert "\n" not in str(refused.value)
        return
    assert entry.name in agents.names()
    agent, other = agents.make(PLAYERS.get(entry.name, entry.name)), agents.make("random")
    agent.reset(seed=1)
    other.reset(seed=2)
    if entry.name == "negamax":  # for endings: below
        return
    position = Position.parse("12344321" if entry.name == "perfect" else "1234")
    if entry.name == "perfect" and CELLS > 42:  # an opening would take long
        position = late_position()
    while position.outcome is None:
        won = [c for c in position.legal_columns() if position.play(c).outcome]
        column = (agent if position.to_move == 0 else other).choose(position)
        assert position.is_legal(column)
        if position.to_move == 0 and won and entry.name not in ("random", "kaggle", "puct"):
            assert column in won
        position = position.play(column)
    agent.close()


def late_position():
    """A position of a random game that goes on, with 20 cells empty."""
    for seed in itertools.count():
        position = Position()
        for column in reference.random_game(seed, SIZE):
            if position.plies == CELLS - 20:
                return position
            position = position.play(column)


def scored(seeds, discs=0):
    """Positions of random games, not over, with at least so many discs; their exact scores."""
    result, known = [], {}
    for seed in range(seeds):
        position, board = Position(), reference.empty_board(SIZE)
        for column in reference.random_game(seed, SIZE):
            if position.plies >= discs:
                scores = reference.column_scores(board, position.to_move, SIZE, known)
                result.append((position, scores))
            reference.play(board, column, position.to_move)
            position = position.play(column)
    return result


def best(scores):
    return max(score for score in scores if score is not None)


@pytest.mark.skipif(CELLS > 12, reason="too many games")
def test_exact_scores_are_those_of_all_games_played_out():
    solver = Solver()
    asked = scored(5)
    for position, scores in asked:
        assert solver.scores(position) == scores
        assert solver.score(position) == best(scores)
    several = solver.columns_many([position for position, _ in asked])
    assert several.max(axis=1).tolist() == [best(scores) for _, scores in asked]
    first = asked[0][0]
    line = solver.principal_variation(first)
    assert len(line) == solver.plies_to_end(first)
    perfect, negamax = (agents.make(name) for name in ("perfect", "negamax"))
    assert perfect.search(first).value == negamax.search(first).value == best(asked[0][1])


@pytest.mark.skipif(CELLS > 30, reason="slow; 4x4 and wide boards have more endings")
def test_searches_of_endings_find_what_all_games_played_out_give():
    endings = scored(60, discs=CELLS - 6)
    if not endings:
        pytest.skip("random games end before")
    solver = Solver()
    exact = [agents.make(name) for name in ("perfect", "negamax")]
    others = [agents.make(PLAYERS["mcts"]), agents.make("alphabeta:depth=6")]
    for position, scores in endings[:40]:
        score = best(scores)
        assert solver.scores(position) == scores
        for agent in exact:
            assert scores[agent.choose(position)] == score
        for agent in others:
            result = agent.search(position)
            assert getattr(result, "proven", sign(score)) in (sign(score), None)
            if getattr(result, "proven", 0) is not None:
                assert sign(scores[result.column]) == sign(score)


@pytest.mark.skipif(not config.DISABLE_JIT or ROWS > 2, reason="too slow")
def test_a_frame_of_the_solver_holds_the_order_of_all_columns(monkeypatch):
    """Words that the test adds to each frame stay unused."""
    frame = null_window.FRAME
    words = frame + COLUMNS
    monkeypatch.setattr(null_window, "FRAME", words)
    work = np.zeros(null_window.FRAMES + words * (2 * COLUMNS + 1), np.int64)
    memory = table.allocate(1)
    null_window.reset_workspace(work, memory, 1, 300)
    driver.solve(memory, work, 0, 0, -driver.LARGEST, driver.LARGEST)
    used = work[null_window.FRAMES :].reshape(-1, words).any(axis=0)
    assert used[null_window.ORDER : null_window.ORDER + COLUMNS].all()
    assert not used[frame:].any()


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.skipif(str(SIZE) not in ("4x4x4", "5x5x4"), reason="not known, or slow")
def test_outcomes_of_whole_boards_are_as_published():
    """C. Steininger, after J. Tromp: both drawn, and the discs on the board at the end."""
    solver = Solver()
    assert (solver.score(Position()), solver.plies_to_end(Position())) == (0, CELLS)


@pytest.mark.skipif(str(SIZE) != "6x9x4", reason="another board")
@pytest.mark.parametrize("spec", ["alphabeta:depth=3", "greedy", "mcts:simulations=200"])
def test_the_highest_bits_of_the_widest_board_are_seen(spec):
    """The fourth disc goes into the top cell of the last column, or on the other side's line."""
    for moves in ("99919192", "199919192"):
        assert agents.make(spec).choose(Position.parse(moves)) == 8


@pytest.mark.skipif(str(SIZE) != "4x4x4", reason="another board")
@pytest.mark.compiled
def test_the_table_of_a_small_board_holds_each_position_once_with_its_scores():
    rows = enumeration.whole_board()
    assert len(rows) == len(np.unique(rows[["mine", "theirs"]])) == 161_029  # M. Boeck
    solver = Solver()
    mine, theirs = (np.ascontiguousarray(rows[side]) for side in ("mine", "theirs"))
    assert (solver.scores_many(mine, theirs, threads=1) == rows["score"]).all()
    assert (solver.columns_many(mine, theirs, threads=1) == rows["columns"]).all()
