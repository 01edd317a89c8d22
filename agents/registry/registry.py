"""Agents from specs: :func:`make`, :func:`register`, and entry points of other packages.

A spec is ``name`` or ``name:key=value,key=value``. Some agents accept one argument without a key,
before the others: ``name:argument,key=value``. Instead of a name, a spec may have an import path,
``package.module:attribute`` or ``FILE.py:attribute``. The path names a class, which is called with
the options, or a function from observation to column.
"""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, Final

from c4env.agents.registry.entries import REQUIRED, Entry, Option
from c4env.agents.registry.imports import (
    file_hint,
    format_error,
    import_callable,
    suggest,
)
from c4env.agents.registry.table import ZOO
from c4env.boards import STANDARD, require_board
from c4env.errors import C4Error, InvalidOption, UnknownAgent, WrongBoard

from ...envs.opponents import is_batched
from ...geometry import BOARD_SIZE, IS_STANDARD
from ..base import Agent, function_agent, is_model, parameters_of
from .options import declared, options_of, summary_of

ENTRY_POINTS: Final = "c4env.agents"
"""The group of entry points by which other packages provide agents for :func:`register`."""

_registered: dict[str, Entry | Callable[..., Any]] = {entry.name: entry for entry in ZOO}


@functools.cache
def _third_parties() -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}


def names() -> list[str]:
    """Return the sorted names of all agents: built in, registered, or from entry points.

    Example:
        >>> names()[:3]
        ['alphabeta', 'alphabeta-chain', 'alphabeta-window']
    """
    here = (name for name, agent in _registered.items() if _here(agent))
    return sorted({*here, *_third_parties()})


def _here(agent: Entry | Callable[..., Any]) -> bool:
    """Return False if an agent's entry in the table excludes this board size."""
    return IS_STANDARD or not isinstance(agent, Entry) or agent.any_board


def register(name: str, agent: Callable[..., Any] | Entry, *, replace: bool = False) -> None:
    """Register an agent under a name.

    Args:
        name: letters, digits, ``-`` and ``_``.
        agent: a class or factory to call with the options, a function from an observation to a
            column, an :class:`Entry`, or a model that :func:`make` accepts.
        replace: allow a name that is already registered. A function or class that is defined
            again, as when a notebook's cell runs again, replaces itself.

    Raises:
        InvalidOption: the name has other characters or is already registered, or the agent
            cannot be called.

    Example:
        >>> register("edge", lambda observation: observation["action_mask"].argmax())
        >>> make("edge").choose(Position.parse("4"))
        0
    """
    if not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise InvalidOption(f"agent name {name!r}: expected letters, digits, '-' and '_'")
    if not (replace or _is_redefined(_registered.get(name), agent)) and name in names():
        raise InvalidOption(f"agent name {name!r} exists already (pass replace=True to replace it)")
    if is_model(agent):
        agent = _import(".adapters.model:maker_of")(agent)
    if not isinstance(agent, Entry):
        if not callable(agent):
            expected = "expected a class, function, Entry or model"
            raise InvalidOption(f"agent {name!r}: {agent!r}: {expected}")
        _check_callable(name, agent)
    _registered[name] = agent


def _is_redefined(old: object, new: object) -> bool:
    """Return True if two functions or classes are one definition of one module, run twice."""
    before, after = (
        (getattr(thing, "__module__", None), getattr(thing, "__qualname__", "<"))
        for thing in (old, new)
    )
    return before == after and "<" not in after[1]


def registered_here() -> list[str]:
    """Return the names that this process alone has: those registered by :func:`register`."""
    return [name for name, agent in _registered.items() if agent not in ZOO]


def described(name: str) -> tuple[str, str, list[tuple[str, str, str]]]:
    """Return an agent's name and summary, and the name, default and help of each option.

    ``name`` may be an import path, or a spec, whose options are ignored.
    """
    name, _ = split_spec(name)
    summary, options = _declared(_lookup(name))
    return (
        name,
        summary,
        [(o.name, "..." if o.default is REQUIRED else _text(o.default), o.help) for o in options],
    )


def describe(name: str) -> str:
    """Return the result of :func:`described` as lines of text, as ``c4 list`` prints them.

    Example:
        >>> print(describe("random"))
        random               Plays a legal column, drawn uniformly.
    """
    name, summary, options = described(name)
    lines = [f"{option}={default}  {said}".rstrip() for option, default, said in options]
    return "\n".join([f"{name:<20} {summary}", *(f"{'':<22}{line}" for line in lines)])


def _declared(found: Entry | Callable[..., Any]) -> tuple[str, tuple[Option, ...]]:
    """Return an agent's summary and options; a function that is itself an agent has no options."""
    target: Any = found
    said = ""
    if isinstance(found, Entry):
        if found.target.startswith("."):
            return declared(found.target)
        target, said = _import(found.target), found.summary
    said = said or summary_of(target.__doc__) or "an agent registered without a docstring"
    return said, () if _takes_observation(target) else options_of(target)


def _takes_observation(target: Callable[..., Any]) -> bool:
    """Return whether a callable is itself an agent, not a class or a factory."""
    if inspect.isclass(target):
        return False
    return any(p.default is p.empty for p in inspect.signature(target).parameters.values())


def options_of_entry(entry: Entry) -> tuple[Option, ...]:
    """Return the options of an entry; this package's modules are not imported for it."""
    return _declared(entry)[1]


def option_names(name: str) -> tuple[str, ...]:
    """Return the names of an agent's options; an empty tuple for an agent outside the table."""
    entry = _lookup(name)
    known = options_of_entry(entry) if isinstance(entry, Entry) else ()
    return tuple(option.name for option in known)


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split a spec into its name and its options as text; the inverse of :func:`join_spec`.

    ``FILE.py`` alone means ``FILE.py:agent``.

    Raises:
        InvalidOption: the spec is malformed.
    """
    expected = "expected name:key=value,key=value"
    if not isinstance(spec, str) or not spec.strip():
        raise InvalidOption(f"agent {spec!r}: {expected}")
    text = spec.strip()
    name, found, rest = _split_name(text)
    options: dict[str, str] = {}
    if found and rest and (entry := with_argument(name)):
        argument, rest = _split_argument(entry, rest)
        if argument:
            options[entry.argument] = argument
    if found and rest:
        for part in rest.split(","):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not key or not value:
                raise InvalidOption(f"agent {spec!r}: {part!r} is not key=value; {expected}")
            if key in options:
                raise InvalidOption(f"agent {spec!r}: {key!r} is given twice")
            options[key] = value
    if not name or (found and not options):
        raise InvalidOption(f"agent {spec!r}: {expected}")
    return f"{name}:agent" if name.endswith(".py") else name, options


def _split_name(text: str) -> tuple[str, str, str]:
    """Split ``name:options`` after the name, which has a colon itself if it is an import path."""
    name, found, rest = text.partition(":")
    if with_argument(name):
        return name, found, rest
    if found and re.match(r"[A-Za-z_]\w*\s*(:|$)", rest):  # package.module:attribute[:options]
        attribute, found, rest = rest.partition(":")
        name = f"{name}:{attribute}"
    return name, found, rest


def with_argument(name: str) -> Entry | None:
    """Return the entry of an agent that accepts an argument without a key, else None."""
    entry = _lookup(name) if name in _registered or name in _third_parties() else None
    return entry if isinstance(entry, Entry) and entry.argument else None


def _split_argument(entry: Entry, text: str) -> tuple[str, str]:
    """Split a text into the argument, which may contain commas and colons, and the options."""
    keys = "|".join(re.escape(option.name) for option in options_of_entry(entry))
    first = re.search(rf"(^|,)\s*({keys})\s*=", text)
    if first is None:
        return text.strip(), ""
    return text[: first.start()].strip(), text[first.start() :].lstrip(",")


def join_spec(name: str, options: dict[str, Any]) -> str:
    """Join a name and options to a spec; the inverse of :func:`split_spec`."""
    if not options:
        return name
    shown = {key: _text(value) for key, value in options.items()}
    entry = with_argument(name)
    argument = [shown.pop(entry.argument)] if entry and entry.argument in shown else []
    return f"{name}:" + ",".join([*argument, *(f"{key}={value}" for key, value in shown.items())])


def _text(value: Any) -> str:
    """Return a value as text for a spec; a function becomes its import path."""
    if isinstance(value, bool):
        return str(value).lower()
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return str(value)
    module = getattr(value, "__module__", None) or ""
    found = getattr(sys.modules.get(module), name, None)
    return f"{module}:{name}" if found is value else name


def make(spec: Any, **options: Any) -> Agent:
    """Make the agent that a spec names; keyword options override options in the spec.

    Args:
        spec: ``name:key=value,key=value``; a function of one observation; or a model. A model is a
            model of Stable-Baselines3, a PyTorch module, or a function decorated by
            ``c4env.batched``. An agent of a model chooses for many boards in one call and has the
            option ``temperature``.
        options: the agent's options, as ``c4 list`` shows them.

    Raises:
        UnknownAgent: no agent has the name, or the import failed.
        InvalidOption: the agent does not have the option; or the spec or a value is malformed.
        WrongBoard: the agent does not play on this board.

    Example:
        >>> make("alphabeta:depth=4").choose(Position.parse("4455"))
        2
    """
    if not isinstance(spec, str):
        return _agent_of(spec, **options)
    name, given = split_spec(spec)
    merged: dict[str, Any] = {**given, **options}
    found = _lookup(name)
    target: Any = found
    if not _here(found):
        others = ", ".join(entry.name for entry in ZOO if entry.any_board)
        raise WrongBoard(f"{name} plays on {STANDARD}, not on {BOARD_SIZE}; use {others}")
    known = {option.name: option for option in _declared(found)[1]}
    for key, value in given.items():
        if (next_key := re.search(r":(\w+)=", value)) and next_key[1] in known:
            fixed = f"{key}={value.replace(':', ',')}"
            raise InvalidOption(f"{name}: {key}={value!r}: did you mean {fixed!r}?")
    if isinstance(found, Entry):
        for key, option in known.items():
            if option.default is REQUIRED and key not in merged:
                raise InvalidOption(f"{name}: {key} is missing: expected {name}:{key.upper()}")
        target = _import(found.target)
    values = dict(merged)
    for key, value in merged.items():
        if key in known and (isinstance(found, Entry) or isinstance(value, str)):
            values[key] = known[key].parse(name, value)
        elif key not in known and (isinstance(found, Entry) or (known and not _takes_any(target))):
            raise InvalidOption(f"{name}: {_unknown('option', key, known)}")
    agent = _build(target, name, values)
    agent.name = join_spec(name, values if isinstance(found, Entry) else merged)
    return agent


def _lookup(name: str) -> Entry | Callable[..., Any]:
    if name in _registered:
        return _registered[name]
    if name in _third_parties():
        point = _third_parties()[name]
        try:
            loaded = point.load()
        except (Exception, SystemExit) as error:
            raise UnknownAgent(
                f"agent {name!r}: its entry point {point.value!r} cannot be loaded: "
                f"{format_error(error)}"
            ) from error
        register(name, loaded, replace=True)
        return _registered[name]
    if ":" in name:
        return _import(name)
    if hint := file_hint(name, f"exec:./{name}"):
        raise UnknownAgent(f"unknown agent {name!r}{hint}")
    raise UnknownAgent(_unknown("agent", name, names()))


def _import(path: str) -> Callable[..., Any]:
    if re.match(r"\.\w", path):  # of the table: a module of this board
        path = __name__.removesuffix(".registry.registry") + path
    if path.partition(":")[0] in names():
        raise InvalidOption(f"agent {path!r}: expected key=value after the colon")
    expected = "package.module:attribute or FILE.py:attribute"
    found: Callable[..., Any] = import_callable(path, UnknownAgent, f"agent {path!r}", expected)
    _check_callable(path, found)
    return found


def _check_callable(name: str, target: Callable[..., Any]) -> None:
    """Refuse what is made for another board, or has no signature, as many built-in functions."""
    require_board(target, BOARD_SIZE, f"agent {name!r}")
    if parameters_of(target) is None:
        raise InvalidOption(
            f"agent {name!r}: {target!r} has no signature: expected a class, or a function of an "
            "observation"
        )


def _build(target: Callable[..., Any], name: str, options: dict[str, Any]) -> Agent:
    if not options and _takes_observation(target):
        return _agent_of(target)
    try:
        built = target(**options)
    except C4Error:
        raise
    except TypeError as error:
        raise InvalidOption(f"{name}: cannot be built with {options}: {error}") from error
    except (Exception, SystemExit) as error:  # a user's code may raise any error
        raise UnknownAgent(f"{name}: making the agent raised {format_error(error)}") from error
    if isinstance(built, Agent):
        return built
    if callable(built):
        return _agent_of(built)
    raise UnknownAgent(f"agent {name!r} made {built!r}: expected an agent or a function")


def _agent_of(thing: Any, **options: Any) -> Agent:
    """Make an agent from a model or a function; one of an observation needs no compiled code."""
    if isinstance(thing, types.FunctionType) and not (options or is_batched(thing)):
        require_board(thing, BOARD_SIZE, thing)
        return function_agent(thing)
    made: Agent = _import(".adapters.model:agent_of")(thing, **options)
    return made


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    listed = f"; known: {', '.join(sorted(known)) or 'none'}"
    return f"unknown {kind} {name!r}{suggest(name, known, listed)}"


def _takes_any(target: Callable[..., Any]) -> bool:
    """Return whether a callable accepts options of any name."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(target).parameters.values())
