"""Agents whose package is not installed say which extra brings it."""

from __future__ import annotations

import sys

import pytest

from c4env import agents
from c4env.errors import MissingExtra


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [
        ("chat:m,base_url=http://127.0.0.1:9/unique", "openai", "chat"),
        ("open_spiel:mcts", "pyspiel", "open-spiel"),
        ("selfplay:somewhere", "torch", "torch"),
        ("puct:selfplay:somewhere", "torch", "torch"),
        ("torch:model.py:f", "torch", "torch"),
    ],
)
def test_a_missing_package_is_named(
    spec: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(
        sys.modules, "c4env.agents.selfplay.network", raising=False
    )  # imports torch
    with pytest.raises(MissingExtra, match=rf"pip install 'c4env\[{extra}\]'"):
        agents.make(spec)
