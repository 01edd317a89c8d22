"""Many boards against an opponent, with the results of as many ``ConnectFourEnv``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from c4env.arrays import Bools, Int8s, Int64s
from c4env.envs import batch, kernels
from c4env.envs.opponents import RANDOM, AnyOpponent
from c4env.envs.vector import Arrays, ConnectFourVectorEnv, marked
from c4env.observation import Observation
from c4env.rules import COLUMNS, NO_COLUMN, ROWS


class SinglesVectorEnv(ConnectFourVectorEnv, VectorEnv):  # skrl looks at direct bases only
    """N environments of the kind ``ConnectFourEnv``, stepped at once.

    Everything that it returns equals what ``gymnasium.vector.SyncVectorEnv`` returns for N objects
    of ``ConnectFourEnv`` with the same arguments and seeds: observations ``[N, 84]``, rewards, and
    ``info`` in Gymnasium's form, where ``_key`` marks the boards that have the key. A function or
    program that draws random numbers of its own is one opponent here for all boards.

    Example:
        >>> envs = gymnasium.make_vec("c4env/ConnectFour-v0", 256, opponent="greedy", seat=0)
        >>> observation, info = envs.reset(seed=1)
        >>> observation.shape, info["action_mask"].shape
        ((256, 84), (256, 7))
    """

    _ply_dtype = np.int64  # as Gymnasium stacks integers

    def __init__(
        self,
        num_envs: int = 1,
        opponent: AnyOpponent = None,
        *,
        layout: str = "flat",
        **options: Any,
    ) -> None:
        """Make the boards; ``reset()`` starts their first games.

        Args:
            num_envs: number of boards.
            opponent, layout: as in ``ConnectFourEnv``.
            options: other arguments of ``ConnectFourVectorEnv``; those that ``ConnectFourEnv`` has
                too are the same.

        Raises:
            InvalidOption: an argument has an invalid value.
        """
        opponent = RANDOM if opponent is None else opponent
        super().__init__(num_envs, opponent=opponent, layout=layout, **options)
        self.single_observation_space = self._form.space["observation"]
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._all_boards = np.ones(self.num_envs, np.bool_)
        self._finished = NO_COLUMN  # info's mask of a finished game is all zeros

    def _observation(self, arrays: Arrays) -> Any:
        return self._form(kernels.as_planes(arrays.words))

    def _by_board(self, observation: Observation) -> Iterator[NDArray[Any]]:
        return iter(self._form(observation["observation"]))

    def _settle(self, arrays: Arrays) -> None:
        size = self.num_envs
        illegal, winners = np.zeros(size, np.bool_), np.zeros(size, np.int64)
        cells = np.zeros((size, ROWS, COLUMNS), np.int8)
        over = arrays.terminations
        self._ended = kernels.settle(*self._state, arrays.rewards, over, illegal, winners, cells)
        ends = {"illegal": illegal, "winner": winners, "winning_cells": cells}
        self._ends = marked(ends, over)

    def _info(self, arrays: Arrays, started: Bools | None) -> Any:
        masks, plies, seats = arrays.masks, arrays.plies, self._seats.astype(np.int64)
        if started is not None:
            return _info(masks * started[:, np.newaxis], plies * started, seats * started, started)
        info = _info(masks, plies, seats, self._all_boards)
        if self._ended and self.autoreset_mode is not AutoresetMode.SAME_STEP:
            info |= self._ends
        return info

    def _final_info(self, arrays: Arrays) -> dict[str, Any]:
        ended = arrays.terminations
        masks = np.zeros((self.num_envs, COLUMNS), np.int8)
        plies, seats = batch.discs_on(self._boards) * ended, self._seats * ended
        return _info(masks, plies.astype(np.int64), seats.astype(np.int64), ended) | self._ends


def _info(masks: Int8s, plies: Int64s, seats: Int64s, where: Bools) -> dict[str, Any]:
    return marked({"action_mask": masks, "ply": plies, "seat": seats}, where)
