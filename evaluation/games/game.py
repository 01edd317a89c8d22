"""Play one game between two agents in the AEC environment."""

from __future__ import annotations

import operator
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.agents.errors import LateAnswer, Unavailable
from c4env.errors import InvalidAction
from c4env.evaluation.games.processes import Interruption, OwnSettings, agents_own
from c4env.evaluation.seeds import seeds

from ...envs.aec import AGENTS, env
from ...envs.opponents import reset_player
from ...observation import Observation
from ...position import format_moves, parse_column, parse_moves
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


class Clock(NamedTuple):
    """The time limit of a move. A move longer than ``movetime + margin`` forfeits the game."""

    movetime: float  # seconds per move, which agents know
    margin: float  # additional seconds, for measuring and a busy machine


class Fault(NamedTuple):
    """The failure for which an agent forfeits a game: how the game ends, and the reason."""

    ending: Ending
    reason: str


class Faulted(Exception):
    """Raised when an agent fails in another process."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


def ask(policy: Policy, observation: Observation) -> tuple[int, int] | Fault:
    """Ask a policy for a column.

    Returns:
        the column and the number of nodes searched; or a fault if the policy raises an error or
        returns anything but a legal column.

    Raises:
        Unavailable: a service that the agent needs does not answer; the agent does not forfeit.
    """
    legal = observation["action_mask"].copy()
    here = os.getpid()
    try:
        answer = policy(observation)
        nodes = operator.index(getattr(policy, "nodes", 0))
    except Unavailable:
        raise
    except Faulted as error:
        return error.fault
    except LateAnswer as error:  # from an engine or a server
        return Fault("time", in_words(error, with_type=False))
    except BaseException as error:  # CancelledError, GeneratorExit, SystemExit, ... as well
        if not agents_own(error):
            raise
        return Fault("exception", in_words(error))
    finally:
        _end_copy(here)
    if not 0 <= nodes <= MOST_NODES:
        return Fault("nonsense", "its number of nodes is not an integer 0..2**63-1")
    try:
        column = parse_column(answer)
    except BaseException as error:  # code of the answer raises, or the answer cannot be shown
        if not agents_own(error):
            raise
        return Fault("nonsense", in_words(error, with_type=not isinstance(error, InvalidAction)))
    if not legal[column]:
        return Fault("illegal column", f"column {column} is full")
    return column, nodes


class _TimeUp(Interruption):
    """Raised in an agent's code when the time for its move is over."""


def ask_in_time(policy: Policy, observation: Observation, clock: Clock) -> tuple[int, int] | Fault:
    """Ask a policy for a column, as :func:`ask` does, and return a fault if the answer is late.

    In the main thread, this function interrupts Python code at the limit. In other threads, on
    Windows and during native code, the function waits for the answer.
    """
    started = time.perf_counter()
    answer: tuple[int, int] | Fault | None = None
    allowed = clock.movetime + clock.margin
    try:
        with _alarm(allowed):
            answer = ask(policy, observation)
    except _TimeUp:
        signal.setitimer(signal.ITIMER_REAL, 0)  # the alarm may have rung while being turned off
    spent = time.perf_counter() - started
    if answer is None or spent > allowed:
        limits = f"the limit is {clock.movetime:g} s plus a margin of {clock.margin:g} s"
        return Fault("time", f"{spent:.3f} s for a move; {limits}")
    return answer


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """A context that raises _TimeUp after ``seconds``, and again if the code catches _TimeUp."""
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise _TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, max(seconds, 0.1))
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def begin(policy: Policy, seed: int) -> Fault | None:
    """Call the ``reset`` of a policy that has one; return a fault if ``reset`` raises an error."""
    here = os.getpid()
    try:
        reset_player(policy, seed)
    except Faulted as error:
        return error.fault
    except BaseException as error:
        if not agents_own(error):
            raise
        return Fault("exception", f"reset: {in_words(error)}")
    finally:
        _end_copy(here)
    return None


def _end_copy(asked: int) -> None:
    """End this process if it is a copy that an agent created with ``os.fork``.

    The copy would play all games again, and fork again at each move.
    """
    if os.getpid() != asked:
        os._exit(0)


def in_words(error: BaseException, with_type: bool = True) -> str:
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
    own: tuple[OwnSettings, OwnSettings] | None = None,
) -> GameRecord:
    """Play one game to its end; an agent that fails forfeits the game.

    Args:
        policies: the first and the second player, callables on an observation. Two attributes are
            optional: ``reset``, called with an int seed if it takes an argument; and ``nodes``,
            summed over the moves.
        players: the names of the agents in the record, which also determine the seeds.
        opening: 1-based columns played before the agents take over.
        seed: the run's seed.
        clock: the time limit of a move; None sets no limit.
        own: a context for each agent, in which the agent has its own process settings.
    """
    board = env()
    board.reset(options={"moves": opening})
    columns = list(parse_moves(opening))
    nodes = [0, 0]
    seconds = [0.0, 0.0]

    def record(winner: int | None, ending: Ending, reason: str = "") -> GameRecord:
        moves = format_moves(columns)
        spent = (nodes[0], nodes[1]), (seconds[0], seconds[1])
        return GameRecord(players, opening, moves, winner, ending, reason, *spent)

    one, other = own or (OwnSettings(), OwnSettings())
    for seat, (policy, settings) in enumerate(zip(policies, (one, other), strict=True)):
        settings.look()
        with settings:
            fault = begin(policy, game_seed(seed, players, opening, seat))
        if fault is not None:
            return record(1 - seat, *fault)
    for agent in board.agent_iter():
        observation, _, termination, truncation, _ = board.last()
        if termination or truncation:
            break
        seat = AGENTS.index(agent)
        with (one, other)[seat]:
            started = time.perf_counter()
            if clock is None:
                answer = ask(policies[seat], observation)
            else:
                answer = ask_in_time(policies[seat], observation, clock)
            seconds[seat] += time.perf_counter() - started
        if isinstance(answer, Fault):
            return record(1 - seat, *answer)
        column, searched = answer
        nodes[seat] += searched
        columns.append(column)
        board.step(column)
    outcome = board.position.outcome
    assert outcome is not None  # the loop ends with the game
    return record(outcome.winner, "full board" if outcome.winner is None else "four")
