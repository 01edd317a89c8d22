"""The commands of ``c4``, a module each.

A module's docstring is the command's help. ``configure(parser)`` declares its arguments, and
``execute(arguments)`` does the work; it returns the exit code, or None for 0. A module is imported
only when its command is asked for, and what takes time is imported within ``execute``, so that no
command pays for another's imports.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

GROUPS: Final = {
    "play and rate": {
        "run": "play a round robin, or one agent against a field",
        "match": "play two agents until it is known which is stronger",
        "sweep": "strength against cost: many settings of an agent",
        "leaderboard": "the standing field of agents, and an agent's place in it",
        "compare": "two runs side by side: before and after a change",
    },
    "judge by exact play": {
        "solve": "exact scores of positions",
        "quality": "judge the moves of agents, or the values of heuristics",
        "refute": "find what any opponent can hold an agent to",
    },
    "look": {
        "report": "tables and page of a run, or of games that people played",
        "list": "describe every agent and its options",
        "play": "play against an agent in the terminal, or watch two",
        "web": "open a page to play, to analyse and to look at games",
    },
    "your own agent": {
        "new": "write an agent of your own to begin with",
        "check": "try an agent: legal, deterministic, how quick",
        "serve-agent": "serve an agent to other programs, by lines or HTTP",
    },
    "data": {"data": "write positions with exact scores, to train and to test on"},
    "for developers": {
        "dev experiment": "repeat a published experiment",
        "dev completion": "print a script that completes commands and options in a shell",
    },
}
"""What each command does, by what it is for."""

COMMANDS: Final = {
    name: (group, summary) for group, some in GROUPS.items() for name, summary in some.items()
}
"""Of each command the group it is in, and what it does."""

MOVED: Final = {
    "bench": "python -m tests.benchmarks, in a checkout",
    "book": "python -m tests.makers book, in a checkout",
    "completion": "c4 dev completion SHELL",
    "exam": "python -m tests.makers exam, in a checkout",
    "experiment": "c4 dev experiment EXPERIMENT",
    "gauntlet": "c4 run --only ME FIELD...",
    "heuristics": "c4 quality --heuristics NAME... --on SET...",
    "place": "c4 leaderboard --place SPEC",
    "replay": "c4 report DIR --html FILE, or c4 web --runs DIR",
}
"""Of each command that there was, what took its place."""


def module_of(name: str) -> Any:
    """The module of a command."""
    return importlib.import_module(f"{__name__}.{name.removeprefix('dev ').replace('-', '_')}")
