"""Prompts for language models: this project's, users' and Kaggle's."""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.metadata
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from c4env.agents.errors import InvalidValue, Unavailable
from c4env.agents.registry.imports import import_callable, in_a_line
from c4env.envs.text import VERSION, fill, template
from c4env.errors import InvalidOption, MissingExtra
from c4env.position import Position, parse_moves

Message = dict[str, str]
"""One turn of a conversation: its ``role`` and its ``content``."""

KAGGLE: Final = "kaggle_environments.envs.open_spiel_env.games.connect_four.harness"


@dataclass(frozen=True)
class Prompt:
    """How to show a position to a language model, and how to read the move in the answer.

    Attributes:
        name: the value of the option ``prompt``.
        version: the version of this project's prompts, of Kaggle's package or of a user's function.
        digest: the first 12 hex digits of the SHA-256 of the template or source code.
        write: a function of a position and of the moves that lead to it, as 1-based columns. It
            returns a text or messages.
        rewrite: a function like ``write`` for the prompt after an answer without a legal move. Its
            third argument is that answer. None: a description of the problem continues the
            conversation.
        label, first: the word before the move in an answer, and the leftmost column's number.
    """

    name: str
    version: str
    digest: str
    write: Callable[[Position, str], str | Sequence[Message]] = field(repr=False)
    rewrite: Callable[[Position, str, str], str] | None = field(default=None, repr=False)
    label: str = "Move"
    first: int = 1

    def __str__(self) -> str:
        version = f" version {self.version}" if self.version else ""
        return f"{self.name}{version}, sha256 {self.digest}"

    def ask(self, position: Position, moves: str) -> list[Message]:
        """Return the messages that first ask for a move in a position.

        Raises:
            Unavailable: the user's function raised an error, or returned neither text nor messages.
        """
        try:
            said = self.write(position, moves)
            if isinstance(said, str):
                return [{"role": "user", "content": said}]
            return [{"role": str(m["role"]), "content": str(m["content"])} for m in said]
        except Exception as error:  # not the model's fault
            raise Unavailable(
                f"prompt {self.name!r}: expected a text or a list of messages with role and "
                f"content, got {in_a_line(error)}"
            ) from error

    def ask_again(
        self, position: Position, moves: str, asked: list[Message], answer: str, problem: str
    ) -> list[Message]:
        """Return the messages that ask again after an answer without a legal move."""
        if self.rewrite is not None:
            return [{"role": "user", "content": self.rewrite(position, moves, answer)}]
        said = (
            f"That is no legal move: {problem}. It is still your turn in the same position. End "
            f"with a line that holds the word {self.label}, a colon and the number of a column."
        )
        # Endpoints refuse empty messages.
        answered = {"role": "assistant", "content": answer or "(nothing)"}
        return [*asked, answered, {"role": "user", "content": said}]


def find_prompt(name: str) -> Prompt:
    """Find the prompt that the option ``prompt`` names.

    Args:
        name: a name that :func:`c4env.envs.text.template` accepts; ``kaggle``; a template file; or
            ``package.module:function``. The function gets a position and the moves that lead to
            it, and returns a text or a list of messages.

    Raises:
        InvalidValue: the name is none of these, or the prompt cannot be loaded.
        MissingExtra: the package of the prompt ``kaggle`` is not installed.
    """
    if name == "kaggle":
        return _kaggle()
    if Path(name).is_file():
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidValue(f"chat: prompt={name!r}: expected a text file: {error}") from None
        return Prompt(name, "", _digest(text), functools.partial(fill, text))
    if ":" in name:
        expected = "package.module:function, a function of position and moves"
        found = import_callable(name, InvalidValue, f"chat: prompt={name!r}", expected)
        return Prompt(name, str(getattr(found, "version", "")), _digest(_source(found)), found)
    try:
        text = template(name)
    except InvalidOption as error:
        raise InvalidValue(
            f"chat: prompt={name!r}: {error}; or an existing file, a module:function, or kaggle"
        ) from None
    return Prompt(name, str(VERSION), _digest(text), functools.partial(fill, text))


def _kaggle() -> Prompt:
    """Return the prompt of Kaggle's harness for Connect Four; its columns count from 0.

    This project's parser reads the answers: Kaggle's parser accepts any digit from 0 to 6 in an
    answer without a line that announces the move.
    """
    try:
        harness = importlib.import_module(KAGGLE)
        spiel = importlib.import_module("pyspiel")
        version = importlib.metadata.version("kaggle-environments")
    except ImportError as error:
        raise MissingExtra(
            f"chat: prompt='kaggle' needs the package kaggle-environments ({error})"
        ) from None

    def write(position: Position, moves: str, answer: str | None = None) -> str:
        game = spiel.load_game("connect_four")
        state = game.new_initial_state()
        for column in parse_moves(moves):
            state.apply_action(column)
        seen = {
            "serializedGameAndState": spiel.serialize_game_and_state(game, state),
            "playerId": position.to_move,
        }
        return str(harness.generate_prompt(seen, list(moves), previous_response=answer))

    digest = _digest(_source(harness))
    return Prompt("kaggle", version, digest, write, write, label="Final Answer", first=0)


def _source(thing: Any) -> str:
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):  # interactive or compiled code
        return repr(thing)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
