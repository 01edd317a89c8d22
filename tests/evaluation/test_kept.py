"""What is kept is kept with all that made it: no changed agent gets what another found.

Two tables: every command that takes agents and keeps results, under one name and another spec; and
every file that is kept, against everything that can change under it.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import c4env
from c4env import agents, evaluation
from c4env.agents.solver import Solver
from c4env.boards import Size
from c4env.errors import WrongBoard
from c4env.evaluation import play
from c4env.evaluation.errors import UnreadableRun
from c4env.evaluation.exact import answers, refutation
from c4env.evaluation.exact.answers import ANSWERS_FILE, question_agents
from c4env.evaluation.exact.judge import Judge
from c4env.evaluation.exact.labelled import Labelled
from c4env.evaluation.games import tournament
from c4env.evaluation.store import record
from c4env.evaluation.store.record import GAMES_FILE
from c4env.evaluation.studies.leaderboard import Board, place
from c4env.position import Position
from tests.helpers.chat import server_with_key

ENDING = "4713732767357311732634225152551"  # 31 discs: a game is a few moves


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder of its own, and solvers that read no book."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set.txt").write_text(f"{ENDING} {SOLVER.score(Position.parse(ENDING))}\n")
    (tmp_path / "starts.txt").write_text(f"{ENDING}\n")
    for name in ("labelled", "worst_case"):
        monkeypatch.setattr(f"c4env.evaluation.exact.{name}.strongest_book", lambda: None)
    monkeypatch.setattr("c4env.evaluation.exact.judge.strongest_book", lambda: None)
    monkeypatch.setattr("c4env.evaluation.exact.worst_case.solver", lambda: SOLVER)
    return tmp_path


SOLVER = Solver(book=None, table_mb=1)


# -- every command, an agent under a name that another had -----------------------------------


# -- every file that is kept, and what can change under it ---------------------------------

POSITION = Position.parse(ENDING)
ASKED = [Labelled(ENDING, POSITION, 0)]
CODE = """WEIGHTS = open("weights.txt").read()
def agent(observation):
    with open("asked.log", "a") as file:
        print("asked", file=file)
    return [c for c in range(7) if observation["action_mask"][c]][{}]
"""


KAGGLE = """def agent(observation, configuration):
    with open("asked.log", "a") as file:
        print("asked", file=file)
    return [c for c in range(7) if not observation["board"][c]][{}]
"""
ENGINE = """#!/usr/bin/env python3
import sys
CHOICE = {}
for line in sys.stdin:
    with open("asked.log", "a") as file:
        print("asked", file=file)
    columns = line.strip()
    print([c for c in "1234567" if columns.count(c) < 6][CHOICE], flush=True)
"""


ASK = "{board}\nThe columns that are not full: {legal}\n"


def played(spec, seed):
    evaluation.round_robin({"mine": spec, "other": "random"}, [ENDING], seed=seed, out="kept")


def placed(spec, seed):
    field = {"random": "default"}
    board = Board("0.1", "", "2026-01-01", (ENDING,), field, (), {"random": 1.0}, {"random": {}})
    place(f"mine={spec}", board, seed=seed, out="kept")


def answered(spec, seed):
    with Judge("kept", table_mb=1) as judge:
        question_agents([f"mine={spec}"], ASKED, judge, seed, "kept")


def refuted(spec, seed):
    evaluation.refute({"mine": spec}, [ENDING], seed=seed, out="kept")


KEPT = {
    GAMES_FILE: (played, tournament),
    "games of a placement": (placed, tournament),
    ANSWERS_FILE: (answered, answers),
    "mine-*.jsonl": (refuted, refutation),
}


def edit(name, text):
    def change(spec, seed, module, monkeypatch, folder):
        (folder / name).write_text(text)
        return spec, seed

    return change


def own(spec, seed, module, monkeypatch, folder):
    return spec.replace("level=1", "level=2"), seed


def other_seed(spec, seed, module, monkeypatch, folder):
    return spec, 2


def other_version(spec, seed, module, monkeypatch, folder):
    monkeypatch.setattr(module, "version_here", lambda: "0.0")
    return spec, seed


def registered_anew(spec, seed, module, monkeypatch, folder):
    agents.register("kept-own", choosing(1), replace=True)
    return spec, seed


CHANGES = {
    "code": ("own.py:agent", edit("own.py", CODE.format(-1))),
    "what it imports": ("importing.py:agent", edit("helper.py", "CHOICE = -1\n")),
    "weights": ("own.py:agent", edit("weights.txt", "other")),
    "program": ("exec:./engine", edit("engine", ENGINE.format(-1))),
    "what a program imports": (
        "exec:python3 -m package.engine",
        edit("helper.py", "CHOICE = -1\n"),
    ),
    "prompt": (
        "chat:tiny,base_url=SERVER,prompt=ask.txt",
        edit("ask.txt", f"Please, {ASK}"),
    ),
    "submission": ("kaggle:kaggle.py", edit("kaggle.py", KAGGLE.format(-1))),
    "folder": ("own_class.py:Agent:folder=nets,level=1", edit("nets/net", "other")),
    "options": ("own_class.py:Agent:folder=nets,level=1", own),
    "registered": ("kept-own", registered_anew),
    "seed": ("own.py:agent", other_seed),
    "version": ("own.py:agent", other_version),
}


def choosing(number):
    def agent(observation):
        with open("asked.log", "a") as file:
            print("asked", file=file)
        legal = [c for c in range(7) if observation["action_mask"][c]]
        return legal[number % len(legal)]

    return agent


@pytest.fixture
def sources(here):
    (here / "own.py").write_text(CODE.format(0))
    (here / "importing.py").write_text(f"import helper\n{CODE.format('helper.CHOICE')}")
    (here / "helper.py").write_text("CHOICE = 0\n")
    (here / "weights.txt").write_text("first")
    (here / "ask.txt").write_text(ASK)
    (here / "kaggle.py").write_text(KAGGLE.format(0))
    (here / "engine").write_text(ENGINE.format(0))
    (here / "engine").chmod(0o755)
    (here / "package").mkdir()
    (here / "package" / "engine.py").write_text(f"import helper\n{ENGINE.format('helper.CHOICE')}")
    (here / "nets").mkdir()
    (here / "nets" / "net").write_text("first")
    text = CODE.format(0).replace("def agent(", "def __call__(self, ").replace("\n", "\n    ")
    start = "class Agent:\n    def __init__(self, folder, level): pass\n    "
    (here / "own_class.py").write_text(f"{start}{text}\n")
    agents.register("kept-own", choosing(0))
    before = set(sys.modules)
    yield here
    forget(before)


def forget(before):
    """As a new process."""
    for name in set(sys.modules) - before:
        if name.endswith(".py") or name == "helper":
            del sys.modules[name]


def asked(folder):
    log = folder / "asked.log"
    return log.read_text().count("asked") if log.exists() else 0


@pytest.fixture
def served(sources, monkeypatch):
    """Specs whose language model, if it is one, is asked here."""

    def log(body):
        with open("asked.log", "a") as file:
            print("asked", file=file)

    with contextmanager(server_with_key)(monkeypatch) as server:
        server.answered = log
        yield lambda spec: spec.replace("SERVER", server.url)


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "change"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(("keep", "module"), KEPT.values(), ids=KEPT)
def test_what_is_kept_is_of_all_that_made_it(
    keep, module, spec, change, sources, served, monkeypatch
):
    if spec.startswith("chat:"):
        pytest.importorskip("openai")
    spec = served(spec)
    before = set(sys.modules)
    keep(spec, 1)
    first = asked(sources)
    assert first > 0
    forget(before)
    keep(spec, 1)
    starts = spec.startswith(("exec:", "kaggle:"))  # is asked once whether it starts
    assert asked(sources) == first + starts  # nothing changed: nobody is asked for a game
    stored = {path: path.read_bytes() for path in (sources / "kept").iterdir()}
    forget(before)
    spec, seed = change(spec, 1, module, monkeypatch, sources)
    if keep in (played, placed):
        with pytest.raises(UnreadableRun, match="holds another run: "):
            keep(spec, seed)
        assert {path: path.read_bytes() for path in stored} == stored
    else:
        keep(spec, seed)
        assert asked(sources) >= 2 * first  # anew; a server may be asked twice where it is slow
    for path, text in stored.items():  # nothing that was found out is gone
        assert path.read_bytes().startswith(text)


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
HERE_ALONE = ["exact.answers", "exact.data", "exact.judge", "exact.refutation",
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
