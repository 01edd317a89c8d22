from __future__ import annotations

import pytest
from c4env.agents.zoo.table import ZOO
from c4env.evaluation.games.check import GAME, LATE, check_agent, trial_faults

from c4env import Position

AGENTS = """
import os, random, time

from c4env import agents

def first(observation):
    return int(observation["action_mask"].argmax())

def wild(observation):
    return random.choice([c for c in range(7) if observation["action_mask"][c]])

def broken(observation):
    return {}["key"]

def outside(observation):
    return 9

def full(observation):
    return 3

def leaves(observation):
    os._exit(3)

class Torn(agents.base.Agent):
    def choose(self, position):
        return position.legal_columns()[0]

    def close(self):
        raise OSError
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(AGENTS)


def test_the_game_goes_on_and_has_a_full_column():
    assert Position.parse(GAME[: LATE + 5]).outcome is None
    assert not Position.parse(GAME[:LATE]).is_legal(3)


def test_a_good_agent():
    found = check_agent("mine.py:first")
    assert found.good
    assert found.moves == 1 + LATE // 3
    assert (found.repeats, found.deterministic, found.says_deterministic) == (True, True, False)
    assert len(found.seconds) == 3 * found.moves


def test_one_that_plays_by_its_seed():
    found = check_agent("random")
    assert found.good
    assert found.repeats
    assert not found.deterministic
    assert found.picklable


def test_one_that_does_not_repeat():
    found = check_agent("mine.py:wild")
    assert not found.repeats
    assert not found.good


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", "exception: KeyError: 'key' (mine.py, line 13)"),
        ("outside", "nonsense: 9 is not a column"),
        ("full", "illegal column: column 3 is full"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(name, said):
    found = check_agent(f"mine.py:{name}")
    assert found.fault.startswith(said)
    assert not found.good
    assert said in found.table().text()


def test_a_trial_move_before_a_run(monkeypatch, recwarn):
    # Beside other threads, such as those of a test runner, nobody is tried.
    monkeypatch.setattr("threading.active_count", lambda: 1)
    players = {name: f"mine.py:{name}" for name in ("first", "broken", "leaves", "Torn")}
    found = trial_faults({**players, "greedy": "greedy", "object": lambda observation: 9})
    assert set(found) == {"broken", "leaves"}
    assert found["broken"] == "exception: KeyError: 'key' (mine.py, line 13)"
    assert found["leaves"] == "it ended its process"


def test_who_asks_over_the_network_is_not_tried(monkeypatch):
    monkeypatch.setattr("threading.active_count", lambda: 1)
    assert trial_faults({"nobody there": "http://127.0.0.1:9"}) == {}
    assert {entry.name for entry in ZOO if entry.network} == {"chat", "http"}


def test_what_does_not_pickle_is_sent_to_workers_by_its_spec(tmp_path):
    (tmp_path / "shut.py").write_text("agent = lambda o: [*o['action_mask']].index(1)\n")
    found = check_agent(f"{tmp_path / 'shut.py'}:agent")
    assert found.good
    assert not found.picklable
    assert "not as an object (it does not pickle), but by its spec" in found.table().text()
