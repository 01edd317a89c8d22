"""Many games as a Gymnasium VectorEnv: the same games as everywhere else, only more."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from c4env import ConnectFourVectorEnv, Position, batched, observe
from c4env.envs.streams import STATES, below, next_random
from c4env.errors import IllegalMove, InvalidAction, OpponentFailed, WrongOrder
from tests.helpers.environments import state_of

NEXT, SAME, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
MODES = pytest.mark.parametrize("mode", [NEXT, SAME, DISABLED])


def after(position, column):
    """The next position, or None where the column is full, and the result of who moves."""
    if not position.is_legal(column):
        return None, -1
    ahead = position.play(column)
    won = ahead.outcome is not None and ahead.outcome.winner is not None
    return ahead, int(won)


@pytest.mark.parametrize(
    ("games", "size"),
    [(24, 4), pytest.param(800, 50, marks=[pytest.mark.slow, pytest.mark.compiled])],
)
@MODES
def test_self_play_goes_by_the_rules(mode, games, size):
    """With illegal moves; the single environment is compared with many boards elsewhere."""
    many, choose = ConnectFourVectorEnv(size, autoreset_mode=mode), np.random.default_rng(1)
    shown, over = [Position()] * size, np.zeros(size, np.bool_)
    seen, info = many.reset(seed=0)
    while games > 0:
        for i, position in enumerate(shown):
            expected = observe(position)
            assert np.array_equal(seen["observation"][i], expected["observation"])
            assert (seen["action_mask"][i] == (1 if over[i] else expected["action_mask"])).all()
            assert info["ply"][i] == position.plies
        actions = np.where(choose.random(size) < 0.2, choose.integers(7, size=size), 3)
        illegal = seen["action_mask"][range(size), actions] == 0
        actions = np.where(illegal & (choose.random(size) < 0.7), 6, actions)
        seen, rewards, ended, truncated, info = many.step(actions)
        assert not truncated.any()
        for i, position in enumerate(shown):
            if over[i]:  # the step that begins the next game
                shown[i], over[i] = Position(), False
                assert (rewards[i], ended[i], info["ply"][i]) == (0, False, 0)
                continue
            ahead, result = after(position, int(actions[i]))
            shown[i] = ahead or position
            over[i] = ahead is None or ahead.outcome is not None
            # An illegal move loses; as in PettingZoo the other player gets nothing for it.
            both = [result, -max(result, 0)][:: 1 - 2 * position.to_move]
            assert (ended[i], rewards[i]) == (over[i], result)
            assert info["player_rewards"][i].tolist() == both
            if not over[i]:
                continue
            games -= 1
            last = info["final_info"] if mode is SAME else info
            outcome = ahead and ahead.outcome
            cells = sorted(outcome.cells) if outcome else []
            assert last["illegal"][i] == (ahead is None)
            winner = {0: -1, 1: position.to_move, -1: 1 - position.to_move}[result]
            assert last["winner"][i] == winner
            assert np.argwhere(last["winning_cells"][i]).tolist() == list(map(list, cells))
            if mode is SAME:
                final = observe(shown[i])["observation"]
                assert np.array_equal(info["final_obs"][i]["observation"], final)
                assert info["final_obs"][i]["action_mask"].all()
                shown[i], over[i] = Position(), False
        if mode is DISABLED and over.any():
            seen, info = many.reset(options={"reset_mask": over})
            info["ply"] = [p.plies for p in many.positions()]  # only of the new games
            shown = [Position() if done else p for p, done in zip(shown, over, strict=True)]
            over[:] = False


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (lambda o: np.zeros(99, np.int64), r"shape \(99,\)"),
        (lambda o: np.zeros(len(o["action_mask"])), "expected legal columns"),
        (lambda o: [-1] * len(o["action_mask"]), "board 0: -1 is not a column"),
        (lambda o: [3, 3, 0], "board 2: column 0 is full"),
        (lambda o: 1 / 0, "ZeroDivisionError on boards 0, 1, 2"),
        (lambda o: None, "answered None"),
    ],
)
@MODES
def test_a_failing_opponent_needs_a_reset(answer, match, mode):
    environment = ConnectFourVectorEnv(3, opponent=batched(answer), seat=0, autoreset_mode=mode)
    environment.reset(seed=1, options={"moves": ["", "", "111111"]})
    with pytest.raises(OpponentFailed, match=f"{match}.*call reset"):
        environment.step([3, 3, 3])
    with pytest.raises(WrongOrder, match="after a failed step"):
        environment.step([3, 3, 3])
    with pytest.raises(OpponentFailed):
        environment.reset(seed=2, options={"moves": ["1", "1", "1111112"]})
    with pytest.raises(WrongOrder, match="every board"):
        environment.reset(options={"reset_mask": np.array([True, False, False])})
    environment.reset(seed=1)


def test_seeds_of_boards_hold_after_a_failure():
    def openings():
        failing = []

        def opponent(observation):
            if failing:
                raise ValueError("no answer")
            return 3

        environment = ConnectFourVectorEnv(4, opponent=opponent, seat=0, openings=4)
        environment.reset(seed=[1, 2, 3, 4])
        failing.append(True)
        with pytest.raises(OpponentFailed):
            environment.step([3] * 4)
        failing.clear()
        environment.reset()
        return environment.positions()

    assert openings() == openings()


def test_what_was_returned_stays_as_it_was():
    envs = ConnectFourVectorEnv(3, opponent="random", autoreset_mode=SAME)
    seen = envs.reset(seed=1)[0]
    before = {key: array.copy() for key, array in seen.items()}
    envs.step([3, 3, 3])
    assert all(np.array_equal(seen[key], array) for key, array in before.items())


def won_in_one(mode):
    environment = ConnectFourVectorEnv(2, autoreset_mode=mode)
    environment.reset(seed=1, options={"moves": ["445566", ""]})
    return environment


def test_next_step():
    environment = won_in_one(NEXT)
    environment.step([6, 6])
    with pytest.raises(InvalidAction, match="board 1: 9"):
        environment.step([99, 9])
    environment.step([99, 6])  # the action of the finished board is not looked at
    assert environment.positions() == [Position(), Position.parse("77")]


def test_disabled():
    environment = won_in_one(DISABLED)
    environment.step([6, 6])
    before = state_of(environment)
    with pytest.raises(IllegalMove, match="board 0: the game is over; reset"):
        environment.step([0, 0])
    assert state_of(environment) == before


def test_the_generator_is_drand48():
    """The first numbers of ``srand48(0)``, which sets the state to 0x330E, and ``drand48()``."""
    state = 0x330E
    drawn = []
    for _ in range(3):
        state = next_random(state)
        drawn.append(state / STATES)
    assert drawn == pytest.approx([0.170828036, 0.749901980, 0.096371656], abs=1e-8)


def test_numbers_below_a_bound_share_the_states_evenly():
    for count in (1, 2, 7, 1000):
        for number in range(count):
            middle = (2 * number + 1) * STATES // (2 * count)
            assert below(middle, count) == number
    assert below(STATES - 1, 1 << 31) == (1 << 31) - 1
