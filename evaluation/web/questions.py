"""What the page asks agents and the solver, answered in a worker process.

A question holds all it takes to answer it: no answer depends on what was asked before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import agents
from agents.base import Agent, SearchingAgent
from c4env.errors import C4Error
from c4env.observation import observe
from c4env.position import Position, format_moves
from evaluation.games.game import Fault, ask, begin, game_seed, in_words

Message = dict[str, Any]
"""What goes to the page as one JSON line; ``type`` says what it is, columns count from 1."""

AGENTS_KEPT: Final = 8  # by a process; some hold tables of many megabytes
SOLVER_MB: Final = 64


class Question(NamedTuple):
    """One question about one position."""

    kind: str  # a key of KINDS
    agent: str  # spec; "" where no agent is asked
    moves: str  # 1-based columns from the empty board
    seed: int = 0  # of the game, for agents that draw lots


class Desk:
    """What a process keeps between questions: agents ready to play, and the solver."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._solver: Any = None

    def agent(self, spec: str) -> Agent:
        """The agent of a spec, made when first asked for."""
        agent = self._agents.pop(spec, None) or agents.make(spec)
        self._agents[spec] = agent  # the latest used stands last
        while len(self._agents) > AGENTS_KEPT:
            self._agents.pop(next(iter(self._agents))).close()
        return agent

    @property
    def solver(self) -> Any:
        """The exact solver."""
        if self._solver is None:
            from agents.solver import Solver

            self._solver = Solver(table_mb=SOLVER_MB)
        return self._solver

    def clear_agents(self) -> None:
        """Give all agents back: one that was stopped in a search may be left in any state."""
        while self._agents:
            self._agents.popitem()[1].close()

    def answer(self, question: Question) -> Iterator[Message]:
        """The messages that answer a question, the last of them the result."""
        try:
            yield from KINDS[question.kind](self, question)
        except C4Error as error:
            yield {"type": "error", "error": in_words(error, with_type=False)}
        except Exception as error:
            yield {"type": "error", "error": in_words(error)}


def _move(desk: Desk, question: Question) -> Iterator[Message]:
    """The column an agent plays.

    It begins anew at each move, with a seed of this game and ply, so that its column
    depends on the question alone.
    """
    position = Position.parse(question.moves)
    agent = desk.agent(question.agent)
    seed = game_seed(question.seed, (question.agent, ""), question.moves, position.to_move)
    started = time.perf_counter()
    answer = begin(agent, seed) or ask(agent, observe(position))
    if isinstance(answer, Fault):
        yield {"type": "forfeit", **answer._asdict()}
        return
    column, nodes = answer
    seconds = time.perf_counter() - started
    yield {"type": "move", "column": column + 1, "nodes": nodes, "seconds": seconds}


def _hint(desk: Desk, question: Question) -> Iterator[Message]:
    """What a searching agent would play, and why."""
    agent = desk.agent(question.agent)
    if not isinstance(agent, SearchingAgent):
        yield {"type": "error", "error": f"{question.agent} does not search: it gives no hints"}
        return
    position = Position.parse(question.moves)
    agent.reset(game_seed(question.seed, (question.agent, ""), question.moves, position.to_move))
    result = agent.search(position)
    yield {
        "type": "hint",
        "column": result.column + 1,
        "value": result.value,
        "depth": result.depth,
        "nodes": result.nodes,
        "line": format_moves(result.principal_variation),
    }


def _scores(desk: Desk, question: Question) -> Iterator[Message]:
    """The exact score of each column, one after another as they are found, then all."""
    from c4env.bitboard import CENTRE_FIRST

    position = Position.parse(question.moves)
    scores: list[int | None] = [None] * len(CENTRE_FIRST)
    for column in CENTRE_FIRST:
        if position.is_legal(column):
            score = scores[column] = -desk.solver.score(position.play(column))
            yield {"type": "score", "column": column + 1, "score": score}
    yield {"type": "scores", "scores": scores}


KINDS: Final[dict[str, Callable[[Desk, Question], Iterator[Message]]]] = {
    "move": _move,
    "hint": _hint,
    "scores": _scores,
}
