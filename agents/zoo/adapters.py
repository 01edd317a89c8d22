"""The adapters' part of the zoo's table."""

from __future__ import annotations

from typing import Final

from agents.zoo.entries import REQUIRED, Entry, Option


def _seconds(name: str, default: float, note: str) -> Option:
    return Option(name, float, default, f"seconds {note}", 0, 86400)


ADAPTERS: Final = (
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
        "chat",
        "agents.adapters.chat:Chat",
        "a language model behind a chat endpoint: chat:MODEL (needs the package openai)",
        (
            Option("model", str, REQUIRED, "the name the endpoint knows it by"),
            Option("base_url", str, "", "of the endpoint; default: OPENAI_BASE_URL, else OpenAI's"),
            Option("prompt", str, "both", "board, moves or both, +legal, +answer; kaggle; a file"),
            Option("temperature", float, None, "of its sampling; default: the endpoint's", 0, 2),
            Option("max_tokens", int, None, "of an answer; default: the endpoint's", 1),
            Option("retries", int, 2, "more tries after an answer without a legal move", 0, 100),
            _seconds("timeout", 120.0, "for an answer to arrive, before it is asked for again"),
            _seconds("patience", 600.0, "in which a network that fails is waited for"),
            Option(
                "votes", int, 1, "answers a move; the column most of them name is played", 1, 99
            ),
        ),
        argument="model",
        needs=("openai",),
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
        "a PyTorch function or module: torch:FILE.py:NAME (needs the package torch)",
        (
            Option("function", str, REQUIRED, "FILE.py:NAME, which runs as code: trust it"),
            Option("device", str, "cpu", "where its tensors are"),
        ),
        argument="function",
        needs=("torch",),
    ),
    Entry(
        "bitbully",
        "agents.adapters.bitbully_solver:BitBully",
        "the exact solver BitBully (needs the packages bitbully and bitbully-databases)",
        (
            Option("depth", int, 0, "plies before it guesses; 0: exact", 0, 42),
            Option("book", str, "12-ply-dist", "none, 8-ply, 12-ply or 12-ply-dist"),
            Option(
                "ties",
                str,
                "center",
                "among best columns: center, leftmost or random",
                choices=("center", "leftmost", "random"),
            ),
        ),
        needs=("bitbully", "bitbully_databases"),
    ),
    Entry(
        "open_spiel",
        "agents.adapters.openspiel:OpenSpielBot",
        "a bot of OpenSpiel: open_spiel:mcts (needs the package open_spiel)",
        (
            Option("bot", str, REQUIRED, "mcts, minimax, uniform_random, ..."),
            Option("simulations", int, 1000, "of mcts, a move", 1),
            Option("c", float, 1.4, "of mcts, the constant of its UCT", 0, 1000),
            Option("depth", int, 4, "of minimax, plies looked ahead, its own included", 1, 42),
        ),
        argument="bot",
        needs=("pyspiel",),
    ),
)
