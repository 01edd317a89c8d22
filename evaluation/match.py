"""One game between two agents, through the AEC environment and the policy interface."""

from __future__ import annotations

import hashlib
import inspect
import operator
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.aec import AGENTS, env
from c4env.errors import InvalidAction
from c4env.observation import Observation
from c4env.position import format_moves, parse_column
from evaluation.record import Ending, GameRecord

Policy = Callable[[Observation], Any]

REASON: Final = 300  # characters kept of an agent's error


def game_seed(seed: int, players: tuple[str, str], opening: str, seat: int) -> int:
    """The randomness of one seat in one game, whoever plays it, wherever and when: 63 bits.

    Keyed by the identity of the game alone, so that it does not depend on the number of
    workers, on the order of games or on interruptions.
    """
    identity = "\0".join((*players, opening, str(seat)))
    words = np.frombuffer(hashlib.sha256(identity.encode()).digest(), np.uint32)
    sequence = np.random.SeedSequence([seed, *map(int, words)])
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


class Fault(NamedTuple):
    """What an agent did wrong."""

    ending: Ending
    reason: str


def ask(policy: Policy, observation: Observation) -> tuple[int, int] | Fault:
    """Column and searched positions of a policy's answer, or what is wrong with it.

    Whatever an agent does, raises or returns is its own fault and ends its game at most.
    """
    legal = observation["action_mask"].copy()
    try:
        answer = policy(observation)
        nodes = operator.index(getattr(policy, "nodes", 0))
    except (Exception, SystemExit) as error:
        return Fault("exception", in_words(error))
    try:
        column = parse_column(answer)
    except InvalidAction as error:
        return Fault("nonsense", in_words(error, with_type=False))
    except Exception as error:  # an answer that cannot even be shown
        return Fault("nonsense", in_words(error))
    if not legal[column]:
        return Fault("illegal column", f"column {column} is full")
    return column, nodes


def begin(policy: Policy, seed: int) -> Fault | None:
    """Tell a policy that has ``reset`` of a new game, with the seed if it takes one."""
    reset = getattr(policy, "reset", None)
    if not callable(reset):
        return None
    try:
        if inspect.signature(reset).parameters:
            reset(seed)
        else:
            reset()
    except (Exception, SystemExit) as error:
        return Fault("exception", f"reset: {in_words(error)}")
    return None


def in_words(error: BaseException, with_type: bool = True) -> str:
    """An error as one short line that can be written anywhere."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = "(its message cannot be shown)"
    if with_type:
        text = f"{type(error).__name__}: {text}"
    return text[:REASON].encode("utf-8", "backslashreplace").decode()


def play_game(
    policies: tuple[Policy, Policy],
    players: tuple[str, str],
    opening: str = "",
    seed: int = 0,
) -> GameRecord:
    """Play one game to its end; a fault of an agent ends it as a forfeit.

    Args:
        policies: the two agents, the first player's first: callables on an observation.
            One that has ``reset`` is reset, with an int seed if it takes an argument; its
            ``nodes`` are counted if it has any.
        players: their names for the record, which also key the seeds.
        opening: 1-based columns played before they take over.
        seed: of the run.
    """
    board = env()
    board.reset(options={"moves": opening})
    columns = [int(digit) - 1 for digit in opening]
    nodes = [0, 0]
    seconds = [0.0, 0.0]

    def record(winner: int | None, ending: Ending, reason: str = "") -> GameRecord:
        return GameRecord(
            players,
            opening,
            format_moves(columns),
            winner,
            ending,
            reason,
            (nodes[0], nodes[1]),
            (seconds[0], seconds[1]),
        )

    for seat, policy in enumerate(policies):
        fault = begin(policy, game_seed(seed, players, opening, seat))
        if fault is not None:
            return record(1 - seat, *fault)
    for agent in board.agent_iter():
        observation, _, termination, truncation, _ = board.last()
        if termination or truncation:
            break
        seat = AGENTS.index(agent)
        started = time.perf_counter()
        answer = ask(policies[seat], observation)
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
