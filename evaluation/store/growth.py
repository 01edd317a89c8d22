"""Decide whether a run directory accepts more games, and explain why it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from c4env.errors import UnreadableRun

from ..plan.header import RunHeader, SprtPlan

Pairings = Sequence[tuple[str, str]]


def grown(folder: Path, there: RunHeader, asked: RunHeader, games: Pairings) -> RunHeader:
    """Return the header of a run directory to which a new run is added.

    The header has the agents and openings of both runs. The openings of one run must include all
    openings of the other run. The kind becomes round robin if the kinds differ, or if a challenger
    of one gauntlet is an opponent in the other. A match with a sequential test accepts any new
    openings but no new agents. A directory without games accepts any run.

    Args:
        folder: the directory; error messages quote this path.
        there: the header in the directory.
        asked: the header of the run to play.
        games: the first and the second player of each game in the directory.

    Raises:
        UnreadableRun: the games in the directory and the games to play cannot be compared.
    """
    if not games:
        return asked
    if differing := list(_differing(there, asked, games)):
        raise UnreadableRun(
            f"{folder} holds another run; these fields differ: {'; '.join(differing)}; "
            "name another directory"
        )
    players = {**there.players, **asked.players}
    kind, challengers = asked.kind, _joined(there.challengers, asked.challengers)
    met = {name for run in (there, asked) for name in run.players if name not in run.challengers}
    mixed = kind == "gauntlet" and not met.isdisjoint(challengers)
    if there.kind != kind or mixed or (kind == "match" and len(players) > 2):
        kind, challengers = "round robin", ()
    return replace(
        asked,
        kind=kind,
        players=players,
        challengers=challengers,
        openings=_joined(there.openings, asked.openings),
        deterministic=_joined(there.deterministic, asked.deterministic),
        timed=_joined(there.timed, asked.timed),
        code={**there.code, **asked.code},
        prompts={**there.prompts, **asked.prompts},
    )


def _joined(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(old + new))


def _differing(there: RunHeader, asked: RunHeader, games: Pairings) -> Iterator[str]:
    """Yield the fields of the headers that must agree and do not, with both values."""
    if (there.kind == "people") != (asked.kind == "people"):
        yield f"kind {there.kind!r}, not {asked.kind!r}"
        return
    for name in ("c4env", "seed", "movetime", "margin", "sprt"):
        before, now = getattr(there, name), getattr(asked, name)
        if before != now:
            yield f"{name} {_shown(before)}, not {_shown(now)}"
    old, new = {*there.openings}, {*asked.openings}
    if not (old <= new or new <= old or there.sprt):
        yield f"openings, {len(old - new)} of whose {len(old)} this run lacks"
    if there.sprt and there.players.keys() != asked.players.keys():
        yield f"players {' and '.join(there.players)}, not {' and '.join(asked.players)}"
    played = {player for pair in games for player in pair}
    for name in asked.players:
        if name not in played or name not in there.players:
            continue
        if (spec := there.players[name]) != asked.players[name]:
            yield f"player {name} {spec}, not {asked.players[name]}"
            continue
        if there.prompts.get(name) != asked.prompts.get(name):
            yield f"prompt of {name}"
        before, now = there.code.get(name, {}), asked.code.get(name, {})
        if "" in (before.get("version"), now.get("version")):
            yield f"player {name}, a Python object without an attribute version, may be another one"
        elif keys := [key for key in sorted({*before, *now}) if before.get(key) != now.get(key)]:
            yield f"code of {name} ({', '.join(keys)})"


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, SprtPlan) else str(value)
