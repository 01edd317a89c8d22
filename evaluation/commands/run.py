"""Play a round robin: every pairing over enumerated openings, both colours, and a win table.

An agent is a spec such as `greedy` or `alphabeta:depth=6,heuristic=window` (`c4 list` shows
all), or package.module:attribute for a class or function of your own. Without any, the
default field is played: random, greedy, and the published systems.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from c4env.cores import usable_cores

if TYPE_CHECKING:
    from evaluation.games.tournament import Tournament

DEFAULT_FIELD: Final = (
    "random",
    "greedy",
    "minimax",
    "alphabeta-chain",
    "alphabeta-window",
    "alphabeta-window-b",
    "rust-port",
)
"""Random, greedy, and every published system that can play from the opening (plain exact
negamax cannot)."""

OPENINGS: Final = "3"
QUICK_OPENINGS: Final = "2"
"""Openings of the default field: enough for a first look, in about a minute."""

FORMATS: Final = ("text", "markdown", "csv", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("agents", nargs="*", metavar="SPEC", help="agents, at least two")
    configure_settings(parser)
    configure_anchor(parser)


def configure_settings(parser: argparse.ArgumentParser) -> None:
    """Declare how games are played and shown: the same for every kind of run."""
    parser.add_argument(
        "--openings", metavar="OPENINGS",
        help="3: all mirror-reduced positions after so many plies; balanced:4,2: those after 4 "
        "with an exact score of -2..2; or a file of them, one line each (default 3: 121 of "
        "them; of the default field 2: 25)",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=int, metavar="N", help="only N of the openings, drawn by the seed"
    )
    parser.add_argument("--seed", type=int, default=0, help="of agents that draw lots (default 0)")
    parser.add_argument(
        "--jobs", type=int, default=usable_cores(), metavar="N",
        help="worker processes (default: the number of cores); the games are the same for any. "
        "Where language models play: games that wait for answers at once",
    )  # fmt: skip
    parser.add_argument(
        "--movetime", type=float, metavar="SECONDS",
        help="time for a move: agents with an option movetime play by it, and one that takes "
        "longer than this and the margin forfeits (timed runs do not repeat exactly)",
    )  # fmt: skip
    parser.add_argument(
        "--margin", type=float, metavar="SECONDS",
        help="with --movetime: how much longer than it a move may take (default 0.1)",
    )  # fmt: skip
    parser.add_argument(
        "--backend", metavar="NAME",
        help="where workers run: loky (processes of this machine, the default), threading, serial, "
        "dask or ray (extras c4env[dask], c4env[ray])",
    )  # fmt: skip
    parser.add_argument(
        "--address", metavar="ADDRESS", help="of a Dask or Ray cluster: all its workers play"
    )
    parser.add_argument(
        "--out", metavar="DIR",
        help="write every game to DIR as it ends; the same command again resumes",
    )  # fmt: skip
    parser.add_argument(
        "--max-tokens", type=int, metavar="N",
        help="of language models: end the run when so many tokens are used; the same command with "
        "a greater number goes on",
    )  # fmt: skip
    configure_format(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def configure_format(parser: argparse.ArgumentParser) -> None:
    """Declare the form of what is printed."""
    parser.add_argument(
        "--format", choices=FORMATS, default="text",
        help="of what is printed (default text); csv is the table alone",
    )  # fmt: skip


def configure_anchor(parser: argparse.ArgumentParser) -> None:
    """Declare where the scale of the ratings is fixed."""
    parser.add_argument(
        "--anchor", metavar="NAME=ELO", help="set an agent's Elo (default: their mean is 0)"
    )


def anchor(arguments: argparse.Namespace, players: Sequence[str]) -> tuple[str, float] | None:
    """The agent whose Elo is set, if any; asked before the first game is played.

    Raises:
        InvalidRun: not of the form, or none of the players.
    """
    from evaluation.strength.ratings import parse_anchor

    return None if arguments.anchor is None else parse_anchor(arguments.anchor, players)


def execute(arguments: argparse.Namespace) -> int:
    """Play, and print the table on stdout."""
    announce(arguments)
    from evaluation.games.tournament import round_robin

    field = arguments.agents
    if not field:
        field = list(DEFAULT_FIELD)
        arguments.openings = arguments.openings or QUICK_OPENINGS
    anchor(arguments, field)
    with Progress("games", arguments.quiet) as progress:
        result = round_robin(field, **settings(arguments, progress))
    show(result, arguments, progress)
    return 0


def announce(arguments: argparse.Namespace) -> None:
    """Say on stderr why the first run takes long to begin."""
    from c4env.jit import is_warm

    if not is_warm() and not arguments.quiet:
        print("compiling native code, this first time only", file=sys.stderr)


def settings(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """The arguments of :func:`configure_settings` as those of a run.

    Raises:
        InvalidRun: a margin to no time for a move.
    """
    if arguments.movetime is None:
        refuse(arguments, ["margin"], "without --movetime")
    return {
        "openings": arguments.openings or OPENINGS,
        "limit": arguments.limit,
        "seed": arguments.seed,
        "jobs": arguments.jobs,
        "out": arguments.out,
        "movetime": arguments.movetime,
        "backend": arguments.backend,
        "address": arguments.address,
        "max_tokens": arguments.max_tokens,
        "watch": progress.watch,
        **({} if arguments.margin is None else {"margin": arguments.margin}),
    }


def show(result: Tournament, arguments: argparse.Namespace, progress: Progress) -> None:
    """Print the table, the ratings and what else there is to know."""
    from evaluation.report.summary import FORMS, Findings

    ratings = result.rate(anchor(arguments, result.players))
    print(FORMS[arguments.format](Findings(result.table, result.digest, ratings)))
    if arguments.format == "text":
        if progress.before:
            print(f"{progress.before} of the games were there already")
        if arguments.out is not None:
            print(f"games in {arguments.out}; c4 report {arguments.out} prints this again")


def refuse(arguments: argparse.Namespace, names: Iterable[str], when: str) -> None:
    """Refuse options that were given where they mean nothing.

    Raises:
        InvalidRun: one of them was.
    """
    from evaluation.errors import InvalidRun

    for name in names:
        value = getattr(arguments, name)
        if value is not None and value is not False:
            raise InvalidRun(f"--{name.replace('_', '-')} means nothing {when}")


class Progress:
    """A bar on stderr, where also goes what agents print meanwhile: stdout is for the answer."""

    def __init__(self, unit: str, quiet: bool = False) -> None:
        self._unit = unit
        self._quiet = quiet
        self._bar: Any = None
        self.before = 0  # what was done when it began

    def watch(self, done: int, total: int) -> None:
        """Show that so many of all are done."""
        from tqdm import tqdm

        if self._bar is None:
            self.before = done
            self._bar = tqdm(
                total=total,
                initial=done,
                unit=f" {self._unit}",
                file=sys.stderr,
                disable=self._quiet,
                dynamic_ncols=True,
                leave=False,
            )
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> Progress:
        self._aside = contextlib.redirect_stdout(sys.stderr)
        self._aside.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._aside.__exit__(*error)
        if self._bar is not None:
            self._bar.close()
