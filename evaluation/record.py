"""A game as a value, and the file of games that a run writes: one JSON line each.

The first line of the file is the header, which holds everything needed to repeat the
run. A line that a kill tore off in the middle is dropped when the file is next opened;
all whole lines stay.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal

from c4env.errors import C4Error
from c4env.position import Position
from evaluation.errors import RunInUse, UnreadableRun

GAMES_FILE: Final = "games.jsonl"
FORMAT: Final = "c4env games 1"

Ending = Literal["four", "full board", "exception", "illegal column", "nonsense", "abandoned"]
FORFEITS: Final = ("exception", "illegal column", "nonsense", "abandoned")


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game. Pairs hold the first player's value, then the second player's.

    The agent that moves first is the one whose turn it is on an empty board, whether or
    not the opening leaves it to move.
    """

    players: tuple[str, str]  # spec strings, as given
    opening: str  # 1-based columns played before the agents took over
    moves: str  # 1-based columns of the whole game, the opening's included
    winner: int | None  # 0 the first player, 1 the second, None a draw
    ending: Ending
    reason: str = ""  # of a forfeit, in the words of whoever noticed
    nodes: tuple[int, int] = (0, 0)  # positions searched
    seconds: tuple[float, float] = (0.0, 0.0)  # spent choosing

    @property
    def points(self) -> tuple[float, float]:
        """1, 1/2 or 0 for each player."""
        if self.winner is None:
            return (0.5, 0.5)
        return (1.0, 0.0) if self.winner == 0 else (0.0, 1.0)

    @property
    def forfeited_by(self) -> int | None:
        """The player who lost by forfeit, else None."""
        if self.ending not in FORFEITS or self.winner is None:
            return None
        return 1 - self.winner

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the game within its run."""
        return (*self.players, self.opening)

    def format(self) -> str:
        """One JSON line without its newline, the inverse of :meth:`parse`."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def parse(cls, line: str) -> GameRecord:
        """The game of a JSON line, its moves played through.

        Raises:
            UnreadableRun: not such a line, or its moves and its result contradict.
        """
        try:
            fields: dict[str, Any] = json.loads(line)
            for name in ("players", "nodes", "seconds"):
                first, second = fields[name]
                fields[name] = (first, second)
            game = cls(**fields)
            if not all(isinstance(name, str) for name in (*game.players, game.opening)):
                raise UnreadableRun("players and opening are texts")
            outcome = Position.parse(game.moves).outcome
            if not game.moves.startswith(game.opening):
                raise UnreadableRun("the moves do not begin with the opening")
        except (C4Error, KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableRun(f"not a game: {line.strip()[:200]!r}: {error}") from None
        winner = None if outcome is None else outcome.winner
        if game.ending not in FORFEITS and (outcome is None or winner != game.winner):
            raise UnreadableRun(f"moves and result contradict: {line.strip()[:200]!r}")
        return game


def digest(games: Iterable[GameRecord]) -> str:
    """Hex digest of what was played: the same for the same games in any order.

    Seconds are left out, since they never repeat, and the words of a reason, which may
    hold addresses.
    """
    lines = sorted(
        json.dumps([*g.key, g.moves, g.winner, g.ending, g.nodes], ensure_ascii=False)
        for g in games
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


class GameFile:
    """The games of one run on disk; a context manager while it is open for appending.

    Args:
        folder: the run directory; made when missing.
        header: what is to be played. An existing file must have the same header.

    Attributes:
        games: those already in the file when it was opened.

    Raises:
        UnreadableRun: the file belongs to another run or is damaged.
        RunInUse: another process is writing to it.
    """

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        self._path = folder / GAMES_FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not self._path.exists():
                _write_whole(self._path, json.dumps({"format": FORMAT, **header}) + "\n")
            self._file = self._path.open("r+", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UnreadableRun(f"{folder}: {error.strerror or error}") from None
        try:
            self._lock()
            found, self.games, intact = read_games(folder)  # nobody else adds to them now
            if found != header:
                differing = sorted(k for k in {*found, *header} if found.get(k) != header.get(k))
                raise UnreadableRun(
                    f"{folder} holds another run: {', '.join(differing)} differ "
                    f"({_shown(found, differing)} there, {_shown(header, differing)} asked for); "
                    "name another directory"
                )
            self._file.seek(intact)
            self._file.truncate()
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        """Keep a second process from writing to the same run; the system undoes it at exit."""
        try:
            import fcntl
        except ImportError:  # not on Windows: there it is left to the user
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunInUse(f"{self._path.parent} is being written by another run") from None

    def append(self, game: GameRecord) -> None:
        """Add a game; once this returns, killing the process does not lose it."""
        self._file.write(game.format() + "\n")
        self._file.flush()

    def __enter__(self) -> GameFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()


def read_games(folder: Path) -> tuple[dict[str, Any], list[GameRecord], int]:
    """Header and games of a run directory, and the length in bytes of its whole lines.

    Raises:
        UnreadableRun: no such file, or a line that is neither torn off at the end nor a game.
    """
    path = folder / GAMES_FILE
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableRun(
            f"{folder} holds no readable {GAMES_FILE}: {error.strerror or error}"
        ) from None
    intact = data.rfind(b"\n") + 1
    try:
        lines = data[:intact].decode("utf-8").splitlines()
        header = json.loads(lines[0])
        if header.pop("format") != FORMAT:
            raise ValueError
    except (ValueError, IndexError, KeyError, AttributeError, TypeError):
        raise UnreadableRun(f"{path}: its first line is not the header of a run") from None
    games = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            games.append(GameRecord.parse(line))
        except UnreadableRun as error:
            raise UnreadableRun(f"{path}, line {number}: {error}") from None
    return header, games, intact


def _write_whole(path: Path, text: str) -> None:
    """Make a file that is either complete or not there, even after a kill."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    partial.write_text(text, encoding="utf-8", newline="\n")
    partial.replace(path)


def _shown(header: dict[str, Any], keys: list[str]) -> str:
    text = ", ".join(f"{key}={header.get(key)}" for key in keys)
    return text if len(text) <= 120 else text[:117] + "..."
