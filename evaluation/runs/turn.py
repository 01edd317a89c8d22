"""Ask an agent for a move: a legal column, or the fault for which it forfeits the game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from c4env.agents.base import Agent
from c4env.envs.opponents import reset_player
from c4env.errors import EngineFault, InvalidAction, Unavailable, describe_error
from c4env.geometry import DIGITS, parse_column

if TYPE_CHECKING:
    from c4env.evaluation.records.game import Ending
    from c4env.position import Position

MOST_COUNT: Final = 2**63 - 1


class Forfeit(Exception):
    """The failure for which an agent forfeits a game: how the game ends, and the reason."""

    def __init__(self, ending: Ending, reason: str) -> None:
        super().__init__(f"{ending}: {reason}")
        self.ending, self.reason = ending, reason


def ask(agent: Agent, position: Position) -> tuple[int, int]:
    """Ask an agent for a 0-based column; return it and the number of nodes searched.

    Raises:
        Forfeit: ``choose`` raises an error or returns anything but a legal column.
        Unavailable: a service that the agent needs does not answer; the agent does not forfeit.
    """
    try:
        column = parse_column(agent.choose(position))
    except (Forfeit, Unavailable, KeyboardInterrupt):
        raise
    except EngineFault as error:  # of a program, a server or a network
        words = describe_error(error, with_type=error.ending == "exception")
        raise Forfeit(error.ending, words) from None
    except InvalidAction as error:
        raise Forfeit("nonsense", describe_error(error, with_type=False)) from None
    except BaseException as error:  # CancelledError, GeneratorExit, SystemExit, ... as well
        raise Forfeit("exception", describe_error(error)) from None
    if not position.is_legal(column):
        raise Forfeit("illegal column", f"column {DIGITS[column]} is full (it answered {column})")
    return column, count(agent, "nodes")


def count(agent: Agent, name: str) -> int:
    """Return what an agent counted in its latest move; 0 if the attribute is not a count."""
    try:
        value: Any = getattr(agent, name)  # a user's class may have anything here
    except Exception:
        return 0
    counted = isinstance(value, int | np.integer) and 0 <= value <= MOST_COUNT
    return int(value) if counted else 0


def begin(agent: Agent, seed: int) -> None:
    """Begin a new game of an agent, by the form of ``reset`` that the agent declares.

    Raises:
        Forfeit: ``reset`` raises an error.
        Unavailable: a service that the agent needs does not answer.
    """
    try:
        reset_player(agent, seed)
    except (Forfeit, Unavailable, KeyboardInterrupt):
        raise
    except EngineFault as error:
        words = describe_error(error, with_type=error.ending == "exception")
        raise Forfeit(error.ending, f"reset: {words}") from None
    except BaseException as error:
        raise Forfeit("exception", f"reset: {describe_error(error)}") from None
