"""The agents that :func:`c4env.agents.make` knows by name, and those of import paths.

:func:`register` adds a name, and so do other packages by entry points.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import inspect
import os
import re
import types
from collections.abc import Callable, Iterable
from typing import Any, Final

from c4env.agents.base import Agent
from c4env.agents.entries import ZOO, Entry, Option
from c4env.agents.functions import function_agent, parameters_of
from c4env.agents.imports import file_hint, format_error, import_callable, suggest
from c4env.agents.networks import is_network, is_network_class
from c4env.agents.options import options_of, summary_of
from c4env.errors import InvalidOption, UnknownAgent
from c4env.geometry import IS_STANDARD

ENTRY_POINTS: Final = "c4env.agents"
"""The group of entry points by which other packages provide agents for :func:`register`."""

AgentSource = Entry | Callable[..., Any]
"""An entry of the table, or a class, factory or function that a user registers or names."""

OURS: Final = {entry.name: entry for entry in ZOO}

_registered: dict[str, AgentSource] = {**OURS}
_loaded: Final[dict[str, AgentSource]] = {}  # from entry points, by name


def names() -> list[str]:
    """Return the sorted names of all agents: built in, registered, or from entry points.

    Example:
        >>> names()[:3]
        ['alphabeta', 'alphabeta-chain', 'alphabeta-window']
    """
    fitting = (name for name, agent in _registered.items() if fits_board(agent))
    return sorted({*fitting, *third_parties()})


@functools.cache
def third_parties() -> dict[str, list[importlib.metadata.EntryPoint]]:
    """Return the entry points of each name."""
    found: dict[str, list[importlib.metadata.EntryPoint]] = {}
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        found.setdefault(point.name, []).append(point)
    return found


def fits_board(agent: AgentSource) -> bool:
    """Return False if an agent's entry in the table excludes this board size."""
    return IS_STANDARD or not isinstance(agent, Entry) or agent.any_board


def register(name: str, agent: AgentSource, *, replace: bool = False) -> None:
    """Register an agent under a name.

    Args:
        name: letters, digits, ``-`` and ``_``.
        agent: a class or factory to call with the options, a function from an observation to a
            column, an :class:`Entry`, or a network that :func:`make` accepts.
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
    if not isinstance(agent, Entry):
        if not (callable(agent) or is_network(agent)):
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


def registered_names() -> list[str]:
    """Return the names that this process alone has: those that a program registered."""
    known = {*map(id, ZOO), *map(id, _loaded.values())}  # comparing rows by values is slow
    return [name for name, agent in _registered.items() if id(agent) not in known]


def lookup(name: str) -> AgentSource:
    """Return the agent of a name or import path.

    Raises:
        UnknownAgent: no agent has the name, several packages provide it, or the import failed.
    """
    agent = _registered.get(name)
    if isinstance(agent, Entry) and any(agent is entry for entry in ZOO):
        _require_one_provider(name, agent)
    if agent is not None:
        return agent
    if name in third_parties():
        _require_one_provider(name)
        (point,) = third_parties()[name]
        try:
            loaded = point.load()
        except (Exception, SystemExit) as error:
            raise UnknownAgent(
                f"agent {name!r}: its entry point {point.value!r} cannot be loaded: "
                f"{format_error(error)}"
            ) from error
        register(name, loaded, replace=True)
        _loaded[name] = _registered[name]
        return _loaded[name]
    if ":" in name:
        return _import(name)
    raise UnknownAgent(_file_message(name) or unknown("agent", name, names()))


def entry_of(name: str) -> Entry | None:
    """Return the entry of an agent's name; None for an import path, a class or a function."""
    agent = lookup(name) if name in _registered or name in third_parties() else None
    return agent if isinstance(agent, Entry) else None


def _require_one_provider(name: str, own: Entry | None = None) -> None:
    """Refuse a name that several packages provide, this project's agent ``own`` included."""
    packages = [f"c4env (c4env.agents{own.target})"] if own else []
    for point in third_parties().get(name, ()):
        packages.append(f"{point.dist.name if point.dist else 'a package'} ({point.value})")
    if len(packages) > 1:
        raise UnknownAgent(
            f"agent {name!r} is provided by {' and by '.join(packages)}: expected the path of one "
            "of them in place of the name"
        )


def _file_message(name: str) -> str:
    """Return the message about a name that is a file's; an empty text for other names."""
    if name.endswith(".zip"):
        return f"unknown agent {name!r}; did you mean {f'sb3:{name}'!r}?"
    program = name if os.path.dirname(name) else f"./{name}"
    hint = file_hint(
        name, f"selfplay:{name}" if name.endswith((".pt", ".pth")) else f"exec:{program}"
    )
    if hint and name.endswith((".pt", ".pth")):
        hint += f" Weights of a network of yours play as FILE.py:CLASS:weights={name}"
    return f"unknown agent {name!r}{hint}" if hint else ""


def unknown(kind: str, name: str, names: Iterable[str]) -> str:
    """Return the message about a name that is none of ``names``."""
    every = f"; known: {', '.join(sorted(names)) or 'none'}"
    return f"unknown {kind} {name!r}{suggest(name, names, every)}"


def target_of(agent: AgentSource) -> Callable[..., Any]:
    """Return the class or function that makes an agent, or the function of an observation."""
    if not isinstance(agent, Entry):
        maker: Callable[..., Any] = _models().maker_of(agent) if is_network(agent) else agent
        return maker
    if not agent.target.startswith("."):
        return target_of(_import(agent.target))
    module, _, name = agent.target.partition(":")
    target: Callable[..., Any] = getattr(importlib.import_module(f"c4env.agents{module}"), name)
    return target


def _import(path: str) -> Callable[..., Any]:
    if path.partition(":")[0] in names():
        raise InvalidOption(f"agent {path!r}: expected key=value after the colon")
    expected = "package.module:attribute or FILE.py:attribute"
    target: Callable[..., Any] = import_callable(path, UnknownAgent, f"agent {path!r}", expected)
    _check_callable(path, target)
    return target


def _check_callable(name: str, target: Callable[..., Any]) -> None:
    """Refuse what has no signature, as many built-in functions."""
    if parameters_of(target) is None and not is_network(target):
        raise InvalidOption(
            f"agent {name!r}: {target!r} has no signature: expected a class, or a function of an "
            "observation"
        )


def summary_of_agent(agent: AgentSource) -> str:
    """Return an agent's summary, or an empty text."""
    summary = agent.summary if isinstance(agent, Entry) else ""
    return summary or summary_of(target_of(agent).__doc__)


def options_of_agent(agent: AgentSource) -> tuple[Option, ...]:
    """Return an agent's options; a function that is itself an agent has none."""
    target = target_of(agent)
    is_ours = isinstance(agent, Entry) and agent.target.startswith(".")  # a class or a factory
    if not is_ours and takes_observation(target):
        return ()
    return options_of(target) + network_options(target)


def takes_observation(target: Callable[..., Any]) -> bool:
    """Return whether a callable is itself an agent, not a class or a factory."""
    if inspect.isclass(target):
        return False
    return any(
        p.default is p.empty and p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)
        for p in inspect.signature(target).parameters.values()
    )


def network_options(target: Callable[..., Any]) -> tuple[Option, ...]:
    """Return the options of the networks of a class, which the class itself does not have."""
    if not is_network_class(target):
        return ()
    own = parameters_of(target) or {}
    options = options_of(_models().maker_of(target))
    return tuple(option for option in options if option.name not in own)


def agent_of(thing: Any, **options: Any) -> Agent:
    """Make an agent from a model or a function; one of an observation needs no compiled code."""
    if isinstance(thing, types.FunctionType) and not (options or is_network(thing)):
        return function_agent(thing)
    made: Agent = _models().agent_of(thing, **options)
    return made


def _models() -> Any:
    """Return the module that makes agents of networks; it is imported late, with the rules."""
    return importlib.import_module("c4env.agents.policies")
