"""Draw how strong a training by self-play got: python -m tests.makers selfplay DIR FILE.svg.

DIR is the folder of a training, or one with the folders of several, which are drawn in one picture.
The networks that it kept are judged now: by the share of critical positions in which the policy
gives away a win or a draw, and by the score against other agents over all openings of two plies.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from c4env import Position, agents, evaluation
from c4env.agents.sampling.tree import OPEN, tactical_status
from c4env.agents.selfplay.train import safe_position
from c4env.agents.solver import NO_SCORE, Solver
from c4env.agents.solver.exam import exam_positions
from c4env.arrays import Bools
from c4env.envs.vectorized.batch import boards_from
from c4env.evaluation.errors import InvalidRun
from c4env.observation import Observation, observe_many
from tests.makers.curves import COLOURS

AGAINST: Final = ("greedy", "alphabeta-chain")
PLIES: Final = range(14, 31)  # of the critical positions: those before take long to solve
COUNT: Final = 2_000


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="of one training, or of several")
    parser.add_argument("out", type=Path, metavar="FILE", help="the picture, SVG or PNG")


def execute(arguments: argparse.Namespace) -> None:
    folder: Path = arguments.folder
    trainings = {path.parent for path in folder.glob("**/model-*.pt")}
    if not trainings:
        raise InvalidRun(f"{folder}: expected a folder of a training, with its model-*.pt")
    critical = critical_positions()
    draw({path.name: curves(path, critical) for path in sorted(trainings)}, arguments.out)


class Critical(NamedTuple):
    """N positions in which some columns keep the value of the game, and others do not."""

    seen: Observation  # [N, 6, 7, 2] and [N, 7]
    keeps: Bools  # [N, 7]


def critical_positions(count: int = COUNT, plies: range = PLIES, seed: int = 0) -> Critical:
    """Those among ``count`` random positions that the next two discs do not decide, solved now.

    None is in the exam.
    """
    generator = np.random.default_rng(seed)
    found: dict[Position, None] = {}
    while len(found) < count:
        wanted = int(generator.choice(plies))
        position = safe_position(wanted, generator)
        score, _ = tactical_status(position.mine, position.theirs)
        if position.plies == wanted and score == OPEN and position not in exam_positions():
            found[position] = None
    scores = Solver().columns_many(list(found))
    signs = np.where(scores == NO_SCORE, -2, np.sign(scores))
    keeps = signs == signs.max(axis=1, keepdims=True)
    critical = (~keeps & (signs >= -1)).any(axis=1)
    chosen = [position for position, asked in zip(found, critical, strict=True) if asked]
    return Critical(observe_many(chosen), keeps[critical])


def blunders(agent: Any, critical: Critical) -> float:
    """The share of critical positions in which an agent gives the value of the game away."""
    discs = boards_from(critical.seen)
    seeds = np.random.default_rng(0).integers(2**48, size=len(discs))
    columns = agent.choose_many(discs, seeds)
    return float(1 - critical.keeps[np.arange(len(columns)), columns].mean())


def score(spec: str, other: str) -> float:
    """An agent's mean score against another, a draw counting half."""
    games = evaluation.round_robin([spec, other], openings=2, seed=1, jobs=1).games
    return float(np.mean([game.points[game.players.index(spec)] for game in games]))


def curves(folder: Path, critical: Critical) -> dict[str, list[float]]:
    """By name, what the networks of a training come to: minutes, blunders, scores by opponent."""
    found: dict[str, list[float]] = {name: [] for name in ("minutes", "blunders", *AGAINST)}
    for file in sorted(folder.glob("model-*.pt")):
        spec = f"selfplay:{file}"
        found["minutes"].append(float(file.stem.removeprefix("model-")))
        found["blunders"].append(blunders(agents.make(spec), critical))
        for name in AGAINST:
            found[name].append(score(spec, name))
    return found


def draw(trainings: dict[str, dict[str, list[float]]], out: Path) -> None:
    """Draw scores and blunders by minutes, of trainings by name."""
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "c4env", "font.size": 8}):
        figure = Figure(figsize=(7, 2.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        for number, (training, found) in enumerate(trainings.items()):
            minutes = found["minutes"]
            for name, colour in zip(AGAINST, COLOURS, strict=False):
                label = None if number else name
                percent = 100 * np.array(found[name])
                left.plot(minutes, percent, ".-", c=colour, lw=1, ms=4, label=label)
            label = training if len(trainings) > 1 else None
            colour = COLOURS[number % len(COLOURS)]
            percent = 100 * np.array(found["blunders"])
            right.plot(minutes, percent, ".-", c=colour, lw=1, ms=4, label=label)
        left.set(ylim=(0, 100), ylabel="percent of the points, by opponent")
        left.legend(loc="lower right")
        if len(trainings) > 1:
            right.legend(loc="upper right")
        right.set(ylim=(0, None), ylabel="blunders, percent of the critical moves")
        for axes in (left, right):
            axes.set(xlabel="minutes of training", xlim=(0, None))
            axes.grid(color="#d9dee5")
        dated = {"Date": None} if out.suffix == ".svg" else None
        figure.savefig(out, dpi=160, metadata=dated)
