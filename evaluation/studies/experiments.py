"""The published experiments, repeated: what pruning gives, and what each step to a solver gives."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

import agents
from agents.base import SearchingAgent
from agents.published.negamax import STOPPED
from agents.solver import Solver
from agents.solver.ladder import ENTRIES, RUNGS, TABLE, rung_score
from c4env.position import Position, format_moves
from evaluation.errors import InvalidRun
from evaluation.truth.labelled import Labelled, random_moves

SEARCHES: Final = ("minimax", "alphabeta", "alphabeta-table")
NAIVE, PRUNED, ORDERED = SEARCHES


def spread_positions(count: int, seed: int) -> list[Position]:
    """The empty board and ``count - 1`` positions of random games, 1 to 20 plies old."""
    generator = np.random.default_rng(seed)
    positions = [Position()]
    while len(positions) < count:
        moves = random_moves(int(generator.integers(1, 21)), generator)
        if moves is not None:
            positions.append(Position.parse(format_moves(moves)))
    return positions


class PruningRow(NamedTuple):
    """Totals over the positions at one depth, by search in the order of SEARCHES."""

    depth: int
    seconds: tuple[float, ...]
    nodes: tuple[int, ...]


def pruning(
    positions: Sequence[Position], depths: Sequence[int], heuristic: str = "chain"
) -> tuple[list[PruningRow], str]:
    """Naive minimax against alpha-beta, same positions and depths ("Connect 4 Simulator").

    The third search adds threat ordering and a transposition table. All three must choose
    the same column with the same value in every position.

    Args:
        positions: none of them over.
        depths: plies looked ahead.
        heuristic: at the leaves.

    Returns:
        One row a depth, and a table of them as text.

    Raises:
        InvalidRun: a position is over, or there is none.
        ArithmeticError: two searches disagree, which would be a fault of this project.
    """
    if not positions or any(position.outcome is not None for position in positions):
        raise InvalidRun("expected at least one position, and none whose game is over")
    rows = []
    for depth in depths:
        seconds, nodes, choices = [], [], []
        for name in SEARCHES:
            agent = agents.make(name, depth=depth, heuristic=heuristic)
            assert isinstance(agent, SearchingAgent)
            agent.best_move(positions[0])  # the first call of a process pays for loading
            started = time.perf_counter()
            found = [agent.best_move(position) for position in positions]
            seconds.append(time.perf_counter() - started)
            nodes.append(sum(searched for _, _, searched in found))
            choices.append([(column, value) for column, value, _ in found])
        if choices.count(choices[0]) != len(choices):
            raise ArithmeticError(f"the searches disagree at depth {depth}")
        rows.append(PruningRow(depth, tuple(seconds), tuple(nodes)))
    return rows, _pruning_table(rows, len(positions), heuristic)


def _pruning_table(rows: Sequence[PruningRow], count: int, heuristic: str) -> str:
    lines = [
        f"{count} positions, heuristic {heuristic}; milliseconds and nodes a move; "
        "ratio: how many times less than naive",
        f"{'':>5} | {'naive minimax':^23} | {'alpha-beta':^37} | {'+ threat order, table':^37}",
        f"{'depth':>5} | {'ms':>9} {'nodes':>13}"
        + 2 * f" | {'ms':>9} {'nodes':>11} {'time':>7} {'nodes':>7}",
    ]
    for row in rows:
        line = (
            f"{row.depth:>5} | {1e3 * row.seconds[0] / count:>9.3f} {row.nodes[0] / count:>13,.0f}"
        )
        for seconds, nodes in zip(row.seconds[1:], row.nodes[1:], strict=True):
            line += (
                f" | {1e3 * seconds / count:>9.3f} {nodes / count:>11,.0f} "
                f"{row.seconds[0] / seconds:>6.1f}x {row.nodes[0] / nodes:>6.1f}x"
            )
        lines.append(line)
    return "\n".join(lines)


class ExactRow(NamedTuple):
    """One solver on one set; the means are over the positions it finished."""

    set_name: str
    solver: str
    solved: int
    positions: int
    mean_seconds: float
    mean_nodes: float


def exact(
    sets: Mapping[str, Sequence[Labelled]], max_nodes: int = 20_000_000
) -> tuple[list[ExactRow], str]:
    """The solver table of "Solving Connect 4": from plain negamax, each improvement in turn.

    Args:
        sets: labelled positions by the name of their set.
        max_nodes: what a solver short of the full one may search a position; then it is
            left out of that solver's means and counted as unsolved. A solver that leaves five
            positions running unsolved is given up for the set.

    Returns:
        One row a set and solver, and a table of them as text.

    Raises:
        InvalidRun: a label is not the score that is found.
    """
    rows = []
    table = np.zeros(ENTRIES, np.int64)
    solver = Solver(book=None)
    solver.score(Position.parse("44444"))  # allocate, and load the code
    for name, positions in sets.items():
        for rung, title in enumerate(RUNGS):
            seconds: list[float] = []
            nodes: list[int] = []
            for number, labelled in enumerate(positions):
                if not seconds and number >= 5:
                    break
                if rung >= TABLE:
                    table[:] = 0
                mine, theirs = labelled.position.mine, labelled.position.theirs
                started = time.perf_counter()
                score, searched = rung_score(mine, theirs, rung, max_nodes, table)
                spent = time.perf_counter() - started
                if score != STOPPED:
                    _compare(labelled, score)
                    seconds.append(spent)
                    nodes.append(searched)
            rows.append(_exact_row(name, title, len(positions), seconds, nodes))
        seconds, nodes = [], []
        for labelled in positions:
            solver.clear()
            started = time.perf_counter()
            score = solver.score(labelled.position)
            seconds.append(time.perf_counter() - started)
            nodes.append(solver.nodes)
            _compare(labelled, score)
        rows.append(_exact_row(name, "full solver", len(positions), seconds, nodes))
    return rows, _exact_table(rows)


def _compare(labelled: Labelled, score: int) -> None:
    if score != labelled.score:
        raise InvalidRun(f"{labelled.moves} is labelled {labelled.score}; its score is {score}")


def _exact_row(
    set_name: str, solver: str, count: int, seconds: Sequence[float], nodes: Sequence[int]
) -> ExactRow:
    solved = len(seconds)
    return ExactRow(
        set_name, solver, solved, count, sum(seconds) / max(solved, 1), sum(nodes) / max(solved, 1)
    )


def _exact_table(rows: Sequence[ExactRow]) -> str:
    lines = [
        f"{'set':<14} {'solver':<22} {'solved':>11} {'mean time':>12} {'mean positions':>15} "
        f"{'positions/s':>12}"
    ]
    previous = None
    for row in rows:
        if previous not in (None, row.set_name):
            lines.append("")
        previous = row.set_name
        line = f"{row.set_name:<14} {row.solver:<22} {row.solved:>5}/{row.positions:<5}"
        if row.solved:
            rate = row.mean_nodes / max(row.mean_seconds, 1e-9)
            line += f" {1e3 * row.mean_seconds:>9.3f} ms {row.mean_nodes:>15,.1f} {rate:>12,.0f}"
        lines.append(line)
    return "\n".join(lines)
