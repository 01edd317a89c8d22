"""Short names for figures, which show what differs between agents.

The sentences of a run's report, and the command that repeats the run.

The result of a run for ``--format``: a sentence, the tables and notes.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from c4env.evaluation.rating.fit import Interval
from c4env.evaluation.rating.sprt import Sprt, score_of, states
from c4env.evaluation.tables import Column, Result, Table, plural, signed, width

from ..games.run import choose_openings
from ..games.tournament import Tournament
from ..rating.ratings import Rating, Ratings, milliseconds, rate
from ..rating.tally import Cell, Tally, WinTable, all_openings
from ..store.header import RunHeader
from ..store.run_files import GameRecord
from ..studies.match import Match

if TYPE_CHECKING:
    from .models import Models


LABEL: Final = 28
"""The greatest width of a label, in characters."""
_PARTS: Final = re.compile(r"[^:,/ ]*[:,/ ]|[^:,/ ]+")
_KEY: Final = re.compile(r"\b\w+=")


def labels(names: Iterable[str], columns: int = LABEL) -> dict[str, str]:
    """Return a distinct label for each name, at most ``columns`` characters wide.

    A name that fits is its own label. Of longer names with one beginning, such as
    ``alphabeta:``, the label leaves out what all of them share; if the rest is too long, the names
    of options; and if that is too long, the middle, which two dots mark.
    """
    names = list(dict.fromkeys(names))
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_PARTS.findall(name)[0] if name else "", []).append(name)
    shown = {name: name for name in names}
    for group in groups.values():
        if max(map(width, group)) > columns:
            shown.update(zip(group, _short(group, columns), strict=True))
    taken = {name for name in names if shown[name] == name and width(name) <= columns}
    for name in names:
        if name not in taken:
            shown[name] = _distinct(shown[name], taken, columns)
            taken.add(shown[name])
    return shown


def _short(group: Sequence[str], columns: int) -> list[str]:
    """Leave out what the names share, then keys; cut the middle of what is still too long."""
    forms: list[Callable[[str], str]] = [lambda name: name, lambda name: _KEY.sub("", name)]
    rests = _differing(group)
    for form in forms:
        short = [form(rest) or name for rest, name in zip(rests, group, strict=True)]
        if max(map(width, short)) <= columns and len({*short}) == len(short):
            return short
    return [rest or name for rest, name in zip(rests, group, strict=True)]


def _differing(group: Sequence[str]) -> list[str]:
    """Return the names without the parts that all of them have at the beginning and the end."""
    parts = [_PARTS.findall(name) for name in group]
    if len(parts) < 2:
        return list(group)
    start = _shared(parts)
    parts = [part[start:] for part in parts]
    end = _shared([part[::-1] for part in parts])
    return ["".join(part[: len(part) - end]).strip(" ,:/") for part in parts]


def _shared(lists: Sequence[Sequence[str]]) -> int:
    """Return how many first items the lists share."""
    count = 0
    for items in zip(*lists, strict=False):
        if len({item.rstrip(",") for item in items}) > 1:
            break
        count += 1
    return count


def _distinct(text: str, taken: Iterable[str], columns: int) -> str:
    """Return the text, without its middle or with a number if it is too wide or taken."""
    short, number = _without_middle(text, columns), 1
    while short in taken:
        number += 1
        short = _without_middle(text, columns - len(f"~{number}")) + f"~{number}"
    return short


def _without_middle(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while width(head) + width(tail) + 2 > columns and head + tail:
        head, tail = (head[:-1], tail) if width(head) >= width(tail) else (head, tail[1:])
    return f"{head}..{tail}"


_MOST_PLIES: Final = 4  # the longest openings to enumerate, to recognise the openings of a run


def sentence(run: Tournament, ratings: Ratings) -> str:
    """Return the result of a run in a sentence.

    Args:
        run: a run of at least one game.
        ratings: ratings of its agents.
    """
    if isinstance(run, Match) and run.sprt is not None:
        return _of_test(run, run.sprt)
    if len(run.header.challengers) == 1:
        (name,) = run.header.challengers
        (own,) = (r for r in ratings if r.player == name)
        elo = Interval(own.elo, own.low, own.high)
        return (
            f"{name} scores {own.score:.1%} of {plural(own.games, 'game')}, Elo "
            f"{signed(own.elo)} ({_ends(elo)})."
        )
    if len(ratings) < 2:
        return f"{plural(ratings[0].games, 'game')} of {ratings[0].player}."
    if len(ratings.groups) > 1:
        return "The agents form groups that never met, so no place compares them."
    best, second = ratings[0], ratings[1]
    difference = ratings.difference(best.player, second.player)
    level = sum(round(best.elo - r.elo) == 0 for r in ratings) - 1
    if level:
        others = second.player if level == 1 else f"{level} others"
        head = "" if level + 1 == len(ratings) else f" at the head of {len(ratings)} agents"
        return f"{best.player} and {others} are level{head} ({_ends(difference)})."
    field = "stronger of the two" if len(ratings) == 2 else f"strongest of {len(ratings)} agents"
    rivals = _rivals(ratings)
    if not rivals:
        return (
            f"{best.player} is the {field}, {difference.value:.0f} Elo ahead of {second.player} "
            f"({_ends(difference)})."
        )
    rival = rivals[0] if len(rivals) == 1 else f"{len(rivals)} others"
    return (
        f"{best.player} leads {second.player} by {difference.value:.0f} Elo "
        f"({_ends(difference)}), but {rival} may be as strong."
    )


def remarks(run: Tournament, ratings: Ratings) -> list[str]:
    """Return sentences on agents that played alike, on too few openings, and what to play next."""
    found = []
    twins = played_alike(run)
    for *most, last in twins:
        names = f"{', '.join(most)} and {last}"
        said = f"{names} played identical games, as far as their opponents are deterministic"
        if len(ratings) == 2:
            said += (
                ": an exact tie. The interval is that of the fit, which adds one pair of random "
                "games: so few openings do not exclude a difference over others"
            )
        found.append(f"{said}.")
    if isinstance(run, Match) and run.decision is not None:
        found.append("The test stopped the match, which biases Elo and score towards its decision.")
    elif not twins and _rivals(ratings):
        found += [advice] if (advice := _more_openings(run)) else []
    return found


def _rivals(ratings: Ratings) -> list[str]:
    """The agents of the first group that may be as strong as the best agent."""
    if ratings.exact:
        return []
    best, *others = ratings.groups[0]
    return [r.player for r in others if ratings.difference(best.player, r.player).low <= 0]


def _more_openings(run: Tournament) -> str:
    """Return advice on how to play more openings, or ""."""
    lengths = {len(opening) for opening in run.openings}
    if len(lengths) != 1 or max(lengths) >= _MOST_PLIES:
        return ""
    (plies,) = lengths
    whole, count = len(all_openings(plies)), len(run.openings)
    if count < whole and {*run.openings} <= {*all_openings(plies)}:
        return f"For narrower intervals raise --limit {count} (of {whole} openings)."
    more = len(all_openings(plies + 1))
    return f"For narrower intervals use --openings {plies + 1} ({more} openings)."


def played_alike(run: Tournament) -> tuple[tuple[str, ...], ...]:
    """Return the groups of agents that played identical games.

    Counted are the games against each other and against deterministic agents, because the moves of
    other opponents differ from game to game.
    """
    played: dict[str, dict[tuple[int, str, str], str]] = {}
    for game in run.games:
        for seat, player in enumerate(game.players):
            key = seat, game.players[1 - seat], game.opening
            played.setdefault(player, {})[key] = game.moves

    def alike(one: str, other: str) -> bool:
        swap = {name: name for name in run.deterministic} | {one: other, other: one}
        own, others = (
            {key: moves for key, moves in played[name].items() if key[1] in swap}
            for name in (one, other)
        )
        return len(own) == len(others) > 0 and all(
            others.get((seat, swap[against], opening)) == moves
            for (seat, against, opening), moves in own.items()
        )

    groups: list[tuple[str, ...]] = []
    for player in played:
        group = next((group for group in groups if alike(group[0], player)), None)
        if group is None:
            groups.append((player,))
        else:
            groups[groups.index(group)] = (*group, player)
    return tuple(group for group in groups if len(group) > 1)


def command_of(header: RunHeader) -> str | None:
    """Return the ``c4`` command that repeats the run with this header, or None.

    For example, no command repeats a run with a Python object as an agent, or openings from a file.
    """
    players, openings, front = header.players, header.openings, header.challengers
    if not players or not openings or header.seed is None or len(front) > 1:
        return None
    if any(spec.startswith("<") for spec in players.values()):
        return None
    given = {name: spec if spec == name else f"{name}={spec}" for name, spec in players.items()}
    words = ["c4", "match" if header.kind == "match" else "run"]
    words += [given[name] for name in players if name not in front]
    if header.sprt is not None:
        h0, h1, alpha, beta = header.sprt
        words += ["--sprt", f"{h0:g},{h1:g}"]
        for option, rate in (("--alpha", alpha), ("--beta", beta)):
            words += [option, f"{rate:g}"] if rate != 0.05 else []
    plies = len(openings[0])
    whole = choose_openings(plies, header.seed) if plies <= _MOST_PLIES else []
    if whole[: len(openings)] != list(openings):
        return None
    words += ["--only", given[front[0]]] if front else []
    words += ["--openings", str(plies)]
    words += ["--limit", str(len(openings))] if len(openings) < len(whole) else []
    words += ["--seed", str(header.seed)] if header.seed else []
    if header.movetime is not None:
        words += ["--movetime", f"{header.movetime:g}", "--margin", f"{header.margin:g}"]
    return shlex.join(words)


def _of_test(match: Match, test: Sprt) -> str:
    one, other = match.players
    after = f"after {plural(len(match.pairs), 'pair')} of games"
    if match.decision is not None:
        return f"{match.decision} accepted {after}: {one} is {test.known(match.decision, other)}."
    h0, h1 = (states(value, other) for value in (test.h0, test.h1))
    more = "the same command resumes the match"
    if len(match.pairs) == len(match.openings):
        more = "more openings continue the test"
    return f"Undecided {after}: whether {one} is {h1} (H1) or {h0} (H0); {more}."


def _ends(elo: Interval) -> str:
    return f"95 %: {signed(elo.low)} .. {signed(elo.high)}"


@dataclass(frozen=True)
class RunSummary(Result):
    """The result of a run, for printing.

    The main table of a run has a row for each agent, that of a gauntlet a row for each opponent,
    and that of a match one row.

    Attributes:
        run: the run.
        ratings: the ratings; None before the first game.
        models: results of the language models, or None.
    """

    run: Tournament
    ratings: Ratings | None = None
    models: Models | None = None

    @classmethod
    def of(cls, run: Tournament, anchor: tuple[str, float] | None = None) -> RunSummary:
        """Summarise a run; ``anchor`` sets the Elo of an agent."""
        ratings = None
        if run.games:
            ratings = run.ratings if anchor is None else run.rate(anchor)
        return cls(run, ratings)

    @property
    def ranked(self) -> WinTable:
        """The win table with players in the order of the ratings."""
        players = self.run.table.players
        if self.ratings is not None:
            players = tuple(r.player for r in self.ratings)
        return replace(self.run.table, players=players)

    def sentence(self) -> str:
        """Who is stronger, and by how much; above it the forfeits, which decide places."""
        said = "No games yet." if self.ratings is None else sentence(self.run, self.ratings)
        return "\n".join([*self.run.table.reasons_of_forfeits(), said])

    def tables(self) -> Mapping[str, Table]:
        """The main table, the pairings of a field that met, and tables of language models."""
        found: dict[str, Table] = {}
        if self.ratings is None:
            found |= self.ranked.tables()
        elif isinstance(self.run, Match):
            found["match"] = self.run.lines
        elif (met := opponents(self.run, self.ratings)) is not None:
            found["opponents"] = met
        else:
            found["standings"] = standings(self.ratings, self.run.table)
            found |= self.ranked.tables()
        return found if self.models is None else {**found, **self.models.tables()}

    def summary(self) -> str:
        """The first player's advantage, warnings and advice, the games and the digest."""
        table, notes = self.run.table, []
        if self.ratings is not None:
            zero = () if isinstance(self.run, Match) else self.ratings.zero()
            notes = [self.ratings.line(), *zero, *self.ratings.warnings()]
            notes += remarks(self.run, self.ratings)
        return "\n".join([*notes, *table.notes, f"{table.counted()}; digest {self.run.digest}"])

    def facts(self) -> dict[str, Any]:
        """The digest of the games, and the first-move advantage."""
        first = None if self.ratings is None else self.ratings.first_move._asdict()
        return {"digest": self.run.digest, "first_move": first}


def standings(ratings: Ratings, table: WinTable) -> Table:
    """The table of ratings, with a column for each kind of forfeit that occurred."""
    plain = ratings.table()
    forfeits = table.forfeit_columns(lambda rating: rating.player)
    return replace(plain, columns=[*plain.columns, *forfeits])


class Met(NamedTuple):
    """The results of an agent against one opponent."""

    opponent: Rating
    first: Cell  # the games in which the agent moved first, from the agent's view
    second: Cell
    score: Interval  # points per game, 0..1
    better: float  # probability that the agent is stronger, from the games of the two alone


OPPONENTS: Final = (
    Column("opponent", of=lambda met: met.opponent.player),
    Column("Elo", signed, lambda met: met.opponent.elo),
    Column("score", ".1%"),
    Column("first"),
    Column("second"),
    Column("LOS", ".1%", lambda met: met.better),
    Column("nodes", ",.0f", lambda met: met.opponent.nodes),
    Column("ms", milliseconds, lambda met: met.opponent.ms),
)
"""The columns of an agent's results by opponent; nodes and ms are the opponent's."""


def opponents(run: Tournament, ratings: Ratings) -> Table | None:
    """Return the results of the agent that met all others, or None if the run has none."""
    if len(run.header.challengers) != 1:
        return None
    (player,) = run.header.challengers
    games_with = defaultdict[str, list[GameRecord]](list)
    for game in run.games:
        games_with[game.players[game.players[0] == player]].append(game)
    found = []
    for rating in ratings:
        other = rating.player
        if not (games := games_with[other]):
            continue
        alone = rate(Tally.of(games, (player, other)))
        cells = run.table.cell(player, other), ~run.table.cell(other, player)
        ahead = alone.difference(player, other)
        better = alone.superiority(player, other)
        if ratings.exact:
            better = float(np.sign(round(ahead.value, 3)) + 1) / 2
        found.append(Met(rating, *cells, score_of(ahead, sum(cells, Cell()).score), better))
    forfeits = run.table.forfeit_columns(lambda met: met.opponent.player)
    return Table([*OPPONENTS, *forfeits], found)
