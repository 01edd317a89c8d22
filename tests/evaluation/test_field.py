from contextlib import closing

import pytest

from c4env import agents, evaluation
from c4env.agents.base import Agent
from c4env.agents.registry.entries import Entry
from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation.games.game import Clock
from c4env.evaluation.games.players import Seats
from c4env.evaluation.plan.field import Traits, make_player, name_players
from c4env.evaluation.plan.patterns import MOST, expand, expand_all


class Patient(Agent):
    """Plays the first legal column, by the clock if it is given one."""

    closed = 0
    deterministic = True

    def __init__(self, movetime: float | None = None):
        self.movetime = movetime

    def choose(self, position):
        return position.legal_columns()[0]

    def close(self):
        Patient.closed += 1


@pytest.fixture
def patient():
    agents.register("patient", Entry("patient", f"{__name__}:Patient", "waits"))


def test_the_runs_movetime_reaches_the_agents_that_take_one(patient):
    assert make_player("patient", 0.5).movetime == 0.5
    assert make_player("patient", None).movetime is None
    assert make_player("patient:movetime=2", 0.5).movetime == 2
    assert make_player("greedy", 0.5).movetime is None


def traits(field, movetime=None):
    clock = None if movetime is None else Clock(movetime, 0.1)
    with closing(Seats(field, clock, here=True)) as seats:
        return {name: seats.look(name) for name in field}


def test_traits(patient):
    field = name_players(["random", "greedy", "patient", "patient:movetime=1"])
    found = traits(field)
    assert [name for name, its in found.items() if its.deterministic] == ["greedy", "patient"]
    assert [name for name, its in found.items() if its.timed] == ["patient:movetime=1"]
    timed = [name for name, its in traits(field, 0.5).items() if its.timed]
    assert timed == ["patient", "patient:movetime=1"]
    assert traits({"f": lambda observation: 0})["f"] == Traits(False, False, "", {"version": ""})


def test_a_function_or_a_policy_may_claim_to_be_deterministic():
    class Policy:
        deterministic = True

        def __call__(self, observation):
            return 0

    def function(observation):
        return 0

    function.deterministic = True
    agents.register("claims", function)
    field = {"policy": Policy(), "function": function, "claims": "claims"}
    assert all(its.deterministic for its in traits(field).values())


def test_timed_runs_say_so_and_agents_are_closed(patient, tmp_path):
    before = Patient.closed
    result = evaluation.round_robin(["patient", "random"], openings=0, movetime=5, out=tmp_path)
    assert Patient.closed > before
    assert result.deterministic == ()
    shown = result.table.text()
    assert "5 s a move, and a margin of 0.1 s" in shown
    assert "These agents search by the clock: patient." in shown
    assert "do not repeat exactly" in shown
    own = evaluation.round_robin(["patient:movetime=2", "random"], openings=0)
    assert "do not repeat exactly" in own.table.text()
    with pytest.raises(UnreadableRun, match=r"movetime 5\.0, not 4\.0"):
        evaluation.round_robin(["patient", "random"], openings=0, movetime=4, out=tmp_path)


def test_what_a_pattern_stands_for():
    for pattern, specs in (
        ("greedy", ["greedy"]),
        ("alphabeta:depth=2..4", ["alphabeta:depth=2", "alphabeta:depth=3", "alphabeta:depth=4"]),
        ("a:x=3..3", ["a:x=3"]),
        ("a:x={1..2,7}", ["a:x=1", "a:x=2", "a:x=7"]),
        ("a:x=1..2,h={b,c}", ["a:x=1,h=b", "a:x=1,h=c", "a:x=2,h=b", "a:x=2,h=c"]),
        ("{a,b}:x=1..2", ["a:x=1", "a:x=2", "b:x=1", "b:x=2"]),
        ("a:h=package.module:f", ["a:h=package.module:f"]),
        ("a:path=../x,y=1", ["a:path=../x,y=1"]),
        ("a:h={m:f, m:g}", ["a:h=m:f", "a:h=m:g"]),
    ):
        assert expand(pattern) == specs


def test_a_spec_with_an_argument_or_a_file_path_stays_as_it_is():
    as_they_are = [
        "exec:awk '{print 1}'",
        "me=exec:./engine --depth=1..3",
        "chat:{model}",
        "agents/{a,b}.py:agent",
        "mine.py:Agent:depth=1..2",
        "one=greedy",
    ]
    two = ["minimax:depth=1", "minimax:depth=2"]
    assert expand_all(["minimax:depth=1..2", *as_they_are]) == [*two, *as_they_are]


def test_a_pattern_with_a_name_is_one_agent():
    assert expand_all(["mine=minimax:depth={3}"]) == ["mine=minimax:depth=3"]
    with pytest.raises(InvalidOption, match="'mine' names 2 agents: expected one agent"):
        expand_all(["mine=minimax:depth=1..2"])


def test_a_bad_pattern_is_quoted():
    for pattern, words in (
        ("a:x={1,2", "unmatched brace"),
        ("a:x=1,2}", "unmatched brace"),
        ("a:x={{1,2}}", "unmatched brace"),
        ("a:x={}", "empty choice"),
        ("a:x={1,,2}", "empty choice"),
        ("a:x=4..2", "4..2: expected an ascending range"),
        ("a:x={4..2}", "4..2: expected an ascending range"),
        (f"a:x=0..{MOST}", "expected an ascending range of at most"),
        ("a:x=1..99,y=1..99", "expected at most 1000"),
        ("a:x=x..y", "x..y: expected a range of whole numbers such as 1..6"),
        ("a:x=1..y,z=3", "1..y: expected a range"),
        ("a:x=0.5..2.0", "0.5..2.0: expected a range"),
    ):
        with pytest.raises(InvalidOption) as raised:
            expand(pattern)
        assert words in str(raised.value)
        assert pattern in str(raised.value)
