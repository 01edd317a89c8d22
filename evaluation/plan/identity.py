"""Hash the code and the files that an agent depends on, to detect a changed agent.

These hashes are the agent's identity, part of the key of its stored results. So a changed agent
never gets the results of an earlier agent of the same name. For a spec, the identity covers the
files that the spec names and the user's modules that the agent's process loaded
(``c4env.evaluation.games.host``). For a Python object it is the attribute ``version``; without one
the identity is not known. This project's own code has no hash.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ...agents.registry.registry import split_spec

Identity = Mapping[str, str]
"""The hashes of an agent's parts, by name; empty for agents of this project."""


def files_of(spec: str) -> dict[str, str]:
    """Return a hash of each file that a spec names, and of each file in a folder it names."""
    name, options = split_spec(spec)
    return {
        str(path): hash_of(path.read_bytes())
        for text in (name, *options.values())
        for path in _named(text)
    }


def _named(text: str) -> Iterator[Path]:
    words = [text]
    with suppress(ValueError):
        words += shlex.split(text)
    for word in {
        part
        for each in words
        for part in (each, *each.rpartition(":")[::2], each.partition("=")[2])
    }:
        if word and Path(word).is_file():
            yield Path(word)
        elif word and Path(word).is_dir():
            yield from (
                path for path in Path(word).rglob("*") if path.is_file() and path.suffix != ".log"
            )


def hash_of(data: bytes) -> str:
    """Return a short hash."""
    return hashlib.sha256(data).hexdigest()[:16]


def in_short(code: Identity, prompt: str = "") -> str:
    """Return one hash of an identity and a language model's prompt; "" if both are empty."""
    return hash_of(json.dumps([sorted(code.items()), prompt]).encode()) if code or prompt else ""
