"""What an agent may do, and what then happens to its games: all that is promised."""

import asyncio
import os
import sys
import threading
import time

import pytest

from c4env import evaluation
from c4env.errors import InvalidOption, Unavailable, UnknownAgent
from c4env.evaluation.__main__ import main
from c4env.evaluation.games.pool import do_all
from c4env.evaluation.games.processes import stdout_to_stderr
from tests.helpers.policies import first_legal
from tests.helpers.processes import run_python

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("error::RuntimeWarning")]

FIRST = "int(observation['action_mask'].argmax())"


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


FAULTS = {  # opening -> what an agent does in its place, and how the game ends
    "1": ("raise RuntimeError('broken')", "exception", "RuntimeError: broken"),
    "2": ("raise asyncio.CancelledError", "exception", "CancelledError"),
    "3": ("raise KeyboardInterrupt", "exception", "KeyboardInterrupt"),
    "4": ("sys.exit(3)", "exception", "SystemExit: 3"),
    "5": ("return 'left'", "nonsense", "left"),
    "6": ("ctypes.PyDLL(None).sleep(1000)", "time", "the limit is 1 s plus a margin of 0.1 s"),
    "11": ("os._exit(4)", "crash", "its process ended (exit code 4)"),
    "22": ("if path.exists(): path.unlink(); os._exit(4)", "four", ""),  # tried once more
    "111111": ("return 0", "illegal column", "column 0"),
}


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.skipif(sys.platform == "win32", reason="the C library has another name")
def test_who_is_at_fault_forfeits_this_game_alone(folder, jobs):
    """With one worker it is at fault as the first player, with two as the second."""
    before = ["import asyncio, ctypes, os, pathlib, sys", "path = pathlib.Path('once')"]
    faults = [
        "heights = observation['observation'].sum((0, 2))",
        f"at_fault = heights.sum() % 2 == {jobs - 1}",
        "opening = str(heights.argmax() + 1) * int(heights[:6].sum())",
    ]
    for opening, (does, *_) in FAULTS.items():
        faults += [f"if at_fault and opening == {opening!r}:", f"    {does}"]
    agent(folder, "wrong.py", *faults, before=before)
    agent(folder, "right.py", "return 6")
    (folder / "once").touch()
    players = ["wrong.py", "right.py"]
    run = evaluation.round_robin(players, [*FAULTS], movetime=1, jobs=jobs)
    at_fault = {game.opening: game for game in run.games if game.players[jobs - 1] == "wrong.py"}
    for opening, (_, ending, reason) in FAULTS.items():
        game = at_fault[opening]
        assert (game.ending, reason in game.reason) == (ending, True), game
        if ending != "four":
            assert game.forfeited_by == jobs - 1
            assert game.moves == opening + "7" * ((len(opening) + jobs - 1) % 2)
    others = [game for game in run.games if game.players[jobs - 1] == "right.py"]
    assert [game.ending for game in others] == ["four"] * len(FAULTS)
    assert not (folder / "once").exists()


@pytest.mark.parametrize("error", [asyncio.CancelledError(), GeneratorExit(), KeyboardInterrupt()])
def test_an_object_that_raises_in_this_process_forfeits(error):
    def wrong(observation):
        raise error

    assert endings({"wrong": wrong, "random": "random"}) == [("exception", "wrong")] * 2


def test_an_object_that_never_answers_forfeits_by_time():
    def late(observation):
        while True:
            time.sleep(1)

    found = endings({"late": late, "random": "random"}, movetime=0.5)
    assert found == [("time", "late")] * 2


@pytest.mark.slow
def test_an_object_that_ends_each_process_it_reaches_forfeits():
    found = endings({"random": "random", "dies": DiesOnArrival()}, jobs=2)
    assert found == [("crash", "dies")] * 2


class DiesOnArrival:
    def __call__(self, observation):
        return 0

    def __reduce__(self):
        return os._exit, (5,)


def test_an_object_that_cannot_be_sent_plays_here_with_one_job():
    lock = threading.Lock()

    def locked(observation):
        with lock:
            return first_legal(observation)

    assert set(endings({"locked": locked, "random": "random"})) <= {("four", None)}
    with pytest.raises(InvalidOption, match=r"cannot be sent to a worker .*play with jobs=1"):
        endings({"locked": locked, "random": "random"}, jobs=2)


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_what_agents_print_or_redirect_leaves_the_answer_alone(folder, capfd, jobs):
    silence = "os.dup2(os.open(os.devnull, os.O_WRONLY), 2); print('said'); os.write(1, b'said')"
    agent(folder, "silent.py", before=["import os", silence])
    agent(folder, "loud.py", f"print('said', flush=True); {silence}", before=["import os"])
    command = ["run", "silent.py", "loud.py", "--openings", "0", "--quiet", "--format", "csv"]
    assert main([*command, "--jobs", jobs]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("rank_best,")
    assert "said" not in out
    assert "crash" not in out + err


def test_what_is_printed_after_agents_played_here_is_printed_to_stdout(capfd):
    with stdout_to_stderr():
        print("said")
        os.write(1, b"written\n")
    print("result")
    os.write(1, b"more\n")
    assert capfd.readouterr() == ("result\nmore\n", "said\nwritten\n")


@pytest.mark.parametrize("settings", [{"jobs": 2}, {"backend": "serial"}])
def test_modules_beside_an_agents_file_are_its_own(folder, settings):
    """One is imported with the file, another at the first move."""
    for name, column in (("a", 0), ("b", 6)):
        write(folder, f"{name}/helper.py", f"from deeper import COLUMN\nassert COLUMN == {column}")
        write(folder, f"{name}/deeper.py", f"COLUMN = {column}")
        write(folder, f"{name}/later.py", f"COLUMN = {column}")
        body = ["    import later", "    assert later.COLUMN == COLUMN", "    return COLUMN"]
        start = ["from helper import COLUMN", "def agent(observation):"]
        write(folder, f"{name}/agent.py", *start, *body)
    run = evaluation.round_robin({"a": "a/agent.py", "b": "b/agent.py"}, 0, **settings)
    assert [game.moves for game in run.games] == ["1717171", "7171717"]
    for name, own in run.header.code.items():
        files = ("agent", "helper", "deeper", "later")
        assert {*own} == {f"{name}/{file}.py" for file in files}
    assert "helper" not in sys.modules


@pytest.mark.slow
def test_an_agent_may_change_its_process_and_start_others(folder):
    """One whose process is killed while it is made is made again."""
    (folder / "elsewhere").mkdir()
    forks = "p = m.get_context('fork').Process(target=int); p.start(); p.join()"
    changes = ["import multiprocessing as m, os, sys", "os.chdir('elsewhere')", "sys.path.clear()"]
    agent(folder, "changes.py", forks, before=changes)
    stays = f"assert os.getcwd() == {str(folder)!r} and sys.path"
    once = "open('made', 'x').close(); os.kill(os.getpid(), signal.SIGKILL)"
    before = ["import os, signal, sys", f"if not os.path.exists('made'): {once}"]
    agent(folder, "killed.py", stays, before=before)
    assert set(endings(["changes.py", "killed.py"])) == {("four", None)}
    assert (folder / "made").exists()


def test_who_cannot_be_made_is_refused_before_the_run(folder):
    for line, words in (
        ("import os; os._exit(3)", "cannot be made: its process ended .exit code 3"),
        ("1 / 0", "importing .* raised ZeroDivisionError: division by zero .wrong.py, line 1"),
    ):
        name = agent(folder, "wrong.py", before=[line])
        with pytest.raises(UnknownAgent, match=words):
            evaluation.round_robin([name, "random"], 0, out="run")
        assert not (folder / "run").exists()


def test_in_a_daemonic_process_one_job_plays_here(folder):
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
        "        print(pool.map(job, [1, 2]))\n"
    )
    found = run_python("main.py", cwd=folder)
    assert found.stdout == "[(['four', 'four'], 0), (['four', 'four'], 1)]\n", found.stderr


def test_a_fault_of_our_own_is_charged_to_no_agent():
    """Two workers die where no agent's code runs."""
    with pytest.raises(Unavailable, match="a worker of this run failed"):
        list(do_all(os._exit, [(3,)], 1))
