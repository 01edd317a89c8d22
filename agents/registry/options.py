"""Options of agents, declared in the signature and docstring of the agent's class.

``depth: Plies = 7`` in an ``__init__`` decorated by :func:`checked` is a complete declaration: the
type bounds the value, and ``c4 list`` prints the default and the first sentence about ``depth`` in
the docstring's ``Args``. Annotations and defaults of this package's agents use only names from this
module, so that :func:`declared` can evaluate them without compiling kernels.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path as Path
from typing import Annotated, Any, Final, Literal, TypeVar

from c4env.agents.registry.entries import REQUIRED, Between, Named, Option

from ...geometry import COLUMNS, CONNECT, IS_STANDARD, ROWS
from ..base import parameters_of

CELLS: Final = ROWS * COLUMNS
MOST: Final = 10**15  # positions; with more, counters of 64 bits could overflow
DAY: Final = 86400.0  # seconds, the longest time that an option may set
HEURISTIC_NAMES: Final[tuple[str, ...]] = (
    ("chain", "lines", "threats", "window", "window-b")
    if IS_STANDARD
    else ("chain", "window", "window-b")
    if CONNECT == 4
    else ("none",)  # heuristics count only lines of four
)
DEFAULT_HEURISTIC: Final = HEURISTIC_NAMES[0]
"""The name of the default heuristic."""

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
"""A heuristic: a name, an import path or a function. The text in the annotation replaces the help
from the docstring, which cannot list the names."""

Made = TypeVar("Made", bound=Callable[..., Any])


def checked(function: Made) -> Made:
    """Decorate an ``__init__`` or an agent factory, so that each call checks its arguments.

    Each argument is converted to the type in its annotation. The agent stores the arguments for its
    ``repr``.

    Raises:
        InvalidValue: a call passes a value of another type or out of range.
    """

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        signature, known = _known(function)
        try:
            given = signature.bind(*args, **options)
        except TypeError:
            return function(*args, **options)  # raises Python's own TypeError
        agent = given.arguments.get("self")
        who = function.__name__ if agent is None else type(agent).__name__
        for name, option in known.items():
            if name in given.arguments:
                given.arguments[name] = option.parse(who, given.arguments[name], text=False)
        if agent is not None:
            kept = {name: value for name, value in given.arguments.items() if name in known}
            vars(agent).setdefault("_given", kept)  # a subclass sets it first
        return function(*given.args, **given.kwargs)

    return typing.cast("Made", call)


@functools.cache
def _known(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Option]]:
    options = {option.name: option for option in options_of(function) if option.name != "self"}
    return inspect.signature(function), options


def options_of(target: Callable[..., Any]) -> tuple[Option, ...]:
    """Read the options of a class or function from its signature and docstring.

    The annotation may be int, float, bool, str or a Literal, optionally with ``| None`` or
    :class:`Between`. With another annotation, a parameter's value is the text as written in
    the spec.
    """
    try:
        init = target.__init__ if inspect.isclass(target) else target
        hints = typing.get_type_hints(init, include_extras=True)
    except Exception:  # a user's annotations may be no types, or unresolvable here
        hints = {}
    said = _told(target.__doc__)
    return tuple(
        _option(name, parameter.default, hints.get(name, Any), said.get(name, ""))
        for name, parameter in (parameters_of(target) or {}).items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    )


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
        range_.low,
        range_.high,
        names,
        optional=types.NoneType in parts,
        open=kind is None or len(others) > len(marks),
    )


def _parts(hint: Any) -> Iterator[Any]:
    """Yield the types in an annotation, its ``Annotated`` metadata, and the names of a Literal."""
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
    """Return the first sentence about each argument in the ``Args`` of a docstring."""
    _, _, rest = inspect.cleandoc(doc or "").partition("\nArgs:\n")
    items = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.split(r"\n(?=\S)", rest)[0], re.M)
    texts = ((name, " ".join(text.replace("``", "").split())) for name, text in items)
    return {name: re.split(r"(?<!\.)\.(?=\s|$)", text)[0] for name, text in texts}


_NEXT: Final = re.compile(r"\n(?=[@\w])")  # the end of a top-level class or function


@functools.cache
def declared(path: str) -> Callable[..., Any]:
    """Return a stub of a class or function of this package, with signature and docstring.

    The stub is made from the source, since importing the module would compile kernels.

    Args:
        path: ``.module:name``, relative to ``c4env.agents``. A class that does
            not define ``__init__`` takes no options.
    """
    module, _, name = path.partition(":")
    file = Path(__file__).parents[1].joinpath(*module.split(".")).with_suffix(".py")
    source = file.read_text(encoding="utf-8")
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
