"""Measure a model in training: its accuracy in exam positions, and its Elo by games.

    writer = CurveWriter(folder)  # before the training
    writer.measure(model, step)  # from time to time

The model chooses a move in each position of the exam (``c4env.agents.solver.exam``), and plays a
few games against agents of the leaderboard. A measurement is stored as a line of
``FOLDER/strength.jsonl``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, get_type_hints

import numpy as np

from c4env import agents
from c4env.envs.batch import parse_actions
from c4env.errors import InvalidOption, require_integer
from c4env.evaluation.exact.data import exam
from c4env.evaluation.ratings.fit import Interval
from c4env.evaluation.records.jsonl import Lines, read_lines
from c4env.evaluation.results.leaderboard import place_in_field, stored_board
from c4env.evaluation.tables import Column, Result, Table, rounded, signed
from c4env.geometry import parse_column

AGAINST: Final = ("random", "greedy", "alphabeta-window", "alphabeta-chain")
"""Fast agents of the leaderboard, the weakest first."""

OPENING_COUNT: Final = 6  # openings of three plies, each with both colours
FILE: Final = "strength.jsonl"
LOCK_SECONDS: Final = 5.0  # to wait while another process writes


class Strength(NamedTuple):
    """A measurement of a model's strength."""

    step: int  #: the caller's training step
    seconds: float  #: time since the training began
    accuracy: float  #: fraction of exam positions in which the model keeps the win or the draw
    elo: float  #: Elo of the model; the mean of the stored field is 0
    low: float  #: 95 % interval of the Elo
    high: float
    score: float  #: the model's points per game, 0..1
    games: int

    def __str__(self) -> str:
        elo = f"Elo {signed(self.elo)} ({signed(self.low)} .. {signed(self.high)})"
        accuracy, score = (rounded(share, ".1%") for share in (self.accuracy, self.score))
        return (
            f"step {self.step}, {self.seconds:.0f} s: accuracy {accuracy}, {elo}, "
            f"score {score} of {self.games} games"
        )


TRAINING_COLUMNS: Final = (
    Column("step"),
    Column("seconds", ".0f"),
    Column("accuracy", ".1%"),
    Column("Elo", signed, lambda row: Interval(row.elo, row.low, row.high)),
    Column("score", ".1%"),
    Column("games"),
)
"""The columns of a curve."""


def accuracy(model: Any, questions: int | None = None) -> float:
    """Return the share of exam positions in which a model keeps the win or the draw.

    Args:
        model: a model or spec, as for ``agents.make``.
        questions: number of positions to use, from the start of the exam; None means all.

    Raises:
        InvalidOption: ``questions`` is not a number of positions.
        InvalidAction: the model answers anything but the number of a column.
    """
    if questions is not None:
        require_integer("questions", questions)
    asked = exam()[:questions]
    boards, each = np.stack([asked.mine, asked.theirs], axis=1), np.arange(len(asked))
    seeds = np.random.default_rng(0).integers(2**48, size=len(asked))
    games = agents.make(model).games(len(asked))
    games.begin(each, seeds)
    answer = parse_actions(games.choose(each, boards, seeds), len(asked))
    columns = [parse_column(column) for column in answer.tolist()]
    return float(asked.keeps[each, columns].mean())


def strength(
    model: Any,
    step: int = 0,
    seconds: float = 0.0,
    *,
    against: Sequence[str] = AGAINST,
    limit: int = OPENING_COUNT,
    questions: int | None = None,
    seed: int = 0,
) -> Strength:
    """Measure a model by exam positions and by games against agents of the leaderboard.

    Args:
        model: a model or spec, as for ``agents.make``, such as a live Stable-Baselines3 model.
        step, seconds: training step and training time, to store in the result.
        against: the opponents, which must be agents of the leaderboard.
        limit: number of openings of three plies, each with both colours.
        questions: number of exam positions; None means all positions.
        seed: seed of stochastic agents.

    Raises:
        InvalidOption: a number is invalid, or an opponent is not in the leaderboard.

    Example:
        >>> found = strength("random", limit=2, questions=20)
        >>> found.accuracy, found.games
        (0.35, 16)
    """
    kept = accuracy(model, questions)
    board, rivals = stored_board(), tuple(against)
    placed = place_in_field(agents.make(model), board, limit, against=rivals, seed=seed)
    (rating,) = (r for r in placed.ratings if r.player == placed.name)
    elo = rating.elo, rating.low, rating.high
    return Strength(step, seconds, kept, *elo, rating.score, rating.games)


@dataclass(frozen=True)
class Curve(Result):
    """The measurements of a training, as ``c4 report`` shows them."""

    rows: Sequence[Strength]

    def tables(self) -> dict[str, Table]:
        """A row for each measurement."""
        return {"measurements": Table(TRAINING_COLUMNS, self.rows)}

    def sentence(self) -> str:
        """A sentence before the first measurement, else nothing."""
        return "" if self.rows else "No measurements yet."


def read_curve(folder: str | Path) -> Curve:
    """Read the measurements in a folder's ``strength.jsonl``.

    Raises:
        UnreadableRun: the file is missing, or a line is not a measurement.
    """
    return Curve(read_lines(Path(folder) / FILE, _measurement))


def _measurement(line: Any) -> Strength:
    """Parse a line of the file: the fields by name; lines of version 0.1.0 have ``blunders``."""
    if "accuracy" not in line:
        line = {**line, "accuracy": 1 - line["blunders"]}
    return Strength(**{name: kind(line[name]) for name, kind in get_type_hints(Strength).items()})


class CurveWriter:
    """Measure a model during training, in at most a given share of the time, and keep the curve.

    If a measurement would exceed the share, judged by the duration of the last measurement, it is
    skipped. The first measurement may exceed the share.

    Args:
        folder: folder of ``strength.jsonl``, made if missing. Existing lines stay in the file.
        share: the largest fraction of the time for measurements, counted since this object was
            made.
        measure: a function ``measure(model, step, seconds)``, by default :func:`strength`.

    Attributes:
        spent: seconds that all measurements took.

    Raises:
        InvalidOption: ``share`` is not between 0 and 1.
        UnreadableRun: ``strength.jsonl`` cannot be opened, or a line is not a measurement.
        Unwritable: another process keeps the file locked.

    Example:
        >>> def quick(model, step, seconds):
        ...     return strength(model, step, seconds, limit=2, questions=20)
        >>> CurveWriter("curve", measure=quick).measure("random", 1000).games
        16
    """

    def __init__(
        self,
        folder: str | Path,
        share: float = 0.1,
        measure: Callable[[Any, int, float], Strength] = strength,
    ) -> None:
        if not 0 < share < 1:
            raise InvalidOption(f"share={share!r}: expected a number above 0 and below 1")
        self.share = share
        self.path = Path(folder) / FILE
        self._open().close()
        self._function = measure
        self._began = time.monotonic()
        self.spent = 0.0
        self._last = 0.0

    def _open(self) -> Lines:
        return Lines(self.path, _measurement, LOCK_SECONDS)

    def measure(self, model: Any, step: int) -> Strength | None:
        """Measure the model and append a line to the file, or return None if the share is used up.

        Raises:
            Unwritable: the line cannot be written, or another process keeps the file locked.
        """
        started = time.monotonic()
        if self.spent + self._last > self.share * (started - self._began):
            return None
        measurement = self._function(model, step, started - self._began)
        with self._open() as lines:
            lines.append(_measurement(measurement._asdict())._asdict())  # without NumPy's types
        self._last = time.monotonic() - started
        self.spent += self._last
        return measurement
