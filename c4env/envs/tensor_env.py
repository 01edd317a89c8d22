"""Many boards on the device of the network that plays: :class:`TensorEnv`.

The rules are the functions of ``c4env.envs.tensor``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Self

from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import DTypeLike

from c4env.envs.batch import bitboards, positions_of
from c4env.envs.opponents import require_same_play
from c4env.envs.starts import check_options, parse_autoreset, parse_openings, parse_seed
from c4env.envs.tensor import (
    ModuleOpponent,
    Observed,
    State,
    TensorOpponent,
    check_actions,
    init,
    observe,
    player_of,
    restart,
    step,
)
from c4env.errors import InvalidOption, WrongOrder, require_integer
from c4env.lazy import from_extra
from c4env.observation import Form
from c4env.openings import Openings
from c4env.position import Position
from c4env.rules import COLUMNS

with from_extra("torch", "c4env.TensorEnv needs PyTorch"):
    import torch
    from torch import Tensor
    from torch.utils._pytree import tree_map


Policy = Callable[[Observed], Any]
"""A function of observations to actions ``[N]``, or to a tuple of actions and further tensors."""

# The two kinds of function return the next state, and the values of a step or a ply of a rollout.
StepFunction = Callable[[State, Tensor], tuple[State, Any]]  # of a state and actions
PlyFunction = Callable[[State], tuple[State, Any]]  # of a state: the policy chooses the actions
_MODES: Final = (AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)


class Rollout(NamedTuple):
    """T plies on N boards, from :meth:`TensorEnv.rollout`."""

    observation: Tensor  #: [T, N, ...], what the policy saw
    action_mask: Tensor  #: int8 [T, N, 7]
    actions: Tensor  #: [T, N], the policy's actions
    extras: tuple[Tensor, ...]  #: [T, N, ...] each, the further tensors that the policy returned
    rewards: Tensor  #: float32 [T, N], as from a step
    terminations: Tensor  #: bool [T, N]
    last: Observed  #: the observations after the last ply


class TensorEnv:
    """N boards in the form of ``ConnectFourVectorEnv(N, autoreset_mode="SameStep")``.

    Without an opponent, a step is one ply of the side to move on each board. An opponent replies
    within the step. When a game ends, the same step starts a new game on the board: the observation
    shows the new game, and ``info`` holds the rewards of the last ply of the old game.

    An observation is a dict of ``"observation"``, by default int8 ``[N, 6, 7, 2]`` (row 0 on top,
    plane 0 the observer's discs), and ``"action_mask"`` int8 ``[N, 7]``. Rewards are float32
    ``[N]``, for the caller, or in self-play for the player who moved. Every call returns new
    tensors on the device. Info has these keys:

    - ``"ply"`` int8 ``[N]``: the discs on the board;
    - ``"seat"`` int8 ``[N]``, with an opponent: the caller's player;
    - ``"player_rewards"`` float32 ``[N, 2]``, after a step in self-play.

    Example:
        >>> envs = TensorEnv(256, device="cpu")
        >>> observation, info = envs.reset(seed=1)
        >>> observation["observation"].shape
        torch.Size([256, 6, 7, 2])
    """

    def __init__(
        self,
        num_envs: int,
        device: Any = "cpu",
        *,
        opponent: TensorOpponent | torch.nn.Module = None,
        seat: int | str = "random",
        openings: Openings | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        layout: str = "planes_last",
        dtype: DTypeLike = "int8",
        compile: bool = False,
    ) -> None:
        """Make the boards; ``reset()`` starts their first games.

        Args:
            num_envs: number of boards, N.
            device: an argument of ``torch.device``.
            opponent, seat: as for :func:`restart`; or a PyTorch module, a network as in every other
                environment.
            openings: as for ``ConnectFourVectorEnv``; each game draws its start from them.
            autoreset_mode: ``"SameStep"`` or ``"Disabled"``. With ``"Disabled"`` a step shows the
                last observation of a game, and the board waits for
                ``reset(options={"reset_mask": ended})``.
            layout, dtype: the form of ``"observation"``; see ``c4env.observation``.
            compile: compile the step, and in :meth:`rollout` the policy with it, by
                ``torch.compile``. The first step takes seconds.

        Raises:
            InvalidOption: an argument has an invalid value, or the device is not available.
        """
        self.num_envs = require_integer("num_envs", num_envs)
        self._board = Position()  # another board refuses a pickle of it
        try:
            self.device = torch.empty(0, device=device).device
        except (RuntimeError, AssertionError, TypeError) as error:
            raise InvalidOption(f"device={device!r}: {error}") from None
        player = player_of(_as_function(opponent), seat)
        starts: Any = torch.from_numpy(bitboards(parse_openings(openings, player)))
        starts = None if openings is None else starts.to(self.device)
        self._rules: dict[str, Any] = {"seat": seat, "openings": starts}
        self._self_play = opponent is None
        self.opponent = opponent
        self.autoreset_mode = parse_autoreset(autoreset_mode, _MODES)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        self._form = Form(layout, dtype)
        self._compiles = bool(compile)
        self._state: Any = None
        self._step: StepFunction | None = None
        self._ply: Any = None  # the latest policy, and what plays a ply with it
        self.single_action_space = spaces.Discrete(COLUMNS)
        self.single_observation_space = self._form.space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    @property
    def opponent(self) -> TensorOpponent | torch.nn.Module:
        """The caller's opponent, None in self-play. A new opponent plays from its next move on."""
        return self._opponent

    @opponent.setter
    def opponent(self, opponent: TensorOpponent | torch.nn.Module) -> None:
        require_same_play(self._self_play, opponent)
        function = _as_function(opponent)
        player_of(function, self._rules["seat"])  # checks it
        self._opponent, self._rules["opponent"] = opponent, function
        self._step = self._ply = None  # the compiled functions have the former opponent

    @property
    def unwrapped(self) -> Self:
        """The environment itself, because it is not a wrapper."""
        return self

    def positions(self) -> list[Position]:
        """The position on each board, copied from the device; empty boards before a reset."""
        if self._state is None:
            return [Position()] * self.num_envs
        return positions_of(self._state.boards.cpu().numpy())

    def close(self) -> None:
        """Do nothing, since there is nothing to release; programs for Gymnasium call it."""

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Tensor]]:
        """Start new games; return observation and info, see the class.

        Args:
            seed: the seed of all draws, as for :func:`c4env.envs.tensor.init`. None continues the
                random streams.
            options: ``"reset_mask"``, a bool tensor ``[N]``: the boards to start, while the other
                boards continue.

        Raises:
            InvalidOption: an argument is invalid, or a mask is given in the first reset or with a
                seed.
        """
        number, size = parse_seed(seed), self.num_envs
        mask = check_options(options, ("reset_mask",)).get("reset_mask")
        if self._state is None or number is not None:
            if mask is not None:
                raise InvalidOption(
                    "reset_mask: the first reset, or one with a seed, starts all boards"
                )
            key = secrets.randbits(63) if number is None else number
            self._state = init(key, size, device=self.device, **self._rules)
            return _observe(self._state, self._rules, self._form)
        chosen = torch.ones_like(self._state.terminated) if mask is None else mask
        if not isinstance(chosen, Tensor) or (chosen.dtype, *chosen.shape) != (torch.bool, size):
            raise InvalidOption(f"reset_mask={mask!r:.60}: expected a tensor, bool ({size},)")
        self._state = restart(self._state, chosen, **self._rules)
        return _observe(self._state, self._rules, self._form)

    def step(self, actions: Tensor) -> tuple[Observed, Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Play the caller's ply on every board, and the opponent's reply if there is one.

        Args:
            actions: as for the function :func:`step`, which also lists the errors.

        Returns:
            Observation, rewards, terminations bool ``[N]``, truncations (never true), info.

        Raises:
            WrongOrder: ``reset`` was never called.
        """
        if self._state is None:
            raise WrongOrder("reset() needs to be called before step.")
        check_actions(actions, self._state.plies)
        if self._step is None:
            self._step = self._compiled(self._step_function())
        self._state, (observation, rewards, ended, truncated, info) = self._step(
            self._state, actions
        )
        return observation, rewards, ended, truncated, info

    def rollout(self, policy: Policy, plies: int) -> Rollout:
        """Play some plies with a policy.

        Args:
            policy: maps observations, as from :meth:`step`, to actions ``[N]``, or to a tuple of
                actions and further tensors to keep, such as log-probabilities. The policy must not
                change the observations in place, because the rollout keeps them. Weights may
                change in place between rollouts. A new function is compiled again.
            plies: number of steps, T.

        Returns:
            the plies, without gradients, in new tensors.

        Raises:
            InvalidAction: see :meth:`step`.
            WrongOrder: ``reset`` was never called.
        """
        if self._state is None:
            raise WrongOrder("reset() needs to be called before rollout.")
        state, rows = self._state, []
        with torch.no_grad():
            if self._ply is None or self._ply[0] != policy:
                ply = _ply_of(self._step_function(), policy, self._form)
                self._ply = policy, self._compiled(ply)
            for _ in range(require_integer("plies", plies)):
                state, row = self._ply[1](state)
                rows.append(row)
            self._state = state
            played: Any = tree_map(lambda *row: torch.stack(row), *rows)
            played = *played, observe(state, self._form)
            return Rollout(*played)

    def _step_function(self) -> StepFunction:
        return _step_function(self._rules, self.autoreset_mode, self._form)

    def _compiled(self, function: Any) -> Any:
        return torch.compile(function, dynamic=False) if self._compiles else function

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without what is compiled; a copy compiles its own."""
        return {**vars(self), "_step": None, "_ply": None}


def _as_function(opponent: Any) -> Any:
    """Return an opponent as the functions of ``c4env.envs.tensor`` take it."""
    return ModuleOpponent(opponent) if isinstance(opponent, torch.nn.Module) else opponent


# -- a step and a ply of a rollout as functions ----------------------------------------


def _step_function(rules: dict[str, Any], mode: AutoresetMode, form: Form) -> StepFunction:
    """Return a function of the state and actions: the next state, and what a step returns."""

    def env_step(state: State, actions: Tensor) -> tuple[State, Any]:
        first = state.plies & 1 == 0  # the caller's player, or in self-play the player who moves
        state = step(state, actions, rules["opponent"])
        ended, player_rewards = state.terminated, state.rewards
        rewards = torch.where(first, player_rewards[..., 0], player_rewards[..., 1])
        if mode is AutoresetMode.SAME_STEP:
            state = restart(state, ended, **rules)
        else:  # the caller may change the tensors that it gets
            ended, player_rewards = ended.clone(), player_rewards.clone()
        observation, info = _observe(state, rules, form)
        if rules["opponent"] is None:
            info["player_rewards"] = player_rewards
        return state, (observation, rewards, ended, torch.zeros_like(ended), info)

    return env_step


def _ply_of(env_step: StepFunction, policy: Policy, form: Form) -> PlyFunction:
    """Return a function of the state: the next state, and a ply of the policy as in a Rollout."""

    def ply(state: State) -> tuple[State, Any]:
        observation = observe(state, form)
        answer = policy({**observation})
        actions, *extras = answer if isinstance(answer, tuple) else (answer,)
        state, (_, rewards, ended, _, _) = env_step(state, actions)
        return state, (*observation.values(), actions, tuple(extras), rewards, ended)

    return ply


def _observe(state: State, rules: dict[str, Any], form: Form) -> tuple[Observed, dict[str, Tensor]]:
    """Return observation and info."""
    info = {"ply": state.plies.clone()}
    if rules["opponent"] is not None:
        info["seat"] = state.seats.clone()
    return observe(state, form), info
