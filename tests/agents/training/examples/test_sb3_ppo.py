"""The script for sb3-contrib runs, and what it writes plays."""

from __future__ import annotations

import numpy as np
import pytest

from c4env import agents

pytest.importorskip("sb3_contrib", reason="needs sb3-contrib: the extra sb3")
torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # a second one would but wait on a busy machine


@pytest.mark.compiled
def test_the_same_seed_trains_the_same_model(tmp_path):
    from c4env.agents.training.examples import sb3_ppo

    planes = np.zeros((1, 6, 7, 2), np.int8)
    said = []
    for name in ("a", "b"):
        sb3_ppo.train(tmp_path / f"{name}.zip", steps=300, seed=3, boards=8)
        said.append(agents.make(f"sb3:{tmp_path}/{name}.zip").preferences(planes).tolist())
    assert said[0] == said[1]
