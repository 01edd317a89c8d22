"""The agents that come with the project: the table :func:`agents.make` reads."""

from __future__ import annotations

from typing import Final

from agents.entries import REQUIRED, Entry, Option


def _depth(default: int, note: str = "") -> Option:
    text = "plies looked ahead, the agent's own move included"
    return Option("depth", int, default, text + note, 1, 42)


_HEURISTIC: Final = Option(
    "heuristic", str, "chain", "chain, lines, window, window-b or package.module:function"
)


def _seconds(name: str, default: float, note: str) -> Option:
    return Option(name, float, default, f"seconds {note}", 0, 86400)


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
        "exec",
        "agents.adapters.engine:Engine",
        "a program in any language that answers lines (agents/adapters/README.md)",
        (
            Option("command", str, REQUIRED, "the program and its arguments"),
            Option("reply", str, "column", "what it answers: column, scores or score"),
            _seconds("timeout", 10.0, "for a move"),
            _seconds("startup", 10.0, "more for the first answer of a fresh process"),
            Option("newgame", str, "none", "at each game: none, reset (a line) or restart"),
        ),
        argument="command",
    ),
    Entry(
        "http",
        "agents.adapters.remote:Remote",
        "an agent that another program serves: http://127.0.0.1:PORT (c4 serve-agent --http)",
        (
            Option("url", str, REQUIRED, "its address"),
            _seconds("timeout", 10.0, "for a move"),
            Option("reach", str, "loopback", "loopback (this machine alone) or any"),
        ),
        argument="url",
    ),
    Entry(
        "kaggle",
        "agents.adapters.kaggle:Submission",
        "a submission to Kaggle's ConnectX, in a process of its own: kaggle:FILE.py",
        (
            Option("file", str, REQUIRED, "the submission"),
            _seconds("timeout", 2.0, "for a move"),
            _seconds("overage", 60.0, "a game for moves that take longer"),
            _seconds("startup", 20.0, "for Python to start"),
            Option("python", str, "", "its interpreter; default: this one"),
        ),
        argument="file",
    ),
    Entry(
        "torch",
        "agents.adapters.torch_function:TorchFunction",
        "a PyTorch function or module of a file: torch:FILE.py:NAME",
        (
            Option("function", str, REQUIRED, "FILE.py:NAME, which runs as code: trust it"),
            Option("device", str, "cpu", "where its tensors are"),
        ),
        argument="function",
    ),
    Entry(
        "bitbully",
        "agents.adapters.bitbully_solver:BitBully",
        "the exact solver BitBully (needs the packages bitbully and bitbully-databases)",
        (
            Option("depth", int, 0, "plies before it guesses; 0: exact", 0, 42),
            Option("book", str, "12-ply-dist", "none, 8-ply, 12-ply or 12-ply-dist"),
            Option("ties", str, "center", "among best columns: center, leftmost or random"),
        ),
    ),
    Entry(
        "open_spiel",
        "agents.adapters.openspiel:OpenSpielBot",
        "a bot of OpenSpiel: open_spiel:mcts (needs the package open_spiel)",
        (
            Option("bot", str, REQUIRED, "mcts, minimax, uniform_random, ..."),
            Option("simulations", int, 1000, "of mcts, a move", 1),
            Option("c", float, 1.4, "of mcts, the constant of its UCT", 0, 1000),
            _depth(4, "; of minimax"),
        ),
        argument="bot",
    ),
)
