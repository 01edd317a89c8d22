"""Processes that each answer one question at a time, and can be stopped in the middle.

An answer is a stream of messages. Whoever stops listening stops the search: the process is
asked to leave it, and where it does not within a moment it is killed and replaced. So no
process is ever given a question while it is at work on another's.
"""

from __future__ import annotations

import asyncio
import faulthandler
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, Final

from evaluation.games.processes import Interruption, sigint_blocked
from evaluation.web.questions import Desk, Message, Question

GRACE: Final = 0.4  # seconds a process has to leave a search before it is killed
_END: Final = None  # stands after the last message of an answer


class Answer:
    """Messages as they come. Whoever no longer wants them calls :meth:`stop`."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None

    async def next(self, seconds: float) -> Message | None:
        """The next message; None after the last.

        Raises:
            TimeoutError: none came within so many seconds.
        """
        return await asyncio.wait_for(self.messages.get(), seconds)

    def stop(self) -> None:
        """End the search, or the wait for a process; nothing to do for a complete answer."""
        if self.task is not None:
            self.task.cancel()


class Pool:
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
            self._idle.put_nowait(self._hire())

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
        answer = Answer()
        answer.task = asyncio.get_running_loop().create_task(self._answer(question, answer))
        self._tasks.add(answer.task)
        answer.task.add_done_callback(self._tasks.discard)
        return answer

    async def _answer(self, question: Question, answer: Answer) -> None:
        self.waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self.waiting -= 1
        put = answer.messages.put_nowait
        put({"type": "started"})
        deadline = asyncio.get_running_loop().time() + self.seconds
        finished = False
        try:
            worker.send(question)
            while (message := await worker.receive(deadline)) is not _END:
                put(message)
            finished = True
        except TimeoutError:
            put({"type": "error", "error": f"no answer within {self.seconds:g} seconds"})
        except (EOFError, OSError):
            put({"type": "error", "error": "the process that searched died; ask again"})
        finally:
            put(_END)
            self._idle.put_nowait(worker if finished else await self._recovered(worker))

    def _hire(self) -> _Worker:
        worker = _Worker(self._threads, self.seconds)
        self._all.add(worker)
        return worker

    async def _recovered(self, worker: _Worker) -> _Worker:
        """A free process in place of one that was stopped in a search: itself, if it leaves it."""
        try:
            worker.interrupt()
            deadline = asyncio.get_running_loop().time() + GRACE
            while await worker.receive(deadline) is not _END:
                pass
        except (TimeoutError, EOFError, OSError):
            self._all.discard(worker)
            await worker.kill()
            return worker if self._closing else self._hire()
        return worker


class _Worker:
    """A process, seen from the server."""

    def __init__(self, threads: ThreadPoolExecutor, seconds: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._threads = threads
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, seconds), daemon=True)
        with sigint_blocked():  # until it is ready for it
            self._process.start()
        theirs.close()
        self._coming: asyncio.Future[Any] | None = None

    def send(self, question: Question) -> None:
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

    def interrupt(self) -> None:
        if self._process.pid is not None and hasattr(signal, "pthread_sigmask"):
            os.kill(self._process.pid, signal.SIGINT)

    async def kill(self) -> None:
        self._process.kill()
        if self._coming is not None:
            await asyncio.gather(self._coming, return_exceptions=True)
        await asyncio.to_thread(self._process.join)
        self._connection.close()


# -- in the process -----------------------------------------------------------------------


class _Stopped(Interruption):
    """The search is to be left."""


class _Switch:
    """Answers SIGINT: it leaves the search in hand, and does nothing between searches."""

    def __init__(self) -> None:
        self.searching = False
        signal.signal(signal.SIGINT, self)
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.searching:
            self.searching = False
            raise _Stopped


def _serve(connection: Connection, seconds: float) -> None:
    """Answer questions until the server is gone."""
    switch = _Switch()
    desk = Desk()
    with open(os.devnull, "w") as nowhere, suppress(EOFError, BrokenPipeError):
        while True:
            question = connection.recv()
            # Ends the process even in native code, should the server be gone by then.
            faulthandler.dump_traceback_later(seconds + 10, exit=True, file=nowhere)
            for message in _until_stopped(desk, question, switch):
                connection.send(message)
            faulthandler.cancel_dump_traceback_later()
            connection.send(_END)
    desk.clear_agents()


def _until_stopped(desk: Desk, question: Question, switch: _Switch) -> Iterator[Message]:
    messages = desk.answer(question)
    while True:
        try:
            switch.searching = True
            message = next(messages, _END)
            switch.searching = False
        except _Stopped:
            desk.clear_agents()
            return
        if message is _END:
            return
        yield message
