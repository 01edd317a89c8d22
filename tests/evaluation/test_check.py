from __future__ import annotations

import pytest

from c4env.evaluation.games.check import LATE, check_agent

AGENTS = """
import os, random, time
from c4env import agents

def first(observation):
    return int(observation["action_mask"].argmax())

def wild(observation):
    return random.choice([c for c in range(7) if observation["action_mask"][c]])

class claims(agents.Agent):
    deterministic = True

    def reset(self, seed=None):
        self.random = random.Random(seed)

    def choose(self, position):
        return self.random.choice(position.legal_columns())

def broken(observation):
    return {}["key"]

def outside(observation):
    return 9

def full(observation):
    return 3

def leaves(observation):
    os._exit(3)

"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(AGENTS)


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
        ("broken", "exception: KeyError: 'key' (mine.py, line 21)"),
        ("outside", "nonsense: 9 is not a column"),
        ("full", "illegal column: column 3 is full"),
        ("leaves", "its process ended (exit code 3)"),
    ],
)
@pytest.mark.slow
def test_what_is_wrong_is_told_with_its_line(name, said):
    found = check_agent(f"mine.py:{name}")
    assert found.fault.startswith(said)
    assert not found.good
    assert said in found.table().text()


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("full", "whose entry in observation['action_mask'] is 1"),
        ("wild", "whose reset(self, seed) makes self.random = random.Random(seed)"),
        ("claims", "remove deterministic = True"),
        ("broken", ""),
        ("first", ""),
    ],
)
def test_what_helps_is_told(name, remedy):
    found = check_agent(f"mine.py:{name}")
    assert remedy in found.remedy
    assert bool(remedy) == bool(found.remedy) == ("what helps" in found.table().text())
