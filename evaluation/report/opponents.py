"""The results of one agent against all others: a table with a row for each opponent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from c4env.evaluation.rating.interval import Interval
from c4env.evaluation.rating.sprt import score_of
from c4env.evaluation.tables import Shown, Table, number, plural, rounded, signed

from ..games.tournament import Tournament
from ..rating.ratings import Ratings, milliseconds, rate
from ..rating.tally import Tally
from ..rating.wintable import Cell
from ..store.record import GameRecord


class Met(NamedTuple):
    """The results of an agent against one opponent."""

    opponent: str
    first: Cell  # the games in which the agent moved first, from the agent's view
    second: Cell
    score: Interval  # points per game, 0..1, with the 95 % interval
    better: float  # probability that the agent is stronger, from the games of the two alone


@dataclass(frozen=True)
class Opponents:
    """The results of one agent against each of its opponents.

    Attributes:
        player: the agent's name.
        met: results by opponent, the strongest opponent first.
        ratings: ratings of the agent and its opponents.
    """

    player: str
    met: tuple[Met, ...]
    ratings: Ratings

    @classmethod
    def of(cls, run: Tournament, ratings: Ratings) -> Opponents | None:
        """Return the results of the agent that met all others, or None if the run has none."""
        challengers = run.header.challengers
        if len(challengers) != 1:
            return None
        (player,) = challengers
        met = []
        games_with = defaultdict[str, list[GameRecord]](list)
        for game in run.games:
            games_with[game.players[game.players[0] == player]].append(game)
        for rating in ratings:
            other = rating.player
            if not (games := games_with[other]):
                continue
            alone = rate(Tally.of(games, (player, other)))
            cells = run.table.cell(player, other), ~run.table.cell(other, player)
            ahead = alone.difference(player, other)
            score = score_of(ahead, sum(cells, Cell()).score)
            better = alone[0].better or 0.0
            if alone[0].player != player:
                better = 1 - better
            if ratings.exact:
                better = (np.sign(round(ahead.value, 3)) + 1) / 2
            met.append(Met(other, *cells, score, float(better)))
        return cls(player, tuple(met), ratings)

    def renamed(self, names: Mapping[str, str]) -> Opponents:
        """Return the results with other names for the agents."""
        met = tuple(each._replace(opponent=names[each.opponent]) for each in self.met)
        return Opponents(names[self.player], met, self.ratings.renamed(names))

    def headline(self) -> str:
        """A sentence with the agent's score and Elo."""
        own = next(rating for rating in self.ratings if rating.player == self.player)
        cost = (
            f"{rounded(own.nodes or 0.0, ',.0f')} nodes and {milliseconds(own.seconds or 0.0)} ms"
        )
        return (
            f"{self.player} scores {rounded(own.score, '.1%')} of {plural(own.games, 'game')}, Elo "
            f"{signed(own.elo)} (95 %: {signed(own.low)} .. {signed(own.high)}). It takes {cost} "
            "a move."
        )

    def table(self, costs: bool = True) -> Table:
        """A row for each opponent: its Elo, and the wins, draws, losses and score of the agent.

        Args:
            costs: whether the table has each opponent's nodes and milliseconds per move.
        """
        rated = {rating.player: rating for rating in self.ratings}
        heading = ["opponent", "Elo", "as 1st", "as 2nd", "score", "95 %", "stronger"]
        rows: list[list[Any]] = [[*heading, *(["nodes", "ms"] if costs else [])]]
        for opponent, first, second, (value, low, high), better in self.met:
            other = rated[opponent]
            shown = Shown(other.elo, signed(other.elo))
            rows.append([opponent, shown, str(first), str(second), number(value, ".1%")])
            rows[-1] += [f"{low:.1%} .. {high:.1%}", number(better, ".1%")]
            if costs:
                rows[-1] += [number(other.nodes, ",.0f"), milliseconds(other.seconds)]
        said = (
            f"as 1st, as 2nd: {self.player} moving first and second, wins/draws/losses; stronger: "
            "probability that it is stronger than the opponent, from the games of the two alone"
            f"{'; nodes, ms: of the opponent, a move' if costs else ''}."
        )
        zero = f"Elo{' 0' if self.ratings.anchor is None else ''}: {self.ratings.zero}"
        method = f"{zero}. {self.ratings.method_note()}"
        return Table(rows, notes=(said, method, *self.ratings.warnings()))

    def as_dict(self) -> list[dict[str, Any]]:
        """A dictionary for each opponent."""
        return [
            {
                "opponent": met.opponent,
                "as_first": met.first._asdict(),
                "as_second": met.second._asdict(),
                "score": met.score._asdict(),
                "stronger": met.better,
            }
            for met in self.met
        ]
