"""Connect Four in words as an environment of the library verifiers, judged by exact play.

Build it with
``verifiers.load_environment("c4env.agents.training.examples.verifiers_text", opponent="greedy")``.
The model sees a position and answers ``Move: 4``, as :func:`c4env.envs.text.read_move` reads it. An
agent of the zoo replies, until the game ends. An answer without a legal move loses the game.

Rewards are ``outcome``, 1, 0 or -1 as in every environment here, and ``kept``, the share of the
model's moves that kept the result of the game under exact play.
"""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from c4env.agents.errors import InvalidValue
from c4env.agents.registry.registry import make
from c4env.agents.solver import Solver
from c4env.agents.training.command_line import needs
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
        games: rows of the data set.
        plies: the most discs on the board at the start; all numbers up to ``plies`` are equally
            likely. The model plays the side to move.
        kind: a kind of :func:`c4env.envs.text.template`, or a template of your own.
        outcome, kept: weights of the two rewards.
        seed: the seed of the positions and of the opponent.
        options: options of ``verifiers.MultiTurnEnv``, such as ``max_turns``.

    Raises:
        InvalidValue: ``games`` is not at least 1, or ``plies`` is not 0 to 30.
        UnknownAgent, ...: the spec is wrong.
    """
    if games < 1 or not 0 <= plies <= 30:
        raise InvalidValue(f"games={games!r}, plies={plies!r}: expected games >= 1, plies 0..30")
    make(opponent).close()  # an error now rather than in the first game
    starts = [_start(seed, number, plies) for number in range(games)]
    data = Dataset.from_list(
        [
            {"prompt": [_message(_shown(kind, start))], "info": {"moves": start, "seed": number}}
            for number, start in enumerate(starts)
        ]
    )
    rubric = vf.Rubric(funcs=[_outcome, _kept], weights=[outcome, kept])
    return TextGames(opponent, kind, seed, dataset=data, rubric=rubric, **options)


class TextGames(vf.MultiTurnEnv):
    """The environment that :func:`load_environment` makes."""

    def __init__(self, opponent: str, kind: str, seed: int, **options: Any) -> None:
        super().__init__(**options)
        self._spec = opponent
        self._kind = kind
        self._seed = seed
        self._solver = Solver()
        self._turn = asyncio.Lock()  # the solver answers one question at a time

    async def setup_state(self, state: Any) -> Any:
        """Begin the game of a row."""
        info = state["info"]
        start = Position.parse(info["moves"])
        game = TextEnv(make(self._spec), seat=start.to_move, kind=self._kind)
        game.reset(seed=self._seed + info["seed"], options={"moves": info["moves"]})
        state["game"] = game
        state["reward_of_game"] = 0.0
        state["moves_kept"] = []
        return state

    async def env_response(self, messages: Any, state: Any, **_: Any) -> Any:
        """Play the model's answer and the reply; return the next prompt or the end of the game."""
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
            scores = self._solver.scores(game.position)
            best, own = max(s for s in scores if s is not None), scores[column]
            assert own is not None  # it is legal
            state["moves_kept"].append(float(np.sign(best) == np.sign(own)))
        text, reward, over, _, _ = game.step(said)
        return text, reward, over


def _outcome(state: Any, **_: Any) -> float:
    """1 for a win, -1 for a loss, 0 for a draw or a game that did not end."""
    return float(state.get("reward_of_game", 0.0))


def _kept(state: Any, **_: Any) -> float:
    """The share of the moves that kept win, draw or loss; 0 without a move."""
    moves = state.get("moves_kept", [])
    return sum(moves) / len(moves) if moves else 0.0


def _start(seed: int, number: int, plies: int) -> str:
    """The moves to a random unfinished position."""
    generator = np.random.default_rng(np.random.SeedSequence([seed, number]))
    length = int(generator.integers(plies + 1))
    while True:
        position, moves = Position(), ""
        while len(moves) < length and position.outcome is None:
            column = int(generator.choice(position.legal_columns()))
            position, moves = position.play(column), moves + str(column + 1)
        if position.outcome is None:
            return moves


def _shown(kind: str, moves: str) -> str:
    text = kind if "{" in kind else template(kind)
    return fill(text, Position.parse(moves), moves)


def _message(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
