"""``graded``: its table, its errors, the same moves on one board and on many; curricula."""

import pickle

import numpy as np
import pytest

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, agents, observe
from c4env.agents.graded import Curriculum, Graded, GradedPlayer, skill_of, value_of
from c4env.agents.heuristics import WIN
from c4env.agents.levels import ANCHOR, ANCHOR_ELO, ELO_LEVELS, SKILL_LEVELS
from c4env.envs.batch import bitboards, boards_from
from c4env.errors import InvalidOption
from c4env.evaluation.studies.leaderboard import stored_board
from tests.rules.positions import random_positions

WIN_AT_4 = "112233"  # the side to move completes four in column 4, where else the other side does
BLOCK_AT_7 = "717273"  # the side to move must block column 7; three of its own lie apart


def shares(skill, moves, draws=4000):
    """How often each column is played in a position."""
    discs = np.tile(bitboards(moves), (draws, 1))
    columns = GradedPlayer().columns(discs, skill, np.arange(draws))
    return (np.bincount(columns, minlength=7) / draws).tolist()


def boards(size, plies):
    """Bitboards of games in progress."""
    return bitboards(random_positions(size, 7, plies - 8, plies))


def test_the_table_rises_from_random_to_perfect():
    rated = {rating.player: rating for rating in stored_board().rate()}
    shift = ANCHOR_ELO - np.mean([rated[spec].elo for spec in ANCHOR])
    for end, spec in ((ELO_LEVELS[0], "random"), (ELO_LEVELS[-1], "perfect")):
        assert rated[spec].low < end - shift < rated[spec].high
    assert (SKILL_LEVELS[0], SKILL_LEVELS[-1]) == (0.0, 2.0)
    assert len(ELO_LEVELS) == len(SKILL_LEVELS) > 10
    assert np.all(np.diff(ELO_LEVELS) > 0)
    assert np.all(np.diff(SKILL_LEVELS) > 0)


@pytest.mark.compiled
def test_the_lowest_elo_draws_legal_columns_uniformly():
    found = np.array(shares(float(skill_of(ELO_LEVELS[0])), "1111112", draws=6000))
    assert found[0] == 0
    assert np.abs(found[1:] - 1 / 6).max() < 0.03  # six standard deviations


@pytest.mark.compiled  # thousands of draws
@pytest.mark.parametrize(("moves", "column"), [(WIN_AT_4, 3), (BLOCK_AT_7, 6)])
def test_stronger_agents_overlook_fewer_wins_and_blocks(moves, column):
    found = [shares(skill, moves)[column] for skill in (0.0, 0.05, 0.1, 0.33)]
    assert found == sorted(found)
    assert found[0] < 0.2
    assert found[-1] > 0.95


def test_two_plies_ahead_see_the_reply_that_the_heuristic_misses():
    moves = "7574543113131"  # column 1 must be blocked, and looks worse than others before a reply
    assert shares(0.0, moves, draws=50)[0] < 0.5
    assert shares(1 / 3, moves, draws=50)[0] == 1


@pytest.mark.compiled
def test_look_finds_the_value_of_the_plain_search():
    """Within any bounds around it, and beyond them a bound."""

    def plain(position, depth):
        if position.outcome is not None:
            return 0.0 if position.outcome.winner is None else -(WIN + depth + 1)
        if depth == 0:
            return value_of(position.mine, position.theirs, 0, -1e300, 1e300)
        return max(-plain(position.play(c), depth - 1) for c in position.legal_columns())

    for mine, theirs in boards(40, 30).tolist():
        position = Position.from_bitboards(mine, theirs)
        for depth in range(4):
            value = plain(position, depth)
            assert value_of(mine, theirs, depth, -1e300, 1e300) == value
            assert value_of(mine, theirs, depth, value - 1, value + 1) == value
            assert value_of(mine, theirs, depth, value + 1, value + 2) <= value + 1
            assert value_of(mine, theirs, depth, value - 2, value - 1) >= value - 1


@pytest.mark.parametrize("elo", [-1114, -600, -200, pytest.param(20, marks=pytest.mark.compiled)])
def test_one_board_and_many_give_the_same_columns_for_the_same_seeds(elo):
    discs, agent = boards(60, 12), Graded(elo)
    seeds = np.random.default_rng(3).integers(2**48, size=60)
    many = agent.choose_many(discs, seeds)
    one = []
    for (mine, theirs), seed in zip(discs.tolist(), seeds.tolist(), strict=True):
        agent.reseed(seed)
        one.append(agent.choose(Position.from_bitboards(mine, theirs)))
    assert many.tolist() == one
    assert many.tolist() != agent.choose_many(discs, seeds + 1).tolist()
    half = agent.choose_many(discs[::2].copy(), seeds[::2])  # no board counts others
    assert many[::2].tolist() == half.tolist()


@pytest.mark.compiled
def test_the_highest_elo_plays_the_columns_of_perfect():
    perfect, agent = agents.make("perfect"), agents.make(f"graded:elo={ELO_LEVELS[-1]}")
    discs = boards(10, 24)
    many = agent.choose_many(discs, np.arange(10))
    for (mine, theirs), column in zip(discs.tolist(), many.tolist(), strict=True):
        position = Position.from_bitboards(mine, theirs)
        assert agent.choose(position) == perfect.choose(position) == column


@pytest.mark.compiled
@pytest.mark.parametrize(("weak", "strong"), [(-1114, -750), (-750, -400), (-400, -50)])
def test_a_stronger_agent_wins(weak, strong):
    """The expected score is near 0.88, ten standard deviations above the limit."""
    envs = ConnectFourVectorEnv(600, opponent=Graded(weak), autoreset_mode="SameStep")
    rng, points = np.random.default_rng(1), []
    observation, _ = envs.reset(seed=1)
    for _ in range(21):  # turns of the stronger agent; by then each first game is over
        seeds = rng.integers(2**48, size=600)
        columns = Graded(strong).choose_many(boards_from(observation), seeds)
        observation, rewards, over, *_ = envs.step(columns)
        points += ((rewards[over] + 1) / 2).tolist()
    assert np.mean(points) > 0.72


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
