"""The record of a game, the digest of many games, and tables of games as files.

{"first": "greedy", "second": "random", "opening": "4", "moves": "4742464", "winner": 0, ...}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from c4env.errors import C4Error, InvalidOption, UnreadableRun
from c4env.evaluation.records.header import Fixture
from c4env.evaluation.tables import Table
from c4env.files import write_whole
from c4env.position import Position

Ending = Literal[
    "four", "full board",
    "exception", "illegal column", "nonsense", "unreadable", "no answer", "time", "crash",
    "abandoned", "resigned", "cut",
]  # fmt: skip
"""How a game ended: on the board (``four``, ``full board``), by a forfeit, or not (``cut``)."""

PLAYED_OUT: Final = ("four", "full board")
IN_PAIRS: Final = ("nodes", "seconds", "asked_again")  # numbers of each player
LATER: Final = {"asked_again_first": 0, "asked_again_second": 0}
"""The values that a row of an earlier version lacks."""
CUT: Final = "cut"  # a game from elsewhere without a result, which tables do not count
FORFEITS: Final = tuple(e for e in get_args(Ending) if e not in (*PLAYED_OUT, CUT))


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A record of one game.

    The first player has the first move of the game, which may belong to the opening. A tuple has
    the first player's value, then the second player's value.

    Example:
        >>> game = round_robin(["greedy", "random"], openings=0).games[0]
        >>> game.moves, game.winner, game.ending
        ('4742464', 0, 'four')
    """

    players: tuple[str, str]  #: spec strings, as given
    opening: str  #: 1-based columns played before the agents took over
    moves: str  #: 1-based columns of the whole game, including the opening
    winner: int | None  #: 0 the first player, 1 the second, None a draw, or no result
    ending: Ending
    reason: str = ""  #: the cause of a forfeit
    nodes: tuple[int, int] = (0, 0)  #: positions searched
    seconds: tuple[float, float] = (0.0, 0.0)  #: time spent choosing moves
    asked_again: tuple[int, int] = (0, 0)  #: times that a language model was asked again
    host: str = ""  #: the machine of a game on a cluster

    @property
    def points(self) -> tuple[float, float]:
        """The points of each player: 1, 1/2 or 0 (see also :attr:`counted`)."""
        if self.winner is None:
            return (0.5, 0.5)
        return (1.0, 0.0) if self.winner == 0 else (0.0, 1.0)

    @property
    def counted(self) -> bool:
        """Whether the game has a result, so that tables and ratings count it."""
        return self.ending != CUT

    @property
    def forfeited_by(self) -> int | None:
        """The index, 0 or 1, of the player who lost by forfeit; None without a forfeit."""
        if self.ending not in FORFEITS or self.winner is None:
            return None
        return 1 - self.winner

    @property
    def fixture(self) -> Fixture:
        """The players and the opening, which identify the game in the schedule of its run."""
        return (self.players, self.opening)

    def values(self) -> dict[str, Any]:
        """Return a row of ``games.jsonl``, the inverse of :meth:`parse`."""
        return {
            "first": self.players[0],
            "second": self.players[1],
            "opening": self.opening,
            "moves": self.moves,
            "winner": self.winner,
            "ending": self.ending,
            "reason": self.reason,
            "nodes_first": self.nodes[0],
            "nodes_second": self.nodes[1],
            "seconds_first": self.seconds[0],
            "seconds_second": self.seconds[1],
            "asked_again_first": self.asked_again[0],
            "asked_again_second": self.asked_again[1],
            **({"host": self.host} if self.host else {}),
        }

    def on(self, host: str) -> GameRecord:
        """Return the game with the name of its machine; the reason of a late move names it too."""
        reason = f"{self.reason}; on {host}" if self.ending == "time" else self.reason
        return replace(self, host=host, reason=reason)

    @classmethod
    def parse(cls, values: Any) -> GameRecord:
        """Parse a JSON object, and replay its moves.

        Raises:
            UnreadableRun: the object is not a game, or the moves contradict the result.
        """
        try:
            row: dict[str, Any] = LATER | dict(values)
            prefixes = {"players": "", **{name: f"{name}_" for name in IN_PAIRS}}
            for name, prefix in prefixes.items():
                row[name] = row.pop(f"{prefix}first"), row.pop(f"{prefix}second")
            game = cls(**row)
            game._check_types()
            outcome = Position.parse(game.moves).outcome
            if not game.moves.startswith(game.opening):
                raise UnreadableRun("the moves do not begin with the opening")
            if outcome is not None and game.opening == game.moves:
                raise UnreadableRun("the opening ends the game")
        except (C4Error, KeyError, TypeError, ValueError) as error:
            raise UnreadableRun(f"not a game: {error}") from None
        if game.ending == CUT:
            agree = outcome is None and game.winner is None
        elif game.ending in FORFEITS:
            agree = outcome is None and game.winner is not None
        else:
            ending = "full board" if game.winner is None else "four"
            agree = outcome is not None and (outcome.winner, ending) == (game.winner, game.ending)
        if not agree:
            raise UnreadableRun("the moves contradict the result")
        return game

    def _check_types(self) -> None:
        """Raise an error if a value, for example from JSON, has a wrong type."""
        for name, value in self.values().items():
            is_number = name.startswith(IN_PAIRS)
            if name != "winner" and not isinstance(value, int | float if is_number else str):
                expected = "a number" if is_number else "a text"
                raise UnreadableRun(f"{name} {value!r}: expected {expected}")
        if self.winner is not None and (type(self.winner) is not int or self.winner not in (0, 1)):
            raise UnreadableRun(f"winner {self.winner!r}: expected 0, 1 or none")


def digest(games: Iterable[GameRecord]) -> str:
    """Return the hex digest of the games; their order does not matter.

    The digest leaves out seconds and machines, which differ from run to run, and the reasons of
    forfeits, which may contain memory addresses.
    """
    lines = sorted(
        json.dumps(
            [*g.players, g.opening, g.moves, g.winner, g.ending, g.nodes], ensure_ascii=False
        )
        for g in games
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def games_table(games: Sequence[GameRecord]) -> Table:
    """Return a table with a row for each game; a winner None means a draw."""
    rows = [game.values() for game in games]
    columns = {name: "" for row in rows for name in row}  # a game on a cluster has a host too
    return Table.of(columns, [[*({**columns, **row}).values()] for row in rows])


WRITERS: Final[dict[str, Callable[[Sequence[GameRecord]], str]]] = {
    ".csv": lambda games: games_table(games).csv() + "\n",
    ".json": lambda games: json.dumps([game.values() for game in games], indent=1) + "\n",
}
"""The text of games in each format, by the ending of a file's name."""


def require_format(path: Path) -> None:
    """Check that the ending of a file name is a format in WRITERS.

    Raises:
        InvalidOption: the ending is not in WRITERS.
    """
    if path.suffix.lower() not in WRITERS:
        raise InvalidOption(f"{path}: expected a file name that ends in {', '.join(WRITERS)}")


def write_games(path: Path, games: Sequence[GameRecord]) -> None:
    """Write games to a file, in the format given by the ending of its name.

    Raises:
        InvalidOption: the ending is not in WRITERS.
        Unwritable: the file cannot be written.
    """
    require_format(path)
    write_whole(path, WRITERS[path.suffix.lower()](games))
