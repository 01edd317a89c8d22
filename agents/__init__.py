"""The zoo: agents that play Connect Four through one policy interface.

``names()`` lists what ``make()`` knows; ``register()`` adds a function of your own.
Importing the package imports no agent: each is loaded when it is first made.
"""

from __future__ import annotations

from c4env.agents.base import Agent, SearchResult
from c4env.agents.zoo.registry import describe, make, names, register

__all__ = ["Agent", "SearchResult", "describe", "make", "names", "register"]
