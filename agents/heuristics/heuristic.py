"""Heuristics by name or import path, ready for a search.

A heuristic ``float64(int64 mine, int64 theirs)`` returns the value of an undecided position for the
side whose discs are ``mine``, whichever side is to move. The searches detect wins themselves and
never evaluate a won board. On a won board each heuristic of this package returns ``+WIN`` or
``-WIN``. A user's heuristic is the Python function that its author wrote: Numba compiles it only if
the author decorated it with ``numba.njit``.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import math
import numbers
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from numba import types as numba_types

from c4env.agents.heuristics import QUIET
from c4env.agents.heuristics import WIN as WIN
from c4env.agents.making.import_path import import_callable
from c4env.agents.making.options import HEURISTIC_NAMES
from c4env.errors import C4Error, InvalidOption, describe_error, suggest
from c4env.geometry import CONNECT, ROWS
from c4env.jit import config, kernel

HeuristicFunction = Callable[[int, int], float]

_SIGNATURE: Final = numba_types.float64(numba_types.int64, numba_types.int64)
_PROBE: Final = (1, 1 << (ROWS + 1))  # one disc of each side, side by side
_NUMBER: Final[Any] = (float, numbers.Real)
_EXPECTED: Final = f"expected a number strictly between {-WIN:,.0f} and {WIN:,.0f}"
_CALLBACK: Final = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_int64)

_functions: dict[str, Any]
if CONNECT == 4:
    from c4env.agents.heuristics import evaluations

    _functions = vars(evaluations)
else:

    @kernel("float64(int64, int64)")
    def none(mine: int, theirs: int) -> float:
        """Return 0 for every board, so that searches value only finished games."""
        return 0.0

    _functions = {"none": none}

HEURISTICS: Final[dict[str, HeuristicFunction]] = {
    name: _functions[name.replace("-", "_")] for name in HEURISTIC_NAMES
}


@dataclass(frozen=True)
class Heuristic:
    """A heuristic, which :meth:`of` makes.

    Attributes:
        given: what the user wrote: a name, an import path or a function.
        name: its name in messages.
        argument: the function as the argument of a kernel.
        deterministic: True for this package's heuristics, and for functions with an attribute
            ``deterministic`` that is True.
    """

    given: str | HeuristicFunction
    name: str
    argument: Any
    deterministic: bool

    @classmethod
    def of(cls, given: str | HeuristicFunction) -> Heuristic:
        """Return the heuristic of a name, an import path or a user's function.

        Raises:
            InvalidOption: no heuristic has the name, the function raises an error or does not
                return a number, or a function that Numba compiles has another signature.
            WrongBoard: the function is a kernel of another board size.
        """
        name = given if isinstance(given, str) else getattr(given, "__name__", repr(given))
        function = _named(given) if isinstance(given, str) else given
        argument = _as_argument(function, name)
        marked = getattr(function, "deterministic", False) is True
        return cls(given, name, argument, marked or function in HEURISTICS.values())

    @property
    def function(self) -> HeuristicFunction:
        """The function that Python calls; a plain function checks its values."""
        asked: HeuristicFunction = self.argument
        return HEURISTICS[asked.name] if isinstance(asked, CompiledHeuristic) else asked

    def value(self, mine: int, theirs: int) -> float:
        """Return the value of a board for the side whose discs are ``mine``.

        Raises:
            InvalidOption: the function raises an error, or gives a value that no search can use.
        """
        try:
            value = self.function(mine, theirs)
            if -WIN < value < WIN:
                return value
        except Exception as error:
            raise self.error(error) from error
        raise self.error(value)

    def error(self, cause: object = "an unusable value") -> C4Error:
        """Return an error that names the heuristic and quotes its exception or its value."""
        if isinstance(cause, C4Error):
            return cause
        if not isinstance(cause, Exception):
            return InvalidOption(f"heuristic {self.name!r} gave {cause!s:.60}: {_EXPECTED}")
        text = " ".join(f"{type(cause).__name__}: {cause}".split())[:300]
        return InvalidOption(f"heuristic {self.name!r} raised {text}")


def _named(name: str) -> Any:
    """Return the function that a name or an import path names."""
    if name in HEURISTICS:
        return HEURISTICS[name]
    module_name, _, attribute = name.partition(":")
    expected = f"one of {', '.join(HEURISTICS)}, or package.module:function"
    if not module_name or not attribute:
        raise InvalidOption(f"heuristic {name!r}{suggest(name, HEURISTICS)}: expected {expected}")
    return import_callable(name, InvalidOption, f"heuristic {name!r}", expected)


def _as_argument(function: Any, name: str) -> Any:
    """Return a function as the argument of a kernel; refuse a function that is not a heuristic."""
    if not callable(function):
        raise InvalidOption(f"heuristic {name!r}: {function!r} is not a function")
    if config.DISABLE_JIT or isinstance(function, PlainHeuristic):
        return function  # without a compiler, all kernels are Python functions
    for own, compiled in HEURISTICS.items():
        if compiled is function:
            return CompiledHeuristic(own)
    if hasattr(function, "nopython_signatures"):  # the author's numba.njit
        _require_signature(function, name)
        return function
    plain = PlainHeuristic(function, name)
    plain(*_PROBE)
    _say(
        f"heuristic {name!r} runs as plain Python: decorate it with @numba.njit, and its searches "
        "are 5 to 150 times faster"
    )
    return plain


@functools.cache
def _say(text: str) -> None:
    """Print a line on stderr, once in a process."""
    if QUIET not in os.environ:
        print(text, file=sys.stderr)


def _require_two_parameters(function: Any, name: str) -> None:
    """Refuse a function, plain or compiled, that cannot be called with two bitboards."""
    try:
        inspect.signature(getattr(function, "py_func", function)).bind(*_PROBE)
    except ValueError:  # no signature
        return
    except TypeError as error:
        raise InvalidOption(
            f"heuristic {name!r}: {error}: expected a function of two bitboards, (mine, theirs); "
            "docs/guides/which-is-better.md makes a grid of them"
        ) from None


def _require_signature(function: Any, name: str) -> None:
    try:
        if _SIGNATURE.args not in function.overloads:
            function.compile(_SIGNATURE.args)
        result = function.overloads[_SIGNATURE.args].signature.return_type
    except Exception as error:  # errors of Numba's passes have any type
        _require_two_parameters(function, name)
        raise InvalidOption(
            f"heuristic {name!r} does not compile for (int64 mine, int64 theirs): "
            f"{' '.join(str(error).split())[:600]}; expected @numba.njit without a signature"
        ) from None
    if result != numba_types.float64:
        raise InvalidOption(
            f"heuristic {name!r} returns {result}: expected float64, the value for `mine`"
        )


class CompiledHeuristic:
    """A heuristic of this package as a kernel argument; the machine code is looked up once.

    For a function itself, Numba looks up the machine code at each call, which takes longer than a
    search of two plies. An exception in a function called by its address would be lost, so users'
    functions are passed as they are.
    """

    _numba_type_: Final = numba_types.FunctionType(_SIGNATURE)

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
    """A user's Python function, called so that an error says what is wrong with the function."""

    def __init__(self, function: Callable[[int, int], Any], name: str) -> None:
        self.function = function
        self.__name__ = name
        self.deterministic = getattr(function, "deterministic", False) is True

    def __call__(self, mine: int, theirs: int) -> float:
        """Return the function's value; InvalidOption with the reason if no search can use it."""
        name = self.__name__
        try:
            value = self.function(mine, theirs)
        except (Exception, SystemExit) as error:
            _require_two_parameters(self.function, name)
            raise InvalidOption(f"heuristic {name!r} raised {describe_error(error)}") from error
        if not isinstance(value, _NUMBER):
            raise InvalidOption(
                f"heuristic {name!r} returned {value!r}: expected a float, the value for `mine`"
            )
        if not -WIN < value < WIN:
            raise InvalidOption(f"heuristic {name!r} gave {value!s:.60}: {_EXPECTED}")
        return float(value)


class Callback:
    """A plain function as the kernel argument of one search: machine code calls it back.

    An exception would be lost in machine code. So ``raised`` stores it, and the search gets nan,
    which no search can use (``c4env.agents.search.fixed_depth.search_with``).
    """

    _numba_type_: Final = numba_types.FunctionType(_SIGNATURE)

    def __init__(self, function: PlainHeuristic) -> None:
        self.raised = raised = list[BaseException]()
        ask = function.__call__  # Python calls a method faster than an object

        def value(mine: int, theirs: int) -> float:
            try:
                return ask(mine, theirs)
            except BaseException as error:
                raised.append(error)
                return math.nan

        self._callback = _CALLBACK(value)

    def __wrapper_address__(self) -> int:
        """Return the address of the C function."""
        return ctypes.cast(self._callback, ctypes.c_void_p).value or 0
