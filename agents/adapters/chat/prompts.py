"""The prompts of language models: those of the text environment, or a user's file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from c4env.envs.text import fill, template
from c4env.errors import InvalidOption
from c4env.position import Position

Message = dict[str, str]
"""One turn of a conversation: its ``role`` and its ``content``."""


@dataclass(frozen=True)
class Prompt:
    """A template (:func:`c4env.envs.text.fill`), and the value of the option that names it."""

    name: str
    text: str = field(repr=False)

    def __str__(self) -> str:
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:12]
        return f"{self.name}, sha256 {digest}"

    def ask(self, position: Position, moves: str) -> list[Message]:
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


def ask_again(asked: list[Message], answer: str, problem: str) -> list[Message]:
    """Return the conversation that asks again after an answer without a legal move."""
    said = (
        f"That is no legal move: {problem}. It is still your turn in the same position. End "
        "with a line that holds the word Move, a colon and the number of a column."
    )
    # Endpoints refuse empty messages.
    answered = {"role": "assistant", "content": answer or "(nothing)"}
    return [*asked, answered, {"role": "user", "content": said}]
