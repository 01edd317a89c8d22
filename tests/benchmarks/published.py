"""Repeat two published experiments: what pruning saves, and how many nodes plain negamax visits.

The first is of "Connect 4 Simulator": naive minimax and alpha-beta search the same positions to the
same depths and must choose the same columns with the same values. The report has about 70 s against
1.5 s a move in pure Python, 47 times less.

The second is of "Solving Connect 4", part 3: plain negamax visits 11,024.541 positions on average
over the 1,000 of the set End-Easy. FILES have its lines, moves and score (L3_R1.txt); without FILES
the 100 endings of tests/data are solved, whose nodes a slow reference counted.
"""

import argparse
import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from c4env import agents
from c4env.agents.search.negamax import Negamax
from c4env.evaluation.cli.declare import at_least
from c4env.evaluation.exact.questions import random_games, read_labelled
from c4env.position import Position
from tests.benchmarks.harness import show_as_measured, timed
from tests.rules.reference import DATA

DEPTH: Final = 7  # of the chain system, as published
PRUNING: Final = {
    "depth": "",
    **{"minimax ms": ".3f", "minimax nodes": ",.0f"},
    **{"alphabeta ms": ".3f", "alphabeta nodes": ",.0f"},
    **{"time ratio": ".1f", "nodes ratio": ".1f", "wrong": ""},
}
NODES: Final = dict(
    zip(
        ("set", "positions", "mean nodes", "nodes/s", "wrong"),
        ("", "", ",.3f", ",.0f", ""),
        strict=True,
    )
)


def random_positions(count: int, seed: int) -> list[Position]:
    """The empty board and ``count - 1`` positions of 1 to 20 plies from random games."""
    games = random_games(range(1, 21), np.random.default_rng(seed))
    return [Position(), *map(Position.parse, itertools.islice(games, count - 1))]


def search_all(name: str, depth: int, positions: Sequence[Position]) -> tuple[float, float, list]:
    """Milliseconds and nodes a position, and every choice."""
    agent = agents.make(name, depth=depth)
    agent.choose(positions[0])  # loads the code
    seconds, found = timed(lambda: [(agent.choose(p), agent.nodes) for p in positions])
    choices, nodes = zip(*found, strict=True)
    return 1e3 * seconds / len(positions), sum(nodes) / len(positions), list(choices)


def pruning(positions: Sequence[Position], depths: Sequence[int]) -> Iterator[list]:
    """A row for each depth; ``wrong`` counts the positions in which the choices differ."""
    for depth in depths:
        naive, pruned = (search_all(name, depth, positions) for name in ("minimax", "alphabeta"))
        ratios = [n / p for n, p in zip(naive[:2], pruned[:2], strict=True)]
        cells = [*naive[:2], *pruned[:2]]
        wrong = sum(one != two for one, two in zip(naive[2], pruned[2], strict=True))
        yield [depth, *cells, *ratios, wrong]


def endings() -> list[tuple[str, int, int | None]]:
    """The endings of tests/data: moves, score and nodes."""
    lines = (DATA / "endings.tsv").read_text().splitlines()[1:]
    return [(moves, int(score), int(nodes)) for moves, score, nodes in map(str.split, lines)]


def negamax(sets: dict[str, list[tuple[str, int, int | None]]]) -> Iterator[list]:
    """A row for each set; ``wrong`` counts the wrong scores, and the wrong nodes if known."""
    agent = Negamax()
    agent.score(Position.parse("121212"))  # loads the code
    for name, rows in sets.items():
        boards = [Position.parse(moves) for moves, _, _ in rows]
        seconds, found = timed(partial(list, map(agent.score, boards)))
        nodes = sum(searched for _, searched in found)
        wrong = sum(
            score != value or (known is not None and known != searched)
            for (_, value, known), (score, searched) in zip(rows, found, strict=True)
        )
        yield [name, len(rows), nodes / len(rows), nodes / seconds, wrong]


# -- the command ------------------------------------------------------------------


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", type=Path, metavar="FILES", help="lines: moves, score")
    parser.add_argument(
        "--depth", type=at_least(1), default=DEPTH, help=f"greatest (default {DEPTH})"
    )
    parser.add_argument(
        "--count", type=at_least(1), default=10, help="positions to prune (default 10)"
    )
    parser.add_argument("--seed", type=at_least(0), default=0, help="seed of these positions")


def execute(arguments: argparse.Namespace) -> int:
    sets = {path.stem: [(p.moves, p.score, None) for p in read_labelled(path)]
            for path in arguments.files} or {"endings": endings()}  # fmt: skip
    boards = random_positions(arguments.count, arguments.seed)
    wrong = show_as_measured(PRUNING, pruning(boards, range(1, arguments.depth + 1)), arguments)
    return wrong | show_as_measured(NODES, negamax(sets), arguments)
