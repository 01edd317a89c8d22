"""Find the worst results that an opponent can force on an agent.

From each opening and with each colour, the search tries all moves of the opponent against the
agent's own answers. A position is asked as a new game with its own seed, so an answer does not
depend on earlier moves. Three facts keep the search short:

- The worst result is at most the value of exact play.
- A perfect opponent holds the agent to the exact result of a position. If the exact result is worse
  than the worst result so far, the search plays the game to its end against a perfect opponent.
- If the opponent can no longer complete a four, the search does not look for a loss of the agent.

The same search, or a search with a higher limit of positions, resumes from the file.
"""

from __future__ import annotations

import heapq
import statistics
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from c4env.agents.solver import Solver
from c4env.errors import InvalidOption, require_integer
from c4env.evaluation.exact.quality import Answer, Key, is_kept, key_of, question
from c4env.evaluation.progress import ProgressCallback
from c4env.evaluation.records.jsonl import Memo
from c4env.evaluation.runs.players import (
    PlayerLike,
    Traits,
    as_players,
    describe_player,
    name_players,
)
from c4env.evaluation.runs.referee import Referee, map_in_threads, referees
from c4env.evaluation.runs.run import Openings, Settings, choose_openings
from c4env.evaluation.tables import Column, Result, Table, plural
from c4env.position import Position, format_moves, parse_moves
from c4env.rules import BOARD, CELLS, fours, sign

REFUTATIONS_FILE: Final = "refutations.jsonl"
BUDGET: Final = 1000
"""The default limit of positions to ask about, for each opening and colour."""
_RESULTS: Final = {1: "win", 0: "draw", -1: "loss"}
_SEATS: Final = ("first", "second")


@dataclass(frozen=True)
class WorstCase:
    """The worst result of an agent from one opening, with one colour.

    Attributes:
        opening: the moves before the search, as 1-based columns.
        seat: 0 if the agent is the first player, 1 if the second.
        value: the agent's result if both sides play exactly: 1, 0 or -1.
        outcome: the agent's result in the worst line found; at most ``value``.
        line: the worst line, 1-based columns from the empty board to the end of the game.
        first_error: discs on the board when the agent first gave away a win or a draw in the
            line; None if the agent gave away neither.
        proven: whether the search was complete, so that no opponent can get a better result.
        positions: number of positions in which the search asked the agent for a move.
        searched: number of plies after the opening in which the search tried all moves of the
            opponent; all plies if proven.
        fault: description of the agent's failure to answer at the end of the line, or "".
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


CASE_COLUMNS: Final = (
    Column("opening", lambda moves: moves or "-"),
    Column("seat", _SEATS.__getitem__),
    Column("value", _RESULTS.__getitem__),
    Column("outcome", _RESULTS.__getitem__),
    *map(Column, ("first_error", "proven", "positions", "line")),
)
"""The columns of :class:`WorstCase`; "value" and "outcome" are shown as win, draw or loss."""


@dataclass(frozen=True)
class Refutation(Result):
    """The worst results of an agent; each case is one opening with one colour.

    Attributes:
        player: the agent's name.
        openings: the worst result in each case.
        budget: number of positions per case after which the search asks the agent for no new
            move, except to complete the last line.
        notes: lines below the table.

    Example:
        >>> refute("greedy", openings=0, positions=10).shortest.line
        '44444432333556355251'
    """

    player: str
    openings: tuple[WorstCase, ...]
    budget: int
    notes: tuple[str, ...] = ()

    @property
    def positions(self) -> int:
        """The number of positions in which the search asked the agent for a move."""
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
        """The refutation with the shortest line (the first of equally short ones), or None."""
        refuted = [case for case in self.tenable if case.outcome < case.value]
        return min(refuted, key=lambda case: len(case.line), default=None)

    def summary(self) -> str:
        """One line each on the kept cases, the first errors and the shortest refutation."""
        asked = plural(self.positions, "position")
        lines = [
            f"{self.player}: {len(self.openings)} cases (openings and colours), {asked} asked."
        ]
        if self.held is not None:
            unproven = [case.searched for case in self.kept if not case.proven]
            lines.append(
                f"Exact play wins or draws {plural(len(self.tenable), 'case')}. {self.player} "
                f"holds {len(self.kept)} of them ({self.held:.1%}), "
                f"{len(self.kept) - len(unproven)} proven."
            )
            if unproven:
                tried = f"{plural(self.budget, 'position')} with all lines of {min(unproven)} plies"
                lines.append(f"Not refuted and not proven: {len(unproven)}, in {tried}.")
        errors = [case.first_error for case in self.openings if case.first_error is not None]
        if errors:
            median = statistics.median(errors)
            lines.append(f"Median number of discs on the board at its first error: {median:g}.")
        if (case := self.shortest) is not None:
            line = case.line or "the empty board"
            lines.append(
                f"Shortest refutation found: {line} (the agent moves {_SEATS[case.seat]})."
            )
        return "\n".join([*lines, *self.notes])

    def tables(self) -> dict[str, Table]:
        """One table with a row for each opening and colour."""
        faults = [Column("fault")] if any(case.fault for case in self.openings) else []
        return {"openings": Table([*CASE_COLUMNS, *faults], self.openings)}

    def facts(self) -> dict[str, Any]:
        """The agent, and the cases and positions of the search."""
        return {
            "player": self.player,
            "budget": self.budget,
            "held": self.held,
            "positions": self.positions,
        }


def refute(
    player: PlayerLike | Mapping[str, PlayerLike],
    openings: Openings = 2,
    positions: int = BUDGET,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    watch: ProgressCallback | None = None,
) -> Refutation:
    """Search each opening and colour for a game in which an agent gives away a win or a draw.

    Args:
        player: a spec, a callable on an observation, or a mapping from a name to one of these.
        openings: as for :func:`c4env.list_openings`.
        positions: limit of positions to ask about, for each opening and colour. At the limit, the
            search asks the agent for no new move, except to complete the last line.
        seed: seed of the openings and of the agent. The seed of each position is derived from it.
        jobs: number of searches at a time; the result does not depend on it.
        out: folder that keeps each answer and score at once, in ``refutations.jsonl``; the same
            call, or a call with more positions, resumes from there. Several agents can share the
            folder.
        limit: number of openings to take, drawn by the seed; all if not given.
        watch: called from time to time with the number of searches done and the total.

    Returns:
        the worst case of each opening and colour.

    Raises:
        InvalidOption: a number or an opening is invalid.
        Unwritable: another process is writing to the folder.

    Example:
        >>> refuted = refute("greedy", openings=0, positions=10)
        >>> refuted.shortest.line  # greedy moves first and loses
        '44444432333556355251'
    """
    settings = Settings(seed=seed, jobs=jobs, out=out, limit=limit)
    positions = require_integer("positions", positions)
    starts = choose_openings(openings, settings.seed, settings.limit)
    players = name_players(as_players(player))
    if len(players) != 1:
        raise InvalidOption(f"{len(players)} agents given: expected one agent to refute")
    (name,) = players
    path = None if settings.out is None else Path(settings.out) / REFUTATIONS_FILE
    cases = [(opening, seat) for opening in starts for seat in (0, 1)]
    worst: list[WorstCase] = []
    with ExitStack() as stack:
        memo = stack.enter_context(Memo(path, is_kept))
        team = referees(players, jobs=min(settings.jobs, len(cases)))
        for referee in team:
            stack.callback(referee.close)
        traits = team[0].traits(name)
        agent = key_of(describe_player(players[name]), traits, settings.seed, memo)
        search = partial(_worst, name, memo, agent, positions)
        for case in stack.enter_context(closing(map_in_threads(search, cases, team))):
            worst.append(case)
            if watch is not None:
                watch(len(worst), len(cases))
    worst.sort(key=lambda case: cases.index((case.opening, case.seat)))
    return Refutation(name, tuple(worst), positions, _notes(traits, settings.seed, worst))


def _notes(traits: Traits, seed: int, cases: Sequence[WorstCase]) -> tuple[str, ...]:
    """Return what the result depends on, and which lines ended without an answer."""
    notes = []
    if traits.timed:
        notes.append("Its moves depend on the clock: another search may find other lines.")
    elif not traits.deterministic:
        notes.append(
            f"It does not claim to be deterministic. It answered each position once, with a seed "
            f"from the position and --seed {seed}; the result holds only for these answers."
        )
    faults = [f"{case.line or 'empty board'}: {case.fault}" for case in cases if case.fault]
    if faults:
        notes.append(f"Lines that ended without an answer: {len(faults)}, for example {faults[0]}.")
    return tuple(notes)


def _worst(
    name: str, memo: Memo, agent: Key, budget: int, referee: Referee, opening: str, seat: int
) -> WorstCase:
    """Search from an opening with a colour of the agent."""
    spec, run_seed, *_ = agent

    def ask(position: Position) -> Answer:
        return question(referee.agent(name), spec, position, run_seed)

    oracle = _Oracle(ask, memo, agent)
    return _Search(oracle, budget, opening, seat).worst()


class _Search:
    """A search from one opening for the agent's worst result."""

    def __init__(self, oracle: _Oracle, budget: int, opening: str, seat: int) -> None:
        self._oracle, self._budget = oracle, budget
        self._opening, self._seat = opening, seat
        self._asked: set[Position] = set()
        self._outcome = 2  # higher than any result: no line found yet
        self._line = ""
        self._fault = ""

    def worst(self) -> WorstCase:
        """Search, and return the worst result."""
        opening, position = self._opening, Position.parse(self._opening)
        root = _Node(position, opening, self._score(position))
        self._play_out(root)
        left = CELLS if self._outcome == -1 else self._search(root)
        return WorstCase(
            opening=opening,
            seat=self._seat,
            value=sign(root.score),
            outcome=self._outcome,
            line=self._line,
            first_error=self._first_error(len(opening)),
            proven=left == CELLS,
            positions=len(self._asked),
            searched=left - position.plies,
            fault=self._fault,
        )

    def _score(self, position: Position) -> int:
        """Return the exact score of a position for the agent."""
        score = self._oracle.score(position)
        return score if position.to_move == self._seat else -score

    def _end(self, moves: str, outcome: int, fault: str = "") -> None:
        """Record the end of a game if its result is the worst so far."""
        if outcome < self._outcome:
            self._outcome, self._line, self._fault = outcome, moves, fault

    def _play(self, node: _Node, column: int) -> _Node | None:
        """Return the node after a move, or None if the move ends the game."""
        position = node.position.play(column)
        moves = node.moves + format_moves([column])
        if position.outcome is not None:
            winner = position.outcome.winner
            self._end(moves, 0 if winner is None else 1 if winner == self._seat else -1)
            return None
        return _Node(position, moves, 0)

    def _reply(self, node: _Node) -> _Node | None:
        """Return the node after the agent's answer, or None if the answer ends the game."""
        self._asked.add(node.position)
        answer = self._oracle.answer(node.position)
        if answer.column is None:
            self._end(node.moves, -1, answer.fault)
            return None
        after = self._play(node, answer.column)
        return after and after._replace(score=self._score(after.position))

    def _play_out(self, node: _Node | None) -> None:
        """Play a game from a node to its end, with a perfect opponent."""
        while node is not None:
            if node.position.to_move == self._seat:
                node = self._reply(node)
            else:
                node = self._play(node, self._oracle.best(node.position))

    def _search(self, root: _Node) -> int:
        """Search for worse results; return up to which number of discs all lines were tried."""
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
                if after is not None and sign(after.score) < self._outcome:
                    self._play_out(after)
                if self._outcome == -1:
                    return CELLS
                if after is not None and (self._outcome > 0 or self._can_lose(after.position)):
                    # Positions come first if they have few discs and the agent has nearly lost.
                    priority = after.position.plies + 3 * max(after.score, 0)
                    heapq.heappush(waiting, (priority, len(seen), after))
        return CELLS

    def _can_lose(self, position: Position) -> bool:
        """Whether the opponent can still complete a four."""
        return bool(fours(BOARD & ~position.discs(self._seat)))

    def _first_error(self, start: int) -> int | None:
        """Return the ply at which the agent first gives away a win or a draw in the line."""
        position = Position.parse(self._line[:start])
        for column in parse_moves(self._line[start:]):
            before = self._score(position)
            ply, to_move = position.plies, position.to_move
            position = position.play(column)
            if to_move == self._seat and sign(self._score(position)) < sign(before):
                return ply
        return position.plies if self._fault and self._score(position) >= 0 else None


class _Node(NamedTuple):
    """A position, the moves to it, and its exact score for the agent."""

    position: Position
    moves: str
    score: int


class _Oracle(NamedTuple):
    """The agent's answers and exact play; ``refutations.jsonl`` keeps everything asked."""

    ask: Callable[[Position], Answer]
    memo: Memo
    agent: Key

    def answer(self, position: Position) -> Answer:
        """The agent's answer."""
        return Answer.of(self._find("agent", position, lambda p: self.ask(p).kept()))

    def best(self, position: Position) -> int:
        """A column with the best score."""
        return int(self._find("best", position, lambda p: solver().best_columns(p)[0]))

    def score(self, position: Position) -> int:
        """The exact score for the side to move."""
        return int(self._find("score", position, lambda p: solver().score(p)))

    def _find(self, kind: str, position: Position, ask: Callable[[Position], Any]) -> Any:
        key = (*self.agent, kind, position.mine, position.theirs)
        return self.memo.find(key, lambda: ask(position))


_thread = threading.local()


def solver() -> Solver:
    """Return the solver of this thread; all openings share its transposition table."""
    if not hasattr(_thread, "solver"):
        _thread.solver = Solver()
    solver: Solver = _thread.solver
    return solver
