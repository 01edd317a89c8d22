"""What the commands' arguments share: how they are declared, read, and refused."""

from __future__ import annotations

__any_board__ = True

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from c4env.evaluation.tables import FORMATS, printable
from c4env.geometry import BOARD_SIZE, IS_STANDARD

if TYPE_CHECKING:
    from c4env.agents.base import SearchingAgent
    from c4env.evaluation.cli.progress import RunProgress

_PUBLISHED: Final = "minimax alphabeta-chain alphabeta-window alphabeta-window-b rust-port"
_OTHERS: Final = _PUBLISHED if IS_STANDARD else "alphabeta mcts"
DEFAULT_FIELD: Final = ("random", "greedy", *_OTHERS.split())
"""Random, greedy, and every published system that can play from the opening (plain exact
negamax cannot); on other boards, which those were not made for, some that play there."""

OPENINGS: Final = "3"
QUICK_OPENINGS: Final = "2"
"""Openings of the default field: enough for a first look, in about a minute."""


RECORD: Final = Path("c4-games")
HINT: Final = "perfect"


class _Help(argparse.HelpFormatter):
    """Paragraphs are fitted to the terminal; those with columns in them keep their lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n\n".join(
            part if "  " in part else fill(part, width, indent) for part in text.split("\n\n")
        )


class Parser(argparse.ArgumentParser):
    """Bad usage is one line on stderr and exit code 2; help is fitted to the terminal."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", _Help)
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        """Say it and leave."""
        self.exit(2, f"{self.prog}: {printable(message)} (see {self.prog} --help)\n")


def add_settings(
    parser: argparse.ArgumentParser, *names: str, quiet: bool = True, **defaults: Any
) -> None:
    """Declare options from :class:`c4env.evaluation.games.settings.Settings`.

    Args:
        parser: gets the options.
        names: of the settings; all of them without any.
        quiet: also declare how to be spared the progress.
        defaults: of the command, where they are not those of the settings.
    """
    from c4env.cores import usable_cores
    from c4env.evaluation.games.settings import options

    # What is left to its default is told from what was given by None.
    defaults = {"jobs": usable_cores(), "seed": 0, **defaults}
    known = options()
    for name in names or known:
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(flag, default=defaults.get(name), **known[name].metadata)
    if quiet:
        parser.add_argument("--quiet", action="store_true", help="no progress on stderr")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Declare how games are played and shown: the same for every kind of run."""
    parser.add_argument(
        "--openings", metavar="OPENINGS",
        help="3: all mirror-reduced positions after so many plies; balanced:4,2: those after 4 "
        "with an exact score of -2..2; or a file of them, one line each (default 3: 121 of "
        "them; of the default field 2: 25)",
    )  # fmt: skip
    add_settings(parser)
    add_board(parser)
    add_format(parser)


def add_board(parser: argparse.ArgumentParser) -> None:
    """Declare the board; ``c4env.evaluation.__main__`` sees to it."""
    parser.add_argument(
        "--board", metavar="SIZE",
        help=f"rows, columns, discs in a row that win, as in 5x6x4 (default {BOARD_SIZE})",
    )  # fmt: skip


def add_format(parser: argparse.ArgumentParser, said: str = "csv is the table alone") -> None:
    """Declare the form of what is printed."""
    about = f"of what is printed (default text); {said}"
    parser.add_argument("--format", choices=FORMATS, default="text", help=about)


def add_html(parser: argparse.ArgumentParser) -> None:
    """Declare the page of a run, which is drawn for the usual board alone."""
    if not IS_STANDARD:
        parser.set_defaults(no_scores=True)
        refuse_here(parser, "--html")
        return
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write the run as one page that needs no network"
    )
    parser.add_argument(
        "--no-scores", action="store_true", help="leave out what needs exact scores: quicker"
    )


def refuse_here(parser: argparse.ArgumentParser, option: str) -> None:
    """Declare an option that there is for the usual board alone, in words of its own."""

    def refused(_: str) -> None:
        raise argparse.ArgumentTypeError(f"drawn for the usual board alone, not for {BOARD_SIZE}")

    parser.add_argument(option, type=refused, help=argparse.SUPPRESS)


def add_anchor(parser: argparse.ArgumentParser) -> None:
    """Declare where the scale of the ratings is fixed."""
    parser.add_argument(
        "--anchor", metavar="NAME=ELO", help="set an agent's Elo (default: their mean is 0)"
    )


def add_people(parser: argparse.ArgumentParser) -> None:
    """Declare where games that people play are kept, and who gives them hints."""
    parser.add_argument(
        "--record", type=Path, default=RECORD, metavar="DIR",
        help=f"where games of people are appended (default {RECORD})",
    )  # fmt: skip
    parser.add_argument("--no-record", action="store_true", help="write nothing")
    parser.add_argument(
        "--hint", default=HINT, metavar="SPEC", help=f"the agent that hints (default {HINT}: exact)"
    )


def add_sets(parser: argparse.ArgumentParser) -> None:
    """Declare the labelled positions that agents or heuristics are asked about."""
    parser.add_argument("--on", nargs="+", metavar="SET", help="labelled positions to ask about")
    parser.add_argument(
        "--count", type=int, metavar="N",
        help="with --on: the first N of each set (default: all, 100 of one that is made)",
    )  # fmt: skip


def run_settings(arguments: argparse.Namespace, progress: RunProgress) -> dict[str, Any]:
    """The arguments of :func:`add_run` as those of a run, which tells ``progress`` how far it is.

    Raises:
        InvalidRun: a margin to no time for a move.
    """
    from c4env.evaluation.games.settings import options

    if arguments.movetime is None:
        refuse(arguments, ["margin"], "without --movetime")
    given = {name: getattr(arguments, name) for name in options()}
    found = {name: value for name, value in given.items() if value is not None}
    return {
        **found,
        "openings": arguments.openings or OPENINGS,
        "watch": progress.watch,
        "on_game": progress.on_game,
    }


def anchor_of(arguments: argparse.Namespace, players: Sequence[str]) -> tuple[str, float] | None:
    """The agent whose Elo is set, if any; asked before the first game is played.

    Raises:
        InvalidRun: not of the form, or none of the players.
    """
    from c4env.evaluation.plan.field import split_name
    from c4env.evaluation.rating.ratings import parse_anchor

    names = [split_name(player)[0] for player in players]
    return None if arguments.anchor is None else parse_anchor(arguments.anchor, names)


def refuse(arguments: argparse.Namespace, names: Iterable[str], when: str) -> None:
    """Refuse options that were given where they mean nothing.

    Raises:
        InvalidRun: one of them was.
    """
    from c4env.evaluation.errors import InvalidRun

    for name in names:
        value = getattr(arguments, name)
        if value is not None and value is not False:
            raise InvalidRun(f"--{name.replace('_', '-')} means nothing {when}")


def at_least(arguments: argparse.Namespace, low: int, *names: str) -> None:
    """Refuse numbers that are too small; those that were not given pass.

    Raises:
        InvalidRun: one of them is.
    """
    from c4env.evaluation.errors import InvalidRun

    for name in names:
        value = getattr(arguments, name)
        if value is not None and value < low:
            raise InvalidRun(f"--{name.replace('_', '-')} {value}: expected at least {low}")


def file_to_build(file: Path | None) -> Path:
    """The file that a command is to write: looked at now, not hours of work later.

    Raises:
        InvalidRun: none was named, or it cannot be one.
    """
    from c4env.evaluation.errors import InvalidRun

    if file is None:
        raise InvalidRun("build: name the file to write")
    if file.is_dir() or not file.parent.is_dir():
        raise InvalidRun(f"{file}: expected a file in a directory that is there")
    return file


def require_writable(arguments: argparse.Namespace) -> None:
    """Refuse files that a command is asked for and cannot write: now, not hours of work later.

    Raises:
        UnwritableRun: one of them.
        InvalidRun: ``--games`` of another format.
    """
    made = getattr(arguments, "out", None)  # there by then
    for name in ("html", "games", "store", "readme", "plots"):
        path = getattr(arguments, name, None)
        if isinstance(path, Path):
            from c4env.evaluation.store.export import require_format
            from c4env.evaluation.store.files import require_folder

            folder = path if name == "plots" else path.parent
            if name == "games":
                require_format(path)
            require_folder(path, folder, makes=name == "plots" or str(folder) == str(made))


def searching(spec: str) -> SearchingAgent:
    """The agent that gives hints.

    Raises:
        InvalidRun: it does not search.
        UnknownAgent, UnknownOption, ...: the spec is wrong.
    """
    from c4env import agents
    from c4env.agents.base import SearchingAgent
    from c4env.evaluation.errors import InvalidRun

    agent = agents.make(spec)
    if not isinstance(agent, SearchingAgent):
        raise InvalidRun(f"--hint {spec}: expected an agent that searches")
    return agent
