"""Options of agents, declared where a class takes them: types, default and docstring.

``depth: Plies = 7`` in an ``__init__`` under :func:`checked` is all there is to say: the type
bounds the value, and the first sentence about ``depth`` in the docstring's ``Args`` is what
``c4 list`` prints. Agents of this package name in annotations and defaults nothing but what this
module holds, so that :func:`declared` reads them without compiling kernels.
"""

from __future__ import annotations

__any_board__ = True

import __future__

import ast
import functools
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as Path
from typing import Annotated, Any, Final, Literal, TypeVar

from c4env.agents.registry.entries import REQUIRED, Between, Named, Option
from c4env.geometry import COLUMNS, CONNECT, IS_STANDARD, ROWS
from c4env.sources import modules

CELLS: Final = ROWS * COLUMNS
MOST: Final = 10**15  # of what is counted; beyond it counters of 64 bits could overflow
DAY: Final = 86400.0  # seconds, the longest an option may say
HEURISTIC_NAMES: Final[tuple[str, ...]] = (
    ("chain", "lines", "threats", "window", "window-b")
    if IS_STANDARD
    else ("chain", "window", "window-b")
    if CONNECT == 4
    else ("none",)  # for lines of another length there are none
)
DEFAULT_HEURISTIC: Final = HEURISTIC_NAMES[0]
"""The heuristic of agents that are not given another."""

Plies = Annotated[int, Between(1, CELLS)]
Positions = Annotated[int, Between(1, MOST)]
Simulations = Annotated[int, Between(1, 10**9)]
Megabytes = Annotated[int, Between(1, 65536)]
Seconds = Annotated[float, Between(0, DAY)]
Movetime = Annotated[float, Between(0.001, DAY)]
Share = Annotated[float, Between(0, 1)]
Temperature = Annotated[float, Between(0)]
HeuristicName = Annotated[
    str | Callable[[int, int], float],
    Named(HEURISTIC_NAMES),
    f"{', '.join(HEURISTIC_NAMES)} or a module:function",
]
"""A heuristic, by name or import path or itself. A text in an annotation takes the place of the
docstring's, where that cannot know."""

Made = TypeVar("Made", bound=Callable[..., Any])


def checked(function: Made) -> Made:
    """Check what an ``__init__``, or a function that makes an agent, is called with.

    Each argument is converted to the type that its annotation says, or refused. What an agent
    was given is kept for its ``repr``.

    Raises:
        InvalidValue: when it is called with a value that is out of range or of another type.
    """

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        signature, known = _known(function)
        try:
            given = signature.bind(*args, **options)
        except TypeError:
            return function(*args, **options)  # Python's own words say it
        agent = given.arguments.get("self")
        who = function.__name__ if agent is None else type(agent).__name__
        for name, option in known.items():
            if name in given.arguments:
                given.arguments[name] = option.parse(who, given.arguments[name], text=False)
        if agent is not None:
            kept = {name: value for name, value in given.arguments.items() if name in known}
            vars(agent).setdefault("_given", kept)  # a base class is called with others
        return function(*given.args, **given.kwargs)

    return typing.cast("Made", call)


@functools.cache
def _known(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Option]]:
    options = {option.name: option for option in options_of(function) if option.name != "self"}
    return inspect.signature(function), options


def options_of(target: Callable[..., Any]) -> tuple[Option, ...]:
    """What a class or function is called with, by its signature and docstring.

    A value is read as the annotation says, which may be int, float, bool, str or a Literal, also
    with ``| None`` and with :class:`Between`; other parameters get the text.
    """
    try:
        init = target.__init__ if inspect.isclass(target) else target
        hints = typing.get_type_hints(init, include_extras=True)
    except Exception:  # annotations need not be types, nor known here
        hints = {}
    said = _told(target.__doc__)
    return tuple(
        _option(name, parameter.default, hints.get(name, Any), said.get(name, ""))
        for name, parameter in (parameters_of(target) or {}).items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    )


def parameters_of(target: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    """The parameters it is called with; None where they are not known, as of ``max``."""
    try:
        return inspect.signature(target).parameters
    except (TypeError, ValueError):
        return None


def _option(name: str, default: Any, hint: Any, said: str) -> Option:
    parts = list(_parts(hint))
    kind = next((kind for kind in (str, bool, int, float) if kind in parts), None)
    others = [part for part in parts if part not in (str, bool, int, float, types.NoneType)]
    marks = [part for part in others if isinstance(part, Between | Named | str)]
    range_ = next((mark for mark in marks if isinstance(mark, Between)), Between(-math.inf))
    names = next((part.names for part in marks if isinstance(part, Named)), ())
    return Option(
        name,
        kind or str,
        REQUIRED if default is inspect.Parameter.empty else default,
        next((mark for mark in marks if isinstance(mark, str)), said),
        *(range_.low, range_.high, names),
        optional=types.NoneType in parts,
        open=kind is None or len(others) > len(marks),
    )


def _parts(hint: Any) -> Iterator[Any]:
    """The types in an annotation, and what is said of them; the names of a Literal."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        yield from _parts(inner[0])
        yield from inner[1:]
    elif origin is Literal:
        yield from (str, Named(inner))
    elif origin in (typing.Union, types.UnionType):
        for part in inner:
            yield from _parts(part)
    else:
        yield hint


def _told(doc: str | None) -> dict[str, str]:
    """By argument, the first sentence that a docstring's ``Args`` have of it."""
    _, _, rest = inspect.cleandoc(doc or "").partition("\nArgs:\n")
    items = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.split(r"\n(?=\S)", rest)[0], re.M)
    texts = ((name, " ".join(text.replace("``", "").split())) for name, text in items)
    return {name: re.split(r"(?<!\.)\.(?=\s|$)", text)[0] for name, text in texts}


_NEXT: Final = re.compile(r"\n(?=[@\w])")  # ends a class or function at the top of a module


@functools.cache
def declared(path: str) -> Callable[..., Any]:
    """A class or function of this package as its source declares it: signature and docstring.

    Its module is not imported, which would compile kernels.

    Args:
        path: ``module:name``. A class without an ``__init__`` of its own takes no options.
    """
    module, _, name = path.partition(":")
    source = modules()[module].read_text(encoding="utf-8")
    starts = (f"\nclass {name}(", f"\nclass {name}:", f"\ndef {name}(")
    text = source[max(map(source.find, starts)) + 1 :]
    end = _NEXT.search(text)
    head, init, rest = (text[: end.start()] if end else text).partition("    def __init__(")
    cut = f"{head}{init}{rest.partition(') -> None:')[0]}) -> None: pass" if init else head
    node = ast.parse(cut).body[0]
    assert isinstance(node, ast.ClassDef | ast.FunctionDef)
    if isinstance(node, ast.ClassDef):
        functions = [part for part in node.body if isinstance(part, ast.FunctionDef)]
        calls = [part for part in functions if part.name == "__init__"]
        node.bases, node.body = [], [node.body[0], *calls]
        for call in calls:
            call.decorator_list = []
    else:
        node.returns, node.body = None, node.body[:1]
    names = dict(globals())
    code = compile(ast.Module([node], []), path, "exec", __future__.annotations.compiler_flag, True)
    exec(code, names)
    return typing.cast("Callable[..., Any]", names[name])
