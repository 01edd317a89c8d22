"""Two runs side by side: what a change was worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.errors import InvalidRun
from evaluation.store.record import GameRecord
from evaluation.strength.ratings import Rating, Tally, rate_tally
from evaluation.tables import Shown, Table, plural, signed

Run = tuple[Mapping[str, Any], Sequence[GameRecord]]
"""Header and games of a run directory."""


def compare(before: Run, after: Run) -> Table:
    """Elo of the agents of two runs, and their games that both have, one by one.

    Elo is relative to the mean of the agents in both runs.

    Raises:
        InvalidRun: no agent is in both.
    """
    names = [_players(run) for run in (before, after)]
    common = [name for name in names[0] if name in names[1]]
    if not common:
        raise InvalidRun(f"no agent is in both runs: {', '.join(names[0])}; {', '.join(names[1])}")
    rated = [
        _rate(run, players, common) for run, players in zip((before, after), names, strict=True)
    ]
    pairs = _pairs(before[1], after[1])
    spread = [Shown(f"95 % {when}", "95 %") for when in ("before", "after")]
    rows: list[list[Any]] = [["agent", "before", spread[0], "after", spread[1], "change"]]
    rows[0] += ["better", "worse"]
    order = sorted(common, key=lambda name: -rated[1][name].elo)
    for name in order:
        old, new = (ratings[name] for ratings in rated)
        gains = [_points(b, name) - _points(a, name) for a, b in pairs if name in a.players]
        cells: list[Any] = [name]
        for r in (old, new):
            cells += [_elo(r.elo), f"{signed(r.low)} .. {signed(r.high)}"]
        cells += [_elo(new.elo - old.elo), sum(g > 0 for g in gains), sum(g < 0 for g in gains)]
        rows.append(cells)
    changed = sum(a.moves != b.moves for a, b in pairs)
    notes = [f"{plural(len(pairs), 'game')} in both runs; {changed} went another way."]
    for players, run in zip(names, ("before", "after"), strict=True):
        if alone := [name for name in players if name not in common]:
            notes.append(f"Only {run}: {', '.join(alone)}.")
    return Table(rows, notes=tuple(notes))


def _players(run: Run) -> list[str]:
    header, games = run
    return list(dict.fromkeys([*header.get("players", ()), *(p for g in games for p in g.players)]))


def _rate(run: Run, players: Sequence[str], common: Sequence[str]) -> dict[str, Rating]:
    header, games = run
    known = header.get("deterministic", ())
    return {r.player: r for r in rate_tally(Tally.of(games, players), known, centre=common)}


def _pairs(
    before: Sequence[GameRecord], after: Sequence[GameRecord]
) -> list[tuple[GameRecord, GameRecord]]:
    old = {game.key: game for game in before}
    return [(old[game.key], game) for game in after if game.key in old]


def _points(game: GameRecord, player: str) -> float:
    return game.points[game.players.index(player)]


def _elo(value: float) -> Shown:
    return Shown(value, signed(value))
