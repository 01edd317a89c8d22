"""The zoo: agents that play Connect Four through one policy interface.

``names()`` lists what ``make()`` knows; ``register()`` adds a function of your own.
Importing the package imports no agent: each is loaded when it is first made.
"""

from __future__ import annotations

from agents.base import Agent, SearchResult
from agents.zoo.registry import describe, make, names, register

__all__ = ["Agent", "SearchResult", "describe", "make", "names", "register"]

# Asked for by the evaluation: another distribution installs a package called `agents` too.
ZOO = "c4env"
