"""``chat:MODEL``: an agent that plays by a language model behind a chat endpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from c4env.agents.adapters.chat.prompts import Message, ask_again, find_prompt
from c4env.agents.base import Agent, require_move
from c4env.agents.registry.entries import Range
from c4env.agents.registry.options import Seconds, validate_args
from c4env.envs.text import read_move
from c4env.errors import EngineFault, IllegalMove, InvalidAction
from c4env.position import DIGITS, Position


@dataclass(frozen=True)
class Exchange:
    """A prompt to a language model and the model's answer."""

    moves: str  # 1-based columns of the game so far, as in the prompt
    attempt: int  # number of earlier answers without a legal move in this position
    model: str
    answer: str
    column: int | None  # 0-based column of the legal move, or None
    fault: str = ""  # without a legal move: "unreadable" or "illegal"
    problem: str = ""  # without a legal move: a description of the problem
    tokens: tuple[int, int] | None = None  # of prompt and answer, if the endpoint reports both
    seconds: float = 0.0  # to the answer, with the client's retries
    messages: list[Message] = field(default_factory=list)  # the conversation before the answer


Tape = Callable[[str, int, Callable[[], Exchange]], Exchange]
"""A function of moves, attempt and ``ask``; returns a stored exchange or calls ``ask``."""


class Chat(Agent):
    """Plays the columns that a language model answers (needs the package openai).

    After an answer without a legal move, the next prompt describes the problem. A model that
    has used up its ``retries`` forfeits the game. The client repeats requests that fail on the
    network, which uses up no retry.

    Args:
        model: the model's name at the endpoint.
        base_url: the endpoint's address; default: OPENAI_BASE_URL, else OpenAI's. The secret key
            comes only from the environment variable OPENAI_API_KEY.
        prompt: board, moves or both, each optionally with +legal, +answer or +example, as in the
            text environment; or a file with placeholders.
        temperature: sampling temperature; default: the endpoint's.
        max_tokens: most tokens of an answer; default: the endpoint's. A truncated answer is
            invalid.
        retries: how many times to repeat a request after an answer without a legal move.
        timeout: seconds that the endpoint may be silent before the client repeats a request.

    Attributes:
        prompt: the ``Prompt`` that the option ``prompt`` names.
        tape: None, or a function through which a run stores and replays each answer.
    """

    @validate_args
    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        prompt: str = "board+legal",
        temperature: Annotated[float, Range(0, 2)] | None = None,
        max_tokens: Annotated[int, Range(1)] | None = None,
        retries: Annotated[int, Range(0, 100)] = 2,
        timeout: Seconds = 120.0,
    ) -> None:
        self.model = model
        self.base_url = base_url or ""
        self.prompt = find_prompt(prompt)
        asked = {"temperature": temperature, "max_tokens": max_tokens}
        self._options = {name: value for name, value in asked.items() if value is not None}
        self.retries = retries
        self.timeout = timeout
        self.tape: Tape | None = None
        open_client(self.base_url, timeout)  # report an error before the first game
        self.reset()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game and forget the moves of the last game; the seed has no effect."""
        self._after: Position | None = None  # the position after the model's last move
        self._moves = ""

    def choose(self, position: Position) -> int:
        """Return the model's column.

        Raises:
            EngineFault: no answer was a legal move.
            Unavailable: the endpoint cannot be reached, or refuses the request.
        """
        require_move(position)
        self._moves = self._moves_to(position)
        messages = self.prompt.ask(position, self._moves)
        for attempt in range(self.retries + 1):

            def ask(messages: list[Message] = messages, attempt: int = attempt) -> Exchange:
                return self._exchange(position, messages, attempt)

            last = self.tape(self._moves, attempt, ask) if self.tape else ask()
            if last.column is not None:
                self._after = position.play(last.column)
                self._moves += DIGITS[last.column]
                return last.column
            messages = ask_again(messages, last.answer, last.problem)
        tries = f" in {self.retries + 1} tries" if self.retries else ""
        raise EngineFault(f"{self.model} gave no legal move{tries}: {last.problem}")

    def _moves_to(self, position: Position) -> str:
        """Return moves that lead to a position: the moves of this game if known, else any moves."""
        if self._after is not None:
            for reply in self._after.legal_columns():
                if self._after.play(reply) == position:
                    return self._moves + DIGITS[reply]
        return position.moves()

    def _exchange(self, position: Position, messages: list[Message], attempt: int) -> Exchange:
        client = open_client(self.base_url, self.timeout)
        started = time.monotonic()
        reply = ask(client, self.model, messages, self._options)
        seconds = time.monotonic() - started
        column, fault, problem = None, "unreadable", "the answer was cut off at its limit of tokens"
        if not reply.is_cut:
            try:
                column, fault, problem = read_move(reply.text, position), "", ""
            except InvalidAction as error:
                problem = str(error)
            except IllegalMove as error:
                fault, problem = "illegal", str(error)
        return Exchange(
            self._moves, attempt, self.model, reply.text, column, fault, problem,
            reply.tokens, seconds, messages,
        )  # fmt: skip
