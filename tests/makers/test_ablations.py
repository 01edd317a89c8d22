"""Trainings without an idea of self-play each."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch")

from c4env.agents.selfplay import optimiser, selfplay  # noqa: E402  # needs torch
from tests.makers import ablations  # noqa: E402


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("idea", ablations.WITHOUT)
def test_self_play_trains_without_each_idea(idea, monkeypatch):
    monkeypatch.setattr(selfplay, "BOARDS", 16)
    monkeypatch.setattr(selfplay, "FEWEST", 64)
    before = {**vars(selfplay)}, optimiser.RATES
    weights = [
        ablations.trained(300, 1, changes).network for changes in ({}, ablations.WITHOUT[idea])
    ]
    assert before == ({**vars(selfplay)}, optimiser.RATES)
    whole, without = (torch.cat([p.flatten() for p in net.parameters()]) for net in weights)
    assert without.isfinite().all()
    assert not torch.equal(whole, without)
