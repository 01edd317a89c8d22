"""What a run found, in the forms of ``--format``: table, ratings, verdict and digest together."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from evaluation.strength.ratings import Ratings, format_ranks, format_ratings
from evaluation.strength.wintable import WinTable
from evaluation.tables import as_markdown

if TYPE_CHECKING:
    from evaluation.games.match import Match
    from evaluation.report.models import Models


@dataclass(frozen=True)
class Findings:
    """All there is to know of a run's games.

    Attributes:
        table: of the games, with its notes.
        digest: hex digest of the games.
        ratings: None before the first game.
        match: what a match of two found besides, with the verdict of its test.
        models: what is known of its language models, if there were any.
    """

    table: WinTable
    digest: str
    ratings: Ratings | None = None
    match: Match | None = None
    models: Models | None = None

    def text(self) -> str:
        """For a terminal. What a match reports stands for the ratings of its two."""
        parts = [self.table.text()]
        if self.match is not None:
            parts.append(self.match.report())
        elif self.ratings is not None:
            parts.append(format_ratings(self.ratings))
        if self.models is not None:
            parts.append(self.models.text())
        return "\n\n".join(parts) + f"\ndigest {self.digest}"

    def markdown(self) -> str:
        """Tables in Markdown, and the same words below."""
        parts = [self.table.markdown(), self.table.summary(), *self.table.notes]
        if self.ratings is not None:
            parts += [as_markdown(_rows(self.ratings)), _first_move(self.ratings)]
        if self.match is None and self.ratings is not None:
            parts.append(self.ratings.basis())
        elif self.match is not None:
            parts.append("\n".join(f"- {line}" for line in self.match.report().splitlines()))
        if self.models is not None:
            parts.append(self.models.markdown())
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
        if self.models is not None:
            found["models"] = self.models.as_dict()
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


def _rows(ratings: Ratings) -> list[list[str]]:
    spread = "spread" if ratings.exact else "95 %"
    rows = [["agent", "Elo", spread, "rank", "> next", "score", "games"]]
    for r in ratings:
        better = "" if r.better is None else f"{r.better:.1%}"
        rows.append([r.player, f"{r.elo:+.0f}", f"{r.low:+.0f} to {r.high:+.0f}"])
        rows[-1] += [format_ranks(r.ranks), better, f"{r.score:.1%}", str(r.games)]
    return rows


def _first_move(ratings: Ratings) -> str:
    first = ratings.first_move
    zero = "the mean is 0" if ratings.anchor is None else f"{ratings.anchor} is fixed"
    return (
        f"Moving first: {first.value:+.0f} Elo ({first.low:+.0f} to {first.high:+.0f}). "
        f"Elo: {zero}."
    )
