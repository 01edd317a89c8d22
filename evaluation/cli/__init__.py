"""The commands of ``c4``, a module each.

A module's docstring is the command's help. ``configure(parser)`` declares its arguments, and
``execute(arguments)`` does the work; it returns the exit code, or None for 0. A module is imported
only when its command is asked for, and what takes time is imported within ``execute``, so that no
command pays for another's imports.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

COMMANDS: Final = {
    "run": ("run", "play a round robin and print its win table"),
    "gauntlet": ("gauntlet", "play one agent against a field and print its win table"),
    "match": ("match", "play two agents until it is known which is stronger"),
    "leaderboard": ("leaderboard", "play the standing field, or print its stored table"),
    "place": ("place", "rate one agent among the stored field"),
    "report": ("report", "print the tables of a run, or of games that people played"),
    "quality": ("quality", "judge the moves of agents by exact play"),
    "refute": ("refute", "find what any opponent can hold an agent to"),
    "heuristics": ("heuristics", "compare heuristics without search, by exact scores"),
    "sweep": ("sweep", "strength against cost: many settings of an agent"),
    "replay": ("replay", "show a game of a run, move by move, with exact scores"),
    "list": ("list", "describe every agent and its options"),
    "play": ("play", "play against an agent in the terminal, or watch two"),
    "check": ("check", "try an agent: legal, deterministic, how quick"),
    "new": ("new", "write an agent of your own to begin with"),
    "compare": ("compare", "two runs side by side: before and after a change"),
    "web": ("web", "open a page to play, to analyse and to look at games"),
    "solve": ("solve", "exact scores of positions"),
    "data": ("data", "write positions with exact scores, to train and to test on"),
    "experiment": ("experiment", "repeat a published experiment"),
    "serve-agent": ("serve_agent", "serve an agent to other programs, by lines or HTTP"),
    "completion": ("completion", "print a script that completes commands and options in a shell"),
}
"""Of each command its module here, and what it does."""

MOVED: Final = {
    "bench": "python -m tests.benchmarks, in a checkout",
    "book": "python -m tests.makers book, in a checkout",
    "exam": "python -m tests.makers exam, in a checkout",
}
"""Of each command that there was, what took its place."""


def module_of(name: str) -> Any:
    """The module of a command."""
    return importlib.import_module(f"{__name__}.{COMMANDS[name][0]}")
