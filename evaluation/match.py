"""One game between two agents, through the AEC environment and the policy interface."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from c4env.aec import AGENTS, env
from c4env.errors import InvalidAction
from c4env.observation import Observation
from c4env.position import format_moves, parse_column
from evaluation.record import Ending, GameRecord

Policy = Callable[[Observation], Any]


def game_seed(
    seed: int, players: tuple[str, str], opening: str, seat: int
) -> np.random.SeedSequence:
    """The randomness of one seat in one game, whoever plays it, wherever and when.

    Keyed by the identity of the game alone, so that it does not depend on the number of
    workers, on the order of games or on interruptions.
    """
    identity = "\0".join((*players, opening, str(seat)))
    words = np.frombuffer(hashlib.sha256(identity.encode()).digest(), np.uint32)
    return np.random.SeedSequence([seed, *map(int, words)])


def play_game(
    policies: tuple[Policy, Policy],
    players: tuple[str, str],
    opening: str = "",
    seed: int = 0,
) -> GameRecord:
    """Play one game to its end; a fault of an agent ends it as a forfeit.

    Args:
        policies: the two agents, the first player's first: callables on an observation.
            One that has ``reset(seed=...)`` is reset; its ``nodes`` are counted if it has any.
        players: their names for the record, which also key the seeds.
        opening: 1-based columns played before they take over.
        seed: of the run.
    """
    board = env()
    board.reset(options={"moves": opening})
    columns = [int(digit) - 1 for digit in opening]
    nodes = [0, 0]
    seconds = [0.0, 0.0]

    def forfeit(seat: int, ending: Ending, reason: str) -> GameRecord:
        return GameRecord(
            players,
            opening,
            format_moves(columns),
            1 - seat,
            ending,
            reason,
            (nodes[0], nodes[1]),
            (seconds[0], seconds[1]),
        )

    for seat, policy in enumerate(policies):
        reset = getattr(policy, "reset", None)
        if callable(reset):
            try:
                reset(seed=game_seed(seed, players, opening, seat))
            except (Exception, SystemExit) as error:
                return forfeit(seat, "exception", f"reset: {type(error).__name__}: {error}")

    for agent in board.agent_iter():
        observation, _, termination, truncation, _ = board.last()
        if termination or truncation:
            break
        seat = AGENTS.index(agent)
        mask = observation["action_mask"].copy()
        fault = ""
        started = time.perf_counter()
        try:
            answer = policies[seat](observation)
        except (Exception, SystemExit) as error:  # whatever it is, it is the agent's fault
            fault = f"{type(error).__name__}: {error}"
        seconds[seat] += time.perf_counter() - started
        if fault:
            return forfeit(seat, "exception", fault)
        searched = getattr(policies[seat], "nodes", 0)
        nodes[seat] += searched if isinstance(searched, int) else 0
        try:
            column = parse_column(answer)
        except InvalidAction as error:
            return forfeit(seat, "nonsense", str(error))
        if not mask[column]:
            return forfeit(seat, "illegal column", f"column {column} is full")
        columns.append(column)
        board.step(column)

    outcome = board.position.outcome
    assert outcome is not None  # the loop above ends with the game
    return GameRecord(
        players,
        opening,
        format_moves(columns),
        outcome.winner,
        "full board" if outcome.winner is None else "four",
        "",
        (nodes[0], nodes[1]),
        (seconds[0], seconds[1]),
    )
