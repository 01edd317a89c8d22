"""Agents on many boards, the same columns as on one; and pools of them."""

import copy
import math
import pickle
import re

import numpy as np
import pytest

import c4env
from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, agents
from c4env.agents import BatchAgent, Pool
from c4env.agents.base import Games
from c4env.agents.search.fixed_depth import FixedDepth
from c4env.envs.batch import bitboards
from c4env.errors import InvalidOption, UnknownAgent
from tests.rules.positions import random_positions


def asked(agent, positions, seed=0):
    seeds = np.random.default_rng(seed).integers(2**48, size=len(positions))
    return agent.choose_many(bitboards(positions), seeds)


@pytest.mark.parametrize(
    "spec",
    [
        *("alphabeta:depth=2,heuristic=lines", "minimax:depth=2", "alphabeta-window:depth=3"),
        *("alphabeta-window-b:depth=2", "greedy", "greedy:heuristic=window"),
        pytest.param("perfect", marks=pytest.mark.compiled),
    ],
)
def test_the_columns_are_those_of_the_agent(spec):
    positions = random_positions(20, seed=5, most=20)
    agent = agents.make(spec)
    expected = [agent.choose(p) for p in positions]
    assert asked(pickle.loads(pickle.dumps(agent)), positions).tolist() == expected
    assert asked(agent, positions).tolist() == expected
    if isinstance(agent, FixedDepth):
        assert agent.nodes == sum(agent.search(p).nodes for p in positions)
    assert asked(agent, positions[:1]).tolist() == expected[:1]


def always(column):
    @c4env.batched
    def answer(observation):
        legal = observation["action_mask"]
        return np.where(legal[:, column] == 1, column, legal.argmax(axis=1))

    return answer


ONES, FIVES = always(1), always(5)


def games_against(pool, size=200, seed=3, steps=30):
    """Who answered in each game, of many boards played leftmost; and the rewards it ended with."""
    envs = ConnectFourVectorEnv(size, opponent=pool, seat=0, autoreset_mode="SameStep")
    observation, _ = envs.reset(seed=seed)
    rng = np.random.default_rng(seed)
    answered = [[[]] for _ in range(size)]
    rewards = []
    for _ in range(steps):
        before = envs.positions()
        mask = observation["action_mask"]
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        observation, reward, over, _, _ = envs.step(actions)
        after = envs.positions()
        for i in range(size):
            middle = before[i].play(int(actions[i]))
            if over[i]:
                rewards.append(reward[i])
                answered[i].append([])
            elif middle.legal_columns():
                answered[i][-1] += [c for c in middle.legal_columns() if middle.play(c) == after[i]]
    return answered, rewards


def test_a_pool_draws_an_opponent_for_each_game_and_keeps_it():
    pool = Pool({ONES: 3, FIVES: 1}, seed=2, half_life=math.inf)
    answered, rewards = games_against(pool)
    firsts = []
    for board in answered:
        for game in board:
            # Until its column is full each plays that column.
            opening = game[:3]
            assert len(set(opening)) <= 1
            firsts += opening[:1]
    share = np.mean(np.array(firsts) == 1)
    assert 0.7 < share < 0.8, "three in four"
    assert len({tuple(len(game) for game in board) for board in answered}) > 10
    again, same = games_against(Pool({ONES: 3, FIVES: 1}, seed=2))
    assert (again, same) == (answered, rewards)
    assert games_against(Pool({ONES: 3, FIVES: 1}, seed=3))[0] != answered
    counted = np.array(list(pool.results.values())).sum(axis=0)
    assert counted.tolist() == [rewards.count(1), rewards.count(0), rewards.count(-1)]
    won, drawn, lost = pool.results[FIVES]
    assert pool.win_rates[FIVES] == (won + drawn / 2) / (won + drawn + lost)


@pytest.mark.parametrize("removed", [False, True])
def test_what_is_removed_or_not_drawn_any_more_plays_its_games_to_their_end(removed):
    pool = Pool({ONES: 1})
    envs = ConnectFourVectorEnv(50, opponent=pool, seat=0, autoreset_mode="SameStep")
    envs.reset(seed=1)
    pool.add(FIVES, 2)
    if removed:
        pool.remove(ONES)
    else:
        pool.add(ONES, 0)
    assert pool.weights == {FIVES: 2.0} | ({} if removed else {ONES: 0.0})
    for _ in range(3):
        envs.step(np.full(50, 3))
    assert envs.positions() == [Position.parse("424242")] * 50
    for _ in range(2):  # wins, and begins again
        envs.step(np.full(50, 3))
    assert envs.positions() == [Position.parse("46")] * 50
    assert pool.results == {FIVES: (0, 0, 0)} | ({} if removed else {ONES: (50, 0, 0)})
    assert np.isnan(pool.win_rates[FIVES])
    assert removed or pool.win_rates[ONES] == 1.0
    pool.add(ONES, 2)
    assert pool.results[ONES] == (0 if removed else 50, 0, 0)
    for agent in (always(1), "greedy"):
        with pytest.raises(InvalidOption, match="expected one of"):
            pool.remove(agent)


def ended(pool, boards, *rewards):
    """Games of a pool, ended on new boards with these rewards at once."""
    games, at, seeds = pool.games(boards), np.arange(boards), np.zeros(boards, np.int64)
    games.begin(at, seeds)
    for reward in rewards:
        games.end(at, np.full(boards, float(reward)))
        games.begin(at, seeds)


@pytest.mark.parametrize("boards", [1, 20])
def test_win_rates_follow_a_caller_that_learns(boards):
    pool = Pool({ONES: 1}, half_life=20)
    ended(pool, boards, *[-1] * (2000 // boards), *[1] * (100 // boards), *[0] * (20 // boards))
    # Of the draws half the weight, of the victories half of 31 parts of 32, the rest lost.
    assert pool.win_rates[ONES] == pytest.approx(0.5 * 0.5 + 0.5 * 31 / 32, abs=0.02 * boards)
    assert pool.results[ONES] == (100, 20, 2000)
    ended(pool, 1, *[1] * 200)
    assert pool.win_rates[ONES] > 0.99


def swings(rate):
    """A priority, as a user's function that can be pickled."""
    return 1 / (0.01 + rate) ** 2


PRIORITIES = {
    "uniform": lambda rate: 1,
    "hard": lambda rate: (1 - rate) ** 2,
    "even": lambda rate: rate * (1 - rate),
    swings: swings,
}


@pytest.mark.parametrize("priority", PRIORITIES)
def test_a_priority_draws_by_the_results_so_far(priority):
    beaten, lost, unmet = always(0), always(1), always(2)
    pool = Pool(half_life=math.inf, priority=priority)
    for agent, reward, games in ((beaten, 1, 9), (lost, -1, 4), (unmet, 0, 0)):
        pool.add(agent, weight=3)
        for other in pool.weights:
            pool.add(other, weight=float(other is agent))
        ended(pool, games, *[reward] * bool(games))
    for agent, weight in ((beaten, 2), (lost, 1), (unmet, 1)):
        pool.add(agent, weight)
    function = PRIORITIES[priority]
    rates = {beaten: 9.5 / 10, lost: 0.5 / 5, unmet: 1 / 2}  # with one draw added
    products = np.array([function(rate) for rate in rates.values()]) * (2, 1, 1)
    assert list(pool.shares) == [beaten, lost, unmet]
    assert list(pool.shares.values()) == pytest.approx(products / products.sum())
    games, at = pool.games(4000), np.arange(4000)
    games.begin(at, at)
    drawn = np.bincount(games.playing, minlength=3) / 4000
    assert drawn == pytest.approx(products / products.sum(), abs=0.03)


def test_vector_environments_that_share_a_pool_keep_their_games_apart():
    """One environment begins new games while the other goes on, and all results count."""
    pool = Pool({ONES: 1, FIVES: 1}, seed=1)
    envs = [ConnectFourVectorEnv(size, opponent=pool, seat=0) for size in (3, 20)]
    alone = ConnectFourVectorEnv(20, opponent=Pool({ONES: 1, FIVES: 1}, seed=1), seat=0)
    for env in (*envs, alone):
        env.reset(seed=1)
    ended = 0
    for _ in range(30):
        envs[0].reset()
        for env in envs:
            seen = env.step(env._boards[:, 0] % 7)
            ended += seen[2].sum()
        for given, expected in zip(seen[:3], alone.step(alone._boards[:, 0] % 7), strict=False):
            assert np.array_equal(str(given), str(expected))
    assert sum(map(sum, pool.results.values())) == ended > 20


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copied_environment_plays_on_with_a_pool_of_its_own(again):
    pool = Pool({"greedy": 1, "random": 1, "graded:elo=-900": 1}, seed=4)
    env = ConnectFourVectorEnv(16, opponent=pool, autoreset_mode="SameStep")
    masks = env.reset(seed=2)[0]["action_mask"]
    pool.remove("random")  # it plays its games to their end, also in the copy
    other = again(env)
    for _ in range(30):
        actions = masks.argmax(axis=1)
        masks = env.step(actions)[0]["action_mask"]
        other.step(actions)
        assert env.positions() == other.positions()
    assert other.opponent is not pool
    assert other.opponent.results == pool.results
    assert len(env._games.players) == 2  # nobody plays against the removed one


def test_a_removed_opponent_is_kept_only_while_it_plays():
    pool = Pool({ONES: 1})
    games, at = pool.games(2), np.arange(2)
    games.begin(at, at)
    pool.add(FIVES)
    pool.remove(ONES)
    games.begin(at[:1], at[:1])
    assert (games.playing.tolist(), [*games.players]) == ([1, 0], [0, 1])
    assert games.choose(at, np.zeros((2, 2), np.int64), at).tolist() == [5, 1]
    games.begin(at[1:], at[1:])
    assert [*games.players] == [*pool._players] == [1]


def test_a_pool_per_move_asks_each_by_its_share():
    positions = random_positions(400, seed=5, most=1)
    pool = Pool({ONES: 3, FIVES: 1}, seed=2, per="move")
    first, second = asked(pool, positions, 1), asked(pool, positions, 2)
    assert first.tolist() != second.tolist()
    assert 250 < (first == 1).sum() < 350
    assert (first == 1).sum() + (first == 5).sum() == 400
    again = Pool({ONES: 3, FIVES: 1}, seed=2, per="move")
    assert asked(again, positions, 1).tolist() == first.tolist()
    assert (asked(Pool({ONES: 0, FIVES: 2}), positions) == 5).all()
    answered, _ = games_against(Pool({ONES: 1, FIVES: 1}, per="move"), size=10, steps=10)
    assert any(len(set(game[:3])) > 1 for board in answered for game in board)


def test_a_pool_that_is_asked_game_by_game_draws_for_each_game():
    pool, drawn = Pool({ONES: 1, FIVES: 1}), set()
    for seed in range(20):
        pool.reset(seed)
        game = {pool.choose(position) for position in (Position(), Position.parse("44"))}
        drawn |= game
        assert len(game) == 1
    assert drawn == {1, 5}


def test_bad_pools_are_refused():
    pools = Pool({ONES: 1}), Pool({ONES: 1}, per="move")
    message = "priority={}: expected"
    for options, words in (
        *(({"weights": {ONES: bad}}, "weight=") for bad in (-1, np.nan, np.inf, "1", True, None)),
        *(({"seed": bad}, "seed=") for bad in (-1, 1.5, True, None)),
        *(({"half_life": bad}, "half_life=") for bad in (0, -1, "1", True, np.nan)),
        *(({"priority": bad}, message.format(repr(bad))) for bad in ("strong", None, 2, ["hard"])),
        ({"per": "year"}, "per='year'"),
        ({"per": "move", "priority": "hard"}, "'hard' needs results: expected per='game'"),
        *(({"weights": {bad: 1}}, "not itself a pool") for bad in pools),
    ):
        with pytest.raises(InvalidOption, match=re.escape(words)):
            Pool(**{"weights": {ONES: 1}} | options)
    for factor in (-1, math.nan, math.inf, "1", True, None):
        pool = Pool({ONES: 1}, priority=lambda rate, factor=factor: factor)
        for asked in (lambda pool=pool: pool.shares, ConnectFourEnv(pool).reset):
            with pytest.raises(InvalidOption, match=rf"priority\(0.5\) is {factor!r}: expected"):
                asked()
    with pytest.raises(UnknownAgent, match="nosuch"):
        Pool({"nosuch": 1})
    for pool in (Pool(), Pool({ONES: 0}), Pool({ONES: 1}, priority=lambda rate: 0)):
        with pytest.raises(InvalidOption, match=r"expected one with weight \* priority above 0"):
            ConnectFourVectorEnv(3, opponent=pool).reset(seed=1)


class ByBoard(Games):
    """Games that begin with a column each, which a board keeps until its game ends."""

    def __init__(self, agent, boards):
        super().__init__(agent)
        self.columns, self.ended = np.full(boards, -1), np.zeros(boards)

    def begin(self, boards, seeds):
        self.columns[boards] = seeds % 7

    def choose(self, boards, discs, seeds):
        legal = [Position.from_bitboards(*pair).legal_columns() for pair in discs.tolist()]
        wanted = self.columns[boards].tolist()
        return np.array([w if w in cs else cs[0] for w, cs in zip(wanted, legal, strict=True)])

    def end(self, boards, rewards):
        self.ended[boards] += 1


class Planner(BatchAgent):
    def choose_many(self, discs, seeds):
        raise NotImplementedError

    def games(self, boards):
        self.played = ByBoard(self, boards)
        return self.played


def test_an_opponent_of_a_pool_knows_its_boards():
    def columns(opponent):
        envs = ConnectFourVectorEnv(30, opponent=opponent, seat=1)
        observation, _ = envs.reset(seed=1)
        began = observation["observation"][:, 5, :, 1].argmax(axis=1).tolist()
        for _ in range(30):
            observation, *_ = envs.step(observation["action_mask"].argmax(axis=1))
        return began

    alone, pooled = Planner(), Planner()
    assert columns(Pool({pooled: 1})) == columns(alone)
    assert (pooled.played.ended == alone.played.ended).all()
    assert pooled.played.ended.sum() > 30
