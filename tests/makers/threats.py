"""Fit the weights of the heuristic ``threats`` to exact scores: python -m tests.makers threats.

Positions are taken from games of a shallow search that now and then plays at random, so
that boards like those at the leaves of a search come up. Each is labelled by the solver:
won, drawn or lost for the side to move. A logistic regression on what
:func:`c4env.agents.heuristics.evaluations.evaluate` counts gives the weights, and they are
written as Python source, since kernels take them as constants.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

import numpy as np

from c4env.agents.base import require_count
from c4env.agents.heuristics.evaluations import SIZE, evaluate
from c4env.agents.making.spec import make
from c4env.agents.selfplay.folder import LAST_SEED
from c4env.agents.solver import Solver
from c4env.agents.solver.exam import exam_positions
from c4env.arrays import Float64s, Int64s
from c4env.position import Position
from tests.helpers.paths import ROOT

FIRST_PLY: Final = 12  # earlier boards say little, and are dear to label
LAST_PLY: Final = 36  # later ones are searched to their end
RANDOM_PLIES: Final = 6
AT_RANDOM: Final = 0.25  # share of later moves
UNIT: Final = 100.0  # a value of so much is odds of e to 1
RIDGE: Final = 3.0  # pull of each weight towards 0, in the features' own units

FILE: Final = ROOT / "agents" / "heuristics" / "weights.py"

TEMPLATE: Final = '''"""Weights of ``threats``.

``python -m tests.makers threats`` wrote these weights.

{note}
"""

from typing import Final

import numpy as np

# fmt: off
WEIGHTS: Final = np.array([
{rows}
])
# fmt: on
WEIGHTS.flags.writeable = False
'''


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=FILE, help="what to write")
    parser.add_argument("--positions", type=int, default=20_000, help="how many to learn from")
    parser.add_argument("--seed", type=int, default=1, help="of the games")


def execute(arguments: argparse.Namespace) -> None:
    require_count("--positions", arguments.positions, 1, 2**63 - 1)
    require_count("--seed", arguments.seed, 0, LAST_SEED)
    fit(arguments.out, arguments.positions, arguments.seed)


def sample(count: int, seed: int) -> list[Position]:
    """Positions nobody has won yet, each once, from games of mixed skill; none of the exam."""
    player = make("alphabeta:depth=4,heuristic=lines")
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    found: dict[Position, None] = {}
    while len(found) < count:
        position = Position()
        last = int(generator.integers(FIRST_PLY, LAST_PLY + 1))
        while position.outcome is None and position.plies < last:
            columns = position.legal_columns()
            if position.plies < RANDOM_PLIES or generator.random() < AT_RANDOM:
                position = position.play(int(generator.choice(columns)))
            else:
                position = position.play(player.choose(position))
        if position.outcome is None and position not in exam_positions():
            found.setdefault(position)
    return list(found)


def features(mine: Int64s, theirs: Int64s) -> Float64s:
    """[N, SIZE]: what each weight is multiplied by. The evaluation is asked with unit weights."""
    out = np.zeros((len(mine), SIZE))
    for j, unit in enumerate(np.eye(SIZE)):
        unit.flags.writeable = False
        out[:, j] = [evaluate(int(a), int(b), unit) for a, b in zip(mine, theirs, strict=True)]
    return out


def regress(counts: Float64s, points: Float64s) -> Float64s:
    """Weights ``[SIZE]`` of the logistic model of ``points`` (0, 1/2, 1), by Newton's method."""
    scale = counts.std(axis=0)
    scale[scale == 0] = 1.0
    design = counts / scale
    theta = np.zeros(design.shape[1])
    for _ in range(50):
        expected = 1 / (1 + np.exp(-design @ theta))
        gradient = design.T @ (points - expected) - RIDGE * theta
        weight = expected * (1 - expected)
        hessian = design.T @ (design * weight[:, None]) + RIDGE * np.eye(len(theta))
        step = np.linalg.solve(hessian, gradient)
        theta += step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(theta / scale)


def fit(out: Path, positions: int, seed: int) -> None:
    """Sample, label, fit, and write the module of weights."""
    sampled = sample(positions, seed)
    print(f"{positions} positions", file=sys.stderr)
    solver = Solver()
    signs = np.array([solver.sign(position) for position in sampled])
    mine = np.array([p.mine for p in sampled])
    theirs = np.array([p.theirs for p in sampled])
    # A board says nothing of who is to move, so each counts from both sides.
    counts = np.concatenate([features(mine, theirs), features(theirs, mine)])
    points = np.concatenate([(1 + signs) / 2, (1 - signs) / 2])
    weights = np.round(UNIT * regress(counts, points))  # whole numbers add up exactly
    right = float(np.mean(np.sign(counts @ weights) == np.sign(points - 0.5)))
    note = (
        f"Fitted to {positions} positions, seed {seed}; the weights predict the sign of\n"
        f"the exact score for {right:.1%} of them; they never predict a draw."
    )
    rows = [
        "    " + ", ".join(f"{w:.0f}." for w in weights[i : i + 6]) + "," for i in range(0, SIZE, 6)
    ]
    out.write_text(TEMPLATE.format(note=note, rows="\n".join(rows)), encoding="utf-8")
    print(f"sign predicted for {right:.1%}; weights in {out}", file=sys.stderr)
