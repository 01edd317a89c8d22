from __future__ import annotations

from dataclasses import replace

import pytest

from c4env import Position
from c4env.evaluation.games.check import ASKED, GAME, LATE, Check, check_agent

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

def closes(observation):
    os.close(0)
    return first(observation)

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
        ("broken", "exception: KeyError: 'key' (mine.py, line 21)"),
        ("outside", "nonsense: 9 is not a column"),
        ("full", "illegal column: column 3 is full"),
        ("leaves", "its process ended (exit code 3)"),
        ("closes", "it closed files that it had not opened"),
    ],
)
@pytest.mark.slow
def test_what_is_wrong_is_told_with_its_line(name, said):
    found = check_agent(f"mine.py:{name}")
    assert found.fault.startswith(said)
    assert not found.good
    assert said in found.table().text()


def test_what_does_not_pickle_is_sent_to_workers_by_its_spec(tmp_path):
    (tmp_path / "shut.py").write_text("agent = lambda o: [*o['action_mask']].index(1)\n")
    found = check_agent(f"{tmp_path / 'shut.py'}:agent")
    assert found.good
    assert not found.picklable
    assert "yes, by its spec; in Python pass the spec" in found.table().text()


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


ALL = Check("a", ASKED, "", True, False, True, False, True, (1e-3, 2e-3))


@pytest.mark.parametrize(
    ("check", "good", "said"),
    [
        (ALL, True, {"legal moves": "in 13 positions"}),
        (ALL, True, {"other seed, same moves": "yes; the agent does not claim this"}),
        (
            replace(ALL, says_deterministic=True),
            True,
            {"other seed, same moves": "yes; the agent claims this"},
        ),
        (
            replace(ALL, says_deterministic=True, deterministic=False),
            False,
            {"other seed, same moves": "no; the agent claims this"},
        ),
        (
            replace(ALL, deterministic=False),
            True,
            {"same seed, same moves": "yes", "other seed, same moves": "no; the agent does not"},
        ),
        (replace(ALL, repeats=False, deterministic=False), False, {"same seed, same moves": "no"}),
        (
            replace(ALL, repeats=False, deterministic=False, by_clock=True),
            True,
            {"same seed, same moves": "no, since a clock limits moves"},
        ),
        (replace(ALL, by_clock=True), True, {"same seed, same moves": "yes"}),
        (
            replace(ALL, moves=1),
            True,
            {"legal moves": "in 1 position of 13: the time was used up"},
        ),
        (
            replace(ALL, moves=2, fault="exception: boom"),
            False,
            {"legal moves": "in 2 positions, none in the next", "what it did": "exception: boom"},
        ),
        (
            replace(ALL, moves=0, fault="nonsense: nan", seconds=()),
            False,
            {"legal moves": "no", "what it did": "nonsense: nan"},
        ),
        (replace(ALL, picklable=False), True, {"can be sent to workers": "yes, by its spec"}),
        (replace(ALL, seconds=(0.0,)), True, {"median ms a move": "0", "longest ms": "0"}),
        (replace(ALL, seconds=(1e6,)), True, {"longest ms": "1e+09"}),
    ],
)
def test_what_a_check_says_is_what_it_saw(check, good, said):
    shown = {str(row[0]): str(row[1]) for row in check.table().rows}
    assert check.good == good
    assert {key: shown[key][: len(value)] for key, value in said.items()} == said


def test_a_clock_is_no_fault():
    assert check_agent("mcts:movetime=0.01").good


def test_the_remedy_for_moves_that_do_not_repeat_is_enough(tmp_path):
    """A class as the remedy describes it plays as the function did, and passes."""
    (tmp_path / "mended.py").write_text(
        "import random\nfrom c4env import agents\n\n"
        "class A(agents.Agent):\n"
        "    def reset(self, seed=None):\n        self.random = random.Random(seed)\n"
        "    def choose(self, position):\n"
        "        return self.random.choice(position.legal_columns())\n"
    )
    found = check_agent("mended.py:A")
    assert (found.good, found.repeats, found.deterministic, found.remedy) == (True, True, False, "")
