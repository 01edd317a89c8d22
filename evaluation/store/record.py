"""A game as a value, and the file of games that a run writes: one JSON line each.

The first line of the file is the header, which holds everything needed to repeat the
run. A line that a kill tore off in the middle is dropped when the file is next opened;
all whole lines stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, get_args

from c4env.errors import C4Error
from c4env.position import Position
from evaluation.errors import UnreadableRun, UnwritableRun
from evaluation.store.files import lock_file

GAMES_FILE: Final = "games.jsonl"
FORMAT: Final = "c4env games 1"

Ending = Literal[
    "four", "full board",
    "exception", "illegal column", "nonsense", "time", "crash", "abandoned",
]  # fmt: skip
PLAYED_OUT: Final = ("four", "full board")
FORFEITS: Final = tuple(ending for ending in get_args(Ending) if ending not in PLAYED_OUT)


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

    def _repr_html_(self) -> str:
        from evaluation.store.replay import replay_html

        return replay_html(self)

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the game within its run."""
        return (*self.players, self.opening)

    @property
    def fixture(self) -> tuple[tuple[str, str], str]:
        """Players and opening: the game as a schedule names it."""
        return (self.players, self.opening)

    def format(self) -> str:
        """One JSON line without its newline, the inverse of :meth:`parse`."""
        values = {name: getattr(self, name) for name in self.__slots__}  # asdict() copies deeply
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

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
            _check_kinds(game)
            outcome = Position.parse(game.moves).outcome
            if not game.moves.startswith(game.opening):
                raise UnreadableRun("the moves do not begin with the opening")
        except (C4Error, KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableRun(f"not a game: {line.strip()[:200]!r}: {error}") from None
        if game.ending in FORFEITS:
            agree = outcome is None and game.winner is not None
        else:
            ending = "full board" if game.winner is None else "four"
            agree = outcome is not None and (outcome.winner, ending) == (game.winner, game.ending)
        if not agree:
            raise UnreadableRun(f"moves and result contradict: {line.strip()[:200]!r}")
        return game


def _check_kinds(game: GameRecord) -> None:
    """Refuse a field of the wrong kind: a damaged line can still be JSON."""
    if not all(isinstance(text, str) for text in (*game.players, game.opening, game.reason)):
        raise UnreadableRun("players, opening and reason are texts")
    if game.ending not in (*PLAYED_OUT, *FORFEITS):
        raise UnreadableRun(f"there is no ending {game.ending!r}")
    if game.winner not in (0, 1, None) or isinstance(game.winner, bool):
        raise UnreadableRun(f"there is no winner {game.winner!r}")
    if not all(type(count) is int and count >= 0 for count in game.nodes):
        raise UnreadableRun("nodes are two counts")
    if not all(type(time) in (int, float) and time >= 0 for time in game.seconds):
        raise UnreadableRun("seconds are two times")


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
        if folder.exists() and not folder.is_dir():
            raise UnreadableRun(f"{folder} is a file: expected a directory")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not self._path.exists():
                _make_once(self._path, json.dumps({"format": FORMAT, **header}) + "\n")
            self._file = self._path.open("r+", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UnreadableRun(f"{folder}: {error.strerror or error}") from None
        try:
            lock_file(self._file, f"{folder} is being written by another run")
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

    def append(self, game: GameRecord) -> None:
        """Add a game; once this returns, killing the process does not lose it.

        Raises:
            UnwritableRun: the disk is full, or the like; all games before are safe.
        """
        line = (game.format() + "\n").encode()
        end = os.lseek(self._file.fileno(), 0, os.SEEK_END)
        try:
            # Not through the buffer, which would try again on closing.
            while line:
                line = line[os.write(self._file.fileno(), line) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file.fileno(), end)
            raise UnwritableRun(
                f"{self._path}: {error.strerror or error}; the games before are in it, and the "
                "same command goes on from there"
            ) from None

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


def _make_once(path: Path, text: str) -> None:
    """Make a file that is either complete or not there, even after a kill.

    Of two processes that make it at once one wins, and the other finds that one's.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        try:
            os.link(partial, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _shown(header: dict[str, Any], keys: list[str]) -> str:
    text = ", ".join(f"{key}={header.get(key)}" for key in keys)
    return text if len(text) <= 120 else text[:117] + "..."
