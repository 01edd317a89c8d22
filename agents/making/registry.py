"""The agents that :func:`c4env.agents.make` knows by name, and the agents of import paths.

:data:`ZOO` has this project's agents. :func:`register` adds an agent of a program, and an entry
point adds an agent of another package. The docstring of each agent's class or function has the
summary and the help of the options.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import os
import re
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from c4env.agents.making.import_path import file_hint, import_callable
from c4env.agents.making.maker import Maker
from c4env.agents.making.options import unknown
from c4env.errors import InvalidOption, UnknownAgent, describe_error
from c4env.geometry import IS_STANDARD

ENTRY_POINTS: Final = "c4env.agents"
"""The group of entry points by which other packages provide agents for :func:`register`."""
_WEIGHTS: Final = (".pt", ".pth", ".npz", ".safetensors")  # endings of files of weights


@dataclass(frozen=True, eq=False)
class Entry:
    """A row of the table of agents; the class or function ``target`` declares the options.

    Example:
        >>> register("mine", Entry("mine", "my_package.agents:Mine", "Plays the middle."))
        >>> "mine" in names()
        True
    """

    name: str
    target: Any
    """``module:attribute`` of a class or function, imported on first use, or the class, function or
    network itself. A module whose name begins with a dot is in ``c4env.agents``."""
    summary: str = ""  #: empty: the first line of the docstring
    argument: str = ""  #: the option that a spec may set without a key: name:argument
    needs: tuple[str, ...] = ()  #: required modules of other packages
    any_board: bool = False  #: True: plays on all boards (c4env.use_board), not only on 6x7x4
    network: bool = False  #: True: sends requests, which may cost money; checks must skip it
    runs: Literal["shared", "own", "here"] = "shared"
    """Where a run plays the agent. ``"shared"``: in the process that agents of this project share.
    ``"own"``: in its own process, because it runs other people's code. ``"here"``: in the process
    of the run, because it waits for a program or a server."""

    @functools.cached_property
    def maker(self) -> Maker:
        """The maker of the agent; the target is imported on first use."""
        target = self.target
        if isinstance(target, str) and target.startswith("."):
            module, _, attribute = target.partition(":")
            target = getattr(importlib.import_module(f"c4env.agents{module}"), attribute)
        elif isinstance(target, str):
            target = import_target(target)
        return Maker(self.name, target, self.summary, self.argument)


ZOO: Final = (
    Entry("random", ".baselines:Random", any_board=True),
    Entry("greedy", ".baselines:Greedy", any_board=True),
    Entry("minimax", ".search.fixed_depth:Minimax", any_board=True),
    Entry("alphabeta", ".search.fixed_depth:AlphaBeta", any_board=True),
    Entry("deepening", ".search.deepening:Deepening"),
    Entry("alphabeta-chain", ".search.fixed_depth:Chain"),
    Entry("alphabeta-window", ".search.fixed_depth:WindowA"),
    Entry("alphabeta-window-b", ".search.fixed_depth:WindowB"),
    Entry("rust-port", ".search.rustport:RustPort"),
    Entry("negamax", ".search.negamax:Negamax", any_board=True),
    Entry("perfect", ".solver.perfect:Perfect", any_board=True),
    Entry("graded", ".graded:Graded"),
    Entry("mcts", ".sampling.mcts:MCTS", any_board=True),
    Entry("puct", ".sampling.puct:PUCT", argument="function", any_board=True),
    Entry("learned", ".learned:Learned"),
    Entry("selfplay", ".selfplay.folder:selfplay", argument="path", needs=("torch",)),
    Entry(
        "sb3",
        ".making.networks.sb3_agent:SB3",
        argument="path",
        needs=("stable_baselines3",),
        runs="own",
    ),
    # Other people's agents.
    Entry("exec", ".programs.exec:Engine", argument="command", runs="here"),
    Entry(
        "chat",
        ".programs.chat:Chat",
        argument="model",
        needs=("openai",),
        network=True,
        runs="here",
    ),
    Entry("kaggle", ".programs.kaggle:Submission", argument="file", any_board=True, runs="own"),
    Entry(
        "torch",
        ".making.networks.torch_agent:TorchFunction",
        argument="function",
        needs=("torch",),
        runs="own",
    ),
)

OURS: Final = {entry.name: entry for entry in ZOO}

_registered: dict[str, Entry] = {}


def names() -> list[str]:
    """Return the sorted names of all agents: built in, registered, or from entry points.

    Example:
        >>> names()[:3]
        ['alphabeta', 'alphabeta-chain', 'alphabeta-window']
    """
    entries = {**OURS, **_registered}
    return sorted({*filter(lambda name: fits_board(entries[name]), entries), *third_parties()})


def fits_board(entry: Entry) -> bool:
    """Return whether an agent plays on this board."""
    return IS_STANDARD or entry.any_board


@functools.cache
def third_parties() -> dict[str, list[importlib.metadata.EntryPoint]]:
    """Return the entry points of each name."""
    found: dict[str, list[importlib.metadata.EntryPoint]] = {}
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        found.setdefault(point.name, []).append(point)
    return found


def register(name: str, agent: Any, *, replace: bool = False) -> None:
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
    old = _registered[name].target if name in _registered else None
    if not (replace or _is_redefined(old, agent)) and name in names():
        raise InvalidOption(f"agent name {name!r} exists already (pass replace=True to replace it)")
    if not isinstance(agent, Entry):
        Maker(name, agent)  # raises an error if it cannot make an agent
    _registered[name] = _entry(name, agent, "here")


def _is_redefined(old: object, new: object) -> bool:
    """Return True if two functions or classes come from the same definition, which ran twice."""
    before, after = (
        (getattr(thing, "__module__", None), getattr(thing, "__qualname__", "<"))
        for thing in (old, new)
    )
    return before == after and "<" not in after[1]


def is_of_session(name: str) -> bool:
    """Return whether only this process has a name, because a program registered it."""
    return name in _registered


def find(name: str) -> Entry | None:
    """Return the entry of an agent's name; None for an import path or an unknown name.

    Raises:
        UnknownAgent: several packages provide the name, or the package's code cannot be imported.
    """
    if name in _registered:
        return _registered[name]
    ours, points = OURS.get(name), third_parties().get(name, [])
    providers = [f"c4env (c4env.agents{ours.target})"] if ours else []
    providers += [f"{p.dist.name if p.dist else 'a package'} ({p.value})" for p in points]
    if len(providers) > 1:
        raise UnknownAgent(
            f"agent {name!r} is provided by {' and by '.join(providers)}: expected the path of one "
            "of them instead of the name"
        )
    return _of_package(*points) if points else ours


def _entry(name: str, thing: Any, runs: Literal["own", "here"]) -> Entry:
    """Return the entry of an agent that somebody else wrote."""
    if isinstance(thing, Entry):
        return replace(thing, name=name, runs=runs)
    return Entry(name, thing, any_board=True, runs=runs)


@functools.cache
def _of_package(point: importlib.metadata.EntryPoint) -> Entry:
    try:
        return _entry(point.name, point.load(), "own")
    except (Exception, SystemExit) as error:
        raise UnknownAgent(
            f"agent {point.name!r}: its entry point {point.value!r} cannot be loaded: "
            f"{describe_error(error)}"
        ) from error


def import_target(path: str) -> Any:
    """Return the object that an import path names.

    Raises:
        UnknownAgent: the text is not an import path, or the import failed.
    """
    if ":" not in path:
        raise UnknownAgent(_file_message(path) or unknown("agent", path, names()))
    expected = "package.module:attribute or FILE.py:attribute"
    return import_callable(path, UnknownAgent, f"agent {path!r}", expected)


def _file_message(name: str) -> str:
    """Return the message about a name that a file has; an empty text for other names."""
    if name.endswith(".zip"):
        return f"unknown agent {name!r}; did you mean {f'sb3:{name}'!r}?"
    if name.endswith(_WEIGHTS):
        meant = "" if name.endswith(".npz") else file_hint(name, f"selfplay:{name}")
        play = f"eights of your own network play as FILE.py:CLASS:weights={name}"
        return f"unknown agent {name!r}{f'{meant} W' if meant else '; w'}{play}"
    program = name if os.path.dirname(name) else f"./{name}"
    hint = file_hint(name, f"exec:{program}")
    return f"unknown agent {name!r}{hint}" if hint else ""
