"""Tournaments: every pairing of a field, or challengers against a field.

round_robin(["greedy", "random"], openings=1)            8 games
gauntlet("perfect", ["greedy", "random"], openings=1)    16 games
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c4env.arrays import Float64s
from c4env.errors import InvalidOption
from c4env.evaluation.games.field import Player, Players, as_players, name_players
from c4env.evaluation.games.run import (
    Openings,
    Plan,
    Settings,
    choose_openings,
    play,
    prepare,
)
from c4env.evaluation.progress import Watcher
from c4env.evaluation.rating.ratings import Ratings, rate
from c4env.evaluation.rating.tally import Tally, WinTable
from c4env.evaluation.store.header import RunHeader
from c4env.evaluation.store.run_files import GameRecord, digest, games_table
from c4env.evaluation.tables import plural


class Frames(NamedTuple):
    """A run as pandas frames of raw values."""

    games: Any  #: a row for each game
    ratings: Any  #: a row for each agent, the strongest first
    table: Any  #: a row for each pairing: first, second, games, wins, draws, losses, score


@dataclass(frozen=True)
class Tournament:
    """The played games of a run, with methods for the win table, the ratings and the digest.

    Attributes:
        header: the pairings, openings and settings.
        games: the games in the order of the schedule.

    Example:
        >>> result = round_robin(["greedy", "random"], openings=1)
        >>> len(result.games), result.digest
        (8, 'ffda7e9fca660ad2')
    """

    header: RunHeader
    games: tuple[GameRecord, ...]

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
        """Move strings from which the games begin."""
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
        """The Elo and interval of each agent, the strongest first; the mean Elo is 0."""
        return self.rate()

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
        and nan if two agents did not meet. The matrix minus 0.5 is a zero-sum payoff matrix.
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
        return Frames(games_table(self.games).frame(), self.ratings.frame(), self.table.frame())

    def _repr_markdown_(self) -> str:
        return f"{self.ratings._repr_markdown_()}\n\n{self.table._repr_markdown_()}"

    @property
    def digest(self) -> str:
        """The hex digest of the games; it depends on the seed but not on the number of workers."""
        return digest(self.games)


def round_robin(
    players: Players,
    openings: Openings = 3,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    movetime: float | None = None,
    margin: float = 0.1,
    backend: str | None = None,
    address: str | None = None,
    watch: Watcher | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Tournament:
    """Play every pairing of agents from every opening, with both colours.

    Args:
        players: a list of specs (``"alphabeta:depth=5"``, or ``"mine=alphabeta:depth=5"`` with a
            name of your own) and callables on an observation (agents and functions, named by
            their ``name`` or ``__name__``); or a mapping from names to specs and callables.
        openings: a number of plies, for all positions after this number but no mirror images;
            moves such as ``"44"``; ``"balanced:4,2"``; the path of a file; or a list of moves. See
            :func:`c4env.evaluation.games.run.choose_openings`.
        seed, jobs, out, limit, movetime, margin, backend, address, watch, on_game: see
            :class:`c4env.evaluation.games.run.Settings`.

    Returns:
        the games, with their table, ratings and digest.

    Raises:
        InvalidOption: there are fewer than two agents, one occurs twice, or a number is invalid.
        UnreadableRun: ``out`` holds another run.
        Unwritable: another process is writing to ``out``.
        UnknownAgent: a spec is wrong, or its agent cannot be made.

    Example:
        >>> result = round_robin(["greedy", "random"], openings=1)
        >>> [rating.player for rating in result.ratings]
        ['greedy', 'random']
    """
    settings = Settings(
        seed=seed, jobs=jobs, out=out, limit=limit, movetime=movetime, margin=margin,
        backend=backend, address=address, watch=watch, on_game=on_game,
    )  # fmt: skip
    starts = choose_openings(openings, settings.seed, settings.limit)
    field = name_players(players)
    if len(field) < 2:
        raise InvalidOption(f"{len(field)} agent(s) given: a round robin needs at least two")
    return _whole_run(prepare(field, starts, settings))


def gauntlet(
    challengers: Players | Player,
    field: Players,
    openings: Openings = 3,
    *,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    limit: int | None = None,
    movetime: float | None = None,
    margin: float = 0.1,
    backend: str | None = None,
    address: str | None = None,
    watch: Watcher | None = None,
    on_game: Callable[[GameRecord], None] | None = None,
) -> Tournament:
    """Play every challenger against every opponent from every opening, with both colours.

    Args:
        challengers: one agent or several, in the forms of :func:`round_robin`; challengers do not
            meet each other.
        field: the opponents, which do not meet each other.
        openings: as in :func:`round_robin`.
        seed, jobs, out, limit, movetime, margin, backend, address, watch, on_game: see
            :class:`c4env.evaluation.games.run.Settings`.

    Raises:
        InvalidOption: a side has no agent, an agent occurs twice, or a number is invalid.
        UnreadableRun: ``out`` holds another run.
        Unwritable: another process is writing to ``out``.
        UnknownAgent: a spec is wrong, or its agent cannot be made.

    Example:
        >>> gauntlet("alphabeta", ["greedy", "random"], openings=0)
        <Tournament: 4 games of alphabeta, greedy, random>
    """
    settings = Settings(
        seed=seed, jobs=jobs, out=out, limit=limit, movetime=movetime, margin=margin,
        backend=backend, address=address, watch=watch, on_game=on_game,
    )  # fmt: skip
    starts = choose_openings(openings, settings.seed, settings.limit)
    front, others = name_players(as_players(challengers)), name_players(field)
    for name in others:
        if name in front:
            raise InvalidOption(f"agent {name!r} is both a challenger and in the field")
    if not front or not others:
        raise InvalidOption("a gauntlet needs a challenger and at least one agent in the field")
    names = tuple(front)
    return _whole_run(prepare({**front, **others}, starts, settings, "gauntlet", names))


def _whole_run(plan: Plan) -> Tournament:
    games = {game.fixture: game for game in play(plan)}
    return Tournament(plan.header, tuple(games[fixture] for fixture in plan.header.schedule()))
