"""A strength in forty games: which opponents play, what the games tell, and that they repeat."""

import json
import shutil
from itertools import pairwise

import numpy as np
import pytest

from c4env import evaluation
from c4env.errors import InvalidOption, UnreadableRun
from c4env.evaluation.records.game import digest
from c4env.evaluation.records.run_folder import GAMES_FILE, RUN_FILE
from c4env.evaluation.report.page import contents
from c4env.evaluation.results.leaderboard import stored_board
from c4env.evaluation.results.placement import (
    LEVEL_ERROR,
    LEVELS,
    Placement,
    estimate,
    next_level,
    place,
)


def chance(ahead):
    return 1 / (1 + 10 ** (-ahead / 400))


def test_the_elo_is_that_which_expects_the_points():
    for elo in (-900, -300, 250):
        results = {level: (100 * chance(elo - level), 100) for level in (elo - 200, elo + 150)}
        value, low, high = estimate(results)
        assert value == pytest.approx(elo, abs=3)
        assert high - value == pytest.approx(value - low, abs=15)
    # With only one opponent, its own error adds to the error of the games.
    _, low, high = estimate({0: (120, 240)})
    deviation = np.hypot(LEVEL_ERROR, 400 / np.log(10) / np.sqrt(240 / 4))
    assert (high - low) / 2 == pytest.approx(1.96 * deviation, rel=0.03)


def test_an_agent_that_never_scores_has_an_open_interval():
    value, low, high = estimate({LEVELS[0]: (0, 40)})
    assert low < -2000 < value < high < LEVELS[0] - 300
    mirrored = estimate({-LEVELS[0]: (40, 40)})
    assert mirrored.low == pytest.approx(-high, abs=2)


def test_the_next_opponent_is_as_strong_as_the_agent_seems():
    assert next_level({}) == -300
    assert next_level({-300: (2, 2)}) > -200
    assert next_level({-300: (0, 2)}) < -400
    assert next_level({LEVELS[-1]: (40, 40)}) == LEVELS[-1]
    assert next_level({0: (20, 40)}) in (-25, 0)


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("placed") / "run"
    return folder, place("greedy", games=12, seed=3, out=folder)


def test_a_placement_plays_each_opening_with_both_colours(placed):
    _, placement = placed
    assert len(placement.games) == 12
    pairs = [placement.games[i : i + 2] for i in range(0, 12, 2)]
    assert len({one.opening for one, _ in pairs}) == 6
    for one, other in pairs:
        assert one.opening == other.opening
        assert one.players == other.players[::-1]
        assert placement.newcomer in one.players
    met = [{*one.players} - {placement.newcomer} for one, _ in pairs]
    assert any(before != after for before, after in pairwise(met))


def test_the_same_seed_plays_the_same_games(placed, tmp_path):
    """With more jobs, after an interruption within a pair, as a part of more games, and read."""
    folder, placement = placed
    assert digest(place("greedy", games=6, seed=3, jobs=2).games) == digest(placement.games[:6])
    games = (folder / GAMES_FILE).read_text().splitlines(keepends=True)
    shutil.copy(folder / RUN_FILE, tmp_path)
    (tmp_path / GAMES_FILE).write_text("".join(games[:9]))
    assert place("greedy", games=12, seed=3, out=tmp_path).digest == placement.digest
    again = place("greedy", games=12, seed=3, out=folder)
    assert again.games == placement.games  # read, not played
    read = evaluation.read_run(folder)
    assert isinstance(read, Placement)
    assert read.elo == placement.elo
    assert place("greedy", games=6, seed=3, out=folder).games == placement.games[:6]
    assert digest(place("greedy", games=2, seed=4).games) != digest(placement.games[:2])


def test_a_width_ends_it_early():
    whole = place("greedy", games=12, seed=3)
    wide = whole.elo.high - whole.elo.low
    early = place("greedy", games=40, width=wide, seed=3)
    assert early.elo.high - early.elo.low <= wide
    assert len(early.games) <= 12


def test_what_cannot_be_placed_is_refused_in_a_line(placed):
    folder, _ = placed
    for options in ({"games": 41}, {"games": 0}, {"games": 244}, {"width": 0}):
        ((name, value),) = options.items()
        with pytest.raises(InvalidOption, match=f"{name}={value}: expected"):
            place("greedy", **options)
    with pytest.raises(InvalidOption, match=r"\(again\)', not the directory of 'greedy \(again"):
        place("random", out=folder)
    with pytest.raises(UnreadableRun, match="kind 'placement', not 'round robin'"):
        evaluation.round_robin(["greedy", "random"], openings=0, out=folder)
    with pytest.raises(InvalidOption, match="expected no anchor"):
        evaluation.read_run(folder).rate(("greedy", 0))


def test_the_command_says_the_elo_and_the_place(placed, tmp_path, c4):
    folder, placement = placed
    command = ["leaderboard", "--place", "greedy", "--games", "12", "--seed", "3", "--quiet"]
    shown = c4(*command, "--jobs", "1", "--out", tmp_path / "d")
    assert shown == f"{placement.text()}\n"
    value, low, high = (f"{end:+.0f}" for end in placement.elo)
    message = f"greedy (again) has Elo {value} (95 %: {low} .. {high}) and place "
    assert shown.startswith(message)
    assert "of 21 on the leaderboard, by 12 games." in shown
    assert "For a narrower interval use --games N, N > 12." in shown
    assert "unfinished" not in shown
    assert c4("report", folder) == shown
    page = tmp_path / "page.html"
    c4("report", folder, "--html", page, "--no-scores", "--quiet")
    assert message in page.read_text()
    (row,) = (
        row
        for row in json.loads(c4("report", folder, "--format", "json"))["leaderboard"]
        if row["agent"] == placement.newcomer
    )
    assert row["Elo"] == placement.elo.value
    assert row["rank_best"] <= 19 <= row["rank_worst"]


def test_the_newcomer_moves_the_members_below_it_by_one_place(placed):
    _, placement = placed
    before = {rating.player: rating.ranks for rating in stored_board().rate()}
    after = {row.agent: row.rank for row in placement.places}
    assert after["learned"] == before["learned"], "certainly above"
    best, worst = before["random"]
    assert after["random"] == (best + 1, worst + 1), "certainly below"
    best, worst = before["greedy"]
    assert after["greedy"] == (best, worst + 1), "as strong as the newcomer"


def test_a_placement_tells_reliable_from_strong():
    class Silent:
        """Answers nothing in every other game."""

        version = "1"

        def __init__(self):
            self.count = 0

        def reset(self, seed=None):
            self.count += 1

        def __call__(self, observation):
            return None if self.count % 2 else int(observation["action_mask"].argmax())

    placement = place(Silent(), games=8)
    own = placement.own
    assert own.reliable == 0.5
    assert own.finished.value > own.elo + 100
    text = placement.text()
    assert "finished 50.0% of its games. Over games that nobody forfeited its Elo is " in text
    assert "Elo_reliable" in text
    assert contents(placement)["headline"][0] in text


@pytest.mark.slow
@pytest.mark.parametrize("elo", [-900, -300, 300])
def test_forty_games_hold_the_truth_and_are_narrow(elo):
    """Each level is off by 25 Elo; an opening may favour a side."""
    generator, held, widths, off = np.random.default_rng(abs(elo)), [], [], []
    for _ in range(150):
        level_of = {level: level + 25 * generator.standard_normal() for level in LEVELS}
        results = {}
        for _ in range(20):
            level, edge = next_level(results), 50 * generator.standard_normal()
            points, games = results.get(level, (0, 0))
            for sign in (1, -1):
                points += generator.random() < chance(elo - level_of[level] + sign * edge)
            results[level] = points, games + 2
        value, low, high = estimate(results)
        held.append(low <= elo <= high)
        widths.append(high - low)
        off.append(value - elo)
    assert np.mean(held) > 0.9
    assert np.median(widths) < 240
    assert abs(np.mean(off)) < 15
