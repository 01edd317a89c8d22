"""Many boards as tensors of PyTorch, on the device of the network that plays.

The rules of ``c4env.envs.vectorized.kernels`` as tensor operations: a step copies nothing to the
host and does not wait for the device. On a CPU ``ConnectFourVectorEnv`` is faster.
"""

from __future__ import annotations

__any_board__ = True

from typing import Any

from c4env.bitboard import (
    BOARD,
    BOTTOM,
    COLUMN,
    COLUMNS,
    DIRECTIONS,
    DOUBLINGS,
    FROM_TOP,
    ROWS,
    STRIDE,
)
from c4env.errors import InvalidAction, InvalidOption, require_integer
from c4env.lazy import from_extra

with from_extra("torch", "c4env.TensorEnv needs PyTorch"):
    import torch
    from torch import Tensor


class TensorEnv:
    """N boards in the self-play form of ``ConnectFourVectorEnv(N, autoreset_mode="SameStep")``.

    A step is one ply of the side to move on each board. A game that ends starts again within
    the step: the observation shows the new game, and ``info`` holds the rewards of the last
    ply. A full column, or an action that is no column, loses the game with -1.

    Observations are a dict of ``"observation"`` int8 ``[N, 6, 7, 2]`` (row 0 on top, plane 0
    the discs of the side to move) and ``"action_mask"`` int8 ``[N, 7]``. Rewards are float32
    ``[N]``, for the player who moved. Info has ``"ply"`` int64 ``[N]``, the discs on the
    board, and after a step ``"player_rewards"`` float32 ``[N, 2]``. All are new tensors on the
    device.

    Example:
        env = TensorEnv(65536, device="cuda")
        seen, _ = env.reset()
        while training:
            logits = network(seen["observation"].float())
            logits = logits.masked_fill(seen["action_mask"] == 0, -math.inf)
            actions = Categorical(logits=logits).sample()
            seen, rewards, ended, _, info = env.step(actions)
    """

    def __init__(self, num_envs: int, device: Any = "cpu") -> None:
        """Make the boards; ``reset()`` empties them.

        Args:
            num_envs: number of boards, N.
            device: an argument of ``torch.device``.

        Raises:
            InvalidOption: ``num_envs`` is no positive integer, or the device is not available.
        """
        self.num_envs = require_integer("num_envs", num_envs)
        try:
            self.device = torch.device(device)
            cells = torch.tensor(FROM_TOP, device=self.device).view(ROWS, COLUMNS)
        except (RuntimeError, AssertionError, TypeError) as error:
            raise InvalidOption(f"device={device!r}: {error}") from None
        self._cells = cells[..., None]
        self._tops = 1 << cells[0]
        self._columns = COLUMN << (STRIDE * torch.arange(COLUMNS, device=self.device))
        self._boards = self._zeros(2)  # discs of the side to move, discs of the other side
        self._plies = self._zeros()

    def _zeros(self, *shape: int) -> Tensor:
        return torch.zeros(self.num_envs, *shape, dtype=torch.int64, device=self.device)

    def reset(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Empty all boards; return observation and info, see the class."""
        self._boards = self._zeros(2)
        self._plies = self._zeros()
        return self._seen(), {"ply": self._plies.clone()}

    def step(
        self, actions: Tensor
    ) -> tuple[dict[str, Tensor], Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Play one ply on every board.

        Args:
            actions: integers ``[N]`` on the device, 0-based columns.

        Returns:
            Observation, rewards, terminations bool ``[N]``, truncations (never true), info;
            see the class.

        Raises:
            InvalidAction: another shape or device, or no integers. The values stay unchecked,
                since a check would wait for the device.
        """
        self._check(actions)
        mine, theirs = self._boards.unbind(1)
        occupied = mine | theirs
        actions = actions.long()
        known = (actions >= 0) & (actions < COLUMNS)
        column = self._columns[actions.clamp(0, COLUMNS - 1)]
        cell = torch.where(known, (occupied + BOTTOM) & column, 0)
        legal = cell != 0
        discs = mine | cell
        won = legal & _has_won(discs)
        drawn = legal & ~won & ((occupied | cell) == BOARD)
        ended = won | drawn | ~legal
        rewards = won.float() - (~legal).float()
        mover = self._plies & 1
        both = torch.stack([rewards, -won.float()], 1)  # the mover's, the other player's
        by_player = torch.where(mover[:, None] == 0, both, both.flip(1))
        going = torch.where(ended, 0, -1)  # a mask: no bits once ended, else all
        self._boards = torch.stack([theirs & going, discs & going], 1)
        self._plies = (self._plies + 1) & going
        info = {"ply": self._plies.clone(), "player_rewards": by_player}
        return self._seen(), rewards, ended, torch.zeros_like(ended), info

    def _check(self, actions: Any) -> None:
        if not isinstance(actions, Tensor):
            raise InvalidAction(f"actions {type(actions).__name__}: expected a tensor")
        if actions.shape != (self.num_envs,):
            raise InvalidAction(
                f"actions of shape {tuple(actions.shape)}: expected one a board, ({self.num_envs},)"
            )
        if actions.is_floating_point() or actions.is_complex() or actions.dtype == torch.bool:
            raise InvalidAction(f"actions of dtype {actions.dtype}: expected integers")
        if actions.device != self._boards.device:
            raise InvalidAction(f"actions on {actions.device}: expected {self._boards.device}")

    def _seen(self) -> dict[str, Tensor]:
        planes = self._boards[:, None, None, :] >> self._cells & 1
        occupied = self._boards[:, 0] | self._boards[:, 1]
        masks = (occupied[:, None] & self._tops) == 0
        return {"observation": planes.to(torch.int8), "action_mask": masks.to(torch.int8)}


def _has_won(discs: Tensor) -> Tensor:
    """Whether discs int64 ``[N]`` hold four in a row, bool ``[N]``."""
    won = torch.zeros_like(discs)
    for shift in DIRECTIONS:
        lines = discs
        for step in DOUBLINGS:
            lines = lines & lines >> step * shift
        won |= lines
    return won != 0
