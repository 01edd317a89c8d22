from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from c4env.evaluation.cli import match, run
from c4env.evaluation.cli.options import Parser
from c4env.evaluation.games.tournament import gauntlet as play_gauntlet
from c4env.evaluation.games.tournament import round_robin
from c4env.evaluation.plan.header import RunHeader, SprtPlan
from c4env.evaluation.plan.openings import enumerate_openings
from c4env.evaluation.rating.ratings import Interval, Rating, Ratings
from c4env.evaluation.rating.sprt import Sprt, expected_score
from c4env.evaluation.report.headline import command_of, headline
from c4env.evaluation.store.record import GameRecord
from c4env.evaluation.studies.match import Match, play_match


def ratings_of(*elo: float, better: float = 0.99, exact: bool = False) -> Ratings:
    players = [
        Rating(name, value, value - 30, value + 40, (1, 1 + (better < 0.975)), better, 0.5, 9)
        for name, value in zip("abcdef", elo, strict=False)
    ]
    return Ratings(tuple(players), Interval(0, 0, 0), "openings", 9, exact)


@pytest.mark.parametrize(
    ("ratings", "first"),
    [
        (ratings_of(120, 20, -140), "a is the strongest of 3 agents, 100 Elo ahead of b."),
        (ratings_of(50, -50), "a is the stronger of the two, 100 Elo ahead of b."),
        (ratings_of(20, -20, better=0.7), "a leads by 40 Elo, but b may be as strong."),
        (ratings_of(50, 50, -100), "a and b are level at the head of 3 agents."),
        (ratings_of(0, 0), "a and b are level."),
        (ratings_of(0, 0, 0), "a and 2 others are level."),
        (ratings_of(9, 9, 9, -27), "a and 2 others are level at the head of 4 agents."),
        (ratings_of(0), "9 games of a."),
    ],
)
def test_the_first_sentence_says_who_is_strongest(ratings: Ratings, first: str) -> None:
    assert headline(ratings)[0] == first


def test_how_sure_it_is_stands_below() -> None:
    said = headline(ratings_of(-10, -50, -90, better=0.981))[1]
    assert "a is stronger than b is 98.1 %" in said
    assert "The Elo difference, +40, lies between \N{MINUS SIGN}10 and +90 with" in said
    assert "more than 99.9 %" in headline(ratings_of(50, -50, better=1.0))[1]
    assert "Nothing was sampled" in headline(ratings_of(50, -50, exact=True))[1]


AB = {"a": "a", "b": "b"}
OPENINGS = tuple(f"{a}{b}" for a in range(1, 5) for b in range(1, 5))


def pairs(*winners: str) -> Match:
    """A match of a and b, in which ``winners`` won both games of an opening."""
    games = []
    for opening, winner in zip(OPENINGS, winners, strict=False):
        for players in (("a", "b"), ("b", "a")):
            won = players.index(winner)
            games.append(GameRecord(players, opening, opening, won, "four"))
    test = SprtPlan(0, 200, 0.05, 0.05)
    return Match.of(RunHeader(kind="match", players=AB, openings=OPENINGS, sprt=test), games)


SOME = tuple(enumerate_openings(3))


def match_of(
    *pairs: str, sprt: Sequence[float] = (), known: str = "", openings: int = 121
) -> Match:
    """A match of a and b: of each pair what a got moving first, then second: 1, = or 0."""
    games = [
        GameRecord(
            (("a", "b"), ("b", "a"))[seat],
            opening,
            opening,
            {"1": seat, "=": None, "0": 1 - seat}[result],
            "four",
        )
        for opening, pair in zip(SOME, pairs, strict=False)
        for seat, result in enumerate(pair)
    ]
    test = SprtPlan(*sprt, 0.05, 0.05) if sprt else None
    header = RunHeader(kind="match", players=AB, openings=SOME[:openings], sprt=test)
    return Match.of(replace(header, deterministic=tuple(known)), games)


WEAK = ["10"] * 3 + ["00"] * 22
MINUS = "\N{MINUS SIGN}"


@pytest.mark.parametrize(
    ("match", "said"),
    [
        (match_of(*WEAK), "b is the stronger of the two, 4"),
        (match_of(*WEAK), "The probability that b is stronger than a is more than 99.9 %."),
        (match_of(*WEAK, sprt=(0, 40)), f"a is not 40 Elo stronger than b; measured {MINUS}4"),
        (match_of(*WEAK, sprt=(0, 40)), "a scored 6.0% of the points"),
        (match_of(*["=="] * 121, sprt=(0, 40)), "is not 40 Elo stronger than b; measured 0 ("),
        (match_of(*["=="] * 25), "a and b are level."),
        (match_of(*["00"] * 121, sprt=(-300, 0)), "a is not as strong as b; measured"),
        (match_of("1"), "a leads by 191 Elo, but b may be as strong."),
        (match_of("1"), "1 opening is too few to tell the two apart"),
        (match_of("1", sprt=(0, 40)), "Undecided after 0 pairs of games: whether a is 40 Elo"),
        (match_of("10", "01", sprt=(0, 40)), "The Elo difference: 0 ("),
        (match_of(*["10"] * 25), "a and b are level."),
        (match_of(*["10"] * 25), f"The Elo difference, 0, lies between {MINUS}2"),
        (match_of(*["10"] * 25), "needs more openings."),
        (match_of(*["10"] * 121), "needs more openings."),
        (match_of("11", *["10"] * 24), "--sprt 0,40, tests whether one is 40 Elo stronger."),
        (match_of(*["11"] * 4), "a is the stronger of the two, 382 Elo ahead of b."),
        (match_of(*["11"] * 121), "a is the stronger of the two, 954 Elo"),
        (match_of(*["10"] * 121, known="ab"), "are level. Nothing was sampled"),
        (match_of(*["11"] * 25, sprt=(-20, 20), openings=25), "Fewer than 26 pairs never decide"),
        (match_of(*["11"] * 121, sprt=(-20, 20)), "H1 accepted after 26 pairs of games: a is not"),
        (match_of(*["10"] * 121, sprt=(-20, 20)), "The measured difference is midway between"),
        (match_of("10", "10", "11"), "3 openings are too few to tell the two apart: longer"),
        (match_of(sprt=(0, 40)), "Undecided after 0 pairs of games: whether a is 40 Elo stronger"),
    ],
)
def test_what_is_said_of_a_match(match: Match, said: str) -> None:
    found = " ".join(headline(match.ratings, match))
    assert said in found
    assert ("stopped because" in found) == (match.decision is not None)


@pytest.mark.parametrize(
    "pairs",
    [["11"], ["10"], ["=="] * 4, ["10"] * 25, ["11", "10", "00"] * 9, ["00"] * 121, ["1="] * 30],
)
def test_score_and_elo_of_a_match_say_the_same(pairs: list[str]) -> None:
    match = match_of(*pairs)
    low, high = (expected_score(e) for e in (match.elo.low, match.elo.high))
    assert (min(low, match.score.value), max(high, match.score.value)) == match.score[1:]
    assert match.score.low <= match.score.value <= match.score.high
    assert (match.elo.low > 0) == (match.score.low > 0.5)


def played_again(command: str) -> dict[str, Any]:
    """What a command would play."""
    program, name, *rest = shlex.split(command)
    assert program == "c4"
    parser = Parser(prog=name)
    {"run": run, "match": match}[name].configure(parser)
    return vars(parser.parse_args(rest))


def test_the_command_plays_the_run_again() -> None:
    field = ["greedy", "mine=alphabeta:depth=1,heuristic=chain", "random"]
    found = round_robin(field, openings=2, limit=3, seed=5, jobs=1)
    command = command_of(found.header)
    assert command is not None
    again = played_again(command)
    assert again["agents"] == field
    assert (again["openings"], again["limit"], again["seed"]) == ("2", 3, 5)
    found = play_gauntlet("random", ["greedy", "mine=random"], openings=1, jobs=1, movetime=0.5)
    again = played_again(command_of(found.header) or "")
    assert (again["only"], again["agents"]) == ("random", ["greedy", "mine=random"])
    assert (again["openings"], again["limit"], again["movetime"]) == ("1", None, 0.5)
    match = play_match(["greedy", "random"], openings=1, sprt=Sprt(0, 90, 0.1), jobs=1)
    again = played_again(command_of(match.header) or "")
    assert (again["one"], again["other"], again["sprt"]) == ("greedy", "random", "0,90")
    assert (again["alpha"], again["beta"]) == (0.1, None)
