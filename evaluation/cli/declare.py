"""Declare a command's options by the keywords of a public function or dataclass.

    add_options(parser, refute, "positions limit")

The type of an option is the keyword's annotation, its help is the first sentence about the keyword
in the docstring, and its default is the signature's default. So the command line says what Python's
``help`` says.

The module also declares the options that several commands share, for example ``--format``.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from c4env.arguments import OnceParser
from c4env.evaluation.cli.output import complain
from c4env.evaluation.tables import FORMATS
from c4env.system import usable_cores

if TYPE_CHECKING:
    from c4env.evaluation.cli.output import RunProgress
    from c4env.openings import Openings

AGENT: Final = "SPEC, NAME=SPEC or FILE.py:function"
USUAL_OPENINGS: Final = 3

_OPENINGS_HELP: Final = (
    "3: all positions after 3 plies, without mirror images; balanced:4,2: positions after 4 plies "
    "with an exact score of -2..2; exam: its positions; moves:44,4453: the positions after these "
    "moves (moves: is the empty board); or a file with one opening per line "
)
_KINDS: Final = (str, int, float)  # a keyword that takes text or another type is read as text
_PLACEHOLDERS: Final = {
    "out": "DIR", "record": "DIR", "hint": "SPEC", "host": "ADDRESS", "alpha": "P", "beta": "P",
    "width": "ELO",
    int: "N", float: "SECONDS",
}  # fmt: skip


def add_options(
    parser: argparse._ActionsContainer, declared: Callable[..., Any], names: str, **defaults: Any
) -> None:
    """Declare options for keywords of a function or dataclass.

    Args:
        parser: a parser, or a group of a parser.
        declared: the function or dataclass.
        names: keywords of ``declared``, separated by blanks.
        defaults: defaults of the command that differ from the signature's defaults.
    """
    from c4env.agents.making.options import argument_help

    helps, hints = argument_help(declared.__doc__), typing.get_type_hints(declared)
    parameters = inspect.signature(declared).parameters
    for name in names.split():
        kinds = {hints[name], *typing.get_args(hints[name])}
        kind = next((kind for kind in _KINDS if kind in kinds), str)
        default = defaults.get(name, parameters[name].default)
        shown = "" if default is None else f" (default {default})"
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=kind,
            default=defaults.get(name),
            metavar=_PLACEHOLDERS.get(name) or _PLACEHOLDERS.get(kind, name.upper()),
            help=helps[name] + shown,
        )


def keywords(arguments: argparse.Namespace, *declared: Callable[..., Any]) -> dict[str, Any]:
    """Return the options that have a value, as keyword arguments of what declared the options."""
    names = {name for function in declared for name in inspect.signature(function).parameters}
    values = {name: getattr(arguments, name, None) for name in sorted(names)}
    return {name: value for name, value in values.items() if value is not None}


class _Help(argparse.HelpFormatter):
    """A help formatter that wraps paragraphs, except paragraphs aligned with double spaces."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n\n".join(
            part if "  " in part else fill(part, width, indent) for part in text.split("\n\n")
        )


class Parser(OnceParser):
    """A parser that reports bad usage in one line, with exit code 2."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", _Help)
        super().__init__(**settings)
        self._negative_number_matcher = re.compile(r"-\d[\d.,]*$")  # -10,0 is a value

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, with a hint if a program and its arguments are not in quotes."""
        words = sys.argv[1:] if args is None else args
        found, rest = self.parse_known_args(words, namespace)
        if rest:
            program = any("exec:" in word for word in words)
            quote = "; quote a program with its arguments: 'exec:PROGRAM ARGUMENTS'"
            self.error(f"unrecognized arguments: {' '.join(rest)}{quote if program else ''}")
        return found

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with code 2."""
        complain(f"{self.prog}: {message} (see {self.prog} --help)")
        self.exit(2)

    def as_typed(self, message: str) -> str:
        """Return a message about a keyword (``table_mb=64: ...``) as a message about its option."""
        name, equals, rest = message.partition("=")
        option = f"--{name.replace('_', '-')}"
        return f"{option}={rest}" if equals and option in self._option_string_actions else message


def at_least(low: int) -> Callable[[str], int]:
    """Return the type of an option that is an integer, at least ``low``."""

    def number(text: str) -> int:
        value = int(text)
        if value < low:
            raise argparse.ArgumentTypeError(f"{value}: expected at least {low}")
        return value

    return number


def _openings(text: str) -> Openings:
    """Parse the value of ``--openings``: a number counts plies, and moves follow ``moves:``."""
    from c4env.openings import GRAMMAR, MAX_PLIES

    kind, colon, moves = text.partition(":")
    if kind == "moves" and colon:
        return moves.split(",")
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r}: expected {GRAMMAR}")
    if not text.isdecimal():
        return text
    if int(text) > MAX_PLIES:
        raise argparse.ArgumentTypeError(
            f"{text} is more than {MAX_PLIES} plies; write moves:{text} for moves"
        )
    return int(text)


def add_openings(parser: argparse.ArgumentParser, default: str) -> None:
    """Declare ``--openings``; the help shows ``default`` as its default."""
    parser.add_argument(
        "--openings", type=_openings, metavar="OPENINGS",
        help=f"{_OPENINGS_HELP}(default {default})",
    )  # fmt: skip


def add_names(parser: argparse.ArgumentParser) -> None:
    """Declare ``--names``, for games whose source does not name the players."""
    parser.add_argument(
        "--names", nargs=2, metavar=("FIRST", "SECOND"),
        help="the players of games that do not name them",
    )  # fmt: skip


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Declare ``--quiet``."""
    parser.add_argument("--quiet", action="store_true", help="show no progress on stderr")


def add_run(parser: argparse.ArgumentParser, default: str) -> None:
    """Declare the options of every kind of run; ``default`` is the default of ``--openings``."""
    from c4env.evaluation.runs.run import Settings

    add_openings(parser, default)
    add_options(parser, Settings, "limit out seed jobs movetime", jobs=usable_cores())
    add_quiet(parser)
    add_board(parser)
    add_format(parser)
    rare = parser.add_argument_group("seldom needed")
    add_again(rare, "play the forfeited games in DIR again, for example on a repaired machine")
    add_options(rare, Settings, "margin backend address")


def add_again(parser: argparse._ActionsContainer, text: str) -> None:
    """Declare ``--again``."""
    parser.add_argument("--again", action="store_true", help=text)


def add_board(parser: argparse.ArgumentParser) -> None:
    """Declare ``--board``, which ``c4env.evaluation.__main__`` reads."""
    from c4env.geometry import BOARD_SIZE

    parser.add_argument(
        "--board", metavar="SIZE",
        help=f"rows x columns x discs in a row that win, such as 5x6x4 (default {BOARD_SIZE})",
    )  # fmt: skip


def add_format(parser: argparse.ArgumentParser, note: str = "csv is only the table") -> None:
    """Declare ``--format``."""
    text = f"format of the output (default text); {note}"
    parser.add_argument("--format", choices=FORMATS, default="text", help=text)


def add_html(parser: argparse.ArgumentParser) -> None:
    """Declare ``--html``, which works only on the standard board, and ``--no-scores``."""
    parser.add_argument(
        "--html", type=standard_only(Path), metavar="FILE",
        help="write the run as a page that needs no network",
    )  # fmt: skip
    parser.add_argument(
        "--no-scores", action="store_true", help="leave exact scores out of the page, to save time"
    )


def standard_only(kind: type) -> Callable[[str], Any]:
    """Return the type of an option that only the standard board accepts."""
    from c4env.geometry import BOARD_SIZE, IS_STANDARD

    def refused(_: str) -> NoReturn:
        raise argparse.ArgumentTypeError(f"works on the 6x7x4 board only, not on {BOARD_SIZE}")

    return kind if IS_STANDARD else refused


def add_anchor(parser: argparse.ArgumentParser) -> None:
    """Declare ``--anchor``, which fixes the Elo of one agent."""
    parser.add_argument(
        "--anchor",
        metavar="NAME=ELO",
        help="fix the Elo of an agent (default: the mean Elo is 0)",
    )


def run_settings(arguments: argparse.Namespace, progress: RunProgress) -> dict[str, Any]:
    """Return the options of :func:`add_run` as keyword arguments of a run.

    Args:
        arguments: the command's arguments.
        progress: the display that the run updates after each game.

    Raises:
        InvalidOption: ``--margin`` without ``--movetime``, or ``--no-scores`` without ``--html``.
    """
    from c4env.evaluation.runs.run import Settings

    if arguments.movetime is None:
        refuse(arguments, ["margin"], "without --movetime")
    if not arguments.html:
        refuse(arguments, ["no_scores"], "without --html")
    openings = USUAL_OPENINGS if arguments.openings is None else arguments.openings
    display = {"watch": progress.watch, "on_game": progress.on_game}
    return {**keywords(arguments, Settings), "openings": openings, **display}


def anchor_of(arguments: argparse.Namespace, players: Sequence[str]) -> tuple[str, float] | None:
    """Return the agent and the Elo that ``--anchor`` names, or None without ``--anchor``.

    Raises:
        InvalidOption: the option is malformed, or names none of the players.
    """
    from c4env.evaluation.ratings.ratings import parse_anchor

    return None if arguments.anchor is None else parse_anchor(arguments.anchor, players)


def refuse(arguments: argparse.Namespace, names: Iterable[str], when: str) -> None:
    """Refuse options that would have no effect in this use of the command.

    Raises:
        InvalidOption: one of the options was given.
    """
    from c4env.errors import InvalidOption

    for name in names:
        value = getattr(arguments, name)
        if value is not None and value is not False:
            raise InvalidOption(f"--{name.replace('_', '-')} has no effect {when}")


def require_writable(arguments: argparse.Namespace) -> None:
    """Check, before hours of work, that the command can write its files.

    Raises:
        Unwritable: a file cannot be written.
    """
    from c4env.files import require_file, require_folder

    run_folder = getattr(arguments, "out", None)  # the run makes this folder
    for name in ("all", "html", "games"):
        if isinstance(path := getattr(arguments, name, None), Path):  # --games may be a number
            require_file(path, makes=str(path.parent) == str(run_folder))
    if (folder := getattr(arguments, "plots", None)) is not None:
        require_folder(folder)
