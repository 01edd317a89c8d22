"""Play against an agent in the terminal: c4 play human alphabeta:depth=7.

Each player is an agent's spec or `human`. A person is asked who moves first; of two agents it is
the first. The command appends the game to a record that `c4 report`
reads. At the end it prints the tally of all games between the two players. With --format markdown,
csv or json, standard output has only this tally.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from c4env.evaluation.cli.output import say, show

from ...geometry import IS_STANDARD
from .options import (
    AGENT,
    add_board,
    add_format,
    add_people,
    add_settings,
    at_least,
    searching,
)

if TYPE_CHECKING:
    from ..store.record import GameRecord


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("players", nargs=2, metavar="PLAYER", help=f"`human`, {AGENT}")
    parser.add_argument(
        "--moves", default="", metavar="MOVES",
        help="begin after these columns, such as MOVES that c4 report --agent prints",
    )  # fmt: skip
    add_settings(parser, "seed", quiet=False)
    add_people(parser)
    add_board(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.evaluation.games.processes import stdout_to_stderr

    from ..plan.field import split_name
    from ..play import HUMAN
    from ..rating.wintable import WinTable
    from ..studies.match import read_run

    named = [(p, p) if p == HUMAN else split_name(p) for p in arguments.players]
    record = None if arguments.no_record else arguments.record
    # If standard output is for programs, the game goes to stderr.
    with nullcontext() if arguments.format == "text" else stdout_to_stderr():
        game = _play(arguments, named, record)
    games = [] if game is None else [game]
    players = [name for name, _ in named]
    if record is not None and game is not None:
        games = [each for each in read_run(record).games if {*each.players} == {*players}]
    if games or arguments.format != "text":
        say("\n" * (arguments.format == "text"), end="")
        show(WinTable.of(games, players), arguments)
    if record is not None and games and arguments.format == "text":
        say(f"game appended to {record}; c4 report {record} shows the tally")
        if IS_STANDARD and HUMAN in players:
            say(f"c4 report {record} --agent {HUMAN} shows the moves to mend first;")
            say(f"c4 play {' '.join(arguments.players)} --moves MOVES begins before such a move")


def _play(
    arguments: argparse.Namespace, named: Sequence[tuple[str, str]], record: Path | None
) -> GameRecord | None:
    """Play and record a game; return None if a person leaves the game without a result."""
    from c4env.errors import InvalidOption

    from ... import agents
    from ...position import Position
    from ..play import HELP, HUMAN, TerminalGame, ask_first, keep

    at_least(arguments, 0, "seed")
    (one, _), (other, _) = named
    for (name, spec), given in zip(named, arguments.players, strict=True):
        if name == HUMAN != spec:
            raise InvalidOption(f"{given}: {HUMAN} means a person: expected another name")
    if one == other and named[0] != named[1]:
        raise InvalidOption(f"{' '.join(arguments.players)}: expected two different names")
    if Position.parse(arguments.moves).outcome is not None:
        raise InvalidOption(f"--moves {arguments.moves}: expected a game that is not over")
    players = [None if spec == HUMAN else agents.make(spec) for _, spec in named]
    hint = searching(arguments.hint)
    if record is not None:
        keep(record)  # report a damaged record before the game, not after it
    try:
        if HUMAN in (one, other):
            say(f"{HELP}\n")
        names = one, other
        if HUMAN in names:
            names = ask_first(names, input, say)
        first, second = players if names == (one, other) else players[::-1]
        settings = arguments.seed, True, arguments.moves
        game = TerminalGame(names, (first, second), hint, input, say, *settings).play()
    except EOFError:
        say("left before the game")
        return None
    finally:
        for agent in players:
            if agent is not None:
                agent.close()
    if record is not None and game is not None:
        keep(record, game)
    return game
