"""Repeat an experiment: c4 dev experiment pruning, c4 dev experiment exact.

pruning counts the nodes of naive minimax and of alpha-beta on the same positions and depths. exact
compares solvers from plain negamax to the full solver, adding one improvement at a time.

FILES contain `moves score` lines. Without FILES, the command makes positions from the seed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from c4env.evaluation.cli.options import add_format, at_least, refuse
from c4env.evaluation.cli.output import show
from c4env.evaluation.tables import Table

KINDS: Final = ("pruning", "exact")
DEPTH: Final = 7
HEURISTIC: Final = "chain"
MAX_NODES: Final = 20_000_000


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=KINDS, metavar="EXPERIMENT", help=", ".join(KINDS))
    parser.add_argument(
        "files", nargs="*", default=[], type=Path, metavar="FILES", help="labelled positions"
    )
    parser.add_argument(
        "--depth", type=int, metavar="PLIES", help=f"pruning: the greatest depth (default {DEPTH})"
    )
    parser.add_argument(
        "--heuristic",
        metavar="NAME",
        help=f"pruning: heuristic at the leaves (default {HEURISTIC})",
    )
    parser.add_argument(
        "--max-nodes", type=int, metavar="N",
        help=f"exact: maximum nodes per position for slow solvers (default {MAX_NODES // 10**6} "
        "million)",
    )  # fmt: skip
    parser.add_argument(
        "--count", type=int, default=10, metavar="N", help="positions per set (default 10)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of the positions that the command makes (default 0)",
    )
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.bitboard import CELLS
    from c4env.evaluation.errors import InvalidRun

    pruning = arguments.kind == "pruning"
    unused = ["max_nodes"] if pruning else ["depth", "heuristic"]
    refuse(arguments, unused, f"for c4 dev experiment {arguments.kind}")
    at_least(arguments, 1, "depth", "count", "max_nodes")
    at_least(arguments, 0, "seed")
    if (arguments.depth or 0) > CELLS:
        raise InvalidRun(
            f"--depth {arguments.depth}: expected 1..{CELLS}; the longest game has {CELLS} discs"
        )
    show((_pruning if pruning else _exact)(arguments), arguments)


def _pruning(arguments: argparse.Namespace) -> Table:
    from c4env.evaluation.exact.labelled import read_labelled
    from c4env.evaluation.studies.experiments import pruning, random_positions

    if arguments.files:
        labelled = [p for path in arguments.files for p in read_labelled(path)[: arguments.count]]
        positions = [p.position for p in labelled]
    else:
        positions = random_positions(arguments.count, arguments.seed)
    depths = range(1, (arguments.depth or DEPTH) + 1)
    return pruning(positions, depths, arguments.heuristic or HEURISTIC)


def _exact(arguments: argparse.Namespace) -> Table:
    from c4env.agents.solver import Solver
    from c4env.evaluation.exact.labelled import STAGES, make_labelled, read_labelled
    from c4env.evaluation.studies.experiments import exact

    if arguments.files:
        sets = {path.stem: read_labelled(path)[: arguments.count] for path in arguments.files}
    else:
        solver = Solver()
        sets = {
            name: make_labelled(name, arguments.count, arguments.seed, solver) for name in STAGES
        }
    return exact(sets, arguments.max_nodes or MAX_NODES)
