"""Connect Four in JAX, with pgx's interface: :class:`JaxEnv` and its :class:`State`.

A side's discs are two uint32 words of four columns each, columns 0 to 3 and 3 to 6, with the bits
of ``c4env.bitboard``. The two words give the word of any four neighbouring columns, and every line
of four lies in one of these words. So the rules need no 64-bit integers, which JAX has only on
request.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

import numpy as np

from c4env.arrays import Int32s, Int64s
from c4env.bitboard import BOTTOM, COLUMN, DIRECTIONS, DOUBLINGS, MARKED_COLUMN, STRIDE, UP
from c4env.envs.batch import bitboards, observed
from c4env.errors import InvalidAction, InvalidOption, InvalidPosition, WrongBoard
from c4env.files import write_whole
from c4env.geometry import BOARD_SIZE, COLUMNS, CONNECT, ROWS
from c4env.lazy import from_extra
from c4env.openings import Openings, starts_of
from c4env.position import Position
from c4env.render import svg

with from_extra("jax", "c4env.JaxEnv needs JAX"):
    import jax
    import jax.numpy as jnp
    from jax import Array

WIDTH: Final = min(CONNECT, COLUMNS)  # columns of a word
if WIDTH * STRIDE > 32:
    what = f"c4env.JaxEnv needs {WIDTH} columns of {STRIDE} bits in 32 bits"
    raise WrongBoard(f"{what}: it cannot play on {BOARD_SIZE}")
FIRST: Final = [min(c, COLUMNS - WIDTH) for c in range(0, COLUMNS, WIDTH)]  # columns of the words
PLACES: Final = [(c // WIDTH, STRIDE * (c - FIRST[c // WIDTH])) for c in range(COLUMNS)]
"""For each column, the number of its word and the shift to its lowest cell in the word."""
WORD: Final = (1 << WIDTH * STRIDE) - 1
ABOVE: Final = np.uint32(BOTTOM << ROWS & WORD)
HEIGHTS: Final = np.array([[1 << h] for h in reversed(range(ROWS))], np.min_scalar_type(COLUMN))

Words = Sequence[Array]  # the words of one side


class Game(NamedTuple):
    """The discs of a game, with the attributes of pgx's ``GameState`` that its pictures read."""

    color: Array  # int32, of the player to move: 0 for the player who moves on the empty board
    mine: Words  # the discs of the player to move
    theirs: Words

    @property
    def board(self) -> Array:
        """Int32 ``[42]``, row 0 on top: -1 empty, else the disc's color."""
        own, other = jnp.moveaxis(_planes(self.mine, self.theirs), -1, 0)
        color = self.color[..., None, None]
        board = jnp.where(own, color, jnp.where(other, 1 - color, -1))
        return board.reshape(*self.color.shape, ROWS * COLUMNS)


@dataclass(frozen=True, eq=False)
class State:
    """A game, or many games with leading axes from ``jax.vmap``; a pytree of pgx's fields."""

    env_id = "connect_four"
    current_player: Array  #: int32, the player to move, 0 or 1
    observation: Array  #: bool [6, 7, 2], row 0 on top, plane 0 the discs of the player to move
    rewards: Array  #: float32 [2], the rewards of players 0 and 1 from the last step
    terminated: Array  #: bool
    truncated: Array  #: bool, true only if a program has replaced it
    legal_action_mask: Array  #: bool [7]; after a game ends, all true
    _step_count: Array  # int32, steps since init
    _x: Game

    def replace(self, **values: Any) -> Self:
        """Return the state with other values of some fields."""
        return replace(self, **values)

    def to_svg(self) -> str:
        """Return a drawing of one game.

        Of many states, ``jax.tree.map(lambda leaf: leaf[i], states)`` is game i.
        """
        if self.current_player.size != 1:
            shape = self.current_player.shape
            what = f"{shape=} of states: expected one"
            raise InvalidOption(f"{what}; jax.tree.map(lambda leaf: leaf[i], states) is game i")
        return svg(JaxEnv.positions(self)[0])

    def save_svg(self, filename: str | os.PathLike[str]) -> None:
        """Draw the game into a file, as :meth:`to_svg` does."""
        write_whole(filename, self.to_svg())

    def _repr_html_(self) -> str | None:
        """Return the drawing for a notebook; None makes the notebook show the arrays."""
        with contextlib.suppress(InvalidOption, InvalidPosition):
            return self.to_svg()
        return None


# It is not a decorator, because the site describes the class without JAX.
jax.tree_util.register_dataclass(State)

with contextlib.suppress(ImportError):  # flax's checkpoints can store states, as they can pgx's
    from flax import serialization

    serialization.register_serialization_state(
        State,
        lambda state: serialization.to_state_dict(vars(state)),
        lambda state, read: state.replace(**serialization.from_state_dict(vars(state), read)),
    )


class JaxEnv:
    """Connect Four with the interface, the values and the draws of pgx's ``connect_four``.

    The methods are pure functions of one game, for ``jax.jit``, ``jax.vmap`` and other
    transformations. An illegal action loses: the player gets -1, the other player 1. An action
    outside 0..6 loses too, which is the only difference from pgx.

    Example:
        >>> import jax
        >>> env = JaxEnv()
        >>> state = env.step(env.init(jax.random.key(1)), 3)
        >>> state.observation.shape, state.rewards.tolist()
        ((6, 7, 2), [0.0, 0.0])
    """

    id: Final = State.env_id
    version: Final = "v0"
    num_players: Final = 2
    num_actions: Final = COLUMNS
    observation_shape: Final = (ROWS, COLUMNS, 2)

    def __init__(self, openings: Openings | None = None) -> None:
        """Make it; ``init`` draws an opening from ``openings`` (see ``ConnectFourVectorEnv``)."""
        self._starts = _begun(bitboards("" if openings is None else starts_of(openings)))

    def init(self, key: Array) -> State:
        """Return a new game; ``key`` draws the player who moves first and the opening."""
        player = jax.random.bernoulli(key).astype(jnp.int32)
        count = len(self._starts.current_player)
        drawn = jax.random.randint(jax.random.fold_in(key, 1), (), 0, count) if count > 1 else 0

        def taken(leaf: Array) -> Array:  # under shard_map, varies over devices as player does
            return jnp.asarray(leaf)[drawn] + (player * 0).astype(leaf.dtype)

        start: State = jax.tree.map(taken, self._starts)
        seen = _planes(start._x.mine, start._x.theirs)  # 6 % faster than a constant, in auto_reset
        return start.replace(current_player=player, observation=seen)

    def step(self, state: State, action: Array | int, key: Array | None = None) -> State:
        """Return the game after an action; after the game ends, the same game with rewards of 0.

        ``action`` is a 0-based column; another shape or dtype raises ``InvalidAction``.
        ``key`` is for games of chance, and has no effect here.
        """
        action, player = jnp.asarray(action), state.current_player
        if action.shape or player.shape or not jnp.issubdtype(action.dtype, jnp.integer):
            what = f"an action of shape {action.shape} and dtype {action.dtype}"
            what += f" for states of shape {player.shape}" * bool(player.shape)
            raise InvalidAction(f"{what}: expected an integer; jax.vmap(env.step) plays many games")
        over, (color, mine, theirs) = state.terminated | state.truncated, state._x
        chosen = [action == column for column in range(COLUMNS)]
        legal = _any(flag & state.legal_action_mask[c] for c, flag in enumerate(chosen))
        legal |= over & ~_any(chosen)  # after the end an action may be anything
        moved, left = _drop(mine, theirs, [flag & ~over for flag in chosen])
        won = ~over & _has_won(moved)
        gain = jnp.where(legal, jnp.where(won, 1, 0), -1)  # without it, XLA finds wins twice
        terminated = state.terminated | ~legal | won | ~over & ~_any(_open_columns(moved, left))
        mine = [jnp.where(over, a, b) for a, b in zip(moved, left, strict=True)]
        theirs = [jnp.where(over, b, a) for a, b in zip(moved, left, strict=True)]
        free = jnp.stack(_open_columns(mine, theirs))
        return State(
            current_player=jnp.where(over, player, 1 - player),
            observation=_planes(mine, theirs),
            rewards=jnp.where(jnp.arange(2) == player, gain, -gain).astype(jnp.float32),
            terminated=terminated,
            truncated=state.truncated,
            legal_action_mask=terminated | jnp.where(over, state.legal_action_mask, free),
            _step_count=state._step_count + (~over).astype(jnp.int32),
            _x=Game(jnp.where(over, color, 1 - color), mine, theirs),
        )

    def observe(self, state: State, player_id: Array | int | None = None) -> Array:
        """Return bool ``[..., 6, 7, 2]``; plane 0 has the discs of ``player_id``.

        None stands for the player to move. For many states, ``player_id`` is one player for all
        states, or one player for each state.
        """
        planes = _planes(state._x.mine, state._x.theirs)
        if player_id is None:
            return planes
        own = jnp.asarray(player_id == state.current_player)[..., None, None, None]
        return jnp.where(own, planes, planes[..., ::-1])

    @staticmethod
    def from_positions(positions: Position | str | Sequence[Position | str]) -> State:
        """Return states ``[N]`` of unfinished positions or moves; positions decide who moves."""
        boards = bitboards(positions)
        states: State = jax.tree.map(jnp.array, _begun(boards))
        return states

    @staticmethod
    def positions(states: State) -> list[Position]:
        """Return the positions of states.

        Raises:
            InvalidPosition: an illegal action ended a game, which leaves no position.
        """
        color, *sides = states._x
        words = [[np.ravel(word).astype(int) for word in side] for side in sides]
        columns = np.array([[side[k] >> at & MARKED_COLUMN for k, at in PLACES] for side in words])
        boards = (columns << STRIDE * np.arange(COLUMNS)[:, None]).sum(axis=1)
        if (np.ravel(color) != _colors(boards.T)).any():
            raise InvalidPosition("an illegal action ended a game, so the game has no position")
        return [Position.from_bitboards(*pair) for pair in boards.T.tolist()]


def _colors(boards: Int64s) -> Int32s:
    """Return int32 ``[K]``, the side to move on bitboards int64 ``[K, 2]``."""
    colors: Int32s = np.bitwise_count(boards.sum(axis=1)).astype(np.int32) & 1
    return colors


def _begun(boards: Int64s) -> Any:
    """Return new games ``[K]`` from bitboards int64 ``[K, 2]``, as arrays of NumPy."""
    colors, seen = _colors(boards), observed(boards)
    no = np.zeros(len(boards), np.bool_)
    words = [(boards.T >> STRIDE * column & WORD).astype(np.uint32) for column in FIRST]
    return State(
        current_player=colors,
        observation=seen["observation"] != 0,
        rewards=np.zeros((len(boards), 2), np.float32),
        terminated=no,
        truncated=no,
        legal_action_mask=seen["action_mask"] != 0,
        _step_count=np.zeros(len(boards), np.int32),
        _x=Game(colors, *([pair[side] for pair in words] for side in range(2))),
    )


def _any(flags: Any) -> Array:
    return functools.reduce(operator.or_, flags)


def _open_columns(mine: Words, theirs: Words) -> list[Array]:
    return [(mine[k] | theirs[k]) >> at + ROWS - 1 & 1 == 0 for k, at in PLACES]


def _drop(mine: Words, theirs: Words, chosen: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Return both sides after the player's disc falls in the chosen column.

    In a full column the disc replaces the disc at the bottom, as in pgx.
    """
    moved, left = [], []
    for first, own, other in zip(FIRST, mine, theirs, strict=True):
        full = own | other
        bottom = _any(
            jnp.where(chosen[first + i], jnp.uint32(1 << STRIDE * i), 0) for i in range(WIDTH)
        )
        cell = full + bottom & ~full
        cell = (cell | (cell & ABOVE) >> ROWS) & ~ABOVE
        moved.append(own | cell)
        left.append(other & ~cell)
    return moved, left


def _has_won(words: Words) -> Array:
    """Return whether there are four in a row."""
    windows = [*words]
    for left, right, gap in zip(words[:-1], words[1:], np.diff(FIRST).tolist(), strict=True):
        windows += [left >> STRIDE * k | right << STRIDE * (gap - k) for k in range(1, gap)]
    found = []
    for shift in DIRECTIONS if COLUMNS >= CONNECT else [UP]:
        for lines in words if shift == UP else windows:
            for step in DOUBLINGS:
                lines = lines & lines >> step * shift
            found.append(lines)
    return _any(found) != 0


def _planes(own: Words, other: Words) -> Array:
    """Return bool ``[..., 6, 7, 2]``.

    Reading the bits from a byte for each column takes half the time of reading them from the words.
    Under ``vmap``, ``jnp.stack`` would put the boards last, and the choice in auto_reset would take
    1.1 times as long.
    """
    columns = [words[k] >> at & COLUMN for k, at in PLACES for words in (own, other)]
    small = jnp.concatenate([c.astype(HEIGHTS.dtype)[..., None] for c in columns], -1)
    return (small[..., None, :] & HEIGHTS != 0).reshape(*small.shape[:-1], ROWS, COLUMNS, 2)
