"""A match of two, and the sequential test that may stop it."""

import re
from dataclasses import replace

import pytest

from c4env import agents
from c4env.errors import InvalidOption
from c4env.evaluation.ratings.sprt import Sprt
from c4env.evaluation.records.run_folder import read_folder
from c4env.evaluation.results.match import Match, play_match

FIELD = ["minimax:depth=2", "random"]
SURE = Sprt(0, 300)


def test_without_a_test_every_opening_is_played():
    match = play_match(*FIELD, openings=1, seed=2)
    assert len(match.games) == 8
    assert sum(match.pentanomial) == len(match.openings) == 4
    points = sum(kind * count / 2 for kind, count in enumerate(match.pentanomial))
    total = match.table.total(FIELD[0])
    assert points == total.wins + total.draws / 2
    assert match.decision is None
    assert f"wins: {total.wins}" in str(match.lines)
    assert "H1" not in str(match.lines)
    lost, won = sum(match.pentanomial[:2]), sum(match.pentanomial[3:])
    assert match.pairs_ratio == (won / lost if lost else None)


def test_the_test_stops_the_match_at_the_deciding_pair(tmp_path):
    match = play_match(*FIELD, openings=3, sprt=SURE, out=tmp_path)
    assert match.decision == "H1"
    assert len(match.games) == 2 * sum(match.pentanomial) < 242
    assert read_folder(tmp_path)[1] == list(match.games)
    last = [game.points[game.players.index(FIELD[0])] for game in match.games[-2:]]
    before = list(match.pentanomial)
    before[round(2 * sum(last))] -= 1
    assert SURE.decide(before) is None
    assert str(match.lines).splitlines()[1].endswith(", H0: 0, H1: 300, accepted: H1")


@pytest.mark.compiled
def test_the_decision_is_the_same_for_any_number_of_jobs():
    one, two = (play_match(*FIELD, openings=3, sprt=SURE, seed=5, jobs=jobs) for jobs in (1, 2))
    assert (two.digest, str(two.lines)) == (one.digest, str(one.lines))


def test_openings_that_run_out_leave_it_undecided():
    match = play_match(*FIELD, openings=0, sprt="0,5")
    assert match.sprt == Sprt(0, 5)
    for wrong in ("0;5", (0, 5)):
        with pytest.raises(
            InvalidOption, match=f"sprt.*{re.escape(repr(wrong))}: expected .*0, ?40"
        ):
            play_match(*FIELD, openings=0, sprt=wrong)
    assert match.decision is None
    assert "accepted" not in str(match.lines)
    half = Match.of(replace(match.header, openings=("1", "2")), [])
    assert (half.llr.value, half.total.games, half.score.value) == (0, 0, 0.5)


def test_the_sides_of_a_match_are_two_agents():
    for one, other, words in (
        ("greedy", "greedy", "'greedy' is given twice"),
        (["greedy", "random"], "random", r"2 agents on a side: expected play_match\(one, other\)"),
        ("greedy", [], "0 agents on a side"),
    ):
        with pytest.raises(InvalidOption, match=words):
            play_match(one, other, openings=0)
    named = play_match({"it": agents.make("greedy")}, "other=random", openings=0)
    assert named.players == ("it", "other")
