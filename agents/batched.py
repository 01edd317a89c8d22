"""Opponents on many boards: called with M observations, they return M columns.

:class:`BatchedSearch` searches all boards in one kernel; :func:`opponent` makes any agent
such a callable; :class:`Pool` draws one of several for each game.
"""

from __future__ import annotations

__any_board__ = True

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from c4env.agents.adapters.model import ModelAgent
from c4env.agents.base import Agent, require_count
from c4env.agents.errors import InvalidValue
from c4env.agents.search.fixed_depth import CHAIN_RULES, FixedDepth, Rules, best_column
from c4env.agents.search.greedy import greedy_columns
from c4env.agents.search.heuristics import Heuristic, as_argument, load, not_a_value
from c4env.agents.search.threads import STOPPED, UNWATCHED, WORDS, run_interruptibly
from c4env.agents.simple import Greedy, Random
from c4env.agents.zoo.options import DEFAULT_HEURISTIC
from c4env.agents.zoo.registry import make
from numpy.typing import ArrayLike, NDArray

from c4env.arrays import Float64s, Int64s
from c4env.bitboard import CELLS, COLUMNS
from c4env.envs.asking import Asked, parse_opponent
from c4env.envs.many.batch import boards_from, parse_actions, positions_of, shares
from c4env.envs.many.chance import streams
from c4env.jit import HEURISTIC, kernel
from c4env.observation import Observation

# Called with the observations of M boards, int8 [M, 6, 7, 2] and [M, 7]; returns M columns.
BatchOpponent = Callable[[Observation], ArrayLike]

AT_ONCE: Final = 10**6  # lines of play, were nothing cut, that are searched in the caller's thread

# Odd numbers that keep what a pool draws by apart: its seed, the environment's, the board.
KEYS: Final = np.array([0xD1B54A32D192ED03, 0xABC98388FB8FAC03, 0x8CB92BA72F3D8DD7], np.uint64)


@kernel(
    f"void(int64[:, ::1], int64, {HEURISTIC}, float64, float64, boolean, int64, int64,"
    " int64[::1], int64[::1], int64, int64, int64[::1])",
    nogil=True,
)
def best_columns(
    boards: Int64s,
    depth: int,
    heuristic: Heuristic,
    win: float,
    bonus: float,
    evaluate_full: bool,
    inner_order: int,
    order: int,
    columns: Int64s,
    nodes: Int64s,
    start: int,
    stop: int,
    work: Int64s,
) -> None:
    """Write the best column of boards ``start`` to ``stop``, and the nodes it took.

    Ends early once ``work[STOPPED]`` is set (``c4env.agents.search.threads``).
    """
    for i in range(start, stop):
        if work[STOPPED]:
            return
        columns[i], _, nodes[i] = best_column(
            *(int(boards[i, 0]), int(boards[i, 1]), depth, True, True, heuristic),
            *(win, bonus, evaluate_full, inner_order, order, work),
        )


class BatchedSearch:
    """Looks ahead on M boards at once, as ``alphabeta`` does on one: the same columns.

    Example:
        ConnectFourVectorEnv(4096, opponent=BatchedSearch(depth=4, heuristic="window"))
    """

    def __init__(
        self,
        depth: int,
        heuristic: str | Heuristic = DEFAULT_HEURISTIC,
        *,
        rules: Rules = CHAIN_RULES,
        threads: int = 1,
    ) -> None:
        """A search; its heuristic is compiled now.

        Args:
            depth: plies looked ahead, its own move included; 1..42.
            heuristic: name or import path of the heuristic (``c4env.agents.search.heuristics``).
            rules: orders and terminal values (``c4env.agents.search.fixed_depth``).
            threads: threads that share the boards.

        Raises:
            InvalidValue: an argument out of range.
            InvalidHeuristic: no such heuristic.
        """
        self.depth = require_count("depth", depth, 1, CELLS)
        self.threads = require_count("threads", threads, 1, 1024)
        self.heuristic = heuristic
        self.rules = rules
        self.nodes = 0  # searched for the latest answer, all boards together
        self._function = as_argument(load(heuristic))

    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> Int64s:
        """Columns int64 ``[M]`` for what the sides to move see on M boards.

        Raises:
            InvalidObservation: not such observations.
            InvalidHeuristic: the heuristic gave a value that is none.
        """
        boards = boards_from(observation)
        columns, nodes = np.empty((2, len(boards)), np.int64)
        rules = self.rules

        def search(work: Int64s) -> None:
            start, stop = spans.pop()
            best_columns(
                *(boards, self.depth, self._function, rules.win, rules.bonus),
                *(rules.evaluate_full, rules.inner_order, rules.root_order, columns, nodes),
                *(start, stop, work),
            )

        spans = shares(len(boards), self.threads)
        if len(spans) == 1 and len(boards) * COLUMNS**self.depth <= AT_ONCE:
            search(UNWATCHED)
        else:
            workspaces = [np.zeros(WORDS, np.int64) for _ in spans]
            run_interruptibly(search, workspaces, wait_for=len(spans))
        if (nodes < 0).any():
            raise not_a_value(self.heuristic)
        self.nodes = int(nodes.sum())
        return columns

    def __repr__(self) -> str:
        return f"BatchedSearch({self.depth}, {self.heuristic!r}, threads={self.threads})"


class RandomColumns:
    """Any legal column on each of M boards, drawn from a seed."""

    def __init__(self, seed: int = 0) -> None:
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Draw from the beginning; an environment calls it when it is reset."""
        self._generator = np.random.default_rng(seed)

    def __call__(self, observation: Mapping[str, Any]) -> Int64s:
        """Columns int64 ``[M]``, by the masks ``[M, 7]`` of the observation."""
        masks = np.asarray(observation["action_mask"])
        drawn = self._generator.random(masks.shape) * (masks != 0)
        return np.asarray(drawn.argmax(axis=1), np.int64)


class Pool:
    """Several opponents in one: which of them plays is drawn for each game, or for each move.

    It plays in every environment, and counts what the games against each opponent brought; one
    pool may serve several environments (in another process a copy of it plays and counts).
    A draw depends on the seeds, the board and the number of its game alone.

    Example:
        pool = Pool({"greedy": 3, "random": 1})
        envs = ConnectFourVectorEnv(256, opponent=pool)
        ...
        pool.add(agents.make(copy.deepcopy(model)), weight=2)  # a past self, from the next game on
        for agent, rate in pool.win_rates.items():  # the stronger, the more often
            pool.add(agent, weight=1.0 if math.isnan(rate) else (1 - rate) ** 2)
    """

    def __init__(
        self, weights: Mapping[Any, float] | None = None, seed: int = 0, *, per: str = "game"
    ) -> None:
        """A pool; with no opponents until some are added.

        Args:
            weights: the opponents (agents, their names, models, functions of one observation
                or of many), and how often each is drawn; any scale.
            seed: for the draws, with the seed of the environment.
            per: ``"game"``: who is drawn plays the game to its end; ``"move"``: who answers is
                drawn anew at every move, and nothing is counted.

        Raises:
            InvalidValue: a weight that is no number >= 0, another ``per`` or a bad seed.
            InvalidOption, UnknownAgent, InvalidSpec, UnknownOption: no such agent.
        """
        if per not in ("game", "move"):
            raise InvalidValue(f"per={per!r}: expected 'game' or 'move'")
        self._per = per
        self._seed = require_count("seed", seed, 0, 2**64 - 1)
        self._weights: dict[Any, float] = {}
        self._asked: list[Asked] = []
        self._games: PoolGames | None = None  # of calls without an environment
        self._counts = np.zeros((0, 3), np.int64)  # of each opponent: the caller's -1, 0, 1
        for agent, weight in (weights or {}).items():
            self.add(agent, weight)

    def add(self, agent: Any, weight: float = 1.0) -> None:
        """Add an opponent, or give one another weight; it is drawn from the next game on.

        Raises:
            InvalidValue: a weight that is no number >= 0, or another pool.
            InvalidOption, UnknownAgent, InvalidSpec, UnknownOption: no such agent.
        """
        number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
        if not number or not 0 <= weight < np.inf:
            raise InvalidValue(f"weight={weight!r}: expected a number >= 0")
        if agent not in self._weights:
            if hasattr(agent, "follow"):
                raise InvalidValue(f"{agent!r}: a pool holds no opponent that follows its games")
            parsed = parse_opponent(agent, many=True)
            if not isinstance(parsed, Asked):
                parsed = Asked(opponent(parsed), of_many=True)
            self._asked.append(parsed)
            self._counts = np.vstack([self._counts, np.zeros((1, 3), np.int64)])
        self._weights[agent] = float(weight)

    @property
    def weights(self) -> dict[Any, float]:
        """The opponents, as they were given, and their weights; a copy."""
        return dict(self._weights)

    @property
    def results(self) -> dict[Any, tuple[int, int, int]]:
        """Of each opponent: games that the caller won, drew and lost against it."""
        counts = self._counts[:, ::-1].tolist()
        return {agent: tuple(row) for agent, row in zip(self._weights, counts, strict=True)}

    @property
    def win_rates(self) -> dict[Any, float]:
        """Of each opponent: the caller's mean score, a draw counting half; nan without games."""
        return {
            agent: (won + drawn / 2) / (won + drawn + lost) if won + drawn + lost else math.nan
            for agent, (won, drawn, lost) in self.results.items()
        }

    def follow(self) -> PoolGames:
        """The pool in one environment: its draws are its own, weights and results the pool's."""
        return PoolGames(self)

    def __call__(self, observation: Observation) -> Int64s:
        """Columns int64 ``[M]``, on boards that stay the same from one call to the next."""
        self._games = self._games or self.follow()
        return self._games(observation, np.arange(len(observation["action_mask"])))

    def __repr__(self) -> str:
        return f"Pool({self._weights!r}, {self._seed}, per={self._per!r})"


class PoolGames:
    """The games that a pool plays in one environment (``c4env.envs.asking.Follows``)."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._forget(0)

    def _forget(self, seed: int) -> None:
        self._seed = seed
        self._who = np.zeros(0, np.int64)  # of each board: the opponent in its present game
        self._draws = np.zeros(0, np.int64)  # of each board: how many so far

    def reset(self, seed: int) -> None:
        """Draw from the beginning; an environment calls it when it is reset."""
        self._forget(seed)
        for asked in self._pool._asked:
            asked.reset(seed)

    def begin(self, boards: Int64s) -> None:
        """Draw an opponent for each new game.

        Raises:
            InvalidValue: there is no opponent, or all weights are 0.
        """
        weights = np.array(list(self._pool._weights.values()))
        edges = np.cumsum(weights)
        if not weights.any():
            raise InvalidValue(f"weights={weights.tolist()}: expected one above 0")
        self._opponents(boards)
        keys = (np.array([self._pool._seed, self._seed], np.uint64) * KEYS[:2]).sum()
        keys = keys + boards.astype(np.uint64) * KEYS[2] + self._draws[boards].astype(np.uint64)
        drawn = np.searchsorted(edges, streams(keys) / 2.0**48 * edges[-1], side="right")
        # Never one of weight 0, also where the sum was rounded.
        self._who[boards] = np.minimum(drawn, np.flatnonzero(weights).max())
        self._draws[boards] += 1

    def _opponents(self, boards: Int64s) -> Int64s:
        """Of each of these boards, which may be new: its opponent, -1 before one is drawn."""
        if (missing := int(boards.max(initial=-1)) + 1 - len(self._who)) > 0:
            self._who = np.concatenate([self._who, np.full(missing, -1)])
            self._draws = np.concatenate([self._draws, np.zeros(missing, np.int64)])
        return self._who[boards]

    def __call__(self, observation: Observation, boards: Int64s) -> Int64s:
        """Columns int64 ``[M]`` on these boards, by who plays there."""
        # Games that began before the pool came are drawn for now.
        new = boards if self._pool._per == "move" else boards[self._opponents(boards) < 0]
        if len(new):
            self.begin(new)
        who = self._who[boards]
        columns = np.empty(len(boards), np.int64)
        for k in np.flatnonzero(np.bincount(who)):
            at = np.flatnonzero(who == k)
            planes, masks = observation["observation"][at], observation["action_mask"][at]
            part: Observation = {"observation": planes, "action_mask": masks}
            columns[at] = parse_actions(self._pool._asked[k](part, boards[at]), len(at))
        return columns

    def end(self, boards: Int64s, rewards: Float64s) -> None:
        """Count games that are over, by the caller's rewards ``[M]``."""
        if self._pool._per == "game":
            who = self._opponents(boards)
            at = who[who >= 0], rewards[who >= 0].astype(np.int64) + 1
            np.add.at(self._pool._counts, at, 1)

    def save(self) -> tuple[Int64s, ...]:
        """What games change, as a copy."""
        return self._who.copy(), self._draws.copy(), self._pool._counts.copy()

    def restore(self, saved: tuple[Int64s, ...]) -> None:
        """Go back to what :meth:`save` returned."""
        self._who, self._draws, self._pool._counts = saved


class EachBoard:
    """An agent asked for one board after the other.

    It is told of a new game when an environment is reset, not of each game: agents that
    remember their game are not for many.
    """

    def __init__(self, agent: Agent, seed: int = 0) -> None:
        self.agent = agent
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Tell the agent of a new game."""
        self.agent.reset(seed)

    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> Int64s:
        """Columns int64 ``[M]`` for what the sides to move see on M boards."""
        positions = positions_of(boards_from(observation))
        return np.array([self.agent.choose(position) for position in positions], np.int64)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.agent!r})"


class Model(EachBoard):
    """A model asked for all boards at once, at the speed of its own batches."""

    agent: ModelAgent

    def __call__(self, observation: Any) -> Int64s:
        """Columns int64 ``[M]``."""
        return self.agent.columns(observation["observation"], observation["action_mask"])


class GreedyColumns(EachBoard):
    """``greedy`` on all boards in one kernel."""

    agent: Greedy

    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> Int64s:
        """Columns int64 ``[M]`` for what the sides to move see on M boards."""
        columns = greedy_columns(boards_from(observation), self.agent.heuristic)
        # Board by board the agent says what is wrong.
        return super().__call__(observation) if (columns < 0).any() else columns


def opponent(agent: Any, *, seed: int = 0, threads: int = 1) -> BatchOpponent:
    """An agent as an opponent on many boards.

    Args:
        agent: an agent; its spec such as ``"alphabeta:depth=4,heuristic=chain"``; or what
            ``agents.make`` takes for one, such as a model. ``random``, ``greedy`` and fixed-depth
            search answer natively for all boards, models in one batch, every other agent board
            by board. A function, or what this returned, is an opponent already.
        seed: for what the agent draws.
        threads: threads that share a fixed-depth search.

    Raises:
        UnknownAgent, InvalidSpec, UnknownOption, InvalidValue: no such agent.
    """
    made = agent if isinstance(agent, Agent) else make(agent)
    if isinstance(made, FixedDepth):  # cuts change no column, so minimax may have them too
        return BatchedSearch(made.depth, made.heuristic, rules=made.rules, threads=threads)
    if isinstance(made, Random):
        return RandomColumns(seed)
    if isinstance(made, Greedy):
        return GreedyColumns(made, seed)
    if isinstance(made, ModelAgent):
        return Model(made, seed)
    return EachBoard(made, seed)
