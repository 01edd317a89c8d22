"""The table of agents that :func:`c4env.agents.make` reads, and the types of its rows.

An :class:`Entry` is a row, an :class:`Option` an option of an agent. The docstring of each agent's
class or function holds the summary and the help of the options.
"""

from __future__ import annotations

import math
import operator
import os
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from c4env.errors import InvalidOption

REQUIRED: Final = object()
"""The default of an option that the caller must set."""

_BOOLEANS: Final = {"true": True, "false": False, "1": True, "0": False}


class Range(NamedTuple):
    """The range of a number, as in ``Annotated[int, Range(1, 42)]``; floats must be finite.

    Example:
        >>> from typing import Annotated
        >>> Plies = Annotated[int, Range(1, 42)]  # the type of an agent's option
    """

    low: float
    high: float = math.inf


class Choices(NamedTuple):
    """The names that an option offers."""

    names: tuple[str, ...]


class Reads(NamedTuple):
    """Declares that the files of an option's value belong to the agent: a folder's, or a command's.

    A kept run is not resumed after an edit of such a file. A file that is an option's whole value
    belongs to the agent without it.

    Example:
        >>> from typing import Annotated
        >>> Folder = Annotated[str, Reads("folder")]  # the type of an agent's option
    """

    what: Literal["folder", "command"]


class Writes(NamedTuple):
    """Declares that the agent writes the file of an option's value.

    The file does not belong to the agent, which stays the same agent when the file grows. The file
    lies on one machine, so a run on a cluster refuses the option.

    Example:
        >>> from typing import Annotated
        >>> WrittenFile = Annotated[str, Writes()]  # the type of an agent's option
    """


@dataclass(frozen=True, slots=True)
class Option:
    """An option of an agent: its type, default, help and range."""

    name: str
    kind: type  # int, float, bool or str
    default: Any  # REQUIRED if there is no default
    help: str = ""
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()  # the allowed texts
    optional: bool = False  # None is allowed
    open: bool = False  # the class itself checks other texts and values
    reads: str = ""  # "folder" or "command" (Reads)
    writes: bool = False  # the agent writes the file (Writes)

    def parse(self, agent: str, value: Any, text: bool = True) -> Any:
        """Convert and check a value.

        Args:
            agent: the agent's name, for the error.
            value: the value.
            text: whether a text may stand for a number, a boolean or None, as in a spec.

        Raises:
            InvalidOption: the value has another type or is out of range.
        """
        if self.optional and (value is None or (text and value == "None")):
            return None
        if self.open and not isinstance(value, str):
            return value
        try:
            parsed = _convert(self.kind, value, text)
        except (KeyError, OverflowError, TypeError, ValueError):
            raise self._wrong(agent, value) from None
        if self.kind in (int, float):
            finite = parsed != math.inf or math.isinf(self.low)
            fits = finite and self.low <= parsed <= self.high
        else:
            fits = self.open or not self.choices or parsed in self.choices
        if not fits:
            raise self._wrong(agent, value)
        return parsed

    def _wrong(self, agent: str, value: Any) -> InvalidOption:
        expected = {str: "text", bool: "true or false"}.get(self.kind, self.kind.__name__)
        if self.choices:
            expected = f"one of {', '.join(self.choices)}"
        elif not math.isinf(self.high):
            expected += f" between {self.low:g} and {self.high:g}"
        elif not math.isinf(self.low):
            finite = "finite " if self.kind is float else ""
            expected = f"{finite}{expected} of at least {self.low:g}"
        if self.optional:
            expected += ", or None"
        return InvalidOption(f"{agent}: {self.name}={value!r}: expected {expected}")


def _convert(kind: type, value: Any, text: bool) -> Any:
    if kind is str:
        return os.fspath(value)
    if isinstance(value, str):
        if not text:
            raise TypeError
        return _BOOLEANS[value.lower()] if kind is bool else kind(value)
    if isinstance(value, bool | np.bool_) != (kind is bool):
        raise TypeError
    return operator.index(value) if kind is int else kind(value)


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the table of agents; the class or function ``target`` declares the options.

    Example:
        >>> register("mine", Entry("mine", "my_package.agents:Mine", "Plays the middle."))
        >>> "mine" in names()
        True
    """

    name: str
    target: str
    """``module:attribute`` of a class or function, imported on first use; a module whose name
    begins with a dot is one of ``c4env.agents``."""
    summary: str = ""  # empty: the first line of the docstring
    argument: str = ""  # the option that a spec may set without a key: name:argument
    needs: tuple[str, ...] = ()  # required modules of other packages
    any_board: bool = False  # True: plays on all boards (c4env.use_board), not only on 6x7x4
    network: bool = False  # True: sends requests, which may cost money; checks must skip it
    runs: Literal["shared", "own", "here"] = "shared"
    """Where a run plays the agent: in the process that agents of this project share, in a process
    of its own (it runs other people's code), or here, in the process of the run (it waits for a
    program or a server)."""


ZOO: Final = (
    Entry("random", ".baselines:Random", any_board=True),
    Entry("greedy", ".baselines:Greedy", any_board=True),
    Entry("minimax", ".search.fixed_depth:Minimax", any_board=True),
    Entry("alphabeta", ".search.fixed_depth:AlphaBeta", any_board=True),
    Entry("deepening", ".search.deepening:Deepening"),
    Entry("alphabeta-chain", ".search.fixed_depth:Chain"),
    Entry("alphabeta-window", ".search.fixed_depth:WindowA"),
    Entry("alphabeta-window-b", ".search.fixed_depth:WindowB"),
    Entry("rust-port", ".search.rustport:RustPort"),
    Entry("negamax", ".search.negamax:Negamax", any_board=True),
    Entry("perfect", ".solver.perfect:Perfect", any_board=True),
    Entry("graded", ".graded:Graded"),
    Entry("mcts", ".sampling.mcts:MCTS", any_board=True),
    Entry("puct", ".sampling.puct:PUCT", argument="function", any_board=True),
    Entry("learned", ".learned:Learned"),
    Entry("selfplay", ".selfplay.folder:selfplay", argument="path", needs=("torch",)),
    Entry("sb3", ".policies:SB3", argument="path", needs=("stable_baselines3",), runs="own"),
    # Other people's agents.
    Entry("exec", ".adapters.programs:Engine", argument="command", runs="here"),
    Entry(
        "chat",
        ".adapters.chat:Chat",
        argument="model",
        needs=("openai",),
        network=True,
        runs="here",
    ),
    Entry("kaggle", ".adapters.programs:Submission", argument="file", any_board=True, runs="own"),
    Entry("torch", ".policies:TorchFunction", argument="function", needs=("torch",), runs="own"),
)
