"""Simulations a second of Monte-Carlo tree search, beside OpenSpiel's bot in C++.

Both search the same positions with as many simulations, one random playout each, the same
constant of UCB1, proofs in the tree (OpenSpiel's ``solve``), and no tree to begin with. The time
is processor time of the process, so other work on the machine counts less; the two take turns.
OpenSpiel is measured where it is installed (``pip install open_spiel``).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from c4env.agents.sampling.mcts import MCTS, ROLLOUTS
from c4env.evaluation.cli.options import at_least
from c4env.evaluation.cli.output import show
from c4env.evaluation.tables import Table
from c4env.position import Position, parse_moves
from tests.benchmarks.harness import in_turns, peer, timed

PEER: Final = "OpenSpiel MCTSBot, random"
POSITIONS: Final = ("", "44", "4435", "32164625")


def run(simulations: int = 20_000, repeat: int = 5) -> Table:
    """Time every search on every position; the best of the repetitions counts."""
    rows: list[tuple[object, ...]] = []
    base = None
    for moves in POSITIONS:
        searches = {
            f"mcts, {rollout}": _search(rollout, moves, simulations) for rollout in ROLLOUTS
        }
        if (pyspiel := peer("pyspiel")) is not None:
            searches = {PEER: _peer_search(pyspiel, moves, simulations), **searches}
        made: dict[str, int] = {}
        works = {name: partial(_speed, name, search, made) for name, search in searches.items()}
        best = {name: max(found) for name, found in in_turns(works, repeat, unmeasured=1).items()}
        base = best.get(PEER)
        for name, found in best.items():
            ratio = found / base if base else None
            cells = made[name], found, ratio
            rows.append((moves or "(empty)", name, *cells))
    missing = "OpenSpiel is not measured: it is not installed (pip install open_spiel)"
    return Table.of(
        {"position": "", "search": "", "simulations": ",", "a second": ",.0f", "ratio": ".1f"},
        rows,
        notes=() if base else (missing,),
    )


def _speed(name: str, search: Callable[[int], int], made: dict[str, int], seed: int) -> float:
    """Simulations a second; how many it made goes to ``made``."""
    spent, made[name] = timed(partial(search, seed))
    return made[name] / max(spent, 1e-9)


def _search(rollout: Any, moves: str, simulations: int) -> Callable[[int], int]:
    agent = MCTS(simulations, rollout=rollout)
    position = Position.parse(moves)

    def search(seed: int) -> int:
        agent.reset(seed)
        return agent.search(position).nodes

    return search


def _peer_search(pyspiel: Any, moves: str, simulations: int) -> Callable[[int], int]:
    game = pyspiel.load_game("connect_four")
    state = game.new_initial_state()
    for column in parse_moves(moves):
        state.apply_action(column)

    def search(seed: int) -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        memory_mb, solve, verbose = 1000, True, False
        bot = pyspiel.MCTSBot(
            *(game, evaluator, MCTS().c, simulations, memory_mb, solve, seed, verbose)
        )
        return int(bot.mcts_search(state).explore_count)

    return search


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--simulations", type=int, default=20_000, metavar="N", help="a search")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="the best counts")


def execute(arguments: argparse.Namespace) -> None:
    at_least(arguments, 1, "simulations", "repeat")
    show(run(arguments.simulations, arguments.repeat), arguments)
