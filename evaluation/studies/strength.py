"""How strong a model is while it is trained: blunders on the exam, and Elo among the stored field.

    Watch(folder).look(model, step)

The exam (``c4env.agents.solver.exam``) is asked in one batch; a few games against agents of the
leaderboard place the model among all of them. Every look is a line of ``FOLDER/strength.tsv``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from c4env import agents
from c4env.agents.batched import opponent
from c4env.agents.solver.exam import exam
from c4env.errors import require_integer
from c4env.evaluation.errors import InvalidRun, UnreadableRun
from c4env.evaluation.studies.leaderboard import place, stored_board
from c4env.files import write_whole
from c4env.observation import observe_many

AGAINST: Final = ("random", "greedy", "alphabeta-window", "alphabeta-chain")
"""Agents of the leaderboard that answer quickly, from the weakest on."""

OPENINGS: Final = 6  # of three plies, each with both colours
FILE: Final = "strength.tsv"


class Strength(NamedTuple):
    """What one look at a model found."""

    step: int  # of the training, as the caller counts
    seconds: float  # since the training began
    blunders: float  # share of the critical moves of the exam that give a win or a draw away
    elo: float  # among the stored field, whose mean is 0
    low: float  # 95 % interval of the Elo
    high: float
    score: float  # share of the points of its games
    games: int


def blunder_rate(model: Any, questions: int | None = None) -> float:
    """The share of the exam's critical moves in which a model gives a win or a draw away.

    Args:
        model: what ``agents.make`` takes.
        questions: the first so many of the exam; None for all.

    Raises:
        InvalidRun: not a positive number of questions.
    """
    if questions is not None:
        require_integer("questions", questions, wrong=InvalidRun)
    asked = exam()[:questions]
    scores = np.array([question.scores for question in asked], np.float64)  # nan for None
    signs = np.where(np.isnan(scores), -2, np.sign(scores))
    seen = observe_many(question.position for question in asked)
    columns = np.asarray(opponent(agents.make(model))(seen))
    kept = signs[np.arange(len(asked)), columns] == signs.max(axis=1)
    return float(1 - kept.mean())


def strength(
    model: Any,
    step: int = 0,
    seconds: float = 0.0,
    *,
    against: Sequence[str] = AGAINST,
    openings: int = OPENINGS,
    questions: int | None = None,
    seed: int = 0,
) -> Strength:
    """Ask a model the exam, and let it play a short gauntlet.

    Args:
        model: a live one: what ``agents.make`` takes, such as a model of Stable-Baselines3.
        step, seconds: when, for the record.
        against: agents of the leaderboard to play with.
        openings: of three plies, each with both colours.
        questions: of the exam; None for all.
        seed: of stochastic agents.

    Raises:
        InvalidRun: a bad number, or an agent that is not in the stored field.
        InvalidModel, InvalidSpec, ...: not a model.
    """
    rate = blunder_rate(model, questions)
    placed = place(agents.make(model), stored_board(), openings, against=tuple(against), seed=seed)
    (own,) = (r for r in placed.ratings if r.player == placed.name)
    return Strength(step, seconds, rate, own.elo, own.low, own.high, own.score, own.games)


class Watch:
    """Looks at a model in training, as often as a share of the time allows.

    What a look costs is known from the last one; so the first may cost more than the share,
    and the next then waits until it is made up for.

    Args:
        folder: where ``strength.tsv`` is kept; lines that are there stay.
        share: of the time since this object was made that looks may take.
        measure: ``measure(model, step, seconds)``; :func:`strength` with its settings.

    Raises:
        InvalidRun: a share that is not above 0 and below 1.
        UnreadableRun: the file is there and is another's.
        OSError: the folder cannot be written.
    """

    def __init__(
        self,
        folder: str | Path,
        share: float = 0.1,
        measure: Callable[[Any, int, float], Strength] = strength,
    ) -> None:
        if not 0 < share < 1:
            raise InvalidRun(f"share={share!r}: expected a number above 0 and below 1")
        self.share = share
        self.path = Path(folder) / FILE
        self.path.parent.mkdir(parents=True, exist_ok=True)
        heading = "\t".join(Strength._fields)
        self._lines = [heading]
        if self.path.exists():
            self._lines = self.path.read_text(encoding="utf-8").splitlines()
            if self._lines[:1] != [heading]:
                raise UnreadableRun(f"{self.path}: {self._lines[:1]}: expected {heading!r}")
        self._measure = measure
        self._began = time.monotonic()
        self.spent = 0.0  # seconds on looks
        self._last = 0.0

    def look(self, model: Any, step: int) -> Strength | None:
        """Measure the model and add a line to the file; None if it would cost too much by now."""
        started = time.monotonic()
        if self.spent + self._last > self.share * (started - self._began):
            return None
        found = self._measure(model, step, started - self._began)
        self._lines.append("\t".join(f"{value:.6g}" for value in found))
        write_whole(self.path, "\n".join(self._lines) + "\n")
        self._last = time.monotonic() - started
        self.spent += self._last
        return found
