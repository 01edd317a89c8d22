"""Test whether an agent can play in a run: the command ``c4 check``."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any, Final

from c4env.agents.registry.imports import format_error
from c4env.evaluation.games.pool import Clock, Lost, do_all, here
from c4env.evaluation.games.processes import agents_own
from c4env.evaluation.tables import Table, plural

from ... import agents
from ...agents.base import Agent
from ...observation import observe
from ...position import Position
from .game import Fault, ask, begin
from .players import names_code

GAME: Final = "235761317352166446645544732141365227577132"
"""A game that fills the board. Agents answer its positions, the latest and cheapest first."""

LATE: Final = 36  # discs on the board at the first question
ASKED: Final = LATE // 3 + 1  # positions to ask about, if time allows
PATIENCE: Final = 10.0  # seconds for one move; also the time after which the check asks no more


@dataclass(frozen=True)
class Check:
    """The results of the test of an agent.

    Attributes:
        spec: the agent's spec.
        moves: number of positions answered.
        fault: description of the agent's failure, with file and line; "" without a failure.
        repeats: whether a fresh agent with the same seed gives the same moves.
        says_deterministic: whether the agent claims to give the same moves with any seed.
        deterministic: whether the agent gave the same moves with another seed.
        by_clock: whether a time limit ends the search, so that moves may differ.
        seconds: duration of each move.
    """

    spec: str
    moves: int
    fault: str
    repeats: bool
    says_deterministic: bool
    deterministic: bool
    by_clock: bool
    seconds: tuple[float, ...]

    @property
    def good(self) -> bool:
        """Whether the agent can play in a run without changes."""
        alike = self.by_clock or (self.repeats and self.deterministic >= self.says_deterministic)
        return not self.fault and alike

    @property
    def remedy(self) -> str:
        """Advice on what to change in the agent; "" if no advice is known or needed."""
        for ending, remedy in _REMEDIES.items():
            if self.fault.startswith(ending):
                return remedy
        if self.fault or self.good:
            return ""
        return _UNSEEDED if not self.repeats else _NOT_DETERMINISTIC

    def table(self) -> Table:
        """Return a table with a row for each test."""
        rows = []
        legal = f"in {plural(self.moves, 'position')}" if self.moves else "no"
        if 0 < self.moves < ASKED:
            legal += ", none in the next" if self.fault else f" of {ASKED}: the time was used up"
        rows.append(("legal moves", legal))
        if self.fault:
            rows.append(("what it did", self.fault))
        if self.moves:
            claim = "claims" if self.says_deterministic else "does not claim"
            clock = "" if self.repeats or not self.by_clock else ", since a clock limits moves"
            rows += [
                ("same seed, same moves", _yes(self.repeats) + clock),
                ("other seed, same moves", f"{_yes(self.deterministic)}; the agent {claim} this"),
            ]
            median, longest = statistics.median(self.seconds), max(self.seconds)
            rows += [
                ("median ms a move", f"{1e3 * median:.3g}"),
                ("longest ms", f"{1e3 * longest:.3g}"),
            ]
        if self.remedy:
            rows.append(("what helps", self.remedy))
        return Table.of({"question": "", "answer": ""}, rows, self.spec)


def check_agent(spec: str) -> Check:
    """Test the agent of a spec: ask for its moves in the positions of one game.

    The check begins with a position near the end of the game, and goes back towards the start.
    After PATIENCE seconds, the check asks for no further move.
    Third-party code runs in another process.
    """
    if not names_code(spec):
        return _look(spec)
    found: Check | Lost
    ((_, found),) = do_all(_look, [(spec,)], 1, Clock(PATIENCE, 0.0))
    if isinstance(found, Lost):
        reason = found.reason if found.ending == "crash" else f"time: {found.reason}"
        return Check(spec, 0, reason, False, False, False, False, ())
    return found


def _look(spec: str) -> Check:
    here.turn.belongs_to(0)
    with_seed = [(agents.make(spec), seed) for seed in (1, 1, 2)]
    here.turn.ends()
    answers: list[list[int]] = [[], [], []]
    seconds: list[float] = []
    fault = ""
    started = time.monotonic()
    try:
        for plies in range(LATE, -1, -3):
            if fault or (seconds and time.monotonic() - started > PATIENCE):
                break
            for (agent, seed), found in zip(with_seed, answers, strict=True):
                answer, spent = _one_move(agent, Position.parse(GAME[:plies]), seed)
                if isinstance(answer, str):
                    fault = answer
                    break
                found.append(answer)
                seconds.append(spent)
    finally:
        here.turn.belongs_to(0)
        for agent, _ in with_seed:
            try:
                agent.close()
            except BaseException as error:
                if not agents_own(error):
                    raise
                fault = fault or f"close() raised {format_error(error)}"
    whole = min(map(len, answers))
    one, again, other = (found[:whole] for found in answers)
    clock = getattr(with_seed[0][0], "movetime", None) is not None
    says = with_seed[0][0].deterministic and not clock
    seen = one == again, says, one == again == other, clock
    return Check(spec, whole, fault, *seen, tuple(seconds))


def _one_move(agent: Agent, position: Position, seed: int) -> tuple[int | str, float]:
    """Return the column of one move, or a description of the failure, and the seconds it took."""
    here.turn.belongs_to(0)
    fault = begin(agent, seed)
    if fault is not None:
        return fault.reason, 0.0
    where: list[str] = []

    def policy(observation: Any) -> Any:
        try:
            return agent(observation)
        except Exception as error:
            where.append(format_error(error))
            raise

    if type(agent).close is not Agent.close:  # its process starts with the first move of a game
        ask(agent, observe(position))
    here.turn.asks(0)
    began = time.perf_counter()
    answer = ask(policy, observe(position))
    spent = time.perf_counter() - began
    here.turn.ends()
    if isinstance(answer, Fault):
        return f"{answer.ending}: {where[0] if where else answer.reason}", spent
    return answer[0], spent


_REMEDIES: Final = {
    "illegal column": "choose a column whose entry in observation['action_mask'] is 1",
    "nonsense": "return one integer, the column, counted from 0",
}
_UNSEEDED: Final = (
    "write the agent as a class (c4env.agents.Agent) whose reset(self, seed) makes "
    "self.random = random.Random(seed) and forgets earlier games; draw from self.random alone"
)
_NOT_DETERMINISTIC: Final = "remove deterministic = True, since another seed gives other moves"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"
