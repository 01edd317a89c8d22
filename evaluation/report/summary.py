"""The summary of a run in each ``--format``: standings, win table, verdict and digest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from c4env.evaluation.report.labels import LABEL, labels
from c4env.evaluation.tables import (
    Result,
    Rows,
    Table,
    as_csv,
    as_text,
    fitted,
    rounded,
    styled,
    width,
)

from ..games.tournament import Tournament
from ..rating.ratings import Ratings, reading
from ..rating.wintable import Cell, WinTable
from ..studies.match import Match
from .headline import headline, of_twins, played_alike
from .opponents import Opponents

if TYPE_CHECKING:
    from .models import Models

UNFITTED: Final = 10_000  # width without a terminal, in which everything fits
NARROWEST: Final = 12  # the least width of names

CELL: Final = (
    "A cell: percent of the points of the row's agent moving first against the column's; "
    "--format markdown has wins/draws/losses."
)

LEFT_OUT: Final = ("games", "forfeits", "> next", "nodes", "ms")
"""The columns of the standings that a narrow terminal leaves out, in this order."""

WIDER: Final = "The win table is wider than this terminal: --format markdown or csv prints it."


@dataclass(frozen=True)
class RunSummary(Result):
    """The result of a run, for printing.

    Attributes:
        table: the win table, with notes.
        digest: hex digest of the games.
        ratings: the ratings; None before the first game.
        match: the result of a match, with the verdict of its test.
        models: results of the language models, or None.
        opponents: results by opponent if one agent met all others, or None.
        twins: groups of agents that played identical games.
    """

    table: WinTable
    digest: str
    ratings: Ratings | None = None
    match: Match | None = None
    models: Models | None = None
    opponents: Opponents | None = None
    twins: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, run: Tournament, anchor: tuple[str, float] | None = None) -> RunSummary:
        """Summarise a run; ``anchor`` sets the Elo of an agent."""
        match = run if isinstance(run, Match) else None
        ratings = None
        if run.games:
            ratings = run.ratings if anchor is None else run.rate(anchor)
        opponents = None if ratings is None else Opponents.of(run, ratings)
        twins = played_alike(run)
        return cls(run.table, run.digest, ratings, match, opponents=opponents, twins=twins)

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
        placed, cells = standings(self.ratings, self.table), cross_table(self.ranked)
        short = names_shown(placed, cells, columns)
        ratings = self.ratings.renamed(short)
        _, crossed = _fitting(cells, short, columns)
        crossed = f"{crossed}\n{CELL}" if crossed else WIDER
        twins = [[short[name] for name in group] for group in self.twins]
        said = " ".join(headline(ratings, None, twins)).replace("\N{MINUS SIGN}", "-")
        if self.match is not None:
            first = f"{said}\n\n{self.match.report()}"
            if self.match.sprt:
                first = "\n".join([self.match.report(), *of_twins(twins)])
        elif self.opponents is not None:
            short = labels(
                [*short], LABEL if _wide(self.opponents.table(False)) > columns else UNFITTED
            )
            met = self.opponents.renamed(short)
            alike = of_twins([short[name] for name in group] for group in self.twins)
            rows = met.table(costs=_wide(met.table()) <= columns)
            first = f"{' '.join([met.headline(), *alike])}\n\n{rows.text(columns)}"
            crossed = ""
        else:
            heading, table = _fitting(placed, short, columns)
            if not table:
                heading, table = _fitting(placed[-1:], short, UNFITTED)
            words = [reading(ratings, heading), ratings.method_note()]
            first = "\n".join([f"{said}\n", table, *words])
        rest = [self.table.counted(), *self.table.notes]
        if any(name != label for name, label in short.items()):
            rest.append("Two dots shorten a name; --format markdown prints full names.")
        models = "" if self.models is None else self.models.text(columns)
        first = "\n".join([*self.table.reasons_of_forfeits(short), first])  # they decide places
        parts = [first, crossed, models, "\n".join([*rest, f"digest {self.digest}"])]
        return fitted("\n\n".join(part for part in parts if part), columns)

    def markdown(self) -> str:
        """The tables and the text as Markdown."""
        parts = [self.ranked.markdown()]
        if self.opponents is not None:
            said = " ".join([self.opponents.headline(), *of_twins(self.twins)])
            parts = [said, self.opponents.table().markdown()]
        elif self.match is not None:  # the match's report replaces the ratings
            lines = of_twins(self.twins)
            if self.ratings and not self.match.sprt:
                lines = headline(self.ratings, None, self.twins)
            lines = [*lines, *self.match.report().splitlines()]
            parts.append("\n".join(f"- {line}" for line in lines))
        elif self.ratings is not None:
            parts += [*of_twins(self.twins), self.ratings.table().markdown()]
        if self.models is not None:
            parts.append(self.models.markdown())
        return "\n\n".join([*parts, f"Digest `{self.digest}`."])

    def csv(self) -> str:
        """The win table as CSV: a row for each pairing and colour, and what the two agents cost."""
        if self.ratings is None:
            return self.ranked.csv()
        cost = {r.player: (r.nodes, 1e3 * (r.seconds or 0.0)) for r in self.ratings}
        heading, *rows = self.ranked.records()
        heading = [*heading, "nodes of first", "ms of first", "nodes of second", "ms of second"]
        return as_csv([heading, *([*row, *cost[row[0]], *cost[row[1]]] for row in rows)])

    def json(self) -> str:
        """The whole summary as JSON: the win table, ratings, match and digest of the games."""
        found: dict[str, Any] = self.ranked.as_dict()
        found["ratings"] = None
        if self.ratings is not None:
            first_move = self.ratings.first_move._asdict()
            about: dict[str, Any] = {
                "first_move": first_move,
                "method_note": self.ratings.method_note(),
            }
            about["warnings"] = self.ratings.warnings()
            found["ratings"] = {**asdict(self.ratings), **about}
        if self.match is not None:
            found["match"] = self.match.as_dict()
        if self.models is not None:
            found |= self.models.as_dict()
        if self.opponents is not None:
            found["opponents"] = self.opponents.as_dict()
        return json.dumps({**found, "digest": self.digest}, indent=2)


def standings(ratings: Ratings, table: WinTable) -> list[Rows]:
    """The table of ratings with each agent's forfeits, and forms with fewer of :data:`LEFT_OUT`."""
    heading, *rows = ratings.rows()
    shown = [[*heading[:6], "forfeits", *heading[6:]]]
    for r, row in zip(ratings, rows, strict=True):
        forfeits = sum(table.forfeits.get(r.player, {}).values())
        shown.append([*row[:6], styled(str(forfeits), "bad") if forfeits else "0", *row[6:]])
    return [
        [
            [cell for name, cell in zip(shown[0], row, strict=True) if name not in gone]
            for row in shown
        ]
        for gone in (LEFT_OUT[:count] for count in range(len(LEFT_OUT) + 1))
    ]


def cross_table(table: WinTable) -> list[Rows]:
    """Return the win table in percent with numbered players, then narrower forms of the table."""
    (number, heading, *others), *rows = table.rows(_share)
    return [
        [row[: len(row) - left_out] for row in ([number, title, *others], *rows)]
        for left_out in (0, 3)
        for title in (heading, "")
    ]


def names_shown(placed: Sequence[Rows], crossed: Sequence[Rows], columns: int) -> dict[str, str]:
    """Choose the names of the agents in both tables: full names, or labels if these save columns.

    A label is at most 24 characters wide, as on the page.

    Args:
        placed: the forms of :func:`standings`.
        crossed: the forms of :func:`cross_table`; forms without room for labels are ignored.
        columns: the width of the terminal.
    """

    def room(rows: Rows) -> int:
        nameless = as_text([[*row[:1], "", *row[2:]] for row in rows])
        return columns - max(map(width, nameless.split("\n")))

    names = [row[1] for row in placed[0][1:]]
    crossed = [rows for rows in crossed if room(rows) >= NARROWEST]
    if max(map(width, names)) <= min(room(rows) for rows in (placed[3], *crossed[1:2])):
        return dict(zip(names, names, strict=True))
    least = min(room(rows) for rows in (placed[-1], *crossed[-1:]))
    return labels(names, max(NARROWEST, min(LABEL, least)))


def _fitting(
    tables: Sequence[Rows], short: Mapping[str, str], columns: int
) -> tuple[Sequence[str], str]:
    """Return the first table that fits: its heading, and its text with short names.

    If none fits, both are empty.
    """
    for heading, *rows in tables:
        named = ([row[0], short[row[1]], *row[2:]] for row in rows)
        text = as_text([heading, *named], left=(1,))
        if max(map(width, text.split("\n"))) <= columns:
            first, _, rest = text.partition("\n")
            return heading, f"{styled(first, 'bold')}\n{rest}"
    return [], ""


def _wide(table: Table) -> int:
    return max(map(width, as_text(table.rows).split("\n")))


def _share(cell: Cell) -> str:
    """The percent of the points, coloured if one side leads clearly."""
    if cell.score is None:
        return "-"
    text = rounded(100 * cell.score, ".0f")
    if 0.45 <= cell.score <= 0.55:
        return text
    return styled(text, "good" if cell.score > 0.55 else "bad")
