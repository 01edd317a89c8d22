"""The win table of a run, with the first player in rows and the second player in columns."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from c4env.evaluation.tables import Column, Result, Table, plural, rounded

from ..store.record import Ending, GameRecord


class Cell(NamedTuple):
    """Wins, draws and losses of one player; ``+`` adds cells, ``~`` swaps wins and losses."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __add__(self, other: object) -> Cell:
        if not isinstance(other, Cell):
            return NotImplemented
        return Cell(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def __invert__(self) -> Cell:
        return Cell(self.losses, self.draws, self.wins)

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(self)

    @property
    def points(self) -> float:
        """The points: 1 for a win, 1/2 for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float | None:
        """The points per game, 0..1, or None without games."""
        return self.points / self.games if self.games else None

    def __str__(self) -> str:
        return f"{self.wins}/{self.draws}/{self.losses}"


@dataclass(frozen=True)
class WinTable(Result):
    """The win table of a run.

    Attributes:
        players: names, the best total score first.
        cells: results of pairings ``(first, second)``, from the first player's view.
        forfeits: number of forfeits of each player, counted by kind of ending.
        reasons: ending and reason of each player's first forfeit.
        notes: notes on how the games were played.
        opening_plies: the distinct lengths of the openings.
    """

    players: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]
    forfeits: dict[str, Counter[str]]
    reasons: dict[str, str]
    opening_plies: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        games: Iterable[GameRecord],
        players: Sequence[str] | None = None,
        notes: Sequence[str] = (),
    ) -> WinTable:
        """Count games in a table; ``players`` may include players without games."""
        games = list(games)
        cells: dict[tuple[str, str], Cell] = {}
        for (pair, winner), count in Counter((game.players, game.winner) for game in games).items():
            seen = Cell(*(count * (winner == result) for result in (0, None, 1)))
            cells[pair] = cells.get(pair, Cell()) + seen
        names = dict.fromkeys([*(players or ()), *(name for pair in cells for name in pair)])
        forfeits: dict[str, Counter[str]] = {}
        reasons: dict[str, str] = {}
        for game in games:
            loser = game.forfeited_by
            if loser is not None:
                reasons.setdefault(game.players[loser], f"{game.ending}: {game.reason}")
                forfeits.setdefault(game.players[loser], Counter())[game.ending] += 1
        plies = tuple(sorted({len(game.opening) for game in games}))
        table = cls(tuple(names), cells, forfeits, reasons, plies, tuple(notes))
        ranked = sorted(names, key=lambda player: -(table.total(player).score or 0))
        return replace(table, players=tuple(ranked))

    def cell(self, first: str, second: str) -> Cell:
        """The results of one player moving first against another, from the first player's view."""
        return self.cells.get((first, second), Cell())

    def as_first(self, player: str) -> Cell:
        """The player's results in games as the first player."""
        return self._by_colour[0].get(player, Cell())

    def as_second(self, player: str) -> Cell:
        """The player's results in games as the second player."""
        return self._by_colour[1].get(player, Cell())

    def total(self, player: str) -> Cell:
        """The player's results in all games."""
        return self.as_first(player) + self.as_second(player)

    @functools.cached_property
    def _by_colour(self) -> tuple[dict[str, Cell], dict[str, Cell]]:
        """Each player's results as the first and as the second player."""
        first, second = defaultdict[str, Cell](Cell), defaultdict[str, Cell](Cell)
        for (one, other), cell in self.cells.items():
            first[one] += cell
            second[other] += ~cell
        return first, second

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(cell.games for cell in self.cells.values())

    @property
    def kinds(self) -> list[str]:
        """The kinds of forfeits that occurred, as :data:`KINDS` names them."""
        return [kind for kind in KINDS if any(self.forfeited(p, kind) for p in self.forfeits)]

    def forfeited(self, player: str, kind: str) -> int:
        """The number of games that a player forfeited in one of the ways of a kind."""
        counts = self.forfeits.get(player, Counter())
        return sum(counts[ending] for ending in KINDS[kind])

    def forfeit_columns(self, player: Callable[[Any], str]) -> list[Column]:
        """Return a column for each kind of forfeit that occurred, for a table of players.

        Args:
            player: returns the player of a row.
        """

        def column(kind: str) -> Column:
            return Column(kind, of=lambda row: self.forfeited(player(row), kind))

        return [*map(column, self.kinds)]

    # -- forms --------------------------------------------------------------------------

    def tables(self) -> dict[str, Table]:
        """The pairings; for people they are a matrix of scores."""
        place = {player: i for i, player in enumerate(self.players)}
        pairs = [(*pair, cell) for pair, cell in self.cells.items() if cell.games]
        pairs.sort(key=lambda pair: (place[pair[0]], place[pair[1]]))
        return {"pairs": _Pairs(PAIRS, pairs, matrix=self.matrix())}

    def matrix(self) -> Table:
        """A row for each player moving first, a column for each player moving second."""
        number = {player: i for i, player in enumerate(self.players, start=1)}
        columns = [Column("", of=number.get), Column("moving first", of=str)]
        columns += [
            Column(str(i), _percent, functools.partial(self._score, other))
            for other, i in number.items()
        ]
        columns.append(Column("first", _percent, lambda one: self.as_first(one).score))
        columns.append(Column("second", _percent, lambda one: self.as_second(one).score))
        return Table(columns, self.players)

    def _score(self, second: str, first: str) -> float | None:
        cell = self.cells.get((first, second))
        return None if cell is None else cell.score

    def counted(self) -> str:
        """Return the number of games and the lengths of their openings."""
        *most, last = [str(plies) for plies in self.opening_plies] or ["no"]
        plies = " and ".join([*most, "1 ply" if last == "1" else f"{last} plies"])
        return f"{plural(self.games, 'game')}, openings of {plies}"

    def summary(self) -> str:
        """Return the number of games, the notes, and the forfeits."""
        return "\n".join([f"{self.counted()}.", *self.notes, *self.reasons_of_forfeits()])

    def reasons_of_forfeits(self) -> list[str]:
        """Return a sentence for each player that forfeited games, with counts and an example."""
        lines = []
        for player, counts in self.forfeits.items():
            endings = ", ".join(f"{count} {ending}" for ending, count in sorted(counts.items()))
            lines.append(
                f"{player} forfeited {plural(counts.total(), 'game')} ({endings}), "
                f"for example: {self.reasons[player]}"
            )
        return lines


@dataclass(frozen=True)
class _Pairs(Table):
    """The pairings of a win table, which text and Markdown show as a matrix."""

    matrix: Table = field(kw_only=True)

    def as_text(self) -> str:
        return self.matrix.as_text()

    def as_markdown(self) -> str:
        return self.matrix.as_markdown()


KINDS: Final[Mapping[str, tuple[Ending, ...]]] = {
    "crashes": ("exception", "crash"),
    "timeouts": ("time",),
    "illegal": ("illegal column", "nonsense"),
    "abandoned": ("abandoned",),
}
"""The kinds of forfeits that tables count, and the endings of games of each kind."""
PAIRS: Final = (
    Column("first", of=lambda pair: pair[0]),
    Column("second", of=lambda pair: pair[1]),
    Column("games", of=lambda pair: pair[2].games),
    Column("wins", of=lambda pair: pair[2].wins),
    Column("draws", of=lambda pair: pair[2].draws),
    Column("losses", of=lambda pair: pair[2].losses),
    Column("score", ".1%", lambda pair: pair[2].score),
)
"""The columns of the pairings, from the view of the player who moves first."""


def _percent(score: float) -> str:
    return rounded(100 * score, ".0f")
