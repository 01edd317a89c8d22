"""PlyBench's Connect Four with an optimal player and regret, which PlyBench alone lacks.

python docs/examples/plybench_solver.py --games 100
c4 report results/benchmarks/c4env --agent "random:distribution=uniform (first)"

Needs PlyBench (pip install plybench, on Python 3.12) and a folder to write results in. It
took 40 seconds and printed:

    random: regret 1610 in 2158 moves, 0.746 of 2 per move

The sum of the regrets is exactly twice the points that both players have as given_away: 424.5
moving first and 380.5 moving second. A win, a draw and a loss are 1, 0 and -1 in PlyBench, and 1,
1/2 and 0 points in c4env. The mean of PlyBench also counts forced moves, here one, which c4env
leaves out. PlyBench gives an illegal move the regret of a loss; in c4env the game is a forfeit.
"""

import argparse
import asyncio

from plybench import PlyBench
from plybench.analysis.replay import build_replayer
from plybench.core.minimax import AVQ
from plybench.harness.benchmark.benchmark import Benchmark
from plybench.player.simple.optimal_player import OptimalParams, OptimalPlayer
from plybench.player.spec import PlayerSpec

from c4env import Position
from c4env.agents import Solver

GAME, RANDOM = "connect_four:", "random:distribution=uniform"
solver = Solver()


class Exact(OptimalPlayer):
    """PlyBench's optimal player; c4env's solver says which columns win, draw and lose."""

    def initialize_policy(self, game, prompt_adapter_template):
        """Solve nothing in advance."""

    def _verdict(self, player, os_state):
        scores = solver.scores(Position.from_board(os_state))
        values = {c: float((s > 0) - (s < 0)) for c, s in enumerate(scores) if s is not None}
        best = max(values.values())
        return AVQ([column for column in values if values[column] == best], best, values)


def bench():
    """Return PlyBench with the exact player in the place of its own."""
    made = PlyBench()
    made.registry.register_player(PlayerSpec("optimal", OptimalParams, Exact))
    return made


def regrets(op, games):
    """Return the regret of each move of random, in games against itself: 0, 1 or 2."""
    run = Benchmark("c4env", op, [GAME], [RANDOM], [RANDOM], games)
    played = asyncio.run(run.run()).trackers[0]
    judge = build_replayer(op.registry, op.registry.game_config(GAME))
    player = op.registry.player_config(RANDOM)
    return [step.regret for game in played.games for step in judge.replay_stats(game, player)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Regret in PlyBench's Connect Four")
    parser.add_argument("--games", type=int, default=10, help="default %(default)s")
    found = regrets(bench(), parser.parse_args().games)
    mean = sum(found) / len(found)
    print(f"random: regret {sum(found):g} in {len(found)} moves, {mean:.3f} of 2 per move")
