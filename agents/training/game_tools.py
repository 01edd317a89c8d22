"""Connect Four as tools of a language model, with a reward from exact play.

:class:`GameTools` needs no other package. TRL takes the class as it is; ``examples/trl_tools.py``
trains with it, and ``examples/openenv_server.py`` serves it.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from c4env.agents.base import require_count
from c4env.agents.solver import Solver
from c4env.envs.opponents import AnyOpponent
from c4env.envs.text import RULES, TextEnv, fill
from c4env.errors import InvalidAction, WrongOrder, require_integer
from c4env.position import Position

_NOW: Final = (
    "The board now, x the discs of the first player, o those of the second, . a free cell, and "
    "the numbers of the columns below:\n\n{board}\n\n"
    "It is your turn, with the discs {disc}. The columns that are not full: {legal}"
)
PROMPT: Final = (
    RULES + "Play by calling the tool play with the number of a column, until the game is over; "
    "your opponent replies. A game that you do not finish is lost.\n\n" + _NOW
)

shared_solver: Final = functools.cache(Solver)
"""A solver for all games of a process."""


class GameTools:
    """A game in which a model plays by calling :meth:`play`, and an agent of the zoo replies.

    Methods and properties other than ``play`` are for the program that trains the model. The
    reward is -``outcome`` for a game that has not ended, so that a model gains nothing when it
    stops. For a finished game the reward is ``outcome`` times the result, plus ``kept`` times the
    share of the model's moves that kept the win or the draw, or were made in a lost position.
    """

    def __init__(
        self,
        opponent: AnyOpponent = "random",
        *,
        outcome: float = 1.0,
        kept: float = 1.0,
        solver: Solver | None = None,
    ) -> None:
        """Make the tools; ``reset()`` starts their first game.

        Args:
            opponent: who replies, as for ``ConnectFourEnv``; most often the spec of an agent.
            outcome, kept: weights of the two parts of the reward.
            solver: the judge; None for one that all games of the process share.

        Raises:
            UnknownAgent, ...: the spec is wrong.
        """
        self._env = TextEnv(opponent, kind=PROMPT, illegal="raise")
        self._weights = outcome, kept
        self._solver = solver or shared_solver()
        self._played: list[tuple[Position, int]] = []
        self._result: int | None = None

    def reset(self, moves: str = "", seed: int | None = None, **_: Any) -> str:
        """Start a game, and return the prompt; the model plays the side to move.

        Args:
            moves: the columns played before, from 1 to 7, such as ``"4453"``.
            seed: the seed of the opponent; None continues its stream.

        Raises:
            InvalidNotation, IllegalMove, InvalidOption: bad moves or a bad seed.
        """
        seat = Position.parse(moves).to_move
        text, _info = self._env.reset(seed=seed, options={"moves": moves, "seat": seat})
        self._played, self._result = [], None
        return text

    def play(self, column: int) -> str:
        """Drop a disc into a column. The opponent replies at once.

        Args:
            column: The number of the column, from 1 to 7.

        Returns:
            The board after the reply, or the end of the game.
        """
        # An error leaves the game as it was; its text is for the model.
        if self._result is not None:
            raise WrongOrder("The game is over: no more moves are possible.")
        before = self._env.position
        number = require_integer(
            "column", column, 1, "an integer from 1 to 7", high=7, wrong=InvalidAction
        )
        text, reward, over, _, info = self._env.step(str(number))
        self._played.append((before, number - 1))
        if over:
            self._result = int(reward)
            return text
        return f"Your opponent plays column {info['moves'][-1]}. " + fill(_NOW, self.position, "")

    def get_reward(self) -> float:
        """The reward of the game as it stands; see the class."""
        outcome, kept = self._weights
        if self._result is None:
            return -outcome
        return outcome * self._result + kept * float(np.mean(self.kept))

    @property
    def position(self) -> Position:
        """The board and the side to move, as a value."""
        return self._env.position

    @property
    def result(self) -> int | None:
        """1, 0 or -1 for a win, a draw or a loss of the model; None before the end."""
        return self._result

    @property
    def kept(self) -> list[bool]:
        """For each move of the model, whether it kept the result of the game."""
        return [keeps_result(self._solver, *move) for move in self._played]


def keeps_result(solver: Solver, position: Position, column: int) -> bool:
    """Whether a legal move keeps the win, the draw or the loss that exact play would reach."""
    return solver.sign(position) == -solver.sign(position.play(column))


def starts(games: int = 200, plies: int = 8, seed: int = 0) -> list[dict[str, Any]]:
    """Return arguments of :meth:`GameTools.reset`: random positions, and seeds of the opponent.

    Args:
        games: the number of positions; some may be equal.
        plies: the most discs on the board; all numbers up to ``plies`` are equally likely.
        seed: the seed of the positions; the opponent's seeds count up from it.

    Raises:
        InvalidValue: ``games`` or ``plies`` is out of range.
    """
    require_count("games", games, 1, 10**9)
    require_count("plies", plies, 0, 30)
    return [{"moves": _start(seed, n, plies), "seed": seed + n} for n in range(games)]


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
