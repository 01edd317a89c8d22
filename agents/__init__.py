"""The zoo: agents that play Connect Four through one policy interface.

``names()`` lists what ``make()`` knows; ``register()`` adds a function of your own.
Importing the package imports no agent: each is loaded when it is first made.
"""

from __future__ import annotations

from c4env.agents.base import Agent, SearchResult
from c4env.agents.zoo.registry import describe, make, names, register

from c4env.boards import made_for_any_board

__all__ = ["Agent", "SearchResult", "board", "describe", "make", "names", "register"]

# Asked for by the evaluation: another distribution installs a package called `agents` too.
ZOO = "c4env"


board = made_for_any_board(
    __name__,
    any_board="base simple batched pool zoo.registry zoo.table search.evaluations "
    "search.fixed_depth search.greedy search.heuristics search.packing search.threats "
    "search.weights search.windows "
    "published.alphabeta published.minimax published.negamax solver.book.enumeration "
    "solver.perfect solver.search.batch solver.search.bounds solver.search.driver "
    "solver.search.null_window solver.search.table solver.solver "
    "solver.whole sampling.mcts sampling.policy_value sampling.puct sampling.tree "
    "adapters.model adapters.openspiel adapters.programs.kaggle adapters.programs.process",
    shared="errors zoo.entries zoo.imports search.threads solver.search.lowlevel "
    "adapters.programs.kaggle_runner adapters.programs.supervisor",
)
