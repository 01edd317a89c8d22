import random

import pytest

from c4env import agents
from c4env.evaluation.runs.check import CHECK_SECONDS, MOST_DISCS, Check, check_agent

AGENTS = """import os

def first(observation):
    return int(observation["action_mask"].argmax())

def broken(observation):
    return {}["key"]

def leaves(observation):
    os._exit(3)

asked = 0
def counts(observation):
    global asked
    asked += 1
    columns = observation["action_mask"].nonzero()[0]
    return columns[asked % len(columns)]

"""


@pytest.fixture(autouse=True)
def file_of_agents(folder):
    (folder / "mine.py").write_text(AGENTS)


def wild(observation):
    return random.choice([c for c in range(7) if observation["action_mask"][c]])


class Claims(agents.Agent):
    deterministic = True

    def reset(self, seed=None):
        self.random = random.Random(seed)

    def choose(self, position):
        return self.random.choice(position.legal_columns())


def test_good_agents():
    check = check_agent("mine.py:first")
    assert check.good
    assert check.moves == 1 + MOST_DISCS // 3
    assert (check.repeats, check.deterministic, check.says_deterministic) == (True, True, False)
    assert "yes; not declared (write deterministic = True)" in str(check.table())
    assert len(check.seconds) == 4 * check.moves
    assert 0 < min(check.seconds) <= max(check.seconds) < CHECK_SECONDS
    assert check.remedy == ""
    assert "what helps" not in check.table().text()
    by_seed = check_agent("random")
    assert (by_seed.good, by_seed.repeats, by_seed.deterministic) == (True, True, False)
    assert by_seed.forgets


def test_the_first_fault_ends_the_check():
    asked = []
    agents.register("mine", lambda observation: asked.append(1) or 9)
    assert not check_agent("mine").good
    assert len(asked) == 1


def test_what_does_not_repeat_is_told_what_helps():
    for agent, remedy in (
        (wild, "whose reset(self, seed) makes self.random = random.Random(seed)"),
        (Claims, "remove deterministic = True"),
    ):
        agents.register("mine", agent, replace=True)
        check = check_agent("mine")
        assert (check.good, check.repeats) == (False, agent is Claims)
        assert remedy in check.remedy
        assert "what helps" in check.table().text()


class Keeps(agents.Agent):
    """Keeps from game to game what its method ``pick`` plays by."""

    def __init__(self):
        self.random, self.asked, self.table = random.Random(5), 0, {}

    def choose(self, position):
        columns = position.legal_columns()
        self.asked += 1
        self.table[position] = self.table.get(position, 0) + 1
        return columns[self.pick(position) % len(columns)]


def keeping(pick):
    return type("Mine", (Keeps,), {"pick": pick})


KEEPING = {
    "draws": keeping(lambda self, position: self.random.randrange(7)),
    "alternates": keeping(lambda self, position: self.asked % 2),
    "learns": keeping(lambda self, position: self.table[position]),
}


@pytest.mark.parametrize("kind", [*KEEPING, "mine.py:counts"])
def test_what_an_agent_keeps_from_game_to_game_is_found(kind):
    if kind in KEEPING:
        agents.register(kind, KEEPING[kind])
    check = check_agent(kind)
    assert (check.good, check.repeats, check.forgets) == (False, True, False)
    assert not check.deterministic
    assert "forgets earlier games" in check.remedy
    assert "deterministic = True would" not in check.table().text()


def test_an_agent_that_fails_in_a_later_game_is_told_so():
    agents.register("mine", keeping(lambda self, position: ([0] * 20)[self.asked]))
    fault = check_agent("mine").fault
    assert fault.startswith("exception: IndexError")
    assert fault.endswith("(asked again after other games)")


@pytest.mark.parametrize(
    ("agent", "said", "remedy"),
    [
        (lambda observation: 3, "illegal column: column 4 is full (it answered 3)", "action_mask"),
        (lambda observation: 9, "nonsense: 9 is not a column", "return one integer"),
        ("mine.py:broken", "exception: KeyError: 'key' (mine.py, line 7)", ""),
        pytest.param("mine.py:leaves", "crash: its", "", marks=pytest.mark.isolated),
    ],
)
def test_what_is_wrong_is_told_with_its_line(agent, said, remedy):
    if not isinstance(agent, str):
        agents.register("mine", agent)
        agent = "mine"
    check = check_agent(agent)
    assert check.fault.startswith(said)
    assert not check.good
    assert said in check.table().text()
    assert remedy in check.remedy


@pytest.mark.parametrize("spec", ["exec:./engine", "kaggle:mine.py", "random"])
def test_nobody_is_told_to_write_what_its_program_cannot_say(spec):
    for repeats in (True, False):
        check = Check(spec, 13, "", repeats, repeats, False, repeats, False, (0.1,))
        assert "deterministic = True" not in check.table().text()
        assert "not declared" not in check.table().text()
    assert ("newgame=reset" in check.remedy) == spec.startswith("exec:")
    user = Check("mine.py:Agent", 13, "", True, True, False, True, False, (0.1,))
    assert "yes; not declared (write deterministic = True)" in user.table().text()
