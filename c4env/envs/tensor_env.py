"""Many boards on the device of the network that plays: :class:`TensorEnv`, and CUDA graphs.

The rules are the functions of ``c4env.envs.tensor``. :func:`record` makes one CUDA graph
of many of their steps, with a network or without.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import DTypeLike

from c4env.envs.batch import bitboards
from c4env.envs.starts import check_options, parse_autoreset, parse_openings, parse_seed
from c4env.envs.tensor import (
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

# Both return the next state, and what a step or a rollout returns.
StepFunction = Callable[[State, Tensor], tuple[State, Any]]  # of a state and actions
PlyFunction = Callable[[State], tuple[State, Any]]  # of a state: the policy chooses the actions
_MODES: Final = (AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)
RECORDED: Final = 2**18
"""Most boards whose step is replayed as a CUDA graph. More keep a device busy longer than the host
needs to launch the step, and the copies that a graph needs would cost more than they save."""


class Rollout(NamedTuple):
    """T plies on N boards, from :meth:`TensorEnv.rollout`."""

    observation: Tensor  # [T, N, ...], what the policy saw
    action_mask: Tensor  # int8 [T, N, 7]
    actions: Tensor  # [T, N], the policy's
    extras: tuple[Tensor, ...]  # [T, N, ...] each, what else the policy returned
    rewards: Tensor  # float32 [T, N], as from a step
    terminations: Tensor  # bool [T, N]
    last: Observed  # the observations after the last ply


class TensorEnv:
    """N boards in the form of ``ConnectFourVectorEnv(N, autoreset_mode="SameStep")``.

    Without an opponent, a step is one ply of the side to move on each board. An opponent replies
    within the step. When a game ends, the same step starts a new game on the board: the observation
    shows the new game, and ``info`` holds the rewards of the last ply of the old game.

    Observations are a dict of ``"observation"``, by default int8 ``[N, 6, 7, 2]`` (row 0 on top,
    plane 0 the observer's discs), and ``"action_mask"`` int8 ``[N, 7]``. Rewards are the
    caller's, float32 ``[N]``, in self-play those of the player who moved. Info has ``"ply"`` int8
    ``[N]``, the discs on the board; with an opponent ``"seat"`` int8 ``[N]``, the caller's player;
    in self-play after a step ``"player_rewards"`` float32 ``[N, 2]``. All are new tensors on the
    device.

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
        opponent: TensorOpponent = None,
        seat: int | str = "random",
        openings: Openings | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        layout: str = "planes_last",
        dtype: DTypeLike = "int8",
        compile: bool | None = None,
    ) -> None:
        """Make the boards; ``reset()`` starts their first games.

        Args:
            num_envs: number of boards, N.
            device: an argument of ``torch.device``.
            opponent, seat: as for :func:`restart`.
            openings: as for ``ConnectFourVectorEnv``; each game draws its start from them.
            autoreset_mode: ``"SameStep"``; or ``"Disabled"``: a step shows the last observation of
                a game, and the board waits for ``reset(options={"reset_mask": ended})``.
            layout, dtype: the form of ``"observation"``; see ``c4env.observation``.
            compile: compile the step by ``torch.compile``, and on CUDA replay it as one CUDA graph
                unless the opponent is a function or N is more than ``RECORDED``. The first step
                takes seconds. None compiles on CUDA, and goes on without where that fails.

        Raises:
            InvalidOption: an argument has an invalid value, or the device is not available.
        """
        self.num_envs = require_integer("num_envs", num_envs)
        self._board = Position()  # another board refuses a pickle of it
        try:
            self.device = torch.empty(0, device=device).device
        except (RuntimeError, AssertionError, TypeError) as error:
            raise InvalidOption(f"device={device!r}: {error}") from None
        starts: Any = torch.from_numpy(
            bitboards(parse_openings(openings, player_of(opponent, seat)))
        )
        starts = None if openings is None else starts.to(self.device)
        self._rules: dict[str, Any] = {"opponent": opponent, "seat": seat, "openings": starts}
        self.autoreset_mode = parse_autoreset(autoreset_mode, _MODES)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        self._form = Form(layout, dtype)
        self._falls_back = compile is None  # goes on without where compiling fails
        self._compiles = self.device.type == "cuda" if compile is None else compile
        self._records = self._compiles and self.num_envs <= RECORDED and not callable(opponent)
        self._state: Any = None
        self._step: StepFunction | None = None
        self._rollout: Any = None  # the latest policy and number of plies, and what plays them
        self.single_action_space = spaces.Discrete(COLUMNS)
        self.single_observation_space = self._form.space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Tensor]]:
        """Start new games; return observation and info, see the class.

        Args:
            seed: the seed of all draws, as for :func:`init`. None continues the random streams.
            options: ``"reset_mask"``, a bool tensor ``[N]``: the boards to start, while the others
                continue.

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
            self._step = self._prepare_step(actions)
        self._state, (observation, rewards, ended, truncated, info) = self._step(
            self._state, actions
        )
        return observation, rewards, ended, truncated, info

    def rollout(self, policy: Policy, plies: int) -> Rollout:
        """Play with a policy; where a step is one CUDA graph, so are all plies with the policy.

        Args:
            policy: maps observations, as from :meth:`step`, to actions ``[N]``, or to a tuple of
                actions and further tensors to keep, such as log-probabilities. Weights may change
                in place between rollouts. A new function is compiled again.
            plies: number of steps, T.

        Returns:
            the plies, without gradients, in tensors that the next rollout may overwrite.

        Raises:
            InvalidAction: see :meth:`step`.
            WrongOrder: ``reset`` was never called.
        """
        if self._state is None:
            raise WrongOrder("reset() needs to be called before rollout.")
        require_integer("plies", plies)
        with torch.no_grad():
            if self._rollout is None or self._rollout[:2] != (policy, plies):
                self._rollout = policy, plies, self._prepare_rollout(policy, plies)
            play: PlyFunction = self._rollout[2]
            self._state, played = play(self._state)
        return Rollout(*played)

    def _prepare_step(self, actions: Tensor) -> StepFunction:
        """Return the step as a function, prepared for such actions."""
        env_step = _step_function(self._rules, self.autoreset_mode, self._form)

        def make_fast() -> StepFunction:
            compiled: StepFunction = _compiled(env_step)
            if self._records:
                return _recorded_step(compiled, self._state, actions)
            compiled(self._state, actions)  # compiles now
            return compiled

        prepared: StepFunction = self._fast_or_plain(env_step, make_fast)
        return prepared

    def _prepare_rollout(self, policy: Policy, plies: int) -> PlyFunction:
        """Return a rollout as a function of the state."""
        env_step = _step_function(self._rules, self.autoreset_mode, self._form)
        ply = _ply_of(env_step, policy, self._form)

        def make_fast() -> PlyFunction:
            compiled = _compiled(ply)
            play = _repeated(compiled, plies, self._form)
            if self._records:
                return _Recorded(play, self._state)
            compiled(self._state)  # compiles now
            return play

        prepared: PlyFunction = self._fast_or_plain(_repeated(ply, plies, self._form), make_fast)
        return prepared

    def _fast_or_plain(self, plain: Any, make_fast: Callable[[], Any]) -> Any:
        """Return what ``make_fast`` makes if steps are compiled, else the plain function."""
        if not self._compiles:
            return plain
        try:
            return make_fast()
        except RuntimeError as error:  # of the compiler, or of the CUDA graph
            if not self._falls_back:
                raise
            why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            warnings.warn(f"TensorEnv goes on without torch.compile: {why}", stacklevel=5)
            return plain

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without what is compiled; a copy compiles its own."""
        return {**vars(self), "_step": None, "_rollout": None}


# -- a step and a rollout as functions -------------------------------------------------


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
        answer = policy(observation)
        actions, *extras = answer if isinstance(answer, tuple) else (answer,)
        state, (_, rewards, ended, _, _) = env_step(state, actions)
        return state, (*observation.values(), actions, tuple(extras), rewards, ended)

    return ply


def _repeated(ply: PlyFunction, plies: int, form: Form) -> PlyFunction:
    """Return a function of the state: the state after some plies, and the fields of a Rollout."""

    def play(state: State) -> tuple[State, Any]:
        rows = []
        for _ in range(plies):
            state, row = ply(state)
            rows.append(row)
        return state, (*tree_map(lambda *row: torch.stack(row), *rows), observe(state, form))

    return play


def _observe(state: State, rules: dict[str, Any], form: Form) -> tuple[Observed, dict[str, Tensor]]:
    """Return observation and info."""
    info = {"ply": state.plies.clone()}
    if rules["opponent"] is not None:
        info["seat"] = state.seats.clone()
    return observe(state, form), info


# -- compiling and CUDA graphs ---------------------------------------------------------


def record(run: Callable[[], None], device: Any, stream: Any = None) -> Callable[[], None]:
    """Record what a function does on a device, and return a function that does it again.

    On CUDA the function runs three times, is recorded as a CUDA graph, and is replayed from then
    on: without Python, on the same tensors. So it must read and write tensors that stay in place,
    and must not copy to the host. On other devices the result is the function itself.

    Args:
        run: what to record; its shapes, and which kernels it starts, must not change.
        device: an argument of ``torch.device``.
        stream: the CUDA stream to record on; None for a new one. Graphs that run at the same time
            need a stream each, since the matrix products of a stream share memory.
    """
    device = torch.device(device)
    if device.type != "cuda":
        return run
    with torch.cuda.device(device):
        side = stream or torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                run()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=side):
            run()
    replay: Callable[[], None] = graph.replay
    return replay


def _compiled(function: Any) -> Any:
    """Compile a function; its code is its own, as torch.compile keeps few versions of one code."""
    function.__code__ = function.__code__.replace()
    return torch.compile(function, dynamic=False)


def _recorded_step(env_step: StepFunction, state: State, actions: Tensor) -> StepFunction:
    """Record a step on actions that stay in place, and return a function that replays it."""
    fixed = actions.to(torch.int64, copy=True)
    recorded = _Recorded(lambda state: env_step(state, fixed), state)

    def replay(state: State, actions: Tensor) -> tuple[State, Any]:
        fixed.copy_(actions)
        state, results = recorded(state)
        return state, tree_map(torch.clone, results)

    return replay


class _Recorded:
    """A function of a state, on a state that stays in place, so that it can be recorded."""

    def __init__(self, function: PlyFunction, state: State) -> None:
        self._function = function
        self._state = State(*[tensor.clone() for tensor in state])
        self._results: Any = None
        self._replay = record(self._run, state.plies.device)

    def _run(self) -> None:
        state, self._results = self._function(self._state)
        self._copy(state)

    def _copy(self, state: State) -> None:
        for fixed, new in zip(self._state, state, strict=True):
            if fixed is not new:
                fixed.copy_(new)

    def __call__(self, state: State) -> tuple[State, Any]:
        """Return the next state and results, in tensors that the next call overwrites."""
        self._copy(state)
        self._replay()
        return self._state, self._results
