"""Train a language model to play Connect Four by tool calls, with GRPO of the library TRL.

``python -m c4env.agents.training.examples.trl_tools FOLDER --model NAME`` writes the trained model
to FOLDER. The chat template of the model must support tools.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from c4env.agents.training.command_line import needs, run
from c4env.agents.training.game_tools import GameTools, starts

with needs("trl", __name__):
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer


def train(
    out: str | Path,
    steps: int = 200,
    seed: int = 1,
    model: str = "Qwen/Qwen3-0.6B",
    opponent: str = "random",
    *,
    games: int = 8,
    options: Mapping[str, Any] | None = None,
) -> float:
    """Train for ``steps`` steps, write the model, and return the last step's mean reward.

    Each step compares the rewards of ``games`` games. These games share the start position, the
    opponent and the opponent's seed. ``options`` are further settings of ``trl.GRPOConfig``.
    """
    tools = functools.partial(GameTools, opponent)
    tools()  # report an error now, not after the model is loaded
    settings: dict[str, Any] = {
        "num_generations": games,
        "per_device_train_batch_size": games,
        "max_completion_length": 8192,  # tokens of a whole game, with the boards
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": not torch.cuda.is_available(),
        **(options or {}),
    }
    trainer = GRPOTrainer(
        model,
        args=GRPOConfig(str(out), max_steps=steps, seed=seed, **settings),
        # Short games from positions with up to 24 discs; the prompt comes from the tools.
        train_dataset=Dataset.from_list(starts(steps, plies=24, seed=seed)),
        environment_factory=tools,
    )
    trainer.train()
    trainer.save_model(str(out))
    return float([line["reward"] for line in trainer.state.log_history if "reward" in line][-1])


if __name__ == "__main__":
    sys.exit(run(train, __doc__, "mean reward of the last step"))
