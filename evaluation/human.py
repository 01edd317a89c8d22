"""A person at the terminal as a policy, and the record of games that people played."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from c4env.errors import Unavailable
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import RunHeader
from c4env.evaluation.records.run_folder import GAMES_FILE, open_games
from c4env.files import require_folder
from c4env.observation import Observation, position_from
from c4env.position import DIGITS
from c4env.render import SIDES

HUMAN: Final = "human"
"""The name of a person in specs and records."""

PEOPLE: Final = RunHeader(kind="people")
"""The header that is written to a record of games that people played."""

LOCK_SECONDS: Final = 5.0  # to wait while another process records a game


class Left(Unavailable):
    """The error for a game that a person left; the game has no result."""


class Human:
    """A person at the terminal, who types 1-based columns."""

    def __call__(self, observation: Observation) -> int:
        """Ask for a legal column until the answer is one.

        Raises:
            Left: the person types q, or standard input ends.
        """
        position = position_from(observation)
        while True:
            try:
                text = input(f"{SIDES[position.to_move]}, column 1-{DIGITS[-1]}: ").strip().lower()
            except EOFError:
                text = "q"
            if text == "q":
                raise Left("left the game")
            if text in tuple(DIGITS) and position.is_legal(DIGITS.index(text)):
                return DIGITS.index(text)
            print(f"{text!r}: expected a column that has room, or q to leave")


def require_record(folder: Path) -> None:
    """Check that a folder can record games that people played; no file is created.

    Raises:
        UnreadableRun: the folder holds another kind of record, or is damaged.
        Unwritable: the folder cannot be written.
    """
    if (folder / GAMES_FILE).exists():
        open_games(folder, PEOPLE, LOCK_SECONDS).close()
    else:
        require_folder(folder)


def record_game(folder: Path, game: GameRecord) -> None:
    """Append a game to a record of games that people played.

    The record is open only during the call, so that several games can share it.

    Raises:
        UnreadableRun: the folder holds another kind of record, or is damaged.
        Unwritable: the folder cannot be written.
    """
    with open_games(folder, PEOPLE, LOCK_SECONDS) as file:
        file.append(game.values())
