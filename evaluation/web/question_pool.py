"""Processes that each answer one question at a time, and can be stopped in the middle.

An answer is a stream of messages. Whoever stops listening stops the search: the process is
told to leave it, which it does at its next message; where it does not within a moment it is
killed and replaced. So no process is ever given a question while it is at work on another's.
"""

from __future__ import annotations

import asyncio
import faulthandler
import multiprocessing
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple

from c4env.evaluation.games.processes import sigint_blocked
from c4env.evaluation.web.questions import Message, Question, RecentAgents, answers

GRACE: Final = 0.4  # seconds a process has to leave a search before it is killed
END: Final = None  # stands after the last message of an answer
STOP: Final = None  # sent to a process in place of a question: leave the one in hand


class Answer(NamedTuple):
    """Messages as they come, END after the last. Who no longer wants them cancels the task."""

    messages: asyncio.Queue[Message | None]
    task: asyncio.Task[None]


class QuestionPool:
    """So many processes, and the questions that wait for one of them.

    Args:
        size: processes.
        seconds: the longest an answer may take once its search has begun.

    Attributes:
        waiting: questions that no process has taken up yet.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self.seconds = seconds
        self.waiting = 0
        self._size = size
        self._closing = False
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._all: set[_Worker] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(size, "worker")

    def start(self) -> None:
        """Start the processes; they are ready some moments later."""
        for _ in range(self._size):
            self._idle.put_nowait(self._start_worker())

    async def close(self) -> None:
        """End every process, whatever it is doing."""
        self._closing = True
        for task in self._tasks:
            task.cancel()
        for worker in list(self._all):
            await worker.kill()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._threads.shutdown()

    def ask(self, question: Question) -> Answer:
        """Begin to answer. The last message is an ``error`` where the search takes too long
        or its process dies.
        """
        messages: asyncio.Queue[Message | None] = asyncio.Queue()
        return Answer(messages, self._begin(self._answer(question, messages.put_nowait)))

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _answer(self, question: Question, put: Callable[[Message | None], None]) -> None:
        self.waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self.waiting -= 1
        put({"type": "started"})
        deadline = asyncio.get_running_loop().time() + self.seconds
        finished = False
        try:
            worker.send(question)
            while (message := await worker.receive(deadline)) is not END:
                put(message)
            finished = True
        except TimeoutError:
            put({"type": "error", "error": f"no answer within {self.seconds:g} seconds"})
        except (EOFError, OSError):
            put({"type": "error", "error": "the process that searched died; ask again"})
        finally:
            put(END)
            if finished:
                self._idle.put_nowait(worker)
            elif not self._closing:
                # A task of its own, which whoever stops listening does not stop.
                self._begin(self._recover(worker))

    async def _recover(self, worker: _Worker) -> None:
        """Make a process that was stopped in a search free again, or start one in its place."""
        try:
            worker.send(STOP)
            deadline = asyncio.get_running_loop().time() + GRACE
            while await worker.receive(deadline) is not END:
                pass
        except (TimeoutError, EOFError, OSError):
            self._all.discard(worker)
            await worker.kill()
            if self._closing:
                return
            worker = self._start_worker()
        self._idle.put_nowait(worker)

    def _start_worker(self) -> _Worker:
        worker = _Worker(self._threads, self.seconds)
        self._all.add(worker)
        return worker


class _Worker:
    """A process, seen from the server."""

    def __init__(self, threads: ThreadPoolExecutor, seconds: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._threads = threads
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, seconds), daemon=True)
        with sigint_blocked():
            self._process.start()
        theirs.close()
        self._coming: asyncio.Future[Any] | None = None

    def send(self, question: Question | None) -> None:
        self._connection.send(question)

    async def receive(self, deadline: float) -> Any:
        """The next message; cancelled or too late, it loses none.

        Raises:
            TimeoutError: it has not come when the loop's clock shows ``deadline``.
            EOFError: the process has died.
        """
        loop = asyncio.get_running_loop()
        if self._coming is None:
            self._coming = loop.run_in_executor(self._threads, self._connection.recv)
        message = await asyncio.wait_for(asyncio.shield(self._coming), deadline - loop.time())
        self._coming = None
        return message

    async def kill(self) -> None:
        self._process.kill()
        if self._coming is not None:
            await asyncio.gather(self._coming, return_exceptions=True)
        await asyncio.to_thread(self._process.join)
        self._connection.close()


# -- in the process -----------------------------------------------------------------------


def serve(connection: Connection, seconds: float) -> None:
    """Answer questions until the server is gone."""
    cache = RecentAgents()
    with open(os.devnull, "w") as nowhere, suppress(EOFError, BrokenPipeError):
        while True:
            question = connection.recv()
            if question is STOP:  # it came after the last message of what it was to stop
                continue
            # Ends the process even in native code, should the server be gone by then.
            faulthandler.dump_traceback_later(seconds + 10, exit=True, file=nowhere)
            for message in answers(cache, question):
                connection.send(message)
                if connection.poll():  # to be stopped
                    break
            faulthandler.cancel_dump_traceback_later()
            connection.send(END)
    cache.clear()
