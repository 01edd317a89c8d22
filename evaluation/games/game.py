"""Play one game between two agents in the AEC environment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.errors import InvalidAction, LateAnswer, Unavailable
from c4env.evaluation.games.pool import Clock, Lost, here
from c4env.evaluation.games.processes import agents_own
from c4env.evaluation.seeds import seeds

from ...envs.aec import AGENTS, raw_env
from ...envs.opponents import reset_player
from ...observation import Observation
from ...position import Position, format_moves, parse_column, parse_moves
from ..plan.header import Fixture
from ..store.record import Ending, GameRecord

Policy = Callable[[Observation], Any]

REASON: Final = 300  # the most characters of an agent's error to keep
MOST_NODES: Final = 2**63 - 1


def game_seed(seed: int, players: tuple[str, str], opening: str, seat: int) -> int:
    """Return the 63-bit seed of one player in one game.

    The seed depends only on the identity of the game, not on the number of workers, the order of
    games or interruptions.
    """
    sequence = seeds((*players, opening, str(seat)), seed)
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


class Fault(NamedTuple):
    """The failure for which an agent forfeits a game: how the game ends, and the reason."""

    ending: Ending
    reason: str


def ask(policy: Policy, observation: Observation) -> tuple[int, int] | Fault:
    """Ask a policy for a column.

    Returns:
        the column and the number of nodes searched; or a fault if the policy raises an error or
        returns anything but a legal column.

    Raises:
        Unavailable: a service that the agent needs does not answer; the agent does not forfeit.
    """
    legal = observation["action_mask"].copy()
    try:
        answer = policy(observation)
        nodes = getattr(policy, "nodes", 0)  # of a user's class, so it may be anything
    except Unavailable:
        raise
    except LateAnswer as error:  # from an engine or a server
        return Fault("time", describe_error(error, with_type=False))
    except BaseException as error:  # CancelledError, GeneratorExit, SystemExit, ... as well
        if not agents_own(error):
            raise
        return Fault("exception", describe_error(error))
    try:
        column = parse_column(answer)
    except BaseException as error:  # code of the answer raises, or the answer cannot be shown
        if not agents_own(error):
            raise
        return Fault(
            "nonsense", describe_error(error, with_type=not isinstance(error, InvalidAction))
        )
    if not legal[column]:
        return Fault("illegal column", f"column {column} is full")
    counted = isinstance(nodes, int | np.integer) and 0 <= nodes <= MOST_NODES
    return column, int(nodes) if counted else 0


def begin(policy: Policy, seed: int) -> Fault | None:
    """Call the ``reset`` of a policy that has one; return a fault if ``reset`` raises an error."""
    try:
        reset_player(policy, seed)
    except Unavailable:
        raise
    except BaseException as error:
        if not agents_own(error):
            raise
        return Fault("exception", f"reset: {describe_error(error)}")
    return None


def describe_error(error: BaseException, with_type: bool = True) -> str:
    """Describe an error in one short line without control characters."""
    try:
        text = " ".join(str(error).split())
    except BaseException as another:
        if not agents_own(another):
            raise
        text = "(its message cannot be shown)"
    if with_type:
        text = f"{type(error).__name__}: {text}"
    # Escape control sequences and halves of surrogate pairs.
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:REASON])
    return "".join(shown)


def play_game(
    policies: tuple[Policy, Policy],
    players: tuple[str, str],
    opening: str = "",
    seed: int = 0,
    clock: Clock | None = None,
    on_move: Callable[[Position, int], None] | None = None,
) -> GameRecord:
    """Play one game to its end; an agent that fails forfeits the game.

    A late agent forfeits when it answers; in a worker, the parent does not wait for the answer.

    Args:
        policies: the first and the second player, callables on an observation. Two attributes are
            optional: ``reset``, called with an int seed if it takes an argument; and ``nodes``,
            summed over the moves.
        players: the names of the agents in the record, which also determine the seeds.
        opening: 1-based columns played before the agents take over.
        seed: the run's seed.
        clock: the time limit of a move; None sets no limit.
        on_move: called after each move with the new position and the column.
    """
    board = raw_env()  # `ask` checks the answers
    board.reset(options={"moves": opening})
    columns = list(parse_moves(opening))
    nodes = [0, 0]
    seconds = [0.0, 0.0]
    turn = here.turn
    turn.begin(columns)

    def record(winner: int | None, ending: Ending, reason: str = "") -> GameRecord:
        moves = format_moves(columns)
        spent = (nodes[0], nodes[1]), (seconds[0], seconds[1])
        return GameRecord(players, opening, moves, winner, ending, reason, *spent)

    for seat, policy in enumerate(policies):
        turn.belongs_to(seat)
        fault = begin(policy, game_seed(seed, players, opening, seat))
        turn.ends()
        if fault is not None:
            return record(1 - seat, *fault)
    for agent in board.agent_iter():
        observation, _, termination, truncation, _ = board.last()
        if termination or truncation:
            break
        seat = AGENTS.index(agent)
        turn.asks(seat)
        started = time.perf_counter()
        answer = ask(policies[seat], observation)
        spent = time.perf_counter() - started
        seconds[seat] += spent
        if clock is not None and (late := clock.late(spent)):
            answer = Fault("time", late)
        if isinstance(answer, Fault):
            turn.ends()
            return record(1 - seat, *answer)
        column, searched = answer
        nodes[seat] += searched
        columns.append(column)
        turn.answered(seat, column, nodes[seat], seconds[seat])
        board.step(column)
        if on_move is not None:
            on_move(board.position, column)
    outcome = board.position.outcome
    assert outcome is not None  # the loop ends with the game
    return record(outcome.winner, "full board" if outcome.winner is None else "four")


def lost_game(fixture: Fixture, lost: Lost) -> GameRecord:
    """Return the record of a game that a worker did not survive; the player to move forfeits."""
    (players, opening), turn = fixture, lost.turn
    assert turn.seat is not None
    # An agent that fails while it is made has no columns yet.
    moves = format_moves(turn.columns) or opening
    spent = tuple(turn.nodes), tuple(turn.seconds)
    return GameRecord(players, opening, moves, 1 - turn.seat, lost.ending, lost.reason, *spent)
