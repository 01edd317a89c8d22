"""An exam as a table, to mark a policy in a training loop, inside ``jit`` too.

columns = logits(e.observations("planes_first", "float32")).argmax(1)
blunders = 1 - e.keeps[np.arange(len(e)), columns].mean()
"""

from __future__ import annotations

import numpy as np

from c4env.agents.solver import NO_SCORE
from c4env.envs.batch import bitboards
from c4env.evaluation.exact.dataset import Data, scored
from c4env.evaluation.exact.questions import EXAM, FRESH, questions_of


def exam(seed: int | None = None, *, jobs: int | None = None) -> Data:
    """Return the exam that comes with the package, or make a fresh one, in random order.

    The share of positions in which a policy's column is not in ``keeps`` is the ``blunder_rate``
    of :func:`quality` on this exam.

    Args:
        seed: seed of a fresh exam, which takes a minute or more to make; None is the exam.
        jobs: number of processes that make a fresh exam, one for each core if not given.

    Raises:
        InvalidOption: an argument is out of range.

    Example:
        >>> e = exam()
        >>> centre = np.where(e.masks[:, 3], 3, e.masks.argmax(1))  # a policy
        >>> round(float(1 - e.keeps[np.arange(len(e)), centre].mean()), 3)  # its blunder rate
        0.525
    """
    questions = questions_of(EXAM if seed is None else f"{FRESH}{seed}", jobs)
    columns = [[NO_SCORE if s is None else s for s in q.scores or ()] for q in questions]
    boards = bitboards([q.position for q in questions])
    return scored(boards[:, 0].copy(), boards[:, 1].copy(), np.array(columns, np.int8))
