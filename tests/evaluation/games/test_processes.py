from __future__ import annotations

import os
import signal
import threading

import pytest
from joblib.externals.loky import ProcessPoolExecutor, process_executor

from c4env.evaluation.games.processes import (
    _Settings,
    one_interrupt,
    quiet_shutdown,
    sigint_blocked,
)
from tests.helpers.processes import run_python, start_python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")

ASK = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


def hears_nothing():
    return run_python("-c", ASK, check=True).stdout == "True\n"


def test_processes_started_deaf_stay_deaf():
    with sigint_blocked():
        assert hears_nothing()
    assert not hears_nothing()


def test_an_interrupt_is_heard_once():
    before = signal.getsignal(signal.SIGINT)
    tidied = []

    def interrupted_twice():
        with one_interrupt():
            try:
                os.kill(os.getpid(), signal.SIGINT)
            finally:
                os.kill(os.getpid(), signal.SIGINT)  # would break off the tidying up
                tidied.append(True)

    with pytest.raises(KeyboardInterrupt):
        interrupted_twice()
    assert tidied
    assert signal.getsignal(signal.SIGINT) is before


def test_somebody_elses_handler_is_left_alone():
    def mine(*_: object) -> None: ...

    before = signal.signal(signal.SIGINT, mine)
    try:
        with one_interrupt():
            assert signal.getsignal(signal.SIGINT) is mine
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def test_settings_that_nobody_changed_hold(monkeypatch):
    before = _Settings.now()  # asked directly: to restore what holds shows in nothing but time
    assert before.holds()
    monkeypatch.setenv("C4ENV_TEST", "1")
    assert not before.holds()


def test_a_worker_leaves_when_its_parent_is_killed():
    worker = (
        "import os, sys, time; from c4env.evaluation.games.processes import exit_with_parent;"
        "exit_with_parent(os.getppid()); print('started', flush=True); time.sleep(60)"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {worker!r}])"
    process = start_python("-c", parent, stderr=None)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.kill()
    process.wait()
    assert process.stdout.read() == ""  # it ends when the worker, who holds it too, has left
    process.stdout.close()


def test_a_worker_that_grows_is_not_replaced():
    """joblib ends workers that grow by 300 MB, if psutil is installed."""
    worker = (
        "import os; from joblib.externals.loky import process_executor as workers;"
        "assert workers._USE_PSUTIL in (True, False);"
        "from c4env.evaluation.games.processes import exit_with_parent;"
        "exit_with_parent(os.getppid()); print(workers._USE_PSUTIL)"
    )
    process = start_python("-c", worker)
    assert process.communicate()[0] == "False\n"


def test_an_interrupt_while_processes_start_waits_until_they_have():
    started = []

    def interrupted():
        with sigint_blocked():
            signal.raise_signal(signal.SIGTERM)  # not blocked, so that Python hears it at once
            started.append(True)

    def stop(number, _):
        raise InterruptedError(number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(InterruptedError):
            interrupted()
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)
    assert started


def test_importing_the_workers_changes_nobodys_warnings():
    said = run_python(
        "-c",
        "import c4env.evaluation.games.game, joblib, warnings; before = list(warnings.filters);"
        "import c4env.evaluation.games.workers; print(warnings.filters == before)",
        check=True,
    )
    assert said.stdout == "True\n"


def test_workers_that_have_seen_no_task_end_in_silence(monkeypatch):
    said: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda error: said.append(error.exc_type))
    manager = process_executor._ExecutorManagerThread
    hand_out = manager.add_call_item_to_queue

    def late(self):  # the thread sees a task when it is told to stop, and not before
        if self.executor_flags.shutdown:
            hand_out(self)

    monkeypatch.setattr(manager, "add_call_item_to_queue", late)
    with sigint_blocked():
        pool = ProcessPoolExecutor(1)
        future = pool.submit(os.getpid)
    with quiet_shutdown():
        pool.shutdown(wait=True, kill_workers=True)
        other = threading.Thread(target=int, args=("x",))  # an error of somebody else's is said
        other.start()
        other.join()
    assert future.exception() is not None
    assert said == [ValueError]
