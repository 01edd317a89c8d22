"""A leaderboard: the stored games of a fixed field of agents, against which newcomers are rated.

    play_leaderboard() -> leaderboard.json -> stored_board() -> place("mine.py:agent", board)

The field plays one round robin. Some agents have default or published settings, others have equal
time per move. A newcomer plays against the field; the new and the stored results together give the
ratings.
"""

from __future__ import annotations

import datetime
import importlib.resources
import itertools
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation.games.field import Player, split_name
from c4env.evaluation.games.tournament import Tournament, gauntlet, round_robin
from c4env.evaluation.rating.ratings import Ratings, rate
from c4env.evaluation.rating.tally import Tally, costs
from c4env.evaluation.store.lines import read_text
from c4env.evaluation.tables import Column, Table, plural
from c4env.geometry import require_standard
from c4env.system import __version__, commit, usable_cores

require_standard(__name__)

FORMAT: Final = "c4env leaderboard 1"
STORED: Final = "leaderboard.json"  # beside this module

OPENING_PLIES: Final = 3  # plies of the openings
FULL_LIMIT: Final = 25  # openings to play, of 121: about an hour on two cores
QUICK_LIMIT: Final = 6  # openings to play with quick
TRIAL_LIMIT: Final = 25  # openings that a newcomer plays

DEFAULT: Final = "default"
PUBLISHED: Final = "published"  # the settings of a published system
EQUAL_TIME: Final = "equal time"

_POINTS: Final = {"1": 1.0, "=": 0.5, "0": 0.0}  # points of the first player; "-": no game


# The field leaves out `minimax`, which plays the moves of `alphabeta-chain` more slowly.
FIELD: Final = {
    "random": DEFAULT,
    "greedy": DEFAULT,
    "alphabeta-chain": PUBLISHED,
    "alphabeta-window": PUBLISHED,
    "alphabeta-window:depth=7": PUBLISHED,
    "alphabeta-window-b": PUBLISHED,
    "rust-port": PUBLISHED,
    "alphabeta:depth=9": DEFAULT,
    "deepening": DEFAULT,
    "mcts": DEFAULT,
    "learned": DEFAULT,
    "puct": DEFAULT,
    "perfect:blunder=0.1": DEFAULT,
    "perfect": DEFAULT,
    "mcts:movetime=0.02": EQUAL_TIME,
    "puct:movetime=0.02": EQUAL_TIME,
    "deepening:movetime=0.02,heuristic=chain": EQUAL_TIME,
    "deepening:movetime=0.02,heuristic=lines": EQUAL_TIME,
    "deepening:movetime=0.02,heuristic=threats": EQUAL_TIME,
    "deepening:movetime=0.02,heuristic=window": EQUAL_TIME,
}
"""The agents of the field, each with the kind of its settings."""


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
            0 for a win, draw or loss of the first player, or - if there was no game.
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
    def of(cls, run: Tournament, settings: Mapping[str, str]) -> Leaderboard:
        """Make a leaderboard from a round robin and the kind of each agent's settings, by spec."""
        results = {g.fixture: "10="[2 if g.winner is None else g.winner] for g in run.games}
        return cls(
            version=__version__,
            commit=commit(),
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            openings=run.openings,
            field={player: settings[player] for player in run.players},
            deterministic=run.deterministic,
            milliseconds={  # to three digits
                player: float(f"{1000 * cost.seconds_a_move:.3g}")
                for player, cost in costs(run.games).items()
            },
            results={
                first: {
                    second: "".join(results.get(((first, second), o), "-") for o in run.openings)
                    for second in run.players
                    if second != first
                }
                for first in run.players
            },
            machine=f"{platform.machine()}, {plural(usable_cores(), 'core')}",
        )

    def format(self) -> str:
        """Return the leaderboard as JSON, the inverse of :meth:`parse`."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n"

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

        ``players`` are further names, which have no games yet.
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


def play_leaderboard(
    field: Mapping[str, str] = FIELD, quick: bool = False, **settings: Any
) -> Leaderboard:
    """Play a round robin of the field, which takes about an hour on two idle cores.

    Args:
        field: "default", "published" or "equal time" for the settings of each agent, by spec.
        quick: whether to play fewer openings; the games then take minutes.
        settings: ``jobs``, ``out``, ``watch``, ...: see
            :class:`c4env.evaluation.games.run.Settings`; the seed stays 0.
    """
    settings["limit"] = QUICK_LIMIT if quick else FULL_LIMIT
    return Leaderboard.of(round_robin(list(field), openings=OPENING_PLIES, **settings), field)


def stored_board(path: Path | None = None) -> Leaderboard:
    """Read the leaderboard in a file, by default the file that comes with the package.

    Raises:
        UnreadableRun: the file cannot be read or is not a leaderboard.

    Example:
        >>> board = stored_board()
        >>> board.field["perfect"], len(board.openings)
        ('default', 25)
    """
    source = path or importlib.resources.files("c4env.evaluation.studies") / STORED
    return Leaderboard.parse(read_text(source), str(source))


class Placement(NamedTuple):
    """The place of a newcomer in a leaderboard."""

    name: str  # the newcomer's name in the ratings
    ratings: Ratings  # ratings of the field and the newcomer; the mean of the field alone is 0
    run: Tournament  # the newcomer's games


def place(
    newcomer: Player,
    board: Leaderboard,
    limit: int = TRIAL_LIMIT,
    against: Sequence[str] = (),
    **settings: Any,
) -> Placement:
    """Rate an agent by new games against the agents of a stored leaderboard.

    Args:
        newcomer: a spec, or a callable on an observation.
        board: the stored leaderboard.
        limit: number of openings to play, from the start of the leaderboard's openings.
        against: agents of the leaderboard that the newcomer meets; empty means all agents.
        settings: ``seed``, ``jobs``, ``out``, ``watch``, ...: see
            :class:`c4env.evaluation.games.run.Settings`.

    Returns:
        the newcomer's name, the ratings of the field and the newcomer, and the games.

    Raises:
        InvalidOption: an opponent is not on the leaderboard.

    Example:
        >>> placement = place("alphabeta:depth=3", stored_board(), limit=1, against=["greedy"])
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
    return Placement(name, ratings, run)
