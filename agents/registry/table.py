"""The agents of the zoo: the table that :func:`c4env.agents.make` reads.

The docstring of each class or function holds the agent's summary and the help of its options.
"""

from __future__ import annotations

from typing import Final

from c4env.agents.registry.entries import Entry

ZOO: Final = (
    Entry("random", ".baselines:Random", any_board=True),
    Entry("greedy", ".baselines:Greedy", any_board=True),
    Entry("minimax", ".published.alphabeta:Minimax", any_board=True),
    Entry("alphabeta", ".published.alphabeta:AlphaBeta", any_board=True),
    Entry("deepening", ".search.deepening:Deepening"),
    Entry("alphabeta-chain", ".published.alphabeta:Chain"),
    Entry("alphabeta-window", ".published.alphabeta:WindowA"),
    Entry("alphabeta-window-b", ".published.alphabeta:WindowB"),
    Entry("rust-port", ".published.rustport:RustPort"),
    Entry("negamax", ".published.negamax:Negamax", any_board=True),
    Entry("perfect", ".solver.perfect:Perfect", any_board=True),
    Entry("graded", ".graded.agent:Graded"),
    Entry("mcts", ".sampling.mcts:MCTS", any_board=True),
    Entry("puct", ".sampling.puct:PUCT", argument="function", any_board=True),
    Entry("learned", ".network.agent:Learned"),
    Entry("selfplay", ".selfplay.agent:selfplay", argument="path", needs=("torch",)),
    Entry("sb3", ".adapters.models:SB3", "", "path", ("stable_baselines3",), runs="own"),
    # Other people's agents.
    Entry("exec", ".adapters.programs.engine:Engine", argument="command", runs="here"),
    Entry("chat", ".adapters.chat.agent:Chat", "", "model", ("openai",), network=True, runs="here"),
    Entry("kaggle", ".adapters.programs.kaggle:Submission", "", "file", any_board=True, runs="own"),
    Entry("torch", ".adapters.models:TorchFunction", "", "function", ("torch",), runs="own"),
    Entry("open_spiel", ".adapters.openspiel:OpenSpielBot", "", "bot", ("pyspiel",), True),
)
