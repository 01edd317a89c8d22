"""Lists of openings: positions from which the games of a training or of a tournament begin.

``3`` means all positions after 3 plies, one of each mirror pair. ``"balanced:4,2"`` means only the
balanced positions after 4 plies. ``"exam"`` means the positions of the exam, in which not every
column keeps the result. The path of a file means the openings in the file's lines.

The solver's opening book, which has the exact score of every position of up to 8 plies, shows
which positions are balanced.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from c4env.errors import C4Error, InvalidOption, require_integer

from .position import Position, format_moves

MAX_PLIES: Final = 8  # the book's limit: 91,295 openings

GRAMMAR: Final = "a number of plies 0..8, balanced:PLIES,SCORE, exam, a file, or a list of moves"

Openings = int | str | Sequence[str]
"""A number of plies, a text in the form of GRAMMAR, or a list of move strings."""

Starts = Openings | Position | Sequence[Position | str] | None
"""What an environment takes: openings, a position, its moves, or a list of both."""


def list_openings(openings: Openings) -> list[str]:
    """Return openings as move strings of 1-based columns.

    Args:
        openings: a number of plies, for all positions after so many plies; ``"balanced:4,2"`` for
            the positions after 4 plies whose exact score is between -2 and 2; ``"exam"`` for the
            positions of the exam; the path of a file; or a list of move strings.

    Raises:
        InvalidOption: there is no opening, an opening is wrong or repeated, or a text is malformed.

    Example:
        >>> list_openings(1)
        ['1', '2', '3', '4']
        >>> len(list_openings("balanced:4,2"))
        323
    """
    if isinstance(openings, str):
        games = _parse_openings(openings.strip())
    elif isinstance(openings, Sequence):
        games = [check_opening(moves, f"opening {moves!r}") for moves in openings]
    else:
        games = enumerate_openings(openings)
    if not games:
        raise InvalidOption(f"openings={openings!r}: expected at least one opening")
    if len(set(games)) < len(games):
        raise InvalidOption("openings: an opening is given twice")
    return games


def _parse_openings(text: str) -> list[str]:
    if re.fullmatch(r"-?\d+", text):
        return enumerate_openings(int(text))
    if os.path.isfile(text):
        return read_openings(text)
    if text == "exam":
        return [question.moves for question in _solver_module("exam").exam()]
    if not text.startswith("balanced"):
        return read_openings(text)
    numbers = re.fullmatch(r"balanced:(\d+),(\d+)", text)
    if numbers is None:
        raise InvalidOption(
            f"openings={text!r}: expected balanced:PLIES,SCORE such as balanced:4,2"
        )
    return balanced_openings(int(numbers[1]), int(numbers[2]))


def _solver_module(name: str) -> Any:
    """Return a module of the solver, by name since c4env must not depend on agents."""
    return importlib.import_module(f".agents.solver.{name}", __package__)


def check_opening(moves: str, where: str) -> str:
    """Return a move string after checking that it leads to an unfinished game.

    Raises:
        InvalidOption: the moves are illegal or end the game; the message begins with ``where``.
    """
    try:
        over = Position.parse(moves).outcome is not None
    except C4Error as error:
        raise InvalidOption(f"{where}: {error}") from None
    if over:
        raise InvalidOption(f"{where}: the game is over after {moves!r}")
    return moves


def canonical(position: Position) -> Position:
    """Return a position or its mirror image, whichever has the smaller bitboards."""
    mirrored = position.mirror()
    return min(position, mirrored, key=lambda p: (p.mine, p.theirs))


def enumerate_openings(plies: int) -> list[str]:
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
    book = _solver_module("book").default_book()
    scores = {moves: book.score(Position.parse(moves)) for moves in enumerate_openings(plies)}
    return [moves for moves, score in scores.items() if score is not None and abs(score) <= most]


def read_openings(path: str | Path) -> list[str]:
    """Read a file with an opening of 1-based columns on each line; ``#`` begins a comment.

    Raises:
        InvalidOption: the file cannot be read, or an opening is wrong, missing or repeated.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not a text file"
        raise InvalidOption(f"openings={str(path)!r}: {why}; expected {GRAMMAR}") from None
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        moves = line.partition("#")[0].strip()
        if not moves:
            continue
        check_opening(moves, f"{path}, line {number}")
        if moves in line_of:
            raise InvalidOption(f"{path}, line {number}: {moves} is also in line {line_of[moves]}")
        line_of[moves] = number
    if not line_of:
        raise InvalidOption(f"openings={str(path)!r}: expected at least one opening in the file")
    return list(line_of)
