"""Boards as tensors: the games of the vector environment, wherever the tensors are."""

import copy
import importlib
import pickle
import re
import sys
from functools import partial

import numpy as np
import pytest

import c4env
from c4env import Position
from c4env.bitboard import COLUMNS
from c4env.errors import InvalidAction, InvalidOption, MissingExtra, WrongOrder
from c4env.observation import Form
from tests.helpers import policies

try:
    from c4env.envs import tensor, tensor_env
except MissingExtra:
    tensor = tensor_env = None


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="needs torch: the extra torch")


# PyTorch's own warnings, within its compiler.
COMPILING = pytest.mark.filterwarnings("ignore::DeprecationWarning")
OPENINGS = ["", "44", "123"]


def rightmost(seen):
    return COLUMNS - 1 - seen["action_mask"].flip(-1).argmax(-1)


def follow(size, games, **ours):
    """Play as many games on both, also with actions that lose, and compare all there is."""
    from torch import from_numpy

    given = {"autoreset_mode": "SameStep", **ours}
    given.pop("compile", None)
    if given.get("opponent") is rightmost:
        given["opponent"] = policies.rightmost
    stays = given["autoreset_mode"] == "Disabled"
    tensors = c4env.TensorEnv(size, **ours)
    envs = c4env.ConnectFourVectorEnv(size, **given)
    seen, info = tensors.reset(seed=3)
    expected, same_info = envs.reset(seed=3)
    choose = np.random.default_rng(2)
    ended = lost = drawn = 0
    while ended < games:
        for key in ("observation", "action_mask"):
            assert seen[key].numpy().dtype == expected[key].dtype
            assert np.array_equal(seen[key].numpy(), expected[key])
        assert tensors.observation_space.contains({k: t.numpy() for k, t in seen.items()})
        assert info.keys() == same_info.keys() & {"ply", "seat", "player_rewards"}
        for key in info:
            started = same_info[f"_{key}"]  # all boards after a step
            assert np.array_equal(info[key].numpy()[started], same_info[key][started])
        mask = expected["action_mask"]
        actions = (
            choose.random(mask.shape) * (mask + (choose.random(size) < 0.02)[:, None])
        ).argmax(axis=1)
        seen, rewards, over, truncated, info = tensors.step(from_numpy(actions))
        expected, same_rewards, same_over, _, same_info = envs.step(actions)
        assert np.array_equal(rewards.numpy(), same_rewards)
        assert np.array_equal(over.numpy(), same_over)
        assert not truncated.any()
        ended += int(same_over.sum())
        lost += int((same_rewards < 0).sum())
        drawn += int((same_over & (same_rewards == 0)).sum())
        if stays and same_over.any():
            for key in ("observation", "action_mask"):  # the last of the games that are over
                assert np.array_equal(seen[key].numpy(), expected[key])
            seen, result = tensors.reset(options={"reset_mask": over})
            info |= result
            expected, same_found = envs.reset(options={"reset_mask": same_over})
            same_info = {**same_info, **same_found}
    assert lost > 0 or games < 1000
    assert drawn > 0 or games < 1000


@pytest.mark.compiled
def test_ten_thousand_games_against_random(torch):
    follow(2500, 10_000, opponent="random", openings=OPENINGS)


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
@pytest.mark.parametrize(
    ("opponent", "openings", "options"),
    [
        (None, OPENINGS, {"layout": "signed", "dtype": "int64"}),
        ("random", None, {"seat": 0}),
        ("random", OPENINGS, {"seat": "random"}),
        (rightmost, ["12"], {"seat": 1}),
    ],
)
def test_some_games_are_those_of_the_vector_environment(torch, opponent, openings, options, mode):
    follow(7, 40, opponent=opponent, openings=openings, autoreset_mode=mode, **options)


def network(torch):
    """A module with a dropout, which plays alike in evaluation mode alone, and with values."""

    class Net(torch.nn.Module):
        layout = "planes_first"

        def __init__(self):
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 4), torch.nn.Dropout())
            self.head = torch.nn.Linear(48, COLUMNS)

        def forward(self, observations, masks):
            hidden = self.body(observations).flatten(1)
            return self.head(hidden) + masks, hidden.mean(-1).tanh()

    torch.manual_seed(1)
    return Net()


def test_a_module_is_an_opponent_as_in_the_vector_environment(torch):
    net = network(torch)
    follow(7, 40, opponent=net, seat="random", openings=OPENINGS)
    assert net.training
    with pytest.raises(InvalidOption, match=r"Net: a module: expected ModuleOpponent\(module\)"):
        tensor.init(1, 3, opponent=net)
    assert tensor.init(1, 3, opponent=tensor.ModuleOpponent(net), seat=1).plies.tolist() == [1] * 3
    flat = torch.nn.Sequential(torch.nn.Linear(84, COLUMNS))
    with pytest.raises(ValueError, match="set its attribute layout to 'flat'"):
        c4env.TensorEnv(2, opponent=flat, seat=1).reset()
    flat.layout = "flat"
    env = c4env.TensorEnv(2, opponent=flat, seat=1)
    twin = pickle.loads(pickle.dumps(copy.deepcopy(env)))
    for envs in (env, twin):
        envs.reset(seed=1)
    assert env.positions() == twin.positions()


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=COMPILING)])
def test_what_the_vector_environment_has_it_has(torch, compiled):
    """As much of it as a program for Gymnasium asks for, with another opponent in mid-game."""
    env = c4env.TensorEnv(2, opponent=rightmost, seat=0, compile=compiled)
    vector = c4env.ConnectFourVectorEnv(2, opponent=policies.rightmost, seat=0)
    firsts = lambda seen: seen["action_mask"].argmax(-1)  # noqa: E731
    assert env.positions() == vector.positions() == [Position()] * 2
    for envs, column in ((env, torch.tensor), (vector, np.array)):
        envs.reset(seed=1)
        envs.step(column([3, 3]))
        envs.opponent = firsts
        assert envs.opponent is firsts
        envs.step(column([3, 3]))
        assert envs.positions() == [Position.parse("4741")] * 2
        with pytest.raises(InvalidOption, match=r"opponent=None: .* games against an opponent"):
            envs.opponent = None
        assert envs.unwrapped is envs
        envs.close()
    with pytest.raises(InvalidOption, match="opponent='greedy'"):
        env.opponent = "greedy"


def turn(state, actions, opponent):
    """A step, its last observations, and new games where a game has ended."""
    state = tensor.step(state, actions, opponent)
    last = tensor.observe(state, Form("tokens", "int64"))
    return tensor.restart(state, state.terminated, opponent=opponent), state.rewards, last


def same(found, expected):
    from torch.utils._pytree import tree_leaves

    for ours, theirs in zip(tree_leaves(found), tree_leaves(expected), strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.equal(theirs)


@COMPILING
@pytest.mark.parametrize(
    ("backend", "opponent"),
    [
        *(("eager", opponent) for opponent in (None, "random", rightmost)),
        pytest.param("inductor", "random", marks=pytest.mark.slow),
    ],
)
def test_the_functions_compile_without_a_break(torch, backend, opponent):
    torch.compiler.reset()
    how = {"fullgraph": True, "backend": backend}
    begin = partial(tensor.init, n=6, opponent=opponent)
    compiled = torch.compile(partial(turn, opponent=opponent), **how)
    state = torch.compile(begin, **how)(torch.tensor(5))
    same(state, begin(5))
    choose = torch.Generator().manual_seed(1)
    for _ in range(30):
        actions = torch.randint(COLUMNS, (6,), generator=choose)
        expected = turn(state, actions, opponent)
        state, *rest = compiled(state, actions)
        same([state, *rest], expected)


@pytest.fixture
def backend(request, torch, monkeypatch):
    """TensorEnv's compiler: the one that makes code, or by default the part in Python alone."""
    compile_by = partial(torch.compile, backend=getattr(request, "param", "eager"))
    monkeypatch.setattr(tensor_env.torch, "compile", compile_by)


@COMPILING
@pytest.mark.parametrize(
    ("opponent", "mode", "backend"),
    [
        (None, "Disabled", "eager"),
        (rightmost, "SameStep", "eager"),
        pytest.param("random", "SameStep", "inductor", marks=pytest.mark.slow),
    ],
    indirect=["backend"],
)
def test_a_compiled_step_plays_the_same_games(backend, opponent, mode):
    follow(7, 40, opponent=opponent, autoreset_mode=mode, openings=OPENINGS, compile=True)


@COMPILING
def test_what_a_compiled_step_returns_is_the_callers(torch, backend):
    tidy, spoilt = (c4env.TensorEnv(6, opponent=rightmost, compile=True) for _ in range(2))
    for env in (tidy, spoilt):
        env.reset(seed=2)
    choose = torch.Generator().manual_seed(1)
    for _ in range(30):
        actions = torch.randint(COLUMNS, (6,), generator=choose)
        given = actions.clone()
        expected, result = tidy.step(actions), spoilt.step(given)
        assert given.equal(actions)
        same(result, expected)
        for each in (given, *result[0].values(), *result[1:4], *result[4].values()):
            each.fill_(1)
    twin = copy.deepcopy(spoilt)
    same(twin.step(actions), spoilt.step(actions))
    tidy.step(actions)
    same(spoilt.step(actions), tidy.step(actions))


@COMPILING
@pytest.mark.parametrize(
    ("opponent", "compiled", "backend"),
    [
        *(("random", False, "eager"), (rightmost, False, "eager"), (None, True, "eager")),
        pytest.param("random", True, "inductor", marks=pytest.mark.slow),
    ],
    indirect=["backend"],
)
def test_a_rollout_is_so_many_steps(torch, backend, compiled, opponent):
    def policy(seen):
        return rightmost({**seen}), seen.pop("observation").sum((1, 2, 3))

    envs = c4env.TensorEnv(6, opponent=opponent, compile=compiled)
    steps = c4env.TensorEnv(6, opponent=opponent)
    with pytest.raises(WrongOrder, match="before rollout"):
        envs.rollout(policy, 3)
    envs.reset(seed=4)
    seen, _ = steps.reset(seed=4)
    ended = 0
    for plies in (9, 9, 5):
        result = envs.rollout(policy, plies)
        for t in range(plies):
            actions, discs = policy({**seen})
            before = (*seen.values(), actions, (discs,))
            seen, rewards, over, _, _ = steps.step(actions)
            same([each[t] for each in result[:3]], before[:3])
            results = result.extras[0][t], result.rewards[t], result.terminations[t]
            same(results, (discs, rewards, over))
            ended += int(over.sum())
        same(result.last, seen)
    assert ended >= 6
    same(envs.rollout(rightmost, 2).extras, ())
    with pytest.raises(InvalidOption, match="plies=0"):
        envs.rollout(policy, 0)


@pytest.mark.parametrize("opponent", [None, "random", rightmost])
def test_the_functions_accept_vmap(torch, opponent):
    """Over several batches, and a step over single boards."""
    from torch.utils._pytree import tree_map

    begin, play = partial(tensor.init, n=4, opponent=opponent), partial(turn, opponent=opponent)
    keys = torch.tensor([3, 50, 2**62])
    states = torch.vmap(begin)(keys)
    choose = torch.Generator().manual_seed(1)
    for _ in range(30):
        apart = [tensor.State(*(each[i] for each in states)) for i in range(3)]
        actions = torch.randint(COLUMNS, (3, 4), generator=choose)
        result = torch.vmap(play)(states, actions)
        alone = torch.vmap(partial(tensor.step, opponent=opponent))(apart[0], actions[0])
        same(alone, tensor.step(apart[0], actions[0], opponent))
        for i in range(3):
            same(tree_map(lambda each, i=i: each[i], result), play(apart[i], actions[i]))
        states = result[0]


def test_a_full_column_loses_the_game_of_the_opponent_too(torch):
    state = tensor.init(1, 2, opponent=lambda seen: torch.tensor([0, 7]), seat=0)
    for ply in range(3):  # on board 0 both play the leftmost column
        answers = torch.tensor([0, 7 if ply == 2 else 1])
        state = tensor.step(state, torch.tensor([0, 1]), lambda seen: answers)  # noqa: B023
    assert state.rewards.tolist() == [[0, 0], [0, -1]]
    assert state.terminated.tolist() == [False, True]
    state = tensor.step(state, torch.tensor([0, 0]), rightmost)
    assert state.rewards.tolist() == [[-1, 0], [0, 0]]  # a game that is over stays as it is
    assert tensor.observe(state)["action_mask"].tolist() == [[1] * 7] * 2
    assert state.legal_action_mask.all()
    state = tensor.restart(state, state.terminated & torch.tensor([True, False]))
    assert not state.rewards.any()


@pytest.mark.parametrize("opponent", [None, "random", rightmost])
def test_nothing_is_copied_to_the_cpu(torch, opponent):
    """On the device without data whatever asks for a value raises."""
    env = c4env.TensorEnv(5, "meta", opponent=opponent, openings=OPENINGS)
    seen, info = env.reset()
    outputs = [*seen.values(), *info.values()]
    for _ in range(3):
        actions = torch.zeros(5, dtype=torch.int64, device="meta")
        seen, *rest, info = env.step(actions)
        outputs += [*seen.values(), *rest, *info.values()]
    assert {output.device.type for output in outputs} == {"meta"}


def test_bad_arguments_are_refused(torch):
    """Those that are checked here; the others by what the vector environment checks its by."""
    for name, values in {
        "num_envs": (0, True, 2.5),
        "device": ("nosuch", 3.5),
        "opponent": ("greedy", 3),
        "seat": (2, np.True_),
        "layout": ("rows",),
        "autoreset_mode": ("NextStep", []),
    }.items():
        for value in values:
            given = {"num_envs": 2, "opponent": "random"} | {name: value}
            with pytest.raises(InvalidOption, match=re.escape(f"{name}={value!r}")):
                c4env.TensorEnv(**given)
    with pytest.raises(InvalidOption, match="could end the game"):
        c4env.TensorEnv(2, openings=["445566"], opponent="random")
    env = c4env.TensorEnv(2)
    with pytest.raises(WrongOrder):
        env.step(torch.tensor([0, 0]))
    with pytest.raises(InvalidOption, match="the first reset"):
        env.reset(options={"reset_mask": torch.tensor([True, False])})
    env.reset()
    for mask in ([True, False], torch.tensor([True]), torch.tensor([1, 0])):
        with pytest.raises(InvalidOption, match=r"reset_mask=.*expected a tensor, bool \(2,\)"):
            env.reset(options={"reset_mask": mask})
    answers = c4env.TensorEnv(2, opponent=lambda seen: seen["action_mask"][:, 0] / 2, seat=0)
    answers.reset()
    with pytest.raises(InvalidAction, match=r"the opponent's answer of dtype torch\.float32"):
        answers.step(torch.tensor([0, 0]))
    wrong = [0, 0], torch.tensor([0]), torch.tensor([0.0, 1.0]), torch.tensor([True, False])
    for actions in (*wrong, torch.zeros(2, dtype=torch.int64, device="meta")):
        with pytest.raises(InvalidAction, match="expected"):
            env.step(actions)


@pytest.mark.parametrize("name", ["tensor", "tensor_env"])
def test_without_torch_the_extra_is_named(monkeypatch, name):
    module = f"c4env.envs.{name}"
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(MissingExtra, match=r": pip install torch \("):
        importlib.import_module(module)
