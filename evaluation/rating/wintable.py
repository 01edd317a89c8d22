"""The win table of a run, with the first player in rows and the second player in columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from c4env.evaluation.tables import Rows, Tables, plural, rounded

from ..store.record import GameRecord


class Cell(NamedTuple):
    """Wins, draws and losses of one player; ``+`` adds cells, ``~`` swaps wins and losses."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __add__(self, other: object) -> Cell:
        if not isinstance(other, Cell):
            return NotImplemented
        return Cell(*(a + b for a, b in zip(self, other, strict=True)))

    def __invert__(self) -> Cell:
        return Cell(self.losses, self.draws, self.wins)

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(self)

    @property
    def score(self) -> float | None:
        """The points per game, 0..1, or None without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else None

    def __str__(self) -> str:
        return f"{self.wins}/{self.draws}/{self.losses}"


@dataclass(frozen=True)
class WinTable(Tables):
    """The win table of a run.

    Attributes:
        players: names, the best total score first.
        cells: results of pairings ``(first, second)``, from the first player's view.
        forfeits: number of forfeits of each player, counted by kind of ending.
        reasons: ending and reason of each player's first forfeit.
        notes: notes on how the games were played.
        opening_plies: the distinct lengths of the openings.
    """

    left = (1,)

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
        return sum((c for (first, _), c in self.cells.items() if first == player), Cell())

    def as_second(self, player: str) -> Cell:
        """The player's results in games as the second player."""
        return sum((~c for (_, second), c in self.cells.items() if second == player), Cell())

    def total(self, player: str) -> Cell:
        """The player's results in all games."""
        return self.as_first(player) + self.as_second(player)

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(cell.games for cell in self.cells.values())

    # -- forms --------------------------------------------------------------------------

    def rows(self, show: Callable[[Cell], str]) -> list[list[str]]:
        """Return a heading and a row for each player: cells, all games, and games by colour.

        Args:
            show: a function that turns a cell into text.
        """
        numbers = [str(i) for i in range(1, len(self.players) + 1)]
        rows = [["", "score moving first", *numbers, "all", "as 1st", "as 2nd"]]
        for number, player in zip(numbers, self.players, strict=True):
            cells = [self.cell(player, other) for other in self.players]
            cells += [self.total(player), self.as_first(player), self.as_second(player)]
            rows.append([number, player, *map(show, cells)])
        return rows

    def tables(self) -> list[list[list[str]]]:
        """Return the table as rows of text; a cell shows the score and wins/draws/losses."""
        return [self.rows(_with_counts)]

    def counted(self) -> str:
        """Return a sentence with the number of games and the lengths of their openings."""
        *most, last = [str(plies) for plies in self.opening_plies] or ["no"]
        plies = " and ".join([*most, "1 ply" if last == "1" else f"{last} plies"])
        return f"{plural(self.games, 'game')}; openings of {plies}."

    def summary(self) -> str:
        """Return a sentence on the games and cells, the notes, and the forfeits."""
        cell = "score of the row's agent moving first against the column's, win/draw/loss"
        counted = f"{self.counted()} A cell: {cell}."
        return "\n".join([counted, *self.notes, *self.reasons_of_forfeits()])

    def reasons_of_forfeits(self, names: Mapping[str, str] | None = None) -> list[str]:
        """Return a sentence for each player that forfeited games, with counts and an example.

        Args:
            names: other names for the players.
        """
        lines = []
        for player, counts in self.forfeits.items():
            name = (names or {}).get(player, player)
            endings = ", ".join(f"{count} {ending}" for ending, count in sorted(counts.items()))
            lines.append(
                f"{name} forfeited {plural(counts.total(), 'game')} ({endings}), "
                f"for example: {self.reasons[player]}"
            )
        return lines

    def records(self) -> Rows:
        """Return a heading and a row of counts for each pair of first and second player."""
        rows: list[list[object]] = [
            ["first", "second", "games", "wins", "draws", "losses", "score"]
        ]
        for first in self.players:
            for second in self.players:
                cell = self.cell(first, second)
                if cell.games:
                    rows.append([first, second, cell.games, *cell, cell.score])
        return rows

    def as_dict(self) -> dict[str, Any]:
        """The table as plain Python objects."""

        def counts(cell: Cell) -> dict[str, object]:
            return {**cell._asdict(), "games": cell.games, "score": cell.score}

        return {
            "games": self.games,
            "notes": self.notes,
            "opening_plies": self.opening_plies,
            "players": [
                {
                    "name": player,
                    "total": counts(self.total(player)),
                    "as_first": counts(self.as_first(player)),
                    "as_second": counts(self.as_second(player)),
                    "forfeits": dict(self.forfeits.get(player, {})),
                }
                for player in self.players
            ],
            "cells": [
                {"first": first, "second": second, **counts(cell)}
                for (first, second), cell in self.cells.items()
            ],
        }


def _with_counts(cell: Cell) -> str:
    return "-" if cell.score is None else f"{rounded(cell.score, '.0%')} {cell}"
