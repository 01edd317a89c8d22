"""Play one game between two agents."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from c4env.agents.base import Agent
from c4env.evaluation.records.game import Ending, GameRecord
from c4env.evaluation.runs.turn import Forfeit, ask, begin, count
from c4env.evaluation.seeds import seeds
from c4env.position import Position, format_moves


class Clock(NamedTuple):
    """The time limit of a move. A move that exceeds ``movetime + margin`` forfeits the game."""

    movetime: float  # seconds per move, as the agents are told
    margin: float  # additional seconds, for measuring and a busy machine

    @property
    def limit(self) -> float:
        """The seconds after which a move forfeits the game."""
        return self.movetime + self.margin

    def __str__(self) -> str:
        return f"the limit is {self.movetime:g} s plus a margin of {self.margin:g} s"


def game_seed(seed: int, players: tuple[str, str], opening: str, seat: int) -> int:
    """Return the 63-bit seed of one player in one game.

    The seed depends only on the identity of the game, not on the number of workers, the order of
    games or interruptions.
    """
    sequence = seeds((*players, opening, str(seat)), seed)
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def play_game(
    agents: tuple[Agent, Agent],
    names: tuple[str, str],
    opening: str = "",
    seed: int = 0,
    clock: Clock | None = None,
    on_move: Callable[[Position, int], None] | None = None,
) -> GameRecord:
    """Play one game to its end; an agent that fails forfeits the game.

    Args:
        agents: the first and the second player.
        names: the names of the players in the record; they also determine the seeds.
        opening: 1-based columns played before the agents take over.
        seed: the run's seed.
        clock: the time limit of a move; None sets no limit.
        on_move: called after each move with the new position and the column.
    """
    position, moves = Position.parse(opening), opening
    nodes, seconds, asked_again = [0, 0], [0.0, 0.0], [0, 0]

    def record(winner: int | None, ending: Ending, reason: str = "") -> GameRecord:
        spent = (nodes[0], nodes[1]), (seconds[0], seconds[1]), (asked_again[0], asked_again[1])
        return GameRecord(names, opening, moves, winner, ending, reason, *spent)

    for seat, agent in enumerate(agents):
        try:
            begin(agent, game_seed(seed, names, opening, seat))
        except Forfeit as error:
            return record(1 - seat, error.ending, error.reason)
    while position.outcome is None:
        seat, fault = position.to_move, None
        started = time.perf_counter()
        try:
            column, searched = ask(agents[seat], position)
        except Forfeit as error:
            fault = error
        spent = time.perf_counter() - started
        seconds[seat] += spent
        asked_again[seat] += count(agents[seat], "asked_again")
        if clock is not None and spent > clock.limit:  # also if the answer is wrong
            fault = Forfeit("time", str(clock))
        if fault is not None:
            return record(1 - seat, fault.ending, fault.reason)
        nodes[seat] += searched
        moves += format_moves([column])
        position = position.play(column)
        if on_move is not None:
            on_move(position, column)
    return record(
        position.outcome.winner, "full board" if position.outcome.winner is None else "four"
    )
