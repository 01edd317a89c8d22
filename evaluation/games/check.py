"""Test whether an agent can play in a run: the command ``c4 check``."""

from __future__ import annotations

import statistics
import time
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from c4env.evaluation.games.asking import Fault
from c4env.evaluation.games.field import name_players
from c4env.evaluation.games.game import Clock
from c4env.evaluation.games.referee import Referee
from c4env.evaluation.tables import Table, plural
from c4env.position import Position

GAME: Final = "235761317352166446645544732141365227577132"
"""A game that fills the board. Agents answer its positions, the latest and cheapest first."""

MOST_DISCS: Final = 36  # on the board at the first question
POSITIONS: Final = range(MOST_DISCS, -1, -3)  # discs in the positions to ask about
CHECK_SECONDS: Final = 10.0  # for one move; also the time after which the check asks no more

_REMEDIES: Final = {
    "illegal column": "choose a column whose entry in observation['action_mask'] is 1",
    "nonsense": "return one integer, the column, counted from 0",
}
_UNSEEDED: Final = (
    "write the agent as a class (c4env.agents.Agent) whose reset(self, seed) makes "
    "self.random = random.Random(seed) and forgets earlier games; draw from self.random alone"
)
_NOT_DETERMINISTIC: Final = "remove deterministic = True, since another seed gives other moves"


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
        if 0 < self.moves < len(POSITIONS):
            legal += (
                ", none in the next"
                if self.fault
                else f" of {len(POSITIONS)}: the time was used up"
            )
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
    After CHECK_SECONDS, the check asks for no further move.
    Third-party code runs in another process.
    """
    seeds = {"a": 1, "b": 1, "c": 2}
    columns: dict[str, list[int]] = {name: [] for name in seeds}
    seconds: list[float] = []
    fault = ""
    with closing(Referee(name_players(dict.fromkeys(seeds, spec)))) as referee:
        traits, *_ = [referee.traits(name) for name in seeds]
        started = time.monotonic()
        for plies in POSITIONS:
            if fault or (seconds and time.monotonic() - started > CHECK_SECONDS):
                break
            position = Position.parse(GAME[:plies])
            for name, seed in seeds.items():
                player = referee.player(name)
                reset_fault = player.reset(seed)
                asked = time.perf_counter()
                answer = reset_fault or player.ask(
                    position, GAME[:plies], Clock(CHECK_SECONDS, 0.0)
                )
                seconds.append(time.perf_counter() - asked)
                if isinstance(answer, Fault):
                    fault = f"{answer.ending}: {answer.reason}"
                    break
                columns[name].append(answer[0])
    answered = min(map(len, columns.values()))
    first, same_seed, other_seed = (moves[:answered] for moves in columns.values())
    return Check(
        spec=spec,
        moves=answered,
        fault=fault,
        repeats=first == same_seed,
        says_deterministic=traits.deterministic,
        deterministic=first == same_seed == other_seed,
        by_clock=traits.timed,
        seconds=tuple(seconds),
    )


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"
