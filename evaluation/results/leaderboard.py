"""A leaderboard: the stored games of a fixed field of agents. The mean Elo of the field is 0.

    leaderboard.json -> stored_board() -> rate(), table()

The field played one round robin. Some agents have default or published settings, others have equal
time per move. ``python -m tests.makers leaderboard`` in a checkout plays the field again.

:func:`place_in_field` plays a newcomer against some agents of the field, always the same agents. To
place an agent by few games, see :mod:`c4env.evaluation.results.placement`.
"""

from __future__ import annotations

import importlib.resources
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation.ratings.ratings import Ratings, rate
from c4env.evaluation.ratings.tally import Tally
from c4env.evaluation.records.jsonl import read_text
from c4env.evaluation.results.round_robin import gauntlet
from c4env.evaluation.results.tournament import Tournament
from c4env.evaluation.runs.players import PlayerLike, split_name
from c4env.evaluation.tables import Column, Table
from c4env.geometry import require_standard

require_standard(__name__)

FORMAT: Final = "c4env leaderboard 1"
STORED: Final = "leaderboard.json"  # beside this module

TRIAL_LIMIT: Final = 25  # openings that a newcomer plays

EQUAL_TIME: Final = "equal time"  # the setting of agents with a clock

_POINTS: Final = {"1": 1.0, "=": 0.5, "0": 0.0}  # points of the first player; "-": no game


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard: the stored results of a field.

    Attributes:
        version: version of the package that played.
        commit: commit of the checkout that played, "" if unknown.
        date: the day on which the games ended, as YYYY-MM-DD.
        openings: move strings in the order of playing.
        field: "default", "published" or "equal time" for the settings of each agent, by spec.
        deterministic: specs of agents that always give the same answer in the same position.
        milliseconds: mean time per move, by spec.
        results: ``results[first][second]`` is a string with a character for each opening: 1, = or
            0 for a win, draw or loss of the first player, and - for a missing game.
        machine: processor and cores of the machine that played, "" if unknown.
    """

    version: str
    commit: str
    date: str
    openings: tuple[str, ...]
    field: dict[str, str]
    deterministic: tuple[str, ...]
    milliseconds: dict[str, float]
    results: dict[str, dict[str, str]]
    machine: str = ""

    @classmethod
    def parse(cls, text: str, where: str = "leaderboard") -> Leaderboard:
        """Parse a leaderboard from JSON."""
        try:
            stored: dict[str, Any] = json.loads(text)
            if stored.pop("format") != FORMAT:
                raise ValueError(f"expected format {FORMAT!r}")
            for name in ("openings", "deterministic"):
                stored[name] = tuple(stored[name])
            board = cls(**stored)
            for first, second in itertools.permutations(board.field, 2):
                results = board.results[first][second]
                if len(results) != len(board.openings) or set(results) - {*_POINTS, "-"}:
                    raise ValueError(f"{first!r} against {second!r}: {results[:40]!r}")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UnreadableRun(f"{where}: not a leaderboard: {error}") from None
        return board

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(len(r) - r.count("-") for row in self.results.values() for r in row.values())

    def tally(self, players: Sequence[str] = ()) -> Tally:
        """Return the points and games by opening and pairing.

        ``players`` are further names, without games yet.
        """
        names = tuple(sorted({*self.field, *players}))
        openings = tuple(sorted(self.openings))
        points = np.zeros((len(openings), len(names), len(names)))
        games = np.zeros_like(points)
        for first, row in self.results.items():
            for second, results in row.items():
                for opening, result in zip(self.openings, results, strict=True):
                    if result != "-":
                        game = openings.index(opening), names.index(first), names.index(second)
                        points[game] = _POINTS[result]
                        games[game] = 1
        return Tally(names, openings, points, games)

    def rate(self) -> Ratings:
        """Rate the field; the mean Elo is 0."""
        return rate(self.tally(), self.deterministic)

    def table(self) -> Table:
        """Return a table of ratings, settings and times per move, the strongest agent first."""
        ratings = self.rate()
        by_name = {c.name: c for c in ratings.table().columns}
        columns = (
            by_name["rank"],
            by_name["agent"],
            Column("setting", of=lambda r: self.field[r.player]),
            by_name["Elo"],
            by_name["score"],
            Column("ms", ".3g", lambda r: self.milliseconds[r.player]),
        )
        return Table(columns, ratings, notes=(self.method_note(ratings),))

    def markdown(self) -> str:
        """Return the table as Markdown, with specs as code."""
        table = self.table()
        code = Column("agent", of=lambda r: f"`{r.player}`")
        columns = [code if c.name == "agent" else c for c in table.columns]
        return replace(table, columns=columns).markdown()

    def method_note(self, ratings: Ratings) -> str:
        """Return a note on the version, date and games of the leaderboard, and on the intervals."""
        plies = sorted({len(opening) for opening in self.openings})
        about = f"c4env {self.version} (commit {self.commit or 'unknown'}), {self.date}"
        machine = self.machine and f", {self.machine}"
        note = (
            f"{about}{machine}: {self.games} games, every pairing over "
            f"{len(self.openings)} openings of {' and '.join(map(str, plies))} plies with both "
            f"colours. The mean of the field is 0. {ratings.method_note()}"
        )
        if EQUAL_TIME in self.field.values():
            note += " Games of agents with a clock do not repeat exactly."
        return note


def stored_board() -> Leaderboard:
    """Read the leaderboard that comes with the package.

    Example:
        >>> board = stored_board()
        >>> board.field["perfect"], len(board.openings)
        ('default', 25)
    """
    source = importlib.resources.files("c4env.evaluation.results") / STORED
    return Leaderboard.parse(read_text(source), str(source))


class InField(NamedTuple):
    """The place of a newcomer in a leaderboard."""

    name: str  # the newcomer's name in the ratings
    ratings: Ratings  # ratings of the field and the newcomer; the mean of the field is 0
    run: Tournament  # the newcomer's games


def place_in_field(
    newcomer: PlayerLike,
    board: Leaderboard,
    limit: int = TRIAL_LIMIT,
    against: Sequence[str] = (),
    **settings: Any,
) -> InField:
    """Rate an agent by new games against the agents of a stored leaderboard.

    Args:
        newcomer: a spec, or a callable on an observation.
        board: the stored leaderboard.
        limit: number of openings to play, from the start of the leaderboard's openings.
        against: agents of the leaderboard that the newcomer meets; empty means all agents.
        settings: ``seed``, ``jobs``, ``out``, ``watch``, ...: see
            :class:`c4env.evaluation.runs.run.Settings`.

    Returns:
        the newcomer's name, the ratings of the field and the newcomer, and the games.

    Raises:
        InvalidOption: an opponent is not on the leaderboard.

    Example:
        >>> board, against = stored_board(), ["greedy"]
        >>> placement = place_in_field("alphabeta:depth=3", board, limit=1, against=against)
        >>> len(placement.run.games)
        2
    """
    if unknown := set(against) - set(board.field):
        raise InvalidOption(
            f"against {', '.join(sorted(unknown))}: expected some of {', '.join(board.field)}"
        )
    name = "newcomer"
    if isinstance(newcomer, str):
        name, newcomer = split_name(newcomer)
    if name in board.field:
        name += " (again)"
    rivals = list(against or board.field)
    run = gauntlet({name: newcomer}, rivals, openings=board.openings, limit=limit, **settings)
    names = [name, *board.field]
    new = Tally.of(run.games, names)
    new = replace(new, by_pairs=len(new.openings) < TRIAL_LIMIT)
    ratings = rate(replace(board.tally(names), beside=new), centre=tuple(board.field))
    return InField(name, ratings, run)
