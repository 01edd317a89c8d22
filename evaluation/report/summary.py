"""The result of a run for ``--format``: a sentence, the tables and notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from c4env.evaluation.rating.interval import Interval
from c4env.evaluation.rating.sprt import score_of
from c4env.evaluation.tables import Column, Result, Table, signed

from ..games.tournament import Tournament
from ..rating.ratings import Rating, Ratings, milliseconds, rate
from ..rating.tally import Tally
from ..rating.wintable import Cell, WinTable
from ..store.record import GameRecord
from ..studies.match import Match
from .headline import remarks, sentence

if TYPE_CHECKING:
    from .models import Models


@dataclass(frozen=True)
class RunSummary(Result):
    """The result of a run, for printing.

    The main table of a run has a row for each agent, that of a gauntlet a row for each opponent,
    and that of a match one row.

    Attributes:
        run: the run.
        ratings: the ratings; None before the first game.
        models: results of the language models, or None.
    """

    run: Tournament
    ratings: Ratings | None = None
    models: Models | None = None

    @classmethod
    def of(cls, run: Tournament, anchor: tuple[str, float] | None = None) -> RunSummary:
        """Summarise a run; ``anchor`` sets the Elo of an agent."""
        ratings = None
        if run.games:
            ratings = run.ratings if anchor is None else run.rate(anchor)
        return cls(run, ratings)

    @property
    def ranked(self) -> WinTable:
        """The win table with players in the order of the ratings."""
        players = self.run.table.players
        if self.ratings is not None:
            players = tuple(r.player for r in self.ratings)
        return replace(self.run.table, players=players)

    def sentence(self) -> str:
        """Who is stronger, and by how much; above it the forfeits, which decide places."""
        said = "No games yet." if self.ratings is None else sentence(self.run, self.ratings)
        return "\n".join([*self.run.table.reasons_of_forfeits(), said])

    def tables(self) -> Mapping[str, Table]:
        """The main table, the pairings of a field that met, and tables of language models."""
        found: dict[str, Table] = {}
        if self.ratings is None:
            found |= self.ranked.tables()
        elif isinstance(self.run, Match):
            found["match"] = self.run.lines
        elif (met := opponents(self.run, self.ratings)) is not None:
            found["opponents"] = met
        else:
            found["standings"] = standings(self.ratings, self.run.table)
            found |= self.ranked.tables()
        return found if self.models is None else {**found, **self.models.tables()}

    def summary(self) -> str:
        """The first player's advantage, warnings and advice, the games and the digest."""
        table, notes = self.run.table, []
        if self.ratings is not None:
            zero = () if isinstance(self.run, Match) else self.ratings.zero()
            notes = [self.ratings.line(), *zero, *self.ratings.warnings()]
            notes += remarks(self.run, self.ratings)
        return "\n".join([*notes, *table.notes, f"{table.counted()}; digest {self.run.digest}"])

    def facts(self) -> dict[str, Any]:
        """The digest of the games, and the first-move advantage."""
        first = None if self.ratings is None else self.ratings.first_move._asdict()
        return {"digest": self.run.digest, "first_move": first}


def standings(ratings: Ratings, table: WinTable) -> Table:
    """The table of ratings, with a column for each kind of forfeit that occurred."""
    plain = ratings.table()
    forfeits = table.forfeit_columns(lambda rating: rating.player)
    return replace(plain, columns=[*plain.columns, *forfeits])


class Met(NamedTuple):
    """The results of an agent against one opponent."""

    opponent: Rating
    first: Cell  # the games in which the agent moved first, from the agent's view
    second: Cell
    score: Interval  # points per game, 0..1
    better: float  # probability that the agent is stronger, from the games of the two alone


OPPONENTS: Final = (
    Column("opponent", of=lambda met: met.opponent.player),
    Column("Elo", signed, lambda met: met.opponent.elo),
    Column("score", ".1%"),
    Column("first"),
    Column("second"),
    Column("LOS", ".1%", lambda met: met.better),
    Column("nodes", ",.0f", lambda met: met.opponent.nodes),
    Column("ms", milliseconds, lambda met: met.opponent.ms),
)
"""The columns of an agent's results by opponent; nodes and ms are the opponent's."""


def opponents(run: Tournament, ratings: Ratings) -> Table | None:
    """Return the results of the agent that met all others, or None if the run has none."""
    if len(run.header.challengers) != 1:
        return None
    (player,) = run.header.challengers
    games_with = defaultdict[str, list[GameRecord]](list)
    for game in run.games:
        games_with[game.players[game.players[0] == player]].append(game)
    found = []
    for rating in ratings:
        other = rating.player
        if not (games := games_with[other]):
            continue
        alone = rate(Tally.of(games, (player, other)))
        cells = run.table.cell(player, other), ~run.table.cell(other, player)
        ahead = alone.difference(player, other)
        better = alone.superiority(player, other)
        if ratings.exact:
            better = float(np.sign(round(ahead.value, 3)) + 1) / 2
        found.append(Met(rating, *cells, score_of(ahead, sum(cells, Cell()).score), better))
    forfeits = run.table.forfeit_columns(lambda met: met.opponent.player)
    return Table([*OPPONENTS, *forfeits], found)
