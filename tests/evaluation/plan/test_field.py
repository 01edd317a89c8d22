from __future__ import annotations

import functools
import sys

import numpy as np
import pytest
from c4env.agents.base import Agent
from c4env.agents.zoo.entries import Entry
from c4env.evaluation.errors import InvalidRun, UnreadableRun
from c4env.evaluation.plan.field import Traits, code_of, make_field, make_player, name_players

from c4env import agents, evaluation
from c4env.position import Position


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


def test_traits(patient):
    field = name_players(["random", "greedy", "patient", "patient:movetime=1"])
    assert make_field(field)[0] == Traits(
        deterministic=("greedy", "patient"),
        timed=("patient:movetime=1",),
        holding=("patient", "patient:movetime=1"),
    )
    assert make_field(field, 0.5)[0].timed == ("patient", "patient:movetime=1")
    assert make_field({"f": lambda observation: 0})[0] == Traits((), (), ())


def test_timed_runs_say_so_and_agents_are_closed(patient, tmp_path):
    before = Patient.closed
    result = evaluation.round_robin(["patient", "random"], openings=0, movetime=5, out=tmp_path)
    assert Patient.closed > before
    assert result.deterministic == ()
    shown = result.table.text()
    assert "5 s a move, and a margin of 0.1 s" in shown
    assert "The clock decides how far these look: patient." in shown
    assert "do not repeat exactly" in shown
    own = evaluation.round_robin(["patient:movetime=2", "random"], openings=0)
    assert "do not repeat exactly" in own.table.text()
    with pytest.raises(UnreadableRun, match="played with 5 s a move"):
        evaluation.round_robin(["patient", "random"], openings=0, movetime=4, out=tmp_path)


def test_code_of_everything_a_user_brings(tmp_path):
    weights = tmp_path / "weights.bin"
    weights.write_bytes(b"1")

    def here(observation):
        return 0

    agents.register("field-here", here, replace=True)
    field = {
        "greedy": "greedy",
        "own": f"{__name__}:Patient",
        "heuristic": "greedy:heuristic=tests_heuristic:tall",
        "file": f"perfect:ties={weights}",  # any option may name a file
        "registered": "field-here",
        "object": Patient(),
        "function": here,
    }
    sys.modules["tests_heuristic"] = sys.modules[__name__]
    try:
        first = code_of(field)
    finally:
        del sys.modules["tests_heuristic"]
    names = {f"{__name__}:Patient", "tests_heuristic:tall", str(weights), "field-here"}
    assert set(first) == {*names, "object", "function"}
    weights.write_bytes(b"2")
    assert code_of(field)[str(weights)] != first[str(weights)]


def test_a_file_that_an_argument_names_with_a_function_is_hashed(tmp_path):
    """As in torch:FILE.py:NAME: a run does not go on with another network under the name."""
    path = tmp_path / "net.py"
    spec = f"torch:{path}:net"
    path.write_text("net = 1\n")
    before = code_of({spec: spec})
    path.write_text("net = 2\n")
    assert before.keys() == code_of({spec: spec}).keys() == {str(path)}
    assert before != code_of({spec: spec})


def leans(column, weights=()):
    def policy(observation):
        return column

    policy.weights = weights
    return policy


class Leans:
    def __init__(self, column, weights=()):
        self.column = column
        self.weights = np.array(weights)

    def __call__(self, observation):
        return self.column


@pytest.mark.parametrize("make", [leans, Leans, lambda c: functools.partial(leans, c)])
def test_objects_with_other_parameters_are_other_players(make):
    assert code_of({"one": make(3)}) == code_of({"one": make(3)})
    assert code_of({"one": make(3)}) != code_of({"one": make(4)})


def test_arrays_and_the_zoos_options_are_parameters_too():
    assert code_of({"a": Leans(3, [1, 2])}) != code_of({"a": Leans(3, [1, 3])})
    one, other = (agents.make("mcts", simulations=number) for number in (5, 6))
    one.name = other.name = ""
    assert code_of({"a": one}) != code_of({"a": other})
    one.reset(1)
    one.choose(Position())
    assert code_of({"a": one}) == code_of({"a": agents.make("mcts:simulations=5")})


def test_a_name_that_no_file_can_hold_is_refused():
    with pytest.raises(InvalidRun, match=r"'a\\ud800': expected a name of characters"):
        name_players({"a\ud800": "random"})
