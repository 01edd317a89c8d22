from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import c4env
from c4env.agents.registry.table import ZOO
from c4env.agents.sampling.tree import sign
from c4env.agents.search.threads import LIMIT
from c4env.boards import Size
from c4env.errors import WrongBoard
from c4env.jit import config
from tests.helpers.boards import WIDEST, Columns, Rules, part
from tests.helpers.paths import ROOT

# Each board costs some seconds of compiling, once: compiled, one of them stands for all.
SIZES = [Size(4, 4, 4), Size(4, 4, 3), Size(5, 6, 4)]
BOARDS = SIZES if config.DISABLE_JIT else SIZES[:1]
TINY = [Size(3, 3, 3), Size(3, 4, 3), Size(2, 5, 3)]
WIDE = [Size(2, columns, 4 - columns % 2) for columns in range(8, 16)]
own_boards = pytest.mark.skipif(not config.DISABLE_JIT, reason="would compile more boards")
PLAYERS = {
    "kaggle": f"kaggle:{ROOT / 'tests/data/kaggle/rules.py'}",
    "puct": "puct:function=tests.helpers.policies:uniform,simulations=20",
    "mcts": "mcts:simulations=100",
    "minimax": "minimax:depth=3",
    "alphabeta": "alphabeta:depth=3",
    "open_spiel": "open_spiel:mcts,simulations=20",
}


@pytest.mark.parametrize("size", BOARDS, ids=str)
@pytest.mark.parametrize("entry", ZOO, ids=lambda entry: entry.name)
def test_every_agent_plays_the_board_or_refuses(entry: Any, size: Size) -> None:
    board = c4env.board(*size)
    zoo = board.agents
    if not entry.any_board:
        assert entry.name not in zoo.names()
        with pytest.raises(WrongBoard, match=f"plays on 6x7x4, not on {size}") as refused:
            zoo.make(entry.name)
        assert "\n" not in str(refused.value)
        return
    assert entry.name in zoo.names()
    if entry.name == "open_spiel":
        pytest.importorskip("pyspiel")
    agent, other = zoo.make(PLAYERS.get(entry.name, entry.name)), zoo.make("random")
    agent.reset(seed=1)
    other.reset(seed=2)
    if entry.name == "negamax":  # for endings: below
        return
    position = board.Position.parse("1234")
    while position.outcome is None:
        won = [c for c in position.legal_columns() if position.play(c).outcome]
        column = (agent if position.to_move == 0 else other).choose(position)
        assert position.is_legal(column)
        if position.to_move == 0 and won and entry.name not in ("random", "kaggle", "puct"):
            assert column in won
        position = position.play(column)
    agent.close()


def positions(size: Size, seeds: int) -> list[tuple[Any, Columns]]:
    """Positions of random games, not over, and the same for the slow rules."""
    found = []
    for seed in range(seeds):
        position, before = c4env.board(*size).Position(), Rules(size).empty
        for column, after in Rules(size).random_game(seed):
            found.append((position, before))
            position, before = position.play(column), after
    return found


@own_boards  # compiled, every position of 4x4 is compared in tests/agents/solver/test_whole.py
@pytest.mark.parametrize("size", TINY, ids=str)
def test_exact_scores_are_those_of_all_games_played_out(size: Size) -> None:
    rules = Rules(size)
    solver = part(size, "agents.solver").Solver()
    asked = positions(size, 5)
    for position, board in asked:
        mover = position.to_move
        expected = [
            -rules.score(rules.play(board, c, mover)) if position.is_legal(c) else None
            for c in range(size.columns)
        ]
        assert solver.scores(position) == expected
        assert solver.score(position) == rules.score(board)
    several = solver.columns_many([position for position, _ in asked])
    assert several.max(axis=1).tolist() == [rules.score(board) for _, board in asked]
    first = asked[0][0]
    line = solver.principal_variation(first)
    assert len(line) == solver.plies_to_end(first)
    perfect, negamax = (c4env.board(*size).agents.make(name) for name in ("perfect", "negamax"))
    assert perfect.search(first).value == negamax.search(first).value == rules.score(asked[0][1])


@pytest.mark.slow
@pytest.mark.parametrize("size", WIDE if config.DISABLE_JIT else [Size(2, 10, 4)], ids=str)
def test_searches_of_wide_boards_find_what_all_games_played_out_give(size: Size) -> None:
    rules, zoo = Rules(size), c4env.board(*size).agents
    cells = size.rows * size.columns
    endings = [(p, board) for p, board in positions(size, 60) if cells - p.plies <= 6]
    solver = part(size, "agents.solver").Solver()
    exact = [zoo.make(name) for name in ("perfect", "negamax")]
    others = [zoo.make(PLAYERS[name]) for name in ("puct", "mcts")]
    others += [zoo.make(f"{name}:depth=6") for name in ("minimax", "alphabeta")]
    assert endings
    for position, board in endings[:40]:
        scores = [
            -rules.score(rules.play(board, c, position.to_move)) if position.is_legal(c) else None
            for c in range(size.columns)
        ]
        score = rules.score(board)
        assert solver.scores(position) == scores
        for agent in exact:
            assert scores[agent.choose(position)] == score
        for agent in others:
            found = agent.search(position)
            assert getattr(found, "proven", sign(score)) in (sign(score), None)
            if getattr(found, "proven", 0) is not None:
                assert sign(scores[found.column]) == sign(score)


@pytest.mark.compiled
@pytest.mark.slow
def test_the_solver_scores_a_wide_board_as_plain_negamax_does() -> None:
    board = c4env.board(2, 10, 4)
    solver = part(Size(2, 10, 4), "agents.solver").Solver()
    negamax = board.agents.make("negamax")
    for moves in ("79584321", "213878946"):  # enough columns are open to fill a frame
        position = board.Position.parse(moves)
        scores = solver.scores(position)
        for column in position.legal_columns():
            child = position.play(column)
            if child.outcome is None:
                assert scores[column] == -negamax.search(child).value


@own_boards
@pytest.mark.parametrize("columns", [8, 9, 15])
def test_a_frame_of_the_solver_holds_the_order_of_all_columns(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that the test adds to each frame stay unused."""
    size = Size(2, columns, 4)
    null_window = part(size, "agents.solver.kernels.null_window")
    driver, table = (part(size, f"agents.solver.kernels.{name}") for name in ("driver", "table"))
    frame = null_window.FRAME
    words = frame + columns
    monkeypatch.setattr(null_window, "FRAME", words)
    work = np.zeros(null_window.FRAMES + words * (2 * columns + 1), np.int64)
    memory = table.allocate(1)
    null_window.reset_workspace(work, memory, 1)
    work[LIMIT] = 300
    driver.solve(memory, work, 0, 0, -driver.LARGEST, driver.LARGEST)
    used = work[null_window.FRAMES :].reshape(-1, words).any(axis=0)
    assert used[null_window.ORDER : null_window.ORDER + columns].all()
    assert not used[frame:].any()


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "columns", "end"),
    [(4, 4, "draw 16"), (5, 5, "draw 25")],
)
def test_outcomes_of_whole_boards_are_as_published(rows: int, columns: int, end: str) -> None:
    """C. Steininger, after J. Tromp: outcome, and the discs on the board at its end."""
    empty = c4env.board(rows, columns).Position()
    solver = part(Size(rows, columns, 4), "agents.solver").Solver()
    score = solver.score(empty)
    assert (
        f"{('second', 'draw', 'first')[(score > 0) - (score < 0) + 1]} "
        + str(solver.plies_to_end(empty))
        == end
    )


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["alphabeta:depth=3", "greedy", "mcts:simulations=200"])
def test_the_highest_bits_of_the_widest_board_are_seen(spec: str) -> None:
    """The fourth disc goes into the top cell of the last column, or on the other side's line."""
    board = c4env.board(*WIDEST)
    for moves in ("99919192", "199919192"):
        assert board.agents.make(spec).choose(board.Position.parse(moves)) == 8
