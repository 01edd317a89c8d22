"""Many games as a Gymnasium VectorEnv: the same games as everywhere else, only more."""

import random

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, batched, env
from c4env.envs.streams import STATES, below, next_random
from c4env.errors import IllegalMove, InvalidAction, OpponentFailed, WrongOrder
from tests.helpers.environments import begun, state_of

NEXT, SAME, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
MODES = pytest.mark.parametrize("mode", [NEXT, SAME, DISABLED])


def legal_actions(observation, choose):
    """A random legal column a board; 0 where none is legal."""
    mask = observation["action_mask"]
    return np.asarray((choose.random(mask.shape) * mask).argmax(axis=1))


@batched
def leftmost(observation):
    return np.asarray(observation["action_mask"].argmax(axis=1))


def pick(mask, choose, illegal=0.0):
    """A legal column; with this probability one that is not, where there is one."""
    columns = np.flatnonzero(mask == (choose.random() >= illegal))
    return int(choose.choice(columns if len(columns) else range(7)))


def follow(mode, size, games, illegal):
    """Play random games on many boards, and on each board in an AEC environment as well."""
    many, choose = ConnectFourVectorEnv(size, autoreset_mode=mode), random.Random(1)
    ones, over = [begun(env) for _ in range(size)], [False] * size
    seen, info = many.reset(seed=0)
    while games > 0:
        movers = [one.position.to_move for one in ones]
        sights = [one.observe(f"player_{mover}") for one, mover in zip(ones, movers, strict=True)]
        for i, sight in enumerate(sights):
            assert np.array_equal(seen["observation"][i], sight["observation"])
            mask = 1 if over[i] else sight["action_mask"]
            assert (seen["action_mask"][i] == mask).all()
            assert info["ply"][i] == ones[i].position.plies * info["_ply"][i]
        if mode is DISABLED and any(over):
            seen, info = many.reset(options={"reset_mask": np.array(over)})
            for i in np.flatnonzero(over):
                ones[i].reset()
            over = [False] * size
            continue
        actions = [pick(sight["action_mask"], choose, illegal) for sight in sights]
        seen, rewards, ended, truncated, info = many.step(actions)
        assert not truncated.any()
        for i, one in enumerate(ones):
            if over[i]:
                one.reset()
            else:
                one.step(actions[i])
            both = list(one.rewards.values())
            assert info["player_rewards"][i].tolist() == both
            assert rewards[i] == both[movers[i]]
            over[i] = one.terminations["player_0"]
            assert ended[i] == over[i]
            check_end(info["final_info"] if over[i] and mode is SAME else info, i, one)
            games -= int(over[i])
            if over[i] and mode is SAME:
                final = one.observe(f"player_{one.position.to_move}")
                assert np.array_equal(info["final_obs"][i]["observation"], final["observation"])
                one.reset()
                over[i] = False


def check_end(info, i, one):
    """Require that info tells how the game of an AEC environment on board i has ended."""
    both, outcome = list(one.rewards.values()), one.position.outcome
    if not any(both) and outcome is None:
        assert not info.get("_winner", [False] * (i + 1))[i]
        return
    assert all(info[f"_{key}"][i] for key in ("winner", "illegal", "winning_cells"))
    assert info["illegal"][i] == (outcome is None)
    assert info["winner"][i] == (-1 if not any(both) else np.argmax(both))
    cells = [] if outcome is None else sorted(outcome.cells)
    assert np.argwhere(info["winning_cells"][i]).tolist() == list(map(list, cells))
    assert info["player_rewards"][i].tolist() == both


def follow_single(games):
    """The same with one board, whose opponent spoils what it is given."""
    one, choose, seats = env(), random.Random(2), set()

    def reply(seen):
        sight = one.observe(one.agent_selection)
        column = pick(sight["action_mask"], choose)
        one.step(column)
        for key, array in sight.items():
            assert np.array_equal(seen[key], array)
            seen[key][:] = 1
        return column

    environment = ConnectFourEnv(reply, layout="planes_last")
    for game in range(games):
        one.reset()
        seen, info = environment.reset(seed=None if game else 1)
        me, over = f"player_{info['seat']}", False
        seats.add(me)
        while True:
            sight = one.observe(me)
            assert np.array_equal(seen, sight["observation"])
            assert (info["action_mask"] == (1 if over else sight["action_mask"])).all()
            assert info["ply"] == one.position.plies
            assert ("winner" in info) == over == one.terminations[me]
            if over:
                break
            column = pick(sight["action_mask"], choose)
            one.step(column)
            seen, reward, over, _, info = environment.step(column)
            assert reward == one.rewards[me]
    assert seats == {"player_0", "player_1"}


@pytest.mark.parametrize(
    ("games", "size"),
    [(24, 4), pytest.param(800, 50, marks=[pytest.mark.slow, pytest.mark.compiled])],
)
def test_games_are_the_same_everywhere(games, size, monkeypatch):
    monkeypatch.setattr("pettingzoo.utils.env_logger.EnvLogger.warn_on_illegal_move", lambda: None)
    follow_single(games)
    for mode in (NEXT, SAME, DISABLED):
        for illegal in (0.0, 0.2):
            follow(mode, size, games, illegal)


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
    with pytest.raises(WrongOrder, match="after a step that failed"):
        environment.step([3, 3, 3])
    with pytest.raises(OpponentFailed):
        environment.reset(seed=2, options={"moves": ["1", "1", "1111112"]})
    with pytest.raises(WrongOrder, match="every board"):
        environment.reset(options={"reset_mask": np.array([True, False, False])})
    environment.reset(seed=1)


def history(environment, steps, **reset):
    observation, _ = environment.reset(**reset)
    seen = [environment.positions()]
    for _ in range(steps):
        observation, *_ = environment.step(leftmost(observation))
        seen.append(environment.positions())
    return seen


def test_a_seed_is_of_the_first_board_and_the_next_ones_follow():
    first = history(ConnectFourVectorEnv(3, opponent="random"), 60, seed=0)
    assert history(ConnectFourVectorEnv(3, opponent="random"), 60, seed=[0, 1, 2]) == first
    assert len({tuple(row[i] for row in first) for i in range(3)}) == 3


def test_a_reset_without_seed_goes_on_with_its_chance():
    environment = ConnectFourVectorEnv(3, opponent="random")
    first = history(environment, 20, seed=1)
    second = history(environment, 20)
    assert first != second
    history(environment, 20, seed=1)
    assert history(environment, 20) == second
    assert history(environment, 20, seed=[1, None, 3]) != second


def test_reset_mask_leaves_the_other_boards_alone():
    def run(mask):
        environment = ConnectFourVectorEnv(3, opponent="random", seat=0)
        environment.reset(seed=4)
        environment.step([3, 3, 3])
        if mask is not None:
            options = {"reset_mask": mask, "moves": "44"}
            _, info = environment.reset(seed=9, options=options)
            assert info["_ply"].tolist() == mask.tolist()
            assert info["ply"].tolist() == [2 if chosen else 0 for chosen in mask]
            assert [p.plies for p in environment.positions()] == [2, 2, 2]
        for _ in range(3):
            environment.step([0, 1, 2])
        return environment.positions()

    undisturbed = run(None)
    disturbed = run(np.array([False, True, False]))
    assert disturbed[0] == undisturbed[0]
    assert disturbed[2] == undisturbed[2]
    assert disturbed[1].plies == 8


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


def test_what_gymnasiums_returns_are_in_self_play():
    """1 whoever won; each player's return is the row of ``player_rewards`` at the end."""
    envs = ConnectFourVectorEnv(16)
    counted = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    observation, _ = counted.reset(seed=1)
    choose = np.random.default_rng(1)
    winners = []
    for _ in range(150):
        actions = legal_actions(observation, choose)
        observation, _, over, _, info = counted.step(actions)
        if over.any():
            both = info["player_rewards"][over]
            assert (info["episode"]["r"][over] == np.abs(both).max(axis=1)).all()
            assert (both.sum(axis=1) == 0).all()
            winners += both.argmax(axis=1).tolist()
    assert set(winners) == {0, 1}


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
