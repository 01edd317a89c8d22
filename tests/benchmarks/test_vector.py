"""The benchmark of the vector environment runs and reports what it says."""

from __future__ import annotations

import numpy as np

from tests.benchmarks import vector as benchmark


def test_rows_and_table() -> None:
    found = benchmark.run(sizes=(1, 8), seconds=0.001, repeat=1)
    speeds = {name: (one, eight) for name, one, eight in found.items}
    for name, arguments in benchmark.MODES.items():
        one, eight = speeds[name]
        assert eight > 0
        assert (one is not None) == (arguments.get("threads", 1) == 1)
    lines = found.text().splitlines()
    assert lines[0].split()[-2:] == ["1", "8"]
    for name in benchmark.MODES:
        assert any(line.startswith(name + " ") for line in lines)


def test_random_columns_are_legal() -> None:
    masks = np.array([[0, 1, 0, 0, 0, 0, 1], [0] * 7, [1] * 7], np.int8)
    generator = np.random.default_rng(1)
    drawn = [benchmark.random_columns(masks, generator).tolist() for _ in range(200)]
    assert list(map(set, zip(*drawn, strict=True))) == [{1, 6}, {0}, set(range(7))]
