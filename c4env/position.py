"""Connect Four positions as values, and two notations for them.

A notation has a reader and a writer:

- the columns played, 1-based, as solvers write them: ``parse_moves("4455")`` gives the 0-based
  columns ``(3, 3, 4, 4)``, and ``format_moves`` writes the string back;
- the drawn board: ``str(position)`` draws it, and ``Position.from_board`` reads it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Final, NamedTuple, Self

from c4env.errors import IllegalMove, InvalidAction, InvalidPosition, WrongBoard
from c4env.geometry import BOARD_SIZE, LINE_IN_WORDS, as_integer
from c4env.geometry import DIGITS as DIGITS
from c4env.geometry import parse_column as parse_column
from c4env.rules import (
    BOARD,
    BOTTOM,
    CELLS,
    COLUMN_MASKS,
    COLUMNS,
    CONNECT,
    FROM_TOP,
    ROWS,
    STRIDE,
    TOP,
    fours,
    has_won,
    is_consistent,
    mirror,
)

DISCS: Final = "xo"  # how str() draws the discs of players 0 and 1
EMPTY: Final = "."
FIRST_WIN: Final = 2 * CONNECT - 1  # plies after which there can be four in a row

_new: Final = object.__new__
_TOP_CELLS: Final = tuple(TOP & mask for mask in COLUMN_MASKS)


class Outcome(NamedTuple):
    """The result of a finished game.

    Example:
        >>> Position.parse("1212121").outcome
        Outcome(winner=0, cells=((2, 0), (3, 0), (4, 0), (5, 0)))
    """

    winner: int | None
    """0 or 1, the player who made four in a row; None for a draw."""
    cells: tuple[tuple[int, int], ...]
    """The discs of the winning line or lines as ``(row, column)``, row 0 on top as in an
    observation; empty for a draw."""


class Position:
    """A board and its side to move; positions with the same discs are equal.

    Its methods return new positions; do not set its attributes.
    Player 0 begins, so the number of discs determines the side to move. A position has no history:
    two games that transpose reach equal positions.

    Attributes:
        mine: bitboard of the side to move (layout: ``c4env.bitboard``).
        theirs: bitboard of the other side.
        plies: discs played, 0..42.

    Example:
        >>> position = Position.parse("445").play(2)
        >>> position.plies, position.to_move, position.outcome
        (4, 0, None)
        >>> position
        Position.parse('4453')
    """

    # They can be set: refusing that doubles the time to make a position, most of a move's.
    __slots__ = ("_outcome", "mine", "plies", "theirs")

    mine: int
    theirs: int
    plies: int
    # None while the game goes on; computed by the constructor.
    _outcome: Outcome | None

    def __new__(cls) -> Self:
        """Make the empty board with player 0 to move."""
        return cls._of(0, 0, 0)

    @classmethod
    def _of(cls, mine: int, theirs: int, plies: int) -> Self:
        """Make a position from two bitboards without checks."""
        position = _new(cls)
        position.mine, position.theirs, position.plies = mine, theirs, plies
        position._outcome = None
        if plies >= FIRST_WIN and (plies == CELLS or has_won(theirs)):
            position._outcome = _outcome_of(theirs, plies)
        return position

    # -- other constructors ------------------------------------------------------------

    @classmethod
    def from_bitboards(cls, mine: int, theirs: int) -> Self:
        """Make a position from two bitboards; ``mine`` belongs to the side to move.

        The checks are quick: no disc floats, no discs overlap, the disc counts fit the turns, and
        the side to move has not won. :meth:`moves` checks whether a game reaches the board.

        Raises:
            InvalidPosition: a check fails, or a bitboard is not an integer (of Python or NumPy).
        """
        if type(mine) is not int or type(theirs) is not int:
            mine, theirs = _as_bitboard(mine), _as_bitboard(theirs)
        if not 0 <= mine <= BOARD or not 0 <= theirs <= BOARD or not _is_consistent(mine, theirs):
            raise InvalidPosition(
                f"bitboards {mine:#x} (side to move) and {theirs:#x}: discs must rest on discs, "
                "not overlap, and be equal in number (or one fewer for the side to move)"
            )
        if has_won(mine):
            raise InvalidPosition(
                f"bitboards {mine:#x} (side to move) and {theirs:#x}: the side to move has "
                f"{LINE_IN_WORDS} in a row already, so the game ended before this turn"
            )
        return cls._of(mine, theirs, (mine | theirs).bit_count())

    @classmethod
    def parse(cls, moves: str) -> Self:
        """Return the position after a move string such as ``"4455"``; ``""`` is the empty board.

        Raises:
            InvalidPosition: a character is not a digit 1..7.
            IllegalMove: a column is full, or a move follows the end of the game.
        """
        columns = parse_moves(moves)
        mine = theirs = before = 0
        for column in columns:
            cell = ((mine | theirs) + BOTTOM) & COLUMN_MASKS[column]
            if not cell:
                break
            mine, theirs, before = theirs, mine | cell, mine
        else:
            # The discs of a four stay, so one look finds a win before the last move.
            if len(columns) <= FIRST_WIN or not (has_won(mine) or has_won(before)):
                return cls._of(mine, theirs, len(columns))
        raise _illegal(moves, columns)

    @classmethod
    def from_board(cls, text: str) -> Self:
        """Return the position of a drawn board; reverses ``str(position)``.

        The drawing has six lines of seven cells from the top: ``x`` (player 0), ``o`` (player 1) or
        ``.``. Blanks, empty lines and a line of column numbers are ignored.

        Raises:
            InvalidPosition: the text is not a drawn board, or no game reaches the board.
        """
        if not isinstance(text, str):
            raise InvalidPosition(f"{text!r} is not a drawn board: expected a text")
        lines = ["".join(line.split()).lower() for line in text.splitlines()]
        rows = [line for line in lines if line and line != DIGITS]
        if len(rows) != ROWS or any(len(row) != COLUMNS for row in rows):
            raise InvalidPosition(
                f"{text!r} is not a drawn board: expected {ROWS} lines of {COLUMNS} cells"
            )
        boards = [0, 0]
        for height, row in enumerate(reversed(rows)):
            for column, cell in enumerate(row):
                if cell in DISCS:
                    boards[DISCS.index(cell)] |= 1 << (STRIDE * column + height)
                elif cell != EMPTY:
                    raise InvalidPosition(
                        f"{cell!r} in {row!r}: a cell is one of {DISCS[0]!r}, {DISCS[1]!r}, "
                        f"{EMPTY!r}"
                    )
        to_move = (boards[0] | boards[1]).bit_count() & 1
        try:
            position = cls.from_bitboards(boards[to_move], boards[1 - to_move])
            position.moves()
        except InvalidPosition as error:
            raise InvalidPosition(f"no game reaches the board\n{text}\n{error}") from None
        return position

    # -- rules -------------------------------------------------------------------------

    @property
    def to_move(self) -> int:
        """The player to move, 0 or 1; after the end, the player who would be next."""
        return self.plies & 1

    @property
    def outcome(self) -> Outcome | None:
        """The result of the game; None while the game goes on."""
        return self._outcome

    def legal_columns(self) -> tuple[int, ...]:
        """Return the legal 0-based columns in ascending order; none once the game is over."""
        if self._outcome is not None:
            return ()
        return _columns_below((self.mine | self.theirs) & TOP)

    def is_legal(self, column: int) -> bool:
        """Return True if the 0-based ``column`` is legal.

        Raises:
            InvalidAction: ``column`` is not an integer.
        """
        if type(column) is not int:
            column = as_integer(column)
        return (
            self._outcome is None
            and 0 <= column < COLUMNS
            and not (self.mine | self.theirs) & _TOP_CELLS[column]
        )

    def play(self, column: int) -> Self:
        """Return the position after the side to move plays the 0-based ``column``.

        Raises:
            InvalidAction: ``column`` is not an integer 0..6.
            IllegalMove: the column is full or the game is over.
        """
        if type(column) is not int or not 0 <= column < COLUMNS:
            column = parse_column(column)
        mine, theirs = self.mine, self.theirs
        if self._outcome is not None:
            raise IllegalMove(f"column {column}: the game is over")
        cell = ((mine | theirs) + BOTTOM) & COLUMN_MASKS[column]
        if not cell:
            raise IllegalMove(f"column {column} is full; legal columns: {self.legal_columns()}")
        # As _of, which would take a fifth of the time of a move.
        position = _new(type(self))
        position.mine = theirs
        position.theirs = mine = mine | cell
        position.plies = plies = self.plies + 1
        position._outcome = None
        if plies >= FIRST_WIN and (plies == CELLS or has_won(mine)):
            position._outcome = _outcome_of(mine, plies)
        return position

    def mirror(self) -> Self:
        """Return the mirrored position, whose exact score is the same."""
        return self._of(mirror(self.mine), mirror(self.theirs), self.plies)

    def discs(self, player: int) -> int:
        """Return the bitboard of player 0 or 1."""
        return self.mine if player == self.to_move else self.theirs

    def moves(self) -> str:
        """Return the move string of a game that reaches the position.

        Raises:
            InvalidPosition: no game reaches the position. Only a position made from bitboards or
                an observation can be unreachable.
        """
        return format_moves(_game_reaching(self))

    # -- comparison, copies and text ---------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self.mine == other.mine and self.theirs == other.theirs

    def __hash__(self) -> int:
        return hash((self.mine, self.theirs))

    def __reduce__(self) -> tuple[object, ...]:
        return (self._unpickle, (str(BOARD_SIZE), self.mine, self.theirs, self.plies))

    @classmethod
    def _unpickle(cls, board: str, *values: int) -> Self:
        if board != str(BOARD_SIZE):
            raise WrongBoard(f"the position is made for {board}, not for {BOARD_SIZE}")
        return cls._of(*values)

    def __repr__(self) -> str:
        try:
            return f"Position.parse({self.moves()!r})"
        except InvalidPosition:
            return f"Position.from_bitboards({self.mine:#x}, {self.theirs:#x})"

    def __str__(self) -> str:
        cells = [(EMPTY, *DISCS)[number] for number in numbered_cells(self)]
        lines = [" ".join(cells[start : start + COLUMNS]) for start in range(0, CELLS, COLUMNS)]
        lines.append(" ".join(DIGITS))
        return "\n".join(lines)

    def _repr_svg_(self) -> str:
        """Return the picture that a notebook shows."""
        from c4env.render import svg

        return svg(self)


def _illegal(moves: str, columns: tuple[int, ...]) -> IllegalMove:
    """Return the error of moves of which one is illegal; it counts columns from 1, as they do."""
    position = Position()
    while (column := columns[position.plies]) in (legal := position.legal_columns()):
        position = position.play(column)
    names = ", ".join(DIGITS[other] for other in legal)
    why = f" is full; legal columns: {names}" if names else ": the game is over"
    ply = position.plies
    return IllegalMove(f"{moves!r}, move {ply + 1}: column {moves[ply]}{why}")


def _outcome_of(discs: int, plies: int) -> Outcome:
    """Return the outcome of a game that has ended with one of these discs."""
    if has_won(discs):
        return Outcome((plies - 1) & 1, _cells(fours(discs)))
    return Outcome(None, ())


def parse_moves(text: str) -> tuple[int, ...]:
    """Return the 0-based columns of a move string; reverses :func:`format_moves`.

    Raises:
        InvalidPosition: ``text`` is not a string of digits 1..7.

    Example:
        >>> parse_moves("443")
        (3, 3, 2)
    """
    if not isinstance(text, str):
        raise InvalidPosition(f"{text!r} is not a move string such as '4455'")
    for index, digit in enumerate(text):
        if digit not in DIGITS:
            expected = f"a column ({DIGITS[0]} to {DIGITS[-1]})"
            raise InvalidPosition(f"{text!r}: move {index + 1}, {digit!r}, is not {expected}")
    return tuple(map(DIGITS.index, text))


def format_moves(columns: Iterable[int]) -> str:
    """Return the move string of 0-based columns; reverses :func:`parse_moves`.

    Example:
        >>> format_moves([3, 3, 2])
        '443'
    """
    return "".join([DIGITS[parse_column(column)] for column in columns])


def require_position(value: object) -> Position:
    """Return the value if it is a position of this board."""
    if not isinstance(value, Position):
        moves = f", as Position.parse({value[:100]!r}) makes" if isinstance(value, str) else ""
        raise InvalidPosition(f"{repr(value)[:120]}: expected a c4env.Position{moves}")
    return value


def numbered_cells(position: Position) -> list[int]:
    """Return the 42 cells row by row from the top: 0 empty, 1 player 0, 2 player 1."""
    first, second = position.discs(0), position.discs(1)
    return [(first >> bit & 1) + 2 * (second >> bit & 1) for bit in FROM_TOP]


def _cells(board: int) -> tuple[tuple[int, int], ...]:
    """Return ``(row, column)`` of each set bit in reading order; row 0 is on top."""
    return tuple(divmod(i, COLUMNS) for i, bit in enumerate(FROM_TOP) if board >> bit & 1)


@functools.cache
def _columns_below(tops: int) -> tuple[int, ...]:
    """Return the columns that are not full, given the occupied top cells."""
    return tuple([c for c, top in enumerate(_TOP_CELLS) if not tops & top])


def _is_consistent(mine: int, theirs: int) -> bool:
    return is_consistent(mine, theirs, theirs.bit_count() - mine.bit_count())


def _as_bitboard(bits: object) -> int:
    """Return bits as a plain int; a NumPy integer would overflow in later shifts."""
    try:
        return as_integer(bits)
    except InvalidAction:
        raise InvalidPosition(f"bitboard {bits!r}: expected an integer") from None


def _game_reaching(position: Position) -> list[int]:
    """Find the columns of a game that reaches the position, by taking discs back.

    After a win the first disc taken back must break every line of four; removing more discs makes
    no new lines. The search remembers each set of occupied cells from which it failed.
    """
    occupied_at_end = position.mine | position.theirs
    won = has_won(position.theirs)
    failed: set[int] = set()
    columns: list[int] = []

    def take_back(mover: int, other: int) -> bool:
        occupied = mover | other
        if not occupied:
            return True
        if occupied in failed:
            return False
        for column, mask in enumerate(COLUMN_MASKS):
            top = 1 << (occupied & mask).bit_length() >> 1
            if not top & mover or (won and occupied == occupied_at_end and has_won(mover ^ top)):
                continue
            if take_back(other, mover ^ top):
                columns.append(column)
                return True
        failed.add(occupied)
        return False

    if has_won(position.mine) or not take_back(position.theirs, position.mine):
        raise InvalidPosition("the discs were not played in turn, or play went on after a win")
    return columns
