"""Many games of Connect Four in one step, as a Gymnasium ``VectorEnv``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NotRequired, TypedDict

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, DTypeLike, NDArray

from c4env.arrays import Bools, Float64s, Int8s, Int64s
from c4env.errors import InvalidOption, WrongOrder, require_integer

from ...bitboard import COLUMNS
from ...observation import Form, Observation
from ...position import Position
from ...view.rendering import DEFAULT_SCALING, ansi, rgb_array
from ...view.viewer import check_render_mode
from ..opponents import AnyOpponent, reset_opponent
from ..options import known_options, loses_when_illegal, parse_seed
from . import batch, chance, kernels
from .games import Arrays, Games

_RENDER_MODES: Final = ("rgb_array", "ansi")
_OPTIONS: Final = ("reset_mask", "moves", "position")


class VectorInfo(TypedDict):
    """The ``info`` of :class:`ConnectFourVectorEnv`; some keys are not always present.

    ``_final_obs`` and ``_final_info``, bool ``[N]``, mark the boards where a game ended.
    """

    ply: Int8s  # [N]
    seat: NotRequired[Int8s]  # [N]
    player_rewards: NotRequired[Float64s]  # [N, 2]
    final_obs: NotRequired[NDArray[np.object_]]  # [N]: an Observation, or None
    _final_obs: NotRequired[Bools]
    final_info: NotRequired[dict[str, NDArray[Any]]]
    _final_info: NotRequired[Bools]


class ConnectFourVectorEnv(VectorEnv[Observation, Int64s, NDArray[Any]]):
    """An environment of N boards, each with its own game.

    **Self-play form** (no opponent): a step is one ply of the side to move on each board,
    and the side to move next observes. The reward is for the player who moved;
    ``info["player_rewards"]`` holds the rewards of both players, the loser's -1 included. A sum of
    rewards over a game, as Gymnasium's ``RecordEpisodeStatistics`` reports it, is therefore 1 if
    either player won, 0 for a draw and -1 after an illegal move. The return of each player is in
    ``info["player_rewards"]`` at the step that ends the game.

    **Opponent form**: the caller plays its seat on each board, and the opponent replies within
    the step. Observations and rewards are the caller's.

    Observations are a dict of ``"observation"`` int8 ``[N, 6, 7, 2]`` (row 0 on top,
    plane 0 the observer's discs) and ``"action_mask"`` int8 ``[N, 7]``. The mask of a finished
    game is all zeros. With ``NEXT_STEP`` that mask is all ones: a policy must be able to sample the
    next action, which the environment ignores. Rewards are float64 ``[N]``: 1 for a win, -1
    for a loss or an illegal move, else 0.

    Info has ``"ply"`` int8 ``[N]``, the discs on the board; after a step
    ``"player_rewards"`` float64 ``[N, 2]``, of player 0 and player 1; and with an
    opponent ``"seat"`` int8 ``[N]``.

    ``metadata["autoreset_mode"]`` says how a board restarts after a game. ``NEXT_STEP``: the next
    step ignores the action and resets the board. ``SAME_STEP``: the step that ends a game starts
    the next; ``info["final_obs"]`` and ``info["final_info"]`` hold the end, as in Gymnasium.
    ``DISABLED``: the caller calls ``reset(options={"reset_mask": ...})``.

    Example:
        >>> envs = ConnectFourVectorEnv(256, opponent="greedy")
        >>> observation, info = envs.reset(seed=1)
        >>> observation, reward, over, _, info = envs.step(np.full(256, 3))
        >>> observation["observation"].shape
        (256, 6, 7, 2)
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # Gymnasium's declaration; replaced by each instance
        "render_modes": list(_RENDER_MODES),
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    # Made on first use; a class attribute, since Gymnasium closes half-made environments too.
    _executor: ThreadPoolExecutor | None = None

    def __init__(
        self,
        num_envs: int = 1,
        *,
        opponent: AnyOpponent = None,
        seat: int | str = "random",
        illegal: str = "lose",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        openings: Sequence[Position | str] | Position | str | None = None,
        layout: str = "planes_last",
        dtype: DTypeLike = "int8",
        copy: bool = True,
        threads: int = 1,
        render_mode: str | None = None,
        screen_scaling: int = DEFAULT_SCALING,
    ) -> None:
        """Make the boards; ``reset()`` starts their first games.

        Args:
            num_envs: number of boards.
            opponent: None for self-play; ``"random"`` for a random legal column; the name of
                another agent; an agent; a model; or a function that maps the observation of a
                board to a column. A function marked by ``c4env.batched`` maps the observations of
                M boards to M columns. A reset of all boards passes a seed to the method ``reset``
                of an agent or function.
            seat: the caller's player against an opponent: 0, 1, or ``"random"`` for each
                game.
            illegal: the effect of playing a full column: ``"lose"`` that game with reward -1 (the
                other player gets 0), or ``"raise"`` an error that leaves every board as it was,
                which helps to find mistakes.
            autoreset_mode: an ``AutoresetMode`` of Gymnasium, or its value such as ``"SameStep"``.
            openings: one or more positions or move strings; each game draws its start from them.
                None means the empty board.
            layout, dtype: the form of ``"observation"``; see ``c4env.observation``. An opponent
                still sees the planes in int8.
            copy: return new arrays from every call; with False every call reuses the same arrays.
            threads: the number of threads, in self-play and against ``"random"`` only; several
                threads are worthwhile from a few thousand boards on.
            render_mode: None, ``"rgb_array"`` or ``"ansi"``; ``render`` returns a tuple.
            screen_scaling: size of a picture; see ``c4env.view.rendering``.

        Raises:
            InvalidOption: an argument has an invalid value.
        """
        self._games = Games(num_envs, opponent, seat, openings)
        self.num_envs = self._games.size
        self._lose = loses_when_illegal(illegal)
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = [mode.value for mode in AutoresetMode]
            raise InvalidOption(
                f"autoreset_mode={autoreset_mode!r}: expected one of {modes}"
            ) from None
        check_render_mode(render_mode, _RENDER_MODES)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        ignores = self.autoreset_mode is AutoresetMode.NEXT_STEP  # the action after the end
        self._finished = kernels.ANY_COLUMN if ignores else kernels.NO_COLUMN
        self.render_mode = render_mode
        self._scaling = require_integer("screen_scaling", screen_scaling)
        self._form = Form(layout, dtype)
        self._copy = bool(copy)
        self._spans = batch.shares(self.num_envs, require_integer("threads", threads))
        if self._games.follower is not None and threads > 1:
            raise InvalidOption(f"threads={threads}: {opponent!r} plays in one thread")

        self.single_action_space = spaces.Discrete(COLUMNS)
        self.single_observation_space = self._form.space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

        self._started = False  # True after a reset, and False after a step that failed
        self._over = np.zeros(self.num_envs, np.bool_)  # games over at the start of a step
        self._arrays = Arrays.make(self.num_envs)  # returned by every call with copy=False

    @property
    def opponent(self) -> AnyOpponent:
        """The opponent as given, None in self-play. Assigning replaces it from its next move on."""
        return self._games.opponent

    @opponent.setter
    def opponent(self, opponent: AnyOpponent) -> None:
        self._games.set_opponent(opponent)

    # -- Gymnasium's methods --------------------------------------------------------------

    def reset(  # type: ignore[override]  # Gymnasium's info may hold anything
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observation, VectorInfo]:
        """Start new games.

        Args:
            seed: the seed of all draws (opponent's moves, seats, openings). Board i gets
                ``seed + i``, or the i-th of N seeds. A board without a seed continues its
                stream of random numbers. A board's games depend on its seed alone, unless
                the opponent is a function or a program that has random numbers of its own.
            options: ``"reset_mask"``, bool ``[N]``: the boards to start, while the others
                continue; ``"moves"`` or ``"position"``: one start for these boards (a move
                string, a position), or a list with one for each.

        Returns:
            Observation and info; see the class.

        Raises:
            InvalidOption: an option is unknown or invalid, a start is a finished game, or the
                opponent could end a game before the caller's first move.

        After OpponentFailed call ``reset()`` again; any other error leaves every game as it was.
        """
        games = self._games
        where, starts = self._parse_options(options)
        if not self._started and not where.all():
            raise WrongOrder("the first reset() has to start every board: leave out reset_mask")
        streams = self._parse_seed(seed, where)
        self._started = False  # until the opponent has answered
        games.streams = streams
        if games.follower is not None and where.all():
            reset_opponent(games.follower, int(streams[1, 0]) % 2**31)
        games.begin(where, 0, games.size)
        if starts is not None:
            games.boards[where] = starts[where]
        games.reply(0, games.size)
        self._started = True
        np.not_equal(games.results, kernels.ONGOING, out=self._over)
        arrays = self._outputs()
        self._share(functools.partial(games.write_observations, arrays, self._finished))
        return self._seen(arrays), self._info(arrays)

    def step(  # type: ignore[override]  # Gymnasium's info may hold anything
        self, actions: ArrayLike
    ) -> tuple[Observation, Float64s, Bools, Bools, VectorInfo]:
        """Play the caller's ply on every board, and the opponent's reply if there is one.

        Args:
            actions: integers ``[N]``, 0-based columns. ``NEXT_STEP`` ignores the actions on
                boards whose game has just ended.

        Returns:
            Observation, rewards, terminations, truncations (never true), info; see the class.

        Raises:
            WrongOrder: ``reset`` was never called.
            InvalidAction: the shape or dtype is wrong, or an action is not 0..6.
            IllegalMove: a column is full and ``illegal`` is ``"raise"``, or, with
                ``DISABLED``, a game is over.
            OpponentFailed: the opponent raised an error or returned an illegal column.

        An error names the board. After OpponentFailed call ``reset()``; any other error leaves
        every game as it was.
        """
        if not self._started:
            raise WrongOrder(
                "reset() needs to be called before step, and after a step that failed."
            )
        games = self._games
        played = batch.parse_actions(actions, games.size)
        skip = self.autoreset_mode is AutoresetMode.NEXT_STEP
        refused = kernels.first_refused(games.boards, games.results, played, skip, self._lose)
        if refused >= 0:
            raise batch.refusal(refused, games.boards, games.results, int(played[refused]))
        arrays = self._outputs()
        self._started = False  # until the opponent has answered
        final: Any = {}

        def turn(start: int, stop: int) -> None:
            games.play(played, start, stop)
            if self.autoreset_mode is AutoresetMode.NEXT_STEP:
                games.begin(self._over, start, stop)
            games.reply(start, stop)
            games.write_rewards(arrays, start, stop)
            if self.autoreset_mode is not AutoresetMode.SAME_STEP:
                games.write_observations(arrays, self._finished, start, stop)

        def again(start: int, stop: int) -> None:
            games.begin(arrays.terminations, start, stop)
            games.reply(start, stop)
            games.write_observations(arrays, self._finished, start, stop)

        self._share(turn)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            if ended := arrays.terminations.any():
                final = self._final(arrays)
            try:
                self._share(again)
            except BaseException:
                if ended and games.follower is not None:
                    games.follower.uncount()
                raise
        self._started = True
        np.not_equal(games.results, kernels.ONGOING, out=self._over)
        info: VectorInfo = {**self._info(arrays), "player_rewards": arrays.player_rewards, **final}
        return self._seen(arrays), arrays.rewards, arrays.terminations, arrays.truncations, info

    def render(self) -> tuple[Any, ...] | None:
        """Return a tuple with a picture of each board, or None without a render mode."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return tuple(map(ansi, self.positions()))
        return tuple(rgb_array(p, screen_scaling=self._scaling) for p in self.positions())

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if self._executor is not None:
            self._executor.shutdown()
            self._executor = None

    def positions(self) -> list[Position]:
        """The position on each board."""
        return batch.positions_of(self._games.boards)

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the threads; a copy starts its own."""
        return {**self.__dict__, "_executor": None}

    # -- helpers ----------------------------------------------------------------------------

    def _share(self, work: Callable[[int, int], None]) -> None:
        """Share the work on all boards among the threads."""
        if len(self._spans) == 1 or self._games.follower is not None:
            work(0, self.num_envs)
            return
        if self._executor is None:
            self._executor = ThreadPoolExecutor(len(self._spans))
        for future in [self._executor.submit(work, *span) for span in self._spans]:
            future.result()

    def _final(self, arrays: Arrays) -> dict[str, Any]:
        """Return final observations and info, in Gymnasium's form, of games that restart now."""
        games, ended = self._games, arrays.terminations
        at = np.flatnonzero(ended)
        seen = batch.observed(games.boards[at], games.results[at], games.seats[at])
        planes, masks = self._form(seen["observation"]), seen["action_mask"]
        each = (
            {"observation": one, "action_mask": mask}
            for one, mask in zip(planes, masks, strict=True)
        )
        final = np.empty(self.num_envs, object)  # of None
        final[at] = np.fromiter(each, object, len(at))
        info: dict[str, Any] = {
            "ply": kernels.plies_of(games.boards) * ended,
            "player_rewards": arrays.player_rewards.copy(),
        }
        if not games.self_play:
            info["seat"] = games.seats * ended
        info |= {f"_{key}": ended.copy() for key in info}
        return {
            "final_obs": final,
            "_final_obs": ended.copy(),
            "final_info": info,
            "_final_info": ended.copy(),
        }

    def _seen(self, arrays: Arrays) -> Observation:
        planes = self._form(kernels.as_planes(arrays.words))
        return {"observation": planes, "action_mask": arrays.masks}

    def _outputs(self) -> Arrays:
        return Arrays.make(self.num_envs) if self._copy else self._arrays

    def _info(self, arrays: Arrays) -> VectorInfo:
        info: VectorInfo = {"ply": arrays.plies}
        if not self._games.self_play:
            info["seat"] = arrays.seats
        return info

    def _parse_options(self, options: Mapping[str, Any] | None) -> tuple[Bools, Int64s | None]:
        """Return the boards to start, and boards with their start positions if given."""
        options = known_options(options, _OPTIONS, ", ".join(_OPTIONS))
        where = batch.parse_where(options.get("reset_mask"), self.num_envs)
        start = options.get("moves", options.get("position"))
        return where, None if start is None else self._games.parse_starts(start, where)

    def _parse_seed(self, seed: Any, where: Bools) -> Int64s:
        """Return the streams of random numbers after seeding the chosen boards."""
        size = self.num_envs
        several = getattr(seed, "ndim", 0) > 0 or (
            isinstance(seed, Sequence) and not isinstance(seed, str)
        )
        if several:
            each = [parse_seed(value) for value in seed]
            if len(each) != size:
                raise InvalidOption(f"{len(each)} seeds: expected one number or {size} of them")
            given = where & np.array([value is not None for value in each])
            seeds = np.array([(value or 0) % 2**64 for value in each], np.uint64)
        else:
            number = parse_seed(seed)
            super().reset(seed=number)
            given = where & (number is not None)
            seeds = np.arange(size, dtype=np.uint64) + np.uint64((number or 0) % 2**64)
        if self._started:
            streams = self._games.streams.copy()
        else:
            drawn = self.np_random.integers(2**63, size=size, dtype=np.uint64)
            streams = chance.both_streams(drawn)
        streams[:, given] = chance.both_streams(seeds[given])
        return streams
