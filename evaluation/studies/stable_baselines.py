"""A callback of Stable-Baselines3 that watches how strong the model becomes.

model.learn(1_000_000, callback=StrengthCallback("runs/one", every=50_000))
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from c4env.errors import require_integer
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.studies.strength import Watch
from c4env.lazy import from_extra

with from_extra("sb3", "a callback of Stable-Baselines3 needs it"):
    from stable_baselines3.common.callbacks import BaseCallback


class StrengthCallback(BaseCallback):
    """Every so many steps asks the model the exam, and lets it play a short gauntlet.

    What is found goes to the logger of the training, as ``strength/blunders``, ``strength/elo``
    and ``strength/score``, and so to TensorBoard where it is set up; and to
    ``FOLDER/strength.tsv``.

    Args:
        folder: of the file.
        every: steps of the training, of all boards together, between two looks.
        options: of :class:`~c4env.evaluation.studies.strength.Watch`: ``share`` of the time (0.1).

    Raises:
        InvalidRun: not a positive number of steps, or a bad share.
    """

    def __init__(self, folder: str | Path, every: int = 50_000, **options: Any) -> None:
        super().__init__()
        self.every = require_integer("every", every, wrong=InvalidRun)
        self._next = every
        self._folder, self._options = folder, options
        self.watch = Watch(folder, **options)

    def _on_training_start(self) -> None:
        self._next = self.num_timesteps + self.every
        self.watch = Watch(self._folder, **self._options)  # its clock begins now

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            found = self.watch.look(self.model, self.num_timesteps)
            if found is not None:
                self._next = self.num_timesteps + self.every
                names = ("blunders", "elo", "score")
                figures = {f"strength/{name}": getattr(found, name) for name in names}
                # Not by record and dump, which would write the training's own figures early.
                for form in self.logger.output_formats:
                    form.write(figures, dict.fromkeys(figures, ()), self.num_timesteps)
        return True
