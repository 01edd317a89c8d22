from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import c4env
from c4env import agents
from c4env.agents.errors import InvalidHeuristic
from c4env.agents.heuristics import evaluations
from c4env.agents.registry.table import ZOO
from c4env.agents.sampling.tree import sign
from c4env.agents.search.threads import LIMIT
from c4env.boards import Size
from c4env.errors import C4Error, InvalidOption, WrongBoard
from c4env.jit import config
from tests.helpers.boards import WIDEST, Columns, Rules, part
from tests.helpers.paths import ROOT
from tests.helpers.policies import uniform
from tests.helpers.processes import run_python

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
        children = [position.play(column) for column in position.legal_columns()]
        scores = [score for score in solver.scores(position) if score is not None]
        assert scores == [-negamax.search(child).value for child in children]


@own_boards
@pytest.mark.parametrize("columns", [8, 9, 15])
def test_a_frame_of_the_solver_holds_the_order_of_all_columns(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that the test adds to each frame stay unused."""
    size = Size(2, columns, 4)
    null_window = part(size, "agents.solver.search.null_window")
    driver, table = (part(size, f"agents.solver.search.{name}") for name in ("driver", "table"))
    frame = null_window.FRAME
    words = frame + columns
    monkeypatch.setattr(null_window, "FRAME", words)
    work = np.zeros(null_window.FRAMES + words * (2 * columns + 1), np.int64)
    memory = table.allocate(1)
    null_window.make_ready(work, memory, 1)
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


@own_boards
def test_heuristics_count_the_lines_of_the_board() -> None:
    size = Size(5, 6, 4)
    rules, heuristics = Rules(size), part(size, "agents.heuristics.names").HEURISTICS
    assert set(heuristics) == {"chain", "window", "window-b"}
    for position, board in positions(size, 3):
        sides = position.to_move, 1 - position.to_move
        windows = [[rules.owner(board, cell) for cell in line] for line in rules.windows()]
        count = [[0] * 5, [0] * 5]
        for line in windows:
            for side, (own, other) in enumerate((sides, sides[::-1])):
                if other not in line:
                    count[side][line.count(own)] += 1
        centre = [
            sum(board[c].count(side) for c in (2, 3)) for side in sides
        ]  # both middle columns
        (_, n1, n2, n3, _), (_, t1, t2, t3, _) = count
        chain = 0.01 * (n1 - t1) + 0.04 * (n2 - t2) + 0.1 * (n3 - t3) + 3 * (centre[0] - centre[1])
        window = 6 * centre[0] + 5 * n2 + 10 * n3 - 4 * t2 - 8 * t3
        assert heuristics["chain"](position.mine, position.theirs) == pytest.approx(chain)
        assert heuristics["window"](position.mine, position.theirs) == window


@own_boards
def test_heuristics_of_lines_of_four_are_refused_for_others() -> None:
    zoo = c4env.board(4, 4, 3).agents
    assert zoo.make("alphabeta:depth=16").search(c4env.board(4, 4, 3).Position()).value > 0
    for spec in ("alphabeta:heuristic=chain", "greedy:heuristic=window"):
        with pytest.raises(InvalidHeuristic, match="expected one of none"):
            zoo.make(spec)


def test_what_is_made_for_another_board_is_refused() -> None:
    zoo = c4env.board(4, 4, 4).agents
    refused: list[Any] = [
        ("alphabeta:heuristic=c4env.agents.heuristics.evaluations:chain", {}),
        ("alphabeta", {"heuristic": evaluations.chain}),
        ("greedy:heuristic=threats", {}),
        ("puct", {}),
        ("puct:function=c4env.agents.network.network:shipped", {}),
        ("c4env.agents.baselines:Random", {}),
    ]
    for spec, options in refused:
        with pytest.raises(C4Error, match=r"made for 6x7x4|expected one of chain") as error:
            zoo.make(spec, **options)
        assert "\n" not in str(error.value)
    position = c4env.board(4, 4, 4).Position()
    with pytest.raises(C4Error, match=r"expected a c4env\.Position"):
        agents.make("random").choose(position)
    with pytest.raises(C4Error, match="shape"):
        agents.make("random")(c4env.board(4, 4, 4).observe(position))


@own_boards
def test_a_solver_of_another_board_has_no_book() -> None:
    solver_of = part(Size(4, 4, 4), "agents.solver").Solver
    assert solver_of().book is None
    with pytest.raises(InvalidOption, match="expected None"):
        solver_of(book="12ply")
    large = part(Size(8, 7, 4), "agents.solver.search.table")
    with pytest.raises(InvalidOption, match="table_mb=64: expected 16384 or more"):
        large.allocate(64)


@pytest.mark.slow
def test_agents_are_known_to_a_board_that_was_there_before_them() -> None:
    code = (
        "import c4env; board = c4env.board(4, 4); "
        "env = board.ConnectFourEnv('alphabeta:depth=1', 1); print(env.reset()[1]['ply'])"
    )
    assert run_python("-c", code, check=True).stdout == "1\n"


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["alphabeta:depth=3", "greedy", "mcts:simulations=200"])
def test_the_highest_bits_of_the_widest_board_are_seen(spec: str) -> None:
    """The fourth disc goes into the top cell of the last column, or on the other side's line."""
    board = c4env.board(*WIDEST)
    for moves in ("99919192", "199919192"):
        assert board.agents.make(spec).choose(board.Position.parse(moves)) == 8


def test_agents_answer_inside_environments_of_the_board() -> None:
    environment = c4env.board(4, 4).ConnectFourEnv("alphabeta:depth=2", 0)
    environment.reset(seed=1)
    assert environment.step(1)[4]["ply"] == 2
    envs = c4env.board(4, 4).ConnectFourVectorEnv(3, opponent="mcts:simulations=20")
    envs.reset(seed=1)
    assert envs.step([0, 1, 2])[4]["ply"].min() >= 1


def test_a_model_is_registered_on_its_board() -> None:
    """It is made an agent by the module of that board, as ``make`` does."""
    zoo = c4env.board(4, 4).agents
    zoo.register(
        "modelled",
        type("Model", (), {"__call__": uniform, "state_dict": dict, "parameters": list})(),
    )
    assert "modelled" in zoo.names()
