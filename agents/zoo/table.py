"""The agents that come with the project: the table :func:`agents.make` reads."""

from __future__ import annotations

__any_board__ = True

from typing import Final

from c4env.agents.zoo.entries import REQUIRED, Entry, Option

from c4env.geometry import COLUMNS, CONNECT, IS_STANDARD, ROWS

_CELLS: Final = ROWS * COLUMNS


def _depth(default: int, note: str = "") -> Option:
    text = "plies looked ahead, the agent's own move included"
    return Option("depth", int, default, text + note, 1, _CELLS)


MOST: Final = 10**15  # of what is counted; beyond it counters of 64 bits could overflow
DAY: Final = 86400.0  # seconds, the longest an option may say
HEURISTIC_NAMES: Final[tuple[str, ...]] = (
    ("chain", "lines", "threats", "window", "window-b")
    if IS_STANDARD
    else ("chain", "window", "window-b")
    if CONNECT == 4
    else ("none",)  # for lines of another length there are none
)
DEFAULT_HEURISTIC: Final = HEURISTIC_NAMES[0]
"""The heuristic of agents that are not given another."""


def _choice(name: str, choices: tuple[str, ...], note: str, default: str = "") -> Option:
    return Option(name, str, default or choices[0], note, choices=choices)


_HEURISTICS: Final = f"{', '.join(HEURISTIC_NAMES)} or a module:function"
_HEURISTIC: Final = _choice("heuristic", HEURISTIC_NAMES, _HEURISTICS)
_MOVETIME: Final = Option(
    "movetime", float, None, "seconds a move; games then need not repeat", 0.001, DAY
)


def _seconds(name: str, default: float, note: str) -> Option:
    return Option(name, float, default, f"seconds {note}", 0, DAY)


# Of the searches that sample.
def _simulations(default: int) -> Option:
    text = f"simulations a move ({default} if there is no movetime)"
    return Option("simulations", int, None, text, 1, MOST)


_REUSE: Final = Option("reuse", int, 1, "1 keeps the tree from move to move, 0 does not", 0, 1)
_TREE_MB: Final = Option("tree_mb", int, 128, "memory of the tree, at most", 1, 65536)

ZOO: Final = (
    Entry("random", "c4env.agents.simple:Random", "a legal column, each as likely", any_board=True),
    Entry(
        "greedy",
        "c4env.agents.simple:Greedy",
        "wins if it can, blocks if it must, else the best next board",
        (_HEURISTIC,),
        any_board=True,
    ),
    Entry(
        "minimax",
        "c4env.agents.published.minimax:Minimax",
        "naive minimax, nothing pruned (published: chain heuristic, depth 7)",
        (_depth(7), _HEURISTIC),
        any_board=True,
    ),
    Entry(
        "alphabeta",
        "c4env.agents.published.alphabeta:AlphaBeta",
        "alpha-beta with any heuristic; chooses as minimax does",
        (_depth(7), _HEURISTIC),
        any_board=True,
    ),
    Entry(
        "alphabeta-table",
        "c4env.agents.search.alphabeta_table:AlphaBetaTable",
        "alpha-beta, threats first, transposition table; chooses as minimax does, sooner",
        (_depth(9), _HEURISTIC),
    ),
    Entry(
        "deepening",
        "c4env.agents.search.deepening:Deepening",
        "iterative-deepening alpha-beta with table, killers and history; by clock or by nodes",
        (
            _MOVETIME,
            Option("nodes", int, None, "positions a move (200000 if no other budget)", 1, MOST),
            Option("depth", int, None, "plies looked ahead at most", 1, _CELLS),
            _choice("heuristic", HEURISTIC_NAMES, "as for alphabeta", "threats"),
            Option("table_mb", int, 32, "memory of the table", 1, 65536),
        ),
    ),
    Entry(
        "alphabeta-chain",
        "c4env.agents.published.alphabeta:Chain",
        "the chain system, published at depth 7",
        (_depth(7, "; the report's max_depth plus one"),),
    ),
    Entry(
        "alphabeta-window",
        "c4env.agents.published.alphabeta:WindowA",
        "window system A, published at depths 3, 5 and 7",
        (_depth(5),),
    ),
    Entry(
        "alphabeta-window-b",
        "c4env.agents.published.alphabeta:WindowB",
        "window system B; its report gives no depth",
        (_depth(5),),
    ),
    Entry(
        "rust-port",
        "c4env.agents.published.rustport:RustPort",
        "the Rust bot's line score and choice, published at depth 5",
        (_depth(5, "; the report's depth plus one"),),
    ),
    Entry(
        "negamax",
        "c4env.agents.published.negamax:Negamax",
        "plain exact negamax, for endings only",
        (Option("max_nodes", int, 10**9, "positions before it gives up", 1, MOST),),
        any_board=True,
    ),
    Entry(
        "perfect",
        "c4env.agents.solver.perfect:Perfect",
        "exact play: wins as soon, or loses as late, as can be",
        (
            Option("blunder", float, 0.0, "share of moves that are not a best one", 0, 1),
            _choice("ties", ("centre", "random"), "among best columns: centre (first) or random"),
            Option("table_mb", int, 64, "memory of the solver's table", 1, 65536),
        ),
        any_board=True,
    ),
    Entry(
        "mcts",
        "c4env.agents.sampling.mcts:MCTS",
        "Monte-Carlo tree search (UCT) with proofs; plays the column it tried most",
        (
            _simulations(2000),
            _MOVETIME,
            Option("c", float, 1.0, "how much it explores; results are 1, 0 and -1", 0, 100),
            _choice("rollout", ("greedy", "random"), "greedy: win, block, give no win; or random"),
            _REUSE,
            _TREE_MB,
        ),
        any_board=True,
    ),
    Entry(
        "puct",
        "c4env.agents.sampling.puct:PUCT",
        "tree search led by a policy and value function, with proofs",
        (
            Option("function", str, "learned", "learned, selfplay:DIR or module:function"),
            _simulations(400),
            _MOVETIME,
            Option("c", float, 1.5, "how much the policy counts; values are -1 to 1", 0, 100),
            Option("policy", str, "logits", "what the function gives: logits or probabilities"),
            Option("batch", int, 8, "leaves it is asked about at a time", 1, 1024),
            _choice("choice", ("visits", "improved"), "most tried, or best by policy and value"),
            Option("follow", int, 0, "1: no question where all moves but one lose at once", 0, 1),
            Option("root_temperature", float, 1.0, "above 1: tries more at the root", 0.01, 100),
            _REUSE,
            _TREE_MB,
        ),
        argument="function",
        any_board=True,
    ),
    Entry(
        "learned",
        "c4env.agents.learned.agent:Learned",
        "a small network trained on exact play, with a short exact search; NumPy alone",
        (
            Option("depth", int, 1, "plies looked ahead; 0: the policy's column", 0, 4),
            Option(
                "weights", str, "shipped", "shipped, or an .npz file of c4env.agents.learned.train"
            ),
            Option("nodes", int, 300_000, "of the exact search; 0: none", 0, 10**9),
        ),
    ),
    Entry(
        "selfplay",
        "c4env.agents.adapters.selfplay:selfplay",
        "a network of c4env.agents.training.selfplay: selfplay:DIR (needs the package torch)",
        (
            Option("path", str, REQUIRED, "the folder of its training, or the network's file"),
            Option("simulations", int, 0, "a move, by puct; 0: the policy alone", 0, MOST),
            Option("temperature", float, 0.0, "of the policy; 0: the preferred column", 0),
        ),
        argument="path",
        needs=("torch",),
    ),
    Entry(
        "sb3",
        "c4env.agents.adapters.sb3:SB3",
        "a model of Stable-Baselines3 or sb3-contrib (needs the package stable-baselines3)",
        (
            Option("path", str, REQUIRED, "the model's .zip, which may run code: trust it"),
            Option("temperature", float, 0.0, "0: the preferred column; 1: drawn as trained", 0),
        ),
        argument="path",
        needs=("stable_baselines3",),
    ),
    # Other people's agents.
    Entry(
        "exec",
        "c4env.agents.adapters.programs.engine:Engine",
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
        "c4env.agents.adapters.remote:Remote",
        "an agent that another program serves: http://127.0.0.1:PORT (c4 serve-agent --http)",
        (
            Option("url", str, REQUIRED, "its address"),
            _seconds("timeout", 10.0, "for a move"),
            Option("reach", str, "loopback", "loopback (this machine alone) or any"),
        ),
        argument="url",
        network=True,
    ),
    Entry(
        "chat",
        "c4env.agents.adapters.chat.agent:Chat",
        "a language model behind a chat endpoint: chat:MODEL (needs the package openai)",
        (
            Option("model", str, REQUIRED, "the name the endpoint knows it by"),
            Option("base_url", str, "", "of the endpoint; default: OPENAI_BASE_URL, else OpenAI's"),
            Option(
                "prompt",
                str,
                "both",
                "board, moves, both; +legal, +answer, +example; kaggle; a file",
            ),
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
        network=True,
    ),
    Entry(
        "kaggle",
        "c4env.agents.adapters.programs.kaggle:Submission",
        "a submission to Kaggle's ConnectX, in a process of its own: kaggle:FILE.py",
        (
            Option("file", str, REQUIRED, "the submission"),
            _seconds("timeout", 2.0, "for a move"),
            _seconds("overage", 60.0, "a game for moves that take longer"),
            _seconds("startup", 20.0, "for Python to start"),
            Option("python", str, "", "its interpreter; default: this one"),
        ),
        argument="file",
        any_board=True,
    ),
    Entry(
        "torch",
        "c4env.agents.adapters.torch_function:TorchFunction",
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
        "c4env.agents.adapters.bitbully_solver:BitBully",
        "the exact solver BitBully (needs the packages bitbully and bitbully-databases)",
        (
            Option("depth", int, 0, "plies before it guesses; 0: exact", 0, _CELLS),
            Option("book", str, "12-ply-dist", "none, 8-ply, 12-ply or 12-ply-dist"),
            _choice(
                "ties", ("center", "leftmost", "random"), "of the best: center, leftmost or random"
            ),
        ),
        needs=("bitbully", "bitbully_databases"),
    ),
    Entry(
        "open_spiel",
        "c4env.agents.adapters.openspiel:OpenSpielBot",
        "a bot of OpenSpiel: open_spiel:mcts (needs the package open_spiel)",
        (
            Option("bot", str, REQUIRED, "mcts, minimax, uniform_random, ..."),
            Option("simulations", int, 1000, "of mcts, a move", 1, 10**9),
            Option("c", float, 1.4, "of mcts, the constant of its UCT", 0, 1000),
            Option("depth", int, 4, "of minimax, plies looked ahead, its own included", 1, _CELLS),
        ),
        argument="bot",
        any_board=True,
        needs=("pyspiel",),
    ),
)
