"""The AEC environment: the same as PettingZoo's where that is right, better where it is not."""

import logging
import random
import warnings

import numpy as np
import pytest
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from c4env.envs.aec import env, raw_env
from c4env.errors import WrongOrder
from tests.helpers.environments import begun, seen

with warnings.catch_warnings():
    # PettingZoo's checks import its own games by a path that it deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, render_test, seed_test
    from pettingzoo.test.state_test import test_state_space as check_state_space

BOTH = pytest.mark.parametrize("make", [env, raw_env])


@pytest.fixture(autouse=True)
def quiet():
    """PettingZoo prints its warnings; keep them out of the test's output and out of each other."""
    EnvLogger.suppress_output()
    EnvLogger.flush()
    yield
    EnvLogger.unsuppress_output()
    EnvLogger.flush()


def masks(environment):
    return [environment.observe(a)["action_mask"].tolist() for a in environment.possible_agents]


def outcome_of(call, *arguments):
    """What a call returned, or which of the built-in errors users catch it raised."""
    try:
        return call(*arguments)
    except AssertionError:
        return "AssertionError"
    except ValueError:
        return "ValueError"


# -- the same as PettingZoo's ---------------------------------------------------------------


def compare_game(ours, theirs, choose):
    """Drive both through one game with mistakes; returns the kinds of steps it had."""
    ours.reset(seed=1)
    theirs.reset(seed=1)
    # Theirs carries a note of the last game over into the next one; not worth imitating.
    theirs.unwrapped._skip_agent_selection = None
    kinds = []
    iterators = iter(ours.agent_iter()), iter(theirs.agent_iter())
    mischief = choose.choice([0.0, 0.02, 0.2])
    while True:
        agents = [next(iterator, "end") for iterator in iterators]
        assert agents[0] == agents[1]
        assert seen(ours) == seen(theirs)
        if agents[0] == "end":
            break
        assert str(ours.last(observe=False)) == str(theirs.last(observe=False))
        # The reward's type shows too: int in general, float for the illegal move.
        mine, other = ours.last(), theirs.last()
        assert mine[1:] == other[1:]
        assert [type(value) for value in mine] == [type(value) for value in other]
        assert list(mine[0]) == list(other[0])
        for key in mine[0]:
            assert mine[0][key].dtype == other[0][key].dtype
            assert mine[0][key].shape == other[0][key].shape
        dead = mine[2] or mine[3]
        if dead:
            assert masks(ours) == [[0] * 7] * 2
            kind, action = "dead", None
            if choose.random() < mischief:
                kind, action = "dead acts", choose.choice([0, 3, 6, 9])
        else:
            assert masks(ours) == masks(theirs)
            kind, action = "legal", choose.choice(np.flatnonzero(mine[0]["action_mask"]).tolist())
            if choose.random() < mischief:
                full = np.flatnonzero(mine[0]["action_mask"] == 0).tolist()
                if full:
                    kind, action = "illegal", choose.choice(full)
                else:
                    kind, action = "outside", choose.choice([-1, 7, 2.0, "3", None])
            elif choose.random() < 0.5:
                action = choose.choice([np.int32, np.int64, np.int8])(action)
        kinds.append(kind)
        results = outcome_of(ours.step, action), outcome_of(theirs.step, action)
        if kind == "dead acts":  # PettingZoo raises AssertionError for no column
            assert None not in results
        else:
            assert results[0] == results[1]
        assert EnvLogger.mqueue[::2] == EnvLogger.mqueue[1::2]
    assert outcome_of(ours.step, 0) == outcome_of(theirs.step, 0)  # warns, nothing more
    assert EnvLogger.mqueue[::2] == EnvLogger.mqueue[1::2]

    return kinds


@pytest.fixture
def log_messages(monkeypatch):
    """Each warning once in PettingZoo's queue, without its handler that adds another copy."""
    logger = logging.getLogger("pettingzoo.utils.env_logger")
    monkeypatch.setattr(logger, "handlers", [logging.NullHandler()])
    monkeypatch.setattr(logger, "propagate", False)


@pytest.mark.usefixtures("log_messages")
@pytest.mark.parametrize("wrapped", [False, True], ids=["env", "wrapped raw_env"])
def test_games_are_those_of_pettingzoo(wrapped):
    connect_four = pytest.importorskip("pettingzoo.classic.connect_four.connect_four")
    ours = env()
    if wrapped:
        ours = wrappers.TerminateIllegalWrapper(raw_env(), illegal_reward=-1)
        ours = wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(ours))
    theirs = connect_four.env()
    choose = random.Random(20)
    kinds = []
    for _ in range(50):
        kinds += compare_game(ours, theirs, choose)
    for kind in ("legal", "illegal", "outside", "dead", "dead acts"):
        assert kinds.count(kind) > 3, kind


def test_spaces_and_metadata_are_those_of_pettingzoo():
    connect_four = pytest.importorskip("pettingzoo.classic.connect_four.connect_four")
    ours, theirs = env(), connect_four.env()
    assert ours.possible_agents == theirs.possible_agents
    for agent in ours.possible_agents:
        assert ours.action_space(agent) == theirs.action_space(agent)
        assert ours.observation_space(agent) == theirs.observation_space(agent)
        assert ours.action_space(agent) is ours.action_space(agent)
        assert ours.observation_space(agent) is ours.observation_space(agent)
    for key in ("is_parallelizable", "render_fps"):
        assert ours.metadata[key] == theirs.metadata[key]
    assert ours.metadata["name"] == str(ours) == "c4env_connect_four_v0"
    assert set(theirs.metadata["render_modes"]) < set(ours.metadata["render_modes"])
    assert ours.board == theirs.board == [0] * 42


def test_nothing_of_a_game_before_the_first_reset():
    names = ["agents", "rewards", "terminations", "truncations", "infos", "agent_selection"]
    for name in (*names, "num_agents"):
        environment = env()
        assert not hasattr(environment, name)
        environment.reset()
        assert hasattr(environment, name)


def test_agent_iter_stops_after_max_iter_and_can_be_used_again():
    environment = begun(env)
    turns = environment.agent_iter(3)
    for _ in range(2):
        count = 0
        for _ in turns:
            environment.step(count % 7)
            count += 1
        assert count == 3


def test_step_after_the_last_agent_is_an_error_without_the_layer_that_warns():
    bare = begun(raw_env, "4455667")
    bare.step(None)
    bare.step(None)
    assert bare.agents == []
    with pytest.raises(WrongOrder, match="reset"):
        bare.step(3)


# -- better than PettingZoo's ---------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("action", [3, -1, "3", True])
def test_the_dead_take_only_none(make, action):
    environment = begun(make, "4455667")
    before = seen(environment)
    with pytest.raises(ValueError, match="only valid action is None"):
        environment.step(action)
    assert seen(environment) == before


@BOTH
def test_state_is_the_board_for_both(make):
    environment = begun(make)
    assert environment.state_space.contains(environment.state())
    environment.step(3)
    state = environment.state()
    assert environment.state_space.contains(state)
    assert np.argwhere(state).tolist() == [[5, 3, 0]]
    environment.step(3)
    assert np.argwhere(environment.state()).tolist() == [[4, 3, 1], [5, 3, 0]]
    assert np.array_equal(environment.observe("player_0")["observation"], environment.state())
    check_state_space(environment)


# -- pictures, checks and names ---------------------------------------------------------------


# An empty board has no discs to observe (PettingZoo's own connect four draws the same
# warning), and once the game is over no column is legal.
@pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros")
# The test excuses dicts of the environments whose names it knows.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be")
@BOTH
def test_pettingzoo_accepts_it(make):
    api_test(make(), num_cycles=100)
    seed_test(make, num_cycles=100)


@BOTH
def test_pettingzoo_accepts_its_pictures(make, monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(raw_env.metadata, "render_fps", 1000)
    render_test(make)
