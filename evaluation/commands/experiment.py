"""Repeat an experiment: c4 experiment pruning, c4 experiment exact.

pruning: naive minimax against alpha-beta, on the same positions and depths; also with threat
ordering and a table. exact: the way from plain negamax to the full solver, an improvement
at a time, on sets of positions. sets: write labelled sets, which `exact` and other solvers read.
statistics: simulated tournaments and matches of known truth, --count of each: how often the
intervals of ratings hold it (95 % is right), how often the sequential test errs (5 % allowed).

FILES hold `moves score` lines. Without any, they make their positions from the seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evaluation.commands.run import refuse

if TYPE_CHECKING:
    from agents.solver import Solver

DEFAULTS: Final[dict[str, Any]] = {
    "depth": 7,
    "heuristic": "chain",
    "count": 10,
    "seed": 0,
    "max_nodes": 20_000_000,
    "out": Path("c4-sets"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("kind", choices=_KINDS, metavar="EXPERIMENT", help=", ".join(_KINDS))
    parser.add_argument(
        "files", nargs="*", default=[], type=Path, metavar="FILES", help="labelled positions"
    )
    parser.add_argument(
        "--depth", type=int, metavar="PLIES",
        help=f"pruning: up to this many plies (default {DEFAULTS['depth']})",
    )  # fmt: skip
    parser.add_argument(
        "--heuristic", metavar="NAME",
        help=f"pruning: at the leaves (default {DEFAULTS['heuristic']})",
    )  # fmt: skip
    parser.add_argument(
        "--count", type=int, metavar="N",
        help=f"positions of each set (default {DEFAULTS['count']})",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, help=f"of the positions made (default {DEFAULTS['seed']})"
    )
    parser.add_argument(
        "--max-nodes", type=int, metavar="N",
        help="exact: what the slower solvers may search a position (default 20 million)",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help=f"sets: the folder (default {DEFAULTS['out']})"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its table."""
    from c4env.bitboard import CELLS
    from evaluation.errors import InvalidRun

    experiment, options = _KINDS[arguments.kind]
    idle = [name for name in DEFAULTS if name not in options]
    refuse(arguments, idle, f"for c4 experiment {arguments.kind}")
    if arguments.files and "files" not in options:
        raise InvalidRun(f"c4 experiment {arguments.kind} reads no files: {arguments.files[0]}")
    for name, default in DEFAULTS.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, default)
    for name, low in (("depth", 1), ("count", 1), ("seed", 0), ("max_nodes", 1)):
        value = getattr(arguments, name)
        if value < low:
            raise InvalidRun(f"--{name.replace('_', '-')} {value}: expected at least {low}")
    if arguments.depth > CELLS:
        raise InvalidRun(f"--depth {arguments.depth}: expected 1..{CELLS}, no game is longer")
    print(experiment(arguments))
    return 0


def _pruning(arguments: argparse.Namespace) -> str:
    from evaluation.studies.experiments import pruning, random_positions
    from evaluation.truth.labelled import read_labelled

    if arguments.files:
        labelled = [p for path in arguments.files for p in read_labelled(path)[: arguments.count]]
        positions = [p.position for p in labelled]
    else:
        positions = random_positions(arguments.count, arguments.seed)
    return pruning(positions, range(1, arguments.depth + 1), arguments.heuristic)[1]


def _exact(arguments: argparse.Namespace) -> str:
    from evaluation.studies.experiments import exact
    from evaluation.truth.labelled import STAGES, make_labelled, read_labelled

    if arguments.files:
        sets = {path.stem: read_labelled(path)[: arguments.count] for path in arguments.files}
    else:
        solver = _solver()
        sets = {
            name: make_labelled(name, arguments.count, arguments.seed, solver) for name in STAGES
        }
    return exact(sets, arguments.max_nodes)[1]


def _sets(arguments: argparse.Namespace) -> str:
    from evaluation.errors import UnreadableRun
    from evaluation.truth.labelled import STAGES, format_labelled, make_labelled

    if arguments.out.exists() and not arguments.out.is_dir():
        raise UnreadableRun(f"{arguments.out} is a file: expected a directory")
    solver = _solver()
    said = []
    for name in STAGES:
        path = arguments.out / f"{name}.txt"
        if path.exists():
            raise UnreadableRun(f"{path} is there already; name another folder with --out")
        text = format_labelled(make_labelled(name, arguments.count, arguments.seed, solver))
        try:
            arguments.out.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        except OSError as error:
            raise UnreadableRun(f"{path}: {error.strerror}") from None
        said.append(f"{arguments.count} positions in {path}")
    return "\n".join(said)


def _statistics(arguments: argparse.Namespace) -> str:
    from evaluation.strength.simulation import report

    return report(arguments.count, arguments.seed)


def _solver() -> Solver:
    from agents.solver import Solver

    return Solver()


_KINDS: Final[dict[str, tuple[Callable[[argparse.Namespace], str], tuple[str, ...]]]] = {
    "pruning": (_pruning, ("files", "depth", "heuristic", "count", "seed")),
    "exact": (_exact, ("files", "count", "seed", "max_nodes")),
    "sets": (_sets, ("count", "seed", "out")),
    "statistics": (_statistics, ("count", "seed")),
}
"""Each experiment and the arguments it reads."""
