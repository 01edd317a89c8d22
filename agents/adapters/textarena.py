"""Agents of this package as players in TextArena's Connect Four.

``TextArenaAgent("alphabeta:depth=5")`` is an agent of TextArena: it maps an observation (a text or
TextArena's list of messages) to the text of an action, such as ``[col 3]``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from c4env.agents.registry.registry import make
from c4env.errors import InvalidNotation, InvalidObservation, InvalidPosition
from c4env.position import Position

_BOARD: Final = re.compile(
    r"^0 1 2 3 4 5 6 *\n-+ *\n((?:[.XO](?: [.XO]){6} *\n?){6})", re.MULTILINE
)


class TextArenaAgent:
    """An agent of this package with TextArena's interface.

    Args:
        spec: the agent's spec.
        seed: seed of the first game; call :meth:`reset` before another game.

    Raises:
        UnknownAgent, InvalidSpec, UnknownOption, InvalidValue: the agent cannot be made.
    """

    def __init__(self, spec: str, seed: int | np.random.SeedSequence | None = None) -> None:
        self.agent = make(spec)
        self.agent.reset(seed)

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game."""
        self.agent.reset(seed)

    def __call__(self, observation: str | Sequence[Sequence[Any]]) -> str:
        """Return the action for an observation, such as ``[col 3]``; columns count from 0.

        Raises:
            InvalidObservation: the observation has no board of 7 columns and 6 rows.
            NoMove: the game is over.
        """
        return f"[col {self.agent.choose(board_of(observation))}]"


def board_of(observation: str | Sequence[Sequence[Any]]) -> Position:
    """Return the last position drawn in an observation.

    Raises:
        InvalidObservation: the observation shows no position.
    """
    text = observation
    if not isinstance(text, str):
        text = "\n".join(str(message[1]) for message in text)
    boards = _BOARD.findall(text)
    if not boards:
        raise InvalidObservation(
            f"{text[-200:]!r}: expected a board of 7 columns and 6 rows, drawn as TextArena does "
            "(an environment with is_open=True)"
        )
    try:
        return Position.from_board(boards[-1])
    except (InvalidNotation, InvalidPosition) as error:
        raise InvalidObservation(str(error)) from None
