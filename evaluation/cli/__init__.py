"""The commands of ``c4``, each in its own module.

A module's docstring is the help of its command. ``configure(parser)`` declares the arguments;
``execute(arguments)`` does the work and returns the exit code, or None for 0. ``c4`` imports only
the module of the command that it runs. Slow imports belong inside ``execute``.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

GROUPS: Final = {
    "play and rate": {
        "run": "play a round robin, or one agent against a field",
        "match": "play two agents, and say which is stronger and by how much",
        "leaderboard": "print the ratings of a fixed field, or rate one agent against it",
    },
    "judge by exact play": {
        "solve": "print the exact scores of positions",
        "quality": "judge the moves of agents, or the values of heuristics",
        "refute": "search for games that an agent throws away",
    },
    "look": {
        "report": "show a run, or games that people played",
        "list": "describe every agent and its options",
        "play": "play against an agent in the terminal, or watch two",
        "web": "open a page to play, analyse and replay games",
    },
    "your own agent": {
        "check": "test an agent: are its moves legal, deterministic and fast",
    },
    "data": {"data": "write positions with exact scores, to train and to test on"},
}
"""The commands in groups, each with a description."""

COMMANDS: Final = {name: text for group in GROUPS.values() for name, text in group.items()}
"""The description of each command."""


def module_of(name: str) -> Any:
    """Import the module of a command."""
    return importlib.import_module(f"{__name__}.c4_{name}")
