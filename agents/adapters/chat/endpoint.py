"""Requests to a language model's chat endpoint by the official client, which retries."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from c4env.errors import InvalidOption, Unavailable
from c4env.lazy import from_extra

KEY: Final = "OPENAI_API_KEY"
NO_KEY: Final = "none"  # the key to send to a server that needs no key
BAD_GATEWAY: Final = 502
RETRIES: Final = 6  # of the client, with pauses of 0.5 s, then doubled up to 8 s


class Reply(NamedTuple):
    """The answer of an endpoint."""

    text: str
    is_cut: bool  # at its limit of tokens
    tokens: tuple[int, int] | None  # of prompt and answer, if the endpoint reports them


def open_client(base_url: str, timeout: float) -> Any:
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
        base_url=base_url or None,
        api_key=key,
        max_retries=RETRIES,
        timeout=timeout,
        http_client=openai.DefaultHttpxClient(event_hooks={"response": [give_status]}),
    )


def give_status(response: Any) -> None:
    """Give an answer of status 200 that holds an error the error's own status, or else 502.

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


def ask(
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
        counted = answer.usage and (answer.usage.prompt_tokens, answer.usage.completion_tokens)
        return Reply(clean(client, text), choice.finish_reason == "length", counted or None)
    except openai.APIStatusError as error:
        message = error.body.get("message") if isinstance(error.body, dict) else error.body
        message = " ".join(clean(client, str(message or error.message)).split())[:200]
        if "max_tokens" in options and "max_completion_tokens" in message:
            options["max_completion_tokens"] = options.pop("max_tokens")
            return ask(client, model, messages, options)
        key = f"; the key is the environment variable {KEY}" if error.status_code < 404 else ""
        raise Unavailable(
            f"{name} refuses with status {error.status_code}: {message!r}{key}"
        ) from None
    except openai.APIConnectionError as error:  # also a timeout
        why = clean(client, str(error.__cause__ or error))
        raise Unavailable(f"{name} does not answer: {why}") from None
    except Exception as error:  # an answer of another form, or an error of the HTTP library
        raise Unavailable(
            f"{name}: the answer does not follow the chat protocol ({type(error).__name__})"
        ) from None


def text_of(content: Any) -> str:
    """Return an answer's text; some models send a list of parts, of which ``text`` counts."""
    if not isinstance(content, list):
        return content or ""
    return "".join(part["text"] for part in content if part["type"] == "text")


def clean(client: Any, text: str) -> str:
    """Remove the key from a text that the endpoint sent, and make the text printable."""
    if client.api_key != NO_KEY:
        text = text.replace(client.api_key, "[key]")
    return text.encode("utf-8", "replace").decode()
