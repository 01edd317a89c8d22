"""Play against an agent in the terminal: c4 play human alphabeta:depth=7.

A player is an agent's spec or `human`. The first player moves first. With --record the game is
appended to a record that `c4 report` reads, and the command prints the tally of the two players.
With --format markdown, csv or json, standard output has only the tally.
"""

from __future__ import annotations

import argparse
from contextlib import closing, nullcontext
from pathlib import Path

from c4env.evaluation.cli.declare import AGENT, add_board, add_format, at_least
from c4env.evaluation.cli.output import say, show


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("players", nargs=2, metavar="PLAYER", help=f"`human`, {AGENT}")
    parser.add_argument(
        "--moves", default="", metavar="MOVES",
        help="begin after these columns, such as the ones that c4 report --agent prints",
    )  # fmt: skip
    parser.add_argument(
        "--record", type=Path, metavar="DIR", help="append the game to DIR (default: write nothing)"
    )
    parser.add_argument(
        "--seed", type=at_least(0), default=0, metavar="N", help="seed of the agents (default 0)"
    )
    add_board(parser)
    add_format(parser)


def execute(arguments: argparse.Namespace) -> None:
    from c4env.agents.making.as_agent import as_agent
    from c4env.errors import InvalidOption
    from c4env.evaluation.cli.output import stdout_to_stderr
    from c4env.evaluation.human import HUMAN, Human, Left, record_game, require_record
    from c4env.evaluation.ratings.tally import WinTable
    from c4env.evaluation.results.match import read_run
    from c4env.evaluation.runs.play_game import play_game
    from c4env.evaluation.runs.players import name_players, require_visible, split_name
    from c4env.evaluation.runs.referee import Referee
    from c4env.position import DIGITS, Position
    from c4env.render import SIDES, drawing

    named = [(p, p) if p == HUMAN else split_name(p) for p in arguments.players]
    names = one, other = named[0][0], named[1][0]
    for (name, spec), player in zip(named, arguments.players, strict=True):
        if name == HUMAN != spec:
            raise InvalidOption(f"{player}: {HUMAN} means a person: expected another name")
        require_visible(name)
    if one == other and named[0] != named[1]:
        raise InvalidOption(f"{' '.join(arguments.players)}: expected two different names")
    moves, seed = "" if arguments.moves == "-" else arguments.moves, arguments.seed
    start = Position.parse(moves)
    if start.outcome is not None:
        raise InvalidOption(f"--moves {arguments.moves}: expected a game that is not over")
    if arguments.record is not None:
        require_record(arguments.record)  # before the game, not after it
    titles = [f"{name} ({side})" for name, side in zip(names, SIDES, strict=True)]

    def on_move(position: Position, column: int) -> None:
        board = drawing(position, column, colour=True)
        say(f"\n{titles[1 - position.to_move]} plays {DIGITS[column]}\n{board}")

    players = name_players({str(i): spec for i, (_, spec) in enumerate(named) if spec != HUMAN})
    # If standard output is for programs, the game goes to stderr.
    with (
        closing(Referee(players)) as referee,
        nullcontext() if arguments.format == "text" else stdout_to_stderr(),
    ):
        [*map(referee.traits, players)]  # an agent that cannot be made is an error now
        first, second = (referee.agent(s) if s in players else as_agent(Human()) for s in "01")
        last = DIGITS.index(moves[-1]) if moves else None
        say(drawing(start, last, colour=True))
        try:
            game = play_game((first, second), names, moves, seed, on_move=on_move)
        except Left:
            say("left the game")
            return
        if game.forfeited_by is not None:
            say(f"{titles[game.forfeited_by]} forfeits: {game.reason}")
        say("a draw" if game.winner is None else f"{titles[game.winner]} wins")
    games = [game]
    if arguments.record is not None:
        record_game(arguments.record, game)
        games = [g for g in read_run(arguments.record).games if {*g.players} == {*names}]
    if arguments.record is not None or arguments.format != "text":
        show(WinTable.of(games, names), arguments)
