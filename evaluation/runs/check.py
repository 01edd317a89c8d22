"""Test whether an agent can play in a run: the command ``c4 check``."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Final, cast

from c4env.agents.making.registry import OURS
from c4env.agents.making.spec import Spec
from c4env.agents.programs.conformance import broken_line
from c4env.agents.programs.exec import Engine
from c4env.evaluation.runs.players import name_players
from c4env.evaluation.runs.referee import Referee
from c4env.evaluation.runs.remote_agent import allow
from c4env.evaluation.runs.turn import Forfeit, ask, begin
from c4env.evaluation.tables import Table, plural
from c4env.position import Position

GAME: Final = "235761317352166446645544732141365227577132"
"""A game that fills the board. Agents answer its positions, the latest and cheapest first."""

MOST_DISCS: Final = 36  # on the board at the first question
POSITIONS: Final = range(MOST_DISCS, -1, -3)  # discs in the positions to ask about
PROGRAM: Final = "exec"
CHECK_SECONDS: Final = 10.0  # for one move; also the time after which the check stops asking

_REMEDIES: Final = {
    "illegal column": "choose a column whose entry in observation['action_mask'] is 1",
    "nonsense": "return one integer, the column, counted from 0",
    "protocol": "each line that the program reads gets one line; docs/guides/other-programs.md",
}
_UNSEEDED: Final = (
    "write the agent as a class (c4env.agents.Agent) whose reset(self, seed) makes "
    "self.random = random.Random(seed) and forgets earlier games; draw only from self.random"
)
_UNSEEDED_PROGRAM: Final = (
    "with newgame=reset the program reads a line `reset SEED` before each game: it seeds its "
    "generator by it, and forgets earlier games"
)
_AGAIN: Final = " (asked again after other games)"
_NOT_DETERMINISTIC: Final = "remove deterministic = True, since another seed gives other moves"


@dataclass(frozen=True)
class Check:
    """The results of the test of an agent.

    Attributes:
        spec: the agent's spec.
        moves: number of positions answered.
        fault: description of the agent's failure, with file and line; "" without a failure.
        repeats: whether a fresh agent with the same seed gives the same moves.
        forgets: whether the same agent gives the same moves again after other games, in another
            order.
        says_deterministic: whether the agent claims to give the same moves with any seed.
        deterministic: whether the agent gave the same moves with another seed.
        by_clock: whether a time limit ends the search, so that moves may differ.
        seconds: duration of each move.
    """

    spec: str
    moves: int
    fault: str
    repeats: bool
    forgets: bool
    says_deterministic: bool
    deterministic: bool
    by_clock: bool
    seconds: tuple[float, ...]

    @property
    def good(self) -> bool:
        """Whether the agent can play in a run without changes."""
        alike = self._is_seeded and self.deterministic >= self.says_deterministic
        return not self.fault and (self.by_clock or alike)

    @property
    def _is_seeded(self) -> bool:
        """Whether the moves depend only on the position and the seed."""
        return self.repeats and self.forgets

    @property
    def remedy(self) -> str:
        """Advice on what to change in the agent; "" if no advice is known or needed."""
        for ending, remedy in _REMEDIES.items():
            if self.fault.startswith(ending):
                return remedy
        if self.fault or self.good:
            return ""
        if self._is_seeded:
            return _NOT_DETERMINISTIC
        return _UNSEEDED_PROGRAM if Spec.parse(self.spec).name == PROGRAM else _UNSEEDED

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
            claim = "; declared" if self.says_deterministic else ""
            if not claim and Spec.parse(self.spec).name not in OURS:  # its owner may write it
                claim = "; not declared"
                if self.deterministic and not self.by_clock:
                    claim += " (write deterministic = True)"
            clock = ", since a clock limits moves" if self.by_clock else ""
            rows += [
                ("same seed, same moves", _yes(self.repeats, clock)),
                ("also after other games", _yes(self.forgets, clock)),
                ("other seed, same moves", f"{_yes(self.deterministic)}{claim}"),
            ]
            median, longest = statistics.median(self.seconds), max(self.seconds)
            rows += [
                ("median ms per move", f"{1e3 * median:.3g}"),
                ("longest ms", f"{1e3 * longest:.3g}"),
            ]
        if self.remedy:
            rows.append(("what helps", self.remedy))
        return Table.of({"question": "", "answer": ""}, rows, self.spec)


def check_agent(spec: str) -> Check:
    """Test the agent of a spec: ask for its moves in the positions of one game.

    The check begins with a position near the end of the game, and goes back towards the start. A
    second agent of the same spec answers the same positions, in a separate process if it is
    third-party code. Then the first agent is asked again in another order, with another seed and
    with the same seed, which shows whether it keeps something from one game to the next. After
    CHECK_SECONDS, the check asks for no further position. For a program of ``exec:``, the check
    first tests the text protocol.
    """
    player = Spec.parse(spec)
    if player.name == PROGRAM and (broken := broken_line(cast("Engine", player.make()))):
        return Check(spec, 0, f"protocol: {broken}", False, False, False, False, False, ())
    answers: dict[str, dict[int, int]] = {name: {} for name in ("first", "fresh", "other", "again")}
    seconds: list[float] = []
    fault = ""
    with closing(Referee(name_players(dict.fromkeys(("agent", "fresh"), spec)))) as referee:
        traits, _ = [referee.traits(name) for name in referee.players]
        for step, name, seed, plies in _questions():
            started, agent = time.perf_counter(), referee.agent(name)
            allow(agent, CHECK_SECONDS)
            try:
                begin(agent, seed)
                answers[step][plies], _ = ask(agent, Position.parse(GAME[:plies]))
            except Forfeit as error:
                fault = f"{error}{_AGAIN if step in ('other', 'again') else ''}"
                break
            finally:
                seconds.append(time.perf_counter() - started)
    first, fresh, *later = answers.values()
    return Check(
        spec=spec,
        moves=len(fresh),
        fault=fault,
        repeats=_alike(first, fresh),
        forgets=_alike(first, answers["again"]),
        says_deterministic=traits.deterministic,
        deterministic=all(_alike(first, step) for step in (fresh, *later)),
        by_clock=traits.timed,
        seconds=tuple(seconds),
    )


def _questions() -> Iterator[tuple[str, str, int, int]]:
    """Yield the questions: step, agent, seed, and discs in the position."""
    asked: list[int] = []
    started = time.monotonic()
    for plies in POSITIONS:
        if asked and time.monotonic() - started > CHECK_SECONDS / 2:  # leave time to ask again
            break
        yield "first", "agent", 1, plies
        yield "fresh", "fresh", 1, plies
        asked.append(plies)
    # Not reversed, so that the number of questions before a position differs from the first time.
    order = [*asked[1::2], *asked[::2]]
    yield from (("other", "agent", 2, plies) for plies in order)
    yield from (("again", "agent", 1, plies) for plies in order)


def _alike(first: Mapping[int, int], other: Mapping[int, int]) -> bool:
    """Return whether the columns are equal in all positions that both were asked."""
    return all(first[plies] == column for plies, column in other.items())


def _yes(answer: bool, why_not: str = "") -> str:
    return "yes" if answer else f"no{why_not}"
