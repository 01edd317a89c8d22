"""The result of a run: who is stronger and by how much, as a sentence, tables and notes.

    header and games -> Tournament -> text, Markdown, CSV, JSON, the page

The results of a match and of a placement are subclasses that say more (``match``, ``placement``).
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Float64s
from c4env.evaluation.ratings.fit import Interval
from c4env.evaluation.ratings.ratings import Rating, Ratings, milliseconds, rate
from c4env.evaluation.ratings.sprt import score_of
from c4env.evaluation.ratings.tally import Tally, WinDrawLoss, WinTable, all_openings, costs
from c4env.evaluation.records.game import GameRecord, digest, games_table
from c4env.evaluation.records.header import RunHeader
from c4env.evaluation.tables import Column, Result, Table, plural, signed

MOST_PLIES: Final = 4  # the longest openings to enumerate, to recognise the openings of a run


class Frames(NamedTuple):
    """A run as pandas frames of raw values."""

    games: Any  #: a row for each game
    ratings: Any  #: a row for each agent, the strongest first, with its forfeits by kind
    table: Any  #: a row for each pairing: both names, games, wins, draws, losses, score, forfeits


@dataclass(frozen=True)
class Tournament(Result):
    """The result of a run. ``print`` shows what the command prints.

    Attributes:
        header: the pairings, openings and settings.
        games: the games in the order of the schedule.
        anchor: an agent and its fixed Elo; without an anchor, the mean Elo is 0.

    Example:
        >>> result = round_robin(["greedy", "random"], openings=1)
        >>> len(result.games), result.digest
        (8, 'ffda7e9fca660ad2')
    """

    header: RunHeader
    games: tuple[GameRecord, ...]
    anchor: tuple[str, float] | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        agents = ", ".join(self.players)
        return f"<{type(self).__name__}: {plural(len(self.games), 'game')} of {agents}>"

    @functools.cached_property
    def players(self) -> tuple[str, ...]:
        """The agents' names, in the order given."""
        played = (name for game in self.games for name in game.players)
        return tuple(dict.fromkeys([*self.header.players, *played]))

    @property
    def openings(self) -> tuple[str, ...]:
        """The moves before the games begin, as move strings."""
        return self.header.openings

    @property
    def deterministic(self) -> tuple[str, ...]:
        """The agents known to give the same answer whenever they see the same position."""
        return self.header.deterministic

    @functools.cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on how the games were played and on missing games."""
        notes, planned = self.header.notes(), len(self.header.schedule())
        if self.header.sprt is None and len(self.games) < planned:
            done = f"{len(self.games)} of {planned} games"
            goes_on = "a command with all its agents and openings resumes the run"
            notes = (*notes, f"unfinished: {done}; {goes_on}")
        if cut := sum(not game.counted for game in self.games):
            notes = (*notes, f"{plural(cut, 'game')} without a result, not counted in any table")
        if alone := sum(one == other for one, other in (game.players for game in self.games)):
            notes = (*notes, f"{plural(alone, 'game')} of an agent against itself, not rated")
        if copies := len(self.games) - len({(game.players, game.moves) for game in self.games}):
            equal = f"{plural(copies, 'game')} equal to earlier ones"
            notes = (*notes, f"{equal}, counted by the intervals as independent")
        return notes

    @functools.cached_property
    def table(self) -> WinTable:
        """The win table: first players in rows, second players in columns, and totals."""
        return WinTable.of(self.games, self.players, self.notes)

    @functools.cached_property
    def ratings(self) -> Ratings:
        """The Elo and interval of each agent, the strongest first."""
        return self.rate(self.anchor)

    def rate(self, anchor: tuple[str, float] | None = None) -> Ratings:
        """Rate the agents, with the Elo of one agent fixed.

        Args:
            anchor: an agent and its Elo; without an anchor, the mean Elo is 0.
        """
        return rate(self._tally, self.deterministic, anchor).with_games(self.games)

    @functools.cached_property
    def _tally(self) -> Tally:
        return Tally.of(self.games, self.players)

    def payoffs(self) -> tuple[tuple[str, ...], Float64s]:
        """Return the agents, and their mean scores ``[N, N]``: row agent against column agent.

        A score is the points per game, 0..1, over both colours. The score is 1/2 on the diagonal,
        and nan if two agents did not meet. Subtract 0.5 for a zero-sum payoff matrix.
        """
        names, cell = self.players, self.table.cell
        scores = np.array(
            [[(cell(one, other) + ~cell(other, one)).score for other in names] for one in names],
            np.float64,  # nan for None
        )
        np.fill_diagonal(scores, 0.5)
        return names, scores

    def frame(self) -> Frames:
        """The games, the ratings and the results of the pairings as pandas frames.

        Raises:
            MissingExtra: pandas is not installed.
        """
        ratings = self.standings() if self.games else self.ratings.table()
        return Frames(games_table(self.games).frame(), ratings.frame(), self.table.frame())

    @property
    def digest(self) -> str:
        """The hex digest of the games, which does not depend on the number of workers."""
        return digest(self.games)

    # -- what is printed ---------------------------------------------------------------

    def sentence(self) -> str:
        """Who is stronger, and by how much; forfeits come first, because they decide places."""
        if not self.games:
            return "No games yet."
        return "\n".join([*self.forfeited(), self.headline()])

    def tables(self) -> Mapping[str, Table]:
        """The ratings and the pairings, both in the order of the ratings."""
        if not self.games:
            return self.table.tables()
        ranked = replace(self.table, players=tuple(r.player for r in self.ratings))
        return {"standings": self.standings(), **ranked.tables()}

    def summary(self) -> str:
        """The first player's advantage, warnings and advice, the games and the digest."""
        lines = [*self._about_ratings(), *self.remarks()] if self.games else []
        counted = f"{self.table.counted()}; digest {self.digest}"
        return "\n".join([*lines, *self.table.notes, counted])

    def facts(self) -> dict[str, Any]:
        """The digest of the games, the first-move advantage, and the circles."""
        if not self.games:
            return {"digest": self.digest, "first_move": None, "circles": None}
        first, circles = self.ratings.first_move._asdict(), self.ratings.circles.fact()
        return {"digest": self.digest, "first_move": first, "circles": circles}

    def _about_ratings(self) -> list[str]:
        return [self.ratings.line(), *self.ratings.zero(), *self.ratings.warnings()]

    def standings(self) -> Table:
        """The table of ratings, with a column for each kind of forfeit that occurred."""
        plain = self.ratings.table()
        kinds = self.table.forfeit_columns(lambda rating: rating.player)
        return replace(plain, columns=[*plain.columns, *kinds])

    def forfeited(self) -> list[str]:
        """Return sentences on who forfeited games and why, and on the Elo without forfeits."""
        lines = self.table.reasons_of_forfeits()
        for r in self.ratings:
            if r.finished is not None:
                lines.append(
                    f"{r.player} finished {r.reliable:.1%} of its games. Over games that nobody "
                    f"forfeited its Elo is {signed(r.finished.value)} ({ends_of(r.finished)}), "
                    f"over all {signed(r.elo)}: forfeits are losses."
                )
        return lines

    def headline(self) -> str:
        """Return the result of a run of at least one game in a sentence."""
        ratings = self.ratings
        if len(ratings) < 2:
            return f"{plural(len(self.games), 'game')} of {ratings[0].player}."
        if len(ratings.groups) > 1:
            return "The agents form groups that never met, so no place compares them."
        best, second = ratings[0], ratings[1]
        difference = ratings.difference(best.player, second.player, together=True)
        ends = ends_of(difference, "95 %" if len(ratings) == 2 else "95 % for all pairs")
        count, here = len(self.openings), ""
        if ratings.exact:
            here = f" over {'this one opening' if count == 1 else f'these {count} openings'}"
        level = sum(round(best.elo - r.elo) == 0 for r in ratings) - 1
        if level:
            others = second.player if level == 1 else f"{level} others"
            head = "" if level + 1 == len(ratings) else f" at the head of {len(ratings)} agents"
            return f"{best.player} and {others} are level{head}{here} ({ends})."
        ahead, rivals = f"{difference.value:.0f} Elo", ratings.rivals()
        also = ""
        if rivals:
            rival = rivals[0] if len(rivals) == 1 else f"{len(rivals)} others"
            also = f", but {rival} may be as strong"
        if ratings.exact:
            won = "won" if len(ratings) == 2 else f"came first of {len(ratings)} agents"
            return f"{best.player} {won}{here}, {ahead} ahead of {second.player} ({ends}){also}."
        if rivals:
            return f"{best.player} leads {second.player} by {ahead} ({ends}){also}."
        lead = "stronger of the two" if len(ratings) == 2 else f"strongest of {len(ratings)} agents"
        return f"{best.player} is the {lead}, {ahead} ahead of {second.player} ({ends})."

    def remarks(self) -> list[str]:
        """Return sentences on agents that played identical games, and on what to play next."""
        return [*map(self._of_twins, self.played_alike), *self.advice()]

    def _of_twins(self, names: tuple[str, ...]) -> str:
        *most, last = names
        line = (
            f"{', '.join(most)} and {last} played identical games, as far as their opponents are "
            "deterministic"
        )
        if len(self.ratings) == 2:
            line += (
                ": an exact tie. The fit adds one pair of random games, which gives the interval: "
                "so few openings do not exclude a difference over other openings"
            )
        return f"{line}."

    def advice(self) -> list[str]:
        """Return how to play more openings, if the result is open and there are more."""
        if self.played_alike or not self.ratings.rivals():
            return []
        lengths = {len(opening) for opening in self.openings}
        if len(lengths) != 1 or max(lengths) >= MOST_PLIES:
            return []
        (plies,) = lengths
        whole, count = len(all_openings(plies)), len(self.openings)
        if count < whole and {*self.openings} <= {*all_openings(plies)}:
            more = f"--openings {plies} --limit N, {count} < N <= {whole}"
            return [f"For narrower intervals use {more}."]
        longer = len(all_openings(plies + 1))
        return [f"For narrower intervals use --openings {plies + 1} ({longer} openings)."]

    @functools.cached_property
    def played_alike(self) -> tuple[tuple[str, ...], ...]:
        """The groups of agents that played identical games.

        Counted are the games against each other and against deterministic agents, because the moves
        of other opponents differ from game to game.
        """
        games = defaultdict[tuple[str, str], set[tuple[Any, ...]]](set)  # by player and opponent
        for game in self.games:
            for seat, player in enumerate(game.players):
                played = seat, game.opening, game.moves, game.points[seat]
                games[player, game.players[1 - seat]].add(played)

        def alike(one: str, other: str) -> bool:
            opponents = [name for name in self.deterministic if name not in (one, other)]
            if any(games[one, name] != games[other, name] for name in opponents):
                return False
            own, others = ({*games[name, one], *games[name, other]} for name in (one, other))
            return own == others and (bool(own) or any(games[one, name] for name in opponents))

        groups: list[list[str]] = []
        for player in dict.fromkeys(player for player, _ in games):
            for group in groups:
                if alike(group[0], player):
                    group.append(player)
                    break
            else:
                groups.append([player])
        return tuple(tuple(group) for group in groups if len(group) > 1)


class Counts(NamedTuple):
    """Two numbers, of an agent and of its opponent."""

    agent: int
    opponent: int

    def __str__(self) -> str:
        return f"{self.agent} (opponent: {self.opponent})"


class OpponentRow(NamedTuple):
    """The results of an agent against one opponent."""

    rating: Rating
    first: WinDrawLoss  # the games in which the agent moved first, from the agent's view
    second: WinDrawLoss
    score: Interval  # points per game, 0..1
    better: float | None  # probability that the agent is stronger, by games of these two only
    forfeits: Counts | None = None  # forfeited games of these two; None if the run has none
    asked_again: Counts | None = None  # of language models; None if none was asked again


OPPONENT_COLUMNS: Final = (
    Column("opponent", of=lambda row: row.rating.player),
    Column("Elo", signed, lambda row: row.rating.elo),
    Column("score", ".1%"),
    Column("first"),
    Column("second"),
    Column("reliable", ".1%", lambda row: row.rating.reliable),
    Column("Elo_reliable", signed, lambda row: row.rating.finished),
    Column("LOS", ".1%", lambda row: row.better),
    Column("nodes", ",.0f", lambda row: row.rating.nodes),
    Column("ms", milliseconds, lambda row: row.rating.ms),
    Column("forfeits"),
    Column("asked_again"),
)
"""The columns of an agent's results by opponent; nodes and ms are the opponent's."""


@dataclass(frozen=True, repr=False)
class Gauntlet(Tournament):
    """The result of one agent that met all other agents: a row for each opponent."""

    @property
    def challenger(self) -> str:
        """The agent that met all others."""
        (name,) = self.header.challengers
        return name

    def tables(self) -> Mapping[str, Table]:
        """The results of the agent by opponent."""
        return {"opponents": self._opponents()} if self.games else super().tables()

    def headline(self) -> str:
        """Return the score and the Elo of the agent in a sentence."""
        (rating,) = (r for r in self.ratings if r.player == self.challenger)
        ends = ends_of(Interval(rating.elo, rating.low, rating.high))
        return (
            f"{self.challenger} scores {rating.score:.1%} of {plural(rating.games, 'game')}, Elo "
            f"{signed(rating.elo)} ({ends})."
        )

    def _opponents(self) -> Table:
        player, games_with = self.challenger, defaultdict[str, list[GameRecord]](list)
        for game in self.games:
            games_with[game.players[game.players[0] == player]].append(game)
        rows, repeated = [], any(rating.asked_again for rating in self.ratings)
        for rating in self.ratings:
            other = rating.player
            if not (games := games_with[other]):
                continue
            of_the_two = rate(Tally.of(games, (player, other)))
            first, second = self.table.cell(player, other), ~self.table.cell(other, player)
            difference = of_the_two.difference(player, other)
            better = None if self.ratings.exact else of_the_two.superiority(player, other)
            score = score_of(difference, (first + second).score)
            lost, spent = WinTable.of(games).forfeits, costs(games)
            forfeits = Counts(*(lost.get(name, Counter()).total() for name in (player, other)))
            again = Counts(*(spent[name].asked_again for name in (player, other)))
            counts = forfeits if self.table.forfeits else None, again if repeated else None
            rows.append(OpponentRow(rating, first, second, score, better, *counts))
        columns = [c for c in OPPONENT_COLUMNS if any(c.value(row) is not None for row in rows)]
        return Table([*columns, *self.table.forfeit_columns(lambda r: r.rating.player)], rows)


def ends_of(elo: Interval, certainty: str = "95 %") -> str:
    """Return the ends of an interval of Elo in words."""
    return f"{certainty}: {signed(elo.low)} .. {signed(elo.high)}"
