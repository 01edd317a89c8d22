"""One side against an opponent, and what Gymnasium expects of it."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from c4env import ConnectFourEnv, Position, observe, position_from
from c4env.errors import InvalidOption, OpponentFailed, WrongOrder
from c4env.observation import DTYPES, LAYOUTS, Form
from tests.helpers.environments import state_of
from tests.helpers.policies import first_legal


def test_an_illegal_move_loses():
    environment = ConnectFourEnv(first_legal, seat=0)
    environment.reset(seed=1, options={"moves": "444444"})
    observation, reward, terminated, truncated, info = environment.step(3)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert environment.position == Position.parse("444444")
    assert environment.observation_space.contains(observation)
    assert (info["illegal"], info["winner"]) == (True, 1)
    assert not info["winning_cells"].any()
    assert info["action_mask"].tolist() == [0] * 7
    with pytest.raises(WrongOrder):
        environment.step(0)


def test_openings_are_drawn_unless_reset_names_a_start():
    environment = ConnectFourEnv(openings=["44", Position.parse("1212"), "7777"], seat=0)
    environment.reset(seed=1)
    drawn = []
    for _ in range(60):
        environment.reset()
        drawn.append(environment.position)
    starts = [Position.parse(moves) for moves in ("44", "1212", "7777")]
    assert min(map(drawn.count, starts)) > 8
    assert sum(map(drawn.count, starts)) == 60
    environment.reset(options={"moves": "55"})
    assert environment.position == Position.parse("55")
    environment = ConnectFourEnv(openings=["112233"], seat=0)
    with pytest.raises(InvalidOption, match="the opponent is to move and could end the game"):
        environment.reset(options={"seat": 1})


OUT_OF_ORDER = RuntimeError("out of order")


@pytest.mark.parametrize("failure", [-1, 7, None, 2.5, True, "3", [1, 2], OUT_OF_ORDER], ids=repr)
def test_an_opponents_failure_takes_the_callers_move_back(failure):
    def opponent(observation):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    answers = [failure, 3, failure]
    environment = ConnectFourEnv(opponent, seat=0)
    environment.reset(seed=1)
    before = state_of(environment)
    with pytest.raises(OpponentFailed, match=r"Position\.parse\('4'\)") as caught:
        environment.step(3)
    if failure is OUT_OF_ORDER:
        assert "RuntimeError" in str(caught.value)
        assert str(caught.value).endswith("out of order")
        assert caught.value.__cause__ is failure
    assert state_of(environment) == before
    environment.step(3)
    assert environment.position == Position.parse("44")
    with pytest.raises(OpponentFailed):
        environment.reset(options={"seat": 1})


def test_an_opponents_reset_is_given_a_seed():
    def seeds(first):
        found = []

        def opponent(observation):
            return 0

        opponent.reset = found.append
        environment = ConnectFourEnv(opponent, seat=1)
        environment.reset(seed=first)
        environment.reset()
        return found

    assert seeds(1) == seeds(1)
    assert len(set(seeds(1) + seeds(2))) == 4


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int8", "float32", np.float32, "int64"])
def test_observations_have_the_chosen_form(layout, dtype):
    environment = ConnectFourEnv(first_legal, seat=1, layout=layout, dtype=dtype)
    environment.reset(seed=1)
    seen = environment.step(3)[0]
    assert environment.observation_space.contains(seen)
    assert seen.flags.c_contiguous
    assert np.array_equal(seen, Form(layout)(observe(Position.parse("141"), 1)["observation"]))
    assert position_from(seen) == Position.parse("141")  # what agents read


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_gymnasium_accepts_it(layout, dtype, monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    environment = gymnasium.make("c4env/ConnectFour-v0", layout=layout, dtype=dtype)
    pictures = (layout, dtype) == ("flat", "int8")  # alike for all; it takes a second
    check_env(environment.unwrapped, skip_render_check=not pictures)


def test_gymnasium_stacks_wins_and_draws():
    draw = "725557317577734451561166114446246232623323"
    environment = gymnasium.vector.SyncVectorEnv([lambda: ConnectFourEnv(first_legal)] * 2)
    environment.reset(seed=1)
    environment.envs[0].reset(options={"moves": "445566", "seat": 0})
    environment.envs[1].reset(options={"moves": draw[:-1], "seat": 1})
    _, rewards, terminated, _, info = environment.step([6, int(draw[-1]) - 1])
    assert (rewards.tolist(), terminated.tolist()) == ([1, 0], [True, True])
    assert info["winner"].tolist() == [0, -1]
    assert info["winning_cells"].shape == (2, 6, 7)
    assert info["winning_cells"].sum(axis=(1, 2)).tolist() == [4, 0]
