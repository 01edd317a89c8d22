"""The zoo: agents that play Connect Four through one policy interface.

``names()`` lists what ``make()`` knows; ``register()`` adds a function of your own.
Importing the package imports no agent: each is loaded when it is first made.
"""

from __future__ import annotations

from typing import Any

from agents.base import Agent, SearchResult
from agents.zoo.registry import describe, make, names, register
from c4env.envs.asking import TRANSLATORS

__all__ = ["Agent", "SearchResult", "describe", "make", "names", "register"]

# Asked for by the evaluation: another distribution installs a package called `agents` too.
ZOO = "c4env"


def _as_opponent(agent: Any) -> Any:
    """An agent or its spec, given to an environment as the opponent."""
    from agents.batched import opponent  # it compiles the searches

    return opponent(agent)


TRANSLATORS.append(_as_opponent)
