"""Measure a model in training: its blunders in exam positions, and its Elo by games.

    watch = Watch(folder)  # before the training
    watch.look(model, step)  # from time to time

The model chooses a move in each position of the exam (``c4env.agents.solver.exam``), and plays a
few games against agents of the leaderboard. Each measurement is a line of ``FOLDER/strength.tsv``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from c4env import agents
from c4env.agents.solver.exam import exam
from c4env.envs.batch import bitboards
from c4env.errors import InvalidOption, UnreadableRun, require_integer
from c4env.evaluation.rating.fit import Interval
from c4env.evaluation.store.lines import read_text
from c4env.evaluation.studies.leaderboard import place, stored_board
from c4env.evaluation.tables import Column, Result, Table, shortened, signed
from c4env.files import write_whole

AGAINST: Final = ("random", "greedy", "alphabeta-window", "alphabeta-chain")
"""Fast agents of the leaderboard, the weakest first."""

OPENING_COUNT: Final = 6  # of three plies, each with both colours
FILE: Final = "strength.tsv"


class Strength(NamedTuple):
    """A measurement of a model's strength."""

    step: int  # the caller's training step
    seconds: float  # time since the training began
    blunders: float  # fraction of exam positions in which the model gives away a win or a draw
    elo: float  # Elo of the model; the mean of the stored field is 0
    low: float  # 95 % interval of the Elo
    high: float
    score: float  # the model's points per game, 0..1
    games: int

    def __str__(self) -> str:
        elo = f"Elo {signed(self.elo)} ({signed(self.low)} .. {signed(self.high)})"
        played = f"score {self.score:.1%} of {self.games} games"
        return (
            f"step {self.step}, {self.seconds:.0f} s: {self.blunders:.1%} blunders, {elo}, {played}"
        )


TRAINING_COLUMNS: Final = (
    Column("step"),
    Column("seconds", ".0f"),
    Column("blunders", ".1%"),
    Column("Elo", signed, lambda row: Interval(row.elo, row.low, row.high)),
    Column("score", ".1%"),
    Column("games"),
)
"""The columns of a curve."""

HEADING: Final = "\t".join(Strength._fields)


def blunder_rate(model: Any, questions: int | None = None) -> float:
    """Return the share of exam positions in which a model gives away a win or a draw.

    Args:
        model: a model or spec, as for ``agents.make``.
        questions: number of positions to use, from the start of the exam; None means all.
    """
    if questions is not None:
        require_integer("questions", questions)
    positions = exam()[:questions]
    scores = np.array([position.scores for position in positions], np.float64)  # nan for None
    signs = np.where(np.isnan(scores), -2, np.sign(scores))
    boards = bitboards([position.position for position in positions])
    seeds = np.random.default_rng(0).integers(2**48, size=len(positions))
    columns = agents.make(model).choose_many(boards, seeds)
    kept = signs[np.arange(len(positions)), columns] == signs.max(axis=1)
    return float(1 - kept.mean())


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
        step, seconds: training step and training time, which the result repeats.
        against: the opponents, which must be agents of the leaderboard.
        limit: number of openings of three plies, each with both colours.
        questions: number of exam positions; None means all positions.
        seed: seed of stochastic agents.

    Raises:
        InvalidOption: a number is invalid, or an opponent is not in the leaderboard.
    """
    blunders = blunder_rate(model, questions)
    placed = place(agents.make(model), stored_board(), limit, against=tuple(against), seed=seed)
    (rating,) = (r for r in placed.ratings if r.player == placed.name)
    elo = rating.elo, rating.low, rating.high
    return Strength(step, seconds, blunders, *elo, rating.score, rating.games)


@dataclass(frozen=True)
class Curve(Result):
    """The measurements of a training, as ``c4 report`` shows them."""

    rows: Sequence[Strength]

    def tables(self) -> dict[str, Table]:
        """A row for each measurement."""
        return {"measurements": Table(TRAINING_COLUMNS, self.rows)}


def read_curve(folder: str | Path) -> Curve:
    """Read the measurements in a folder's ``strength.tsv``."""
    path = Path(folder) / FILE
    rows = []
    for number, line in enumerate(_lines(read_text(path), path)[1:], start=2):
        try:
            cells = dict(zip(Strength._fields, map(float, line.split("\t")), strict=True))
            step, games = (int(cells.pop(name)) for name in ("step", "games"))
            rows.append(Strength(step=step, games=games, **cells))
        except ValueError:
            raise UnreadableRun(
                f"{path}, line {number}: {shortened(line, 80)!r}: expected a measurement"
            ) from None
    return Curve(rows)


def _lines(text: str, path: Path) -> list[str]:
    """Return the lines of a file of measurements, and check its heading."""
    lines = text.splitlines()
    if lines[:1] != [HEADING]:
        raise UnreadableRun(f"{path}: heading {lines[:1]}: expected {HEADING!r}")
    return lines


class Watch:
    """Measure a model during training, in at most a given share of the time.

    A measurement is skipped if it would exceed the share, judged by the duration of the last
    measurement. The first measurement may exceed the share.

    Args:
        folder: folder of ``strength.tsv``, whose existing lines stay.
        share: the largest fraction of the time since this object was made that measurements take.
        measure: a function ``measure(model, step, seconds)``, by default :func:`strength`.

    Raises:
        InvalidOption: ``share`` is not between 0 and 1.
        UnreadableRun: ``strength.tsv`` exists with other columns.
        OSError: the folder cannot be made.
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
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lines = [HEADING]
        if self.path.exists():
            self._lines = _lines(self.path.read_text(encoding="utf-8"), self.path)
        self._measure = measure
        self._began = time.monotonic()
        self.spent = 0.0  # seconds of all measurements
        self._last = 0.0

    def look(self, model: Any, step: int) -> Strength | None:
        """Measure the model and add a line to the file, or return None if the share is used up."""
        started = time.monotonic()
        if self.spent + self._last > self.share * (started - self._began):
            return None
        measurement = self._measure(model, step, started - self._began)
        self._lines.append("\t".join(f"{value:.6g}" for value in measurement))
        write_whole(self.path, "\n".join(self._lines) + "\n")
        self._last = time.monotonic() - started
        self.spent += self._last
        return measurement
