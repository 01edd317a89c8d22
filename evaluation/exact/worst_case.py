"""Search all moves of the opponent for an agent's worst result from one opening.

After each move of the opponent, the search plays the agent's own answer. Three facts keep the
search short:

- The worst result is at most the value of exact play.
- A perfect opponent holds the agent to the exact result of a position. If that is worse than the
  worst result so far, the search plays the game to its end against a perfect opponent.
- If the opponent can no longer complete a four, the search looks for no loss of the agent.

:func:`search_priority` orders the positions: positions that the agent has nearly lost come first.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from c4env.agents.solver import Solver
from c4env.bitboard import BOARD, CELLS, fours
from c4env.evaluation.exact.judge import sign, strongest_book
from c4env.evaluation.store.journal import Findings, Format
from c4env.position import Position, format_moves, parse_moves


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


Key = tuple[str, int, int]  # the kind of fact, and the bitboards
Facts = Findings[Key, Any]
"""Stored scores of positions, and stored answers of the agent."""


def parse_fact(entry: Any) -> tuple[Key, Any]:
    """Parse a line of a refutation file into a key and a value.

    Raises:
        ValueError: the line has no position or score, or has an illegal column.
    """
    kind, mine, theirs, found = entry
    position = Position.from_bitboards(mine, theirs)
    if kind == "score":
        good = type(found) is int and abs(found) <= CELLS // 2
    else:
        good = isinstance(found, str) or position.is_legal(found)
    if not good:
        raise ValueError
    return (kind, mine, theirs), found


FACTS: Final = Format("c4env refutation", parse_fact, "facts")


@functools.cache
def solver() -> Solver:
    """Return the solver of this process; all openings share its transposition table."""
    return Solver(book=strongest_book())


class _Node(NamedTuple):
    """A position, the moves to it, and its exact score for the agent."""

    position: Position
    moves: str
    score: int


def search_priority(node: _Node) -> int:
    """Return the sort key of a node: few discs and a low score for the agent give a low key."""
    return node.position.plies + 3 * max(node.score, 0)


class Search:
    """A search from one opening for the agent's worst result.

    Args:
        answer: a function that returns the agent's column, or a description of its failure.
        facts: known scores and answers; the search adds new scores and answers.
        seat: 0 if the agent is the first player, 1 if the second.
        budget: number of positions after which the search asks the agent for no new move, except
            to complete the last line.
    """

    def __init__(
        self, answer: Callable[[Position], int | str], facts: Facts, seat: int, budget: int
    ) -> None:
        self._answer = answer
        self._facts = facts
        self._seat = seat
        self._budget = budget
        self._asked: set[Position] = set()
        self._outcome = 2  # higher than any result: no line found yet
        self._line = ""
        self._fault = ""

    def run(self, opening: str) -> WorstCase:
        """Search from an opening, a string of 1-based columns."""
        position = Position.parse(opening)
        root = _Node(position, opening, self._score(position))
        self._play_out(root)
        left = CELLS if self._outcome == -1 else self._search(root)
        value, errs = sign(root.score), self._first_error(len(opening))
        found = (self._outcome, self._line, errs, left == CELLS, len(self._asked))
        searched = left - position.plies
        return WorstCase(opening, self._seat, value, *found, searched, self._fault)

    def _find(self, kind: str, position: Position, ask: Callable[[Position], Any]) -> Any:
        key = kind, position.mine, position.theirs
        return self._facts.find(key, lambda: ask(position))

    def _score(self, position: Position) -> int:
        """Return the exact score of a position for the agent."""
        score: int = self._find("score", position, lambda p: solver().score(p))
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
        column = self._find("agent", node.position, self._answer)
        if isinstance(column, str):
            self._end(node.moves, -1, column)
            return None
        after = self._play(node, column)
        return after and after._replace(score=self._score(after.position))

    def _play_out(self, node: _Node | None) -> None:
        """Play a game from a node to its end, with a perfect opponent."""
        while node is not None:
            if node.position.to_move == self._seat:
                node = self._reply(node)
            else:
                best = self._find("best", node.position, lambda p: solver().best_columns(p)[0])
                node = self._play(node, best)

    def _search(self, root: _Node) -> int:
        """Search for results that are worse than the worst result so far.

        Returns:
            the number of discs up to which the search tried all lines; CELLS if complete.
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
                if after is not None and sign(after.score) < self._outcome:
                    self._play_out(after)
                if self._outcome == -1:
                    return CELLS
                if after is not None and (self._outcome > 0 or self._can_lose(after.position)):
                    heapq.heappush(waiting, (search_priority(after), len(seen), after))
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
