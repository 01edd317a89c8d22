"""The commands of ``c4``, a module each: ``configure(parser)`` and ``execute(arguments)``."""

from __future__ import annotations

import importlib
from typing import Any, Final

# Each command is a module with configure(parser) and execute(arguments), imported only
# when it is asked for, so that no command pays for another's imports.
COMMANDS: Final = {
    "run": "play a round robin and print its win table",
    "gauntlet": "play one agent against a field and print its win table",
    "match": "play two agents until it is known which is stronger",
    "leaderboard": "play the standing field, or print its stored table",
    "place": "rate one agent among the stored field",
    "report": "print the tables of a run, or of games that people played",
    "quality": "judge the moves of agents by exact play",
    "refute": "find what any opponent can hold an agent to",
    "heuristics": "compare heuristics without search, by exact scores",
    "sweep": "strength against cost: many settings of an agent",
    "replay": "show a game of a run, move by move, with exact scores",
    "list": "describe every agent and its options",
    "play": "play against an agent in the terminal, or watch two",
    "check": "try an agent: legal, deterministic, how quick",
    "new": "write an agent of your own to begin with",
    "compare": "two runs side by side: before and after a change",
    "web": "open a page to play, to analyse and to look at games",
    "solve": "exact scores of positions",
    "book": "build or verify an opening book",
    "exam": "choose the positions of the exam again, or verify its scores",
    "experiment": "repeat a published experiment",
    "serve-agent": "serve an agent to other programs, by lines or HTTP",
    "completion": "print a script that completes commands and options in a shell",
    "bench": "measure speed beside what it is compared with",
}


def module_of(name: str) -> Any:
    """The module of a command."""
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
