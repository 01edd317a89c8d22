"""What is kept is kept with all that made it: no changed agent gets what another found.

Answers and refutations, against a change of a module that the agent imports; test_players has all
that makes an agent's identity, and test_growth has games.
"""

import platform
import sys
from contextlib import closing

import pytest

from c4env import evaluation
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import ScoredPosition
from c4env.errors import AgentChanged, Unavailable
from c4env.evaluation.exact.quality import question_agents, referee_of
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
        assert asked(1 + (change == "a seed")) == once, change  # asked again
        for path, kept in stored.items():  # nothing that was found out is gone
            assert path.read_bytes().startswith(kept), change


DIES = """import os, helper

def agent(observation):
    if os.path.exists("edited"):
        os.remove("edited")
        os._exit(1)
    return int(observation["action_mask"].argmax())
"""
SUBMISSION = "import helper\nagent = lambda o, c: [c for c in range(7) if not o.board[c]][0]\n"
PROGRAM = """import sys, helper
for line in sys.stdin:
    print(next(c for c in "1234567" if line.count(c) < 6), flush=True)
"""
VALUE = """import os
def value(mine, theirs):
    return os._exit(1) if os.path.exists("edited") else 0.0
"""
LOADED = [
    ("own.py", DIES, "helper.py", 1),
    ("kaggle:own.py", SUBMISSION, "own.py", 1),
    (f"exec:{sys.executable} own.py,newgame=restart", PROGRAM, "helper.py", 1),
    ("own.py", DIES, "own.py", 1),
    (f"exec:{sys.executable} own.py,newgame=restart", PROGRAM, "own.py", 1),
    ("greedy:heuristic=own.py:value", VALUE, "own.py", 1),
    ("own.py", DIES, "own.py", 2),
]


@pytest.mark.parametrize(
    ("spec", "text", "edited", "jobs"),
    [*LOADED[:3], *(pytest.param(*case, marks=pytest.mark.isolated) for case in LOADED[3:])],
)
def test_a_run_ends_when_code_that_is_loaded_again_has_changed(spec, text, edited, jobs, folder):
    (folder / "own.py").write_text(text)
    (folder / "helper.py").write_text("")

    def edit(game):
        (folder / edited).write_text(f"{(folder / edited).read_text()}\n# edited")
        (folder / "edited").touch()

    def run(**options):
        field = {"own": spec, "random": "random"}
        return evaluation.round_robin(field, openings=1, out="kept", jobs=jobs, **options).games

    with pytest.raises(AgentChanged) as raised:
        run(on_game=edit)
    assert f"agent 'own' on {platform.node()}: {edited} changed since" in str(raised.value)
    kept = len((folder / "kept" / "games.jsonl").read_text().splitlines())
    assert f"{kept} of 8 games are in kept; with the old files the same" in str(raised.value)
    (folder / "own.py").write_text(text)
    (folder / "helper.py").write_text("")
    (folder / "edited").unlink(missing_ok=True)
    assert 0 < kept < len(run()) == 8


def test_answers_end_when_code_that_is_loaded_again_has_changed(folder):
    (folder / "own.py").write_text(PROGRAM)
    (folder / "helper.py").write_text("")

    def edit(what, done, total):
        if what == "answers":
            (folder / "helper.py").write_text("# edited")

    spec = f"exec:{sys.executable} own.py,newgame=restart"
    with pytest.raises(AgentChanged, match=r"helper\.py changed since"):
        evaluation.quality(spec, count=3, out="kept", watch=edit)


BREAKS = """import os
def agent(seen):
    if os.path.exists("broken"):
        raise OSError("the disk is full")
    return int(seen["action_mask"].argmax())
"""


@pytest.mark.slow
def test_after_a_repair_forfeits_and_missing_answers_are_asked_for_again(folder):
    (folder / "own.py").write_text(BREAKS)
    field = {"own": "own.py", "random": "random"}

    def run(out, **options):
        return evaluation.round_robin(field, openings=1, out=out, **options)

    def ask(out):
        judged = evaluation.quality(["own.py", "greedy"], count=3, out=out)
        return [move.column for move in judged.moves]

    (folder / "broken").touch()
    first, answers = run("games"), ask("answers")
    assert {game.ending for game in first.games} == {"exception"}
    (folder / "broken").unlink()
    assert run("games").digest == first.digest  # kept, unless one says so
    assert run("games", again=True).digest == run("new").digest != first.digest
    assert evaluation.read_run("games").digest == run("games").digest == run("new").digest
    assert ask("answers") == ask("other") != answers  # no failure is kept
    assert len((folder / "games" / "games.jsonl").read_text().splitlines()) == 16  # none is lost


def test_an_agent_that_can_no_longer_be_made_is_the_machines_fault(folder):
    (folder / "own.py").write_text(
        "import os\nif os.path.exists('broken'):\n    raise OSError('no such library')\n" + DIES
    )
    (folder / "helper.py").write_text("")

    def break_down(game):
        (folder / "broken").touch()
        (folder / "edited").touch()

    field = {"own": "own.py", "random": "random"}
    with pytest.raises(
        Unavailable, match=r"'own' on .* and now cannot: .*no such library.*; \d of"
    ):
        evaluation.round_robin(field, openings=1, out="kept", on_game=break_down)
    games = (folder / "kept" / "games.jsonl").read_text()
    assert games.count("crash") == 1
