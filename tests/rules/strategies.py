"""Generated boards and games for the property tests."""

from hypothesis import strategies as st

from c4env.position import Position
from tests.rules import reference


@st.composite
def games(draw: st.DrawFn, finished: bool = True) -> str:
    """1-based columns of a legal game, cut anywhere; never past its end.

    With ``finished=False`` the game is not over.
    """
    wishes = draw(st.lists(st.integers(0, 6), max_size=42))
    board, moves = reference.empty_board(), ""
    for wish in wishes:
        columns = reference.open_columns(board)
        column = columns[wish % len(columns)]
        reference.play(board, column, len(moves) % 2)
        if reference.is_over(board):
            return moves + str(column + 1) if finished else moves
        moves += str(column + 1)
    return moves


def positions(finished: bool = True) -> st.SearchStrategy[Position]:
    return games(finished).map(Position.parse)


stacks = st.lists(
    st.lists(st.integers(0, 1), max_size=6), min_size=7, max_size=7
)  # any discs on discs, whether or not a game reaches them: a list from the bottom a column


def board_of(columns: list[list[int]]) -> reference.Board:
    """The reference's board of such stacks."""
    board = reference.empty_board()
    for column, discs in enumerate(columns):
        for row, player in enumerate(discs):
            board[row][column] = player
    return board


def bits_of(board: reference.Board, player: int) -> int:
    """The bitboard of a player, by the layout drawn in ``c4env.bitboard``."""
    return sum(
        1 << (7 * column + row)
        for row in range(6)
        for column in range(7)
        if board[row][column] == player
    )
