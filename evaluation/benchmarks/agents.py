"""Time a move of the published systems, beside the chain system in pure Python.

Run it with ``c4 bench agents``. The reference searches the same tree (the node counts
agree), so the ratio is what native code gives.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

import agents
from agents.base import SearchingAgent
from c4env.position import Position
from evaluation.benchmarks import reference
from evaluation.commands.usage import Parser

SPECS: Final = (
    "alphabeta-chain",
    "alphabeta-window",
    "alphabeta-window-b",
    "rust-port",
    "minimax",
)
BASELINE: Final = "alphabeta-chain in pure Python"
DEPTH: Final = 7  # of the chain system, as published


T = TypeVar("T")


class Row(NamedTuple):
    """One agent's move on the empty board."""

    name: str
    milliseconds: float  # the fastest of the repetitions
    nodes: int


def run(repeat: int = 7) -> tuple[list[Row], str]:
    """Time every agent on the empty board; returns the rows and a table of them as text."""
    rows = []
    seconds, (_, nodes) = _fastest(partial(reference.choose, (), DEPTH), 3)
    rows.append(Row(BASELINE, 1e3 * seconds, nodes))
    for spec in SPECS:
        agent = agents.make(spec)
        assert isinstance(agent, SearchingAgent)
        seconds, (_, _, nodes) = _fastest(partial(agent.best_move, Position()), repeat)
        depth = agent.search(Position()).depth
        rows.append(Row(f"{spec} (depth {depth})", 1e3 * seconds, nodes))
    return rows, _table(rows)


def _fastest(work: Callable[[], T], repeat: int) -> tuple[float, T]:
    result = work()
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times), result


def _table(rows: list[Row]) -> str:
    chain = next(row for row in rows if row.name.startswith("alphabeta-chain ("))
    lines = [f"{'one move on the empty board':<34} {'ms':>9} {'nodes':>10} {'times chain':>12}"]
    lines += [
        f"{row.name:<34} {row.milliseconds:>9.3f} {row.nodes:>10,} "
        f"{row.milliseconds / chain.milliseconds:>12.1f}"
        for row in rows
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run it, and print the table; it has no options."""
    Parser(prog="c4 bench agents", description=__doc__).parse_args(argv)
    print(run()[1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
