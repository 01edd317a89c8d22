"""Games against an agent, judged move by move by the scores of all columns."""

from collections.abc import Callable

from c4env import agents
from c4env.agents.solver import Solver
from c4env.observation import observe
from c4env.position import Position


def lowest(position: Position) -> int:
    return position.legal_columns()[0]


def judged(
    start: str, choose: Callable[[Position], int] = lowest, opponent: str = "greedy"
) -> tuple[int, list[bool]]:
    """The result for the side to move, 1, 0 or -1, and which of its moves kept the result."""
    solver, agent = Solver(), agents.make(opponent)
    position, kept = Position.parse(start), []
    seat = position.to_move
    while position.outcome is None:
        if position.to_move != seat:
            position = position.play(agent(observe(position)))
            continue
        scores, column = solver.scores(position), choose(position)
        best = max(s for s in scores if s is not None)
        kept.append((scores[column] > 0) - (scores[column] < 0) == (best > 0) - (best < 0))
        position = position.play(column)
    winner = position.outcome.winner
    return 0 if winner is None else 1 if winner == seat else -1, kept


def reward(start: str, choose: Callable[[Position], int] = lowest) -> float:
    """The result plus the share of moves that kept it."""
    result, kept = judged(start, choose)
    return result + sum(kept) / len(kept)
