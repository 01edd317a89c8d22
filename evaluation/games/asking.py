"""Ask an agent for a move: a legal column, or the fault for which it forfeits the game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from c4env.agents.base import Agent
from c4env.envs.opponents import reset_player
from c4env.errors import EngineEnded, InvalidAction, LateAnswer, Unavailable, describe_error
from c4env.geometry import DIGITS, parse_column

if TYPE_CHECKING:
    from c4env.evaluation.store.run_files import Ending
    from c4env.position import Position

MOST_NODES: Final = 2**63 - 1


class Fault(Exception):
    """The failure for which an agent forfeits a game: how the game ends, and the reason."""

    def __init__(self, ending: Ending, reason: str) -> None:
        super().__init__(f"{ending}: {reason}")
        self.ending, self.reason = ending, reason


def ask(agent: Agent, position: Position) -> tuple[int, int]:
    """Ask an agent for a 0-based column; return it and the number of nodes searched.

    Raises:
        Fault: ``choose`` raises an error or returns anything but a legal column.
        Unavailable: a service that the agent needs does not answer; the agent does not forfeit.
    """
    try:
        column = parse_column(agent.choose(position))
        nodes: Any = agent.nodes  # of a user's class, so it may be anything
    except (Fault, Unavailable, KeyboardInterrupt):
        raise
    except LateAnswer as error:  # from an engine or a server
        raise Fault("time", describe_error(error, with_type=False)) from None
    except EngineEnded as error:  # a program of its own
        raise Fault("crash", describe_error(error, with_type=False)) from None
    except InvalidAction as error:
        raise Fault("nonsense", describe_error(error, with_type=False)) from None
    except BaseException as error:  # CancelledError, GeneratorExit, SystemExit, ... as well
        raise Fault("exception", describe_error(error)) from None
    if not position.is_legal(column):
        raise Fault("illegal column", f"column {DIGITS[column]} is full (it answered {column})")
    counted = isinstance(nodes, int | np.integer) and 0 <= nodes <= MOST_NODES
    return column, int(nodes) if counted else 0


def begin(agent: Agent, seed: int) -> None:
    """Begin a new game of an agent, as its ``reset`` is declared.

    Raises:
        Fault: ``reset`` raises an error.
        Unavailable: a service that the agent needs does not answer.
    """
    try:
        reset_player(agent, seed)
    except (Fault, Unavailable, KeyboardInterrupt):
        raise
    except EngineEnded as error:
        raise Fault("crash", f"reset: {describe_error(error, with_type=False)}") from None
    except BaseException as error:
        raise Fault("exception", f"reset: {describe_error(error)}") from None
