"""What is kept is kept with all that made it: no changed agent gets what another found.

Every file that is kept, against everything that can change under it.
"""

import sys
from contextlib import closing

import pytest

from c4env import evaluation
from c4env.agents.solver import Solver
from c4env.errors import UnreadableRun
from c4env.evaluation.exact.questions import ANSWERS_FILE, Labelled, question_agents, referee_of
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.store.run_files import GAMES_FILE
from c4env.position import Position

ENDING = "4713732767357311732634225152551"  # 31 discs: a game is a few moves


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    """A folder of its own, and solvers that read no book."""
    monkeypatch.setattr("c4env.agents.solver.book.default_book", lambda: None)
    monkeypatch.setattr("c4env.evaluation.exact.refute.solver", lambda: SOLVER)
    return folder


SOLVER = Solver(book=None, table_mb=1)
ASKED = [Labelled(ENDING, Position.parse(ENDING), 0)]
SPEC = "own.py:Agent:file=net"
SOURCES = {
    "own.py": """import helper

class Agent:
    def __init__(self, file): pass

    def __call__(self, observation):
        with open("asked.log", "a") as file:
            print("asked", file=file)
        return [c for c in range(7) if observation["action_mask"][c]][helper.CHOICE]
""",
    "helper.py": "CHOICE = 0\n",
    "net": "first",
}
CHANGES = {  # a file and the text that it has instead; none for another seed
    "code": ("own.py", SOURCES["own.py"].replace("helper.CHOICE", "-1")),
    "what it imports": ("helper.py", "CHOICE = -1\n"),
    "a file of an option": ("net", "other"),
    "seed": None,
}


def played(seed):
    evaluation.round_robin({"mine": SPEC, "other": "random"}, [ENDING], seed=seed, out="kept")


def answered(seed):
    with closing(referee_of([f"mine={SPEC}"])) as referee, Judge("kept", table_mb=1) as judge:
        question_agents(referee, ASKED, judge, seed, "kept")


def refuted(seed):
    evaluation.refute({"mine": SPEC}, [ENDING], seed=seed, out="kept")


KEPT = {GAMES_FILE: played, ANSWERS_FILE: answered, "mine-*.jsonl": refuted}


def asked(folder):
    return (folder / "asked.log").read_text().count("asked")


@pytest.mark.slow
@pytest.mark.parametrize("keep", KEPT.values(), ids=KEPT)
def test_what_is_kept_is_of_all_that_made_it(keep, here):
    before = set(sys.modules)

    def keep_in_a_new_process(seed=1):
        for name in set(sys.modules) - before:
            if name.endswith(".py") or name == "helper":
                del sys.modules[name]
        keep(seed)

    for name, text in SOURCES.items():
        (here / name).write_text(text)
    keep_in_a_new_process()
    once = count = asked(here)
    keep_in_a_new_process()
    assert asked(here) == once  # nothing changed: nobody is asked
    for what, change in CHANGES.items():
        stored = {path: path.read_bytes() for path in (here / "kept").iterdir()}
        seed = 1 if change else 2
        if change:
            (here / change[0]).write_text(change[1])
        if keep is played:
            words = f"fields differ: files of player mine {SPEC}; " if change else "seed 1, not 2"
            with pytest.raises(UnreadableRun, match=words):
                keep_in_a_new_process(seed)
            assert {path: path.read_bytes() for path in stored} == stored, what
        else:
            keep_in_a_new_process(seed)
            count += once
            assert asked(here) == count, what  # anew
        for path, kept in stored.items():  # nothing that was found out is gone
            assert path.read_bytes().startswith(kept), what
        if change:
            (here / change[0]).write_text(SOURCES[change[0]])
