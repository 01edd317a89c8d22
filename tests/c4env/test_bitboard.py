import pytest
from hypothesis import given

from c4env.bitboard import (
    drop,
    fours,
    has_won,
    mirror,
    playable,
    popcount,
    safe_moves,
    win_score,
    winning_cells,
    winning_moves,
)
from c4env.jit import kernel
from tests.rules import reference
from tests.rules.strategies import bits_of, board_of, positions, stacks


@kernel("int64(int64, int64, int64)")
def perft(mine: int, theirs: int, depth: int) -> int:
    if depth == 0:
        return 1
    if has_won(theirs):
        return 0
    count = 0
    for column in range(7):
        cell = drop(mine | theirs, column)
        if cell:
            count += perft(theirs, mine | cell, depth - 1)
    return count


def cells_of(bits):
    return {(bit % 7, bit // 7) for bit in range(49) if bits >> bit & 1}


KNOWN = {1: 7, 2: 49, 3: 343, 4: 2401, 5: 16807, 7: 823536, 8: 5673234, 9: 39394572}


@pytest.mark.parametrize(
    "depth", [pytest.param(d, marks=pytest.mark.compiled if d > 5 else ()) for d in KNOWN]
)
def test_move_sequences_are_counted_as_known(depth):
    assert perft(0, 0, depth) == KNOWN[depth]


@given(stacks)
def test_every_board_is_read_as_the_reference_reads_it(columns):
    board = board_of(columns)
    boards = [bits_of(board, player) for player in (0, 1)]
    occupied = boards[0] | boards[1]
    for player, bits in enumerate(boards):
        own_only = [[c if c == player else reference.EMPTY for c in row] for row in board]
        assert has_won(bits) == (reference.winner(own_only) is not None)
        assert cells_of(fours(bits)) == reference.winning_discs(own_only)
        empty = {(r, c) for r in range(6) for c in range(7) if board[r][c] == reference.EMPTY}
        completing = reference.cells_completing_four(board, player)
        assert cells_of(winning_cells(bits)) & empty == completing & empty
        assert popcount(bits) == sum(row.count(player) for row in board)
        assert cells_of(mirror(bits)) == {(row, 6 - column) for row, column in cells_of(bits)}
        assert mirror(mirror(bits)) == bits
    for column, discs in enumerate(columns):
        resting = set() if len(discs) == 6 else {(len(discs), column)}
        assert cells_of(drop(occupied, column)) == resting
        assert cells_of(playable(occupied)) & {(r, column) for r in range(6)} == resting


@given(positions(finished=False))
def test_moves_that_win_and_moves_that_do_not_lose_are_those_play_shows(position):
    mine, theirs = position.mine, position.theirs
    after = {column: position.play(column) for column in position.legal_columns()}
    won = {c for c, board in after.items() if board.outcome and board.outcome.winner is not None}
    safe = {c for c, board in after.items() if not winning_moves(board.mine, board.theirs)}
    assert {column for _, column in cells_of(winning_moves(mine, theirs))} == won
    if not won:
        result = safe_moves(playable(mine | theirs), winning_cells(theirs))
        assert {column for _, column in cells_of(result)} == safe
    for board in (after[column] for column in won):
        assert win_score(board.plies) == 22 - board.discs(position.to_move).bit_count()


def test_every_window_alone_is_four_in_a_row():
    for cells in reference.WINDOWS:
        bits = sum(1 << (7 * column + row) for row, column in cells)
        assert has_won(bits)
        assert fours(bits) == bits
        for row, column in cells:
            three = bits ^ 1 << (7 * column + row)
            assert not has_won(three)
            assert fours(three) == 0
            if cells not in reference.VERTICAL or (row, column) == cells[3]:
                assert winning_cells(three) & 1 << (7 * column + row)
