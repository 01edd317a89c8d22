"""Compare strength with cost for many settings of an agent."""

from __future__ import annotations

__any_board__ = True

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack

from c4env.agents.registry.registry import split_spec
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.games.settings import SettingsByName
from c4env.evaluation.games.tournament import Tournament, gauntlet, round_robin
from c4env.evaluation.plan.field import split_name
from c4env.evaluation.plan.openings import Openings
from c4env.evaluation.plan.patterns import expand
from c4env.evaluation.rating.costs import costs
from c4env.evaluation.store.files import write_file
from c4env.evaluation.tables import Rows, Tables, plural, rounded, signed

SWEEP_FILE: Final = "sweep.json"
FORMAT: Final = "c4env sweep 1"
AGENT: Final = "agent"
"""The key of an agent's name among its options."""


class Point(NamedTuple):
    """The strength and the cost of one agent in a sweep."""

    spec: str
    options: dict[str, str]  # options that differ within the sweep, with AGENT, the axis last
    series: str  # the options without the axis, such as "heuristic=chain"; may be empty
    x: int | None  # value on the axis, if there is an axis
    score: float  # points per game, 0..1
    elo: float
    low: float  # 95 % interval of the Elo
    high: float
    games: int
    moves: int
    nodes: float  # mean nodes per move
    seconds: float  # seconds per move in the median game; they differ from run to run


@dataclass(frozen=True)
class Sweep(Tables):
    """The result of a sweep.

    Attributes:
        axis: the option with whole numbers that is the x axis of a plot; None if there is none.
        points: a point for each agent, grouped by the other options and ordered along the axis.
        against: specs of the opponents; empty if the agents played each other.
        result: the games, with the win table and the ratings.
    """

    axis: str | None
    points: tuple[Point, ...]
    against: tuple[str, ...]
    result: Tournament

    def tables(self) -> list[list[list[str]]]:
        """Return a table with a row for each point."""
        varied = list(self.points[0].options)
        spread = "spread" if self.result.ratings.exact else "95 %"
        heading = [*(varied or [AGENT]), "score", "Elo", spread, "games"]
        rows = [[*heading, "nodes a move", "ms a move"]]
        for p in self.points:
            rows.append([*(p.options.values() if varied else [p.spec])])
            rows[-1] += [rounded(p.score, ".1%"), signed(p.elo)]
            rows[-1] += [f"{signed(p.low)} to {signed(p.high)}"]
            rows[-1] += [str(p.games), f"{p.nodes:,.0f}", f"{1e3 * p.seconds:.3f}"]
        return [rows]

    def summary(self) -> str:
        """Return notes on opponents, games and times."""
        whom = f"against {', '.join(self.against)}" if self.against else "against each other"
        lines = [
            f"{plural(len(self.points), 'agent')} {whom}: {plural(len(self.result.games), 'game')} "
            f"over {plural(len(self.result.openings), 'opening')}. {self.result.ratings.basis()}",
            "Times are those of the median game, on this machine.",
            *self.result.ratings.caution(),
            *self.result.notes,
            *self.result.table.reasons_of_forfeits(),
        ]
        return "\n".join(lines)

    def records(self) -> Rows:
        """Return a heading and a row of values for each point."""
        # Build rows, not records by name: an option may be called ``nodes``.
        numbers = ("score", "elo", "low", "high", "games", "moves", "nodes", "seconds")
        lines: list[list[Any]] = [["spec", *self.points[0].options, *numbers]]
        for p in self.points:
            lines.append([p.spec, *p.options.values(), *(getattr(p, name) for name in numbers)])
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return the sweep as plain Python objects, for a plot."""
        return {
            "format": FORMAT,
            "axis": self.axis,
            "against": self.against,
            "openings": len(self.result.openings),
            "digest": self.result.digest,
            "points": [p._asdict() for p in self.points],
        }


def sweep(
    patterns: str | Iterable[str],
    against: Sequence[str] = (),
    openings: Openings = 3,
    **settings: Unpack[SettingsByName],
) -> Sweep:
    """Play all agents that the patterns name, and measure their strength and cost.

    Args:
        patterns: patterns such as ``"alphabeta:depth=1..8,heuristic={chain,window}"``
            (:func:`c4env.evaluation.plan.patterns.expand`).
        against: specs of the opponents; if empty, the agents play each other.
        openings: as in :func:`evaluation.round_robin`.
        settings: ``seed``, ``jobs``, ``out``, ...: see
            :class:`c4env.evaluation.games.settings.Settings`. The function also writes the points
            to ``sweep.json`` in ``out``.

    Returns:
        the strength and cost of each agent, and the games.

    Raises:
        InvalidRun: a pattern is malformed, or an agent occurs twice.
        UnwritableRun: ``out`` cannot be written; games already in ``out`` are not lost.
        UnreadableRun, FileInUse, UnknownAgent, ...: as in :func:`evaluation.round_robin`.
    """
    given = [patterns] if isinstance(patterns, str) else list(patterns)
    agents = [agent for pattern in given for agent in _expanded(pattern)]
    if against:
        result = gauntlet(agents, against, openings, **settings)
    else:
        result = round_robin(agents, openings, **settings)
    named = dict(map(split_name, agents))
    options, axis = _varied(named)
    ratings = {rating.player: rating for rating in result.ratings}
    spent = costs(result.games)
    points = []
    for name, differing in options.items():
        rating, cost = ratings[name], spent[name]
        others = ", ".join(f"{key}={value}" for key, value in differing.items() if key != axis)
        x = int(differing[axis]) if axis else None
        strength = rating.score, rating.elo, rating.low, rating.high, rating.games
        # Take the median, since the first game loads the code.
        seconds = statistics.median(cost.by_game or [0.0])
        spent_on = cost.moves, cost.nodes_a_move, seconds
        points.append(Point(named[name], differing, others, x, *strength, *spent_on))
    series = list(dict.fromkeys(p.series for p in points))
    points.sort(key=lambda p: (series.index(p.series), p.x or 0))
    found = Sweep(axis, tuple(points), tuple(against), result)
    if (out := settings.get("out")) is not None:
        write_file(Path(out) / SWEEP_FILE, found.json() + "\n")
    return found


def _expanded(pattern: str) -> list[str]:
    """Return the specs of a pattern; a pattern ``name=...`` must expand to one spec.

    Raises:
        InvalidRun: the pattern has a name but expands to several specs.
    """
    name, spec = split_name(pattern)
    found = expand(spec)
    if name == pattern:
        return found
    if len(found) > 1:
        raise InvalidRun(f"{pattern!r}: {name!r} names {len(found)} agents: expected one agent")
    return [f"{name}={found[0]}"]


def _varied(named: Mapping[str, str]) -> tuple[dict[str, dict[str, str]], str | None]:
    """Return each agent's options that differ between agents, and the option for a plot's x axis.

    The x axis is the first of these options whose values are all whole numbers, or None. In each
    agent's options, the option of the x axis comes last.
    """
    parts = {}
    for name, spec in named.items():
        agent, options = split_spec(spec)
        parts[name] = {AGENT: agent if name == spec else name, **options}
    keys = list(dict.fromkeys(key for options in parts.values() for key in options))
    # An omitted option differs from an explicit default, because a spec is a name.
    values = {key: [options.get(key, "") for options in parts.values()] for key in keys}
    differing = [key for key in keys if len(set(values[key])) > 1]
    axis = next((key for key in differing if all(v.isdecimal() for v in values[key])), None)
    differing.sort(key=lambda key: key == axis)
    return {
        name: {key: options.get(key, "") for key in differing} for name, options in parts.items()
    }, axis
