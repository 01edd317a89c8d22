"""A pool of processes; each process answers one question at a time and can be interrupted.

An answer is a stream of messages. If the page stops listening, the pool tells the process to stop
the search, and the process stops at its next message. The pool kills and replaces a process that
does not stop in time. A process gets its next question only after its last search has ended.
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

GRACE: Final = 0.4  # seconds that a process has to stop a search before the pool kills it
END: Final = None  # comes after the last message of an answer
STOP: Final = None  # sent to a process instead of a question: stop the search


class Answer(NamedTuple):
    """A queue for an answer's messages and then END; cancel the task to stop the search."""

    messages: asyncio.Queue[Message | None]
    task: asyncio.Task[None]


class QuestionPool:
    """A pool of processes, with a queue of questions that wait for a process.

    Args:
        size: number of processes.
        seconds: time limit of an answer, from the start of its search.

    Attributes:
        waiting: number of questions that wait for a process.
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
        """Start the processes; do not wait until they are ready."""
        for _ in range(self._size):
            self._idle.put_nowait(self._start_worker())

    async def close(self) -> None:
        """End every process, even a busy one."""
        self._closing = True
        for task in self._tasks:
            task.cancel()
        for worker in list(self._all):
            await worker.kill()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._threads.shutdown()

    def ask(self, question: Question) -> Answer:
        """Begin an answer; its last message is an ``error`` if the process is too slow or dies."""
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
            put({"type": "error", "error": "the search process died; ask again"})
        finally:
            put(END)
            if finished:
                self._idle.put_nowait(worker)
            elif not self._closing:
                # Recover in another task, which does not end when the listener leaves.
                self._begin(self._recover(worker))

    async def _recover(self, worker: _Worker) -> None:
        """Stop a process's search and make the process idle, or replace the process."""
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
    """The server's handle to a process."""

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
        """Wait for the next message; after a timeout or cancellation, call again for it.

        Args:
            deadline: time on the event loop's clock.

        Raises:
            TimeoutError: no message came before ``deadline``.
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
    """Answer questions until the server closes the connection."""
    cache = RecentAgents()
    with open(os.devnull, "w") as nowhere, suppress(EOFError, BrokenPipeError):
        while True:
            question = connection.recv()
            if question is STOP:  # the search had already ended
                continue
            # If the server has ended by then, this ends the process, even in native code.
            faulthandler.dump_traceback_later(seconds + 10, exit=True, file=nowhere)
            for message in answers(cache, question):
                connection.send(message)
                if connection.poll():  # the message is STOP
                    break
            faulthandler.cancel_dump_traceback_later()
            connection.send(END)
    cache.clear()
