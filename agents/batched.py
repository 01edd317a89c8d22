"""Opponents on many boards: called with M observations, they return M columns.

:class:`BatchedSearch` searches all boards in one kernel; :func:`opponent` makes any agent
such a callable; :class:`Pool` draws one of several for each game. An environment asks them with
bitboards, and with a seed for each board (``c4env.envs.opponents``).
"""

from __future__ import annotations

__any_board__ = True

import abc
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from c4env.agents.adapters.model import ModelAgent
from c4env.agents.base import Agent, is_model, require_count
from c4env.agents.baselines import Greedy, Random
from c4env.agents.heuristics.names import Heuristic, as_argument, load, not_a_value
from c4env.agents.pool import Pool
from c4env.agents.registry.options import DEFAULT_HEURISTIC
from c4env.agents.registry.registry import make
from c4env.agents.search.fixed_depth import CHAIN_RULES, FixedDepth, Rules, best_column
from c4env.agents.search.greedy import greedy_columns
from c4env.agents.search.threads import STOPPED, UNWATCHED, WORDS, run_interruptibly
from c4env.arrays import Int64s
from c4env.bitboard import CELLS, COLUMNS
from c4env.envs.opponents import AnyOpponent, Follower
from c4env.envs.vectorized.batch import boards_from, observed, positions_of, shares
from c4env.envs.vectorized.chance import random_columns
from c4env.jit import HEURISTIC, kernel

__all__ = [
    "BatchOpponent", "BatchedSearch", "EachBoard", "GreedyColumns", "Model", "Pool",
    "RandomColumns", "follower_of", "opponent",
]  # fmt: skip

AT_ONCE: Final = 10**6  # lines of play, were nothing cut, that are searched in the caller's thread


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


class BatchOpponent(Follower, abc.ABC):
    """One that answers for many boards, by their discs; a callable on observations too.

    It remembers no game, so that it serves every environment that it is given to.
    """

    c4env_batched = True
    _generator: np.random.Generator | None = None

    def follow(self) -> BatchOpponent:
        """Itself, in whatever environment."""
        return self

    def reset(self, seed: int) -> None:
        """Draw from the beginning, where it is called without an environment."""
        self._generator = np.random.default_rng(seed)

    @abc.abstractmethod
    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Columns int64 ``[M]``; see ``c4env.envs.opponents.Follower``."""

    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> Int64s:
        """Columns int64 ``[M]`` for what the sides to move see on M boards.

        Raises:
            InvalidObservation: not such observations.
        """
        self._generator = self._generator or np.random.default_rng(0)
        discs = boards_from(observation)
        size = len(discs)
        return self.columns(discs, np.arange(size), self._generator.integers(2**48, size=size))


class BatchedSearch(BatchOpponent):
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
            heuristic: name or import path of the heuristic (``c4env.agents.heuristics.names``).
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

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Columns int64 ``[M]``.

        Raises:
            InvalidHeuristic: the heuristic gave a value that is none.
        """
        columns, nodes = np.empty((2, len(discs)), np.int64)
        rules = self.rules

        def search(work: Int64s) -> None:
            start, stop = spans.pop()
            best_columns(
                *(discs, self.depth, self._function, rules.win, rules.bonus),
                *(rules.evaluate_full, rules.inner_order, rules.root_order, columns, nodes),
                *(start, stop, work),
            )

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
    """Any legal column on each of M boards, drawn from a seed: what ``"random"`` plays."""

    draws = True

    def __init__(self, seed: int = 0) -> None:
        self.reset(seed)

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Columns int64 ``[M]``, each legal one as likely."""
        return random_columns(discs, seeds)


class EachBoard(BatchOpponent):
    """An agent asked for one board after the other.

    It is told of a new game when an environment is reset, not of each game: agents that
    remember their game are not for many. One that draws is given a seed before each move.
    """

    def __init__(self, agent: Agent, seed: int = 0) -> None:
        self.agent = agent
        self.draws = not agent.deterministic
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Tell the agent of a new game."""
        super().reset(seed)
        self.agent.reset(seed)

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Columns int64 ``[M]``."""
        columns = np.empty(len(discs), np.int64)
        for i, position in enumerate(positions_of(discs)):
            if self.draws:
                self.agent.reseed(int(seeds[i]))
            columns[i] = self.agent.choose(position)
        return columns

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.agent!r})"


class Model(EachBoard):
    """A model asked for all boards at once, at the speed of its own batches."""

    agent: ModelAgent

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Columns int64 ``[M]``."""
        seen = observed(discs)
        return self.agent.columns(seen["observation"], seen["action_mask"], seeds)


class GreedyColumns(EachBoard):
    """``greedy`` on all boards in one kernel."""

    agent: Greedy

    def __init__(self, agent: Greedy, seed: int = 0) -> None:
        super().__init__(agent, seed)
        self._function = as_argument(agent.heuristic)

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> Int64s:
        """Columns int64 ``[M]``."""
        columns = greedy_columns(discs, self._function)
        # Board by board the agent says what is wrong.
        return super().columns(discs, boards, seeds) if (columns < 0).any() else columns


class OneBoard(Follower):
    """An agent on the one board there is: told of each game, and asked as in any."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.draws = type(agent).reset is not Agent.reset

    def reset(self, seed: int) -> None:
        """Tell the agent of a new game."""
        self.agent.reset(seed=seed)

    def columns(self, discs: Int64s, boards: Int64s, seeds: Int64s) -> list[int]:
        """The agent's column."""
        return [self.agent.choose(position) for position in positions_of(discs)]


def follower_of(agent: AnyOpponent, *, many: bool) -> Follower | None:
    """What an environment asks for an agent, its spec or a model; None for anything else.

    Raises:
        UnknownAgent, InvalidSpec, UnknownOption, InvalidValue: no such agent.
    """
    if not isinstance(agent, str | Agent) and not is_model(agent):
        return None
    return opponent(agent) if many else OneBoard(agent if isinstance(agent, Agent) else make(agent))


def opponent(agent: Any, *, seed: int = 0, threads: int = 1) -> BatchOpponent:
    """An agent as an opponent on many boards.

    Args:
        agent: an agent; its spec such as ``"alphabeta:depth=4,heuristic=chain"``; or what
            ``agents.make`` takes for one, such as a model or a function. ``random``, ``greedy``
            and fixed-depth search answer natively for all boards, models in one batch, every
            other agent board by board. What this returned is handed back.
        seed: for what the agent draws without an environment.
        threads: threads that share a fixed-depth search.

    Raises:
        UnknownAgent, InvalidSpec, UnknownOption, InvalidValue: no such agent.
    """
    if isinstance(agent, BatchOpponent):
        return agent
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
