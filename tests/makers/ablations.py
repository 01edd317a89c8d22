"""What each idea of self-play brings: python -m tests.makers ablations --positions 120000.

Self-play trains once with all its ideas for each seed, and once for each idea without it. Every
training plays the same number of positions. The exam and critical positions judge each policy.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import torch
from torch.optim import AdamW

from c4env.agents.selfplay import alphazero, optimiser, selfplay
from c4env.agents.selfplay.agent import SelfPlay
from c4env.agents.selfplay.network import Evaluator
from c4env.agents.selfplay.search import Improved
from c4env.arrays import Float64s, Int64s
from c4env.envs.vectorized.batch import boards_from, positions_of
from c4env.evaluation.studies.strength import blunder_rate
from tests.makers.selfplay import blunders, critical_positions


class AdamWAlone(optimiser.Optimiser):
    """Fits all parameters by AdamW."""

    def __init__(self, network: optimiser.Fitted) -> None:
        self.network = network
        self.parts = [AdamW(network.parameters(), weight_decay=1e-2, fused=True)]

    def refresh(self) -> None:
        """Add the parameters of a network that has grown."""
        self.parts[0].param_groups[0]["params"] = list(self.network.parameters())


class PlainSearch:
    """The search of the short AlphaZero in place of Gumbel's: visits as policy, no proofs.

    The arguments are those of ``GumbelSearch``.
    """

    chance = np.random.default_rng(0)

    def __init__(self, evaluate: Any, simulations: int) -> None:
        self.evaluate, self.simulations = evaluate, simulations
        self.policy = SimpleNamespace(weight=torch.zeros(1))  # the short AlphaZero's device

    def eval(self) -> Callable[[Any], tuple[Any, Any]]:
        """The network as the short AlphaZero calls it, on planes ``[M, 6, 7, 2]``."""
        return lambda planes: tuple(
            torch.from_numpy(np.asarray(part, np.float64))
            for part in self.evaluate(boards_from(planes.numpy()))
        )

    def __call__(self, boards: Int64s, _: Float64s) -> Improved:
        roots = [alphazero.Node(position) for position in positions_of(boards)]
        alphazero.search(self, roots, self.simulations, self.chance)  # type: ignore[arg-type]
        visits = np.stack([root.visits for root in roots])
        shares = visits / visits.sum(axis=1, keepdims=True)
        early = np.bitwise_count(boards).sum(axis=1) < alphazero.DRAWN
        drawn = (shares.cumsum(axis=1) > self.chance.random((len(boards), 1))).argmax(axis=1)
        values = np.stack([root.total.sum() for root in roots]) / visits.sum(axis=1)
        columns = np.where(early, drawn, visits.argmax(axis=1))
        return Improved(columns, shares, values, np.zeros(len(boards), np.bool_))


WITHOUT: Final[dict[str, dict[str, Any]]] = {
    "Gumbel's search with proofs (visits of the short AlphaZero's search)": {
        "selfplay.GumbelSearch": PlainSearch
    },
    "random discs at the start": {"selfplay.FROM_EMPTY": 1.0},
    "the search's value in the targets": {"selfplay.SEARCHED": 0.0},
    "the result in the targets": {"selfplay.SEARCHED": 1.0},
    "fewer forced positions": {"selfplay.FORCED": 1.0},
    "averaged weights": {"selfplay.AVERAGE": 0.0},
    "Muon (AdamW alone)": {"selfplay.Optimiser": AdamWAlone, "optimiser.RATES": (1.5e-3,)},
    "a learning rate that falls": {"selfplay.STEEP": math.inf},
}
"""For each idea the names whose values change without it."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--positions", type=int, default=120_000, help="positions of a training")
    parser.add_argument("--seeds", type=int, default=3, help="trainings with all ideas")


def trained(positions: int, seed: int, changes: dict[str, Any]) -> Evaluator:
    """Play and learn in turns until some positions were played; return the averaged network."""
    torch.set_num_threads(1)
    PlainSearch.chance = np.random.default_rng(seed)
    modules = {"selfplay": selfplay, "optimiser": optimiser}
    with ExitStack() as stack, TemporaryDirectory() as folder:
        for name, value in changes.items():
            module, _, attribute = name.partition(".")
            stack.enter_context(patch.object(modules[module], attribute, value))
        trainer = selfplay.Trainer(Path(folder), seed, selfplay.BOARDS, (32, 256))
        while trainer.positions < positions:
            trainer.keep(trainer.playing(selfplay.STAGES[0])())
            rate = selfplay.rate_at(0, trainer.positions)
            while trainer.learned < selfplay.USES * (trainer.positions - selfplay.FEWEST):
                trainer.learn(rate)
        return Evaluator(trainer.averaged.module)


def rows(positions: int, seeds: int) -> Iterator[list[Any]]:
    """The name of each training, and its blunders on the exam and on critical positions."""
    critical = critical_positions()
    all_ideas = [
        (f"all ideas, seed {seed}", seed, dict[str, Any]()) for seed in range(1, seeds + 1)
    ]
    for name, seed, changes in [
        *all_ideas,
        *((f"without {idea}", 1, changes) for idea, changes in WITHOUT.items()),
    ]:
        agent = SelfPlay(trained(positions, seed, changes))
        yield [name, f"{blunder_rate(agent):.1%}", f"{blunders(agent, critical):.1%}"]


def execute(arguments: argparse.Namespace) -> None:
    print("| training | blunders, exam | critical positions |\n| --- | ---: | ---: |")
    for row in rows(arguments.positions, arguments.seeds):
        print("| " + " | ".join(row) + " |", flush=True)
