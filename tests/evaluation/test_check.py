import contextlib
import functools

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

def full(observation):
    return 3

def leaves(observation):
    os._exit(3)

class lingers(agents.Agent):
    def choose(self, position):
        return position.legal_columns()[0]

    def close(self):
        time.sleep(1)

"""


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """What is found of an agent; each is checked once."""
    folder = tmp_path_factory.mktemp("agents")
    (folder / "mine.py").write_text(AGENTS)
    with contextlib.chdir(folder):
        yield functools.cache(check_agent)


def test_a_good_agent(check):
    found = check("mine.py:first")
    assert found.good
    assert found.moves == 1 + LATE // 3
    assert (found.repeats, found.deterministic, found.says_deterministic) == (True, True, False)
    assert len(found.seconds) == 3 * found.moves
    assert found.remedy == ""
    assert "what helps" not in found.table().text()


def test_one_that_plays_by_its_seed(check):
    found = check("random")
    assert found.good
    assert found.repeats
    assert not found.deterministic


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("wild", "whose reset(self, seed) makes self.random = random.Random(seed)"),
        ("claims", "remove deterministic = True"),
    ],
)
def test_what_does_not_repeat_is_told_what_helps(check, name, remedy):
    found = check(f"mine.py:{name}")
    assert not found.good
    assert found.repeats == (name == "claims")
    assert remedy in found.remedy
    assert "what helps" in found.table().text()


@pytest.mark.parametrize(
    ("name", "said", "remedy"),
    [
        ("broken", "exception: KeyError: 'key' (mine.py, line 21)", ""),
        ("full", "illegal column: column 3 is full", "whose entry in observation['action_mask']"),
        pytest.param("leaves", "its process ended (exit code 3)", "", marks=pytest.mark.slow),
    ],
)
def test_what_is_wrong_is_told_with_its_line(check, name, said, remedy):
    found = check(f"mine.py:{name}")
    assert found.fault.startswith(said)
    assert not found.good
    assert said in found.table().text()
    assert remedy in found.remedy


@pytest.mark.slow
def test_closing_is_no_move_and_has_no_limit_of_time(check, monkeypatch):
    monkeypatch.setattr("c4env.evaluation.games.check.PATIENCE", 1.0)
    assert check("mine.py:lingers").fault == ""
