"""A game at the terminal between people and agents."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from c4env.evaluation.errors import UnreadableRun

from ..agents.base import Agent, SearchingAgent
from ..observation import observe
from ..position import DIGITS, Position, format_moves
from ..view.rendering import SIDES, drawing, words_of
from .games.game import Fault, ask, begin, game_seed
from .plan.header import RunHeader
from .store.record import GAMES_FILE, Ending, GameRecord, open_games

HUMAN: Final = "human"
"""The name of a person in specs and records."""

PEOPLE: Final = RunHeader(kind="people")
"""The header that is written to a record of games that people played."""

PATIENCE: Final = 5.0  # seconds to wait while another process records a game

HELP: Final = f"1-{DIGITS[-1]} drops a disc, u takes back, h hints, q leaves"


class _Turn(NamedTuple):
    """A move, the nodes and seconds it took, and the position after the move."""

    column: int
    nodes: int
    seconds: float
    after: Position


@dataclass
class TerminalGame:
    """A game between people or agents, with moves and boards as lines of text.

    Attributes:
        names: the first and the second player, each HUMAN or an agent's spec.
        agents: the agents of the first and the second player; None for a person.
        hint: the agent that gives hints.
        ask: a function that shows a prompt and reads a line; EOFError means that a person leaves.
        show: a function that prints a line.
        seed: the seed of stochastic agents.
        styled: whether to mark discs with colours.
        opening: 1-based columns played before the game begins; the game must not be over.
    """

    names: tuple[str, str]
    agents: tuple[Agent | None, Agent | None]
    hint: SearchingAgent
    ask: Callable[[str], str]
    show: Callable[[str], Any] = print
    seed: int = 0
    styled: bool = False
    opening: str = ""
    _turns: list[_Turn] = field(default_factory=list)

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self._turns[-1].after if self._turns else Position.parse(self.opening)

    def play(self) -> GameRecord | None:
        """Play until the game ends or a person leaves; return a record, or None if none is kept."""
        for seat, agent in enumerate(self.agents):
            if agent is not None:
                fault = begin(agent, game_seed(self.seed, self.names, self.opening, seat))
                if fault is not None:
                    self.show(f"{self._says(seat, 'forfeit')}: {fault.reason}")
                    return self._record(1 - seat, *fault)
        self.show(self._board())
        while self.position.outcome is None:
            seat = self.position.to_move
            try:
                agent = self.agents[seat]
                started = time.perf_counter()
                answer = (
                    self._ask_person(seat) if agent is None else ask(agent, observe(self.position))
                )
            except EOFError:
                self.show("left the game")
                if len(self._turns) < 2 or self.agents == (None, None):
                    return None
                return self._record(1 - seat, "abandoned", "left the game")
            if isinstance(answer, Fault):
                self.show(f"{self._says(seat, 'forfeit')}: {answer.reason}")
                return self._record(1 - seat, *answer)
            column, nodes = answer
            seconds = time.perf_counter() - started
            self._turns.append(_Turn(column, nodes, seconds, self.position.play(column)))
            self.show(f"\n{self._says(seat, 'play')} {DIGITS[column]}\n{self._board()}")
        winner = self.position.outcome.winner
        if winner is None:
            self.show("a draw")
            return self._record(None, "full board", "")
        self.show(self._says(winner, "win"))
        return self._record(winner, "four", "")

    def _says(self, seat: int, verb: str) -> str:
        """Join a player and a verb; the player is "you" for the only person in the game."""
        if self._is_you(seat):
            return f"you ({SIDES[seat]}) {verb}"
        return f"{self.names[seat]} ({SIDES[seat]}) {verb}s"

    def _is_you(self, seat: int) -> bool:
        return self.agents[seat] is None and self.agents.count(None) == 1

    def _board(self) -> str:
        last = self._moves()[-1:]
        column = DIGITS.index(last) if last else None
        return drawing(self.position, column, colour=self.styled)

    def _moves(self) -> str:
        return self.opening + format_moves([turn.column for turn in self._turns])

    def _ask_person(self, seat: int) -> tuple[int, int] | Fault:
        """Ask a person until the answer is a legal column; obey other commands, such as hints."""
        while True:
            who = "you" if self._is_you(seat) else self.names[seat]
            text = self.ask(f"{who} ({SIDES[seat]}), column 1-{DIGITS[-1]}: ").strip().lower()
            if text == "q":
                raise EOFError
            if text == "u":
                self._take_back()
                seat = self.position.to_move
            elif text == "h":
                from ..agents.solver.perfect import Perfect  # slow to import

                result = self.hint.search(self.position)
                worth = f": value {result.value:g} at depth {result.depth}"
                if isinstance(self.hint, Perfect):
                    worth = f" {words_of(int(result.value), self.position.plies)}"
                line = format_moves(result.principal_variation)
                self.show(f"hint: column {DIGITS[result.column]}{worth}; line {line}")
            elif text not in tuple(DIGITS):
                self.show(f"{text!r} is not a column: {HELP}")
            elif not self.position.is_legal(DIGITS.index(text)):
                self.show(f"column {text} is full: {HELP}")
            else:
                return DIGITS.index(text), 0

    def _take_back(self) -> None:
        """Go back to the previous turn of a person."""
        before = len(self.opening)
        turns = [n for n in range(len(self._turns)) if self.agents[(before + n) & 1] is None]
        if not turns:
            self.show("nothing to take back")
            return
        del self._turns[turns[-1] :]
        self.show(self._board())

    def _record(self, winner: int | None, ending: Ending, reason: str) -> GameRecord:
        odd = len(self.opening) & 1
        first, second = self._turns[odd::2], self._turns[1 - odd :: 2]
        nodes = sum(turn.nodes for turn in first), sum(turn.nodes for turn in second)
        seconds = sum(turn.seconds for turn in first), sum(turn.seconds for turn in second)
        moves = self._moves()
        return GameRecord(self.names, self.opening, moves, winner, ending, reason, nodes, seconds)


def keep(folder: Path, game: GameRecord | None = None) -> None:
    """Append a game to a record of games that people played.

    Without a game, only check that the record can be written; no file is created.
    The record is open only during the call, so that several games can share it.

    Raises:
        UnreadableRun: the folder holds another kind of record, is damaged or cannot be written.
        FileInUse: another process keeps writing to the record.
    """
    if game is None and not (folder / GAMES_FILE).exists():
        path = folder.absolute()
        nearest = next(place for place in (path, *path.parents) if place.exists())
        if not nearest.is_dir() or not os.access(nearest, os.W_OK):
            raise UnreadableRun(f"{folder} cannot be written to")
        return
    with open_games(folder, PEOPLE, PATIENCE) as file:
        if game is not None:
            file.append(game)


def ask_first(
    names: Sequence[str], ask: Callable[[str], str], show: Callable[[str], Any] = print
) -> tuple[str, str]:
    """Ask which player moves first, and return the first and the second player's name.

    Raises:
        EOFError: the person left.
    """
    one, other = names
    shown = ["you" if n == HUMAN and one != other else n for n in names]
    while True:
        text = ask(f"who goes first, 1 ({shown[0]}) or 2 ({shown[1]})? ").strip().lower()
        if text in ("1", one):
            return one, other
        if text in ("2", other):
            return other, one
        if text == "q":
            raise EOFError
        show(f"{text!r}: expected 1 for {shown[0]}, 2 for {shown[1]}, or q to leave")
