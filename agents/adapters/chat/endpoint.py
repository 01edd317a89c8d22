"""Requests to a chat endpoint by the official client, repeated while the network fails."""

from __future__ import annotations

import functools
import json
import os
import random
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from c4env.agents.errors import InvalidValue, Unavailable
from c4env.lazy import from_extra

KEY: Final = "OPENAI_API_KEY"
NO_KEY: Final = "none"  # the key for a server without one
MOST_BYTES: Final = 4 << 20  # the longest response
FIRST_PAUSE: Final = 0.5  # seconds, doubled after each failure
LONGEST_PAUSE: Final = 30.0
LONGEST_ASKED_FOR: Final = 120.0  # the longest pause, in seconds, that a server may ask for
NEWS_EVERY: Final = 30.0  # seconds between two lines about a failing network
PASSING: Final = (408, 409, 425, 429)  # statuses worth another try, as are 500 and above


class Reply(NamedTuple):
    """An answer of an endpoint."""

    text: str
    cut: str  # the reason of a truncated text, or ""
    tokens: tuple[int, int] | None  # of prompt and answer, if the endpoint reports them
    seconds: float = 0.0  # from the successful request to its answer
    failures: int = 0  # failures of the network before the answer


class _Failed(Exception):
    """A try failed, and another may succeed after a pause that the server may have asked for."""

    def __init__(self, why: str, pause: float | None = None) -> None:
        super().__init__(why)
        self.pause = pause


def endpoint(base_url: str) -> Endpoint:
    """The endpoint at an address; "" means the environment's. Agents of one address share it.

    Raises:
        InvalidValue: the address is malformed or holds a secret.
        MissingExtra: the client is not installed.
    """
    if base_url:
        try:
            parts = urlsplit(base_url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            good = False
        if not good or parts.username is not None or parts.query:
            # Do not quote the address: it may hold a password.
            raise InvalidValue(
                "chat: base_url: expected http(s)://HOST:PORT/PATH, without a name, a password or "
                f"a query (a key is taken from {KEY} in the environment)"
            )
    return _shared(base_url, os.environ.get("OPENAI_BASE_URL", ""), os.environ.get(KEY) or NO_KEY)


@functools.cache
def _shared(base_url: str, default: str, key: str) -> Endpoint:
    return Endpoint(base_url or default, key)


class Endpoint:
    """An address and its client; thread-safe.

    Args:
        base_url: the address; "" for the official endpoint.
        key: the secret, which the client gets and all messages leave out.
    """

    def __init__(self, base_url: str, key: str) -> None:
        with from_extra("chat", "chat: needs the package openai"):
            import openai
        self._openai = openai
        self._key = key
        self._client = openai.OpenAI(base_url=base_url or None, api_key=key, max_retries=0)
        self.name = f"{self._client.base_url.host}:{self._client.base_url.port or ''}".rstrip(":")
        self._door = threading.Lock()
        self._said = -NEWS_EVERY

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r})"

    def ask(
        self,
        model: str,
        messages: Sequence[Mapping[str, str]],
        options: Mapping[str, Any],
        timeout: float,
        patience: float,
    ) -> Reply:
        """Ask for the answer to a conversation.

        Args:
            model: the model's name at the endpoint.
            messages: the conversation.
            options: options of the request, such as ``temperature``.
            timeout: seconds for an answer; after them the request is repeated.
            patience: seconds to wait for a failing network.

        Raises:
            Unavailable: the endpoint refuses, or does not answer within ``patience``.
        """
        body = {"model": model, "messages": messages, **options}
        failures = 0
        failing_since = time.monotonic()
        while True:
            started = time.monotonic()
            try:
                reply = self._exchange(body, timeout)
                return reply._replace(seconds=time.monotonic() - started, failures=failures)
            except _Failed as failure:
                if not failures:
                    failing_since = started
                pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2**failures) * random.uniform(0.5, 1.0)
                if failure.pause is not None:
                    pause = min(failure.pause, LONGEST_ASKED_FOR)
                failures += 1
                left = failing_since + patience - time.monotonic()
                if pause > left:
                    raise Unavailable(
                        f"{self.name} gives no answer: {failure}; tried {failures} times, for "
                        f"{time.monotonic() - failing_since:.3g} s (patience={patience:g})"
                    ) from None
                self._tell(f"{self.name}: {failure}; trying again, for up to {left:.0f} s")
            time.sleep(pause)

    def _exchange(self, body: dict[str, Any], timeout: float) -> Reply:
        """Send one request, without another try."""
        openai = self._openai
        deadline = time.monotonic() + timeout
        received = b""
        try:
            streamed = self._client.with_options(timeout=timeout).chat.completions
            with streamed.with_streaming_response.create(**body) as response:
                # Read in parts, to stop an answer that trickles in or never ends.
                for part in response.iter_bytes():
                    received += part
                    if len(received) > MOST_BYTES:
                        return Reply("", f"the answer is longer than {MOST_BYTES >> 20} MB", None)
                    if time.monotonic() > deadline:
                        raise _Failed(f"no whole answer within {timeout:g} s")
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        except openai.APITimeoutError:
            raise _Failed(f"no answer within {timeout:g} s") from None
        except (openai.APIError, OSError) as error:
            cause = error.__cause__ or error
            raise _Failed(
                f"no connection ({self.clean(str(cause) or type(cause).__name__)})"
            ) from None
        except _Failed:
            raise
        except Exception as error:  # an error of the client's HTTP library
            raise _Failed(f"the connection broke off ({type(error).__name__})") from None
        return self._read(received)

    def _read(self, received: bytes) -> Reply:
        try:
            answer = json.loads(received)
            choice = answer["choices"][0]
            text = choice["message"].get("content")
            used = answer.get("usage") or {}
            tokens = (used.get("prompt_tokens"), used.get("completion_tokens"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise _Failed("the answer does not follow the chat protocol") from None
        cut = "the answer was cut off at its limit of tokens"
        counted = [n for n in tokens if type(n) is int and n >= 0]
        return Reply(
            self.clean(text) if isinstance(text, str) else "",
            cut if choice.get("finish_reason") == "length" else "",
            (counted[0], counted[1]) if len(counted) == 2 else None,
        )

    def _refusal(self, error: Any) -> Exception:
        """The error for a status other than 200: try again, or give up."""
        status = error.status_code
        said = " ".join(self.clean(str(getattr(error, "message", ""))).split())[:200]
        if status in (401, 403):
            return Unavailable(
                f"{self.name} refuses with status {status}: expected a key that it accepts, in the "
                f"environment variable {KEY}"
            )
        passing = status in PASSING or status >= 500
        if not passing or getattr(error, "code", None) == "insufficient_quota":
            return Unavailable(f"{self.name} refuses with status {status}: {said!r}")
        try:
            pause = max(0.0, float(error.response.headers["retry-after"]))
        except (KeyError, ValueError):
            pause = None
        return _Failed(f"status {status}", pause)

    def clean(self, text: str) -> str:
        """Make a text of the endpoint safe to print, without the key."""
        if self._key != NO_KEY:
            text = text.replace(self._key, "[key]")
        return text.encode("utf-8", "replace").decode()

    def _tell(self, news: str) -> None:
        with self._door:
            if time.monotonic() - self._said < NEWS_EVERY:
                return
            self._said = time.monotonic()
        print(news, file=sys.stderr)
