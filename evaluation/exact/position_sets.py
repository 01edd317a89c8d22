"""Sets of positions with known scores: the exam, fresh exams, files with lines of ``moves score``,
and sets that are made from a seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from c4env.agents.solver import Solver
from c4env.agents.solver.exam import ScoredPosition, exam
from c4env.errors import C4Error, InvalidOption, UnreadableRun, require_integer, suggest
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.records.jsonl import read_text
from c4env.evaluation.tables import shortened
from c4env.position import Position, format_moves

EXAM: Final = "exam"
FRESH: Final = "fresh:"  # begins the name of an exam that a seed makes
GENERATED: Final = 100
"""The default number of positions in a generated set."""

STAGES: Final = {
    "end-easy": (range(29, 42), range(1, 14)),
    "middle-easy": (range(15, 29), range(1, 14)),
    "middle-medium": (range(15, 29), range(14, 28)),
    "begin-easy": (range(1, 15), range(1, 14)),
    "begin-medium": (range(1, 15), range(14, 28)),
    "begin-hard": (range(1, 15), range(28, 42)),
}
"""The generated sets: the number of discs, and the number of plies to the end in best play."""


def positions_of_sets(
    names: Sequence[str],
    count: int | None,
    seed: int = 0,
    jobs: int | None = None,
    watch: ProgressCallback | None = None,
) -> list[ScoredPosition]:
    """Return the positions of several sets without duplicates, and check the labels of files.

    Args:
        names: files with lines of ``moves score``, ``exam`` (``c4env.agents.solver.exam``),
            ``fresh:SEED`` (``c4env.evaluation.exact.make_exam``), or names in ``STAGES``, whose
            sets this function generates.
        count: number of positions to take from the start of each set: all if not given, and
            ``GENERATED`` of a set that this function generates.
        seed: seed of the generated sets.
        jobs: number of processes that make a fresh exam, one for each core if not given.
        watch: called with the portions of a fresh exam made and the total.
    """
    if count is not None and count < 1:
        raise InvalidOption(f"{count} positions: expected at least 1")
    require_integer("seed", seed, 0, "an integer of 0 or more")
    solver = Solver()
    positions: dict[Position, ScoredPosition] = {}
    from_files: list[ScoredPosition] = []
    for name in names:
        if name == EXAM or name.startswith(FRESH):
            members = [*exam_positions(name, jobs, watch)][:count]
        else:
            members = _positions_of_one(name, count, seed, solver)
        if name not in (EXAM, *STAGES) and not name.startswith(FRESH):
            from_files += members
        for labelled in members:
            if (position := labelled.position).outcome is not None:
                raise InvalidOption(f"{name}: {labelled.moves}: the game is over")
            positions.setdefault(position, labelled)
    if from_files:  # two files may label one position differently
        scores = solver.scores_many([labelled.position for labelled in from_files])
        for labelled, score in zip(from_files, scores, strict=True):
            if score != labelled.score:
                raise InvalidOption(
                    f"{labelled.moves} is labelled {labelled.score}; its score is {score}"
                )
    return list(positions.values())


def exam_positions(
    name: str, jobs: int | None = None, watch: ProgressCallback | None = None
) -> tuple[ScoredPosition, ...]:
    """Return the questions of ``exam``, or make the questions of ``fresh:SEED``.

    Raises:
        InvalidOption: the seed is not an integer of 0 or more.
    """
    if name == EXAM:
        return exam()
    from c4env.evaluation.exact.make_exam import fresh  # needs the agents of the games

    seed = name.removeprefix(FRESH)
    if not seed.isdecimal():
        raise InvalidOption(f"set {name!r}: expected fresh:SEED with an integer of 0 or more")
    return fresh(int(seed), jobs, watch)


def _positions_of_one(
    name: str, count: int | None, seed: int, solver: Solver
) -> list[ScoredPosition]:
    if name in STAGES:
        return make_positions(name, count or GENERATED, seed, solver)
    if Path(name).exists():
        return read_positions(Path(name))[:count]
    sets = [EXAM, *STAGES]
    expected = f"expected a file of `moves score` lines, fresh:SEED, or one of {', '.join(sets)}"
    raise UnreadableRun(f"set {name!r}: neither a set nor a file{suggest(name, sets)}; {expected}")


def read_positions(path: Path) -> list[ScoredPosition]:
    """Read a file with lines of ``moves score``, without checking the labels."""
    positions = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        try:
            moves, score = line.split()
            moves = "" if moves == "-" else moves
            positions.append(ScoredPosition(moves, int(score)))
            Position.parse(moves)  # or an error
        except C4Error as error:
            raise UnreadableRun(f"{path}, line {number}: {error}") from None
        except ValueError:
            raise UnreadableRun(
                f"{path}, line {number}: {shortened(line, 80)!r}: expected moves and a score"
            ) from None
    if not positions:
        raise UnreadableRun(f"{path} has no position: expected lines of moves and a score")
    return positions


def random_games(discs: range, generator: np.random.Generator) -> Iterator[str]:
    """Yield unfinished random games forever, each with a number of discs drawn from ``discs``."""
    while True:
        position, columns = Position(), []
        for _ in range(int(generator.integers(discs.start, discs.stop))):
            legal = position.legal_columns()
            if not legal:
                break
            columns.append(legal[int(generator.integers(len(legal)))])
            position = position.play(columns[-1])
        if position.outcome is None:
            yield format_moves(columns)


def make_positions(name: str, count: int, seed: int, solver: Solver) -> list[ScoredPosition]:
    """Generate a set of ``STAGES``: distinct positions of random games, labelled by the solver."""
    discs, plies_to_end = STAGES[name]
    games = random_games(discs, np.random.default_rng([seed, list(STAGES).index(name)]))
    positions: dict[Position, ScoredPosition] = {}
    while len(positions) < count:
        moves = next(games)
        position = Position.parse(moves)
        if position not in positions:
            score = solver.score(position)
            if solver.plies_to_end(position) in plies_to_end:
                positions[position] = ScoredPosition(moves, score)
    return list(positions.values())
