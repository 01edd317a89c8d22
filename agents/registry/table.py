"""The agents of the zoo: the table that :func:`c4env.agents.make` reads."""

from __future__ import annotations

from typing import Final

from c4env.agents.registry.entries import Entry

ZOO: Final = (
    Entry("random", ".baselines:Random", "a legal column, drawn uniformly", any_board=True),
    Entry(
        "greedy",
        ".baselines:Greedy",
        "wins if it can, blocks if it must, else plays to the best next board",
        any_board=True,
    ),
    Entry(
        "minimax",
        ".published.minimax:Minimax",
        "naive minimax without pruning (published: chain heuristic, depth 7)",
        any_board=True,
    ),
    Entry(
        "alphabeta",
        ".published.alphabeta:AlphaBeta",
        "alpha-beta with any heuristic; plays minimax's columns",
        any_board=True,
    ),
    Entry(
        "deepening",
        ".search.deepening:Deepening",
        "iterative-deepening alpha-beta with table, killers and history; by clock or by nodes",
    ),
    Entry(
        "alphabeta-chain",
        ".published.alphabeta:Chain",
        "the chain system, published at depth 7",
    ),
    Entry(
        "alphabeta-window",
        ".published.alphabeta:WindowA",
        "window system A, published at depths 3, 5 and 7",
    ),
    Entry(
        "alphabeta-window-b",
        ".published.alphabeta:WindowB",
        "window system B; its report gives no depth",
    ),
    Entry(
        "rust-port",
        ".published.rustport:RustPort",
        "the Rust bot's line score and choice, published at depth 5",
    ),
    Entry(
        "negamax",
        ".published.negamax:Negamax",
        "plain exact negamax, for endings only",
        any_board=True,
    ),
    Entry(
        "perfect",
        ".solver.perfect:Perfect",
        "exact play: wins as soon, or loses as late, as possible",
        any_board=True,
    ),
    Entry(
        "graded",
        ".graded.agent:Graded",
        "plays at a stated Elo, from random to perfect, with natural errors",
    ),
    Entry(
        "mcts",
        ".sampling.mcts:MCTS",
        "Monte-Carlo tree search (UCT) with proofs; plays the most visited column",
        any_board=True,
    ),
    Entry(
        "puct",
        ".sampling.puct:PUCT",
        "tree search guided by a policy and value function, with proofs",
        argument="function",
        any_board=True,
    ),
    Entry(
        "learned",
        ".network.agent:Learned",
        "a small network trained on exact play, with a short exact search; NumPy alone",
    ),
    Entry(
        "selfplay",
        ".selfplay.agent:selfplay",
        "a network of c4env.agents.selfplay.train: selfplay:DIR (needs the package torch)",
        argument="path",
        needs=("torch",),
    ),
    Entry(
        "sb3",
        ".adapters.sb3:SB3",
        "a model of Stable-Baselines3 or sb3-contrib (needs the package stable-baselines3)",
        argument="path",
        needs=("stable_baselines3",),
    ),
    # Other people's agents.
    Entry(
        "exec",
        ".adapters.programs.engine:Engine",
        "a program in any language that answers lines (agents/adapters/README.md)",
        argument="command",
    ),
    Entry(
        "chat",
        ".adapters.chat.agent:Chat",
        "a language model behind a chat endpoint: chat:MODEL (needs the package openai)",
        argument="model",
        needs=("openai",),
        network=True,
    ),
    Entry(
        "kaggle",
        ".adapters.programs.kaggle:Submission",
        "a submission to Kaggle's ConnectX, in a process of its own: kaggle:FILE.py",
        argument="file",
        any_board=True,
    ),
    Entry(
        "torch",
        ".adapters.torch_function:TorchFunction",
        "a PyTorch function or module: torch:FILE.py:NAME (needs the package torch)",
        argument="function",
        needs=("torch",),
    ),
    Entry(
        "open_spiel",
        ".adapters.openspiel:OpenSpielBot",
        "a bot of OpenSpiel: open_spiel:mcts (needs the package open_spiel)",
        argument="bot",
        any_board=True,
        needs=("pyspiel",),
    ),
)
