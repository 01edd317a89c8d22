"""The sentences of a run's report, and the command that repeats the run."""

from __future__ import annotations

import shlex
from typing import Final

from c4env.evaluation.rating.interval import Interval
from c4env.evaluation.rating.sprt import Sprt, states
from c4env.evaluation.tables import plural, signed

from ..games.tournament import Tournament
from ..plan.header import RunHeader
from ..plan.openings import choose_openings
from ..rating.ratings import Ratings
from ..rating.tally import all_openings
from ..studies.match import Match

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
