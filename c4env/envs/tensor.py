"""Many boards as tensors of PyTorch, on the device of the network that plays.

The module has the rules of ``c4env.envs.kernels`` as functions of tensors. :func:`init` makes a
:class:`State`, :func:`observe` shows it, :func:`step` plays, and :func:`restart` starts new games
on chosen boards. The functions change no tensor, copy nothing to the CPU and do not wait for the
device. ``torch.compile(fullgraph=True)`` and ``torch.vmap`` accept the functions. ``TensorEnv``
has a state and calls the functions. On a CPU ``ConnectFourVectorEnv`` is faster.

Example:
    state = init(seed, 65536, opponent="random")
    while training:
        state = step(state, choose(observe(state)), opponent="random")
        last = observe(state)  # the last observation of the games that are over
        state = restart(state, state.terminated, opponent="random")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from c4env.envs.starts import parse_player
from c4env.envs.streams import RANDOM_SEAT, STATES
from c4env.errors import InvalidAction, InvalidOption
from c4env.lazy import agents_module, from_extra
from c4env.observation import LAYOUTS, Form
from c4env.rules import BOARD, BOTTOM, COLUMN, COLUMNS, DIRECTIONS, DOUBLINGS, ROWS, STRIDE

with from_extra("torch", "c4env.TensorEnv needs PyTorch"):
    import torch
    from torch import Tensor

Observed = dict[str, Any]
"""The tensors ``"observation"`` and ``"action_mask"``."""

TensorOpponent = Callable[[Observed], Any] | str | None
"""A function of the observations of N boards to integers ``[N]``; ``"random"``; or None."""

PLANES: Final = Form("planes_last")
_STACK: Final = torch.int8 if ROWS < 8 else torch.int32  # holds the discs of a column


class State(NamedTuple):
    """The state of N games; a tuple of tensors.

    The functions here make a state by the constructor, because ``torch.compile`` of PyTorch 2.9 to
    2.12 turns the result of ``_replace`` into an empty tuple.
    """

    boards: Tensor  #: int64 [N, 2], discs of the side to move, discs of the other side
    plies: Tensor  #: int8 [N], discs on the board
    terminated: Tensor  #: bool [N], whether the game is over
    rewards: Tensor  #: float32 [N, 2], of player 0 and player 1, from the latest step
    legal_action_mask: Tensor  #: bool [N, 7], all True once the game is over
    seats: Tensor  #: int8 [N], the caller's player; -1 in self-play
    starts: Tensor  #: int64 [N], a random stream for openings and seats
    replies: Tensor  #: int64 [N], a random stream for the moves of "random"


def init(key: Any, n: int, *, device: Any = None, **rules: Any) -> State:
    """Start a game on each of N boards.

    Args:
        key: the seed, an integer or an int64 tensor ``[]``. Board i has the seed ``key + i``.
            ``ConnectFourVectorEnv`` with the same seed draws the same seats, openings and moves of
            ``"random"``.
        n: number of boards.
        device: the device of the tensors; if ``key`` is a tensor, its device is used instead.
        rules: ``opponent``, ``seat`` and ``openings``. :func:`restart` describes them and their
            errors.
    """
    if not isinstance(key, Tensor):
        key = torch.tensor(_signed(int(key)), device=device)
    seeds = key + torch.arange(n, device=key.device)
    empty = torch.zeros_like(seeds)
    boards, false = torch.stack([empty, empty], -1), empty != 0
    plies, legal = empty.to(torch.int8), _open_columns(empty)
    draws = _streams(seeds), _streams(~seeds)
    state = State(boards, plies, false, boards.float(), legal, plies - 1, *draws)
    return restart(state, ~false, **rules)


def restart(
    state: State,
    where: Tensor,
    *,
    opponent: TensorOpponent = None,
    seat: int | str = "random",
    openings: Tensor | None = None,
) -> State:
    """Start new games on chosen boards; an opponent that begins has already moved.

    Args:
        state: the boards and their games.
        where: bool ``[N]``, the boards to start.
        opponent: None for self-play; ``"random"`` for a random legal column; or a function that
            maps observations of all N boards (int8, planes last) to integers ``[N]``. The function
            sees each board from the side to move. On boards where the opponent is not to move, the
            function's answer has no effect. A full column loses the game. Pass a module as
            ``ModuleOpponent(module)``.
        seat: the caller's player against an opponent: 0, 1, or ``"random"`` for each game.
        openings: bitboards int64 ``[K, 2]`` as in ``State.boards``, or None for the empty board.
            A game draws one opening. The opponent's first move must not end a game.

    Raises:
        InvalidOption: the opponent or the seat is invalid.
    """
    player: Any = player_of(opponent, seat)
    boards, plies, legal, seats, draws = 0, 0, True, state.seats, state.starts
    if openings is not None:
        bits = torch.arange(STRIDE * COLUMNS, device=openings.device)
        boards = openings[0]
        if len(openings) > 1:
            draws, index = _draw(draws, where, len(openings))
            boards = openings[index]
        plies = (boards[..., None] >> bits & 1).sum((-2, -1)).to(torch.int8)
        legal = _open_columns(boards[..., 0] | boards[..., 1])
    if player == RANDOM_SEAT:
        draws, player = _draw(draws, where, 2)
        player = player.to(torch.int8)
    if opponent is not None:
        seats = torch.where(where, player, seats)
    state = State(
        torch.where(where[..., None], boards, state.boards),
        torch.where(where, plies, state.plies),
        state.terminated & ~where,
        torch.where(where[..., None], 0.0, state.rewards),
        torch.where(where[..., None], legal, state.legal_action_mask),
        seats,
        draws,
        state.replies,
    )
    if opponent is not None and (seat != 0 or openings is not None):
        rewards = state.rewards
        return _complete(_reply(state, opponent)[0], rewards)
    return state


def step(state: State, actions: Tensor, opponent: TensorOpponent = None) -> State:
    """Play the caller's ply on every board whose game goes on, and the opponent's reply.

    Args:
        state: the boards and their games.
        actions: integers ``[N]``, 0-based columns. A full column, or an action that is not a
            column, loses the game with reward -1.
        opponent: as for :func:`restart`.

    Raises:
        InvalidAction: the shape, dtype or device is wrong. The values are not checked, because
            a check would wait for the device.
    """
    check_actions(actions, state.plies)
    first = state.plies & 1 == 0  # player 0 is the caller
    state, rewards = _play(state, actions, ~state.terminated)
    if opponent is not None:
        state, reply_rewards = _reply(state, opponent)
        rewards = rewards + reply_rewards.flip(-1)
    by_player = torch.where(first[..., None], rewards, rewards.flip(-1))
    return _complete(state, by_player)


def observe(state: State, form: Form = PLANES) -> Observed:
    """Return the observations of the caller, or in self-play of the side to move."""
    waits = (state.seats >= 0) & (state.seats != state.plies & 1)
    boards = torch.where(waits[..., None], state.boards.flip(-1), state.boards)
    observation = in_form(planes_of(boards), form)
    return {"observation": observation, "action_mask": state.legal_action_mask.to(torch.int8)}


def in_form(planes: Tensor, form: Form) -> Tensor:
    """Return planes int8 ``[..., 6, 7, 2]`` in a layout and a dtype, as ``form(planes)`` does."""
    written = LAYOUTS[form.layout].write(planes).to(getattr(torch, form.dtype.name))
    contiguous: Tensor = written.contiguous()
    return contiguous


class ModuleOpponent:
    """A PyTorch module as an opponent for the functions here, with the moves it plays elsewhere.

    The opponent plays the legal column with the highest logit, or the column that the module
    answers.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        """Make the opponent; the module stays on its device and plays with its current weights."""
        self._network = agents_module("making.networks.network").as_network(module)

    def __call__(self, seen: Observed) -> Tensor:
        """Return the columns ``[N]``; ``seen`` is as for every opponent of :func:`restart`."""
        masks = seen["action_mask"]
        answer = self._network.answer(in_form(seen["observation"], self._network.form), masks)
        answer = (answer[0] if isinstance(answer, tuple) else answer).to(masks.device)
        if answer.shape == masks.shape:
            answer = answer.masked_fill(masks == 0, -torch.inf).argmax(-1)
        columns: Tensor = answer  # check_actions refuses another shape
        return columns


def player_of(opponent: TensorOpponent, seat: int | str) -> int:
    """Return the caller's player, as ``starts.parse_player`` does, after checking both options."""
    if not (opponent is None or opponent == "random" or callable(opponent)):
        raise InvalidOption(f"opponent={opponent!r}: expected None, 'random' or a function")
    if isinstance(opponent, torch.nn.Module):
        name = type(opponent).__name__
        raise InvalidOption(f"opponent={name}: a module: expected ModuleOpponent(module)")
    return parse_player(opponent is None, seat)


def _play(state: State, columns: Tensor, where: Tensor) -> tuple[State, Tensor]:
    """Play a ply on chosen boards; return the state, and the rewards of mover and other player."""
    mine, theirs = state.boards.unbind(-1)
    occupied = mine | theirs
    columns = columns.long()
    on_board = where & (columns >= 0) & (columns < COLUMNS)
    column = COLUMN << (STRIDE * columns.clamp(0, COLUMNS - 1))
    cell = torch.where(on_board, (occupied + BOTTOM) & column, 0)
    legal = cell != 0
    discs = mine | cell
    won, lost = legal & _has_won(discs), where & ~legal
    over = won | lost | (legal & ((occupied | cell) == BOARD))
    gain = won.float()
    rewards = torch.stack([gain - lost.float(), -gain], -1)
    boards = torch.where(legal[..., None], torch.stack([theirs, discs], -1), state.boards)
    ended = state.terminated | over
    plies, rest = state.plies + legal, (state.seats, state.starts, state.replies)
    return State(boards, plies, ended, state.rewards, state.legal_action_mask, *rest), rewards


def _reply(state: State, opponent: Any) -> tuple[State, Tensor]:
    """Play the opponent's ply where the opponent is to move; return the values of :func:`_play`."""
    where = ~state.terminated & (state.plies & 1 != state.seats)
    legal = _legal_columns(state)
    if opponent != "random":
        masks = legal.to(torch.int8)
        columns = opponent({"observation": planes_of(state.boards), "action_mask": masks})
        check_actions(columns, state.plies, "the opponent's answer")
        return _play(state, columns, where)
    count = legal.long().cumsum(-1)  # of the legal columns up to each column
    draws, index = _draw(state.replies, where, count[..., -1])
    columns = (count <= index[..., None]).sum(-1)
    state, rewards = _play(state, columns, where)
    rest = state.rewards, state.legal_action_mask, state.seats, state.starts, draws
    return State(state.boards, state.plies, state.terminated, *rest), rewards


def _complete(state: State, rewards: Tensor) -> State:
    """Return the state after a step, with its rewards by player and its masks."""
    masks, rest = _legal_columns(state), (state.seats, state.starts, state.replies)
    return State(state.boards, state.plies, state.terminated, rewards, masks, *rest)


def _legal_columns(state: State) -> Tensor:
    """Return the legal columns bool ``[N, 7]``; all of them once a game is over."""
    occupied = state.boards[..., 0] | state.boards[..., 1]
    return _open_columns(torch.where(state.terminated, 0, occupied))


def _open_columns(blocked: Tensor) -> Tensor:
    """Return the columns whose top cell is not in the bitboards int64 ``[N]``; bool ``[N, 7]``."""
    tops = 2 ** (ROWS - 1) << STRIDE * torch.arange(COLUMNS, device=blocked.device)
    return blocked[..., None] & tops == 0


def planes_of(boards: Tensor) -> Tensor:
    """Return the planes of bitboards int64 ``[..., K]``: int8 ``[..., 6, 7, K]``, row 0 on top."""
    shifts = STRIDE * torch.arange(COLUMNS, device=boards.device)
    heights = torch.arange(ROWS - 1, -1, -1, dtype=_STACK, device=boards.device)
    stacks = (boards[..., None, :] >> shifts[:, None] & COLUMN).to(_STACK)  # [..., 7, K]
    return (stacks[..., None, :, :] >> heights[:, None, None] & 1).to(torch.int8)


def _has_won(discs: Tensor) -> Tensor:
    """Return whether discs int64 ``[N]`` contain four in a row, bool ``[N]``."""
    won = torch.zeros_like(discs)
    for shift in DIRECTIONS:
        lines = discs
        for step in DOUBLINGS:
            lines = lines & lines >> step * shift
        won = won | lines
    return won != 0


def check_actions(actions: Any, plies: Tensor, who: str = "actions") -> None:
    """Raise InvalidAction unless actions are an integer tensor like ``State.plies``."""
    if not isinstance(actions, Tensor):
        raise InvalidAction(f"{who} of type {type(actions).__name__}: expected a tensor")
    if actions.shape != plies.shape:
        expected = f"expected {tuple(plies.shape)}, one for each board"
        raise InvalidAction(f"{who} of shape {tuple(actions.shape)}: {expected}")
    if actions.is_floating_point() or actions.is_complex() or actions.dtype == torch.bool:
        raise InvalidAction(f"{who} of dtype {actions.dtype}: expected integers")
    if actions.device != plies.device:
        raise InvalidAction(f"{who} on {actions.device}: expected {plies.device}")


# -- random numbers, as c4env.envs.kernels draws them ----------------------------------


def _signed(number: int) -> int:
    """Return the lowest 64 bits of a number as an int64."""
    return (number + 2**63) % 2**64 - 2**63


def _streams(seeds: Tensor) -> Tensor:
    mixed = seeds + _signed(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> 30 & 2**34 - 1)) * _signed(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> 27 & 2**37 - 1)) * _signed(0x94D049BB133111EB)
    return (mixed ^ (mixed >> 31 & 2**33 - 1)) & STATES - 1


def _draw(states: Tensor, where: Tensor, count: Any) -> tuple[Tensor, Tensor]:
    """Advance the streams of chosen boards; return the states, and numbers below ``count``."""
    states = torch.where(where, states * 25214903917 + 11 & STATES - 1, states)
    return states, (states >> 17) * count >> 31
