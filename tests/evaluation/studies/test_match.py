from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from c4env import Position
from c4env.evaluation.__main__ import main
from c4env.evaluation.errors import InvalidRun, UnreadableRun
from c4env.evaluation.exact.judge import Judge, sign
from c4env.evaluation.exact.labelled import random_moves
from c4env.evaluation.exact.quality import Quality
from c4env.evaluation.plan.header import RunHeader, SprtPlan
from c4env.evaluation.rating.loss import LossSprt
from c4env.evaluation.rating.sprt import Sprt
from c4env.evaluation.store.record import GAMES_FILE, GameRecord, read_games
from c4env.evaluation.studies.match import Match, play_match
from c4env.position import format_moves
from tests.helpers.commands import refusal

AB = {"a": "a", "b": "b"}
FIELD = ["minimax:depth=2", "random"]
SURE = Sprt(0, 300)


def test_without_a_test_every_opening_is_played():
    match = play_match(FIELD, openings=1, seed=2)
    assert len(match.games) == 8
    assert sum(match.counts) == len(match.openings) == 4
    points = sum(kind * count / 2 for kind, count in enumerate(match.counts))
    total = match.table.total(FIELD[0])
    assert points == total.wins + total.draws / 2
    assert match.decision is None
    assert f"{total.wins} wins" in match.report()
    assert "H1" not in match.report()


def test_the_test_stops_the_match_at_the_deciding_pair(tmp_path):
    match = play_match(FIELD, openings=3, sprt=SURE, out=tmp_path)
    assert match.decision == "H1"
    assert len(match.games) == 2 * sum(match.counts) < 242
    assert read_games(tmp_path)[1] == list(match.games)
    last = [game.points[game.players.index(FIELD[0])] for game in match.games[-2:]]
    before = list(match.counts)
    before[round(2 * sum(last))] -= 1
    assert SURE.decide(before) is None
    assert "H1 accepted after" in match.report()
    assert "5.0% to accept H1 where H0 is true" in match.report()
    one, other = FIELD
    assert f": {one} is stronger than {other}; measured +" in match.report()


def test_the_agents_the_other_way_round_decide_the_other_way():
    assert play_match(FIELD[::-1], openings=3, sprt=Sprt(-300, 0)).decision == "H0"


@pytest.mark.compiled
def test_the_decision_is_the_same_for_any_number_of_jobs_and_after_interruptions(tmp_path):
    whole = play_match(FIELD, openings=3, sprt=SURE, seed=5)
    assert play_match(FIELD, openings=3, sprt=SURE, seed=5, jobs=2).digest == whole.digest

    def stop(done, total):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(FIELD, openings=3, sprt=SURE, seed=5, out=tmp_path, watch=stop)
    assert 0 < len(read_games(tmp_path)[1]) < len(whole.games)
    with (tmp_path / GAMES_FILE).open("a") as file:
        file.write('{"players":["random","min')
    resumed = play_match(FIELD, openings=3, sprt=SURE, seed=5, out=tmp_path, jobs=2)
    assert resumed.games[7:] != ()
    assert resumed.digest == whole.digest
    again = play_match(FIELD, openings=3, sprt=SURE, seed=5, out=tmp_path)
    assert again.games == resumed.games  # read, not played
    header, games = read_games(tmp_path)
    assert Match.of(header, games).report() == whole.report()
    with pytest.raises(
        UnreadableRun, match=r"with sprt 0,300,0.05,0.05,elo, and 0,100,0.05,0.05,elo was asked"
    ):
        play_match(FIELD, openings=3, sprt=Sprt(0, 100), seed=5, out=tmp_path)


@pytest.fixture(scope="module")
def late():
    """Openings of 22 discs: exact play judges the rest of their games at once."""
    generator = np.random.default_rng(0)
    found = (random_moves(22, generator) for _ in range(400))
    return [format_moves(columns) for columns in found if columns][:120]


@pytest.mark.compiled
def test_a_judged_match_says_what_both_gave_away(late, tmp_path):
    asked = []
    some = late[:12]
    match = play_match(FIELD, some, judged=True, out=tmp_path, on_pair=asked.append)
    assert [pair.tolist() for pair in asked] == [list(pair) for pair in match.pairs]
    with Judge(tmp_path) as judge:  # of the kept scores
        quality = Quality.of_games(match.games, judge)
        for i, player in enumerate(FIELD):
            found = quality.slice(player)
            assert sum(pair[2 + 2 * i] for pair in match.pairs) == found.critical
            assert found.blunders / 2 <= sum(pair[1 + 2 * i] for pair in match.pairs)
            assert sum(pair[1 + 2 * i] for pair in match.pairs) <= found.blunders
    for points, given, _, other, _ in match.pairs:
        assert points - 1 == other - given  # what was lost is what the other won
    assert match.loss.fewer == pytest.approx(match.loss.other - match.loss.one)
    assert "points given away per 100 critical moves: " in match.report()
    assert play_match(FIELD, some).loss is None


@pytest.mark.compiled
def test_a_forfeit_gives_away_what_the_position_was_worth(late):
    with Judge() as judge:
        values = {
            o: sign(max(v for v in judge.scores(Position.parse(o)) if v is not None)) for o in late
        }
        won, lost = (next(o for o in late if values[o] == value) for value in (1, -1))
        games = [
            GameRecord(pair, opening, opening, 1, "exception")
            for opening in (won, lost)
            for pair in (("a", "b"), ("b", "a"))
        ]
        header = RunHeader(kind="match", players=AB, openings=(won, lost))
        match = Match.of(header, games, judge)
    assert match.pairs == ((1, 1, 1, 1, 1), (1, 0, 0, 0, 0))


@pytest.mark.compiled
def test_the_test_on_what_is_given_away_decides_alike_for_any_jobs_and_when_it_goes_on(
    late, tmp_path
):
    test = LossSprt(0, 20)
    whole = play_match(FIELD, late, sprt=test, seed=5)
    assert whole.decision == "H1"
    assert "H1 accepted after" in whole.report()
    assert "is giving away less than random; measured " in whole.report()
    before = test.of_pairs(whole.pairs[:-1]).sum(0)
    assert test.decide(before) is None

    def stop(done, total):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(FIELD, late, sprt=test, seed=5, out=tmp_path, watch=stop)
    resumed = play_match(FIELD, late, sprt=test, seed=5, out=tmp_path, jobs=2, backend="threading")
    assert (resumed.digest, resumed.pairs) == (whole.digest, whole.pairs)
    header, games = read_games(tmp_path)
    with Judge(tmp_path) as judge:
        assert Match.of(header, games, judge).report() == whole.report()
    assert Match.of(header, games).sprt is None  # nobody judges
    with pytest.raises(
        UnreadableRun, match=r"with sprt 0,20,0.05,0.05,loss, and 0,20,0.05,0.05,elo was"
    ):
        play_match(FIELD, late, sprt=Sprt(0, 20), seed=5, out=tmp_path)


@pytest.mark.compiled
def test_the_command_tests_what_is_given_away(late, tmp_path, capsys):
    openings = tmp_path / "openings"
    openings.write_text("\n".join(late))
    arguments = ["match", *FIELD, "--openings", str(openings), "--jobs", "1", "--quiet"]
    arguments += ["--sprt", "0,20", "--sprt-on", "loss", "--out", str(tmp_path)]
    assert main([*arguments, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["match"]
    assert (found["sprt"]["on"], found["sprt"]["loss0"], found["sprt"]["loss1"]) == ("loss", 0, 20)
    assert found["sprt"]["decision"] == "H1"
    assert found["sprt"]["llr"] >= found["sprt"]["bounds"][1]
    rates = [found["loss"][side] for side in ("one", "other")]
    figures = np.array(found["loss"]["by_pair"]).sum(0)
    assert rates == pytest.approx([100 * figures[0] / figures[1], 100 * figures[2] / figures[3]])
    assert main(["report", str(tmp_path)]) == 0
    assert "H1 accepted after" in capsys.readouterr().out


def test_equal_deterministic_agents_are_told_apart_from_a_sample():
    match = play_match({"a": "greedy", "b": "greedy"}, openings=1)
    assert match.ratings.exact
    assert "Exact over this set" in match.report()
    assert match.counts == (0, 0, 4, 0, 0)
    assert match.ratings[0].elo == pytest.approx(0, abs=1e-6)


def test_openings_that_run_out_leave_it_undecided():
    match = play_match(FIELD, openings=0, sprt=Sprt(0, 5))
    assert match.decision is None
    assert "Undecided" in match.report()
    assert "The opening is played" in match.report()
    half = Match.of(replace(match.header, openings=("1", "2")), [])
    assert "the same command goes on" in half.report()
    assert half.report().endswith("against random: no games yet.")
    assert "given away" not in half.report()


def test_an_undecided_test_looks_at_each_pair_once(monkeypatch):
    seen, whole = [], Sprt.of_pairs

    def counted(test, pairs):
        seen.append(len(np.reshape(pairs, (-1, 5))))
        return whole(test, pairs)

    openings = [str(i) for i in range(40)]
    played = [
        GameRecord(pair, opening, "", int(opening) % 2, "four")
        for opening in openings
        for pair in (("a", "b"), ("b", "a"))
    ]
    monkeypatch.setattr(Sprt, "of_pairs", counted)
    test = SprtPlan(0, 5, 0.05, 0.05)
    header = RunHeader(kind="match", players=AB, openings=tuple(openings), sprt=test)
    match = Match.of(header, played)
    assert len(match.pairs) == sum(seen) == 40
    assert match.decision is None


def test_the_score_interval_is_jeffreys():
    games = [
        GameRecord(pair, f"{opening}", "", winner, "four")
        for opening in range(50)
        for pair, winner in ((("a", "b"), 0), (("b", "a"), 1))
    ]
    openings = tuple(map(str, range(50)))
    match = Match.of(RunHeader(kind="match", players=AB, openings=openings), games)
    assert "score 100.0% (95 %: 9" in match.report()
    assert np.isfinite(match.ratings[0].high)


@pytest.mark.parametrize("field", [["random"], ["random", "greedy", "minimax"], []])
def test_a_match_is_between_two(field):
    with pytest.raises(InvalidRun, match="a match is between two"):
        play_match(field, openings=0)


def test_the_command_says_what_was_decided(tmp_path, capsys):
    arguments = ["match", *FIELD, "--sprt", "0,300", "--jobs", "1", "--quiet", "--openings", "3"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    first = capsys.readouterr().out
    assert "H1 accepted after" in first
    assert main(["report", str(tmp_path)]) == 0
    report = capsys.readouterr().out
    assert "H1 accepted after" in report
    assert "unfinished" not in report
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    again = capsys.readouterr().out
    assert set(first.splitlines()) <= set(again.splitlines())
    assert "games were there already" in again


def test_the_other_forms_hold_the_verdict_too(capsys):
    arguments = ["match", *FIELD, "--sprt", "0,300", "--jobs", "1", "--quiet", "--openings", "3"]
    match = play_match(FIELD, openings=3, sprt=Sprt(0, 300))
    assert main([*arguments, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["digest"] == match.digest
    assert found["match"]["players"] == FIELD
    assert found["match"]["score"] == match.score._asdict()
    assert found["match"]["elo"]["value"] == match.ratings[0].elo
    assert list(found["match"]["pairs"].values()) == list(match.counts)
    test = found["match"]["sprt"]
    assert (test["elo0"], test["elo1"], test["alpha"], test["decision"]) == (0, 300, 0.05, "H1")
    assert test["llr"] > test["bounds"][1]
    assert main([*arguments, "--format", "markdown"]) == 0
    shown = capsys.readouterr().out
    assert "- H1 accepted after" in shown
    assert shown.count("resampled") == match.report().count("resampled")
    assert f"Digest `{match.digest}`" in shown


def test_a_timed_match_says_so():
    assert any("0.5 s a move" in note for note in play_match(FIELD, 0, movetime=0.5).table.notes)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--sprt", "40,0"], "sprt 40,0: expected H0,H1 in Elo, the smaller first"),
        (["--sprt", "forty"], "sprt 'forty': expected H0,H1 in Elo"),
        (
            ["--sprt", "0,101", "--sprt-on", "loss"],
            "in points, the smaller first, within -100..100",
        ),
        (["--sprt-on", "loss"], "--sprt-on means nothing without --sprt"),
        (["--sprt", "0,40", "--alpha", "0.7"], "alpha=0.7: expected a chance"),
        (["--alpha", "0.1"], "--alpha means nothing without --sprt"),
        (["--beta", "0.1"], "--beta means nothing without --sprt"),
        (["--openings", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_bad_input_is_one_line(extra, words, capsys):
    assert words in refusal(["match", *FIELD, "--quiet", *extra], capsys)
