"""Opponents for ``ConnectFourVectorEnv``: called with M observations, they return M columns.

:class:`BatchedSearch` searches all boards in one kernel; :func:`opponent` makes any agent
of the zoo such a callable.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from agents.base import Agent
from agents.errors import InvalidHeuristic, InvalidValue
from agents.search.fixed_depth import CHAIN_RULES, SPOILED, FixedDepth, Rules, best_column, spoiled
from agents.search.heuristics import Heuristic, load
from agents.simple import Random
from agents.zoo.registry import make
from c4env.envs.batch import boards_from, parse_actions, positions_of
from c4env.jit import HEURISTIC, kernel
from c4env.observation import Observation

# Called with the observations of M boards, int8 [M, 6, 7, 2] and [M, 7]; returns M columns.
BatchOpponent = Callable[[Observation], ArrayLike]


@kernel(
    types.void(
        *(types.int64[:, ::1], types.int64, HEURISTIC),
        *(types.float64, types.float64, types.boolean, types.int64, types.int64),
        *(types.int64[::1], types.int64[::1], types.int64, types.int64),
    ),
    nogil=True,
)
def best_columns(
    boards: NDArray[np.int64],
    depth: int,
    heuristic: Heuristic,
    win: float,
    bonus: float,
    evaluate_full: bool,
    inner_order: int,
    order: int,
    columns: NDArray[np.int64],
    nodes: NDArray[np.int64],
    start: int,
    stop: int,
) -> None:
    """Write the best column of boards ``start`` to ``stop``, and the nodes it took."""
    for i in range(start, stop):
        columns[i], _, nodes[i] = best_column(
            *(int(boards[i, 0]), int(boards[i, 1]), depth, True, True, heuristic),
            *(win, bonus, evaluate_full, inner_order, order),
        )


class BatchedSearch:
    """Looks ahead on M boards at once, as ``alphabeta`` does on one: the same columns.

    Example:
        ConnectFourVectorEnv(4096, opponent=BatchedSearch(depth=4, heuristic="window"))
    """

    def __init__(
        self,
        depth: int,
        heuristic: str | Heuristic = "chain",
        *,
        rules: Rules = CHAIN_RULES,
        threads: int = 1,
    ) -> None:
        """A search; its heuristic is compiled now.

        Args:
            depth: plies looked ahead, its own move included; 1..42.
            heuristic: name or import path of the heuristic (``agents.search.heuristics``).
            rules: orders and terminal values (``agents.search.fixed_depth``).
            threads: threads that share the boards.

        Raises:
            InvalidValue: an argument out of range.
            InvalidHeuristic: no such heuristic.
        """
        self.depth = _parse_count("depth", depth, 42)
        self.threads = _parse_count("threads", threads, 1024)
        self.heuristic = heuristic
        self.rules = rules
        self.nodes = 0  # searched for the latest answer, all boards together
        self._function = load(heuristic)
        self._executor: ThreadPoolExecutor | None = None

    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> NDArray[np.int64]:
        """Columns int64 ``[M]`` for what the sides to move see on M boards.

        Raises:
            InvalidObservation: not such observations.
            InvalidHeuristic: the heuristic gave a value that is none.
        """
        boards = boards_from(_planes(observation))
        columns = np.empty(len(boards), np.int64)
        nodes = np.empty(len(boards), np.int64)
        rules = self.rules

        def search(span: tuple[int, int]) -> None:
            best_columns(
                *(boards, self.depth, self._function, rules.win, rules.bonus),
                *(rules.evaluate_full, rules.inner_order, rules.root_order),
                *(columns, nodes),
                *span,
            )

        edges = np.linspace(0, len(boards), min(self.threads, len(boards)) + 1).astype(int)
        spans = list(itertools.pairwise(edges.tolist()))
        if len(spans) > 1:
            self._executor = self._executor or ThreadPoolExecutor(self.threads)
            list(self._executor.map(search, spans))
        else:
            search((0, len(boards)))
        if (nodes >= SPOILED).any():
            raise InvalidHeuristic(spoiled(self.heuristic))
        self.nodes = int(nodes.sum())
        return columns

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the threads: a copy makes its own."""
        return {**self.__dict__, "_executor": None}

    def __repr__(self) -> str:
        return f"BatchedSearch({self.depth}, {self.heuristic!r}, threads={self.threads})"


class RandomColumns:
    """Any legal column on each of M boards, drawn from a seed."""

    def __init__(self, seed: int = 0) -> None:
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Draw from the beginning; an environment calls it when it is reset."""
        self._generator = np.random.default_rng(seed)

    def __call__(self, observation: Mapping[str, Any]) -> NDArray[np.int64]:
        """Columns int64 ``[M]``, by the masks ``[M, 7]`` of the observation."""
        masks = np.asarray(observation["action_mask"])
        drawn = self._generator.random(masks.shape) * (masks != 0)
        return np.asarray(drawn.argmax(axis=1), np.int64)


class Mixture:
    """Several opponents in one: who answers on a board is drawn anew at every move.

    Example:
        Mixture({BatchedSearch(4): 0.8, RandomColumns(): 0.2})  # errs at one move in five
    """

    def __init__(self, shares: Mapping[BatchOpponent, float], seed: int = 0) -> None:
        """A mixture.

        Args:
            shares: the opponents, and how often each answers; any scale.
            seed: for the draws.

        Raises:
            InvalidValue: no opponents, or a share that is negative or no number.
        """
        weights = np.array(list(shares.values()), np.float64)
        if not weights.sum() > 0 or not (weights >= 0).all() or np.isinf(weights).any():
            raise InvalidValue(f"shares={list(shares.values())}: expected numbers >= 0, not all 0")
        self._opponents = list(shares)
        self._shares = weights / weights.sum()
        self._generator = np.random.default_rng(seed)

    def __call__(self, observation: Observation) -> NDArray[np.int64]:
        """Columns int64 ``[M]``."""
        size = len(observation["action_mask"])
        who = self._generator.choice(len(self._opponents), size, p=self._shares)
        columns = np.empty(size, np.int64)
        for k, opponent in enumerate(self._opponents):
            at = np.flatnonzero(who == k)
            if len(at):
                part: Observation = {
                    "observation": observation["observation"][at],
                    "action_mask": observation["action_mask"][at],
                }
                columns[at] = parse_actions(opponent(part), len(at))
        return columns


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

    def __call__(self, observation: Mapping[str, Any] | NDArray[Any]) -> NDArray[np.int64]:
        """Columns int64 ``[M]`` for what the sides to move see on M boards."""
        positions = positions_of(boards_from(_planes(observation)))
        return np.array([self.agent.choose(position) for position in positions], np.int64)

    def __repr__(self) -> str:
        return f"EachBoard({self.agent!r})"


def opponent(agent: str | Agent, *, seed: int = 0, threads: int = 1) -> BatchOpponent:
    """An agent as an opponent on many boards.

    Args:
        agent: an agent, or its spec such as ``"alphabeta:depth=4,heuristic=chain"``. Random
            play and fixed-depth search answer natively for all boards, every other agent
            board by board.
        seed: for what the agent draws.
        threads: threads that share a fixed-depth search.

    Raises:
        UnknownAgent, InvalidSpec, UnknownOption, InvalidValue: no such agent.
    """
    made = make(agent) if isinstance(agent, str) else agent
    if isinstance(made, FixedDepth):  # cuts change no column, so minimax may have them too
        return BatchedSearch(made.depth, made.heuristic, rules=made.rules, threads=threads)
    if isinstance(made, Random):
        return RandomColumns(seed)
    if not isinstance(made, Agent):
        raise InvalidValue(f"opponent({agent!r}): expected an agent or its spec")
    return EachBoard(made, seed)


def _planes(observation: Mapping[str, Any] | NDArray[Any]) -> NDArray[Any]:
    return np.asarray(
        observation["observation"] if isinstance(observation, Mapping) else observation
    )


def _parse_count(name: str, value: object, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= high:
        raise InvalidValue(f"{name}={value!r}: expected an integer between 1 and {high}")
    return value
