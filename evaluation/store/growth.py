"""Decide whether a run directory accepts more games, and explain why it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from c4env.errors import UnreadableRun
from c4env.evaluation.tables import plural

from ..plan.header import RunHeader, SprtPlan
from ..plan.identity import UNKNOWN

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
    if there == asked or not games:
        return asked
    if faults := list(_faults(there, asked, games)):
        raise UnreadableRun(
            f"{folder} holds another run: {'; '.join(faults)}; name another directory"
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


def _faults(there: RunHeader, asked: RunHeader, games: Pairings) -> Iterator[str]:
    """Yield reasons why the stored games and the games to play cannot be compared."""
    its = f"its {plural(len(games), 'game')} {'was' if len(games) == 1 else 'were'} played"
    if (there.kind == "people") != (asked.kind == "people"):
        yield f"{its} by {'people' if there.kind == 'people' else 'agents'}"
        return
    for name in ("c4env", "seed", "movetime", "margin", "sprt"):
        before, now = getattr(there, name), getattr(asked, name)
        if before != now:
            yield f"{its} with {name} {_shown(before)}, not {_shown(now)}"
    for name in there.prompts:
        if name in asked.prompts and there.prompts[name] != asked.prompts[name]:
            yield f"the prompt of {name} has changed since then"
    old, new = {*there.openings}, {*asked.openings}
    if not (old <= new or new <= old or there.sprt):
        yield (
            f"{its} from {plural(len(old), 'opening')}, and this run lacks "
            f"{len(old - new)} of these openings: each number of plies needs its own directory"
        )
    if there.sprt and there.players.keys() != asked.players.keys():
        yield f"a match of {' and '.join(there.players)}, which accepts only new openings"
    yield from _other_players(there, asked, games)


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, SprtPlan) else str(value)


def _other_players(there: RunHeader, asked: RunHeader, games: Pairings) -> Iterator[str]:
    """Yield a reason for each player that differs from the stored player of the same name."""
    for name, spec in asked.players.items():
        count = sum(name in pair for pair in games)
        if not count or name not in there.players:
            continue
        its = f"its {plural(count, 'game')} {'was' if count == 1 else 'were'} played"
        if (stored := there.players[name]) != spec:
            yield f"{name} is {spec}, and {its} with {stored}"
            continue
        old, new = there.code.get(name, {}), asked.code.get(name, {})
        unknown = [text for text in (*new.values(), *old.values()) if text.startswith(UNKNOWN)]
        if unknown:
            yield f"{name}: {unknown[0]} whether {its} with this object"
        elif spec.startswith("<") and old != new:
            yield (
                f"{name}: {its} with other code or values in the object; give a new object if it "
                "changes during play"
            )
        elif old != new:
            changed = [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]
            words = [f"{key} {_fate(key in old, key in new)}" for key in changed]
            yield f"{name}: {', '.join(words)} since {its}"


def _fate(before: bool, now: bool) -> str:
    return "was edited" if before and now else "is new" if now else "is missing"
