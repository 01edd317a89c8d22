"""The published experiments, repeated: what pruning gives, and what each step to a solver gives."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

import agents
from agents.base import SearchingAgent
from agents.published.negamax import STOPPED
from agents.solver import Solver
from agents.solver.ladder import ENTRIES, RUNGS, TABLE, rung_score
from c4env.position import Position, format_moves
from evaluation.errors import InvalidRun
from evaluation.tables import Shown, Table, number, plural
from evaluation.truth.labelled import Labelled, check_label, random_moves

SEARCHES: Final = ("minimax", "alphabeta", "alphabeta-table")
NAIVE, PRUNED, ORDERED = SEARCHES


def random_positions(count: int, seed: int) -> list[Position]:
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
) -> tuple[list[PruningRow], Table]:
    """Naive minimax against alpha-beta, same positions and depths ("Connect 4 Simulator").

    The third search adds threat ordering and a transposition table. All three must choose
    the same column with the same value in every position.

    Args:
        positions: none of them over.
        depths: plies looked ahead.
        heuristic: at the leaves.

    Returns:
        One row a depth, and a table of them.

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


def _pruning_table(rows: Sequence[PruningRow], count: int, heuristic: str) -> Table:
    heading = ["depth", f"{NAIVE} ms", "nodes"]
    for name in SEARCHES[1:]:
        heading += [f"{name} ms", f"{name} nodes", "time ratio", "nodes ratio"]
    lines: list[list[Any]] = [heading]
    for row in rows:
        cells: list[Any] = [row.depth]
        for seconds, nodes in zip(row.seconds, row.nodes, strict=True):
            cells += [number(1e3 * seconds / count, ".3f"), number(nodes / count, ",.0f")]
            if len(cells) > 3:  # not of the one that is compared with
                ratios = row.seconds[0] / seconds, row.nodes[0] / nodes
                cells += [Shown(ratio, f"{ratio:.1f}x") for ratio in ratios]
        lines.append(cells)
    title = (
        f"{plural(count, 'position')}, heuristic {heuristic}; milliseconds and nodes a move; "
        f"ratio: how many times less than {NAIVE}. {ORDERED} adds threat order and a table."
    )
    return Table(lines, title, left=())


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
) -> tuple[list[ExactRow], Table]:
    """The solver table of "Solving Connect 4": from plain negamax, each improvement in turn.

    Args:
        sets: labelled positions by the name of their set.
        max_nodes: what a solver short of the full one may search a position; then it is
            left out of that solver's means and counted as unsolved. A solver that leaves five
            positions running unsolved is given up for the set.

    Returns:
        One row a set and solver, and a table of them.

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
            for tried, labelled in enumerate(positions):
                if not seconds and tried >= 5:
                    break
                if rung >= TABLE:
                    table[:] = 0
                mine, theirs = labelled.position.mine, labelled.position.theirs
                started = time.perf_counter()
                score, searched = rung_score(mine, theirs, rung, max_nodes, table)
                spent = time.perf_counter() - started
                if score != STOPPED:
                    check_label(labelled, score)
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
            check_label(labelled, score)
        rows.append(_exact_row(name, "full solver", len(positions), seconds, nodes))
    return rows, _exact_table(rows)


def _exact_row(
    set_name: str, solver: str, count: int, seconds: Sequence[float], nodes: Sequence[int]
) -> ExactRow:
    solved = len(seconds)
    return ExactRow(
        set_name, solver, solved, count, sum(seconds) / max(solved, 1), sum(nodes) / max(solved, 1)
    )


def _exact_table(rows: Sequence[ExactRow]) -> Table:
    heading = ["set", "solver", "solved", "positions", "mean ms", "mean nodes", "nodes/s"]
    lines: list[list[Any]] = [heading]
    for row in rows:
        lines.append([row.set_name, row.solver, row.solved, row.positions, None, None, None])
        if row.solved:
            rate = row.mean_nodes / max(row.mean_seconds, 1e-9)
            lines[-1][4:] = [
                number(1e3 * row.mean_seconds, ".3f"),
                number(row.mean_nodes, ",.1f"),
                number(rate, ",.0f"),
            ]
    return Table(lines, left=(0, 1))
