"""Play one game between two players."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from c4env.evaluation.games.asking import Answer, Fault
from c4env.evaluation.seeds import seeds
from c4env.evaluation.store.run_files import Ending, GameRecord
from c4env.position import Position, format_moves


class Clock(NamedTuple):
    """The time limit of a move. A move longer than ``movetime + margin`` forfeits the game."""

    movetime: float  # seconds per move, which agents know
    margin: float  # additional seconds, for measuring and a busy machine

    def late(self, seconds: float) -> str:
        """Return the reason why a move of ``seconds`` forfeits, or ""."""
        if seconds <= self.movetime + self.margin:
            return ""
        return f"the limit is {self.movetime:g} s plus a margin of {self.margin:g} s"


class GamePlayer(Protocol):
    """Who plays a game: one of ``c4env.evaluation.games.referee``."""

    def reset(self, seed: int) -> Fault | None:
        """Begin a game."""

    def ask(self, position: Position, moves: str, clock: Clock | None) -> Answer:
        """Return the player's column and nodes, or its fault."""


def game_seed(seed: int, players: tuple[str, str], opening: str, seat: int) -> int:
    """Return the 63-bit seed of one player in one game.

    The seed depends only on the identity of the game, not on the number of workers, the order of
    games or interruptions.
    """
    sequence = seeds((*players, opening, str(seat)), seed)
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def play_game(
    players: tuple[GamePlayer, GamePlayer],
    names: tuple[str, str],
    opening: str = "",
    seed: int = 0,
    clock: Clock | None = None,
    on_move: Callable[[Position, int], None] | None = None,
) -> GameRecord:
    """Play one game to its end; a player that fails forfeits the game.

    Args:
        players: the first and the second player.
        names: their names in the record, which also determine the seeds.
        opening: 1-based columns played before the players take over.
        seed: the run's seed.
        clock: the time limit of a move; None sets no limit.
        on_move: called after each move with the new position and the column.
    """
    position, moves = Position.parse(opening), opening
    nodes, seconds = [0, 0], [0.0, 0.0]

    def record(winner: int | None, ending: Ending, reason: str = "") -> GameRecord:
        spent = (nodes[0], nodes[1]), (seconds[0], seconds[1])
        return GameRecord(names, opening, moves, winner, ending, reason, *spent)

    for seat, player in enumerate(players):
        if fault := player.reset(game_seed(seed, names, opening, seat)):
            return record(1 - seat, *fault)
    while position.outcome is None:
        seat = position.to_move
        started = time.perf_counter()
        answer = players[seat].ask(position, moves, clock)
        spent = time.perf_counter() - started
        seconds[seat] += spent
        if clock is not None and (late := clock.late(spent)):
            answer = Fault("time", late)
        if isinstance(answer, Fault):
            return record(1 - seat, *answer)
        column, searched = answer
        nodes[seat] += searched
        moves += format_moves([column])
        position = position.play(column)
        if on_move is not None:
            on_move(position, column)
    return record(
        position.outcome.winner, "full board" if position.outcome.winner is None else "four"
    )


def repeats(player: GamePlayer, game: GameRecord, seat: int, seed: int, seconds: float) -> bool:
    """Return whether a player makes its moves of a game again.

    The player is asked for about ``seconds``. A fault proves nothing: its process may be closed.
    """
    ends = time.monotonic() + seconds
    if player.reset(game_seed(seed, game.players, game.opening, seat)):
        return True
    for plies in range(len(game.opening), len(game.moves)):
        position = Position.parse(game.moves[:plies])
        if position.to_move != seat:
            continue
        answer = player.ask(position, game.moves[:plies], None)
        if isinstance(answer, Fault):
            return True
        if format_moves(answer[:1]) != game.moves[plies]:
            return False
        if time.monotonic() > ends:
            return True
    return True
