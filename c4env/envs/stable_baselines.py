"""Many boards as a ``VecEnv`` of Stable-Baselines3.

sb3-contrib gets the masks by ``env_method("action_masks")``. The step that ends a game also starts
the next game on that board.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import DTypeLike, NDArray

from c4env.arrays import Bools
from c4env.envs.opponents import AnyOpponent
from c4env.envs.starts import check_options, starts_in
from c4env.envs.vector import ConnectFourVectorEnv
from c4env.errors import InvalidOption
from c4env.lazy import from_extra
from c4env.openings import Openings
from c4env.position import Position
from c4env.render import VIDEO_SCALING, check_render_mode
from c4env.rules import COLUMNS

with from_extra("sb3", "c4env.envs.stable_baselines needs Stable-Baselines3"):
    from stable_baselines3.common.vec_env import VecEnv


class ConnectFourVecEnv(VecEnv):
    """An environment of N boards in one kernel; the opponent replies within the step.

    Observations, rewards and infos equal the ones of a ``DummyVecEnv`` with a ``ConnectFourEnv``
    for each board. When a game ends, the board's ``info["terminal_observation"]`` holds its last
    observation.
    """

    def __init__(
        self,
        num_envs: int,
        opponent: AnyOpponent = "random",
        seat: int | str = "random",
        *,
        openings: Openings | None = None,
        layout: str = "flat",
        dtype: DTypeLike = "float32",
        illegal: str = "lose",
        render_mode: str | None = None,
        screen_scaling: int = VIDEO_SCALING,
    ) -> None:
        """Make the boards; ``reset()`` starts their first games.

        Args:
            num_envs: number of boards.
            opponent: as in ``ConnectFourVectorEnv``, but not None: the algorithms of
                Stable-Baselines3 assume that all rewards belong to one player.
            seat, openings, illegal: as in ``ConnectFourVectorEnv``.
            layout, dtype, screen_scaling: as in ``ConnectFourEnv``.
            render_mode: None, or ``"rgb_array"`` for pictures and ``VecVideoRecorder``.

        Raises:
            InvalidOption: an argument has an invalid value.
        """
        check_render_mode(render_mode, ("rgb_array",))
        self._envs = ConnectFourVectorEnv(
            num_envs,
            opponent=_required(opponent),
            seat=seat,
            illegal=illegal,
            openings=openings,
            autoreset_mode=AutoresetMode.SAME_STEP,
            layout=layout,
            dtype=dtype,
            action_mask="info",
            render_mode=render_mode,
            screen_scaling=screen_scaling,
        )
        self.render_mode = render_mode
        self._actions: NDArray[Any] = np.zeros(num_envs, np.int64)
        self._masks = np.ones((num_envs, COLUMNS), np.bool_)
        space = self._envs.single_observation_space
        super().__init__(num_envs, space, spaces.Discrete(COLUMNS))
        self.metadata["render_fps"] = self._envs.metadata["render_fps"]

    def reset(self) -> NDArray[Any]:
        """Start games on all boards; return observations.

        ``seed()`` sets the seeds, and ``set_options()`` sets the options. The options are one dict,
        as for ``ConnectFourEnv.reset``, or a list of dicts that differ only in their starts.

        Raises:
            InvalidOption: an option is unknown or invalid. No game changes.
        """
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        options = _options_of_all(self._options, self.num_envs)
        observation: NDArray[Any]
        observation, info = self._envs.reset(seed=seeds, options=options)
        self._reset_seeds()
        self._reset_options()
        self._masks, self.reset_infos = info["action_mask"].astype(np.bool_), _infos(info)
        for each in self.reset_infos:
            del each["TimeLimit.truncated"]
        return observation

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions, integers ``[N]``, for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[Any], NDArray[np.float32], Bools, list[dict[str, Any]]]:
        """Play the actions and the opponent's replies; return planes, rewards, dones, infos."""
        observation, rewards, dones, _, info = self._envs.step(self._actions)
        self._masks, infos = info["action_mask"].astype(np.bool_), _infos(info)
        ended = np.flatnonzero(dones)
        if len(ended):
            last = info["final_info"] | {"terminal_observation": info["final_obs"]}
            last = {key: each[ended] for key, each in last.items() if not key.startswith("_")}
            columns = [list(each) if each.ndim > 1 else each.tolist() for each in last.values()]
            for i, *values in zip(ended.tolist(), *columns, strict=True):
                self.reset_infos[i] = infos[i]
                infos[i] = dict(zip(last, values, strict=True))
                infos[i]["TimeLimit.truncated"] = False
                del self.reset_infos[i]["TimeLimit.truncated"]
        return observation, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Release the environment's resources."""
        self._envs.close()

    def get_images(self) -> list[NDArray[np.uint8] | None]:
        """Return a picture of each board, or None without a render mode; ``render`` tiles them."""
        return [*(self._envs.render() or [None] * self.num_envs)]

    def positions(self) -> list[Position]:
        """The position on each board."""
        return self._envs.positions()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return ``"position"`` of each board, or an attribute that all boards share."""
        if attr_name == "position":
            found: list[Any] = [*self.positions()]
        else:
            found = [getattr(self, attr_name)] * self.num_envs
        return [found[i] for i in self._get_indices(indices)]

    @property
    def opponent(self) -> AnyOpponent:
        """The caller's opponent. An opponent assigned here plays from its next move on."""
        return self._envs.opponent

    @opponent.setter
    def opponent(self, opponent: AnyOpponent) -> None:
        self._envs.opponent = _required(opponent)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Replace the ``"opponent"`` of all boards; no other attribute can change.

        Raises:
            AttributeError: the attribute is not ``"opponent"``, or ``indices`` omit boards.
        """
        if attr_name != "opponent" or len(set(self._get_indices(indices))) < self.num_envs:
            raise AttributeError(
                f"{attr_name!r} of boards {indices}: only 'opponent' of all boards can be set"
            )
        self.opponent = value

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Return the result for each board of ``"action_masks"``, or of ``"set_opponent"``.

        Raises:
            AttributeError: a board has no method of this name, or ``"set_opponent"`` is called
                with ``indices`` that omit boards.
        """
        chosen = list(self._get_indices(indices))
        if method_name == "set_opponent":
            (opponent,) = (*method_args, *method_kwargs.values())
            self.set_attr("opponent", opponent, indices)
            return [None for _ in chosen]
        if method_name != "action_masks":
            raise AttributeError(f"a board has no method {method_name!r}")
        return list(self._masks[chosen])

    def action_masks(self) -> Bools:
        """Return the legal columns, bool ``[N, 7]``; a copy."""
        return self._masks.copy()

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for every board, since no board has a wrapper."""
        return [False for _ in self._get_indices(indices)]


def _infos(info: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the info of a step on each board whose game goes on."""
    columns = info["action_mask"], info["ply"].tolist(), info["seat"].tolist()
    return [
        {"action_mask": mask, "ply": ply, "seat": seat, "TimeLimit.truncated": False}
        for mask, ply, seat in zip(*columns, strict=True)
    ]


def _options_of_all(options: list[dict[str, Any]], size: int) -> Mapping[str, Any]:
    """Return the options of the boards as the options of one reset of all boards."""
    if len(options) != size:
        raise InvalidOption(f"options of {len(options)} boards: expected one dict, or {size}")
    checked = [check_options(each, ("moves", "position", "seat")) for each in options]
    if all(each == checked[0] for each in checked):
        return checked[0]
    starts = [starts_in(each) for each in checked]
    seats = [each.get("seat") for each in checked]
    if None in starts or any(seat != seats[0] for seat in seats):
        raise InvalidOption("the boards' options: expected a start for each, and one seat for all")
    seat = {} if seats[0] is None else {"seat": seats[0]}
    return {"moves": [start[0] for start in starts if start], **seat}


def _required(opponent: AnyOpponent) -> AnyOpponent:
    if opponent is None:
        raise InvalidOption("opponent=None: expected an opponent such as 'random'")
    return opponent
