from contextlib import closing

import pytest

from c4env import agents, evaluation
from c4env.agents.base import Agent
from c4env.agents.entries import Entry
from c4env.errors import UnreadableRun
from c4env.evaluation.games.field import Traits, make_player, name_players, split_name
from c4env.evaluation.games.game import Clock
from c4env.evaluation.games.players import Seats
from tests.helpers.processes import run_python


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
    with closing(Seats(field, clock)) as seats:
        return {name: seats.traits(name) for name in field}


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


@pytest.mark.parametrize(
    "spec",
    [
        *("runs/lr=0.1/mine.py", "./lr=0.1/mine.py:f", r"runs\lr=0.1\mine.py", "C:/lr=1/mine.py:f"),
        *(r"C:\x\lr=0.1\mine.py", "kaggle:runs/lr=0.1/agent.py", "greedy"),
    ],
)
def test_a_path_may_hold_an_equals_sign_and_a_name_no_slash(spec):
    assert split_name(spec) == (spec, spec)
    assert split_name(f"mine={spec}") == ("mine", spec)
    assert split_name(f" a b = {spec} ") == ("a b", spec)


def test_what_a_first_move_loads_is_loaded_when_the_agent_is_made():
    """Else a short time limit would be lost to imports."""
    code = """import sys
from c4env.evaluation.games.field import make_player
make_player("greedy", None)
print("c4env.agents.baselines" in sys.modules)"""
    assert run_python("-c", code, check=True).stdout == "True\n"
