"""Read or generate labelled positions, which are positions with exact scores.

Generated sets have the names of the standard solver test sets, such as ``end-easy``. A name stands
for a range of discs on the board and a range of plies that remain under best play.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from c4env.agents.registry.imports import suggest
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import exam
from c4env.errors import C4Error, InvalidOption, UnreadableRun
from c4env.evaluation.exact.judge import strongest_book
from c4env.evaluation.store.files import read_text
from c4env.evaluation.tables import shortened
from c4env.position import Position, format_moves

EXAM: Final = "exam"
MADE: Final = 100
"""The default number of positions in a generated set."""


class Labelled(NamedTuple):
    """A position and its exact score for the side to move."""

    moves: str
    position: Position
    score: int


STAGES: Final = {
    "end-easy": (range(29, 42), range(1, 14)),
    "middle-easy": (range(15, 29), range(1, 14)),
    "middle-medium": (range(15, 29), range(14, 28)),
    "begin-easy": (range(1, 15), range(1, 14)),
    "begin-medium": (range(1, 15), range(14, 28)),
    "begin-hard": (range(1, 15), range(28, 42)),
}
"""The generated sets: the number of discs, and the number of plies to the end in best play."""


def labelled_sets(names: Sequence[str], count: int | None, seed: int = 0) -> list[Labelled]:
    """Return the positions of several sets without duplicates, and check the labels of files.

    Args:
        names: files of ``moves score`` lines, ``exam`` (``c4env.agents.solver.exam``), or names in
            :data:`STAGES`, whose sets this function generates.
        count: number of positions to take from the start of each set. None takes all positions of
            a file or of the exam, and generates ``MADE`` positions for any other set.
        seed: seed of the generated sets.

    Raises:
        InvalidOption: ``count`` is not positive, a position is finished, or a label is wrong.
        UnreadableRun: a file cannot be read or has no labelled positions.
    """
    if count is not None and count < 1:
        raise InvalidOption(f"{count} positions: expected at least 1")
    solver = Solver(book=strongest_book())
    found: dict[Position, Labelled] = {}
    read: list[Labelled] = []
    for name in names:
        if name in STAGES:
            some = make_labelled(name, count or MADE, seed, solver)
        elif name == EXAM:
            some = [
                Labelled(q.moves, q.position, max(s for s in q.scores if s is not None))
                for q in exam()[:count]
            ]
        elif not Path(name).exists():
            sets = [EXAM, *STAGES]
            listed = f"; expected a file of `moves score` lines, or one of {', '.join(sets)}"
            raise UnreadableRun(f"set {name!r}{suggest(name, sets)}{listed}")
        else:
            some = read_labelled(Path(name))[:count]
            read += some
        for labelled in some:
            if labelled.position.outcome is not None:
                raise InvalidOption(f"{name}: {labelled.moves}: the game is over")
            found.setdefault(labelled.position, labelled)
    if read:  # two files may label one position differently
        scores = solver.scores_many([labelled.position for labelled in read])
        for labelled, score in zip(read, scores, strict=True):
            check_label(labelled, int(score))
    return list(found.values())


def check_label(labelled: Labelled, score: int) -> None:
    """Check that a label is the exact score.

    Raises:
        InvalidOption: the label differs from the score.
    """
    if score != labelled.score:
        raise InvalidOption(f"{labelled.moves} is labelled {labelled.score}; its score is {score}")


def read_labelled(path: Path) -> list[Labelled]:
    """Read a file of ``moves score`` lines, without checking the labels.

    Raises:
        UnreadableRun: the file cannot be read, or a line is malformed.
    """
    found = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        try:
            moves, score = line.split()
            found.append(Labelled(moves, Position.parse(moves), int(score)))
        except C4Error as error:
            raise UnreadableRun(f"{path}, line {number}: {error}") from None
        except ValueError:
            raise UnreadableRun(
                f"{path}, line {number}: {shortened(line, 80)!r}: expected moves and a score"
            ) from None
    if not found:
        raise UnreadableRun(f"{path} has no position: expected lines of moves and a score")
    return found


def random_moves(discs: int, generator: np.random.Generator) -> list[int] | None:
    """Draw ``discs`` random moves; return their columns, or None if the game ends."""
    position, columns = Position(), []
    for _ in range(discs):
        legal = position.legal_columns()
        if not legal:
            return None
        columns.append(legal[int(generator.integers(len(legal)))])
        position = position.play(columns[-1])
    return columns if position.outcome is None else None


def random_games(discs: range, generator: np.random.Generator) -> Iterator[str]:
    """Yield unfinished random games forever, each with a number of discs drawn from ``discs``."""
    while True:
        columns = random_moves(int(generator.integers(discs.start, discs.stop)), generator)
        if columns is not None:
            yield format_moves(columns)


def make_labelled(name: str, count: int, seed: int, solver: Solver) -> list[Labelled]:
    """Generate a set of distinct positions from random games, labelled by the solver.

    Args:
        name: a set in :data:`STAGES`.
        count: number of positions.
        seed: the same seed gives the same positions.
        solver: the solver that finds the scores.
    """
    played, left = STAGES[name]
    games = random_games(played, np.random.default_rng([seed, list(STAGES).index(name)]))
    found: dict[Position, Labelled] = {}
    while len(found) < count:
        moves = next(games)
        position = Position.parse(moves)
        if position not in found:
            score = solver.score(position)
            if solver.plies_to_end(position) in left:
                found[position] = Labelled(moves, position, score)
    return list(found.values())
