"""The benchmark of tree search runs, alone or beside OpenSpiel, and compares like with like."""

from __future__ import annotations

import importlib.util

import pytest

from tests.benchmarks import mcts
from tests.benchmarks.__main__ import main


def test_every_search_makes_the_simulations_asked_for() -> None:
    rows = mcts.run(simulations=40, repeat=1).items
    has_peer = importlib.util.find_spec("pyspiel") is not None
    assert len(rows) == len(mcts.POSITIONS) * (3 if has_peer else 2)
    for _, _, simulations, speed, ratio in rows:
        assert simulations == 40
        assert speed > 0
        assert (ratio is not None) == has_peer


def test_it_runs_without_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcts, "peer", lambda module: None)
    monkeypatch.setattr(mcts, "POSITIONS", ("44",))
    found = mcts.run(simulations=20, repeat=1)
    assert [row[-1] for row in found.items] == [None, None]
    assert "OpenSpiel is not measured" in found.text()


@pytest.mark.parametrize("option", ["--simulations", "--repeat"])
def test_bad_numbers_are_one_line(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcts", option, "0"]) == 2
    assert (
        capsys.readouterr().err
        == f"python -m tests.benchmarks mcts: {option} 0: expected at least 1\n"
    )
