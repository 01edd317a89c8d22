"""Text Connect Four as an environment of the library verifiers, with rewards by exact play.

Build it with
``verifiers.load_environment("c4env.agents.training.examples.verifiers_text", opponent="greedy")``.
The model sees a position and answers, for example, ``Move: 4``; see
:func:`c4env.envs.text.read_move`. An agent of the zoo replies, until the game ends. An answer
without a legal move loses the game.

The rewards are ``outcome`` (1, 0 or -1, as in our other environments) and ``kept`` (the share of
the model's moves that kept the exact result of the position, such as a win).
"""

from __future__ import annotations

import asyncio
from typing import Any

from c4env.agents.registry.registry import make
from c4env.agents.solver import Solver
from c4env.agents.training.command_line import needs
from c4env.agents.training.game_tools import keeps_value, starts
from c4env.envs.text import TextEnv, fill, read_move, template
from c4env.errors import IllegalMove, InvalidAction
from c4env.position import Position

with needs("verifiers"):
    import verifiers as vf
    from datasets import Dataset

    if not hasattr(vf, "MultiTurnEnv"):
        raise ImportError(f"verifiers {vf.__version__} has no MultiTurnEnv")


def load_environment(
    opponent: str = "random",
    games: int = 200,
    plies: int = 8,
    kind: str = "board+legal",
    outcome: float = 1.0,
    kept: float = 1.0,
    seed: int = 0,
    **options: Any,
) -> vf.Environment:
    """Make an environment of ``games`` games, each from its own random position.

    Args:
        opponent: the spec of the agent that replies.
        games: number of games; each game is a row of the data set.
        plies: the most discs on the board at the start. Each number from 0 to ``plies`` is equally
            likely. The model plays the side to move.
        kind: a kind of :func:`c4env.envs.text.template`, or a template of your own.
        outcome, kept: weights of the two rewards.
        seed: the seed of the positions and of the opponent.
        options: options of ``verifiers.MultiTurnEnv``, such as ``max_turns``.

    Raises:
        InvalidValue: ``games`` or ``plies`` is out of range.
        UnknownAgent, ...: the spec ``opponent`` is wrong.
    """
    make(opponent).close()  # report an error now, not in the first game
    data = Dataset.from_list(
        [
            {"prompt": [_message(_shown(kind, row["moves"]))], "info": row}
            for row in starts(games, plies, seed)
        ]
    )
    rubric = vf.Rubric(funcs=[_outcome, _kept], weights=[outcome, kept])
    return TextGames(opponent, kind, dataset=data, rubric=rubric, **options)


class TextGames(vf.MultiTurnEnv):
    """The environment that :func:`load_environment` makes."""

    def __init__(self, opponent: str, kind: str, **options: Any) -> None:
        super().__init__(**options)
        self._spec = opponent
        self._kind = kind
        self._solver = Solver()
        self._turn = asyncio.Lock()  # the solver serves one game at a time

    async def setup_state(self, state: Any) -> Any:
        """Begin the game that a row of the data set describes."""
        info = state["info"]
        start = Position.parse(info["moves"])
        game = TextEnv(make(self._spec), seat=start.to_move, kind=self._kind)
        game.reset(seed=info["seed"], options={"moves": info["moves"]})
        state["game"] = game
        state["reward_of_game"] = 0.0
        state["moves_kept"] = []
        return state

    async def env_response(self, messages: Any, state: Any, **_: Any) -> Any:
        """Play the model's move and the opponent's reply; return the messages that follow."""
        async with self._turn:
            text, reward, over = await asyncio.to_thread(self._step, messages, state)
        told = [_message(text)]
        if over:
            state["reward_of_game"] = reward
            state["final_env_response"] = told
        return told

    def _step(self, messages: Any, state: Any) -> tuple[str, float, bool]:
        game = state["game"]
        last = messages[-1]
        answer = last.get("content") if isinstance(last, dict) else last.content
        said = answer if isinstance(answer, str) else ""
        try:
            column = read_move(said, game.position)
        except (InvalidAction, IllegalMove):
            state["moves_kept"].append(0.0)
        else:
            state["moves_kept"].append(float(keeps_value(self._solver, game.position, column)))
        text, reward, over, _, _ = game.step(said)
        return text, reward, over


def _outcome(state: Any, **_: Any) -> float:
    """Return 1 for a win, -1 for a loss, 0 for a draw or an unfinished game."""
    return float(state.get("reward_of_game", 0.0))


def _kept(state: Any, **_: Any) -> float:
    """Return the share of the model's moves that kept the exact result; 0 if there are no moves."""
    moves = state.get("moves_kept", [])
    return sum(moves) / len(moves) if moves else 0.0


def _shown(kind: str, moves: str) -> str:
    text = kind if "{" in kind else template(kind)
    return fill(text, Position.parse(moves), moves)


def _message(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
