"""Print the win table of a run directory, finished or not, or of games that people played.

DIR is what `c4 run --out` or `c4 play --record` wrote.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.commands import run


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--format", choices=run.FORMATS, default="text", help="of the table")
    run.configure_anchor(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the table."""
    from evaluation.ratings import format_ratings, rate
    from evaluation.record import digest, read_games
    from evaluation.schedule import planned
    from evaluation.tournament import notes_of
    from evaluation.wintable import WinTable

    header, games, _ = read_games(arguments.folder)
    players = list(header.get("players", ()))
    table = WinTable.of(games, players, notes_of(header))
    print(getattr(table, arguments.format)())
    if arguments.format == "text" and games and "sprt" in header:
        from evaluation.duel import Match

        print("\n" + Match.read(header, games).report())
    elif arguments.format == "text" and "openings" in header:
        expected = len(planned(header))
        if len(games) < expected:
            print(f"unfinished: {len(games)} of {expected} games; the same command goes on")
    if arguments.format == "text" and games:
        known = header.get("deterministic", ())
        anchor = run.anchor(arguments, table.players)
        ratings = rate(games, table.players, deterministic=known, anchor=anchor)
        print("\n" + format_ratings(ratings))
        print(f"digest {digest(games)}")
    return 0
