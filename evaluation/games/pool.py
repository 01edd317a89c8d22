"""Worker processes that do tasks for this process, such as playing games.

Before each move, a worker writes whose turn it is to memory that its parent reads. If a worker
dies, the parent starts another worker, which does the task once more. If that worker dies too, or
an agent is late, the task is lost, and the player whose turn it was is to blame.
"""

from __future__ import annotations

import atexit
import ctypes
import mmap
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Literal, NamedTuple

from joblib.externals.loky.backend.context import get_context
from joblib.externals.loky.backend.reduction import dumps

from c4env.cores import usable_cores
from c4env.errors import C4Error, InvalidOption, Unavailable
from c4env.evaluation.games.processes import sigint_blocked

SLACK: Final = 1.0  # seconds beyond a limit after which the parent ends the worker
CLOSING: Final = 2.0  # seconds that agents have to close
BATCH: Final = 16  # the most tasks that wait at a worker
BATCH_SECONDS: Final = 0.3  # intended duration of the tasks that wait at a worker

Task = tuple[Any, ...]  # the arguments of a function


class Clock(NamedTuple):
    """The time limit of a move. A move longer than ``movetime + margin`` forfeits the game."""

    movetime: float  # seconds per move, which agents know
    margin: float  # additional seconds, for measuring and a busy machine

    def late(self, seconds: float) -> str:
        """Return the reason why a move of ``seconds`` forfeits, or ""."""
        if seconds <= self.movetime + self.margin:
            return ""
        limits = f"the limit is {self.movetime:g} s plus a margin of {self.margin:g} s"
        return f"{seconds:.3f} s for a move; {limits}"


class Lost(NamedTuple):
    """The end of a task that its worker did not survive."""

    ending: Literal["time", "crash"]
    reason: str
    turn: Turn  # whose turn it was


class Turn(ctypes.Structure):
    """Whose turn it is in a worker, and the game so far, in memory that the parent reads."""

    _fields_ = (
        ("whose", ctypes.c_int64),  # 1 + the player whose code runs; 0 if no player's code runs
        ("since", ctypes.c_double),  # when its move began, by time.monotonic(); 0 without a limit
        ("nodes", ctypes.c_int64 * 2),  # positions that each player has searched
        ("seconds", ctypes.c_double * 2),  # time that each player has taken
        ("count", ctypes.c_int64),
        ("played", ctypes.c_int8 * 64),  # columns, of which the first ``count`` count
    )
    whose: int
    since: float
    nodes: Any
    seconds: Any
    count: int
    played: Any

    def belongs_to(self, seat: int) -> None:
        """Note that a player's code runs from now on, without a limit of time."""
        self.since, self.whose = 0.0, 1 + seat

    def ends(self) -> None:
        """Note that no player's code runs."""
        self.since, self.whose = 0.0, 0

    def begin(self, columns: Sequence[int] = ()) -> None:
        """Note the beginning of a game after some columns."""
        self.nodes[:], self.seconds[:] = (0, 0), (0.0, 0.0)
        self.count = len(columns)
        self.played[: self.count] = columns

    def asks(self, seat: int) -> None:
        """Note that a player begins to think about a move."""
        self.whose, self.since = 1 + seat, time.monotonic()

    def answered(self, seat: int, column: int, nodes: int, seconds: float) -> None:
        """Note the column of a player, and its totals."""
        self.ends()
        self.nodes[seat], self.seconds[seat] = nodes, seconds
        self.played[self.count] = column
        self.count += 1

    @property
    def seat(self) -> int | None:
        """The player whose code runs; None if no player's code runs."""
        return self.whose - 1 if self.whose else None

    @property
    def columns(self) -> list[int]:
        """The columns of the game so far."""
        return list(self.played[: self.count])


class _Here(threading.local):
    """The turn of this thread, and whether this process is a worker."""

    worker = False

    def __init__(self) -> None:
        self.turn = Turn()


here: Final = _Here()


class Worker:
    """A process that does tasks in order.

    Attributes:
        given: the tasks that it has not finished.
        turn: whose turn it is there.
    """

    def __init__(self, threads: int = 1) -> None:
        context = get_context("loky")  # does not run the main script again
        self.pipe, theirs = context.Pipe()
        self.given: deque[Task] = deque()
        self._code: bytes | None = None
        handle, self._path = tempfile.mkstemp(prefix="c4-turn-")
        os.truncate(handle, ctypes.sizeof(Turn))
        self.turn = Turn.from_buffer(mmap.mmap(handle, ctypes.sizeof(Turn)))
        os.close(handle)
        own = {name: os.environ.get(name, str(threads)) for name in _THREADS}
        self.process: Any = context.Process(
            target=_work, args=(theirs, self._path, os.getpid()), daemon=True, env=own
        )
        with sigint_blocked():
            self.process.start()
        theirs.close()

    def give(self, code: bytes, tasks: Iterable[Task]) -> None:
        """Send a pickled function and the arguments of each call, such as texts and numbers."""
        tasks = list(tasks)
        self.given.extend(tasks)
        with suppress(OSError):  # a dead worker is noticed when its pipe is read
            self.pipe.send_bytes(pickle.dumps((None if code is self._code else code, tasks)))
        self._code = code

    def result(self) -> Any:
        """Wait for the result of the first task; EOFError or OSError: the process has ended."""
        good, found = pickle.loads(self.pipe.recv_bytes())
        self.given.popleft()
        if not good:
            raise found
        return found

    def end(self) -> None:
        """End the process, which closes its agents; an idle worker sees its pipe close."""
        self.pipe.close()
        if self.given:
            with suppress(OSError):
                self.process.terminate()

    def join(self) -> None:
        """Wait until the process has ended; kill it if that takes longer than CLOSING."""
        self.process.join(CLOSING)
        if self.process.exitcode is None:
            self.kill()
            self.process.join()
        with suppress(OSError):
            os.unlink(self._path)

    def kill(self) -> None:
        """End the process, whatever it does."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def late(self, clock: Clock | None) -> Lost | None:
        """Return the end of the first task if a player has spent its time and SLACK, or None."""
        if clock is None or not (since := self.turn.since):
            return None
        spent = time.monotonic() - since
        return self.lost("time", clock.late(spent)) if clock.late(spent - SLACK) else None

    def lost(self, ending: Literal["time", "crash"], reason: str) -> Lost:
        """Return the end of the first task, with the turn as it is now."""
        return Lost(ending, reason, Turn.from_buffer_copy(self.turn))

    def ending(self) -> str:
        """Describe how the process ended."""
        code = self.process.exitcode
        with suppress(ValueError):
            return f"its process ended ({signal.Signals(-(code or 0)).name})"
        return f"its process ended (exit code {code})"


def may_start_processes() -> bool:
    """Whether this process may have workers; a daemonic process of multiprocessing may not."""
    return not multiprocessing.current_process().daemon


def do_all(
    function: Callable[..., Any],
    tasks: Iterable[Task],
    jobs: int,
    clock: Clock | None = None,
    workers: list[Worker] | None = None,
) -> Generator[tuple[Task, Any], None, None]:
    """Do tasks on worker processes; yield each task with its result, or Lost, when it is done.

    Closing the generator ends the workers.

    Args:
        function: called in the workers with the arguments that a task has.
        tasks: the tasks. A task may be added to a deque while others are done.
        jobs: the most workers.
        clock: the limit of a move, after which the parent ends the worker.
        workers: idle workers; the list always has those that run.

    Raises:
        Unavailable: two workers died with the same task while no agent's code ran.
    """
    tasks = tasks if isinstance(tasks, deque) else deque(tasks)
    suspects: list[Task] = []  # tasks that have ended a worker
    pool = [] if workers is None else workers
    threads = max(1, usable_cores() // jobs)
    done, started = 0, time.monotonic()
    try:
        code = pickled(function)
        while tasks or any(worker.given for worker in pool):
            going = sum(bool(worker.given) for worker in pool)
            while len(pool) < min(jobs, going + len(tasks)):
                pool.append(Worker(threads))
            # The last tasks are given one by one, so that all workers end at about the same time.
            paced = BATCH_SECONDS * done / (time.monotonic() - started + 1e-9) / len(pool)
            size = max(1, int(min(BATCH, paced, len(tasks) / (4 * len(pool)))))
            for worker in pool:
                if tasks and len(worker.given) <= size // 2:
                    count = min(size - len(worker.given), len(tasks))
                    worker.give(code, [tasks.popleft() for _ in range(count)])
            busy = {worker.pipe: worker for worker in pool if worker.given}
            ready = wait(list(busy), 0.1 if clock else 1.0)
            for pipe, worker in busy.items():
                task, lost = worker.given[0], None
                if pipe in ready:
                    try:
                        result = worker.result()
                    except (EOFError, OSError):
                        pass  # the process has ended
                    else:
                        done += 1
                        yield task, result
                        continue
                else:
                    lost = worker.late(clock)
                    alive = lost is None and worker.process.exitcode is None
                    if alive or pipe.poll():  # the next round reads what it has sent
                        continue
                pool.remove(worker)
                if lost is not None:
                    worker.kill()
                worker.end()
                worker.join()
                again = list(worker.given)
                if lost is not None or any(task is suspect for suspect in suspects):
                    again.remove(task)
                    if worker.turn.seat is None:
                        raise Unavailable(f"a worker of this run failed: {worker.ending()}")
                    yield task, lost or worker.lost("crash", worker.ending())
                suspects.append(task)
                tasks.extendleft(reversed(again))
    finally:
        end_all(pool)


def end_all(workers: list[Worker]) -> None:
    """End workers, wait until they have ended, and empty the list."""
    for worker in workers:
        worker.end()
    for worker in workers:
        worker.join()
    workers.clear()


def pickled(thing: Any) -> bytes:
    """Pickle a function or agent for a worker."""
    try:
        return bytes(dumps(thing))
    except Exception as error:  # pickling calls the agent's code
        raise InvalidOption(
            f"an agent cannot be sent to a worker ({error}); give the agent by its import path, or "
            "play with jobs=1"
        ) from None


_THREADS: Final = tuple(
    f"{name}_NUM_THREADS"
    for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB", "NUMBA", "NUMEXPR")
)
"""Environment variables that limit the threads of a worker's libraries."""

# -- in the worker -----------------------------------------------------------------------


def _work(pipe: Connection, path: str, parent: int) -> None:
    """Do the tasks that the parent sends, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _leave())
    # An agent may start processes of its own.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    with suppress(OSError):
        os.dup2(2, 1)  # stdout is for the command's result
    sys.stdout = sys.stderr
    if os.name == "posix":  # elsewhere getppid() does not change when the parent dies
        threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    with open(path, "r+b") as file:
        here.turn = Turn.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(Turn)))
    here.worker = True
    with suppress(OSError):  # Windows keeps it until it is closed
        os.unlink(path)
    with suppress(EOFError, OSError):
        while True:
            code, tasks = pickle.loads(pipe.recv_bytes())
            for task in tasks:
                try:
                    if code is not None:
                        function, code = pickle.loads(code), None
                    found = True, function(*task)
                except C4Error as error:
                    found = False, error
                except BaseException:
                    found = False, RuntimeError(traceback.format_exc())
                here.turn.ends()
                pipe.send_bytes(pickle.dumps(found))
    _leave()


def _leave() -> None:
    """Close the agents, and end the process without waiting for their threads."""
    with suppress(BaseException):
        atexit._run_exitfuncs()
    os._exit(0)


def _leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
