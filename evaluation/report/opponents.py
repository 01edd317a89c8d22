"""The results of one agent against all others: a table with a row for each opponent."""

from __future__ import annotations

from collections import defaultdict
from typing import Final, NamedTuple

import numpy as np

from c4env.evaluation.rating.interval import Interval
from c4env.evaluation.rating.sprt import score_of
from c4env.evaluation.tables import Column, Table, signed

from ..games.tournament import Tournament
from ..rating.ratings import Rating, Ratings, milliseconds, rate
from ..rating.tally import Tally
from ..rating.wintable import Cell
from ..store.record import GameRecord


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
