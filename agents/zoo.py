"""The agents that come with the project: the table :func:`agents.make` reads."""

from __future__ import annotations

from typing import Final

from agents.entries import REQUIRED, Entry, Option


def _depth(default: int, note: str = "") -> Option:
    text = "plies looked ahead, the agent's own move included"
    return Option("depth", int, default, text + note, 1, 42)


_HEURISTIC: Final = Option(
    "heuristic", str, "chain", "chain, lines, threats, window, window-b or a module:function"
)
_MOVETIME: Final = Option(
    "movetime", float, None, "seconds a move; games then need not repeat", 0.001
)

ZOO: Final = (
    Entry("random", "agents.simple:Random", "a legal column, each as likely"),
    Entry(
        "greedy",
        "agents.simple:Greedy",
        "wins if it can, blocks if it must, else the best next board",
        (_HEURISTIC,),
    ),
    Entry(
        "minimax",
        "agents.minimax:Minimax",
        "naive minimax, nothing pruned (published: chain heuristic, depth 7)",
        (_depth(7), _HEURISTIC),
    ),
    Entry(
        "alphabeta",
        "agents.alphabeta:AlphaBeta",
        "alpha-beta with any heuristic; chooses as minimax does",
        (_depth(7), _HEURISTIC),
    ),
    Entry(
        "alphabeta-table",
        "agents.ordered:Ordered",
        "alpha-beta, threats first, transposition table; chooses as minimax does, sooner",
        (_depth(9), _HEURISTIC),
    ),
    Entry(
        "deepening",
        "agents.deepening:Deepening",
        "iterative-deepening alpha-beta with table, killers and history; by clock or by nodes",
        (
            _MOVETIME,
            Option("nodes", int, None, "positions a move (200000 if no other budget)", 1),
            Option("depth", int, None, "plies looked ahead at most", 1, 42),
            Option("heuristic", str, "threats", "as for alphabeta"),
            Option("table_mb", int, 32, "memory of the table", 1, 65536),
        ),
    ),
    Entry(
        "alphabeta-chain",
        "agents.alphabeta:Chain",
        "the chain system, published at depth 7",
        (_depth(7, "; the report's max_depth plus one"),),
    ),
    Entry(
        "alphabeta-window",
        "agents.alphabeta:WindowA",
        "window system A, published at depths 3, 5 and 7",
        (_depth(5),),
    ),
    Entry(
        "alphabeta-window-b",
        "agents.alphabeta:WindowB",
        "window system B; its report gives no depth",
        (_depth(5),),
    ),
    Entry(
        "rust-port",
        "agents.rustport:RustPort",
        "the Rust bot's line score and choice, published at depth 5",
        (_depth(5, "; the report's depth plus one"),),
    ),
    Entry(
        "negamax",
        "agents.negamax:Negamax",
        "plain exact negamax, for endings only",
        (Option("max_nodes", int, 1_000_000_000, "positions before it gives up", 1),),
    ),
    Entry(
        "perfect",
        "agents.perfect:Perfect",
        "exact play: wins as soon, or loses as late, as can be",
        (
            Option("blunder", float, 0.0, "share of moves that are not a best one", 0, 1),
            Option("ties", str, "centre", "among best columns: centre (first) or random"),
            Option("table_mb", int, 64, "memory of the solver's table", 1, 65536),
        ),
    ),
    Entry(
        "sb3",
        "agents.sb3:SB3",
        "a model trained with Stable-Baselines3 or sb3-contrib (agents/training)",
        (
            Option("path", str, REQUIRED, "the model's .zip, which may run code: trust it"),
            Option("temperature", float, 0.0, "0: the preferred column; 1: drawn as trained", 0),
        ),
        argument="path",
    ),
)
