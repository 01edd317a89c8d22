"""A pool of processes; each process answers one question at a time and can be interrupted.

An answer is a stream of messages, one for each part of the question. If the page stops listening,
the process gets no further part. A process that does not finish its part in time is killed and
replaced. A process gets its next question only after its last search has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from c4env.errors import EngineFault
from c4env.evaluation.games.players import Host
from c4env.evaluation.web.questions import Message, Question, parts, summary

GRACE: Final = 0.4  # seconds that a process has to end a search before the pool kills it
END: Final = None  # comes after the last message of an answer


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
        workers: the processes.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self.seconds = seconds
        self.waiting = 0
        self.workers: set[Host] = set()
        self._size = size
        self._closing = False
        self._idle: asyncio.Queue[Host] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(size, "worker")

    def start(self) -> None:
        """Start the processes; do not wait until they are ready."""
        for _ in range(self._size):
            self._start_worker()

    async def close(self) -> None:
        """End every process, even a busy one."""
        self._closing = True
        for task in self._tasks:
            task.cancel()
        for worker in list(self.workers):
            await self._kill(worker)
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
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.seconds
        coming: asyncio.Future[Message] | None = None
        found: list[Message] = []
        try:
            for part in parts(question):
                coming = loop.run_in_executor(self._threads, worker.call, *part)
                coming.add_done_callback(lambda done: done.exception())  # whoever listens
                found.append(await asyncio.wait_for(asyncio.shield(coming), deadline - loop.time()))
                put(found[-1])
                if found[-1]["type"] == "error":
                    return
            for message in summary(question, found):
                put(message)
        except TimeoutError:
            put({"type": "error", "error": f"no answer within {self.seconds:g} seconds"})
        except (EngineFault, OSError):
            put({"type": "error", "error": "the search process died; ask again"})
        finally:
            put(END)
            if not self._closing:
                # Recover in another task, which does not end when the listener leaves.
                self._begin(self._recover(worker, coming))

    async def _recover(self, worker: Host, coming: asyncio.Future[Message] | None) -> None:
        """Make a process idle when its search has ended, or replace the process."""
        try:
            if coming is not None:
                await asyncio.wait_for(asyncio.shield(coming), GRACE)
            self._idle.put_nowait(worker)
        except (EngineFault, OSError):  # a timeout is an OSError
            await self._kill(worker)
            if not self._closing:
                self._start_worker()

    def _start_worker(self) -> None:
        worker = Host("c4env.evaluation.web.questions")
        self.workers.add(worker)
        self._idle.put_nowait(worker)

    async def _kill(self, worker: Host) -> None:
        self.workers.discard(worker)
        await asyncio.to_thread(worker.close)
