"""The Inspect task, with Inspect's mock model."""

import pytest

from c4env.agents import rewards
from tests.helpers.examples import example

pytest.importorskip("inspect_ai", reason="needs Inspect: pip install inspect-ai")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Inspect's own


def test_the_scores_of_a_run_are_the_exact_rewards(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where Inspect writes its log
    script = example("inspect_task")
    found = script.run(script.mock(["I think.\nMove: 4"] * len(script.POSITIONS)))
    columns = [None if moves == "444444" else 3 for moves in script.POSITIONS]  # it is full
    exact = rewards.keeps(script.POSITIONS, columns).tolist()
    assert found == dict(zip(script.POSITIONS, exact, strict=True))
    assert {-1.0, 0.0, 1.0} == set(found.values())


def test_a_prompt_draws_the_position():
    assert ". . . x . . ." in example("inspect_task").asked("4")
