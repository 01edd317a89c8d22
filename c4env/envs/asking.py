"""Whatever is given as an opponent, as one that is asked for many boards at once.

An opponent may be a name, an agent, a function of one observation that returns a column, or a
function of the observations of M boards (``[M, 6, 7, 2]``, ``[M, 7]``) that returns M columns.
One that has a method ``follow`` is told of each game of an environment (:class:`Follows`).

This module imports no rules, so that a package of agents can add to ``TRANSLATORS`` and
compile nothing by it.
"""

from __future__ import annotations

__any_board__ = True

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from c4env.arrays import Float64s, Int64s
from c4env.errors import InvalidOption, OpponentFailed

if TYPE_CHECKING:
    from c4env.observation import Observation

NATIVE: Final = ("random", "greedy")
"""Opponents that the environments play themselves."""

TRANSLATORS: Final[list[Callable[[Any], Any]]] = []
"""Called with what was given; return an opponent for many boards, or None for what they do not
know. Importing the package ``agents`` adds one for its agents, their names, and models."""


class Follows(Protocol):
    """What the method ``follow`` of an opponent returns for one environment.

    It knows which game it is asked about; boards are int64 indices ``[M]``.
    """

    def reset(self, seed: int) -> None:
        """All games start anew."""

    def begin(self, boards: Int64s) -> None:
        """New games start on these boards."""

    def __call__(self, observation: Observation, boards: Int64s) -> Any:
        """Columns ``[M]`` for what it sees on these boards."""

    def end(self, boards: Int64s, rewards: Float64s) -> None:
        """The games on these boards are over: the caller's rewards ``[M]``, 1, 0 or -1."""

    def save(self) -> Any:
        """What the methods above change, as a copy: a step that fails is taken back."""

    def restore(self, saved: Any) -> None:
        """Go back to what :meth:`save` returned."""


def parse_opponent(opponent: Any, *, many: bool) -> str | Asked | None:
    """What was given as an opponent: None, one of ``NATIVE``, or something to ask.

    Args:
        opponent: see the module.
        many: take a function to be of many boards, rather than of one, if both would do.

    Raises:
        InvalidOption: it is none of these.
    """
    if opponent is None or (isinstance(opponent, str) and opponent in NATIVE):
        return opponent
    for translate in TRANSLATORS:
        if (translated := translate(opponent)) is not None:
            return Asked(translated, of_many=True)
    if not callable(opponent):
        raise InvalidOption(
            f"opponent={opponent!r}: expected {', '.join(map(repr, NATIVE))}, an agent, the name "
            "of one (known after `from c4env import agents`), or a function of one observation "
            "or of many"
        )
    return Asked(opponent, of_many=None, many=many)


class Asked:
    """An opponent, asked for M boards at once.

    Whether a function takes one observation or many is found out when it is first asked: it
    gets the form that is expected here and, if it raises or returns something of another
    shape, the other one.

    Attributes:
        source: what was given.
    """

    def __init__(self, source: Any, *, of_many: bool | None, many: bool = True) -> None:
        self.source = source
        self._of_many = of_many
        self._expected = many
        self._follows: Follows | None = source.follow() if hasattr(source, "follow") else None

    def __call__(self, observation: Observation, boards: Int64s) -> Any:
        """Columns ``[M]`` for some boards, as the opponent returns them: nothing is checked.

        Raises:
            Exception: whatever the opponent raises.
        """
        if self._follows is not None:
            return self._follows(observation, boards)
        if self._of_many is not None:
            return self._ask(observation, self._of_many)
        answers, errors = [], []
        for form in (self._expected, not self._expected):
            try:
                answer = self._ask(copy.deepcopy(observation), form)
                fits = _fits(answer, len(boards), form, strict=form != self._expected)
            except Exception as error:
                errors.append(error)
                continue
            if fits:
                self._of_many = form
                return answer
            answers.append(answer)
        if errors:
            raise errors[0]
        return answers[0]

    def _ask(self, observation: Observation, of_many: bool) -> Any:
        if of_many:
            return self.source(observation)
        planes, masks = observation["observation"], observation["action_mask"]
        return [
            self.source({"observation": planes[i], "action_mask": masks[i]})
            for i in range(len(masks))
        ]

    def begin(self, boards: Int64s) -> None:
        """Tell an opponent that follows its games of new ones."""
        if self._follows is not None and len(boards):
            self._follows.begin(boards)

    def end(self, boards: Int64s, rewards: Float64s) -> None:
        """Tell an opponent that follows its games how some ended for the caller."""
        if self._follows is not None and len(boards):
            self._follows.end(boards, rewards)

    def save(self) -> Any:
        """What :meth:`restore` goes back to."""
        return None if self._follows is None else self._follows.save()

    def restore(self, saved: Any) -> None:
        """Take back what the games since :meth:`save` told the opponent."""
        if self._follows is not None:
            self._follows.restore(saved)

    @property
    def resets(self) -> bool:
        """Whether it has a method ``reset``."""
        return hasattr(self._follows or self.source, "reset")

    def reset(self, seed: int) -> None:
        """Tell an opponent that has a method ``reset`` of new games, with a seed.

        Raises:
            OpponentFailed: it raised.
        """
        if not self.resets:
            return
        try:
            (self._follows or self.source).reset(seed=seed)
        except Exception as error:
            raise OpponentFailed(
                f"the opponent's reset raised {type(error).__name__}: {error}"
            ) from error


def _fits(answer: Any, size: int, of_many: bool, *, strict: bool) -> bool:
    """Whether an answer is of the shape that the form asked for; strictly, also of columns."""
    if of_many:
        # Preferences [M, 7] are of many boards as well; whoever asked may refuse them.
        return np.shape(answer)[:1] == (size,) and (
            not strict or np.asarray(answer).dtype.kind in "iu"
        )
    return all(
        np.ndim(one) == 0 and (not strict or np.asarray(one).dtype.kind in "iu") for one in answer
    )
