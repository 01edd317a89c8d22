"""The network as NumPy evaluates it, and the agent that plays it."""

import functools
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from c4env import Position
from c4env.agents import learned
from c4env.agents.learned import IntegerNetwork, Learned, features_of, shipped
from c4env.agents.solver import Solver
from c4env.envs.batch import bitboards, observed
from c4env.errors import InvalidOption
from c4env.observation import planes_of
from tests.rules import reference
from tests.rules.positions import quiet, random_positions

WEIGHTS = Path(learned.__file__).with_name("network.npz")


def test_the_weights_are_whole_numbers_and_no_sum_is_rounded():
    assert WEIGHTS.stat().st_size < 1_000_000
    weights = shipped().weights
    for name in shipped().shapes():
        assert weights[name].dtype == np.int8
        assert weights[f"{name}.bias"].dtype == np.int32
        highest = {"first": 1, "column": 6 * learned.GREATEST}.get(name, learned.GREATEST)
        most = highest * np.abs(weights[name].astype(np.int64)).sum(axis=0)
        assert (most + np.abs(weights[f"{name}.bias"])).max() < 2**24  # exact in float32


def test_an_answer_does_not_depend_on_what_else_is_asked():
    planes, masks = observed(bitboards(random_positions(20, seed=1))).values()
    logits, values = shipped()(planes, masks)
    assert logits.shape == (20, 7)
    assert values.shape == (20,)
    assert logits.dtype == values.dtype == np.float32
    assert np.array_equal(np.isinf(logits), masks == 0)
    assert (np.abs(values) <= 1).all()
    for i in range(20):
        alone = shipped()(planes[i : i + 1].astype(np.float64), masks[i : i + 1])
        assert np.array_equal(alone[0][0], logits[i])
        assert alone[1][0] == values[i]


def test_it_computes_in_one_thread(monkeypatch):
    one_way, seen = IntegerNetwork.one_way, []

    def watched(*given):
        seen.extend(p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas")
        return one_way(*given)

    monkeypatch.setattr(IntegerNetwork, "one_way", watched)
    with threadpool_limits(2, "blas"):
        Learned(depth=0).choose(Position())
    assert {*seen} == {1}


def test_mirrored_boards_get_mirrored_answers():
    planes, masks = observed(bitboards(random_positions(50, seed=2))).values()
    logits, values = shipped()(planes, masks)
    turned, same = shipped()(planes[:, :, ::-1], masks[:, ::-1])
    assert np.array_equal(turned[:, ::-1], logits)
    assert np.array_equal(same, values)


def scaled(name, total):
    return total * shipped().weights[f"{name}.scale"].astype(np.float64)


def rounded(real):
    return np.clip(np.rint(real), 0, 127).astype(np.int64)


def over_neighbours(name, units):
    """The sums of a layer of 3 x 3 cells, in int64, cell by cell; without biases."""
    matrix = shipped().weights[name].astype(np.int64)
    matrix = matrix.reshape(3, 3, -1, matrix.shape[1])
    total = np.zeros((6, 7, matrix.shape[3]), np.int64)
    for row, column, down, right in np.ndindex(6, 7, 3, 3):
        there = row + down - 1, column + right - 1
        if 0 <= there[0] < 6 and 0 <= there[1] < 7:
            total[row, column] += units[there] @ matrix[down, right]
    return total


def test_float32_gives_what_whole_numbers_give():
    weights = {name: array.astype(np.int64) for name, array in shipped().weights.items()}
    several = random_positions(6, seed=3)
    mine, theirs = bitboards(several).T.copy()
    out = shipped().one_way(mine, theirs)
    inputs = planes_of(features_of(mine, theirs))
    for position, planes, result in zip(several, inputs, out, strict=True):
        bias = weights["first.bias"][position.to_move]
        units = rounded(scaled("first", over_neighbours("first", planes.astype(np.int64)) + bias))
        for k in range(shipped().blocks):
            name = f"block.{k}.in"
            total = over_neighbours(name, units) + weights[f"{name}.bias"]
            inner = rounded(scaled(name, total))
            name = f"block.{k}.out"
            total = over_neighbours(name, inner) + weights[f"{name}.bias"]
            units = rounded(np.rint(scaled(name, total)) + units)
        total = units.reshape(42, -1) @ weights["squeeze"] + weights["squeeze.bias"]
        squeezed = rounded(scaled("squeeze", total)).ravel()
        total = squeezed @ weights["dense"] + weights["dense.bias"]
        dense = rounded(scaled("dense", total))
        expected = scaled("head", dense @ weights["head"] + weights["head.bias"])
        columns = units.sum(axis=0) @ weights["column"] + weights["column.bias"]
        expected[:7] += scaled("column", columns)[:, 0]
        assert np.array_equal(result, expected.astype(np.float32))


def test_the_exponential_errs_by_the_square_of_the_number():
    numbers = -np.linspace(0, 4, 100, dtype=np.float32)
    error = learned.exponential(numbers) / np.exp(numbers.astype(np.float64)) - 1
    assert (np.abs(error) <= numbers**2 / 512 + 1e-4).all()


def test_a_file_without_weights_is_refused(tmp_path):
    (tmp_path / "text.npz").write_text("weights")
    np.savez(tmp_path / "pickled.npz", a=np.array([{}], dtype=object))
    for name in ("text.npz", "pickled.npz"):
        with pytest.raises(InvalidOption) as caught:
            IntegerNetwork.load(tmp_path / name)
        assert str(caught.value).endswith(f"{name}: expected an .npz file of a network's weights")
    with pytest.raises(InvalidOption):
        IntegerNetwork.load(tmp_path / "none.npz")
    weights = shipped().weights
    for wrong, words in (
        ({name: weights[name] for name in weights if name != "head.bias"}, r"head\.bias.*none"),
        (dict(weights) | {"head": weights["head"].T}, "'head'"),
        (dict(weights) | {"head": weights["head"].astype(np.float32)}, "float32"),
    ):
        with pytest.raises(InvalidOption, match=words):
            IntegerNetwork(wrong)


def by_minimax(position, depth):
    """The value the agent should find, by the rules of its docstring and nothing else."""
    board = reference.board_after(position.moves())
    replies = {column: position.play(column) for column in position.legal_columns()}
    if any(after.outcome and after.outcome.winner is not None for after in replies.values()):
        return 2 - position.plies / 42
    threats = reference.winning_columns(board, 1 - position.to_move)
    if not threats and depth == 0:
        return float(shipped()(*observed(bitboards(position)).values())[1][0])
    return max(
        0.0 if replies[column].outcome else -by_minimax(replies[column], depth - (not threats))
        for column in threats or replies
    )


@pytest.mark.parametrize("depth", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_it_looks_ahead_by_minimax(depth, monkeypatch):
    monkeypatch.setattr(learned, "PRIOR", 0.0)
    agent = Learned(depth, nodes=0)
    for position in random_positions(5 - depth, seed=6, fewest=8):
        result = agent.search(position)
        assert result.value == pytest.approx(by_minimax(position, depth))
        assert result.principal_variation[0] == result.column == agent.choose(position)
        assert result.nodes == agent.nodes > 0
        functools.reduce(Position.play, result.principal_variation, position)  # is legal


def test_it_plays_the_greatest_sum_of_value_and_policy():
    agent, differing = Learned(1, nodes=0), 0
    for position in filter(quiet, random_positions(8, seed=1, fewest=4)):
        legal = position.legal_columns()
        logits = shipped()(*observed(bitboards(position)).values())[0][0]
        bonus = np.exp(logits - max(logits[[*legal]]))
        values = {column: -by_minimax(position.play(column), 0) for column in legal}
        column = max(legal, key=lambda column: values[column] + bonus[column])
        assert agent.choose(position) == column
        differing += values[column] < max(values.values())
    assert differing


@pytest.mark.compiled
def test_it_plays_exactly_what_its_search_can_tell():
    agent, solver = Learned(1, nodes=10**6), Solver(book=None, table_mb=4)
    for position in random_positions(20, seed=9, fewest=20):
        result = agent.search(position)
        assert np.sign(solver.scores(position)[result.column]) == solver.sign(position)
    assert Learned(1).search(position).nodes <= 310_000
