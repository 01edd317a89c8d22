"""Count what games hold: points by opening, with bootstrap weights, and the cost of moves."""

from __future__ import annotations

import functools
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from c4env.arrays import Bools, Float64s
from c4env.evaluation.rating.interval import weights_of
from c4env.evaluation.seeds import seeds

from ...openings import enumerate_openings
from ..store.record import GameRecord

_ENUMERATED: Final = (1, 4, 25, 121, 568, 2144, 8231)  # numbers of openings of 0, 1, 2, ... plies


@dataclass(frozen=True)
class Tally:
    """The points and games of each pair of agents, by opening: the input of ratings.

    Attributes:
        players: sorted names, so that results do not depend on the given order.
        openings: sorted openings.
        points: points of the first player (row) against the second, ``(openings, players,
            players)``. With a single opening, the first axis numbers the games of a pairing.
        games: number of games, in the shape of ``points``.
        beside: more games of the same players, such as a newcomer's games, or None. The bootstrap
            resamples these games separately.
        by_pairs: whether to resample pairs of games even with several openings, because the
            results of a few similar openings differ too little.
    """

    players: tuple[str, ...]
    openings: tuple[str, ...]
    points: Float64s
    games: Float64s
    beside: Tally | None = None
    by_pairs: bool = False

    @classmethod
    def of(
        cls, games: Iterable[GameRecord], players: Iterable[str], openings: Iterable[str] = ()
    ) -> Tally:
        """Count games; ignore games of an agent against itself.

        Args:
            games: the games.
            players: names of all players.
            openings: openings to include even without games.
        """
        names = tuple(sorted(set(players)))
        played = [game for game in games if game.players[0] != game.players[1]]
        openings = tuple(sorted({*openings, *(game.opening for game in played)}))
        index = {name: i for i, name in enumerate(names)}
        layer = {opening: i for i, opening in enumerate(openings)}
        if len(openings) == 1:  # games come in any order
            played.sort(key=lambda game: (game.players, game.moves, str(game.winner)))
        before = Counter[tuple[str, str]]()
        cells = []
        for game in played:
            first, second = (index[player] for player in game.players)
            slice_ = layer[game.opening] if len(openings) > 1 else before[game.players]
            before[game.players] += 1
            cells.append((slice_, first, second))
        slices = len(openings) if len(openings) > 1 else max(before.values(), default=0)
        points = np.zeros((slices, len(names), len(names)))
        counts = np.zeros_like(points)
        for cell, game in zip(cells, played, strict=True):
            points[cell] += game.points[0]
            counts[cell] += 1
        return cls(names, openings, points, counts)

    @property
    def resampled(self) -> str:
        """The unit that the bootstrap resamples: openings, or pairs of games."""
        return "openings" if len(self.openings) > 1 and not self.by_pairs else "pairs"

    @property
    def units(self) -> int:
        """The number of units that the bootstrap resamples."""
        return int(self._there().sum())

    def _there(self) -> Bools:
        """Return a mask of the resampled units: all openings, or the pairs of agents that met."""
        if self.resampled == "openings":
            return np.ones(len(self.points), dtype=bool)
        return np.triu(self.games + self.games.swapaxes(1, 2)) > 0

    def weights(self, generator: np.random.Generator, draws: int) -> tuple[Float64s, ...]:
        """Draw random weights of mean 1 for the units of the Bayesian bootstrap.

        The first array has the weights of openings ``(draws, openings)``, or of pairs ``(draws,
        slices, players, players)``. The next arrays have the weights of ``beside``.
        """
        weights = weights_of(self._there(), generator, draws)
        if self.resampled == "pairs":
            weights += weights.swapaxes(2, 3)
        return weights, *(self.beside.weights(generator, draws) if self.beside else ())

    def sums(self, weights: Sequence[Float64s] = ()) -> tuple[Float64s, Float64s]:
        """Return weighted sums of points and of games, each ``[samples, players, players]``."""
        both = self.points, self.games
        if not weights:
            points, games = (table.sum(0, keepdims=True) for table in both)
        elif self.resampled == "openings":
            points, games = (np.zeros((len(weights[0]), *self.games.shape[1:])) for _ in both)
            met, *tables = self._met
            points[:, met], games[:, met] = (
                np.einsum("do,op->dp", weights[0], table) for table in tables
            )
        else:
            points, games = ((weights[0] * table).sum(1) for table in both)
        if self.beside:
            more = self.beside.sums(weights[1:])
            points, games = points + more[0], games + more[1]
        return points, games

    @functools.cached_property
    def _met(self) -> tuple[Bools, Float64s, Float64s]:
        """A mask of the pairs that met, and the pairs' points and games, ``(openings, pairs)``."""
        met = np.asarray(self.games.any(0))
        return met, self.points[:, met], self.games[:, met]

    @property
    def games_of_a_pair(self) -> float:
        """The mean number of games of a pair of agents in each resampled unit; usually 2."""
        met = self.games + self.games.swapaxes(1, 2)
        return float(met.sum() / count) if (count := np.count_nonzero(met)) else 2.0

    def deviations(self) -> Float64s:
        """Return how each opening's points differ from the pair's mean, both colours together.

        The differences ``[openings, players, players]`` are the row's; the column's are opposite.
        """
        points = self.points + (self.games - self.points).swapaxes(1, 2)
        games = self.games + self.games.swapaxes(1, 2)
        mean = points.sum(0) / np.maximum(games.sum(0), 1)
        return np.asarray(points - games * mean)

    @property
    def groups(self) -> list[list[int]]:
        """The indices of the players in each connected part of the field.

        A chain of games connects two players of a part; no game connects two parts.
        """
        tallies = [self] if self.beside is None else [self, self.beside]
        met = np.any([tally.games.any(0) for tally in tallies], 0)
        joined = met | met.T | np.eye(len(met), dtype=np.bool_)
        for _ in range(len(met).bit_length()):
            joined = joined @ joined
        return [list(np.flatnonzero(row)) for row in np.unique(joined, axis=0)[::-1]]

    @property
    def enumerated(self) -> bool:
        """Whether all pairs that met played all possible openings of one length."""
        counts = self.games if self.resampled == "openings" else self.games.sum(0, keepdims=True)
        met = counts.sum(0) + counts.sum(0).T > 0
        plies = len(min(self.openings, default="", key=len))
        return (
            self.beside is None
            and bool(met.any(0).all())
            and bool((counts[:, met] > 0).all())
            and plies < len(_ENUMERATED)
            and len(self.openings) == _ENUMERATED[plies]
            and self.openings == all_openings(plies)
        )

    def generator(self, seed: int) -> np.random.Generator:
        """Make a generator whose seed depends on the players and openings."""
        return np.random.default_rng(seeds((*self.players, "", *self.openings), seed))


@functools.cache
def all_openings(plies: int) -> tuple[str, ...]:
    """Return all openings of ``plies`` plies, one per mirror pair, sorted."""
    return tuple(sorted(enumerate_openings(plies)))


@dataclass
class Cost:
    """The moves that an agent chose, with their nodes and seconds."""

    moves: int = 0
    nodes: int = 0
    by_game: list[float] = field(default_factory=list)  # seconds per move in each game

    @property
    def nodes_a_move(self) -> float:
        """The mean number of nodes per move."""
        return self.nodes / max(self.moves, 1)

    @property
    def seconds_a_move(self) -> float:
        """The seconds per move in the median game, because the first game loads the code."""
        return statistics.median(self.by_game or [0.0])


def costs(games: Iterable[GameRecord]) -> dict[str, Cost]:
    """Return the cost of each agent; moves of openings do not count."""
    found: dict[str, Cost] = {}
    for game in games:
        for seat, player in enumerate(game.players):
            moves = sum(ply % 2 == seat for ply in range(len(game.opening), len(game.moves)))
            cost = found.setdefault(player, Cost())
            cost.moves += moves
            cost.nodes += game.nodes[seat]
            if moves:
                cost.by_game.append(game.seconds[seat] / moves)
    return found
