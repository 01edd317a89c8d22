"""The agents that a page may name: the zoo with plain options, and the owner's agents.

A spec from a page must not import modules, open files, start programs or make connections.
Therefore the page may name only agents of the zoo that need no path, address or program, and set
only options that are numbers or names from a list. The server's owner may offer any other agent.

A pool of processes; each process answers one question at a time and can be interrupted.

An answer is a stream of messages, one for each part of the question. If the page stops listening,
the process gets no further part. A process that does not finish its part in time is killed and
replaced. A process gets its next question only after its last search has ended.

Answer the page's questions to agents and the solver in a worker process.

A question about several positions is a list of questions about one position each. A question has
all data that its answer needs, so no answer depends on earlier questions.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import math
import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from c4env.agents.entries import REQUIRED, ZOO, Entry, Option
from c4env.errors import C4Error, EngineFault, InvalidOption
from c4env.evaluation.tables import shortened

from ... import agents
from ...agents.base import Agent, SearchingAgent, SearchResult
from ...agents.spec import description_of, join_spec, options_of_agent, split_spec
from ...bitboard import CENTRE_FIRST
from ...position import Position, format_moves
from ..games.asking import Fault, ask, begin, describe_error
from ..games.game import game_seed
from ..games.players import Host

MEMORY: Final = 256  # megabytes that the page's agents in one process may reserve together


PLAIN: Final = {
    entry.name: entry
    for entry in ZOO
    if all(option.default is not REQUIRED for option in options_of_agent(entry))
    and all(importlib.util.find_spec(module) for module in entry.needs)
}
"""By name, the entries of the zoo that need no argument and whose packages are installed."""


class Level(NamedTuple):
    """A level of strength, and the opponent that plays at this level."""

    name: str
    spec: str
    summary: str


LEVELS: Final = (
    Level("Easy", "mcts:simulations=25", "plays out 25 games before each move"),
    Level("Medium", "mcts:simulations=150", "plays out 150 games before each move"),
    Level("Hard", "mcts:simulations=1000", "plays out 1,000 games before each move"),
    Level("Expert", "mcts:simulations=10000", "plays out 10,000 games before each move"),
    Level("Perfect", "perfect:ties=random", "knows the result of every move, and never errs"),
)
"""The levels, the weakest first. Every opponent uses random numbers, so its games vary."""


def settable(entry: Entry) -> list[Option]:
    """Return the options that a page may set: numbers, table sizes, and names from a list.

    An option that also takes an import path takes only its names here.
    """
    return [
        replace(
            option,
            high=min(option.high, MEMORY) if option.name.endswith("_mb") else option.high,
            open=False,
        )
        for option in options_of_agent(entry)
        if option.kind is not str or option.choices
    ]


def check_spec(spec: object, named: Collection[str] = ()) -> str:
    """Return the spec if a page may name it.

    Args:
        spec: the value that the page sent.
        named: names of the agents that the owner gave on the command line.

    Raises:
        InvalidOption: the page may not name this agent; the message says what it may name; or the
            spec is malformed, or a value is out of range.
    """
    if not isinstance(spec, str):
        raise InvalidOption(
            f"agent {shortened(spec, 80)!r}: expected a spec such as 'alphabeta:depth=7'"
        )
    if spec in named:
        return spec
    name = spec.partition(":")[0].strip()
    if name not in PLAIN:  # check before parsing, which may import a module that the spec names
        known = ", ".join([*PLAIN, *named])
        raise InvalidOption(f"agent {shortened(spec, 80)!r}: this page offers {known}")
    name, given = split_spec(spec)
    if name not in PLAIN:
        raise InvalidOption(f"agent {shortened(spec, 80)!r}: expected key=value after the colon")
    options = {option.name: option for option in settable(PLAIN[name])}
    parsed: dict[str, Any] = {}
    for key, text in given.items():
        if key not in options:
            expected = ", ".join(options) or "none"
            raise InvalidOption(
                f"agent {shortened(spec, 80)!r}: option {key!r}: expected one of {expected}"
            )
        parsed[key] = options[key].parse(name, text)
    return join_spec(name, parsed)


def reserved_mb(spec: str) -> float:
    """The most megabytes that an agent's tables need; 0 for the owner's agents."""
    name, given = split_spec(spec)
    options = options_of_agent(PLAIN[name]) if name in PLAIN else ()
    tables = [option for option in options if option.name.endswith("_mb")]
    return sum(float(given.get(option.name, option.default)) for option in tables)


def catalogue(named: Mapping[str, str] = MappingProxyType({})) -> list[dict[str, Any]]:
    """The agents for the page's menu: names, summaries, and options with their ranges.

    Args:
        named: the specs of the owner's agents by name.
    """
    zoo = [
        {
            "spec": name,
            "summary": description_of(name)[1],
            "options": [_described(option) for option in settable(entry)],
        }
        for name, entry in PLAIN.items()
        if name not in named
    ]
    return zoo + [{"spec": name, "summary": spec, "options": []} for name, spec in named.items()]


def _described(option: Option) -> dict[str, Any]:
    limits = {"low": option.low, "high": option.high}
    is_flag = option.kind is bool  # shown as a choice between the flag's two names in a spec
    return {
        "name": option.name,
        "kind": option.kind.__name__,
        "default": str(option.default).lower() if is_flag else option.default,
        "help": option.help,
        "choices": ("true", "false") if is_flag else option.choices,
        **{key: limit for key, limit in limits.items() if math.isfinite(limit)},
    }


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


Message = dict[str, Any]
"""A JSON line to the page; ``type`` is the kind of the message, and columns count from 1."""

AGENTS_KEPT: Final = 8  # the most agents that a process keeps; fewer if their tables exceed MEMORY
SOLVER_MB: Final = 64


class Question(NamedTuple):
    """A question about one position, or about several positions."""

    kind: str  # an item of ASKED, or a key of ANSWERS for one position
    agent: str  # the agent's spec, or "" for the solver
    moves: str  # 1-based columns from the empty board
    seed: int = 0  # seed of the game, for stochastic agents
    since: int = 0  # discs in the first position that the question is about


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
        agent = self._agents[spec] = agents.make(spec)
        return agent

    @functools.cached_property
    def solver(self) -> Any:
        """The exact solver."""
        from ...agents.solver import Solver

        return Solver(table_mb=SOLVER_MB)


def parts(question: Question) -> list[Question]:
    """Return the questions about one position each that together answer a question."""
    moves = question.moves
    if question.kind == "scores":
        legal = filter(Position.parse(moves).is_legal, CENTRE_FIRST)
        return [Question("score", "", f"{moves}{column + 1}") for column in legal]
    if question.kind == "values":  # the last first: the solver's table keeps later positions
        games = [moves[:discs] for discs in range(len(moves), question.since - 1, -1)]
        return [Question("value", "", game) for game in games if not Position.parse(game).outcome]
    return [question]


def summary(question: Question, found: list[Message]) -> list[Message]:
    """Return the messages that follow the answers to all parts of a question."""
    if question.kind == "values":
        return [{"type": "values"}]
    if question.kind == "scores":
        scores = {message["column"]: message["score"] for message in found}
        return [{"type": "scores", "scores": [scores.get(c + 1) for c in range(len(CENTRE_FIRST))]}]
    return []


_KEPT: Final = RecentAgents()  # in a worker process


def answer(question: Question, cache: RecentAgents = _KEPT) -> Message:
    """Return the answer to a question about one position, or an error."""
    try:
        return ANSWERS[question.kind](cache, question)
    except C4Error as error:
        return {"type": "error", "error": describe_error(error, with_type=False)}
    except Exception as error:
        return {"type": "error", "error": describe_error(error)}


class _Searcher:
    """A searching agent as a policy that keeps its last search result."""

    result: SearchResult | None = None
    nodes = 0

    def __init__(self, agent: SearchingAgent) -> None:
        self._agent = agent

    def choose(self, position: Position) -> int:
        """Search, and return the agent's column."""
        self.result = self._agent.search(position)
        self.nodes = self.result.nodes
        return self.result.column


def _move(cache: RecentAgents, question: Question) -> Message:
    """Answer with an agent's column, and with the search result if the agent searches.

    Each move resets the agent with a seed derived from the game and the ply, so the column depends
    only on the question.
    """
    position = Position.parse(question.moves)
    agent = cache.agent(question.agent)
    policy = _Searcher(agent) if isinstance(agent, SearchingAgent) else agent
    started = time.perf_counter()
    seed = game_seed(question.seed, (question.agent, ""), question.moves, position.to_move)
    found = begin(agent, seed) or ask(policy.choose, position, position.is_legal, policy)
    if isinstance(found, Fault):
        return {"type": "forfeit", **found._asdict()}
    column, nodes = found
    seconds = time.perf_counter() - started
    seen = _seen(policy.result) if isinstance(policy, _Searcher) and policy.result else {}
    return {"type": "move", "column": column + 1, "nodes": nodes, "seconds": seconds, **seen}


def _seen(result: SearchResult) -> Message:
    """The value, depth and principal variation of a search; an infinite value becomes null."""
    return {
        "value": result.value if math.isfinite(result.value) else None,
        "depth": result.depth,
        "line": format_moves(result.principal_variation),
    }


def _hint(cache: RecentAgents, question: Question) -> Message:
    """Answer with the move of an agent that searches; a hint has no forfeits."""
    found = _move(cache, question)
    if found["type"] == "forfeit":
        return {"type": "error", "error": found["reason"]}
    return {**found, "type": "hint"}


def _score(cache: RecentAgents, question: Question) -> Message:
    """Answer with the exact score of the last column played, for the player of that column."""
    score = -cache.solver.score(Position.parse(question.moves))
    return {"type": "score", "column": int(question.moves[-1]), "score": score}


def _value(cache: RecentAgents, question: Question) -> Message:
    """Answer with the exact score of a position."""
    score = cache.solver.score(Position.parse(question.moves))
    return {"type": "value", "discs": len(question.moves), "score": score}


ASKED: Final = ("move", "hint", "scores", "values")
ANSWERS: Final[dict[str, Callable[[RecentAgents, Question], Message]]] = {
    "move": _move,
    "hint": _hint,
    "score": _score,
    "value": _value,
}


if __name__ == "__main__":
    from ..games.host import serve

    serve(lambda *question: answer(Question(*question)))
