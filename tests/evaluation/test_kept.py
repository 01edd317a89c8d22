"""What is kept is kept with all that made it: no changed agent gets what another found.

Every file that is kept, against everything that can change under it.
"""

import importlib
import sys
from contextlib import closing
from pathlib import Path

import pytest

import c4env
from c4env import evaluation
from c4env.agents.solver import Solver
from c4env.boards import Size
from c4env.errors import UnreadableRun, WrongBoard
from c4env.evaluation import play
from c4env.evaluation.exact.questions import (
    ANSWERS_FILE,
    Labelled,
    line_up_specs,
    question_agents,
)
from c4env.evaluation.exact.scores import Judge
from c4env.evaluation.store import record
from c4env.evaluation.store.record import GAMES_FILE
from c4env.evaluation.studies.leaderboard import Board, place
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


def placed(spec, seed):
    field = {"random": "default"}
    board = Board("0.1", "", "2026-01-01", (ENDING,), field, (), {"random": 1.0}, {"random": {}})
    place(f"mine={spec}", board, seed=seed, out="kept")


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


SMALL = Size(4, 4, 4)
OTHER = c4env.board(*SMALL)


def there(module):
    """A module on another board."""
    return importlib.import_module(f"{OTHER.__name__}.evaluation.{module}")


def person(here, record):
    """A game of the terminal or of the page."""
    game = record.GameRecord(("human", "random"), "", "1", 1, "abandoned", "", (0, 0), (0.0, 0.0))
    here.keep(Path("kept"), game)


ON_BOTH = {
    "run": (lambda: played("greedy", 1),
            lambda: OTHER.evaluation.round_robin(["greedy", "random"], openings=0, out="kept")),
    "place": (lambda: placed("greedy", 1),
              lambda: OTHER.evaluation.gauntlet(["greedy"], ["random"], openings=0, out="kept")),
    "games of people": (lambda: person(play, record),
                        lambda: person(there("play"), there("store.record"))),
}  # fmt: skip
HERE_ALONE = ["exact.questions", "exact.dataset", "exact.scores", "exact.refute",
              "studies.leaderboard", "web.server"]  # fmt: skip


@pytest.mark.parametrize("ways", ON_BOTH.values(), ids=ON_BOTH)
@pytest.mark.parametrize("first", [0, 1])
def test_what_is_kept_of_another_board_is_refused(ways, first, sources):
    ways[first]()
    stored = {path: path.read_bytes() for path in (sources / "kept").iterdir()}
    boards = ["6x7x4", "4x4x4"]
    of, not_of = boards[first], boards[1 - first]
    with pytest.raises(UnreadableRun, match=f"a board of {of}, not {not_of}"):
        ways[1 - first]()
    assert {path: path.read_bytes() for path in stored} == stored


@pytest.mark.parametrize("module", HERE_ALONE)
def test_what_else_is_kept_is_of_the_usual_board(module):
    with pytest.raises(WrongBoard, match="is made for 6x7x4, not for 4x4x4"):
        there(module)
