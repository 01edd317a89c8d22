"""Connect Four in JAX, with pgx's interface: :class:`JaxEnv` and its :class:`State`.

A side's discs are uint32 words of four columns each, 0 to 3 and 3 to 6, with the bits of
``c4env.bitboard``. The words of any four neighbouring columns come from these, and every line of
four lies in one of them. So no 64-bit integers are needed, which JAX has only on request.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

import numpy as np

from c4env.bitboard import BOTTOM, COLUMN, DIRECTIONS, DOUBLINGS, MARKED_COLUMN, STRIDE, UP
from c4env.envs.batch import bitboards
from c4env.errors import InvalidAction, InvalidPosition, WrongBoard
from c4env.geometry import BOARD_SIZE, COLUMNS, CONNECT, ROWS
from c4env.lazy import from_extra
from c4env.openings import Openings, starts_of
from c4env.position import Position

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
"""Of each column the word, and the shift to its lowest cell there."""
WORD: Final = (1 << WIDTH * STRIDE) - 1
ABOVE: Final = np.uint32(BOTTOM << ROWS & WORD)
HEIGHTS: Final = np.array([[1 << h] for h in reversed(range(ROWS))], np.min_scalar_type(COLUMN))
MADE: Final = {"observation", "legal_action_mask"}

Words = Sequence[Array]  # of one side


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class State:
    """A game, or with leading axes many, as ``jax.vmap`` makes them; a pytree.

    The properties are made when they are read; what a program does not read takes no time.
    """

    env_id = "connect_four"
    current_player: Array  # int32, the player to move, 0 or 1
    rewards: Array  # float32 [2] by player, of the last step
    terminated: Array  # bool
    truncated: Array  # bool, never true
    _step_count: Array  # int32, steps since init
    _over: Array  # bool; false in a new game that auto_reset calls terminated
    _mine: Words  # the discs of the player to move
    _theirs: Words
    _replaced: dict[str, Array] = field(default_factory=dict)  # properties, arrays from then on

    @property
    def observation(self) -> Array:
        """Bool ``[6, 7, 2]``: row 0 on top, plane 0 the discs of the player to move."""
        found = self._replaced.get("observation")
        return jax.jit(_planes)(self._mine, self._theirs) if found is None else found

    @property
    def legal_action_mask(self) -> Array:
        """Bool ``[7]``; after the end all true."""
        return jnp.stack(_legal_columns(self), -1)

    def replace(self, **values: Any) -> Self:
        """Return the state with other values of some attributes or properties."""
        made = {name: values.pop(name) for name in MADE & values.keys()}
        return replace(self, **values, _replaced=self._replaced | made)


class JaxEnv:
    """Connect Four with the interface, the values and the draws of pgx's ``connect_four``.

    The methods are pure functions of one game, for ``jax.jit``, ``jax.vmap`` and the others. An
    illegal action loses: -1 for the player, 1 for the other. So does one outside 0..6, and only
    this differs from pgx.

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
        """Make it; ``init`` draws from ``openings``, which are as for ``ConnectFourVectorEnv``."""
        self._starts = _words(bitboards("" if openings is None else starts_of(openings)))

    def init(self, key: Array) -> State:
        """Return a new game; the key draws the player who moves first, and the opening."""
        player = jax.random.bernoulli(key).astype(jnp.int32)
        count = self._starts.shape[-1]
        drawn = jax.random.randint(jax.random.fold_in(key, 1), (), 0, count) if count > 1 else 0
        return _new(player, jnp.asarray(self._starts)[..., drawn])

    def step(self, state: State, action: Array | int, key: Array | None = None) -> State:
        """Return the game after an action; once it is over, the same game with rewards of zero.

        ``action`` is a 0-based column, else ``InvalidAction``; ``key`` is for games of chance.
        """
        action = jnp.asarray(action)
        if action.shape or not jnp.issubdtype(action.dtype, jnp.integer):
            what = f"an action of shape {action.shape} and dtype {action.dtype}"
            raise InvalidAction(f"{what}: expected an integer; jax.vmap(env.step) plays many games")
        over, player = state.terminated | state.truncated, state.current_player
        chosen = [(action == column) & ~over for column in range(COLUMNS)]
        legal = over | _any(map(operator.and_, chosen, _legal_columns(state)))
        mine, theirs = _drop(state, chosen)
        won = ~over & _has_won(mine)
        gain = jnp.where(legal, jnp.where(won, 1, 0), -1)  # without it, XLA finds wins twice
        full = ~over & ~_any(_open_columns(mine, theirs))
        terminated = state.terminated | won | full | ~legal
        new = State(
            current_player=jnp.where(over, player, 1 - player),
            rewards=jnp.where(jnp.arange(2) == player, gain, -gain).astype(jnp.float32),
            terminated=terminated,
            truncated=state.truncated,
            _step_count=state._step_count + ~over,
            _over=terminated,
            _mine=[jnp.where(over, a, b) for a, b in zip(mine, theirs, strict=True)],
            _theirs=[jnp.where(over, b, a) for a, b in zip(mine, theirs, strict=True)],
        )
        return new.replace(**{name: getattr(new, name) for name in state._replaced})

    def observe(self, state: State, player_id: Array | int | None = None) -> Array:
        """Return bool ``[6, 7, 2]``, plane 0 the discs of a player, None for the one to move."""
        planes = jax.jit(_planes)(state._mine, state._theirs)
        own = player_id is None or player_id == state.current_player
        return jnp.where(own, planes, planes[..., ::-1])

    @staticmethod
    def from_positions(positions: Position | str | Sequence[Position | str]) -> State:
        """Return states ``[N]`` of unfinished positions or moves, with the positions' players."""
        boards = bitboards(positions)
        players = np.bitwise_count(boards.sum(axis=1)).astype(np.int32) & 1
        states: State = jax.vmap(_new, (0, -1))(players, _words(boards))
        return states

    @staticmethod
    def positions(states: State) -> list[Position]:
        """Return the positions of states; an illegal action leaves none: ``InvalidPosition``."""
        sides = [[np.ravel(word).astype(int) for word in s] for s in (states._mine, states._theirs)]
        columns = np.array([[s[k] >> at & MARKED_COLUMN for k, at in PLACES] for s in sides])
        boards = (columns << STRIDE * np.arange(COLUMNS)[:, None]).sum(axis=1)
        found = [Position.from_bitboards(*pair) for pair in boards.T.tolist()]
        for position, over in zip(found, np.ravel(states._over), strict=True):
            if over and position.outcome is None:
                raise InvalidPosition(f"an illegal action ended the game at {position!r}")
        return found


def _words(boards: Any) -> Any:
    """Return uint32 ``[words, 2, K]`` of bitboards int64 ``[K, 2]``."""
    return np.array([boards.T >> STRIDE * column & WORD for column in FIRST], np.uint32)


def _new(player: Array, words: Array) -> State:
    zero = player * 0  # under shard_map all leaves vary over the devices as the player does
    no, none = zero != 0, jnp.zeros(2, jnp.float32) + zero
    mine, theirs = words.T + zero.astype(jnp.uint32)
    return State(player, none, no, no, zero, no, [*mine], [*theirs])


def _any(flags: Any) -> Array:
    return functools.reduce(operator.or_, flags)


def _open_columns(mine: Words, theirs: Words) -> list[Array]:
    return [(mine[k] | theirs[k]) >> at + ROWS - 1 & 1 == 0 for k, at in PLACES]


def _legal_columns(state: State) -> list[Array]:
    """Return the legal action mask as an array for each column."""
    if "legal_action_mask" in state._replaced:
        return [*jnp.moveaxis(state._replaced["legal_action_mask"], -1, 0)]
    return [state._over | free for free in _open_columns(state._mine, state._theirs)]


def _drop(state: State, chosen: Sequence[Array]) -> tuple[Words, Words]:
    """Return both sides after the player's disc, which falls in the chosen column.

    In a full column it replaces the disc at the bottom, as in pgx, and marks the bit on top.
    """
    mine, theirs = [], []
    for first, own, other in zip(FIRST, state._mine, state._theirs, strict=True):
        full = own | other
        bottom = _any(jnp.uint32(1 << STRIDE * i) * chosen[first + i] for i in range(WIDTH))
        cell = full + bottom & ~full
        cell = cell | (cell & ABOVE) >> ROWS
        mine.append(own | cell)
        theirs.append(other & ~cell)
    return mine, theirs


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
    """Return bool ``[..., 6, 7, 2]``; by bytes of columns, in half the time of bits of words."""
    columns = [words[k] >> at & COLUMN for k, at in PLACES for words in (own, other)]
    small = jnp.stack([column.astype(HEIGHTS.dtype) for column in columns], -1)
    return (small[..., None, :] & HEIGHTS != 0).reshape(*small.shape[:-1], ROWS, COLUMNS, 2)
