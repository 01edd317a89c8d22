"""Hash the code and the files that an agent depends on, to detect a changed agent.

These hashes are the agent's identity, part of the key of its stored results. So a changed agent
never gets the results of an earlier agent of the same name. For a spec, the identity covers the
files that the spec names and the user's modules that the agent's process loaded
(``c4env.evaluation.games.host``). For a Python object it is the attribute ``version``; without one
the identity is not known. This project's own code has no hash.

The header of a run, ``run.json``, and the games that it plans, in playing order.
"""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from c4env.boards import Size
from c4env.system import __version__

from ...agents.spec import split_spec
from ...geometry import BOARD_SIZE, IS_STANDARD

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


FORMAT: Final = "c4env run 1"

Fixture = tuple[tuple[str, str], str]
"""A game to play, ``((first, second), opening)``: the players' names and the opening."""

Kind = Literal["round robin", "gauntlet", "match", "people"]
"""The pairings: all pairs; challengers against a field; two agents; or people against anyone."""


@functools.cache
def version_here() -> str:
    """Return the versions of c4env, Python and NumPy, which all workers of a run must share."""
    return f"{__version__}, Python {platform.python_version()}, NumPy {np.__version__}"


class SprtPlan(NamedTuple):
    """The sequential test of a match: its hypotheses in Elo and its error rates."""

    h0: float
    h1: float
    alpha: float
    beta: float


@dataclass(frozen=True, kw_only=True)
class RunHeader:
    """The fields of ``run.json``, without ``format``.

    Attributes:
        kind: the kind of pairings.
        players: specs of the agents by name; a Python object has ``<name>`` as its spec.
        challengers: in a gauntlet, the agents that meet every agent outside this list.
        openings: move strings from which the games begin.
        seed: seed of the openings' order and of stochastic agents.
        c4env: the versions of c4env, Python and NumPy.
        commit: the commit of c4env's checkout, "" if unknown.
        board: rows, columns and discs in a row that win, as ``6x7x4``.
        deterministic: agents that always give the same answer in the same position.
        timed: agents that search by the clock.
        code: hashes of code and files from outside this project, by agent, then by file.
        prompts: prompts of language models, by agent.
        movetime: seconds per move; None for no limit.
        margin: seconds by which a move may exceed ``movetime``.
        sprt: the sequential test of a match; None without one.
    """

    kind: Kind = "round robin"
    players: Mapping[str, str] = field(default_factory=dict)
    challengers: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()
    seed: int | None = None
    c4env: str = ""
    commit: str = ""
    board: str = str(BOARD_SIZE)
    deterministic: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    code: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    movetime: float | None = None
    margin: float | None = None
    sprt: SprtPlan | None = None

    def schedule(self) -> list[Fixture]:
        """Return every game of the run in playing order; [] if people play."""
        others = [player for player in self.players if player not in self.challengers]
        if self.challengers:
            return gauntlet_order(self.challengers, others, self.openings)
        return opening_major(others, self.openings)

    def notes(self) -> tuple[str, ...]:
        """Return notes on time limits and the size of the board, to print below a table."""
        notes = []
        if self.movetime is not None:
            notes.append(
                f"{self.movetime:g} s a move, and a margin of {self.margin:g} s; "
                "a move that takes longer forfeits."
            )
        if self.timed:
            notes.append(f"These agents search by the clock: {', '.join(self.timed)}.")
        if notes:
            notes.append("Timed runs do not repeat exactly.")
        if not IS_STANDARD:
            rows, columns, connect = Size.parse(self.board)
            size = f"{rows} rows and {columns} columns"
            notes.append(f"The board has {size}; {connect} in a row win.")
        return tuple(notes)

    def format(self) -> str:
        """Return the text of ``run.json``, the inverse of :meth:`parse`."""
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        values = {"format": FORMAT, **held, "sprt": self.sprt and self.sprt._asdict()}
        text = json.dumps(values, indent=1, ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace").decode() + "\n"

    @classmethod
    def parse(cls, text: str) -> RunHeader:
        """Parse the text of ``run.json``.

        Raises:
            ValueError, TypeError, KeyError, AttributeError: ``text`` is not a complete header.
        """
        values: dict[str, Any] = json.loads(text)
        given = values.pop("format")
        if given != FORMAT:
            raise ValueError(f"the format is {given!r}: expected {FORMAT!r}")
        if values.get("sprt") is not None:
            values["sprt"] = SprtPlan(**values["sprt"])
        return cls(**{name: _frozen(value) for name, value in values.items()})


def opening_major(players: Sequence[str], openings: Sequence[str]) -> list[Fixture]:
    """List every game of a round robin: each pairing from each opening with both colours.

    All games of an opening come before the next opening, so a run that stops between two openings
    is balanced. Two games of a pairing that differ only in colours follow each other.
    """
    return _both_colours(list(combinations(players, 2)), openings)


def gauntlet_order(
    challengers: Sequence[str], others: Sequence[str], openings: Sequence[str]
) -> list[Fixture]:
    """List every game of a gauntlet: each challenger plays each of ``others`` with both colours."""
    return _both_colours([(one, other) for one in challengers for other in others], openings)


def _both_colours(pairings: list[tuple[str, str]], openings: Sequence[str]) -> list[Fixture]:
    return [
        (pair, opening)
        for opening in openings
        for one, other in pairings
        for pair in ((one, other), (other, one))
    ]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
