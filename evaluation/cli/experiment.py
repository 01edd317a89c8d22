"""Repeat an experiment: c4 experiment pruning, c4 experiment exact.

pruning: naive minimax against alpha-beta, on the same positions and depths; also with threat
ordering and a table. exact: the way from plain negamax to the full solver, an improvement
at a time, on sets of positions. sets: write labelled sets, which `exact` and other solvers read.
statistics: simulated tournaments and matches of known truth, --count of each: how often the
intervals of ratings hold it (95 % is right), how often the sequential tests err (5 % allowed),
and how many games that on Elo takes beside that on points given away; FILES are here directories
of matches, whose pairs are drawn again.

FILES hold `moves score` lines. Without any, positions are made from the seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from c4env.evaluation.cli.options import add_format, at_least, refuse
from c4env.evaluation.cli.output import say, show
from c4env.evaluation.tables import Table

SETTINGS: Final[dict[str, tuple[Any, str, str]]] = {
    "depth": (7, "PLIES", "pruning: up to this many plies (default 7)"),
    "heuristic": ("chain", "NAME", "pruning: at the leaves (default chain)"),
    "count": (10, "N", "positions of each set (default 10)"),
    "seed": (0, "N", "of the positions made (default 0)"),
    "max_nodes": (
        20_000_000, "N",
        "exact: what the slower solvers may search a position (default 20 million)",
    ),
    "out": (Path("c4-sets"), "DIR", "sets: the folder (default c4-sets)"),
}  # fmt: skip
"""Of each option of an experiment the default, the metavar and the help."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=tuple(_KINDS), metavar="EXPERIMENT", help=", ".join(_KINDS))
    parser.add_argument(
        "files", nargs="*", default=[], type=Path, metavar="FILES", help="labelled positions"
    )
    for name, (default, metavar, said) in SETTINGS.items():
        flag, kind = f"--{name.replace('_', '-')}", type(default)
        parser.add_argument(flag, type=kind, metavar=metavar, help=said)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.bitboard import CELLS
    from c4env.evaluation.errors import InvalidRun

    experiment, options = _KINDS[arguments.kind]
    unused = [name for name in SETTINGS if name not in options]
    refuse(arguments, unused, f"for c4 experiment {arguments.kind}")
    if arguments.files and "files" not in options:
        raise InvalidRun(f"c4 experiment {arguments.kind} reads no files: {arguments.files[0]}")
    for name, (default, *_) in SETTINGS.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, default)
    at_least(arguments, 1, "depth", "count", "max_nodes")
    at_least(arguments, 0, "seed")
    if arguments.depth > CELLS:
        raise InvalidRun(f"--depth {arguments.depth}: expected 1..{CELLS}, no game is longer")
    for number, table in enumerate(experiment(arguments)):
        say("\n" * bool(number), end="")
        show(table, arguments)


def _pruning(arguments: argparse.Namespace) -> list[Table]:
    from c4env.evaluation.exact.labelled import read_labelled
    from c4env.evaluation.studies.experiments import pruning, random_positions

    if arguments.files:
        labelled = [p for path in arguments.files for p in read_labelled(path)[: arguments.count]]
        positions = [p.position for p in labelled]
    else:
        positions = random_positions(arguments.count, arguments.seed)
    return [pruning(positions, range(1, arguments.depth + 1), arguments.heuristic)]


def _exact(arguments: argparse.Namespace) -> list[Table]:
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
    return [exact(sets, arguments.max_nodes)]


def _sets(arguments: argparse.Namespace) -> list[Table]:
    from c4env.agents.solver import Solver
    from c4env.evaluation.errors import UnreadableRun
    from c4env.evaluation.exact.labelled import STAGES, format_labelled, make_labelled
    from c4env.files import write_whole

    if arguments.out.exists() and not arguments.out.is_dir():
        raise UnreadableRun(f"{arguments.out} is a file: expected a directory")
    solver = Solver()
    rows: list[tuple[Any, ...]] = [("positions", "file")]
    for name in STAGES:
        path = arguments.out / f"{name}.txt"
        if path.exists():
            raise UnreadableRun(f"{path} is there already; name another folder with --out")
        text = format_labelled(make_labelled(name, arguments.count, arguments.seed, solver))
        try:
            arguments.out.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        except OSError as error:
            raise UnreadableRun(f"{path}: {error.strerror}") from None
        rows.append((arguments.count, str(path)))
    return [Table(rows, left=(1,))]


def _statistics(arguments: argparse.Namespace) -> list[Table]:
    from c4env.evaluation.errors import InvalidRun
    from c4env.evaluation.exact.judge import Judge
    from c4env.evaluation.rating.simulation import report
    from c4env.evaluation.store.record import read_games
    from c4env.evaluation.studies.match import Match

    played = {}
    for folder in arguments.files:
        header, games = read_games(folder)
        players = tuple(header.players)
        if len(players) != 2:
            raise InvalidRun(f"{folder}: expected a match of two agents, not {len(players)}")
        with Judge(folder) as judge:  # of the whole match, whatever a test decided
            pairs = Match.of(replace(header, sprt=None), games, judge).pairs
        played[" against ".join(players)] = np.array(pairs).reshape(-1, 5)
    return report(arguments.count, arguments.seed, played)


_KINDS: Final[dict[str, tuple[Callable[[argparse.Namespace], list[Table]], tuple[str, ...]]]] = {
    "pruning": (_pruning, ("files", "depth", "heuristic", "count", "seed")),
    "exact": (_exact, ("files", "count", "seed", "max_nodes")),
    "sets": (_sets, ("count", "seed", "out")),
    "statistics": (_statistics, ("files", "count", "seed")),
}
"""Each experiment and the settings it reads."""
