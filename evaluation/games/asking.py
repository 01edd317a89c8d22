"""Ask an agent for a move, and judge the answer: a legal column, or the fault of a forfeit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from c4env.agents.making.load import describe_error
from c4env.envs.opponents import reset_player
from c4env.errors import InvalidAction, LateAnswer, Unavailable
from c4env.geometry import DIGITS, parse_column

if TYPE_CHECKING:
    from c4env.evaluation.store.run_files import Ending
    from c4env.position import Position

MOST_NODES: Final = 2**63 - 1


class Fault(NamedTuple):
    """The failure for which an agent forfeits a game: how the game ends, and the reason."""

    ending: Ending
    reason: str


class Chooser(Protocol):
    """What is asked: an agent."""

    nodes: int

    def choose(self, position: Position) -> int:
        """Choose the 0-based column to play."""


Answer = tuple[int, int] | Fault
"""A 0-based column and the number of nodes searched; or the player's fault."""


def ask(agent: Chooser, position: Position) -> Answer:
    """Ask an agent for a column.

    Returns:
        the column and the number of nodes searched; or a fault if ``choose`` raises an error or
        returns anything but a legal column.

    Raises:
        Unavailable: a service that the agent needs does not answer; the agent does not forfeit.
    """
    try:
        column = parse_column(agent.choose(position))
        nodes: Any = agent.nodes  # of a user's class, so it may be anything
    except (Unavailable, KeyboardInterrupt):
        raise
    except LateAnswer as error:  # from an engine or a server
        return Fault("time", describe_error(error, with_type=False))
    except InvalidAction as error:
        return Fault("nonsense", describe_error(error, with_type=False))
    except BaseException as error:  # CancelledError, GeneratorExit, SystemExit, ... as well
        return Fault("exception", describe_error(error))
    if not position.is_legal(column):
        return Fault("illegal column", f"column {DIGITS[column]} is full (it answered {column})")
    counted = isinstance(nodes, int | np.integer) and 0 <= nodes <= MOST_NODES
    return column, int(nodes) if counted else 0


def begin(agent: Any, seed: int) -> Fault | None:
    """Call the ``reset`` of an agent that has one; return a fault if ``reset`` raises an error."""
    try:
        reset_player(agent, seed)
    except (Unavailable, KeyboardInterrupt):
        raise
    except BaseException as error:
        return Fault("exception", f"reset: {describe_error(error)}")
    return None
