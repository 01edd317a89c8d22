"""Options of agents, declared in the signature and docstring of the agent's class.

``depth: Plies = 7`` in an ``__init__`` decorated by :func:`validate_args` is a complete
declaration: the type bounds the value, and ``c4 list`` prints the default and the first sentence
about ``depth`` in the docstring's ``Args``.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Literal, TypeVar

from c4env.agents.entries import REQUIRED, Choices, Option, Range, Reads, Writes
from c4env.agents.functions import parameters_of
from c4env.geometry import COLUMNS, CONNECT, IS_STANDARD, ROWS

CELLS: Final = ROWS * COLUMNS
DAY: Final = 86400.0  # seconds, the longest time that an option may set, also for a move

_HEURISTICS: Final = {  # each name, and whether this board has the heuristic
    "chain": CONNECT == 4,
    "lines": IS_STANDARD,
    "threats": IS_STANDARD,
    "window": CONNECT == 4,
    "window-b": CONNECT == 4,
    "none": CONNECT != 4,  # since the others count only lines of four
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
Command = Annotated[str, Reads("command")]  # so do the files among its words
WrittenFile = Annotated[str, Writes()]  # it does not belong to the agent
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
"""A heuristic: a name, an import path or a function (``c4env.agents.heuristics.names``).

A text in an annotation is the help of an option that the docstring's ``Args`` does not describe."""

Init = TypeVar("Init", bound=Callable[..., Any])


def validate_args(function: Init) -> Init:
    """Decorate an ``__init__`` or an agent factory, so that each call checks its arguments.

    Each argument is converted to the type in its annotation. The agent stores the arguments for its
    ``repr``.

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

    return typing.cast("Init", call)


@functools.cache
def _signature_and_options(function: Any) -> tuple[inspect.Signature, list[Option]]:
    options = [option for option in options_of(function) if option.name != "self"]
    return inspect.signature(function), options


def options_of(target: Callable[..., Any]) -> tuple[Option, ...]:
    """Read the options of a class or function from its signature and docstring.

    The annotation may be int, float, bool, str or a Literal, optionally with ``| None`` or
    :class:`Range`. With another annotation, a parameter's value is the text as written in
    the spec.
    """
    try:
        init = target.__init__ if inspect.isclass(target) else target
        hints = typing.get_type_hints(init, include_extras=True)
    except Exception:  # a user's annotations may be no types, or not resolvable
        hints = {}
    helps = argument_help(target.__doc__)
    return tuple(
        _option(name, parameter.default, hints.get(name, Any), helps.get(name, ""))
        for name, parameter in (parameters_of(target) or {}).items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    )


def _option(name: str, default: Any, hint: Any, help_: str) -> Option:
    parts = list(_parts(hint))
    kind = next((kind for kind in (str, bool, int, float) if kind in parts), None)
    others = [part for part in parts if part not in (str, bool, int, float, types.NoneType)]
    marks = [part for part in others if isinstance(part, Range | Choices | Reads | Writes | str)]
    range_ = next((mark for mark in marks if isinstance(mark, Range)), Range(-math.inf))
    names = next((mark.names for mark in marks if isinstance(mark, Choices)), ())
    return Option(
        name,
        kind or str,
        REQUIRED if default is inspect.Parameter.empty else default,
        help_ or next((mark for mark in marks if isinstance(mark, str)), ""),
        range_.low,
        range_.high,
        names,
        optional=types.NoneType in parts,
        open=kind is None or len(others) > len(marks),
        reads=next((mark.what for mark in marks if isinstance(mark, Reads)), ""),
        writes=any(isinstance(mark, Writes) for mark in marks),
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


def argument_help(doc: str | None) -> dict[str, str]:
    """Return the first sentence about each argument or attribute in a docstring."""
    text = inspect.cleandoc(doc or "").replace("\nAttributes:\n", "\nArgs:\n")
    section = re.split(r"\n(?=\S)", text.partition("\nArgs:\n")[2])[0]
    items = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.M)
    texts = ((name, " ".join(item.replace("``", "").split())) for name, item in items)
    return {name: re.split(r"(?<!\.)\.(?=\s|$)", item)[0] for name, item in texts}


def summary_of(doc: str | None) -> str:
    """Return a docstring's first line without its markup."""
    return (doc or "").strip().partition("\n")[0].replace("``", "")
