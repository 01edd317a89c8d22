"""Requests to a language model's chat endpoint by the official client, with retries."""

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
NO_KEY: Final = "none"  # the key to send to a server that needs no key
MOST_BYTES: Final = 4 << 20  # the greatest size of a response
FIRST_PAUSE: Final = 0.5  # seconds, doubled after each failure
LONGEST_PAUSE: Final = 30.0
LONGEST_ASKED_FOR: Final = 120.0  # the longest pause, in seconds, that a server may request
NEWS_EVERY: Final = 30.0  # seconds between two messages about network failures
PASSING: Final = (408, 409, 425, 429)  # statuses after which to retry; also 500 and above


class Reply(NamedTuple):
    """The answer of an endpoint."""

    text: str
    cut: str  # the reason why the text is truncated, or ""
    tokens: tuple[int, int] | None  # of prompt and answer, if the endpoint reports them
    seconds: float = 0.0  # from the successful request to its answer
    failures: int = 0  # failures of the network before the answer


class _Failed(Exception):
    """A request failed and may be repeated, after ``pause`` seconds if the server says so."""

    def __init__(self, why: str, pause: float | None = None) -> None:
        super().__init__(why)
        self.pause = pause


def endpoint(base_url: str) -> Endpoint:
    """Return the shared endpoint object for an address; "" means the address in the environment.

    Raises:
        InvalidValue: the address is malformed or contains a secret.
        MissingExtra: the client is not installed.
    """
    if base_url:
        try:
            parts = urlsplit(base_url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            good = False
        if not good or parts.username is not None or parts.query:
            # Do not quote the address, which may contain a password.
            raise InvalidValue(
                "chat: base_url: expected http(s)://HOST:PORT/PATH, without a user name, password "
                f"or query (set the environment variable {KEY} to the key)"
            )
    return _shared(base_url, os.environ.get("OPENAI_BASE_URL", ""), os.environ.get(KEY) or NO_KEY)


@functools.cache
def _shared(base_url: str, default: str, key: str) -> Endpoint:
    return Endpoint(base_url or default, key)


class Endpoint:
    """A chat endpoint: an address and a client. The object is thread-safe.

    Args:
        base_url: the address; "" for the official endpoint.
        key: the client's secret key; error messages never show it.
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
        """Request the answer to a conversation; retry while the network fails.

        Args:
            model: the model's name at the endpoint.
            messages: the conversation.
            options: options of the request, such as ``temperature``.
            timeout: seconds to wait for an answer before a retry.
            patience: seconds to keep trying while the network fails.

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
                        f"{self.name} does not answer: {failure}; tried {failures} times, for "
                        f"{time.monotonic() - failing_since:.3g} s (patience={patience:g})"
                    ) from None
                self._tell(f"{self.name}: {failure}; trying again, for up to {left:.0f} s")
            time.sleep(pause)

    def _exchange(self, body: dict[str, Any], timeout: float) -> Reply:
        """Send one request without a retry."""
        openai = self._openai
        deadline = time.monotonic() + timeout
        received = b""
        try:
            streamed = self._client.with_options(timeout=timeout).chat.completions
            with streamed.with_streaming_response.create(**body) as response:
                # Read in parts, to stop an answer that is slow or never ends.
                for part in response.iter_bytes():
                    received += part
                    if len(received) > MOST_BYTES:
                        return Reply("", f"the answer is longer than {MOST_BYTES >> 20} MB", None)
                    if time.monotonic() > deadline:
                        raise _Failed(f"no complete answer within {timeout:g} s")
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
        """Return the error for a status other than 200: :class:`_Failed` if a retry may help."""
        status = error.status_code
        said = " ".join(self.clean(str(getattr(error, "message", ""))).split())[:200]
        if status in (401, 403):
            return Unavailable(
                f"{self.name} refuses with status {status}: expected a valid key in the "
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
        """Remove the key from a text that the endpoint sent, and make the text printable."""
        if self._key != NO_KEY:
            text = text.replace(self._key, "[key]")
        return text.encode("utf-8", "replace").decode()

    def _tell(self, news: str) -> None:
        with self._door:
            if time.monotonic() - self._said < NEWS_EVERY:
                return
            self._said = time.monotonic()
        print(news, file=sys.stderr)
