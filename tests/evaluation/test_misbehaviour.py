"""What an agent may do, and what then happens to its games: all that is promised."""

from __future__ import annotations

import asyncio
import sys
import threading
import time

import pytest

from c4env import evaluation
from c4env.errors import InvalidOption, UnknownAgent
from c4env.evaluation.games.pool import do_all
from tests.helpers.policies import first_legal
from tests.helpers.processes import run_python

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("error::RuntimeWarning")]

FIRST = "int(observation['action_mask'].argmax())"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, name, *lines):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(lines))
    return name


def agent(folder, name, *body, before=()):
    """A file with an agent that plays the first legal column after some lines of its own."""
    inner = [f"    {line}" for line in body]
    return write(folder, name, *before, "def agent(observation):", *inner, f"    return {FIRST}\n")


def endings(players, jobs=1, openings=0, **settings):
    """How the games ended, and who forfeited them."""
    run = evaluation.round_robin(players, openings, jobs=jobs, **settings)
    return [
        (game.ending, None if game.forfeited_by is None else game.players[game.forfeited_by])
        for game in run.games
    ]


@pytest.mark.parametrize(
    ("does", "ending"),
    [
        ("raise RuntimeError('broken')", "exception"),
        ("import asyncio; raise asyncio.CancelledError", "exception"),
        ("raise KeyboardInterrupt", "exception"),
        ("import sys; sys.exit(3)", "exception"),
        ("return 'left'", "nonsense"),
        ("return 0", "illegal column"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_who_raises_or_answers_nonsense_forfeits_this_game(folder, does, ending, jobs):
    name = agent(folder, "wrong.py", does)
    found = endings([f"wrong={name}", "right=random"], jobs, ["111111"])
    assert set(found) == {(ending, "wrong")}


@pytest.mark.parametrize("error", [asyncio.CancelledError(), GeneratorExit(), KeyboardInterrupt()])
def test_an_object_that_raises_in_this_process_forfeits(error):
    def wrong(observation):
        raise error

    assert endings({"wrong": wrong, "random": "random"}) == [("exception", "wrong")] * 2


SLEEPS = {
    "in Python": "[0 for _ in iter(int, 1)]",
    "in native code": "import ctypes; ctypes.PyDLL(None).sleep(1000)",
}


@pytest.mark.parametrize("how", SLEEPS)
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.skipif(sys.platform == "win32", reason="the C library has another name")
def test_who_is_late_forfeits_by_time_even_if_it_never_answers(folder, how, jobs):
    name = agent(folder, "late.py", f"if observation['observation'].sum() > 1: {SLEEPS[how]}")
    run = evaluation.round_robin([f"late={name}", "random"], 0, movetime=1, jobs=jobs)
    assert [(game.ending, game.forfeited_by) for game in run.games] == [("time", 0), ("time", 1)]
    assert all("the limit is 1 s plus a margin of 0.1 s" in game.reason for game in run.games)
    assert [len(game.moves) for game in run.games] == [2, 3]


def test_an_object_that_never_answers_forfeits_by_time():
    def late(observation):
        while True:
            time.sleep(1)

    found = endings({"late": late, "random": "random"}, movetime=0.5)
    assert found == [("time", "late")] * 2


CRASH = "os._exit(4)"


@pytest.mark.parametrize(("jobs", "openings"), [(1, 0), (2, 1)])
def test_who_ends_its_process_in_every_game_forfeits_and_the_others_play(folder, jobs, openings):
    name = agent(
        folder, "dies.py", f"if observation['observation'].sum() > 2: {CRASH}", before=["import os"]
    )
    players = {"dies": name, "greedy": "greedy", "random": "random"}
    run = evaluation.round_robin(players, openings, jobs=jobs, limit=2)
    crashed = [game for game in run.games if game.ending == "crash"]
    assert {game.players[game.forfeited_by] for game in crashed} == {"dies"}
    assert {game.reason for game in crashed} == {"its process ended (exit code 4)"}
    assert all(game.moves.startswith(game.opening) for game in crashed)
    assert any(game.ending == "four" for game in run.games)


def test_a_game_that_ends_its_process_is_played_once_more(folder):
    """The second attempt counts; the second end forfeits."""
    before = ["import os, pathlib", "left = pathlib.Path(__file__).with_name('left')"]
    steps = ["if n := int(left.read_text()):", "    left.write_text(str(n - 1)); os._exit(4)"]
    name = agent(folder, "dies.py", *steps, before=before)
    for deaths, ending in ((1, "four"), (2, "crash")):
        (folder / "left").write_text(str(deaths))
        found = evaluation.gauntlet(name, ["random"], [""], limit=1).games[0]
        assert (found.ending, (folder / "left").read_text()) == (ending, "0")


def test_an_object_that_ends_each_process_it_reaches_forfeits():
    found = endings({"random": "random", "dies": DiesOnArrival()}, jobs=2)
    assert found == [("crash", "dies")] * 2


class DiesOnArrival:
    def __call__(self, observation):
        return 0

    def __reduce__(self):
        import os

        return os._exit, (5,)


def test_an_object_that_cannot_be_sent_plays_here_with_one_job():
    lock = threading.Lock()

    def locked(observation):
        with lock:
            return first_legal(observation)

    assert set(endings({"locked": locked, "random": "random"})) <= {("four", None)}
    with pytest.raises(InvalidOption, match=r"cannot be sent to a worker .*play with jobs=1"):
        endings({"locked": locked, "random": "random"}, jobs=2)


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("late", [False, True])
def test_what_agents_print_or_redirect_leaves_the_answer_alone(folder, jobs, late):
    silence = "os.dup2(os.open(os.devnull, os.O_WRONLY), 2); print('said'); os.write(1, b'said')"
    before = ["import os", silence if not late else ""]
    name = agent(folder, "loud.py", silence if late else "print('said', flush=True)", before=before)
    command = ["-m", "c4env.evaluation", "run", name, "random", "--openings", "0", "--quiet"]
    found = run_python(*command, "--jobs", jobs, "--format", "csv", cwd=folder)
    assert found.returncode == 0
    assert found.stdout.startswith("agent,") or "said" not in found.stdout
    assert "crash" not in found.stdout + found.stderr


@pytest.mark.parametrize("settings", [{}, {"jobs": 2}, {"backend": "serial"}])
@pytest.mark.parametrize("late", [False, True], ids=["at once", "at its first move"])
def test_modules_beside_an_agents_file_are_its_own(folder, settings, late):
    for name, column in (("a", 0), ("b", 6)):
        write(folder, f"{name}/helper.py", f"from deeper import COLUMN\nassert COLUMN == {column}")
        write(folder, f"{name}/deeper.py", f"COLUMN = {column}")
        line = "from helper import COLUMN"
        body = f"COLUMN if observation['action_mask'][COLUMN] else {FIRST}"
        function = [f"def agent(observation):\n    {line if late else 'pass'}\n    return {body}"]
        write(folder, f"{name}/agent.py", "" if late else line, *function)
    run = evaluation.round_robin({"a": "a/agent.py", "b": "b/agent.py"}, 0, **settings)
    assert [game.moves for game in run.games] == ["1717171", "7171717"]
    for name, own in run.header.code.items():
        assert {file.partition("/")[0] for file in own} == {name}
        assert {file.partition("/")[2] for file in own} == {"agent.py", "helper.py", "deeper.py"}
    assert "helper" not in sys.modules


def test_the_working_folder_and_the_path_are_as_before_an_agent_was_made(folder):
    (folder / "elsewhere").mkdir()
    changes = ["import os, sys", "os.chdir('elsewhere')", "sys.path.clear()"]
    name = agent(folder, "moves.py", before=changes)
    after = f"assert os.getcwd() == {str(folder)!r} and sys.path"
    other = agent(folder, "stays.py", after, before=["import os, sys"])
    assert {ending for ending, _ in endings([name, other])} == {"four"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import os; os._exit(3)", "cannot be made: its process ended .exit code 3"),
        ("1 / 0", "importing .* raised ZeroDivisionError: division by zero .wrong.py, line 1"),
    ],
)
def test_who_cannot_be_made_is_refused_before_the_run(folder, line, words):
    name = agent(folder, "wrong.py", before=[line])
    with pytest.raises(UnknownAgent, match=words):
        evaluation.round_robin([name, "random"], 0, out="run")
    assert not (folder / "run").exists()


def test_a_worker_that_is_killed_while_it_makes_an_agent_is_replaced(folder):
    once = ["pathlib.Path('made').touch()", "os.kill(os.getpid(), signal.SIGKILL)"]
    before = ["import os, pathlib, signal", f"if not os.path.exists('made'): {'; '.join(once)}"]
    name = agent(folder, "mine.py", before=before)
    assert {ending for ending, _ in endings([name, "random"])} == {"four"}


def test_an_agent_may_start_processes_of_its_own(folder):
    before = ["import multiprocessing as m"]
    body = ["p = m.get_context('fork').Process(target=int)", "p.start()", "p.join()"]
    name = agent(folder, "starts.py", *body, before=before)
    assert {ending for ending, _ in endings([name, "random"])} == {"four"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_in_a_daemonic_process_one_job_plays_here(folder, jobs):
    agent(folder, "mine.py")
    (folder / "main.py").write_text(
        "import multiprocessing, warnings\nfrom c4env import evaluation\n"
        "def job(jobs):\n"
        "    with warnings.catch_warnings(record=True) as said:\n"
        "        warnings.simplefilter('always')\n"
        "        run = evaluation.round_robin(['mine.py', 'random'], 0, jobs=jobs)\n"
        "    words = [str(w.message) for w in said if 'daemonic' in str(w.message)]\n"
        "    return [game.ending for game in run.games], len(words)\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        f"        print(pool.apply(job, ({jobs},)))\n"
    )
    found = run_python("main.py", cwd=folder)
    assert found.stdout == f"(['four', 'four'], {int(jobs > 1)})\n", found.stderr


def test_a_fault_of_our_own_is_charged_to_no_agent():
    """Two workers die where no agent's code runs."""
    from c4env.errors import Unavailable

    with pytest.raises(Unavailable, match="a worker of this run failed"):
        list(do_all(sys.modules["os"]._exit, [(3,)], 1))
