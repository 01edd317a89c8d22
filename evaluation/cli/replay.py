"""Show a game of a run in the terminal, move by move, with the exact score of each column.

DIR is a run directory; GAME is the game's number, as the page of `c4 report DIR --html` has it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from c4env.evaluation.cli.output import board, say

if TYPE_CHECKING:
    from c4env.evaluation.exact.judge import Judge, Scores
    from c4env.evaluation.store.record import GameRecord


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("game", type=int, metavar="GAME", help="from 1")
    parser.add_argument(
        "--step", action="store_true", help="wait for Enter before each move (q: stop)"
    )
    parser.add_argument("--no-scores", action="store_true", help="only the boards")


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.errors import InvalidRun
    from c4env.evaluation.exact.judge import Judge
    from c4env.evaluation.studies.match import read_run

    games = read_run(arguments.folder).games
    if not 1 <= arguments.game <= len(games):
        raise InvalidRun(f"game {arguments.game}: expected 1..{len(games)} in {arguments.folder}")
    game = games[arguments.game - 1]
    with nullcontext() if arguments.no_scores else Judge(arguments.folder) as judge:
        show(frames(game, judge), arguments.step)


def show(parts: Iterator[str], step: bool) -> None:
    """Print one frame after the other, waiting between them if asked to."""
    for number, part in enumerate(parts):
        if step and number:
            print("Enter: next  q: stop ", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            if not line or line.strip().lower() == "q":
                break
        say(part, end="\n\n")


def frames(game: GameRecord, judge: Judge | None) -> Iterator[str]:
    """The positions in which the agents chose, as text, and the last one with the result."""
    from c4env.position import Position

    position = Position.parse(game.opening)
    yield f"{game.players[0]} (first) against {game.players[1]}, opening {game.opening or 'none'}"
    for ply in range(len(game.opening), len(game.moves)):
        column = int(game.moves[ply]) - 1
        lines = [board(position)]
        if judge is not None:
            scores = judge.scores(position)
            lines += [scores_line(scores), ""]
        mover = game.players[ply % 2]
        lines.append(f"ply {ply + 1}: {mover} plays {column + 1}")
        if judge is not None:
            lines[-1] += remark(scores, column)
        yield "\n".join(lines)
        position = position.play(column)
    if judge is not None and position.outcome is None:  # a forfeit left it open
        yield f"{board(position)}\n{scores_line(judge.scores(position))}"
    winner = "a draw" if game.winner is None else f"{game.players[game.winner]} wins"
    reason = f": {game.reason}" if game.reason else ""
    yield f"{board(position)}\n\n{winner} ({game.ending}{reason})"


def scores_line(scores: Scores) -> str:
    """Exact scores, for the side to move, below the columns of the board."""
    return "exact: " + " ".join("." if s is None else f"{s:+d}" if s else "0" for s in scores)


def remark(scores: Scores, column: int) -> str:
    """What the move threw away, if anything."""
    from c4env.evaluation.exact.quality import JudgedMove

    move = JudgedMove("", "", 0, column, scores)
    if not move.loss:
        return ""
    columns = ", ".join(str(c + 1) for c, s in enumerate(scores) if s == move.best)
    kind = "a blunder" if move.blunder else "not the best"
    return f", {kind}: {columns} scores {move.best:+d}, it {move.best - move.loss:+d}"
