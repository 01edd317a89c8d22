"""Solve positions exactly: c4 solve 4455.

A position is written as the 1-based columns played. One on the command line is shown with
its board, the score of every column, the best columns and the line of best play. With none, they
are read from standard input, one a line, and answered one a line: the moves and the score,
so that the output is again a list of labelled positions (anything after the moves on an
input line is passed over).

A score is the side to move's: positive if it can force a win, the greater the sooner;
0 for a draw; negative if it loses.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.solver import Solver
    from c4env.position import Position


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("positions", nargs="*", metavar="MOVES", help="`-` is the empty board")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument(
        "--columns", action="store_true", help="the score of every column for standard input too"
    )
    parser.add_argument("--no-book", action="store_true", help="search even what the book knows")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="(default 1)")
    parser.add_argument("--table-mb", type=int, default=64, metavar="MB", help="(default 64)")


def execute(arguments: argparse.Namespace) -> int:
    """Print what the solver finds."""
    from agents.solver import Solver
    from c4env.position import Position

    solver = Solver(
        book=None if arguments.no_book else "default",
        table_mb=arguments.table_mb,
        threads=arguments.threads,
    )
    if arguments.positions:
        asked = [
            (moves, Position.parse("" if moves == "-" else moves)) for moves in arguments.positions
        ]
        for moves, position in asked:
            print(_as_json(solver, moves, position) if arguments.json else _shown(solver, position))
        return 0
    asked = _read_lines()
    if arguments.json:
        for moves, position in asked:
            print(_as_json(solver, moves, position))
    elif arguments.columns:
        for moves, position in asked:
            scores = solver.scores(position)
            cells = " ".join("." if score is None else str(score) for score in scores)
            print(f"{moves} {solver.score(position)} {cells}")
    else:
        positions = [position for _, position in asked]
        found = solver.scores_many(positions, threads=arguments.threads)
        for (moves, _), score in zip(asked, found.tolist(), strict=True):
            print(f"{moves} {score}")
    return 0


def _read_lines() -> list[tuple[str, Position]]:
    """Positions of standard input; all are read before any is solved.

    Raises:
        InvalidNotation, IllegalMove: a line is no position; the message has its number.
    """
    from c4env.errors import C4Error
    from c4env.position import Position

    asked = []
    for number, line in enumerate(sys.stdin, start=1):
        moves = line.split()[0] if line.split() else "-"
        try:
            asked.append((moves, Position.parse("" if moves == "-" else moves)))
        except C4Error as error:
            raise type(error)(f"standard input, line {number}: {error}") from None
    return asked


def _facts(solver: Solver, position: Position) -> dict[str, Any]:
    from c4env.position import format_moves

    score = solver.score(position)
    return {
        "score": score,
        "columns": solver.scores(position),
        "best": [column + 1 for column in solver.best_columns(position)],
        "plies_to_end": solver.plies_to_end(position),
        "line": format_moves(solver.principal_variation(position)),
    }


def _as_json(solver: Solver, moves: str, position: Position) -> str:
    return json.dumps({"moves": moves.replace("-", ""), **_facts(solver, position)})


def _shown(solver: Solver, position: Position) -> str:
    """Board, scores below their columns, and what they mean."""
    facts = _facts(solver, position)
    cells = "".join(f"{'.' if s is None else s:>3}" for s in facts["columns"])
    board = "\n".join("  " + row.replace(" ", "  ") for row in str(position).splitlines())
    if position.outcome is not None:
        winner = position.outcome.winner
        verdict = "a draw" if winner is None else f"player {winner} has won"
        return f"{board}\nthe game is over: {verdict}"
    score = facts["score"]
    side = f"player {position.to_move} ({'xo'[position.to_move]})"
    verdict = "draws" if score == 0 else "wins" if score > 0 else "loses"
    best = ", ".join(map(str, facts["best"]))
    return (
        f"{board}\n{cells}   score of each column\n"
        f"{side} to move {verdict}, score {score:+d}, in {facts['plies_to_end']} plies\n"
        f"best {best}   line {facts['line']}"
    )
