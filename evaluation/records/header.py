"""The header of a run: who plays whom, from which openings, with which code and settings.

``run.json`` stores the header. The header plans the games in playing order, and decides whether a
run directory takes more games (:func:`extend_header`).

An agent's identity is the hashes of its code and files. The identity is a part of the key of stored
results, so a changed agent never gets the results of an earlier agent of the same name. For a spec,
the identity covers the files that the spec names and the user's modules that the agent's process
loaded (``c4env.evaluation.runs.agent_process``). For a Python object, the identity is the attribute
``version``; without this attribute the identity is not known. This project's sources are hashed
once for all agents (:func:`versions`).
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from c4env.errors import UnreadableRun
from c4env.geometry import BOARD_SIZE, COLUMNS, CONNECT, IS_STANDARD, ROWS
from c4env.position import Position
from c4env.system import __version__

FORMAT: Final = "c4env run 2"
GAMES: Final = ("c4env", "c4env.agents", "c4env.evaluation.runs")
"""The packages whose sources decide games."""
EXACT: Final = "c4env.evaluation.exact"
"""The package whose sources decide questions, besides the packages that decide games."""
SUFFIXES: Final = (".py", ".npz", ".tsv")  # of sources and shipped files

Identity = Mapping[str, str]
"""A hash of an agent's ``files`` and modules, or its ``version``, or nothing."""

Contents = Mapping[str, str]
"""The hashes of an agent's files, by name."""

Fixture = tuple[tuple[str, str], str]
"""A game to play, ``((first, second), opening)``: the players' names and the opening."""

Pairings = Sequence[tuple[str, str]]
"""The first and the second player of each game."""

Kind = Literal["round robin", "gauntlet", "match", "people", "placement", "games from elsewhere"]
"""The pairings, in the same order: all pairs, challengers against a field, two agents, people
against anyone, one agent against opponents chosen by its results, and games of other programs."""


@functools.cache
def versions(*more: str) -> str:
    """Return the versions of c4env, Python and NumPy, which all workers of a run must share.

    A hash of the sources that decide games is a part of c4env's version, because an edit may change
    games and answers. ``more`` names further packages whose sources count, for example ``exact``.
    """
    own = hash_files(_sources(*GAMES, *more))
    python, numpy = platform.python_version(), np.__version__
    return f"{__version__} (sources {own}), Python {python}, NumPy {numpy}"


def _sources(*packages: str) -> dict[str, Path]:
    """Return the modules and shipped files of packages of this project, by name."""
    found = {}
    for package in packages:
        folder = Path(str(importlib.import_module(package).__file__)).parent
        inner = {folder / "agents", folder / "evaluation"}  # other packages
        for path in folder.rglob("*"):
            if path.suffix in SUFFIXES and inner.isdisjoint(path.parents) and path.is_file():
                found[f"{package}/{path.relative_to(folder).as_posix()}"] = path
    return found


def hash_files(files: Mapping[str, Path]) -> str:
    """Return a short hash of the names and contents of files; large files are read in pieces."""
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{name}\0{content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def identity(files: Contents) -> Identity:
    """Return the identity of an agent that consists of files."""
    return {"files": _hash(files)} if files else {}


def identity_hash(code: Identity) -> str:
    """Return one hash of an identity; "" if it is empty."""
    return _hash(code) if code else ""


def _hash(texts: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(texts.items())).encode()).hexdigest()[:16]


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
        c4env: the versions of c4env, Python and NumPy, with a hash of c4env's sources.
        commit: the commit of c4env's checkout, "" if unknown.
        command: the words of the ``c4`` command that began the run; None for a run from Python.
        board: rows, columns and discs in a row that win, as ``6x7x4``.
        deterministic: agents that always give the same answer in the same position.
        timed: agents that search by the clock.
        code: by agent, a hash of its ``files`` from outside this project, or its ``version``.
        movetime: seconds per move; None for no limit.
        margin: seconds by which a move may exceed ``movetime``.
        sprt: the sequential test of a match; None without a test.
    """

    kind: Kind = "round robin"
    players: Mapping[str, str] = field(default_factory=dict)
    challengers: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()
    seed: int | None = None
    c4env: str = ""
    commit: str = ""
    command: tuple[str, ...] | None = None
    board: str = str(BOARD_SIZE)
    deterministic: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    code: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    movetime: float | None = None
    margin: float | None = None
    sprt: SprtPlan | None = None

    def schedule(self) -> list[Fixture]:
        """Return every game of the run in playing order; an empty list if people play."""
        others = [player for player in self.players if player not in self.challengers]
        if self.challengers:
            return gauntlet_order(self.challengers, others, self.openings)
        return opening_major(others, self.openings)

    def notes(self) -> tuple[str, ...]:
        """Return notes on time limits and the size of the board, to print below a table."""
        notes = []
        if self.movetime is not None:
            notes.append(
                f"{self.movetime:g} s per move, and a margin of {self.margin:g} s; "
                "a move that takes longer forfeits."
            )
        if self.timed:
            notes.append(f"These agents search by the clock: {', '.join(self.timed)}.")
        if notes:
            notes.append("Timed runs do not repeat exactly.")
        if not IS_STANDARD:
            size = f"{ROWS} rows and {COLUMNS} columns"
            notes.append(f"The board has {size}; {CONNECT} in a row win.")
        return tuple(notes)

    def format(self) -> str:
        """Return the text of ``run.json``, the inverse of :meth:`parse`."""
        items = {field.name: getattr(self, field.name) for field in fields(self)}
        values = {"format": FORMAT, **items, "sprt": self.sprt and self.sprt._asdict()}
        text = json.dumps(values, indent=1, ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace").decode() + "\n"

    @classmethod
    def parse(cls, text: str) -> RunHeader:
        """Parse the text of ``run.json``.

        Raises:
            ValueError, TypeError, KeyError, AttributeError: ``text`` is not a complete header.
        """
        values: dict[str, Any] = json.loads(text)
        form = values.pop("format")
        if form != FORMAT:
            raise ValueError(f"the format is {form!r}: expected {FORMAT!r}")
        if values.get("sprt") is not None:
            values["sprt"] = SprtPlan(**values["sprt"])
        return cls(**{name: _frozen(value) for name, value in values.items()})


def opening_major(players: Sequence[str], openings: Sequence[str]) -> list[Fixture]:
    """List every game of a round robin: each pairing from each opening with both colours.

    The games of an opening come before the next opening, so a run that stops between two openings
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


def extend_header(
    folder: Path, stored: RunHeader, planned: RunHeader, games: Pairings
) -> RunHeader:
    """Return the header of a run directory to which a new run is added.

    The header has the agents and openings of both runs, and the command of the first run. The
    openings of one run must include all openings of the other run. If the kinds differ, or if a
    challenger of one gauntlet is an opponent in the other, the kind becomes round robin. A match
    with a sequential test accepts any new openings but no new agents. No position may be an opening
    in two orders of moves. A directory without games accepts any run.

    Args:
        folder: the directory; error messages quote this path.
        stored: the header in the directory.
        planned: the header of the run to play.
        games: the first and the second player of each game in the directory.

    Raises:
        UnreadableRun: the games in the directory and the games to play cannot be compared.
    """
    if not games:
        return planned
    if differing := list(_differing(stored, planned, games)):
        raise UnreadableRun(
            f"{folder} holds another run; these fields differ: {'; '.join(differing)}; "
            "name another directory"
        )
    players = {**stored.players, **planned.players}
    kind, challengers = planned.kind, _joined(stored.challengers, planned.challengers)
    met = {name for run in (stored, planned) for name in run.players if name not in run.challengers}
    mixed = kind == "gauntlet" and not met.isdisjoint(challengers)
    if stored.kind != kind or mixed or (kind == "match" and len(players) > 2):
        kind, challengers = "round robin", ()
    return replace(
        planned,
        kind=kind,
        players=players,
        challengers=challengers,
        command=stored.command,
        openings=_joined(stored.openings, planned.openings),
        deterministic=_having(stored.deterministic, planned.deterministic, planned),
        timed=_having(stored.timed, planned.timed, planned),
        code={**stored.code, **planned.code},
    )


def _having(old: tuple[str, ...], new: tuple[str, ...], planned: RunHeader) -> tuple[str, ...]:
    """Return the players with a trait, by the planned run if it has the player, else by the old."""
    kept = (name for name in old if name in new or name not in planned.players)
    return _joined(tuple(kept), new)


def _joined(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(old + new))


def _differing(stored: RunHeader, planned: RunHeader, games: Pairings) -> Iterator[str]:
    """Yield the fields of the headers that must agree but differ, with both values."""
    alone = {"people", "placement"}  # kinds whose runs have no other games
    if stored.kind != planned.kind and not alone.isdisjoint((stored.kind, planned.kind)):
        yield f"kind {stored.kind!r}, not {planned.kind!r}"
        return
    for name in ("c4env", "seed", "movetime", "margin", "sprt"):
        before, now = getattr(stored, name), getattr(planned, name)
        if before != now:
            yield f"{name} {_shown(before)}, not {_shown(now)}"
    old, new = {*stored.openings}, {*planned.openings}
    if same := _same_position((*stored.openings, *planned.openings)):
        yield f"opening {same[0]}, not {same[1]}, which reaches the same position"
    elif not (old <= new or new <= old or stored.sprt):
        yield f"openings, {len(old - new)} of whose {len(old)} this run lacks"
    if stored.sprt and stored.players.keys() != planned.players.keys():
        yield f"players {' and '.join(stored.players)}, not {' and '.join(planned.players)}"
    played = {player for pair in games for player in pair}
    for name in planned.players:
        if name not in played or name not in stored.players:
            continue
        if (spec := stored.players[name]) != planned.players[name]:
            yield f"player {name} {spec}, not {planned.players[name]}"
            continue
        before, now = stored.code.get(name, {}), planned.code.get(name, {})
        if "" in (before.get("version"), now.get("version")):
            yield f"player {name}, a Python object without an attribute version, may be another one"
        elif keys := [key for key in sorted({*before, *now}) if before.get(key) != now.get(key)]:
            yield f"{' and '.join(keys)} of player {name} {spec}"


def _same_position(openings: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two openings that reach one position in two orders of moves, or None."""
    found: dict[Position, str] = {}
    for moves in openings:
        before = found.setdefault(Position.parse(moves), moves)
        if before != moves:
            return before, moves
    return None


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, SprtPlan) else str(value)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
