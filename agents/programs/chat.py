"""``chat:MODEL``: an agent that plays by a language model behind a chat endpoint.

The prompt comes from the text environment or from a user's file. OpenAI's official client sends
the requests, and repeats a request that fails on the network.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from c4env.agents.base import Agent, require_move
from c4env.agents.making.options import Range, Seconds, WrittenFile, validate_args
from c4env.envs.text import KAGGLE, fill, reader, template
from c4env.errors import (
    EngineFault,
    Failure,
    IllegalMove,
    InvalidAction,
    InvalidOption,
    Unavailable,
)
from c4env.files import require_file
from c4env.lazy import from_extra
from c4env.position import DIGITS, Position

API_KEY: Final = "OPENAI_API_KEY"
NO_KEY: Final = "none"  # the key to send to a server that needs no key
SECRET: Final = 8  # the fewest characters of a secret; a shorter key is a dummy and hides nothing
BAD_GATEWAY: Final = 502
START: Final = b'{"key": '  # the start of a line in a file of answers
QUOTED: Final = 20  # the last lines of an answer that a second question in Kaggle's form quotes
_AGAIN: Final = "\n\nNo legal column could be read from your previous answer"
RETRIES: Final = 6  # of the client; the pauses begin at 0.5 s and double up to 8 s

ChatMessage = dict[str, str]
"""One turn of a conversation: its ``role`` and its ``content``."""


class Answers:
    """Answers of language models in a file of JSON lines.

    The key of a line is a hash of the game's seed, the server's address and the request.

    The newline is written before each line. So if a kill leaves part of a line, no other line is
    spoiled.
    """

    def __init__(self, path: str) -> None:
        self._path, self._writing = Path(path), threading.Lock()
        self._known: dict[str, Reply] = {}
        require_file(self._path, makes=False)
        for line in self._path.read_bytes().split(b"\n") if self._path.exists() else ():
            try:
                if line[: len(START)] != START[: len(line)]:
                    raise KeyError
                row = json.loads(line)
                self._known[row["key"]] = Reply(
                    row["text"], row["is_cut"], row["tokens"], row.get("problem", "")
                )
            except KeyError:
                words = "expected a new file, or answers that chat has kept"
                raise InvalidOption(f"chat: answers={path!r}: {words}") from None
            except ValueError:  # the part of a line
                continue

    def __reduce__(self) -> tuple[Any, ...]:
        return answers_in, (str(self._path),)  # a copy of an agent shares the answers

    def find(
        self, seed: object, address: str, request: dict[str, Any], ask: Callable[[], Reply]
    ) -> Reply:
        """Return the stored reply to a request in the game of a seed; if none, ask and store."""
        text = json.dumps([str(seed), address, request])  # the address may hold a password
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        if key not in self._known:
            reply = ask()
            line = json.dumps({"key": key, **request, **reply._asdict()})
            try:
                with self._writing, self._path.open("a", encoding="utf-8") as file:
                    file.write(f"\n{line}")
            except OSError as error:
                raise Unavailable(f"{self._path}: {error.strerror or error}") from None
            self._known[key] = reply
        return self._known[key]


_stores: Final[WeakValueDictionary[str, Answers]] = WeakValueDictionary()


def answers_in(path: str) -> Answers:
    """Return the answers in a file; agents of one process share them."""
    path = os.path.abspath(path)
    return _stores.get(path) or _stores.setdefault(path, Answers(path))


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
            text environment; kaggle, as Kaggle's Game Arena asks; or a file with placeholders.
        temperature: sampling temperature; default: the endpoint's.
        max_tokens: most tokens of an answer; default: the endpoint's. A truncated answer is
            invalid.
        retries: how many times to ask again after an answer without a legal move.
        timeout: seconds that the endpoint may be silent before the client repeats a request.
        answers: a file that stores the answers in games with a seed, so that a resumed run does not
            ask again.

    Attributes:
        prompt: the text of the option ``prompt``.
        asked_again: how many times the latest :meth:`choose` asked again after an answer without
            a legal move. A run counts these questions.
    """

    asked_again = 0

    @validate_args
    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        prompt: str = "board",
        temperature: Annotated[float, Range(0, 2)] | None = None,
        max_tokens: Annotated[int, Range(1)] | None = None,
        retries: Annotated[int, Range(0, 100)] = 2,
        timeout: Seconds = 120.0,
        answers: WrittenFile | None = None,
    ) -> None:
        self.model = model
        self.base_url = base_url or ""
        self.prompt = find_prompt(prompt)
        self._read = reader(prompt)
        self._ask_again = ask_anew if prompt == KAGGLE else ask_again
        options = {"temperature": temperature, "max_tokens": max_tokens}
        self._options = {name: value for name, value in options.items() if value is not None}
        self._sent = dict(self._options)  # request() may rename an option of this copy
        self.retries = retries
        self.timeout = timeout
        self.answers = None if answers is None else answers_in(answers)
        open_client(self.base_url, timeout)  # report an error before the first game
        self.reset()

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin a new game; the seed is not sent, but is part of the key of a stored answer."""
        self._seed = seed
        self._after: Position | None = None  # the position after the model's last move
        self._moves = ""

    def choose(self, position: Position) -> int:
        """Return the model's column.

        Raises:
            EngineFault: no answer was a legal move; ``ending`` describes the last answer.
            Unavailable: the endpoint cannot be reached, or refuses the request.
        """
        require_move(position)
        self._moves = self._moves_to(position)
        question = fill(self.prompt, position, self._moves)
        messages: list[ChatMessage] = [{"role": "user", "content": question}]
        for number in range(self.retries + 1):
            self.asked_again = number
            reply = self._ask(messages, number)
            column, problem, ending = self._judge(reply, position)
            if column is not None:
                self._after = position.play(column)
                self._moves += DIGITS[column]
                return column
            messages = self._ask_again(messages, reply.text, problem)
        tries = f" in {self.retries + 1} tries" if self.retries else ""
        raise EngineFault(f"{self.model} gave no legal move{tries}: {problem}", ending)

    def _moves_to(self, position: Position) -> str:
        """Return this game's moves if they lead to the position, else any moves that lead to it."""
        if self._after is not None:
            for reply in self._after.legal_columns():
                if self._after.play(reply) == position:
                    return self._moves + DIGITS[reply]
        return position.moves()

    def _judge(self, reply: Reply, position: Position) -> tuple[int | None, str, Failure]:
        """Return a reply's legal column, or None; the problem in words; and it as an ending."""
        if reply.is_cut:
            return None, "the answer was cut off at its limit of tokens", "no answer"
        if reply.problem:
            return None, reply.problem, "no answer"
        try:
            return self._read(reply.text, position), "", "exception"
        except IllegalMove as error:
            return None, str(error), "illegal column"
        except InvalidAction as error:
            return None, str(error), "unreadable" if reply.text.strip() else "no answer"

    def _ask(self, messages: list[ChatMessage], number: int) -> Reply:
        client = open_client(self.base_url, self.timeout)
        ask = functools.partial(request, client, self.model, messages, self._sent)
        if self.answers is None or self._seed is None:
            return ask()
        asked = {"model": self.model, "messages": messages, **self._options}
        if number > 1:  # the question may equal an earlier one, but needs another answer
            asked["try"] = number
        return self.answers.find(self._seed, str(client.base_url), asked, ask)


def find_prompt(name: str) -> str:
    """Return the template of a kind (:func:`c4env.envs.text.template`) or the text of a file.

    Raises:
        InvalidOption: the name is neither a kind nor a file, the file is not a text, or its text
            does not show the position.
    """
    if Path(name).is_file():
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidOption(f"chat: prompt={name!r}: expected a text file: {error}") from None
        if "{board}" not in text and "{moves}" not in text:  # answers= repeats its first
            raise InvalidOption(
                f"chat: prompt={name!r}: expected {{board}} or {{moves}} in the text"
            )
        return text
    try:
        return template(name)
    except InvalidOption as error:
        raise InvalidOption(f"chat: prompt={name!r}: not a file, and {error}") from None


def ask_anew(messages: list[ChatMessage], answer: str, problem: str) -> list[ChatMessage]:
    """Return the message that asks again as Kaggle's Game Arena does, in one message.

    The message quotes the end of the answer, and replaces an earlier second question.
    """
    asked = messages[0]["content"].partition(_AGAIN)[0]
    end = "\n".join(answer.strip().splitlines()[-QUOTED:])
    content = f"{asked}{_AGAIN} ({problem}). Think again, and end with a line in exactly this form:"
    content += f"\nFinal Answer: <column>\n\nYour previous answer ended with:\n{end}"
    return [{"role": "user", "content": content}]


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
    is_cut: bool  # whether the answer was cut off at its limit of tokens
    tokens: tuple[int, int] | None  # of prompt and answer, if the endpoint reports them
    problem: str = ""  # why it does not answer the question: a refusal, a filter, a call of a tool


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
    # A fork needs its own client: over a shared connection it would get another process's answers.
    return _client(os.getpid(), base_url or default, timeout, key)


@functools.cache
def _client(process: int, base_url: str, timeout: float, key: str) -> Any:
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
    """Change the status of an answer of status 200 without choices to its error's code, or 502.

    Gateways send answers without choices when a provider is busy. The new status makes the client
    repeat the request.
    """
    if response.status_code != 200:
        return
    response.read()
    with contextlib.suppress(ValueError, RecursionError):  # the body is not JSON
        body = response.json()
        if not isinstance(body, dict) or body.get("choices"):
            return
        error = body.get("error")
        if error or "choices" in body:
            code = str(error.get("code")) if isinstance(error, dict) else ""
            response.status_code = int(code) if re.fullmatch(r"[45]\d\d", code) else BAD_GATEWAY


def request(
    client: Any, model: str, messages: Sequence[Mapping[str, str]], options: dict[str, Any]
) -> Reply:
    """Return the answer to a conversation; ``options`` go into the request unchanged.

    A reasoning model of OpenAI refuses ``max_tokens`` and names ``max_completion_tokens``. The
    option is then renamed in ``options``, for this request and later requests.

    Raises:
        Unavailable: the endpoint refuses, does not answer, or does not follow the protocol.
    """
    import openai

    name = f"{client.base_url.host}:{client.base_url.port or ''}".rstrip(":")
    try:
        answer = client.chat.completions.create(model=model, messages=messages, **options)
        choice = answer.choices[0]
        text = hide_key(client, text_of(choice.message.content))
        problem = hide_key(client, _why_no_answer(choice, text))
        tokens = answer.usage and (answer.usage.prompt_tokens, answer.usage.completion_tokens)
        return Reply(text, choice.finish_reason == "length", tokens or None, problem)
    except openai.APIStatusError as error:
        said = error.body
        if isinstance(said, dict):
            said = said.get("message") or ("choices" in said and "the answer has no choices")
        text = str(said or error.message)
        if "max_tokens" in options and "max_completion_tokens" in text:
            options["max_completion_tokens"] = options.pop("max_tokens")
            return request(client, model, messages, options)
        message = " ".join(hide_key(client, text).split())[:200]
        about_key = 401 <= error.status_code <= 403 or "key" in message.lower()
        key = f"; the key is the environment variable {API_KEY}" if about_key else ""
        raise Unavailable(
            f"{name} refuses with status {error.status_code}: {message!r}{key}"
        ) from None
    except openai.APIConnectionError as error:  # also a timeout
        reason = hide_key(client, str(error.__cause__ or error))
        raise Unavailable(f"{name} does not answer: {reason}") from None
    except Exception as error:  # the answer has another form, or the HTTP library failed
        raise Unavailable(
            f"{name}: the answer does not follow the chat protocol ({type(error).__name__})"
        ) from None


def _why_no_answer(choice: Any, text: str) -> str:
    """Return why a choice does not answer the question; "" if it may answer it."""
    if choice.finish_reason == "content_filter":
        return "a content filter stopped the answer"
    if text:
        return ""
    if refusal := getattr(choice.message, "refusal", None):
        return f"the model refuses: {' '.join(str(refusal).split())[:200]!r}"
    if choice.message.tool_calls:
        return "the answer calls a tool, and has no text"
    for name in ("reasoning_content", "reasoning"):  # some servers split an answer
        if getattr(choice.message, name, None):
            return f"the answer is empty: all that the model wrote is in {name}"
    return ""


def text_of(content: Any) -> str:
    """Return an answer's text; from a list of parts, only parts of the type ``text`` count."""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part["type"] == "text")
    text: str = content or ""
    return text.encode("utf-8", "replace").decode()  # no half of a surrogate pair


def hide_key(client: Any, text: str) -> str:
    """Return a text for an error or a file, in which ``[key]`` replaces a secret key."""
    key: str = client.api_key
    return text.replace(key, "[key]") if len(key) >= SECRET else text
