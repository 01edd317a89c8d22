"""Time a move of the published systems, beside the chain system in pure Python.

The reference searches the same tree (the node counts agree), so the ratio is what native
code gives.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Final, NamedTuple

import agents
from agents.base import SearchingAgent
from c4env.position import Position
from evaluation.benchmarks import reference
from evaluation.benchmarks.harness import timed
from evaluation.commands.output import show
from evaluation.tables import Table, number

CHAIN: Final = "alphabeta-chain"
SPECS: Final = (CHAIN, "alphabeta-window", "alphabeta-window-b", "rust-port", "minimax")
BASELINE: Final = "alphabeta-chain in pure Python"
DEPTH: Final = 7  # of the chain system, as published


class Row(NamedTuple):
    """One agent's move on the empty board."""

    name: str
    milliseconds: float  # the fastest of the repetitions
    nodes: int


def run(repeat: int = 7) -> list[Row]:
    """Time every agent on the empty board."""
    clock = time.perf_counter
    seconds, (_, nodes) = timed(partial(reference.choose, (), DEPTH), 3, clock)
    rows = [Row(BASELINE, 1e3 * seconds, nodes)]
    for spec in SPECS:
        agent = agents.make(spec)
        assert isinstance(agent, SearchingAgent)
        depth = agent.search(Position()).depth
        seconds, (_, _, nodes) = timed(partial(agent.best_move, Position()), repeat, clock)
        rows.append(Row(f"{spec} (depth {depth})", 1e3 * seconds, nodes))
    return rows


def table(rows: list[Row]) -> Table:
    """Each beside the chain system in native code."""
    chain = next(row for row in rows if row.name.startswith(f"{CHAIN} ("))
    heading = ("one move on the empty board", "ms", "nodes", "times chain")
    lines = [
        (name, number(ms, ".3f"), number(nodes, ","), number(ms / chain.milliseconds, ".1f"))
        for name, ms, nodes in rows
    ]
    return Table([heading, *lines])


def execute(arguments: argparse.Namespace) -> int:
    """Run it, and print the table."""
    show(table(run()), arguments)
    return 0
