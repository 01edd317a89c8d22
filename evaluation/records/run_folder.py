"""The directory of a run: ``run.json`` is the header, ``games.jsonl`` has a line for each game.

A directory takes new games if they can be compared with its stored games.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from c4env.errors import UnreadableRun
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import Fixture, RunHeader, extend_header
from c4env.evaluation.records.jsonl import Lines, read_lines, read_text
from c4env.files import write_whole
from c4env.geometry import BOARD_SIZE

GAMES_FILE: Final = "games.jsonl"
RUN_FILE: Final = "run.json"
SCORES_FILE: Final = "scores.jsonl"


def open_games(folder: Path | None, header: RunHeader, patience: float = 0.0) -> Lines:
    """Open the games of a run for appending ``game.values()``; return a context manager.

    Args:
        folder: the run directory, made if missing; None writes no file.
        header: the run to play. An existing directory accepts this run if the stored games and the
            new games can be compared (:func:`extend_header`).
        patience: seconds to wait if another process is writing.

    Raises:
        UnreadableRun: the directory belongs to another run or is damaged.
        Unwritable: another process is writing to the directory.
    """
    if folder is None:
        return Lines(None)
    if (folder / RUN_FILE).exists():
        read_header(folder)  # refuses another board, whose games cannot be parsed
    file = Lines(folder / GAMES_FILE, GameRecord.parse, patience)
    try:
        _take_on(folder, header, file.entries)
    except BaseException:
        file.close()
        raise
    return file


def read_folder(folder: Path) -> tuple[RunHeader, list[GameRecord]]:
    """Read the header and the games of a run directory.

    Raises:
        UnreadableRun: a file is missing, a line other than an incomplete last line is damaged, or
            a game occurs twice or is not in the schedule of the run.
    """
    path = folder / GAMES_FILE
    if not folder.exists():
        raise UnreadableRun(f"{folder} does not exist: expected a run directory")
    if not folder.is_dir():
        raise UnreadableRun(f"{folder} is not a directory: expected a run directory")
    if not path.exists():
        raise UnreadableRun(f"{folder} has no {path.name}: expected a directory of c4 run --out")
    if (folder / RUN_FILE).exists():
        read_header(folder)  # refuses another board, whose games cannot be parsed
    games = read_lines(path, GameRecord.parse)  # before the header: a run may extend it now
    header = read_header(folder)
    return header, _checked(path, header, games)


def read_header(folder: Path) -> RunHeader:
    """Read ``run.json`` of a run directory.

    Raises:
        UnreadableRun: the file is missing or damaged, or has another format or board.
    """
    path = folder / RUN_FILE
    if not path.exists():
        raise UnreadableRun(f"{folder} has no {RUN_FILE}: expected one beside {GAMES_FILE}")
    text = read_text(path)
    try:
        header = RunHeader.parse(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableRun(f"{path} is not the header of a run: {error}") from None
    if header.board != str(BOARD_SIZE):
        raise UnreadableRun(
            f"{folder} has games on a board of {header.board}, not {BOARD_SIZE}: expected another "
            f"directory, or --board {header.board} of c4 run, match or report"
        )
    return header


def _take_on(folder: Path, planned: RunHeader, games: list[GameRecord]) -> None:
    """Check the stored games, and write a header that covers them and the planned run."""
    header = planned
    stored = None
    if games or (folder / RUN_FILE).exists():
        stored = read_header(folder)
        _checked(folder / GAMES_FILE, stored, games)
        header = extend_header(folder, stored, planned, [game.players for game in games])
    if header != stored:
        write_whole(folder / RUN_FILE, header.format())


def _checked(path: Path, header: RunHeader, games: list[GameRecord]) -> list[GameRecord]:
    """Return the games, without forfeited games that were played again.

    Raises:
        UnreadableRun: a game occurs twice, or is not in the header's schedule.
    """
    schedule = set(header.schedule())
    if not schedule:  # people may play any number of games from one opening
        return games
    found: dict[Fixture, GameRecord] = {}
    for number, game in enumerate(games, start=1):
        before = found.get(game.fixture)
        if game.fixture not in schedule or (before is not None and before.forfeited_by is None):
            first, second = game.players
            raise UnreadableRun(
                f"{path}, line {number}: {first!r} against {second!r} from opening "
                f"{game.opening!r} is a game of another run, or occurs twice"
            )
        found[game.fixture] = game
    return [game for game in games if found[game.fixture] is game]
