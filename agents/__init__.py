"""The zoo: agents that play Connect Four through one policy interface.

``names()`` lists what ``make()`` knows; ``register()`` adds a function of your own.
Importing the package imports no agent: each is loaded when it is first made.
"""

from __future__ import annotations

from typing import Any

from c4env.agents.base import Agent, SearchResult
from c4env.agents.zoo.registry import describe, make, names, register

from c4env.boards import made_for_any_board
from c4env.envs.asking import TRANSLATORS

__all__ = ["Agent", "SearchResult", "board", "describe", "make", "names", "register"]

# Asked for by the evaluation: another distribution installs a package called `agents` too.
ZOO = "c4env"


def _as_opponent(agent: Any) -> Any:
    """An agent, its spec or a model, given to an environment as the opponent; None for others."""
    is_model = hasattr(agent, "policy") or hasattr(agent, "state_dict")
    if not (isinstance(agent, (str, Agent)) or is_model):
        return None
    from c4env.agents.batched import opponent  # it compiles the searches

    return opponent(agent)


TRANSLATORS.append(_as_opponent)

board = made_for_any_board(
    __name__,
    any_board="base simple batched zoo.options zoo.registry zoo.table search.evaluations "
    "search.fixed_depth search.greedy search.heuristics search.packing search.threats "
    "search.weights search.windows published.alphabeta published.minimax published.negamax "
    "solver.book.enumeration solver.perfect solver.search.batch solver.search.bounds "
    "solver.search.driver solver.search.null_window solver.search.table solver.solver "
    "solver.whole sampling.mcts sampling.policy_value sampling.puct sampling.tree "
    "adapters.model adapters.openspiel adapters.programs.kaggle adapters.programs.process",
    shared="errors zoo.entries zoo.imports search.threads solver.search.lowlevel "
    "adapters.programs.kaggle_runner adapters.programs.supervisor",
)
