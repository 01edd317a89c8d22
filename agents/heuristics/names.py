"""Heuristics by name or import path, ready for a search.

A heuristic ``float64(int64 mine, int64 theirs)`` returns the value of an undecided position for the
side whose discs are ``mine``, whichever side is to move. The searches detect wins themselves and
never evaluate a won board. On a won board each heuristic of this package returns ``+WIN`` or
``-WIN``.
"""

from __future__ import annotations

import ctypes
import functools
import math
import numbers
import re
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Final

import numba
from numba import types

from c4env.agents.imports import format_error, import_callable, suggest
from c4env.boards import require_board, size_of
from c4env.errors import InvalidOption
from c4env.jit import config, kept_for, kernel

from ...geometry import BOARD_SIZE, CONNECT, ROWS
from ..options import HEURISTIC_NAMES
from . import WIN as WIN

Heuristic = Callable[[int, int], float]

_SIGNATURE: Final = types.float64(types.int64, types.int64)
_PROBES: Final = ((0, 0), (1, 1 << (ROWS + 1)))  # no disc; one of each side, side by side
_ADVICE: Final = {  # by the type of a global that Numba does not know
    "function": "decorate the function with @numba.njit",
    "dict": "use a NumPy array instead of the dictionary",
}

_functions: dict[str, Any]
if CONNECT == 4:
    from . import evaluations

    _functions = vars(evaluations)
else:

    @kernel("float64(int64, int64)")
    def none(mine: int, theirs: int) -> float:
        """Return 0 for every board, so that searches value only finished games."""
        return 0.0

    _functions = {"none": none}

HEURISTICS: Final[dict[str, Heuristic]] = {
    name: _functions[name.replace("-", "_")] for name in HEURISTIC_NAMES
}


def load(name: str | Heuristic) -> Heuristic:
    """Return the heuristic that a name or an import path names.

    A user's function is compiled for ``float64(int64, int64)`` unless it is compiled already. A
    Python function that Numba cannot compile becomes a :class:`PlainHeuristic`, which is slow.

    Raises:
        InvalidOption: there is no such heuristic.
    """
    if not isinstance(name, str):
        return heuristic_of(name, getattr(name, "__name__", repr(name)))
    if name in HEURISTICS:
        return HEURISTICS[name]
    module_name, _, attribute = name.partition(":")
    expected = f"one of {', '.join(HEURISTICS)}, or package.module:function"
    if not module_name or not attribute:
        raise InvalidOption(f"heuristic {name!r}{suggest(name, HEURISTICS)}: expected {expected}")
    return heuristic_of(import_callable(name, InvalidOption, f"heuristic {name!r}", expected), name)


def heuristic_of(function: Any, name: str) -> Heuristic:
    """Return a user's function as a heuristic: compiled, or else as :class:`PlainHeuristic`.

    Raises:
        InvalidOption: the function raises an error, or does not return a number; or a function
            that is compiled by Numba has another signature.
        WrongBoard: the function calls kernels of another board size.
    """
    if not callable(function):
        raise InvalidOption(f"heuristic {name!r}: {function!r} is not a function")
    for thing in (function, *_kernels_of(function)):
        require_board(thing, BOARD_SIZE, f"heuristic {name!r}")
    heuristic: Heuristic = function
    if config.DISABLE_JIT or isinstance(function, PlainHeuristic):
        return heuristic  # without a compiler, all kernels are Python functions
    dispatcher, is_compiled = function, hasattr(function, "nopython_signatures")
    if not is_compiled:
        dispatcher = numba.njit(function)
    elif function.stats.cache_path is not None and size_of(function.__module__) is None:
        dispatcher = _cached_for_this_board(function)
    try:
        if _SIGNATURE.args not in dispatcher.overloads:
            dispatcher.compile(_SIGNATURE.args)
        result = dispatcher.overloads[_SIGNATURE.args].signature.return_type
    except Exception as error:  # errors of Numba's passes have any type
        if is_compiled:
            raise InvalidOption(
                f"heuristic {name!r} does not compile for (int64 mine, int64 theirs): "
                f"{_cause(error)}"
            ) from None
        return _plain_heuristic(function, name, _cause(error))
    if result != types.float64:
        raise InvalidOption(
            f"heuristic {name!r} returns {result}: expected float64, the value for `mine`"
        )
    heuristic = dispatcher
    return heuristic


def _plain_heuristic(function: Any, name: str, cause: str) -> PlainHeuristic:
    """Return a function that does not compile, if it values a board at all."""
    plain = PlainHeuristic(function)
    for board in _PROBES:
        try:
            value = function(*board)
        except (Exception, SystemExit) as error:
            raise InvalidOption(f"heuristic {name!r} raised {format_error(error)}") from error
        if not isinstance(value, numbers.Real):
            raise InvalidOption(
                f"heuristic {name!r} returned {value!r}: expected a float, the value for `mine`"
            )
    _say(
        f"heuristic {name!r} plays as plain Python, which is slow; Numba cannot compile it: {cause}"
    )
    return plain


@functools.cache
def _say(text: str) -> None:
    """Print a line on stderr, once in a process."""
    print(text, file=sys.stderr)


def _cached_for_this_board(function: Any) -> Any:
    """Compile a user's ``@njit(cache=True)`` function anew; its cache may be another board's."""
    options = {key: value for key, value in function.targetoptions.items() if key != "nopython"}
    with kept_for(BOARD_SIZE):
        compiled: Any = numba.njit(cache=True, **options)(function.py_func)
    compiled.deterministic = is_deterministic(function)
    return compiled


def _kernels_of(function: Any) -> list[Any]:
    """Return the compiled functions among the globals that a function uses."""
    function = getattr(function, "py_func", function)
    names = function.__code__.co_names if hasattr(function, "__code__") else ()
    values = [function.__globals__.get(name) for name in names]
    return [value for value in values if hasattr(value, "py_func")]


def _cause(error: Exception) -> str:
    """Return the reason and the line of a compile error, without Numba's compilation steps."""
    lines = re.sub(r"\x1b\[\d*m", "", str(error)).split("\n\n")[0].splitlines()
    reason = [line for line in lines if not line.startswith(("Failed in", "During:"))]
    cause = " ".join(" ".join(reason).split())
    for kind, advice in _ADVICE.items():
        cause = re.sub(rf"(Untyped global name '\w+': ).*<class '{kind}'>", rf"\1{advice}", cause)
    reflected = r"The use of a reflected (list|set).* to variable '(\w+)' in globals.*"
    cause = re.sub(reflected, r"Global name '\2': use a NumPy array instead of the \1", cause)
    cause = re.split(r" There are \d+ candidate", cause)[0]
    location = getattr(error, "loc", None)
    line = f"line {location.line}: " if location is not None else ""
    return f"{line}{cause.rstrip('.')[:600]}"


def is_deterministic(heuristic: Heuristic) -> bool:
    """Return True for this package's heuristics, and for functions marked ``deterministic``."""
    is_ours = any(heuristic is function for function in HEURISTICS.values())
    return is_ours or getattr(heuristic, "deterministic", False) is True


def require_finite(value: float, name: object) -> float:
    """Return a heuristic's value; InvalidOption if no search can use it."""
    if not -WIN < value < WIN:
        raise not_a_value(name, value)
    return value


def not_a_value(heuristic: object, value: object = "an unusable value") -> InvalidOption:
    """Return the error about a heuristic, or its name, that gave a value no search can use."""
    error, PlainHeuristic.raised = PlainHeuristic.raised, None
    if isinstance(error, Exception):
        return InvalidOption(f"heuristic {heuristic!r} raised {format_error(error)}")
    if error is not None:  # Ctrl-C during a call
        raise error
    return InvalidOption(
        f"heuristic {heuristic!r} gave {value}: expected a number strictly between "
        f"{-WIN:,.0f} and {WIN:,.0f}"
    )


def as_argument(heuristic: Heuristic) -> Any:
    """Return a heuristic as a kernel argument; this package's become :class:`CompiledHeuristic`."""
    for name, function in HEURISTICS.items():
        if function is heuristic and not config.DISABLE_JIT:
            return CompiledHeuristic(name)
    return heuristic


class CompiledHeuristic:
    """A heuristic of this package as a kernel argument; the machine code is looked up once.

    For a function itself, Numba looks up the machine code at each call, which takes longer than a
    search of two plies. An exception in a function called by its address would be lost, so users'
    functions are passed as they are.
    """

    _numba_type_: Final = types.FunctionType(_SIGNATURE)

    def __init__(self, name: str) -> None:
        self.name = name
        function: Any = HEURISTICS[name]
        compiled = function.get_compile_result(_SIGNATURE)
        self._address = compiled.library.get_pointer_to_function(
            compiled.fndesc.llvm_cfunc_wrapper_name
        )

    def __wrapper_address__(self) -> int:
        """Return the address of the C function."""
        return int(self._address)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name only; another process looks up its own machine code."""
        return CompiledHeuristic, (self.name,)


class PlainHeuristic:
    """A Python function as a kernel argument: machine code calls it back.

    An exception would be lost in machine code. It is kept in ``raised`` for :func:`not_a_value`,
    and the search gets nan, which no search can use.
    """

    _numba_type_: Final = types.FunctionType(_SIGNATURE)
    raised: ClassVar[BaseException | None] = None

    def __init__(self, function: Callable[[int, int], Any]) -> None:
        self.function = function
        self.deterministic = getattr(function, "deterministic", False) is True
        kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_int64)
        self._callback = kind(self._value)

    def __call__(self, mine: int, theirs: int) -> float:
        """Return the function's value."""
        return float(self.function(mine, theirs))

    def _value(self, mine: int, theirs: int) -> float:
        try:
            return self(mine, theirs)
        except BaseException as error:
            PlainHeuristic.raised = error
            return math.nan

    def __wrapper_address__(self) -> int:
        """Return the address of the C function."""
        return ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy or pickle the function alone."""
        return PlainHeuristic, (self.function,)
