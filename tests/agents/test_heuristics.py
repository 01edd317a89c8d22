import copy
import re
import sys
import types

import numpy as np
import pytest
from hypothesis import assume, example, given

import c4env
from c4env import Position, agents
from c4env.agents.heuristics import names
from c4env.agents.heuristics.evaluations import line_score
from c4env.agents.heuristics.names import HEURISTICS, load
from c4env.envs.batch import bitboards
from c4env.errors import InvalidOption, WrongBoard
from c4env.jit import config
from tests.helpers.paths import published
from tests.helpers.processes import run_python
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


@pytest.mark.parametrize(
    ("moves", "window", "window_b"),
    [("", 0.0, 0.0), ("4", 0.0, 0.0), ("44", 6.0, 3.0), ("112233", 3.0, 3.0)],
)
def test_small_boards_by_hand(moves, window, window_b):
    """For the side to move, of the systems of which no program is released."""
    position = Position.parse(moves)
    assert HEURISTICS["window"](position.mine, position.theirs) == window
    assert HEURISTICS["window-b"](position.mine, position.theirs) == window_b


@pytest.fixture(scope="module")
def user_module():
    """An importable module with heuristics of all kinds."""
    import numba

    module = types.ModuleType("users_heuristics")
    exec(
        "def centre(mine, theirs):\n    return float(mine & 7) - float(theirs & 7)\n"
        "def counted(mine, theirs):\n    return mine - theirs\n"
        "def truth(mine, theirs):\n    return mine > theirs\n"
        "def none(mine, theirs):\n    return None\n"
        "def one(mine):\n    return 1.0\n"
        "import math\ndef absent(mine, theirs):\n    return math.nothing(mine)\n"
        "def helper(discs):\n    return 1.0\n"
        "def helped(mine, theirs):\n    return helper(mine)\n"
        "def summed(mine, theirs):\n    return float(sum(mine))\n"
        "def dynamic(mine, theirs):\n    return float(eval('mine') % 5)\n"
        "def text(mine, theirs):\n    return eval('\"a\"')\n"
        "WEIGHTS, LISTED = {0: 1.5, 1: 2.5}, [1.5, 2.5]\n"
        "def weighted(mine, theirs):\n    return WEIGHTS[mine & 1] - theirs % 3\n"
        "def listed(mine, theirs):\n    return LISTED[mine & 1]\n"
        "def fails(mine, theirs):\n    return WEIGHTS[0] / (mine & 16384 == 0)\n"
        "from c4env.bitboard import TOP, popcount\n"
        "def top(mine, theirs):\n    return float(popcount(mine & TOP))\n",
        module.__dict__,
    )
    module.jitted_weights = numba.njit(module.weighted)
    module.jitted = numba.njit(module.centre)
    module.explicit = numba.njit("float64(int64, int64)")(module.centre)
    if not config.DISABLE_JIT:
        module.narrow = numba.njit("float32(int64, int64)")(module.centre)
        module.small = numba.njit("float64(int32, int32)")(module.centre)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "users_heuristics", module)
        yield


@pytest.mark.parametrize("name", ["centre", "jitted", "explicit"])
def test_a_users_function_is_a_heuristic(name, user_module):
    assert load(f"users_heuristics:{name}")(5, 2) == 3.0


NOT_COMPILED = r"does not compile for \(int64 mine.*: "


@pytest.mark.skipif(config.DISABLE_JIT, reason="about compiled functions")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        *(("counted", "returns int64.*float64"), ("truth", "returns bool.*expected float64")),
        *(("none", "returns none.*float64"), ("narrow", "returns float32.*expected float64")),
        ("small", NOT_COMPILED),
        ("jitted_weights", f"{NOT_COMPILED}line [0-9]+: .*'WEIGHTS': use a NumPy array instead"),
        ("one", "raised TypeError: .* takes 1 positional argument but 2"),
        ("absent", "raised AttributeError: module 'math'"),
        ("summed", "raised TypeError: 'int' object is not iterable"),
        ("text", "returned 'a': expected a float"),
    ],
)
def test_a_function_that_is_no_heuristic_is_refused(name, said, user_module):
    with pytest.raises(InvalidOption, match=f"users_heuristics:{name}.*{said}"):
        load(f"users_heuristics:{name}")


@pytest.mark.skipif(config.DISABLE_JIT, reason="about functions that do not compile")
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("dynamic", "line [0-9]+: .*eval.*"),
        ("helped", "line [0-9]+: .*'helper': decorate the function with @numba.njit"),
        ("weighted", "line [0-9]+: .*'WEIGHTS': use a NumPy array instead of the dictionary"),
        ("listed", "line [0-9]+: .*'LISTED': use a NumPy array instead of the list"),
    ],
)
def test_a_plain_function_plays_as_it_would_compiled_and_is_told_how(
    name, advice, user_module, capsys
):
    compiled = {
        "helped": lambda mine, theirs: 1.0,
        "dynamic": lambda mine, theirs: float(mine % 5),
        "weighted": lambda mine, theirs: 1.5 + (mine & 1) - theirs % 3,
        "listed": lambda mine, theirs: 1.5 + (mine & 1),
    }
    positions = [Position.parse(moves) for moves in ("", "4", "445", "4435")]
    names._say.cache_clear()
    for spec in ("greedy", "minimax:depth=2", "alphabeta:depth=3", "deepening:depth=4"):
        plain = agents.make(spec, heuristic=f"users_heuristics:{name}")
        fast = agents.make(spec, heuristic=compiled[name])
        for copied in (plain, copy.deepcopy(plain)):
            assert [copied.choose(p) for p in positions] == [fast.choose(p) for p in positions]
        discs = bitboards(positions)
        seeds = np.zeros(len(positions), np.int64)
        assert (plain.choose_many(discs, seeds) == fast.choose_many(discs, seeds)).all()
    assert re.fullmatch(
        rf"heuristic 'users_heuristics:{name}' plays as plain Python, .*: {advice}\n",
        capsys.readouterr().err,
    )


@pytest.mark.skipif(config.DISABLE_JIT, reason="about functions that do not compile")
def test_an_error_in_a_plain_function_ends_the_search_with_its_reason(user_module):
    for spec in ("alphabeta:depth=5", "deepening:depth=5"):
        agent = agents.make(spec, heuristic="users_heuristics:fails")
        with pytest.raises(InvalidOption, match="'users_heuristics:fails' raised ZeroDivisionE"):
            agent.choose(Position())

    def interrupted(mine, theirs):
        if mine & 16384:
            raise KeyboardInterrupt
        return WEIGHTS[0]

    with pytest.raises(KeyboardInterrupt):
        agents.make("alphabeta", depth=3, heuristic=interrupted).choose(Position())
    assert names.PlainHeuristic.raised is None


WEIGHTS = {0: 1.0}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e9, -1e6])
@pytest.mark.parametrize("name", ["alphabeta", "minimax", "greedy"])
def test_a_value_out_of_range_is_refused_wherever_it_is_searched(name, value):
    options = {} if name == "greedy" else {"depth": 3}
    agent = agents.make(name, heuristic=lambda mine, theirs: value, **options)
    with pytest.raises(InvalidOption, match="strictly between"):
        agent.choose(Position.parse("1122"))


CACHED = """
import importlib, sys
import numba
import c4env

sizes = map(int, sys.argv[1].split("x"))
board = c4env.board(*sizes)
wins = importlib.import_module(f"{board.__name__}.bitboard").winning_cells
signature = ["float64(int64, int64)"] if sys.argv[2:] else []


@numba.njit(*signature, cache=True, fastmath=True)
def threats(mine, theirs):
    return float(wins(mine))


threats.deterministic = True
names = importlib.import_module(f"{board.__name__}.agents.heuristics.names")
loaded = names.load(threats)
assert names.is_deterministic(loaded) and loaded.targetoptions["fastmath"]
discs = board.Position.parse("112233").mine
print(loaded(discs, 0) == wins(discs) > 0, sum(loaded.stats.cache_hits.values()))
"""


@pytest.mark.compiled
@pytest.mark.parametrize("signature", [[], ["explicit"]], ids=["lazy", "explicit"])
def test_a_users_cached_heuristic_runs_the_machine_code_of_its_board(signature, tmp_path):
    """Numba finds machine code by the function's source, which is the same for all boards."""
    script = tmp_path / "heuristic.py"
    script.write_text(CACHED)
    for size, hits in (("6x7x4", 0), ("4x4x4", 0), ("6x7x4", 1), ("4x4x4", 1)):
        done = run_python(script, size, *signature, check=True)
        assert done.stdout.split() == ["True", str(hits)], size


@pytest.mark.compiled
def test_a_users_heuristic_with_kernels_of_another_board_is_refused(user_module):
    small = c4env.board(4, 4)
    with pytest.raises(WrongBoard, match=r"users_heuristics:top' is made for 6x7x4, not for 4x4x4"):
        small.agents.make("alphabeta:heuristic=users_heuristics:top")
    agent = small.agents.make("alphabeta:depth=1,heuristic=users_heuristics:centre")
    assert agent.choose(small.Position()) in range(4)
