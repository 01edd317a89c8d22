"""A Stable-Baselines3 callback that measures the strength of a model in training.

model.learn(1_000_000, callback=StrengthCallback("runs/one", every=50_000))
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from c4env.errors import require_integer
from c4env.evaluation.results.training_curve import CurveWriter
from c4env.lazy import from_extra

with from_extra("sb3", "this callback needs Stable-Baselines3"):
    from stable_baselines3.common.callbacks import BaseCallback


class StrengthCallback(BaseCallback):
    """A callback that measures the model at intervals, by exam positions and by games.

    The callback writes ``strength/accuracy``, ``strength/elo`` and ``strength/score`` to the
    training's logger, for example TensorBoard, and the same values to ``FOLDER/strength.jsonl``.

    Args:
        folder: folder of ``strength.jsonl``.
        every: number of training steps between two measurements, summed over all boards.
        options: options of :class:`~c4env.evaluation.results.training_curve.CurveWriter`, such as
            ``share``, the largest fraction of the training time for measurements (default 0.1).
    """

    def __init__(self, folder: str | Path, every: int = 50_000, **options: Any) -> None:
        super().__init__()
        self.every = require_integer("every", every)
        self._next = every
        self._folder, self._options = folder, options
        self.writer = CurveWriter(folder, **options)

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self.every
        # The clock of the time share starts here.
        self.writer = CurveWriter(self._folder, **self._options)

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            strength = self.writer.measure(self.model, self.num_timesteps)
            if strength is not None:
                self._next = self.num_timesteps + self.every
                names = ("accuracy", "elo", "score")
                figures = {f"strength/{name}": getattr(strength, name) for name in names}
                # record() and dump() would write the training's own figures early.
                for form in self.logger.output_formats:
                    form.write(figures, dict.fromkeys(figures, ()), self.num_timesteps)
        return True
