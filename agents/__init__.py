"""The zoo: agents that play Connect Four through one policy interface.

``names()`` lists what ``make()`` knows; ``register()`` adds a function of your own.
Importing the package imports no agent: each is loaded when it is first made.
"""

from __future__ import annotations

from typing import Any

from c4env.agents.base import Agent, SearchResult
from c4env.agents.zoo.registry import describe, make, names, register

from c4env.envs.asking import TRANSLATORS

__all__ = ["Agent", "SearchResult", "describe", "make", "names", "register"]


def _as_opponent(agent: Any) -> Any:
    """An agent, its spec or a model, given to an environment as the opponent; None for others."""
    is_model = hasattr(agent, "policy") or hasattr(agent, "state_dict")
    if not (isinstance(agent, (str, Agent)) or is_model):
        return None
    from c4env.agents.batched import opponent  # it compiles the searches

    return opponent(agent)


TRANSLATORS.append(_as_opponent)
