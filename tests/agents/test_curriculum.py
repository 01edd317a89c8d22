"""A curriculum: when its Elo changes, on one board and on many."""

import pickle

import numpy as np
import pytest

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, observe
from c4env.agents.graded import Curriculum, Graded
from c4env.envs.batch import bitboards, boards_from
from c4env.errors import InvalidOption


def rewarded(*rewards):
    return np.array(rewards, float)


def test_the_elo_follows_the_score_and_stays_on_the_scale():
    curriculum = Curriculum(-1000, step=100, games=4, above=0.75, below=0.25)
    curriculum.count(rewarded(1, 1, 0))
    assert (curriculum.elo, curriculum.history) == (-1000, ())  # three games
    curriculum.count(rewarded(0))  # 3 points of 4
    assert curriculum.elo == -900
    curriculum.count(rewarded(1, 1, -1, -1))  # between the limits
    assert curriculum.elo == -900
    for _ in range(3):
        curriculum.count(rewarded(-1, -1, -1, 1))
    assert curriculum.history == (-900, -900, -1000, -1100, -1114)
    top = Curriculum(400, games=1)
    top.count(rewarded(1))
    assert top.elo == 426


def test_only_games_that_began_at_the_present_elo_count():
    curriculum = Curriculum(-500, games=2)
    three = np.arange(3)
    curriculum.begin_games(three, three)
    curriculum.end_games(three[:2], rewarded(1, 1))
    assert curriculum.elo == -450
    curriculum.end_games(three[2:], rewarded(-1))  # began at -500
    curriculum.begin_games(three[:2], three[:2])
    curriculum.end_games(three[:1], rewarded(1))
    assert curriculum.elo == -450
    curriculum.end_games(three[1:2], rewarded(1))
    assert curriculum.history == (-450, -400)


def test_a_game_keeps_its_elo_to_its_end():
    curriculum = Curriculum(426, games=1, step=1540)
    boards = np.arange(200)
    curriculum.begin_games(boards[:100], boards[:100])
    curriculum.count(rewarded(-1))
    assert curriculum.elo == -1114
    discs = np.tile(bitboards("112233"), (200, 1))  # a win in column 4
    columns = curriculum.choose_in_games(boards, discs, boards)  # the last hundred games begin here
    assert set(columns[:100]) == {3}
    assert len(set(columns[100:])) == 7


@pytest.mark.compiled
def test_the_elo_rises_to_about_that_of_the_learner_and_repeats():
    found = []
    for steps in (400, 40):
        curriculum = Curriculum(-1114, step=100, games=60)
        envs = ConnectFourVectorEnv(64, opponent=curriculum, autoreset_mode="SameStep")
        learner, rng = Graded(-300), np.random.default_rng(3)
        observation, _ = envs.reset(seed=1)
        for _ in range(steps):
            seeds = rng.integers(2**48, size=64)
            observation, *_ = envs.step(learner.choose_many(boards_from(observation), seeds))
        found.append(curriculum.history)
    whole, beginning = found
    assert beginning == whole[: len(beginning)] != ()
    assert len(whole) > 15
    assert -650 < np.mean(whole[-5:]) < 50  # around -300


def test_one_board_counts_its_games_too():
    curriculum = Curriculum(-1000, games=3, above=0.6, below=0.2)
    env = ConnectFourEnv(opponent=curriculum)
    rng, points = np.random.default_rng(2), 0.0
    for seed in range(3):
        assert curriculum.history == ()
        env.reset(seed=seed)
        over = False
        while not over:
            column = int(rng.choice(np.flatnonzero(env.action_masks())))
            _, reward, over, _, _ = env.step(column)
        points += (reward + 1) / 2
    change = 50 * ((points / 3 >= 0.6) - (points / 3 <= 0.2))
    assert curriculum.history == (-1000 + change,)


def test_a_curriculum_answers_observations_and_is_copied():
    curriculum = Curriculum(-200)
    discs, seeds = np.zeros((3, 2), np.int64), np.arange(3)
    assert curriculum.choose_many(discs, seeds).shape == (3,)
    again = pickle.loads(pickle.dumps(curriculum))
    assert again(observe(Position())) == curriculum(observe(Position()))
    assert repr(again) == "Curriculum(-200, step=50, games=100)"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"elo": 500}, "elo=500: expected float between -1114 and 426"),
        ({"elo": "strong"}, "elo='strong': expected float between -1114 and 426"),
        ({"step": 0}, "step=0: expected float between 1 and 1540"),
        ({"games": 1.5}, "games=1.5: expected int between 1 and"),
        ({"above": 2}, "above=2: expected float between 0 and 1"),
        ({"above": 0.3}, "below=0.4: expected less than above=0.3"),
    ],
)
def test_bad_options_are_refused(options, said):
    with pytest.raises(InvalidOption, match=said):
        Curriculum(**options)
