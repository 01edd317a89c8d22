"""The board as a setting of the process."""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest

import c4env
from c4env.boards import STANDARD
from c4env.errors import InvalidOption, WrongBoard, WrongOrder
from c4env.jit import config
from tests.helpers.paths import ROOT
from tests.helpers.processes import environment, run_python

# Each board costs half a minute of compiling, once: compiled, one board stands for all.
# 6x9x4 has as many bits as there can be, 63.
SIZES = ["4x4x3"] if config.DISABLE_JIT else ["6x9x4"]
MARKS = () if config.DISABLE_JIT else pytest.mark.slow
RULES = ["2x7x3", "5x6x4", "3x5x4", "7x5x5", "8x7x6", "3x15x3"] if config.DISABLE_JIT else []
FRAMES = ["2x3x3", "2x10x3", "2x15x3"] if config.DISABLE_JIT else []  # of the solver


@pytest.mark.parametrize(
    ("size", "tests"),
    [
        *(pytest.param(size, ["tests/boards"], marks=MARKS) for size in SIZES),
        *((size, ["tests/boards/test_rules.py"]) for size in RULES),
        *((size, ["tests/boards/test_agents.py", "-k", "frame"]) for size in FRAMES),
    ],
)
def test_other_boards_pass_their_tests(size, tests):
    command = "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests
    there = environment(C4ENV_BOARD=size, PYTEST_XDIST_WORKER="")
    done = run_python(*command, cwd=ROOT, env=there)
    assert done.returncode == 0, done.stdout


def test_the_board_is_chosen_once_before_it_is_used():
    code = (
        "import c4env; c4env.use_board((5, 6, 4)); c4env.use_board('4x4x4')\n"
        "print(c4env.Position()); c4env.use_board('4x4x4'); c4env.use_board('5x6x4')"
    )
    done = run_python("-c", code)
    assert done.stdout.splitlines()[-1] == "1 2 3 4"
    expected = "WrongOrder: this process plays on 4x4x4: expected use_board('5x6x4') before"
    assert expected in done.stderr.splitlines()[-1]
    with pytest.raises(WrongOrder):
        c4env.use_board("4x4x4")
    c4env.use_board(tuple(STANDARD))


@pytest.mark.parametrize(
    "given",
    [
        *[(3, 3, 4), (1, 7, 4), (9, 7, 4), (10, 10, 4), (-1, 7, 4), (6, 7, 2), (6, 7, -1)],
        *[(2, 16, 3), (2, 10, 9), (6.0, 7, 4), ("6", 7, 4), (True, 7, 4), (5, 6), "5x6", 5],
        (np.True_, 7, 4),
    ],
)
def test_a_board_that_cannot_be_is_refused_in_a_line(given):
    with pytest.raises(InvalidOption, match="expected") as refused:
        c4env.use_board(given)
    assert "\n" not in str(refused.value)


MADE = [
    *("Position()", "raw_env()", "env()", "ConnectFourEnv()", "ConnectFourVectorEnv(2)"),
    *("agents.make('mcts')", "TensorEnv(2)"),
]


def test_a_pickle_of_another_board_is_refused():
    made = [make for make in MADE if find_spec("torch") or not make.startswith("TensorEnv")]
    pickles = ", ".join(f"pickle.dumps(c4env.{make})" for make in made)
    code = f"import pickle, sys, c4env; sys.stdout.buffer.write(pickle.dumps([{pickles}]))"
    other = environment(C4ENV_BOARD="4x4x4", NUMBA_DISABLE_JIT="1")  # what is pickled is the same
    there = run_python("-c", code, text=False, check=True, env=other)
    for made_there in pickle.loads(there.stdout):
        with pytest.raises(WrongBoard, match="the position is made for 4x4x4, not for 6x7x4"):
            pickle.loads(made_there)


def test_a_module_for_the_standard_board_refuses():
    """In one process, which each refusal leaves as it was."""
    names = ("envs.text", "agents.selfplay", "evaluation.exact")
    code = f"""import importlib
for name in {names}:
    try:
        importlib.import_module(f"c4env.{{name}}")
    except ValueError as error:
        print(error)"""
    done = run_python("-c", code, env=environment(C4ENV_BOARD="4x4x4"), check=True)
    expected = [f"c4env.{name} is made for 6x7x4, not for 4x4x4" for name in names]
    assert done.stdout.splitlines() == expected
