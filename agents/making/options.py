"""Options of agents, declared in the signature and docstring of the agent's class.

``depth: Plies = 7`` in an ``__init__`` decorated by :func:`validate_args` is a complete
declaration: the type bounds the value, and ``c4 list`` prints the default and the first sentence
about ``depth`` in the docstring's ``Args``.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import os
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

from c4env.errors import InvalidOption, is_boolean, suggest
from c4env.geometry import COLUMNS, CONNECT, IS_STANDARD, ROWS

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

    choices: tuple[str, ...]


class Reads(NamedTuple):
    """Marks an option, a folder or a command, whose files are part of the agent.

    A stored run notices edits of these files, and is not resumed after an edit. An option that is a
    single file does not need it.

    Example:
        >>> from typing import Annotated
        >>> Folder = Annotated[str, Reads("folder")]  # the type of an agent's option
    """

    reads: Literal["folder", "command"]


class Writes(NamedTuple):
    """Marks an option whose file the agent writes.

    The file does not belong to the agent: the agent stays the same agent when the file grows. The
    file lies on one machine, so a run on a cluster refuses the option.

    Example:
        >>> from typing import Annotated
        >>> WrittenFile = Annotated[str, Writes()]  # the type of an agent's option
    """

    writes: bool = True


_MARKS: Final = (Range, Choices, Reads, Writes)  # Option has all of their fields


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
    accepts_objects: bool = False  # the class itself checks other texts and values
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
        if self.accepts_objects and not isinstance(value, str):
            return value
        try:
            parsed = _convert(self.kind, value, text)
        except (KeyError, OverflowError, TypeError, ValueError):
            raise self._wrong(agent, value) from None
        if self.kind in (int, float):
            finite = parsed != math.inf or math.isinf(self.low)
            fits = finite and self.low <= parsed <= self.high
        else:
            fits = self.accepts_objects or not self.choices or parsed in self.choices
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
    if is_boolean(value) != (kind is bool):
        raise TypeError
    return operator.index(value) if kind is int else kind(value)


CELLS: Final = ROWS * COLUMNS
DAY: Final = 86400.0  # seconds, the longest time that an option may set

_HEURISTICS: Final = {  # each name, and whether this board has the heuristic
    "chain": CONNECT == 4,
    "lines": IS_STANDARD,
    "threats": IS_STANDARD,
    "window": CONNECT == 4,
    "window-b": CONNECT == 4,
    "none": CONNECT != 4,  # the other heuristics count only lines of four
}
HEURISTIC_NAMES: Final = tuple(name for name, exists in _HEURISTICS.items() if exists)
DEFAULT_HEURISTIC: Final = HEURISTIC_NAMES[0]

Plies = Annotated[int, Range(1, CELLS), "plies looked ahead, the agent's own move included"]
Positions = Annotated[int, Range(1, 10**15)]  # more could overflow counters of 64 bits
Simulations = Annotated[int, Range(1, 10**9)]
Megabytes = Annotated[int, Range(1, 65536)]
Seconds = Annotated[float, Range(0, DAY)]
Movetime = Annotated[
    float, Range(0.001, DAY), "seconds for each move; games with the same seed may then differ"
]
Share = Annotated[float, Range(0, 1)]
Temperature = Annotated[
    float, Range(0), "0 plays the preferred column; 1 samples a column, as in training"
]
Folder = Annotated[str, Reads("folder")]  # every file in it belongs to the agent
Command = Annotated[str, Reads("command")]  # every file among its words belongs to the agent
WrittenFile = Annotated[str, Writes()]  # the file does not belong to the agent
_PolicyForm = Literal["logits", "probabilities"]
POLICIES: Final = typing.get_args(_PolicyForm)
Policy = Annotated[
    _PolicyForm | None,
    "logits or probabilities, what the network gives; without it logits, and a policy that looks "
    "like probabilities is refused",
]
HeuristicName = Annotated[
    str | Callable[[int, int], float],
    Choices(HEURISTIC_NAMES),
    f"{', '.join(HEURISTIC_NAMES)} or a module:function",
]
"""A heuristic: a name, an import path or a function (``c4env.agents.heuristics.heuristic``)."""

Init = TypeVar("Init", bound=Callable[..., Any])


def validate_args(function: Init) -> Init:
    """Decorate an ``__init__`` or an agent factory, so that each call checks its arguments.

    The decorator converts each argument to the type in its annotation. The agent stores the
    arguments for its ``repr``.

    Raises:
        InvalidOption: a call passes a value of another type or out of range.

    Example:
        >>> @validate_args
        ... def mine(depth: int = 4): ...
        >>> mine(depth="four")
        Traceback (most recent call last):
        c4env.errors.InvalidOption: mine: depth='four': expected int
    """

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        signature, options = _signature_and_options(function)
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError:
            return function(*args, **keywords)  # raises Python's own TypeError
        values = bound.arguments
        agent = values.get("self")
        who = function.__name__ if agent is None else type(agent).__name__
        for option in options:
            if option.name in values:
                values[option.name] = option.parse(who, values[option.name], text=False)
        if agent is not None:
            arguments = {o.name: values[o.name] for o in options if o.name in values}
            vars(agent).setdefault("_arguments", arguments)  # a subclass sets it first
        return function(*bound.args, **bound.kwargs)

    call.c4env_options = True  # type: ignore[attr-defined]  # read by makes_agents
    return typing.cast("Init", call)


@functools.cache
def _signature_and_options(function: Any) -> tuple[inspect.Signature, list[Option]]:
    options = [option for option in options_of(function) if option.name != "self"]
    return inspect.signature(function), options


def makes_agents(function: Callable[..., Any]) -> bool:
    """Return whether calling a function makes an agent.

    A function makes an agent if :func:`validate_args` decorates it, or if it requires no argument.
    Any other function is itself an agent, whose argument is an observation.
    """
    return getattr(function, "c4env_options", False) is True or not any(
        p.default is p.empty and p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)
        for p in inspect.signature(function).parameters.values()
    )


def parameters_of(target: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    """Return a callable's parameters; None if Python cannot find them, as for ``max``."""
    try:
        return inspect.signature(target).parameters
    except (TypeError, ValueError):
        return None


def options_of(target: Callable[..., Any]) -> tuple[Option, ...]:
    """Read the options of a class or function from its signature and docstring.

    The annotation may be int, float, bool, str or a Literal, optionally with ``| None`` or
    :class:`Range`. With another annotation, a parameter's value is the text as written in
    the spec. A text in ``Annotated`` is the help of an option that ``Args`` does not describe.
    """
    try:
        init = target.__init__ if inspect.isclass(target) else target
        hints = typing.get_type_hints(init, include_extras=True)
    except Exception:  # a user's annotations may not be types, or not resolvable
        hints = {}
    helps = argument_help(target.__doc__)
    return tuple(
        _option(name, parameter.default, hints.get(name, Any), helps.get(name, ""))
        for name, parameter in (parameters_of(target) or {}).items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    )


def _option(name: str, default: Any, hint: Any, help_: str) -> Option:
    parts = list(_parts(hint))
    kinds = [part for part in parts if not isinstance(part, (*_MARKS, str))]
    kind = next((kind for kind in (str, bool, int, float) if kind in kinds), None)
    marks: dict[str, Any] = {}
    for mark in parts:
        marks |= mark._asdict() if isinstance(mark, _MARKS) else {}
    return Option(
        name,
        kind or str,
        REQUIRED if default is inspect.Parameter.empty else default,
        help_ or next((part for part in parts if isinstance(part, str)), ""),
        optional=types.NoneType in kinds,
        accepts_objects=kind is None
        or any(k not in (str, bool, int, float, types.NoneType) for k in kinds),
        **marks,
    )


def _parts(hint: Any) -> Iterator[Any]:
    """Yield the types in an annotation, its ``Annotated`` metadata, and the names of a Literal."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        yield from _parts(inner[0])
        yield from inner[1:]
    elif origin is Literal:
        yield from (str, Choices(inner))
    elif origin in (typing.Union, types.UnionType):
        for part in inner:
            yield from _parts(part)
    else:
        yield hint


def require_known(who: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an option that is not known.

    Raises:
        InvalidOption: an option is not known; the message begins with ``who``.
    """
    for name in options:
        if name not in known:
            raise InvalidOption(f"{who}: {unknown('option', name, known)}")


def unknown(kind: str, name: str, names: Iterable[str]) -> str:
    """Return the message about a name that is not in ``names``."""
    every = f"; known: {', '.join(sorted(names)) or 'none'}"
    return f"unknown {kind} {name!r}{suggest(name, names, every)}"


def argument_help(doc: str | None) -> dict[str, str]:
    """Return the first sentence about each argument or attribute that a docstring describes."""
    text = inspect.cleandoc(doc or "").replace("\nAttributes:\n", "\nArgs:\n")
    section = re.split(r"\n(?=\S)", text.partition("\nArgs:\n")[2])[0]
    items = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.M)
    texts = ((name, " ".join(item.replace("``", "").split())) for name, item in items)
    return {name: re.split(r"(?<!\.)\.(?=\s|$)", item)[0] for name, item in texts}


def summary_of(doc: str | None) -> str:
    """Return a docstring's first line without its markup."""
    return (doc or "").strip().partition("\n")[0].replace("``", "")
