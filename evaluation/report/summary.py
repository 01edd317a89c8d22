"""What a run found, in the forms of ``--format``: table, ratings, verdict and digest together."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from evaluation.strength.lotteries import Standing
from evaluation.strength.ratings import Ratings, format_ratings, rating_rows
from evaluation.strength.wintable import WinTable
from evaluation.tables import as_markdown

if TYPE_CHECKING:
    from evaluation.games.match import Match


@dataclass(frozen=True)
class Findings:
    """All there is to know of a run's games.

    Attributes:
        table: of the games, with its notes.
        digest: hex digest of the games.
        ratings: None before the first game.
        match: what a match of two found besides, with the verdict of its test.
        standing: cycles, and the order by maximal lotteries, if they were asked for.
    """

    table: WinTable
    digest: str
    ratings: Ratings | None = None
    match: Match | None = None
    standing: Standing | None = None

    def text(self) -> str:
        """For a terminal. What a match reports stands for the ratings of its two."""
        parts = [self.table.text()]
        if self.match is not None:
            parts.append(self.match.report())
        elif self.ratings is not None:
            parts.append(format_ratings(self.ratings))
        if self.standing is not None:
            parts.append(self.standing.text())
        return "\n\n".join(parts) + f"\ndigest {self.digest}"

    def markdown(self) -> str:
        """Tables in Markdown, and the same words below."""
        parts = [self.table.markdown(), self.table.summary(), *self.table.notes]
        if self.ratings is not None:
            parts += [as_markdown(rating_rows(self.ratings)), _first_move(self.ratings)]
        if self.match is None and self.ratings is not None:
            parts.append(self.ratings.basis())
        elif self.match is not None:
            parts.append("\n".join(f"- {line}" for line in self.match.report().splitlines()))
        if self.standing is not None:
            parts += [as_markdown(self.standing.rows())] if self.standing.places else []
            parts.append(self.standing.verdict())
        return "\n\n".join([*parts, f"Digest `{self.digest}`."])

    def csv(self) -> str:
        """The table alone: one line a pairing and colour."""
        return self.table.csv()

    def json(self) -> str:
        """Everything, for programs: the table's own keys, ratings, match and digest."""
        found: dict[str, Any] = self.table.as_dict()
        found["ratings"] = None if self.ratings is None else _facts(self.ratings)
        if self.match is not None:
            found["match"] = self.match.as_dict()
        if self.standing is not None:
            found["standing"] = self.standing.as_dict()
        return json.dumps({**found, "digest": self.digest}, indent=2)


FORMS: Final[dict[str, Callable[[Findings], str]]] = {
    "text": Findings.text,
    "markdown": Findings.markdown,
    "csv": Findings.csv,
    "json": Findings.json,
}


def _facts(ratings: Ratings) -> dict[str, Any]:
    """The ratings as JSON has them; Elo, its interval, and that of the place, 1 the best."""
    first_move = ratings.first_move._asdict()
    return {**asdict(ratings), "first_move": first_move, "basis": ratings.basis()}


def _first_move(ratings: Ratings) -> str:
    first = ratings.first_move
    zero = "the mean is 0" if ratings.anchor is None else f"{ratings.anchor} is fixed"
    return (
        f"Moving first: {first.value:+z.0f} Elo ({first.low:+z.0f} to {first.high:+z.0f}). "
        f"Elo: {zero}."
    )
