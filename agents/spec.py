"""Agents from specs, such as ``alphabeta:depth=4,heuristic=window``.

A spec is ``name`` or ``name:key=value,key=value``. Some agents accept one argument without a key,
before the others: ``name:argument,key=value``. Instead of a name, a spec may have an import path,
``package.module:attribute`` or ``FILE.py:attribute``. The path names a class, which is called with
the options, or anything that :func:`make` takes in place of a spec.

:func:`make` makes an agent. :func:`register` adds a name, and so do other packages by entry points.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import inspect
import os
import re
import shlex
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from c4env.agents.base import Agent
from c4env.agents.entries import REQUIRED, ZOO, Entry, Option
from c4env.agents.functions import (
    REMEDIES,
    function_agent,
    is_network,
    is_network_class,
    parameters_of,
)
from c4env.agents.imports import (
    file_hint,
    format_error,
    import_callable,
    imports_of,
    modules_in,
    suggest,
)
from c4env.agents.options import options_of, summary_of
from c4env.boards import STANDARD
from c4env.errors import C4Error, InvalidOption, UnknownAgent, WrongBoard
from c4env.geometry import BOARD_SIZE, IS_STANDARD

ENTRY_POINTS: Final = "c4env.agents"
"""The group of entry points by which other packages provide agents for :func:`register`."""

AgentSource = Entry | Callable[..., Any]
"""An entry of the table, or a class, factory or function that a user registers or names."""

_IMPORT_PATH: Final = re.compile(r"([A-Za-z_]\w*)(\.\w+)*:[A-Za-z_]\w*(:|$)")

_registered: dict[str, AgentSource] = {entry.name: entry for entry in ZOO}
_loaded: Final[dict[str, AgentSource]] = {}  # from entry points, by name


def names() -> list[str]:
    """Return the sorted names of all agents: built in, registered, or from entry points.

    Example:
        >>> names()[:3]
        ['alphabeta', 'alphabeta-chain', 'alphabeta-window']
    """
    fitting = (name for name, agent in _registered.items() if _fits_board(agent))
    return sorted({*fitting, *_third_parties()})


@functools.cache
def _third_parties() -> dict[str, list[importlib.metadata.EntryPoint]]:
    """Return the entry points of each name."""
    found: dict[str, list[importlib.metadata.EntryPoint]] = {}
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        found.setdefault(point.name, []).append(point)
    return found


def _fits_board(agent: AgentSource) -> bool:
    """Return False if an agent's entry in the table excludes this board size."""
    return IS_STANDARD or not isinstance(agent, Entry) or agent.any_board


def make(spec: Any, **options: Any) -> Agent:
    """Make the agent that a spec names; keyword options override options in the spec.

    Args:
        spec: ``name:key=value,key=value``; a function of one observation; or a network: a PyTorch
            module, a model of Stable-Baselines3, or a function decorated by ``c4env.batched``
            (:mod:`c4env.agents.adapters.networks`). A network's agent chooses for many boards in
            one call and has the options ``temperature`` and ``policy``.
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
    name, texts = split_spec(spec)
    options = {**texts, **options}
    agent = _lookup(name)
    if not _fits_board(agent):
        others = ", ".join(entry.name for entry in ZOO if entry.any_board)
        raise WrongBoard(f"{name} plays on {STANDARD}, not on {BOARD_SIZE}; use {others}")
    declared = {option.name: option for option in options_of_agent(agent)}
    for key, text in texts.items():
        if (next_key := re.search(r":(\w+)=", text)) and next_key[1] in declared:
            correct = f"{key}={text.replace(':', ',')}"
            raise InvalidOption(f"{name}: {key}={text!r}: did you mean {correct!r}?")
    values = _parse_options(name, agent, declared, options)
    made = _build(_target(agent), name, values)
    made.name = join_spec(name, values if isinstance(agent, Entry) else options)
    return made


def _parse_options(
    name: str, agent: AgentSource, declared: dict[str, Option], options: dict[str, Any]
) -> dict[str, Any]:
    """Check options; those of an entry must be declared, a user's class checks its own values."""
    is_entry = isinstance(agent, Entry)
    for key, option in declared.items():
        if is_entry and option.default is REQUIRED and key not in options:
            raise InvalidOption(f"{name}: {key} is missing: expected {name}:{key.upper()}")
    values = dict(options)
    for key, value in options.items():
        if key in declared and (is_entry or isinstance(value, str)):
            values[key] = declared[key].parse(name, value)
        elif key not in declared and (is_entry or (declared and not _takes_any(_target(agent)))):
            raise InvalidOption(f"{name}: {_unknown('option', key, declared)}")
    return values


def _takes_any(target: Callable[..., Any]) -> bool:
    """Return whether a callable accepts options of any name."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(target).parameters.values())


def _build(target: Callable[..., Any], name: str, options: dict[str, Any]) -> Agent:
    if not options and _takes_observation(target):
        return _agent_of(target)
    left = {option.name for option in _network_options(target)}
    try:
        built = target(**{key: value for key, value in options.items() if key not in left})
    except C4Error:
        raise
    except TypeError as error:
        remedies = f"; {REMEDIES}" if _takes_observation(target) else ""
        raise InvalidOption(f"{name}: cannot be built with {options}: {error}{remedies}") from error
    except (Exception, SystemExit) as error:  # a user's code may raise any error
        raise UnknownAgent(f"{name}: making the agent raised {format_error(error)}") from error
    if isinstance(built, Agent):
        return built
    try:
        return _agent_of(built, **{key: options[key] for key in left & options.keys()})
    except InvalidOption as error:
        reason = str(error).removeprefix(f"agent {built!r}: ")
        text = " ".join(repr(built).split())[:80]  # a module's has several lines
        raise UnknownAgent(f"agent {name!r} made {text}: {reason}") from None


def _takes_observation(target: Callable[..., Any]) -> bool:
    """Return whether a callable is itself an agent, not a class or a factory."""
    if inspect.isclass(target):
        return False
    return any(
        p.default is p.empty and p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)
        for p in inspect.signature(target).parameters.values()
    )


def _network_options(target: Callable[..., Any]) -> tuple[Option, ...]:
    """Return the options of the networks of a class, which the class itself does not have."""
    if not is_network_class(target):
        return ()
    own = parameters_of(target) or {}
    options = options_of(_models().maker_of(target))
    return tuple(option for option in options if option.name not in own)


def _agent_of(thing: Any, **options: Any) -> Agent:
    """Make an agent from a model or a function; one of an observation needs no compiled code."""
    if isinstance(thing, types.FunctionType) and not (options or is_network(thing)):
        return function_agent(thing)
    made: Agent = _models().agent_of(thing, **options)
    return made


def _models() -> Any:
    """Return the module that makes agents of networks; it is imported late, with the rules."""
    return importlib.import_module("c4env.agents.adapters.models")


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


def _lookup(name: str) -> AgentSource:
    agent = _registered.get(name)
    if isinstance(agent, Entry) and any(agent is entry for entry in ZOO):
        _require_one_provider(name, agent)
    if agent is not None:
        return agent
    if name in _third_parties():
        _require_one_provider(name)
        (point,) = _third_parties()[name]
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
    raise UnknownAgent(_file_message(name) or _unknown("agent", name, names()))


def _require_one_provider(name: str, own: Entry | None = None) -> None:
    """Refuse a name that several packages provide, this project's agent ``own`` included."""
    packages = [f"c4env (c4env.agents{own.target})"] if own else []
    for point in _third_parties().get(name, ()):
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
    hint = file_hint(name, f"selfplay:{name}" if name.endswith(".pt") else f"exec:{program}")
    return f"unknown agent {name!r}{hint}" if hint else ""


def _unknown(kind: str, name: str, names: Iterable[str]) -> str:
    every = f"; known: {', '.join(sorted(names)) or 'none'}"
    return f"unknown {kind} {name!r}{suggest(name, names, every)}"


def _target(agent: AgentSource) -> Callable[..., Any]:
    """Return the class or function that makes an agent, or the function of an observation."""
    if not isinstance(agent, Entry):
        maker: Callable[..., Any] = _models().maker_of(agent) if is_network(agent) else agent
        return maker
    if not agent.target.startswith("."):
        return _target(_import(agent.target))
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


def describe(name: str) -> str:
    """Return an agent's summary and options as lines of text, as ``c4 list`` prints them.

    Example:
        >>> print(describe("random"))
        random               Plays a legal column, drawn uniformly.
    """
    name, summary, options = description_of(name)
    lines = [f"{key}{value and f'={value}'}  {help_}".rstrip() for key, value, help_ in options]
    return "\n".join([f"{name:<20} {summary}", *(f"{'':<22}{line}" for line in lines)])


def description_of(name: str) -> tuple[str, str, list[tuple[str, str, str]]]:
    """Return an agent's name and summary, and the name, default and help of each option.

    The default is empty if a spec could not say it. ``name`` may be an import path, or a spec,
    whose options are ignored.
    """
    name, _ = split_spec(name)
    agent = _lookup(name)
    options = [(o.name, _shown(o.default), o.help) for o in options_of_agent(agent)]
    return name, summary_of_agent(agent) or "an agent registered without a docstring", options


def _shown(default: Any) -> str:
    if default is None:
        return ""
    return "..." if default is REQUIRED else _text(default)


def summary_of_agent(agent: AgentSource) -> str:
    """Return an agent's summary, or an empty text."""
    summary = agent.summary if isinstance(agent, Entry) else ""
    return summary or summary_of(_target(agent).__doc__)


def options_of_agent(agent: AgentSource) -> tuple[Option, ...]:
    """Return an agent's options; a function that is itself an agent has none."""
    target = _target(agent)
    is_ours = isinstance(agent, Entry) and agent.target.startswith(".")  # a class or a factory
    if not is_ours and _takes_observation(target):
        return ()
    return options_of(target) + _network_options(target)


def option_names(name: str) -> tuple[str, ...]:
    """Return the names of an agent's options; an empty tuple for an agent outside the table."""
    entry = _lookup(name)
    options = options_of_agent(entry) if isinstance(entry, Entry) else ()
    return tuple(option.name for option in options)


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
    name, colon, rest = _split_name(text)
    options: dict[str, str] = {}
    if rest and (entry := _with_argument(name)):
        argument, rest = _split_argument(entry, rest)
        if argument:
            options[entry.argument] = argument
    for part in rest.split(",") if rest else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or not value:
            raise InvalidOption(f"agent {spec!r}: {part!r} is not key=value; {expected}")
        if key in options:
            raise InvalidOption(f"agent {spec!r}: {key!r} is given twice")
        options[key] = value
    if not name or (colon and not options):
        raise InvalidOption(f"agent {spec!r}: {expected}")
    return f"{name}:agent" if name.endswith(".py") else name, options


def _split_name(text: str) -> tuple[str, str, str]:
    """Split ``name:options`` after the name, which has a colon itself if it is an import path."""
    name, colon, rest = text.partition(":")
    if _with_argument(name):
        return name, colon, rest
    drive = text[:2] if re.match(r"[A-Za-z]:[\\/]", text) else ""
    name, colon, rest = text.removeprefix(drive).partition(":")
    if re.match(r"[A-Za-z_]\w*\s*(:|$)", rest):  # package.module:attribute[:options]
        attribute, colon, rest = rest.partition(":")
        name = f"{name}:{attribute}"
    return drive + name, colon, rest


def _with_argument(name: str) -> Entry | None:
    """Return the entry of an agent that accepts an argument without a key, else None."""
    entry = _lookup(name) if name in _registered or name in _third_parties() else None
    return entry if isinstance(entry, Entry) and entry.argument else None


def _split_argument(entry: Entry, text: str) -> tuple[str, str]:
    """Split a text into the argument, which may contain commas and colons, and the options."""
    keys = "|".join(re.escape(option.name) for option in options_of_agent(entry))
    first = re.search(rf"(^|,)\s*({keys})\s*=", text)
    if first is None:
        return text.strip(), ""
    return text[: first.start()].strip(), text[first.start() :].lstrip(",")


def files_of(spec: str) -> list[Path]:
    """Return the files that a spec names, and by which its agent is another one after an edit.

    These are the file of ``FILE.py:NAME``, a file that is an option's whole value, the modules
    beside these that they import, the loaded modules of a package that an import path or an entry
    point names, and what the agent declares: the files in a
    :data:`~c4env.agents.options.Folder`, without logs, and those among the words of a
    :data:`~c4env.agents.options.Command`.
    """
    name, options = split_spec(spec)
    declared = {option.name: option for option in options_of_agent(_lookup(name))}
    paths = [Path(name.rpartition(":")[0])]
    code = [name, *(point.value for point in _third_parties().get(name, ())), *options.values()]
    packages = {found[1] for text in code if (found := _IMPORT_PATH.match(text))} - {"c4env"}
    for module_name, module in [*sys.modules.items()]:
        if module_name.partition(".")[0] in packages:
            paths.append(Path(getattr(module, "__file__", None) or ""))
    for key, text in options.items():
        option = declared.get(key, Option(key, str, ""))
        inner, _, argument = text.partition(":")
        if option.kind is not str or text in option.choices:
            continue
        paths += (Path(text), Path(text.rpartition(":")[0]))  # FILE and FILE.py:NAME
        if _with_argument(inner) and argument:  # an agent as an option, as in puct:selfplay:DIR
            paths += files_of(text)
        elif option.reads == "folder":
            paths += (path for path in Path(text).rglob("*") if path.suffix != ".log")
        elif option.reads == "command":  # of --net=FILE, the file
            paths += (Path(p) for word in shlex.split(text) for p in (word, word.split("=", 1)[-1]))
    files = {path.absolute() for path in paths if path.is_file()}
    for file in [file for file in files if file.suffix == ".py"]:
        files.update(map(Path, modules_in(str(file.parent), imports_of(str(file))).values()))
    return sorted(files)


def join_spec(name: str, options: dict[str, Any]) -> str:
    """Join a name and options to a spec; the inverse of :func:`split_spec`."""
    if not options:
        return name
    texts = {key: _text(value) for key, value in options.items()}
    entry = _with_argument(name)
    argument = [texts.pop(entry.argument)] if entry and entry.argument in texts else []
    return f"{name}:" + ",".join([*argument, *(f"{key}={value}" for key, value in texts.items())])


def _text(value: Any) -> str:
    """Return a value as text for a spec; a function becomes its import path."""
    if isinstance(value, bool):
        return str(value).lower()
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return str(value)
    module = getattr(value, "__module__", None) or ""
    is_importable = getattr(sys.modules.get(module), name, None) is value
    return f"{module}:{name}" if is_importable else name
