"""Agents on many boards: the same columns as one board at a time, and mixtures of them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import agents
from agents import batched
from agents.batched import BatchedSearch, EachBoard, Mixture, RandomColumns
from agents.errors import InvalidHeuristic, InvalidValue, UnknownAgent
from c4env import Batch, ConnectFourVectorEnv
from c4env.errors import InvalidObservation, OpponentFailed


def played(size=30, plies=14, seed=5):
    """Observations of boards after up to as many random plies, and their positions."""
    batch, columns = Batch(size), RandomColumns(seed)
    rng = np.random.default_rng(seed)
    for _ in range(plies):
        planes, masks = batch.observe()
        before = batch.positions()
        batch.step(columns({"observation": planes, "action_mask": masks}))
        back = batch.over | (rng.random(size) < 0.2)  # so that boards are of many ages
        batch.reset(batch.over)
        batch.reset(back, [before[i] for i in np.flatnonzero(back)] if back.any() else None)
    planes, masks = batch.observe()
    return {"observation": planes, "action_mask": masks}, batch.positions()


@pytest.mark.parametrize(
    "spec",
    [
        "alphabeta:depth=2,heuristic=lines",
        "minimax:depth=2",
        "alphabeta-window:depth=3",
        "alphabeta-window-b:depth=2",
        "greedy:heuristic=window",
        pytest.param("perfect", marks=pytest.mark.compiled),
    ],
)
def test_the_columns_are_those_of_the_agent(spec):
    observation, positions = played(size=20, plies=20)
    agent = agents.make(spec)
    expected = [agent.choose(position) for position in positions]
    assert batched.opponent(spec)(observation).tolist() == expected
    assert batched.opponent(agent)(observation["observation"]).tolist() == expected


def test_fixed_depth_search_is_native_and_every_other_agent_is_asked_in_turn():
    assert isinstance(batched.opponent("alphabeta-window:depth=2"), BatchedSearch)
    assert isinstance(batched.opponent("minimax:depth=2"), BatchedSearch)
    assert isinstance(batched.opponent("random"), RandomColumns)
    assert isinstance(batched.opponent("greedy"), EachBoard)


def test_threads_pickles_and_nodes_change_nothing():
    observation, positions = played()
    alone = BatchedSearch(2, "window")
    shared = pickle.loads(pickle.dumps(BatchedSearch(2, "window", threads=3)))
    assert shared(observation).tolist() == alone(observation).tolist()
    again = pickle.loads(pickle.dumps(shared))  # with its threads made
    assert again(observation).tolist() == alone(observation).tolist()
    agent = agents.make("alphabeta:depth=2,heuristic=window")
    assert alone.nodes == shared.nodes == sum(agent.search(p).nodes for p in positions)
    one = {key: values[:1] for key, values in observation.items()}
    assert shared(one).tolist() == alone(observation).tolist()[:1]


def test_a_search_wins_in_the_vector_environment():
    envs = ConnectFourVectorEnv(
        16, opponent=BatchedSearch(2), autoreset_mode="Disabled", openings=["44", "1"]
    )
    observation, _ = envs.reset(seed=1)
    columns = RandomColumns(2)
    rewards = np.zeros(16)
    while True:
        observation, reward, ended, _, _ = envs.step(columns(observation))
        rewards += reward
        if ended.any():
            break
    assert rewards.sum() < 0


def test_random_columns_are_legal_all_drawn_and_the_same_for_a_seed():
    masks = np.tile(np.array([0, 1, 0, 1, 1, 0, 0], np.int8), (300, 1))
    drawn = RandomColumns(4)({"action_mask": masks})
    assert set(drawn.tolist()) == {1, 3, 4}
    assert drawn.tolist() == RandomColumns(4)({"action_mask": masks}).tolist()


def test_a_mixture_asks_each_by_its_share():
    observation, _ = played(size=400, plies=1)
    ones, fives = (lambda o, c=c: np.full(len(o["action_mask"]), c) for c in (1, 5))
    columns = Mixture({ones: 3, fives: 1}, seed=2)(observation)
    assert columns.tolist() == Mixture({ones: 3, fives: 1}, seed=2)(observation).tolist()
    assert 250 < (columns == 1).sum() < 350
    assert (columns == 1).sum() + (columns == 5).sum() == 400
    assert (Mixture({ones: 0, fives: 2})(observation) == 5).all()


def test_bad_arguments_and_observations_are_refused():
    for depth in (0, 43, True, 2.0, "3"):
        with pytest.raises(InvalidValue, match="depth="):
            BatchedSearch(depth)
    with pytest.raises(InvalidValue, match="threads=0"):
        BatchedSearch(1, threads=0)
    with pytest.raises(InvalidHeuristic, match="nosuch"):
        BatchedSearch(1, "nosuch")
    with pytest.raises(UnknownAgent, match="nosuch"):
        batched.opponent("nosuch")
    with pytest.raises(InvalidValue, match="expected an agent"):
        batched.opponent(7)
    for shares in ({}, {RandomColumns(): 0}, {RandomColumns(): -1}, {RandomColumns(): np.nan}):
        with pytest.raises(InvalidValue, match="shares="):
            Mixture(shares)
    with pytest.raises(InvalidObservation, match="shape"):
        BatchedSearch(1)(np.zeros((3, 84), np.int8))
    with pytest.raises(InvalidObservation, match="0 and 1"):
        BatchedSearch(1)(np.full((3, 6, 7, 2), 2, np.int8))


def test_a_heuristic_that_spoils_the_search_is_named():
    def boundless(mine, theirs):
        return 1e9

    envs = ConnectFourVectorEnv(3, opponent=BatchedSearch(1, boundless), seat=1)
    with pytest.raises(OpponentFailed, match=r"boundless.*strictly between"):
        envs.reset(seed=1)
