"""Work on a cluster: batches, and what is a machine's fault and not an agent's.

The engines themselves play on this machine, in the slow tests; here stand-ins do in this process.
"""

import os
import pickle
import platform
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import chdir, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from c4env import evaluation
from c4env.errors import InvalidOption, Unavailable
from c4env.evaluation.records.game import digest
from c4env.evaluation.records.run_folder import read_folder
from c4env.evaluation.runs import cluster
from c4env.evaluation.runs.cluster import GamesTask, Unfit, close_kept, spread, work
from c4env.evaluation.runs.players import name_players
from c4env.evaluation.runs.referee import Referee
from c4env.evaluation.runs.run import Settings
from tests.helpers.policies import first_legal
from tests.helpers.processes import environment, lines_of, start_python, wait_for_lines


class Fake:
    """An engine whose workers take turns in this process; one by the name "ill" is unfit."""

    names = ("well", "ill")

    def __init__(self, *_):
        self.sizes, self.closed = [], None

    def workers(self):
        return dict.fromkeys(self.names, 1)

    def submit(self, task, items, only):
        self.sizes.append(len(items))
        names = only or self.names
        worker = names[len(self.sizes) % len(names)]
        return partial(work, worker, partial(task, worker), items)

    def first(self, futures):
        return futures[-1]  # in another order

    def result(self, future):
        return future()

    def close(self, futures):
        self.closed = len(futures)


@pytest.fixture
def engine(monkeypatch):
    made = Fake()
    monkeypatch.setattr(cluster, "_connected", lambda *_: made)
    return made


def double(worker, items):
    for number in items:
        if worker == "ill" and number > 5:
            raise Unfit("it lacks a library")
        yield 2 * number


def test_the_batches_of_an_unfit_worker_are_done_elsewhere(engine, capsys):
    assert sorted(spread(double, range(40), "dask")) == [*range(0, 80, 2)]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(": it lacks a library; this worker gets no more work")
    assert min(engine.sizes) >= 1
    assert max(engine.sizes) <= 40 // 4
    assert engine.closed == 0


def test_without_a_fit_worker_the_work_ends_and_says_why(engine, monkeypatch):
    engine.names = ("ill",)
    with pytest.raises(Unavailable, match=r": it lacks a library$"):
        [*spread(double, range(40), "dask")]
    engine.names = ()
    monkeypatch.setattr(cluster, "PATIENCE", 0)
    with pytest.raises(Unavailable, match="dask has had no worker for 0 s"):
        [*spread(double, range(4), "dask")]


def test_what_an_engine_raises_ends_the_work_in_a_line(engine):
    def dies(worker, items):
        raise RuntimeError("the worker\ndied")

    with pytest.raises(Unavailable, match=r"^a worker of ray failed: the worker died$"):
        [*spread(dies, range(4), "ray")]
    with closing(spread(double, range(9), "ray")) as results:
        next(results)
    assert engine.closed > 0  # what still ran


def game_task(field, fixtures, **changes):
    """The task of a run as it arrives at a worker."""
    with closing(Referee(name_players(field))) as referee:
        task = GamesTask.of(referee, {name: referee.traits(name) for name in field}, "header")
    return work("w", pickle.loads(pickle.dumps(replace(task, **changes))), fixtures)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    close_kept()


def test_a_worker_plays_what_the_run_plays_and_keeps_its_agents(folder):
    players = {"one": "greedy", "two": "mcts:simulations=10", "three": first_legal}
    result = evaluation.round_robin(players, ["4", "1"], seed=3)
    fixtures = result.header.schedule()
    assert digest(game_task(players, fixtures, seed=3).results) == result.digest
    (kept,) = cluster._kept.values()
    again = game_task(players, fixtures[:1], seed=3)
    assert [*cluster._kept.values()] == [kept]
    assert again.results[0].host == again.results[0].values()["host"] != ""
    game_task(players, fixtures[:1], run="another run")
    assert [*cluster._kept.values()] != [kept]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("version", "it has c4env .*: expected another version"),
        ("file", "agent 'own': own.py is another file than the run's"),
        ("module", "agent 'own': .*No module named 'helper'"),
    ],
)
def test_a_worker_that_differs_is_unfit_and_plays_no_game(folder, change, words, monkeypatch):
    (folder / "own.py").write_text("import helper\ndef agent(seen):\n    return 3\n")
    (folder / "helper.py").write_text("")
    field = {"own": "own.py", "random": "random"}
    with closing(Referee(name_players(field))) as referee:
        task = GamesTask.of(referee, {name: referee.traits(name) for name in field}, "header")
    if change == "version":
        task = replace(task, share="another version")
    elif change == "file":
        (folder / "own.py").write_text("import helper\ndef agent(seen):\n    return 2\n")
    else:
        (folder / "helper.py").unlink()
    done = work("w", task, [(("own", "random"), "")])
    assert done.results == []
    assert done.unfit.startswith(platform.node())
    assert re.search(words, done.unfit)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"backend": "spark"}, "backend='spark': expected dask or ray"),
        ({"address": "here"}, "address='here': only the backend dask or ray takes an address"),
    ],
)
def test_a_backend_is_an_engine(options, words):
    with pytest.raises(InvalidOption, match=words):
        Settings(**options)


# -- the engines ------------------------------------------------------------------------------

SLOW = """import time
def agent(seen):
    time.sleep(0.02)
    return seen["action_mask"].argmax()
"""
HEADS = {
    "dask": "dask scheduler --host 127.0.0.1 --port {port} --no-dashboard",
    "ray": "ray start --head --port {port} --node-ip-address 127.0.0.1 --num-cpus 0 "
    "--include-dashboard false --block",
}
WORKERS = {
    "dask": "dask worker tcp://127.0.0.1:{port} --nthreads 1 --no-nanny --no-dashboard",
    "ray": "ray start --address 127.0.0.1:{port} --node-ip-address 127.0.0.1 --num-cpus 1 --block",
}
STARTED = {"dask": ("Scheduler at:", "Registered to:"), "ray": ("Ray runtime started",) * 2}
VARIABLES = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_period_ms": "1000",  # sooner than as it comes: who is dead
    "RAY_health_check_failure_threshold": "3",
    "PYTHONUNBUFFERED": "1",
}


@contextmanager
def cluster_of(engine, logs, *workers):
    """Start a cluster with a worker in each folder, with the variables beside it."""
    pytest.importorskip("distributed" if engine == "dask" else "ray")
    started = []
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]

    def start(words, said, **variables):
        command = words.format(port=port).split()
        command[0] = os.path.join(os.path.dirname(sys.executable), command[0])
        variables = environment(**VARIABLES, **variables)
        options = {"env": variables, "stderr": subprocess.STDOUT, "start_new_session": True}
        log = logs / f"log{len(started)}"  # its own: others go on to write theirs
        with open(log, "w") as file:
            started.append(subprocess.Popen(command, stdout=file, **options))
        while said not in log.read_text():  # one after the other: Ray's choose their ports
            assert started[-1].poll() is None, log.read_text()
            time.sleep(0.05)

    try:
        start(HEADS[engine], STARTED[engine][0])
        for folder, variables in workers:
            with chdir(folder):
                start(WORKERS[engine], STARTED[engine][1], **variables)
        prefix = "tcp://" if engine == "dask" else ""
        yield SimpleNamespace(address=f"{prefix}127.0.0.1:{port}", workers=started[1:])
    finally:
        for process in started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_a_run_outlives_a_worker_and_refuses_machines_that_differ(engine, tmp_path):
    """One worker has another file, one lacks a module, one of two others is killed."""
    fine, other = tmp_path / "fine", tmp_path / "other"
    library = tmp_path / "library"
    for place in (fine, other, library):
        place.mkdir()
        (place / "mine.py").write_text(f"import helper\n{SLOW}")
    (library / "helper.py").write_text("")
    (other / "mine.py").write_text(f"import helper\n{SLOW.replace('argmax()', 'argmax() * 1')}")
    path = {"PYTHONPATH": os.pathsep.join([str(library), environment()["PYTHONPATH"]])}
    command = "-m", "c4env.evaluation", "run", "mine.py", "greedy", "--openings", "2", "--quiet"
    workers = (other, path), (fine, {}), (fine, path), (fine, path)
    with cluster_of(engine, tmp_path, *workers) as its:
        where = "--out", "out", "--backend", engine, "--address", its.address
        run = start_python(*command, *where, cwd=fine, env=environment(**VARIABLES, **path))
        wait_for_lines(run, fine / "out" / "games.jsonl", 4)
        os.killpg(its.workers[-1].pid, signal.SIGKILL)
        out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert "mine.py is another file than the run's; this worker" in err
    assert "No module named 'helper'" in err
    games = read_folder(fine / "out")[1]
    assert lines_of(fine / "out" / "games.jsonl") == len(games) == 50
    assert {game.ending for game in games} <= {"four", "full board"}
    here = start_python(*command, cwd=fine, env=environment(**path)).communicate()[0]
    assert out.splitlines()[-2].split("digest ")[1] == here.splitlines()[-1].split("digest ")[1]
