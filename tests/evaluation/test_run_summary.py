"""The result of a run, a gauntlet and a match in every format."""

import io
import itertools
import json
import random
from dataclasses import replace

import pytest

from c4env import evaluation
from c4env.evaluation.ratings.ratings import FIRST
from c4env.evaluation.ratings.tally import FORFEIT_KINDS, WinDrawLoss, WinTable
from c4env.evaluation.records.game import FORFEITS, GameRecord
from c4env.evaluation.results.match import Match
from c4env.openings import enumerate_openings
from tests.helpers.runs import run_of

RUN = ["random", "greedy", "alphabeta:depth=2"]


def test_a_run_is_three_frames():
    pandas = pytest.importorskip("pandas")
    run = evaluation.round_robin(RUN, openings=1)
    games, ratings, table = run.frame()
    assert games.moves.tolist() == [game.moves for game in run.games]
    assert games["first"].tolist() == [game.players[0] for game in run.games]
    assert ratings.agent.tolist() == [rating.player for rating in run.ratings]
    assert ratings.Elo_low.tolist() == [rating.low for rating in run.ratings]
    assert table.games.sum() == len(run.games) == 24
    assert (table == pandas.read_csv(io.StringIO(run.table.csv()))).all(axis=None)


@pytest.mark.parametrize("kind", ["standings", "opponents", "match"])
def test_every_format_counts_forfeits_and_says_them_first(kind):
    endings = ["exception", "crash", "time", "illegal column", "four"]
    games = [GameRecord(("a", "b"), "", "", 1, ending, "why") for ending in endings]
    about = {"opponents": {"kind": "gauntlet", "challengers": ("b",)}, "match": {"kind": "match"}}
    run = run_of(games, players={"a": "a", "b": "b"}, openings=("",), **about.get(kind, {}))
    summary = Match(run.header, run.games) if kind == "match" else run
    own = "_agent" if kind == "match" else ""
    assert sorted(sum(FORFEIT_KINDS.values(), ())) == sorted(FORFEITS)
    assert [run.table.forfeited(name, "crashes") for name in "ab"] == [2, 0]
    content, below = json.loads(summary.json()), summary.text().split("\n\n")[-1]
    assert below.startswith(f"{FIRST}: ")
    assert below.endswith(f"5 games, openings of 0 plies; digest {content['digest']}")
    assert content["digest"] == run.digest
    (row,) = [r for r in content[kind] if "a" in r.values()]
    assert [row[f"{name}{own}"] for name in ("crashes", "timeouts", "illegal")] == [2, 1, 1]
    assert f"illegal{own}" in summary.csv().split("\n")[0]
    message = "a forfeited 4 games (1 crash, 1 exception, 1 illegal column, 1 time), for example: "
    for shown in (summary.text(), summary.markdown(), content["sentence"]):
        assert shown.startswith(message)
    assert all(name in summary.markdown() for name in ("crashes", "timeouts", "illegal"))


def test_an_agent_that_forfeits_has_the_strength_of_its_other_games_beside():
    """Of the same games, one in three is forfeited: it counts as a loss, and not as play."""
    rng, games, kept = random.Random(4), [], []
    for opening in enumerate_openings(2):
        for pair in itertools.permutations("abc", 2):
            game = GameRecord(pair, opening, opening, rng.choice((0, 1)), "four")
            kept.append(game)
            if "a" in pair and rng.random() < 1 / 3:
                kept.pop()
                game = replace(game, winner=1 - pair.index("a"), ending="nonsense", reason="?")
            games.append(game)
    run = run_of(games, players={name: name for name in "abc"})
    rating = {r.player: r for r in run.ratings}
    clean = {r.player: r for r in run_of(kept, players=run.header.players).ratings}
    assert rating["a"].reliable == 1 - (len(games) - len(kept)) / rating["a"].games < 0.75
    assert rating["b"].reliable == 1
    shift = (rating["b"].elo + rating["c"].elo - clean["b"].elo - clean["c"].elo) / 2
    assert rating["a"].finished.value == pytest.approx(clean["a"].elo + shift)
    assert rating["a"].finished.value > rating["a"].elo + 50
    assert rating["b"].finished is None
    pair = [g for g in games if "c" not in g.players]
    match = Match(run_of(pair, players={"a": "a", "b": "b"}, kind="match").header, tuple(pair))
    (row,) = json.loads(match.json())["match"]
    assert row["reliable_agent"] < 0.75 < row["reliable_opponent"] == 1
    assert row["Elo_reliable"] > row["Elo"] + 50
    for of, shown in ((run, "a finished"), (match, "nobody forfeited a is")):
        assert shown in of.text()
    never = run_of([g for g in games if "a" in g.players and g.reason], players={"a": "a"})
    assert all(r.finished is None for r in never.ratings)  # no game is left


@pytest.mark.parametrize("plies", [0, 1, 2, 3])
def test_who_moves_first_placed_the_first_disc_after_odd_openings_too(plies):
    """Whoever owns the first disc wins every game, whoever moves after the opening."""
    games = [
        GameRecord(pair, opening, opening, 0, "four")
        for opening in ("1234"[:plies], "7654"[:plies])
        for pair in (("a", "b"), ("b", "a"))
    ]
    run = run_of(games, players={"a": "a", "b": "b"})
    assert run.ratings.first_move.value > 100
    assert (run.table.as_first("a").wins, run.table.as_second("a").wins) == (run.table.games / 2, 0)
    assert f"{FIRST}: +" in run.text()


def test_an_agent_whose_reset_raises_did_not_play_as_its_opponent_did():
    games = [
        GameRecord(pair, "4", "4", 1 - pair.index("a"), "exception", "reset: KeyError: 1")
        for pair in (("a", "b"), ("b", "a"))
    ]
    run = run_of(games, players={"a": "a", "b": "b"}, deterministic=("a", "b"))
    assert run.played_alike == ()
    assert "identical" not in run.text()


def test_identical_agents_are_an_exact_tie():
    run = evaluation.play_match("a=alphabeta:depth=2", "b=alphabeta:depth=2", openings=1)
    assert run.played_alike == (("a", "b"),)
    assert run.pentanomial == (0, 0, 4, 0, 0)
    assert run.ratings.exact
    assert run.ratings[0].elo == pytest.approx(0, abs=1e-6)
    text = run.text()
    assert text.startswith("a and b are level over these 4 openings (95 %: ")
    assert "an exact tie" in text
    games = (replace(run.games[0], moves=run.games[0].moves[:-1]), *run.games[1:])
    assert replace(run, games=games).played_alike == ()


def test_before_the_first_game():
    run = run_of([], players={"a": "a", "b": "b"}, openings=("1",), kind="match")
    match = Match(run.header, ())
    assert match.text().startswith("No games yet.")
    assert match.csv() == "first,second,games,wins,draws,losses,score"


def game(first, second, winner, moves="1212121", ending="four"):
    return GameRecord((first, second), "12", moves, winner, ending)


GAMES = [
    game("weak", "strong", 1),
    game("weak", "strong", None, "1"),
    game("strong", "weak", 0),
    game("strong", "weak", 0),
    game("mid", "weak", 1, "12", "illegal column"),
    game("mid", "weak", 1, "13", "illegal column"),
    game("mid", "strong", 1, "12", "exception"),
]


def test_rows_are_the_first_player_and_totals_add_up():
    table = WinTable.of(GAMES)
    assert table.cell("weak", "strong") == WinDrawLoss(0, 1, 1)
    assert table.cell("strong", "weak") == WinDrawLoss(2, 0, 0)
    assert table.cell("strong", "mid") == WinDrawLoss()
    assert table.cell("strong", "mid").score is None
    assert table.total("strong") == WinDrawLoss(4, 1, 0)
    assert (table.total("strong").games, table.total("strong").score) == (5, 4.5 / 5)
    assert table.as_first("weak") == WinDrawLoss(0, 1, 1)
    assert table.as_second("weak") == WinDrawLoss(2, 0, 2)
    assert sum((table.total(p).games for p in table.players), 0) == 2 * table.games
    assert table.players == ("strong", "weak", "mid")
