"""What is kept is kept with all that made it: no changed agent gets what another found.

Answers and refutations, against a change of a module that the agent imports; test_field has all
that makes an agent's identity, and test_growth has games.
"""

import sys
from contextlib import closing

import pytest

from c4env import evaluation
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import ScoredPosition
from c4env.evaluation.exact.questions import question_agents, referee_of
from c4env.evaluation.exact.scores import Judge

ENDING = "4713732767357311732634225152551"  # 31 discs: a game is a few moves
ASKED = [ScoredPosition(ENDING, 0)]
OWN = """import helper

def agent(observation):
    with open("asked.log", "a") as file:
        print("asked", file=file)
    return [c for c in range(7) if observation["action_mask"][c]][helper.CHOICE]
"""


def answered(seed):
    with closing(referee_of(["mine=own.py"])) as referee, Judge("kept", table_mb=1) as judge:
        question_agents(referee, ASKED, judge, seed, "kept")


def refuted(seed):
    evaluation.refute({"mine": "own.py"}, [ENDING], seed=seed, out="kept")


@pytest.mark.isolated
@pytest.mark.parametrize("keep", [answered, refuted])
def test_what_is_kept_is_of_all_that_made_it(keep, folder, monkeypatch):
    solver, before = Solver(book=None, table_mb=1), set(sys.modules)
    monkeypatch.setattr("c4env.agents.solver.book.default_book", lambda: None)
    monkeypatch.setattr("c4env.evaluation.exact.refute.solver", lambda: solver)

    def asked(seed=1):
        """How often the agent is asked for what a new process keeps."""
        for name in set(sys.modules) - before:
            if name.endswith(".py") or name == "helper":
                del sys.modules[name]
        log = folder / "asked.log"
        log.write_text("")
        keep(seed)
        return log.read_text().count("asked")

    (folder / "own.py").write_text(OWN)
    (folder / "helper.py").write_text("CHOICE = 0\n")
    once = asked()
    assert once > 0 == asked()  # nothing changed: nobody is asked
    for change in ("a seed", "an import"):
        stored = {path: path.read_bytes() for path in (folder / "kept").iterdir()}
        if change == "an import":
            (folder / "helper.py").write_text("CHOICE = -1\n")
        assert asked(1 + (change == "a seed")) == once, change  # anew
        for path, kept in stored.items():  # nothing that was found out is gone
            assert path.read_bytes().startswith(kept), change
