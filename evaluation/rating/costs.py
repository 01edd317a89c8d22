"""The cost of agents: nodes and seconds, over their games."""

from __future__ import annotations

__any_board__ = True

from collections.abc import Iterable
from dataclasses import dataclass, field

from c4env.evaluation.store.record import GameRecord


@dataclass
class Cost:
    """Number of moves that an agent chose, with total nodes and seconds."""

    moves: int = 0
    nodes: int = 0
    seconds: float = 0.0
    by_game: list[float] = field(default_factory=list)  # seconds a move in each game

    @property
    def nodes_a_move(self) -> float:
        """Mean nodes a move."""
        return self.nodes / max(self.moves, 1)

    @property
    def seconds_a_move(self) -> float:
        """Mean seconds a move."""
        return self.seconds / max(self.moves, 1)


def costs(games: Iterable[GameRecord]) -> dict[str, Cost]:
    """The cost of each agent, without the moves of openings."""
    found: dict[str, Cost] = {}
    for game in games:
        for seat, player in enumerate(game.players):
            moves = sum(ply % 2 == seat for ply in range(len(game.opening), len(game.moves)))
            cost = found.setdefault(player, Cost())
            cost.moves += moves
            cost.nodes += game.nodes[seat]
            cost.seconds += game.seconds[seat]
            if moves:
                cost.by_game.append(game.seconds[seat] / moves)
    return found
