"""Which agent: specs, such as ``alphabeta:depth=4,heuristic=window``, and :func:`make`.

A spec is ``name`` or ``name:key=value,key=value``. Some agents accept one argument without a key,
before the others: ``name:argument,key=value``. Instead of a name, a spec may have an import path,
``package.module:attribute`` or ``FILE.py:attribute``; the options follow a second colon. The path
names a class, which is called with the options, or anything that :func:`make` takes in place of a
spec.

A text is parsed once, where it comes in, to a :class:`Spec`. What the names mean is in
``c4env.agents.registry``.
"""

from __future__ import annotations

import inspect
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from c4env.agents.base import Agent
from c4env.agents.entries import REQUIRED, ZOO, Entry, Option
from c4env.agents.functions import REMEDIES, parameters_of
from c4env.agents.imports import format_error, imports_of, modules_in
from c4env.agents.options import options_of
from c4env.agents.registry import (
    OURS,
    AgentSource,
    agent_of,
    entry_of,
    fits_board,
    lookup,
    network_options,
    options_of_agent,
    registered_names,
    summary_of_agent,
    takes_observation,
    target_of,
    third_parties,
    unknown,
)
from c4env.boards import STANDARD
from c4env.errors import C4Error, InvalidOption, UnknownAgent, WrongBoard, brief
from c4env.geometry import BOARD_SIZE

_IMPORT_PATH: Final = re.compile(r"([A-Za-z_]\w*)(\.\w+)*:[A-Za-z_]\w*(:|$)")
_CODE: Final = re.compile(r"(.+):[A-Za-z_]\w*")  # FILE.py:NAME, package.module:NAME


@dataclass(frozen=True)
class Spec:
    """Which agent, with which options; parsed once. Another process parses the text again.

    Attributes:
        text: the spec as given.
        name: the agent's name or import path; ``FILE.py`` alone means ``FILE.py:agent``.
        options: the options as texts, by name.
        entry: the agent's entry in a table; None for other classes and functions.

    Example:
        >>> spec = Spec.parse("alphabeta:depth=4")
        >>> spec.name, spec.options, spec.place
        ('alphabeta', {'depth': '4'}, 'shared')
    """

    text: str
    name: str = field(compare=False)
    options: Mapping[str, str] = field(compare=False)
    entry: Entry | None = field(compare=False)

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return Spec.parse, (self.text,)

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Parse ``name:key=value,key=value``.

        Raises:
            InvalidOption: the text is malformed.
        """
        expected = "expected name:key=value,key=value"
        if not isinstance(text, str) or not text.strip():
            raise InvalidOption(f"agent {text!r}: {expected}")
        name, colon, rest = text.strip().partition(":")
        entry = entry_of(name)
        if entry is None or not entry.argument:
            name, colon, rest = _split_path(text.strip())
            entry = entry_of(name)
        options: dict[str, str] = {}
        if rest and entry and entry.argument:
            argument, rest = _split_argument(entry, rest)
            if argument:
                options[entry.argument] = argument
        for part in rest.split(",") if rest else []:
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not key or not value:
                is_path = re.search(r"[.\\/]", name) and ":" not in name[2:]  # after a drive
                if is_path and key.isidentifier() and not (equals or options):
                    after = rest.partition(",")[2]
                    meant = f"{name}:{key}:{after}" if after else f"{name}:{key}"
                    expected = f"the options follow a second colon: did you mean {meant!r}?"
                raise InvalidOption(f"agent {text!r}: {part!r} is not key=value; {expected}")
            if key in options:
                raise InvalidOption(f"agent {text!r}: {key!r} is given twice")
            options[key] = value
        if not name or (colon and not options):
            raise InvalidOption(f"agent {text!r}: {expected}")
        return cls(text, f"{name}:agent" if name.endswith(".py") else name, options, entry)

    @property
    def source(self) -> AgentSource:
        """The agent's entry, class or function; an import path is imported.

        Raises:
            UnknownAgent: no agent has the name, or the import failed.
        """
        return lookup(self.name)

    @property
    def is_of_session(self) -> bool:
        """Whether this process alone has the agent: registered, or in ``__main__``."""
        return self.name in registered_names() or "__main__:" in self.text

    @property
    def is_ours(self) -> bool:
        """Whether the agent plays by this project's code alone, but for options that name code."""
        return self.name in OURS and OURS[self.name].runs == "shared"

    @property
    def place(self) -> Literal["shared", "own", "here"]:
        """Where a run plays the agent (:attr:`Entry.runs`).

        A spec of this project that names code, as ``alphabeta:heuristic=FILE.py:NAME``, needs a
        process of its own, and so do agents of other packages. What this process alone has plays in
        this process.
        """
        if self.is_of_session:
            return "here"
        codes = map(_CODE.fullmatch, self.options.values())
        if self.is_ours and any(code and code[1] not in OURS for code in codes):
            return "own"
        return OURS[self.name].runs if self.name in OURS else "own"

    @property
    def asks_server(self) -> bool:
        """Whether the agent waits for a server, and needs no core (:attr:`Entry.network`)."""
        return self.entry is not None and self.entry.network

    def takes(self, option: str) -> bool:
        """Return whether the agent has an entry with an option."""
        return self.entry is not None and any(
            declared.name == option for declared in options_of_agent(self.entry)
        )

    def with_options(self, options: Mapping[str, Any]) -> Spec:
        """Return the spec of the same agent with these options alone; values become texts."""
        texts = {key: _text(value) for key, value in options.items()}
        first = self.entry.argument if self.entry else ""
        parts = [text if key == first else f"{key}={text}" for key, text in texts.items()]
        if first in texts:
            parts.insert(0, parts.pop([*texts].index(first)))
        text = f"{self.name}:{','.join(parts)}" if parts else self.name
        return replace(self, text=text, options=texts)

    def make(self, **options: Any) -> Agent:
        """Make the agent, as :func:`make` does; the arguments override options of the spec."""
        name, agent = self.name, self.source
        options = {**self.options, **options}
        if not fits_board(agent):
            others = ", ".join(entry.name for entry in ZOO if entry.any_board)
            raise WrongBoard(f"{name} plays on {STANDARD}, not on {BOARD_SIZE}; use {others}")
        declared = {option.name: option for option in options_of_agent(agent)}
        for key, text in self.options.items():
            if (next_key := re.search(r":(\w+)=", text)) and next_key[1] in declared:
                correct = f"{key}={text.replace(':', ',')}"
                raise InvalidOption(f"{name}: {key}={text!r}: did you mean {correct!r}?")
        values = _parse_options(name, agent, declared, options)
        made = _build(target_of(agent), name, values)
        made.name = self.with_options(values if isinstance(agent, Entry) else options).text
        return made

    def files(self) -> list[Path]:
        """Return the files that the spec names; after an edit of one it is another agent.

        - the file of ``FILE.py:NAME``, and a file that is an option's whole value;
        - the modules beside these files that they import;
        - the loaded modules of a package that an import path or an entry point names;
        - the files in a :data:`~c4env.agents.options.Folder`, without logs;
        - those among the words of a :data:`~c4env.agents.options.Command`.

        A :data:`~c4env.agents.options.WrittenFile` is none of them.
        """
        declared = {option.name: option for option in options_of_agent(self.source)}
        paths = [Path(self.name.rpartition(":")[0])]
        points = third_parties().get(self.name, ())
        code = [self.name, *(point.value for point in points), *self.options.values()]
        packages = {found[1] for text in code if (found := _IMPORT_PATH.match(text))} - {"c4env"}
        for module_name, module in [*sys.modules.items()]:
            if module_name.partition(".")[0] in packages:
                paths.append(Path(getattr(module, "__file__", None) or ""))
        for key, text in self.options.items():
            paths += _files_in(declared.get(key, Option(key, str, "")), text)
        files = {path.absolute() for path in paths if path.is_file()}
        for file in [file for file in files if file.suffix == ".py"]:
            files.update(map(Path, modules_in(str(file.parent), imports_of(str(file))).values()))
        return sorted(files)


def _files_in(option: Option, text: str) -> Iterator[Path]:
    """Yield what may be files that belong to the agent in the text of an option."""
    if option.kind is not str or text in option.choices or option.writes:
        return
    yield from (Path(text), Path(text.rpartition(":")[0]))  # FILE and FILE.py:NAME
    inner, _, argument = text.partition(":")
    entry = entry_of(inner)
    if argument and entry and entry.argument:  # an agent as an option, as in puct:selfplay:DIR
        yield from Spec.parse(text).files()
    elif option.reads == "folder":
        yield from (path for path in Path(text).rglob("*") if path.suffix != ".log")
    elif option.reads == "command":  # of --net=FILE, the file
        for word in shlex.split(text):
            yield from (Path(word), Path(word.split("=", 1)[-1]))


def _split_path(text: str) -> tuple[str, str, str]:
    """Split ``name:options`` after the name, which has a colon itself if it is an import path."""
    drive = text[:2] if re.match(r"[A-Za-z]:[\\/]", text) else ""
    name, colon, rest = text.removeprefix(drive).partition(":")
    if re.match(r"[A-Za-z_]\w*\s*(:|$)", rest):  # package.module:attribute[:options]
        attribute, colon, rest = rest.partition(":")
        name = f"{name}:{attribute}"
    return drive + name, colon, rest


def _split_argument(entry: Entry, text: str) -> tuple[str, str]:
    """Split a text into the argument, which may contain commas and colons, and the options."""
    keys = "|".join(re.escape(option.name) for option in options_of_agent(entry))
    first = re.search(rf"(^|,)\s*({keys})\s*=", text)
    if first is None:
        return text.strip(), ""
    return text[: first.start()].strip(), text[first.start() :].lstrip(",")


def make(spec: Any, **options: Any) -> Agent:
    """Make the agent that a spec names; keyword options override options in the spec.

    Args:
        spec: ``name:key=value,key=value``, or a :class:`Spec`; a function of one observation; or a
            network: a PyTorch module, a model of Stable-Baselines3, or a function decorated by
            ``c4env.batched`` (:mod:`c4env.agents.networks`). A network's agent chooses for
            many boards in one call and has the options ``temperature`` and ``policy``.
        options: the agent's options, as ``c4 list`` shows them.

    Raises:
        UnknownAgent: no agent has the name, or the import failed.
        InvalidOption: the agent does not have the option; or the spec or a value is malformed.
        WrongBoard: the agent does not play on this board.

    Example:
        >>> make("alphabeta:depth=4").choose(Position.parse("4455"))
        2
    """
    if isinstance(spec, str):
        spec = Spec.parse(spec)
    return spec.make(**options) if isinstance(spec, Spec) else agent_of(spec, **options)


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
        elif key not in declared and (is_entry or (declared and not _takes_any(target_of(agent)))):
            raise InvalidOption(f"{name}: {unknown('option', key, declared)}")
    return values


def _takes_any(target: Callable[..., Any]) -> bool:
    """Return whether a callable accepts options of any name."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(target).parameters.values())


def _required(target: Callable[..., Any]) -> list[str]:
    """Return the names of a callable's parameters that have no default."""
    parameters = (parameters_of(target) or {}).values()
    several = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return [p.name for p in parameters if p.default is p.empty and p.kind not in several]


def _build(target: Callable[..., Any], name: str, options: dict[str, Any]) -> Agent:
    if not options and takes_observation(target):
        return agent_of(target)
    left = {option.name for option in network_options(target)}
    try:
        built = target(**{key: value for key, value in options.items() if key not in left})
    except C4Error:
        raise
    except TypeError as error:
        missing = [key for key in _required(target) if key not in options]
        if missing and not takes_observation(target):
            wanted = ",".join(f"{key}=VALUE" for key in missing)
            raise InvalidOption(
                f"{name}: {missing[0]} is missing: expected {name}:{wanted}"
            ) from None
        remedies = f"; {REMEDIES}" if takes_observation(target) else ""
        raise InvalidOption(f"{name}: cannot be built with {options}: {error}{remedies}") from error
    except (Exception, SystemExit) as error:  # a user's code may raise any error
        raise UnknownAgent(f"{name}: making the agent raised {format_error(error)}") from error
    if isinstance(built, Agent):
        if "name" in (parameters_of(type(built)) or ()):
            raise InvalidOption(
                f"{name}: the spec becomes the agent's name, so the option 'name' of "
                f"{type(built).__name__} would be lost: expected another name for the option"
            )
        return built
    try:
        return agent_of(built, **{key: options[key] for key in left & options.keys()})
    except InvalidOption as error:
        text = brief(built)
        reason = str(error).removeprefix(f"agent {text}: ")
        raise UnknownAgent(f"agent {name!r} made {text}: {reason}") from None


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
    spec = Spec.parse(name)
    agent = spec.source
    options = [(o.name, _shown(o.default), o.help) for o in options_of_agent(agent)]
    return spec.name, summary_of_agent(agent) or "an agent registered without a docstring", options


def _shown(default: Any) -> str:
    if default is None:
        return ""
    return "..." if default is REQUIRED else _text(default)


def written_files(agent: Any) -> dict[str, str]:
    """Return the files that the agent of a spec, or an object, writes, by the option's name."""
    if isinstance(agent, Spec):
        options, values = options_of_agent(agent.source), dict(agent.options)
    elif isinstance(agent, Agent):
        options, values = options_of(type(agent)), dict(agent._arguments)
    else:
        return {}
    files = {o.name: values.get(o.name, o.default) for o in options if o.writes}
    return {name: file for name, file in files.items() if file not in (None, "None", REQUIRED)}


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
