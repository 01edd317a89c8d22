"""Opponents that choose columns on many boards in one call.

:func:`opponent` makes such an opponent from any agent. :class:`BatchedSearch` searches all boards
in one kernel, and :class:`Pool` draws one of several opponents for each game. An environment calls
an opponent with bitboards and a seed for each board (``c4env.envs.opponents``).
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.search.threads import STOPPED, UNWATCHED, WORDS, run_interruptibly
from c4env.arrays import Int64s
from c4env.jit import HEURISTIC, kernel

from ..bitboard import CELLS, COLUMNS
from ..envs.opponents import AnyOpponent, Follower, reset_player
from ..envs.vectorized.batch import boards_from, observed, positions_of, shares
from ..envs.vectorized.chance import random_columns
from ..position import Position
from .adapters.model import ModelAgent
from .base import Agent, is_model, require_count
from .baselines import Greedy, Random
from .graded.agent import Graded
from .heuristics.names import Heuristic, as_argument, load, not_a_value
from .pool import Pool as Pool
from .registry.options import DEFAULT_HEURISTIC
from .registry.registry import make
from .search.fixed_depth import CHAIN_RULES, INNER, FixedDepth, Rules, best_column
from .search.greedy import greedy_columns

AT_ONCE: Final = 10**6  # a search of at most this many leaves runs in the caller's thread


@kernel(
    f"void(int64[:, ::1], int64, {HEURISTIC}, {INNER}, int64, int64[::1], int64[::1], int64, int64,"
    " int64[::1])",
    nogil=True,
)
def best_columns(
    boards: Int64s,
    depth: int,
    heuristic: Heuristic,
    rules: tuple[float, float, bool, int],
    order: int,
    columns: Int64s,
    nodes: Int64s,
    start: int,
    stop: int,
    work: Int64s,
) -> None:
    """Write the best columns and the node counts of boards ``start`` to ``stop - 1``.

    The kernel returns early once ``work[STOPPED]`` is set (``c4env.agents.search.threads``).
    """
    for i in range(start, stop):
        if work[STOPPED]:
            return
        mine, theirs = int(boards[i, 0]), int(boards[i, 1])
        columns[i], _, nodes[i] = best_column(
            mine, theirs, depth, True, True, heuristic, rules, order, work
        )


class BatchOpponent(Follower, abc.ABC):
    """An opponent that chooses columns on many boards, given bitboards or observations.

    The opponent stores no games, so one object serves several environments.
    """

    c4env_batched = True
    _generator: np.random.Generator | None = None

    def follow(self) -> BatchOpponent:
        """Return the opponent itself, since it keeps no state for an environment."""
        return self

    def reset(self, seed: int) -> None:
        """Restart the generator of the seeds that ``__call__`` passes to :meth:`columns`."""
        self._generator = np.random.default_rng(seed)

    @abc.abstractmethod
    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Return a column for each of M boards, int64 ``[M]``; see ``c4env.envs.opponents``."""

    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> Int64s:
        """Return columns, int64 ``[M]``, for observations of the sides to move on M boards.

        Raises:
            InvalidObservation: the shape of the planes is wrong, or a value is not 0 or 1.
        """
        self._generator = self._generator or np.random.default_rng(0)
        discs = boards_from(observation)
        size = len(discs)
        return self.columns(discs, np.arange(size), self._generator.integers(2**48, size=size))


class BatchedSearch(BatchOpponent):
    """Searches M boards in one kernel and plays the same columns as ``alphabeta``.

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
        """Compile the heuristic for the search.

        Args:
            depth: plies to search, the opponent's own move included; 1..42.
            heuristic: name or import path of the heuristic (``c4env.agents.heuristics.names``).
            rules: the order of columns and the values of finished games; see :class:`Rules`.
            threads: threads that share the boards.

        Raises:
            InvalidValue: an argument is out of range.
            InvalidHeuristic: there is no such heuristic.
        """
        self.depth = require_count("depth", depth, 1, CELLS)
        self.threads = require_count("threads", threads, 1, 1024)
        self.heuristic = heuristic
        self.rules = rules
        self.nodes = 0  # nodes of the latest call, summed over the boards
        self._function = as_argument(load(heuristic))

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Return columns, int64 ``[M]``.

        Raises:
            InvalidHeuristic: the heuristic returned a value that no search can use.
        """
        columns, nodes = np.empty((2, len(discs)), np.int64)
        how = self.depth, self._function, self.rules.inner, self.rules.root_order

        def search(work: Int64s) -> None:
            start, stop = spans.pop()
            best_columns(discs, *how, columns, nodes, start, stop, work)

        spans = shares(len(discs), self.threads)
        if len(spans) == 1 and len(discs) * COLUMNS**self.depth <= AT_ONCE:
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


class RandomColumns(BatchOpponent):
    """Plays like the agent ``random`` on all boards in one kernel."""

    draws = True

    def __init__(self, seed: int = 0) -> None:
        self.reset(seed)

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Return columns, int64 ``[M]``, each drawn with the seed of its board."""
        return random_columns(discs, seeds)


class EachBoard(BatchOpponent):
    """Asks one agent for a column on each board in turn.

    The agent must not depend on the history of a game: a new game on one board does not reset the
    agent. A reset of the environment does. A stochastic agent is reseeded before each move.
    """

    def __init__(self, agent: Agent, seed: int = 0) -> None:
        self.agent = agent
        self.draws = not agent.deterministic
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Reset the agent."""
        super().reset(seed)
        reset_player(self.agent, seed)

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Return columns, int64 ``[M]``."""
        columns = np.empty(len(discs), np.int64)
        for i, position in enumerate(positions_of(discs)):
            if self.draws:
                self.agent.reseed(int(seeds[i]))
            columns[i] = self.agent.choose(position)
        return columns

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.agent!r})"


class ModelColumns(EachBoard):
    """Plays by a model, which evaluates all boards in one batch."""

    agent: ModelAgent

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Return columns, int64 ``[M]``."""
        seen = observed(discs)
        return self.agent.columns(seen["observation"], seen["action_mask"], seeds)


class GreedyColumns(EachBoard):
    """Plays like the agent ``greedy`` on all boards in one kernel."""

    agent: Greedy

    def __init__(self, agent: Greedy, seed: int = 0) -> None:
        super().__init__(agent, seed)
        self._function = as_argument(agent.heuristic)

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Return columns, int64 ``[M]``."""
        columns = greedy_columns(discs, self._function)
        # The agent raises the error with the reason when it plays the failing board.
        return super().columns(discs, boards, seeds) if (columns < 0).any() else columns


class GradedColumns(EachBoard):
    """Plays like the agent ``graded`` on all boards in one kernel; a solver finds exact moves."""

    agent: Graded

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Return columns, int64 ``[M]``."""
        return self.agent.player.columns(discs, self.agent.skill, seeds)


class OneBoard(Follower):
    """Plays one agent on one board. The agent is reset before each game."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.draws = type(agent).reset is not Agent.reset

    def reset(self, seed: int) -> None:
        """Reset the agent."""
        reset_player(self.agent, seed)

    def choose(self, position: Position) -> int:
        """Return the agent's column; ``ConnectFourEnv`` calls this method, not ``columns``."""
        return self.agent.choose(position)


def follower_of(agent: AnyOpponent, *, many: bool) -> Follower | None:
    """Return the opponent that plays an agent, a spec or a model; None for other objects.

    With ``many``, the opponent plays many boards, else one board.

    Raises:
        UnknownAgent, InvalidSpec, UnknownOption, InvalidValue: the agent cannot be made.
    """
    if not isinstance(agent, str | Agent) and not is_model(agent):
        return None
    return opponent(agent) if many else OneBoard(agent if isinstance(agent, Agent) else make(agent))


def opponent(agent: Any, *, seed: int = 0, threads: int = 1) -> BatchOpponent:
    """Make an opponent for many boards from an agent.

    Args:
        agent: an agent; a spec such as ``"alphabeta:depth=4,heuristic=chain"``; or a model or
            function that ``agents.make`` accepts. ``random``, ``greedy``,
            ``graded`` and fixed-depth search choose for all boards in one kernel, models in one
            batch, all other agents board by board. A ``BatchOpponent`` is returned unchanged.
        seed: the seed for direct calls of the opponent, without an environment.
        threads: threads that share a fixed-depth search.

    Raises:
        UnknownAgent, InvalidSpec, UnknownOption, InvalidValue: the agent cannot be made.
    """
    if isinstance(agent, BatchOpponent):
        return agent
    made = agent if isinstance(agent, Agent) else make(agent)
    if isinstance(made, FixedDepth):  # pruning changes no column, so minimax may use it too
        return BatchedSearch(made.depth, made.heuristic, rules=made.rules, threads=threads)
    if isinstance(made, Random):
        return RandomColumns(seed)
    if isinstance(made, Greedy):
        return GreedyColumns(made, seed)
    if isinstance(made, Graded):
        return GradedColumns(made, seed)
    if isinstance(made, ModelAgent):
        return ModelColumns(made, seed)
    return EachBoard(made, seed)
