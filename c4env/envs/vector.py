"""Many games of Connect Four in one step, as a Gymnasium ``VectorEnv``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, DTypeLike, NDArray

from c4env.arrays import Bools, Float64s, Int8s, Int64s
from c4env.envs import batch, kernels
from c4env.envs.opponents import (
    AnyOpponent,
    agent_of,
    exact_rewards,
    require_same_play,
    reset_opponent,
)
from c4env.envs.starts import (
    check_options,
    loses_when_illegal,
    parse_autoreset,
    parse_openings,
    parse_player,
    parse_seed,
    parse_where,
    require_starts,
    starts_in,
)
from c4env.envs.streams import both_streams
from c4env.errors import InvalidAction, InvalidOption, OpponentFailed, WrongOrder, require_integer
from c4env.observation import Form, Observation
from c4env.openings import Openings
from c4env.position import Position
from c4env.render import VIDEO_SCALING, ansi, check_render_mode, rgb_array
from c4env.rules import CELLS, COLUMNS, ROWS

_RENDER_MODES: Final = ("rgb_array", "ansi")
_MASKS: Final = ("observation", "info")
_OPTIONS: Final = ("reset_mask", "moves", "position", "seat")
_THEN_RESET: Final = "; then call reset()"  # ends a message: the step is not undone


class Arrays(NamedTuple):
    """The arrays that a step fills and returns."""

    words: NDArray[np.int32]  # [N, 21], the planes
    masks: Int8s  # [N, 7]
    plies: Int64s  # [N]
    rewards: Float64s  # [N]
    player_rewards: Float64s  # [N, 2]
    terminations: Bools  # [N]
    truncations: Bools  # [N], never true
    winners: Int64s  # [N]
    illegal: Bools  # [N]
    winning_cells: Int8s  # [N, 42]


class ConnectFourVectorEnv(VectorEnv[Any, Int64s, NDArray[Any]]):
    """An environment of N boards, each with its own game.

    **Self-play form** (no opponent): a step is one ply of the side to move on each board, and the
    observation is for the side to move next. The reward is for the player who moved, and
    ``info["player_rewards"]`` holds the rewards of both players in every mode of autoreset. The sum
    of rewards over a game, which Gymnasium's ``RecordEpisodeStatistics`` reports, is 1 if either
    player won, 0 for a draw and -1 after an illegal move.

    **Opponent form**: the opponent replies within the step, and observations are the caller's.

    An observation is a dict of ``"observation"`` int8 ``[N, 6, 7, 2]`` (row 0 on top, plane 0 the
    observer's discs) and ``"action_mask"`` int8 ``[N, 7]``, which is all ones after a game. Rewards
    are float64 ``[N]``: 1 for a win, -1 for a loss or an illegal move, else 0.

    Info has these keys in Gymnasium's form: ``"_key"`` is bool ``[N]``, True for the boards that
    have ``"key"``, and ``"key"`` is 0 for the other boards.

    - ``"ply"`` int64 ``[N]``: the discs on the board; a reset reports the boards that it started;
    - ``"seat"`` int64 ``[N]``, with an opponent: the caller's player;
    - ``"player_rewards"`` float64 ``[N, 2]``, after a step in self-play;
    - ``"winner"`` int64 ``[N]`` (0, 1, or -1 for a draw), ``"winning_cells"`` int8 ``[N, 6, 7]``
      and ``"illegal"`` bool ``[N]``, once a game is over, as in ``ConnectFourEnv``;
    - ``"exact_reward"`` float64 ``[N]``, after a step with ``exact_reward=True``.

    ``metadata["autoreset_mode"]`` says how a board restarts after a game:

    - ``NEXT_STEP``: the next step ignores the action and resets the board.
    - ``SAME_STEP``: the step that ends a game starts the next game. ``info["final_obs"]`` (an
      object array) and ``info["final_info"]`` hold the end of the old game.
    - ``DISABLED``: the caller calls ``reset(options={"reset_mask": ...})``.

    With ``action_mask="info"``, an opponent, ``layout="flat"`` and ``dtype="float32"``, as
    ``gymnasium.make_vec("c4env/ConnectFour-v0", N)`` makes it, everything equals what
    ``gymnasium.vector.SyncVectorEnv`` returns for N objects of ``ConnectFourEnv`` with the same
    seeds. The results differ if the opponent, which serves all boards, draws its own random
    numbers.

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

    def __init__(
        self,
        num_envs: int = 1,
        *,
        opponent: AnyOpponent = None,
        seat: int | str = "random",
        illegal: str = "lose",
        exact_reward: bool = False,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        openings: Openings | None = None,
        layout: str = "planes_last",
        dtype: DTypeLike = "int8",
        action_mask: str = "observation",
        copy: bool = True,
        render_mode: str | None = None,
        screen_scaling: int = VIDEO_SCALING,
    ) -> None:
        """Make the boards; ``reset()`` starts their first games.

        Args:
            num_envs: number of boards.
            opponent: None for self-play; else as for ``ConnectFourEnv``. A network answers for M
                boards at once. If an agent or function has a method ``reset``, a reset of all
                boards passes a seed to it.
            seat, openings: as for ``ConnectFourEnv``; in self-play the seat has no effect.
            illegal: the effect of playing a full column: ``"lose"`` that game with reward -1 (the
                other player gets 0), or ``"raise"`` an error that leaves every board as it was,
                which helps to find mistakes.
            exact_reward: as for ``ConnectFourEnv``; the solver rates thousands of moves per second.
            autoreset_mode: an ``AutoresetMode`` of Gymnasium, or its value such as ``"SameStep"``.
            layout, dtype: the form of ``"observation"``; see ``c4env.observation``. An opponent
                still sees the planes in int8.
            action_mask: where the masks are. ``"observation"``: an observation is a dict with the
                planes and the masks. ``"info"``: info has the masks, and an observation is only the
                array of the planes, as in ``ConnectFourEnv``.
            copy: whether every call returns new arrays. With False every call reuses the same
                arrays.
            render_mode: None, ``"rgb_array"`` or ``"ansi"``; ``render`` returns a tuple.
            screen_scaling: as for ``ConnectFourEnv``.

        Raises:
            InvalidOption: an argument has an invalid value.
        """
        self.num_envs = require_integer("num_envs", num_envs)
        self._board = Position()  # another board refuses a pickle of it
        self._self_play = opponent is None
        self.opponent = opponent
        self._player = parse_player(self._self_play, seat)
        self._openings = batch.bitboards(parse_openings(openings, self._player))
        self._lose = loses_when_illegal(illegal)
        self._exact = exact_rewards(exact_reward)
        if action_mask not in _MASKS:
            raise InvalidOption(f"action_mask={action_mask!r}: expected one of {list(_MASKS)}")
        self._mask_in_info = action_mask == "info"
        self.autoreset_mode = parse_autoreset(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        check_render_mode(render_mode, _RENDER_MODES)
        self.render_mode = render_mode
        self._scaling = require_integer("screen_scaling", screen_scaling)
        self._form = Form(layout, dtype)
        self._copy = bool(copy)
        self.single_action_space = spaces.Discrete(COLUMNS)
        space = self._form.space
        self.single_observation_space = space["observation"] if self._mask_in_info else space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._make_boards()

    def _make_boards(self) -> None:
        size = self.num_envs
        self._boards = np.zeros((size, 2), np.int64)
        self._results = np.zeros(size, np.int8)
        self._seats = np.full(size, -1, np.int8)
        self._state = self._boards, self._results, self._seats  # first arguments of the kernels
        self._all_boards = np.ones(size, np.bool_)
        self._streams = np.full((2, size), -1)  # for starts, for the opponent; -1: none yet
        self._started = False  # True after a reset, and False after a step that failed
        self._over = np.zeros(size, np.bool_)  # games over at the start of a step
        self._arrays = self._outputs(True)  # returned by every call with copy=False

    @property
    def opponent(self) -> AnyOpponent:
        """The caller's opponent, None in self-play. A new opponent plays from its next move on."""
        return self._opponent

    @opponent.setter
    def opponent(self, opponent: AnyOpponent) -> None:
        require_same_play(self._self_play, opponent)
        # None in self-play, and for "random", whose moves a kernel plays.
        self._agent, self._opponent = agent_of(opponent), opponent
        if self._agent is not None:
            self._games = self._agent.games(self.num_envs)

    @property
    def np_random(self) -> np.random.Generator:
        """Gymnasium's generator. A generator assigned here gives new seeds to all draws at once."""
        return super().np_random

    @np_random.setter
    def np_random(self, generator: np.random.Generator) -> None:
        self._np_random, self._np_random_seed = generator, -1
        self._streams = self._drawn_streams()

    @property
    def _of_single_environments(self) -> NoReturn:
        raise AttributeError(
            "the boards are one object without call, get_attr and set_attr: read the masks from "
            "the observation or info, or use gymnasium.make_vec(..., vectorization_mode='sync')"
        )

    call = get_attr = set_attr = _of_single_environments

    # -- Gymnasium's methods -----------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start new games.

        Args:
            seed: the seed of all draws (opponent's moves, seats, openings). Board i gets
                ``seed + i``, or the i-th of N seeds. A board without a seed continues its
                stream of random numbers. A board's games depend only on its seed, unless the
                opponent is a function or a program that draws its own random numbers.
            options: ``"reset_mask"``, bool ``[N]``: the boards to start, while the other boards
                continue. ``"moves"`` or ``"position"``: one start for these boards (a move string
                or a position), or a list with one start for each board. ``"seat"``, against an
                opponent: the caller's player in these games.

        Returns:
            Observation and info; see the class.

        Raises:
            InvalidOption: an option is unknown or invalid, a start is a finished game, or the
                opponent could end a game before the caller's first move.

        After OpponentFailed call ``reset()`` again; any other error leaves every game as it was.
        """
        where, starts, player = self._parse_options(options)
        if not self._started and not where.all():
            raise WrongOrder("the first reset() has to start every board: leave out reset_mask")
        streams = self._parse_seed(seed, where)
        self._started = False  # until the opponent has answered
        self._streams = streams
        if self._agent is not None and where.all():
            reset_opponent(self._agent, int(streams[1, 0]) % 2**31)
        self._begin(where, player)
        if starts is not None:
            self._boards[where] = starts[where]
        self._reply()
        arrays = self._outputs(self._copy)
        observation, masks = self._observe(arrays), arrays.masks
        if self._mask_in_info and not where.all():
            masks[~where] = 0
        return observation, self._info(where, arrays.plies * where, masks)

    def step(self, actions: ArrayLike) -> tuple[Any, Float64s, Bools, Bools, dict[str, Any]]:
        """Play the caller's ply on every board, and the opponent's reply if there is one.

        Args:
            actions: integers ``[N]``, 0-based columns. ``NEXT_STEP`` ignores the actions on
                boards whose game has just ended.

        Returns:
            Observation, rewards, terminations, truncations (never true), info; see the class.

        Raises:
            WrongOrder: ``reset`` was never called, or a step failed because of the opponent.
            InvalidAction: the shape or dtype is wrong, or an action is not 0..6.
            IllegalMove: a column is full and ``illegal`` is ``"raise"``, or, with
                ``DISABLED``, a game is over.
            OpponentFailed: the opponent raised an error or returned an illegal column.

        An error names the board. After OpponentFailed call ``reset()``; any other error leaves
        every game as it was.
        """
        if not self._started:
            raise WrongOrder("reset() needs to be called before step, and after a failed step.")
        columns = batch.parse_actions(actions, self.num_envs)
        boards, results, mode = self._boards, self._results, self.autoreset_mode
        skip = mode is AutoresetMode.NEXT_STEP
        refused = kernels.first_refused(boards, results, columns, skip, self._lose)
        if refused >= 0:
            raise batch.action_error(refused, boards, results, int(columns[refused]))
        exact, playing = None, ~self._over
        if self._exact is not None:
            exact = np.zeros(self.num_envs)
            exact[playing] = self._exact(boards[playing], columns[playing])
        self._started = False  # until the opponent has answered
        kernels.play(boards, results, columns)
        if skip:
            self._begin(self._over, self._player)
        self._reply()
        arrays = self._outputs(self._copy)
        ends = arrays.winners, arrays.illegal, arrays.winning_cells
        rewards, both, ended = arrays.rewards, arrays.player_rewards, arrays.terminations
        info: dict[str, Any] = {}
        if kernels.write_results(*self._state, rewards, both, ended, *ends):
            info = self._ends(arrays, exact)
        observation = self._observe(arrays)
        info |= self._info(self._all_boards, arrays.plies, arrays.masks, both)
        if exact is not None:  # for a move that ends a game in SAME_STEP, final_info has it
            where = playing & ~(ended & (mode is AutoresetMode.SAME_STEP))
            if where.any():  # else, as in Gymnasium's environments, the key is missing
                info |= _marked({"exact_reward": exact * where}, where)
        return observation, rewards, ended, arrays.truncations, info

    def render(self) -> tuple[Any, ...] | None:
        """Return a tuple with a picture of each board; None if there is no render mode."""
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return tuple(map(ansi, self.positions()))
        return tuple(rgb_array(p, screen_scaling=self._scaling) for p in self.positions())

    def positions(self) -> list[Position]:
        """The position on each board."""
        return batch.positions_of(self._boards)

    # -- the games ---------------------------------------------------------------------

    def _begin(self, where: Bools, player: int) -> None:
        """Start games on chosen boards, without the opponent's first move."""
        kernels.begin(*self._state, self._streams[0], self._openings, player, where)
        if self._agent is not None and len(new := np.flatnonzero(where)):
            self._games.begin(new, self._streams[1, new])

    def _reply(self) -> None:
        """Play the opponent's ply on every board where the opponent is to move."""
        if self._self_play:
            return
        if self._agent is None:
            kernels.reply(*self._state, self._streams[1])
            return
        waiting, seeds = kernels.waiting(*self._state, self._streams[1])
        if not len(waiting):
            return
        boards, results = self._boards.take(waiting, 0), self._results.take(waiting)
        try:
            answer = self._games.choose(waiting, boards, seeds)
            actions = batch.parse_actions(answer, len(waiting))
        except Exception as error:
            is_ours = isinstance(error, OpponentFailed | InvalidAction)
            raised = "" if is_ours else f" raised {type(error).__name__}"
            where = ", ".join(map(str, waiting[:8].tolist())) + ", ..." * (len(waiting) > 8)
            raise OpponentFailed(
                f"the opponent{raised} on boards {where}: {error}{_THEN_RESET}"
            ) from error
        refused = kernels.first_refused(boards, results, actions, False, False)
        if refused >= 0:
            board, action = int(waiting[refused]), int(actions[refused])
            why = batch.action_error(board, self._boards, self._results, action)
            raise OpponentFailed(f"the opponent's move: {why}{_THEN_RESET}")
        kernels.play(boards, results, actions)
        self._boards[waiting], self._results[waiting] = boards, results

    # -- what is returned --------------------------------------------------------------

    def _outputs(self, new: bool) -> Arrays:
        """Return arrays for the results of a call."""
        if not new:
            return self._arrays
        size = self.num_envs
        return Arrays(
            np.empty((size, kernels.WORDS), np.int32),
            np.empty((size, COLUMNS), np.int8),
            np.empty(size, np.int64),
            np.empty(size, np.float64),
            np.empty((size, 2), np.float64),
            np.empty(size, np.bool_),
            np.zeros(size, np.bool_),
            np.empty(size, np.int64),
            np.empty(size, np.bool_),
            np.empty((size, CELLS), np.int8),
        )

    def _observe(self, arrays: Arrays) -> Any:
        """Write the observations and return them; from now on a step is allowed."""
        kernels.observe(*self._state, arrays.words, arrays.masks, arrays.plies)
        self._started = True
        np.not_equal(self._results, kernels.ONGOING, out=self._over)
        planes = self._form(kernels.as_planes(arrays.words))
        if self._mask_in_info:
            return planes
        return {"observation": planes, "action_mask": arrays.masks}

    def _info(
        self, where: Bools, plies: Int64s, masks: Int8s, player_rewards: Float64s | None = None
    ) -> dict[str, Any]:
        """Return the info that a game has at any time, with zeros on boards not in ``where``."""
        info: dict[str, Any] = {"ply": plies}
        if not self._self_play:
            info["seat"] = (self._seats * where).astype(np.int64)
        elif player_rewards is not None:
            info["player_rewards"] = player_rewards
        if self._mask_in_info:
            info["action_mask"] = masks
        return _marked(info, where)

    def _ends(self, arrays: Arrays, exact: Float64s | None) -> dict[str, Any]:
        """Return the info of games that end now; with ``SAME_STEP`` begin the next games."""
        ended, where = arrays.terminations, np.flatnonzero(arrays.terminations)
        if self._agent is not None:
            self._games.end(where, arrays.rewards[where])
        cells = arrays.winning_cells.reshape(-1, ROWS, COLUMNS)
        info = {"winner": arrays.winners, "illegal": arrays.illegal, "winning_cells": cells}
        info = _marked(info, ended)
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            return info
        boards = self._boards.take(where, 0)
        last = batch.observed(boards, self._seats.take(where))
        plies, final = np.zeros(self.num_envs, np.int64), np.empty(self.num_envs, object)
        plies[where] = batch.discs_on(boards)
        final[where] = self._by_board(last)
        masks = np.zeros((self.num_envs, COLUMNS), np.int8)
        masks[where] = 1
        info |= self._info(ended, plies, masks, arrays.player_rewards)
        if exact is not None:
            info |= _marked({"exact_reward": exact * ended}, ended)
        self._begin(ended, self._player)
        self._reply()
        return _marked({"final_obs": final, "final_info": info}, ended)

    def _by_board(self, last: Observation) -> NDArray[np.object_]:
        """Return the observation of each of M boards whose games are over."""
        boards = list(self._form(last["observation"]))
        if not self._mask_in_info:
            masks = np.ones((len(boards), COLUMNS), np.int8)
            boards = [
                {"observation": board, "action_mask": mask}
                for board, mask in zip(boards, masks, strict=True)
            ]
        return np.fromiter(boards, object, len(boards))

    # -- arguments ---------------------------------------------------------------------

    def _parse_options(self, options: Mapping[str, Any] | None) -> tuple[Bools, Int64s | None, int]:
        """Return the boards to start, their start positions or None, and the caller's player."""
        names = _OPTIONS[:-1] if self._self_play else _OPTIONS
        options = check_options(options, names)
        where = parse_where(options.get("reset_mask"), self.num_envs)
        player = self._player
        if "seat" in options:
            player = parse_player(self._self_play, options["seat"])
        positions = starts_in(options, int(where.sum()))
        if positions is None:
            if player != self._player:
                require_starts(batch.positions_of(self._openings), player)
            return where, None, player
        require_starts(positions, player)
        boards = np.zeros_like(self._boards)
        boards[where] = batch.bitboards(positions)
        return where, boards, player

    def _parse_seed(self, seed: Any, where: Bools) -> Int64s:
        """Return the streams of random numbers after seeding the chosen boards."""
        size = self.num_envs
        several = getattr(seed, "ndim", 0) > 0 or (
            isinstance(seed, Sequence) and not isinstance(seed, str)
        )
        if several:
            numbers = [parse_seed(value) for value in seed]
            if len(numbers) != size:
                raise InvalidOption(f"{len(numbers)} seeds: expected one number or {size} of them")
            seeded = where & np.array([number is not None for number in numbers])
            seeds = np.array([(number or 0) % 2**64 for number in numbers], np.uint64)
        else:
            number = parse_seed(seed)
            super().reset(seed=number)
            seeded = where & (number is not None)
            seeds = np.arange(size, dtype=np.uint64) + np.uint64((number or 0) % 2**64)
        streams = self._streams.copy() if self._streams[0, 0] >= 0 else self._drawn_streams()
        streams[:, seeded] = both_streams(seeds[seeded])
        return streams

    def _drawn_streams(self) -> Int64s:
        return both_streams(self.np_random.integers(2**63, size=self.num_envs, dtype=np.uint64))


def _marked(info: dict[str, Any], where: Bools) -> dict[str, Any]:
    """Return info in Gymnasium's form, in which ``_key`` marks the boards that have the key."""
    where = where.copy()
    return info | {f"_{key}": where for key in info}
