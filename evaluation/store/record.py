"""A game as a value, and the file of games that a run writes: one JSON line each.

The first line of the file is the header, which holds everything needed to repeat the run;
where the run grew, another one stands, and the last one holds.
"""

from __future__ import annotations

__any_board__ = True

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from c4env.boards import STANDARD
from c4env.errors import C4Error
from c4env.evaluation.errors import UnreadableRun
from c4env.evaluation.plan.schedule import planned
from c4env.evaluation.store.growth import grown
from c4env.evaluation.store.journal import Content, Format, Journal, read_lines
from c4env.geometry import BOARD_SIZE, IS_STANDARD
from c4env.position import Position

GAMES_FILE: Final = "games.jsonl"
BOARD: Final = {} if IS_STANDARD else {"board": str(BOARD_SIZE)}
"""What the header of a run says of its board: nothing of the usual one."""

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

    @property
    def fixture(self) -> tuple[tuple[str, str], str]:
        """Players and opening: what identifies the game within its run, as a schedule does."""
        return (self.players, self.opening)

    def values(self) -> dict[str, Any]:
        """The fields as JSON has them, the inverse of :meth:`parse`."""
        return {name: getattr(self, name) for name in self.__slots__}  # asdict() copies deeply

    @classmethod
    def parse(cls, values: Any) -> GameRecord:
        """The game of a JSON object, its moves played through.

        Raises:
            UnreadableRun: not such an object, or its moves and its result contradict.
        """
        try:
            fields: dict[str, Any] = dict(values)
            for name in ("players", "nodes", "seconds"):
                first, second = fields[name]
                fields[name] = (first, second)
            game = cls(**fields)
            _check_kinds(game)
            outcome = Position.parse(game.moves).outcome
            if not game.moves.startswith(game.opening):
                raise UnreadableRun("the moves do not begin with the opening")
        except (C4Error, KeyError, TypeError, ValueError) as error:
            raise UnreadableRun(f"not a game: {error}") from None
        if game.ending in FORFEITS:
            agree = outcome is None and game.winner is not None
        else:
            ending = "full board" if game.winner is None else "four"
            agree = outcome is not None and (outcome.winner, ending) == (game.winner, game.ending)
        if not agree:
            raise UnreadableRun("moves and result contradict")
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
        json.dumps(
            [*g.players, g.opening, g.moves, g.winner, g.ending, g.nodes], ensure_ascii=False
        )
        for g in games
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _require_board(path: Path, header: Mapping[str, Any]) -> None:
    """Refuse games of another board.

    Raises:
        UnreadableRun: they are.
    """
    there = header.get("board", str(STANDARD))
    if there != str(BOARD_SIZE):
        raise UnreadableRun(
            f"{path.parent} holds games on a board of {there}, not {BOARD_SIZE}: expected another "
            f"directory, or --board {there} of c4 run, match, report or compare"
        )


GAMES: Final = Format(
    "c4env games", GameRecord.parse, "games", GameRecord.values, fits=_require_board
)


def open_games(
    folder: Path | None, header: Mapping[str, Any], patience: float = 0.0
) -> Journal[GameRecord]:
    """The games of one run on disk, open for appending; a context manager.

    Args:
        folder: the run directory; made when missing. None keeps nothing.
        header: what is to be played. An existing file takes it on, as far as its games stay
            comparable (:func:`c4env.evaluation.store.growth.grown`).
        patience: seconds to wait for another process that is writing.

    Raises:
        UnreadableRun: the file belongs to another run or is damaged.
        FileInUse: another process is writing to it.
    """
    return Journal(folder and folder / GAMES_FILE, GAMES, header, _take_on, patience)


def read_games(folder: Path) -> tuple[dict[str, Any], list[GameRecord]]:
    """Header and games of a run directory.

    Raises:
        UnreadableRun: no such file, a line that is neither torn off at the end nor a game, or
            a game twice or not of the run.
    """
    path = folder / GAMES_FILE
    content = read_lines(path, GAMES)
    _check_games(path, content)
    return content[:2]


def _take_on(path: Path, content: Content[GameRecord], header: dict[str, Any]) -> dict[str, Any]:
    _check_games(path, content)
    return grown(path.parent, content.header, header, [g.players for g in content.entries])


def _check_games(path: Path, content: Content[GameRecord]) -> None:
    """Refuse a game that is there twice, or that the run of the header does not play."""
    schedule = set(planned(content.header))
    if not schedule:  # games that people played: as many as they like from one opening
        return
    for number, game in zip(content.lines, content.entries, strict=True):
        if game.fixture not in schedule:
            first, second = game.players
            raise UnreadableRun(
                f"{path}, line {number}: {first!r} against {second!r} from opening "
                f"{game.opening!r} is a game of another run, or is there twice"
            )
        schedule.remove(game.fixture)
