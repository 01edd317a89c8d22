"""Answer the page's questions to agents and the solver in a worker process.

A question about several positions is a list of questions about one position each. A question has
all data that its answer needs, so no answer depends on earlier questions.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from c4env import agents
from c4env.agents.base import Agent, SearchingAgent, SearchResult
from c4env.bitboard import CENTRE_FIRST
from c4env.errors import C4Error
from c4env.evaluation.games.asking import Fault, ask, begin, describe_error
from c4env.evaluation.games.game import game_seed
from c4env.evaluation.web.specs import MEMORY, reserved_mb
from c4env.position import Position, format_moves

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
        from c4env.agents.solver import Solver

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
    from c4env.evaluation.games.host import serve

    serve(lambda *question: answer(Question(*question)))
