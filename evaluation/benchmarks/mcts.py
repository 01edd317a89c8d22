"""Simulations a second of Monte-Carlo tree search, beside OpenSpiel's bot in C++.

    c4 bench mcts [--simulations N] [--repeat N]

Both search the same positions with as many simulations, one random playout each, the same
constant of UCB1, proofs in the tree (OpenSpiel's ``solve``), and no tree to begin with. The time
is processor time of the process, so other work on the machine counts less; the two take turns.
OpenSpiel is measured where it is installed (``pip install open_spiel``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from agents.sampling.mcts import EXPLORATION, MCTS, ROLLOUTS
from c4env.position import Position, parse_moves
from evaluation.commands.usage import Parser
from evaluation.errors import InvalidRun

PEER: Final = "OpenSpiel MCTSBot, random"
POSITIONS: Final = ("", "44", "4435", "32164625")


class Row(NamedTuple):
    """One search on one position."""

    name: str
    moves: str
    simulations: int  # made; fewer than asked if the position was proven
    per_second: float  # the best of the repetitions
    ratio: float | None  # against the peer in the same run; None without it


def run(simulations: int = 20_000, repeat: int = 5) -> tuple[list[Row], str]:
    """Time every search on every position; returns the rows and a table of them as text."""
    peer = _peer()
    rows = []
    for moves in POSITIONS:
        searches: dict[str, Callable[[int], int]] = {}
        if peer is not None:
            searches[PEER] = _peer_search(peer, moves, simulations)
        for rollout in ROLLOUTS:
            searches[f"mcts, {rollout}"] = _search(rollout, moves, simulations)
        best = dict.fromkeys(searches, 0.0)
        made = dict.fromkeys(searches, 0)
        for repetition in range(repeat + 1):
            for name, search in searches.items():
                started = time.process_time()
                made[name] = search(repetition)
                spent = time.process_time() - started
                if repetition:  # the first touches the memory
                    best[name] = max(best[name], made[name] / max(spent, 1e-9))
        base = best.get(PEER)
        rows += [
            Row(name, moves, made[name], speed, speed / base if base else None)
            for name, speed in best.items()
        ]
    return rows, _table(rows)


def _search(rollout: str, moves: str, simulations: int) -> Callable[[int], int]:
    agent = MCTS(simulations, rollout=rollout)
    position = Position.parse(moves)

    def search(seed: int) -> int:
        agent.reset(seed)
        return agent.search(position).nodes

    return search


def _peer() -> Any:
    try:
        import pyspiel
    except ImportError:
        return None
    return pyspiel


def _peer_search(pyspiel: Any, moves: str, simulations: int) -> Callable[[int], int]:
    game = pyspiel.load_game("connect_four")
    state = game.new_initial_state()
    for column in parse_moves(moves):
        state.apply_action(column)

    def search(seed: int) -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        memory_mb, solve, verbose = 1000, True, False
        bot = pyspiel.MCTSBot(
            *(game, evaluator, EXPLORATION, simulations, memory_mb, solve, seed, verbose)
        )
        return int(bot.mcts_search(state).explore_count)

    return search


def _table(rows: list[Row]) -> str:
    lines = [f"{'position':<10} {'search':<26} {'simulations':>11} {'a second':>11} {'ratio':>6}"]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.1f}"
        lines.append(
            f"{row.moves or '(empty)':<10} {row.name:<26} {row.simulations:>11,} "
            f"{row.per_second:>11,.0f} {ratio:>6}"
        )
    if PEER not in {row.name for row in rows}:
        lines.append("OpenSpiel is not measured: it is not installed (pip install open_spiel)")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line: run it, and print the table."""
    parser = Parser(
        prog="c4 bench mcts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--simulations", type=int, default=20_000, metavar="N")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="the best counts")
    options = parser.parse_args(argv)
    for name in ("simulations", "repeat"):
        if getattr(options, name) < 1:
            raise InvalidRun(f"--{name} {getattr(options, name)}: expected at least 1")
    print(run(options.simulations, options.repeat)[1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
