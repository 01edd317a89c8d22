import re
from dataclasses import replace

from c4env.evaluation.ratings.ratings import Interval, Rating, Ratings
from c4env.evaluation.ratings.sprt import expected_score
from c4env.evaluation.records.game import GameRecord
from c4env.evaluation.records.header import RunHeader, SprtPlan
from c4env.evaluation.results.match import Match
from c4env.openings import enumerate_openings
from tests.helpers.runs import headline_of, run_of


def ratings_of(*elo, better=0.99, exact=False):
    players = [
        Rating(name, value, value - 30, value + 40, (1, 1 + (better < 0.975)), better, 0.5, 9)
        for name, value in zip("abcdef", elo, strict=False)
    ]
    return Ratings(tuple(players), Interval(0, 0, 0), "openings", 9, exact)


def test_the_sentence_says_who_is_stronger_and_by_how_much():
    for elo, message in (
        (
            [120, 20, -140],
            "a is the strongest of 3 agents, 100 Elo ahead of b (95 % for all pairs: +50 .. +150).",
        ),
        ([50, -50], "a is the stronger of the two, 100 Elo ahead of b (95 %: +50 .. +150)."),
        ([20, -20], "a leads b by 40 Elo (95 %: -10 .. +90), but b may be as strong."),
        (
            [50, 50, -100],
            "a and b are level at the head of 3 agents (95 % for all pairs: -50 .. +50).",
        ),
        ([0, 0, 0], "a and 2 others are level (95 % for all pairs: -50 .. +50)."),
        ([0], "0 games of a."),
    ):
        assert headline_of(run_of([]), ratings_of(*elo)) == message


AB = {"a": "a", "b": "b"}
SOME = tuple(enumerate_openings(3))


def match_of(*pairs, sprt=(), known="", openings=121):
    """A match of a and b: of each pair what a got moving first, then second: 1, = or 0."""
    winners = {"1": (0, 1), "=": (None, None), "0": (1, 0)}
    games = [
        GameRecord((("a", "b"), ("b", "a"))[seat], opening, opening, winners[result][seat], "four")
        for opening, pair in zip(SOME, pairs, strict=False)
        for seat, result in enumerate(pair)
    ]
    test = SprtPlan(*sprt, 0.05, 0.05) if sprt else None
    header = RunHeader(kind="match", players=AB, openings=SOME[:openings], sprt=test)
    return Match.of(replace(header, deterministic=tuple(known)), games)


WEAK = ["10"] * 3 + ["00"] * 22


def test_the_sentence_of_a_match():
    for played, message in (
        (match_of(*WEAK), "b is the stronger of the two, 4"),
        (match_of(*["00"] * 121, sprt=(0, 40)), "H0 accepted after 25 pairs of games: a is not 40"),
        (match_of(*["11"] * 121, sprt=(-20, 20)), "H1 accepted after 26 pairs of games: a is not"),
        (match_of("1", sprt=(0, 40)), "Undecided after 0 pairs of games: whether a is 40 Elo"),
        (match_of("10", "01", sprt=(0, 40)), "the same command resumes the match."),
        (match_of("10", "01", sprt=(0, 40), openings=2), "more openings continue the test."),
        (match_of(*["10"] * 25), "a and b are level ("),
    ):
        assert message in played.headline()
        stopped = "The test stopped the match" in str(played.remarks())
        assert stopped == (played.decision is not None)


def test_advice_knows_the_limit_of_openings():
    for plies, played, message in (
        (3, 9, "For narrower intervals use --openings 3 --limit N, 9 < N <= 121."),
        (2, 25, "For narrower intervals use --openings 3 (121 openings)."),
    ):
        some = tuple(enumerate_openings(plies))[:played]
        games = [
            GameRecord(pair, opening, opening + "1" * seat, number % 2, "four")
            for number, opening in enumerate(some)
            for seat, pair in enumerate((("a", "b"), ("b", "a")))
        ]
        level = run_of(games, players=AB, openings=some)
        assert message in level.remarks()


def test_the_lines_of_a_match_are_those_of_engine_authors():
    lines = str(match_of("11", "1=", "10", "00", sprt=(0, 40)).lines).split("\n")
    assert [line.split(":")[0] for line in lines] == ["Elo", "LLR", "pentanomial", "games"]
    elo = r"Elo: \+\d+ \(-\d+ \.\. \+\d+\)"
    assert re.fullmatch(rf"{elo}, nElo: \+\d+, LOS: \d\d\.\d%", lines[0])
    many = str(match_of("11", *["11", "10", "00"] * 8).lines)
    assert re.match(rf"{elo}, nElo: \+\d+ \(-\d+ \.\. \+\d+\), LOS", many)
    assert re.fullmatch(r"LLR: 0\.\d\d \(-2\.94, 2\.94\), H0: 0, H1: 40", lines[1])
    assert lines[2] == "pentanomial: [1, 0, 1, 1, 1], pairs_ratio: 2.00"
    assert lines[3].startswith("games: 8, wins: 4, draws: 1, losses: 3, points: 4.5, score: 56.3%")


def test_score_and_elo_of_a_match_say_the_same():
    mixed = ["11", "10", "00"] * 9
    for pairs in (["11"], ["10"], ["=="] * 4, ["10"] * 25, mixed, ["00"] * 121, ["1="] * 30):
        match = match_of(*pairs)
        low, high = (expected_score(e) for e in (match.elo.low, match.elo.high))
        assert (min(low, match.score.value), max(high, match.score.value)) == match.score[1:]
        assert match.score.low <= match.score.value <= match.score.high
        assert (match.elo.low > 0) == (match.score.low > 0.5)
