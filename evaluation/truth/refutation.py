"""Refutation: the least that any opponent can hold an agent to, and by which moves.

From each opening and with each colour all moves of the opponent are searched, together with the
agent's own answers. The agent is asked afresh in each position, with a seed made of the position,
so that it answers alike however the position was reached. Three facts keep the search short:

- What exact play gives the agent is the most it can be held to.
- Once exact play says that the agent is lost, or no more than drawn, the opponent need only
  play on by exact scores, against the agent's own answers, to the end.
- When no four is left that the opponent could still complete, it cannot win any more.

Positions are taken in the order of :func:`promise`: first those the agent has nearly lost. All
that is found out of an opening is appended to a file of its own, so a search that was stopped, or
is given more positions later, goes on where it was.
"""

from __future__ import annotations

import functools
import hashlib
import heapq
import json
import os
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import BrokenExecutor
from contextlib import closing, nullcontext, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import joblib

import agents
from agents.solver import Solver
from agents.zoo.registry import registered_here
from c4env.bitboard import BOARD, CELLS, fours
from c4env.position import Position, format_moves
from evaluation.errors import InvalidRun, RunInUse, WorkerDied
from evaluation.games.processes import deaf_to_interrupts, start_worker
from evaluation.games.settings import Settings, Watcher
from evaluation.games.workers import dismiss_processes, version_here
from evaluation.plan.field import Player, code_of, name_players, traits
from evaluation.plan.openings import Openings, choose_openings
from evaluation.store.journal import Journal
from evaluation.tables import as_csv, as_markdown, as_text
from evaluation.truth.answers import question
from evaluation.truth.judge import strongest_book

FORMAT: Final = "c4env refutation 1"
BUDGET: Final = 1000
"""Positions the agent is asked in, for each opening and colour, unless another number is given."""
PATIENCE: Final = 6  # half seconds to wait for a file that is in use

_RESULTS: Final = {1: "win", 0: "draw", -1: "loss"}


@dataclass(frozen=True)
class WorstCase:
    """What the best opponent found gets from one opening, when the agent has one of the colours.

    Attributes:
        opening: 1-based columns.
        seat: 0 if the agent is the first player, 1 if the second.
        value: what exact play of both sides gives the agent: 1, 0 or -1.
        outcome: what it got against the best line found; never more than ``value``.
        line: that line, 1-based columns from the empty board to the end of the game.
        first_error: discs on the board when the agent first gave away a win or a draw in that
            line; None if it never did.
        proven: no opponent can do better: all was searched that could show one.
        positions: those the agent was asked in.
        searched: so many plies after the opening, all lines of the opponent were tried; if
            proven, all that matter to the end.
        fault: what the agent did in place of an answer, if the line ends with that.
    """

    opening: str
    seat: int
    value: int
    outcome: int
    line: str
    first_error: int | None
    proven: bool
    positions: int
    searched: int
    fault: str = ""


@dataclass(frozen=True)
class Refutation:
    """The worst cases of an agent.

    Attributes:
        player: its name.
        openings: one for each opening and colour.
        budget: positions it was asked in for each, at most, before a line was played to its end.
        notes: what a reader must know of how it was asked.
    """

    player: str
    openings: tuple[WorstCase, ...]
    budget: int
    notes: tuple[str, ...] = ()

    @property
    def positions(self) -> int:
        """Positions the agent was asked in, in all."""
        return sum(case.positions for case in self.openings)

    @property
    def tenable(self) -> tuple[WorstCase, ...]:
        """The cases that are won or drawn for the agent by exact play."""
        return tuple(case for case in self.openings if case.value >= 0)

    @property
    def held(self) -> float | None:
        """Share of :attr:`tenable` where no line was found that gets less; None if none is."""
        kept = [case.outcome == case.value for case in self.tenable]
        return sum(kept) / len(kept) if kept else None

    @property
    def shortest(self) -> WorstCase | None:
        """The refutation of fewest discs, the first of them; None if there is none."""
        found = [case for case in self.tenable if case.outcome < case.value]
        return min(found, key=lambda case: len(case.line), default=None)

    def summary(self) -> str:
        """What it holds, in a few sentences."""
        kept = [case for case in self.tenable if case.outcome == case.value]
        cases = f"{len(self.openings)} openings and colours, {len(self.tenable)} of which"
        lines = [f"{self.player}: {cases} it could win or draw."]
        if self.held is not None:
            open_ = [case.searched for case in kept if not case.proven]
            lines.append(
                f"It holds {len(kept)} of {len(self.tenable)} ({self.held:.1%}): "
                f"{len(kept) - len(open_)} against every line (proven), {len(open_)} without a "
                f"refutation in {self.budget} positions"
                + (f", all lines of {min(open_)} plies." if open_ else ".")
            )
        errors = [case.first_error for case in self.openings if case.first_error is not None]
        if errors:
            median = statistics.median(errors)
            lines.append(f"Median of the discs on the board at its first error: {median:g}.")
        if (case := self.shortest) is not None:
            lines.append(
                f"Shortest refutation found: {case.line} (the agent has seat {case.seat})."
            )
        lines.append(f"It was asked in {self.positions} positions.")
        return "\n".join([*lines, *self.notes])

    def rows(self) -> list[list[str]]:
        """Heading and one row for each opening and colour, as text."""
        heading = ["opening", "seat", "value", "outcome", "first error", "proven", "positions"]
        rows = [[*heading, "line"]]
        for case in self.openings:
            results = [_RESULTS[case.value], _RESULTS[case.outcome]]
            error = "-" if case.first_error is None else str(case.first_error)
            proven = "yes" if case.proven else "no"
            about = [case.opening or "-", str(case.seat), *results, error, proven]
            rows.append([*about, str(case.positions), case.line])
        return rows

    def text(self) -> str:
        """For a terminal."""
        return f"{as_text(self.rows())}\n\n{self.summary()}"

    def markdown(self) -> str:
        """The same in Markdown."""
        return f"{as_markdown(self.rows())}\n\n{self.summary()}"

    def csv(self) -> str:
        """The table alone, with values and outcomes as numbers."""
        cases = [_as_dict(case) for case in self.openings]
        return as_csv([list(cases[0]), *(list(case.values()) for case in cases)])

    def json(self) -> str:
        """All of it, for programs."""
        found = {
            "player": self.player,
            "budget": self.budget,
            "held": self.held,
            "positions": self.positions,
            "notes": self.notes,
            "openings": [_as_dict(case) for case in self.openings],
        }
        return json.dumps(found, indent=2)

    def __str__(self) -> str:
        return self.text()


def _as_dict(case: WorstCase) -> dict[str, Any]:
    found = asdict(case)
    del found["fault"], found["searched"]  # they are in the notes and the summary
    return found


def refute(
    player: Player,
    openings: Openings = 2,
    positions: int = BUDGET,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    watch: Watcher | None = None,
) -> Refutation:
    """Find what any opponent can hold an agent to, from each opening and with each colour.

    Args:
        player: a spec, or a callable on an observation.
        openings: as in :func:`evaluation.round_robin`.
        positions: how many the agent is asked in, for each opening and colour, before the search
            ends; a line that is being played to its end is still finished.
        seed: of agents that draw lots; each position has a seed of its own, made from this one.
        jobs: worker processes; they find the same for any number.
        out: a folder that keeps all that is found out, also of several agents; the same call, or
            one with more positions, goes on from there.
        limit: only so many of the openings, the first in the order of the seed.
        watch: called with openings and colours done and in all, now and then.

    Raises:
        InvalidRun: a bad number or opening.
        UnknownAgent, UnknownOption, ...: the spec is wrong.
        UnreadableRun: what was kept is damaged or in use.
        WorkerDied: a worker process ended; what it had found out is kept.
    """
    chosen = Settings(seed=seed, jobs=jobs, out=out, limit=limit)
    if isinstance(positions, bool) or not isinstance(positions, int) or positions < 1:
        raise InvalidRun(f"positions={positions!r}: expected an integer, at least 1")
    starts = choose_openings(openings, chosen.seed, chosen.limit)
    field = name_players([player])
    (name,) = field
    folder = None if chosen.out is None else Path(chosen.out)
    task = _Task(name, player, chosen.seed, positions, folder, code_of(field), registered_here())
    cases = [(opening, seat) for opening in starts for seat in (0, 1)]
    found: dict[tuple[str, int], WorstCase] = {}
    with closing(_on_workers(task, cases, chosen.jobs)) as results:
        for case in results:
            found[case.opening, case.seat] = case
            if watch is not None:
                watch(len(found), len(cases))
    ordered = tuple(found[case] for case in cases)
    return Refutation(name, ordered, positions, _notes(name, player, chosen.seed, ordered))


def _notes(name: str, player: Player, seed: int, cases: tuple[WorstCase, ...]) -> tuple[str, ...]:
    kind = traits({name: player})
    notes = []
    if kind.timed:
        notes.append("Its moves depend on the clock: another search need not find the same.")
    elif not kind.deterministic:
        notes.append(
            f"It is not known to answer a position always alike: each was asked once, with a seed "
            f"from the position and --seed {seed}. All is said of those answers."
        )
    faults = [f"{case.line or 'empty board'}: {case.fault}" for case in cases if case.fault]
    if faults:
        notes.append(f"{len(faults)} lines end without an answer of the agent, as {faults[0]}.")
    return tuple(notes)


@dataclass(frozen=True)
class _Task:
    """What a worker must know besides the opening and the colour."""

    name: str
    player: Player
    seed: int
    budget: int
    folder: Path | None
    code: Mapping[str, str]
    registered: Mapping[str, Any]

    def path(self, opening: str, seat: int) -> Path | None:
        """The file of an opening and colour: another agent, seed or version has another."""
        if self.folder is None:
            return None
        identity = json.dumps([self.name, self.seed, version_here(), self.code, opening, seat])
        mark = hashlib.sha256(identity.encode()).hexdigest()[:12]
        readable = re.sub(r"[^\w=.-]+", "-", self.name)[:60]
        return self.folder / f"{readable}-{opening}-{seat}-{mark}.jsonl"


def _on_workers(
    task: _Task, cases: list[tuple[str, int]], jobs: int
) -> Generator[WorstCase, None, None]:
    """The cases as they are found, in any order."""
    if jobs == 1:
        yield from (_case(task, *case) for case in cases)
        return
    parallel = joblib.Parallel(
        n_jobs=jobs,
        batch_size=1,
        return_as="generator_unordered",
        initializer=start_worker,
        initargs=(os.getpid(),),
    )
    with deaf_to_interrupts():
        results = parallel(joblib.delayed(_case)(task, *case) for case in cases)
    try:
        yield from results
    except BrokenExecutor as error:
        raise WorkerDied(
            f"{task.name} ended its process ({' '.join(str(error).split())})"
        ) from None
    finally:
        with warnings.catch_warnings():  # of a search that is stopped
            warnings.filterwarnings("ignore", r"(?s).*\d tasks (have|which)")
            results.close()
        dismiss_processes()


# -- in the worker -----------------------------------------------------------------------


def _case(task: _Task, opening: str, seat: int) -> WorstCase:
    for name, agent in task.registered.items():
        agents.register(name, agent, replace=True)
    made = isinstance(task.player, str)
    policy: Any = agents.make(task.player) if isinstance(task.player, str) else task.player
    path = task.path(opening, seat)
    with (
        redirect_stdout(sys.stderr),  # what agents print: stdout is for the answer
        closing(policy) if made else nullcontext(),
        nullcontext() if path is None else _journal(path) as journal,
    ):

        def answer(position: Position) -> int | str:
            column, fault = question(policy, task.name, position, task.seed)
            return fault if column is None else column

        return _Search(answer, _Facts(journal), seat, task.budget).run(opening)


def _journal(path: Path) -> Journal[Any]:
    """The file, once a worker has left whose leading process was killed a moment ago."""
    for _ in range(PATIENCE):
        try:
            return Journal(path, FORMAT, _parse)
        except RunInUse:
            time.sleep(0.5)
    return Journal(path, FORMAT, _parse)


class _Facts:
    """What was found out of positions, by kind of question; in a file as well, if there is one."""

    def __init__(self, journal: Journal[Any] | None) -> None:
        self._journal = journal
        self._known: dict[tuple[str, int, int], Any] = dict(journal.entries) if journal else {}

    def find(self, kind: str, position: Position, ask: Callable[[Position], Any]) -> Any:
        """What is known, or what ``ask`` says now."""
        key = (kind, position.mine, position.theirs)
        if key not in self._known:
            found = ask(position)
            if self._journal is not None:
                self._journal.append([*key, found])
            self._known[key] = found
        return self._known[key]


def _parse(entry: Any) -> tuple[tuple[str, int, int], Any]:
    kind, mine, theirs, found = entry
    position = Position.from_bitboards(mine, theirs)
    if kind != "score" and not isinstance(found, str) and not position.is_legal(found):
        raise ValueError
    return (kind, mine, theirs), found


@functools.cache
def solver() -> Solver:
    """One a process: what it found out serves the next openings."""
    return Solver(book=strongest_book())


class _Node(NamedTuple):
    """A position, the game that led to it, and its exact score for the agent."""

    position: Position
    moves: str
    score: int


def promise(node: _Node) -> int:
    """Less is searched sooner: what the agent is close to losing, and what comes soon."""
    return node.position.plies + 3 * max(node.score, 0)


class _Search:
    """The search from one opening."""

    def __init__(
        self, answer: Callable[[Position], int | str], facts: _Facts, seat: int, budget: int
    ) -> None:
        self._answer = answer
        self._facts = facts
        self._seat = seat
        self._budget = budget
        self._asked: set[Position] = set()
        self._outcome = 2  # more than any game gives: nothing found yet
        self._line = ""
        self._fault = ""

    def run(self, opening: str) -> WorstCase:
        position = Position.parse(opening)
        root = _Node(position, opening, self._score(position))
        self._play_out(root)
        left = CELLS if self._outcome == -1 else self._search(root)
        value, errs = _sign(root.score), self._first_error(len(opening))
        found = (self._outcome, self._line, errs, left == CELLS, len(self._asked))
        searched = left - position.plies
        return WorstCase(opening, self._seat, value, *found, searched, self._fault)

    def _score(self, position: Position) -> int:
        """The exact score, for the agent."""
        score: int = self._facts.find("score", position, lambda p: solver().score(p))
        return score if position.to_move == self._seat else -score

    def _end(self, moves: str, outcome: int, fault: str = "") -> None:
        """A game is over."""
        if outcome < self._outcome:
            self._outcome, self._line, self._fault = outcome, moves, fault

    def _play(self, node: _Node, column: int) -> _Node | None:
        """The position after a column, if the game goes on."""
        position = node.position.play(column)
        moves = node.moves + format_moves([column])
        if position.outcome is not None:
            winner = position.outcome.winner
            self._end(moves, 0 if winner is None else 1 if winner == self._seat else -1)
            return None
        return _Node(position, moves, 0)

    def _reply(self, node: _Node) -> _Node | None:
        """The position after the agent's answer, with its score, if the game goes on."""
        self._asked.add(node.position)
        column = self._facts.find("agent", node.position, self._answer)
        if isinstance(column, str):
            self._end(node.moves, -1, column)
            return None
        after = self._play(node, column)
        return after and after._replace(score=self._score(after.position))

    def _play_out(self, node: _Node | None) -> None:
        """The game to its end, the opponent playing best by exact scores."""
        while node is not None:
            if node.position.to_move == self._seat:
                node = self._reply(node)
            else:
                best = self._facts.find(
                    "best", node.position, lambda p: solver().best_columns(p)[0]
                )
                node = self._play(node, best)

    def _search(self, root: _Node) -> int:
        """Look for less than was found so far.

        Returns:
            Discs on the board to which all lines were searched: all, unless positions ran out.
        """
        after = self._reply(root) if root.position.to_move == self._seat else root
        waiting = [] if after is None else [(0, 0, after)]
        seen: set[Position] = set()
        while waiting:
            _, _, node = heapq.heappop(waiting)
            for column in node.position.legal_columns():
                before = self._play(node, column)
                if before is None or before.position in seen:
                    continue
                if len(self._asked) >= self._budget and before.position not in self._asked:
                    return min(n.position.plies for n in [node, *(left for _, _, left in waiting)])
                seen.add(before.position)
                after = self._reply(before)
                if after is not None and _sign(after.score) < self._outcome:
                    self._play_out(after)
                if self._outcome == -1:
                    return CELLS
                if after is not None and (self._outcome > 0 or self._can_lose(after.position)):
                    heapq.heappush(waiting, (promise(after), len(seen), after))
        return CELLS

    def _can_lose(self, position: Position) -> bool:
        """Whether a four is left that the opponent could complete."""
        return bool(fours(BOARD & ~position.discs(self._seat)))

    def _first_error(self, start: int) -> int | None:
        """Discs on the board when the agent first gave away value in the line found."""
        position = Position.parse(self._line[:start])
        for digit in self._line[start:]:
            before = self._score(position)
            ply, to_move = position.plies, position.to_move
            position = position.play(int(digit) - 1)
            if to_move == self._seat and _sign(self._score(position)) < _sign(before):
                return ply
        return position.plies if self._fault and self._score(position) >= 0 else None


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)
