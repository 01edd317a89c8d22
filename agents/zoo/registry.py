"""From a spec string to an agent: the table of agents, their options, and third parties.

A spec is ``name``, ``name:key=value,key=value`` or ``name(key=value,key=value)``. Some
agents take one argument without its key, before the others: ``name:argument,key=value``.
Where a name is expected, ``package.module:attribute`` names a class (built with the
options) or a function on an observation.
"""

from __future__ import annotations

import difflib
import functools
import importlib.metadata
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from agents.base import Agent
from agents.errors import InvalidSpec, InvalidValue, UnknownAgent, UnknownOption
from agents.zoo.entries import REQUIRED, Entry
from agents.zoo.imports import import_attribute, in_a_line, taken_from_main
from agents.zoo.table import ZOO
from c4env.errors import C4Error

ENTRY_POINTS: Final = "c4env.agents"
"""Entry-point group of third parties: each loads an :class:`Entry`, or anything
:func:`register` takes."""

_registered: dict[str, Entry | Callable[..., Any]] = {entry.name: entry for entry in ZOO}


@functools.cache
def _third_parties() -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}


def names() -> list[str]:
    """Every name :func:`make` knows: the zoo, what was registered, what is installed."""
    return sorted({*_registered, *_third_parties()})


def register(name: str, agent: Callable[..., Any] | Entry, *, replace: bool = False) -> None:
    """Give a name to an agent of your own.

    Args:
        name: letters, digits, ``-`` and ``_``. A path in ``__main__`` is where a thing of
            another process's ``__main__`` goes (:func:`registered_here`).
        agent: a class or factory deriving from :class:`Agent` (called with the options),
            a function from an observation to a column, or an :class:`Entry`.
        replace: allow a name that is taken.

    Raises:
        InvalidSpec: not such a name, or it is taken.
    """
    module, is_path, attribute = name.partition(":")
    if is_path and module == "__main__":
        setattr(sys.modules[module], attribute, agent)
        return
    if not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise InvalidSpec(f"agent name {name!r}: expected letters, digits, '-' and '_'")
    if not replace and name in names():
        raise InvalidSpec(f"agent name {name!r} is taken (replace=True takes it over)")
    if not callable(agent) and not isinstance(agent, Entry):
        raise InvalidSpec(f"agent {name!r}: {agent!r} is neither callable nor an Entry")
    _registered[name] = agent


def registered_here() -> dict[str, Entry | Callable[..., Any]]:
    """What another process does not know, to be given to :func:`register` there.

    That is what :func:`register` added, and what import paths named in ``__main__``.
    """
    zoo = {entry.name for entry in ZOO}
    added = {name: agent for name, agent in _registered.items() if name not in zoo}
    return {**added, **taken_from_main}


def describe(name: str) -> str:
    """A few lines about an agent: what it does, its options, their defaults.

    Args:
        name: a name or an import path; the options of a whole spec are passed over.

    Raises:
        UnknownAgent: no agent has the name.
        InvalidSpec: malformed.
    """
    name, _ = split_spec(name)
    entry = _lookup(name)
    if not isinstance(entry, Entry):
        summary = (inspect.getdoc(entry) or "an agent registered without a docstring").split("\n")
        lines = [f"{name:<20} {summary[0]}"]
        lines += [f"{'':<22}{key}={_shown(value)}" for key, value in _defaults(entry).items()]
        return "\n".join(lines)
    lines = [f"{name:<20} {entry.summary}"]
    lines += [f"{'':<22}{o.name}={_shown(o.default)}  {o.help}" for o in entry.options]
    return "\n".join(lines)


def _defaults(target: Callable[..., Any]) -> dict[str, Any]:
    """What a class or factory is called with, and the defaults; nothing for a plain function."""
    if _takes_observation(target):
        return {}
    return {
        key: REQUIRED if parameter.default is parameter.empty else parameter.default
        for key, parameter in inspect.signature(target).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def _takes_observation(target: Callable[..., Any]) -> bool:
    """Whether it is an agent itself rather than what builds one."""
    if inspect.isclass(target):
        return False
    parameters = inspect.signature(target).parameters.values()
    return any(parameter.default is parameter.empty for parameter in parameters)


def option_names(name: str) -> tuple[str, ...]:
    """The options that an agent of this name takes; none where that is not known beforehand.

    Raises:
        UnknownAgent: no agent has the name.
    """
    entry = _lookup(name)
    return tuple(option.name for option in entry.options) if isinstance(entry, Entry) else ()


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Name and options of a spec, as text, the inverse of :func:`join_spec`.

    Raises:
        InvalidSpec: not of the form.
    """
    expected = "expected name:key=value,key=value"
    if not isinstance(spec, str) or not spec.strip():
        raise InvalidSpec(f"agent {spec!r}: {expected}")
    text = spec.strip()
    if text.endswith(")"):
        name, found, rest = text[:-1].partition("(")
    else:
        name, found, rest = _split_name(text)
    options: dict[str, str] = {}
    if found and rest and (entry := _with_argument(name)):
        argument, rest = _split_argument(entry, rest)
        if argument:
            options[entry.argument] = argument
    if found and rest:
        for part in rest.split(","):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not key or not value:
                raise InvalidSpec(f"agent {spec!r}: {part!r} is not key=value; {expected}")
            if key in options:
                raise InvalidSpec(f"agent {spec!r}: {key!r} is given twice")
            options[key] = value
    if not name or (found and not options and not text.endswith(")")):
        raise InvalidSpec(f"agent {spec!r}: {expected}")
    return name, options


def _split_name(text: str) -> tuple[str, str, str]:
    """Split ``name:options`` at the right colon: an import path and values hold colons too."""
    name, found, rest = text.partition(":")
    if _with_argument(name):
        return name, found, rest
    if found and re.match(r"[A-Za-z_]\w*\s*(:|$)", rest):  # package.module:attribute[:options]
        attribute, found, rest = rest.partition(":")
        name = f"{name}:{attribute}"
    return name, found, rest


def _with_argument(name: str) -> Entry | None:
    """The entry of a name, if its agent takes an argument without a key."""
    entry = _lookup(name) if name in names() else None
    return entry if isinstance(entry, Entry) and entry.argument else None


def _split_argument(entry: Entry, text: str) -> tuple[str, str]:
    """The argument, which may hold commas and colons, and the options after it."""
    keys = "|".join(re.escape(option.name) for option in entry.options)
    first = re.search(rf"(^|,)\s*({keys})\s*=", text)
    if first is None:
        return text.strip(), ""
    return text[: first.start()].strip(), text[first.start() :].lstrip(",")


def join_spec(name: str, options: dict[str, Any]) -> str:
    """The spec string of a name and options, the inverse of :func:`split_spec`."""
    if not options:
        return name
    shown = {key: getattr(value, "__name__", value) for key, value in options.items()}
    parts = [f"{key}={value}" for key, value in shown.items()]
    if (entry := _with_argument(name)) and entry.argument in shown:
        argument = shown.pop(entry.argument)
        parts = [str(argument), *(f"{key}={value}" for key, value in shown.items())]
    return f"{name}:" + ",".join(parts)


def make(spec: Any, **options: Any) -> Agent:
    """Build the agent a spec names; keyword options add to, or override, those in the spec.

    A model in place of the spec (of Stable-Baselines3, a module of PyTorch, or a function of
    many observations; ``agents.adapters.model``) becomes an agent that answers for many boards
    at once; its option is ``temperature``.

    Raises:
        UnknownAgent: no such name, or nothing at the import path.
        UnknownOption: the agent has no such option.
        InvalidSpec, InvalidValue: the spec or a value is malformed.
    """
    if not isinstance(spec, str):
        return _import("agents.adapters.model:agent_of")(spec, **options)  # type: ignore[no-any-return]
    name, given = split_spec(spec)
    merged: dict[str, Any] = {**given, **options}
    target = _lookup(name)
    if isinstance(target, Entry):
        known = {option.name: option for option in target.options}
        for key in merged:
            if key not in known:
                raise UnknownOption(f"{name}: {_unknown('option', key, known)}")
        for option in target.options:
            if option.default is REQUIRED and option.name not in merged:
                wanted = f"{name}:{option.name.upper()}"
                raise InvalidSpec(f"{name}: {option.name} is missing: expected {wanted}")
        merged = {key: known[key].parse(name, value) for key, value in merged.items()}
        target = _import(target.target)
    agent = _build(target, name, merged)
    agent.name = join_spec(name, merged)
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
                f"{in_a_line(error)}"
            ) from error
        register(name, loaded, replace=True)
        return _registered[name]
    if ":" in name:
        return _import(name)
    raise UnknownAgent(_unknown("agent", name, names()))


def _import(path: str) -> Callable[..., Any]:
    if path.partition(":")[0] in names():
        raise InvalidSpec(f"agent {path!r}: expected key=value after the colon")
    try:
        found = import_attribute(path)
    except (ImportError, AttributeError) as error:
        expected = "expected package.module:attribute"
        raise UnknownAgent(f"agent {path!r}: {error}; {expected}") from error
    if not callable(found):
        raise UnknownAgent(f"agent {path!r}: {found!r} is neither a class nor a function")
    return found  # type: ignore[no-any-return]  # getattr


def _build(target: Callable[..., Any], name: str, options: dict[str, Any]) -> Agent:
    if not options and _takes_observation(target):
        return FunctionAgent(target)
    try:
        built = target(**_converted(target, name, options))
    except C4Error:
        raise
    except TypeError as error:
        raise UnknownOption(f"{name}: cannot be built with {options}: {error}") from error
    except (Exception, SystemExit) as error:  # whatever a user's code may raise
        raise UnknownAgent(f"{name}: building it raised {in_a_line(error)}") from error
    if isinstance(built, Agent):
        return built
    if callable(built):
        return FunctionAgent(built)
    raise UnknownAgent(f"agent {name!r} built {built!r}, which is not callable on an observation")


def _converted(target: Callable[..., Any], name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with those given as text turned into what the target's annotations say.

    That is int, float, bool or str, also with ``| None``; other parameters get the text.

    Raises:
        InvalidValue: a text does not say such a value.
    """
    try:
        hints = typing.get_type_hints(target.__init__ if inspect.isclass(target) else target)
    except Exception:  # annotations need not be types, nor known here
        hints = {}
    converted = dict(options)
    for key, value in options.items():
        said = hints.get(key)
        one_of = typing.get_args(said) if isinstance(said, types.UnionType) else (said,)
        read = next((_READERS[kind] for kind in one_of if kind in _READERS), None)
        if read is None or not isinstance(value, str):
            continue
        try:
            converted[key] = read(value)
        except (ValueError, KeyError):
            expected = " or ".join(getattr(kind, "__name__", str(kind)) for kind in one_of)
            raise InvalidValue(f"{name}: {key}={value!r}: expected {expected}") from None
    return converted


_READERS: Final[dict[Any, Callable[[str], Any]]] = {
    int: int,
    float: float,
    bool: lambda text: {"true": True, "false": False}[text.lower()],
    str: str,
}


class FunctionAgent(Agent):
    """A plain function, or another library's policy, from an observation to a column.

    Nothing is known of it, so it counts as random; its ``reset(seed=...)``, if it has one,
    is called at the beginning of each game.
    """

    deterministic = False

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    @property
    def nodes(self) -> Any:  # type: ignore[override]  # read from the function, never set
        """What the function says it searched for its latest column."""
        return getattr(self.function, "nodes", 0)

    def __call__(self, observation: Any) -> Any:
        """Whatever the function returns; whoever plays the game judges it."""
        return self.function(observation)

    def reset(self, seed: Any = None) -> None:
        """Tell a policy that can be told of a new game, with the seed if it takes one."""
        reset = getattr(self.function, "reset", None)
        if not callable(reset):
            return
        if inspect.signature(reset).parameters:
            reset(seed)
        else:
            reset()

    def choose(self, position: Any) -> int:
        """The function's column for what the side to move observes."""
        from c4env.observation import observe
        from c4env.position import parse_column

        return parse_column(self.function(observe(position)))


def _shown(default: Any) -> str:
    return "..." if default is REQUIRED else str(default)


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known) or 'none'}"
    return f"unknown {kind} {name!r}; {hint}"
