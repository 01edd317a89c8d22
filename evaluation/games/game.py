"""One game between two agents, through the AEC environment and the policy interface."""

from __future__ import annotations

__any_board__ = True

import operator
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.agents.base import FunctionAgent
from c4env.agents.errors import LateAnswer, Unavailable
from c4env.envs.aec import AGENTS, env
from c4env.errors import InvalidAction
from c4env.evaluation.games.processes import Interruption, OwnSettings, agents_own
from c4env.evaluation.seeds import seeds
from c4env.evaluation.store.record import Ending, GameRecord
from c4env.observation import Observation
from c4env.position import format_moves, parse_column, parse_moves

Policy = Callable[[Observation], Any]

REASON: Final = 300  # characters kept of an agent's error
MOST_NODES: Final = 2**63 - 1


def game_seed(seed: int, players: tuple[str, str], opening: str, seat: int) -> int:
    """The randomness of one seat in one game, whoever plays it, wherever and when: 63 bits.

    Keyed by the identity of the game alone, so that it does not depend on the number of
    workers, on the order of games or on interruptions.
    """
    sequence = seeds((*players, opening, str(seat)), seed)
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


class Clock(NamedTuple):
    """How long a move may take; one that takes longer than both together forfeits the game."""

    movetime: float  # seconds a move, which agents are told of
    margin: float  # seconds beyond that are forgiven: measuring and a busy machine take some


class Fault(NamedTuple):
    """What an agent did wrong."""

    ending: Ending
    reason: str


class Faulted(Exception):
    """An agent that is asked in another process did something wrong there."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


def ask(policy: Policy, observation: Observation) -> tuple[int, int] | Fault:
    """Column and searched positions of a policy's answer, or what is wrong with it.

    Whatever an agent does, raises or returns is its own fault and ends its game at most.

    Raises:
        Unavailable: what the agent depends on cannot be had, which is not its fault.
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
    except LateAnswer as error:  # an engine or a server that was waited for
        return Fault("time", in_words(error, with_type=False))
    except BaseException as error:  # CancelledError, GeneratorExit, SystemExit, ... as well
        if not agents_own(error):
            raise
        return Fault("exception", in_words(error))
    finally:
        _end_copy(here)
    if not 0 <= nodes <= MOST_NODES:
        return Fault("nonsense", "its nodes are no count 0..2**63-1")
    try:
        column = parse_column(answer)
    except BaseException as error:  # an answer that cannot even be shown, or whose code raises
        if not agents_own(error):
            raise
        return Fault("nonsense", in_words(error, with_type=not isinstance(error, InvalidAction)))
    if not legal[column]:
        return Fault("illegal column", f"column {column} is full")
    return column, nodes


class _TimeUp(Interruption):
    """The time for a move is over."""


def ask_in_time(policy: Policy, observation: Observation, clock: Clock) -> tuple[int, int] | Fault:
    """As :func:`ask`; an answer that comes too late is a fault.

    A policy that does not come back is stopped while it runs Python code, where the system
    can (in the main thread of a process, not on Windows); native code is waited for.
    """
    started = time.perf_counter()
    answer: tuple[int, int] | Fault | None = None
    allowed = clock.movetime + clock.margin
    try:
        with _alarm(allowed):
            answer = ask(policy, observation)
    except _TimeUp:
        signal.setitimer(signal.ITIMER_REAL, 0)  # in case it rang while it was turned off
    spent = time.perf_counter() - started
    if answer is None or spent > allowed:
        limits = f"{clock.movetime:g} and a margin of {clock.margin:g} are allowed"
        return Fault("time", f"{spent:.3f} s for a move; {limits}")
    return answer


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise _TimeUp in the code within after so many seconds, and again if that was caught."""
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
    """Tell a policy that has ``reset`` of a new game, with the seed if it takes one."""
    here = os.getpid()
    try:
        FunctionAgent(policy).reset(seed)
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
    """End a copy of the process that an agent forked and let come back.

    It would play all games once more, and fork again in each move.
    """
    if os.getpid() != asked:
        os._exit(0)


def in_words(error: BaseException, with_type: bool = True) -> str:
    """An error as one short line that can be written anywhere."""
    try:
        text = " ".join(str(error).split())
    except BaseException as another:
        if not agents_own(another):
            raise
        text = "(its message cannot be shown)"
    if with_type:
        text = f"{type(error).__name__}: {text}"
    # No control sequences, which a terminal would obey, and no halves of surrogate pairs.
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
    """Play one game to its end; a fault of an agent ends it as a forfeit.

    Args:
        policies: the two agents, the first player's first: callables on an observation.
            One that has ``reset`` is reset, with an int seed if it takes an argument; its
            ``nodes`` are counted if it has any.
        players: their names for the record, which also key the seeds.
        opening: 1-based columns played before they take over.
        seed: of the run.
        clock: how long a move may take, if that is limited.
        own: what each agent's code changed in this process when it was made or asked before.
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
    assert outcome is not None  # the loop above ends with the game
    return record(outcome.winner, "full board" if outcome.winner is None else "four")
