from __future__ import annotations

from contextlib import closing

import pytest

from c4env import agents, evaluation
from c4env.agents.base import Agent
from c4env.agents.registry.entries import Entry
from c4env.errors import UnreadableRun
from c4env.evaluation.games.players import line_up
from c4env.evaluation.plan.field import Traits, make_player, name_players


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
    assert traits(field)._replace(code={}) == Traits(
        deterministic=("greedy", "patient"),
        timed=("patient:movetime=1",),
        holding=("patient", "patient:movetime=1"),
    )
    assert traits(field, 0.5).timed == ("patient", "patient:movetime=1")
    plain = traits({"f": lambda observation: 0})
    assert plain == Traits((), (), (), {}, plain.code)
    assert plain.code.keys() == {"f"}


def traits(field, movetime=None):
    with closing(line_up(field, movetime)) as lineup:
        return lineup.traits


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
    assert traits(field).deterministic == tuple(field)


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
    with pytest.raises(UnreadableRun, match="movetime 5, not 4"):
        evaluation.round_robin(["patient", "random"], openings=0, movetime=4, out=tmp_path)
