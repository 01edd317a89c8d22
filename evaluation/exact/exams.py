"""An exam as arrays, to mark a policy in a training loop, inside ``jit`` too.

columns = logits(e.observations("planes_first", "float32")).argmax(1)
blunders = 1 - e.keeps[np.arange(len(e)), columns].mean()
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from c4env.agents.solver import NO_SCORE
from c4env.arrays import Bools, Int8s, Int64s
from c4env.evaluation.exact.questions import EXAM, FRESH, questions_of
from c4env.observation import Form, planes_of


@dataclass(frozen=True, repr=False, eq=False)
class Exam:
    """The N positions of an exam as NumPy arrays, in random order.

    ``torch.from_numpy`` and ``jax.numpy.asarray`` take the arrays. ``len`` is N.

    Example:
        >>> e = exam()
        >>> centre = np.where(e.masks[:, 3], 3, e.masks.argmax(1))  # a policy
        >>> round(float(1 - e.keeps[np.arange(len(e)), centre].mean()), 3)  # its blunder rate
        0.525
    """

    mine: Int64s  #: [N] bitboards of the side to move (c4env.bitboard)
    theirs: Int64s  #: [N] bitboards of the other side
    plies: Int8s  #: [N] discs on the board
    scores: Int8s  #: [N, 7] the exact score of each column, NO_SCORE (-99) where it is full
    masks: Bools  #: [N, 7] whether a column is legal
    keeps: Bools  #: [N, 7] whether a column keeps the win or the draw
    critical: Bools  #: [N] whether legal columns differ in result: all do in an exam

    def __len__(self) -> int:
        return len(self.mine)

    def __repr__(self) -> str:
        return f"<Exam: {len(self)} positions of {self.plies.min()} to {self.plies.max()} plies>"

    def observations(self, layout: str = "planes_last", dtype: str = "int8") -> NDArray[Any]:
        """Return the observations ``[N, ...]`` in a layout of ``c4env.observation.LAYOUTS``.

        Raises:
            InvalidOption: the layout or the dtype is unknown.
        """
        observations: NDArray[Any] = Form(layout, dtype)(
            planes_of(np.stack([self.mine, self.theirs], axis=1))
        )
        return observations


def exam(seed: int | None = None, *, jobs: int | None = None) -> Exam:
    """Return the exam that comes with the package, or make a fresh one, as arrays.

    The share of positions in which a policy's column is not in ``keeps`` is the ``blunder_rate``
    of :func:`quality` on this exam.

    Args:
        seed: seed of a fresh exam, which takes a minute or more to make; None is the exam.
        jobs: number of processes that make a fresh exam, one for each core if not given.

    Raises:
        InvalidOption: an argument is out of range.

    Example:
        >>> exam()
        <Exam: 1701 positions of 4 to 36 plies>
    """
    questions = questions_of(EXAM if seed is None else f"{FRESH}{seed}", jobs)
    positions = [question.position for question in questions]
    scores = np.array(
        [[NO_SCORE if s is None else s for s in question.scores] for question in questions], np.int8
    )
    masks = scores != NO_SCORE
    signs = np.sign(scores)
    keeps = masks & (signs == signs.max(axis=1, keepdims=True))
    return Exam(
        mine=np.array([position.mine for position in positions], np.int64),
        theirs=np.array([position.theirs for position in positions], np.int64),
        plies=np.array([position.plies for position in positions], np.int8),
        scores=scores,
        masks=masks,
        keeps=keeps,
        critical=(masks & ~keeps).any(axis=1),
    )
