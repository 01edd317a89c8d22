"""The sentences at the top of a run's report, and the command that repeats the run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Final

from c4env.evaluation.tables import plural, rounded, signed

from ..games.tournament import Tournament
from ..plan.header import RunHeader
from ..plan.openings import choose_openings
from ..rating.ratings import Ratings
from ..studies.match import Match

_APART: Final = 40  # the Elo difference of the proposed test
_MOST_PLIES: Final = 4  # the longest openings to enumerate, to recognise the openings of a run


def headline(
    ratings: Ratings, match: Match | None = None, twins: Sequence[Sequence[str]] = ()
) -> list[str]:
    """Return sentences about the strongest agent and its lead; the first sentence is the heading.

    Args:
        ratings: ratings of at least one agent.
        match: the run, if it is a match; a match with a sequential test has its own headline.
        twins: groups of agents that played identical games (:func:`played_alike`).
    """
    if match is not None and match.sprt is not None:
        return [*_of_test(match), *of_twins(twins)]
    if len(ratings) < 2:
        return [f"{plural(ratings[0].games, 'game')} of {ratings[0].player}."]
    best, second = ratings[0], ratings[1]
    group, warnings = ratings.groups[0], ratings.warnings()
    if len(ratings.groups) > 1:
        return ["The agents form groups that never met, so no place compares them.", *warnings]
    gap, better = round(best.elo - second.elo), best.better or 0.0
    field = "of the two" if len(ratings) == 2 else f"of {len(ratings)} agents"
    level = sum(round(best.elo - r.elo) == 0 for r in ratings) - 1
    first_for_sure = best.ranks[1] == 1
    if level:
        others = second.player if level == 1 else f"{level} others"
        first = f"{best.player} and {others} are level"
        first += "." if level + 1 == len(ratings) else f" at the head of {len(ratings)} agents."
    elif first_for_sure:
        who = "stronger" if len(ratings) == 2 else "strongest"
        first = f"{best.player} is the {who} {field}, {gap} Elo ahead of {second.player}."
    else:
        rivals = [r.player for r in group[1:] if r.ranks[0] == 1] or [second.player]
        rival = rivals[0] if len(rivals) == 1 else f"{len(rivals)} others"
        first = f"{best.player} leads by {gap} Elo, but {rival} may be as strong."
    if ratings.exact:
        these = "these openings" if ratings.resampled == "openings" else "this one opening"
        certain = f"Nothing was sampled, so this is certain over {these}."
        return [first, certain, *of_twins(twins)]
    ahead, low, high = map(_elo, ratings.difference(best.player, second.player))
    said = (
        f"The probability that {best.player} is stronger than {second.player} is "
        f"{_percent(better)}. The Elo difference, {ahead}, lies between {low} and {high} with "
        "95 % confidence."
    )
    alike = any({best.player, second.player} <= {*group} for group in twins)
    if not (first_for_sure or warnings or alike):
        warnings = (_proposed(ratings),)
    return [first, said, *of_twins(twins), *warnings]


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


def of_twins(twins: Iterable[Sequence[str]]) -> list[str]:
    """Return a sentence about each group of agents that played identical games."""
    said = "played identical games, as far as their opponents are deterministic."
    return [f"{', '.join(most)} and {last} {said}" for *most, last in twins]


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


def _proposed(ratings: Ratings) -> str:
    """Return a sentence that proposes a match or more openings, to tell which agent is stronger."""
    _, low, high = ratings.difference(ratings[0].player, ratings[1].player)
    if max(high, -low) >= _APART:
        return (
            f"A match of the two, c4 match A B --sprt 0,{_APART}, tests whether one is {_APART} "
            "Elo stronger."
        )
    return "A difference this small needs more openings."


def _of_test(match: Match) -> list[str]:
    test, (one, other), score = match.sprt, match.players, match.score
    assert test is not None
    after = f"after {plural(len(match.pairs), 'pair')} of games"
    said = [test.verdict(match.decision, one, other, after, _minus(match.measured))]
    if match.games:
        said.append(
            f"{one} scored {score.value:.1%} of the points (95 % interval {score.low:.1%} to "
            f"{score.high:.1%})."
        )
    if match.decision is None and match.games:
        said[-1] += f" The Elo difference: {_minus(match.measured)}."
        if len(match.pairs) == len(match.openings):
            said[-1] += f" {test.outlook(match.counts)}"
    if match.decision is not None:
        said[-1] += (
            " The match stopped because of its score, which biases the score towards the verdict."
        )
    return said


def _elo(value: float) -> str:
    return _minus(signed(value))


def _minus(number: str) -> str:
    return number.replace("-", "\N{MINUS SIGN}")


def _percent(chance: float) -> str:
    return "more than 99.9 %" if chance > 0.9995 else rounded(chance, ".1%").replace("%", " %")
