"""Which agent: specs, such as ``alphabeta:depth=4,heuristic=window``, and :func:`make`.

A spec is ``name`` or ``name:key=value,key=value``. Some agents accept one argument without a key,
before the others: ``name:argument,key=value``. Instead of a name, a spec may have an import path,
``package.module:attribute`` or ``FILE.py:attribute``; the options follow a second colon. The path
names a class, which is called with the options, or anything that :func:`make` takes instead of a
spec.

A text is parsed once, where it enters the program, to a :class:`Spec`. The agents that the names
stand for are in ``c4env.agents.making.registry``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal

from c4env.agents.base import Agent
from c4env.agents.making.as_agent import as_agent
from c4env.agents.making.maker import Maker
from c4env.agents.making.options import REQUIRED, options_of
from c4env.agents.making.registry import (
    OURS,
    ZOO,
    Entry,
    find,
    fits_board,
    import_target,
    is_of_session,
)
from c4env.boards import STANDARD
from c4env.errors import InvalidOption, WrongBoard
from c4env.geometry import BOARD_SIZE

_CODE: Final = re.compile(r"(.+):[A-Za-z_]\w*")  # FILE.py:NAME, package.module:NAME


@dataclass(frozen=True)
class Spec:
    """Which agent, with which options; parsed once. Another process parses the text again.

    Attributes:
        text: the spec as given.
        name: the agent's name or import path; ``FILE.py`` means ``FILE.py:agent``.
        options: the options as texts, by name.
        known: the entry of the agent's name; None for an import path or an unknown name.

    Example:
        >>> spec = Spec.parse("alphabeta:depth=4")
        >>> spec.name, spec.options, spec.runs
        ('alphabeta', {'depth': '4'}, 'shared')
    """

    text: str
    name: str = field(compare=False)
    options: Mapping[str, str] = field(compare=False)
    known: Entry | None = field(compare=False)

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
        known = find(name := name.strip())
        if known is None:
            name, colon, rest = _split_path(text.strip())
        options: dict[str, str] = {}
        if rest and known and known.argument:
            argument, rest = _split_argument(known, rest)
            if argument:
                options[known.argument] = argument
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
        return cls(text, f"{name}:agent" if name.endswith(".py") else name, options, known)

    @cached_property
    def maker(self) -> Maker:
        """The maker of the agent; an import path is imported.

        Raises:
            UnknownAgent: no agent has the name, or the import failed.
        """
        return self.known.maker if self.known else Maker(self.name, import_target(self.name))

    @property
    def is_of_session(self) -> bool:
        """Whether only this process has the agent, because it is registered or in ``__main__``."""
        return is_of_session(self.name) or "__main__:" in self.text

    @property
    def is_ours(self) -> bool:
        """Whether the agent plays only by this project's code, except options that name code."""
        return self.known is not None and self.known.runs == "shared"

    @property
    def runs(self) -> Literal["shared", "own", "here"]:
        """Where a run plays the agent (:attr:`Entry.runs`).

        A spec of this project that names code, as ``alphabeta:heuristic=FILE.py:NAME``, needs its
        own process. An agent of another package needs its own process too. An agent that only this
        process has plays in this process.
        """
        if self.is_of_session:
            return "here"
        codes = map(_CODE.fullmatch, self.options.values())
        if self.known is None or (self.is_ours and any(c and c[1] not in OURS for c in codes)):
            return "own"
        return self.known.runs

    @property
    def asks_server(self) -> bool:
        """Whether the agent waits for a server, and needs no core (:attr:`Entry.network`)."""
        return self.known is not None and self.known.network

    def takes(self, option: str) -> bool:
        """Return whether the agent has an option."""
        return any(declared.name == option for declared in self.maker.options)

    def with_options(self, options: Mapping[str, Any]) -> Spec:
        """Return the spec of the same agent with only these options; values become texts."""
        texts = {key: _text(value) for key, value in options.items()}
        first = self.known.argument if self.known else ""
        parts = [text if key == first else f"{key}={text}" for key, text in texts.items()]
        if first in texts:
            parts.insert(0, parts.pop([*texts].index(first)))
        text = f"{self.name}:{','.join(parts)}" if parts else self.name
        return replace(self, text=text, options=texts)

    def make(self, **options: Any) -> Agent:
        """Make the agent, as :func:`make` does; the arguments override options of the spec."""
        if self.known and not fits_board(self.known):
            others = ", ".join(entry.name for entry in ZOO if entry.any_board)
            raise WrongBoard(f"{self.name} plays on {STANDARD}, not on {BOARD_SIZE}; use {others}")
        values = self.maker.read({**self.options, **options})
        made = self.maker.build(values)
        made.name = self.with_options(values).text
        return made


def _split_path(text: str) -> tuple[str, str, str]:
    """Split ``name:options`` after the name; an import path as the name contains a colon too."""
    drive = text[:2] if re.match(r"[A-Za-z]:[\\/]", text) else ""
    name, colon, rest = text.removeprefix(drive).partition(":")
    if re.match(r"[A-Za-z_]\w*\s*(:|$)", rest):  # package.module:attribute[:options]
        attribute, colon, rest = rest.partition(":")
        name = f"{name}:{attribute}"
    return drive + name, colon, rest


def _split_argument(entry: Entry, text: str) -> tuple[str, str]:
    """Split a text into the argument, which may contain commas and colons, and the options."""
    keys = "|".join(re.escape(option.name) for option in entry.maker.options)
    first = re.search(rf"(^|,)\s*({keys})\s*=", text)
    if first is None:
        return text.strip(), ""
    return text[: first.start()].strip(), text[first.start() :].lstrip(",")


def make(spec: Any, **options: Any) -> Agent:
    """Return the agent that a spec names; keyword options override options in the spec.

    Args:
        spec: a text ``name:key=value,key=value`` or a :class:`Spec`; a function of one observation;
            or a network. A network is a PyTorch module, a model of Stable-Baselines3, or a function
            decorated by ``c4env.batched``
            (:func:`~c4env.agents.making.networks.network.as_network`). A network's agent chooses
            for many boards in one call, and has the options ``temperature`` and ``policy``.
        options: the agent's options, as ``c4 list`` shows them.

    Raises:
        UnknownAgent: no agent has the name, or the import failed.
        InvalidOption: the agent does not have the option, or the spec or a value is malformed.
        WrongBoard: the agent does not play on this board.

    Example:
        >>> make("alphabeta:depth=4").choose(Position.parse("4455"))
        2
    """
    if isinstance(spec, str):
        spec = Spec.parse(spec)
    return spec.make(**options) if isinstance(spec, Spec) else as_agent(spec, **options)


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

    The default is empty if a spec cannot express it. ``name`` may be an import path or a spec. The
    options of the spec are ignored.
    """
    spec = Spec.parse(name)
    options = [(o.name, _shown(o.default), o.help) for o in spec.maker.options]
    return spec.name, spec.maker.about or "(no docstring)", options


def _shown(default: Any) -> str:
    if default is None:
        return ""
    return "..." if default is REQUIRED else _text(default)


def written_files(agent: Any) -> dict[str, str]:
    """Return the files that an agent, given as a spec or object, writes, by the option's name."""
    if isinstance(agent, Spec):
        options, values = agent.maker.options, dict(agent.options)
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
