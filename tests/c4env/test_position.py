import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

from c4env import Position, format_moves, parse_moves
from c4env.errors import IllegalMove, InvalidAction, InvalidPosition
from c4env.position import parse_column
from tests.rules import reference
from tests.rules.strategies import games, positions

DRAW = "421127327363224366417626743773654415515515"


def drawn(board):
    """The drawing the documentation promises, made from the reference's board."""
    lines = [" ".join(".xo"[cell + 1] for cell in row) for row in reversed(board)]
    return "\n".join([*lines, "1 2 3 4 5 6 7"])


@given(games())
def test_every_notation_reads_back(moves):
    position = Position.parse(moves)
    board = reference.board_after(moves)
    assert str(position) == drawn(board)
    assert Position.from_board(str(position)) == position
    assert Position.from_board(str(position).replace(" ", "").upper() + "\n\n") == position
    assert Position.parse(position.moves()) == position
    assert repr(position) == f"Position.parse({position.moves()!r})"
    assert eval(repr(position)) == position
    assert format_moves(parse_moves(moves)) == moves
    assert parse_moves(moves) == tuple(int(digit) - 1 for digit in moves)
    assert Position.from_bitboards(position.mine, position.theirs) == position
    assert position.mirror() == Position.parse("".join(str(8 - int(digit)) for digit in moves))


@given(positions())
def test_a_position_is_a_value(position):
    twins = [
        copy.deepcopy(position),
        copy.copy(position),
        *(pickle.loads(pickle.dumps(position, level)) for level in range(6)),
        position.mirror().mirror(),
    ]
    for twin in twins:
        assert twin == position
        assert hash(twin) == hash(position)
        assert twin.plies == position.plies
        assert twin.outcome == position.outcome
        assert twin.legal_columns() == position.legal_columns()
    assert len({position, *twins}) == 1
    assert position != (position.mine, position.theirs)
    assert Position.parse("14") != Position.parse("74")  # the other side's discs are the same
    for column in position.legal_columns():
        assert position.play(column) != position


def is_reached(board, known):
    """Whether some game reaches a board: take back any disc of the last mover, and ask again."""
    plies = sum(cell != reference.EMPTY for row in board for cell in row)
    if plies == 0:
        return True
    key, last = reference.key(board), (plies - 1) % 2
    if key not in known:
        known[key] = False
        for column in range(7):
            stack = [row[column] for row in board if row[column] != reference.EMPTY]
            if known[key] or not stack or stack[-1] != last:
                continue
            reference.take_back(board, column)
            known[key] = reference.winner(board) is None and is_reached(board, known)
            reference.play(board, column, last)
    return known[key]


def test_shuffled_discs_are_taken_only_if_some_game_reaches_them():
    """The right numbers of discs in any order: reached or not is the interesting question."""
    for seed in range(60):
        lots = np.random.default_rng(seed)
        board = reference.empty_board()
        for player in lots.permutation([ply % 2 for ply in range(lots.integers(4, 13))]):
            reference.play(board, int(lots.choice(reference.open_columns(board)[:3])), int(player))
        if is_reached(board, {}):
            assert str(Position.from_board(drawn(board))) == drawn(board)
        else:
            with pytest.raises(InvalidPosition):
                Position.from_board(drawn(board))


@pytest.mark.parametrize("rows", ["x . . . . . .\n. . . . . . .", "o o o o . . .\nx x x x . . ."])
def test_a_board_in_the_air_or_with_two_winners_is_refused(rows):
    text = ". . . . . . .\n" * 4 + rows
    with pytest.raises(InvalidPosition, match="no game reaches the board") as caught:
        Position.from_board(text)
    assert text in str(caught.value)


def test_a_board_that_is_not_a_text_is_refused():
    with pytest.raises(InvalidPosition, match="None is not a drawn board: expected a text"):
        Position.from_board(None)


def test_discs_in_an_order_no_game_has_are_shown_by_their_bitboards():
    """from_bitboards does not look for the game: such a position plays on, but has none."""
    position = Position.from_bitboards(0b10, 0b01 | 0)  # o below the only x, x to move again
    assert position.legal_columns() == (0, 1, 2, 3, 4, 5, 6)
    with pytest.raises(InvalidPosition, match="in turn"):
        position.moves()
    assert eval(repr(position)) == position
    assert "from_bitboards(0x2, 0x1)" in repr(position)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        pytest.param(0, 0b10, id="in the air"),
        pytest.param(0b1, 0b1, id="overlapping"),
        pytest.param(0b1, 0, id="mine one more"),
        pytest.param(0, 0b1 | 1 << 7, id="theirs two more"),
        pytest.param(0b0101010, 0b1010101, id="above the board"),
        pytest.param(0, 1 << 49, id="right of the board"),
        pytest.param(-1, 0, id="negative"),
        pytest.param(0b1111, 0b1111 << 7, id="both have won"),
        pytest.param(0b1111, 0b111 << 7 | 1 << 14, id="the side to move has won"),
    ],
)
def test_bitboards_that_are_not_a_board_are_refused(mine, theirs):
    with pytest.raises(InvalidPosition, match=f"{mine:#x}") as caught:
        Position.from_bitboards(mine, theirs)
    assert f"{theirs:#x}" in str(caught.value)


@pytest.mark.parametrize("moves", ["0", "8", "44a", "4 4", "4,4", "²", "٣", "-1", "44\n"])
def test_a_move_string_of_other_characters_is_refused(moves):
    for read in (Position.parse, parse_moves):
        with pytest.raises(InvalidPosition) as caught:
            read(moves)
        assert repr(moves) in str(caught.value)
        assert "(1 to 7)" in str(caught.value)


def test_a_full_column_is_refused_where_it_stands():
    full = Position.parse("444444")
    with pytest.raises(IllegalMove, match=r"column 3 is full.*\(0, 1, 2, 4, 5, 6\)"):
        full.play(3)
    words = "'44444441', move 7: column 4 is full.*: 1, 2, 3, 5, 6, 7$"
    with pytest.raises(IllegalMove, match=words):
        Position.parse("44444441")


def test_playing_on_after_the_end_is_refused():
    for moves in ("1212121", DRAW):
        with pytest.raises(IllegalMove, match="the game is over"):
            Position.parse(moves).play(0)
    with pytest.raises(IllegalMove, match="'12121213', move 8: column 3: the game is over"):
        Position.parse("12121213")


@pytest.mark.parametrize("action", [-1, 7, 100, True, False, 2.0, "3", None, [3], np.True_])
def test_what_is_not_a_column_is_refused(action):
    position = Position.parse("4")
    for use in (position.play, parse_column, lambda value: format_moves([value])):
        with pytest.raises(InvalidAction, match=r"0\.\.6") as caught:
            use(action)
        assert str(action) in str(caught.value)
    if action in (-1, 7, 100) and action is not True:
        assert not position.is_legal(action)
    else:
        with pytest.raises(InvalidAction, match=r"0\.\.6"):
            position.is_legal(action)
    assert position == Position.parse("4")
