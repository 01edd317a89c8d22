"""Answer the page's questions to agents and the solver in a worker process.

A question has all data that its answer needs, so no answer depends on earlier questions.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from c4env import agents
from c4env.agents.base import Agent, SearchingAgent, SearchResult
from c4env.envs.opponents import reset_player
from c4env.errors import C4Error
from c4env.evaluation.games.game import Fault, ask, begin, describe_error, game_seed
from c4env.evaluation.web.specs import MEMORY, reserved_mb
from c4env.observation import Observation, observe, position_from
from c4env.position import Position, format_moves

Message = dict[str, Any]
"""A JSON line to the page; ``type`` is the kind of the message, and columns count from 1."""

AGENTS_KEPT: Final = 8  # the most agents that a process keeps; fewer if their tables exceed MEMORY
SOLVER_MB: Final = 64


class Question(NamedTuple):
    """A question about one position, or about each position of a game."""

    kind: str  # a key of KINDS
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
        from c4env.agents.solver import Solver

        return Solver(table_mb=SOLVER_MB)

    def clear(self) -> None:
        """Close all agents."""
        while self._agents:
            self._agents.popitem()[1].close()


def answers(cache: RecentAgents, question: Question) -> Iterator[Message]:
    """Yield the messages that answer a question; the last message is the result or an error."""
    try:
        yield from KINDS[question.kind](cache, question)
    except C4Error as error:
        yield {"type": "error", "error": describe_error(error, with_type=False)}
    except Exception as error:
        yield {"type": "error", "error": describe_error(error)}


class _Searcher:
    """A searching agent as a policy that keeps its last search result."""

    result: SearchResult | None = None
    nodes = 0

    def __init__(self, agent: SearchingAgent) -> None:
        self._agent = agent

    def __call__(self, observation: Observation) -> int:
        """Search, and return the agent's column."""
        self.result = self._agent.search(position_from(observation))
        self.nodes = self.result.nodes
        return self.result.column


def _move(cache: RecentAgents, question: Question) -> Iterator[Message]:
    """Answer with an agent's column, and with the search result if the agent searches.

    Each move resets the agent with a seed derived from the game and the ply, so the column depends
    only on the question.
    """
    position = Position.parse(question.moves)
    agent = cache.agent(question.agent)
    policy = _Searcher(agent) if isinstance(agent, SearchingAgent) else agent
    started = time.perf_counter()
    answer = begin(agent, _seed(question, position)) or ask(policy, observe(position))
    if isinstance(answer, Fault):
        yield {"type": "forfeit", **answer._asdict()}
        return
    column, nodes = answer
    seconds = time.perf_counter() - started
    seen = _seen(policy.result) if isinstance(policy, _Searcher) and policy.result else {}
    yield {"type": "move", "column": column + 1, "nodes": nodes, "seconds": seconds, **seen}


def _seed(question: Question, position: Position) -> int:
    """Return a seed that depends on the game and the ply."""
    return game_seed(question.seed, (question.agent, ""), question.moves, position.to_move)


def _seen(result: SearchResult) -> Message:
    """The value, depth and principal variation of a search; an infinite value becomes null."""
    return {
        "value": result.value if math.isfinite(result.value) else None,
        "depth": result.depth,
        "line": format_moves(result.principal_variation),
    }


def _hint(cache: RecentAgents, question: Question) -> Iterator[Message]:
    """Answer with a searching agent's column and its search result."""
    agent = cache.agent(question.agent)
    if not isinstance(agent, SearchingAgent):
        yield {"type": "error", "error": f"{question.agent} does not search, so it gives no hints"}
        return
    position = Position.parse(question.moves)
    reset_player(agent, _seed(question, position))
    result = agent.search(position)
    yield {"type": "hint", "column": result.column + 1, "nodes": result.nodes, **_seen(result)}


def _scores(cache: RecentAgents, question: Question) -> Iterator[Message]:
    """Answer with each column's exact score as it is found, then with all scores."""
    from c4env.bitboard import CENTRE_FIRST

    position = Position.parse(question.moves)
    scores: list[int | None] = [None] * len(CENTRE_FIRST)
    for column in CENTRE_FIRST:
        if position.is_legal(column):
            score = scores[column] = -cache.solver.score(position.play(column))
            yield {"type": "score", "column": column + 1, "score": score}
    yield {"type": "scores", "scores": scores}


def _values(cache: RecentAgents, question: Question) -> Iterator[Message]:
    """Answer with the exact score of each unfinished position of a game, the last position first.

    The solver's table keeps results of later positions, which speeds up the earlier positions.
    """
    for discs in range(len(question.moves), question.since - 1, -1):
        position = Position.parse(question.moves[:discs])
        if position.outcome is None:
            yield {"type": "value", "discs": discs, "score": cache.solver.score(position)}
    yield {"type": "values"}


KINDS: Final[dict[str, Callable[[RecentAgents, Question], Iterator[Message]]]] = {
    "move": _move,
    "hint": _hint,
    "scores": _scores,
    "values": _values,
}
