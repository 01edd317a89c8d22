"""Solve positions exactly: c4 solve 4455.

A position is written as the 1-based columns played. For a position on the command line, c4 prints
its board, the score of every column, the best columns and the line of best play. Without a
position, c4 reads positions from standard input, one per line, and answers each position with a
line of moves and score, so the output is a list of labelled positions. On an input line, c4 ignores
the text after the moves.

--all FILE writes every position of a small board as a NumPy table. numpy.load(FILE) has the fields
mine and theirs (bitboards, side to move first), score, and columns (the score of each column, -99
if the column is full or the game is over).

A score is for the side to move: positive for a forced win (greater for an earlier win), 0 for a
draw, and negative for a loss.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from c4env.evaluation.cli.declare import add_board, add_format
from c4env.evaluation.cli.output import say, show
from c4env.evaluation.tables import Table

if TYPE_CHECKING:
    from c4env.agents.solver import Solver
    from c4env.position import Position

_PORTION: Final = 64  # lines of standard input to solve together


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "positions", nargs="*", metavar="MOVES", help="columns played; `-` is the empty board"
    )
    add_format(parser, "json has one object per line")
    add_board(parser)
    parser.add_argument(
        "--all", type=Path, metavar="FILE",
        help="write every position of a small board, with all scores",
    )  # fmt: skip
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N",
        help="threads that solve the lines of the input (default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--table-mb", type=int, default=64, metavar="MB",
        help="megabytes of the transposition table (default 64)",
    )  # fmt: skip


def execute(arguments: argparse.Namespace) -> None:
    if arguments.all is not None:
        _write_all(arguments)
        return
    from c4env.agents.solver import Solver
    from c4env.errors import require_integer

    require_integer("threads", arguments.threads)
    positions = [(moves, _position(moves)) for moves in arguments.positions]
    solver = Solver(table_mb=arguments.table_mb)
    if arguments.format == "text" and not positions:
        _label(_read_lines(), solver, arguments.threads)
        return
    solved = (
        (moves, position, _facts(solver, position))
        for moves, position in positions or _read_lines()
    )
    if arguments.format in ("csv", "markdown"):
        show(_table((moves, facts) for moves, _, facts in solved), arguments)
        return
    for moves, position, facts in solved:
        if arguments.format == "json":
            say(json.dumps({"moves": moves.replace("-", ""), **facts}))
        else:
            say(_shown(moves, position, facts))


def _label(lines: list[tuple[str, Position]], solver: Solver, threads: int) -> None:
    """Print the moves and the score of each position, before the next portion is solved."""
    for start in range(0, len(lines), _PORTION):
        portion = lines[start : start + _PORTION]
        scores = solver.scores_many([position for _, position in portion], threads=threads)
        for (moves, _), score in zip(portion, scores.tolist(), strict=True):
            say(f"{moves} {score}")
        sys.stdout.flush()


def _position(moves: str) -> Position:
    from c4env.position import Position

    return Position.parse("" if moves == "-" else moves)


def _write_all(arguments: argparse.Namespace) -> None:
    """Write the table of every position."""
    import numpy as np

    from c4env.agents.solver.enumeration import whole_board
    from c4env.errors import InvalidOption
    from c4env.files import write_whole

    if arguments.positions:
        raise InvalidOption("--all: expected no positions")
    rows = whole_board()
    write_whole(arguments.all, lambda out: np.save(out, rows))
    say(f"{len(rows):,} positions in {arguments.all}")


def _read_lines() -> list[tuple[str, Position]]:
    """Read all positions from standard input before the solver starts.

    Raises:
        InvalidPosition, IllegalMove: a line is not a position; the message has the line's number.
    """
    from c4env.errors import C4Error, InvalidPosition
    from c4env.geometry import DIGITS

    positions = []
    for number, line in enumerate(sys.stdin, start=1):
        words = line.removeprefix("\ufeff").split()  # Windows' byte order mark
        if not words:
            continue
        moves = words[0]
        try:
            if len(words) > 1 and {*words} <= {*DIGITS}:
                raise InvalidPosition(f"{line.strip()!r}: expected columns without spaces between")
            positions.append((moves, _position(moves)))
        except C4Error as error:
            raise type(error)(f"standard input, line {number}: {error}") from None
    return positions


def _cells(scores: Iterable[int | None]) -> list[str]:
    """The scores of the columns as texts with a sign; 0 has none."""
    return ["." if score is None else format(score, "+d" if score else "d") for score in scores]


def _facts(solver: Solver, position: Position) -> dict[str, Any]:
    from c4env.position import format_moves

    score = solver.score(position)
    return {
        "score": score,
        "columns": solver.scores(position),
        "best": format_moves(solver.best_columns(position)),
        "plies_to_end": solver.plies_to_end(position),
        "line": format_moves(solver.principal_variation(position)),
    }


def _table(solved: Iterable[tuple[str, dict[str, Any]]]) -> Table:
    """A table with a row for each position and the columns' scores on the right."""
    from c4env.geometry import DIGITS

    names = ("score", "best", "plies_to_end", "line")
    rows = [[moves, *(facts[name] for name in names), *facts["columns"]] for moves, facts in solved]
    return Table.of(dict.fromkeys(("moves", *names, *DIGITS), ""), rows)


def _shown(moves: str, position: Position, facts: dict[str, Any]) -> str:
    """The board, the scores below their columns, and the verdict."""
    from c4env.geometry import DIGITS
    from c4env.render import SIDES, drawing, words_of

    last = DIGITS.index(moves[-1]) if moves.strip("-") else None
    if position.outcome is not None:
        winner = position.outcome.winner
        verdict = "a draw" if winner is None else f"{SIDES[winner]} has won"
        return f"{drawing(position, last, colour=True)}\nthe game is over: {verdict}"
    cells = _cells(facts["columns"])
    worth = words_of(facts["score"], position.plies)
    return (
        f"{drawing(position, last, colour=True, under=cells)}   score of each column\n"
        f"{SIDES[position.to_move]} to move {worth}\n"
        f"best {', '.join(facts['best'])}   line {facts['line']}"
    )
