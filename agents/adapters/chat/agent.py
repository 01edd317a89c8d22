"""``chat:MODEL``: an agent that plays by a language model behind a chat endpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Final

import numpy as np

from c4env.agents.adapters.chat.endpoint import endpoint
from c4env.agents.adapters.chat.prompts import Message, find_prompt
from c4env.agents.base import Agent, require_move
from c4env.agents.errors import EngineFault
from c4env.agents.registry.entries import Between
from c4env.agents.registry.options import Seconds, checked
from c4env.envs.text import read_move
from c4env.errors import IllegalMove, InvalidAction
from c4env.position import DIGITS, Position

LONGEST: Final = 1 << 16  # characters; a longer answer is unreadable
KEPT: Final = 2000  # characters to keep of a longer answer


@dataclass(frozen=True)
class Exchange:
    """A prompt to a language model and the model's answer."""

    moves: str  # 1-based columns of the game so far, as in the prompt
    vote: int  # index of the vote for this move, from 0
    attempt: int  # number of earlier answers without a legal move in this vote
    model: str
    answer: str
    column: int | None  # 0-based column of the legal move, or None
    fault: str = ""  # without a legal move: "unreadable" or "illegal"
    problem: str = ""  # without a legal move: a description of the problem
    tokens: tuple[int, int] | None = None  # of prompt and answer, if the endpoint reports both
    seconds: float = 0.0
    failures: int = 0  # network failures before the answer
    messages: list[Message] = field(default_factory=list)  # the conversation before the answer


Tape = Callable[[str, int, int, Callable[[], Exchange]], Exchange]
"""A function of moves, vote, attempt and ``ask``; returns a stored exchange or calls ``ask``."""


def ask_always(moves: str, vote: int, attempt: int, ask: Callable[[], Exchange]) -> Exchange:
    """Return ``ask()`` for each request: the default of ``Chat.tape``, which stores no answers."""
    return ask()


class Chat(Agent):
    """Plays the columns that a language model answers.

    After an answer without a legal move, the next prompt describes the problem. A model that
    has used up its ``retries`` forfeits the game. A network failure does not use up a retry.

    Args:
        model: the model's name at the endpoint.
        base_url: the endpoint's address; default: OPENAI_BASE_URL, else OpenAI's. The secret key
            comes only from the environment variable OPENAI_API_KEY.
        prompt: board, moves or both, each optionally with +legal, +answer or +example; kaggle; or
            a file or function. See
            :func:`c4env.agents.adapters.chat.prompts.find_prompt`.
        temperature: sampling temperature; default: the endpoint's.
        max_tokens: most tokens of an answer; default: the endpoint's. A truncated answer is
            invalid.
        retries: how many times to repeat a request after an answer without a legal move.
        timeout: seconds to wait for an answer before the request is repeated.
        patience: seconds to keep trying while the network fails.
        votes: answers for each move; the most frequent column is played. Ties go to the column
            named first. A vote without a legal move does not count.

    Attributes:
        prompt: the ``Prompt`` that the option ``prompt`` names.
        tape: a function that returns each answer. A run sets a tape that stores and replays.

    Raises:
        InvalidValue: the prompt does not exist, or the address is malformed.
        MissingExtra: the client is not installed.
    """

    @checked
    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        prompt: str = "both",
        temperature: Annotated[float, Between(0, 2)] | None = None,
        max_tokens: Annotated[int, Between(1)] | None = None,
        retries: Annotated[int, Between(0, 100)] = 2,
        timeout: Seconds = 120.0,
        patience: Seconds = 600.0,
        votes: Annotated[int, Between(1, 99)] = 1,
    ) -> None:
        self.model = model
        self.base_url = base_url or ""
        self.prompt = find_prompt(prompt)
        asked = {"temperature": temperature, "max_tokens": max_tokens}
        self._options = {name: value for name, value in asked.items() if value is not None}
        self.retries = retries
        self.timeout = timeout
        self.patience = patience
        self.votes = votes
        self.tape: Tape = ask_always
        endpoint(self.base_url)  # report an error before the first game
        self.reset()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game and forget the moves of the last game; the seed has no effect."""
        self._after: Position | None = None  # the position after the model's last move
        self._moves = ""

    def choose(self, position: Position) -> int:
        """Return the model's column.

        Raises:
            NoMove: the game is over.
            EngineFault: no answer was a legal move.
            Unavailable: the endpoint cannot be reached, or refuses the request.
        """
        require_move(position)
        self._moves = self._moves_to(position)
        named: Counter[int] = Counter()
        for vote in range(self.votes):
            last = self._vote(position, vote)
            if last.column is not None:
                named[last.column] += 1
                if named[last.column] > self.votes // 2:
                    break
        if not named:
            tries = "legal move" if not self.retries else f"legal move in {self.retries + 1} tries"
            raise EngineFault(f"{self.model} gave no {tries}: {last.problem}")
        ((column, _),) = named.most_common(1)  # ties go to the column counted first
        self._after = position.play(column)
        self._moves += DIGITS[column]
        return column

    def _moves_to(self, position: Position) -> str:
        """Return moves that lead to a position: the moves of this game if known, else any moves."""
        if self._after is not None:
            for reply in self._after.legal_columns():
                if self._after.play(reply) == position:
                    return self._moves + DIGITS[reply]
        return position.moves()

    def _vote(self, position: Position, vote: int) -> Exchange:
        """Repeat a request until the answer is a legal move or no tries are left."""
        messages = self.prompt.ask(position, self._moves)
        for attempt in range(self.retries + 1):

            def ask(messages: list[Message] = messages, attempt: int = attempt) -> Exchange:
                return self._exchange(position, messages, vote, attempt)

            last = self.tape(self._moves, vote, attempt, ask)
            if last.column is not None:
                break
            messages = self.prompt.ask_again(
                position, self._moves, messages, last.answer, last.problem
            )
        return last

    def _exchange(
        self, position: Position, messages: list[Message], vote: int, attempt: int
    ) -> Exchange:
        asked = endpoint(self.base_url)
        reply = asked.ask(self.model, messages, self._options, self.timeout, self.patience)
        column, fault, problem = None, "unreadable", reply.cut
        if len(reply.text) > LONGEST:
            problem = f"the answer is longer than {LONGEST} characters"
        try:
            if not problem:
                prompt = self.prompt
                column = read_move(reply.text, position, prompt.label, prompt.first)
                fault = ""
        except InvalidAction as error:
            problem = str(error)
        except IllegalMove as error:
            fault, problem = "illegal", str(error)
        return Exchange(
            self._moves,
            vote,
            attempt,
            self.model,
            reply.text if len(reply.text) <= LONGEST else reply.text[:KEPT],
            column,
            fault,
            problem,
            reply.tokens,
            reply.seconds,
            reply.failures,
            messages,
        )
