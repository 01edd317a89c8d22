"""The network as NumPy evaluates it, and the agent that plays it."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import agents
import evaluation
from agents.errors import InvalidValue, NoMove, UnreadableWeights
from agents.learned import agent as learned_agent
from agents.learned import features, network
from agents.learned.agent import Learned
from agents.learned.network import Network, shipped
from agents.solver import Solver
from c4env import Position, observe
from c4env.bitboard import playable, winning_cells
from tests.helpers import reference
from tests.helpers.strategies import positions

WEIGHTS = Path(network.__file__).with_name("weights.npz")


def observed(several: list[Position]) -> tuple[np.ndarray, np.ndarray]:
    seen = [observe(position) for position in several]
    return np.stack([s["observation"] for s in seen]), np.stack([s["action_mask"] for s in seen])


def random_positions(count: int, seed: int, fewest: int = 0, most: int = 40) -> list[Position]:
    generator = np.random.default_rng(seed)
    found: list[Position] = []
    while len(found) < count:
        position = Position()
        for _ in range(generator.integers(fewest, most)):
            if position.outcome is None:
                position = position.play(int(generator.choice(position.legal_columns())))
        if position.outcome is None and position.plies >= fewest:
            found.append(position)
    return found


# -- features ----------------------------------------------------------------------


@given(positions(finished=False))
def test_planes_and_bitboards_are_inverses(position: Position) -> None:
    mine, theirs = np.array([position.mine]), np.array([position.theirs])
    planes = features.planes_from(mine, theirs)
    assert np.array_equal(planes[0], observe(position)["observation"])
    assert features.bitboards_from(planes) == (mine, theirs)
    assert features.player_to_move(planes) == [position.to_move]


@given(positions(finished=False))
def test_features_are_what_they_say(position: Position) -> None:
    planes, _ = observed([position])
    told = features.describe(planes)[0]
    assert told.shape == (features.FEATURES,) == (624,)
    assert told.dtype == np.float32
    empty = ~(position.mine | position.theirs)
    boards = [
        position.mine,
        position.theirs,
        playable(position.mine | position.theirs),
        winning_cells(position.mine) & empty,
        winning_cells(position.theirs) & empty,
    ]
    for k, board in enumerate(boards):
        cells = features.planes_from(np.array([board]), np.array([0]))[0, :, :, 0].ravel()
        assert np.array_equal(told[42 * k : 42 * k + 42], cells)
    lines = told[5 * 42 :].reshape(6, 69)
    expected = np.zeros((6, 69))
    for line, on in enumerate(features.LINES.T):
        counts = [int(planes[0, :, :, side].ravel() @ on) for side in (0, 1)]
        if (counts[0] == 0) != (counts[1] == 0):
            side = 0 if counts[0] else 1
            expected[3 * side + counts[side] - 1, line] = 1
    assert np.array_equal(lines, expected)


def test_the_lines_are_the_69_of_the_board() -> None:
    found = {tuple(np.flatnonzero(line)) for line in features.LINES.T}
    assert len(found) == 69
    assert {len(line) for line in found} == {4}


# -- network -----------------------------------------------------------------------


def test_the_weights_are_whole_numbers_of_about_half_a_megabyte() -> None:
    assert WEIGHTS.stat().st_size < 1_000_000
    weights = shipped().weights
    for name, array in weights.items():
        assert array.dtype == (np.int32 if name.endswith(".bias") else np.int8)
        if not name.endswith(".bias"):  # every sum is exact in float32
            highest = 1 if name.startswith("first") else network.HIGHEST
            most = highest * np.abs(array.astype(np.int64)).sum(axis=0)
            assert (most + np.abs(weights[f"{name}.bias"])).max() < 2**24


def test_an_answer_does_not_depend_on_what_else_is_asked() -> None:
    planes, masks = observed(random_positions(70, seed=1))
    logits, values = shipped()(planes, masks)
    assert logits.shape == (70, 7)
    assert values.shape == (70,)
    assert logits.dtype == values.dtype == np.float32
    assert np.array_equal(np.isinf(logits), masks == 0)
    assert (np.abs(values) < 1).all()
    for i in range(70):
        alone = shipped()(planes[i : i + 1].astype(np.float64), masks[i : i + 1])
        assert np.array_equal(alone[0][0], logits[i])
        assert alone[1][0] == values[i]


def test_mirrored_boards_get_mirrored_answers() -> None:
    planes, masks = observed(random_positions(50, seed=2))
    logits, values = shipped()(planes, masks)
    turned, same = shipped()(planes[:, :, ::-1], masks[:, ::-1])
    assert np.array_equal(turned[:, ::-1], logits)
    assert np.array_equal(same, values)


def test_float32_gives_what_whole_numbers_give() -> None:
    """The arithmetic of the layers once more, in int64."""
    weights = {name: array.astype(np.int64) for name, array in shipped().weights.items()}
    planes, _ = observed(random_positions(40, seed=3))
    told = features.describe(planes).astype(np.int64)
    out = shipped()._one_way(planes)
    for i, player in enumerate(features.player_to_move(planes)):
        total = told[i] @ weights[f"first.{player}"] + weights[f"first.{player}.bias"]
        units = np.clip(np.rint(total / 4), 0, 127).astype(np.int64)
        for k in range(shipped().blocks):
            total = units @ weights[f"block.{k}.in"] + weights[f"block.{k}.in.bias"]
            inner = np.clip(np.rint(total / 128), 0, 127).astype(np.int64)
            total = inner @ weights[f"block.{k}.out"] + weights[f"block.{k}.out.bias"]
            units = np.clip(np.rint(total / 128 + units), 0, 127).astype(np.int64)
        assert np.array_equal(out[i], units @ weights["head"] + weights["head.bias"])


def test_weights_are_read_back_as_written(tmp_path: Path) -> None:
    shipped().save(tmp_path / "w.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["w.npz"]
    again = Network.load(tmp_path / "w.npz").weights
    assert again.keys() == shipped().weights.keys()
    assert all(np.array_equal(again[name], array) for name, array in shipped().weights.items())


def test_weights_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("weights")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.savez(tmp_path / "pickled.npz", a=np.array([{}], dtype=object))
    for name in ("text.npz", "other.npz", "pickled.npz", "none.npz"):
        with pytest.raises(UnreadableWeights):
            Network.load(tmp_path / name)
    (tmp_path / "mine.py").write_text("print(1)")
    np.save(tmp_path / "array.npy", np.zeros(3))
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 and no more")
    for name in ("mine.py", "pickled.npz", "array.npy", "cut.npz"):
        with pytest.raises(UnreadableWeights) as caught:
            Network.load(tmp_path / name)
        assert str(caught.value).endswith(f"{name}: not weights of agents.learned.train")
    lacking = dict(shipped().weights)
    del lacking["head.bias"]
    with pytest.raises(UnreadableWeights, match=r"head\.bias.*none"):
        Network(lacking)
    turned = dict(shipped().weights) | {"head": shipped().weights["head"].T}
    with pytest.raises(UnreadableWeights, match="'head'"):
        Network(turned)
    real = dict(shipped().weights) | {"head": shipped().weights["head"].astype(np.float32)}
    with pytest.raises(UnreadableWeights, match="float32"):
        Network(real)
    with pytest.raises(UnreadableWeights):
        Network.load(io.BytesIO(b""))


def test_the_values_and_the_policy_have_learned_the_game() -> None:
    """Far better than chance on positions of random games, exactly labelled."""
    several = random_positions(150, seed=4, fewest=22)
    solver = Solver(book=None, table_mb=4)
    planes, masks = observed(several)
    logits, values = shipped()(planes, masks)
    scores = [solver.scores(position) for position in several]
    best = [max(s for s in given if s is not None) for given in scores]
    kept = [
        np.sign(given[int(column)] or 0) == np.sign(most)
        for given, column, most in zip(scores, logits.argmax(axis=1), best, strict=True)
    ]
    assert np.mean(kept) > 0.85
    signs = np.sign(best)
    assert np.mean((values > 0)[signs != 0] == (signs > 0)[signs != 0]) > 0.85


# -- agent -------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_it_never_misses_a_win_or_a_block(depth: int) -> None:
    agent = Learned(depth)
    seen = 0
    for position in random_positions(120, seed=5, fewest=6):
        occupied = position.mine | position.theirs
        wins, blocks = (
            winning_cells(side) & playable(occupied) for side in (position.mine, position.theirs)
        )
        if wins | blocks:
            after = position.play(agent.choose(position))
            assert ((after.mine | after.theirs) ^ occupied) & (wins or blocks)
            seen += 1
    assert seen > 30


def board_of(position: Position) -> reference.Board:
    board = reference.empty_board()
    sides = (position.mine, position.theirs)
    for column in range(7):
        for row in range(6):
            for player in (0, 1):
                if sides[player ^ position.to_move] >> (7 * column + row) & 1:
                    board[row][column] = player
    return board


def by_minimax(position: Position, depth: int) -> float:
    """The value the agent should find, by the rules of its docstring and nothing else."""
    board = board_of(position)
    replies = {column: position.play(column) for column in position.legal_columns()}
    if any(after.outcome and after.outcome.winner is not None for after in replies.values()):
        return 2 - position.plies / 42
    threats = []
    for column in replies:
        reference.play(board, column, 1 - position.to_move)
        threats += [column] if reference.winner(board) is not None else []
        reference.take_back(board, column)
    if not threats and depth == 0:
        return float(shipped()(*observed([position]))[1][0])
    return max(
        0.0 if replies[column].outcome else -by_minimax(replies[column], depth - (not threats))
        for column in threats or replies
    )


@pytest.mark.parametrize("depth", [1, 2])
def test_it_looks_ahead_by_minimax(depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_agent, "PRIOR", 0.0)
    agent = Learned(depth)
    for position in random_positions(8, seed=6, fewest=8):
        result = agent.search(position)
        assert result.value == pytest.approx(by_minimax(position, depth))
        assert result.principal_variation[0] == result.column == agent.choose(position)
        assert result.nodes == agent.nodes > 0
        after = position
        for column in result.principal_variation:
            after = after.play(column)  # raises if it is not a line of play


def test_depth_0_plays_the_policy() -> None:
    agent = Learned(0)
    quiet = 0
    for position in random_positions(30, seed=7):
        wins = winning_cells(position.mine) | winning_cells(position.theirs)
        if not wins & playable(position.mine | position.theirs):
            planes, masks = observed([position])
            logits, values = shipped()(planes, masks)
            result = agent.search(position)
            assert logits[0, result.column] == logits.max()
            assert result.value == values[0]
            quiet += 1
    assert quiet > 10


def test_it_is_one_of_the_zoo(tmp_path: Path) -> None:
    agent = agents.make("learned")
    assert agent.deterministic
    assert isinstance(agent, Learned)
    assert agent.depth == 2
    shipped().save(tmp_path / "w.npz")
    same = agents.make("learned", depth=1, weights=str(tmp_path / "w.npz"))
    for position in random_positions(10, seed=8):
        assert same.choose(position) == agents.make("learned:depth=1").choose(position)
        assert agent(observe(position)) == agent.choose(position)
    assert agent.choose(Position()) == 3
    with pytest.raises(NoMove):
        agent.choose(Position.parse("1212121"))
    with pytest.raises(InvalidValue):
        agents.make("learned:depth=9")
    with pytest.raises(UnreadableWeights):
        agents.make("learned", weights=str(tmp_path / "none.npz"))


@settings(max_examples=25)
@given(positions(finished=False))
def test_mirrored_positions_get_mirrored_columns(position: Position) -> None:
    mirrored = Position.from_bitboards(
        *(
            sum((board >> (7 * c) & 127) << (7 * (6 - c)) for c in range(7))
            for board in (position.mine, position.theirs)
        )
    )
    one, other = Learned(1).search(position), Learned(1).search(mirrored)
    assert one.value == other.value


@pytest.mark.compiled
@pytest.mark.slow
def test_it_beats_greedy() -> None:
    result = evaluation.round_robin(["learned", "greedy"], openings=1, seed=1)
    points = [game.points[game.players.index("learned")] for game in result.games]
    assert sum(points) > 0.8 * len(points)
