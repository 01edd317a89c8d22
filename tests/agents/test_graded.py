"""``graded``: its table, its errors, the same moves on one board and on many."""

import numpy as np
import pytest

from c4env import ConnectFourVectorEnv, Position, agents
from c4env.agents.graded import Graded, skill_of, value_of
from c4env.agents.graded_elo import ANCHOR, ANCHOR_ELO, ELO_LEVELS, SKILL_LEVELS
from c4env.agents.heuristics import WIN
from c4env.envs.batch import bitboards, boards_from
from c4env.evaluation.results.leaderboard import stored_board
from tests.rules.positions import random_positions

WIN_AT_4 = "112233"  # the side to move completes four in column 4, where else the other side does
BLOCK_AT_7 = "717273"  # the side to move must block column 7; three of its own lie apart


def shares(skill, moves, draws=4000):
    discs = np.tile(bitboards(moves), (draws, 1))
    player = Graded()
    player.skill = skill
    columns = player.choose_many(discs, np.arange(draws))
    return (np.bincount(columns, minlength=7) / draws).tolist()


def boards(size, plies):
    return bitboards(random_positions(size, 7, plies - 8, plies))


def test_the_table_rises_from_random_to_perfect():
    rated = {rating.player: rating for rating in stored_board().rate()}
    shift = ANCHOR_ELO - np.mean([rated[spec].elo for spec in ANCHOR])
    for end, spec in ((ELO_LEVELS[0], "random"), (ELO_LEVELS[-1], "perfect")):
        assert rated[spec].low < end - shift < rated[spec].high
    assert abs(shift) < 1  # one zero: if the leaderboard's moved, so must graded's levels
    assert (SKILL_LEVELS[0], SKILL_LEVELS[-1]) == (0.0, 2.0)
    assert len(ELO_LEVELS) == len(SKILL_LEVELS) > 10
    assert np.all(np.diff(ELO_LEVELS) > 0)
    assert np.all(np.diff(SKILL_LEVELS) > 0)


@pytest.mark.compiled
def test_the_lowest_elo_draws_legal_columns_uniformly():
    values = np.array(shares(skill_of(ELO_LEVELS[0]), "1111112", draws=6000))
    assert values[0] == 0
    assert np.abs(values[1:] - 1 / 6).max() < 0.03  # six standard deviations


@pytest.mark.compiled  # thousands of draws
@pytest.mark.parametrize(("moves", "column"), [(WIN_AT_4, 3), (BLOCK_AT_7, 6)])
def test_stronger_agents_overlook_fewer_wins_and_blocks(moves, column):
    items = [shares(skill, moves)[column] for skill in (0.0, 0.05, 0.1, 0.33)]
    assert items == sorted(items)
    assert items[0] < 0.2
    assert items[-1] > 0.95


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


@pytest.mark.parametrize("elo", [-1109, -600, -200, pytest.param(20, marks=pytest.mark.compiled)])
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
@pytest.mark.parametrize(("weak", "strong"), [(-1109, -750), (-400, -50)])
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
