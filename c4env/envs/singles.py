"""Many environments of one player in one step: what ``gymnasium.make_vec`` makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from c4env.arrays import Bools, Int8s, Int64s

from ..bitboard import COLUMNS, ROWS
from ..observation import Observation
from . import batch, kernels
from .opponents import RANDOM, AnyOpponent
from .vector import Arrays, ConnectFourVectorEnv


class SinglesVectorEnv(ConnectFourVectorEnv):
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
        given = RANDOM if opponent is None else opponent
        super().__init__(num_envs, opponent=given, layout=layout, **options)
        self.single_observation_space = self._form.space["observation"]
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._every = np.ones(self.num_envs, np.bool_)
        self._finished = kernels.NO_COLUMN  # info's mask of a finished game is all zeros

    def _seen(self, arrays: Arrays) -> Any:
        return self._form(kernels.as_planes(arrays.words))

    def _each(self, seen: Observation) -> Iterator[NDArray[Any]]:
        return iter(self._form(seen["observation"]))

    def _settle(self, arrays: Arrays) -> None:
        size = self.num_envs
        illegal, winners = np.zeros(size, np.bool_), np.zeros(size, np.int64)
        cells = np.zeros((size, ROWS, COLUMNS), np.int8)
        over = arrays.terminations
        self._ended = kernels.settle(*self._state, arrays.rewards, over, illegal, winners, cells)
        ended = over.copy()
        self._ends = {
            **{"illegal": illegal, "winner": winners, "winning_cells": cells},
            **{"_illegal": ended, "_winner": ended, "_winning_cells": ended},
        }

    def _info(self, arrays: Arrays, started: Bools | None) -> Any:
        masks, plies, seats = arrays.masks, arrays.plies, self._seats.astype(np.int64)
        if started is not None:
            return _info(masks * started[:, np.newaxis], plies * started, seats * started, started)
        info = _info(masks, plies, seats, self._every)
        if self._ended and self.autoreset_mode is not AutoresetMode.SAME_STEP:
            info |= self._ends
        return info

    def _final_info(self, arrays: Arrays) -> dict[str, Any]:
        ended = arrays.terminations
        masks = np.zeros((self.num_envs, COLUMNS), np.int8)
        plies, seats = batch.discs_on(self._boards) * ended, self._seats * ended
        return _info(masks, plies.astype(np.int64), seats.astype(np.int64), ended) | self._ends


def _info(masks: Int8s, plies: Int64s, seats: Int64s, where: Bools) -> dict[str, Any]:
    """Return info in Gymnasium's form, where ``_key`` marks the boards that have the key."""
    where = where.copy()
    return {
        **{"action_mask": masks, "ply": plies, "seat": seats},
        **{"_action_mask": where, "_ply": where, "_seat": where},
    }
