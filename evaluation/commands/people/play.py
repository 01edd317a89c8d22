"""Play against an agent in the terminal: c4 play human alphabeta:depth=7.

Either player, or both, may be an agent's spec or `human`. Games are appended to a record
that `c4 report` reads.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from evaluation.commands.options import add_board, add_settings, at_least, searching
from evaluation.commands.output import say

RECORD: Final = Path("c4-games")
HINT: Final = "perfect"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("players", nargs=2, metavar="PLAYER", help="`human` or an agent's spec")
    parser.add_argument(
        "--first", choices=("1", "2"),
        help="which of the two goes first (default: asked when a person plays, else 1)",
    )  # fmt: skip
    parser.add_argument(
        "--hint", default=HINT, metavar="SPEC", help=f"the agent that hints (default {HINT})"
    )
    add_settings(parser, "seed", quiet=False)
    parser.add_argument(
        "--record", type=Path, default=RECORD, metavar="DIR",
        help=f"where the game is appended (default {RECORD})",
    )  # fmt: skip
    add_board(parser)
    parser.add_argument("--no-record", action="store_true", help="write nothing")


def execute(arguments: argparse.Namespace) -> None:
    import agents
    from evaluation.plan.field import split_name
    from evaluation.play import HELP, HUMAN, TerminalGame, ask_first, keep

    at_least(arguments, 0, "seed")
    named = [(p, p) if p == HUMAN else split_name(p) for p in arguments.players]
    (one, _), (other, _) = named
    zoo = {name: agents.make(spec) for name, spec in named if spec != HUMAN}
    hint = searching(arguments.hint)
    record = None if arguments.no_record else arguments.record
    if record is not None:
        keep(record)  # a damaged record is better heard of before the game than after it
    try:
        if HUMAN in (one, other):
            say(f"{HELP}\n")
        if arguments.first is not None or HUMAN not in (one, other):
            names = (other, one) if arguments.first == "2" else (one, other)
        else:
            names = ask_first((one, other), input, say)
    except EOFError:
        say("left before the game")
        return
    game = TerminalGame(names, zoo, hint, input, say, arguments.seed, styled=True).play()
    if record is not None and game is not None:
        keep(record, game)
        say(f"recorded in {record}; c4 report {record} tallies it")
