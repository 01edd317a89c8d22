"""The record of a game, a line of ``games.jsonl``, and the digest of many."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from c4env.errors import C4Error, UnreadableRun

from ...position import Position

Ending = Literal[
    "four", "full board",
    "exception", "illegal column", "nonsense", "time", "crash", "abandoned",
]  # fmt: skip
PLAYED_OUT: Final = ("four", "full board")
FORFEITS: Final = tuple(ending for ending in get_args(Ending) if ending not in PLAYED_OUT)


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A record of one game.

    The first player has the first move of the game, which may belong to the opening. Each tuple
    has the first player's value, then the second player's value.

    Example:
        >>> game = round_robin(["greedy", "random"], openings=0).games[0]
        >>> game.moves, game.winner, game.ending
        ('4742464', 0, 'four')
    """

    players: tuple[str, str]  # spec strings, as given
    opening: str  # 1-based columns played before the agents took over
    moves: str  # 1-based columns of the whole game, including the opening
    winner: int | None  # 0 the first player, 1 the second, None a draw
    ending: Ending
    reason: str = ""  # the cause of a forfeit, in words
    nodes: tuple[int, int] = (0, 0)  # positions searched
    seconds: tuple[float, float] = (0.0, 0.0)  # time spent choosing moves

    @property
    def points(self) -> tuple[float, float]:
        """The points of each player: 1, 1/2 or 0."""
        if self.winner is None:
            return (0.5, 0.5)
        return (1.0, 0.0) if self.winner == 0 else (0.0, 1.0)

    @property
    def forfeited_by(self) -> int | None:
        """The index, 0 or 1, of the player who lost by forfeit; None without a forfeit."""
        if self.ending not in FORFEITS or self.winner is None:
            return None
        return 1 - self.winner

    @property
    def fixture(self) -> tuple[tuple[str, str], str]:
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
        }

    @classmethod
    def parse(cls, values: Any) -> GameRecord:
        """Parse a JSON object, and replay its moves.

        Raises:
            UnreadableRun: the object is not a game, or the moves contradict the result.
        """
        try:
            row: dict[str, Any] = dict(values)
            for name, prefix in (("players", ""), ("nodes", "nodes_"), ("seconds", "seconds_")):
                row[name] = row.pop(f"{prefix}first"), row.pop(f"{prefix}second")
            game = cls(**row)
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
            raise UnreadableRun("the moves contradict the result")
        return game


def digest(games: Iterable[GameRecord]) -> str:
    """Return the hex digest of the games; their order does not matter.

    The digest leaves out seconds, which never repeat, and the reasons of forfeits, which may
    contain memory addresses.
    """
    lines = sorted(
        json.dumps(
            [*g.players, g.opening, g.moves, g.winner, g.ending, g.nodes], ensure_ascii=False
        )
        for g in games
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()[:16]
