"""Agents that do what no agent should: they lose their own games, and nobody else's."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from c4env import agents, evaluation
from c4env.agents.base import Agent
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.apart import make_field
from c4env.evaluation.games.game import play_game
from c4env.evaluation.games.processes import SPOILED, stdout_to_stderr
from c4env.evaluation.store.record import read_games
from tests.helpers.policies import first_legal
from tests.helpers.processes import run_python


class Special(BaseException): ...


@pytest.mark.parametrize(
    "error", [Special("x"), asyncio.CancelledError("x"), GeneratorExit("x"), KeyboardInterrupt("x")]
)
@pytest.mark.parametrize("where", ["move", "reset", "message"])
def test_whatever_an_agent_raises_ends_its_game_alone(error, where):
    class Wrong(Exception):
        def __str__(self):
            raise error

    class Raises:
        def reset(self):
            if where == "reset":
                raise error

        def __call__(self, observation):
            raise Wrong if where == "message" else error

    result = evaluation.round_robin({"raises": Raises(), "greedy": "greedy"}, openings=0)
    assert [game.ending for game in result.games] == ["exception"] * 2
    assert result.table.players[0] == "greedy"


def test_an_agents_own_interrupt_is_known_where_ctrl_c_is_ignored():
    def raises(observation):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a script's background
    try:
        result = evaluation.round_robin({"raises": raises, "random": "random"}, openings=0)
    finally:
        signal.signal(signal.SIGINT, before)
    assert {game.ending for game in result.games} == {"exception"}


@pytest.mark.compiled
def test_whatever_an_agent_raises_in_a_worker_ends_its_game_alone():
    def raises(observation):
        raise KeyboardInterrupt

    players = {"raises": raises, "random": "random"}
    one, two = (evaluation.round_robin(players, openings=1, jobs=jobs) for jobs in (1, 2))
    assert {game.ending for game in two.games} == {"exception"}
    assert one.digest == two.digest


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_an_interrupt_that_an_agent_swallows_ends_the_run_all_the_same(tmp_path):
    class Swallows:
        interrupted = False

        def __call__(self, observation):
            try:
                if not self.interrupted:
                    self.interrupted = True
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(5)
            except BaseException:
                pass
            return first_legal(observation)

    with pytest.raises(KeyboardInterrupt, match="1 games are kept"):
        evaluation.round_robin([Swallows(), "random"], openings=1, out=tmp_path)
    assert len(read_games(tmp_path)[1]) == 1


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_settings_of_the_process_are_each_agents_own():
    """They last for who made them."""

    class Changes:
        def reset(self):
            sys.setrecursionlimit(5000)

        def __call__(self, observation):
            first = observation["observation"].sum() < 2
            assert sys.getrecursionlimit() == (5000 if first else 250)
            sys.setrecursionlimit(250)
            np.seterr(all="raise")
            warnings.simplefilter("ignore")
            if not first:
                assert (os.getcwd(), sys.path, "C4ENV_TEST" in os.environ) == ("/", [], True)
            os.chdir("/")
            os.environ["C4ENV_TEST"] = "1"
            sys.path.clear()
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            sys.stdin = sys.stdout = sys.stderr = sys.excepthook = None
            sys.setprofile(lambda *_: None)
            return first_legal(observation)

    def sensitive(observation):
        def count(number):
            return number and 1 + count(number - 1)

        assert count(300) == 300
        assert sys.stderr is not None
        assert sys.getprofile() is None
        assert not np.isfinite(np.array([1e300]) * 1e300)
        return first_legal(observation)

    def settings():
        process = os.getcwd(), list(sys.path), dict(os.environ), signal.getsignal(signal.SIGALRM)
        streams = sys.stdin, sys.stdout, sys.stderr
        tools = *streams, sys.excepthook, sys.gettrace(), sys.getprofile()
        return sys.getrecursionlimit(), np.geterr(), list(warnings.filters), *process, *tools

    before = settings()
    with np.errstate(over="ignore"):
        for pair in ((Changes(), sensitive), (sensitive, Changes())):
            game = play_game(pair, ("a", "b"))
            assert (game.ending, game.reason) == ("four", "")
    assert before == settings()


@pytest.mark.parametrize("nodes", [-1, 10**6000, 2**63], ids=["negative", "huge", "large"])
def test_nodes_that_no_record_can_hold_forfeit(nodes, tmp_path):
    class Counts:
        def __call__(self, observation):
            return first_legal(observation)

    Counts.nodes = nodes
    result = evaluation.round_robin([Counts(), "random"], openings=0, out=tmp_path)
    assert [game.ending for game in result.games] == ["nonsense"] * 2
    assert read_games(tmp_path)[1] == list(result.games)


def test_an_agent_that_cannot_be_closed_loses_no_game():
    class Stays(Agent):
        def choose(self, position):
            return position.legal_columns()[0]

        def close(self):
            raise RuntimeError("no")

    agents.register("stays", Stays)
    with pytest.warns(RuntimeWarning, match="stays: close.. raised RuntimeError: no"):
        result = evaluation.round_robin(["stays", "random"], openings=0)
    assert len(result.games) == 2


def test_what_agents_print_or_close_leaves_stdout_alone(capfd):
    def closes(observation):
        print("an agent's")
        sys.stdout.close()
        sys.stderr.close()
        os.close(1)
        os.open(os.devnull, os.O_WRONLY)  # the number is used again
        return first_legal(observation)

    with stdout_to_stderr():
        evaluation.round_robin([closes, "random"], openings=0)
    print("an answer", flush=True)
    print("a message", file=sys.stderr, flush=True)
    said = capfd.readouterr()
    assert said.out == "an answer\n"
    assert "an agent's" in said.err


def test_one_object_under_two_names_is_two_players():
    class Remembers:
        def __init__(self):
            self.busy = set()

        def __call__(self, observation):
            self.busy.add(int(observation["observation"].sum()) % 2)
            assert len(self.busy) == 1, "it plays both sides"
            return first_legal(observation)

        def reset(self):
            self.busy = set()

    one = Remembers()
    result = evaluation.round_robin({"one": one, "two": one}, openings=0)
    assert {game.ending for game in result.games} == {"four"}
    one.lock = threading.Lock()
    with pytest.raises(InvalidRun, match="'two' is an object with two names"):
        evaluation.gauntlet({"one": one}, {"two": one}, openings=0)
    with pytest.raises(InvalidRun, match="'two' is an object with two names"):
        evaluation.round_robin({"one": one, "two": one}, openings=0)


@pytest.mark.compiled
def test_objects_with_large_memories_play_on_workers_as_they_do_here():
    players = {
        "me": agents.make("mcts:simulations=30"),
        "deepening": agents.make("deepening:nodes=100"),
    }
    one, two = (evaluation.round_robin(players, openings=0, seed=1, jobs=jobs) for jobs in (1, 2))
    assert {game.ending for game in two.games} <= {"four", "full board"}
    assert one.digest == two.digest


HOSTILE = """
import os, signal, sys

def good(observation):
    return int(observation["action_mask"].argmax())

def leaves(observation):
    os._exit(7)

def rings(observation):
    signal.raise_signal(signal.SIGALRM)

def rings_later(observation):
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    return good(observation)

def mute(observation):
    os.close(2)
    return good(observation)

def cuts(observation):
    os.closerange(3, 1024)
    return good(observation)

def starves(observation):
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    return good(observation)

def breaks(observation):
    import c4env
    c4env.Position.play = lambda position, column: 1 // 0
    return good(observation)

def forgets(observation):
    sys.path.clear()
    os.environ.clear()
    os.chdir("/")
    return good(observation)
"""

FATES = {
    "leaves": ("crash", "its process ended (exit code 7)"),
    "rings": ("crash", "its process ended (SIGALRM)"),
    "rings_later": ("four", ""),  # the alarm is for its own moves
    "mute": ("crash", SPOILED),
    "cuts": ("crash", SPOILED),
    "starves": ("crash", SPOILED),
    "breaks": ("four", ""),  # the rules of its own process
    "forgets": ("four", ""),
}


@pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX's")
@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_an_agent_does_to_its_process_ends_its_own_games_alone(jobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(HOSTILE)
    players = {"other": "bad.py:good", **{name: f"bad.py:{name}" for name in FATES}}
    found = evaluation.gauntlet({"good": "bad.py:good"}, players, openings=0, jobs=jobs)
    fates = {
        name: {(game.ending, game.reason) for game in found.games if name in game.players}
        for name in players
    }
    assert fates == {name: {fate} for name, fate in {"other": ("four", ""), **FATES}.items()}
    assert {game.winner for game in found.games if game.players == ("good", "leaves")} == {0}


FORKS = """
import os
from c4env import evaluation

class Forks:
    def __init__(self, where):
        self.where = where

    def fork(self, where):
        if where == self.where:
            self.where = "never again"
            if child := os.fork():
                os.waitpid(child, 0)

    def reset(self):
        self.fork("reset")

    def __call__(self, observation):
        self.fork("move")
        return int(observation["action_mask"].argmax())

result = evaluation.round_robin({"one": Forks("move"), "other": Forks("reset")}, openings=0)
print(len(result.games), {game.ending for game in result.games})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_copy_that_an_agent_forks_ends_when_it_comes_back():
    """It would play all games once more, and fork again in each move."""
    done = run_python("-W", "ignore", "-c", FORKS, timeout=100, check=True)
    assert done.stdout.split("\n") == ["2 {'four'}", ""]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.compiled
def test_a_copy_that_is_forked_while_an_agent_is_built_answers_for_no_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.py").write_text(HOSTILE)
    (tmp_path / "forks.py").write_text(f"{HOSTILE}\nos.fork()\n")
    field = {"one": "forks.py:good", "other": "plain.py:good", "third": "forks.py:good"}
    known, made = make_field(field)
    assert {name: [*files] for name, files in known.code.items()} == {
        name: [spec.partition(":")[0]] for name, spec in field.items()
    }
    assert made == {}


NOISY = """
import atexit, os, subprocess, sys, time
os.chdir(os.path.dirname(os.path.abspath(__file__)))
atexit.register(time.sleep, 300)
print("imported")

def agent(observation):
    open("beside.txt").close()
    print("printed")
    print("under", file=sys.__stdout__)
    os.write(1, b"written\\n")
    subprocess.run([sys.executable, "-c", "print('echoed')"])
    return int(observation["action_mask"].argmax())
"""


@pytest.mark.compiled
@pytest.mark.parametrize(
    "command",
    [
        "run AGENT greedy --openings 0 --jobs 1 --out games",
        "run AGENT greedy --openings 0 --jobs 2 --out games",
        "match AGENT greedy --openings 0 --jobs 1",
        "quality AGENT --on exam --count 2 --out games",
        "refute AGENT --openings 0 --positions 3 --jobs 1",
        "check AGENT",
        "play AGENT greedy --no-record",
    ],
    ids=lambda command: command.split(" --o")[0],
)
@pytest.mark.slow
def test_what_agents_write_anywhere_is_kept_from_the_answer(command, tmp_path):
    """And the folder they change to is theirs alone, and what they leave to be done at the end."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "beside.txt").touch()
    (tmp_path / "sub" / "noisy.py").write_text(NOISY)
    words = command.replace("AGENT", "sub/noisy.py:agent").split()
    done = run_python(
        "-m", "c4env.evaluation", *words, "--format", "json", timeout=100, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert "exception" not in done.stdout
    for said in ("imported", "printed", "under", "written", "echoed"):
        assert said in done.stderr
    assert (tmp_path / "games").is_dir() == ("games" in words)


BUILT = """
import os

class Ends:
    def __init__(self):
        os._exit(7)

class Raises:
    def __init__(self):
        raise GeneratorExit("no")

class Deleted:
    def __call__(self, observation):
        return int(observation["action_mask"].argmax())

    def __del__(self):
        os._exit(7)
"""
ENDED = "its process ended (exit code 7)"


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("command", "agent", "said"),
    [
        ("run AGENT greedy --openings 0", "ends.py:agent", ENDED),
        ("run AGENT greedy --openings 0", "built.py:Ends", ENDED),
        ("run AGENT greedy --openings 0", "built.py:Raises", "GeneratorExit: no"),
        ("run AGENT greedy --openings 0 --backend serial", "built.py:Deleted", ENDED),
        ("match AGENT greedy --openings 0", "built.py:Deleted", ENDED),
        ("quality AGENT --on exam --count 2", "built.py:Deleted", ENDED),
        ("refute AGENT --openings 0 --positions 3", "ends.py:agent", ENDED),
        ("check AGENT", "built.py:Deleted", ENDED),
        ("play AGENT greedy --no-record", "ends.py:agent", ENDED),
    ],
)
@pytest.mark.slow
def test_an_agent_that_ends_its_process_while_it_is_built_is_told_of_in_a_line(
    command, agent, said, tmp_path
):
    """While its module is imported, it is made, or deleted."""
    (tmp_path / "built.py").write_text(BUILT)
    (tmp_path / "ends.py").write_text("import os\nos._exit(7)\n")
    words = command.replace("AGENT", agent).split()
    done = run_python("-m", "c4env.evaluation", *words, cwd=tmp_path)
    if words[0] == "check":
        assert (done.returncode, said in done.stdout) == (1, True)
    else:
        line = f"c4 {words[0]}: agent {agent!r} cannot be made: {said}\n"
        assert (done.returncode, done.stderr) == (2, line)


@pytest.mark.compiled
@pytest.mark.slow
def test_a_game_at_the_terminal_goes_on_to_its_forfeit(tmp_path):
    (tmp_path / "bad.py").write_text(HOSTILE)
    words = ["play", "bad.py:leaves", "greedy", "--no-record"]
    done = run_python("-m", "c4env.evaluation", *words, cwd=tmp_path, check=True)
    assert "bad.py:leaves (red x) forfeits: its process ended (exit code 7)" in done.stdout


@pytest.mark.compiled
@pytest.mark.slow
def test_what_agents_print_is_kept_apart_and_a_command_ends_when_their_threads_do_not(tmp_path):
    (tmp_path / "lingers.py").write_text(
        "import threading, time\n"
        "print('at import')\n"
        "def lingers(observation):\n"
        "    print('thinking')\n"
        "    threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "    return int(observation['action_mask'].argmax())\n"
    )
    command = [
        "-m",
        "c4env.evaluation",
        "run",
        "random",
        "lingers:lingers",
        "--quiet",
        "--openings",
        "0",
    ]
    done = run_python(*command, "--jobs", "2", "--format", "json", timeout=50, cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["games"] == 2
    assert "thinking" in done.stderr
    assert done.stderr.replace("at import", "").replace("thinking", "").strip() == ""
