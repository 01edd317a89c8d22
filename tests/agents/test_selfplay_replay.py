"""The replay buffer of self-play: a position once, the latest positions, and a buffer restored."""

import numpy as np

from c4env import Position
from c4env.agents.selfplay import replay
from c4env.agents.selfplay.plays import SAMPLE


def samples_of(*shown, proven=False):
    """Samples of moves, each with a column as its policy, and a value."""
    samples = np.zeros(len(shown), SAMPLE)
    for sample, (moves, column, value) in zip(samples, shown, strict=True):
        position = Position.parse(moves)
        sample["board"] = position.mine, position.theirs
        sample["policy"][column] = 1
        sample["value"], sample["proven"] = value, proven
    return samples


def targets(buffer):
    """Of each position in the buffer, in order, the columns of its policy, and its value."""
    samples = buffer.samples[: buffer.positions]
    policies = [np.flatnonzero(policy).tolist() for policy in samples["policy"]]
    return list(zip(policies, samples["value"].tolist(), strict=True))


def test_a_position_that_comes_again_or_its_image_changes_its_targets():
    buffer = replay.ReplayBuffer(window=100, least=100)
    buffer.add(samples_of(("445", 0, 1.0), ("12", 3, -0.5)))
    before = targets(buffer)
    buffer.add(samples_of(("443", 6, 0.0), ("76", 3, 0.5), ("44", 2, 0.25)))
    assert [len(before), buffer.positions] == [2, 3]
    after = targets(buffer)
    assert [columns for columns, _ in after[:2]] == [columns for columns, _ in before]
    assert [value for _, value in after] == [0.5, 0.0, 0.25]
    buffer.add(samples_of(("445", 1, 1.0)))
    assert len(after[0][0]) == 1
    assert len(targets(buffer)[0][0]) == 2  # both columns


def test_of_two_in_one_batch_the_first_is_added():
    buffer = replay.ReplayBuffer(window=100, least=100)
    buffer.add(samples_of(("4", 3, 1.0), ("1", 3, 0.5), ("7", 3, -1.0)))
    assert [value for _, value in targets(buffer)] == [1.0, 0.5]


def test_a_proven_value_stays():
    buffer = replay.ReplayBuffer(window=100, least=100)
    buffer.add(samples_of(("4", 3, 0.5)))
    buffer.add(samples_of(("4", 3, 1.0), proven=True))
    assert targets(buffer) == [([3], 1.0)]
    buffer.add(samples_of(("4", 3, 0.0)))
    assert targets(buffer) == [([3], 1.0)]
    assert buffer.samples["proven"][0]


def test_an_older_position_that_comes_again_is_added_once_more():
    games = ["1", "2", "3", "4", "11", "12"]
    for restored in (False, True):
        buffer = replay.ReplayBuffer(window=4, least=1)
        for moves in games:
            buffer.add(samples_of((moves, 3, 0.5)))
        assert (buffer.positions, len(buffer.samples), buffer.recent) == (6, 4, 3)
        if restored:
            older, buffer = buffer, replay.ReplayBuffer(window=4, least=1)
            buffer.restore(older.samples, older.positions)
        buffer.add(samples_of(("4", 3, 1.0)))  # the oldest of the recent ones
        assert buffer.positions == 6
        buffer.add(samples_of(("3", 3, 1.0)))
        assert buffer.positions == 7
        drawn = buffer.draw(np.random.default_rng(1), 100)
        assert len(np.unique(drawn["board"], axis=0)) == 3
        assert sorted({*drawn["value"].tolist()}) == [0.5, 1.0]
