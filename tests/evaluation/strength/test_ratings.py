from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from c4env.evaluation.__main__ import main
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.plan.openings import enumerate_openings
from c4env.evaluation.store.record import GameRecord, read_games
from c4env.evaluation.strength.fit import fit
from c4env.evaluation.strength.ratings import (
    Rating,
    Tally,
    format_ranks,
    parse_anchor,
    rate,
)

from c4env import evaluation
from tests.helpers.runs import rated


def games(first, second, wins, draws, losses, opening=""):
    results = [0] * wins + [None] * draws + [1] * losses
    return [GameRecord((first, second), opening, "", winner, "four") for winner in results]


def chance(edge):
    return 1 / (1 + 10 ** (-edge / 400))


def some_run(names="abcd", plies=2, seed=3):
    """Every pairing over enumerated openings, won by chance; earlier names are stronger."""
    generator = random.Random(seed)
    return [
        GameRecord(
            (first, second), opening, "", int(generator.random() > chance(60 * (j - i))), "four"
        )
        for opening in enumerate_openings(plies)
        for i, first in enumerate(names)
        for j, second in enumerate(names)
        if i != j
    ]


# -- the fit ------------------------------------------------------------------------------


def test_fit_finds_the_strengths_that_made_the_points():
    truth, edge = np.array([150.0, 50.0, -200.0]), 40.0
    played = 1000.0 * (1 - np.eye(3))
    strengths, first_move = fit(chance(truth[:, None] - truth + edge) * played, played)
    assert strengths == pytest.approx(truth, abs=1e-5)
    assert first_move == pytest.approx(edge, abs=1e-5)


def test_one_pairing_has_the_closed_form():
    # Both colours alike, so no first-move advantage: 400 * log10(points ratio), with the
    # virtual draw adding half a point to each side.
    ratings = rated(games("a", "b", 30, 0, 10) + games("b", "a", 10, 0, 30), "ab")
    assert ratings[0].elo - ratings[1].elo == pytest.approx(400 * np.log10(60.5 / 20.5), abs=1e-3)
    assert ratings.first_move.value == pytest.approx(0, abs=1e-3)


def log_likelihood(elo, edge, points, played):
    expected = chance(elo[:, None] - elo + edge)
    return (points * np.log(expected) + (played - points) * np.log(1 - expected)).sum()


def test_no_other_strengths_are_likelier():
    generator = np.random.default_rng(5)
    played = generator.integers(1, 40, (5, 5)) * (1.0 - np.eye(5))
    points = played * generator.uniform(0.05, 0.95, (5, 5))
    strengths, first_move = fit(points, played)
    best = log_likelihood(strengths, first_move, points, played)
    for size in (0.1, 10, 200):
        for _ in range(50):
            away = size * generator.standard_normal(6)
            assert log_likelihood(strengths + away[:5], first_move + away[5], points, played) < best


def test_an_independent_package_finds_the_same_ratings():
    choix = pytest.importorskip("choix", reason="pip install choix to compare with its fit")
    generator = np.random.default_rng(11)
    n = 6
    wins = generator.integers(0, 30, (n, n)) * (1 - np.eye(n, dtype=int))
    # choix knows no first move and no halves: as many games with either colour, all doubled.
    results = [(i, j) for i in range(n) for j in range(n) for _ in range(int(wins[i, j]))]
    theirs = choix.opt_pairwise(n, results, alpha=0, tol=1e-12) * 400 / np.log(10)
    both = (wins + wins.T).astype(float)
    ours, first_move = fit(wins / 2, both / 2)
    assert ours == pytest.approx(theirs - theirs.mean(), abs=1e-2)
    assert np.ptp(ours) > 100
    assert first_move == pytest.approx(0, abs=1e-3)


def test_many_fits_at_once_are_those_of_each():
    generator = np.random.default_rng(2)
    played = generator.integers(1, 40, (7, 4, 4)) * (1.0 - np.eye(4))
    points = played * generator.uniform(0.1, 0.9, (7, 4, 4))
    together = fit(points, played)
    for i in range(7):
        alone = fit(points[i], played[i])
        assert together[0][i] == pytest.approx(alone[0], abs=1e-4)
        assert together[1][i] == pytest.approx(alone[1], abs=1e-4)


# -- intervals ----------------------------------------------------------------------------


def test_the_order_of_games_and_players_changes_nothing():
    played = some_run()
    whole = rated(played, "abcd")
    random.Random(1).shuffle(played)
    assert rated(played, "dbca") == whole
    one_opening = games("a", "b", 3, 1, 2) + games("b", "a", 1, 1, 5)
    assert rated(one_opening, "ab") == rated(one_opening[::-1], "ba")


def test_the_seed_changes_the_intervals_alone():
    one, other = rated(some_run(), "abcd", seed=1), rated(some_run(), "abcd", seed=2)
    assert [r.elo for r in one] == [r.elo for r in other]
    assert [r.low for r in one] != [r.low for r in other]
    assert [r.low for r in one] == pytest.approx([r.low for r in other], abs=8)


def test_intervals_narrow_with_the_square_root_of_the_openings():
    few, many = rated(some_run(plies=2), "abcd"), rated(some_run(plies=4), "abcd")
    assert (few.units, many.units) == (25, 568)
    ratio = np.mean([r.high - r.low for r in few]) / np.mean([r.high - r.low for r in many])
    assert ratio == pytest.approx(np.sqrt(568 / 25), rel=0.2)


def test_an_opening_that_decides_its_games_tells_nothing_of_the_agents():
    """Each opening gives both a point: 50 % in every one, however often they are resampled."""
    played = [
        game
        for i, opening in enumerate(enumerate_openings(2))
        for pair in ("ab", "ba")
        for game in games(*pair, int(i % 3 > 0), 0, int(i % 3 == 0), opening)
    ]
    assert max(abs(r.elo) for r in rated(played, "ab")) < 1e-6
    apart = [replace(g, opening=g.opening + "7" * (g.players[0] == "a")) for g in played]
    together, separate = rated(played, "ab"), rated(apart, "ab")
    assert together[0].high < separate[0].high


def test_an_agent_that_never_wins_is_finite_and_its_interval_is_open_below():
    played = [g for o in enumerate_openings(2) for g in games("a", "b", 1, 0, 0, o)]
    played += [g for o in enumerate_openings(2) for g in games("b", "a", 0, 0, 1, o)]
    best, worst = rated(played, "ab")
    assert (best.player, best.score, worst.score) == ("a", 1, 0)
    assert 500 < best.elo - worst.elo < 2500
    # Jeffreys' interval for no success in 25 pairs ends at 0.0945 (Beta(1/2, 25.5), 97.5 %).
    assert -2 * worst.high == pytest.approx(400 * np.log10(1 / 0.0945 - 1), abs=60)
    assert worst.high - worst.elo < worst.elo - worst.low < 2000


def test_moving_first_is_unknown_where_one_side_wins_everything():
    played = [g for o in enumerate_openings(2) for g in games("a", "b", 1, 0, 0, o)]
    played += [g for o in enumerate_openings(2) for g in games("b", "a", 0, 0, 1, o)]
    ratings = rated(played, "ab")
    assert ratings.first_move.value == pytest.approx(0, abs=1e-6)
    assert ratings.first_move.low < -400
    assert ratings.first_move.high > 400
    assert "Moving first: 0 Elo" in ratings.table().text()


def test_memory_does_not_grow_with_the_square_of_the_field():
    n, openings = 40, 4
    points = np.random.default_rng(1).random((openings, n, n)) * (1 - np.eye(n))
    names = tuple(f"{i:02}" for i in range(n))
    tally = Tally(names, tuple("1234"), points, np.broadcast_to(1 - np.eye(n), points.shape))
    tracemalloc.start()
    ratings = rate(tally)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(ratings) == n
    assert peak < 1000 * n * n * 8  # one number for every draw and pair of agents


def test_ranks_and_the_chance_to_be_better():
    played = []
    for opening in enumerate_openings(3):
        for pair, winner in (("ab", 0), ("ba", 0), ("ac", 0), ("ca", 1), ("bc", 0), ("cb", 1)):
            played.append(GameRecord(tuple(pair), opening, "", winner, "four"))
    ratings = rated(played, "abc")
    assert [r.player for r in ratings] == ["a", "b", "c"]
    assert [r.ranks for r in ratings] == [(1, 2), (1, 2), (3, 3)]
    assert 0.4 < ratings[0].better < 0.6  # alike, by symmetry
    assert ratings[1].better == 1
    assert ratings[2].better is None


def test_games_against_itself_change_nothing():
    played = games("a", "b", 3, 1, 2)
    itself = games("a", "a", 20, 0, 0)
    assert rated(played + itself, ["a", "b"]) == rated(played, ["a", "b"])
    (alone,) = rated(itself, ["a"])
    assert (alone.elo, alone.games) == (0, 0)


# -- exact --------------------------------------------------------------------------------


def test_deterministic_agents_over_all_openings_are_not_a_sample():
    played = some_run()
    exact = rated(played, "abcd", deterministic={"a", "b", "c", "d", "e"})
    assert exact.exact
    assert "Exact over this set" in exact.table().text()
    assert "spread" in exact.table().text()
    assert [r.ranks for r in exact] == [(i, i) for i in range(1, 5)]
    assert [r.better for r in exact] == [1, 1, 1, None]
    sampled = rated(played, "abcd")
    assert "95 %" in sampled.table().text()
    assert [r.elo for r in sampled] == [r.elo for r in exact]


@pytest.mark.parametrize(
    ("played", "deterministic"),
    [
        (some_run(), "abc"),  # one is stochastic
        (some_run()[:-1], "abcd"),  # a game is missing
        ([g for g in some_run() if g.opening != "44"], "abcd"),  # an opening is missing
    ],
)
def test_anything_less_is_a_sample(played, deterministic):
    assert not rated(played, "abcd", deterministic=deterministic).exact


def test_a_gauntlet_over_all_openings_is_exact_too():
    played = [g for g in some_run() if "a" in g.players]
    assert rated(played, "abcd", deterministic="abcd").exact
    assert not rated(played, "abcde", deterministic="abcde").exact  # one has not played


def test_a_run_knows_which_agents_are_deterministic(tmp_path):
    exact = evaluation.round_robin(["greedy", "minimax:depth=1"], openings=1, out=tmp_path)
    assert exact.ratings.exact
    assert read_games(tmp_path)[0]["deterministic"] == ["greedy", "minimax:depth=1"]
    assert not evaluation.round_robin(["greedy", "random"], openings=1).ratings.exact

    def centre(observation):
        return 3 if observation["action_mask"][3] else int(observation["action_mask"].argmax())

    assert evaluation.round_robin([centre, "greedy"], openings=0).deterministic == ("greedy",)


def test_the_command_line_takes_an_anchor(tmp_path, capsys):
    arguments = ["random", "greedy", "--openings", "1", "--jobs", "1", "--quiet"]
    assert main(["run", *arguments, "--out", str(tmp_path), "--anchor", "random=-700"]) == 0
    assert "-700" in capsys.readouterr().out
    assert main(["report", str(tmp_path), "--anchor", "random=1234"]) == 0
    assert "+1234" in capsys.readouterr().out
    assert main(["run", *arguments, "--anchor", "rndom=0"]) == 2
    shown = capsys.readouterr()
    assert "anchor 'rndom' is none of the agents" in shown.err
    assert shown.out == ""


def test_the_empty_board_alone_is_a_set_too():
    ratings = rated(games("a", "b", 1, 0, 0) + games("b", "a", 0, 0, 1), "ab", deterministic="ab")
    assert ratings.exact
    assert ratings.resampled == "games"


def test_equals_share_a_rank():
    played = [g for o in enumerate_openings(1) for p in ("ab", "ba") for g in games(*p, 0, 1, 0, o)]
    ratings = rated(played, "ab", deterministic="ab")
    assert [r.ranks for r in ratings] == [(1, 2), (1, 2)]
    assert ratings[0].better == 0.5
    assert format_ranks((1, 2)) == "1-2"
    assert format_ranks((3, 3)) == "3"


# -- anchor, table ------------------------------------------------------------------------


def test_an_anchor_moves_the_scale_and_takes_the_doubt_of_its_own():
    free = {r.player: r for r in rated(some_run(), "abcd")}
    held = {r.player: r for r in rated(some_run(), "abcd", anchor=("c", 1500))}
    assert (held["c"].low, held["c"].elo, held["c"].high) == (1500, 1500, 1500)
    for player in "abd":
        assert held[player].elo - 1500 == pytest.approx(free[player].elo - free["c"].elo)
        assert held[player].ranks == free[player].ranks
    with pytest.raises(InvalidRun, match="anchor 'x' is none of the agents: a, b, c, d"):
        rated(some_run(), "abcd", anchor=("x", 0))


def test_anchors_as_text():
    field = ["random", "alphabeta:depth=5"]
    assert parse_anchor("random=0", field) == ("random", 0)
    assert parse_anchor("alphabeta:depth=5=-12.5", field) == ("alphabeta:depth=5", -12.5)
    with pytest.raises(InvalidRun, match="anchor 'greedy' is none of the agents: random, alpha"):
        parse_anchor("greedy=0", field)
    for text in ("random", "random=", "=3", "random=x", "random=inf", "random=nan"):
        with pytest.raises(InvalidRun, match="expected NAME=ELO"):
            parse_anchor(text, field)


def test_table_of_ratings():
    ratings = rated(games("long-name", "b", 3, 0, 1), ["long-name", "b"])
    text = ratings.table().text()
    assert "long-name" in text
    assert "75.0%" in text
    assert "4 games, resampled" in text
    assert isinstance(ratings[0], Rating)
    assert [r.player for r in ratings[:1]] == ["long-name"]
    assert len(ratings) == 2
