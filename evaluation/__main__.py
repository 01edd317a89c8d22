"""The command line: ``c4``, or ``python -m evaluation``."""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from evaluation.commands.usage import Parser

# Each command is a module with configure(parser) and execute(arguments), imported only
# when it is asked for, so that no command pays for another's imports.
COMMANDS: Final = {
    "run": "play a round robin and print its win table",
    "gauntlet": "play one agent against a field and print its win table",
    "match": "play two agents until it is known which is stronger",
    "leaderboard": "play the standing field, or print its stored table",
    "place": "rate one agent among the stored field",
    "report": "print the tables of a run, or of games that people played",
    "quality": "judge the moves of agents by exact play",
    "refute": "find what any opponent can hold an agent to",
    "heuristics": "compare heuristics without search, by exact scores",
    "sweep": "strength against cost: many settings of an agent",
    "replay": "show a game of a run, move by move, with exact scores",
    "list": "describe every agent and its options",
    "play": "play against an agent in the terminal, or watch two",
    "web": "open a page to play, to analyse and to look at games",
    "solve": "exact scores of positions",
    "book": "build or verify an opening book",
    "exam": "choose the positions of the exam again, or verify its scores",
    "experiment": "repeat a published experiment",
    "serve-agent": "serve an agent to other programs, by lines or HTTP",
    "bench": "measure speed beside what it is compared with",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, 2 for bad input, 130 when interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = Parser(
        prog="c4",
        description="Pit Connect Four agents against each other.",
        epilog="c4 COMMAND --help says more. commands:\n"
        + "\n".join(f"  {name:<12} {summary}" for name, summary in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", metavar="COMMAND", help="one of " + ", ".join(COMMANDS))
    parser.add_argument("--version", action="version", version=f"c4env {_version()}")
    name = parser.parse_args(given[:1]).command
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"expected {', '.join(COMMANDS)}"
        parser.error(f"unknown command {name!r}; {hint}")
    try:
        command = importlib.import_module("evaluation.commands." + name.replace("-", "_"))
        parser = Parser(prog=f"c4 {name}", description=command.__doc__)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        command.configure(parser)
        code = command.execute(parser.parse_args(given[1:]))
        sys.stdout.flush()
        return int(code or 0)
    except ValueError as error:
        # Every error this project raises about its input is a ValueError (c4env.errors).
        from c4env.errors import C4Error

        if not isinstance(error, C4Error):
            raise
        print(f"c4 {name}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        if arguments is None:  # nothing is left to interrupt but the end of the process
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        print(f"c4 {name}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _version() -> str:
    try:
        return version("c4env")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "of an unknown version"


if __name__ == "__main__":
    # Worker processes import this module again under another name and stop there.
    sys.exit(main())
