"""One side against an opponent, alone and many in one step, and what Gymnasium expects of it."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import c4env
from c4env import ConnectFourEnv, Position, agents
from c4env.agents import Pool
from c4env.errors import InvalidOption, OpponentFailed
from tests.helpers.environments import state_of
from tests.helpers.policies import (
    Drawn,
    DrawnMany,
    first_legal,
    rightmost,
)
from tests.helpers.processes import run_python

FORMS = pytest.mark.parametrize(("layout", "dtype"), [("flat", "int8"), ("signed", np.int64)])


def test_an_opponent_may_spoil_what_it_is_given():
    def spoiling(observation):
        column = first_legal(observation)
        for array in observation.values():
            array[:] = 1
        return column

    environment = ConnectFourEnv(spoiling, seat=1)
    for _ in range(2):  # in the second game it would see what it wrote: a full column as legal
        seen, info = environment.reset(options={"moves": "111111"})
        assert environment.position == Position.parse("1111112")
        assert seen.sum() == 7
        assert info["action_mask"].tolist() == [0, *[1] * 6]


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


@FORMS
def test_gymnasium_accepts_it(layout, dtype, monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    environment = gymnasium.make("c4env/ConnectFour-v0", layout=layout, dtype=dtype)
    pictures = layout == "flat"  # the same for all layouts; it takes a second
    check_env(environment.unwrapped, skip_render_check=not pictures)


NAME = "c4env/ConnectFour-v0"
SIZE = 12
MODES = [mode.value for mode in AutoresetMode]


OPPONENTS = {
    "none": lambda: None,
    "random": lambda: "random",
    "greedy": lambda: "greedy",
    "pool": lambda: Pool({"greedy": 1, "random": 2, rightmost: 1}, seed=3),
    "pool per move": lambda: Pool({"greedy": 1, "random": 2}, per="move"),
    "function": lambda: first_legal,
    "function of many": lambda: rightmost,
    "an agent that draws": Drawn,
    "an agent of many boards": DrawnMany,
    "softmax": lambda: agents.make(c4env.batched(lambda o: o["action_mask"]), temperature=1.0),
    "graded": lambda: "graded:elo=-300",
}


def both(opponent, mode="NextStep", size=SIZE, **options):
    """Native environments, and Gymnasium's vector of single ones."""
    native = gymnasium.make_vec(NAME, size, opponent=opponent(), autoreset_mode=mode, **options)

    def single():
        return gymnasium.make(NAME, opponent=opponent(), **options)

    return native, SyncVectorEnv([single] * size, autoreset_mode=mode)


def same(given, expected):
    """Require equal values, shapes and dtypes; return the number of values."""
    if isinstance(expected, dict):
        assert given.keys() == expected.keys()
        return sum(same(given[key], expected[key]) for key in expected)
    if isinstance(expected, tuple):
        return sum(map(same, given, expected))
    if expected is None:
        assert given is None
        return 0
    assert (given.dtype, given.shape) == (expected.dtype, expected.shape)
    if expected.dtype == object:
        return sum(map(same, given, expected))
    assert np.array_equal(given, expected)
    return expected.size


def play(native, singles, games):
    """Play so many games on both, with illegal moves; return the number of compared values."""
    choose, compared, masks = np.random.default_rng(1), 0, None
    starts = [{"moves": "1122"}, {"seat": 1}, {"moves": "4", "seat": 0}]
    while games > 0:
        if masks is None or choose.random() < 0.02:
            seeded = masks is None or choose.random() < 0.5
            arguments = {"seed": int(choose.integers(9)) if seeded else None}
            arguments["options"] = starts[choose.integers(3)] if choose.random() < 0.5 else None
            seen, info = native.reset(**arguments)
            compared += same([seen, info], singles.reset(**arguments))
            masks = info["action_mask"].copy()
        legal = choose.random((SIZE, 7)) * (masks + (choose.random((SIZE, 1)) < 0.03))
        result = native.step(actions := legal.argmax(axis=1))
        compared += same(result, singles.step(actions))
        masks, ended = result[4]["action_mask"].copy(), result[2]
        games -= ended.sum()
        if ended.any() and native.autoreset_mode is AutoresetMode.DISABLED:
            seeds = choose.integers(9, size=SIZE).tolist() if choose.random() < 0.5 else None
            start = starts[choose.integers(3)] if choose.random() < 0.2 else {}
            # Gymnasium's vector takes the mask out of the dict.
            seen, info = native.reset(seed=seeds, options=start | {"reset_mask": ended})
            options = start | {"reset_mask": ended.copy()}
            compared += same([seen, info], singles.reset(seed=seeds, options=options))
            masks[ended] = info["action_mask"][ended]
    return compared


@pytest.mark.parametrize(
    ("opponent", "mode"),
    [
        *((name, MODES[number % 3]) for number, name in enumerate(OPPONENTS)),
        *(("random", "NextStep"), ("random", "Disabled")),  # whose moves a kernel plays,
        *(("pool", "SameStep"), ("pool", "Disabled")),  # one with games of its own,
        *(("softmax", "Disabled"), ("graded", "NextStep")),  # and two that draw
    ],
)
def test_all_values_are_those_of_single_environments(opponent, mode):
    native, singles = both(OPPONENTS[opponent], mode, openings=["", "4", "44", "1122"])
    for name in ("single_observation_space", "observation_space", "action_space"):
        assert getattr(native, name) == getattr(singles, name)
    assert native.metadata["autoreset_mode"] is singles.metadata["autoreset_mode"]
    assert play(native, singles, 100) > 30_000


@FORMS
def test_the_form_of_observations_is_the_same_as_in_single_environments(layout, dtype):
    native, singles = both(lambda: "greedy", "SameStep", layout=layout, dtype=dtype)
    assert native.observation_space == singles.observation_space
    play(native, singles, 20)


def test_many_are_made_by_their_name():
    for mode, kind in ((None, "ConnectFourVectorEnv"), ("sync", "SyncVectorEnv")):
        many = gymnasium.make_vec(NAME, 2, vectorization_mode=mode, opponent="greedy")
        assert type(many).__name__ == kind
        assert gymnasium.vector.VectorEnv in type(many).__bases__  # skrl's wrap_env asks for it
        assert many.reset(seed=1)[0].shape == (2, 84)
        assert many.single_observation_space.dtype == np.float32  # what networks take


def test_torchrl_makes_it_by_its_id():
    environment = pytest.importorskip("torchrl.envs").GymEnv(NAME)
    assert environment.rollout(3)["observation"].dtype == pytest.importorskip("torch").float32


def test_a_learner_of_one_file_makes_it_by_its_id_and_learns_from_a_buffer():
    """As CleanRL's dqn.py with ``--env-id``: a buffer of the environment's own dtype."""
    torch = pytest.importorskip("torch", reason="needs torch: the extra torch")
    single = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(f"c4env:{NAME}"))
    envs = SyncVectorEnv([lambda: single])
    assert isinstance(envs.single_action_space, gymnasium.spaces.Discrete)
    space, network = envs.single_observation_space, torch.nn.Linear(84, 7)
    buffer, (seen, _) = np.zeros((8, *space.shape), space.dtype), envs.reset(seed=1)
    for row in buffer:
        row[:] = seen[0]
        seen, *_ = envs.step(network(torch.Tensor(seen)).argmax(1).numpy())
    assert network(torch.from_numpy(buffer)).shape == (8, 7)


@pytest.mark.slow
def test_the_zoo_of_stable_baselines3_trains_it_by_its_id(tmp_path):
    pytest.importorskip("rl_zoo3")
    settings = "{n_timesteps: 32, policy: MlpPolicy, n_steps: 32, batch_size: 32}"
    (tmp_path / "mine.yml").write_text(f"{NAME}: {settings}")
    words = f"--algo ppo --env {NAME} --gym-packages c4env -conf mine.yml -f logs --eval-freq -1"
    run_python("-m", "rl_zoo3.train", *words.split(), cwd=tmp_path, check=True)


def test_what_is_refused():
    many = gymnasium.make_vec(NAME, 3)
    for options, words in (({"seat": 2}, "seat=2"), ({"speed": 1}, "unknown option speed")):
        with pytest.raises(InvalidOption, match=words):
            many.reset(options=options)
    for environment in both(lambda: "random", openings=["112233"], seat=0):
        with pytest.raises(InvalidOption, match="the opponent is to move and could end the game"):
            environment.reset(options={"seat": 1})
    with pytest.raises(InvalidOption, match=r"expected gymnasium\.make_vec, or gymnasium\.make of"):
        gymnasium.make("c4env/ConnectFourSelfPlay-v0")
    with pytest.raises(InvalidOption, match="unknown option seat"):
        c4env.ConnectFourVectorEnv(2).reset(options={"seat": 1})
