"""Answer the page's questions to agents and the solver in processes that can be stopped.

    {"kind": "move", "agent": "greedy", "moves": "44"}    {"type": "move", "column": 4, ...}
    {"kind": "scores", "moves": "44"}                     {"type": "scores", "scores": [...]}

A question is one request to one process. A question has all data that its answer needs, so no
answer depends on earlier questions. If an answer is late or not wanted any more, its process is
killed, and the next question starts another process. A spec that names other people's code has
separate processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from c4env import agents
from c4env.agents.base import Agent, SearchingAgent, SearchResult
from c4env.agents.making.spec import Spec
from c4env.errors import C4Error, EngineFault, LateAnswer, describe_error
from c4env.evaluation.runs.agent_process import seed_generators, take_path
from c4env.evaluation.runs.play_game import game_seed
from c4env.evaluation.runs.remote_agent import AgentProcess
from c4env.evaluation.runs.turn import Forfeit, ask, begin
from c4env.evaluation.web.allowlist import MEMORY, is_loaded, plain, reserved_mb
from c4env.position import Position, format_moves

GRACE: Final = 0.4  # seconds until a cancelled search is killed
AGENTS_KEPT: Final = 8  # the most agents that a process keeps; fewer if their tables exceed MEMORY
SOLVER_MB: Final = 64

Message = dict[str, Any]
"""A JSON line to the page; ``type`` is the kind of the message, and columns count from 1."""


class Question(NamedTuple):
    """A question about a position, or about the positions of a game."""

    kind: str  # a key of ANSWERS
    agent: str = ""  # the agent's spec, or "" for the solver
    moves: str = ""  # 1-based columns from the empty board
    seed: int = 0  # seed of the game, for stochastic agents
    since: int = 0  # discs in the first position that the question is about


class ProcessPool:
    """Processes that answer questions, and the questions that wait.

    Args:
        size: number of questions that are answered at a time.
        seconds: time limit of an answer, from the start of its search.

    Attributes:
        waiting: number of questions that wait.
        processes: for each question at a time, the processes by the spec of their agent. The key
            "" is the process of this project's agents. A process starts at its first question.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self.seconds = seconds
        self.waiting = 0
        self.processes = [{"": AgentProcess(__name__)} for _ in range(size)]
        # The process that answered last is taken first, because its agents are made.
        self._idle: asyncio.Queue[dict[str, AgentProcess]] = asyncio.LifoQueue()
        for processes in self.processes:
            self._idle.put_nowait(processes)
        self._threads = ThreadPoolExecutor(size, "question")

    async def prepare(self) -> None:
        """Load every agent. Another process compiles first, so that this process can answer."""
        if is_loaded():
            return
        processes = await self._idle.get()
        loop = asyncio.get_running_loop()
        compiled = loop.run_in_executor(
            self._threads, lambda: processes[""].call(*Question("values"))
        )
        compiled.add_done_callback(lambda _: self._idle.put_nowait(processes))
        with contextlib.suppress(EngineFault):  # then this process compiles
            await asyncio.shield(compiled)
        await asyncio.to_thread(plain)

    async def ask(self, question: Question, started: asyncio.Event) -> Message:
        """Return the answer, or an ``error`` if the process is late or dies.

        If the call is cancelled, the search is killed unless it ends within GRACE.

        Args:
            question: the question.
            started: an event to set when the search starts.
        """
        self.waiting += 1
        try:
            processes = await self._idle.get()
        finally:
            self.waiting -= 1
        started.set()
        agent = question.agent
        own = agent if agent and Spec.parse(agent).runs == "own" else ""
        process = processes.setdefault(own, AgentProcess(__name__))
        loop = asyncio.get_running_loop()
        search = loop.run_in_executor(self._threads, self._search, process, question)
        search.add_done_callback(lambda _: self._idle.put_nowait(processes))
        try:
            return await asyncio.shield(search)
        except asyncio.CancelledError:
            loop.call_later(GRACE, self._stop, process, search)
            raise

    def _stop(self, process: AgentProcess, search: asyncio.Future[Message]) -> None:
        if not search.done():
            process.stop()

    def _search(self, process: AgentProcess, question: Question) -> Message:
        try:
            message: Message = process.call(*question, seconds=self.seconds)
        except LateAnswer:
            message = {"type": "error", "error": f"no answer within {self.seconds:g} seconds"}
        except EngineFault:
            message = {"type": "error", "error": "the search process died; ask again"}
        return message

    async def close(self) -> None:
        """End every process, even a busy one."""
        for process in (process for processes in self.processes for process in processes.values()):
            await asyncio.to_thread(process.close)
        await asyncio.to_thread(self._threads.shutdown)


class RecentAgents:
    """The agents and the solver that a process keeps between questions."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}

    def agent(self, spec: str) -> Agent:
        """Return the agent of a spec; make the agent if the process does not keep it."""
        if spec in self._agents:
            self._agents[spec] = self._agents.pop(spec)  # most recently used last
            return self._agents[spec]
        needed = reserved_mb(spec)
        # Close old agents before making the new one, so that their tables never exceed MEMORY.
        while self._agents and (
            len(self._agents) >= AGENTS_KEPT
            or needed + sum(map(reserved_mb, self._agents)) > MEMORY
        ):
            self._agents.pop(next(iter(self._agents))).close()
        take_path(Spec.parse(spec))
        agent = self._agents[spec] = agents.make(spec)
        return agent

    @functools.cached_property
    def solver(self) -> Any:
        """The exact solver."""
        from c4env.agents.solver import Solver

        return Solver(table_mb=SOLVER_MB)


def answer(question: Question, cache: RecentAgents) -> Message:
    """Return the answer to a question, or an ``error``."""
    try:
        return ANSWERS[question.kind](cache, question)
    except C4Error as error:
        return {"type": "error", "error": describe_error(error, with_type=False)}
    except Exception as error:
        return {"type": "error", "error": describe_error(error)}


class _Searcher(SearchingAgent):
    """A searching agent that keeps its last search result."""

    result: SearchResult | None = None

    def __init__(self, agent: SearchingAgent) -> None:
        self._agent = agent

    def search(self, position: Position) -> SearchResult:
        """Search, and keep the result."""
        self.result = self._agent.search(position)
        return self.result


def _move(cache: RecentAgents, question: Question) -> Message:
    """Answer with an agent's column, and with the search result if the agent searches.

    Every move resets the agent with a seed derived from the game and the ply, so the column depends
    only on the question.
    """
    position = Position.parse(question.moves)
    agent = cache.agent(question.agent)
    player = _Searcher(agent) if isinstance(agent, SearchingAgent) else agent
    started = time.perf_counter()
    seed = game_seed(question.seed, (question.agent, ""), question.moves, position.to_move)
    seed_generators(seed)
    try:
        begin(agent, seed)
        column, nodes = ask(player, position)
    except Forfeit as fault:
        return {"type": "forfeit", "ending": fault.ending, "reason": fault.reason}
    seconds = time.perf_counter() - started
    message = {"type": "move", "column": column + 1, "nodes": nodes, "seconds": seconds}
    if isinstance(player, _Searcher) and (result := player.result):
        message |= {
            "value": result.value if math.isfinite(result.value) else None,
            "depth": result.depth,
            "line": format_moves(result.principal_variation),
        }
    return message


def _hint(cache: RecentAgents, question: Question) -> Message:
    """Answer with the move of an agent that searches; a hint has no forfeits."""
    message = _move(cache, question)
    if message["type"] == "forfeit":
        return {"type": "error", "error": message["reason"]}
    return {**message, "type": "hint"}


def _scores(cache: RecentAgents, question: Question) -> Message:
    """Answer with the exact score of each column; None for a full column."""
    return {"type": "scores", "scores": cache.solver.scores(Position.parse(question.moves))}


def _values(cache: RecentAgents, question: Question) -> Message:
    """Answer with the exact score of each position of a game, as pairs of discs and score."""
    values = []
    # Solve the last position first, because the solver's table keeps later positions.
    for discs in range(len(question.moves), question.since - 1, -1):
        values.append((discs, cache.solver.score(Position.parse(question.moves[:discs]))))
    return {"type": "values", "values": values}


ANSWERS: Final[dict[str, Callable[[RecentAgents, Question], Message]]] = {
    "move": _move,
    "hint": _hint,
    "scores": _scores,
    "values": _values,
}


if __name__ == "__main__":
    from c4env.evaluation.runs.agent_process import serve

    plain()  # before the first question, so that no time limit counts it
    cache = RecentAgents()
    serve(lambda *question: answer(Question(*question), cache))
