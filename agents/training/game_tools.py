"""Connect Four as tools of a language model, with a reward from exact play.

:class:`GameTools` needs no other package. TRL uses the class unchanged; ``examples/trl_tools.py``
trains with it, and ``examples/openenv_server.py`` serves it.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from c4env.agents.base import require_count
from c4env.agents.errors import InvalidValue
from c4env.agents.pool import is_number
from c4env.agents.solver import Solver
from c4env.envs.opponents import AnyOpponent
from c4env.envs.text import RULES, SITUATION, TextEnv, fill
from c4env.errors import InvalidAction, WrongOrder, require_integer
from c4env.position import Position

PROMPT: Final = (
    RULES + "Play by calling the tool play with the number of a column, until the game is over; "
    "your opponent replies. A game that you do not finish is lost.\n\n" + SITUATION
)

_solver: Final = functools.cache(Solver)  # one for all games of a process


class GameTools:
    """A game in which a model plays by calling :meth:`play`, and an opponent replies.

    The training program calls the other methods. A finished game's reward is ``outcome`` times the
    result, plus ``kept`` times the share of the model's moves that kept the position's exact value:
    a move that turns a win into a draw, for example, does not keep the value. The reward of an
    unfinished game is -``outcome``, so a model gains nothing by stopping early.

    Args:
        opponent: the spec of the agent that replies, or another opponent of ``ConnectFourEnv``.
        outcome, kept: weights of the two parts of the reward.

    Attributes:
        env: the game as a :class:`TextEnv`.
        result: 1, 0 or -1 for a win, a draw or a loss of the model; None before the end.

    Raises:
        UnknownAgent, ...: the spec ``opponent`` is wrong.
        InvalidValue: a weight is not a finite number.
    """

    def __init__(
        self, opponent: AnyOpponent = "random", *, outcome: float = 1.0, kept: float = 1.0
    ) -> None:
        for name, weight in (("outcome", outcome), ("kept", kept)):
            if not is_number(weight) or not np.isfinite(weight):
                raise InvalidValue(f"{name}={weight!r}: expected a number")
        self.env = TextEnv(opponent, kind=PROMPT, illegal="raise")
        self.result: int | None = None
        self._weights = outcome, kept
        self._played: list[tuple[Position, int]] = []

    def reset(self, moves: str = "", seed: int | None = None, **_: Any) -> str:
        """Start a game, and return the prompt; the model plays the side to move.

        Args:
            moves: the columns played so far, as digits from 1 to 7, such as ``"4453"``.
            seed: the seed of the opponent; None continues the opponent's random stream.

        Raises:
            InvalidNotation, IllegalMove, InvalidOption: ``moves`` or ``seed`` is wrong.
        """
        seat = Position.parse(moves).to_move
        text, _info = self.env.reset(seed=seed, options={"moves": moves, "seat": seat})
        self._played, self.result = [], None
        return text

    def play(self, column: int) -> str:
        """Drop a disc into a column. The opponent replies at once.

        Args:
            column: The number of the column, from 1 to 7.

        Returns:
            The board after the reply, or the end of the game.
        """
        # An error leaves the game as it was; its text is for the model.
        if self.result is not None:
            raise WrongOrder("The game is over: no more moves are possible.")
        expected, before = "an integer from 1 to 7", self.env.position
        number = require_integer("column", column, 1, expected, high=7, wrong=InvalidAction)
        text, reward, over, _, info = self.env.step(str(number))
        self._played.append((before, number - 1))
        if over:
            self.result = int(reward)
            return text
        replied = f"Your opponent plays column {info['moves'][-1]}. "
        return replied + fill(SITUATION, self.env.position, "")

    def get_reward(self) -> float:
        """Return the current reward; the class docstring says how it is computed."""
        outcome, kept = self._weights
        if self.result is None:
            return -outcome
        return outcome * self.result + kept * float(np.mean(self.kept))

    @property
    def kept(self) -> list[bool]:
        """For each move of the model, whether the move kept the position's exact value."""
        return [keeps_value(_solver(), *move) for move in self._played]


def keeps_value(solver: Solver, position: Position, column: int) -> bool:
    """Return whether a legal move keeps the position's exact value: win, draw or loss."""
    return solver.sign(position) == -solver.sign(position.play(column))


def starts(games: int = 200, plies: int = 8, seed: int = 0) -> list[dict[str, Any]]:
    """Return arguments for calls of :meth:`GameTools.reset`: random positions, opponents' seeds.

    Args:
        games: the number of positions; some may be equal.
        plies: the most discs on the board; each number from 0 to ``plies`` is equally likely.
        seed: the seed of the positions; the opponent's seeds are ``seed``, ``seed`` + 1, and so on.

    Raises:
        InvalidValue: ``games`` or ``plies`` is out of range.
    """
    require_count("games", games, 1, 10**9)
    require_count("plies", plies, 0, 30)
    return [{"moves": _start(seed, n, plies), "seed": seed + n} for n in range(games)]


def _start(seed: int, number: int, plies: int) -> str:
    """Return the moves that lead to a random unfinished position."""
    generator = np.random.default_rng(np.random.SeedSequence([seed, number]))
    length = int(generator.integers(plies + 1))
    while True:
        position, moves = Position(), ""
        while len(moves) < length and position.outcome is None:
            column = int(generator.choice(position.legal_columns()))
            position, moves = position.play(column), moves + str(column + 1)
        if position.outcome is None:
            return moves
