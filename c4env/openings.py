"""Lists of openings: positions from which the games of a training or of a tournament begin.

    3                 all positions after 3 plies, one of each mirror pair
    "44"              the position after these moves; "" is the empty board
    "balanced:4,2"    the positions after 4 plies whose exact score is between -2 and 2
    "exam"            the positions of the exam, in which not every column keeps the result
    "openings.txt"    the openings in the lines of a file
    ["", "44"]        a list of moves and positions

A number counts plies, and a text of digits is moves. A list or a file has each position once, in
whatever order its discs were played; mirror images are different positions.

The solver's opening book, which has the exact score of every position of up to 8 plies, shows
which positions are balanced.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, SupportsIndex

from c4env.errors import C4Error, InvalidOption, require_integer
from c4env.lazy import agents_module
from c4env.position import DIGITS, Position, format_moves

MAX_PLIES: Final = 8  # the book's limit: 91,295 openings

GRAMMAR: Final = (
    "a number of plies 0..8, balanced:PLIES,SCORE, exam, a file, or moves: '44' or a list in "
    "Python, moves:44 on the command line"
)

Openings = SupportsIndex | str | os.PathLike[str] | Position | Sequence[Position | str]
"""The types that :func:`list_openings` reads."""


def list_openings(openings: Openings) -> list[str]:
    """Return openings as move strings of 1-based columns.

    Args:
        openings: a number of plies, for all positions after so many plies; moves such as ``"44"``;
            ``"balanced:4,2"`` for the positions after 4 plies whose exact score is between -2 and
            2; ``"exam"`` for the positions of the exam; the path of a file; a position; or a list
            of moves and positions. A text of digits is always moves.

    Raises:
        InvalidOption: the list is empty, an opening is wrong, two openings are one position (even
            in another order of moves), or a text is malformed.

    Example:
        >>> list_openings(1)
        ['1', '2', '3', '4']
        >>> list_openings("4"), len(list_openings("balanced:4,2"))
        (['4'], 323)
    """
    return [start if isinstance(start, str) else start.moves() for start in starts_of(openings)]


def starts_of(openings: Openings) -> Sequence[Position | str]:
    """Return openings as :func:`list_openings` does, but given positions stay positions."""
    starts: Sequence[Position | str]
    if isinstance(openings, Position) or (isinstance(openings, str) and _is_moves(openings)):
        starts = [openings]
        _check([("openings as moves", openings)])
    elif isinstance(openings, str):
        starts = _named_openings(openings)
    elif isinstance(openings, os.PathLike):
        starts = read_openings(openings)
    elif isinstance(openings, Sequence):
        starts = openings
        _check((f"opening {number}", start) for number, start in enumerate(starts, start=1))
    else:
        starts = enumerate_openings(openings)
    if not starts:
        raise InvalidOption(f"openings={openings!r}: expected at least one opening")
    return starts


def _is_moves(text: str) -> bool:
    return not text or text.isdecimal()


def _named_openings(text: str) -> list[str]:
    """Return the openings of a file or a set."""
    if os.path.isfile(text):
        return read_openings(text)
    if text == "exam":
        return [question.moves for question in agents_module("solver.exam").exam()]
    if set(text) <= {*DIGITS}:
        raise InvalidOption(
            f"openings={text!r}: not a file; expected moves with letters in a list, [{text!r}], "
            f"or as moves:{text} on the command line"
        )
    if not text.startswith("balanced"):
        return read_openings(text)
    numbers = re.fullmatch(r"balanced:(\d+),(\d+)", text)
    if numbers is None:
        raise InvalidOption(
            f"openings={text!r}: expected balanced:PLIES,SCORE such as balanced:4,2"
        )
    return balanced_openings(int(numbers[1]), int(numbers[2]))


def _check(starts: Iterable[tuple[str, Position | str]], source: str = "") -> None:
    """Check that openings lead to unfinished games, and each to another position.

    Args:
        starts: the openings, each after its place, which messages name.
        source: the beginning of the messages.

    Raises:
        InvalidOption: moves are illegal or end the game, or two openings are one position.
    """
    found: dict[Position, tuple[str, Position | str]] = {}
    for place, start in starts:
        try:
            position = start if isinstance(start, Position) else Position.parse(start)
        except C4Error as error:
            raise InvalidOption(f"{source}{place}: {error}") from None
        if position.outcome is not None:
            raise InvalidOption(f"{source}{place}: the game is over after {start!r}")
        if position in found:
            first, other = found[position]
            raise InvalidOption(
                f"{source}{place}: {start!r} reaches the same position as {first}, {other!r}"
            )
        found[position] = place, start


def canonical(position: Position) -> Position:
    """Return a position or its mirror image, whichever has the smaller bitboards."""
    mirrored = position.mirror()
    return min(position, mirrored, key=lambda p: (p.mine, p.theirs))


def enumerate_openings(plies: SupportsIndex) -> list[str]:
    """List move strings of all unfinished positions after ``plies`` discs, one per mirror pair.

    The move string is the lexicographically first game that leads to the position. The list is
    sorted. For 0 to 8 plies its length is 1, 4, 25, 121, 568, 2144, 8231, 27109 and 91295.

    Raises:
        InvalidOption: ``plies`` is not an integer 0..8.
    """
    layer = {Position(): ""}
    count = require_integer("openings", plies, 0, GRAMMAR, high=MAX_PLIES)
    for _ in range(count):
        next_layer: dict[Position, str] = {}
        visited: set[Position] = set()
        for position, moves in layer.items():
            for column in position.legal_columns():
                child = position.play(column)
                if child.outcome is None and canonical(child) not in visited:
                    visited.add(canonical(child))
                    next_layer[child] = moves + format_moves([column])
        layer = next_layer
    return list(layer.values())


def balanced_openings(plies: int, most: int) -> list[str]:
    """Return the openings of :func:`enumerate_openings` that score from ``-most`` to ``most``.

    The scores are exact: 0 is a draw, and 1 is a win with the winner's last disc.

    Raises:
        InvalidOption: ``plies`` is not an integer 0..8, or ``most`` is negative.
    """
    if most < 0:
        raise InvalidOption(f"balanced:{plies},{most}: expected a score of at least 0")
    book = agents_module("solver.book").default_book()
    scores = {moves: book.score(Position.parse(moves)) for moves in enumerate_openings(plies)}
    return [moves for moves, score in scores.items() if score is not None and abs(score) <= most]


def read_openings(path: str | os.PathLike[str]) -> list[str]:
    """Read a file with an opening of 1-based columns on each line; ``#`` begins a comment.

    Raises:
        InvalidOption: the file cannot be read, an opening is wrong or missing, or two lines lead to
            one position.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a text file"
        raise InvalidOption(f"openings={str(path)!r}: {why}; expected {GRAMMAR}") from None
    openings = {
        f"line {number}": moves
        for number, line in enumerate(lines, start=1)
        if (moves := line.partition("#")[0].strip())
    }
    if not openings:
        raise InvalidOption(f"openings={str(path)!r}: expected at least one opening in the file")
    _check(openings.items(), f"{path}, ")
    return [*openings.values()]
