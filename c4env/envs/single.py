"""One player of Connect Four against an opponent, for ``gymnasium.make`` and ``make_vec``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, NotRequired, SupportsInt, TypedDict

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from c4env.arrays import Bools, Int8s
from c4env.envs.opponents import AnyOpponent, agent_of, exact_rewards, reset_opponent
from c4env.envs.starts import (
    check_keywords,
    check_options,
    last_move,
    loses_when_illegal,
    parse_openings,
    parse_player,
    parse_seed,
    require_starts,
    starts_in,
)
from c4env.envs.streams import RANDOM_SEAT, below, both_streams, next_random
from c4env.errors import IllegalMove, InvalidAction, OpponentFailed, WrongOrder
from c4env.observation import Form, observe
from c4env.openings import Openings
from c4env.position import Position, parse_column
from c4env.render import RENDER_MODES, VIDEO_SCALING, Viewer
from c4env.rules import COLUMNS, ROWS

_BOARD: Final = np.zeros(1, np.int64)  # the number of the only board


class Info(TypedDict):
    """The ``info`` of :class:`ConnectFourEnv`; some keys exist only after the game."""

    action_mask: Int8s  #: (7,)
    ply: int
    seat: int
    exact_reward: NotRequired[float]
    illegal: NotRequired[bool]
    winner: NotRequired[int]
    winning_cells: NotRequired[Int8s]  #: (6, 7)


class ConnectFourEnv(gymnasium.Env[NDArray[Any], Any]):
    """An environment in which the caller plays one seat and the opponent replies within ``step``.

    The action is a 0-based column, ``Discrete(7)``. The observation is a Box with the planes of
    ``c4env.observe`` (row 0 on top, plane 0 the caller's discs) in the form that ``layout`` and
    ``dtype`` give, by default float32 ``(84,)``. The reward is 1 if the caller wins, -1 if the
    caller loses, else 0. If the opponent's reply wins, the caller's move gets the -1.

    Info has these keys:

    - ``"action_mask"`` int8 ``(7,)``: 1 for each legal column; all ones once the game is over;
    - ``"ply"``: the discs on the board;
    - ``"seat"``: the caller's player;
    - ``"winner"``, once the game is over: 0, 1, or -1 for a draw;
    - ``"winning_cells"`` int8 ``(6, 7)``, once the game is over: 1 for the discs of the winning
      line or lines (row 0 on top);
    - ``"illegal"``, once the game is over: True after the caller's illegal move;
    - ``"exact_reward"``, after a step with ``exact_reward=True``: 1, 0 or -1, the reward that
      ``c4env.agents.rewards.keeps`` gives the caller's move.

    The seed of a ``reset`` decides the openings, the seats and the opponent's random moves, as it
    does on a board of ``ConnectFourVectorEnv``. An opponent with a method ``reset`` gets a seed
    before each game.

    Example:
        >>> env = ConnectFourEnv(opponent="greedy", seat=0)
        >>> observation, info = env.reset(seed=1)
        >>> observation, reward, over, _, info = env.step(3)
        >>> info["ply"]
        2
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # Gymnasium has it per instance
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
    }

    def __init__(
        self,
        opponent: AnyOpponent = None,
        seat: int | str = "random",
        *,
        openings: Openings | None = None,
        layout: str = "flat",
        dtype: DTypeLike = "float32",
        illegal: str = "lose",
        exact_reward: bool = False,
        render_mode: str | None = None,
        screen_scaling: int = VIDEO_SCALING,
    ) -> None:
        """Make an environment; ``reset()`` starts its first game.

        Args:
            opponent: None or ``"random"`` for a random legal column; the name of another agent;
                an agent; a network, such as a function marked by ``c4env.batched``; or a function
                that maps an observation, a dict as from ``c4env.observe``, to a column.
            seat: the caller's player: 0 (begins), 1, or ``"random"`` for each game.
            openings: the positions from which each game draws its start, as for
                ``c4env.list_openings``: a number of plies; moves such as ``"44"``; a position; a
                list of moves and positions; ``"balanced:4,2"``; ``"exam"``; or the path of a file.
                None means the empty board. Openings in which the opponent could end the game with
                its first move are left out, with a warning.
            layout, dtype: the form of the observation; see ``c4env.observation``. The default
                dtype, float32, fits networks.
            illegal: the effect of playing a full column: ``"lose"`` the game with reward -1, or
                ``"raise"`` an error and leave the game as it was, which helps to find mistakes.
            exact_reward: whether ``info`` has the exact reward of each move, from the solver.
            render_mode: None, ``"human"`` (a window; needs ``pygame-ce``),
                ``"rgb_array"`` or ``"ansi"``.
            screen_scaling: size of a picture; see ``c4env.render``. A video needs an even number.

        Raises:
            InvalidOption: an argument has an invalid value, or the opponent could end a game before
                the caller's first move.
        """
        self.opponent = opponent
        self._player = parse_player(False, seat)
        self._openings = parse_openings(openings, self._player)
        self._lose = loses_when_illegal(illegal)
        self._exact = exact_rewards(exact_reward)
        self._exact_reward: float | None = None  # of the caller's last move
        self._form = Form(layout, dtype)
        self._viewer = Viewer(render_mode, screen_scaling)
        self.render_mode = render_mode
        self.observation_space = self._form.space["observation"]
        self.action_space = spaces.Discrete(COLUMNS)
        self._position = Position()
        self._last: int | None = None
        self._seat = 0
        self._state = "new"  # then "playing", then "over"
        self._forfeited = False
        # Random streams for starts and for the opponent; see c4env.envs.streams.
        self._starts = self._replies = -1

    @property
    def opponent(self) -> AnyOpponent:
        """The caller's opponent. An opponent assigned here plays from its next move on."""
        return self._opponent

    @opponent.setter
    def opponent(self, opponent: AnyOpponent) -> None:
        self._agent, self._opponent = agent_of(opponent), opponent
        if self._agent is not None:
            self._games = self._agent.games(1)

    def set_opponent(self, opponent: AnyOpponent) -> None:
        """Set :attr:`opponent`, even through wrappers.

        With Stable-Baselines3, call ``envs.env_method("set_opponent", opponent)``. Its ``set_attr``
        would only set an attribute of the outermost wrapper, and the opponent would stay.
        """
        self.opponent = opponent

    @property
    def np_random(self) -> np.random.Generator:
        """Gymnasium's generator. A generator assigned here gives a new seed to all draws."""
        return super().np_random

    @np_random.setter
    def np_random(self, generator: np.random.Generator) -> None:
        self._np_random, self._np_random_seed = generator, -1
        self._seed_streams(int(generator.integers(2**63)))

    @property
    def position(self) -> Position:
        """The board and the side to move, as a ``Position``."""
        return self._position

    @property
    def seat(self) -> int:
        """The caller's player in this game, 0 or 1."""
        return self._seat

    def reset(  # type: ignore[override]  # Gymnasium's info may hold anything
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[Any], Info]:
        """Start a game; an opponent that begins has already moved.

        Args:
            seed: the seed of all draws; None continues the random numbers.
            options: ``"seat"``: 0, 1 or ``"random"`` for this game. ``"moves"`` (1-based columns)
                or ``"position"``: the start of this game, instead of an opening.

        Returns:
            Observation and info; see the class.

        Raises:
            InvalidOption: an option is unknown or invalid, the start is a finished game, or
                the opponent could end the game before the caller's first move.
            OpponentFailed: the opponent raised an error or returned an illegal column. Then call
                ``reset()`` again. Any other error leaves the game and its random streams as they
                were.
        """
        number = parse_seed(seed)
        player, start, last = self._parse_options(options)
        self._state = "new"  # until the opponent has answered
        super().reset(seed=number)
        if number is None and self._starts < 0:
            number = int(self.np_random.integers(2**63))
        if number is not None:
            self._seed_streams(number)
        openings = self._openings
        opening = openings[self._draw(len(openings)) if len(openings) > 1 else 0]
        seat = self._draw(2) if player == RANDOM_SEAT else player
        position = opening if start is None else start
        if self._agent is not None:
            reset_opponent(self._agent, self._replies % 2**31)
            self._games.begin(_BOARD, np.array([self._replies]))
        if seat != position.to_move:
            position, last = self._reply(position)
        self._position, self._last, self._seat = position, last, seat
        self._state, self._forfeited, self._exact_reward = "playing", False, None
        if self.render_mode == "human":
            self.render()
        return self._observe()

    def step(  # type: ignore[override]  # Gymnasium's info may hold anything
        self, action: SupportsInt
    ) -> tuple[NDArray[Any], float, bool, bool, Info]:
        """Play the caller's move and the opponent's reply.

        Args:
            action: a 0-based column.

        Returns:
            Observation, reward, terminated, truncated (never true), info; see the class.

        Raises:
            WrongOrder: ``reset`` was never called; or the game is over.
            InvalidAction: the action is not an integer 0..6.
            IllegalMove: the column is full, and ``illegal`` is ``"raise"``.
            OpponentFailed: the opponent raised an error or returned an illegal column.

        An error leaves the game as it was, without the caller's move.
        """
        if self._state != "playing":
            raise self._wrong_order()
        last = parse_column(action)
        try:
            position = self._position.play(last)
        except IllegalMove:
            if not self._lose:
                raise
            return self.forfeit()
        exact = None
        if self._exact is not None:
            board = np.array([(self._position.mine, self._position.theirs)], np.int64)
            exact = float(self._exact(board, np.array([last]))[0])
        if position.outcome is None:
            position, last = self._reply(position)
        self._position, self._last, self._exact_reward = position, last, exact
        reward = 0.0
        if position.outcome is not None:
            if position.outcome.winner is not None:
                reward = 1.0 if position.outcome.winner == self._seat else -1.0
            self._finish(reward)
        if self.render_mode == "human":
            self.render()
        observation, info = self._observe()
        return observation, reward, self._state == "over", False, info

    def forfeit(self) -> tuple[NDArray[Any], float, bool, bool, Info]:
        """Lose the game, as an illegal action does, and return the values of ``step``.

        Raises:
            WrongOrder: ``reset`` was never called; or the game is over.
        """
        if self._state != "playing":
            raise self._wrong_order()
        self._forfeited = True
        self._exact_reward = None if self._exact is None else -1.0
        self._finish(-1.0)
        observation, info = self._observe()
        return observation, -1.0, True, False, info

    def action_masks(self) -> Bools:
        """Return the caller's legal columns, bool ``(7,)``; sb3-contrib calls this method.

        Before the first game and after a game, all columns are True, as in info.
        """
        legal = self._position.legal_columns() if self._state == "playing" else range(COLUMNS)
        mask = np.zeros(COLUMNS, np.bool_)
        mask[list(legal)] = True
        return mask

    def render(self) -> Any:
        """Return the board as pixels or text, or show it in a window and return None.

        Raises:
            WrongOrder: ``reset`` was never called.
        """
        if self._state == "new":
            raise WrongOrder("reset() needs to be called before render.")
        return self._viewer.render(self._position, self._last, self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window if there is one; the game continues."""
        self._viewer.close()

    def _parse_options(
        self, options: Mapping[str, Any] | None
    ) -> tuple[int, Position | None, int | None]:
        """Return the caller's player, the start position or None, and the last move or None."""
        if options is None:
            return self._player, None, None
        options = check_options(options, ("moves", "position", "seat"))
        player = parse_player(False, options["seat"]) if "seat" in options else self._player
        starts = starts_in(options)
        require_starts(starts or self._openings, player)
        return player, starts[0] if starts else None, last_move(options)

    def _wrong_order(self) -> WrongOrder:
        if self._state == "new":
            return WrongOrder("reset() needs to be called before step.")
        return WrongOrder("step() after the end of the game: reset() first")

    def _finish(self, reward: float) -> None:
        self._state = "over"
        if self._agent is not None:
            self._games.end(_BOARD, np.array([reward]))

    def _seed_streams(self, seed: int) -> None:
        seeds = np.array([seed % 2**64], np.uint64)
        self._starts, self._replies = both_streams(seeds)[:, 0].tolist()

    def _draw(self, count: int) -> int:
        """Draw a number below ``count`` for the start of a game."""
        self._starts = next_random(self._starts)
        return below(self._starts, count)

    def _reply(self, position: Position) -> tuple[Position, int]:
        """Return the position after the opponent's move, and the column of the move."""
        seed = next_random(self._replies)
        if self._agent is None:
            columns = position.legal_columns()
            column = columns[below(seed, len(columns))]
            position = position.play(column)
        else:
            try:
                column = self._games.choose_one(position, seed)
                position = position.play(column)
            except Exception as error:
                is_ours = isinstance(error, OpponentFailed | InvalidAction | IllegalMove)
                what = "'s move" if is_ours else f" raised {type(error).__name__}"
                raise OpponentFailed(f"the opponent{what} in {position!r}: {error}") from error
        self._replies = seed
        return position, column

    def _observe(self) -> tuple[NDArray[Any], Info]:
        """Return observation and info."""
        position = self._position
        observation = observe(position, self._seat)
        info: Info = {
            "action_mask": observation["action_mask"],
            "ply": position.plies,
            "seat": self._seat,
        }
        if self._exact_reward is not None:
            info["exact_reward"] = self._exact_reward
        if self._state == "over":
            info["action_mask"][:] = 1  # a policy may still sample a column
            info["illegal"] = self._forfeited
            # Always a number and an array of one shape, since libraries stack several games.
            info["winner"], winning = 1 - self._seat, np.zeros((ROWS, COLUMNS), np.int8)
            if position.outcome is not None:
                winner, cells = position.outcome
                info["winner"] = -1 if winner is None else winner
                for cell in cells:
                    winning[cell] = 1
            info["winning_cells"] = winning
        return self._form(observation["observation"]), info


def make_single(**options: Any) -> ConnectFourEnv:
    """Return the environment of ``gymnasium.make``; the error for a mistyped keyword names it."""
    check_keywords(ConnectFourEnv, options)
    return ConnectFourEnv(**options)


make_single.metadata = ConnectFourEnv.metadata  # type: ignore[attr-defined]  # Gymnasium reads it
