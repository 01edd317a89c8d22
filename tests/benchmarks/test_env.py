"""The benchmark of the AEC environments runs and reports what it says."""

from __future__ import annotations

import random
import sys

import pytest

from c4env.envs.aec import env
from tests.benchmarks import env as benchmark
from tests.benchmarks import vector


def test_rows_and_table() -> None:
    pytest.importorskip("pygame")
    found = benchmark.run(games=2, repeat=3, boards=8)
    names = [
        *("pettingzoo env()", "pettingzoo raw_env()", "c4env env()", "c4env raw_env()"),
        *("one board against random", "one board against greedy"),
        *(f"8 boards, {name}" for name in vector.MODES),
    ]
    rows = found.items
    assert [name for name, _, _ in rows][: len(names)] == names
    lines = found.text().splitlines()
    assert len(lines) == len(rows) + 1
    for (name, speed, ratio), line in zip(rows, lines[1:], strict=True):
        assert speed > 0
        assert ratio == speed / rows[0][1]
        assert line.startswith(name)
        assert line.split()[-2:] == [f"{speed:,.0f}", f"{ratio:.1f}"]


def test_without_pettingzoos_there_is_no_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pettingzoo.classic.connect_four.connect_four", None)
    found = benchmark.run(games=1, repeat=1, boards=8)
    rows = found.items
    assert [name for name, _, _ in rows][:2] == ["c4env env()", "c4env raw_env()"]
    assert {ratio for _, _, ratio in rows} == {None}
    assert "is not measured" in found.text()


def test_a_game_counts_every_turn_and_the_two_dead_ones() -> None:
    environment = env()
    steps = benchmark.play(environment, random.Random(1))
    assert environment.agents == []
    assert steps == environment.position.plies + 2
    assert environment.position.outcome is not None
