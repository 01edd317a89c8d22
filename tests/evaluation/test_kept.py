"""What is kept is kept with all that made it: no changed agent gets what another found.

Every file that is kept, against everything that can change under it.
"""

import sys
from contextlib import closing

import pytest

from c4env import evaluation
from c4env.agents.solver import Solver
from c4env.errors import UnreadableRun
from c4env.evaluation.exact.questions import ANSWERS_FILE, Labelled, line_up_specs, question_agents
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.store.record import GAMES_FILE
from c4env.position import Position

ENDING = "4713732767357311732634225152551"  # 31 discs: a game is a few moves


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder of its own, and solvers that read no book."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set.txt").write_text(f"{ENDING} {SOLVER.score(Position.parse(ENDING))}\n")
    (tmp_path / "starts.txt").write_text(f"{ENDING}\n")
    for name in ("questions", "refute", "scores"):
        monkeypatch.setattr(f"c4env.evaluation.exact.{name}.strongest_book", lambda: None)
    monkeypatch.setattr("c4env.evaluation.exact.refute.solver", lambda: SOLVER)
    return tmp_path


SOLVER = Solver(book=None, table_mb=1)


POSITION = Position.parse(ENDING)
ASKED = [Labelled(ENDING, POSITION, 0)]
CODE = """def agent(observation):
    with open("asked.log", "a") as file:
        print("asked", file=file)
    return [c for c in range(7) if observation["action_mask"][c]][{}]
"""


def played(spec, seed):
    evaluation.round_robin({"mine": spec, "other": "random"}, [ENDING], seed=seed, out="kept")


def answered(spec, seed):
    with closing(line_up_specs([f"mine={spec}"])) as lineup, Judge("kept", table_mb=1) as judge:
        question_agents(lineup, ASKED, judge, seed, "kept")


def refuted(spec, seed):
    evaluation.refute({"mine": spec}, [ENDING], seed=seed, out="kept")


KEPT = {GAMES_FILE: played, ANSWERS_FILE: answered, "mine-*.jsonl": refuted}
CHANGES = {  # a spec, and the file and the text that change under it; or what else changes
    "code": ("own.py:agent", "own.py", CODE.format(-1)),
    "what it imports": ("importing.py:agent", "helper.py", "CHOICE = -1\n"),
    "a file of an option": ("own_class.py:Agent:file=net", "net", "other"),
    "seed": ("own.py:agent", None, None),
}


@pytest.fixture
def sources(here):
    (here / "own.py").write_text(CODE.format(0))
    (here / "importing.py").write_text(f"import helper\n{CODE.format('helper.CHOICE')}")
    (here / "helper.py").write_text("CHOICE = 0\n")
    (here / "net").write_text("first")
    text = CODE.format(0).replace("def agent(", "def __call__(self, ").replace("\n", "\n    ")
    (here / "own_class.py").write_text(
        f"class Agent:\n    def __init__(self, file): pass\n    {text}\n"
    )
    before = set(sys.modules)
    yield here
    forget(before)


def forget(before):
    """As a new process."""
    for name in set(sys.modules) - before:
        if name.endswith(".py") or name == "helper":
            del sys.modules[name]


def asked(folder):
    return (folder / "asked.log").read_text().count("asked")


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("keep", KEPT.values(), ids=KEPT)
def test_what_is_kept_is_of_all_that_made_it(keep, change, sources):
    spec, name, text = CHANGES[change]
    before = set(sys.modules)
    keep(spec, 1)
    first = asked(sources)
    forget(before)
    keep(spec, 1)
    assert asked(sources) == first  # nothing changed: nobody is asked
    stored = {path: path.read_bytes() for path in (sources / "kept").iterdir()}
    forget(before)
    if name:
        (sources / name).write_text(text)
    seed = 2 if change == "seed" else 1
    if keep is played:
        with pytest.raises(UnreadableRun, match="holds another run; "):
            keep(spec, seed)
        assert {path: path.read_bytes() for path in stored} == stored
    else:
        keep(spec, seed)
        assert asked(sources) == 2 * first  # anew
    for path, kept in stored.items():  # nothing that was found out is gone
        assert path.read_bytes().startswith(kept)
