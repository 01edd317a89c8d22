"""The agents of the zoo: the table that :func:`c4env.agents.make` reads."""

from __future__ import annotations

__any_board__ = True

from typing import Final

from c4env.agents.registry.entries import Entry

ZOO: Final = (
    Entry(
        "random", "c4env.agents.baselines:Random", "a legal column, drawn uniformly", any_board=True
    ),
    Entry(
        "greedy",
        "c4env.agents.baselines:Greedy",
        "wins if it can, blocks if it must, else plays to the best next board",
        any_board=True,
    ),
    Entry(
        "minimax",
        "c4env.agents.published.minimax:Minimax",
        "naive minimax without pruning (published: chain heuristic, depth 7)",
        any_board=True,
    ),
    Entry(
        "alphabeta",
        "c4env.agents.published.alphabeta:AlphaBeta",
        "alpha-beta with any heuristic; plays minimax's columns",
        any_board=True,
    ),
    Entry(
        "deepening",
        "c4env.agents.search.deepening:Deepening",
        "iterative-deepening alpha-beta with table, killers and history; by clock or by nodes",
    ),
    Entry(
        "alphabeta-chain",
        "c4env.agents.published.alphabeta:Chain",
        "the chain system, published at depth 7",
    ),
    Entry(
        "alphabeta-window",
        "c4env.agents.published.alphabeta:WindowA",
        "window system A, published at depths 3, 5 and 7",
    ),
    Entry(
        "alphabeta-window-b",
        "c4env.agents.published.alphabeta:WindowB",
        "window system B; its report gives no depth",
    ),
    Entry(
        "rust-port",
        "c4env.agents.published.rustport:RustPort",
        "the Rust bot's line score and choice, published at depth 5",
    ),
    Entry(
        "negamax",
        "c4env.agents.published.negamax:Negamax",
        "plain exact negamax, for endings only",
        any_board=True,
    ),
    Entry(
        "perfect",
        "c4env.agents.solver.perfect:Perfect",
        "exact play: wins as soon, or loses as late, as possible",
        any_board=True,
    ),
    Entry(
        "graded",
        "c4env.agents.graded.agent:Graded",
        "plays at a stated Elo, from random to perfect, with natural errors",
    ),
    Entry(
        "mcts",
        "c4env.agents.sampling.mcts:MCTS",
        "Monte-Carlo tree search (UCT) with proofs; plays the most visited column",
        any_board=True,
    ),
    Entry(
        "puct",
        "c4env.agents.sampling.puct:PUCT",
        "tree search guided by a policy and value function, with proofs",
        argument="function",
        any_board=True,
    ),
    Entry(
        "learned",
        "c4env.agents.network.agent:Learned",
        "a small network trained on exact play, with a short exact search; NumPy alone",
    ),
    Entry(
        "selfplay",
        "c4env.agents.adapters.selfplay:selfplay",
        "a network of c4env.agents.training.selfplay: selfplay:DIR (needs the package torch)",
        argument="path",
        needs=("torch",),
    ),
    Entry(
        "sb3",
        "c4env.agents.adapters.sb3:SB3",
        "a model of Stable-Baselines3 or sb3-contrib (needs the package stable-baselines3)",
        argument="path",
        needs=("stable_baselines3",),
    ),
    # Other people's agents.
    Entry(
        "exec",
        "c4env.agents.adapters.programs.engine:Engine",
        "a program in any language that answers lines (agents/adapters/README.md)",
        argument="command",
    ),
    Entry(
        "chat",
        "c4env.agents.adapters.chat.agent:Chat",
        "a language model behind a chat endpoint: chat:MODEL (needs the package openai)",
        argument="model",
        needs=("openai",),
        network=True,
    ),
    Entry(
        "kaggle",
        "c4env.agents.adapters.programs.kaggle:Submission",
        "a submission to Kaggle's ConnectX, in a process of its own: kaggle:FILE.py",
        argument="file",
        any_board=True,
    ),
    Entry(
        "torch",
        "c4env.agents.adapters.torch_function:TorchFunction",
        "a PyTorch function or module: torch:FILE.py:NAME (needs the package torch)",
        argument="function",
        needs=("torch",),
    ),
    Entry(
        "open_spiel",
        "c4env.agents.adapters.openspiel:OpenSpielBot",
        "a bot of OpenSpiel: open_spiel:mcts (needs the package open_spiel)",
        argument="bot",
        any_board=True,
        needs=("pyspiel",),
    ),
)
