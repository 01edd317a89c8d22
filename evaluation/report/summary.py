"""The summary of a run in each ``--format``: standings, win table, verdict and digest."""

from __future__ import annotations

__any_board__ = True

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from c4env.evaluation.games.tournament import Tournament
from c4env.evaluation.rating.lotteries import Standing
from c4env.evaluation.rating.ratings import Ratings, first_move_line
from c4env.evaluation.rating.wintable import Cell, WinTable
from c4env.evaluation.report.headline import headline
from c4env.evaluation.report.labels import LABEL, labels
from c4env.evaluation.report.opponents import Opponents
from c4env.evaluation.studies.match import Match
from c4env.evaluation.tables import Result, as_text, fitted, rounded, styled, width

if TYPE_CHECKING:
    from c4env.evaluation.report.models import Models

UNFITTED: Final = 10_000  # width without a terminal, in which everything fits
NARROWEST: Final = 12  # the least width of a name; a narrower table loses a column instead

CELL: Final = (
    "A cell: percent of the points of the row's agent moving first against the column's; "
    "--format markdown has wins/draws/losses."
)


@dataclass(frozen=True)
class RunSummary(Result):
    """The result of a run, for printing.

    Attributes:
        table: the win table, with notes.
        digest: hex digest of the games.
        ratings: the ratings; None before the first game.
        match: the result of a match, with the verdict of its test.
        standing: cycles and the order by maximal lotteries, or None.
        models: results of the language models, or None.
        opponents: results by opponent if one agent played a field, or None.
    """

    table: WinTable
    digest: str
    ratings: Ratings | None = None
    match: Match | None = None
    standing: Standing | None = None
    models: Models | None = None
    opponents: Opponents | None = None

    @classmethod
    def of(cls, run: Tournament, anchor: tuple[str, float] | None = None) -> RunSummary:
        """Summarise a run; ``anchor`` sets the Elo of an agent."""
        match = run if isinstance(run, Match) else None
        ratings = None
        if run.games:
            ratings = run.ratings if anchor is None else run.rate(anchor)
        opponents = None if ratings is None else Opponents.of(run, ratings)
        return cls(run.table, run.digest, ratings, match, opponents=opponents)

    @property
    def ranked(self) -> WinTable:
        """The win table with players in the order of the ratings."""
        if self.ratings is None:
            return self.table
        return replace(self.table, players=tuple(r.player for r in self.ratings))

    def text(self, columns: int | None = None) -> str:
        """The headline, the standings and the win table, for a terminal ``columns`` wide.

        The text has styles (:data:`c4env.evaluation.tables.STYLES`).
        """
        columns = columns or UNFITTED
        if self.ratings is None:
            return f"{self.table.text(columns)}\ndigest {self.digest}"
        crossed = cross_table(self.ranked, columns)
        if self.match is not None:
            first = self.match.report()
        elif self.opponents is not None:
            first = f"{self.opponents.headline()}\n\n{self.opponents.table().text(columns)}"
            crossed = ""
        else:
            said = " ".join(headline(self.ratings)).replace("\N{MINUS SIGN}", "-")
            words = [first_move_line(self.ratings), self.ratings.basis()]
            placed = standings(self.ratings, self.table, columns)
            first = "\n".join([f"{said}\n", placed, *words])
        rest = [self.table.counted(), *self.table.notes, *self.table.reasons_of_forfeits()]
        found = "" if self.standing is None else self.standing.table().text(columns)
        models = "" if self.models is None else self.models.text(columns)
        parts = [first, crossed, found, models, "\n".join([*rest, f"digest {self.digest}"])]
        return fitted("\n\n".join(part for part in parts if part), columns)

    def markdown(self) -> str:
        """The tables and the text as Markdown."""
        parts = [self.ranked.markdown()]
        if self.opponents is not None:
            parts = [self.opponents.headline(), self.opponents.table().markdown()]
        elif self.match is not None:  # the match's report replaces the ratings
            parts.append("\n".join(f"- {line}" for line in self.match.report().splitlines()))
        elif self.ratings is not None:
            parts.append(self.ratings.table().markdown())
        if self.standing is not None:
            parts.append(self.standing.table().markdown())
        if self.models is not None:
            parts.append(self.models.markdown())
        return "\n\n".join([*parts, f"Digest `{self.digest}`."])

    def csv(self) -> str:
        """The win table as CSV, with a row for each pairing and colour."""
        return self.ranked.csv()

    def json(self) -> str:
        """The whole summary as JSON: the keys of the win table, ratings, match and digest."""
        found: dict[str, Any] = self.ranked.as_dict()
        found["ratings"] = None
        if self.ratings is not None:
            first_move = self.ratings.first_move._asdict()
            about: dict[str, Any] = {"first_move": first_move, "basis": self.ratings.basis()}
            about["caution"] = self.ratings.caution()
            found["ratings"] = {**asdict(self.ratings), **about}
        if self.match is not None:
            found["match"] = self.match.as_dict()
        if self.standing is not None:
            found["standing"] = self.standing.as_dict()
        if self.models is not None:
            found |= self.models.as_dict()
        if self.opponents is not None:
            found["opponents"] = self.opponents.as_dict()
        return json.dumps({**found, "digest": self.digest}, indent=2)


def standings(ratings: Ratings, table: WinTable, columns: int = UNFITTED) -> str:
    """The table of ratings, with each agent's forfeits.

    If the table is wider than ``columns``, it first drops the probability of being stronger than
    the next agent, then drops the number of games, and then shortens names.
    """
    heading, *rows = ratings.rows()
    shown = [[*heading[:6], "forfeits", heading[6]]]
    for r, row in zip(ratings, rows, strict=True):
        forfeits = sum(table.forfeits.get(r.player, {}).values())
        shown.append([*row[:6], styled(str(forfeits), "bad") if forfeits else "0", row[6]])
    names = [r.player for r in ratings]
    for left_out in ((), (7,), (5, 7), (5, 6, 7)):
        some = [[cell for i, cell in enumerate(row) if i not in left_out] for row in shown]
        room = _room_for_names(some, columns)
        if room >= max(map(len, ["agent", *names])) or (room >= NARROWEST and len(left_out) > 1):
            break
    return _named(some, names, max(room, NARROWEST))


def cross_table(table: WinTable, columns: int = UNFITTED) -> str:
    """The win table in percent, with numbers for the players.

    If the table is too wide, return a line that says how to get it.
    """
    players = table.players
    rows = table.rows(_share)
    for left_out in (0, 3):
        shown = [row[: len(row) - left_out] for row in rows]
        room = _room_for_names(shown, columns)
        if room >= NARROWEST:
            if room < len(rows[0][1]):
                shown[0][1] = ""
            return f"{_named(shown, players, room)}\n{CELL}"
    return (
        f"The win table of {len(players)} agents is wider than this terminal: "
        "--format markdown or csv prints it."
    )


def _room_for_names(rows: Sequence[Sequence[Any]], columns: int) -> int:
    """The width that a table leaves for its second column, which has the names."""
    nameless = as_text([[*row[:1], "", *row[2:]] for row in rows])
    return columns - max(map(width, nameless.split("\n")))


def _named(rows: Sequence[Sequence[Any]], names: Sequence[str], room: int) -> str:
    """A table with a bold heading and names of at most ``room`` characters."""
    fits = max(map(width, names)) <= room
    short = labels(names, room if fits else min(room, LABEL))
    cells = [rows[0], *([row[0], short[row[1]], *row[2:]] for row in rows[1:])]
    first, _, rest = as_text(cells, left=(1,)).partition("\n")
    return f"{styled(first, 'bold')}\n{rest}"


def _share(cell: Cell) -> str:
    """The percent of the points, coloured if one side leads clearly."""
    if cell.score is None:
        return "-"
    text = rounded(100 * cell.score, ".0f")
    if 0.45 <= cell.score <= 0.55:
        return text
    return styled(text, "good" if cell.score > 0.55 else "bad")
