"""Ask an agent for a move, and judge the answer: a legal column, or the fault of a forfeit."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from c4env.agents.base import Agent
from c4env.agents.functions import FunctionAgent, column_of
from c4env.envs.opponents import reset_player
from c4env.errors import InvalidAction, LateAnswer, Unavailable
from c4env.geometry import parse_column
from c4env.system import FOLDER

if TYPE_CHECKING:
    from c4env.evaluation.store.run_files import Ending

_PACKAGE: Final = os.path.join(FOLDER, "c4env", "")
REASON: Final = 300  # the most characters of an agent's error to keep
MOST_NODES: Final = 2**63 - 1


class Fault(NamedTuple):
    """The failure for which an agent forfeits a game: how the game ends, and the reason."""

    ending: Ending
    reason: str


Answer = tuple[int, int] | Fault
"""A 0-based column and the number of nodes searched; or the player's fault."""


def function_of(agent: Any) -> Callable[[Any], Any] | None:
    """Return the function of one observation that an agent is; None for any other agent."""
    if isinstance(agent, FunctionAgent):
        return agent.function
    return None if isinstance(agent, Agent) else agent


def ask(
    choose: Callable[[Any], Any], question: Any, is_legal: Callable[[int], Any], agent: Any
) -> Answer:
    """Ask for a column.

    Args:
        choose: an agent's ``choose``, or a function of one observation.
        question: what ``choose`` gets, a position or an observation.
        is_legal: whether a 0-based column has room.
        agent: its attribute ``nodes``, if it has one, is the number of nodes searched.

    Returns:
        the column and the number of nodes searched; or a fault if ``choose`` raises an error or
        returns anything but a legal column.

    Raises:
        Unavailable: a service that the agent needs does not answer; the agent does not forfeit.
    """
    try:
        answer = choose(question)
        nodes = getattr(agent, "nodes", 0)  # of a user's class, so it may be anything
        column = parse_column(answer) if isinstance(agent, Agent) else column_of(answer)
    except (Unavailable, KeyboardInterrupt):
        raise
    except LateAnswer as error:  # from an engine or a server
        return Fault("time", describe_error(error, with_type=False))
    except InvalidAction as error:
        return Fault("nonsense", describe_error(error, with_type=False))
    except BaseException as error:  # CancelledError, GeneratorExit, SystemExit, ... as well
        return Fault("exception", describe_error(error))
    if not is_legal(column):
        return Fault("illegal column", f"column {column} is full")
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


def describe_error(error: BaseException, with_type: bool = True) -> str:
    """Describe an error in one short line without control characters.

    ``with_type`` adds the error's type, and the file and line of the code that raised it.
    """
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = "(its message cannot be shown)"
    where = ""
    if with_type:
        text = f"{type(error).__name__}: {text}"
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(_PACKAGE)]
        if own and own[-1].filename.endswith(".py"):  # the latest line of the user's
            where = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})"
    # Escape control sequences and halves of surrogate pairs.
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:REASON])
    return "".join(shown) + where
