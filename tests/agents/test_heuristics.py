import copy
import math
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from hypothesis import assume, example, given

from c4env import Position, agents, bitboard
from c4env.agents.heuristics.evaluations import line_score
from c4env.agents.heuristics.heuristic import HEURISTICS, Heuristic
from c4env.envs.batch import bitboards
from c4env.errors import InvalidOption
from c4env.jit import config
from tests.helpers.paths import published
from tests.helpers.processes import environment, run_python
from tests.rules import reference
from tests.rules.strategies import bits_of, board_of, stacks


@pytest.mark.parametrize("name", HEURISTICS)
@given(stacks)
@example([[0, 1], [0, 1], [0, 1], [], [], [], []])  # threats of sides with as many discs
def test_a_heuristic_is_the_reference_on_any_board(name, columns):
    """Games need not reach the board; where both have four, no answer is defined."""
    board = board_of(columns)
    boards = [bits_of(board, player) for player in (0, 1)]
    assume(len({board[r][c] for r, c in reference.winning_discs(board)}) < 2)
    for own in (0, 1):
        value = HEURISTICS[name](boards[own], boards[1 - own])
        assert type(value) is float
        assert value == reference.HEURISTICS[name](board, own)


@pytest.mark.parametrize(
    ("name", "evaluate"), [("chain.tsv", HEURISTICS["chain"]), ("lines.tsv", line_score)]
)
def test_an_evaluation_is_the_released_programs(name, evaluate):
    lines = published(name)
    assert len(lines) >= 100
    for line in lines:
        moves, value, *_ = line.split("\t")
        position = Position.parse("" if moves == "-" else moves)
        assert evaluate(position.mine, position.theirs) == float(value), moves


WEIGHTS = {0: 1.5, 1: 2.5}


def centre(mine, theirs):
    return float(mine & 7) - float(theirs & 7)


def test_a_users_function_is_a_heuristic():
    jitted = numba.njit(centre)
    for function in (f"{__name__}:centre", jitted, numba.njit("float64(int64, int64)")(centre)):
        assert Heuristic.of(function).value(5, 2) == 3.0
    # It is the author's own: Numba's rules hold for its globals.
    assert Heuristic.of(jitted).function is jitted


NOT_COMPILED = r"does not compile for \(int64 mine.*: "


@pytest.mark.skipif(config.DISABLE_JIT, reason="about compiled functions")
@pytest.mark.parametrize(
    ("compiled", "function", "said"),
    [
        ((), lambda mine, theirs: mine % 5, "returns int64.*float64"),
        ((), lambda mine, theirs: mine > theirs, "returns bool.*expected float64"),
        (("float32(int64, int64)",), centre, "returns float32.*float64"),
        (("float64(int32, int32)",), centre, NOT_COMPILED),
        ((), lambda mine, theirs: WEIGHTS[mine & 1], f"{NOT_COMPILED}.*'WEIGHTS'.*line [0-9]+"),
        (None, lambda mine, theirs: None, "returned None: expected a float"),
        (None, lambda mine: 1.0, "too many positional arguments: expected a function of two bit"),
        (None, lambda mine, theirs: math.nothing(mine), "raised AttributeError: module 'math'"),
        (None, lambda mine, theirs: float(sum(mine)), "raised TypeError: 'int' object is not iter"),
        (None, lambda mine, theirs: "a", "returned 'a': expected a float"),
    ],
)
def test_a_function_that_is_not_a_heuristic_is_refused(compiled, function, said):
    with pytest.raises(InvalidOption, match=f"heuristic '{function.__name__}'.*{said}"):
        Heuristic.of(function if compiled is None else numba.njit(*compiled)(function))


COUNT = numba.njit(lambda board: bitboard.popcount(board))
PLAIN = {  # as a user writes it, and as Numba can compile it
    "dynamic": (lambda mine, _: float(eval("mine") % 5), lambda mine, _: float(mine % 5)),
    "weighted": (
        lambda mine, theirs: WEIGHTS[mine & 1] - theirs % 3,
        lambda mine, theirs: 1.5 + (mine & 1) - theirs % 3,
    ),
    "counted": (
        lambda mine, theirs: mine % 5 - theirs % 5,
        lambda mine, theirs: float(mine % 5 - theirs % 5),
    ),
    "top": (
        lambda mine, _: float(bitboard.popcount(mine & bitboard.TOP)),
        lambda mine, _: float(COUNT(mine & bitboard.TOP)),
    ),
}


@pytest.mark.skipif(config.DISABLE_JIT, reason="about functions that machine code calls back")
@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_function_plays_as_it_would_compiled(name, capsys):
    function, compiled = PLAIN[name]
    function.__name__ = name
    positions = [Position.parse(moves) for moves in ("", "4", "445", "4435")]
    for spec in ("greedy", "minimax:depth=2", "alphabeta:depth=3", "deepening:depth=4"):
        plain = agents.make(spec, heuristic=function)
        fast = agents.make(spec, heuristic=numba.njit(compiled))
        for copied in (plain, copy.deepcopy(plain)):
            assert [copied.choose(p) for p in positions] == [fast.choose(p) for p in positions]
        discs = bitboards(positions)
        seeds = np.zeros(len(positions), np.int64)
        assert (plain.choose_many(discs, seeds) == fast.choose_many(discs, seeds)).all()
    assert capsys.readouterr().err.splitlines() == [
        f"heuristic '{name}' runs as plain Python: decorate it with @numba.njit, and its searches "
        "are 5 to 150 times faster"
    ]


@pytest.mark.parametrize(
    "function",
    [
        lambda mine, theirs: float(mine * 1000003 % 1009),  # more than 64 bits
        lambda mine, theirs: float(mine**2 % 1009),
        lambda mine, theirs: float((mine << 30) % 1009),
    ],
)
def test_the_integers_of_a_plain_function_do_not_wrap(function):
    position = Position.parse("7777666")
    value = agents.make("alphabeta:depth=1", heuristic=function).search(position).value
    columns = [position.play(column) for column in position.legal_columns()]
    assert value == max(function(after.theirs, after.mine) for after in columns)


def test_a_plain_function_plays_by_the_weights_of_the_moment():
    weights = np.array([1.0])
    agent = agents.make("alphabeta:depth=1", heuristic=lambda mine, _: weights[0] * (1 + mine % 5))
    first = agent.search(Position())
    weights[0] = -1.0
    assert agent.search(Position()).value < 0 < first.value


@pytest.mark.skipif(config.DISABLE_JIT, reason="about functions that machine code calls back")
def test_an_error_in_a_plain_function_ends_the_search_with_its_reason():
    def fails(mine, theirs):
        return WEIGHTS[0] / (mine & 16384 == 0)

    for spec in ("alphabeta:depth=5", "deepening:depth=5", "greedy"):
        agent = agents.make(spec, heuristic=fails)
        with pytest.raises(InvalidOption, match="'fails' raised ZeroDivisionE"):
            agent.choose(Position.parse("" if spec != "greedy" else "555555"))

    def interrupted(mine, theirs):
        if mine & 16384:
            raise KeyboardInterrupt
        return WEIGHTS[0]

    with pytest.raises(KeyboardInterrupt):
        agents.make("alphabeta", depth=3, heuristic=interrupted).choose(Position())


@pytest.mark.skipif(config.DISABLE_JIT, reason="about functions that machine code calls back")
def test_searches_in_several_threads_have_errors_of_their_own():
    def failing(name):
        def function(mine, theirs):
            if mine.bit_count() + theirs.bit_count() > 4:
                raise ValueError(name)
            return 0.0

        return function

    def messages(name):
        agent = agents.make("alphabeta:depth=6", heuristic=failing(name))
        for _ in range(30):
            with pytest.raises(InvalidOption) as caught:
                agent.choose(Position())
            yield str(caught.value)

    with ThreadPoolExecutor(3) as pool:
        for name, texts in zip("abc", pool.map(lambda name: [*messages(name)], "abc"), strict=True):
            assert all(f"raised ValueError: {name} (test_heuristics.py" in text for text in texts)


@pytest.mark.parametrize(
    ("name", "value"),
    [("alphabeta", math.nan), ("minimax", math.inf), ("greedy", 1e9), ("alphabeta", -1e6)],
)
def test_a_value_out_of_range_is_refused_wherever_it_is_searched(name, value):
    options = {} if name == "greedy" else {"depth": 3}
    for function in (lambda mine, theirs: value, numba.njit(lambda mine, theirs: value)):
        with pytest.raises(InvalidOption, match="strictly between"):
            agents.make(name, heuristic=function, **options).choose(Position.parse("1122"))


@pytest.mark.skipif(config.DISABLE_JIT, reason="about compiled functions")
def test_an_error_in_a_compiled_function_names_it():
    @numba.njit
    def fails(mine, theirs):
        if mine:
            raise ValueError("no value")
        return 0.0

    for spec in ("greedy", "minimax:depth=2", "alphabeta:depth=9", "deepening:depth=3"):
        with pytest.raises(InvalidOption, match="heuristic 'fails' raised ValueError: no value"):
            agents.make(spec, heuristic=fails).choose(Position.parse("4"))


ON_A_BOARD = """
import numba
from c4env.geometry import COLUMNS, ROWS


@numba.njit(cache=True)
def cells():  # compiled before any kernel of ours
    return ROWS * COLUMNS


counted = cells() == ROWS * COLUMNS
from c4env import Position
from c4env.agents.heuristics.heuristic import Heuristic
from c4env.bitboard import winning_cells


@numba.njit(cache=True)
def threats(mine, theirs):
    return float(winning_cells(mine))


discs = Position.parse("112233").mine
print(counted, Heuristic.of(threats).function(discs, 0) == winning_cells(discs) > 0)
"""


@pytest.mark.slow
@pytest.mark.compiled
def test_a_users_cached_function_runs_the_machine_code_of_its_board(tmp_path):
    """Numba finds machine code by the function's source, which is the same for all boards."""
    script = tmp_path / "heuristic.py"
    script.write_text(ON_A_BOARD)
    for size in ("6x7x4", "4x4x4", "6x7x4", "4x4x4"):
        done = run_python(script, check=True, env=environment(C4ENV_BOARD=size))
        assert done.stdout.split() == ["True", "True"], size
