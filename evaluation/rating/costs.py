"""The cost of agents: the nodes and seconds that their moves take."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..store.record import GameRecord


@dataclass
class Cost:
    """The moves that an agent chose, with their nodes and seconds."""

    moves: int = 0
    nodes: int = 0
    by_game: list[float] = field(default_factory=list)  # seconds per move in each game

    @property
    def nodes_a_move(self) -> float:
        """The mean number of nodes per move."""
        return self.nodes / max(self.moves, 1)

    @property
    def seconds_a_move(self) -> float:
        """The seconds per move in the median game, because the first game loads the code."""
        return statistics.median(self.by_game or [0.0])


def costs(games: Iterable[GameRecord]) -> dict[str, Cost]:
    """Return the cost of each agent; moves of openings do not count."""
    found: dict[str, Cost] = {}
    for game in games:
        for seat, player in enumerate(game.players):
            moves = sum(ply % 2 == seat for ply in range(len(game.opening), len(game.moves)))
            cost = found.setdefault(player, Cost())
            cost.moves += moves
            cost.nodes += game.nodes[seat]
            if moves:
                cost.by_game.append(game.seconds[seat] / moves)
    return found
