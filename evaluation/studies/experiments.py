"""Repeat two published experiments: the gains from pruning and from solver improvements."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from c4env import agents
from c4env.agents.base import SearchingAgent
from c4env.agents.published.negamax import STOPPED
from c4env.agents.search.threads import UNWATCHED
from c4env.agents.solver import Solver
from c4env.agents.solver.ladder import ENTRIES, RUNGS, rung_score
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.exact.labelled import Labelled, check_label, random_games
from c4env.evaluation.tables import Shown, Table, number, plural
from c4env.position import Position

SEARCHES: Final = ("minimax", "alphabeta")
NAIVE, PRUNED = SEARCHES


def random_positions(count: int, seed: int) -> list[Position]:
    """Return the empty board and ``count - 1`` positions of 1 to 20 plies from random games."""
    games = random_games(range(1, 21), np.random.default_rng(seed))
    return [Position(), *map(Position.parse, itertools.islice(games, max(count - 1, 0)))]


def pruning(
    positions: Sequence[Position], depths: Sequence[int], heuristic: str = "chain"
) -> Table:
    """Compare naive minimax with alpha-beta, as in the experiment "Connect 4 Simulator".

    Both searches must choose the same column with the same value in every position.

    Args:
        positions: unfinished positions.
        depths: depths of the searches, in plies.
        heuristic: the heuristic at the leaves.

    Returns:
        a table with a row for each depth: mean time and nodes of each search.

    Raises:
        InvalidRun: ``positions`` is empty, or a position is finished.
        ArithmeticError: two searches disagree, which is a bug in c4env.
    """
    if not positions or any(position.outcome is not None for position in positions):
        raise InvalidRun("expected at least one position, and only unfinished positions")
    count = len(positions)
    heading = ["depth", f"{NAIVE} ms", "nodes"]
    for name in SEARCHES[1:]:
        heading += [f"{name} ms", f"{name} nodes", "time ratio", "nodes ratio"]
    lines: list[list[Any]] = [heading]
    for depth in depths:
        cells: list[Any] = [depth]
        choices, means = [], []
        for name in SEARCHES:
            agent = agents.make(name, depth=depth, heuristic=heuristic)
            assert isinstance(agent, SearchingAgent)
            agent.best_move(positions[0])  # the first call loads the code
            started = time.perf_counter()
            found = [agent.best_move(position) for position in positions]
            ms = 1e3 * (time.perf_counter() - started) / count
            choices.append([(column, value) for column, value, _ in found])
            means.append((ms, sum(nodes for _, _, nodes in found) / count))
            cells += [number(ms, ".3f"), number(means[-1][1], ",.0f")]
            if name != NAIVE:
                ratios = (naive / own for naive, own in zip(means[0], means[-1], strict=True))
                cells += [Shown(ratio, f"{ratio:.1f}x") for ratio in ratios]
        if choices.count(choices[0]) != len(choices):
            raise ArithmeticError(f"the searches disagree at depth {depth}")
        lines.append(cells)
    title = (
        f"{plural(count, 'position')}, heuristic {heuristic}; milliseconds and nodes a move; "
        f"ratio: {NAIVE} divided by {PRUNED}."
    )
    return Table(lines, title, left=())


def exact(sets: Mapping[str, Sequence[Labelled]], max_nodes: int = 20_000_000) -> Table:
    """Compare the solvers of the tutorial "Solving Connect 4", from negamax to the full solver.

    Args:
        sets: labelled positions by the name of their set.
        max_nodes: limit of nodes per position, except for the full solver. A position beyond the
            limit counts as unsolved. If the first five positions of a set are unsolved, the solver
            skips the rest of the set.

    Returns:
        a table with a row for each set and solver, with means over the solved positions.

    Raises:
        InvalidRun: a label differs from the exact score.
    """
    table = np.zeros(ENTRIES, np.int64)
    solver = Solver(book=None)
    solver.score(Position.parse("44444"))  # allocate, and load the code

    def solve(rung: int, position: Position) -> tuple[int, int]:
        if rung == len(RUNGS):
            return solver.score(position), solver.nodes
        return rung_score(position.mine, position.theirs, rung, max_nodes, table, UNWATCHED)

    heading = ["set", "solver", "solved", "positions", "mean ms", "mean nodes", "nodes/s"]
    lines: list[list[Any]] = [heading]
    for name, positions in sets.items():
        for rung, title in enumerate((*RUNGS, "full solver")):
            seconds: list[float] = []
            nodes = 0
            for tried, labelled in enumerate(positions):
                if not seconds and tried >= 5:
                    break
                solver.clear()
                table[:] = 0
                started = time.perf_counter()
                score, searched = solve(rung, labelled.position)
                spent = time.perf_counter() - started
                if score != STOPPED:
                    check_label(labelled, score)
                    seconds.append(spent)
                    nodes += searched
            lines.append([name, title, len(seconds), len(positions), None, None, None])
            if seconds:
                ms, mean = 1e3 * sum(seconds) / len(seconds), nodes / len(seconds)
                rate = number(1e3 * mean / max(ms, 1e-6), ",.0f")
                lines[-1][4:] = [number(ms, ".3f"), number(mean, ",.1f"), rate]
    return Table(lines, left=(0, 1))
