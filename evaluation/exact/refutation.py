"""Find the worst results that an opponent can force on an agent.

From each opening and with each colour, the search tries all moves of the opponent against the
agent's own answers (``c4env.evaluation.exact.worst_case``). Each position is a new game with its
own seed, so an answer does not depend on earlier moves.

Each opening and colour has a file of answers and scores. The same search, or the same search with
a higher limit of positions, resumes from this file.
"""

from __future__ import annotations

import hashlib
import json
import re
import statistics
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from c4env.agents.registry.registry import registered_here
from c4env.errors import InvalidOption, require_integer
from c4env.evaluation.exact.answers import Answer, question_in_worker
from c4env.evaluation.exact.worst_case import FACTS, Facts, Search, WorstCase
from c4env.evaluation.games.clusters import version_here
from c4env.evaluation.games.players import Lineup, RunSpec, agent_cache, line_up, names_code
from c4env.evaluation.games.pool import Lost, do_all, may_start_processes
from c4env.evaluation.games.processes import one_interrupt, stdout_to_stderr
from c4env.evaluation.games.settings import Settings, Watcher
from c4env.evaluation.plan.field import (
    Player,
    Traits,
    describe_player,
    name_players,
)
from c4env.evaluation.plan.openings import Openings, choose_openings
from c4env.evaluation.tables import Rows, Tables, plural, with_heading
from c4env.position import Position, format_moves

BUDGET: Final = 1000
"""The default limit of positions to ask about, for each opening and colour."""
PATIENCE: Final = 3.0  # seconds to wait until a killed search's worker ends

_RESULTS: Final = {1: "win", 0: "draw", -1: "loss"}
_SEATS: Final = ("first", "second")


@dataclass(frozen=True)
class Refutation(Tables):
    """The worst results of an agent; each case is one opening with one colour.

    Attributes:
        player: the agent's name.
        openings: the worst result in each case.
        budget: number of positions per case after which the search asks the agent for no new
            move, except to complete the last line.
        notes: lines below the table.
    """

    player: str
    openings: tuple[WorstCase, ...]
    budget: int
    notes: tuple[str, ...] = ()

    @property
    def positions(self) -> int:
        """The total number of positions in which the search asked the agent for a move."""
        return sum(case.positions for case in self.openings)

    @property
    def tenable(self) -> tuple[WorstCase, ...]:
        """The cases that the agent would win or draw with exact play."""
        return tuple(case for case in self.openings if case.value >= 0)

    @property
    def kept(self) -> tuple[WorstCase, ...]:
        """The :attr:`tenable` cases in which the search found no result below the exact value."""
        return tuple(case for case in self.tenable if case.outcome == case.value)

    @property
    def held(self) -> float | None:
        """The number of :attr:`kept` cases divided by the number of :attr:`tenable` cases."""
        return len(self.kept) / len(self.tenable) if self.tenable else None

    @property
    def shortest(self) -> WorstCase | None:
        """The refutation with the shortest line (the first of equal ones), or None."""
        found = [case for case in self.tenable if case.outcome < case.value]
        return min(found, key=lambda case: len(case.line), default=None)

    def summary(self) -> str:
        """Return sentences on the kept cases, the first errors and the shortest refutation."""
        kept = self.kept
        cases = f"{len(self.openings)} cases (openings and colours), {len(self.tenable)} of which"
        lines = [f"{self.player}: {cases} it could win or draw."]
        if self.held is not None:
            lines.append(f"It holds {len(kept)} of {len(self.tenable)} ({self.held:.1%})")
            open_ = [case.searched for case in kept if not case.proven]
            if proven := len(kept) - len(open_):
                lines[-1] += f": {proven} against every line (proven)"
            if open_:
                asked = plural(self.budget, "position")
                lines[-1] += f"{',' if proven else ':'} {len(open_)} without a refutation in "
                lines[-1] += f"{asked}, which cover all lines of {min(open_)} plies"
            lines[-1] += "."
        errors = [case.first_error for case in self.openings if case.first_error is not None]
        if errors:
            median = statistics.median(errors)
            lines.append(f"Median number of discs on the board at its first error: {median:g}.")
        if (case := self.shortest) is not None:
            line = case.line or "the empty board"
            lines.append(
                f"Shortest refutation found: {line} (the agent moves {_SEATS[case.seat]})."
            )
        lines.append(f"The search asked for its move in {plural(self.positions, 'position')}.")
        return "\n".join([*lines, *self.notes])

    def tables(self) -> list[list[list[str]]]:
        """Return one table with a row for each opening and colour."""
        heading = ["opening", "it moves", "value", "outcome", "first error", "proven", "positions"]
        rows = [[*heading, "line"]]
        for case in self.openings:
            results = [_RESULTS[case.value], _RESULTS[case.outcome]]
            error = "-" if case.first_error is None else str(case.first_error)
            proven = "yes" if case.proven else "no"
            about = [case.opening or "-", _SEATS[case.seat], *results, error, proven]
            rows.append([*about, str(case.positions), case.line])
        return [rows]

    def records(self) -> Rows:
        """Return the table for programs, with values and outcomes as numbers."""
        return with_heading([_as_dict(case) for case in self.openings])

    def as_dict(self) -> dict[str, Any]:
        """Return the whole result as plain Python objects."""
        return {
            "player": self.player,
            "budget": self.budget,
            "held": self.held,
            "positions": self.positions,
            "notes": self.notes,
            "openings": [_as_dict(case) for case in self.openings],
        }


def _as_dict(case: WorstCase) -> dict[str, Any]:
    found = asdict(case)
    del found["fault"], found["searched"]  # in the notes and the summary
    return found


def refute(
    player: Player | Mapping[str, Player],
    openings: Openings = 2,
    positions: int = BUDGET,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    watch: Watcher | None = None,
) -> Refutation:
    """Search each opening and colour for a game in which an agent gives away a win or a draw.

    Args:
        player: a spec, a callable on an observation, or a mapping from a name to one of these.
        openings: as in :func:`evaluation.round_robin`.
        positions: number of positions per opening and colour after which the search asks the
            agent for no new move, except to complete the last line.
        seed: seed of stochastic agents; the seed of each position is derived from it.
        jobs: number of worker processes; the result does not depend on it.
        out: folder for answers and scores; several agents can share the folder. The same call, or
            the same call with more ``positions``, resumes from the files.
        limit: number of openings to take, in an order drawn with the seed; None takes all.
        watch: called from time to time with the number of searches done and the total.

    Returns:
        the worst case of each opening and colour.

    Raises:
        InvalidOption: a number or an opening is invalid.
        UnknownAgent, InvalidOption, ...: the spec is wrong.
        UnreadableRun: a stored file is damaged.
        Unwritable: another process is writing to the folder.
    """
    chosen = Settings(seed=seed, jobs=jobs, out=out, limit=limit)
    positions = require_integer("positions", positions)
    starts = choose_openings(openings, chosen.seed, chosen.limit)
    field = name_players(player if isinstance(player, Mapping) else [player])
    if len(field) != 1:
        raise InvalidOption(f"{len(field)} agents given: expected one agent to refute")
    (name,) = field
    folder = None if chosen.out is None else Path(chosen.out)
    cases = [(opening, seat) for opening in starts for seat in (0, 1)]
    found: dict[tuple[str, int], WorstCase] = {}
    with one_interrupt(), closing(line_up(field, jobs=chosen.jobs)) as lineup:
        traits = lineup.traits
        run = RunSpec(field, chosen.seed, registered=registered_here(), id=lineup.id)
        task = _Task(
            name, describe_player(field[name]), run, positions, folder, traits.in_short(name)
        )
        with closing(_cases(task, lineup, cases, chosen.jobs)) as results:
            for case in results:
                found[case.opening, case.seat] = case
                if watch is not None:
                    watch(len(found), len(cases))
    ordered = tuple(found[case] for case in cases)
    return Refutation(name, ordered, positions, _notes(traits, chosen.seed, ordered))


def _notes(kind: Traits, seed: int, cases: tuple[WorstCase, ...]) -> tuple[str, ...]:
    notes = []
    if kind.timed:
        notes.append("Its moves depend on the clock: another search may find other lines.")
    elif not kind.deterministic:
        notes.append(
            f"It does not claim to be deterministic. It answered each position once, with a seed "
            f"from the position and --seed {seed}; the result holds only for these answers."
        )
    faults = [f"{case.line or 'empty board'}: {case.fault}" for case in cases if case.fault]
    if faults:
        notes.append(f"Lines that ended without an answer: {len(faults)}, for example {faults[0]}.")
    return tuple(notes)


@dataclass(frozen=True)
class _Task:
    """The arguments of a search, except the opening and the agent's colour."""

    name: str
    spec: str
    run: RunSpec
    budget: int
    folder: Path | None
    identity: str

    def path(self, opening: str, seat: int) -> Path | None:
        """Return the file of an opening and colour; the name includes a hash of the arguments."""
        if self.folder is None:
            return None
        asked = json.dumps(
            [self.name, self.spec, self.identity, self.run.seed, version_here(), opening, seat]
        )
        mark = hashlib.sha256(asked.encode("utf-8", "backslashreplace")).hexdigest()[:12]
        readable = re.sub(r"[^\w=.-]+", "-", self.name)[:60]
        return self.folder / f"{readable}-{opening}-{seat}-{mark}.jsonl"


def _cases(
    task: _Task, lineup: Lineup, cases: list[tuple[str, int]], jobs: int
) -> Generator[WorstCase, None, None]:
    """Search the cases, and yield each result when it is ready."""
    player = lineup.players[task.name]
    if not may_start_processes() or (jobs == 1 and not names_code(player)):
        agent_cache.adopt(task.run.id, lineup.made)
        try:
            for case in cases:
                with stdout_to_stderr():
                    found = _case(task, *case)
                yield found
        finally:
            agent_cache.clear()
        return
    task = replace(task, run=task.run.for_workers())
    left: deque[Any] = deque((*case, {}) for case in cases)
    workers, lineup.workers[:] = lineup.workers[:], []
    with closing(do_all(partial(_case, task), left, jobs, workers=workers)) as done:
        for (opening, seat, faults), found in done:
            if isinstance(found, Lost):  # search again, without this question
                moves = format_moves(found.turn.columns)
                words = f"{found.ending}: {found.reason}"
                left.append((opening, seat, {**faults, Position.parse(moves): words}))
            else:
                yield found


# -- in the worker -----------------------------------------------------------------------


def _case(
    task: _Task, opening: str, seat: int, faults: Mapping[Position, str] = MappingProxyType({})
) -> WorstCase:
    """Search a case; ``faults`` has the positions in which the agent ended its worker."""
    facts = Facts(task.path(opening, seat), FACTS, PATIENCE)

    def answer(position: Position) -> Answer:
        found = faults.get(position)
        return found or question_in_worker(task.run, task.name, task.name, position)

    with facts.journal:
        return Search(answer, facts, seat, task.budget).run(opening)
