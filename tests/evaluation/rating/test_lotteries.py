from __future__ import annotations

import json

import numpy as np
import pytest

from c4env import evaluation
from c4env.evaluation.__main__ import main
from c4env.evaluation.errors import InvalidRun
from c4env.evaluation.rating.lotteries import (
    SURE,
    clearest_cycle,
    essential_tiers,
    maximal_lottery,
    standing,
)
from c4env.evaluation.rating.tally import Tally

pytest.importorskip("scipy", reason="pip install 'c4env[lotteries]'")

PAPER = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / 2.0  # rock, scissors and paper


def field(chances, openings, seed=0):
    """A tally of one game for each opening and ordered pair, won with these chances."""
    chances = np.asarray(chances, np.float64)
    n = len(chances)
    games = np.broadcast_to(1.0 - np.eye(n), (openings, n, n))
    points = (np.random.default_rng(seed).random(games.shape) < chances) * games
    return Tally(tuple("abcdefghij"[:n]), tuple(f"{i:04}" for i in range(openings)), points, games)


def with_copy(tally, of, name):
    """The field with a copy of an agent: it plays like it, and wins every other game against it."""
    i = tally.players.index(of)
    indices = [*range(len(tally.players)), i]
    points = tally.points[:, indices][:, :, indices].copy()
    games = tally.games[:, indices][:, :, indices].copy()
    for one, other in ((i, -1), (-1, i)):
        points[:, one, other], games[:, one, other] = 1, 1
    return Tally((*tally.players, name), tally.openings, points, games)


def rated(elo):
    elo = np.asarray(elo, np.float64)
    return 1 / (1 + 10 ** (-(elo[:, None] - elo) / 400))


# -- lotteries ----------------------------------------------------------------------------


def test_rock_paper_scissors_is_drawn_evenly_and_by_its_weights():
    lottery, members = maximal_lottery(PAPER)
    assert lottery == pytest.approx([1 / 3] * 3)
    assert members.all()
    # The weight of each is what the other two gain from each other.
    uneven = np.array([[0, -0.1, 0.4], [0.1, 0, -0.2], [-0.4, 0.2, 0]])
    assert maximal_lottery(uneven)[0] == pytest.approx(np.array([2, 4, 1]) / 7)


def test_no_agent_gains_from_a_maximal_lottery():
    generator = np.random.default_rng(4)
    for n in (2, 3, 5, 9):
        for _ in range(10):
            margins = generator.integers(-3, 4, (n, n)) / 6.0
            margins = margins - margins.T
            lottery, members = maximal_lottery(margins)
            assert lottery.sum() == pytest.approx(1)
            assert (lottery @ margins).min() > -1e-7
            assert np.array_equal(members, lottery > 1e-7)
            assert np.array_equal(members, essential_tiers(margins) == 0)


def test_tiers_of_a_transitive_field_are_its_order():
    margins = rated([300, 200, 0, -50]) - 0.5
    assert essential_tiers(margins).tolist() == [0, 1, 2, 3]
    order = [2, 0, 3, 1]
    assert essential_tiers(margins[np.ix_(order, order)]).tolist() == order


def test_whoever_loses_to_all_of_a_cycle_comes_below_it():
    margins = np.zeros((5, 5))
    margins[1:4, 1:4] = PAPER
    margins[1:4, 0], margins[0, 1:4] = 0.1, -0.1
    margins[:4, 4], margins[4, :4] = 0.5, -0.5
    assert essential_tiers(margins).tolist() == [1, 0, 0, 0, 2]


def test_open_spiel_finds_the_same_lotteries():
    voting = pytest.importorskip("open_spiel.python.voting.maximal_lotteries")
    base = pytest.importorskip("open_spiel.python.voting.base")
    generator = np.random.default_rng(8)
    for _ in range(12):
        votes = [generator.permutation(5).tolist() for _ in range(7)]  # odd: no tied pair
        profile = base.PreferenceProfile(votes, alternatives=list(range(5)))
        margins = profile.margin_matrix() / 14
        theirs = voting.MaximalLotteriesVoting(iterative=True).run_election(profile)
        tiers = essential_tiers(margins.astype(float))
        # They order the agents of a tier by probability, tier after tier.
        assert sorted(tiers) == [int(tiers[i]) for i in theirs.ranking]
        lottery = maximal_lottery(margins.astype(float))[0]
        for i in np.flatnonzero(tiers == 0):
            score = dict(zip(theirs.ranking, theirs.scores, strict=True))[i]
            assert score - tiers.max() == pytest.approx(lottery[i], abs=1e-5)


# -- copies -------------------------------------------------------------------------------


@pytest.mark.slow
def test_copies_do_not_change_the_order_of_the_others():
    tally = field(rated([60, 40, 20, 0, 0]), 12)
    before = [p.player for p in standing(tally).places]
    for of in "ace":
        copied = standing(with_copy(with_copy(tally, of, "x"), of, "y"))
        assert [p.player for p in copied.places if p.player not in "xy"] == before
        together = {p.player: (p.place, p.places) for p in copied.places}
        assert together["x"] == together["y"] == together[of]


# -- cycles -------------------------------------------------------------------------------


def test_a_cycle_is_found_and_named():
    chances = rated([0, 0, 0, 300, -300])
    for one, other in ((0, 1), (1, 2), (2, 0)):
        chances[one, other], chances[other, one] = 0.8, 0.2
    found = standing(field(chances, 60))
    assert found.cycle == ("a", "b", "c")
    assert found.confidence > 0.99
    (said,) = found.table().notes
    assert "beyond chance, a beats b, b beats c, c beats a (100% sure)" in said
    assert found.places[0].player == "d"


@pytest.mark.parametrize("elo", [[0] * 6, [150, 90, 30, -30, -90, -150]])
def test_chance_alone_seldom_makes_a_cycle(elo):
    found = [clearest_cycle(field(rated(elo), 20, seed)) for seed in range(100)]
    sure = sum(confidence >= SURE for _, confidence in found)
    assert sure <= 11  # 5 % are allowed: twelve of 100 would come four times in 1000


def test_few_openings_are_no_proof():
    chances = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    few, many = standing(field(chances, 3)), standing(field(chances, 20))
    assert few.cycle
    assert few.confidence < 0.9
    assert "none beyond chance; the clearest is" in few.table().notes[0]
    assert many.confidence >= SURE
    assert standing(field(chances, 3), exact=True).confidence == 1


def test_the_seed_repeats_it_and_everyone_must_have_met():
    tally = field(rated([100, 0, -100]), 10)
    assert standing(tally) == standing(tally)
    games = tally.games.copy()
    games[:, 0, 2] = games[:, 2, 0] = 0
    with pytest.raises(InvalidRun, match="a and c did not meet"):
        standing(Tally(tally.players, tally.openings, tally.points * (games > 0), games))


def test_no_cycle_and_no_order_without_games_or_rivals():
    assert standing(field(rated([500, 0, -500]) > 0.5, 5)).cycle == ()
    assert standing(field(np.full((3, 3), 0.5), 1)).places[0].place == 1
    assert standing(field([[0]], 3)).places[0].place == 1


# -- the report ---------------------------------------------------------------------------


def test_the_report_says_it(tmp_path, capsys, monkeypatch):
    agents = ["random", "greedy", "minimax:depth=1"]
    run = evaluation.round_robin(agents, openings=1, out=tmp_path)
    places = [p.player for p in run.standing().places]
    assert places[-1] == "random"
    assert main(["report", str(tmp_path)]) == 0
    assert "Cycles: none" in (shown := capsys.readouterr().out)
    assert "by maximal lotteries" in shown
    assert main(["report", str(tmp_path), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)["standing"]
    assert [p["player"] for p in told["places"]] == places
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["report", str(tmp_path)]) == 0
    assert "need scipy: pip install" in capsys.readouterr().out


def test_a_gauntlet_has_no_such_order(tmp_path, capsys):
    evaluation.gauntlet("greedy", ["random", "minimax:depth=1"], openings=0, out=tmp_path)
    assert main(["report", str(tmp_path)]) == 0
    assert "lotteries" not in capsys.readouterr().out
