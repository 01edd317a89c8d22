"""A league: an opponent that draws one of several agents for each game or each move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.base import Agent, BatchAgent, Games, require_count, require_move
from c4env.agents.making.spec import make
from c4env.arrays import Float64s, Int64s
from c4env.envs.batch import parse_actions
from c4env.envs.opponents import reset_player
from c4env.envs.streams import next_random, streams
from c4env.errors import InvalidOption
from c4env.position import Position

SEED_FACTOR: Final = np.uint64(0xD1B54A32D192ED03)
"""An odd multiplier of a pool's seed, so that pools with different seeds draw differently."""

Priority = Callable[[float], float]
"""A function of your win rate against an opponent; returns the opponent's priority, >= 0."""

PRIORITIES: Final[dict[str, Priority]] = {
    "uniform": lambda rate: 1.0,
    "hard": lambda rate: (1 - rate) ** 2,
    "even": lambda rate: rate * (1 - rate),
}


class Pool(BatchAgent):
    """An opponent that plays as one of several agents, chosen at random for each game or move.

    A pool plays in every environment and counts the results against each opponent. One pool may
    serve several environments; a copy in another process counts its own results. The draw depends
    on the seed of the pool, the seed of the board, the weights and, with a priority, the results.

    A pool of a learner's past selves with equal weights gives fictitious self-play (Heinrich,
    Lanctot and Silver, ICML 2015). With a priority, it gives prioritised fictitious self-play
    (Vinyals et al., "Grandmaster level in StarCraft II ...", Nature 575, 2019).

    Example:
        >>> pool = Pool({"greedy": 3, "random": 1}, priority="hard")
        >>> envs = ConnectFourVectorEnv(256, opponent=pool)
        >>> pool.add(lambda observation: 3, weight=2)  # plays from the next game on
    """

    _game: Games | None = None  # the game that choose plays

    def __init__(
        self,
        weights: Mapping[Any, float] | None = None,
        seed: int = 0,
        *,
        per: str = "game",
        half_life: float = 100.0,
        priority: str | Priority = "uniform",
    ) -> None:
        """Make a pool; :meth:`add` adds more opponents.

        Args:
            weights: the weight of each opponent, on any scale. An opponent is an agent, a spec, a
                network, or a function of one observation.
            seed: the seed of the draws, combined with the seeds of the boards.
            per: ``"game"`` or ``"move"``. With ``"game"`` the drawn opponent plays the game to its
                end. With ``"move"`` each move draws an opponent, and no results are counted.
            half_life: number of later games against the same opponent that halve a result's
                weight in :attr:`win_rates`. With inf all games have equal weight.
            priority: the factor on an opponent's weight, which depends on the caller's win rate x
                against the opponent: ``"uniform"`` 1, ``"hard"`` (1 - x)^2, ``"even"`` x(1 - x), or
                a function of x. For x, a draw is added to the games of :attr:`win_rates`, so x
                begins at 1/2.

        Raises:
            InvalidOption: ``weights`` is not a dict, a weight is not a number >= 0, or another
                argument is invalid.
        """
        if per not in ("game", "move"):
            raise InvalidOption(f"per={per!r}: expected 'game' or 'move'")
        if not is_number(half_life) or not half_life > 0:
            raise InvalidOption(f"half_life={half_life!r}: expected a number above 0")
        if not (callable(priority) or (isinstance(priority, str) and priority in PRIORITIES)):
            expected = f"one of {list(PRIORITIES)} or a function of a win rate"
            raise InvalidOption(f"priority={priority!r}: expected {expected}")
        if per == "move" and priority != "uniform":
            raise InvalidOption(f"priority={priority!r} needs results: expected per='game'")
        weights = {} if weights is None else weights
        if not isinstance(weights, Mapping):
            raise InvalidOption(f"weights={weights!r}: expected a dict from opponent to weight")
        super().__init__()
        self._per = per
        self._priority = priority
        self._seed = require_count("seed", seed, 0, 2**64 - 1)
        self._fading = 0.5 ** (1 / half_life)  # factor on a result for each later game
        self._half_life = half_life
        self._numbers: dict[Any, int] = {}  # by opponent; no number is used again
        self._players: dict[int, Games] = {}  # by number
        self._weights = np.zeros(0)  # by number
        self._counts = np.zeros((0, 3), np.int64)  # games by number and result: -1, 0 or 1
        self._recent = np.zeros((0, 2))  # the caller's points, and games, both fading
        for agent, weight in weights.items():
            self.add(agent, weight)

    def add(self, agent: Any, weight: float = 1.0) -> None:
        """Add an opponent or change its weight, from the next game on.

        Raises:
            InvalidOption: the weight is not a number >= 0, or the opponent is a pool or a list.
        """
        if not is_number(weight) or not 0 <= weight < np.inf:
            raise InvalidOption(f"weight={weight!r}: expected a number >= 0")
        if getattr(agent, "__hash__", None) is None:  # for example a list
            raise InvalidOption(f"{agent!r}: expected an agent, its name, a model or a function")
        if agent not in self._numbers:
            player = make(agent)
            if isinstance(player, Pool):
                raise InvalidOption(f"{agent!r}: expected an opponent that is not itself a pool")
            self._numbers[agent] = number = len(self._weights)
            self._players[number] = Agent.games(player, 0)  # these games remember nothing
            self._weights = np.append(self._weights, 0.0)
            self._counts = np.vstack([self._counts, np.zeros((1, 3), np.int64)])
            self._recent = np.vstack([self._recent, np.zeros((1, 2))])
        self._weights[self._numbers[agent]] = weight

    def remove(self, agent: Any) -> None:
        """Remove an opponent and its results; the opponent still finishes its current games.

        Raises:
            InvalidOption: the opponent is not in the pool.
        """
        if agent not in self._numbers:
            raise InvalidOption(f"{agent!r}: expected one of {list(self._numbers)}")
        number = self._numbers.pop(agent)
        self._weights[number] = 0.0
        del self._players[number]

    def _rows(self, values: NDArray[Any]) -> Iterator[tuple[Any, Any]]:
        """Return pairs of an opponent, as passed to :meth:`add`, and its row of values."""
        return ((agent, values[number].tolist()) for agent, number in self._numbers.items())

    @property
    def weights(self) -> dict[Any, float]:
        """A copy of the weights, by opponent as passed to :meth:`add`."""
        return dict(self._rows(self._weights))

    @property
    def results(self) -> dict[Any, tuple[int, int, int]]:
        """The caller's wins, draws and losses against each opponent, over all games."""
        return {agent: tuple(row) for agent, row in self._rows(self._counts[:, ::-1])}

    @property
    def win_rates(self) -> dict[Any, float]:
        """The caller's recent mean score against each opponent; nan before the first game.

        A draw counts half. The weight of a game halves with every ``half_life`` later games
        against the same opponent, so the rate follows a caller that learns. In :attr:`results`
        all games have equal weight.
        """
        return {
            agent: points / games if games else math.nan
            for agent, (points, games) in self._rows(self._recent)
        }

    @property
    def shares(self) -> dict[Any, float]:
        """The probability of each opponent in the next draw.

        Raises:
            InvalidOption: the pool is empty, all weights are 0, or a priority is invalid.
        """
        chances = self._chances()
        return dict(self._rows(chances / chances.sum()))

    def _chances(self) -> Float64s:
        """Return the product of weight and priority for each opponent, in order of addition."""
        chances = self._weights.copy()
        if self._priority != "uniform":
            priority = self._priority
            prefer = PRIORITIES[priority] if isinstance(priority, str) else priority
            for number in self._numbers.values():
                points, games = self._recent[number].tolist()
                rate = (points + 0.5) / (games + 1)
                factor = prefer(rate)
                if not is_number(factor) or not 0 <= factor < np.inf:
                    raise InvalidOption(
                        f"priority({rate:.3g}) is {factor!r}: expected a number >= 0"
                    )
                chances[number] *= factor
        if not chances.any():
            weights = list(self.weights.values())
            raise InvalidOption(f"weights={weights}: expected one with weight * priority above 0")
        return chances

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game of the pool and of every opponent."""
        super().reset(seed)
        for player in self._players.values():
            reset_player(player.agent, seed)

    def reseed(self, seed: int) -> None:
        """Set the seed of the next draw and column, and forget the game."""
        super().reseed(seed)
        self._game = None

    def choose(self, position: Position) -> int:
        """Choose the 0-based column of the opponent that was drawn for this game."""
        require_move(position)
        if self._game is None:
            self._game = self.games(1)
            self._game.begin(np.array([0]), np.array([self._state]))
        column = self._game.choose_one(position, self._state)
        self._state = next_random(self._state)
        return column

    def choose_many(self, discs: Int64s, seeds: Int64s) -> Int64s:
        """Draw an opponent for each board, and return their columns."""
        return _ask(self._players, self._draw(seeds), np.arange(len(discs)), discs, seeds)

    def games(self, boards: int) -> Games:
        """Return the games of one environment, each with an opponent that is drawn for it.

        Subclasses may override :meth:`choose` or :meth:`choose_many`; the games then call it.
        """
        kind, games = type(self), super().games(boards)
        is_own = kind.choose is not Pool.choose or kind.choose_many is not Pool.choose_many
        return games if is_own or self._per == "move" else _PoolGames(self, boards)

    def _draw(self, seeds: Int64s) -> Int64s:
        """Return the numbers of opponents, drawn from seeds ``[M]``."""
        chances = self._chances()
        edges = np.cumsum(chances)
        keys = seeds.astype(np.uint64) + np.array([self._seed], np.uint64) * SEED_FACTOR
        drawn: Int64s = np.searchsorted(edges, streams(keys) / 2.0**48 * edges[-1], side="right")
        # Rounding of the sum must not draw an opponent of weight 0.
        return drawn.clip(max=np.flatnonzero(chances).max())

    def _count(self, numbers: Int64s, rewards: Float64s) -> None:
        """Count the caller's rewards ``[M]`` by the opponents' numbers; -1 is not counted."""
        for number, games in _each(numbers):
            results = rewards[games]
            self._counts[number] += np.bincount(results.astype(np.int64) + 1, minlength=3)
            # Games that end together carry the same weight.
            new = np.array([(results + 1).sum() / 2, len(results)])
            self._recent[number] = self._recent[number] * self._fading ** len(results) + new

    def __repr__(self) -> str:
        options = f"per={self._per!r}, half_life={self._half_life}, priority={self._priority!r}"
        return f"Pool({self.weights!r}, {self._seed}, {options})"


class _PoolGames(Games):
    """The games on the boards of one environment; the drawn opponent plays a game to its end."""

    def __init__(self, pool: Pool, boards: int) -> None:
        super().__init__(pool)
        self.pool = pool
        self.playing = np.full(boards, -1)  # the number of each board's opponent
        self.players: dict[int, Games] = {}  # by number; removed opponents until their games end

    def begin(self, boards: Int64s, seeds: Int64s) -> None:
        """Draw an opponent for each new game; see :attr:`Pool.shares` for the errors."""
        self.playing[boards] = numbers = self.pool._draw(seeds)
        present = self.pool._players
        for number, games in _each(numbers):
            if number not in self.players:
                self.players[number] = present[number].agent.games(len(self.playing))
            self.players[number].begin(boards[games], seeds[games])
        if not self.players.keys() <= present.keys():  # some are removed
            needed = present.keys() | {*self.playing.tolist()}
            self.players = {n: player for n, player in self.players.items() if n in needed}

    def choose(self, boards: Int64s, discs: Int64s, seeds: Int64s) -> Int64s:
        """Return columns int64 ``[M]``, each chosen by the opponent that plays on the board."""
        # A game that began before the pool took over has no opponent from the pool yet.
        if (new := self.playing[boards] < 0).any():
            self.begin(boards[new], seeds[new])
        return _ask(self.players, self.playing[boards], boards, discs, seeds)

    def end(self, boards: Int64s, rewards: Float64s) -> None:
        """Count the results of finished games by the caller's rewards ``[M]``."""
        numbers = self.playing[boards]
        self.pool._count(numbers, rewards)
        for number, games in _each(numbers):
            self.players[number].end(boards[games], rewards[games])
        self.playing[boards] = -1


def _each(numbers: Int64s) -> Iterator[tuple[int, Int64s]]:
    """Yield each number >= 0 with its indices."""
    for number in np.flatnonzero(np.bincount(numbers + 1)[1:]).tolist():
        yield number, np.flatnonzero(numbers == number)


def _ask(
    players: Mapping[int, Games], numbers: Int64s, boards: Int64s, discs: Int64s, seeds: Int64s
) -> Int64s:
    """Return the columns ``[M]`` of the players with these numbers."""
    columns = np.empty(len(numbers), np.int64)
    for number, chosen in _each(numbers):
        answer = players[number].choose(boards[chosen], discs[chosen], seeds[chosen])
        columns[chosen] = parse_actions(answer, len(chosen))
    return columns


def is_number(value: object) -> bool:
    """Return whether a value is a real number; a boolean is not."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
