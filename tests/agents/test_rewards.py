"""Exact rewards against the exact scores of all columns, as ``c4 quality`` judges moves."""

import random

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from c4env import ConnectFourEnv, ConnectFourVectorEnv
from c4env.agents import Solver, rewards
from c4env.envs.batch import bitboards, observed
from c4env.envs.text import TextEnv
from c4env.errors import InvalidAction, InvalidOption, InvalidPosition
from c4env.evaluation.exact.moves import JudgedMove
from tests.rules.positions import random_position, random_positions

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def judged():
    """Moves, legal in all but some, with the exact scores of all columns."""
    rng = random.Random(5)
    moves = []
    for plies in (*range(12), *range(17, 42)) * 3:
        position = random_position(plies, rng)
        column = rng.randrange(7)
        moves.append((position, column, tuple(Solver().scores(position))))
    return moves


def test_rewards_are_those_of_the_judge(judged):
    positions, columns, _ = zip(*judged, strict=True)
    keeps, graded, shaped = (
        function(positions, columns) for function in (rewards.keeps, rewards.graded, rewards.shaped)
    )
    assert keeps.dtype == graded.dtype == shaped.dtype == np.float32
    kinds = set()
    for i, (position, column, scores) in enumerate(judged):
        if scores[column] is None:
            best = max(s for s in scores if s is not None)
            assert (keeps[i], graded[i], shaped[i]) == (-1, -1, -1 - np.sign(best))
            continue
        move = JudgedMove("", "", position.plies, column, scores)
        assert keeps[i] == 1 - move.blunder
        assert shaped[i] == -2 * move.given_away
        worst = -((44 - (position.plies + 2)) // 2)  # the loss to the next disc
        room = move.best - worst
        assert graded[i] == pytest.approx(1 - move.loss / room if room else 1)
        kinds.add((keeps[i], shaped[i], 0 < graded[i] < 1))
    assert {(1, 0, True), (0, -1, True), (0, -2, True), (0, -2, False)} <= kinds


def test_forms_of_positions(judged):
    positions, columns, _ = zip(*judged, strict=True)
    expected = rewards.keeps(positions, columns, threads=1)
    observation = observed(bitboards(positions))
    for form in ([p.moves() for p in positions], observation, observation["observation"]):
        assert (rewards.keeps(form, np.array(columns)) == expected).all()
    assert rewards.keeps([], []).shape == (0,)
    assert rewards.keeps(["", "", ""], [None, -1, 7]).tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("positions", "columns", "error", "message"),
    [
        ("4455", [3], InvalidPosition, "'4455': expected positions, move strings or observations"),
        (["", "48"], [3, 3], InvalidPosition, "position 1: '48'.* is not a column"),
        (["1212121"], [3], InvalidPosition, "position 0: the game is over"),
        ([""], [3, 3], InvalidAction, "2 columns: expected 1 columns, one for each position"),
        ([""], 3, InvalidAction, "no sequence: expected 1 columns"),
        (["", ""], [3, "4"], InvalidAction, "column 1 is '4': expected an integer from 0 on, or"),
        ([""], [2.5], InvalidAction, r"column 0 is 2\.5: expected an integer"),
    ],
)
def test_wrong_arguments_are_named(positions, columns, error, message):
    with pytest.raises(error, match=message):
        rewards.keeps(positions, columns)


def test_an_environment_tells_the_exact_reward_of_each_move():
    env = ConnectFourEnv("greedy", seat=0, exact_reward=True)
    words = TextEnv("greedy", seat=0, reward="exact")
    for moves, column, expected in (("444444", 2, 1.0), ("444444", 0, 0.0), ("444444", 3, -1.0)):
        assert "exact_reward" not in env.reset(seed=1, options={"moves": moves})[1]
        assert env.step(column)[4]["exact_reward"] == expected
        words.reset(seed=1, options={"moves": moves})
        _, reward, _, _, info = words.step(f"Move: {column + 1}")
        assert reward == info["exact_reward"] == expected
    words.reset(seed=1)
    assert words.step("I do not know")[1] == -1
    with pytest.raises(InvalidOption, match=r"reward='keeps': expected one of \['result', 'ex"):
        TextEnv(reward="keeps")


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("boards", [6, 1])  # of one board, a step may have no reward to tell
def test_boards_tell_what_single_environments_tell(mode, boards):
    options = {"opponent": "random", "exact_reward": True, "seat": "random"}
    kind = {"autoreset_mode": mode}
    many = ConnectFourVectorEnv(boards, action_mask="info", layout="flat", **options, **kind)
    singles = SyncVectorEnv([lambda: ConnectFourEnv(**options)] * boards, **kind)
    for envs in (many, singles):
        envs.reset(seed=3)
    untold = 0
    for actions in np.random.default_rng(1).integers(0, 7, (30, boards)):
        infos = [envs.step(actions)[4] for envs in (many, singles)]
        for get in (lambda info: info, lambda info: info.get("final_info", {})):
            ours, theirs = map(get, infos)
            for key in ("exact_reward", "_exact_reward"):
                assert np.array_equal(ours.get(key), theirs.get(key))
        untold += boards - np.count_nonzero(infos[0].get("_exact_reward", 0))
    assert untold


def test_self_play_tells_the_exact_reward_of_every_ply():
    boards = ConnectFourVectorEnv(8, exact_reward=True, autoreset_mode="SameStep")
    starts = [p.moves() for p in random_positions(8, 4, 20, 36)]
    boards.reset(seed=3, options={"moves": starts})
    for columns in np.random.default_rng(1).integers(0, 7, (4, 8)):
        expected = rewards.keeps(boards.positions(), columns)
        info = boards.step(columns)[4]
        told = info["exact_reward"] + info.get("final_info", {"exact_reward": 0})["exact_reward"]
        assert (told == expected).all()
