"""Requests to a language model's chat endpoint by the official client, which retries."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from c4env.errors import InvalidOption, Unavailable
from c4env.lazy import from_extra

KEY: Final = "OPENAI_API_KEY"
NO_KEY: Final = "none"  # the key to send to a server that needs no key
RETRIES: Final = 6  # of the client, with pauses of 0.5 s, then doubled up to 8 s


class Reply(NamedTuple):
    """The answer of an endpoint."""

    text: str
    is_cut: bool  # at its limit of tokens
    tokens: tuple[int, int] | None  # of prompt and answer, if the endpoint reports them


def client(base_url: str, timeout: float) -> Any:
    """Return the shared, thread-safe client of an address; "" means OPENAI_BASE_URL or OpenAI's.

    Raises:
        InvalidOption: the address is malformed or may contain a secret.
    """
    if base_url and not re.fullmatch(r"https?://[^/?#@\s]+(/[^?#@\s]*)?", base_url):
        # Do not quote the address, which may contain a password.
        raise InvalidOption(
            "chat: base_url: expected http(s)://HOST:PORT/PATH, without a user name, password "
            f"or query (set the environment variable {KEY} to the key)"
        )
    default = os.environ.get("OPENAI_BASE_URL", "")
    return _client(base_url or default, timeout, os.environ.get(KEY) or NO_KEY)


@functools.cache
def _client(base_url: str, timeout: float, key: str) -> Any:
    with from_extra("chat", "chat: needs the package openai"):
        import openai
    return openai.OpenAI(
        base_url=base_url or None, api_key=key, max_retries=RETRIES, timeout=timeout
    )


def ask(
    client: Any, model: str, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any]
) -> Reply:
    """Request the answer to a conversation; ``options`` go into the request as they are.

    Raises:
        Unavailable: the endpoint refuses, does not answer, or does not follow the protocol.
    """
    import openai

    name = f"{client.base_url.host}:{client.base_url.port or ''}".rstrip(":")
    try:
        answer = client.chat.completions.create(model=model, messages=messages, **options)
        choice = answer.choices[0]
        text = choice.message.content or ""
        counted = answer.usage and (answer.usage.prompt_tokens, answer.usage.completion_tokens)
        return Reply(clean(client, text), choice.finish_reason == "length", counted or None)
    except openai.APIStatusError as error:
        said = " ".join(clean(client, error.message).split())[:200]
        raise Unavailable(
            f"{name} refuses with status {error.status_code}: {said!r}; the key is the environment "
            f"variable {KEY}"
        ) from None
    except openai.APIConnectionError as error:  # also a timeout
        why = clean(client, str(error.__cause__ or error))
        raise Unavailable(f"{name} does not answer: {why}") from None
    except Exception as error:  # an answer of another form, or an error of the HTTP library
        raise Unavailable(
            f"{name}: the answer does not follow the chat protocol ({type(error).__name__})"
        ) from None


def clean(client: Any, text: str) -> str:
    """Remove the key from a text that the endpoint sent, and make the text printable."""
    if client.api_key != NO_KEY:
        text = text.replace(client.api_key, "[key]")
    return text.encode("utf-8", "replace").decode()
