"""``chat:MODEL``: an agent that plays by a language model behind a chat endpoint.

The prompts are those of the text environment, or a user's file. OpenAI's official client sends the
requests and repeats those that fail on the network.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np

from c4env.agents.base import Agent, require_move
from c4env.agents.entries import Range
from c4env.agents.options import Seconds, validate_args
from c4env.envs.text import fill, read_move, template
from c4env.errors import EngineFault, IllegalMove, InvalidAction, InvalidOption, Unavailable
from c4env.lazy import from_extra
from c4env.position import DIGITS, Position

API_KEY: Final = "OPENAI_API_KEY"
NO_KEY: Final = "none"  # the key to send to a server that needs no key
SECRET: Final = 8  # the fewest characters of a secret; a shorter key is a dummy and hides nothing
BAD_GATEWAY: Final = 502
RETRIES: Final = 6  # of the client, with pauses of 0.5 s, then doubled up to 8 s

ChatMessage = dict[str, str]
"""One turn of a conversation: its ``role`` and its ``content``."""


@dataclass(frozen=True)
class Exchange:
    """A prompt to a language model and the model's answer, as a run stores them.

    ``column`` and ``fault`` are those of the answer as it came. In the texts ``[key]`` stands for a
    secret key, so a later prompt is the same whether the exchange is new or stored.
    """

    moves: str  # 1-based columns of the game so far, as in the prompt
    attempt: int  # number of earlier answers without a legal move in this position
    model: str
    answer: str
    column: int | None  # 0-based column of the legal move, or None
    fault: str = ""  # without a legal move: "unreadable" or "illegal"
    problem: str = ""  # without a legal move: a description of the problem
    tokens: tuple[int, int] | None = None  # of prompt and answer, if the endpoint reports both
    seconds: float = 0.0  # to the answer, with the client's retries
    messages: list[ChatMessage] = field(default_factory=list)  # the conversation before the answer


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
        options = {"temperature": temperature, "max_tokens": max_tokens}
        self._options = {name: value for name, value in options.items() if value is not None}
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
            ask = functools.partial(self._ask, position, messages, attempt)
            exchange = self.tape(self._moves, attempt, ask) if self.tape else ask()
            if exchange.column is not None:
                self._after = position.play(exchange.column)
                self._moves += DIGITS[exchange.column]
                return exchange.column
            messages = ask_again(messages, exchange.answer, exchange.problem)
        tries = f" in {self.retries + 1} tries" if self.retries else ""
        raise EngineFault(f"{self.model} gave no legal move{tries}: {exchange.problem}")

    def _moves_to(self, position: Position) -> str:
        """Return the moves of this game if it leads to the position, else any moves that do."""
        if self._after is not None:
            for reply in self._after.legal_columns():
                if self._after.play(reply) == position:
                    return self._moves + DIGITS[reply]
        return position.moves()

    def _ask(self, position: Position, messages: list[ChatMessage], attempt: int) -> Exchange:
        client = open_client(self.base_url, self.timeout)
        start = time.monotonic()
        reply = request(client, self.model, messages, self._options)
        seconds = time.monotonic() - start
        column, fault, _ = _judge(reply, position)
        answer = hide_key(client, reply.text)
        *_, problem = _judge(reply._replace(text=answer), position)  # may quote a part of the text
        return Exchange(
            self._moves, attempt, self.model, answer, column, fault, problem if fault else "",
            reply.tokens, seconds, messages,
        )  # fmt: skip


def _judge(reply: Reply, position: Position) -> tuple[int | None, str, str]:
    """Return a reply's legal column, or None, and the fault and problem of an :class:`Exchange`."""
    if reply.is_cut:
        return None, "unreadable", "the answer was cut off at its limit of tokens"
    try:
        return read_move(reply.text, position), "", ""
    except InvalidAction as error:
        return None, "unreadable", str(error)
    except IllegalMove as error:
        return None, "illegal", str(error)


@dataclass(frozen=True)
class Prompt:
    """A template (:func:`c4env.envs.text.fill`), and the value of the option that names it."""

    name: str
    text: str = field(repr=False)

    def __str__(self) -> str:
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:12]
        return f"{self.name}, sha256 {digest}"

    def ask(self, position: Position, moves: str) -> list[ChatMessage]:
        """Return the messages that first ask for a move in a position."""
        return [{"role": "user", "content": fill(self.text, position, moves)}]


def find_prompt(name: str) -> Prompt:
    """Find a prompt by a kind of :func:`c4env.envs.text.template`, or by the name of a file.

    Raises:
        InvalidOption: the name is neither, or the file is no text.
    """
    if Path(name).is_file():
        try:
            return Prompt(name, Path(name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidOption(f"chat: prompt={name!r}: expected a text file: {error}") from None
    try:
        return Prompt(name, template(name))
    except InvalidOption as error:
        raise InvalidOption(f"chat: prompt={name!r}: {error}; or an existing file") from None


def ask_again(messages: list[ChatMessage], answer: str, problem: str) -> list[ChatMessage]:
    """Return the conversation that asks again after an answer without a legal move."""
    question = (
        f"That is no legal move: {problem}. It is still your turn in the same position. End "
        "with a line that holds the word Move, a colon and the number of a column."
    )
    return [
        *messages,
        {"role": "assistant", "content": answer or "(nothing)"},  # endpoints refuse empty messages
        {"role": "user", "content": question},
    ]


class Reply(NamedTuple):
    """The answer of an endpoint."""

    text: str
    is_cut: bool  # at its limit of tokens
    tokens: tuple[int, int] | None  # of prompt and answer, if the endpoint reports them


def open_client(base_url: str, timeout: float) -> Any:
    """Return the shared, thread-safe client of an address; "" means OPENAI_BASE_URL or OpenAI's.

    Raises:
        InvalidOption: the address is malformed or may contain a secret; or the key cannot be sent.
    """
    if base_url and not re.fullmatch(r"https?://[^/?#@\s]+(/[^?#@\s]*)?", base_url):
        # Do not quote the address, which may contain a password.
        raise InvalidOption(
            "chat: base_url: expected http(s)://HOST:PORT/PATH, without a user name, password "
            f"or query (set the environment variable {API_KEY} to the key)"
        )
    default = os.environ.get("OPENAI_BASE_URL", "")
    key = os.environ.get(API_KEY) or NO_KEY
    if not re.fullmatch("[!-~]+( +[!-~]+)*", key):  # HTTP libraries quote a key they cannot send
        raise InvalidOption(f"chat: {API_KEY}: expected printable ASCII, without blanks around it")
    return _client(base_url or default, timeout, key)


@functools.cache
def _client(base_url: str, timeout: float, key: str) -> Any:
    with from_extra("chat", "chat: needs the package openai"):
        import openai
    return openai.OpenAI(
        base_url=base_url or None,
        api_key=key,
        max_retries=RETRIES,
        timeout=timeout,
        http_client=openai.DefaultHttpxClient(event_hooks={"response": [restore_status]}),
    )


def restore_status(response: Any) -> None:
    """Set the status of an answer of status 200 that holds an error: to the error's code, or 502.

    Gateways send such answers when a provider is busy; the client then repeats the request.
    """
    if response.status_code != 200:
        return
    response.read()
    with contextlib.suppress(ValueError, RecursionError):  # no JSON
        body = response.json()
        error = isinstance(body, dict) and not body.get("choices") and body.get("error")
        if error:
            code = str(error.get("code")) if isinstance(error, dict) else ""
            response.status_code = int(code) if re.fullmatch(r"[45]\d\d", code) else BAD_GATEWAY


def request(
    client: Any, model: str, messages: Sequence[Mapping[str, str]], options: dict[str, Any]
) -> Reply:
    """Request the answer to a conversation; ``options`` go into the request as they are.

    If the model refuses ``max_tokens`` and names ``max_completion_tokens``, as reasoning models of
    OpenAI do, the option is renamed for this request and later ones.

    Raises:
        Unavailable: the endpoint refuses, does not answer, or does not follow the protocol.
    """
    import openai

    name = f"{client.base_url.host}:{client.base_url.port or ''}".rstrip(":")
    try:
        answer = client.chat.completions.create(model=model, messages=messages, **options)
        choice = answer.choices[0]
        text = text_of(choice.message.content)
        tokens = answer.usage and (answer.usage.prompt_tokens, answer.usage.completion_tokens)
        return Reply(text, choice.finish_reason == "length", tokens or None)
    except openai.APIStatusError as error:
        said = error.body.get("message") if isinstance(error.body, dict) else error.body
        text = str(said or error.message)
        if "max_tokens" in options and "max_completion_tokens" in text:
            options["max_completion_tokens"] = options.pop("max_tokens")
            return request(client, model, messages, options)
        message = " ".join(hide_key(client, text).split())[:200]
        key = f"; the key is the environment variable {API_KEY}" if error.status_code < 404 else ""
        raise Unavailable(
            f"{name} refuses with status {error.status_code}: {message!r}{key}"
        ) from None
    except openai.APIConnectionError as error:  # also a timeout
        reason = hide_key(client, str(error.__cause__ or error))
        raise Unavailable(f"{name} does not answer: {reason}") from None
    except Exception as error:  # an answer of another form, or an error of the HTTP library
        raise Unavailable(
            f"{name}: the answer does not follow the chat protocol ({type(error).__name__})"
        ) from None


def text_of(content: Any) -> str:
    """Return an answer's text; some models send a list of parts, of which ``text`` counts."""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part["type"] == "text")
    text: str = content or ""
    return text.encode("utf-8", "replace").decode()  # no file and no request holds half a pair


def hide_key(client: Any, text: str) -> str:
    """Return a text for an error or a file: with ``[key]`` in place of a key that is a secret."""
    key: str = client.api_key
    return text.replace(key, "[key]") if len(key) >= SECRET else text
