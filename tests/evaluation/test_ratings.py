import itertools
import random

import numpy as np
import pytest

from c4env.errors import InvalidOption
from c4env.evaluation.ratings.fit import firth, fit
from c4env.evaluation.ratings.ratings import parse_anchor
from c4env.evaluation.records.game import GameRecord
from c4env.openings import enumerate_openings
from tests.helpers.runs import headline_of, rated, run_of


def games(first, second, wins, draws, losses, opening=""):
    results = [0] * wins + [None] * draws + [1] * losses
    return [GameRecord((first, second), opening, "", winner, "four") for winner in results]


def chance(edge):
    return 1 / (1 + 10 ** (-edge / 400))


def some_run(names="abcd", plies=2, seed=3):
    """Every pairing over enumerated openings, won by chance; earlier names are stronger."""
    generator = random.Random(seed)
    return [
        game
        for opening in enumerate_openings(plies)
        for i, j in itertools.permutations(range(len(names)), 2)
        for wins in [int(generator.random() <= chance(60 * (j - i)))]
        for game in games(names[i], names[j], wins, 0, 1 - wins, opening)
    ]


def log_likelihood(elo, edge, points, played):
    expected = chance(elo[:, None] - elo + edge)
    return (points * np.log(expected) + (played - points) * np.log(1 - expected)).sum()


def test_elo_tells_the_share_of_the_points_whatever_moving_first_is_worth():
    """Where the first player always wins the Elo of two is as sure as their score."""
    openings = enumerate_openings(2)
    first = [g for o in openings for p in ("ab", "ba") for g in games(*p, 1, 0, 0, o)]
    drawn = [g for o in openings for p in ("ab", "ba") for g in games(*p, 0, 1, 0, o)]
    decided, even = rated(first, "ab"), rated(drawn, "ab")
    assert [r.elo for r in decided] == pytest.approx([0, 0], abs=1e-6)
    assert [r.high for r in decided] == pytest.approx([r.high for r in even])
    assert decided[0].high - decided[1].low < 40
    assert decided.first_move.low > 400
    # Whichever colour is more frequent, the advantage of moving first is not strength.
    more = first + [g for o in openings[:12] for g in games("a", "b", 1, 0, 0, o + "7")]
    assert abs(rated(more, "ab")[0].elo) < 5


def test_one_game_with_a_colour_does_not_decide():
    """Even with one colour, and one game with the other, which says little of that colour."""
    even = games("a", "b", 25, 0, 25)
    more = even + games("b", "a", 1, 0, 0)
    low, high = rated(more, "ab").difference("a", "b")[1:]
    assert low < -100 < 100 < high


def test_equal_games_vary_as_others_do():
    """Each of two results comes as often with either colour: 100 tosses of a coin."""
    run = rated(games("a", "b", 25, 0, 25) + games("b", "a", 25, 0, 25), "ab")
    assert run.difference("a", "b").low < -55


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


@pytest.mark.parametrize("field", ["all", "a gauntlet", "a chain", "two parts, one game"])
def test_a_large_field_is_fitted_as_a_small_one(field, monkeypatch):
    n, generator = 30, np.random.default_rng(7)
    one, other = np.indices((n, n))
    met = {
        "all": one != other,
        "a gauntlet": (one == 0) ^ (other == 0),
        "a chain": abs(one - other) == 1,
        "two parts, one game": (one // 15 == other // 15) & (one != other) | (one + other == 29),
    }[field]
    played = met * generator.gamma(0.5, size=(3, n, n))
    points = played * generator.uniform(0.001, 0.999, (3, n, n))
    points[0], played[0] = met / 2, met  # solved at once
    small = fit(points, played)
    monkeypatch.setattr("c4env.evaluation.ratings.fit._SMALL", 0)
    large = fit(points, played)
    assert np.ptp(small[0][1:]) > 200
    assert large[0] == pytest.approx(small[0], abs=1e-4)
    assert large[1] == pytest.approx(small[1], abs=1e-4)


def test_the_order_of_games_and_players_changes_nothing():
    played = some_run()
    whole = rated(played, "abcd")
    random.Random(1).shuffle(played)
    assert rated(played, "dbca") == whole
    one_opening = games("a", "b", 3, 1, 2) + games("b", "a", 1, 1, 5)
    assert rated(one_opening, "ab") == rated(one_opening[::-1], "ba")
    level = rated(games("a", "b", 3, 0, 0) + games("b", "a", 3, 0, 0), "ab")[0]
    assert level.low == pytest.approx(-level.high, abs=30)  # whoever moves first


def test_the_seed_changes_only_the_intervals():
    one, other = rated(some_run(), "abcd", seed=1), rated(some_run(), "abcd", seed=2)
    assert [r.elo for r in one] == [r.elo for r in other]
    assert [r.low for r in one] != [r.low for r in other]
    assert [r.low for r in one] == pytest.approx([r.low for r in other], abs=8)


def test_where_one_side_wins_everything_intervals_are_open_and_moving_first_is_unknown():
    played = [
        game
        for opening in enumerate_openings(2)
        for game in games("a", "b", 1, 0, 0, opening) + games("b", "a", 0, 0, 1, opening)
    ]
    best, worst = ratings = rated(played, "ab")
    assert (best.player, best.score, worst.score) == ("a", 1, 0)
    assert 500 < best.elo - worst.elo < 2500
    # Jeffreys' interval for no success in 25 pairs ends at 0.0945 (Beta(1/2, 25.5), 97.5 %).
    least = ratings.difference("a", "b").low
    assert least == pytest.approx(400 * np.log10(1 / 0.0945 - 1), abs=60)
    assert worst.high - worst.elo < worst.elo - worst.low < 2000
    assert ratings.first_move.value == pytest.approx(0, abs=1e-6)
    assert ratings.first_move.low < -400
    assert ratings.first_move.high > 400
    assert "even in an opening): 0 Elo" in ratings.table().text()


def test_the_penalty_is_firths():
    """The fit is the root of Firth's modified score, and the leverages sum to the unknowns."""
    generator = np.random.default_rng(5)
    both = generator.integers(1, 9, (5, 5)) * (1.0 - np.eye(5))
    games = both + both.T
    points = np.triu(games * generator.random((5, 5)))
    points += np.tril(games - points.T)
    points[4], points[:, 4] = 0, games[:, 4]  # one never scores
    (elo, _), leverages = firth(points, games, 1)
    assert leverages.sum() == pytest.approx(4, abs=1e-3)

    def penalised(elo):
        p = chance(elo[:, None] - elo)
        weight = games * p * (1 - p)
        information = 2 * (np.diag(weight.sum(0)) - weight)
        likelihood = (points * np.log(p) + (games - points) * np.log(1 - p)).sum()
        return likelihood + np.linalg.slogdet(information[1:, 1:])[1] / 2

    best = penalised(elo)
    for size in (1, 10, 100):
        for _ in range(20):
            assert penalised(elo + size * generator.standard_normal(5)) < best + 1e-6


def test_a_run_of_too_few_openings_says_so():
    few = rated(some_run(plies=1), "abcd")
    assert few.warnings() == ("4 openings are too few to tell all of these agents apart.",)
    assert few.warnings()[0] in few.table().text()
    two = rated(games("a", "b", 1, 0, 1), "ab")
    assert two.warnings()[0].startswith("1 opening is too few to tell the two apart")
    assert rated(some_run(plies=1), "abcd", deterministic="abcd").warnings() == few.warnings()
    assert rated(some_run(plies=2), "abcd").warnings() == ()
    assert rated(both_colours("a", "b", 1, 0), "ab").warnings() == ()


def test_groups_that_never_met_are_not_ranked_against_each_other():
    played = both_colours("a", "b", 1, 0) + both_colours("c", "d", 1, 0)
    ratings = rated(played, "abcde")
    assert ratings.group_sizes == (2, 2, 1)
    assert [r.player for r in ratings] == ["a", "b", "c", "d", "e"]
    assert [r.ranks for r in ratings] == [(1, 1), (2, 2), (1, 1), (2, 2), (1, 1)]
    assert [r.better for r in ratings] == [1, None, 1, None, None]
    assert ratings[0].elo + ratings[1].elo == pytest.approx(0, abs=1e-6)
    assert ratings.difference("a", "b").low > 0
    assert ratings.difference("a", "d").low < -1000 < 1000 < ratings.difference("a", "d").high
    message = "The agents form groups that never met, so no place compares them."
    assert headline_of(run_of(played), ratings) == message
    assert "a, b; c, d; e." in ratings.table().text()


def both_colours(one, other, wins, losses):
    """Over 12 openings so many games with either colour, seen from the one."""
    return [
        game
        for opening in enumerate_openings(2)[:12]
        for game in games(one, other, wins, 0, losses, opening)
        + games(other, one, losses, 0, wins, opening)
    ]


def test_whoever_may_be_as_strong_as_the_first_need_not_be_second():
    seen = both_colours("a", "b", 1, 0)
    doubtful = [g for o in ("44", "43") for g in games("a", "c", 1, 0, 0, o)]
    doubtful += [*games("c", "a", 1, 0, 0, "44"), *games("c", "a", 0, 0, 1, "43")]
    ratings = rated([*seen, *doubtful], "abc")
    assert ratings[0].player == "a"
    message = headline_of(run_of(seen), ratings)
    assert message.startswith("a leads c by")
    assert "but c may be as strong" in message
    assert "a is the stronger" in headline_of(run_of(seen), rated(seen, "ab"))


def test_who_won_over_all_openings_of_a_length_need_not_be_stronger():
    """One draw and one win over the only opening of no plies, of two deterministic agents."""
    draw_and_win = games("a", "b", 0, 1, 0) + games("b", "a", 0, 0, 1)
    few = rated(draw_and_win, "ab", deterministic="ab")
    assert few.exact
    text = headline_of(run_of(draw_and_win, openings=("",)), few)
    assert text.startswith("a won over this one opening, 89 Elo ahead of b (95 %: -")
    assert text.endswith("), but b may be as strong.")
    whole = [g for o in enumerate_openings(2) for p in ("ab", "ba") for g in games(*p, 0, 1, 0, o)]
    whole[::2] = [g for o in enumerate_openings(2) for g in games("a", "b", 1, 0, 0, o)]
    run = run_of(whole, openings=tuple(enumerate_openings(2)))
    text = headline_of(run, rated(whole, "ab", deterministic="ab"))
    assert text.startswith("a won over these 25 openings, ")
    assert "may be as strong" not in text


def test_ranks_and_the_chance_to_be_better():
    played = [
        game
        for opening in enumerate_openings(3)
        for pair, wins in (("ab", 1), ("ba", 1), ("ac", 1), ("ca", 0), ("bc", 1), ("cb", 0))
        for game in games(*pair, wins, 0, 1 - wins, opening)
    ]
    ratings = rated(played, "abc")
    assert [r.player for r in ratings] == ["a", "b", "c"]
    assert [r.ranks for r in ratings] == [(1, 2), (1, 2), (3, 3)]
    assert 0.4 < ratings[0].better < 0.6  # equally strong, by symmetry
    assert ratings[1].better == 1
    assert ratings[2].better is None


def test_deterministic_agents_over_all_openings_are_not_a_sample_and_anything_less_is():
    played = some_run()
    exact = rated(played, "abcd", deterministic={"a", "b", "c", "d", "e"})
    assert exact.exact
    assert "Exact over this set" in exact.table().text()
    for fewer in (played[:-1], [g for g in played if g.opening != "44"]):  # a game, an opening
        assert not rated(fewer, "abcd", deterministic="abcd").exact
    assert {(r.ranks, r.better) for r in exact} == {(None, None)}
    assert not {"rank", "LOS"} & {*exact.table().raw()[0]}
    assert exact.superiority("a", "b") is None
    sampled = rated(played, "abcd", deterministic="abc")
    assert not sampled.exact
    assert "95 %" in sampled.table().text()
    assert [(r.elo, r.low, r.high) for r in sampled] == [(r.elo, r.low, r.high) for r in exact]


def test_an_anchor_moves_only_the_scale():
    free = {r.player: r for r in rated(some_run(), "abcd")}
    held = {r.player: r for r in rated(some_run(), "abcd", anchor=("c", 1500))}
    assert held["c"].elo == 1500
    for player in "abcd":
        moved = 1500 - free["c"].elo
        for name in ("elo", "low", "high"):
            result = getattr(held[player], name)
            assert result == pytest.approx(getattr(free[player], name) + moved)
        assert held[player].ranks == free[player].ranks


def test_anchors_as_text():
    field = ["random", "alphabeta:depth=5"]
    assert parse_anchor("random=0", field) == ("random", 0)
    assert parse_anchor("alphabeta:depth=5=-12.5", field) == ("alphabeta:depth=5", -12.5)
    with pytest.raises(InvalidOption, match="anchor 'greedy': expected one of random, alpha"):
        parse_anchor("greedy=0", field)
    for text in ("random", "random=", "=3", "random=x", "random=inf", "random=nan"):
        with pytest.raises(InvalidOption, match="expected NAME=ELO"):
            parse_anchor(text, field)
