"""The processes of this machine that play: a pool of our own, which leaves nothing behind."""

from __future__ import annotations

import os

import joblib
import pytest

from c4env.evaluation.games import backends
from c4env.evaluation.games.backends import as_they_end, dismiss_processes
from tests.helpers.processes import run_python

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_processes_before_or_after():
    dismiss_processes()
    yield
    dismiss_processes()


def workers(jobs):
    return set(as_they_end(os.getpid, [()] * 20, jobs))


def test_processes_are_kept_for_the_next_call_of_as_many_workers():
    assert os.getpid() not in (first := workers(1))
    assert workers(1) == first
    assert workers(2).isdisjoint(first)


def test_processes_that_ended_between_two_calls_are_replaced():
    (first,) = workers(1)
    os.kill(first, 9)
    backends._Processes.kept._executor_manager_thread.join()  # which learns of it
    (second,) = workers(1)
    assert second != first


def test_a_program_can_use_joblib_itself_beside_a_run():
    """joblib keeps one pool a program, and refuses one that it has not made."""
    (ours,) = workers(1)
    parallel = joblib.Parallel(n_jobs=2)
    theirs = set(parallel(joblib.delayed(os.getpid)() for _ in range(20)))
    assert ours not in theirs
    assert workers(1) == {ours}
    assert set(parallel(joblib.delayed(os.getpid)() for _ in range(20))) <= theirs


LATE = """
import sys, threading, time
from multiprocessing import util
from joblib.externals.loky.backend import queues, resource_tracker
from c4env.evaluation.__main__ import main

forget, feed, finalize = resource_tracker.unregister, queues.Queue._feed, util._run_finalizers
begun = threading.Event()

def late(*lock):
    if threading.current_thread().name == "QueueFeederThread":
        begun.set()
        time.sleep(0.5)
    forget(*lock)

def slow(*queue):
    feed(*queue)
    time.sleep(0.5)

def meanwhile(*chosen):
    begun.wait(10)
    finalize(*chosen)

resource_tracker.unregister = late
queues.Queue._feed = staticmethod(slow)
util._run_finalizers = meanwhile
sys.argv[1:] = ["run", "random", "greedy", "--openings", "1", "--jobs", "2", "--quiet"]
main()
"""


def test_a_command_ends_after_its_locks_are_removed():
    """A pool's thread removes a lock at its end; joblib's tracker complains of half a removal."""
    said = run_python("-c", LATE)
    assert (said.returncode, said.stderr) == (0, "")
