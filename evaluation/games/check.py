"""Test whether an agent can play in a run: the command ``c4 check``."""

from __future__ import annotations

import statistics
import time
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from c4env.evaluation.tables import Table, plural

from ...position import Position
from .asking import Fault
from .game import Clock
from .players import Seats

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
            claim = "claims this" if self.says_deterministic else "does not claim this"
            if self.deterministic and not self.says_deterministic:
                claim += " (deterministic = True would)"
            clock = "" if self.repeats or not self.by_clock else ", since a clock limits moves"
            rows += [
                ("same seed, same moves", _yes(self.repeats) + clock),
                ("other seed, same moves", f"{_yes(self.deterministic)}; the agent {claim}"),
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
    seats = Seats(dict.fromkeys("abc", spec), None)
    answers: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    seconds: list[float] = []
    fault = ""
    with closing(seats):
        traits, *_ = [seats.traits(name) for name in answers]
        started = time.monotonic()
        for plies in range(LATE, -1, -3):
            if fault or (seconds and time.monotonic() - started > PATIENCE):
                break
            position = Position.parse(GAME[:plies])
            for (name, found), seed in zip(answers.items(), (1, 1, 2), strict=True):
                wrong = seats[name].reset(seed)
                began = time.perf_counter()
                answer = wrong or seats[name].ask(position, GAME[:plies], Clock(PATIENCE, 0.0))
                seconds.append(time.perf_counter() - began)
                if isinstance(answer, Fault):
                    fault = f"{answer.ending}: {answer.reason}"
                    break
                found.append(answer[0])
    whole = min(map(len, answers.values()))
    one, again, other = (found[:whole] for found in answers.values())
    seen = one == again, traits.deterministic, one == again == other, traits.timed
    return Check(spec, whole, fault, *seen, tuple(seconds))


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
