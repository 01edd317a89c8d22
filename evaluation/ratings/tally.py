"""Count games: the points of ratings by opening, the cost of moves, and the win table.

    games -> Tally -> Ratings            games -> WinTable -> text, Markdown, CSV, JSON

:class:`Tally` knows which units the bootstrap of the ratings resamples, and draws their weights.
"""

from __future__ import annotations

import functools
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.arrays import Bools, Float64s
from c4env.evaluation.ratings.fit import weights_of
from c4env.evaluation.records.game import Ending, GameRecord
from c4env.evaluation.seeds import seeds
from c4env.evaluation.tables import Column, Result, Table, plural, rounded
from c4env.openings import enumerate_openings

_OPENINGS: Final = (1, 4, 25, 121, 568, 2144, 8231)  # numbers of openings of 0, 1, 2, ... plies

FORFEIT_KINDS: Final[Mapping[str, tuple[Ending, ...]]] = {
    "crashes": ("exception", "crash"),
    "timeouts": ("time",),
    "illegal": ("illegal column", "nonsense"),
    "unreadable": ("unreadable",),
    "no_answer": ("no answer",),
    "abandoned": ("abandoned",),
    "resigned": ("resigned",),
}
"""The kinds of forfeits that tables count, and the endings of games of each kind."""
RESULT_COLUMNS: Final = (
    Column("games", of=lambda row: row[-1].games),
    Column("wins", of=lambda row: row[-1].wins),
    Column("draws", of=lambda row: row[-1].draws),
    Column("losses", of=lambda row: row[-1].losses),
    Column("score", ".1%", lambda row: row[-1].score),
)
"""The columns of a row whose last item is a :class:`WinDrawLoss`."""
PAIR_COLUMNS: Final = (
    Column("first", of=lambda pair: pair[0]),
    Column("second", of=lambda pair: pair[1]),
    *RESULT_COLUMNS,
)
"""The columns of the pairings, from the view of the player who moves first."""
ALIKE: Final = 0.8
"""The least concordance of the results of two agents that play nearly the same games."""


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
        """Count games; ignore games of an agent against itself, and those without a result.

        Args:
            games: the games.
            players: names of all players.
            openings: openings to include even without games.
        """
        names = tuple(sorted(set(players)))
        played = [g for g in games if g.counted and g.players[0] != g.players[1]]
        openings = tuple(sorted({*openings, *(game.opening for game in played)}))
        if len(openings) == 1:  # games come in any order, and equal games must not form a pair
            played.sort(key=lambda game: (game.players, game.moves, str(game.winner)))
            played = [played[i] for i in np.random.default_rng(0).permutation(len(played))]
        index = {name: i for i, name in enumerate(names)}
        layer = {opening: i for i, opening in enumerate(openings)}
        numbers = Counter[tuple[str, str]]()  # of the games of a pairing
        cells = []
        for game in played:
            first, second = (index[player] for player in game.players)
            slice_ = layer[game.opening] if len(openings) > 1 else numbers[game.players]
            numbers[game.players] += 1
            cells.append((slice_, first, second))
        slices = len(openings) if len(openings) > 1 else max(numbers.values(), default=0)
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
        return int(self._mask().sum())

    def _mask(self) -> Bools:
        """Return a mask of the resampled units: all openings, or the pairs of agents that met."""
        if self.resampled == "openings":
            return np.ones(len(self.points), dtype=bool)
        return np.triu(self.games + self.games.swapaxes(1, 2)) > 0

    def weights(self, generator: np.random.Generator, draws: int) -> tuple[Float64s, ...]:
        """Draw random weights of mean 1 for the units of the Bayesian bootstrap.

        The first array has the weights of openings ``(draws, openings)``, or of pairs ``(draws,
        slices, players, players)``. The next arrays have the weights of ``beside``.
        """
        weights = weights_of(self._mask(), generator, draws)
        if self.resampled == "pairs":
            weights += weights.swapaxes(2, 3)
        return weights, *(self.beside.weights(generator, draws) if self.beside else ())

    def sums(self, weights: Sequence[Float64s] = ()) -> tuple[Float64s, Float64s]:
        """Return weighted sums of points and of games, each ``[samples, players, players]``."""
        if not weights:
            points, games = self.points.sum(0, keepdims=True), self.games.sum(0, keepdims=True)
        elif self.resampled == "openings":
            met, *of_pairs = self._met
            points, games = np.zeros((2, len(weights[0]), *met.shape))
            points[:, met], games[:, met] = (
                np.einsum("do,op->dp", weights[0], table) for table in of_pairs
            )
        else:
            points, games = ((weights[0] * table).sum(1) for table in (self.points, self.games))
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

    def alike(self) -> Bools:
        """Return which agents play nearly the same games, bool ``[players, players]``.

        These agents do better or worse than usual in the same openings against the same opponents.
        The measure is Lin's concordance (Biometrics 45, 1989). Resampled pairs of games have no
        openings in common, so the answer there is False for all agents.
        """
        if self.resampled == "pairs":
            return np.zeros(self.games.shape[1:], dtype=bool)
        deviations = self.deviations()
        products = np.einsum("oik,ojk->ij", deviations, deviations)  # starts no threads
        squares = products.diagonal()
        alike = 2 * products > ALIKE * (squares[:, None] + squares)
        return np.asarray(alike & ~np.eye(len(alike), dtype=bool))

    @property
    def groups(self) -> list[list[int]]:
        """The indices of the players in each connected part of the field.

        A chain of games connects two players of a part; no game connects two parts.
        """
        tallies = [self] if self.beside is None else [self, self.beside]
        met = np.any([tally.games.any(0) for tally in tallies], 0)
        connected = met | met.T | np.eye(len(met), dtype=np.bool_)
        for _ in range(len(met).bit_length()):
            connected = connected @ connected
        return [list(np.flatnonzero(row)) for row in np.unique(connected, axis=0)[::-1]]

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
            and plies < len(_OPENINGS)
            and len(self.openings) == _OPENINGS[plies]
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
    """The moves that an agent chose: their nodes and seconds, and how often it was asked again."""

    moves: int = 0
    nodes: int = 0
    asked_again: int = 0
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
    costs: dict[str, Cost] = {}
    for game in games:
        for seat, player in enumerate(game.players):
            moves = sum(ply % 2 == seat for ply in range(len(game.opening), len(game.moves)))
            cost = costs.setdefault(player, Cost())
            cost.moves += moves
            cost.nodes += game.nodes[seat]
            cost.asked_again += game.asked_again[seat]
            if moves:
                cost.by_game.append(game.seconds[seat] / moves)
    return costs


class WinDrawLoss(NamedTuple):
    """Wins, draws and losses of one player; ``+`` adds cells, ``~`` swaps wins and losses."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __add__(self, other: object) -> WinDrawLoss:
        if not isinstance(other, WinDrawLoss):
            return NotImplemented
        return WinDrawLoss(
            self.wins + other.wins, self.draws + other.draws, self.losses + other.losses
        )

    def __invert__(self) -> WinDrawLoss:
        return WinDrawLoss(self.losses, self.draws, self.wins)

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(self)

    @property
    def points(self) -> float:
        """The points: 1 for a win, 1/2 for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float | None:
        """The points per game, 0..1, or None without games."""
        return self.points / self.games if self.games else None

    def __str__(self) -> str:
        return f"{self.wins}/{self.draws}/{self.losses}"


class Forfeits(NamedTuple):
    """The numbers of games of a pairing that its first and its second player forfeited."""

    first: int
    second: int


@dataclass(frozen=True)
class WinTable(Result):
    """The win table of a run.

    Attributes:
        players: names, the best total score first.
        cells: results of pairings ``(first, second)``, from the first player's view.
        forfeits: number of forfeits of each player, counted by kind of ending.
        forfeits_of_pairs: number of games of a pairing that its first player forfeited, and that
            its second player forfeited; pairings without forfeits are left out.
        reasons: ending and reason of each player's first forfeit.
        notes: notes on how the games were played.
        opening_plies: the distinct lengths of the openings.
    """

    players: tuple[str, ...]
    cells: dict[tuple[str, str], WinDrawLoss]
    forfeits: dict[str, Counter[str]]
    reasons: dict[str, str]
    opening_plies: tuple[int, ...]
    notes: tuple[str, ...] = ()
    forfeits_of_pairs: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        games: Iterable[GameRecord],
        players: Sequence[str] | None = None,
        notes: Sequence[str] = (),
    ) -> WinTable:
        """Count games in a table; ``players`` may include players without games."""
        games = [game for game in games if game.counted]
        cells: dict[tuple[str, str], WinDrawLoss] = {}
        for (pair, winner), count in Counter((game.players, game.winner) for game in games).items():
            results = WinDrawLoss(*(count * (winner == seat) for seat in (0, None, 1)))
            cells[pair] = cells.get(pair, WinDrawLoss()) + results
        names = dict.fromkeys([*(players or ()), *(name for pair in cells for name in pair)])
        forfeits: dict[str, Counter[str]] = {}
        reasons: dict[str, str] = {}
        of_pairs: dict[tuple[str, str], tuple[int, int]] = {}
        for game in games:
            loser = game.forfeited_by
            if loser is not None:
                one, other = of_pairs.get(game.players, (0, 0))
                of_pairs[game.players] = one + (loser == 0), other + (loser == 1)
                reasons.setdefault(game.players[loser], f"{game.ending}: {game.reason}")
                forfeits.setdefault(game.players[loser], Counter())[game.ending] += 1
        plies = tuple(sorted({len(game.opening) for game in games}))
        table = cls(tuple(names), cells, forfeits, reasons, plies, tuple(notes), of_pairs)
        ranked = sorted(names, key=lambda player: -(table.total(player).score or 0))
        return replace(table, players=tuple(ranked))

    def cell(self, first: str, second: str) -> WinDrawLoss:
        """The results of one player moving first against another, from the first player's view."""
        return self.cells.get((first, second), WinDrawLoss())

    def as_first(self, player: str) -> WinDrawLoss:
        """The player's results in games as the first player."""
        return self._by_colour[0].get(player, WinDrawLoss())

    def as_second(self, player: str) -> WinDrawLoss:
        """The player's results in games as the second player."""
        return self._by_colour[1].get(player, WinDrawLoss())

    def total(self, player: str) -> WinDrawLoss:
        """The player's results in all games."""
        return self.as_first(player) + self.as_second(player)

    @functools.cached_property
    def _by_colour(self) -> tuple[dict[str, WinDrawLoss], dict[str, WinDrawLoss]]:
        """The results of every player as the first and as the second player."""
        first, second = (
            defaultdict[str, WinDrawLoss](WinDrawLoss),
            defaultdict[str, WinDrawLoss](WinDrawLoss),
        )
        for (one, other), cell in self.cells.items():
            first[one] += cell
            second[other] += ~cell
        return first, second

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(cell.games for cell in self.cells.values())

    @property
    def kinds(self) -> list[str]:
        """The kinds of forfeits that occurred, as ``FORFEIT_KINDS`` names them."""
        return [
            kind for kind in FORFEIT_KINDS if any(self.forfeited(p, kind) for p in self.forfeits)
        ]

    def forfeited(self, player: str, kind: str) -> int:
        """The number of games that a player forfeited in one of the ways of a kind."""
        counts = self.forfeits.get(player, Counter())
        return sum(counts[ending] for ending in FORFEIT_KINDS[kind])

    def forfeit_columns(self, player: Callable[[Any], str]) -> list[Column]:
        """Return a column for each kind of forfeit that occurred; a row is of ``player(row)``."""

        def column(kind: str) -> Column:
            return Column(kind, of=lambda row: self.forfeited(player(row), kind))

        return [*map(column, self.kinds)]

    def tables(self) -> dict[str, Table]:
        """The pairings; for people they are a matrix of scores."""
        place = {player: i for i, player in enumerate(self.players)}
        pairs = [(*pair, cell) for pair, cell in self.cells.items() if cell.games]
        pairs.sort(key=lambda pair: (place[pair[0]], place[pair[1]]))
        counts = [Column("forfeits", of=lambda pair: self.forfeits_between(*pair[:2]))]
        columns = [*PAIR_COLUMNS, *(counts if self.forfeits_of_pairs else ())]
        return {"pairs": Table(columns, pairs, matrix=self.matrix())}

    def forfeits_between(self, first: str, second: str) -> Forfeits:
        """The games of a pairing that its players forfeited, which count among the losses."""
        return Forfeits(*self.forfeits_of_pairs.get((first, second), (0, 0)))

    def matrix(self) -> Table:
        """A row for each player moving first, a column for each player moving second."""
        columns = [
            Column("", of=lambda first: self.players.index(first) + 1),
            Column("moving first", of=str),
            *(
                Column(str(i), _percent, functools.partial(self._score, second))
                for i, second in enumerate(self.players, start=1)
            ),
            Column("first", _percent, lambda player: self.as_first(player).score),
            Column("second", _percent, lambda player: self.as_second(player).score),
        ]
        return Table(columns, self.players)

    def _score(self, second: str, first: str) -> float | None:
        cell = self.cells.get((first, second))
        return None if cell is None else cell.score

    def counted(self) -> str:
        """Return the number of games and the lengths of their openings."""
        *most, last = [str(plies) for plies in self.opening_plies] or ["no"]
        plies = " and ".join([*most, "1 ply" if last == "1" else f"{last} plies"])
        return f"{plural(self.games, 'game')}, openings of {plies}"

    def summary(self) -> str:
        """Return the number of games, the notes, and the forfeits."""
        return "\n".join([f"{self.counted()}.", *self.notes, *self.reasons_of_forfeits()])

    def reasons_of_forfeits(self) -> list[str]:
        """Return a sentence for each player that forfeited games, with counts and an example."""
        lines = []
        for player, counts in self.forfeits.items():
            endings = ", ".join(f"{count} {ending}" for ending, count in sorted(counts.items()))
            lines.append(
                f"{player} forfeited {plural(counts.total(), 'game')} ({endings}), "
                f"for example: {self.reasons[player]}"
            )
        return lines


def _percent(score: float) -> str:
    return rounded(100 * score, ".0f")
