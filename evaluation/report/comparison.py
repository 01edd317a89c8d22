"""Compare two runs, before and after a change, by the games that both runs contain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from c4env.arrays import Float64s
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.tables import Shown, Table, number, plural, signed

from ..games.tournament import Tournament
from ..plan.header import RunHeader
from ..rating.ratings import Interval, few_openings, scores, strengths
from ..rating.tally import Tally
from ..rating.wintable import WinTable
from ..store.record import FORFEITS, GameRecord


class Change(NamedTuple):
    """A game that both runs contain, with the same players, colours and opening."""

    before: GameRecord
    after: GameRecord

    @property
    def otherwise(self) -> bool:
        """Whether the moves or the points differ."""
        return self.before.moves != self.after.moves or self.result

    @property
    def result(self) -> bool:
        """Whether the points differ."""
        return self.before.points != self.after.points

    def gain(self, player: str) -> float:
        """Return a player's points in the second run's game minus those in the first run's game."""
        seat = self.after.players.index(player)
        return self.after.points[seat] - self.before.points[seat]


def compare(before: Tournament, after: Tournament) -> Table:
    """Compare each agent's score and Elo in the games that both runs contain.

    The table shows the change of each agent's score and Elo, with intervals. The bootstrap draws
    the same openings from both runs. It adds random virtual games to each run, because otherwise
    the interval of one changed game could have no width. If no game of an agent changed, the change
    of its score is 0.
    In each run, Elo has mean 0 over the agents with the same spec and code in both runs.

    Args:
        before: the first run.
        after: the second run.

    Returns:
        a table with a row for each agent.

    Raises:
        InvalidRun: the runs share no game.
    """
    games = shared(before, after)
    players = [*dict.fromkeys(player for game in games for player in game.after.players)]
    same = [name for name in players if not _changed(name, before.header, after.header)] or players
    tallies = [Tally.of(run, players) for run in zip(*games, strict=True)]
    names = tallies[0].players
    centre = [names.index(name) for name in same]
    apart = any(game.otherwise for game in games)
    old, old_drawn = _elo(tallies[0], centre, False)
    new, new_drawn = _elo(tallies[1], centre, apart)
    rows: list[list[Any]] = [["agent", "before", "after", "change", "95 %"]]
    rows[0] += ["Elo", Shown("Elo 95 %", "95 %"), "better", "worse"]
    (was_all, was_drawn_all), (now_all, now_drawn_all) = scores(tallies)
    for i in sorted(range(len(names)), key=lambda i: -new[i]):
        own = [game for game in games if names[i] in game.after.players]
        was, now, was_drawn = float(was_all[i]), float(now_all[i]), was_drawn_all[:, i]
        now_drawn = now_drawn_all[:, i] if any(game.otherwise for game in own) else was_drawn
        rows.append(
            [
                names[i],
                number(was, ".1%"),
                number(now, ".1%"),
                Shown(now - was, _percent(now - was)),
                _interval(now - was, now_drawn - was_drawn, _percent),
                Shown(new[i] - old[i], signed(new[i] - old[i])),
                _interval(new[i] - old[i], (new_drawn - old_drawn)[:, i], signed),
                sum(game.gain(names[i]) > 0 for game in own),
                sum(game.gain(names[i]) < 0 for game in own),
            ]
        )
    told = any(low > 0 or high < 0 for low, high in (row[4].value for row in rows[1:]))
    few = (few_openings(len(tallies[0].openings), "to tell whether that is a change"),)
    reading = _reading(same, players, len(tallies[0].openings))
    notes = *_notes(before, after, games), *reading, *(few if apart and not told else ())
    return Table(rows, notes=tuple(filter(None, notes)))


def changed_games(before: Tournament, after: Tournament) -> Table:
    """List the games in both runs whose result changed, in the order of ``after``.

    Raises:
        InvalidRun: the runs share no game.
    """
    games = shared(before, after)
    rows = [["first", "second", "opening", "before", "after"]]
    for game in games:
        if game.result:
            found = [_result(game.before), _result(game.after)]
            rows.append([*game.after.players, game.after.opening or "-", *found])
    return Table(rows, notes=_notes(before, after, games), left=range(5))


def shared(before: Tournament, after: Tournament) -> list[Change]:
    """Return the games that both runs contain, in the order of ``after``.

    Raises:
        InvalidRun: the runs share no game; the message names the players or openings that differ.
    """
    old = {game.fixture: game for game in before.games}
    found = [Change(old[game.fixture], game) for game in after.games if game.fixture in old]
    if found:
        return found
    fields = [
        dict.fromkeys(p for game in run.games for p in game.players) for run in (before, after)
    ]
    common = [name for name in fields[0] if name in fields[1]]
    if not common:
        said = "; ".join(", ".join(field) or "no games" for field in fields)
        raise InvalidRun(f"no agent played in both runs: {said}")
    pairings = [{game.players for game in run.games} for run in (before, after)]
    if pairings[0].isdisjoint(pairings[1]):
        raise InvalidRun(f"no two agents met in both runs; {', '.join(common)} played in both")
    raise InvalidRun("the runs share agents but no opening: expected some of the same openings")


def _elo(tally: Tally, centre: Sequence[int], apart: bool) -> tuple[Float64s, Float64s]:
    """Return Elo ``[players]`` and bootstrap samples of Elo; players in ``centre`` have mean 0."""
    elo, _, drawn, _ = strengths(tally, apart=apart)
    return elo - elo[centre].mean(), drawn - drawn[:, centre].mean(1, keepdims=True)


def _percent(share: float) -> str:
    number = round(100 * share, 1)
    return f"{number:+.1f}" if number else "0.0"


def _interval(change: float, drawn: Float64s, text: Callable[[float], str]) -> Shown:
    _, low, high = Interval.of(change, drawn)
    return Shown([low, high], f"{text(low)} .. {text(high)}")


def _changed(name: str, before: RunHeader, after: RunHeader) -> bool:
    """Whether an agent's spec or code differs between the runs."""
    old, new = before.players.get(name), after.players.get(name)
    if old != new or not old:
        return old != new
    return before.code.get(name) != after.code.get(name)


def _reading(same: Sequence[str], players: Sequence[str], openings: int) -> tuple[str, str]:
    mean = "all" if len(same) == len(players) else f"{', '.join(same)}, the same in both"
    units = "the openings" if openings > 1 else "the pairs of games of this one opening"
    return (
        f"change: change of the score, in percent. Elo: change relative to the mean of {mean}.",
        f"95 %: intervals of the changes, by resampling {units} of both runs together.",
    )


def _notes(before: Tournament, after: Tournament, games: Sequence[Change]) -> tuple[str, ...]:
    others = sum(game.before.moves != game.after.moves for game in games)
    results = sum(game.result for game in games)
    openings = len({game.after.opening for game in games})
    notes = [
        f"{plural(len(games), 'game')} in both runs, from {plural(openings, 'opening')}: {others} "
        f"with other moves, {results} with another result."
    ]
    for run, when in ((before, "before"), (after, "after")):
        if alone := len(run.games) - len(games):
            notes.append(f"Left out: {plural(alone, 'game')} only in the run {when}.")
    one, two = (set(run.header.players) for run in (before, after))
    if (gone := ", ".join(sorted(one - two))) and (added := ", ".join(sorted(two - one))):
        notes.append(
            f"Agents: {gone} only before; {added} only after. NAME=SPEC gives an agent the same "
            "name in both runs."
        )
    for when, played in zip(("Before", "After"), zip(*games, strict=True), strict=True):
        forfeits = WinTable.of(played).reasons_of_forfeits()
        notes += [f"{when} {forfeit}" for forfeit in forfeits]
    for key in ("seed", "c4env", "movetime"):
        old, new = (getattr(run.header, key) for run in (before, after))
        if old != new:
            old, new = ("not given" if value in (None, "") else value for value in (old, new))
            notes.append(f"Before {key} was {old}, after {new}.")
    return tuple(notes)


def _result(game: GameRecord) -> str:
    """The result of a game in chess notation, with the cause of a forfeit."""
    points = "1/2-1/2" if game.winner is None else ("1-0", "0-1")[game.winner]
    return f"{points} ({game.ending})" if game.ending in FORFEITS else points
