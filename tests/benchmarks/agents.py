"""Time a move of the published systems, beside the chain system in pure Python.

The reference searches the same tree (the node counts agree), so the ratio is what native
code gives.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Final

from c4env import agents
from c4env.agents.base import SearchingAgent
from c4env.evaluation.tables import Table
from c4env.position import Position
from tests.benchmarks.harness import timed
from tests.helpers import reference

CHAIN: Final = "alphabeta-chain"
SPECS: Final = (CHAIN, "alphabeta-window", "alphabeta-window-b", "rust-port", "minimax")
BASELINE: Final = "alphabeta-chain in pure Python"
DEPTH: Final = 7  # of the chain system, as published


def in_python(moves: str, depth: int) -> tuple[int, float, int]:
    """Column, value and nodes of the chain system, by the reference of the tests."""
    board, system = reference.board_after(moves), reference.chain_system()
    return reference.best_column(board, len(moves) % 2, depth, system, reference.alphabeta)


def run(repeat: int = 7) -> Table:
    """Time every agent on the empty board; the fastest of the repetitions counts."""
    clock = time.perf_counter
    seconds, (_, _, nodes) = timed(partial(in_python, "", DEPTH), 3, clock)
    found = [(BASELINE, 1e3 * seconds, nodes)]
    for spec in SPECS:
        agent = agents.make(spec)
        assert isinstance(agent, SearchingAgent)
        depth = agent.search(Position()).depth
        seconds, (_, _, nodes) = timed(partial(agent.best_move, Position()), repeat, clock)
        found.append((f"{spec} (depth {depth})", 1e3 * seconds, nodes))
    chain = found[1 + SPECS.index(CHAIN)][1]
    rows = [(name, ms, nodes, ms / chain) for name, ms, nodes in found]
    return Table.of(
        {"one move on the empty board": "", "ms": ".3f", "nodes": ",", "times chain": ".1f"}, rows
    )
