"""Runs that grow: what a run directory takes on besides its games, and in words why not."""

from __future__ import annotations

__any_board__ = True

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from c4env.evaluation.errors import UnreadableRun
from c4env.evaluation.plan.identity import identity_in
from c4env.evaluation.tables import plural

Header = Mapping[str, Any]
Pairings = Sequence[tuple[str, str]]

_SAID_ELSEWHERE: Final = (
    "players", "openings", "deterministic", "timed", "challengers", "code", "movetime", "margin",
)  # fmt: skip


def grown(folder: Path, there: Header, asked: Header, games: Pairings) -> dict[str, Any]:
    """The header of a run directory that holds games, when more is to be played there.

    Agents and openings are added to those that are there, and none is taken away; openings that
    hold only some of those there besides others would make one run of two. A gauntlet
    whose challengers and field mix becomes a run of all against all. A match with a sequential
    test takes on openings only. A directory without a game takes on anything.

    Args:
        folder: the directory, for messages.
        there: its header.
        asked: the header of what is to be played.
        games: first and second player of each game that is there.

    Raises:
        UnreadableRun: games that are there could not be compared with those asked for.
    """
    if there == asked or not games:
        return dict(asked)
    if faults := list(_faults(there, asked, games)):
        raise UnreadableRun(
            f"{folder} holds another run: {'; '.join(faults)}; name another directory"
        )
    header = {**there, **asked}
    runs = (there, asked)
    for key in [key for key, value in header.items() if isinstance(value, Mapping)]:
        header[key] = {**there.get(key, {}), **asked.get(key, {})}
    for key in ("openings", "challengers", "deterministic", "timed"):
        if key in header:
            header[key] = list(dict.fromkeys(value for run in runs for value in run.get(key, ())))
    gauntlets = all("challengers" in run for run in runs)
    met = {
        name for run in runs for name in run["players"] if name not in run.get("challengers", ())
    }
    if not gauntlets or met & {*header["challengers"]}:
        header.pop("challengers", None)
    return header


def _faults(there: Header, asked: Header, games: Pairings) -> Iterator[str]:
    """In words: why games that are there and games that are asked for cannot be compared."""
    its = f"its {plural(len(games), 'game')} {'was' if len(games) == 1 else 'were'} played"
    if ("players" in there) != ("players" in asked):
        yield f"{its} by {'agents' if 'players' in there else 'people'}"
        return
    for key in sorted({*there, *asked} - {*_SAID_ELSEWHERE}):
        old, new = there.get(key), asked.get(key)
        if isinstance(old or new, Mapping):
            old, new = old or {}, new or {}
            yield from (
                f"{key} of {name} has changed since"
                for name in old
                if name in new and old[name] != new[name]
            )
        elif old != new and key == "sprt":
            yield f"it has {_test(old)}, and {_test(new)} was asked for"
        elif old != new and key == "c4env":
            yield f"{its} by c4env {old}, and this is {new}"
        elif old != new:
            yield f"{its} with {key} {old}, and {new} was asked for"
    if (limit := _limit(there)) != _limit(asked):
        yield f"{its} with {limit}, and {_limit(asked)} was asked for"
    old, new = ({*run.get("openings", ())} for run in (there, asked))
    if not (old <= new or new <= old or "sprt" in there):
        yield (
            f"{its} from {plural(len(old), 'opening')}, of which the {len(new)} asked for leave "
            f"out {len(old - new)}: expected all of them and more, or some of them alone"
        )
    if "sprt" in there and there["players"].keys() != asked["players"].keys():
        yield f"it is a match of {' and '.join(there['players'])}: only openings may join it"
    if "players" in there:
        yield from _other_players(there, asked, games)


def _limit(header: Header) -> str:
    if "movetime" not in header:
        return "no limit on the time of a move"
    return f"{header['movetime']:g} s a move and a margin of {header['margin']:g} s"


def _test(values: Sequence[Any] | None) -> str:
    if values is None:
        return "no sequential test"
    low, high, alpha, beta, *on = values
    unit = "points given away" if on else "Elo"
    return f"a sequential test of {low:g},{high:g} {unit} with errors {alpha:g} and {beta:g}"


def _other_players(there: Header, asked: Header, games: Pairings) -> Iterator[str]:
    """In words: agents that are not those of the games there, though they have their names."""

    def played(names: set[str]) -> str:
        count = sum(not names.isdisjoint(pair) for pair in games)
        return f"{plural(count, 'game')} {'was' if count == 1 else 'were'} played" if count else ""

    players = there["players"]
    for name, spec in asked["players"].items():
        if players.get(name, spec) != spec and (its := played({name})):
            yield f"{name} is {spec}, and {its} with {players[name]} of that name"
    changed: dict[tuple[str, str | None, str | None], set[str]] = {}
    for name in players.keys() & asked["players"].keys():
        old, new = (identity_in(header, name) for header in (there, asked))
        for key in {*old, *new}:
            if old.get(key) != new.get(key):
                changed.setdefault((key, old.get(key), new.get(key)), set()).add(name)
    for (key, before, now), users in sorted(changed.items(), key=str):
        if not (its := played(users)):
            continue
        if players.get(key, "").startswith("<"):
            yield (
                f"{key} is an object, and {its} with other code or other values in it: it was "
                "edited, made with others, or changes them while it plays (give a new one, or "
                "an import path)"
            )
        elif before and now:
            yield f"{key} was edited since; {its} with the old one"
        else:
            yield f"{key} {'is new' if now else 'is gone'}; {its} before"
