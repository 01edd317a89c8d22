"""What a run found, in the forms of ``--format``: standings, win table, verdict, digest."""

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

UNFITTED: Final = 10_000  # columns where there is no terminal: everything fits
NARROWEST: Final = 12  # columns of an agent's name before a column of figures is left out instead

CELL: Final = (
    "A cell: percent of the points of the row's agent moving first against the column's; "
    "--format markdown has wins/draws/losses."
)


@dataclass(frozen=True)
class RunSummary(Result):
    """All there is to say of a run's games.

    Attributes:
        table: of the games, with its notes.
        digest: hex digest of the games.
        ratings: None before the first game.
        match: what a match of two found besides, with the verdict of its test.
        standing: cycles, and the order by maximal lotteries, if they were asked for.
        models: what is known of its language models, if that was asked for.
        opponents: where one agent played against a field.
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
        """The summary of a run; ``anchor`` sets the Elo of an agent."""
        match = run if isinstance(run, Match) else None
        ratings = None
        if run.games:
            ratings = run.ratings if anchor is None else run.rate(anchor)
        opponents = None if ratings is None else Opponents.of(run, ratings)
        return cls(run.table, run.digest, ratings, match, opponents=opponents)

    @property
    def ranked(self) -> WinTable:
        """The table with the players in the order of the ratings."""
        if self.ratings is None:
            return self.table
        return replace(self.table, players=tuple(r.player for r in self.ratings))

    def text(self, columns: int | None = None) -> str:
        """For a terminal of so many columns: what was found in words, standings, win table.

        The texts hold styles (:data:`c4env.evaluation.tables.STYLES`).
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
        """Tables in Markdown, and the same words below."""
        parts = [self.ranked.markdown()]
        if self.opponents is not None:
            parts = [self.opponents.headline(), self.opponents.table().markdown()]
        elif self.match is not None:  # what it reports stands for the ratings of its two
            parts.append("\n".join(f"- {line}" for line in self.match.report().splitlines()))
        elif self.ratings is not None:
            parts.append(self.ratings.table().markdown())
        if self.standing is not None:
            parts.append(self.standing.table().markdown())
        if self.models is not None:
            parts.append(self.models.markdown())
        return "\n\n".join([*parts, f"Digest `{self.digest}`."])

    def csv(self) -> str:
        """The table alone: one line a pairing and colour."""
        return self.ranked.csv()

    def json(self) -> str:
        """Everything, for programs: the table's own keys, ratings, match and digest."""
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
    """The rows of the ratings, and each agent's forfeits.

    Where ``columns`` are few, the probability to be stronger than the next is left out first,
    then the number of games; then names are shortened.
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
    """The win table in percent, numbered in the order of its players.

    Where it is too wide, a line says how to get it.
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
        "--format markdown or csv has it."
    )


def _room_for_names(rows: Sequence[Sequence[Any]], columns: int) -> int:
    """Columns of the terminal that a table leaves to its second column, the names."""
    nameless = as_text([[*row[:1], "", *row[2:]] for row in rows])
    return columns - max(map(width, nameless.split("\n")))


def _named(rows: Sequence[Sequence[Any]], names: Sequence[str], room: int) -> str:
    """A table with a heading in bold, and names no wider than ``room``."""
    fits = max(map(width, names)) <= room
    short = labels(names, room if fits else min(room, LABEL))
    cells = [rows[0], *([row[0], short[row[1]], *row[2:]] for row in rows[1:])]
    first, _, rest = as_text(cells, left=(1,)).partition("\n")
    return f"{styled(first, 'bold')}\n{rest}"


def _share(cell: Cell) -> str:
    """Percent of the points, coloured by who is ahead."""
    if cell.score is None:
        return "-"
    text = rounded(100 * cell.score, ".0f")
    if 0.45 <= cell.score <= 0.55:
        return text
    return styled(text, "good" if cell.score > 0.55 else "bad")
