import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import c4env
from c4env.boards import STANDARD, Size
from c4env.errors import C4Error, InvalidOption, InvalidPosition, WrongBoard
from c4env.jit import config
from tests.helpers.boards import OTHER_BOARDS, WIDEST, part
from tests.helpers.processes import run_python
from tests.rules import reference

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pettingzoo.test import api_test

# Each board costs some seconds of compiling, once: compiled, one of them stands for all.
BOARDS = OTHER_BOARDS if config.DISABLE_JIT else OTHER_BOARDS[:1]
RULES = (*BOARDS, WIDEST)
NAMES = [str(size) for size in BOARDS]


@pytest.mark.parametrize("size", RULES, ids=str)
def test_games_are_those_of_the_slow_rules(size):
    board, bitboard = c4env.board(*size), part(size, "bitboard")
    for seed in range(5):
        position, cells = board.Position(), reference.empty_board(size)
        for ply, column in enumerate(reference.random_game(seed, size)):
            assert position.legal_columns() == tuple(reference.open_columns(cells))
            mover = ply % 2
            wins = bitboard.winning_moves(position.mine, position.theirs)
            occupied = position.mine | position.theirs
            found = [c for c in position.legal_columns() if bitboard.drop(occupied, c) & wins]
            assert found == reference.winning_columns(cells, mover, size)
            position = position.play(column)
            reference.play(cells, column, mover)
            if reference.is_over(cells, size):
                assert position.outcome.winner == reference.winner(cells, size)
                won = {(size.rows - 1 - r, c) for r, c in position.outcome.cells}
                assert won == reference.winning_discs(cells, size)
        assert position.outcome is not None
        assert board.Position.from_board(str(position)) == position
        assert board.Position.parse(position.moves()) == position
        assert position.mirror().mirror() == position
        seen = board.observe(position, 0)["observation"]
        assert seen.shape == (size.rows, size.columns, 2)
        assert seen.sum() == position.plies


@pytest.mark.parametrize("size", [STANDARD, *RULES], ids=str)
def test_every_layout_shows_the_board_and_is_read_back(size):
    board, observation = c4env.board(*size), part(size, "observation")
    boards_from = part(size, "envs.batch").boards_from
    position, before, values = board.Position(), reference.empty_board(size), set()
    for column in reference.random_game(3, size):
        mover, discs = position.to_move, [position.mine, position.theirs]
        own = [[int(owner == mover) for owner in row] for row in before[::-1]]
        other = [[int(owner == 1 - mover) for owner in row] for row in before[::-1]]
        signed = np.subtract(own, other)
        expected = {
            "planes_last": np.stack([own, other], -1),
            "planes_first": np.array([own, other]),
            "flat": np.stack([own, other], -1).ravel(),
            "signed": signed,
            "tokens": np.where(signed < 0, 2, signed).ravel(),
        }
        assert expected.keys() == observation.LAYOUTS.keys()
        for layout, cells in expected.items():
            for dtype in observation.DTYPES:
                form = observation.Form(layout, dtype)
                seen = form(board.observe(position)["observation"])
                assert (seen.dtype.name, seen.shape) == (dtype, cells.shape)
                assert (seen == cells).all()
                assert form.space["observation"].contains(seen)
                assert boards_from(seen[None]).tolist() == [discs]
                assert board.position_from({"observation": seen}) == position
        values |= {*signed.ravel().tolist()}
        position = position.play(column)
        reference.play(before, column, mover)
    assert values == {-1, 0, 1}


@pytest.mark.parametrize("size", BOARDS[:3], ids=NAMES[:3])
def test_environments_pass_the_checkers(size):
    given = size._asdict()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(c4env.env(**given), num_cycles=20)
        check_env(gymnasium.make("c4env/ConnectFour-v0", **given).unwrapped, skip_render_check=True)
    environment = c4env.env(render_mode="rgb_array", **given)
    environment.reset()
    assert environment.render().shape[:2] == tuple(9 * (13 * n + 8) for n in size[:2])
    assert environment.observation_space("player_0")["action_mask"].shape == (size.columns,)


def test_what_belongs_to_a_board_is_sent_to_other_processes():
    environment = c4env.board(4, 4).ConnectFourEnv(opponent="greedy", seat=0)
    environment.reset(seed=3)
    environment.step(1)
    twin = copy.deepcopy(environment)
    assert twin.position == environment.position
    code = "import pickle, sys; e = pickle.load(sys.stdin.buffer); print(repr(e.position))"
    done = run_python("-c", code, input=pickle.dumps(environment), check=True, text=False)
    assert done.stdout.decode().strip() == repr(environment.position)
    assert eval(repr(environment.position), {"board": c4env.board}) == environment.position


def test_the_usual_board_is_the_package_itself():
    assert c4env.board(6, 7, 4) is c4env.board(6, 7) is c4env
    small = c4env.board(4, 4)
    assert type(c4env.env(rows=6, columns=7).unwrapped) is c4env.raw_env
    assert type(small.env(rows=6, columns=7, connect=4).unwrapped) is c4env.raw_env
    assert type(c4env.env(rows=4, columns=4).unwrapped) is small.raw_env is not c4env.raw_env
    assert type(small.env().unwrapped) is small.raw_env


def test_boards_do_not_mix():
    small = c4env.board(4, 4, 4)
    assert small.Position() != c4env.Position()
    environment = c4env.env()
    with pytest.raises(InvalidOption, match=r"expected a c4env\.Position"):
        environment.reset(options={"position": small.Position()})
    with pytest.raises(C4Error, match=r"shape \(4, 4, 2\)"):
        c4env.position_from(small.observe(small.Position()))
    with pytest.raises(InvalidPosition):
        small.Position.from_bitboards(1 << 40, 0)


def test_a_module_that_is_not_made_for_any_board_refuses():
    with pytest.raises(WrongBoard, match=r"c4env\.envs\.text is made for 6x7x4, not for 4x4x4"):
        part(Size(4, 4, 4), "envs.text")
    with pytest.raises(WrongBoard, match=r"on_4x4x4\.errors: all boards share c4env\.errors"):
        part(Size(4, 4, 4), "errors")
    with pytest.raises(ModuleNotFoundError):
        part(Size(4, 4, 4), "nothing")


@pytest.mark.parametrize(
    "given",
    [
        *[(3, 3, 4), (1, 7, 4), (9, 7, 4), (10, 10, 4), (-1, 7, 4), (6, 7, 2), (6, 7, -1)],
        *[(2, 16, 3), (2, 10, 9), (6.0, 7, 4), ("6", 7, 4), (True, 7, 4), (None, 7, 4)],
    ],
)
def test_a_board_that_cannot_be_is_refused_in_a_line(given):
    with pytest.raises(InvalidOption, match="expected") as refused:
        c4env.board(*given)
    assert "\n" not in str(refused.value)
    if None not in given:
        with pytest.raises(InvalidOption):
            c4env.env(**dict(zip(Size._fields, given, strict=True)))
