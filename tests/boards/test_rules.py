import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import c4env
from c4env import Position, bitboard, observation
from c4env.envs.batch import boards_from
from c4env.errors import InvalidOption
from c4env.geometry import BOARD_SIZE as SIZE
from c4env.geometry import IS_STANDARD
from tests.rules import reference

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pettingzoo.test import api_test


DRAW = "421127327363224366417626743773654415515515"
WON_BY_THE_LAST_DISC = "527321255352474421577234343376616576661114"  # a five and a four


def test_games_are_those_of_the_slow_rules():
    games = [reference.random_game(seed, SIZE) for seed in range(20)]
    if IS_STANDARD:
        games += [[int(digit) - 1 for digit in moves] for moves in (DRAW, WON_BY_THE_LAST_DISC)]
    for game in games:
        position, cells = Position(), reference.empty_board(SIZE)
        for ply, column in enumerate(game):
            assert position.legal_columns() == tuple(reference.open_columns(cells))
            legal = [c for c in range(-2, SIZE.columns + 2) if position.is_legal(c)]
            assert legal == reference.open_columns(cells)
            mover = ply % 2
            assert (position.plies, position.to_move, position.outcome) == (ply, mover, None)
            assert position.mine == position.discs(mover)
            wins = bitboard.winning_moves(position.mine, position.theirs)
            occupied = position.mine | position.theirs
            items = [c for c in position.legal_columns() if bitboard.drop(occupied, c) & wins]
            assert items == reference.winning_columns(cells, mover, SIZE)
            position = position.play(column)
            reference.play(cells, column, mover)
            if reference.is_over(cells, SIZE):
                assert position.outcome.winner == reference.winner(cells, SIZE)
                won = {(SIZE.rows - 1 - r, c) for r, c in reference.winning_discs(cells, SIZE)}
                assert position.outcome.cells == tuple(sorted(won))
        assert position.outcome is not None
        assert not any(position.is_legal(column) for column in range(SIZE.columns))
        assert Position.from_board(str(position)) == position
        assert Position.parse(position.moves()) == position
        assert position.mirror().mirror() == position
        seen = c4env.observe(position, 0)["observation"]
        assert seen.shape == (SIZE.rows, SIZE.columns, 2)
        assert seen.sum() == position.plies


def test_every_layout_shows_the_board_and_is_read_back():
    position, before, values = Position(), reference.empty_board(SIZE), set()
    for column in reference.random_game(3, SIZE):
        mover, discs = position.to_move, [position.mine, position.theirs]
        seen = c4env.observe(position, 1 - mover)  # who is not on turn has no move
        assert (seen["observation"][..., ::-1] == c4env.observe(position)["observation"]).all()
        legal = [int(c in reference.open_columns(before)) for c in range(SIZE.columns)]
        assert not seen["action_mask"].any()
        assert c4env.observe(position)["action_mask"].tolist() == legal
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
                seen = form(c4env.observe(position)["observation"])
                assert (seen.dtype.name, seen.shape) == (dtype, cells.shape)
                assert (seen == cells).all()
                assert seen.flags.c_contiguous
                assert (form(c4env.observe(position)["observation"][None])[0] == cells).all()
                seen.flags.writeable = False  # as from a file in memory, or another process
                assert form.space["observation"].contains(seen)
                assert boards_from(seen[None]).tolist() == [discs]
                assert c4env.position_from({"observation": seen}) == position
        values |= {*signed.ravel().tolist()}
        position = position.play(column)
        reference.play(before, column, mover)
    assert values == {-1, 0, 1}
    assert not c4env.observe(position)["action_mask"].any()  # the game is over


@pytest.mark.skipif(SIZE.columns < 10, reason="columns are digits")
def test_moves_with_letters_are_given_in_a_list():
    assert c4env.list_openings(["a1", "9"]) == ["a1", "9"]
    with pytest.raises(InvalidOption, match=r"'a1': not a file; .* in a list, \['a1'\]"):
        c4env.list_openings("a1")


@pytest.mark.skipif(IS_STANDARD, reason="tests/c4env has it of the standard board")
def test_environments_pass_the_checkers():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(c4env.env(), num_cycles=20)
        check_env(gymnasium.make("c4env/ConnectFour-v0").unwrapped, skip_render_check=True)
    environment = c4env.env(render_mode="rgb_array")
    environment.reset()
    assert environment.render().shape[:2] == tuple(9 * (13 * n + 8) for n in SIZE[:2])
    assert environment.observation_space("player_0")["action_mask"].shape == (SIZE.columns,)
