"""The result of a run for ``--format``: a sentence, the tables, and notes below them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from c4env.evaluation.games.tournament import Tournament
from c4env.evaluation.rating.fit import Interval
from c4env.evaluation.rating.ratings import Rating, Ratings, milliseconds, rate
from c4env.evaluation.rating.sprt import Sprt, compared, score_of
from c4env.evaluation.rating.tally import Cell, Tally, WinTable, all_openings
from c4env.evaluation.store.run_files import GameRecord
from c4env.evaluation.studies.match import Match
from c4env.evaluation.studies.placement import MOST, Placement
from c4env.evaluation.tables import Column, Result, Table, plural, signed

MOST_PLIES: Final = 4  # the longest openings to enumerate, to recognise the openings of a run


@dataclass(frozen=True)
class RunSummary(Result):
    """The result of a run, for printing.

    The main table of a run has a row for each agent, that of a gauntlet a row for each opponent,
    and that of a match one row. A placement shows the leaderboard with the agent.

    Attributes:
        run: the run.
        ratings: the ratings; None before the first game.
    """

    run: Tournament
    ratings: Ratings | None = None

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
        if self.ratings is None:
            return "No games yet."
        return "\n".join([*forfeits(self.run, self.ratings), sentence(self.run, self.ratings)])

    def tables(self) -> Mapping[str, Table]:
        """The main table, and the pairings of a field that met."""
        tables: dict[str, Table] = {}
        if self.ratings is None:
            tables |= self.ranked.tables()
        elif isinstance(self.run, Match):
            tables["match"] = self.run.lines
        elif isinstance(self.run, Placement):
            tables |= self.run.tables()
        elif (table := opponents(self.run, self.ratings)) is not None:
            tables["opponents"] = table
        else:
            tables["standings"] = standings(self.ratings, self.run.table)
            tables |= self.ranked.tables()
        return tables

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
    kinds = table.forfeit_columns(lambda rating: rating.player)
    return replace(plain, columns=[*plain.columns, *kinds])


class OpponentRow(NamedTuple):
    """The results of an agent against one opponent."""

    rating: Rating
    first: Cell  # the games in which the agent moved first, from the agent's view
    second: Cell
    score: Interval  # points per game, 0..1
    better: float | None  # probability that the agent is stronger, by the games of the two alone


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
    rows = []
    for rating in ratings:
        other = rating.player
        if not (games := games_with[other]):
            continue
        of_the_two = rate(Tally.of(games, (player, other)))
        first, second = run.table.cell(player, other), ~run.table.cell(other, player)
        difference = of_the_two.difference(player, other)
        better = None if ratings.exact else of_the_two.superiority(player, other)
        score = score_of(difference, (first + second).score)
        rows.append(OpponentRow(rating, first, second, score, better))
    columns = [c for c in OPPONENT_COLUMNS if any(c.value(row) is not None for row in rows)]
    return Table([*columns, *run.table.forfeit_columns(lambda row: row.rating.player)], rows)


def forfeits(run: Tournament, ratings: Ratings) -> list[str]:
    """Return sentences on who forfeited games and why, and how strong they are without that."""
    lines = run.table.reasons_of_forfeits()
    if isinstance(run, Match):
        if lines and (elo := run.elo_reliable):
            lines.append(
                f"Over games that nobody forfeited {run.players[0]} is {signed(elo.value)} Elo "
                f"({_ends(elo)}), over all {signed(run.elo.value)}: forfeits are losses."
            )
        return lines
    for r in ratings:
        if r.finished is not None:
            lines.append(
                f"{r.player} finished {r.reliable:.1%} of its games. Over games that nobody "
                f"forfeited its Elo is {signed(r.finished.value)} ({_ends(r.finished)}), over all "
                f"{signed(r.elo)}: forfeits are losses."
            )
    return lines


def sentence(run: Tournament, ratings: Ratings) -> str:
    """Return the result of a run in a sentence.

    Args:
        run: a run of at least one game.
        ratings: ratings of its agents.
    """
    if isinstance(run, Match) and run.sprt is not None:
        return _of_test(run, run.sprt)
    if isinstance(run, Placement):
        return run.sentence()
    if len(run.header.challengers) == 1:
        (name,) = run.header.challengers
        (rating,) = (r for r in ratings if r.player == name)
        elo = Interval(rating.elo, rating.low, rating.high)
        return (
            f"{name} scores {rating.score:.1%} of {plural(rating.games, 'game')}, Elo "
            f"{signed(rating.elo)} ({_ends(elo)})."
        )
    if len(ratings) < 2:
        return f"{plural(len(run.games), 'game')} of {ratings[0].player}."
    if len(ratings.groups) > 1:
        return "The agents form groups that never met, so no place compares them."
    best, second = ratings[0], ratings[1]
    difference = ratings.difference(best.player, second.player, together=True)
    ends = _ends(difference) if len(ratings) == 2 else _ends(difference, "95 % for all pairs")
    count, here = len(run.openings), ""
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
    field = "stronger of the two" if len(ratings) == 2 else f"strongest of {len(ratings)} agents"
    return f"{best.player} is the {field}, {ahead} ahead of {second.player} ({ends})."


def remarks(run: Tournament, ratings: Ratings) -> list[str]:
    """Return sentences on agents that played alike, on too few openings, and what to play next."""
    lines = []
    twins = played_alike(run)
    for *most, last in twins:
        line = (
            f"{', '.join(most)} and {last} played identical games, as far as their opponents are "
            "deterministic"
        )
        if len(ratings) == 2:
            line += (
                ": an exact tie. The interval is that of the fit, which adds one pair of random "
                "games: so few openings do not exclude a difference over others"
            )
        lines.append(f"{line}.")
    if isinstance(run, Placement):
        if len(run.games) < MOST:
            lines.append(f"For a narrower interval use --games N, N > {len(run.games)}.")
    elif isinstance(run, Match) and run.decision is not None:
        lines.append("The test stopped the match, which biases Elo and score towards its decision.")
    elif not twins and ratings.rivals():
        lines += _more_openings(run)
    return lines


def _more_openings(run: Tournament) -> list[str]:
    """Return advice on how to play more openings, if any."""
    lengths = {len(opening) for opening in run.openings}
    if len(lengths) != 1 or max(lengths) >= MOST_PLIES:
        return []
    (plies,) = lengths
    whole, count = len(all_openings(plies)), len(run.openings)
    if count < whole and {*run.openings} <= {*all_openings(plies)}:
        return [f"For narrower intervals use --openings {plies} --limit N, {count} < N <= {whole}."]
    more = len(all_openings(plies + 1))
    return [f"For narrower intervals use --openings {plies + 1} ({more} openings)."]


def played_alike(run: Tournament) -> tuple[tuple[str, ...], ...]:
    """Return the groups of agents that played identical games.

    Counted are the games against each other and against deterministic agents, because the moves of
    other opponents differ from game to game.
    """
    games = defaultdict[str, set[tuple[Any, ...]]](set)
    for game in run.games:
        for seat, player in enumerate(game.players):
            games[player].add((seat, game.players[1 - seat], game.opening, game.moves))

    def counted(player: str, rival: str) -> set[tuple[Any, ...]]:
        names = {name: name for name in run.deterministic} | {player: "", rival: ""}
        return {(seat, names[o], *game) for seat, o, *game in games[player] if o in names}

    groups: list[list[str]] = []
    for player in games:
        for group in groups:
            if (alike := counted(group[0], player)) and alike == counted(player, group[0]):
                group.append(player)
                break
        else:
            groups.append([player])
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _of_test(match: Match, test: Sprt) -> str:
    one, other = match.players
    after = f"after {plural(len(match.pairs), 'pair')} of games"
    if match.decision is not None:
        return (
            f"{match.decision} accepted {after}: {one} is {test.conclusion(match.decision, other)}."
        )
    h0, h1 = (compared(value, other) for value in (test.h0, test.h1))
    more = "the same command resumes the match"
    if len(match.pairs) == len(match.openings):
        more = "more openings continue the test"
    return f"Undecided {after}: whether {one} is {h1} (H1) or {h0} (H0); {more}."


def _ends(elo: Interval, certainty: str = "95 %") -> str:
    return f"{certainty}: {signed(elo.low)} .. {signed(elo.high)}"
